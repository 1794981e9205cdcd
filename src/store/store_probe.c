/*
 * store_probe.c
 *	  From a whole key to the rows that may bear it: one descent of the
 *	  primary-key btree.
 *
 * An index scan reads a leaf page's matching entries into a work area and
 * compares through the function manager.  For one key neither is needed: this
 * goes down nbtree's pages itself, comparing bytes in place.  It follows the
 * rules of nbtree/README as _bt_search() and _bt_moveright() do, share-locks
 * one page at a time and holds none when it returns.
 *
 * A key has one live row but may have entries of dead ones as well.  Where
 * they are many, or the key's entries may go on to the next page, or the
 * index is of a format from before PostgreSQL 12, the probe gives up and the
 * caller scans; scanning also marks what is dead.
 */
#include "postgres.h"

#include "access/itup.h"
#include "access/nbtree.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "store/store_internal.h"

/* A key value, taken apart for comparing. */
typedef struct ProbeValue
{
	KvKeyType	type;
	Datum		value;
	const char *data;			/* of text and bytea */
	int			length;
} ProbeValue;

/* A key to look for. */
typedef struct ProbeKey
{
	int			count;
	ProbeValue	value[KV_MAX_KEYS];
} ProbeKey;

/* Takes a key apart. */
static void
take_apart(const KvKeySchema *schema, const Datum *key, ProbeKey *probe)
{
	probe->count = schema->count;
	for (int i = 0; i < schema->count; i++)
	{
		ProbeValue *value = &probe->value[i];

		value->type = schema->attribute[i].type;
		value->value = key[i];
		if (value->type != KV_KEY_NUMBER)
		{
			value->data = VARDATA_ANY(DatumGetPointer(key[i]));
			value->length = VARSIZE_ANY_EXHDR(DatumGetPointer(key[i]));
		}
	}
}

/* Orders bytes as text COLLATE "C" and bytea do. */
static inline int
compare_bytes(const ProbeValue *value, const char *data, int length)
{
	int			order = memcmp(value->data, data, Min(value->length, length));

	if (order == 0)
		order = value->length - length;
	return order;
}

/* Compares a key value with a number or a compressed value that is stored in the index. */
static pg_noinline int
compare_unusual(const ProbeValue *value, struct varlena *stored)
{
	struct varlena *plain;
	int			order;

	if (value->type == KV_KEY_NUMBER)
		return DatumGetInt32(DirectFunctionCall2(numeric_cmp, value->value, PointerGetDatum(stored)));

	plain = pg_detoast_datum_packed(stored);
	order = compare_bytes(value, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
	if (plain != stored)
		pfree(plain);
	return order;
}

/* Compares a key value with one that is stored in the index. */
static inline int
compare_value(const ProbeValue *value, struct varlena *stored)
{
	if (likely(VARATT_IS_1B(stored) && value->type != KV_KEY_NUMBER))
		return compare_bytes(value, VARDATA_1B(stored), VARSIZE_1B(stored) - VARHDRSZ_SHORT);
	return compare_unusual(value, stored);
}

/*
 * Compares the first values of the key with those of an index tuple.
 *
 * Key columns are not null and of variable length, so the second begins
 * where the first ends, aligned unless its header is short.
 */
static pg_attribute_always_inline int
compare_values(const ProbeKey *probe, int count, IndexTuple tuple)
{
	char	   *data = (char *) tuple + IndexInfoFindDataOffset(tuple->t_info);

	for (int i = 0; i < count; i++)
	{
		int			order;

		if (i > 0)
		{
			data += VARSIZE_ANY(data);
			if (!VARATT_NOT_PAD_BYTE(data))
				data = (char *) INTALIGN(data);
		}
		order = compare_value(&probe->value[i], (struct varlena *) data);
		if (order != 0)
			return order;
	}
	return 0;
}

/* Compares the key with an entry of a leaf page, which has all values. */
static pg_attribute_always_inline int
compare_entry(const ProbeKey *probe, Page page, OffsetNumber offset)
{
	return compare_values(probe, probe->count, (IndexTuple) PageGetItem(page, PageGetItemId(page, offset)));
}

/*
 * Compares the key with any index tuple, as _bt_compare() does for a scan key
 * without a row: attributes that were truncated are less than any value, and
 * a pivot tuple without a row is less than a key that equals its attributes.
 */
static pg_attribute_always_inline int
compare_tuple(const ProbeKey *probe, Relation index, Page page, OffsetNumber offset)
{
	IndexTuple	tuple = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
	int			stored_count = BTreeTupleGetNAtts(tuple, index);
	int			order = compare_values(probe, Min(probe->count, stored_count), tuple);

	if (order != 0)
		return order;
	if (probe->count > stored_count)
		return 1;
	if (BTreeTupleIsPivot(tuple) && BTreeTupleGetHeapTID(tuple) == NULL)
		return 1;
	return 0;
}

/* Returns the offset of the first entry of a leaf page that is not less than the key. */
static OffsetNumber
first_entry(const ProbeKey *probe, Page page)
{
	uint32		low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	uint32		high = PageGetMaxOffsetNumber(page) + 1;

	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (compare_entry(probe, page, middle) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the offset of the downlink of an inner page to follow for the key. */
static OffsetNumber
find_downlink(const ProbeKey *probe, Relation index, Page page)
{
	uint32		low = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	uint32		high = PageGetMaxOffsetNumber(page) + 1;

	/* the first one stands for minus infinity */
	if (low < high)
		low++;
	while (low < high)
	{
		uint32		middle = (low + high) / 2;

		if (compare_tuple(probe, index, page, middle) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return OffsetNumberPrev(low);
}

/*
 * Moves right to the page that the key belongs to, past pages that are being
 * deleted and splits that happened since the downlink was read.  *order tells
 * how the key compares with the page's high key.
 */
static Buffer
move_right(const ProbeKey *probe, Relation index, Buffer buffer, int *order)
{
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BTPageOpaque opaque = BTPageGetOpaque(page);

		*order = -1;
		if (P_RIGHTMOST(opaque))
		{
			if (unlikely(P_IGNORE(opaque)))
				elog(ERROR, "fell off the end of index \"%s\"", RelationGetRelationName(index));
			return buffer;
		}
		if (likely(!P_IGNORE(opaque)))
		{
			*order = compare_tuple(probe, index, page, P_HIKEY);
			if (*order <= 0)
				return buffer;
		}
		buffer = _bt_relandgetbuf(index, buffer, opaque->btpo_next, BT_READ);
	}
}

/* In which buffers root pages were; direct-mapped by the index's OID, and only a guess. */
static Buffer recent_roots[512];

/* How many root pages are found by the guess until one is looked up, which is what lets it count as used. */
#define KV_GUESSED_ROOTS 31

/*
 * Returns the root page, locked; InvalidBuffer for an empty index.
 *
 * The page is where nbtree last found it (rd_amcache), most often in the same
 * buffer still.  What _bt_getroot() checks is checked here too.
 */
static Buffer
get_root(Relation heap, Relation index)
{
	static int	guessed = 0;
	Buffer	   *recent = &recent_roots[RelationGetRelid(index) % lengthof(recent_roots)];
	BTMetaPageData *meta = index->rd_amcache;

	if (likely(meta != NULL && BufferIsValid(*recent) && guessed < KV_GUESSED_ROOTS) &&
		kv_compat_read_recent(index, meta->btm_fastroot, *recent))
	{
		BTPageOpaque opaque;

		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		guessed++;
		LockBuffer(*recent, BT_READ);
		_bt_checkpage(index, *recent);
		opaque = BTPageGetOpaque(BufferGetPage(*recent));
		if (likely(!P_IGNORE(opaque) && opaque->btpo_level == meta->btm_fastlevel &&
				   P_LEFTMOST(opaque) && P_RIGHTMOST(opaque)))
			return *recent;
		_bt_relbuf(index, *recent);
	}
	guessed = 0;
	*recent = kv_compat_bt_getroot(index, heap, BT_READ);
	return *recent;
}

/* Goes down to the leaf page that holds the first entry of the key, if there is one; InvalidBuffer for an empty index. */
static Buffer
find_leaf(const ProbeKey *probe, Relation heap, Relation index, int *high_order)
{
	Buffer		buffer = get_root(heap, index);

	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	for (;;)
	{
		Page		page;
		BTPageOpaque opaque;
		OffsetNumber offset;
		IndexTuple	downlink;

		buffer = move_right(probe, index, buffer, high_order);
		page = BufferGetPage(buffer);
		opaque = BTPageGetOpaque(page);
		if (P_ISLEAF(opaque))
			return buffer;

		offset = find_downlink(probe, index, page);
		downlink = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
		buffer = _bt_relandgetbuf(index, buffer, BTreeTupleGetDownLink(downlink), BT_READ);
	}
}

/* Tells whether an entry of a leaf page has the key's partition key. */
static bool
same_collection(const ProbeKey *probe, Page page, OffsetNumber offset)
{
	IndexTuple	tuple = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
	char	   *data = (char *) tuple + IndexInfoFindDataOffset(tuple->t_info);

	return compare_value(&probe->value[0], (struct varlena *) data) == 0;
}

/* Takes an entry's row as the neighbour. */
static void
take_neighbour(Page page, OffsetNumber offset, KvNeighbour *neighbour)
{
	IndexTuple	tuple = (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));

	neighbour->place.row = *BTreeTupleGetHeapTID(tuple);
	neighbour->known = true;
}

/*
 * Finds the neighbour of the key on a locked leaf page: the predecessor in
 * its collection, else the successor.  Not known where another page has it.
 */
static void
find_neighbour(const ProbeKey *probe, Page page, OffsetNumber offset, KvNeighbour *neighbour)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber first = P_FIRSTDATAKEY(opaque);

	neighbour->known = false;
	if (offset > first && same_collection(probe, page, OffsetNumberPrev(offset)))
		take_neighbour(page, OffsetNumberPrev(offset), neighbour);
	else if (offset <= PageGetMaxOffsetNumber(page) && same_collection(probe, page, offset))
		take_neighbour(page, offset, neighbour);
	else if (offset > first || P_LEFTMOST(opaque))
	{
		ItemPointerSetInvalid(&neighbour->place.row);
		neighbour->known = true;
	}
}

/*
 * Collects the rows of the key from a locked leaf page.  Entries marked dead
 * are passed over, except in a transaction that began in recovery, as
 * RelationGetIndexScan() explains.
 */
static int
collect_rows(const ProbeKey *probe, Page page, OffsetNumber offset, ItemPointer rows)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	bool		skip_dead = !TransactionStartedDuringRecovery();
	int			count = 0;

	for (; offset <= last; offset = OffsetNumberNext(offset))
	{
		ItemId		item = PageGetItemId(page, offset);
		IndexTuple	tuple = (IndexTuple) PageGetItem(page, item);
		int			row_count = 1;
		ItemPointer row = &tuple->t_tid;

		if (skip_dead && ItemIdIsDead(item))
			continue;
		if (compare_entry(probe, page, offset) != 0)
			break;
		if (BTreeTupleIsPosting(tuple))
		{
			row_count = BTreeTupleGetNPosting(tuple);
			row = BTreeTupleGetPosting(tuple);
		}
		if (count + row_count > KV_MAX_PROBE_ROWS)
			return -1;
		memcpy(&rows[count], row, sizeof(ItemPointerData) * row_count);
		count += row_count;
	}
	return count;
}

/*
 * Finds the rows that the primary key's entries for a key point to, dead or
 * alive, at most KV_MAX_PROBE_ROWS.  Returns their number, or -1 if the
 * caller has to scan instead.
 */
int
kv_store_probe(Relation heap, Relation index, const KvKeySchema *schema, const Datum *key,
			   ItemPointer rows, KvNeighbour *neighbour)
{
	ProbeKey	probe;
	Buffer		buffer;
	int			high_order;
	int			count = -1;
	bool		heap_key_space;
	bool		all_equal_image;

	if (neighbour)
		neighbour->known = false;
	_bt_metaversion(index, &heap_key_space, &all_equal_image);
	if (unlikely(!heap_key_space))
		return -1;

	take_apart(schema, key, &probe);
	pgstat_count_index_scan(index);
	buffer = find_leaf(&probe, heap, index, &high_order);
	if (!BufferIsValid(buffer))
		return 0;
	/* the entries of a key that equals the high key go on to the right */
	if (likely(high_order != 0))
	{
		Page		page = BufferGetPage(buffer);
		OffsetNumber offset = first_entry(&probe, page);

		count = collect_rows(&probe, page, offset, rows);
		if (neighbour && count == 0)
		{
			find_neighbour(&probe, page, offset, neighbour);
			neighbour->place.leaf = BufferGetBlockNumber(buffer);
			neighbour->place.offset = offset;
		}
	}
	_bt_relbuf(index, buffer);
	if (count > 0)
		pgstat_count_index_tuples(index, count);
	return count;
}
