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

/*
 * Tells whether another version of a row would find no room on its page unless
 * dead ones are removed.  Where its length is not known it may grow by half; if
 * it grows by more, it is put elsewhere although there might have been room.
 */
static bool
lacks_room(const KvLookup *lookup, Page page, Size room, HeapTuple tuple)
{
	Size		needed = tuple->t_len + tuple->t_len / 2;

	if (lookup->next_length > 0)
		needed = Min(needed, lookup->next_length);
	return room < MAXALIGN(needed) && TransactionIdIsValid(((PageHeader) page)->pd_prune_xid);
}

/* Looks for the version of a row that the snapshot sees on its locked page, and tells how much room there is beside it. */
static bool
search_page(const KvLookup *lookup, const ItemPointerData *row, Buffer buffer, HeapTuple tuple, Size *room, bool *all_dead)
{
	ItemPointerData version = *row;
	bool		found;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	found = heap_hot_search_buffer(&version, lookup->heap, buffer, lookup->snapshot, tuple, all_dead, true);
	if (found && lookup->pruning == KV_PRUNE_FOR_CHANGE)
		*room = PageGetHeapFreeSpace(BufferGetPage(buffer));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return found;
}

/* Looks for the version of a row that the snapshot sees; its page stays pinned in *pinned if there is one. */
static bool
fetch_version(const KvLookup *lookup, const ItemPointerData *row, HeapTuple tuple, Buffer *pinned, bool *all_dead)
{
	Buffer		buffer = ReadBuffer(lookup->heap, ItemPointerGetBlockNumber(row));
	Size		room = 0;
	bool		found;

	if (lookup->pruning == KV_PRUNE_USUALLY)
		heap_page_prune_opt(lookup->heap, buffer);
	found = search_page(lookup, row, buffer, tuple, &room, all_dead);
	if (found && lookup->pruning == KV_PRUNE_FOR_CHANGE && lacks_room(lookup, BufferGetPage(buffer), room, tuple))
	{
		/* it moves the tuples of the page */
		heap_page_prune_opt(lookup->heap, buffer);
		found = search_page(lookup, row, buffer, tuple, &room, all_dead);
	}
	if (found)
		*pinned = buffer;
	else
		ReleaseBuffer(buffer);
	if (lookup->room)
		*lookup->room = room;
	return found;
}

/* Finds the row of the key through the index; false also where a scan has to look (*scan). */
static bool
probe_row(const KvLookup *lookup, const Datum *key, HeapTuple tuple, Buffer *pinned, bool *scan)
{
	ItemPointerData rows[KV_MAX_PROBE_ROWS];
	int			count = kv_store_probe(lookup->heap, lookup->index, lookup->schema, key, rows, lookup->neighbour);

	*scan = count < 0;
	for (int i = 0; i < count; i++)
	{
		bool		all_dead;

		if (fetch_version(lookup, &rows[i], tuple, pinned, &all_dead))
		{
			pgstat_count_heap_fetch(lookup->index);
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
kv_store_fetch(const KvLookup *lookup, const Datum *key, TupleTableSlot *slot, bool *scan)
{
	BufferHeapTupleTableSlot *heap_slot = (BufferHeapTupleTableSlot *) slot;
	Buffer		pinned;

	Assert(TTS_IS_BUFFERTUPLE(slot) && TTS_EMPTY(slot));
	if (!probe_row(lookup, key, &heap_slot->base.tupdata, &pinned, scan))
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
	point->pruning = KV_PRUNE_USUALLY;
	point->blocks = 0;
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
	{
		KvLookup	lookup = {point->heap, point->index, &table->key, snapshot, point->pruning};

		found = probe_row(&lookup, key, &point->tuple, &point->buffer, &scan);
	}
	if (found)
	{
		fill_view(table, point->descriptor, key, point, view);
		return true;
	}
	return unlikely(scan) && scan_row(table, key, snapshot, point, view);
}

/* Tells whether a leaf, which does not shrink while it is locked, has a block. */
static bool
has_block(KvPoint *point, BlockNumber block)
{
	if (block >= point->blocks)
		point->blocks = RelationGetNumberOfBlocks(point->heap);
	return block < point->blocks;
}

/* Reads the row at a place of a pinned page if the snapshot sees it. */
static bool
read_place(const ItemPointerData *place, Buffer buffer, Snapshot snapshot, Relation heap, HeapTuple tuple)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber offset = ItemPointerGetOffsetNumber(place);
	bool		visible = false;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page) && offset <= PageGetMaxOffsetNumber(page) && ItemIdIsNormal(PageGetItemId(page, offset)))
	{
		ItemId		item = PageGetItemId(page, offset);

		tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple->t_len = ItemIdGetLength(item);
		tuple->t_self = *place;
		tuple->t_tableOid = RelationGetRelid(heap);
		visible = HeapTupleSatisfiesVisibility(tuple, snapshot, buffer);
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return visible;
}

/* Tells whether the row that was read has a key. */
static bool
has_key(const KvTable *table, const KvPoint *point, const Datum *key)
{
	for (int i = 0; i < table->key.count; i++)
	{
		bool		isnull;
		Datum		value = heap_getattr((HeapTuple) &point->tuple, point->descriptor->key_attno[i],
										 RelationGetDescr(point->heap), &isnull);

		if (isnull || kv_key_compare(table->key.attribute[i].type, value, key[i]) != 0)
			return false;
	}
	return true;
}

/* Reads the row of a key where it was put once: a row of the key that the snapshot sees is the row. */
bool
kv_store_get_at(KvTable *table, const Datum *key, const ItemPointerData *place, Snapshot snapshot,
				KvPoint *point, KvItemView *view)
{
	Buffer		buffer;

	Assert(!BufferIsValid(point->buffer) && point->cursor == NULL);
	if (!ItemPointerIsValid(place) || !kv_store_can_probe(point->heap, snapshot) ||
		!has_block(point, ItemPointerGetBlockNumber(place)))
		return false;
	buffer = ReadBuffer(point->heap, ItemPointerGetBlockNumber(place));
	if (!read_place(place, buffer, snapshot, point->heap, &point->tuple) || !has_key(table, point, key))
	{
		ReleaseBuffer(buffer);
		return false;
	}
	point->buffer = buffer;
	fill_view(table, point->descriptor, key, point, view);
	return true;
}

/* Releases what point reads hold. */
void
kv_store_get_end(KvPoint *point)
{
	kv_store_get_release(point);
	index_close(point->index, NoLock);
	table_close(point->heap, NoLock);
}
