/*
 * operation_keys.c
 *	  The keys of a request in the one order in which rows are locked, and
 *	  reading their items leaf by leaf.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_json.h"
#include "operation/operation_read.h"
#include "operation/operation_request.h"
#include "operation/operation_rows.h"

/* Orders keys by table, leaf, partition key and sort key. */
static int
compare_keys(const void *a, const void *b)
{
	const KvRequestKey *left = a;
	const KvRequestKey *right = b;
	Oid			left_leaf = left->table->leaf_relid[left->leaf];
	Oid			right_leaf = right->table->leaf_relid[right->leaf];

	if (left->table->relid != right->table->relid)
		return left->table->relid < right->table->relid ? -1 : 1;
	if (left_leaf != right_leaf)
		return left_leaf < right_leaf ? -1 : 1;
	return kv_key_compare_whole(&left->table->key, left->key, right->key);
}

/* Puts keys into the one order, and refuses two equal ones. */
void
kv_request_sort(KvRequestKey *keys, int count, const char *what)
{
	qsort(keys, count, sizeof(KvRequestKey), compare_keys);
	for (int i = 1; i < count; i++)
		if (compare_keys(&keys[i - 1], &keys[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("%s %d and %d have the same key %s of table \"%s\"", what,
							Min(keys[i - 1].number, keys[i].number) + 1,
							Max(keys[i - 1].number, keys[i].number) + 1,
							kv_json_text(kv_key_to_json(&keys[i].table->key, keys[i].key)),
							get_rel_name(keys[i].table->relid))));
}

/* Reads the items of keys in one leaf; false if the taker wants no more. */
static bool
read_leaf(const KvRequestKey *keys, int count, MemoryContext row_context, KvTakeItem take, void *argument)
{
	Snapshot	snapshot = kv_read_snapshot();
	bool		more = true;
	KvPoint		point;

	kv_store_get_begin(keys->table, keys->leaf, &point);
	for (int i = 0; i < count && more; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(row_context);
		KvItemView	view;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		found = kv_store_get(keys->table, keys[i].key, snapshot, &point, &view);
		MemoryContextSwitchTo(caller);
		more = take(argument, keys[i].number, found ? &view : NULL);
		kv_store_get_release(&point);
		MemoryContextReset(row_context);
	}
	kv_store_get_end(&point);
	return more;
}

/* Reads the items of keys in one table through SQL; false if the taker wants no more. */
static bool
read_with_policy(const KvRequestKey *keys, int count, KvTakeItem take, void *argument)
{
	KvTable    *table = keys->table;
	KvRows	   *rows = kv_rows_open(table, NULL, kv_read_snapshot(), ForwardScanDirection);
	bool		more = true;

	for (int i = 0; i < count && more; i++)
	{
		KvCursorRange range = {.has_partition_key = true};
		KvItemView	view;

		kv_key_range_set(&range.key, &table->key, keys[i].key);
		kv_rows_seek(rows, keys[i].leaf, &range);
		more = take(argument, keys[i].number, kv_rows_next(rows, &view) ? &view : NULL);
	}
	kv_rows_close(rows);
	return more;
}

/* Reads the items of sorted keys. */
void
kv_request_read_items(const KvRequestKey *keys, int count, KvTakeItem take, void *argument)
{
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "key_value batch row",
													  ALLOCSET_DEFAULT_SIZES);
	bool		more = true;
	int			next;

	for (int first = 0; first < count && more; first = next)
	{
		for (next = first + 1; next < count && kv_request_same_leaf(&keys[first], &keys[next]);)
			next++;
		if (kv_table_has_row_security(keys[first].table))
			more = read_with_policy(&keys[first], next - first, take, argument);
		else
			more = read_leaf(&keys[first], next - first, row_context, take, argument);
	}
	MemoryContextDelete(row_context);
}
