/*
 * store_get.c
 *	  Point read: the row of one key in one leaf.
 *
 * This is what kv.get spends its time in.  The rows of the key come from one
 * descent of the primary key (store_probe.c) and are looked at in the heap
 * directly: no scan state, no slot, no executor.  A cursor takes over where
 * that does not do: at SERIALIZABLE, which wants predicate locks on index
 * pages; where the probe gives up; and where an entry turns out to be dead,
 * so that the scan marks it for those who come later.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "am/am.h"
#include "base/compat.h"
#include "store/store_internal.h"

/* Tells whether the leaf is a heap underneath, so that its pages may be read as such. */
static inline bool
is_heap(Relation leaf)
{
	return leaf->rd_tableam == GetHeapamTableAmRoutine() || kv_am_is_key_value(leaf);
}

/* Looks for the version of a row that the snapshot sees; the page stays pinned in point if there is one. */
static bool
fetch_row(Relation heap, ItemPointer row, Snapshot snapshot, KvPoint *point, bool *all_dead)
{
	Buffer		buffer = ReadBuffer(heap, ItemPointerGetBlockNumber(row));
	bool		found;

	heap_page_prune_opt(heap, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	found = heap_hot_search_buffer(row, heap, buffer, snapshot, &point->tuple, all_dead, true);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	if (found)
		point->buffer = buffer;
	else
		ReleaseBuffer(buffer);
	return found;
}

/* Finds the row of the key through the index; false also where a cursor has to look (*scan). */
static bool
probe_row(KvTable *table, const Datum *key, Snapshot snapshot, KvPoint *point, bool *scan)
{
	ItemPointerData rows[KV_MAX_PROBE_ROWS];
	int			count;

	count = kv_store_probe(point->heap, point->index, &table->key, key, rows, NULL);
	*scan = count < 0;
	for (int i = 0; i < count; i++)
	{
		bool		all_dead;

		if (fetch_row(point->heap, &rows[i], snapshot, point, &all_dead))
		{
			pgstat_count_heap_fetch(point->index);
			return true;
		}
		if (all_dead)
		{
			*scan = true;
			return false;
		}
	}
	return false;
}

/*
 * Fills the view from the row found.  A string or binary that was looked for
 * is the one that is stored; a number may be stored in another form.
 */
static void
fill_view(KvTable *table, const KvLeaf *leaf, const Datum *key, KvPoint *point, KvItemView *view)
{
	TupleDesc	row_type = RelationGetDescr(point->heap);
	bool		isnull;

	view->schema = &table->key;
	for (int i = 0; i < table->key.count; i++)
	{
		if (table->key.attribute[i].type == KV_KEY_NUMBER)
			view->key[i] = heap_getattr(&point->tuple, leaf->key_attno[i], row_type, &isnull);
		else
			view->key[i] = key[i];
	}
	view->rest = DatumGetJsonbP(heap_getattr(&point->tuple, leaf->item_attno, row_type, &isnull));
}

/* Finds the row of the key with a cursor. */
static bool
scan_row(KvTable *table, const Datum *key, Snapshot snapshot, KvPoint *point, KvItemView *view)
{
	KvCursorRange range = {0};
	TupleTableSlot *slot;

	range.has_partition_key = true;
	range.key.partition_key = key[0];
	if (table->key.count > 1)
	{
		range.key.low.present = range.key.low.inclusive = true;
		range.key.low.value = key[1];
		range.key.high = range.key.low;
	}
	point->cursor = kv_cursor_open(table, point->leaf, snapshot, ForwardScanDirection);
	kv_cursor_rescan(point->cursor, &range);
	slot = kv_cursor_next(point->cursor, ForwardScanDirection);
	if (slot == NULL)
		return false;
	kv_store_view(table, kv_cursor_leaf_descriptor(point->cursor), slot, view);
	return true;
}

/* Opens a leaf for point reads. */
void
kv_store_get_begin(KvTable *table, int leaf, KvPoint *point)
{
	point->leaf = leaf;
	point->buffer = InvalidBuffer;
	point->cursor = NULL;
	point->heap = table_open(table->leaf_relid[leaf], AccessShareLock);
	point->descriptor = kv_table_leaf(table, leaf);
	point->index = index_open(point->descriptor->primary_index, AccessShareLock);
}

/* Releases the row read last. */
void
kv_store_get_release(KvPoint *point)
{
	if (BufferIsValid(point->buffer))
		ReleaseBuffer(point->buffer);
	point->buffer = InvalidBuffer;
	if (point->cursor)
		kv_cursor_close(point->cursor);
	point->cursor = NULL;
}

/* Reads the row of a key. */
bool
kv_store_get(KvTable *table, const Datum *key, Snapshot snapshot, KvPoint *point, KvItemView *view)
{
	bool		scan = true;
	bool		found = false;

	Assert(!BufferIsValid(point->buffer) && point->cursor == NULL);
	if (likely(IsMVCCSnapshot(snapshot) && !IsolationIsSerializable() && is_heap(point->heap)))
		found = probe_row(table, key, snapshot, point, &scan);
	if (found)
	{
		fill_view(table, point->descriptor, key, point, view);
		return true;
	}
	return unlikely(scan) && scan_row(table, key, snapshot, point, view);
}

/* Releases what point reads hold. */
void
kv_store_get_end(KvPoint *point)
{
	kv_store_get_release(point);
	index_close(point->index, NoLock);
	table_close(point->heap, NoLock);
}
