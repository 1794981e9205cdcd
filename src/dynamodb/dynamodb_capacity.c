/*
 * dynamodb_capacity.c
 *	  ConsumedCapacity: counted by DynamoDB's rules, charged to nobody.
 *
 * Source of the rules: DynamoDB Developer Guide, "DynamoDB read and write
 * operations", and API reference, ConsumedCapacity.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "dynamodb/dynamodb.h"

#define READ_UNIT_BYTES 4096
#define WRITE_UNIT_BYTES 1024

/* Returns the units for so many bytes read: half of them if eventually consistent. */
Numeric
kv_dynamodb_read_units(int64 bytes, bool consistent)
{
	int64		units = Max((bytes + READ_UNIT_BYTES - 1) / READ_UNIT_BYTES, 1);
	Numeric		number = int64_div_fast_to_numeric(consistent ? units * 10 : units * 5, 1);

	return DatumGetNumeric(DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(number)));
}

/* Returns the units for so many bytes written. */
Numeric
kv_dynamodb_write_units(int64 bytes)
{
	return int64_to_numeric(Max((bytes + WRITE_UNIT_BYTES - 1) / WRITE_UNIT_BYTES, 1));
}

/* Adds an object with CapacityUnits. */
static void
add_units(JsonbParseState **state, const char *name, Numeric units)
{
	kv_dynamodb_add_name(state, name);
	kv_dynamodb_open(state);
	kv_dynamodb_add_numeric(state, "CapacityUnits", units);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Tells whether a relation name is that of a local index of the table. */
static bool
is_local(Oid table, text *index, Oid *relid)
{
	const KvIndex *local = kv_table_find_index(kv_table_open(table, AccessShareLock), index, relid);

	if (local)
		*relid = local->relid;
	return local != NULL;
}

/* Adds ConsumedCapacity to an answer. */
void
kv_dynamodb_add_capacity(JsonbParseState **state, text *wanted, Oid table, text *index, Numeric units)
{
	if (wanted == NULL || kv_dynamodb_is(wanted, "NONE"))
		return;
	kv_dynamodb_add_name(state, "ConsumedCapacity");
	kv_dynamodb_open(state);
	kv_dynamodb_add_text(state, "TableName", kv_dynamodb_table_name(table));
	kv_dynamodb_add_numeric(state, "CapacityUnits", units);
	if (kv_dynamodb_is(wanted, "INDEXES"))
	{
		add_units(state, "Table", index ? int64_to_numeric(0) : units);
		if (index)
		{
			Oid			relid;

			kv_dynamodb_add_name(state, is_local(table, index, &relid) ?
								 "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
			kv_dynamodb_open(state);
			add_units(state, kv_dynamodb_index_name(relid), units);
			pushJsonbValue(state, WJB_END_OBJECT, NULL);
		}
	}
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}
