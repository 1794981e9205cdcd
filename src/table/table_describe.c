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
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
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

/* Adds KeySchema: which attribute is the partition key, which the sort key. */
static void
push_key_schema(JsonbParseState **state, const KvKeySchema *key)
{
	int			i;

	push_key(state, "KeySchema");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (i = 0; i < key->count; i++)
	{
		pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		push_string_member(state, "AttributeName", key->attribute[i].name);
		push_string_member(state, "KeyType", i == 0 ? "HASH" : "RANGE");
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds AttributeDefinitions: the types of the key attributes. */
static void
push_attribute_definitions(JsonbParseState **state, const KvKeySchema *key)
{
	int			i;

	push_key(state, "AttributeDefinitions");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (i = 0; i < key->count; i++)
	{
		char		letter[2] = {(char) key->attribute[i].type, '\0'};

		pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		push_string_member(state, "AttributeName", key->attribute[i].name);
		push_string_member(state, "AttributeType", pstrdup(letter));
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
	push_attribute_definitions(&state, &table->key);
	push_number_member(&state, "ItemCount", (int64) rint(size.rows));
	push_number_member(&state, "TableSizeBytes", size.bytes);
	push_number_member(&state, "Partitions", table->leaf_count);
	return JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL));
}
