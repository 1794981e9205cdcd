/*
 * worker_main.c
 *	  The worker of one database: applies changes to its global indexes.
 *
 * It sleeps on its latch, without transaction and snapshot, until a commit
 * sets it, does rounds until there is nothing more and sleeps again.  After
 * long idleness, or when another database waits for a worker, it ends; the
 * launcher knows when to start it again.
 *
 * It works as the bootstrap superuser, but index.h's rounds do what they do as
 * the owner of the table.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "index/index.h"
#include "worker/worker_internal.h"

/*
 * How long a worker keeps its place while another database waits, in ms: with
 * a backlog, and with changes that come in as they are applied.  An idle one
 * yields at once.
 */
#define LONG_TURN 10000
#define SHORT_TURN 1000

/* How long to wait for a session that is applying, in ms. */
#define BUSY_PAUSE 200

/* How long to wait before what failed, or was locked, is tried again, in ms: a round decides itself what is due. */
#define RETRY_PAUSE 200

/* How long statistics may wait to be reported, in ms. */
#define STATISTICS_PAUSE 1000

/* What a worker remembers. */
typedef struct Life
{
	MemoryContext context;		/* reset after each round */
	TimestampTz began;
	TimestampTz busy_at;		/* when it had something to do last */
	TimestampTz round_began;
} Life;

/* Settings that a database may have of its own, and that rounds must not run under. */
static const char *const fixed_setting[][2] = {
	{"application_name", "key_value worker"},
	/* in a deadlock with a command it is the worker that gives way */
	{"deadlock_timeout", "10ms"},
	{"default_transaction_deferrable", "false"},
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "false"},
	{"exit_on_error", "false"},
	{"idle_in_transaction_session_timeout", "0"},
	{"lock_timeout", "0"},
	{"role", "none"},
	{"row_security", "true"},
	{"search_path", "pg_catalog, pg_temp"},
	{"session_replication_role", "origin"},
	{"statement_timeout", "0"},
	/* what a crash takes back is still in the change log, and its records go by a commit that is flushed */
	{"synchronous_commit", "off"},
	{KV_COMPAT_TRANSACTION_TIMEOUT, "0"},
};

/* Tells whether the database has the extension. */
static bool
has_extension(void)
{
	bool		found;

	StartTransactionCommand();
	found = OidIsValid(get_extension_oid("key_value", true));
	CommitTransactionCommand();
	return found;
}

/* Tells whether an error only says that somebody else was in the way of a lock. */
static bool
is_lock_conflict(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED ||
		error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Does a round.  Errors are none that come from the extension being dropped,
 * or from a command that wants locks in another order: then nothing was done
 * and false is returned.
 */
static bool
do_round(Life *life, KvIndexRound *round)
{
	volatile bool done = false;

	PG_TRY();
	{
		done = kv_index_round(round);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(life->context);
		error = CopyErrorData();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		if (!is_lock_conflict(error) && has_extension())
			ReThrowError(error);
		memset(round, 0, sizeof(KvIndexRound));
	}
	PG_END_TRY();
	MemoryContextSwitchTo(life->context);
	MemoryContextReset(life->context);
	return done;
}

/* Tells whether a round has found something to do. */
static bool
has_worked(const KvIndexRound *round)
{
	return round->changes > 0 || round->filled > 0 || round->more;
}

/* Returns when an idle worker should be started again though nobody calls. */
static TimestampTz
next_visit(const KvIndexRound *round, TimestampTz now)
{
	if (round->failed)
		return TimestampTzPlusMilliseconds(now, RETRY_PAUSE);
	return TimestampTzPlusMilliseconds(now, kv_guc_worker_idle_timeout > 0 ? kv_guc_worker_idle_timeout : kv_guc_naptime);
}

/* Says in pg_stat_activity whether the worker waits for a session that applies changes by hand, or for something to do. */
static void
report_pause(bool is_busy)
{
	if (is_busy)
		pgstat_report_activity(STATE_RUNNING, "waiting for the end of a transaction that called kv.apply_changes()");
	else
		pgstat_report_activity(STATE_IDLE, NULL);
}

/* Sleeps until there is something to do, or for so many ms; is_busy: another session applies. */
static void
sleep_until_called(long pause, bool is_busy)
{
	static uint32 wait_event = 0;
	bool		has_statistics = pgstat_report_stat(false) != 0;
	int			result;

	if (wait_event == 0)
		wait_event = kv_compat_new_wait_event("KeyValueWorkerMain");
	if (has_statistics)
		pause = Min(pause, STATISTICS_PAUSE);
	/* the latch may have been reset since by waiting for a lock */
	if (kv_index_was_called() || kv_worker_is_told_to_leave())
		return;
	report_pause(is_busy);
	result = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, pause, wait_event);
	if (has_statistics && (result & WL_TIMEOUT))
		(void) pgstat_report_stat(true);
	SetCurrentStatementStartTimestamp();
	pgstat_report_activity(STATE_RUNNING, "applying changes to global indexes");
}

/*
 * Lets some time pass since the last round began, so that a busy database's
 * changes come to more than one a round.  An idle one's are not delayed.
 */
static void
keep_distance(Life *life)
{
	static uint32 wait_event = 0;
	TimestampTz next = TimestampTzPlusMilliseconds(life->round_began, kv_guc_apply_interval);
	long		pause = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), next);

	if (wait_event == 0)
		wait_event = kv_compat_new_wait_event("KeyValueApplyInterval");
	/* every commit sets the latch: it is not waited for */
	if (pause > 0)
		(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Min(pause, kv_guc_apply_interval), wait_event);
	life->round_began = GetCurrentTimestamp();
}

/*
 * Ends the announcement and looks once more: what was committed before may
 * have set the latch in vain, what comes later calls the launcher.  Returns
 * whether there was something to do.
 */
static bool
look_once_more(Life *life)
{
	KvIndexRound round;

	kv_index_detach_worker();
	return !do_round(life, &round) || has_worked(&round);
}

/* Decides after a round whether the worker is to end, and says why. */
static bool
ends_after_round(Life *life, const KvIndexRound *round)
{
	TimestampTz now = GetCurrentTimestamp();
	int			turn = round->more ? LONG_TURN : has_worked(round) ? SHORT_TURN : 0;

	if (has_worked(round))
		life->busy_at = now;
	if (TimestampDifferenceExceeds(life->began, now, turn) && kv_worker_should_yield())
	{
		kv_worker_say_end(KV_WORKER_YIELDED, round->more || look_once_more(life) ? now : next_visit(round, now));
		return true;
	}
	if (kv_guc_worker_idle_timeout > 0 && !round->more && !round->failed &&
		TimestampDifferenceExceeds(life->busy_at, now, kv_guc_worker_idle_timeout))
	{
		if (!look_once_more(life) || !kv_index_attach_worker())
		{
			kv_worker_say_end(KV_WORKER_IDLE, next_visit(round, now));
			return true;
		}
		life->busy_at = now;
	}
	return false;
}

/* Returns for how long to sleep after a round that left nothing to do at once, in ms. */
static long
time_to_sleep(const KvIndexRound *round, bool done)
{
	int			pause = !done ? BUSY_PAUSE : round->failed ? RETRY_PAUSE : kv_guc_naptime;

	if (kv_worker_others_wait())
		pause = Min(pause, SHORT_TURN);
	return Min(pause, kv_guc_naptime);
}

/* Serves the database until there is a reason to end; says it. */
static void
serve(Life *life)
{
	bool		has_backlog = false;

	for (;;)
	{
		KvIndexRound round;
		bool		done;

		ResetLatch(MyLatch);
		(void) kv_index_was_called();
		kv_worker_check_signals(0);
		if (kv_worker_is_told_to_leave())
		{
			kv_worker_say_end(KV_WORKER_LEFT, 0);
			return;
		}
		if (!has_backlog)
			keep_distance(life);
		done = do_round(life, &round);
		has_backlog = round.more;
		if (!done && !has_extension())
		{
			kv_worker_say_end(KV_WORKER_NO_EXTENSION, 0);
			return;
		}
		if (ends_after_round(life, &round))
			return;
		if (!round.more)
			sleep_until_called(time_to_sleep(&round, done), !done);
	}
}

/* The main function of a worker. */
void
kv_worker_main(Datum argument)
{
	KvWorkerStart start;
	Life		life = {0};

	memcpy(&start, MyBgworkerEntry->bgw_extra, sizeof(KvWorkerStart));
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	if (!kv_worker_begin(&start))
		proc_exit(0);

	BackgroundWorkerInitializeConnectionByOid(start.database, InvalidOid, 0);
	for (int i = 0; i < lengthof(fixed_setting); i++)
		SetConfigOption(fixed_setting[i][0], fixed_setting[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_RUNNING, "applying changes to global indexes");

	life.began = life.busy_at = GetCurrentTimestamp();
	life.context = AllocSetContextCreate(TopMemoryContext, "key_value worker", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(life.context);
	if (!has_extension())
		kv_worker_say_end(KV_WORKER_NO_EXTENSION, 0);
	else if (kv_index_attach_worker())
	{
		kv_worker_clear_call(start.database);
		serve(&life);
	}
	proc_exit(0);
}
