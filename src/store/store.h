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

#include "access/sdir.h"
#include "executor/tuptable.h"
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

#endif							/* KV_STORE_STORE_H */
