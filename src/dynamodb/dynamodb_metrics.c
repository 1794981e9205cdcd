/*
 * dynamodb_metrics.c
 *	  ItemCollectionMetrics, of tables that have local indexes.
 *
 * A collection is no larger than its table: that bounds the estimate.
 *
 * Source of the rules: DynamoDB API reference, ItemCollectionMetrics.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "dynamodb/dynamodb.h"

/* The collections of one table that a request wrote to. */
typedef struct TableCollections
{
	const char *name;			/* of the table in the request */
	Oid			table;
	List	   *keys;			/* plain objects of the partition key alone */
} TableCollections;

/* Returns the partition key of an item or key, alone; NULL if the table has no local indexes or the key is not there. */
static Jsonb *
collection_key(Oid relid, Jsonb *key)
{
	const KvTable *table = kv_table_open(relid, AccessShareLock);
	const KvKeyAttribute *attribute = &table->key.attribute[0];
	JsonbParseState *state = NULL;
	JsonbValue	value;

	if (table->local_count == 0 ||
		getKeyJsonValueFromContainer(&key->root, attribute->name, attribute->name_length, &value) == NULL)
		return NULL;
	kv_dynamodb_open(&state);
	kv_dynamodb_add_name(&state, attribute->name);
	pushJsonbValue(&state, WJB_VALUE, &value);
	return kv_dynamodb_close(&state);
}

/* Adds the members of one ItemCollectionMetrics. */
static void
add_members(JsonbParseState **state, Oid table, Jsonb *key)
{
	JsonbValue	value;

	kv_dynamodb_add_json(state, "ItemCollectionKey", kv_item_to_typed(key));
	kv_dynamodb_add_name(state, "SizeEstimateRangeGB");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	value.type = jbvNumeric;
	value.val.numeric = int64_to_numeric(0);
	pushJsonbValue(state, WJB_ELEM, &value);
	value.val.numeric = int64_to_numeric(kv_dynamodb_gigabytes(table));
	pushJsonbValue(state, WJB_ELEM, &value);
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds the metrics of one collection. */
void
kv_dynamodb_add_metrics(JsonbParseState **state, Oid table, Jsonb *key)
{
	Jsonb	   *collection = collection_key(table, key);

	if (collection == NULL)
		return;
	kv_dynamodb_add_name(state, "ItemCollectionMetrics");
	kv_dynamodb_open(state);
	add_members(state, table, collection);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Notes a write. */
void
kv_dynamodb_note_collection(KvDynamoMetrics *metrics, const char *table, Jsonb *key)
{
	TableCollections *collections = NULL;
	ListCell   *cell;

	foreach(cell, metrics->tables)
	{
		collections = lfirst(cell);
		if (strcmp(collections->name, table) == 0)
			break;
		collections = NULL;
	}
	if (collections == NULL)
	{
		collections = palloc0(sizeof(TableCollections));
		collections->name = pstrdup(table);
		metrics->tables = lappend(metrics->tables, collections);
	}
	collections->keys = lappend(collections->keys, key);
}

/* Returns the collections of a table, each once. */
static List *
distinct_collections(Oid table, List *keys)
{
	List	   *distinct = NIL;
	ListCell   *cell;

	foreach(cell, keys)
	{
		Jsonb	   *key = collection_key(table, lfirst(cell));
		bool		known = key == NULL;
		ListCell   *other;

		foreach(other, distinct)
			known |= compareJsonbContainers(&((Jsonb *) lfirst(other))->root, &key->root) == 0;
		if (!known)
			distinct = lappend(distinct, key);
	}
	return distinct;
}

/* Adds the metrics of all collections noted; nothing, if no table has local indexes. */
void
kv_dynamodb_add_all_metrics(JsonbParseState **state, const KvDynamoMetrics *metrics)
{
	bool		opened = false;
	ListCell   *cell;

	foreach(cell, metrics->tables)
	{
		const TableCollections *collections = lfirst(cell);
		Oid			table = kv_dynamodb_table(cstring_to_text(collections->name));
		List	   *keys = distinct_collections(table, collections->keys);
		ListCell   *key;

		if (keys == NIL)
			continue;
		if (!opened)
		{
			kv_dynamodb_add_name(state, "ItemCollectionMetrics");
			kv_dynamodb_open(state);
			opened = true;
		}
		kv_dynamodb_add_name(state, kv_dynamodb_table_name(table));
		pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
		foreach(key, keys)
		{
			kv_dynamodb_open(state);
			add_members(state, table, lfirst(key));
			pushJsonbValue(state, WJB_END_OBJECT, NULL);
		}
		pushJsonbValue(state, WJB_END_ARRAY, NULL);
	}
	if (opened)
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
}
