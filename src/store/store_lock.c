/*
 * store_lock.c
 *	  The row of a key: finding it and locking its newest version.
 *
 * A row is looked up with a snapshot of its own, taken when the search
 * starts, so that at READ COMMITTED it is the newest committed version; a
 * dirty snapshot would save that but can miss a row whose index entry moves
 * while the index is read.  Above READ COMMITTED it is the transaction's
 * snapshot: a row that changed since is met as SQL's serialization failure.
 * Each search begins a new command, as SPI does, so own earlier writes of
 * the same statement are seen.
 *
 * The lock does not follow update chains.  Who loses against another writer
 * finds the row again: the key may have moved or gone meanwhile.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "store/store_internal.h"

/* Makes the snapshot for a search the active one. */
static void
renew_snapshot(KvWriter *writer)
{
	if (writer->snapshot_active)
		PopActiveSnapshot();
	writer->snapshot_active = false;
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	writer->snapshot_active = true;
}

/* Finds the row with an index scan, which also marks the entries of dead rows that it meets. */
static bool
scan_row(KvWriter *writer)
{
	const KvKeySchema *schema = &writer->table->key;
	Relation	index = writer->target->ri_IndexRelationDescs[writer->primary];
	ScanKeyData scan_key[KV_MAX_KEYS];
	IndexScanDesc scan;
	bool		found;

	for (int i = 0; i < schema->count; i++)
		kv_store_fill_equal_key(&scan_key[i], schema, i, writer->key[i]);
	scan = kv_compat_index_beginscan(writer->heap, index, GetActiveSnapshot(), schema->count);
	index_rescan(scan, scan_key, schema->count, NULL, 0);
	found = index_getnext_slot(scan, ForwardScanDirection, writer->current);
	index_endscan(scan);
	return found;
}

/* Returns the most bytes that the row of the key looked for takes with the rest expected, uncompressed; 0 if none is. */
static Size
expected_length(const KvWriter *writer)
{
	Size		length = SizeofHeapTupleHeader + sizeof(Datum) + writer->expected_rest;

	if (writer->expected_rest == 0)
		return 0;
	for (int i = 0; i < writer->table->key.count; i++)
		length += VARSIZE_ANY(DatumGetPointer(writer->key[i])) + ALIGNOF_INT;
	return length;
}

/* Tells the next search which rest the row found is to have. */
void
kv_writer_expect(KvWriter *writer, const Jsonb *rest)
{
	writer->expected_rest = VARSIZE(rest);
}

/*
 * Finds the row by one descent of the primary key; false also where a scan has
 * to look (*scan).  Its page is made ready for another version of it.
 */
static bool
probe_row(KvWriter *writer, bool *scan)
{
	const KvKeySchema *schema = &writer->table->key;
	KvLookup	lookup = {
		.heap = writer->heap,
		.index = writer->target->ri_IndexRelationDescs[writer->primary],
		.schema = schema,
		.snapshot = GetActiveSnapshot(),
		.pruning = KV_PRUNE_FOR_CHANGE,
		.neighbour = schema->count > 1 ? &writer->neighbour : NULL,
		.next_length = expected_length(writer),
		.room = &writer->room,
	};

	return kv_store_fetch(&lookup, writer->key, writer->current, scan);
}

/*
 * Tells whether the snapshot of the last search does for the next one: nobody
 * else writes, and this writer no key twice.  A row that was moved all the same,
 * by kv.compact, makes the write fail as lost, which asks for a new one.
 */
static bool
may_keep_snapshot(const KvWriter *writer)
{
	return writer->keeps_snapshot && writer->snapshot_active && !writer->lost;
}

/* Looks for the row of the key. */
bool
kv_writer_find(KvWriter *writer, const Datum *key)
{
	bool		scan = true;
	bool		found = false;

	ExecClearTuple(writer->current);
	ExecClearTuple(writer->next);
	if (!may_keep_snapshot(writer))
		renew_snapshot(writer);
	writer->lost = false;
	memcpy(writer->key, key, sizeof(Datum) * writer->table->key.count);
	writer->neighbour.known = false;
	writer->room = 0;

	if (likely(kv_store_can_probe(writer->heap, GetActiveSnapshot())))
		found = probe_row(writer, &scan);
	writer->expected_rest = 0;
	return found || (unlikely(scan) && scan_row(writer));
}

/* Tells where the row found lies. */
ItemPointerData
kv_writer_place(const KvWriter *writer)
{
	return writer->current->tts_tid;
}

/* Finds the row of the key again at the place where this transaction locked it. */
bool
kv_writer_find_at(KvWriter *writer, const Datum *key, ItemPointerData place)
{
	ExecClearTuple(writer->current);
	ExecClearTuple(writer->next);
	renew_snapshot(writer);
	memcpy(writer->key, key, sizeof(Datum) * writer->table->key.count);
	writer->neighbour.known = false;
	writer->room = 0;
	return table_tuple_fetch_row_version(writer->heap, &place, GetActiveSnapshot(), writer->current);
}

/* Tells whether BEFORE ROW triggers want the row locked before they see it. */
static bool
has_before_trigger(const KvWriter *writer, KvRowChange change)
{
	TriggerDesc *triggers = kv_store_row_triggers(writer);

	if (triggers == NULL)
		return false;
	return change == KV_ROW_REMOVE ?
		triggers->trig_delete_before_row : triggers->trig_update_before_row;
}

/*
 * Tells whether the row found may be judged before it is locked.
 *
 * A row whose xmax is known to be invalid was not being changed when its page
 * was looked at; whoever changes it from now on makes our own write fail as
 * lost.  A set xmax may be that of a locker or of an aborted transaction:
 * locking the row finds out.
 */
bool
kv_writer_settled(const KvWriter *writer, KvRowChange change)
{
	HeapTuple	tuple;

	if (has_before_trigger(writer, change) || !TTS_IS_BUFFERTUPLE(writer->current))
		return false;
	tuple = ((BufferHeapTupleTableSlot *) writer->current)->base.tuple;
	return tuple != NULL && (tuple->t_data->t_infomask & HEAP_XMAX_INVALID) != 0;
}

/* Returns the lock that a change of the row takes; one that keeps it must not be in the way of others that do. */
static LockTupleMode
lock_mode(const KvWriter *writer, KvRowChange change)
{
	switch (change)
	{
		case KV_ROW_KEEP:
			return LockTupleShare;
		case KV_ROW_REMOVE:
			return LockTupleExclusive;
		default:
			return writer->replace_lock;
	}
}

/* Locks the row found; false if it is to be found again. */
bool
kv_writer_lock(KvWriter *writer, KvRowChange change)
{
	ItemPointerData tid = writer->current->tts_tid;
	TM_FailureData failure;
	TM_Result	result;

	result = table_tuple_lock(writer->heap, &tid, GetActiveSnapshot(), writer->current,
							  GetCurrentCommandId(true), lock_mode(writer, change),
							  LockWaitBlock, 0, &failure);
	if (result == TM_Ok)
		return true;

	writer->lost = true;
	kv_store_check_lost(result, &failure);
	return false;
}

/*
 * Judges why a row could not be locked or changed: returns if it is to be
 * found again, and raises the executor's own errors otherwise.
 */
void
kv_store_check_lost(TM_Result result, const TM_FailureData *failure)
{
	switch (result)
	{
		case TM_Updated:
			if (IsolationUsesXactSnapshot())
				ereport(ERROR,
						(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						 errmsg("could not serialize access due to concurrent update")));
			break;
		case TM_Deleted:
			if (IsolationUsesXactSnapshot())
				ereport(ERROR,
						(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						 errmsg("could not serialize access due to concurrent delete")));
			break;
		case TM_SelfModified:
			/* a function called by the write has written the row itself */
			ereport(ERROR,
					(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
					 errmsg("tuple to be updated was already modified by an operation triggered by the current command"),
					 errhint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.")));
			break;
		default:
			elog(ERROR, "unexpected result %d of a row change", (int) result);
	}
}

/* Tells whether this transaction, and so nobody else, has inserted, changed or removed the row in the slot. */
static bool
is_written_here(TupleTableSlot *slot)
{
	BufferHeapTupleTableSlot *row = (BufferHeapTupleTableSlot *) slot;
	HeapTupleHeader header;
	bool		here;

	if (!TTS_IS_BUFFERTUPLE(slot) || !BufferIsValid(row->buffer))
		return false;
	LockBuffer(row->buffer, BUFFER_LOCK_SHARE);
	header = row->base.tuple->t_data;
	here = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(header)) ||
		((header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
		 !HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) &&
		 TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(header)));
	LockBuffer(row->buffer, BUFFER_LOCK_UNLOCK);
	return here;
}

/* Tells whether this transaction has written the row of the key, or the entry that keeps it absent. */
bool
kv_store_has_written(KvTable *table, int leaf, const Datum *key)
{
	Relation	heap = table_open(table->leaf_relid[leaf], AccessShareLock);
	Relation	index = index_open(kv_table_leaf(table, leaf)->primary_index, AccessShareLock);
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	ScanKeyData scan_key[KV_MAX_KEYS];
	IndexScanDesc scan;
	bool		here = false;

	for (int i = 0; i < table->key.count; i++)
		kv_store_fill_equal_key(&scan_key[i], &table->key, i, key[i]);
	scan = kv_compat_index_beginscan(heap, index, SnapshotAny, table->key.count);
	index_rescan(scan, scan_key, table->key.count, NULL, 0);
	while (!here && index_getnext_slot(scan, ForwardScanDirection, slot))
		here = is_written_here(slot);
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	return here;
}

/* Fills the view with the row found. */
void
kv_writer_found(const KvWriter *writer, KvItemView *view)
{
	kv_store_view(writer->table, writer->leaf, writer->current, view);
}
