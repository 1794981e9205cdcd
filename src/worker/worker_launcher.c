/*
 * worker_launcher.c
 *	  The launcher: gives databases their workers.
 *
 * Connected to no database, it knows of each only when it is due to have a
 * worker: at first at once, then as its last worker said or a session calls.
 * At most key_value.workers run at a time; who is due longest comes first, and
 * idle workers are asked to yield to those who wait.
 *
 * When it ends, its workers end as well, and the next launcher looks at all
 * databases anew.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "worker/worker_internal.h"

/* After how long a database is looked at that had not got the extension when nobody calls, in ms. */
#define LOOK_AGAIN (10 * 60 * 1000)

/* The pause after a failure doubles from one to the other, in ms; it begins anew when a worker has lived for long. */
#define MIN_PAUSE 1000
#define MAX_PAUSE 60000
#define LONG_LIFE 60000

/* After how long a worker is tried again that found no room among max_worker_processes, in ms. */
#define ROOM_PAUSE 5000

/* At least so long lies between two readings of pg_database, unless it was changed, in ms. */
#define LIST_PAUSE 1000

/* By how much a database that calls goes before those that do not, in ms. */
#define CALL_BONUS 10000

/* A database; the key comes first. */
typedef struct Database
{
	Oid			oid;
	bool		is_listed;		/* it may have a worker */
	TimestampTz due;			/* when it should have a worker; meaningless while it has one */
	int			failures;		/* of its workers, one after the other */
	BackgroundWorkerHandle *handle; /* of its worker; NULL: it has none */
	int			slot;			/* of its worker */
	TimestampTz started;		/* the same */
} Database;

static HTAB *databases = NULL;
static int	worker_count = 0;

/* When pg_database was read last. */
static TimestampTz listed_at = 0;

/* No worker is started before this time: there was no room, or the server has crashed. */
static TimestampTz pause_until = 0;
static bool no_room_is_told = false;

/* Returns the database's entry; NULL if there is none. */
static Database *
find_database(Oid oid)
{
	return hash_search(databases, &oid, HASH_FIND, NULL);
}

/* Reads pg_database: new ones are due at once, the workers of those that are gone leave. */
static void
list_databases(TimestampTz now)
{
	HASH_SEQ_STATUS status;
	Database   *database;
	ListCell   *lc;
	List	   *oids = kv_worker_list_databases();

	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
		database->is_listed = false;

	foreach(lc, oids)
	{
		Oid			oid = lfirst_oid(lc);
		bool		found;

		database = hash_search(databases, &oid, HASH_ENTER, &found);
		if (!found)
		{
			database->due = now;
			database->failures = 0;
			database->handle = NULL;
		}
		database->is_listed = true;
	}

	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
	{
		if (database->is_listed)
			continue;
		if (database->handle)
			kv_worker_tell_to_leave(database->slot);
		else
			(void) hash_search(databases, &database->oid, HASH_REMOVE, NULL);
	}
	listed_at = now;
}

/* Decides when a database whose worker has ended is due again. */
static void
plan_return(Database *database, KvWorkerReport report, TimestampTz now)
{
	int64		pause;

	if (report.end != KV_WORKER_FAILED)
		database->failures = 0;
	switch (report.end)
	{
		case KV_WORKER_NO_EXTENSION:
			database->due = TimestampTzPlusMilliseconds(now, LOOK_AGAIN);
			break;
		case KV_WORKER_IDLE:
		case KV_WORKER_YIELDED:
			database->due = report.come_back;
			break;
		case KV_WORKER_LEFT:
			database->due = now;
			break;
		case KV_WORKER_FAILED:
			if (TimestampDifferenceExceeds(database->started, now, LONG_LIFE))
				database->failures = 0;
			pause = (int64) MIN_PAUSE << Min(database->failures, 16);
			database->due = TimestampTzPlusMilliseconds(now, Min(pause, MAX_PAUSE));
			database->failures++;
			break;
	}
}

/* Sees which workers have ended. */
static void
collect_ended(TimestampTz now)
{
	HASH_SEQ_STATUS status;
	Database   *database;
	pid_t		pid;

	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
	{
		if (database->handle == NULL || GetBackgroundWorkerPid(database->handle, &pid) != BGWH_STOPPED)
			continue;
		pfree(database->handle);
		database->handle = NULL;
		worker_count--;
		plan_return(database, kv_worker_free_slot(database->slot), now);
		if (!database->is_listed)
			(void) hash_search(databases, &database->oid, HASH_REMOVE, NULL);
	}
}

/* Makes a database that calls due, unless its last worker failed: it keeps its pause. */
static void
hear_call(Database *database, TimestampTz now)
{
	TimestampTz due = TimestampTzPlusMilliseconds(now, -CALL_BONUS);

	if (database->handle == NULL && database->failures == 0 && database->due > due)
		database->due = due;
}

/* Hears the calls of databases; those of unknown ones stand until pg_database has been read again. */
static void
hear_calls(TimestampTz now)
{
	bool		everyone;
	bool		look_again;
	List	   *calls = kv_worker_read_calls(&everyone, &look_again);
	HASH_SEQ_STATUS status;
	Database   *database;
	ListCell   *lc;

	foreach(lc, calls)
		look_again |= find_database(lfirst_oid(lc)) == NULL &&
			TimestampDifferenceExceeds(listed_at, now, LIST_PAUSE);
	if (look_again || TimestampDifferenceExceeds(listed_at, now, Max(kv_guc_naptime, LIST_PAUSE)))
		list_databases(now);

	foreach(lc, calls)
	{
		database = find_database(lfirst_oid(lc));
		if (database != NULL)
			hear_call(database, now);
		else if (listed_at == now)
			kv_worker_clear_call(lfirst_oid(lc));
	}
	if (everyone)
	{
		hash_seq_init(&status, databases);
		while ((database = hash_seq_search(&status)) != NULL)
			hear_call(database, now);
	}
}

/* Says once, until there is room again, that max_worker_processes is used up. */
static void
tell_no_room(void)
{
	if (!no_room_is_told)
		ereport(LOG,
				(errmsg("could not start a background worker of key_value: all of max_worker_processes are in use"),
				 errdetail("Global indexes fall behind until one is free."),
				 errhint("Raise max_worker_processes, currently %d.", max_worker_processes)));
	no_room_is_told = true;
}

/* Starts the worker of a database; false if there is no room for one. */
static bool
start_worker(Database *database, TimestampTz now)
{
	BackgroundWorker worker = {0};
	KvWorkerStart start;
	MemoryContext caller;
	bool		registered;

	if (!kv_worker_take_slot(database->oid, &start))
		return true;			/* it is held, and tells when it is not any more */

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	worker.bgw_notify_pid = MyProcPid;
	snprintf(worker.bgw_library_name, sizeof(worker.bgw_library_name), "key_value");
	snprintf(worker.bgw_function_name, sizeof(worker.bgw_function_name), "kv_worker_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "key_value worker for database %u", database->oid);
	snprintf(worker.bgw_type, BGW_MAXLEN, "key_value worker");
	StaticAssertStmt(sizeof(KvWorkerStart) <= BGW_EXTRALEN, "a worker's start fits");
	memcpy(worker.bgw_extra, &start, sizeof(KvWorkerStart));

	caller = MemoryContextSwitchTo(TopMemoryContext);
	registered = RegisterDynamicBackgroundWorker(&worker, &database->handle);
	MemoryContextSwitchTo(caller);
	if (!registered)
	{
		database->handle = NULL;
		(void) kv_worker_free_slot(start.slot);
		tell_no_room();
		pause_until = TimestampTzPlusMilliseconds(now, ROOM_PAUSE);
		return false;
	}
	no_room_is_told = false;
	database->slot = start.slot;
	database->started = now;
	worker_count++;
	return true;
}

/* Orders databases by when they are due. */
static int
compare_due(const ListCell *a, const ListCell *b)
{
	TimestampTz due_a = ((Database *) lfirst(a))->due;
	TimestampTz due_b = ((Database *) lfirst(b))->due;

	return due_a < due_b ? -1 : due_a > due_b;
}

/* Returns the databases that are due, in the order in which they are. */
static List *
find_due(TimestampTz now)
{
	List	   *due = NIL;
	HASH_SEQ_STATUS status;
	Database   *database;

	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
		if (database->handle == NULL && database->due <= now && database->is_listed)
			due = lappend(due, database);
	list_sort(due, compare_due);
	return due;
}

/* Starts the workers that are due, as far as there is room; asks others to yield to the rest. */
static void
start_due(TimestampTz now)
{
	List	   *due = find_due(now);
	int			done = 0;
	ListCell   *lc;

	foreach(lc, due)
	{
		if (worker_count >= kv_guc_workers || pause_until > now || !start_worker(lfirst(lc), now))
			break;
		done++;
	}
	kv_worker_set_waiting(kv_guc_workers > 0 ? list_length(due) - done : 0);
}

/* Tells workers to leave that are too many since the setting was changed. */
static void
end_surplus(void)
{
	int			surplus = worker_count - kv_guc_workers;
	HASH_SEQ_STATUS status;
	Database   *database;

	if (surplus <= 0)
		return;
	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
		if (database->handle != NULL && surplus-- > 0)
			kv_worker_tell_to_leave(database->slot);
}

/* Returns for how long there will be nothing to do unless somebody calls, in ms. */
static long
time_to_sleep(TimestampTz now)
{
	TimestampTz until = TimestampTzPlusMilliseconds(now, Max(kv_guc_naptime, LIST_PAUSE));
	HASH_SEQ_STATUS status;
	Database   *database;

	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
	{
		TimestampTz due = Max(database->due, pause_until);

		/* one that is due now and was not started waits for a worker's end or the end of a hold, which wakes us */
		if (database->handle == NULL && due > now && due < until)
			until = due;
	}
	return Max(TimestampDifferenceMilliseconds(now, until), 1);
}

/* Does what there is to do; returns for how long there will be nothing, in ms. */
static long
make_pass(void)
{
	TimestampTz now = GetCurrentTimestamp();

	collect_ended(now);
	hear_calls(now);
	end_surplus();
	start_due(now);
	return time_to_sleep(now);
}

/* Ends the process without a word if it was told to by SIGTERM, and sees to all other signals. */
void
kv_worker_check_signals(int exit_code)
{
	if (ProcDiePending)
		proc_exit(exit_code);
	/* there is no command to cancel */
	QueryCancelPending = false;
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/* The launcher's main function.  Exit code 1 lets the postmaster start it again. */
void
kv_worker_launcher_main(Datum argument)
{
	HASHCTL		control = {.keysize = sizeof(Oid), .entrysize = sizeof(Database)};
	MemoryContext context;
	uint32		wait_event = kv_compat_new_wait_event("KeyValueLauncherMain");
	TimestampTz forget_at;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	SetConfigOption("application_name", "key_value launcher", PGC_USERSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_IDLE, NULL);

	context = AllocSetContextCreate(TopMemoryContext, "key_value launcher", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	databases = hash_create("key_value databases", 64, &control, HASH_ELEM | HASH_BLOBS);
	kv_worker_begin_launcher();
	forget_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LONG_LIFE);
	pause_until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kv_worker_count_launcher());

	for (;;)
	{
		long		sleep;

		ResetLatch(MyLatch);
		kv_worker_check_signals(1);
		if (forget_at != 0 && GetCurrentTimestamp() > forget_at)
		{
			kv_worker_forget_crashes();
			forget_at = 0;
		}
		sleep = make_pass();
		MemoryContextReset(context);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, sleep, wait_event);
	}
}
