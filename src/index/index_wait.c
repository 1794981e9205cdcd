/*
 * index_wait.c
 *	  kv.wait_for_index: waits until an index has what was committed before.
 *
 * The question is not how far apply has come but whether the log still has a
 * record of a transaction that was done when the wait began and that is not
 * applied: so an idle system is waited for not at all.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

#define POLL_MS 5

/* For how long to wait for a worker to come, in ms. */
#define PATIENCE 60000

/* Tells whether the log has a record of the base table that was done by then and is not applied to the index. */
static bool
has_pending(Oid base, Oid index, const KvDone *wanted)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	KvProgress	progress;
	KvLogScan  *scan;
	KvLogRecord record;
	KvLogPosition position;
	bool		pending = false;

	kv_progress_read(&progress);
	scan = kv_log_begin(snapshot, &progress.before, wanted, progress.in_batch ? &progress.position : NULL);
	while (!pending && kv_log_next(scan, &record, &position))
	{
		/* the own transaction's are not committed, so not waited for */
		pending = record.base_relid == base &&
			!FullTransactionIdEquals(position.xid, GetTopFullTransactionIdIfAny());
		pfree(record.record);
	}
	kv_log_end(scan);
	UnregisterSnapshot(snapshot);
	return pending || kv_retry_has_kept(base, index);
}

/* Tells whether no worker can make the index ready before somebody mends what its detail says. */
static bool
is_hopeless(const KvTable *table)
{
	const KvTable *base = kv_table_lookup(table->index->base_relid);

	return !table->usable || table->index->foreign_owner || table->index->unlogged || base == NULL || !base->captured;
}

/* Refuses to wait for an index that the current transaction made, which no worker sees before it ends. */
static void
check_not_own(Oid index)
{
	Relation	relation = RelationIdGetRelation(index);
	bool		own = relation != NULL && relation->rd_createSubid != InvalidSubTransactionId;

	if (relation != NULL)
		RelationClose(relation);
	if (own)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" was created in this transaction", get_rel_name(index)),
				 errdetail("No worker fills it before the transaction ends."),
				 errhint("COMMIT before you wait for it.")));
}

/* Tells whether the index can be read and has all that was committed by then; context is for this. */
static bool
is_there(Oid index, Oid base, const KvDone *wanted, MemoryContext context)
{
	MemoryContext caller;
	const KvTable *table;
	bool		result;

	AcceptInvalidationMessages();
	table = kv_table_lookup(index);
	if (table == NULL || table->index == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("the index was dropped meanwhile")));
	if (table->index->not_ready != NULL)
	{
		check_not_own(index);
		if (is_hopeless(table))
			kv_table_check_ready(table);
		return false;
	}
	caller = MemoryContextSwitchTo(context);
	result = !has_pending(base, index, wanted);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(context);
	return result;
}

/* Refuses to wait for a worker that does not come; seen is when there was one last. */
static void
check_worker(text *name, TimestampTz *seen)
{
	TimestampTz now = GetCurrentTimestamp();

	if (kv_index_has_worker())
		*seen = now;
	else if (!kv_index_expects_worker() || TimestampDifferenceExceeds(*seen, now, PATIENCE))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no worker brings changes to index \"%s\"", text_to_cstring(name)),
				 kv_index_is_preloaded() ?
				 errhint("Call kv.apply_changes(), or see to key_value.workers and max_worker_processes.") :
				 errhint("Call kv.apply_changes(), or add key_value to shared_preload_libraries.")));
}

/* Waits until every change committed before the call is in the index. */
bool
kv_index_wait(Oid table, text *name, int64 timeout)
{
	KvTable    *base = kv_table_open(table, AccessShareLock);
	TimestampTz end = timeout < 0 ? DT_NOEND : TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout);
	TimestampTz seen = GetCurrentTimestamp();
	MemoryContext context;
	Oid			global;
	KvDone		wanted;
	bool		done;

	kv_table_check_rights(base, ACL_SELECT);
	if (kv_table_find_index(base, name, &global))
		return true;			/* a local index is never behind */
	/* who fills the index anew, or truncates the table, must not wait for us, who wait for what comes behind him */
	UnlockRelationOid(table, AccessShareLock);
	kv_done_from_snapshot(GetLatestSnapshot(), &wanted);

	context = AllocSetContextCreate(CurrentMemoryContext, "key_value wait", ALLOCSET_DEFAULT_SIZES);
	while (!(done = is_there(global, table, &wanted, context)))
	{
		check_worker(name, &seen);
		if (GetCurrentTimestamp() >= end)
			break;
		kv_index_wake();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(context);
	return done;
}
