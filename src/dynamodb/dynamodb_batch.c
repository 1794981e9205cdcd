/*
 * dynamodb_batch.c
 *	  BatchGetItem, BatchWriteItem, TransactGetItems and TransactWriteItems.
 *
 * Requests have the shape of those of kv.batch_get_item() and its kin, which
 * take them as they are: the operations ask for the items that they need to be
 * made plain.  What is looked at here is the shape, since errors about it are
 * to name members by their path; and AttributesToGet becomes a projection.
 *
 * Source of the rules: DynamoDB API reference, the operations of these names.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

#define CAPACITY {"ReturnConsumedCapacity", KV_DYNAMO_STRING, false, "NONE|TOTAL|INDEXES"}
#define METRICS {"ReturnItemCollectionMetrics", KV_DYNAMO_STRING, false, "NONE|SIZE"}

/* How paths of what is in a batch begin. */
#define REQUEST_ITEMS "requestItems"

/* Raises an error unless a member is an object or array. */
static void
check_container(const char *what, const JsonbValue *name, bool good)
{
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s of \"%s\" has the wrong form", what, kv_dynamodb_string(name)),
				 errdetail_internal(KV_DYNAMODB_SERIALIZATION)));
}

/* Finds a verb, which may be one of another operation: that sees the operation itself. */
static const KvVerb *
find_verb(const JsonbValue *name)
{
	const KvVerb *verb = kv_operation_verb(name->val.string.val, name->val.string.len);

	if (verb == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("action has the unknown member \"%s\"", kv_dynamodb_shown(name->val.string.val, name->val.string.len))));
	return verb;
}

/* Fills a member that a verb may have as requests here are read. */
static void
describe_member(const KvMember *member, KvDynamoMember *described)
{
	described->name = member->name;
	described->kind = member->kind == KV_MEMBER_STRING ? KV_DYNAMO_STRING :
		strcmp(member->name, "ExpressionAttributeNames") == 0 ? KV_DYNAMO_NAMES : KV_DYNAMO_OBJECT;
	described->required = member->required;
	described->not_empty = strncmp(member->name, "ExpressionAttribute", strlen("ExpressionAttribute")) == 0;
	described->allowed = strcmp(member->name, "ReturnValuesOnConditionCheckFailure") == 0 ? "NONE|ALL_OLD" : NULL;
}

/* Checks the shape of one verb of an action, such as Put or PutRequest; the argument is the action's path. */
static void
check_verb(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	const KvVerb *verb = find_verb(name);
	KvDynamoMember members[KV_MAX_VERB_MEMBERS];
	KvDynamoValue given[KV_MAX_VERB_MEMBERS];
	char	   *path;

	if (value->type == jbvNull)
		return;
	check_container("action", name, kv_dynamodb_is_object(value));
	for (int i = 0; i < verb->count; i++)
		describe_member(&verb->members[i], &members[i]);
	path = psprintf("%s.%s", (const char *) argument, verb->name);
	path[strlen(argument) + 1] = pg_tolower((unsigned char) path[strlen(argument) + 1]);
	kv_dynamodb_read(value->val.binary.data, verb->name, path, members, verb->count, given);
}

/* Checks the shape of an array of actions, before anything in them is read. */
static void
check_actions(JsonbContainer *actions, const char *what, const char *path)
{
	int			count;
	JsonbValue *action = kv_dynamodb_objects(actions, what, &count);

	for (int i = 0; i < count; i++)
		kv_dynamodb_each(action[i].val.binary.data, check_verb, kv_dynamodb_element_path(path, i));
	pfree(action);
}

/* Checks the shape of the writes to one table. */
static void
check_table_writes(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	check_container("RequestItems", name, kv_dynamodb_is_array(value));
	check_actions(value->val.binary.data, "RequestItems", kv_dynamodb_member_path(argument, name));
}

/* Collections that a request writes to, while they are being noted. */
typedef struct Noting
{
	KvDynamoMetrics *metrics;
	const char *table;			/* NULL: each action names its own */
} Noting;

/* Returns the table that an action of a transaction writes to; NULL if it writes to none. */
static const char *
written_table(const JsonbValue *verb, JsonbContainer *action)
{
	JsonbValue	table;

	if (strcmp(kv_dynamodb_string(verb), "ConditionCheck") == 0)
		return NULL;
	(void) getKeyJsonValueFromContainer(action, "TableName", strlen("TableName"), &table);
	return kv_dynamodb_string(&table);
}

/* Notes the collection that one action writes to. */
static void
note_verb(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	const Noting *noting = argument;
	JsonbContainer *action = value->val.binary.data;
	JsonbValue	key;
	const char *table;

	if (value->type == jbvNull)
		return;
	table = noting->table ? noting->table : written_table(name, action);
	if (table == NULL)
		return;
	if (getKeyJsonValueFromContainer(action, "Item", strlen("Item"), &key) == NULL)
		(void) getKeyJsonValueFromContainer(action, "Key", strlen("Key"), &key);
	kv_dynamodb_note_collection(noting->metrics, table, key.val.binary.data);
}

/* Notes the collections that actions write to. */
static void
note_actions(KvDynamoMetrics *metrics, const char *table, JsonbContainer *actions)
{
	Noting		noting = {metrics, table};
	int			count;
	JsonbValue *action = kv_dynamodb_objects(actions, "actions", &count);

	for (int i = 0; i < count; i++)
		kv_dynamodb_each(action[i].val.binary.data, note_verb, &noting);
}

/* Notes the collections of one table that a batch writes to. */
static void
note_table_writes(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	note_actions(argument, kv_dynamodb_string(name), value->val.binary.data);
}

/* Finds a table for the operation. */
static Oid
find_table(const char *name, bool missing_ok)
{
	text	   *table = cstring_to_text(name);

	return missing_ok ? kv_dynamodb_find_table(table) : kv_dynamodb_table(table);
}

/* Adds a member as it is. */
static void
add_member(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	kv_json_add_member(argument, name, value);
}

/* Starts an answer that has what the operation gave. */
static void
start_answer(JsonbParseState **state, Jsonb *given)
{
	kv_json_open(state);
	kv_dynamodb_each(&given->root, add_member, state);
}

/* BatchWriteItem */
Jsonb *
kv_dynamodb_batch_write_item(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"RequestItems", KV_DYNAMO_OBJECT, true}, CAPACITY, METRICS};
	KvDynamoValue value[lengthof(members)];
	KvCaller	caller = {find_table, kv_dynamodb_plain};
	KvDynamoMetrics metrics = {0};
	JsonbParseState *state = NULL;
	JsonbContainer *tables;

	kv_dynamodb_read(&request->root, "BatchWriteItem", NULL, members, lengthof(members), value);
	tables = kv_dynamodb_part(&value[0]);
	kv_dynamodb_each(tables, check_table_writes, REQUEST_ITEMS);
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	start_answer(&state, kv_operation_batch_write(tables, &caller));
	if (kv_dynamodb_is_wanted(&value[2]))
	{
		kv_dynamodb_each(tables, note_table_writes, &metrics);
		kv_dynamodb_add_all_metrics(&state, &metrics);
	}
	kv_dynamodb_add_capacities(&state, value[1].string, &caller, NULL);
	return kv_json_close(&state);
}

/* Adds what is asked of one table. */
static void
add_table_reads(void *argument, const JsonbValue *name, const JsonbValue *request)
{
	static const KvDynamoMember members[] = {
		{"Keys", KV_DYNAMO_ARRAY, true}, {"ProjectionExpression", KV_DYNAMO_STRING},
		{"ExpressionAttributeNames", KV_DYNAMO_NAMES, false, NULL, true}, {"ConsistentRead", KV_DYNAMO_BOOLEAN},
		{"AttributesToGet", KV_DYNAMO_STRINGS, false, NULL, true}
	};
	JsonbParseState **state = argument;
	KvDynamoLegacy legacy = {0};
	KvDynamoValue value[lengthof(members)];
	Jsonb	   *names;
	int			count;

	check_container("RequestItems", name, kv_dynamodb_is_object(request));
	kv_dynamodb_read(request->val.binary.data, "KeysAndAttributes", kv_dynamodb_member_path(REQUEST_ITEMS, name),
					 members, lengthof(members), value);
	pfree(kv_dynamodb_objects(kv_dynamodb_part(&value[0]), "Keys", &count));
	kv_dynamodb_no_mix("AttributesToGet", value[4].given,
					   value[1].given ? "ProjectionExpression" : "ExpressionAttributeNames",
					   value[1].given || value[2].given);
	names = kv_dynamodb_json(&value[2]);
	if (value[4].given)
	{
		value[1].string = kv_dynamodb_projection(&legacy, kv_dynamodb_part(&value[4]));
		names = kv_dynamodb_legacy_names(&legacy);
	}
	kv_json_push(state, WJB_KEY, name);
	kv_json_open(state);
	kv_json_add_name(state, "Keys");
	kv_json_push(state, WJB_VALUE, &value[0].part);
	if (value[1].string)
		kv_json_add_text(state, "ProjectionExpression", text_to_cstring(value[1].string));
	if (names)
		kv_json_add_jsonb(state, "ExpressionAttributeNames", names);
	if (value[3].given)
		kv_json_add_boolean(state, "ConsistentRead", value[3].boolean);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds the items of one table. */
static void
add_table_items(void *argument, const JsonbValue *name, const JsonbValue *items)
{
	kv_dynamodb_add_typed(argument, kv_dynamodb_string(name), items->val.binary.data);
}

/* What was not processed, and what it was asked as: AttributesToGet comes back as it was given. */
typedef struct Unprocessed
{
	JsonbParseState **state;
	JsonbContainer *asked;		/* RequestItems */
} Unprocessed;

/* Adds one member of what was asked of a table, but for its keys. */
static void
add_asked_member(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	if (strcmp(kv_dynamodb_string(name), "Keys") != 0)
		kv_json_add_member(argument, name, value);
}

/* Adds what was not processed of one table. */
static void
add_table_unprocessed(void *argument, const JsonbValue *name, const JsonbValue *part)
{
	Unprocessed *unprocessed = argument;
	JsonbParseState **state = unprocessed->state;
	JsonbValue	asked;
	JsonbValue	keys;

	(void) getKeyJsonValueFromContainer(unprocessed->asked, name->val.string.val, name->val.string.len, &asked);
	(void) getKeyJsonValueFromContainer(part->val.binary.data, "Keys", strlen("Keys"), &keys);
	kv_json_push(state, WJB_KEY, name);
	kv_json_open(state);
	kv_dynamodb_add_typed(state, "Keys", keys.val.binary.data);
	kv_dynamodb_each(asked.val.binary.data, add_asked_member, state);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds what was read of all tables, and what was not processed. */
static void
add_batch(JsonbParseState **state, Jsonb *given, JsonbContainer *asked)
{
	static const KvDynamoMember members[] = {{"Responses", KV_DYNAMO_OBJECT}, {"UnprocessedKeys", KV_DYNAMO_OBJECT}};
	Unprocessed unprocessed = {state, asked};
	KvDynamoValue value[lengthof(members)];

	kv_dynamodb_read(&given->root, "answer", NULL, members, lengthof(members), value);
	kv_json_add_name(state, "Responses");
	kv_json_open(state);
	kv_dynamodb_each(kv_dynamodb_part(&value[0]), add_table_items, state);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
	kv_json_add_name(state, "UnprocessedKeys");
	kv_json_open(state);
	kv_dynamodb_each(kv_dynamodb_part(&value[1]), add_table_unprocessed, &unprocessed);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* BatchGetItem */
Jsonb *
kv_dynamodb_batch_get_item(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"RequestItems", KV_DYNAMO_OBJECT, true}, CAPACITY};
	KvDynamoValue value[lengthof(members)];
	KvCaller	caller = {find_table, kv_dynamodb_plain};
	JsonbParseState *tables = NULL;
	JsonbParseState *state = NULL;
	Jsonb	   *given;

	kv_dynamodb_read(&request->root, "BatchGetItem", NULL, members, lengthof(members), value);
	kv_json_open(&tables);
	kv_dynamodb_each(kv_dynamodb_part(&value[0]), add_table_reads, &tables);
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	given = kv_operation_batch_get(&kv_json_close(&tables)->root, &caller);
	kv_json_open(&state);
	add_batch(&state, given, kv_dynamodb_part(&value[0]));
	kv_dynamodb_add_capacities(&state, value[1].string, &caller, NULL);
	return kv_json_close(&state);
}

/* TransactWriteItems */
Jsonb *
kv_dynamodb_transact_write_items(Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"TransactItems", KV_DYNAMO_ARRAY, true}, CAPACITY, METRICS, {"ClientRequestToken", KV_DYNAMO_STRING}
	};
	KvDynamoValue value[lengthof(members)];
	KvCaller	caller = {find_table, kv_dynamodb_plain};
	KvDynamoMetrics metrics = {0};
	JsonbParseState *state = NULL;
	JsonbContainer *actions;

	kv_dynamodb_read(&request->root, "TransactWriteItems", NULL, members, lengthof(members), value);
	actions = kv_dynamodb_part(&value[0]);
	check_actions(actions, "TransactItems", "transactItems");
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	start_answer(&state, kv_operation_transact_write(actions, value[3].string, &caller));
	if (kv_dynamodb_is_wanted(&value[2]))
	{
		note_actions(&metrics, NULL, actions);
		kv_dynamodb_add_all_metrics(&state, &metrics);
	}
	kv_dynamodb_add_capacities(&state, value[1].string, &caller,
							   caller.replayed ? "ReadCapacityUnits" : "WriteCapacityUnits");
	return kv_json_close(&state);
}

/* Checks that each action has a Get. */
static void
check_gets(JsonbContainer *actions)
{
	int			count;
	JsonbValue *action = kv_dynamodb_objects(actions, "TransactItems", &count);
	JsonbValue	get;

	for (int i = 0; i < count; i++)
		if (getKeyJsonValueFromContainer(action[i].val.binary.data, "Get", strlen("Get"), &get) == NULL || get.type == jbvNull)
			kv_dynamodb_refuse_null(kv_dynamodb_element_path("transactItems", i), "Get");
}

/* Adds one response: an object that has an item or nothing. */
static void
add_response(JsonbParseState **state, JsonbContainer *response)
{
	static const KvDynamoMember members[] = {{"Item", KV_DYNAMO_OBJECT}};
	KvDynamoValue item;

	kv_dynamodb_read(response, "response", NULL, members, 1, &item);
	kv_json_open(state);
	if (item.given)
		kv_json_add_jsonb(state, "Item", kv_dynamodb_typed(kv_dynamodb_json(&item)));
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* TransactGetItems */
Jsonb *
kv_dynamodb_transact_get_items(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"TransactItems", KV_DYNAMO_ARRAY, true}, CAPACITY};
	static const KvDynamoMember parts[] = {{"Responses", KV_DYNAMO_ARRAY, true}};
	KvDynamoValue value[lengthof(members)];
	KvDynamoValue part;
	KvCaller	caller = {find_table, kv_dynamodb_plain};
	JsonbParseState *state = NULL;
	JsonbContainer *actions;
	JsonbValue *response;
	int			count;

	kv_dynamodb_read(&request->root, "TransactGetItems", NULL, members, lengthof(members), value);
	actions = kv_dynamodb_part(&value[0]);
	check_gets(actions);
	check_actions(actions, "TransactItems", "transactItems");
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	kv_dynamodb_read(&kv_operation_transact_get(actions, &caller)->root, "answer", NULL, parts, 1, &part);
	response = kv_dynamodb_objects(kv_dynamodb_part(&part), "Responses", &count);
	kv_json_open(&state);
	kv_json_add_name(&state, "Responses");
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
		add_response(&state, response[i].val.binary.data);
	pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	kv_dynamodb_add_capacities(&state, value[1].string, &caller, "ReadCapacityUnits");
	return kv_json_close(&state);
}
