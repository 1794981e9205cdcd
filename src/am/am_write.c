/*
 * am_write.c
 *	  Inserts and updates of single rows.
 *
 * Each is heap's own callback after a page was chosen.  The choice is handed
 * to heap as the relation's target block: heap checks the space under its
 * lock and, if others took it meanwhile, asks the free space map as ever.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* Inserts one row next to its neighbour. */
void
kv_am_tuple_insert(Relation relation, TupleTableSlot *slot, CommandId cid,
				   int options, BulkInsertState bistate)
{
	const TableAmRoutine *heap = GetHeapamTableAmRoutine();
	KvAmTarget	target;

	if (!kv_am_place_insert(relation, slot, &target))
	{
		heap->tuple_insert(relation, slot, cid, options, bistate);
		return;
	}
	heap->tuple_insert(relation, slot, cid, options & ~HEAP_INSERT_SKIP_FSM, NULL);
	kv_am_placed(relation, &slot->tts_tid, &target);
}

/* Inserts one row that is to be confirmed or taken back, as ON CONFLICT does. */
void
kv_am_tuple_insert_speculative(Relation relation, TupleTableSlot *slot, CommandId cid,
							   int options, BulkInsertState bistate, uint32 token)
{
	const TableAmRoutine *heap = GetHeapamTableAmRoutine();
	KvAmTarget	target;

	if (!kv_am_place_insert(relation, slot, &target))
	{
		heap->tuple_insert_speculative(relation, slot, cid, options, bistate, token);
		return;
	}
	heap->tuple_insert_speculative(relation, slot, cid, options & ~HEAP_INSERT_SKIP_FSM, NULL, token);
	kv_am_placed(relation, &slot->tts_tid, &target);
}

/* Updates one row; a version that does not fit its page stays in the collection. */
TM_Result
kv_am_tuple_update(Relation relation, ItemPointer old, TupleTableSlot *slot, CommandId cid,
				   Snapshot snapshot, Snapshot crosscheck, bool wait,
				   TM_FailureData *failure, LockTupleMode *lockmode,
				   KvCompatUpdateIndexes *update_indexes)
{
	KvAmTarget	target;
	bool		placed = kv_am_place_update(relation, old, slot, &target);
	TM_Result	result;

	result = GetHeapamTableAmRoutine()->tuple_update(relation, old, slot, cid, snapshot, crosscheck,
													 wait, failure, lockmode, update_indexes);
	if (placed && result == TM_Ok)
		kv_am_placed(relation, &slot->tts_tid, &target);
	return result;
}
