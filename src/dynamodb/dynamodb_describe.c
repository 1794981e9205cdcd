/*
 * dynamodb_describe.c
 *	  TableDescription.
 *
 * What the service knows and PostgreSQL does not is constant (region, account,
 * capacity) or left out (times).
 *
 * Source of the names: DynamoDB API reference, TableDescription.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "dynamodb/dynamodb.h"

#define GIGABYTE INT64CONST(1000000000)

/* Returns the ARN of a table. */
static char *
table_arn(Oid relid)
{
	return psprintf("arn:aws:dynamodb:local:000000000000:table/%s", kv_dynamodb_table_name(relid));
}

/* Adds KeySchema. */
static void
add_key_schema(JsonbParseState **state, const KvKeySchema *key)
{
	kv_dynamodb_add_name(state, "KeySchema");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < kv_key_own_count(key); i++)
	{
		kv_dynamodb_open(state);
		kv_dynamodb_add_text(state, "AttributeName", key->attribute[i].name);
		kv_dynamodb_add_text(state, "KeyType", i == 0 ? "HASH" : "RANGE");
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds the attributes of a key that have not been defined yet. */
static void
add_definitions(JsonbParseState **state, const KvKeySchema *key, List **defined)
{
	for (int i = 0; i < kv_key_own_count(key); i++)
	{
		const KvKeyAttribute *attribute = &key->attribute[i];
		bool		known = false;
		ListCell   *cell;

		foreach(cell, *defined)
			known |= strcmp(lfirst(cell), attribute->name) == 0;
		if (known)
			continue;
		*defined = lappend(*defined, pstrdup(attribute->name));
		kv_dynamodb_open(state);
		kv_dynamodb_add_text(state, "AttributeName", attribute->name);
		kv_dynamodb_add_text(state, "AttributeType", psprintf("%c", (char) attribute->type));
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
}

/* Adds the throughput of a table or index: none is provisioned. */
static void
add_throughput(JsonbParseState **state)
{
	kv_dynamodb_add_name(state, "ProvisionedThroughput");
	kv_dynamodb_open(state);
	kv_dynamodb_add_integer(state, "NumberOfDecreasesToday", 0);
	kv_dynamodb_add_integer(state, "ReadCapacityUnits", 0);
	kv_dynamodb_add_integer(state, "WriteCapacityUnits", 0);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds what global and local indexes have in common; the object stays open. */
static void
open_index(JsonbParseState **state, const KvIndex *index)
{
	char	   *name = kv_dynamodb_index_name(index->relid);

	kv_dynamodb_open(state);
	kv_dynamodb_add_text(state, "IndexName", name);
	kv_dynamodb_add_text(state, "IndexArn", psprintf("%s/index/%s", table_arn(index->base_relid), name));
	add_key_schema(state, &index->key);
	kv_dynamodb_add_name(state, "Projection");
	kv_dynamodb_open(state);
	kv_dynamodb_add_text(state, "ProjectionType", kv_table_projection_name(index->projection));
	if (index->projection == KV_PROJECT_INCLUDE)
	{
		kv_dynamodb_add_name(state, "NonKeyAttributes");
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

/* Adds the global indexes. */
static void
add_global_indexes(JsonbParseState **state, KvTable **index, int count)
{
	if (count == 0)
		return;
	kv_dynamodb_add_name(state, "GlobalSecondaryIndexes");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		open_index(state, index[i]->index);
		kv_dynamodb_add_text(state, "IndexStatus", index[i]->index->not_ready ? "CREATING" : "ACTIVE");
		if (index[i]->index->not_ready)
			kv_dynamodb_add_boolean(state, "Backfilling", true);
		add_throughput(state);
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds the local indexes. */
static void
add_local_indexes(JsonbParseState **state, const KvTable *table)
{
	if (table->local_count == 0)
		return;
	kv_dynamodb_add_name(state, "LocalSecondaryIndexes");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < table->local_count; i++)
	{
		open_index(state, &table->local[i]);
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Returns a number of kv.describe_table's answer. */
static int64
described_number(Jsonb *described, const char *name)
{
	JsonbValue	value;

	if (getKeyJsonValueFromContainer(&described->root, name, strlen(name), &value) == NULL)
		return 0;
	return DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(value.val.numeric)));
}

/* Returns the size of a table in started GB. */
int64
kv_dynamodb_gigabytes(Oid relid)
{
	int64		bytes = described_number(kv_table_describe(relid), "TableSizeBytes");

	return Max((bytes + GIGABYTE - 1) / GIGABYTE, 1);
}

/* Finds the global indexes of a table that are there and usable. */
static int
find_global_indexes(const KvTable *table, KvTable **index)
{
	int			count = 0;

	for (int i = 0; i < table->global_count; i++)
	{
		KvTable    *found = kv_table_lookup(table->global_relid[i]);

		if (found != NULL && found->usable && found->index != NULL)
			index[count++] = found;
	}
	return count;
}

/* Returns the description of a table. */
Jsonb *
kv_dynamodb_description(Oid relid, const char *status)
{
	KvTable    *table = kv_table_open(relid, AccessShareLock);
	Jsonb	   *described = kv_table_describe(relid);
	KvTable   **global = palloc(sizeof(KvTable *) * Max(table->global_count, 1));
	int			global_count = find_global_indexes(table, global);
	JsonbParseState *state = NULL;
	List	   *defined = NIL;

	kv_dynamodb_open(&state);
	kv_dynamodb_add_text(&state, "TableName", kv_dynamodb_table_name(relid));
	kv_dynamodb_add_text(&state, "TableArn", table_arn(relid));
	kv_dynamodb_add_text(&state, "TableStatus", status);
	add_key_schema(&state, &table->key);
	kv_dynamodb_add_name(&state, "AttributeDefinitions");
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	add_definitions(&state, &table->key, &defined);
	for (int i = 0; i < table->local_count; i++)
		add_definitions(&state, &table->local[i].key, &defined);
	for (int i = 0; i < global_count; i++)
		add_definitions(&state, &global[i]->index->key, &defined);
	pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	kv_dynamodb_add_integer(&state, "ItemCount", described_number(described, "ItemCount"));
	kv_dynamodb_add_integer(&state, "TableSizeBytes", described_number(described, "TableSizeBytes"));
	kv_dynamodb_add_name(&state, "BillingModeSummary");
	kv_dynamodb_open(&state);
	kv_dynamodb_add_text(&state, "BillingMode", "PAY_PER_REQUEST");
	pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	add_throughput(&state);
	kv_dynamodb_add_boolean(&state, "DeletionProtectionEnabled", false);
	add_local_indexes(&state, table);
	add_global_indexes(&state, global, global_count);
	return kv_dynamodb_close(&state);
}
