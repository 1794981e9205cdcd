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

/*
 * Tells whether rows may be looked up through the probe: a leaf that is a heap
 * underneath, so that its pages may be read as such, and no predicate locks.
 */
bool
kv_store_can_probe(Relation heap, Snapshot snapshot)
{
	return IsMVCCSnapshot(snapshot) && !IsolationIsSerializable() &&
		(kv_am_is_key_value(heap) || heap->rd_tableam == GetHeapamTableAmRoutine());
}

/* Looks for the version of a row that the snapshot sees; its page stays pinned in *pinned if there is one. */
static bool
fetch_version(Relation heap, ItemPointer row, Snapshot snapshot, HeapTuple tuple, Buffer *pinned, bool *all_dead)
{
	Buffer		buffer = ReadBuffer(heap, ItemPointerGetBlockNumber(row));
	bool		found;

	heap_page_prune_opt(heap, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	found = heap_hot_search_buffer(row, heap, buffer, snapshot, tuple, all_dead, true);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	if (found)
		*pinned = buffer;
	else
		ReleaseBuffer(buffer);
	return found;
}

/* Finds the row of the key through the index; false also where a scan has to look (*scan). */
static bool
probe_row(Relation heap, Relation index, const KvKeySchema *schema, const Datum *key, Snapshot snapshot,
		  HeapTuple tuple, Buffer *pinned, bool *scan)
{
	ItemPointerData rows[KV_MAX_PROBE_ROWS];
	int			count = kv_store_probe(heap, index, schema, key, rows, NULL);

	*scan = count < 0;
	for (int i = 0; i < count; i++)
	{
		bool		all_dead;

		if (fetch_version(heap, &rows[i], snapshot, tuple, pinned, &all_dead))
		{
			pgstat_count_heap_fetch(index);
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

/* Puts the row of a key into a slot of the leaf's. */
bool
kv_store_fetch(Relation heap, Relation index, const KvKeySchema *schema, const Datum *key,
			   Snapshot snapshot, TupleTableSlot *slot, bool *scan)
{
	BufferHeapTupleTableSlot *heap_slot = (BufferHeapTupleTableSlot *) slot;
	Buffer		pinned;

	Assert(TTS_IS_BUFFERTUPLE(slot) && TTS_EMPTY(slot));
	if (!probe_row(heap, index, schema, key, snapshot, &heap_slot->base.tupdata, &pinned, scan))
		return false;
	ExecStorePinnedBufferHeapTuple(&heap_slot->base.tupdata, slot, pinned);
	return true;
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
	KvCursorRange range = {.has_partition_key = true};
	TupleTableSlot *slot;

	kv_key_range_set(&range.key, &table->key, key);
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
	if (likely(kv_store_can_probe(point->heap, snapshot)))
		found = probe_row(point->heap, point->index, &table->key, key, snapshot,
						  &point->tuple, &point->buffer, &scan);
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
