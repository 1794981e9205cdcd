/*
 * store_write.c
 *	  Insert, replace and remove one row of a leaf, as the executor would.
 *
 * The order of steps is that of ExecInsert, ExecUpdate and ExecDelete in
 * core's nodeModifyTable.c: BEFORE triggers, generated columns, constraints,
 * the row, its index entries, AFTER triggers.  Rows of tables are inserted
 * speculatively, as ON CONFLICT does, with the primary key as arbiter, and
 * any other index that is unique over the same columns; the check for a
 * conflict that comes before is the search that the caller has made.
 *
 * The partition constraint is checked only where a BEFORE trigger may have
 * changed the key: kv_table_route gave the leaf otherwise.
 */
#include "postgres.h"

#include "access/itup.h"
#include "access/nbtree.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "am/am.h"
#include "base/compat.h"
#include "base/errors.h"
#include "store/store_internal.h"

/* Fills the next row from an item; further columns get their defaults. */
static void
fill_new_row(KvWriter *writer, const KvItemView *item)
{
	TupleTableSlot *next = writer->next;
	int			natts = writer->row_type->natts;
	ExprContext *econtext = GetPerTupleExprContext(writer->estate);

	memset(next->tts_isnull, true, natts * sizeof(bool));
	for (int i = 0; i < writer->table->key.count; i++)
	{
		next->tts_values[writer->leaf->key_attno[i] - 1] = item->key[i];
		next->tts_isnull[writer->leaf->key_attno[i] - 1] = false;
	}
	next->tts_values[writer->leaf->item_attno - 1] = JsonbPGetDatum(item->rest);
	next->tts_isnull[writer->leaf->item_attno - 1] = false;

	for (int i = 0; writer->defaults && i < natts; i++)
		if (writer->defaults[i])
			next->tts_values[i] = ExecEvalExprSwitchContext(writer->defaults[i], econtext, &next->tts_isnull[i]);
	ExecStoreVirtualTuple(next);
}

/* Fills the next row from the row found, with another rest. */
static void
fill_changed_row(KvWriter *writer, Jsonb *rest)
{
	TupleTableSlot *current = writer->current;
	TupleTableSlot *next = writer->next;
	int			natts = writer->row_type->natts;

	slot_getallattrs(current);
	memcpy(next->tts_values, current->tts_values, natts * sizeof(Datum));
	memcpy(next->tts_isnull, current->tts_isnull, natts * sizeof(bool));
	next->tts_values[writer->leaf->item_attno - 1] = JsonbPGetDatum(rest);
	ExecStoreVirtualTuple(next);
}

/*
 * Returns the size of a key's entry in the primary key's index, 0 if it is
 * short enough whatever it is: only compression can tell for long ones, and
 * forming the entry is what does it.
 */
static Size
long_entry_size(KvWriter *writer, const Datum *key)
{
	Relation	index = writer->target->ri_IndexRelationDescs[writer->primary];
	bool		isnull[KV_MAX_KEYS] = {false};
	Datum		values[KV_MAX_KEYS];
	Size		size = sizeof(IndexTupleData);
	IndexTuple	entry;

	for (int i = 0; i < writer->table->key.count; i++)
	{
		values[i] = key[i];
		size += VARSIZE_ANY(DatumGetPointer(key[i])) + MAXIMUM_ALIGNOF;
	}
	if (likely(size <= KV_COMPAT_BT_MAX_ITEM_SIZE))
		return 0;

	entry = index_form_tuple(RelationGetDescr(index), values, isnull);
	size = IndexTupleSize(entry);
	pfree(entry);
	return size;
}

/* Raises an error if the key does not fit an entry of the primary key's index. */
static void
check_key_fits(KvWriter *writer, const KvItemView *item)
{
	Size		size = long_entry_size(writer, item->key);

	if (size > KV_COMPAT_BT_MAX_ITEM_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("key is too long for an index entry: %zu bytes", size),
				 errdetail("Partition key and sort key together take at most %zu bytes after compression.",
						   (Size) KV_COMPAT_BT_MAX_ITEM_SIZE)));
}

/*
 * Computes generated columns of the next row and checks its constraints.  The
 * item was checked on its way here, so the table's own need not be asked
 * unless a BEFORE trigger may have changed the row.
 */
static void
complete_row(KvWriter *writer, CmdType command, bool changed_by_trigger)
{
	TupleConstr *constraints = RelationGetDescr(writer->heap)->constr;

	writer->next->tts_tableOid = RelationGetRelid(writer->heap);
	if (constraints && constraints->has_generated_stored)
		ExecComputeStoredGenerated(writer->target, writer->estate, writer->next, command);
	if (constraints && (changed_by_trigger || !writer->leaf->only_own_constraints))
		ExecConstraints(writer->target, writer->next, writer->estate);
	if (changed_by_trigger && writer->heap->rd_rel->relispartition &&
		!ExecPartitionCheck(writer->target, writer->next, writer->estate, false))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("item of table \"%s\" was moved to another partition by a trigger",
						RelationGetRelationName(writer->root_heap)),
				 errdetail("A BEFORE trigger changed the partition key."),
				 errhint("Let the trigger keep the partition key, or write with UPDATE, which moves the row.")));
}

/* Tells whether a trigger gave the row to be inserted another key than the one that was looked for. */
static bool
key_was_changed(KvWriter *writer)
{
	const KvKeySchema *schema = &writer->table->key;

	for (int i = 0; i < schema->count; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(writer->next, writer->leaf->key_attno[i], &isnull);

		if (isnull || kv_key_compare(schema->attribute[i].type, value, writer->key[i]) != 0)
			return true;
	}
	return false;
}

/* Deletes the row again that was just inserted. */
static void
take_back(KvWriter *writer)
{
	ItemPointerData tid = writer->next->tts_tid;
	TM_FailureData failure;

	CommandCounterIncrement();
	if (table_tuple_delete(writer->heap, &tid, GetCurrentCommandId(true), GetActiveSnapshot(),
						   InvalidSnapshot, true, &failure, false) != TM_Ok)
		elog(ERROR, "could not delete a row inserted by the same transaction");
}

/* Inserts the next row and its index entries unless the key is taken; false if it is. */
static bool
insert_speculatively(KvWriter *writer, List **recheck)
{
	TransactionId xid = GetCurrentTransactionId();
	uint32		token = SpeculativeInsertionLockAcquire(xid);
	bool		conflict = false;

	if (writer->neighbour.known && kv_am_is_key_value(writer->heap))
		kv_am_hint_neighbour(writer->heap, &writer->neighbour.place);
	table_tuple_insert_speculative(writer->heap, writer->next, writer->estate->es_output_cid,
								   0, NULL, token);
	*recheck = kv_compat_insert_index_tuples(writer->target, writer->next, writer->estate,
											 false, true, &conflict, writer->arbiter);
	table_tuple_complete_speculative(writer->heap, writer->next, token, !conflict);
	SpeculativeInsertionLockRelease(xid);
	return !conflict;
}

/*
 * Inserts the next row and its index entries without speculating, which saves
 * a lock and a second change of the row: where nobody else inserts, a key that
 * was not found is free.  If it is not, all the same, the row is deleted
 * again; false then.
 */
static bool
insert_alone(KvWriter *writer)
{
	bool		conflict = false;

	if (writer->neighbour.known && kv_am_is_key_value(writer->heap))
		kv_am_hint_neighbour(writer->heap, &writer->neighbour.place);
	table_tuple_insert(writer->heap, writer->next, writer->estate->es_output_cid, 0, NULL);
	list_free(kv_compat_insert_index_tuples(writer->target, writer->next, writer->estate,
											false, true, &conflict, NIL));
	if (conflict)
		take_back(writer);
	return !conflict;
}

/*
 * Tells whether the key of the next row is free, after waiting for whoever
 * has inserted or removed it and not decided yet.  Above READ COMMITTED a
 * committed row that the snapshot does not see is an error.
 */
static bool
key_is_free(KvWriter *writer)
{
	ItemPointerData tid;

	if (kv_compat_check_index_constraints(writer->target, writer->next, writer->estate,
										  &tid, writer->arbiter))
		return true;
	if (!IsolationUsesXactSnapshot())
		return false;

	ExecClearTuple(writer->current);
	if (table_tuple_fetch_row_version(writer->heap, &tid, SnapshotAny, writer->current) &&
		!table_tuple_satisfies_snapshot(writer->heap, writer->current, GetActiveSnapshot()))
	{
		bool		isnull;
		Datum		xmin = slot_getsysattr(writer->current, MinTransactionIdAttributeNumber, &isnull);

		if (!TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin)))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to concurrent update")));
	}
	ExecClearTuple(writer->current);
	return false;
}

/*
 * Inserts the next row and its index entries unless its key is taken; false
 * if it is, and then whoever took it has decided.
 *
 * Another unique index would wait for him too, and then raise its own error
 * for a row that is about to be replaced, so the key is asked for first there.
 */
static bool
insert_row(KvWriter *writer, List **recheck)
{
	if (writer->further_unique && !key_is_free(writer))
	{
		writer->lost = true;
		return false;
	}
	if (writer->alone && !writer->further_unique ? insert_alone(writer) : insert_speculatively(writer, recheck))
		return true;
	(void) key_is_free(writer);
	writer->lost = true;
	return false;
}

/* Starts a write: the command id and the state that expressions are evaluated in. */
static void
begin_write(KvWriter *writer)
{
	ResetPerTupleExprContext(writer->estate);
	writer->estate->es_output_cid = GetCurrentCommandId(true);
	writer->estate->es_snapshot = GetActiveSnapshot();
}

/* Inserts the item, whose key kv_writer_find did not find. */
KvWriteResult
kv_writer_insert(KvWriter *writer, const KvItemView *item)
{
	KvTriggers	triggers;
	List	   *recheck = NIL;
	bool		before;
	bool		inserted = true;

	check_key_fits(writer, item);
	begin_write(writer);
	fill_new_row(writer, item);
	kv_triggers_begin(&triggers, writer, CMD_INSERT);
	before = triggers.before_row;
	if (before)
	{
		ExecMaterializeSlot(writer->next);
		if (!ExecBRInsertTriggers(triggers.estate, triggers.target, writer->next))
		{
			kv_triggers_end(&triggers, true);
			writer->wrote = true;
			return KV_WRITE_SUPPRESSED;
		}
	}
	complete_row(writer, CMD_INSERT, before);

	/* under another key than the caller's there is nobody to start again with */
	if (before && key_was_changed(writer))
	{
		table_tuple_insert(writer->heap, writer->next, writer->estate->es_output_cid, 0, NULL);
		recheck = kv_compat_insert_index_tuples(writer->target, writer->next, writer->estate,
												false, false, NULL, NIL);
	}
	else
		inserted = insert_row(writer, &recheck);

	writer->wrote = true;
	if (inserted && triggers.active)
		ExecARInsertTriggers(triggers.estate, triggers.target, writer->next, recheck, triggers.capture);
	if (inserted)
		kv_triggers_capture(&triggers, writer, false, true);
	kv_triggers_end(&triggers, inserted);
	list_free(recheck);
	return inserted ? KV_WRITE_DONE : KV_WRITE_LOST;
}

/* Fills the next row with the key that was looked for and nothing else. */
static void
fill_reserved_row(KvWriter *writer)
{
	TupleTableSlot *next = writer->next;

	memset(next->tts_isnull, true, writer->row_type->natts * sizeof(bool));
	for (int i = 0; i < writer->table->key.count; i++)
	{
		next->tts_values[writer->leaf->key_attno[i] - 1] = writer->key[i];
		next->tts_isnull[writer->leaf->key_attno[i] - 1] = false;
	}
	next->tts_values[writer->leaf->item_attno - 1] = JsonbPGetDatum(kv_json_empty_object());
	next->tts_isnull[writer->leaf->item_attno - 1] = false;
	ExecStoreVirtualTuple(next);
	next->tts_tableOid = RelationGetRelid(writer->heap);
}

/*
 * Keeps the absent key absent to the end of the transaction.
 *
 * A row with the key is inserted and deleted again.  No snapshot ever sees
 * it, so no trigger fires and no constraint is asked; but as long as the
 * transaction runs, the unique index makes every other session that inserts
 * the key wait for its end, plain SQL as well.  Logical decoding is spared
 * the row; a delete of a row that it does not know means nothing to it.
 */
KvWriteResult
kv_writer_reserve(KvWriter *writer)
{
	bool		conflict = false;
	List	   *conflicts;
	ListCell   *cell;

	/* a key that no row can have stays absent by itself */
	if (long_entry_size(writer, writer->key) > KV_COMPAT_BT_MAX_ITEM_SIZE)
		return KV_WRITE_DONE;

	begin_write(writer);
	fill_reserved_row(writer);
	if (writer->neighbour.known && kv_am_is_key_value(writer->heap))
		kv_am_hint_neighbour(writer->heap, &writer->neighbour.place);
	table_tuple_insert(writer->heap, writer->next, writer->estate->es_output_cid,
					   TABLE_INSERT_NO_LOGICAL, NULL);
	/* of another unique index it may be a duplicate: the row will not stay */
	conflicts = kv_compat_insert_index_tuples(writer->target, writer->next, writer->estate,
											  false, true, &conflict, NIL);
	conflict = false;
	foreach(cell, writer->arbiter)
		conflict |= list_member_oid(conflicts, lfirst_oid(cell));
	list_free(conflicts);
	writer->wrote = true;
	take_back(writer);
	if (!conflict)
		return KV_WRITE_DONE;
	(void) key_is_free(writer);
	return KV_WRITE_LOST;
}

/* Gives the row found a new rest. */
KvWriteResult
kv_writer_replace(KvWriter *writer, Jsonb *rest)
{
	ItemPointerData tid = writer->current->tts_tid;
	KvTriggers	triggers;
	bool		before;
	TM_FailureData failure;
	TM_Result	result = TM_Ok;
	LockTupleMode lock_mode;
	KvCompatUpdateIndexes update_indexes = KV_COMPAT_NO_INDEXES;
	List	   *recheck = NIL;

	CheckCmdReplicaIdentity(writer->heap, CMD_UPDATE);
	begin_write(writer);
	fill_changed_row(writer, rest);
	kv_triggers_begin(&triggers, writer, CMD_UPDATE);
	before = triggers.before_row;
	if (before)
	{
		ExecMaterializeSlot(writer->next);
		if (!kv_compat_before_update(triggers.estate, &triggers.epq, triggers.target, &tid,
									 writer->next, &result, &failure))
		{
			kv_triggers_end(&triggers, true);
			writer->wrote = true;
			return KV_WRITE_SUPPRESSED;
		}
	}
	complete_row(writer, CMD_UPDATE, before);

	if (writer->room > 0 && !before && kv_am_is_key_value(writer->heap))
		kv_am_hint_room(writer->heap, ItemPointerGetBlockNumber(&tid), writer->room);
	result = table_tuple_update(writer->heap, &tid, writer->next, writer->estate->es_output_cid,
								GetActiveSnapshot(), InvalidSnapshot, true,
								&failure, &lock_mode, &update_indexes);
	writer->wrote = true;
	if (result != TM_Ok)
	{
		kv_triggers_end(&triggers, false);
		kv_store_check_lost(result, &failure);
		writer->lost = true;
		return KV_WRITE_LOST;
	}

	if (update_indexes != KV_COMPAT_NO_INDEXES)
		recheck = kv_compat_update_index_tuples(writer->target, writer->next, writer->estate, update_indexes);
	if (triggers.active)
		ExecARUpdateTriggers(triggers.estate, triggers.target, NULL, NULL, &tid, NULL,
							 writer->next, recheck, triggers.capture, false);
	kv_triggers_capture(&triggers, writer, true, true);
	kv_triggers_end(&triggers, true);
	list_free(recheck);
	return KV_WRITE_DONE;
}

/* Removes the row found. */
KvWriteResult
kv_writer_remove(KvWriter *writer)
{
	ItemPointerData tid = writer->current->tts_tid;
	KvTriggers	triggers;
	TM_FailureData failure;
	TM_Result	result = TM_Ok;

	CheckCmdReplicaIdentity(writer->heap, CMD_DELETE);
	begin_write(writer);
	kv_triggers_begin(&triggers, writer, CMD_DELETE);
	if (triggers.before_row &&
		!kv_compat_before_delete(triggers.estate, &triggers.epq, triggers.target, &tid, &result, &failure))
	{
		kv_triggers_end(&triggers, true);
		writer->wrote = true;
		return KV_WRITE_SUPPRESSED;
	}

	result = table_tuple_delete(writer->heap, &tid, writer->estate->es_output_cid,
								GetActiveSnapshot(), InvalidSnapshot, true, &failure, false);
	writer->wrote = true;
	if (result != TM_Ok)
	{
		kv_triggers_end(&triggers, false);
		kv_store_check_lost(result, &failure);
		writer->lost = true;
		return KV_WRITE_LOST;
	}

	if (triggers.active)
		ExecARDeleteTriggers(triggers.estate, triggers.target, &tid, NULL, triggers.capture, false);
	kv_triggers_capture(&triggers, writer, true, false);
	kv_triggers_end(&triggers, true);
	return KV_WRITE_DONE;
}

/* Fills the view with the row as insert or replace wrote it. */
void
kv_writer_written(const KvWriter *writer, KvItemView *view)
{
	kv_store_view(writer->table, writer->leaf, writer->next, view);
}
