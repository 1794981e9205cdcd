/*
 * operation_get.c
 *	  Point reads: kv.get and kv.get_item.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "expression/expression.h"
#include "operation/operation_capacity.h"
#include "operation/operation_read.h"
#include "operation/operation_rows.h"

/* Opens a table to read from, with the rights checked. */
static KvTable *
open_to_read(Oid relid)
{
	KvTable    *table = kv_table_open(relid, AccessShareLock);

	kv_table_check_rights(table, ACL_SELECT);
	return table;
}

/* Returns the item as projected, or whole; its size too, unless size is NULL. */
static inline Jsonb *
take_item(const KvItemView *view, const KvProjection *projection, int64 *size)
{
	if (unlikely(size != NULL))
		*size = kv_item_size(view);
	return projection ? kv_projection_apply(projection, view) : kv_item_join(view);
}

/* Reads an item through SQL, for a caller to whom a policy applies. */
static Jsonb *
read_with_policy(KvTable *table, const Datum *key, const KvProjection *projection, int64 *size)
{
	KvCursorRange range = {.has_partition_key = true};
	KvRows	   *rows;
	KvItemView	view;
	Jsonb	   *result = NULL;

	kv_key_range_set(&range.key, &table->key, key);
	rows = kv_rows_open(table, NULL, kv_read_snapshot(), ForwardScanDirection);
	kv_rows_seek(rows, kv_table_route(table, key[0]), &range);
	if (kv_rows_next(rows, &view))
		result = take_item(&view, projection, size);
	kv_rows_close(rows);
	return result;
}

/* Returns the item with that key as projected, or NULL if there is none; size, if not NULL, is set if there is. */
static Jsonb *
read_item(KvTable *table, const Datum *key, const KvProjection *projection, int64 *size)
{
	KvPoint		point;
	KvItemView	view;
	Jsonb	   *result = NULL;

	if (unlikely(kv_table_has_row_security(table)))
		return read_with_policy(table, key, projection, size);

	kv_store_get_begin(table, kv_table_route(table, key[0]), &point);
	if (kv_store_get(table, key, kv_read_snapshot(), &point, &view))
		result = take_item(&view, projection, size);
	kv_store_get_end(&point);
	return result;
}

/* Returns the item with that key, or NULL. */
Jsonb *
kv_operation_get(Oid relid, text *partition_key, text *sort_key)
{
	KvTable    *table = open_to_read(relid);
	Datum		key[KV_MAX_KEYS];

	if (unlikely((sort_key != NULL) != (table->key.count > 1)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 sort_key ? errmsg("table \"%s\" has no sort key", get_rel_name(relid)) :
				 errmsg("the key of table \"%s\" needs a value for its sort key \"%s\"",
						get_rel_name(relid), table->key.attribute[1].name)));

	key[0] = kv_key_from_text(&table->key.attribute[0], 0, partition_key);
	if (sort_key)
		key[1] = kv_key_from_text(&table->key.attribute[1], 1, sort_key);
	return read_item(table, key, NULL, NULL);
}

/* Returns the item, or the projected part of it; NULL if there is none. */
Jsonb *
kv_operation_get_item(const KvGetItemRequest *request)
{
	KvTable    *table = open_to_read(request->table);
	KvProjection *projection = NULL;
	Datum		key[KV_MAX_KEYS];
	int64		size = 0;
	Jsonb	   *item;

	if (request->projection || request->attribute_names)
	{
		KvPlaceholders *placeholders = kv_placeholders_create(request->attribute_names, NULL);

		if (request->projection)
			projection = kv_projection_bind(request->projection, placeholders, &table->key);
		kv_placeholders_check_used(placeholders);
	}
	kv_key_from_json(&table->key, request->key, key);
	item = read_item(table, key, projection, request->capacity ? &size : NULL);
	if (request->capacity)
		kv_capacity_add_read(request->capacity, size, request->consistent_read, 1);
	return item;
}
