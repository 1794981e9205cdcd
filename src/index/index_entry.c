/*
 * index_entry.c
 *	  What an index holds of an item.
 *
 * Backfill and apply ask here; an attribute that cannot be a key leaves the
 * item out of the index, as a missing one does.  Items that were written
 * after the index was made cannot have such: capture refuses them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "expression/expression.h"
#include "index/index_internal.h"

/* Fills the whole key of an entry from the attributes among it and the base key. */
void
kv_entry_complete_key(const KvIndex *index, const Datum *base_key, Datum *key)
{
	for (int i = 0; i < index->key.count; i++)
		if (index->base_key[i] != KV_NOT_BASE_KEY)
			key[i] = base_key[index->base_key[i]];
}

/* Returns the size of an entry's key in a btree, before compression. */
static Size
plain_size(const KvIndex *index, const Datum *key)
{
	Size		size = sizeof(IndexTupleData);

	for (int i = 0; i < index->key.count; i++)
		size += VARSIZE_ANY(DatumGetPointer(key[i])) + MAXIMUM_ALIGNOF;
	return size;
}

/* Returns the size of an entry's key in a btree. */
static Size
entry_size(const KvIndex *index, const Datum *key)
{
	TupleDesc	row_type = CreateTemplateTupleDesc(index->key.count);
	Datum		values[KV_MAX_KEYS];
	bool		nulls[KV_MAX_KEYS] = {false};
	IndexTuple	tuple;
	Size		size;

	for (int i = 0; i < index->key.count; i++)
	{
		TupleDescInitEntry(row_type, i + 1, NULL,
						   kv_key_sql_type(index->key.attribute[i].type), -1, 0);
		values[i] = key[i];
	}
	tuple = index_form_tuple(row_type, values, nulls);
	size = IndexTupleSize(tuple);
	pfree(tuple);
	return size;
}

/* Raises KV007 if the key takes more room than an entry of a btree has. */
void
kv_entry_check_size(const KvIndex *index, const Datum *key)
{
	Size		size = plain_size(index, key);

	if (likely(size <= KV_COMPAT_BT_MAX_ITEM_SIZE))
		return;
	size = entry_size(index, key);
	if (size > KV_COMPAT_BT_MAX_ITEM_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("key is too long for an entry of index \"%s\": %zu bytes", get_rel_name(index->relid), size),
				 errdetail("The keys of index and table together take at most %zu bytes after compression.",
						   (Size) KV_COMPAT_BT_MAX_ITEM_SIZE)));
}

/* Returns the item's rest without the attributes that are columns of the index. */
static Jsonb *
rest_without_keys(const KvIndex *index, Jsonb *rest)
{
	KvKeySchema attributes;

	attributes.count = 0;
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY)
			attributes.attribute[attributes.count++] = index->key.attribute[i];
	if (attributes.count == 0)
		return rest;
	return kv_item_without(&attributes, rest);
}

/* Returns what the index projects of the item's rest. */
static Jsonb *
project_rest(const KvIndex *index, const KvItemView *item)
{
	KvProjection *projection;

	if (index->projection == KV_PROJECT_ALL)
		return rest_without_keys(index, item->rest);
	projection = kv_projection_of_attributes(item->schema, false, index->include_name, index->include_count);
	return kv_projection_apply(projection, item);
}

/* Fills the entry of an item; false if the index has none of it. */
bool
kv_entry_make(const KvTable *index, const KvItemView *item, KvIndexEntry *entry)
{
	const KvIndex *definition = index->index;

	if (!JB_ROOT_IS_OBJECT(item->rest))
		return false;
	for (int i = 0; i < kv_key_own_count(&definition->key); i++)
		if (definition->base_key[i] == KV_NOT_BASE_KEY &&
			!kv_key_from_rest_if_valid(&definition->key.attribute[i], i, item->rest, &entry->key[i]))
			return false;
	kv_entry_complete_key(definition, item->key, entry->key);
	if (unlikely(plain_size(definition, entry->key) > KV_COMPAT_BT_MAX_ITEM_SIZE) &&
		entry_size(definition, entry->key) > KV_COMPAT_BT_MAX_ITEM_SIZE)
		return false;
	entry->rest = project_rest(definition, item);
	return true;
}
