/*
 * index_round.c
 *	  Rounds: what a worker does over and over, and kv.apply_changes() once.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "index/index_internal.h"

/* How often a worker looks for indexes that it does not know, in ms. */
#define ADOPTION_INTERVAL 5000

/* Beside changes that come in, or when it fails: after a retry that took longer than so many ms, so many times as long passes before the next one. */
#define SLOW_RETRY 100
#define SLOW_RETRY_REST 4

/*
 * Up to so many batches are tried again at a time where no changes come in and
 * that goes well: more of them are of one item then, and those that were taken
 * out before, which are passed over until VACUUM has been there, are passed over
 * less often.
 */
#define MAX_RETRY_BATCHES 8

/* While changes come in, how often a worker looks for what else there is to do, in ms. */
#define UPKEEP_INTERVAL 100

static TimestampTz next_adoption = 0;
static TimestampTz next_upkeep = 0;

/* There were changes since the log was last truncated. */
static bool truncate_wanted = false;

/* Tells whether the extension is there; the progress that was known a moment ago goes with it. */
static bool
has_extension(void)
{
	static Oid	known = InvalidOid;
	Oid			progress = kv_table_extension_relation("apply_progress_0");

	if (OidIsValid(progress) && progress != known)
		known = OidIsValid(get_extension_oid("key_value", true)) ? progress : InvalidOid;
	return OidIsValid(progress) && progress == known;
}

/* Starts a transaction for one step of a round, with a snapshot; false if the extension is not there or another session applies. */
static bool
begin_step(void)
{
	StartTransactionCommand();
	if (has_extension() && kv_apply_lock(false))
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		return true;
	}
	CommitTransactionCommand();
	return false;
}

/* Ends it. */
static void
end_step(void)
{
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* Looks for indexes to adopt, now and then.  Each takes a transaction, which holds the writers of its table off. */
static bool
adopt_step(void)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext transaction;
	List	   *indexes;
	ListCell   *cell;

	if (GetCurrentTimestamp() < next_adoption)
		return true;
	if (!begin_step())
		return false;
	indexes = kv_backfill_find_doubtful(false);
	transaction = MemoryContextSwitchTo(caller);
	indexes = list_copy(indexes);
	MemoryContextSwitchTo(transaction);
	end_step();

	foreach(cell, indexes)
	{
		if (!begin_step())
			return false;
		kv_backfill_adopt(lfirst_oid(cell), false);
		end_step();
	}
	next_adoption = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ADOPTION_INTERVAL);
	return true;
}

/*
 * Tries what failed before of the next index and base table in turn, or of the first.  Where nothing is due the turn stays:
 * of base tables that are locked one is tried at a time, and then there is a pause for all.
 */
static KvRetryResult
retry_next(int batches)
{
	static KvRetryPlace from = {0};
	KvRetryResult result = {.from = from,.batches = batches};

	if (!kv_retry_due(kv_guc_index_batch_size, &result) && (OidIsValid(from.index) || OidIsValid(from.base)))
	{
		memset(&result.from, 0, sizeof(KvRetryPlace));
		if (!kv_retry_due(kv_guc_index_batch_size, &result))
			result.from = from;
	}
	from = result.from;
	return result;
}

/* Tries what failed before; that may be slow, so beside changes it gets a small part of the time. */
static bool
retry_step(KvIndexRound *round)
{
	static TimestampTz next_retry = 0;
	static int	batches = 1;
	TimestampTz start = GetCurrentTimestamp();
	TimestampTz end;
	KvRetryResult result;
	bool		slow;

	if (start < next_retry)
	{
		round->failed = true;
		return true;
	}
	if (!begin_step())
		return false;
	result = retry_next(round->changes > 0 ? 1 : batches);
	end_step();
	end = GetCurrentTimestamp();
	slow = TimestampDifferenceExceeds(start, end, SLOW_RETRY);
	batches = slow || result.failed ? 1 : Min(batches * 2, MAX_RETRY_BATCHES);
	if ((round->changes > 0 || result.failed) && slow)
		next_retry = end + (end - start) * SLOW_RETRY_REST;
	round->changes += result.count;
	round->more |= result.count > 0;
	round->failed |= result.failed;
	return true;
}

/* Applies a piece of the log. */
static bool
apply_step(KvIndexRound *round)
{
	bool		ended;

	kv_index_begin_batch();
	if (!begin_step())
		return false;
	round->changes += kv_apply_piece(kv_guc_index_batch_size, &ended);
	end_step();
	if (ended)
		kv_index_end_batch();
	truncate_wanted |= round->changes > 0;
	round->more |= !ended;
	return true;
}

/* Does a chunk of backfill. */
static bool
backfill_step(KvIndexRound *round)
{
	int64		filled;
	bool		failed;

	if (!begin_step())
		return false;
	filled = kv_backfill_chunk(kv_guc_index_batch_size, &failed);
	end_step();
	round->failed |= failed;
	round->filled += filled;
	round->more |= filled > 0;
	kv_index_say_filling(filled > 0);
	return true;
}

/* Truncates the log where that can be done. */
static bool
truncate_step(void)
{
	KvProgress	progress;

	if (!truncate_wanted)
		return true;
	if (!begin_step())
		return false;
	kv_progress_read(&progress);
	kv_log_truncate(&progress.before);
	end_step();
	truncate_wanted = false;
	return true;
}

/*
 * Does what there is to do besides applying changes.  Each step costs as much
 * as applying some changes does, so while those come in it is done now and
 * then, but for filling an index, which goes on without a pause.
 */
static bool
upkeep_steps(KvIndexRound *round)
{
	TimestampTz now = GetCurrentTimestamp();

	if (round->changes > 0 && now < next_upkeep)
	{
		/* it is not known that nothing failed */
		round->failed = true;
		return true;
	}
	if (!retry_step(round) || !backfill_step(round) || !truncate_step())
		return false;
	next_upkeep = round->filled > 0 ? 0 : TimestampTzPlusMilliseconds(now, UPKEEP_INTERVAL);
	return true;
}

/* For the worker: does a bounded piece of what there is to do. */
bool
kv_index_round(KvIndexRound *round)
{
	memset(round, 0, sizeof(KvIndexRound));
	kv_retry_by_hand = false;
	return adopt_step() && apply_step(round) && upkeep_steps(round);
}

/* For kv.apply_changes(): does all there is to do in the caller's transaction. */
int64
kv_index_apply_all(void)
{
	int64		changes = 0;
	KvProgress	progress;
	bool		ended;
	bool		failed;
	ListCell   *cell;
	KvRetryResult retried = {.batches = 1};

	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("kv.apply_changes() must run in a READ COMMITTED transaction")));
	/* one who applies is not to begin anew, in the middle of it, for a trigger of an index's owner */
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot call kv.apply_changes() within security-restricted operation"),
				 errhint("Triggers of an index's table and functions of its owner run in one.")));
	PreventCommandIfReadOnly("kv.apply_changes()");
	PreventCommandDuringRecovery("kv.apply_changes()");
	PreventCommandIfParallelMode("kv.apply_changes()");

	(void) kv_apply_lock(true);
	kv_retry_by_hand = true;
	foreach(cell, kv_backfill_find_doubtful(true))
		kv_backfill_adopt(lfirst_oid(cell), true);
	while (kv_retry_due(kv_guc_index_batch_size, &retried))
		changes += retried.count;
	do
	{
		CHECK_FOR_INTERRUPTS();
		changes += kv_apply_piece(kv_guc_index_batch_size, &ended);
	} while (!ended);
	while (kv_backfill_chunk(kv_guc_index_batch_size, &failed) > 0)
		CHECK_FOR_INTERRUPTS();
	kv_retry_by_hand = false;
	kv_progress_read(&progress);
	kv_log_truncate(&progress.before);
	return changes;
}
