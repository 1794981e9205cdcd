/*
 * am_room.c
 *	  Keeps account of the room on the pages of a relation that is packed.
 *
 * What is known of each page's free room lies in an array, and pages are linked
 * into lists by it: those that may be filled, so that the page with the least
 * room that is enough is found at once, and those that are to be worked off,
 * so that the one with the most room is next.  Few rows have to leave it until
 * it is empty, and empty pages are what large groups wait for.
 *
 * Pages may be filled below a limit, which is where the relation will end when
 * its rows lie as close as DENSITY says, and further those that were added on
 * the way.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* The share of the pages' room that rows are to fill, in the end. */
#define DENSITY 0.87

/* The share that they are to fill even if collections lie on more pages then. */
#define LEAST_DENSITY 0.82

#define NO_BLOCK InvalidBlockNumber

/* Returns the class of pages with so much room. */
int
kv_am_room_class(const KvAmPack *pack, Size room)
{
	return room >= pack->capacity ? KV_AM_ROOM_CLASSES - 1 : room / KV_AM_ROOM_CLASS_BYTES;
}

/* Takes a page out of its list. */
static void
unlink_page(KvAmPack *pack, BlockNumber block)
{
	if (pack->lists[block] == 0)
		return;
	if (pack->previous[block] != NO_BLOCK)
		pack->next[pack->previous[block]] = pack->next[block];
	else
		pack->first[pack->lists[block]][kv_am_room_class(pack, pack->room[block])] = pack->next[block];
	if (pack->next[block] != NO_BLOCK)
		pack->previous[pack->next[block]] = pack->previous[block];
}

/* Puts a page first into the list that it belongs to. */
static void
link_page(KvAmPack *pack, BlockNumber block)
{
	BlockNumber *first = &pack->first[pack->lists[block]][kv_am_room_class(pack, pack->room[block])];

	if (pack->lists[block] == 0)
		return;
	pack->next[block] = *first;
	pack->previous[block] = NO_BLOCK;
	if (*first != NO_BLOCK)
		pack->previous[*first] = block;
	*first = block;
}

/* Notes what a page is listed for. */
static void
set_lists(KvAmPack *pack, BlockNumber block, uint8 lists)
{
	unlink_page(pack, block);
	pack->lists[block] = lists;
	link_page(pack, block);
}

/* Notes how much room a page has. */
void
kv_am_room_set(KvAmPack *pack, BlockNumber block, Size room)
{
	unlink_page(pack, block);
	pack->room[block] = Min(room, pack->capacity);
	link_page(pack, block);
}

/* Returns the bytes, line pointers included, that rows may take of so much free space. */
static Size
usable(const KvAmPack *pack, Size space)
{
	return space > pack->reserve ? space - pack->reserve + sizeof(ItemIdData) : 0;
}

/* Looks at a page for its room. */
Size
kv_am_room_look(KvAmPack *pack, Relation relation, BlockNumber block)
{
	kv_am_room_set(pack, block, usable(pack, kv_am_space_of_block(relation, block)));
	return pack->room[block];
}

/* Reads the free space map again, with a limit from what the pages hold. */
void
kv_am_pack_refresh(KvAmPack *pack, Relation relation)
{
	BlockNumber present = RelationGetNumberOfBlocks(relation);
	double		used = 0;
	BlockNumber block;

	for (int list = 0; list < KV_AM_LISTS; list++)
		for (int class = 0; class < KV_AM_ROOM_CLASSES; class++)
			pack->first[list][class] = NO_BLOCK;
	pack->blocks = Min(present, pack->max_blocks);
	for (block = 0; block < pack->blocks; block++)
	{
		pack->room[block] = Min(usable(pack, GetRecordedFreeSpace(relation, block)), pack->capacity);
		used += pack->capacity - pack->room[block];
		if (block % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	memset(pack->lists + pack->blocks, 0, pack->max_blocks - pack->blocks);
	pack->goal = (BlockNumber) (used / (DENSITY * pack->capacity)) + 1;
	pack->bound = (BlockNumber) (used / (LEAST_DENSITY * pack->capacity)) + 1;
	pack->limit = Min(pack->blocks, pack->goal);

	/* the lowest come first in their lists */
	for (block = pack->blocks; block-- > 0;)
	{
		pack->lists[block] &= ~KV_AM_OFFERED;
		if (block < pack->limit)
			pack->lists[block] |= KV_AM_OFFERED;
		link_page(pack, block);
	}
}

/* Forgets the pages that others cut off, as VACUUM does; those that are left may have less room than is known. */
void
kv_am_pack_trim(KvAmPack *pack, Relation relation)
{
	BlockNumber present = RelationGetNumberOfBlocks(relation);

	while (pack->blocks > present)
		set_lists(pack, --pack->blocks, 0);
	pack->limit = Min(pack->limit, pack->blocks);
}

/* Reads the free space map; all pages are to be worked off. */
KvAmPack *
kv_am_pack_begin(Relation relation, BlockNumber more_blocks)
{
	KvAmPack   *pack = palloc0(sizeof(KvAmPack));

	pack->reserve = RelationGetTargetPageFreeSpace(relation, HEAP_DEFAULT_FILLFACTOR);
	pack->capacity = MaxHeapTupleSize - pack->reserve + sizeof(ItemIdData);
	pack->blocks = RelationGetNumberOfBlocks(relation);
	pack->max_blocks = pack->blocks + more_blocks;
	pack->room = palloc_extended(pack->max_blocks * sizeof(uint16) + 1, MCXT_ALLOC_HUGE);
	pack->lists = palloc_extended(pack->max_blocks * sizeof(uint8) + 1, MCXT_ALLOC_HUGE);
	pack->next = palloc_extended(pack->max_blocks * sizeof(BlockNumber) + 1, MCXT_ALLOC_HUGE);
	pack->previous = palloc_extended(pack->max_blocks * sizeof(BlockNumber) + 1, MCXT_ALLOC_HUGE);
	memset(pack->lists, KV_AM_TO_DO, pack->blocks);
	/* others may add pages meanwhile */
	memset(pack->lists + pack->blocks, 0, more_blocks);
	kv_am_pack_refresh(pack, relation);
	return pack;
}

/* Returns the block below which everything is to lie. */
BlockNumber
kv_am_pack_limit(const KvAmPack *pack)
{
	return pack->limit;
}

/* Returns the block below which everything is to lie even if collections need more pages then. */
BlockNumber
kv_am_pack_bound(const KvAmPack *pack)
{
	return pack->bound;
}

/* Returns the bytes of rows that an empty page takes. */
Size
kv_am_pack_capacity(const KvAmPack *pack)
{
	return pack->capacity;
}

/* Tells whether a page is to be worked off yet. */
bool
kv_am_pack_is_to_do(const KvAmPack *pack, BlockNumber block)
{
	return block < pack->blocks && (pack->lists[block] & KV_AM_TO_DO) != 0;
}

/* Returns the page that is to be worked off next, from then on no more; InvalidBlockNumber if all were. */
BlockNumber
kv_am_pack_next(KvAmPack *pack)
{
	for (int class = KV_AM_ROOM_CLASSES - 1; class >= 0; class--)
	{
		/* those beyond the limit first, as they are to be emptied in any case */
		BlockNumber block = pack->first[KV_AM_TO_DO][class];

		if (block == NO_BLOCK)
			block = pack->first[KV_AM_TO_DO | KV_AM_OFFERED][class];
		if (block == NO_BLOCK)
			continue;
		set_lists(pack, block, pack->lists[block] & ~KV_AM_TO_DO);
		return block;
	}
	return NO_BLOCK;
}

/* All pages are to be worked off again. */
void
kv_am_pack_restart(KvAmPack *pack)
{
	for (BlockNumber block = 0; block < pack->blocks; block++)
		set_lists(pack, block, pack->lists[block] | KV_AM_TO_DO);
}

/* Raises the limit by a page that is to be filled after all, up to a bound. */
bool
kv_am_pack_raise(KvAmPack *pack, BlockNumber bound)
{
	if (pack->limit >= Min(bound, pack->blocks))
		return false;
	set_lists(pack, pack->limit, pack->lists[pack->limit] | KV_AM_OFFERED);
	pack->limit++;
	return true;
}

/* Tells whether the relation may have one more page for good. */
bool
kv_am_pack_may_grow(const KvAmPack *pack)
{
	return pack->blocks < pack->goal;
}

/* Adds an empty page to the relation. */
bool
kv_am_pack_extend(KvAmPack *pack, Relation relation)
{
	BlockNumber block;
	Size		space;

	if (pack->blocks >= pack->max_blocks)
		return false;
	block = kv_am_space_extend(relation, &space);
	if (block >= pack->max_blocks)
		return false;
	while (pack->blocks <= block)
	{
		/* those between were added by others */
		pack->room[pack->blocks] = 0;
		pack->lists[pack->blocks++] = 0;
	}
	kv_am_room_set(pack, block, pack->capacity);
	set_lists(pack, block, KV_AM_OFFERED);
	return true;
}

/* Frees the room of rows that left a page and offers it. */
void
kv_am_pack_prune(KvAmPack *pack, Relation relation, BlockNumber block)
{
	Size		space = kv_am_prune_page(relation, block);

	if (block < pack->blocks)
		kv_am_room_set(pack, block, usable(pack, space));
}
