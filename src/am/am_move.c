/*
 * am_move.c
 *	  Moves a row to another page, and cleans up behind many that were moved.
 *
 * A move is an UPDATE that changes nothing: the new version is written to the
 * page that the caller names, and the old one's ctid points to it, so that
 * whoever is about to change the row follows it there, as after any update.
 * Out-of-line values stay where they are, because both versions point to them.
 *
 * heap_update() leaves a version on its page wherever that has room.  Then the
 * room is used up first, by a version of the row that is as long as it: what
 * lies behind the attributes of a tuple is nobody's business.  It is never
 * seen by anybody, as it is replaced by the same transaction, and it goes with
 * the first pruning after the commit.
 *
 * Nothing here waits for another transaction.  A row that is locked or being
 * changed, or was changed since the caller saw it, is left alone.
 *
 * Locks: the caller has locked the relation in ROW EXCLUSIVE mode, and its
 * active snapshot sees the row.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "catalog/pg_class_d.h"
#include "commands/vacuum.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* Writes a version of the row in the place of the one at from, which this transaction holds locked. */
static void
write_version(Relation relation, ItemPointer from, HeapTuple version)
{
	TM_FailureData failure;
	LockTupleMode lock_mode;
	TM_Result	result;

	result = kv_compat_heap_update(relation, from, version, GetCurrentCommandId(true),
								   &failure, &lock_mode);
	if (result != TM_Ok)
		elog(ERROR, "could not move a row that is locked: result %d", (int) result);
}

/* Returns a copy of a row that takes so many bytes on its page. */
static HeapTuple
lengthen(HeapTuple row, Size length)
{
	HeapTuple	longer = palloc0(HEAPTUPLESIZE + length);

	*longer = *row;
	longer->t_data = (HeapTupleHeader) ((char *) longer + HEAPTUPLESIZE);
	memcpy(longer->t_data, row->t_data, row->t_len);
	longer->t_len = length;
	return longer;
}

/*
 * Moves a row to a page.
 *
 * The room there is not warranted: if others took it, heap puts the row
 * elsewhere.  A version needs index entries unless it is part of a chain
 * whose first member has them; of the two versions written here the longer one
 * can be such a first member, where others filled up the page meanwhile.
 */
KvAmMoveResult
kv_am_move_row(Relation relation, ItemPointer row, BlockNumber target, KvAmMoved *moved)
{
	HeapTupleData tuple;
	ItemPointerData from = *row;
	ItemPointerData entry;
	TM_FailureData failure;
	TM_Result	result;
	Buffer		buffer;
	Size		room;

	tuple.t_self = *row;
	result = heap_lock_tuple(relation, &tuple, GetCurrentCommandId(true), LockTupleNoKeyExclusive,
							 LockWaitSkip, false, &buffer, &failure);
	if (result != TM_Ok)
	{
		ReleaseBuffer(buffer);
		return KV_AM_ROW_BUSY;
	}
	moved->row = heap_copytuple(&tuple);
	ItemPointerSetInvalid(&entry);

	/* the pin keeps others from pruning the page before the row has left it */
	room = kv_am_space_of_block(relation, ItemPointerGetBlockNumber(row));
	if (room >= MAXALIGN(tuple.t_len))
	{
		HeapTuple	filler = lengthen(moved->row, MAXALIGN_DOWN(room));

		write_version(relation, &from, filler);
		CommandCounterIncrement();
		from = filler->t_self;
		if (!HeapTupleIsHeapOnly(filler))
			entry = from;
		heap_freetuple(filler);
	}

	RelationSetTargetBlock(relation, target);
	write_version(relation, &from, moved->row);
	ReleaseBuffer(buffer);
	if (!HeapTupleIsHeapOnly(moved->row))
		entry = moved->row->t_self;
	moved->needs_entries = ItemPointerIsValid(&entry);
	moved->entry = entry;
	return ItemPointerGetBlockNumber(&moved->row->t_self) == target ? KV_AM_ROW_MOVED : KV_AM_ROW_STRAYED;
}

/*
 * Frees the room of rows that left a page, as far as no snapshot needs them
 * any more, and tells the free space map.  Returns the free bytes.
 */
Size
kv_am_prune_page(Relation relation, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(relation, block);
	Size		space;

	heap_page_prune_opt(relation, buffer);
	ReleaseBuffer(buffer);
	space = kv_am_space_of_block(relation, block);
	RecordPageWithFreeSpace(relation, block, space);
	return space;
}

/*
 * Vacuums the relation, which the caller has opened and locked in SHARE UPDATE
 * EXCLUSIVE mode in a transaction of its own.
 *
 * Only that frees the line pointers of rows that left a page: index entries
 * point to them.  Empty pages at the end are given back only with may_truncate,
 * unless the table's vacuum_truncate is off.
 */
void
kv_am_vacuum(Relation relation, bool may_truncate)
{
	VacuumParams params;

	memset(&params, 0, sizeof(params));
	params.options = VACOPT_VACUUM;
	params.freeze_min_age = -1;
	params.freeze_table_age = -1;
	params.multixact_freeze_min_age = -1;
	params.multixact_freeze_table_age = -1;
	params.log_min_duration = -1;
	params.index_cleanup = VACOPTVALUE_ENABLED;
	params.truncate = may_truncate && kv_compat_may_truncate(relation) ?
		VACOPTVALUE_ENABLED : VACOPTVALUE_DISABLED;
	params.nworkers = -1;
	table_relation_vacuum(relation, &params, GetAccessStrategy(BAS_VACUUM));
}
