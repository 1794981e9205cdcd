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

/* A write to an item collection. */
typedef struct Written
{
	const char *name;			/* of the table in the request */
	JsonbContainer *key;		/* the item or its key, as it lies in the request */
} Written;

/* The collections of one table that a request wrote to. */
typedef struct TableCollections
{
	Oid			table;
	List	   *keys;			/* plain objects of the partition key alone, each once */
} TableCollections;

/* Returns the partition key of an item or key, alone; NULL if the table has no local indexes or the key is not there. */
static Jsonb *
collection_key(Oid relid, JsonbContainer *key)
{
	const KvTable *table = kv_table_open(relid, AccessShareLock);
	const KvKeyAttribute *attribute = &table->key.attribute[0];
	JsonbParseState *state = NULL;
	JsonbValue	value;

	if (table->local_count == 0 ||
		getKeyJsonValueFromContainer(key, attribute->name, attribute->name_length, &value) == NULL)
		return NULL;
	kv_json_open(&state);
	kv_json_add_name(&state, attribute->name);
	kv_json_push(&state, WJB_VALUE, &value);
	return kv_json_close(&state);
}

/* Adds the members of one ItemCollectionMetrics. */
static void
add_members(JsonbParseState **state, Jsonb *key, int64 gigabytes)
{
	JsonbValue	value;

	kv_json_add_jsonb(state, "ItemCollectionKey", kv_dynamodb_typed(key));
	kv_json_add_name(state, "SizeEstimateRangeGB");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	value.type = jbvNumeric;
	value.val.numeric = int64_to_numeric(0);
	pushJsonbValue(state, WJB_ELEM, &value);
	value.val.numeric = int64_to_numeric(gigabytes);
	pushJsonbValue(state, WJB_ELEM, &value);
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds the metrics of one collection. */
void
kv_dynamodb_add_metrics(JsonbParseState **state, Oid table, Jsonb *key)
{
	Jsonb	   *collection = collection_key(table, &key->root);

	if (collection == NULL)
		return;
	kv_json_add_name(state, "ItemCollectionMetrics");
	kv_json_open(state);
	add_members(state, collection, kv_dynamodb_gigabytes(table));
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Notes a write. */
void
kv_dynamodb_note_collection(KvDynamoMetrics *metrics, const char *table, JsonbContainer *key)
{
	Written    *written = palloc(sizeof(Written));

	written->name = table;
	written->key = key;
	metrics->writes = lappend(metrics->writes, written);
}

/* Returns the collections of a table, which the list gets if it does not have them. */
static TableCollections *
collections_of(List **tables, Oid table)
{
	TableCollections *collections;
	ListCell   *cell;

	foreach(cell, *tables)
	{
		collections = lfirst(cell);
		if (collections->table == table)
			return collections;
	}
	collections = palloc0(sizeof(TableCollections));
	collections->table = table;
	*tables = lappend(*tables, collections);
	return collections;
}

/* Adds a collection unless it is there. */
static void
add_collection(TableCollections *collections, Jsonb *key)
{
	ListCell   *cell;

	foreach(cell, collections->keys)
		if (compareJsonbContainers(&((Jsonb *) lfirst(cell))->root, &key->root) == 0)
			return;
	collections->keys = lappend(collections->keys, key);
}

/* Returns what was written to by table, of those that have local indexes: two names may mean one table. */
static List *
group_writes(const List *writes)
{
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, writes)
	{
		const Written *written = lfirst(cell);
		Oid			table = kv_dynamodb_table(cstring_to_text(written->name));
		Jsonb	   *key = collection_key(table, written->key);

		if (key)
			add_collection(collections_of(&tables, table), kv_dynamodb_plain(&key->root));
	}
	return tables;
}

/* Adds the metrics of all collections noted; nothing, if no table has local indexes. */
void
kv_dynamodb_add_all_metrics(JsonbParseState **state, const KvDynamoMetrics *metrics)
{
	List	   *tables = group_writes(metrics->writes);
	ListCell   *cell;

	if (tables == NIL)
		return;
	kv_json_add_name(state, "ItemCollectionMetrics");
	kv_json_open(state);
	foreach(cell, tables)
	{
		const TableCollections *collections = lfirst(cell);
		int64		gigabytes = kv_dynamodb_gigabytes(collections->table);
		ListCell   *key;

		kv_json_add_name(state, kv_dynamodb_table_name(collections->table));
		pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
		foreach(key, collections->keys)
		{
			kv_json_open(state);
			add_members(state, lfirst(key), gigabytes);
			pushJsonbValue(state, WJB_END_OBJECT, NULL);
		}
		pushJsonbValue(state, WJB_END_ARRAY, NULL);
	}
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}
