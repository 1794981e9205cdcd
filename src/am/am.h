/*
 * am.h
 *	  The key_value table access method: heap with placement.
 *
 * The handler is heap's routine table with a few callbacks replaced; WAL,
 * MVCC, vacuum and everything else stay heap's.  What is added is placement:
 * a new row version goes to the page of its neighbour in the primary key.
 */
#ifndef KV_AM_AM_H
#define KV_AM_AM_H

#include "access/htup.h"
#include "storage/block.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

/* Tells whether the relation uses the key_value access method. */
extern bool kv_am_is_key_value(Relation relation);

/* What an index probe found beside the place of a key that is not there. */
typedef struct KvAmNeighbour
{
	ItemPointerData row;		/* of the same collection, dead or alive; invalid: there is none */
	BlockNumber leaf;			/* the page of the primary key's index that the key belongs to, */
	OffsetNumber offset;		/* and its place there: of the row's entry, or behind it */
} KvAmNeighbour;

/*
 * Tells the access method the neighbour of the row about to be inserted into
 * relation, found by the caller's own index probe, so that the access method
 * need not probe again.  Holds for the next insert into that relation by this
 * backend only.
 */
extern void kv_am_hint_neighbour(Relation relation, const KvAmNeighbour *neighbour);

/*
 * Tells the access method the free bytes of a page on which a row is about to be
 * updated, as the caller saw them a moment ago, so that it need not look.  Holds
 * for the next update in that relation by this backend only.
 */
extern void kv_am_hint_room(Relation relation, BlockNumber block, Size room);

/*
 * Called when a relation gets new, empty files (TRUNCATE, but not when it is
 * made, nor by VACUUM FULL, CLUSTER and ALTER TABLE, which fill others), or
 * is emptied as it stands.  Must not write to the relation's catalog row.
 */
typedef void (*KvAmTruncateHook) (Relation relation);
extern KvAmTruncateHook kv_am_truncate_hook;

/* --- am_move.c: a row leaves its page --- */

typedef enum KvAmMoveResult
{
	KV_AM_ROW_MOVED,
	KV_AM_ROW_STRAYED,			/* moved, but not to the page that was named */
	KV_AM_ROW_BUSY				/* locked, being changed or changed: left alone */
} KvAmMoveResult;

/* What a move leaves to do: index entries that point to the new version. */
typedef struct KvAmMoved
{
	HeapTuple	row;			/* the new version, in CurrentMemoryContext */
	bool		needs_entries;
	ItemPointerData entry;		/* what they point to */
} KvAmMoved;

/*
 * Moves a row that the active snapshot sees to a page of the relation, which is
 * locked in ROW EXCLUSIVE mode.  Waits for nobody.  The caller inserts the index
 * entries, and increments the command counter before it moves that row again.
 */
extern KvAmMoveResult kv_am_move_row(Relation relation, ItemPointer row, BlockNumber target, KvAmMoved *moved);

/* Frees the room of rows that left a page, as far as no snapshot needs them; returns the free bytes. */
extern Size kv_am_prune_page(Relation relation, BlockNumber block);

/* Vacuums a relation locked in SHARE UPDATE EXCLUSIVE mode by a transaction made for it. */
extern void kv_am_vacuum(Relation relation, bool may_truncate);

/* --- am_pack.c, am_room.c: pages for collections that are moved as a whole --- */

/* The free room of all pages of a relation, as far as known; may outlive a transaction.  Lives in CurrentMemoryContext of its making. */
typedef struct KvAmPack KvAmPack;

/* Rows of one collection that are to lie together, in key order. */
typedef struct KvAmGroup
{
	int			count;
	uint16	   *bytes;			/* of each row on its page, line pointer included; at most an empty page's */
	BlockNumber *present;		/* where each lies */
	BlockNumber *target;		/* where each is to lie */
	int			present_pages;
	int			target_pages;
	Size		total_bytes;
} KvAmGroup;

/* Reads the free space map, with all pages to be worked off; room is left for so many pages that kv_am_pack_extend may add. */
extern KvAmPack *kv_am_pack_begin(Relation relation, BlockNumber more_blocks);

/* Reads the free space map again. */
extern void kv_am_pack_refresh(KvAmPack *pack, Relation relation);

/* Forgets pages that are there no more.  Asked for whenever the relation was unlocked. */
extern void kv_am_pack_trim(KvAmPack *pack, Relation relation);

/* Returns the page to be worked off next, that with the most room, once; InvalidBlockNumber if none is left. */
extern BlockNumber kv_am_pack_next(KvAmPack *pack);

/* All pages are to be worked off again. */
extern void kv_am_pack_restart(KvAmPack *pack);

/* Tells whether a page is to be worked off yet. */
extern bool kv_am_pack_is_to_do(const KvAmPack *pack, BlockNumber block);

/* Pages below this hold everything once they are well filled; the others are to become empty. */
extern BlockNumber kv_am_pack_limit(const KvAmPack *pack);

/* So many pages are enough even if collections need more pages then. */
extern BlockNumber kv_am_pack_bound(const KvAmPack *pack);

/* Raises the limit by one page, up to a bound; false if it is there. */
extern bool kv_am_pack_raise(KvAmPack *pack, BlockNumber bound);

/* Returns how many empty pages a group takes, in key order. */
extern int	kv_am_pack_fewest(const KvAmPack *pack, const KvAmGroup *group);

/* The bytes of rows that an empty page takes. */
extern Size kv_am_pack_capacity(const KvAmPack *pack);

/* Chooses pages for a group, so many at most, and takes their room; false if there are none. */
extern bool kv_am_pack_plan(KvAmPack *pack, Relation relation, KvAmGroup *group, int most_pages);

/* Gives the room of a plan back. */
extern void kv_am_pack_undo(KvAmPack *pack, const KvAmGroup *group);

/* Tells whether the relation may have one more page for good. */
extern bool kv_am_pack_may_grow(const KvAmPack *pack);

/* Adds an empty page to the relation; false if as many were added as was asked for. */
extern bool kv_am_pack_extend(KvAmPack *pack, Relation relation);

/* Frees the room of rows that left a page and notes it. */
extern void kv_am_pack_prune(KvAmPack *pack, Relation relation, BlockNumber block);

#endif							/* KV_AM_AM_H */
