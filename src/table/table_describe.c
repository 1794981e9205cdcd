/*
 * table_describe.c
 *	  kv.describe_table: a table in the shape of DynamoDB's TableDescription.
 *
 * Source of the names: DynamoDB API reference, "TableDescription".  Partitions
 * is ours.  The number of items is what VACUUM and ANALYZE last counted; in
 * DynamoDB, too, it lags behind.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "table/table_internal.h"

/* Rows as last counted, and bytes on disk without indexes. */
typedef struct TableSize
{
	double		rows;
	int64		bytes;
} TableSize;

/* Adds KeySchema: which attribute is the partition key, which the sort key. */
static void
push_key_schema(JsonbParseState **state, const KvKeySchema *key)
{
	int			i;

	kv_json_add_name(state, "KeySchema");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (i = 0; i < kv_key_own_count(key); i++)
	{
		kv_json_open(state);
		kv_json_add_text(state, "AttributeName", key->attribute[i].name);
		kv_json_add_text(state, "KeyType", i == 0 ? "HASH" : "RANGE");
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds the attributes of a key to AttributeDefinitions, each once; names holds those that are there. */
static void
push_attributes(JsonbParseState **state, const KvKeySchema *key, List **names)
{
	for (int i = 0; i < kv_key_own_count(key); i++)
	{
		const KvKeyAttribute *attribute = &key->attribute[i];
		char		letter[2] = {(char) attribute->type, '\0'};
		bool		found = false;
		ListCell   *cell;

		foreach(cell, *names)
			found |= strcmp(lfirst(cell), attribute->name) == 0;
		if (found)
			continue;
		*names = lappend(*names, pstrdup(attribute->name));
		kv_json_open(state);
		kv_json_add_text(state, "AttributeName", attribute->name);
		kv_json_add_text(state, "AttributeType", pstrdup(letter));
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
}

/* Returns a global index of the table, locked so that it is not dropped meanwhile; NULL if it is not there or not usable. */
static KvTable *
global_index(const KvTable *table, int number)
{
	KvTable    *index;

	LockRelationOid(table->global_relid[number], AccessShareLock);
	index = kv_table_lookup(table->global_relid[number]);

	return index != NULL && index->usable && index->index != NULL ? index : NULL;
}

/* Adds AttributeDefinitions: the types of the key attributes of table and indexes. */
static void
push_attribute_definitions(JsonbParseState **state, const KvTable *table)
{
	List	   *names = NIL;

	kv_json_add_name(state, "AttributeDefinitions");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	push_attributes(state, &table->key, &names);
	for (int i = 0; i < table->local_count; i++)
		push_attributes(state, &table->local[i].key, &names);
	for (int i = 0; i < table->global_count; i++)
		if (global_index(table, i) != NULL)
			push_attributes(state, &global_index(table, i)->index->key, &names);
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds Projection: what the index holds of an item. */
static void
push_projection(JsonbParseState **state, const KvIndex *index)
{
	kv_json_add_name(state, "Projection");
	kv_json_open(state);
	kv_json_add_text(state, "ProjectionType", kv_table_projection_name(index->projection));
	if (index->projection == KV_PROJECT_INCLUDE)
	{
		kv_json_add_name(state, "NonKeyAttributes");
		pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
		for (int i = 0; i < index->include_count; i++)
			kv_json_push_text(state, WJB_ELEM, index->include_name[i]);
		pushJsonbValue(state, WJB_END_ARRAY, NULL);
	}
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds LocalSecondaryIndexes, if there are any. */
static void
push_local_indexes(JsonbParseState **state, const KvTable *table)
{
	if (table->local_count == 0)
		return;
	kv_json_add_name(state, "LocalSecondaryIndexes");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < table->local_count; i++)
	{
		kv_json_open(state);
		kv_json_add_text(state, "IndexName", get_rel_name(table->local[i].relid));
		push_key_schema(state, &table->local[i].key);
		push_projection(state, &table->local[i]);
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds up the leaves. */
static void
measure_table(const KvTable *table, TableSize *size)
{
	int			i;

	for (i = 0; i < table->leaf_count; i++)
	{
		Relation	leaf = table_open(table->leaf_relid[i], AccessShareLock);

		CHECK_FOR_INTERRUPTS();
		size->rows += Max(leaf->rd_rel->reltuples, 0);
		size->bytes += DatumGetInt64(DirectFunctionCall1(pg_table_size,
														 ObjectIdGetDatum(RelationGetRelid(leaf))));
		table_close(leaf, NoLock);
	}
}

/* Adds one global index. */
static void
push_global_index(JsonbParseState **state, const KvTable *index)
{
	TableSize	size = {0};

	measure_table(index, &size);
	kv_json_open(state);
	kv_json_add_text(state, "IndexName", get_rel_name(index->relid));
	kv_json_add_text(state, "IndexStatus", index->index->not_ready == NULL ? "ACTIVE" : "CREATING");
	if (index->index->not_ready != NULL)
		kv_json_add_boolean(state, "Backfilling", index->index->state == KV_INDEX_BACKFILLING);
	push_key_schema(state, &index->key);
	push_projection(state, index->index);
	kv_json_add_integer(state, "ItemCount", (int64) rint(size.rows));
	kv_json_add_integer(state, "IndexSizeBytes", size.bytes);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds GlobalSecondaryIndexes, if there are any. */
static void
push_global_indexes(JsonbParseState **state, const KvTable *table)
{
	if (table->global_count == 0)
		return;
	kv_json_add_name(state, "GlobalSecondaryIndexes");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < table->global_count; i++)
		if (global_index(table, i) != NULL)
			push_global_index(state, global_index(table, i));
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Returns the description of a key-value table. */
Jsonb *
kv_table_describe(Oid relid)
{
	KvTable    *table = kv_table_open(relid, AccessShareLock);
	TableSize	size = {0};
	JsonbParseState *state = NULL;

	measure_table(table, &size);

	kv_json_open(&state);
	kv_json_add_text(&state, "TableName",
					   DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid))));
	kv_json_add_text(&state, "TableStatus", "ACTIVE");
	push_key_schema(&state, &table->key);
	push_attribute_definitions(&state, table);
	kv_json_add_integer(&state, "ItemCount", (int64) rint(size.rows));
	kv_json_add_integer(&state, "TableSizeBytes", size.bytes);
	kv_json_add_integer(&state, "Partitions", table->leaf_count);
	push_local_indexes(&state, table);
	push_global_indexes(&state, table);
	return kv_json_close(&state);
}
