/*
 * store_move.c
 *	  Moves rows of a leaf with their index entries.
 *
 * The row does not change, so no trigger fires, no constraint is asked, and no
 * index needs to look for duplicates: the old version of the row has its
 * place in every unique index already.  Expressions and predicates of indexes
 * run as the leaf's owner, in a security-restricted operation, as under
 * REINDEX.
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "am/am.h"
#include "base/compat.h"
#include "store/store_internal.h"

/* Opens the indexes of a leaf; acts as its owner from here on. */
void
kv_mover_begin(KvMover *mover, Relation heap)
{
	List	   *oids = RelationGetIndexList(heap);
	ListCell   *cell;

	GetUserIdAndSecContext(&mover->user, &mover->security_context);
	SetUserIdAndSecContext(heap->rd_rel->relowner, mover->security_context | SECURITY_RESTRICTED_OPERATION);
	mover->guc_level = NewGUCNestLevel();
	kv_compat_restrict_search_path();

	mover->heap = heap;
	mover->index = palloc(sizeof(Relation) * Max(list_length(oids), 1));
	mover->info = palloc(sizeof(IndexInfo *) * Max(list_length(oids), 1));
	mover->index_count = 0;
	foreach(cell, oids)
	{
		Relation	index = index_open(lfirst_oid(cell), RowExclusiveLock);
		IndexInfo  *info = BuildIndexInfo(index);

		if (!info->ii_ReadyForInserts)
		{
			index_close(index, RowExclusiveLock);
			continue;
		}
		mover->index[mover->index_count] = index;
		mover->info[mover->index_count++] = info;
	}
	list_free(oids);
	mover->estate = CreateExecutorState();
	mover->slot = MakeSingleTupleTableSlot(RelationGetDescr(heap), &TTSOpsHeapTuple);
	GetPerTupleExprContext(mover->estate)->ecxt_scantuple = mover->slot;
	mover->row_context = AllocSetContextCreate(CurrentMemoryContext, "key_value row to move",
											   ALLOCSET_DEFAULT_SIZES);
}

/* Inserts one index's entry for the row in the slot, if the index is for it. */
static void
insert_entry(KvMover *mover, int number, ItemPointer entry)
{
	IndexInfo  *info = mover->info[number];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (info->ii_Predicate != NIL)
	{
		if (info->ii_PredicateState == NULL)
			info->ii_PredicateState = ExecPrepareQual(info->ii_Predicate, mover->estate);
		if (!ExecQual(info->ii_PredicateState, GetPerTupleExprContext(mover->estate)))
			return;
	}
	FormIndexDatum(info, mover->slot, mover->estate, values, isnull);
	(void) index_insert(mover->index[number], values, isnull, entry, mover->heap,
						UNIQUE_CHECK_NO, true, info);
}

/* Moves a row to a page, with its index entries; false if it was left where it is. */
bool
kv_mover_move(KvMover *mover, ItemPointer row, BlockNumber target)
{
	MemoryContext caller = MemoryContextSwitchTo(mover->row_context);
	KvAmMoved	moved;
	bool		done = kv_am_move_row(mover->heap, row, target, &moved) != KV_AM_ROW_BUSY;

	if (done && moved.needs_entries)
	{
		ExecStoreHeapTuple(moved.row, mover->slot, false);
		mover->slot->tts_tableOid = RelationGetRelid(mover->heap);
		for (int i = 0; i < mover->index_count; i++)
			insert_entry(mover, i, &moved.entry);
		ExecClearTuple(mover->slot);
		ResetPerTupleExprContext(mover->estate);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(mover->row_context);
	return done;
}

/* Closes the indexes and is the caller again. */
void
kv_mover_end(KvMover *mover)
{
	for (int i = 0; i < mover->index_count; i++)
	{
		kv_compat_end_index_inserts(mover->index[i], mover->info[i]);
		index_close(mover->index[i], NoLock);
	}
	ExecDropSingleTupleTableSlot(mover->slot);
	FreeExecutorState(mover->estate);
	MemoryContextDelete(mover->row_context);
	AtEOXact_GUC(false, mover->guc_level);
	SetUserIdAndSecContext(mover->user, mover->security_context);
}
