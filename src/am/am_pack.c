/*
 * am_pack.c
 *	  Chooses pages for collections that are moved as a whole.
 *
 * What is known of a relation's free room lies in an array, and the pages that
 * may be filled are linked into lists by it, so that the page with the least
 * room that is enough is found at once.
 *
 * Pages may be filled below a limit, which is where the relation will end when
 * its rows lie as close as DENSITY says, and further those that were added on
 * the way.  So the size is settled first; how few pages a collection lies on
 * is what room below the limit is used for:
 *
 * - A group that fits a page stays on that of its pages that can take all of
 *	 it; else it goes to the fullest page that can.
 * - Of a larger group the rows on pages that are nearly all its own stay; the
 *	 others fill the emptiest pages, and the rest is a group that fits a page.
 *
 * Room is looked at anew when a page is chosen, since others write meanwhile.
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

/* A page counts as a group's own, and as an empty one, from this share of its room. */
#define OWN_SHARE 0.85
#define EMPTY_SHARE 0.95

#define CLASS_BYTES 128
#define CLASSES (BLCKSZ / CLASS_BYTES)

/* Pages of a class that are looked at for room enough. */
#define MAX_LOOKS 16

/* The ends of lists, and what stands for a page that is in none. */
#define NO_BLOCK InvalidBlockNumber

struct KvAmPack
{
	BlockNumber blocks;			/* that the arrays tell of */
	BlockNumber max_blocks;		/* that they have place for */
	BlockNumber limit;
	BlockNumber goal;			/* so many pages the rows may take, in the end */
	Size		reserve;		/* what fillfactor leaves free */
	Size		capacity;
	uint16	   *room;			/* bytes that rows may take, line pointers included */
	bool	   *offered;		/* is in a list */
	BlockNumber *next;
	BlockNumber *previous;
	BlockNumber first[CLASSES];
};

/* Returns the list that a page with so much room belongs to. */
static int
class_of(Size room)
{
	return Min(room / CLASS_BYTES, CLASSES - 1);
}

/* Takes a page out of its list. */
static void
withdraw(KvAmPack *pack, BlockNumber block)
{
	if (!pack->offered[block])
		return;
	if (pack->previous[block] != NO_BLOCK)
		pack->next[pack->previous[block]] = pack->next[block];
	else
		pack->first[class_of(pack->room[block])] = pack->next[block];
	if (pack->next[block] != NO_BLOCK)
		pack->previous[pack->next[block]] = pack->previous[block];
	pack->offered[block] = false;
}

/* Puts a page into the list of its room. */
static void
offer(KvAmPack *pack, BlockNumber block)
{
	BlockNumber *first = &pack->first[class_of(pack->room[block])];

	pack->next[block] = *first;
	pack->previous[block] = NO_BLOCK;
	if (*first != NO_BLOCK)
		pack->previous[*first] = block;
	*first = block;
	pack->offered[block] = true;
}

/* Notes how much room a page has. */
static void
set_room(KvAmPack *pack, BlockNumber block, Size room)
{
	bool		offered = pack->offered[block];

	withdraw(pack, block);
	pack->room[block] = Min(room, pack->capacity);
	if (offered)
		offer(pack, block);
}

/* Returns the bytes, line pointers included, that rows may take of so much free space. */
static Size
usable(const KvAmPack *pack, Size space)
{
	return space > pack->reserve ? space - pack->reserve + sizeof(ItemIdData) : 0;
}

/*
 * Looks at a page for its room, unless the group has taken some of that
 * already.  None is there for rows of the group if others of it are to leave
 * the page: what leaves a page fills it up first (am_move.c).
 */
static Size
look(KvAmPack *pack, Relation relation, const KvAmGroup *group, BlockNumber block)
{
	int			i;

	for (i = 0; i < group->count; i++)
	{
		if (group->target[i] == block && group->present[i] != block)
			return pack->room[block];
		if (group->present[i] == block && group->target[i] != NO_BLOCK && group->target[i] != block)
			return 0;
	}
	set_room(pack, block, usable(pack, kv_am_space_of_block(relation, block)));
	return pack->room[block];
}

/* Tells whether a page was there when the map was read, or was added since. */
static bool
is_known(const KvAmPack *pack, BlockNumber block)
{
	return block < pack->blocks;
}

/* Reads the free space map again, with a limit from what the pages hold. */
void
kv_am_pack_refresh(KvAmPack *pack, Relation relation)
{
	BlockNumber present = RelationGetNumberOfBlocks(relation);
	double		used = 0;
	BlockNumber block;
	int			i;

	for (i = 0; i < CLASSES; i++)
		pack->first[i] = NO_BLOCK;
	memset(pack->offered, 0, pack->max_blocks * sizeof(bool));
	pack->blocks = Min(Max(pack->blocks, present), pack->max_blocks);
	pack->blocks = Min(pack->blocks, present);
	for (block = 0; block < pack->blocks; block++)
	{
		pack->room[block] = Min(usable(pack, GetRecordedFreeSpace(relation, block)), pack->capacity);
		used += pack->capacity - pack->room[block];
		if (block % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pack->goal = (BlockNumber) (used / (DENSITY * pack->capacity)) + 1;
	pack->limit = Min(pack->blocks, pack->goal);

	/* the lowest come first in their lists */
	for (block = pack->limit; block-- > 0;)
		offer(pack, block);
}

/* Reads the free space map. */
KvAmPack *
kv_am_pack_begin(Relation relation, BlockNumber more_blocks)
{
	KvAmPack   *pack = palloc0(sizeof(KvAmPack));

	pack->reserve = RelationGetTargetPageFreeSpace(relation, HEAP_DEFAULT_FILLFACTOR);
	pack->capacity = MaxHeapTupleSize - pack->reserve + sizeof(ItemIdData);
	pack->max_blocks = RelationGetNumberOfBlocks(relation) + more_blocks;
	pack->room = palloc_extended(pack->max_blocks * sizeof(uint16) + 1, MCXT_ALLOC_HUGE);
	pack->offered = palloc_extended(pack->max_blocks * sizeof(bool) + 1, MCXT_ALLOC_HUGE);
	pack->next = palloc_extended(pack->max_blocks * sizeof(BlockNumber) + 1, MCXT_ALLOC_HUGE);
	pack->previous = palloc_extended(pack->max_blocks * sizeof(BlockNumber) + 1, MCXT_ALLOC_HUGE);
	pack->blocks = pack->max_blocks - more_blocks;
	kv_am_pack_refresh(pack, relation);
	return pack;
}

/* Returns the block below which everything is to lie. */
BlockNumber
kv_am_pack_limit(const KvAmPack *pack)
{
	return pack->limit;
}

/* Returns the bytes of rows that an empty page takes. */
Size
kv_am_pack_capacity(const KvAmPack *pack)
{
	return pack->capacity;
}

/* Returns how many pages a group takes at least. */
int
kv_am_pack_fewest(const KvAmPack *pack, const KvAmGroup *group)
{
	return (group->total_bytes + pack->capacity - 1) / pack->capacity;
}

/* Raises the limit by a page that is to be filled after all, up to a bound. */
bool
kv_am_pack_raise(KvAmPack *pack, BlockNumber bound)
{
	if (pack->limit >= Min(bound, pack->blocks))
		return false;
	if (!pack->offered[pack->limit])
		offer(pack, pack->limit);
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
		pack->offered[pack->blocks++] = false;
	}
	pack->room[block] = pack->capacity;
	offer(pack, block);
	return true;
}

/* Frees the room of rows that left a page and offers it. */
void
kv_am_pack_prune(KvAmPack *pack, Relation relation, BlockNumber block)
{
	Size		space = kv_am_prune_page(relation, block);

	if (is_known(pack, block))
		set_room(pack, block, usable(pack, space));
}

/* Returns the fullest page on offer with so much room, looked at; NO_BLOCK if there is none. */
static BlockNumber
find_fullest(KvAmPack *pack, Relation relation, const KvAmGroup *group, Size wanted)
{
	int			class;

	for (class = class_of(wanted); class < CLASSES; class++)
	{
		BlockNumber block = pack->first[class];
		int			looks = 0;

		while (block != NO_BLOCK && looks++ < MAX_LOOKS)
		{
			BlockNumber next = pack->next[block];

			if (pack->room[block] >= wanted && look(pack, relation, group, block) >= wanted)
				return block;
			block = next;
		}
	}
	return NO_BLOCK;
}

/* Returns a page on offer with about the most room, at least so much, looked at; NO_BLOCK if there is none. */
static BlockNumber
find_emptiest(KvAmPack *pack, Relation relation, const KvAmGroup *group, Size wanted)
{
	int			class;

	for (class = CLASSES - 1; class >= class_of(wanted); class--)
	{
		BlockNumber block;
		int			looks = 0;

		/* a page that has less than was thought goes to another list */
		while ((block = pack->first[class]) != NO_BLOCK && looks++ < MAX_LOOKS)
		{
			if (look(pack, relation, group, block) >= wanted && class_of(pack->room[block]) == class)
				return block;
			if (class_of(pack->room[block]) == class)
				break;
		}
	}
	return NO_BLOCK;
}

/*
 * Plans rows that have no target yet to lie on one page: those that do, and of
 * those from first on as many as it takes; returns the first left over.
 */
static int
fill_page(KvAmPack *pack, KvAmGroup *group, int first, BlockNumber block, Size *left)
{
	Size		room = pack->room[block];
	int			i;

	for (i = first; i < group->count; i++)
		if (group->target[i] == NO_BLOCK && group->present[i] == block)
		{
			group->target[i] = block;
			*left -= group->bytes[i];
		}
	for (i = first; i < group->count; i++)
	{
		if (group->target[i] != NO_BLOCK)
			continue;
		if (group->bytes[i] > room)
			break;
		room -= group->bytes[i];
		group->target[i] = block;
		*left -= group->bytes[i];
	}
	set_room(pack, block, room);
	group->target_pages++;
	return i;
}

/* Returns the bytes that the group has on a page. */
static Size
own_bytes(const KvAmGroup *group, BlockNumber block)
{
	Size		bytes = 0;
	int			i;

	for (i = 0; i < group->count; i++)
		if (group->present[i] == block)
			bytes += group->bytes[i];
	return bytes;
}

/* Tells whether rows may lie on a page in the end. */
static bool
may_stay(const KvAmPack *pack, BlockNumber block)
{
	return is_known(pack, block) && pack->offered[block];
}

/* Finds that of the group's own pages which can take all of it, with the most of it there; NO_BLOCK if none can. */
static BlockNumber
find_own(KvAmPack *pack, Relation relation, const KvAmGroup *group)
{
	BlockNumber best = NO_BLOCK;
	Size		best_bytes = 0;
	int			i;

	for (i = 0; i < group->count; i++)
	{
		BlockNumber block = group->present[i];
		Size		bytes;

		if (!may_stay(pack, block) || (i > 0 && block == group->present[i - 1]))
			continue;
		bytes = own_bytes(group, block);
		if (bytes > best_bytes && bytes + look(pack, relation, group, block) >= group->total_bytes)
		{
			best = block;
			best_bytes = bytes;
		}
	}
	return best;
}

/* Plans rows to stay that lie on pages that are nearly all the group's own; returns the bytes of the others. */
static Size
keep_own_pages(KvAmPack *pack, KvAmGroup *group)
{
	Size		left = group->total_bytes;
	int			i,
				j;

	for (i = 0; i < group->count; i++)
	{
		BlockNumber block = group->present[i];

		if (group->target[i] != NO_BLOCK || !may_stay(pack, block) ||
			(i > 0 && block == group->present[i - 1]) ||
			own_bytes(group, block) < OWN_SHARE * pack->capacity)
			continue;
		for (j = i; j < group->count; j++)
			if (group->present[j] == block)
			{
				group->target[j] = block;
				left -= group->bytes[j];
			}
		group->target_pages++;
	}
	return left;
}

/* Plans the rows that have no target yet, of so many bytes in all; false if there is no room. */
static bool
plan_rest(KvAmPack *pack, Relation relation, KvAmGroup *group, Size left, bool may_split)
{
	int			i = 0;

	while (left > 0)
	{
		BlockNumber block = NO_BLOCK;

		while (group->target[i] != NO_BLOCK)
			i++;
		if (left <= pack->capacity)
			block = find_fullest(pack, relation, group, left);
		else
			block = find_emptiest(pack, relation, group, EMPTY_SHARE * pack->capacity);
		if (block == NO_BLOCK && may_split)
			block = find_emptiest(pack, relation, group, group->bytes[i]);
		if (block == NO_BLOCK)
			return false;
		i = fill_page(pack, group, i, block, &left);
	}
	return true;
}

/* Chooses pages for a group and takes their room. */
bool
kv_am_pack_plan(KvAmPack *pack, Relation relation, KvAmGroup *group, bool may_split)
{
	Size		left = group->total_bytes;
	int			i;

	for (i = 0; i < group->count; i++)
		group->target[i] = NO_BLOCK;
	group->target_pages = 0;

	if (left <= pack->capacity)
	{
		BlockNumber own = find_own(pack, relation, group);

		if (own != NO_BLOCK)
		{
			(void) fill_page(pack, group, 0, own, &left);
			return true;
		}
	}
	else
		left = keep_own_pages(pack, group);

	if (plan_rest(pack, relation, group, left, may_split))
		return true;
	kv_am_pack_undo(pack, group);
	return false;
}

/* Gives the room of a plan back. */
void
kv_am_pack_undo(KvAmPack *pack, const KvAmGroup *group)
{
	int			i;

	for (i = 0; i < group->count; i++)
		if (group->target[i] != NO_BLOCK && group->target[i] != group->present[i])
			set_room(pack, group->target[i], pack->room[group->target[i]] + group->bytes[i]);
}
