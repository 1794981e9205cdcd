/*
 * store.h
 *	  Items in one leaf: point read, ordered cursor, row lock, writes.
 *
 * The caller has the table's descriptor and has checked rights; nothing here
 * looks at ACLs or policies.  Relations opened here are locked with the given
 * lock mode, and locks are kept to the end of the transaction as SQL does.
 */
#ifndef KV_STORE_STORE_H
#define KV_STORE_STORE_H

#include "access/htup.h"
#include "access/sdir.h"
#include "executor/tuptable.h"
#include "storage/buf.h"
#include "utils/snapshot.h"

#include "table/table.h"

/* --- store_range.c: the one cursor that kv.query, kv.scan and the custom scan read through --- */

typedef struct KvCursor KvCursor;

/* What a cursor reads of one leaf, in key order. */
typedef struct KvCursorRange
{
	bool		has_partition_key;	/* false: the whole leaf, ordered by (partition key, sort key) */
	KvKeyRange	key;			/* bounds apply with has_partition_key only */
	bool		has_start;		/* exclusive: continue behind this key in the scan's direction */
	Datum		start[KV_MAX_KEYS];
} KvCursorRange;

/* Tells whether both bounds are the same value, inclusive: one key. */
static inline bool
kv_key_range_is_point(const KvKeyRange *range)
{
	return range->low.present && range->high.present &&
		range->low.inclusive && range->high.inclusive &&
		range->low.value == range->high.value;
}

/*
 * Opens a cursor over one leaf of the table, which it locks in ACCESS SHARE
 * mode.  The snapshot must be registered or active for the cursor's life.
 * Everything lives in CurrentMemoryContext; buffers and relations belong to
 * CurrentResourceOwner until kv_cursor_close.  Rows come in the order of the
 * direction given here; it is also the direction in which a start lies
 * ahead.  kv_cursor_rescan must be called before the first row is read; the
 * key values of its range must stay as long as rows of it are read.
 */
extern KvCursor *kv_cursor_open(KvTable *table, int leaf, Snapshot snapshot, ScanDirection direction);

/*
 * The same in the order of a local index of the table, of the items that it
 * has.  Ranges and starts are of the index's key; the view of a row is
 * filled by kv_store_local_view.
 */
extern KvCursor *kv_cursor_open_local(KvTable *table, const KvIndex *index, int leaf,
									  Snapshot snapshot, ScanDirection direction);

/* Positions the cursor at the start of a range; may be called again (rescan, the next key of a list). */
extern void kv_cursor_rescan(KvCursor *cursor, const KvCursorRange *range);

/* Returns the next row in the given direction as a slot of the leaf's row type, owned by the cursor; NULL at the end. */
extern TupleTableSlot *kv_cursor_next(KvCursor *cursor, ScanDirection direction);

/* The leaf relation of the cursor, open as long as the cursor is. */
extern Relation kv_cursor_leaf(const KvCursor *cursor);

/* The descriptor of that leaf: attribute numbers of key and item. */
extern const KvLeaf *kv_cursor_leaf_descriptor(const KvCursor *cursor);

extern void kv_cursor_close(KvCursor *cursor);

/*
 * Fills a view from a row of the leaf.  Keys may keep a short header
 * (VARDATA_ANY), the item is aligned and detoasted; what need not be copied
 * points into the row and is good until the cursor moves.
 */
extern void kv_store_view(const KvTable *table, const KvLeaf *leaf, TupleTableSlot *slot, KvItemView *view);

/* --- store_get.c: point read --- */

/*
 * When the page of a row that is looked up is to be rid of versions that
 * nobody sees any more, as far as they can be removed at once.
 */
typedef enum KvPruning
{
	KV_PRUNE_USUALLY,			/* as heap does: when a tenth of the page or less is free */
	KV_PRUNE_FOR_CHANGE,		/* when there is no room for another version of the row */
	KV_PRUNE_NEVER
} KvPruning;

/* A leaf open for point reads, and the row read last.  Private to the store. */
typedef struct KvPoint
{
	int			leaf;
	KvPruning	pruning;		/* as usual; may be set once the leaf is open */
	BlockNumber blocks;			/* that the leaf had when somebody asked; 0: nobody did */
	const KvLeaf *descriptor;
	Relation	heap;
	Relation	index;
	Buffer		buffer;			/* pinned; invalid if there is no row or a cursor holds it */
	HeapTupleData tuple;		/* on that page */
	KvCursor   *cursor;			/* NULL: none was needed */
} KvPoint;

/* Opens a leaf for point reads and locks it in ACCESS SHARE mode to the end of the transaction. */
extern void kv_store_get_begin(KvTable *table, int leaf, KvPoint *point);

/*
 * Reads the row of a key in the leaf.  True: the view is filled as by
 * kv_store_view and good until the row is released, which has to come before
 * the next read and before CurrentMemoryContext is reset.
 */
extern bool kv_store_get(KvTable *table, const Datum *key, Snapshot snapshot,
						 KvPoint *point, KvItemView *view);

/*
 * The same without the index, where the row is at the place that it was put
 * once.  False where something else is there by now, or nothing: then
 * kv_store_get has to look.
 */
extern bool kv_store_get_at(KvTable *table, const Datum *key, const ItemPointerData *place, Snapshot snapshot,
							KvPoint *point, KvItemView *view);
extern void kv_store_get_release(KvPoint *point);

/* Releases the row and the leaf. */
extern void kv_store_get_end(KvPoint *point);

/* The same from a row that a local index has: the view's schema is the index's, and rest holds its attribute still. */
extern void kv_store_local_view(const KvIndex *index, const KvLeaf *leaf, TupleTableSlot *slot, KvItemView *view);

/* --- store_trigger.c --- */

/*
 * Called for each row written to a table whose only trigger is the one that
 * captures changes for its global indexes, in the place of that trigger;
 * either view is NULL where there is no item.  row is where new lies.
 */
typedef void (*KvCaptureHook) (const KvTable *table, const KvItemView *old, const KvItemView *new, const ItemPointerData *row);
extern KvCaptureHook kv_store_capture_hook;

/* --- store_writer.c: one leaf, open for writing --- */

/*
 * A writer writes one row at a time as the executor would: triggers fire,
 * generated columns and defaults are computed, constraints and all indexes
 * hold.  It works in steps: find the row, lock it where that is needed, then
 * insert, replace or remove.  Statement triggers fire as for a statement of
 * one row, and only if it comes to writing.
 *
 * State lives in CurrentMemoryContext; relations, pins and a snapshot are
 * held until kv_writer_close.  What takes long to prepare is kept for the
 * session and used again.
 */
typedef struct KvWriter KvWriter;

/*
 * Opens one leaf of the table, which it locks in ROW EXCLUSIVE mode to the
 * end of the transaction.  The table is locked in the same mode already.
 */
extern KvWriter *kv_writer_open(KvTable *table, int leaf);

/* Ends the writer; what it wrote is visible to the next command of the transaction. */
extern void kv_writer_close(KvWriter *writer);

/* --- store_lock.c: the row of a key, and its lock --- */

/* What is going to be done to a row: it decides the strength of the lock. */
typedef enum KvRowChange
{
	KV_ROW_KEEP,				/* nothing: nobody else shall change it either */
	KV_ROW_REPLACE,
	KV_ROW_REMOVE
} KvRowChange;

/*
 * Looks for the row of the key: as of now at READ COMMITTED, as of the
 * transaction's snapshot above.  Own earlier writes are seen.  May be called
 * again for the same key or another.
 */
extern bool kv_writer_find(KvWriter *writer, const Datum *key);

/* Tells the next kv_writer_find which rest the row found is to have, so that it makes just so much room. */
extern void kv_writer_expect(KvWriter *writer, const Jsonb *rest);

/*
 * Tells whether this transaction has written the row of the key, so that all
 * others that want it wait for its end.  The leaf is locked in ACCESS SHARE
 * mode for the call only, since keys are not asked for in the order of leaves.
 */
extern bool kv_store_has_written(KvTable *table, int leaf, const Datum *key);

/* Tells where the row found lies. */
extern ItemPointerData kv_writer_place(const KvWriter *writer);

/*
 * Finds the row of the key again that this transaction found and locked at
 * that place, without the index.  False: this version of the row is gone.
 */
extern bool kv_writer_find_at(KvWriter *writer, const Datum *key, ItemPointerData place);

/*
 * Tells whether the row found may be judged before it is locked: nobody else
 * is changing or holding it, and no trigger asks for the lock first.
 */
extern bool kv_writer_settled(const KvWriter *writer, KvRowChange change);

/*
 * Locks the row found.  False: it was changed or removed by somebody else
 * meanwhile, find it again; above READ COMMITTED that is an error, SQL's own
 * serialization failure.
 */
extern bool kv_writer_lock(KvWriter *writer, KvRowChange change);

/* Fills the view with the row found; as kv_store_view, good until the next kv_writer_find. */
extern void kv_writer_found(const KvWriter *writer, KvItemView *view);

/* --- store_write.c --- */

typedef enum KvWriteResult
{
	KV_WRITE_DONE,
	KV_WRITE_SUPPRESSED,		/* a BEFORE trigger said no */
	KV_WRITE_LOST				/* somebody else was faster: find the row again, and lock it */
} KvWriteResult;

/* Inserts the item, whose key kv_writer_find did not find. */
extern KvWriteResult kv_writer_insert(KvWriter *writer, const KvItemView *item);

/*
 * Keeps the key, which kv_writer_find did not find, absent to the end of the
 * transaction: whoever inserts it meanwhile waits.  No trigger fires.
 */
extern KvWriteResult kv_writer_reserve(KvWriter *writer);

/* Gives the row found a new rest; other columns of the row stay as they are. */
extern KvWriteResult kv_writer_replace(KvWriter *writer, Jsonb *rest);

/* Removes the row found. */
extern KvWriteResult kv_writer_remove(KvWriter *writer);

/* Fills the view with the row as insert or replace wrote it, triggers included; good until kv_writer_close. */
extern void kv_writer_written(const KvWriter *writer, KvItemView *view);

/* --- store_compact.c: the items of a collection are moved together --- */

/* One leaf being compacted.  Outlives transactions; lives in CurrentMemoryContext of its making. */
typedef struct KvCompaction KvCompaction;

/* What was done so far. */
typedef struct KvCompactCounts
{
	int64		collections;	/* looked at */
	int64		moved_collections;
	int64		moved_items;
	int64		moved_bytes;
	int64		busy_items;		/* were locked or being changed */
	bool		held_back;		/* an old snapshot needs rows of a leaf that were moved last, where they were */
	int64		pages_before;
	int64		pages_after;
} KvCompactCounts;

typedef enum KvCompactStep
{
	KV_COMPACT_MORE,			/* commit, and go on */
	KV_COMPACT_VACUUM,			/* commit, have kv_compaction_vacuum called in a transaction, commit, and go on */
	KV_COMPACT_DONE
} KvCompactStep;

/*
 * Starts to compact a leaf of the table, which it locks in ROW EXCLUSIVE mode;
 * counts are added to and must live as long.
 */
extern KvCompaction *kv_compaction_begin(KvTable *table, int leaf, KvCompactCounts *counts);

/*
 * Does the work of one transaction, which must be SERIALIZABLE and has an
 * active snapshot: moves some hundred kilobytes of items, at most.  The table
 * is the same, opened again.  Acts as the leaf's owner.
 */
extern KvCompactStep kv_compaction_step(KvCompaction *compaction, KvTable *table);

/* Vacuums the leaf unless somebody else does.  Comes before the first step and, with may_truncate, behind the last. */
extern void kv_compaction_vacuum(KvCompaction *compaction, KvTable *table, bool may_truncate);

/* Ends the compaction: counts the pages that there are now. */
extern void kv_compaction_end(KvCompaction *compaction, KvTable *table);

#endif							/* KV_STORE_STORE_H */
