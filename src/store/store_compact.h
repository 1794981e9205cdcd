/*
 * store_compact.h
 *	  What the two files of compaction share.
 */
#ifndef KV_STORE_STORE_COMPACT_H
#define KV_STORE_STORE_COMPACT_H

#include "access/htup_details.h"

#include "am/am.h"
#include "store/store.h"
#include "store/store_internal.h"

/* Where all of a leaf lies on more than this, pages may be added, and what is left so is looked at a second time. */
#define KV_COMPACT_SCATTERED_LEAF 1.12

/* The part of a collection that is at hand. */
typedef struct KvCompactPart
{
	KvAmGroup	group;
	ItemPointerData *row;
	int			size;			/* of the arrays */
	bool		at_end;			/* the collection has no more rows */
	int			fewest;			/* pages that it takes at least, */
	int			most;			/* and that are few enough */
	bool		scattered;		/* lies on too many */
	bool		clears;			/* lies on pages that are to become empty */
} KvCompactPart;

/* The key of a row, with the memory that it lies in. */
typedef struct KvCompactPlace
{
	MemoryContext context;
	Datum		key[KV_MAX_KEYS];
} KvCompactPlace;

struct KvCompaction
{
	MemoryContext context;
	MemoryContext page_context; /* of the keys of the page at hand */
	Oid			leaf_relid;
	KvCompactCounts *counts;
	KvAmPack   *pack;
	BlockNumber page;			/* that is looked at */
	bool		clearing;		/* the pages that were added are being worked off, from the end */
	int			key_count;		/* partition keys of the page at hand */
	int			key_next;
	Datum		key[MaxHeapTuplesPerPage];
	bool		has_start;		/* behind this key of the collection at hand */
	KvCompactPlace start;
	KvCompactPlace end;			/* of the part at hand, where the collection goes on behind it */
	bool		moved_any;		/* of the collection at hand */
	int64		pages_wanted;	/* fewest pages of the parts looked at, added up */
	int64		pages_found;	/* what they lay on, where they lay scattered, */
	int64		pages_left;		/* and what they were left on, where that is so still */
	bool		again;			/* all pages are being worked off a second time */
	KvCompactPart part;
	uint64	   *seen;			/* hashes of partition keys, each in its set; the newest push the oldest out */
	uint32		seen_mask;
	BlockNumber *emptied;		/* pages that rows have left and that were not pruned since */
	int			emptied_count;
	int			emptied_size;
	TransactionId last_xid;		/* of the transaction that moved rows last */
	bool		held_back;		/* an old snapshot needs them where they were */
	Size		unpruned_bytes; /* moved by the transaction, or since pages were pruned */
	Size		unvacuumed_bytes;
	Size		vacuum_bytes;	/* so much moved is worth a VACUUM */
};

/* What belongs to one transaction. */
typedef struct KvCompactChunk
{
	KvCompaction *compaction;
	KvTable    *table;
	KvCursor   *cursor;			/* of all versions of rows */
	KvMover		mover;
	Size		moved_bytes;
	int			pages;
} KvCompactChunk;

/* What became of a part. */
typedef enum KvCompactOutcome
{
	KV_PART_PLANNED,			/* has pages to move to */
	KV_PART_SETTLED,			/* moved, or left where it is for good */
	KV_PART_PUT_OFF,			/* left until another of its pages is worked off */
	KV_PART_WANTS_COMMIT,		/* rows must have left their pages first */
	KV_PART_WANTS_VACUUM
} KvCompactOutcome;

/* --- store_compact_part.c --- */

/* Reads rows of the collection at hand: the part that follows the last one. */
extern void kv_compact_read_part(KvCompactChunk *chunk);

/* Moves the part at hand if that does it good; never KV_PART_PLANNED. */
extern KvCompactOutcome kv_compact_settle_part(KvCompactChunk *chunk);

#endif							/* KV_STORE_STORE_COMPACT_H */
