/*
 * am_internal.h
 *	  What the files of the access method share among themselves.
 *
 * The arrows: am_handler -> am_write, am_bulk -> am_placement -> am_probe,
 * am_append, am_space; am_pack -> am_room -> am_space.
 */
#ifndef KV_AM_AM_INTERNAL_H
#define KV_AM_AM_INTERNAL_H

#include "access/heapam.h"
#include "access/htup.h"
#include "access/nbtree.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "utils/rel.h"

#include "am/am.h"
#include "base/compat.h"

/* Number of size classes that toasted rows fall into: 2, 4, 8, 16 kB and more. */
#define KV_AM_TOAST_CLASSES 5

/* Free space is recorded when it crosses a multiple of this. */
#define KV_AM_RECORD_STEP (BLCKSZ / 8)

/*
 * What one backend remembers of one relation, kept in rd_amcache: any relcache
 * invalidation frees it.  Fetch it anew after anything that may take a lock.
 * All of it is estimate; losing it costs a few less well placed rows.
 */
typedef struct KvAmState
{
	bool		has_sort_key;	/* the primary key has two columns or more */
	bool		sorts_bytewise; /* the sort key's order is that of its bytes */
	AttrNumber	partition_key;	/* the heap column that is the primary key's first */
	AttrNumber	sort_key;		/* and its second */
	uint64		generation;		/* changes when what is remembered of blocks goes stale */
	uint64		last_hash;		/* of the partition key placed last */
	float4		returning;		/* share of recent changes of collection that went to a known one */
	uint32		change_count;
	uint32		new_run;		/* changes in a row that went to a new one */
	float4		free_share;		/* share of the heap's space that is free */
	uint32		sample_count;
	uint32		sample_point;
	BlockNumber start_block;	/* where new collections start at present */
	uint16		toasted_length[KV_AM_TOAST_CLASSES];	/* usual length on the page; 0: not seen yet */
} KvAmState;

/* The keys of one row; nothing is copied. */
typedef struct KvAmKeys
{
	Datum		partition_key;
	Datum		sort_key;
	uint64		hash;			/* of the partition key, within the relation's generation */
	const char *bytes;			/* of the sort key if that sorts bytewise, else NULL */
	int			length;
} KvAmKeys;

/* A row that is about to be written, and the page chosen for it. */
typedef struct KvAmTarget
{
	Size		length;			/* expected bytes of the row on the page */
	int			toast_class;	/* which length to learn from the row; -1: none */
	Size		group;			/* bytes that it and those of its collection that follow at once need; 0: not known */
	BlockNumber previous;		/* block of the row that it is to follow in one go, or InvalidBlockNumber */

	BlockNumber block;			/* the choice */
	Size		space;			/* free bytes it had then */
	bool		fresh;			/* the heap was extended by it just now */
	bool		at_end;			/* the row goes behind all others of its collection, as far as known */
} KvAmTarget;

/*
 * The place of a key in the primary-key btree.  Between begin and end the
 * index is open and the leaf pinned, but not locked.
 */
typedef struct KvAmProbe
{
	Relation	index;			/* NULL: not begun */
	KvAmNeighbour hint;			/* where to begin, as the caller of the insert found; leaf invalid: not known */
	BTScanInsert key;
	Buffer		leaf;			/* InvalidBuffer: empty index */
	OffsetNumber offset;		/* first entry on the leaf that is not less than the key */
	ItemPointerData neighbour;	/* nearest row of the same partition key; invalid: none */
	const char *bytes;			/* of the partition key; NULL: entries are compared by the index's function */
	int			length;
	bool		at_end;			/* no row of the collection is known to come behind the key */
	int			entries;		/* of the collection on the leaf, once kv_am_probe_nearby has looked */
	Datum		detoasted[2];	/* copies to free, or 0 */
} KvAmProbe;

/* Pages are listed by their room; the last class is that of pages without rows and line pointers. */
#define KV_AM_ROOM_CLASS_BYTES 128
#define KV_AM_ROOM_CLASSES (BLCKSZ / KV_AM_ROOM_CLASS_BYTES + 1)

/* What a page is listed for; each combination has lists of its own, none has no list. */
#define KV_AM_OFFERED 1			/* rows may be put there */
#define KV_AM_TO_DO 2			/* its rows have yet to be looked at */
#define KV_AM_LISTS 4

struct KvAmPack
{
	BlockNumber blocks;			/* that the arrays tell of */
	BlockNumber max_blocks;		/* that they have place for */
	BlockNumber limit;
	BlockNumber goal;			/* so many pages the rows may take, in the end, */
	BlockNumber bound;			/* and so many if they take more pages of their collections else */
	Size		reserve;		/* what fillfactor leaves free */
	Size		capacity;
	uint16	   *room;			/* bytes that rows may take, line pointers included */
	uint8	   *lists;			/* what each page is listed for */
	BlockNumber *next;			/* in its list; InvalidBlockNumber at the end */
	BlockNumber *previous;
	BlockNumber first[KV_AM_LISTS][KV_AM_ROOM_CLASSES];
};

/* --- am_probe.c --- */
extern void kv_am_probe_init(KvAmProbe *probe);
extern void kv_am_probe_begin(Relation relation, TupleTableSlot *slot, KvAmProbe *probe);
extern int	kv_am_probe_nearby(KvAmProbe *probe, BlockNumber *blocks, int max_blocks);
extern void kv_am_probe_end(KvAmProbe *probe);

/* --- am_append.c --- */
extern BlockNumber kv_am_append_find(uint64 hash, const char *key, int length);
extern void kv_am_append_note(uint64 hash, const char *key, int length, BlockNumber block);

/* --- am_space.c --- */
extern Size kv_am_space_needed(Relation relation, Size length);
extern Size kv_am_space_capacity(Relation relation);
extern Size kv_am_space_of_block(Relation relation, BlockNumber block);
extern Size kv_am_space_of_row(Relation relation, ItemPointer tid);
extern BlockNumber kv_am_space_find(Relation relation, BlockNumber near, Size near_space, Size wanted, Size *space);
extern BlockNumber kv_am_space_extend(Relation relation, Size *space);
extern void kv_am_space_record(Relation relation, BlockNumber block, Size before, Size after, bool fresh);
extern int	kv_am_space_own_rows(Relation relation, BlockNumber block, HeapTuple row, AttrNumber key, Size *bytes);

/* --- am_room.c --- */
extern int	kv_am_room_class(const KvAmPack *pack, Size room);
extern void kv_am_room_set(KvAmPack *pack, BlockNumber block, Size room);
extern Size kv_am_room_look(KvAmPack *pack, Relation relation, BlockNumber block);

/* --- am_state.c --- */
extern KvAmState *kv_am_state(Relation relation);
extern bool kv_am_take_hint(Relation relation, KvAmNeighbour *neighbour);

/* Gives out what the caller saw of a block's free bytes, once; false if it told nothing. */
extern bool kv_am_take_room(Relation relation, BlockNumber block, Size *room);
extern bool kv_am_read_keys(Relation relation, TupleTableSlot *slot, KvAmKeys *keys);
extern bool kv_am_surely_new(Relation relation);
extern void kv_am_note_change(Relation relation, uint64 hash, bool found);
extern void kv_am_expect_length(Relation relation, HeapTuple row, KvAmTarget *target);
extern void kv_am_learn_length(Relation relation, ItemPointer tid, int toast_class);

/* --- am_placement.c --- */
extern bool kv_am_place_insert(Relation relation, TupleTableSlot *slot, KvAmTarget *target);
extern bool kv_am_place_update(Relation relation, ItemPointer old, TupleTableSlot *slot, KvAmTarget *target);
extern void kv_am_choose(Relation relation, TupleTableSlot *slot, HeapTuple row, KvAmTarget *target);
extern void kv_am_placed(Relation relation, ItemPointer tid, const KvAmTarget *target);

/* --- am_write.c: callbacks of the routine table --- */
extern void kv_am_tuple_insert(Relation relation, TupleTableSlot *slot, CommandId cid,
							   int options, BulkInsertState bistate);
extern void kv_am_tuple_insert_speculative(Relation relation, TupleTableSlot *slot, CommandId cid,
										   int options, BulkInsertState bistate, uint32 token);
extern TM_Result kv_am_tuple_update(Relation relation, ItemPointer old, TupleTableSlot *slot, CommandId cid,
									Snapshot snapshot, Snapshot crosscheck, bool wait,
									TM_FailureData *failure, LockTupleMode *lockmode,
									KvCompatUpdateIndexes *update_indexes);

/* --- am_bulk.c: callbacks of the routine table --- */
extern void kv_am_multi_insert(Relation relation, TupleTableSlot **slots, int slot_count, CommandId cid,
							   int options, BulkInsertState bistate);

#endif							/* KV_AM_AM_INTERNAL_H */
