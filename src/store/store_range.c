/*
 * store_range.c
 *	  The cursor over one leaf's key btree, in key order, both directions.
 *
 * A cursor opens the leaf and its index once; every rescan only fills scan
 * keys anew.  The operators are those of core's default btree operator
 * families for the three key types, which is what a primary key is made of,
 * so nothing is looked up in a catalog.
 *
 * Scan keys of a range, in index column order:
 *	  partition key =, then at most one low bound, one high bound and one
 *	  exclusive start on the sort key; or, for a whole leaf, nothing or the
 *	  row comparison (partition key, sort key) > (a, b).
 * The btree drops the redundant ones itself.
 *
 * An index scan is opened when first needed, for the greatest number of keys,
 * and told before each rescan how many it has (IndexScanDesc.numberOfKeys),
 * which the btree reads at rescan only.
 *
 * A range that is one whole key needs no index scan where a point read finds
 * its row (store_get.c); where that gives up, the scan is started after all.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "store/store_internal.h"

/* partition key, low bound, high bound, exclusive start */
#define KV_MAX_SCAN_KEYS 4

struct KvCursor
{
	KvTable    *table;
	const KvLeaf *leaf;
	const KvKeySchema *schema;	/* key columns of the index */
	MemoryContext context;		/* what the scan allocates on its way has to stay as long as it */
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	IndexScanDesc scan;			/* NULL: not needed yet */
	TupleTableSlot *slot;
	ScanDirection direction;
	bool		primary;		/* reads the primary key, not a local index */
	bool		point;			/* the range is one key, its row is looked up without a scan .. */
	bool		on_row;			/* .. and was returned last */
	Datum		point_key[KV_MAX_KEYS];
	void	   *detoasted[KV_MAX_KEYS]; /* copies of point_key to free, or NULL */
	bool		empty;			/* the range can hold nothing */
	ScanDirection ended;		/* the direction in which the end was met, or none */
	ScanKeyData row[KV_MAX_KEYS];	/* members of the row comparison */
};

/* Comparison functions of one key type, by btree strategy; index 0 is the support function. */
typedef struct KvKeyOperators
{
	bool		ready;
	FmgrInfo	function[BTMaxStrategyNumber + 1];
} KvKeyOperators;

static KvKeyOperators string_operators;
static KvKeyOperators number_operators;
static KvKeyOperators binary_operators;

static const Oid string_functions[] = {
	F_BTTEXTCMP, F_TEXT_LT, F_TEXT_LE, F_TEXTEQ, F_TEXT_GE, F_TEXT_GT
};
static const Oid number_functions[] = {
	F_NUMERIC_CMP, F_NUMERIC_LT, F_NUMERIC_LE, F_NUMERIC_EQ, F_NUMERIC_GE, F_NUMERIC_GT
};
static const Oid binary_functions[] = {
	F_BYTEACMP, F_BYTEALT, F_BYTEALE, F_BYTEAEQ, F_BYTEAGE, F_BYTEAGT
};

/* Returns the comparison functions of a key type, kept for the session. */
static KvKeyOperators *
key_operators(KvKeyType type)
{
	KvKeyOperators *operators;
	const Oid  *functions;

	switch (type)
	{
		case KV_KEY_STRING:
			operators = &string_operators;
			functions = string_functions;
			break;
		case KV_KEY_NUMBER:
			operators = &number_operators;
			functions = number_functions;
			break;
		case KV_KEY_BINARY:
			operators = &binary_operators;
			functions = binary_functions;
			break;
		default:
			elog(ERROR, "unknown key type %d", (int) type);
	}

	if (unlikely(!operators->ready))
	{
		for (int i = 0; i <= BTMaxStrategyNumber; i++)
			fmgr_info_cxt(functions[i], &operators->function[i], TopMemoryContext);
		operators->ready = true;
	}
	return operators;
}

/* Fills one scan key; strategy 0 with SK_ROW_MEMBER flags takes the support function. */
static inline void
fill_scan_key(ScanKey key, const KvKeySchema *schema, int column, int flags,
			  StrategyNumber strategy, Datum value)
{
	KvKeyType	type = schema->attribute[column].type;
	KvKeyOperators *operators = key_operators(type);

	key->sk_flags = flags;
	key->sk_attno = column + 1;
	key->sk_strategy = strategy;
	key->sk_subtype = InvalidOid;
	key->sk_collation = type == KV_KEY_STRING ? C_COLLATION_OID : InvalidOid;
	key->sk_func = operators->function[(flags & SK_ROW_MEMBER) ? 0 : strategy];
	key->sk_argument = value;
}

/* Fills a scan key for equality on a key column, for the other files of the store. */
void
kv_store_fill_equal_key(ScanKey key, const KvKeySchema *schema, int column, Datum value)
{
	fill_scan_key(key, schema, column, 0, BTEqualStrategyNumber, value);
}

/* Fills the comparison (column, .., last column) > or < the start, a row comparison where that is more than one. */
static void
fill_start_key(KvCursor *cursor, ScanKey key, int column, StrategyNumber strategy, const Datum *start)
{
	int			last = cursor->schema->count - 1;

	if (column == last)
	{
		fill_scan_key(key, cursor->schema, column, 0, strategy, start[column]);
		return;
	}
	for (int i = column; i <= last; i++)
		fill_scan_key(&cursor->row[i - column], cursor->schema, i,
					  i == last ? SK_ROW_MEMBER | SK_ROW_END : SK_ROW_MEMBER, strategy, start[i]);

	MemSet(key, 0, sizeof(ScanKeyData));
	key->sk_flags = SK_ROW_HEADER;
	key->sk_attno = column + 1;
	key->sk_strategy = strategy;
	key->sk_argument = PointerGetDatum(cursor->row);
}

/* Fills the scan keys of a range and returns their number. */
static int
fill_range(KvCursor *cursor, const KvCursorRange *range, ScanKey keys)
{
	const KvKeySchema *schema = cursor->schema;
	StrategyNumber behind = ScanDirectionIsForward(cursor->direction) ?
		BTGreaterStrategyNumber : BTLessStrategyNumber;
	int			count = 0;

	if (!range->has_partition_key)
	{
		if (range->has_start)
			fill_start_key(cursor, &keys[count++], 0, behind, range->start);
		return count;
	}

	fill_scan_key(&keys[count++], schema, 0, 0, BTEqualStrategyNumber, range->key.partition_key);
	if (schema->count == 1)
	{
		/* one item a collection: behind its key there is nothing */
		cursor->empty = range->has_start;
		return count;
	}

	if (kv_key_range_is_point(&range->key))
		fill_scan_key(&keys[count++], schema, 1, 0, BTEqualStrategyNumber, range->key.low.value);
	else
	{
		if (range->key.low.present)
			fill_scan_key(&keys[count++], schema, 1, 0,
						  range->key.low.inclusive ? BTGreaterEqualStrategyNumber : BTGreaterStrategyNumber,
						  range->key.low.value);
		if (range->key.high.present)
			fill_scan_key(&keys[count++], schema, 1, 0,
						  range->key.high.inclusive ? BTLessEqualStrategyNumber : BTLessStrategyNumber,
						  range->key.high.value);
	}
	if (range->has_start)
		fill_start_key(cursor, &keys[count++], 1, behind, range->start);
	return count;
}

/* Opens a cursor over the primary key of one leaf, or over one of its local indexes. */
static KvCursor *
open_cursor(KvTable *table, const KvIndex *index, int leaf, Snapshot snapshot, ScanDirection direction)
{
	KvCursor   *cursor = palloc0(sizeof(KvCursor));
	Oid			btree;

	cursor->table = table;
	cursor->schema = index ? &index->key : &table->key;
	cursor->context = CurrentMemoryContext;
	cursor->snapshot = snapshot;
	cursor->direction = direction;
	cursor->primary = index == NULL;
	cursor->heap = table_open(table->leaf_relid[leaf], AccessShareLock);
	cursor->leaf = kv_table_leaf(table, leaf);
	btree = index ? cursor->leaf->local_index[index - table->local] : cursor->leaf->primary_index;
	if (!OidIsValid(btree))
		elog(ERROR, "could not find the local index %u of relation \"%s\"", index->relid,
			 RelationGetRelationName(cursor->heap));
	cursor->index = index_open(btree, AccessShareLock);
	cursor->slot = table_slot_create(cursor->heap, NULL);
	return cursor;
}

/* Opens a cursor over one leaf of the table. */
KvCursor *
kv_cursor_open(KvTable *table, int leaf, Snapshot snapshot, ScanDirection direction)
{
	return open_cursor(table, NULL, leaf, snapshot, direction);
}

/* Opens a cursor over one leaf in the order of a local index. */
KvCursor *
kv_cursor_open_local(KvTable *table, const KvIndex *index, int leaf, Snapshot snapshot, ScanDirection direction)
{
	return open_cursor(table, index, leaf, snapshot, direction);
}

/* Frees the copies of the point's key. */
static void
forget_point(KvCursor *cursor)
{
	cursor->point = cursor->on_row = false;
	for (int i = 0; i < KV_MAX_KEYS; i++)
	{
		if (unlikely(cursor->detoasted[i] != NULL))
			pfree(cursor->detoasted[i]);
		cursor->detoasted[i] = NULL;
	}
}

/* Keeps the key of a range that is one whole key for a point read; false if it is none. */
static bool
set_point(KvCursor *cursor, const KvCursorRange *range)
{
	int			count = cursor->schema->count;

	if (!cursor->primary || !range->has_partition_key || range->has_start || count > 2 ||
		(count == 2 && !kv_key_range_is_point(&range->key)) ||
		!kv_store_can_probe(cursor->heap, cursor->snapshot))
		return false;

	cursor->point_key[0] = range->key.partition_key;
	cursor->point_key[1] = range->key.low.value;
	for (int i = 0; i < count; i++)
	{
		struct varlena *packed = PG_DETOAST_DATUM_PACKED(cursor->point_key[i]);

		if (unlikely(PointerGetDatum(packed) != cursor->point_key[i]))
			cursor->detoasted[i] = packed;
		cursor->point_key[i] = PointerGetDatum(packed);
	}
	cursor->point = true;
	return true;
}

/* Starts the index scan of a range. */
static void
start_scan(KvCursor *cursor, const KvCursorRange *range)
{
	ScanKeyData keys[KV_MAX_SCAN_KEYS];
	int			count = fill_range(cursor, range, keys);

	Assert(count <= KV_MAX_SCAN_KEYS);
	if (cursor->scan == NULL)
		cursor->scan = kv_compat_index_beginscan(cursor->heap, cursor->index, cursor->snapshot, KV_MAX_SCAN_KEYS);
	cursor->scan->numberOfKeys = count;
	index_rescan(cursor->scan, keys, count, NULL, 0);
}

/* Positions the cursor at the start of a range. */
void
kv_cursor_rescan(KvCursor *cursor, const KvCursorRange *range)
{
	MemoryContext caller = MemoryContextSwitchTo(cursor->context);

	cursor->empty = false;
	cursor->ended = NoMovementScanDirection;
	ExecClearTuple(cursor->slot);
	forget_point(cursor);
	if (!set_point(cursor, range))
		start_scan(cursor, range);
	MemoryContextSwitchTo(caller);
}

/* Returns the next row of a range that is one key: it is before or behind the one row there may be. */
static bool
next_of_point(KvCursor *cursor, ScanDirection direction)
{
	KvLookup	lookup = {cursor->heap, cursor->index, cursor->schema, cursor->snapshot, KV_PRUNE_USUALLY};
	bool		scan = false;
	bool		found;

	if (cursor->on_row)
	{
		cursor->on_row = false;
		ExecClearTuple(cursor->slot);
		return false;
	}
	found = kv_store_fetch(&lookup, cursor->point_key, cursor->slot, &scan);
	if (unlikely(scan))
	{
		KvCursorRange range = {.has_partition_key = true};

		range.key.partition_key = cursor->point_key[0];
		kv_key_range_set_sort_key(&range.key, cursor->point_key[1]);
		cursor->point = false;
		start_scan(cursor, &range);
		return index_getnext_slot(cursor->scan, direction, cursor->slot);
	}
	cursor->on_row = found;
	return found;
}

/*
 * Returns the next row in the given direction, or NULL at the end.
 *
 * A btree scan that met its end starts over when asked again, which is right
 * for the way back only.
 */
TupleTableSlot *
kv_cursor_next(KvCursor *cursor, ScanDirection direction)
{
	MemoryContext caller;
	bool		found;

	CHECK_FOR_INTERRUPTS();

	if (cursor->empty || cursor->ended == direction)
		return NULL;

	caller = MemoryContextSwitchTo(cursor->context);
	found = cursor->point ? next_of_point(cursor, direction) :
		index_getnext_slot(cursor->scan, direction, cursor->slot);
	MemoryContextSwitchTo(caller);

	cursor->ended = found ? NoMovementScanDirection : direction;
	return found ? cursor->slot : NULL;
}

/* Returns the leaf relation, open as long as the cursor is. */
Relation
kv_cursor_leaf(const KvCursor *cursor)
{
	return cursor->heap;
}

/* Returns the descriptor of the leaf that the cursor reads. */
const KvLeaf *
kv_cursor_leaf_descriptor(const KvCursor *cursor)
{
	return cursor->leaf;
}

/* Closes the cursor; the locks stay to the end of the transaction. */
void
kv_cursor_close(KvCursor *cursor)
{
	if (cursor->scan != NULL)
		index_endscan(cursor->scan);
	forget_point(cursor);
	ExecDropSingleTupleTableSlot(cursor->slot);
	index_close(cursor->index, NoLock);
	table_close(cursor->heap, NoLock);
	pfree(cursor);
}

/* Fills a view from a row of the leaf. */
void
kv_store_view(const KvTable *table, const KvLeaf *leaf, TupleTableSlot *slot, KvItemView *view)
{
	view->schema = &table->key;
	slot_getallattrs(slot);
	for (int i = 0; i < table->key.count; i++)
		view->key[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(slot->tts_values[leaf->key_attno[i] - 1]));
	view->rest = DatumGetJsonbP(slot->tts_values[leaf->item_attno - 1]);
}

/* Fills a view from a row that a local index has. */
void
kv_store_local_view(const KvIndex *index, const KvLeaf *leaf, TupleTableSlot *slot, KvItemView *view)
{
	view->schema = &index->key;
	slot_getallattrs(slot);
	view->rest = DatumGetJsonbP(slot->tts_values[leaf->item_attno - 1]);
	for (int i = 0; i < index->key.count; i++)
	{
		if (index->base_key[i] == KV_NOT_BASE_KEY)
			(void) kv_key_from_rest(&index->key.attribute[i], i, view->rest, &view->key[i]);
		else
			view->key[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(slot->tts_values[leaf->key_attno[index->base_key[i]] - 1]));
	}
}
