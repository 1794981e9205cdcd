/*
 * dynamodb_capacity.c
 *	  ConsumedCapacity: counted by the operations, charged to nobody.
 *
 * Source of the names: DynamoDB API reference, ConsumedCapacity.
 */
#include "postgres.h"

#include "base/compat.h"
#include "dynamodb/dynamodb.h"

/* Tells whether something other than NONE was asked for. */
bool
kv_dynamodb_is_wanted(const KvDynamoValue *value)
{
	return value->given && !kv_dynamodb_is(value->string, "NONE");
}

/* Adds an object with CapacityUnits. */
static void
add_units(JsonbParseState **state, const char *name, int64 halves)
{
	kv_json_add_name(state, name);
	kv_json_open(state);
	kv_json_add_numeric(state, "CapacityUnits", kv_capacity_units(halves));
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds what the local or the global indexes consumed, if there are such. */
static void
add_indexes(JsonbParseState **state, const KvCapacity *capacity, bool local)
{
	bool		opened = false;

	for (int i = 0; i < capacity->index_count; i++)
	{
		char	   *name;

		if (capacity->index[i].local != local)
			continue;
		/* a writer has no lock on global indexes: one may be gone */
		name = kv_dynamodb_index_name(capacity->index[i].relid);
		if (name == NULL)
			continue;
		if (!opened)
		{
			kv_json_add_name(state, local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
			kv_json_open(state);
			opened = true;
		}
		add_units(state, name, capacity->index[i].halves);
	}
	if (opened)
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds the members of ConsumedCapacity. */
static void
add_members(JsonbParseState **state, text *wanted, const char *name, const KvCapacity *capacity, const char *whole)
{
	Numeric		units = kv_capacity_units(kv_capacity_total(capacity));

	kv_json_add_text(state, "TableName", name);
	kv_json_add_numeric(state, "CapacityUnits", units);
	if (whole)
		kv_json_add_numeric(state, whole, units);
	if (!kv_dynamodb_is(wanted, "INDEXES"))
		return;
	add_units(state, "Table", capacity->table);
	add_indexes(state, capacity, true);
	add_indexes(state, capacity, false);
}

/* Adds ConsumedCapacity to an answer. */
void
kv_dynamodb_add_capacity(JsonbParseState **state, text *wanted, Oid table, const KvCapacity *capacity)
{
	if (wanted == NULL || kv_dynamodb_is(wanted, "NONE"))
		return;
	kv_json_add_name(state, "ConsumedCapacity");
	kv_json_open(state);
	add_members(state, wanted, kv_dynamodb_table_name(table), capacity, NULL);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds ConsumedCapacity of each table to an answer. */
void
kv_dynamodb_add_capacities(JsonbParseState **state, text *wanted, const KvCaller *caller, const char *whole)
{
	ListCell   *cell;

	if (!caller->measured)
		return;
	kv_json_add_name(state, "ConsumedCapacity");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	foreach(cell, caller->consumed)
	{
		const KvConsumed *consumed = lfirst(cell);

		kv_json_open(state);
		add_members(state, wanted, kv_dynamodb_table_name(consumed->table), &consumed->capacity, whole);
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}
