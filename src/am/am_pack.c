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
 * - A group stays on as many of its pages as can be part of a plan that has
 *	 the fewest pages: where it has most rows already, with room for others.
 * - Its other rows fill these, then the emptiest pages; what is left in the end
 *	 fits a page, and goes to the fullest that can take it.
 * - Where that does not come to the fewest pages, nothing is planned, unless the
 *	 caller asks for what there is: rows that leave other pages make room, and a
 *	 group put on more pages now would have to be moved a second time.
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

/* A page counts as an empty one from this share of its room. */
#define EMPTY_SHARE 0.95

/* The last class is that of pages that are empty and without line pointers. */
#define CLASS_BYTES 128
#define CLASSES (BLCKSZ / CLASS_BYTES + 1)

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

/* A page that a group lies on, with its bytes there. */
typedef struct OwnPage
{
	BlockNumber block;
	Size		bytes;
} OwnPage;

/* Returns the list that a page with so much room belongs to. */
static int
class_of(const KvAmPack *pack, Size room)
{
	return room >= pack->capacity ? CLASSES - 1 : room / CLASS_BYTES;
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
		pack->first[class_of(pack, pack->room[block])] = pack->next[block];
	if (pack->next[block] != NO_BLOCK)
		pack->previous[pack->next[block]] = pack->previous[block];
	pack->offered[block] = false;
}

/* Puts a page into the list of its room. */
static void
offer(KvAmPack *pack, BlockNumber block)
{
	BlockNumber *first = &pack->first[class_of(pack, pack->room[block])];

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

/* Looks at a page for its room. */
static Size
look_again(KvAmPack *pack, Relation relation, BlockNumber block)
{
	set_room(pack, block, usable(pack, kv_am_space_of_block(relation, block)));
	return pack->room[block];
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
	return look_again(pack, relation, block);
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

/* Returns how many empty pages a group takes, in key order. */
int
kv_am_pack_fewest(const KvAmPack *pack, const KvAmGroup *group)
{
	Size		room = 0;
	int			pages = 0;

	for (int i = 0; i < group->count; i++)
	{
		if (group->bytes[i] > room)
		{
			room = pack->capacity;
			pages++;
		}
		room -= group->bytes[i];
	}
	return pages;
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

	for (class = class_of(pack, wanted); class < CLASSES; class++)
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

	for (class = CLASSES - 1; class >= class_of(pack, wanted); class--)
	{
		BlockNumber block;
		int			looks = 0;

		/* a page that has less than was thought goes to another list */
		while ((block = pack->first[class]) != NO_BLOCK && looks++ < MAX_LOOKS)
		{
			if (look(pack, relation, group, block) >= wanted && class_of(pack, pack->room[block]) == class)
				return block;
			if (class_of(pack, pack->room[block]) == class)
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
	return i;
}

/* Orders pages by their block numbers. */
static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber x = ((const OwnPage *) a)->block;
	BlockNumber y = ((const OwnPage *) b)->block;

	return x < y ? -1 : x > y;
}

/* Orders pages by what the group has on them, most first. */
static int
compare_bytes(const void *a, const void *b)
{
	Size		x = ((const OwnPage *) a)->bytes;
	Size		y = ((const OwnPage *) b)->bytes;

	return x > y ? -1 : x < y ? 1 : compare_blocks(a, b);
}

/* Returns the pages that a group lies on, those with most of it first. */
static OwnPage *
list_own_pages(const KvAmGroup *group, int *count)
{
	OwnPage    *own = palloc(Max(group->count, 1) * sizeof(OwnPage));
	int			last = -1;

	for (int i = 0; i < group->count; i++)
	{
		own[i].block = group->present[i];
		own[i].bytes = group->bytes[i];
	}
	qsort(own, group->count, sizeof(OwnPage), compare_blocks);
	for (int i = 0; i < group->count; i++)
	{
		if (last >= 0 && own[last].block == own[i].block)
			own[last].bytes += own[i].bytes;
		else
			own[++last] = own[i];
	}
	*count = last + 1;
	qsort(own, *count, sizeof(OwnPage), compare_bytes);
	return own;
}

/* Tells whether rows may lie on a page in the end. */
static bool
may_stay(const KvAmPack *pack, BlockNumber block)
{
	return is_known(pack, block) && pack->offered[block];
}

/*
 * Plans rows to stay on those of the group's pages that, once they are filled
 * up, leave no more than the other pages of a plan for the fewest can take; and
 * fills them up.  Returns the bytes of the rows left over.
 */
static Size
keep_pages(KvAmPack *pack, Relation relation, KvAmGroup *group, int fewest)
{
	int			count;
	OwnPage    *own = list_own_pages(group, &count);
	Size		left = group->total_bytes;
	Size		open = group->total_bytes;	/* to be taken by further pages */

	for (int i = 0; i < count && group->target_pages < fewest; i++)
	{
		BlockNumber block = own[i].block;
		Size		others = (fewest - group->target_pages - 1) * pack->capacity;
		Size		space;

		if (!may_stay(pack, block))
			continue;
		space = own[i].bytes + look_again(pack, relation, block);
		if (space + others < open)
			continue;
		open -= Min(space, open);
		for (int j = 0; j < group->count; j++)
			if (group->present[j] == block)
				group->target[j] = block;
		left -= own[i].bytes;
		own[group->target_pages++].block = block;
	}
	for (int i = 0; i < group->target_pages; i++)
		(void) fill_page(pack, group, 0, own[i].block, &left);
	pfree(own);
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
			block = find_emptiest(pack, relation, group, Max(EMPTY_SHARE * pack->capacity, group->bytes[i]));
		if (block == NO_BLOCK && may_split)
			block = find_emptiest(pack, relation, group, group->bytes[i]);
		if (block == NO_BLOCK)
			return false;
		i = fill_page(pack, group, i, block, &left);
		group->target_pages++;
	}
	return true;
}

/* Plans a group on the fewest pages, or with may_split on what there is; keeps rows where they are or takes no notice of it. */
static bool
plan_within(KvAmPack *pack, Relation relation, KvAmGroup *group, bool keep, bool may_split)
{
	int			fewest = kv_am_pack_fewest(pack, group);
	Size		left = group->total_bytes;

	for (int i = 0; i < group->count; i++)
		group->target[i] = NO_BLOCK;
	group->target_pages = 0;
	if (keep)
		left = keep_pages(pack, relation, group, fewest);
	if (plan_rest(pack, relation, group, left, may_split) && (may_split || group->target_pages <= fewest))
		return true;
	kv_am_pack_undo(pack, group);
	return false;
}

/* Chooses pages for a group and takes their room. */
bool
kv_am_pack_plan(KvAmPack *pack, Relation relation, KvAmGroup *group, bool may_split)
{
	if (plan_within(pack, relation, group, true, may_split))
		return true;
	/* rows of different lengths may fit empty pages better than those where some lie */
	return group->total_bytes > pack->capacity && plan_within(pack, relation, group, false, may_split);
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
