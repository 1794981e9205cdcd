/*
 * am_pack.c
 *	  Chooses pages for collections that are moved as a whole.
 *
 * The size of the relation is settled by am_room.c, which tells the pages that
 * may be filled; how few pages a collection lies on is what their room is used
 * for:
 *
 * - A group stays on as many of its pages as can be part of a plan with so many
 *	 pages as the caller allows: where it has most rows already, with room for others.
 * - Its other rows fill these, then the emptiest pages; what is left in the end
 *	 fits a page, and goes to the fullest that can take it.
 * - Where that comes to more pages, nothing is planned: rows that leave other
 *	 pages make room, and a group put on more pages now would have to be moved a
 *	 second time.
 *
 * Room is looked at anew when a page is chosen, since others write meanwhile.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* Pages of a class that are looked at for room enough. */
#define MAX_LOOKS 16

#define NO_BLOCK InvalidBlockNumber

/* A page that a group lies on, with what it has there. */
typedef struct OwnPage
{
	BlockNumber block;
	int			rows;
	Size		bytes;
} OwnPage;

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
	return kv_am_room_look(pack, relation, block);
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

/* Returns a page of a list with so much room, looked at; NO_BLOCK if there is none among the first. */
static BlockNumber
find_in_list(KvAmPack *pack, Relation relation, const KvAmGroup *group, BlockNumber first, Size wanted)
{
	BlockNumber block = first;
	int			looks = 0;

	while (block != NO_BLOCK && looks++ < MAX_LOOKS)
	{
		BlockNumber next = pack->next[block];

		if (pack->room[block] >= wanted && look(pack, relation, group, block) >= wanted)
			return block;
		block = next;
	}
	return NO_BLOCK;
}

/* Returns a page on offer of a class with so much room, looked at; those that were worked off come first. */
static BlockNumber
find_of_class(KvAmPack *pack, Relation relation, const KvAmGroup *group, int class, Size wanted)
{
	BlockNumber block = find_in_list(pack, relation, group, pack->first[KV_AM_OFFERED][class], wanted);

	if (block == NO_BLOCK)
		block = find_in_list(pack, relation, group, pack->first[KV_AM_OFFERED | KV_AM_TO_DO][class], wanted);
	return block;
}

/* Returns about the fullest page on offer with so much room; NO_BLOCK if there is none. */
static BlockNumber
find_fullest(KvAmPack *pack, Relation relation, const KvAmGroup *group, Size wanted)
{
	BlockNumber block = NO_BLOCK;

	for (int class = kv_am_room_class(pack, wanted); block == NO_BLOCK && class < KV_AM_ROOM_CLASSES; class++)
		block = find_of_class(pack, relation, group, class, wanted);
	return block;
}

/* Returns about the emptiest page on offer, with so much room at least; NO_BLOCK if there is none. */
static BlockNumber
find_emptiest(KvAmPack *pack, Relation relation, const KvAmGroup *group, Size wanted)
{
	BlockNumber block = NO_BLOCK;

	for (int class = KV_AM_ROOM_CLASSES - 1; block == NO_BLOCK && class >= kv_am_room_class(pack, wanted); class--)
		block = find_of_class(pack, relation, group, class, wanted);
	return block;
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
	kv_am_room_set(pack, block, room);
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
		own[i].rows = 1;
		own[i].bytes = group->bytes[i];
	}
	qsort(own, group->count, sizeof(OwnPage), compare_blocks);
	for (int i = 0; i < group->count; i++)
	{
		if (last >= 0 && own[last].block == own[i].block)
		{
			own[last].rows++;
			own[last].bytes += own[i].bytes;
		}
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
	return block < pack->blocks && (pack->lists[block] & KV_AM_OFFERED) != 0;
}

/* Returns about how many rows of a group an empty page takes. */
static int
rows_of_page(const KvAmPack *pack, const KvAmGroup *group)
{
	int			fewest = kv_am_pack_fewest(pack, group);

	/* the first is right for rows of one length, also where they leave the last page nearly empty */
	return Max(pack->capacity * group->count / group->total_bytes, (group->count + fewest - 1) / fewest);
}

/*
 * Plans rows to stay on those of the group's pages that, once they are filled
 * up, leave no more than so many pages can take in all; and fills them up.
 * Returns the bytes of the rows left over.
 */
static Size
keep_pages(KvAmPack *pack, Relation relation, KvAmGroup *group, int most_pages)
{
	int			count;
	OwnPage    *own = list_own_pages(group, &count);
	int			page_rows = rows_of_page(pack, group);
	int			open = group->count;	/* rows to be taken by further pages */
	Size		left = group->total_bytes;

	for (int i = 0; i < count && group->target_pages < most_pages; i++)
	{
		BlockNumber block = own[i].block;
		int64		others = (int64) (most_pages - group->target_pages - 1) * page_rows;
		int			rows;

		if (!may_stay(pack, block))
			continue;
		rows = own[i].rows + kv_am_room_look(pack, relation, block) * group->count / group->total_bytes;
		if (rows + others < open)
			continue;
		open -= Min(rows, open);
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

/* Plans the rows that have no target yet, of so many bytes in all; false if there is no room on so many pages. */
static bool
plan_rest(KvAmPack *pack, Relation relation, KvAmGroup *group, Size left, int most_pages)
{
	int			i = 0;

	while (left > 0)
	{
		BlockNumber block = NO_BLOCK;

		if (group->target_pages >= most_pages)
			return false;
		while (group->target[i] != NO_BLOCK)
			i++;
		if (left <= pack->capacity)
			block = find_fullest(pack, relation, group, left);
		if (block == NO_BLOCK && group->target_pages + 1 < most_pages)
			block = find_emptiest(pack, relation, group, group->bytes[i]);
		if (block == NO_BLOCK)
			return false;
		i = fill_page(pack, group, i, block, &left);
		group->target_pages++;
	}
	return true;
}

/* Plans a group on so many pages at most; keeps rows where they are or takes no notice of it. */
static bool
plan_within(KvAmPack *pack, Relation relation, KvAmGroup *group, bool keep, int most_pages)
{
	Size		left = group->total_bytes;

	for (int i = 0; i < group->count; i++)
		group->target[i] = NO_BLOCK;
	group->target_pages = 0;
	if (keep)
		left = keep_pages(pack, relation, group, most_pages);
	if (plan_rest(pack, relation, group, left, most_pages))
		return true;
	kv_am_pack_undo(pack, group);
	return false;
}

/* Chooses pages for a group and takes their room. */
bool
kv_am_pack_plan(KvAmPack *pack, Relation relation, KvAmGroup *group, int most_pages)
{
	if (plan_within(pack, relation, group, true, most_pages))
		return true;
	/* there are pages, but rows of different lengths may fit others better than those where some lie */
	return group->target_pages >= most_pages && plan_within(pack, relation, group, false, most_pages);
}

/* Gives the room of a plan back. */
void
kv_am_pack_undo(KvAmPack *pack, const KvAmGroup *group)
{
	int			i;

	for (i = 0; i < group->count; i++)
		if (group->target[i] != NO_BLOCK && group->target[i] != group->present[i])
			kv_am_room_set(pack, group->target[i], pack->room[group->target[i]] + group->bytes[i]);
}
