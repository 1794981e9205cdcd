/*
 * am_placement.c
 *	  Chooses the page of a new row version.
 *
 * A row goes to the page of its neighbour in the primary key, so that the
 * items of a collection lie together although they come one by one between
 * those of others.  Which page when that one is full is the whole art:
 *
 * - Any page of the nearest rows of the collection that has room.
 * - Else a page so empty that only a few collections share it.  A full page of
 *	 which k rows were the collection's own asks for one that leaves it room for
 *	 GROWTH * k * sqrt(k) rows, if all who come there take as much: collections
 *	 grow by leaps, and the larger one is, the less it shares.
 * - Such a page is made new if there is none, as long as the heap's free space
 *	 stays within a budget; beyond it the emptiest page must do, unless the
 *	 collection is scattered already.  This bounds the heap's size whatever the
 *	 order of arrival.
 * - A new collection starts on a page with a free share of half the share of
 *	 collections that come back, so that single items are packed as heap packs
 *	 them, and others find room to grow.
 *
 * Rows put between others of their collection have a smaller budget: they come
 * in random order, fill every page sooner or later, and need no room at one end.
 *
 * Nothing here moves a row.  Then collections that all grow at one pace, from
 * one item each, cannot have both few pages and a small heap at every size: with
 * a free share of 0.2 a page can be at most half as much as a collection has
 * already, which makes nine pages for 50 items.  The budget is where the middle
 * lies: it binds only in such lockstep, in sizes between those measured below
 * the heap is up to 1.6 times a plain one.
 *
 * Locks: none held on return.  The choice is a hint that heap checks.
 *
 * In PostgreSQL 15, 200,000 items of 240 bytes in 16 partitions (25 to a page),
 * which the bench's rows of collections measure anew: heap size over a plain
 * heap's, and pages that the last 50 items of a collection touch over the fewest
 * possible (in brackets a plain heap's).
 *
 *	 collections of		1			3			10			50			500			5000
 *	 in turn			1.00  1.0	1.03  2.0	1.51  3.9	1.16  3.0	1.03  1.5	1.00  1.5
 *						  (1.0)		  (3.0)		  (10)		  (25)		  (23)		  (3.4)
 *	 shuffled						1.17  2.3	1.58  3.7	1.28  2.8	1.03  1.5
 *	 random sort keys										1.24  2.7	1.19  4.2	1.18  9.2
 *	 while they live				1.06  2.0	1.20  2.4	1.16  1.8
 *	 one after another	1.00  1.0	1.00  1.1				1.00  1.0
 *	 by COPY, in turn				1.03  2.0				1.16  3.0
 *
 * Sizes by Zipf's law 1.16 2.1 (5.2), of 1, 8 and 200 mixed 1.11 1.4 (1.9); 50 in
 * turn after growing updates 1.13 1.1 (8.3), after ten rounds of deleting and
 * inserting a tenth 1.31 1.8 (25).  50 in turn lie on 6.1 pages, on 9 at most.
 * Processor time to insert over a plain heap's: 1.2 for 1, 50 and 500 in turn,
 * 1.4 for 10.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* How much larger a page's part for a collection is than what it had on the page before; times the root of its rows there. */
#define GROWTH 2.0

/* Free shares of the heap up to which it may grow by pages that are not filled yet, and pages that do not count. */
#define APPEND_BUDGET 0.38
#define INSERT_BUDGET 0.2
#define FREE_SLACK_PAGES 2

/* A page with no more than this used counts as empty. */
#define EMPTY_TOLERANCE 64

/* Blocks of the neighbours that are looked at for room. */
#define MAX_NEARBY_BLOCKS 16

/* The free space map rounds down to this. */
#define FSM_STEP (BLCKSZ / 256)

/* Entries of the free space map read at first and at each time of need, and how many the average spans. */
#define FIRST_SAMPLES 32
#define SAMPLES 4
#define SAMPLE_WINDOW 256

/*
 * Tells whether the heap may have one more free page: samples the free space
 * map and compares the free share, less what fillfactor reserves, with budget.
 */
static bool
within_budget(Relation relation, double budget)
{
	KvAmState  *state = kv_am_state(relation);
	BlockNumber blocks = RelationGetNumberOfBlocks(relation);
	double		capacity = kv_am_space_capacity(relation);
	double		reserve = MaxHeapTupleSize - capacity;
	int			samples = state->sample_count == 0 ? FIRST_SAMPLES : SAMPLES;
	int			i;

	if (blocks <= FREE_SLACK_PAGES)
		return true;
	for (i = 0; i < samples; i++)
	{
		BlockNumber block = ((uint64) state->sample_point * blocks) >> 32;
		Size		recorded = GetRecordedFreeSpace(relation, block);
		double		share;

		/* The true value lies between it and the step below. */
		share = (recorded - recorded % KV_AM_RECORD_STEP / 2 - reserve) / capacity;
		state->sample_point += 0x9E3779B9;	/* the golden ratio: even coverage */
		if (state->sample_count < SAMPLE_WINDOW)
			state->sample_count++;
		state->free_share += (Max(share, 0) - state->free_share) / state->sample_count;
	}
	return state->free_share * blocks + 1 <= budget * blocks + FREE_SLACK_PAGES;
}

/* Makes a block the target. */
static void
set_target(KvAmTarget *target, BlockNumber block, Size space, bool fresh)
{
	target->block = block;
	target->space = space;
	target->fresh = fresh;
}

/*
 * Makes a page with the wished free space the target: one that there is, else,
 * if the heap may grow, a new one, else the emptiest that holds the row.
 */
static void
find_page(Relation relation, BlockNumber near, Size near_space, Size wish, Size needed, bool may_grow,
		  KvAmTarget *target)
{
	for (;;)
	{
		Size		space;
		BlockNumber block = kv_am_space_find(relation, near, near_space, wish, &space);

		if (block != InvalidBlockNumber)
		{
			set_target(target, block, space, false);
			return;
		}
		if (may_grow || wish == needed)
			break;
		wish = Max(needed, wish - Min(wish, BLCKSZ / 8));
	}
	target->block = kv_am_space_extend(relation, &target->space);
	target->fresh = true;
}

/* Returns the free space with which a page saves the rows that come at once from lying on one page more. */
static Size
group_wish(const KvAmTarget *target, Size capacity)
{
	return target->group <= capacity ? target->group : target->group % capacity;
}

/* Chooses a page for the first row of a collection. */
static void
choose_start(Relation relation, Size needed, KvAmTarget *target)
{
	KvAmState  *state = kv_am_state(relation);
	BlockNumber block = state->start_block;
	Size		capacity = kv_am_space_capacity(relation);
	Size		wish = (Size) (state->returning / 2 * capacity);
	Size		space = 0;

	wish = Max(Max(needed, wish), group_wish(target, capacity));
	if (block != InvalidBlockNumber)
		space = kv_am_space_of_block(relation, block);
	if (block != InvalidBlockNumber && space >= wish)
	{
		set_target(target, block, space, false);
		return;
	}
	find_page(relation, block, space, wish, needed, within_budget(relation, APPEND_BUDGET), target);
	kv_am_state(relation)->start_block = target->block;
}

/*
 * Returns the free space that a page must have to take over a collection whose
 * page is full: the more of the full page was the collection's own, the more.
 */
static Size
overflow_wish(Relation relation, BlockNumber full, HeapTuple row, const KvAmTarget *target)
{
	Size		capacity = kv_am_space_capacity(relation);
	Size		own_bytes;
	int			own_rows = kv_am_space_own_rows(relation, full, row,
												kv_am_state(relation)->partition_key, &own_bytes);
	double		row_bytes,
				growth;
	int			sharers;

	if (own_rows == 0)
	{
		own_rows = 1;
		own_bytes = MAXALIGN(target->length) + sizeof(ItemIdData);
	}
	row_bytes = (double) own_bytes / own_rows;
	growth = GROWTH * sqrt(own_rows) * own_bytes;
	sharers = (int) (capacity / growth);
	if (sharers <= 1)
		return MaxHeapTupleSize - EMPTY_TOLERANCE;
	/* The map rounds what there is down and what is wanted up. */
	return MaxHeapTupleSize - (Size) ((sharers - 1) * row_bytes) - 2 * FSM_STEP;
}

/* Chooses a page for a collection whose page, full, has no room. */
static void
choose_overflow(Relation relation, BlockNumber full, Size full_space, HeapTuple row, bool may_grow,
				Size needed, KvAmTarget *target)
{
	Size		wish = overflow_wish(relation, full, row, target);

	wish = Max(Max(needed, wish), group_wish(target, kv_am_space_capacity(relation)));
	find_page(relation, full, full_space, wish, needed, may_grow, target);
}

/* Chooses a page near the row's neighbour, where a page of the collection has room, or one for it to overflow to. */
static void
choose_near(Relation relation, TupleTableSlot *slot, HeapTuple row, KvAmProbe *probe,
			ItemPointer neighbour, Size needed, KvAmTarget *target)
{
	BlockNumber own = ItemPointerGetBlockNumber(neighbour);
	Size		own_space = kv_am_space_of_block(relation, own);
	BlockNumber nearby[MAX_NEARBY_BLOCKS];
	bool		may_grow;
	int			count,
				i;

	if (own_space >= needed)
	{
		set_target(target, own, own_space, false);
		return;
	}
	if (probe->index == NULL)
		kv_am_probe_begin(relation, slot, probe);
	count = kv_am_probe_nearby(probe, nearby, MAX_NEARBY_BLOCKS);
	for (i = 0; i < count; i++)
	{
		Size		space;

		/* The map is never too low for pages that only fill up, so it spares most reads. */
		if (nearby[i] == own || GetRecordedFreeSpace(relation, nearby[i]) + FSM_STEP < needed)
			continue;
		space = kv_am_space_of_block(relation, nearby[i]);
		if (space >= needed)
		{
			set_target(target, nearby[i], space, false);
			return;
		}
	}
	/* Growing by doubling makes log2(n + 1) pages. */
	may_grow = within_budget(relation, probe->at_end ? APPEND_BUDGET : INSERT_BUDGET) ||
		(probe->at_end && count > log2(probe->entries + 1) + 1);
	choose_overflow(relation, own, own_space, row, may_grow, needed, target);
}

/*
 * Finds the neighbour of a row: what the caller says, else the end of the
 * collection if this backend knows it and the row goes behind, else none while
 * all collections are new, else what a probe of the index finds.
 */
static void
find_neighbour(Relation relation, TupleTableSlot *slot, const KvAmKeys *keys, const KvAmTarget *target,
			   KvAmProbe *probe, ItemPointer neighbour)
{
	BlockNumber end = target->previous;

	kv_am_probe_init(probe);
	if (end == InvalidBlockNumber)
	{
		if (kv_am_take_hint(relation, &probe->hint))
		{
			*neighbour = probe->hint.row;
			return;
		}
		if (keys->bytes != NULL)
			end = kv_am_append_find(keys->hash, keys->bytes, keys->length);
	}
	if (end != InvalidBlockNumber)
	{
		ItemPointerSet(neighbour, end, FirstOffsetNumber);
		probe->at_end = true;
		return;
	}
	if (kv_am_surely_new(relation))
	{
		ItemPointerSetInvalid(neighbour);
		probe->at_end = true;
		return;
	}
	kv_am_probe_begin(relation, slot, probe);
	*neighbour = probe->neighbour;
}

/*
 * Chooses the page of a row about to be inserted and makes it the relation's
 * target block.  The caller has set target's length, toast_class, group and
 * previous.
 */
void
kv_am_choose(Relation relation, TupleTableSlot *slot, HeapTuple row, KvAmTarget *target)
{
	Size		needed = kv_am_space_needed(relation, target->length);
	KvAmKeys	keys;
	KvAmProbe	probe;
	ItemPointerData neighbour;

	target->at_end = false;
	if (!kv_am_read_keys(relation, slot, &keys))
		choose_start(relation, needed, target);
	else
	{
		find_neighbour(relation, slot, &keys, target, &probe, &neighbour);
		kv_am_note_change(relation, keys.hash, ItemPointerIsValid(&neighbour));
		if (ItemPointerIsValid(&neighbour))
			choose_near(relation, slot, row, &probe, &neighbour, needed, target);
		else
			choose_start(relation, needed, target);
		target->at_end = probe.at_end;
		if (keys.bytes != NULL && probe.at_end)
			kv_am_append_note(keys.hash, keys.bytes, keys.length, target->block);
		kv_am_probe_end(&probe);
	}
	RelationSetTargetBlock(relation, target->block);
}

/* Chooses the page of a single row about to be inserted; false if the relation is none that placement is for. */
bool
kv_am_place_insert(Relation relation, TupleTableSlot *slot, KvAmTarget *target)
{
	HeapTuple	row;
	bool		should_free;

	if (!kv_am_state(relation)->has_sort_key)
		return false;

	row = ExecFetchSlotHeapTuple(slot, true, &should_free);
	kv_am_expect_length(relation, row, target);
	kv_am_choose(relation, slot, row, target);
	if (should_free)
		pfree(row);
	return true;
}

/*
 * Chooses the page of a new row version that does not fit the page of the old
 * one; false if it fits or the relation is none that placement is for.
 */
bool
kv_am_place_update(Relation relation, ItemPointer old, TupleTableSlot *slot, KvAmTarget *target)
{
	BlockNumber block = ItemPointerGetBlockNumber(old);
	HeapTuple	row;
	bool		should_free;
	bool		fits;
	Size		room;

	if (!kv_am_state(relation)->has_sort_key)
		return false;

	row = ExecFetchSlotHeapTuple(slot, true, &should_free);
	kv_am_expect_length(relation, row, target);
	if (!kv_am_take_room(relation, block, &room))
		room = kv_am_space_of_block(relation, block);
	fits = room >= MAXALIGN(target->length);
	if (!fits)
	{
		KvAmProbe	probe;

		kv_am_probe_init(&probe);
		choose_near(relation, slot, row, &probe, old, kv_am_space_needed(relation, target->length), target);
		kv_am_probe_end(&probe);
		RelationSetTargetBlock(relation, target->block);
	}
	if (should_free)
		pfree(row);
	return !fits;
}

/* Learns from a row that was written to a chosen page. */
void
kv_am_placed(Relation relation, ItemPointer tid, const KvAmTarget *target)
{
	if (target->toast_class >= 0)
		kv_am_learn_length(relation, tid, target->toast_class);
	if (ItemPointerGetBlockNumber(tid) == target->block)
		kv_am_space_record(relation, target->block, target->space,
						   target->space - Min(target->space, MAXALIGN(target->length) + sizeof(ItemIdData)),
						   target->fresh);
}
