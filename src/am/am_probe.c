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
#define NEARBY_ENTRIES 16

/* Tells whether the entry at an offset of the leaf has the probe's partition key. */
static bool
same_collection(KvAmProbe *probe, Page page, OffsetNumber offset)
{
	int			keysz = probe->key->keysz;
	bool		same;

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

		if (_bt_compare(probe->index, probe->key, page, middle) > 0)
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
	}
	return true;
}

/*
 * Finds the row's place in the primary-key btree and its neighbour, the
 * predecessor if that has the same partition key, else the successor.
 */
void
kv_am_probe_begin(Relation relation, TupleTableSlot *slot, KvAmProbe *probe)
{
	BlockNumber left = InvalidBlockNumber;
	OffsetNumber first;
	Page		page;

	memset(probe, 0, sizeof(KvAmProbe));
	ItemPointerSetInvalid(&probe->neighbour);
	probe->leaf = InvalidBuffer;
	probe->index = index_open(kv_compat_primary_key_index(relation), RowExclusiveLock);

	if (!make_key(slot, probe))
		return;
	_bt_freestack(kv_compat_bt_search(probe->index, relation, probe->key, &probe->leaf, BT_READ));
	if (!BufferIsValid(probe->leaf))
		return;

	page = BufferGetPage(probe->leaf);
	first = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	probe->offset = first_not_less(probe, page);
	if (probe->offset > first && same_collection(probe, page, probe->offset - 1))
		probe->neighbour = *entry_row(page, probe->offset - 1);
	else if (probe->offset <= PageGetMaxOffsetNumber(page) && same_collection(probe, page, probe->offset))
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

	for (i = 0; i < count; i++)
		if (blocks[i] == block)
			return count;
	blocks[count] = block;
	return count + 1;
}

/*
 * Lists the blocks of the rows next to the key in its collection, nearest
 * first; returns how many.  The neighbour's own block is the first.
 */
int
kv_am_probe_nearby(KvAmProbe *probe, BlockNumber *blocks, int max_blocks)
{
	int			count = 0;
	Page		page;
	BTPageOpaque opaque;
	OffsetNumber before,
				after,
				first,
				last;
	int			i;

	if (ItemPointerIsValid(&probe->neighbour))
		count = add_block(blocks, count, &probe->neighbour);
	if (!BufferIsValid(probe->leaf))
		return count;

	LockBuffer(probe->leaf, BUFFER_LOCK_SHARE);
	page = BufferGetPage(probe->leaf);
	opaque = BTPageGetOpaque(page);
	/* The page may have been split or deleted while it was not locked. */
	first = P_FIRSTDATAKEY(opaque);
	last = P_ISLEAF(opaque) && !P_IGNORE(opaque) ? PageGetMaxOffsetNumber(page) : 0;
	before = Min(probe->offset - 1, last);
	after = probe->offset;
	for (i = 0; i < NEARBY_ENTRIES && count < max_blocks; i++)
	{
		if (before < first && after > last)
			break;
		if (before >= first)
		{
			if (same_collection(probe, page, before))
				count = add_block(blocks, count, entry_row(page, before--));
			else
				before = 0;
		}
		if (after <= last && count < max_blocks)
		{
			if (same_collection(probe, page, after))
				count = add_block(blocks, count, entry_row(page, after++));
			else
				after = MaxOffsetNumber;
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
