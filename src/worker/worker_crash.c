/*
 * worker_crash.c
 *	  Remembers, over restarts of the server, that it crashed.
 *
 * A worker that crashes takes the server down with it, which restarts all
 * sessions; one that crashed again and again as soon as it is back would leave
 * nobody the time to switch it off.  Shared memory does not outlive that, so
 * a file has the number of launchers that began and neither ended in order nor
 * lived for long.  Its loss does no harm.
 */
#include "postgres.h"

#include <unistd.h>

#include "pgstat.h"
#include "storage/fd.h"
#include "storage/ipc.h"

#include "base/compat.h"
#include "base/errors.h"
#include "worker/worker_internal.h"

#define COUNT_FILE PG_STAT_TMP_DIR "/key_value.launcher"

/* The pause after a crash doubles from one to the next, in ms. */
#define MIN_PAUSE 1000
#define MAX_PAUSE 10000

/* Reads the number of launchers; 0 if there is none. */
static int
read_count(void)
{
	FILE	   *file = AllocateFile(COUNT_FILE, "r");
	int			count;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%d", &count) != 1 || count < 0)
		count = 0;
	FreeFile(file);
	return count;
}

/* Writes the number of launchers. */
static void
write_count(int count)
{
	FILE	   *file = AllocateFile(COUNT_FILE, "w");

	if (file == NULL || fprintf(file, "%d\n", count) < 0 || FreeFile(file) != 0)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", COUNT_FILE)));
}

/* Removes the file when the launcher ends in order. */
static void
remove_file(int code, Datum argument)
{
	(void) unlink(COUNT_FILE);
}

/* Counts this launcher; returns for how long it should start no workers, in ms. */
int
kv_worker_count_launcher(void)
{
	int			count = read_count();
	int			pause = count == 0 ? 0 : Min(MIN_PAUSE << Min(count - 1, 8), MAX_PAUSE);

	before_shmem_exit(remove_file, (Datum) 0);
	write_count(count + 1);
	if (count > 1)
		ereport(LOG,
				(errmsg("no background worker of key_value is started for %d s, since the server has crashed %d times in a short time",
						pause / 1000, count),
				 errhint("Set key_value.workers to 0 if a worker is the cause.")));
	return pause;
}

/* Forgets the crashes before this launcher, which has lived for long. */
void
kv_worker_forget_crashes(void)
{
	write_count(1);
}
