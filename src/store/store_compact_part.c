/*
 * store_compact_part.c
 *	  Looks at a part of a collection, and moves it to few pages if it lies on many.
 *
 * A part that lies scattered is planned (am_pack.c) to lie on the fewest pages, or
 * nearly so if these are many.  Where there is no room for that, it waits: for
 * rows to leave their pages by the next commit, for another of its pages to be
 * worked off, for VACUUM.  When nothing of these will make room, it is put on
 * as few pages as can be had.
 *
 * Of a part that is not scattered, but lies on pages that are to become empty,
 * as many rows as can stay where they are.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "am/am.h"
#include "store/store_compact.h"
#include "store/store_internal.h"

/* A collection larger than this is taken for several. */
#define PART_PAGES 64

/* So much is moved before a transaction is ended for the room that it leaves. */
#define LEAST_BYTES (128 * 1024)

/* Parts that lie on this much more than the fewest pages are moved. */
#define SCATTERED 1.2

/* To so many times the fewest pages: a whole number is left of it, so that it is the fewest unless they are many. */
#define ENOUGH 1.1

/* Parts that fill this share of a page want empty ones, without line pointers. */
#define EMPTY_SHARE 0.9

/* Makes room for one more row in a part. */
static void
grow_part(KvCompaction *compaction)
{
	KvCompactPart *part = &compaction->part;
	MemoryContext caller;

	if (part->group.count < part->size)
		return;
	caller = MemoryContextSwitchTo(compaction->context);
	if (part->size == 0)
	{
		part->size = 256;
		part->row = palloc(part->size * sizeof(ItemPointerData));
		part->group.bytes = palloc(part->size * sizeof(uint16));
		part->group.present = palloc(part->size * sizeof(BlockNumber));
		part->group.target = palloc(part->size * sizeof(BlockNumber));
	}
	else
	{
		part->size *= 2;
		part->row = repalloc(part->row, part->size * sizeof(ItemPointerData));
		part->group.bytes = repalloc(part->group.bytes, part->size * sizeof(uint16));
		part->group.present = repalloc(part->group.present, part->size * sizeof(BlockNumber));
		part->group.target = repalloc(part->group.target, part->size * sizeof(BlockNumber));
	}
	MemoryContextSwitchTo(caller);
}

/* Orders block numbers. */
static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber x = *(const BlockNumber *) a;
	BlockNumber y = *(const BlockNumber *) b;

	return x < y ? -1 : x > y;
}

/* Counts the pages that a group lies on at present. */
static void
count_pages(KvAmGroup *group)
{
	memcpy(group->target, group->present, group->count * sizeof(BlockNumber));
	qsort(group->target, group->count, sizeof(BlockNumber), compare_blocks);
	group->present_pages = group->count > 0 ? 1 : 0;
	for (int i = 1; i < group->count; i++)
		if (group->target[i] != group->target[i - 1])
			group->present_pages++;
}

/* Remembers the key of a part's last row, behind which the collection goes on. */
static void
remember_end(KvCompactChunk *chunk, TupleTableSlot *slot)
{
	KvCompaction *compaction = chunk->compaction;
	const KvLeaf *leaf = kv_cursor_leaf_descriptor(chunk->cursor);
	MemoryContext caller;

	MemoryContextReset(compaction->end.context);
	caller = MemoryContextSwitchTo(compaction->end.context);
	for (int i = 0; i < chunk->table->key.count; i++)
	{
		bool		isnull;

		compaction->end.key[i] = PointerGetDatum(PG_DETOAST_DATUM_COPY(slot_getattr(slot, leaf->key_attno[i], &isnull)));
	}
	MemoryContextSwitchTo(caller);
}

/*
 * Reads rows of the collection at hand from start on, until they fill
 * PART_PAGES pages; then end is where the last of them is.  The cursor gives all versions of rows; what the
 * transaction itself moved before is not among those that its snapshot sees,
 * once the command counter was incremented.
 */
void
kv_compact_read_part(KvCompactChunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	KvCompactPart *part = &compaction->part;
	KvAmGroup  *group = &part->group;
	Size		limit = PART_PAGES * kv_am_pack_capacity(compaction->pack);
	KvCursorRange range;
	TupleTableSlot *slot;

	memset(&range, 0, sizeof(range));
	range.has_partition_key = true;
	range.key.partition_key = compaction->key[compaction->key_next];
	range.has_start = compaction->has_start;
	memcpy(range.start, compaction->start.key, sizeof(range.start));
	kv_cursor_rescan(chunk->cursor, &range);

	group->count = 0;
	group->total_bytes = 0;
	part->at_end = true;
	while ((slot = kv_cursor_next(chunk->cursor, ForwardScanDirection)) != NULL)
	{
		HeapTuple	row;

		if (!table_tuple_satisfies_snapshot(chunk->mover.heap, slot, GetActiveSnapshot()))
			continue;
		row = ExecFetchSlotHeapTuple(slot, false, NULL);
		grow_part(compaction);
		part->row[group->count] = row->t_self;
		group->present[group->count] = ItemPointerGetBlockNumber(&row->t_self);
		/* a row that takes more than fillfactor leaves has a page to itself */
		group->bytes[group->count] = Min(MAXALIGN(row->t_len) + sizeof(ItemIdData), kv_am_pack_capacity(compaction->pack));
		group->total_bytes += group->bytes[group->count++];
		if (group->total_bytes >= limit)
		{
			part->at_end = false;
			remember_end(chunk, slot);
			break;
		}
	}
	count_pages(group);
}

/* Notes a page that a row has left. */
static void
note_emptied(KvCompaction *compaction, BlockNumber block)
{
	for (int i = compaction->emptied_count - 1; i >= 0 && i >= compaction->emptied_count - 64; i--)
		if (compaction->emptied[i] == block)
			return;
	if (compaction->emptied_count == compaction->emptied_size)
	{
		compaction->emptied_size = Max(256, compaction->emptied_size * 2);
		if (compaction->emptied == NULL)
			compaction->emptied = MemoryContextAlloc(compaction->context, compaction->emptied_size * sizeof(BlockNumber));
		else
			compaction->emptied = repalloc(compaction->emptied, compaction->emptied_size * sizeof(BlockNumber));
	}
	compaction->emptied[compaction->emptied_count++] = block;
}

/* Moves the rows of a part to where they were planned to lie. */
static void
move_part(KvCompactChunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	KvCompactPart *part = &compaction->part;

	for (int i = 0; i < part->group.count; i++)
	{
		Size		bytes = part->group.bytes[i];

		if (part->group.target[i] == part->group.present[i])
			continue;
		CHECK_FOR_INTERRUPTS();
		if (!kv_mover_move(&chunk->mover, &part->row[i], part->group.target[i]))
		{
			compaction->counts->busy_items++;
			continue;
		}
		note_emptied(compaction, part->group.present[i]);
		compaction->counts->moved_items++;
		compaction->counts->moved_bytes += bytes;
		compaction->moved_any = true;
		chunk->moved_bytes += bytes;
		compaction->unpruned_bytes += bytes;
		compaction->unvacuumed_bytes += bytes;
	}
	compaction->last_xid = GetTopTransactionId();
	/* the next collection's rows are not to be taken for those that were there before */
	CommandCounterIncrement();
	UpdateActiveSnapshotCommandId();
}

/* Tells whether one of the blocks is among those that are to become empty. */
static bool
reach_beyond(const BlockNumber *blocks, int count, BlockNumber limit)
{
	for (int i = 0; i < count; i++)
		if (blocks[i] >= limit)
			return true;
	return false;
}

/* Finds out whether the part at hand lies on too many pages, or on wrong ones. */
static void
judge_part(KvCompaction *compaction)
{
	KvCompactPart *part = &compaction->part;
	KvAmGroup  *group = &part->group;

	part->fewest = kv_am_pack_fewest(compaction->pack, group);
	part->scattered = group->present_pages > part->fewest * SCATTERED;
	part->most = part->scattered ? (int) (part->fewest * ENOUGH) : group->present_pages;
	part->clears = reach_beyond(group->present, group->count, kv_am_pack_limit(compaction->pack));
}

/* Tells whether the plan for the part at hand is worth to be carried out. */
static bool
is_better(const KvCompaction *compaction)
{
	const KvCompactPart *part = &compaction->part;
	const KvAmGroup *group = &part->group;

	if (!part->clears || reach_beyond(group->target, group->count, kv_am_pack_limit(compaction->pack)))
		return group->target_pages < group->present_pages;
	return group->target_pages <= group->present_pages ||
		(group->target_pages <= part->fewest + 1 &&
		 reach_beyond(group->present, group->count, kv_am_pack_bound(compaction->pack)));
}

/*
 * Tells whether pages may be added for the part at hand.  Where few are
 * scattered, they are those that the last call found no room for.
 */
static bool
may_extend(const KvCompaction *compaction)
{
	const KvCompactPart *part = &compaction->part;

	return part->scattered && !compaction->clearing &&
		(part->group.present_pages > 2 * part->fewest ||
		 compaction->pages_found > KV_COMPACT_SCATTERED_LEAF * compaction->pages_wanted ||
		 kv_am_pack_may_grow(compaction->pack));
}

/* Tells whether a page is to be worked off yet. */
static bool
is_to_come(const KvCompaction *compaction, BlockNumber block)
{
	if (!compaction->clearing)
		return kv_am_pack_is_to_do(compaction->pack, block);
	return block < compaction->page && block >= kv_am_pack_limit(compaction->pack);
}

/* Tells whether the collection at hand, a single part, has a row on a page that is to be worked off yet. */
static bool
comes_again(const KvCompaction *compaction)
{
	const KvAmGroup *group = &compaction->part.group;

	if (compaction->has_start || !compaction->part.at_end)
		return false;
	for (int i = 0; i < group->count; i++)
		if (is_to_come(compaction, group->present[i]))
			return true;
	return false;
}

/* Plans the part at hand on more pages than are wished, if that is better than nothing. */
static bool
plan_on_more(KvCompactChunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	KvCompactPart *part = &compaction->part;
	KvAmGroup  *group = &part->group;

	for (int more = 1; part->most + more <= Max(group->present_pages, part->fewest + 1); more *= 2)
	{
		if (!kv_am_pack_plan(compaction->pack, chunk->mover.heap, group, part->most + more))
			continue;
		if (is_better(compaction))
			return true;
		kv_am_pack_undo(compaction->pack, group);
	}
	return false;
}

/* Plans the part at hand, or says what has to come first. */
static KvCompactOutcome
plan_part(KvCompactChunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	KvCompactPart *part = &compaction->part;

	while (!kv_am_pack_plan(compaction->pack, chunk->mover.heap, &part->group, part->most))
	{
		if (compaction->unpruned_bytes >= LEAST_BYTES)
			return KV_PART_WANTS_COMMIT;
		if (may_extend(compaction) && kv_am_pack_extend(compaction->pack, chunk->mover.heap))
			continue;
		if (compaction->unpruned_bytes > 0)
			return comes_again(compaction) ? KV_PART_PUT_OFF : KV_PART_WANTS_COMMIT;
		if (part->group.total_bytes >= EMPTY_SHARE * kv_am_pack_capacity(compaction->pack) &&
			compaction->unvacuumed_bytes >= compaction->vacuum_bytes)
			return KV_PART_WANTS_VACUUM;
		if (plan_on_more(chunk))
			return KV_PART_PLANNED;
		if (!compaction->clearing || !kv_am_pack_raise(compaction->pack, compaction->page))
			return KV_PART_SETTLED;
	}
	if (is_better(compaction))
		return KV_PART_PLANNED;
	kv_am_pack_undo(compaction->pack, &part->group);
	return KV_PART_SETTLED;
}

/* Moves the part at hand if that does it good. */
KvCompactOutcome
kv_compact_settle_part(KvCompactChunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	KvCompactPart *part = &compaction->part;
	KvCompactOutcome outcome = KV_PART_SETTLED;
	int			left;

	judge_part(compaction);
	if (part->scattered || part->clears)
		outcome = plan_part(chunk);
	if (outcome != KV_PART_PLANNED && outcome != KV_PART_SETTLED)
		return outcome;
	left = outcome == KV_PART_PLANNED ? part->group.target_pages : part->group.present_pages;
	compaction->pages_wanted += part->fewest;
	compaction->pages_found += part->scattered ? part->group.present_pages : part->fewest;
	compaction->pages_left += left > part->fewest * SCATTERED ? left : part->fewest;
	if (outcome == KV_PART_PLANNED)
		move_part(chunk);
	return KV_PART_SETTLED;
}
