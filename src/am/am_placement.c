/*
 * am_placement.c
 *	  Chooses the page of a new row version.
 */
#include "postgres.h"

#include <math.h>

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "am/am_internal.h"

#define GROWTH 2.0
#define GROWTH_EXPONENT 0.4
#define FREE_BUDGET 0.33
#define FREE_SLACK_PAGES 4

/* A page with no more than this used counts as empty. */
#define EMPTY_TOLERANCE 64

/* Blocks of the neighbours that are looked at for room. */
#define MAX_NEARBY_BLOCKS 4

/* Weights of the moving averages. */
#define CHANGE_WINDOW 256
#define SAMPLE_WINDOW 64
#define FIRST_SAMPLES 32
#define SAMPLES 4

/* The caller's own finding of the neighbour of its next insert. */
typedef struct NeighbourHint
{
	Oid			relid;			/* InvalidOid: no hint */
	Oid			file_number;
	LocalTransactionId lxid;	/* the hint is void in another transaction */
	ItemPointerData neighbour;
} NeighbourHint;

static NeighbourHint hint;

/* Takes the caller's own finding of the neighbour of its next insert. */
void
kv_am_hint_neighbour(Relation relation, ItemPointer neighbour)
{
	hint.relid = RelationGetRelid(relation);
	hint.file_number = kv_compat_file_number(relation);
	hint.lxid = kv_compat_my_lxid();
	if (neighbour != NULL && ItemPointerIsValid(neighbour))
		hint.neighbour = *neighbour;
	else
		ItemPointerSetInvalid(&hint.neighbour);
}

/* Gives out the hint for an insert into the relation, once. */
static bool
take_hint(Relation relation, ItemPointer neighbour)
{
	bool		valid = hint.relid == RelationGetRelid(relation) &&
		hint.file_number == kv_compat_file_number(relation) &&
		hint.lxid == kv_compat_my_lxid();

	if (valid)
		*neighbour = hint.neighbour;
	hint.relid = InvalidOid;
	return valid;
}

/* Returns what this backend remembers of the relation, made anew if need be. */
static KvAmState *
relation_state(Relation relation)
{
	KvAmState  *state = relation->rd_amcache;

	if (state != NULL)
		return state;
	state = MemoryContextAllocZero(CacheMemoryContext, sizeof(KvAmState));
	state->start_block = InvalidBlockNumber;
	state->sample_point = MyProcPid;
	ItemPointerSetInvalid(&state->last_tid);
	relation->rd_amcache = state;
	return state;
}

/* Tells whether the relation has a partition key and a sort key. */
static bool
has_sort_key(Relation relation)
{
	KvAmState  *state = relation->rd_amcache;
	Oid			primary_key;
	bool		two_columns = false;
	AttrNumber	partition_key = InvalidAttrNumber;

	if (state != NULL && state->checked)
		return state->has_sort_key;

	primary_key = kv_compat_primary_key_index(relation);
	if (OidIsValid(primary_key))
	{
		Relation	index = index_open(primary_key, RowExclusiveLock);

		two_columns = IndexRelationGetNumberOfKeyAttributes(index) >= 2 && index->rd_index->indisvalid;
		partition_key = index->rd_index->indkey.values[0];
		index_close(index, RowExclusiveLock);
	}
	state = relation_state(relation);
	state->checked = true;
	state->has_sort_key = two_columns;
	state->partition_key = partition_key;
	return two_columns;
}

/* Returns the size class of a row that heap would toast. */
static int
toast_class(Size length)
{
	int			class = 0;

	while (class < KV_AM_TOAST_CLASSES - 1 && length > ((Size) 4096 << class))
		class++;
	return class;
}

/* Returns the length that the row will have on its page; of a row to be toasted that is what such rows had lately. */
static Size
expected_length(Relation relation, HeapTuple row)
{
	Size		usual;

	if (row->t_len <= TOAST_TUPLE_THRESHOLD)
		return row->t_len;
	usual = relation_state(relation)->toasted_length[toast_class(row->t_len)];
	return usual != 0 ? usual : TOAST_TUPLE_TARGET;
}

/* Keeps the share of changes of collection that went to a known one; going on in one collection is no change. */
static void
note_change(Relation relation, ItemPointer neighbour)
{
	KvAmState  *state = relation_state(relation);
	bool		found = ItemPointerIsValid(neighbour);

	if (found && ItemPointerIsValid(&state->last_tid) && ItemPointerEquals(neighbour, &state->last_tid))
		return;
	if (state->change_count < CHANGE_WINDOW)
		state->change_count++;
	state->returning += ((found ? 1.0 : 0.0) - state->returning) / state->change_count;
}

/* Tells whether the heap may have one more free page: samples the free space map and compares with the budget. */
static bool
within_budget(Relation relation, BlockNumber blocks)
{
	KvAmState  *state = relation_state(relation);
	int			samples = state->sample_count == 0 ? FIRST_SAMPLES : SAMPLES;
	int			i;

	if (blocks <= FREE_SLACK_PAGES)
		return true;
	for (i = 0; i < samples; i++)
	{
		BlockNumber block = ((uint64) state->sample_point * blocks) >> 32;
		double		share = (double) GetRecordedFreeSpace(relation, block) / MaxHeapTupleSize;

		state->sample_point += 0x9E3779B9;	/* the golden ratio: even coverage */
		if (state->sample_count < SAMPLE_WINDOW)
			state->sample_count++;
		state->free_share += (share - state->free_share) / state->sample_count;
	}
	return state->free_share * blocks + 1 <= FREE_BUDGET * blocks + FREE_SLACK_PAGES;
}

/* Makes a block the target. */
static void
set_target(KvAmTarget *target, BlockNumber block, Size space, bool fresh)
{
	target->block = block;
	target->space = space;
	target->fresh = fresh;
}

/* Extends the relation and makes the new page the target. */
static void
extend_target(Relation relation, KvAmTarget *target)
{
	target->block = kv_am_space_extend(relation, &target->space);
	target->fresh = true;
}

/* Chooses a page for the first row of a collection. */
static void
choose_start(Relation relation, Size needed, KvAmTarget *target)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(relation);
	KvAmState  *state = relation_state(relation);
	BlockNumber block = state->start_block;
	Size		wanted = Max(needed, (Size) (state->returning / 2 * kv_am_space_capacity(relation)));
	Size		space = 0;

	if (block >= blocks)
		block = InvalidBlockNumber;
	if (block != InvalidBlockNumber)
		space = kv_am_space_of_block(relation, block);
	if (block == InvalidBlockNumber || space < wanted)
	{
		if (!within_budget(relation, blocks))
			wanted = needed;
		block = kv_am_space_find(relation, block, space, wanted, &space);
		if (block == InvalidBlockNumber)
		{
			extend_target(relation, target);
			relation_state(relation)->start_block = target->block;
			return;
		}
		relation_state(relation)->start_block = block;
	}
	set_target(target, block, space, false);
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
												relation_state(relation)->partition_key, &own_bytes);
	double		row_bytes,
				growth;
	int			sharers;

	if (own_rows == 0)
	{
		own_rows = 1;
		own_bytes = MAXALIGN(target->length) + sizeof(ItemIdData);
	}
	row_bytes = (double) own_bytes / own_rows;
	growth = GROWTH * pow(own_rows, GROWTH_EXPONENT) * own_bytes;
	sharers = (int) (capacity / growth);
	if (sharers <= 1)
		return MaxHeapTupleSize - EMPTY_TOLERANCE;
	return MaxHeapTupleSize - (Size) ((sharers - 1) * row_bytes);
}

/* Chooses a page for a collection whose page, full, has no room. */
static void
choose_overflow(Relation relation, BlockNumber full, Size full_space, HeapTuple row, Size needed, KvAmTarget *target)
{
	Size		wish = Max(needed, overflow_wish(relation, full, row, target));
	bool		rich = within_budget(relation, RelationGetNumberOfBlocks(relation));

	for (;;)
	{
		Size		space;
		BlockNumber block = kv_am_space_find(relation, full, full_space, wish, &space);

		if (block != InvalidBlockNumber)
		{
			set_target(target, block, space, false);
			return;
		}
		if (rich || wish == needed)
			break;
		wish = Max(needed, wish - Min(wish, BLCKSZ / 8));
	}
	extend_target(relation, target);
}

/* Chooses a page near the row's neighbour, where a page of the collection has room, or one for it to overflow to. */
static void
choose_near(Relation relation, TupleTableSlot *slot, HeapTuple row, KvAmProbe *probe,
			ItemPointer neighbour, Size needed, KvAmTarget *target)
{
	BlockNumber own = ItemPointerGetBlockNumber(neighbour);
	Size		own_space = kv_am_space_of_block(relation, own);
	BlockNumber nearby[MAX_NEARBY_BLOCKS];
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
		Size		space = nearby[i] == own ? own_space : kv_am_space_of_block(relation, nearby[i]);

		if (space >= needed)
		{
			set_target(target, nearby[i], space, false);
			return;
		}
	}
	choose_overflow(relation, own, own_space, row, needed, target);
}

/*
 * Chooses the page of a row about to be inserted and makes it the relation's
 * target block; false if the relation is none that placement is for.
 */
bool
kv_am_place_insert(Relation relation, TupleTableSlot *slot, KvAmTarget *target)
{
	HeapTuple	row;
	bool		should_free;
	KvAmProbe	probe;
	ItemPointerData neighbour;
	Size		needed;

	if (!has_sort_key(relation))
		return false;

	row = ExecFetchSlotHeapTuple(slot, true, &should_free);
	probe.index = NULL;
	if (!take_hint(relation, &neighbour))
	{
		kv_am_probe_begin(relation, slot, &probe);
		neighbour = probe.neighbour;
	}
	note_change(relation, &neighbour);
	target->length = expected_length(relation, row);
	needed = kv_am_space_needed(relation, target->length);
	if (ItemPointerIsValid(&neighbour))
		choose_near(relation, slot, row, &probe, &neighbour, needed, target);
	else
		choose_start(relation, needed, target);
	kv_am_probe_end(&probe);
	if (should_free)
		pfree(row);
	RelationSetTargetBlock(relation, target->block);
	return true;
}

/*
 * Chooses the page of a new row version that does not fit the page of the old
 * one; false if it fits or the relation is none that placement is for.
 */
bool
kv_am_place_update(Relation relation, ItemPointer old, TupleTableSlot *slot, KvAmTarget *target)
{
	HeapTuple	row;
	bool		should_free;
	bool		fits;

	if (!has_sort_key(relation))
		return false;

	row = ExecFetchSlotHeapTuple(slot, true, &should_free);
	target->length = expected_length(relation, row);
	fits = kv_am_space_of_block(relation, ItemPointerGetBlockNumber(old)) >= MAXALIGN(target->length);
	if (!fits)
	{
		KvAmProbe	probe;

		probe.index = NULL;
		choose_near(relation, slot, row, &probe, old, kv_am_space_needed(relation, target->length), target);
		kv_am_probe_end(&probe);
		RelationSetTargetBlock(relation, target->block);
	}
	if (should_free)
		pfree(row);
	return !fits;
}

/* Learns from a row that was written: where it went and, if it was toasted, how long it was. */
void
kv_am_placed(Relation relation, ItemPointer tid, const KvAmTarget *target)
{
	relation_state(relation)->last_tid = *tid;
	if (ItemPointerGetBlockNumber(tid) == target->block)
		kv_am_space_record(relation, target->block, target->space,
						   target->space - Min(target->space, MAXALIGN(target->length) + sizeof(ItemIdData)),
						   target->fresh);
}
