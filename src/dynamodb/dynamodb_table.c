/*
 * dynamodb_table.c
 *	  CreateTable, UpdateTable, DeleteTable, DescribeTable and ListTables.
 *
 * Tables and indexes are there as soon as the call returns.  Billing,
 * throughput, encryption and table class are taken and mean nothing here;
 * streams, replicas and deletion protection are refused where they are asked for.
 *
 * Source of the rules: DynamoDB API reference, the operations of these names.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb_definition.h"

#define PARTITIONS 16
#define MAX_LISTED 100

/* Members of CreateTable and UpdateTable. */
enum
{
	TABLE_NAME,
	TABLE_DEFINITIONS,
	TABLE_STREAM,
	TABLE_PROTECTION,
	TABLE_KEY,
	TABLE_LOCAL,
	TABLE_GLOBAL,
	TABLE_TAGS,
	TABLE_MEMBERS = TABLE_TAGS + 7,
	UPDATE_GLOBAL = TABLE_KEY,
	UPDATE_MEMBERS = UPDATE_GLOBAL + 7
};
#define IGNORED_MEMBERS \
	{"BillingMode", KV_DYNAMO_STRING, false, "PROVISIONED|PAY_PER_REQUEST"}, \
	{"ProvisionedThroughput", KV_DYNAMO_ANY}, \
	{"OnDemandThroughput", KV_DYNAMO_ANY}, \
	{"WarmThroughput", KV_DYNAMO_ANY}, \
	{"SSESpecification", KV_DYNAMO_ANY}, \
	{"TableClass", KV_DYNAMO_ANY}

static const KvDynamoMember create_members[TABLE_MEMBERS] = {
	{"TableName", KV_DYNAMO_STRING, true},
	{"AttributeDefinitions", KV_DYNAMO_ARRAY, true},
	{"StreamSpecification", KV_DYNAMO_OBJECT},
	{"DeletionProtectionEnabled", KV_DYNAMO_BOOLEAN},
	{"KeySchema", KV_DYNAMO_ARRAY, true, NULL, true},
	{"LocalSecondaryIndexes", KV_DYNAMO_ARRAY},
	{"GlobalSecondaryIndexes", KV_DYNAMO_ARRAY},
	{"Tags", KV_DYNAMO_ARRAY},
	IGNORED_MEMBERS
};
static const KvDynamoMember update_members[UPDATE_MEMBERS] = {
	{"TableName", KV_DYNAMO_STRING, true},
	{"AttributeDefinitions", KV_DYNAMO_ARRAY},
	{"StreamSpecification", KV_DYNAMO_OBJECT},
	{"DeletionProtectionEnabled", KV_DYNAMO_BOOLEAN},
	{"GlobalSecondaryIndexUpdates", KV_DYNAMO_ARRAY},
	IGNORED_MEMBERS
};
static const KvDynamoMember name_members[] = {{"TableName", KV_DYNAMO_STRING, true}};

/* Creates an index of a table. */
static void
create_index(Oid table, KvDynamoIndex *index)
{
	bool		derived;
	char	   *relation = kv_dynamodb_new_index_name(table, index->name, &derived);
	Oid			relid;

	index->create.table = table;
	index->create.index_name = cstring_to_text(relation);
	relid = index->global ? kv_index_create_global(&index->create) : kv_index_create_local(&index->create);
	if (derived)
		kv_dynamodb_note_index(relid, text_to_cstring(index->name));
}

/* Refuses what is asked for and not there. */
static void
check_supported(const KvDynamoValue *value)
{
	JsonbValue	enabled;

	if (value[TABLE_STREAM].given &&
		getKeyJsonValueFromContainer(kv_dynamodb_part(&value[TABLE_STREAM]), "StreamEnabled", strlen("StreamEnabled"), &enabled) &&
		enabled.type == jbvBool && enabled.val.boolean)
		kv_dynamodb_refuse("StreamSpecification is not supported");
	if (value[TABLE_PROTECTION].boolean)
		kv_dynamodb_refuse("DeletionProtectionEnabled is not supported");
}

/* Returns an object with one member, a description. */
static Jsonb *
description_answer(const char *name, Oid relid, const char *status)
{
	JsonbParseState *state = NULL;

	kv_json_open(&state);
	kv_json_add_jsonb(&state, name, kv_dynamodb_description(relid, status));
	return kv_json_close(&state);
}

/* CreateTable */
Jsonb *
kv_dynamodb_create_table(Jsonb *request)
{
	KvDynamoValue value[TABLE_MEMBERS];
	KvCreateTable create = {0};
	KvDynamoDefinitions definitions;
	KvDynamoKeys keys;
	List	   *indexes;
	ListCell   *cell;
	bool		derived;
	Jsonb	   *tags;
	Oid			relid;

	kv_dynamodb_read(&request->root, "CreateTable", NULL, create_members, TABLE_MEMBERS, value);
	check_supported(value);
	kv_dynamodb_read_definitions(&value[TABLE_DEFINITIONS], &definitions);
	kv_dynamodb_read_keys(kv_dynamodb_part(&value[TABLE_KEY]), "keySchema", &definitions, &keys);
	indexes = kv_dynamodb_read_indexes(&value[TABLE_LOCAL], false, &definitions, &keys, NIL);
	indexes = kv_dynamodb_read_indexes(&value[TABLE_GLOBAL], true, &definitions, &keys, indexes);
	kv_dynamodb_check_used(&definitions);
	tags = value[TABLE_TAGS].given ? kv_dynamodb_read_tags(kv_dynamodb_part(&value[TABLE_TAGS]), kv_json_empty_object()) : NULL;

	create.table_name = cstring_to_text(kv_dynamodb_new_table_name(value[TABLE_NAME].string, &derived));
	create.partition_key = keys.name[0];
	create.sort_key = keys.name[1];
	create.partition_key_type = keys.type[0];
	create.sort_key_type = keys.type[1] ? keys.type[1] : cstring_to_text("S");
	create.partitions = PARTITIONS;
	relid = kv_table_create(&create);
	if (derived || tags)
		kv_dynamodb_note_table(relid, text_to_cstring(value[TABLE_NAME].string), tags);
	foreach(cell, indexes)
		create_index(relid, lfirst(cell));
	CommandCounterIncrement();
	return description_answer("TableDescription", relid, "ACTIVE");
}

/* One element of GlobalSecondaryIndexUpdates. */
typedef struct IndexUpdate
{
	KvDynamoIndex create;		/* without a name: none */
	text	   *drop;			/* name of an index; NULL: none */
	text	   *update;			/* the same: what it may change means nothing here, but the index must be there */
} IndexUpdate;

/* Reads one element of GlobalSecondaryIndexUpdates. */
static void
read_update(JsonbContainer *request, const char *path, KvDynamoDefinitions *definitions, IndexUpdate *update)
{
	static const KvDynamoMember members[] = {
		{"Create", KV_DYNAMO_OBJECT}, {"Delete", KV_DYNAMO_OBJECT}, {"Update", KV_DYNAMO_OBJECT}
	};
	static const KvDynamoMember name_and_throughput[] = {
		{"IndexName", KV_DYNAMO_STRING, true}, {"ProvisionedThroughput", KV_DYNAMO_ANY},
		{"OnDemandThroughput", KV_DYNAMO_ANY}, {"WarmThroughput", KV_DYNAMO_ANY}
	};
	KvDynamoValue member[lengthof(members)];
	KvDynamoValue value[lengthof(name_and_throughput)];

	memset(update, 0, sizeof(IndexUpdate));
	kv_dynamodb_read(request, "GlobalSecondaryIndexUpdates", path, members, lengthof(members), member);
	if (member[0].given + member[1].given + member[2].given != 1)
		kv_dynamodb_refuse("An element of GlobalSecondaryIndexUpdates must have exactly one of Create, Delete and Update");
	if (member[0].given)
		kv_dynamodb_read_index(kv_dynamodb_part(&member[0]), psprintf("%s.create", path), definitions, true, NULL, &update->create);
	else if (member[1].given)
	{
		kv_dynamodb_read(kv_dynamodb_part(&member[1]), "Delete", psprintf("%s.delete", path), name_and_throughput, 1, value);
		update->drop = value[0].string;
		kv_dynamodb_check_index_name(update->drop, false);
	}
	else
	{
		kv_dynamodb_read(kv_dynamodb_part(&member[2]), "Update", psprintf("%s.update", path), name_and_throughput,
						 lengthof(name_and_throughput), value);
		update->update = value[0].string;
		kv_dynamodb_check_index_name(update->update, false);
	}
}

/* Carries out one element of GlobalSecondaryIndexUpdates. */
static void
update_index(Oid table, IndexUpdate *update)
{
	if (update->create.name)
		create_index(table, &update->create);
	else if (update->drop)
	{
		text	   *relation = kv_dynamodb_index(table, update->drop);
		Oid			global;

		if (kv_table_find_index(kv_table_open(table, AccessShareLock), relation, &global) != NULL)
			kv_dynamodb_refuse(psprintf("%s is a local secondary index", text_to_cstring(update->drop)));
		kv_index_drop(table, relation);
	}
	else
		(void) kv_dynamodb_index(table, update->update);
}

/* UpdateTable */
Jsonb *
kv_dynamodb_update_table(Jsonb *request)
{
	KvDynamoValue value[UPDATE_MEMBERS];
	KvDynamoDefinitions definitions;
	JsonbValue *element = NULL;
	IndexUpdate *update;
	bool		has_change = false;
	int			count = 0;
	Oid			table;

	kv_dynamodb_read(&request->root, "UpdateTable", NULL, update_members, UPDATE_MEMBERS, value);
	for (int i = 0; i < UPDATE_MEMBERS; i++)
		has_change |= value[i].given && i != TABLE_NAME && i != TABLE_DEFINITIONS;
	if (!has_change)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates "
						"or SSESpecification or ReplicaUpdates is required")));
	check_supported(value);
	kv_dynamodb_read_definitions(&value[TABLE_DEFINITIONS], &definitions);
	if (value[UPDATE_GLOBAL].given)
		element = kv_dynamodb_objects(kv_dynamodb_part(&value[UPDATE_GLOBAL]), "GlobalSecondaryIndexUpdates", &count);
	update = palloc_extended(sizeof(IndexUpdate) * (count + 1), MCXT_ALLOC_HUGE);
	for (int i = 0; i < count; i++)
		read_update(element[i].val.binary.data, kv_dynamodb_element_path("globalSecondaryIndexUpdates", i), &definitions, &update[i]);
	table = kv_dynamodb_table(value[TABLE_NAME].string);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		update_index(table, &update[i]);
	}
	CommandCounterIncrement();
	return description_answer("TableDescription", table, "ACTIVE");
}

/* DeleteTable */
Jsonb *
kv_dynamodb_delete_table(Jsonb *request)
{
	KvDynamoValue name;
	Jsonb	   *answer;
	Oid			table;

	kv_dynamodb_read(&request->root, "DeleteTable", NULL, name_members, 1, &name);
	table = kv_dynamodb_table(name.string);
	/* first the strong lock: two sessions that had the weak one would wait for each other */
	kv_table_lock_to_drop(table);
	answer = description_answer("TableDescription", table, "DELETING");
	kv_table_drop(table);
	return answer;
}

/* DescribeTable */
Jsonb *
kv_dynamodb_describe_table(Jsonb *request)
{
	KvDynamoValue name;

	kv_dynamodb_read(&request->root, "DescribeTable", NULL, name_members, 1, &name);
	return description_answer("Table", kv_dynamodb_table(name.string), "ACTIVE");
}

/* Orders names by their bytes. */
static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* Returns the names of all tables that the current user sees, in order. */
static List *
list_names(void)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			schema = kv_dynamodb_schema();
	List	   *names = NIL;

	if (!OidIsValid(schema))
		return NIL;
	SPI_connect();
	if (SPI_execute(psprintf("SELECT t.table_name::pg_catalog.oid FROM kv.tables t "
							 "JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) t.table_name "
							 "WHERE c.relnamespace OPERATOR(pg_catalog.=) %u", schema),
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read kv.tables");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		is_null;
		Oid			relid = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null));
		KvTable    *table = kv_table_lookup(relid);
		MemoryContext spi;
		char	   *name;

		if (table == NULL || !table->usable || table->index != NULL)
			continue;
		spi = MemoryContextSwitchTo(caller);
		name = kv_dynamodb_table_name(relid);
		if (name)
			names = lappend(names, name);
		MemoryContextSwitchTo(spi);
	}
	SPI_finish();
	list_sort(names, compare_names);
	return names;
}

/* ListTables */
Jsonb *
kv_dynamodb_list_tables(Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"ExclusiveStartTableName", KV_DYNAMO_STRING}, {"Limit", KV_DYNAMO_INTEGER}
	};
	KvDynamoValue value[lengthof(members)];
	JsonbParseState *state = NULL;
	const char *start = NULL;
	const char *last = NULL;
	int			limit = MAX_LISTED;
	int			count = 0;
	List	   *names;
	ListCell   *cell;
	bool		more = false;

	kv_dynamodb_read(&request->root, "ListTables", NULL, members, lengthof(members), value);
	if (value[0].given)
		start = text_to_cstring(value[0].string);
	if (value[1].given)
		limit = value[1].integer;
	if (limit < 1 || limit > MAX_LISTED)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("1 validation error detected: Value '%d' at 'limit' failed to satisfy constraint: "
						"Member must have value between 1 and %d", limit, MAX_LISTED)));
	names = list_names();
	kv_json_open(&state);
	kv_json_add_name(&state, "TableNames");
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	foreach(cell, names)
	{
		if (start && strcmp(lfirst(cell), start) <= 0)
			continue;
		more = count == limit;
		if (more)
			break;
		last = lfirst(cell);
		count++;
		kv_json_push_text(&state, WJB_ELEM, last);
	}
	pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	if (more)
		kv_json_add_text(&state, "LastEvaluatedTableName", last);
	return kv_json_close(&state);
}
