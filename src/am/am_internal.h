/*
 * am_internal.h
 *	  What the files of the access method share among themselves.
 *
 * The arrows: am_handler -> am_write, am_bulk -> am_placement -> am_probe,
 * am_space.
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

/*
 * What one backend remembers of one relation, kept in rd_amcache: any relcache
 * invalidation frees it.  Fetch it anew after anything that may take a lock.
 * All of it is estimate; losing it costs a few less well placed rows.
 */
typedef struct KvAmState
{
	bool		checked;		/* the next two are known */
	bool		has_sort_key;	/* the primary key has two columns or more */
	AttrNumber	partition_key;	/* the heap column that is the primary key's first */
	float4		returning;		/* share of recent changes of collection that went to a known one */
	uint32		change_count;
	float4		free_share;		/* share of the heap's space that is free */
	uint32		sample_count;
	uint32		sample_point;
	BlockNumber start_block;	/* where new collections start at present */
	ItemPointerData last_tid;	/* the row placed last */
	uint16		toasted_length[KV_AM_TOAST_CLASSES];	/* usual length on the page; 0: not seen yet */
} KvAmState;

/* A page chosen for a row that is about to be written. */
typedef struct KvAmTarget
{
	BlockNumber block;			/* InvalidBlockNumber: heap may choose */
	Size		space;			/* free bytes it had when it was chosen */
	Size		length;			/* expected bytes of the row on the page */
	bool		fresh;			/* the heap was extended by it just now */
} KvAmTarget;

/*
 * The place of a key in the primary-key btree.  Between begin and end the
 * index is open and the leaf pinned, but not locked.
 */
typedef struct KvAmProbe
{
	Relation	index;			/* NULL: not begun */
	BTScanInsert key;
	Buffer		leaf;			/* InvalidBuffer: empty index */
	OffsetNumber offset;		/* first entry on the leaf that is not less than the key */
	ItemPointerData neighbour;	/* nearest row of the same partition key; invalid: none */
	Datum		detoasted[2];	/* copies to free, or 0 */
} KvAmProbe;

/* --- am_probe.c --- */
extern void kv_am_probe_begin(Relation relation, TupleTableSlot *slot, KvAmProbe *probe);
extern int	kv_am_probe_nearby(KvAmProbe *probe, BlockNumber *blocks, int max_blocks);
extern void kv_am_probe_end(KvAmProbe *probe);

/* --- am_space.c --- */
extern Size kv_am_space_needed(Relation relation, Size length);
extern Size kv_am_space_capacity(Relation relation);
extern Size kv_am_space_of_block(Relation relation, BlockNumber block);
extern BlockNumber kv_am_space_find(Relation relation, BlockNumber near, Size near_space, Size wanted, Size *space);
extern BlockNumber kv_am_space_extend(Relation relation, Size *space);
extern void kv_am_space_record(Relation relation, BlockNumber block, Size before, Size after, bool fresh);
extern int	kv_am_space_own_rows(Relation relation, BlockNumber block, HeapTuple row, AttrNumber key, Size *bytes);

/* --- am_placement.c --- */
extern bool kv_am_place_insert(Relation relation, TupleTableSlot *slot, KvAmTarget *target);
extern bool kv_am_place_update(Relation relation, ItemPointer old, TupleTableSlot *slot, KvAmTarget *target);
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

#endif							/* KV_AM_AM_INTERNAL_H */
