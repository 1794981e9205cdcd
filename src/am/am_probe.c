/*
 * am_probe.c
 *	  Finds the neighbours of a key in the primary-key btree.
 *
 * An index scan would read a whole leaf page of matching entries; placement
 * wants one.  So this descends with nbtree's own _bt_search and looks at the
 * entries beside the key's place.  Nothing found here is more than a hint:
 * dead entries serve as well as live ones, since only their block matters.
 *
 * Locks: the leaf is share-locked only while its entries are looked at, and
 * stays pinned until kv_am_probe_end.  No heap page may be locked by the
 * caller meanwhile.
 */
#include "postgres.h"

#include "access/genam.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* How many entries on either side are looked at for pages with room. */
#define NEARBY_ENTRIES 128

/*
 * Compares the partition key of an entry byte by byte; false also if it does
 * not do for that, compressed or a number in another form.
 */
static bool
same_bytes(const KvAmProbe *probe, Page page, OffsetNumber offset)
{
	IndexTuple	tuple = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
	char	   *value = (char *) tuple + IndexInfoFindDataOffset(tuple->t_info);

	return !IndexTupleHasNulls(tuple) && (!VARATT_IS_EXTENDED(value) || VARATT_IS_SHORT(value)) &&
		VARSIZE_ANY_EXHDR(value) == probe->length && memcmp(VARDATA_ANY(value), probe->bytes, probe->length) == 0;
}

/* Tells whether the entry at an offset of the leaf has the probe's partition key. */
static bool
same_collection(KvAmProbe *probe, Page page, OffsetNumber offset)
{
	int			keysz = probe->key->keysz;
	bool		same;

	if (probe->bytes != NULL && same_bytes(probe, page, offset))
		return true;
	probe->key->keysz = 1;
	same = _bt_compare(probe->index, probe->key, page, offset) == 0;
	probe->key->keysz = keysz;
	return same;
}

/* Returns the row that the entry at an offset points to. */
static ItemPointer
entry_row(Page page, OffsetNumber offset)
{
	return BTreeTupleGetHeapTID((IndexTuple) PageGetItem(page, PageGetItemId(page, offset)));
}

/* Returns the offset of the first entry on the locked leaf that is not less than the key. */
static OffsetNumber
first_not_less(KvAmProbe *probe, Page page)
{
	OffsetNumber low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber high = PageGetMaxOffsetNumber(page) + 1;

	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (_bt_compare(probe->index, probe->key, page, middle) >= 1)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the offset of the collection's first entry on the locked leaf that is before the key; the key's place if there is none. */
static OffsetNumber
first_before(KvAmProbe *probe, Page page)
{
	OffsetNumber low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber high = Min(probe->offset, PageGetMaxOffsetNumber(page) + 1);

	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (same_collection(probe, page, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Returns the offset behind the collection's last entry on the locked leaf that is behind the key; the key's place if there is none. */
static OffsetNumber
end_behind(KvAmProbe *probe, Page page)
{
	OffsetNumber high = PageGetMaxOffsetNumber(page) + 1;
	OffsetNumber low = Max(Min(probe->offset, high), P_FIRSTDATAKEY(BTPageGetOpaque(page)));

	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (same_collection(probe, page, middle))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Looks at the last entry of the page left of the leaf; a concurrent split there only costs the hint. */
static void
look_left(KvAmProbe *probe, BlockNumber left)
{
	Buffer		buffer = _bt_getbuf(probe->index, left, BT_READ);
	Page		page = BufferGetPage(buffer);
	BTPageOpaque opaque = BTPageGetOpaque(page);

	if (P_ISLEAF(opaque) && !P_IGNORE(opaque) &&
		PageGetMaxOffsetNumber(page) >= P_FIRSTDATAKEY(opaque) &&
		same_collection(probe, page, PageGetMaxOffsetNumber(page)))
		probe->neighbour = *entry_row(page, PageGetMaxOffsetNumber(page));
	_bt_relbuf(probe->index, buffer);
}

/* Makes the search key from the row's key columns; false if one is NULL, which the constraint will refuse. */
static bool
make_key(TupleTableSlot *slot, KvAmProbe *probe)
{
	int			i;

	probe->key = _bt_mkscankey(probe->index, NULL);
	_bt_metaversion(probe->index, &probe->key->heapkeyspace, &probe->key->allequalimage);
	probe->key->anynullkeys = false;
	probe->key->keysz = 2;
	for (i = 0; i < 2; i++)
	{
		ScanKey		column = &probe->key->scankeys[i];
		AttrNumber	attno = probe->index->rd_index->indkey.values[i];
		bool		isnull;

		column->sk_argument = slot_getattr(slot, attno, &isnull);
		if (isnull)
			return false;
		if (TupleDescAttr(slot->tts_tupleDescriptor, attno - 1)->attlen == -1 &&
			VARATT_IS_EXTENDED(DatumGetPointer(column->sk_argument)) &&
			!VARATT_IS_SHORT(DatumGetPointer(column->sk_argument)))
		{
			probe->detoasted[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(column->sk_argument));
			column->sk_argument = probe->detoasted[i];
		}
		column->sk_flags &= ~SK_ISNULL;
		if (i == 0 && TupleDescAttr(slot->tts_tupleDescriptor, attno - 1)->attlen == -1)
		{
			probe->bytes = VARDATA_ANY(DatumGetPointer(column->sk_argument));
			probe->length = VARSIZE_ANY_EXHDR(DatumGetPointer(column->sk_argument));
		}
	}
	return true;
}

/* Makes a probe that has not begun. */
void
kv_am_probe_init(KvAmProbe *probe)
{
	probe->index = NULL;
	probe->hint.leaf = InvalidBlockNumber;
	probe->at_end = false;
}

/*
 * Begins at the place that the caller of the insert found, if the neighbour is
 * there still.
 */
static bool
begin_at_hint(KvAmProbe *probe)
{
	const KvAmNeighbour *hint = &probe->hint;
	Buffer		buffer;
	Page		page;
	OffsetNumber last;
	bool		fits;

	if (hint->leaf == InvalidBlockNumber || !ItemPointerIsValid(&hint->row))
		return false;
	buffer = ReadBuffer(probe->index, hint->leaf);
	LockBuffer(buffer, BT_READ);
	page = BufferGetPage(buffer);
	last = PageIsNew(page) ? 0 : PageGetMaxOffsetNumber(page);
	fits = last > 0 && P_ISLEAF(BTPageGetOpaque(page)) && !P_IGNORE(BTPageGetOpaque(page)) &&
		hint->offset >= P_FIRSTDATAKEY(BTPageGetOpaque(page)) && hint->offset <= last + 1;
	if (fits)
	{
		OffsetNumber before = OffsetNumberPrev(hint->offset);

		probe->offset = hint->offset;
		probe->neighbour = hint->row;
		probe->at_end = hint->offset > last || !same_collection(probe, page, hint->offset);
		fits = (before >= P_FIRSTDATAKEY(BTPageGetOpaque(page)) &&
				ItemPointerEquals(entry_row(page, before), &probe->neighbour)) ||
			(!probe->at_end && ItemPointerEquals(entry_row(page, hint->offset), &probe->neighbour));
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (fits)
		probe->leaf = buffer;
	else
		ReleaseBuffer(buffer);
	return fits;
}

/*
 * Finds the row's place in the primary-key btree and its neighbour, the
 * predecessor if that has the same partition key, else the successor.
 */
void
kv_am_probe_begin(Relation relation, TupleTableSlot *slot, KvAmProbe *probe)
{
	BlockNumber left = InvalidBlockNumber;
	KvAmNeighbour hint = probe->hint;
	OffsetNumber first;
	Page		page;

	memset(probe, 0, sizeof(KvAmProbe));
	probe->hint = hint;
	ItemPointerSetInvalid(&probe->neighbour);
	probe->leaf = InvalidBuffer;
	probe->index = index_open(kv_compat_primary_key_index(relation), RowExclusiveLock);

	if (!make_key(slot, probe) || begin_at_hint(probe))
		return;
	_bt_freestack(kv_compat_bt_search(probe->index, relation, probe->key, &probe->leaf, BT_READ));
	probe->at_end = true;
	if (!BufferIsValid(probe->leaf))
		return;

	page = BufferGetPage(probe->leaf);
	first = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	probe->offset = first_not_less(probe, page);
	probe->at_end = probe->offset > PageGetMaxOffsetNumber(page) || !same_collection(probe, page, probe->offset);
	if (probe->offset > first && same_collection(probe, page, probe->offset - 1))
		probe->neighbour = *entry_row(page, probe->offset - 1);
	else if (!probe->at_end)
		probe->neighbour = *entry_row(page, probe->offset);
	else if (probe->offset == first && !P_LEFTMOST(BTPageGetOpaque(page)))
		left = BTPageGetOpaque(page)->btpo_prev;
	LockBuffer(probe->leaf, BUFFER_LOCK_UNLOCK);

	if (left != InvalidBlockNumber)
		look_left(probe, left);
}

/* Adds a row's block to a list without duplicates; returns the new length. */
static int
add_block(BlockNumber *blocks, int count, ItemPointer row)
{
	BlockNumber block = ItemPointerGetBlockNumber(row);
	int			i;

	for (i = count - 1; i >= 0; i--)
		if (blocks[i] == block)
			return count;
	blocks[count] = block;
	return count + 1;
}

/*
 * Lists the blocks of the rows next to the key in its collection, nearest
 * first; returns how many.  Entries on other leaves are not looked at.  Counts
 * the collection's entries on the leaf.
 */
int
kv_am_probe_nearby(KvAmProbe *probe, BlockNumber *blocks, int max_blocks)
{
	int			count = 0;
	Page		page;
	OffsetNumber first,
				last,
				before,
				after;
	int			i;

	if (!BufferIsValid(probe->leaf))
		return 0;

	LockBuffer(probe->leaf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(probe->leaf);
	/* The page may have been split or deleted while it was not locked. */
	if (P_ISLEAF(BTPageGetOpaque(page)) && !P_IGNORE(BTPageGetOpaque(page)))
	{
		first = first_before(probe, page);
		last = end_behind(probe, page) - 1;
		after = Max(first, probe->offset);
		before = Min(last, after - 1);
		probe->entries = last + 1 - first;
		for (i = 0; i < NEARBY_ENTRIES && count < max_blocks && (before >= first || after <= last); i++)
		{
			if (before >= first)
				count = add_block(blocks, count, entry_row(page, before--));
			if (after <= last && count < max_blocks)
				count = add_block(blocks, count, entry_row(page, after++));
		}
	}
	LockBuffer(probe->leaf, BUFFER_LOCK_UNLOCK);
	return count;
}

/* Lets go of the leaf and the index. */
void
kv_am_probe_end(KvAmProbe *probe)
{
	int			i;

	if (probe->index == NULL)
		return;
	if (BufferIsValid(probe->leaf))
		ReleaseBuffer(probe->leaf);
	for (i = 0; i < 2; i++)
		if (probe->detoasted[i] != 0)
			pfree(DatumGetPointer(probe->detoasted[i]));
	pfree(probe->key);
	index_close(probe->index, RowExclusiveLock);
	probe->index = NULL;
}
