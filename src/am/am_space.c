/*
 * am_space.c
 *	  Free space of pages: reading, finding, recording, extending.
 *
 * The free space map is the one truth that sessions share.  Heap itself
 * records a page only when an insert found it full, so placement records more:
 * each fresh page, and each page whose free space crossed an eighth of a page.
 * RecordPageWithFreeSpace() updates the bottom level alone while a search
 * starts at the root, hence the upper levels are brought up with each fresh
 * page of a relation that has more than one bottom page.
 *
 * Locks: every function takes and releases its own buffer locks; none may be
 * held by the caller.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/datum.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* Stale entries of the free space map that a search puts right before it gives up. */
#define MAX_STALE_ENTRIES 8

/* Relations up to this many blocks surely have a single bottom page of the map. */
#define ONE_BOTTOM_PAGE (BLCKSZ / 2 - 256)

/* Returns the free bytes that heap wants on a page before it puts a row of the given length there. */
Size
kv_am_space_needed(Relation relation, Size length)
{
	Size		nearly_empty = MaxHeapTupleSize - MaxHeapTuplesPerPage / 8 * sizeof(ItemIdData);
	Size		reserve = RelationGetTargetPageFreeSpace(relation, HEAP_DEFAULT_FILLFACTOR);

	length = MAXALIGN(length);
	if (length + reserve > nearly_empty)
		return Max(length, nearly_empty);
	return length + reserve;
}

/* Returns the bytes of an empty page that inserts may fill. */
Size
kv_am_space_capacity(Relation relation)
{
	return MaxHeapTupleSize - RelationGetTargetPageFreeSpace(relation, HEAP_DEFAULT_FILLFACTOR);
}

/* Returns the free bytes of a block that must exist. */
Size
kv_am_space_of_block(Relation relation, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(relation, block);
	Page		page = BufferGetPage(buffer);
	Size		space;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	space = PageIsNew(page) ? MaxHeapTupleSize : PageGetHeapFreeSpace(page);
	UnlockReleaseBuffer(buffer);
	return space;
}

/* Returns the bytes that a row just written takes on its page. */
Size
kv_am_space_of_row(Relation relation, ItemPointer tid)
{
	Buffer		buffer = ReadBuffer(relation, ItemPointerGetBlockNumber(tid));
	Page		page = BufferGetPage(buffer);
	Size		length = 0;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (ItemPointerGetOffsetNumber(tid) <= PageGetMaxOffsetNumber(page))
		length = ItemIdGetLength(PageGetItemId(page, ItemPointerGetOffsetNumber(tid)));
	UnlockReleaseBuffer(buffer);
	return length;
}

/*
 * Finds a page with the wanted free space through the free space map; near
 * and its true free space are recorded on the way.  Returns
 * InvalidBlockNumber if there is none.
 */
BlockNumber
kv_am_space_find(Relation relation, BlockNumber near, Size near_space, Size wanted, Size *space)
{
	BlockNumber block;
	int			i;

	wanted = Min(wanted, MaxHeapTupleSize);
	if (near == InvalidBlockNumber)
		block = GetPageWithFreeSpace(relation, wanted);
	else
		block = RecordAndGetPageWithFreeSpace(relation, near, near_space, wanted);
	for (i = 0; i < MAX_STALE_ENTRIES && block != InvalidBlockNumber; i++)
	{
		*space = kv_am_space_of_block(relation, block);
		if (*space >= wanted)
			return block;
		block = RecordAndGetPageWithFreeSpace(relation, block, *space, wanted);
	}
	return InvalidBlockNumber;
}

/* Adds a page to the relation; heap initializes it when it puts the first row there. */
BlockNumber
kv_am_space_extend(Relation relation, Size *space)
{
	Buffer		buffer = kv_compat_extend_relation(relation);
	BlockNumber block = BufferGetBlockNumber(buffer);

	ReleaseBuffer(buffer);
	*space = MaxHeapTupleSize;
	return block;
}

/* Tells the free space map of a page that a row was put on. */
void
kv_am_space_record(Relation relation, BlockNumber block, Size before, Size after, bool fresh)
{
	if (!fresh && before / KV_AM_RECORD_STEP == after / KV_AM_RECORD_STEP)
		return;
	RecordPageWithFreeSpace(relation, block, after);
	if (fresh && block >= ONE_BOTTOM_PAGE)
		FreeSpaceMapVacuumRange(relation, block, block + 1);
}

/*
 * Counts the rows on a block whose key column equals that of row, byte by byte,
 * and adds up their bytes.  A row whose key is stored in another form
 * (compressed, another scale of a numeric) is missed, which is good enough.
 */
int
kv_am_space_own_rows(Relation relation, BlockNumber block, HeapTuple row, AttrNumber key, Size *bytes)
{
	TupleDesc	descriptor = RelationGetDescr(relation);
	Form_pg_attribute attribute = TupleDescAttr(descriptor, key - 1);
	bool		isnull;
	Datum		wanted = heap_getattr(row, key, descriptor, &isnull);
	Buffer		buffer = ReadBuffer(relation, block);
	Page		page = BufferGetPage(buffer);
	OffsetNumber offset;
	int			count = 0;

	*bytes = 0;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	for (offset = FirstOffsetNumber; offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleData other;
		Datum		value;

		if (!ItemIdIsNormal(item))
			continue;
		other.t_data = (HeapTupleHeader) PageGetItem(page, item);
		other.t_len = ItemIdGetLength(item);
		value = heap_getattr(&other, key, descriptor, &isnull);
		if (!isnull && datumIsEqual(value, wanted, attribute->attbyval, attribute->attlen))
		{
			count++;
			*bytes += MAXALIGN(other.t_len) + sizeof(ItemIdData);
		}
	}
	UnlockReleaseBuffer(buffer);
	return count;
}
