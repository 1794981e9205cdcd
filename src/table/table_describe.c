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

/* Adds a member's name. */
static void
push_key(JsonbParseState **state, const char *name)
{
	JsonbValue	value;

	value.type = jbvString;
	value.val.string.val = unconstify(char *, name);
	value.val.string.len = strlen(name);
	pushJsonbValue(state, WJB_KEY, &value);
}

/* Adds a member that is a string. */
static void
push_string_member(JsonbParseState **state, const char *name, const char *string)
{
	JsonbValue	value;

	push_key(state, name);
	value.type = jbvString;
	value.val.string.val = unconstify(char *, string);
	value.val.string.len = strlen(string);
	pushJsonbValue(state, WJB_VALUE, &value);
}

/* Adds a member that is a whole number. */
static void
push_number_member(JsonbParseState **state, const char *name, int64 number)
{
	JsonbValue	value;

	push_key(state, name);
	value.type = jbvNumeric;
	value.val.numeric = int64_to_numeric(number);
	pushJsonbValue(state, WJB_VALUE, &value);
}

/* Adds a member that is true or false. */
static void
push_bool_member(JsonbParseState **state, const char *name, bool boolean)
{
	JsonbValue	value;

	push_key(state, name);
	value.type = jbvBool;
	value.val.boolean = boolean;
	pushJsonbValue(state, WJB_VALUE, &value);
}

/* Adds KeySchema: which attribute is the partition key, which the sort key. */
static void
push_key_schema(JsonbParseState **state, const KvKeySchema *key)
{
	int			i;

	push_key(state, "KeySchema");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (i = 0; i < kv_key_own_count(key); i++)
	{
		pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		push_string_member(state, "AttributeName", key->attribute[i].name);
		push_string_member(state, "KeyType", i == 0 ? "HASH" : "RANGE");
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
		pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		push_string_member(state, "AttributeName", attribute->name);
		push_string_member(state, "AttributeType", pstrdup(letter));
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

	push_key(state, "AttributeDefinitions");
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
	push_key(state, "Projection");
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	push_string_member(state, "ProjectionType", kv_table_projection_name(index->projection));
	if (index->projection == KV_PROJECT_INCLUDE)
	{
		push_key(state, "NonKeyAttributes");
		pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
		for (int i = 0; i < index->include_count; i++)
		{
			JsonbValue	value;

			value.type = jbvString;
			value.val.string.val = index->include_name[i];
			value.val.string.len = strlen(index->include_name[i]);
			pushJsonbValue(state, WJB_ELEM, &value);
		}
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
	push_key(state, "LocalSecondaryIndexes");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < table->local_count; i++)
	{
		pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		push_string_member(state, "IndexName", get_rel_name(table->local[i].relid));
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
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	push_string_member(state, "IndexName", get_rel_name(index->relid));
	push_string_member(state, "IndexStatus", index->index->not_ready == NULL ? "ACTIVE" : "CREATING");
	if (index->index->not_ready != NULL)
		push_bool_member(state, "Backfilling", index->index->state == KV_INDEX_BACKFILLING);
	push_key_schema(state, &index->key);
	push_projection(state, index->index);
	push_number_member(state, "ItemCount", (int64) rint(size.rows));
	push_number_member(state, "IndexSizeBytes", size.bytes);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds GlobalSecondaryIndexes, if there are any. */
static void
push_global_indexes(JsonbParseState **state, const KvTable *table)
{
	if (table->global_count == 0)
		return;
	push_key(state, "GlobalSecondaryIndexes");
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

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	push_string_member(&state, "TableName",
					   DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid))));
	push_string_member(&state, "TableStatus", "ACTIVE");
	push_key_schema(&state, &table->key);
	push_attribute_definitions(&state, table);
	push_number_member(&state, "ItemCount", (int64) rint(size.rows));
	push_number_member(&state, "TableSizeBytes", size.bytes);
	push_number_member(&state, "Partitions", table->leaf_count);
	push_local_indexes(&state, table);
	push_global_indexes(&state, table);
	return JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL));
}
