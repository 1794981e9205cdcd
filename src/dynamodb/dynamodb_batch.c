/*
 * dynamodb_batch.c
 *	  BatchGetItem, BatchWriteItem, TransactGetItems and TransactWriteItems.
 *
 * Requests are rewritten into those of kv.batch_get_item() and its kin, which
 * have the same shape with plain items, and answers back.
 *
 * Source of the rules: DynamoDB API reference, the operations of these names.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

#define CAPACITY {"ReturnConsumedCapacity", KV_DYNAMO_STRING, false, "NONE|TOTAL|INDEXES"}
/* How paths of what is in a batch begin. */
#define REQUEST_ITEMS "requestItems"

#define METRICS {"ReturnItemCollectionMetrics", KV_DYNAMO_STRING, false, "NONE|SIZE"}

/* A request that is being rewritten. */
typedef struct Rewriter
{
	JsonbParseState *state;
	const char *table;			/* that is written to here; NULL: none, or not known */
	KvDynamoMetrics metrics;
} Rewriter;

/* Tells whether a value is null: that counts as not given. */
static bool
is_null(Jsonb *value)
{
	JsonbValue	scalar;

	return JB_ROOT_IS_SCALAR(value) && JsonbExtractScalar(&value->root, &scalar) && scalar.type == jbvNull;
}

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

/* Tells whether a member of a request holds an item, a key or values. */
static bool
is_typed_member(const JsonbValue *name)
{
	static const char *const typed[] = {"Item", "Key", "ExpressionAttributeValues"};

	for (int i = 0; i < lengthof(typed); i++)
		if (strlen(typed[i]) == name->val.string.len && memcmp(typed[i], name->val.string.val, name->val.string.len) == 0)
			return true;
	return false;
}

/* Adds a member of an action: what is typed made plain, all else as it is. */
static void
add_action_member(void *argument, const JsonbValue *name, Jsonb *value)
{
	Rewriter   *rewriter = argument;

	if (is_typed_member(name) && JB_ROOT_IS_OBJECT(value))
	{
		value = kv_dynamodb_plain(value);
		/* a key or an item, not values: it belongs to a collection */
		if (rewriter->table && name->val.string.val[0] != 'E')
			kv_dynamodb_note_collection(&rewriter->metrics, rewriter->table, value);
	}
	kv_dynamodb_add_member(&rewriter->state, name, value);
}

/* Returns the table that an action of a transaction writes to; NULL if it writes to none. */
static const char *
written_table(const JsonbValue *verb, Jsonb *action)
{
	JsonbValue	table;

	if (strcmp(kv_dynamodb_string(verb), "ConditionCheck") == 0 ||
		getKeyJsonValueFromContainer(&action->root, "TableName", strlen("TableName"), &table) == NULL ||
		table.type != jbvString)
		return NULL;
	return kv_dynamodb_string(&table);
}

#define MAX_REQUIRED 3

/* What actions do, and the members that they must have for it. */
typedef struct Verb
{
	const char *name;
	const char *required[MAX_REQUIRED];
} Verb;
static const Verb verbs[] = {
	{"Put", {"TableName", "Item"}}, {"Update", {"TableName", "Key", "UpdateExpression"}}, {"Delete", {"TableName", "Key"}},
	{"ConditionCheck", {"TableName", "Key", "ConditionExpression"}}, {"Get", {"TableName", "Key"}},
	{"PutRequest", {"Item"}}, {"DeleteRequest", {"Key"}}
};

/* Finds a verb, which may be one of another operation: that sees the operation itself. */
static const Verb *
find_verb(const JsonbValue *name)
{
	for (int i = 0; i < lengthof(verbs); i++)
		if (strlen(verbs[i].name) == name->val.string.len &&
			memcmp(verbs[i].name, name->val.string.val, name->val.string.len) == 0)
			return &verbs[i];
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("action has the unknown member \"%s\"", kv_dynamodb_shown(name->val.string.val, name->val.string.len))));
}

/* Raises an error unless a verb has what it must. */
static void
check_required(const Verb *verb, const char *path, const KvDynamoMember *members, int count, const KvDynamoValue *value)
{
	for (int i = 0; i < MAX_REQUIRED && verb->required[i]; i++)
		for (int j = 0; j < count; j++)
			if (strcmp(members[j].name, verb->required[i]) == 0 && !value[j].given)
				kv_dynamodb_refuse_null(path, members[j].name);
}

/* Checks the shape of one verb of an action, such as Put or PutRequest; the argument is the action's path. */
static void
check_verb(void *argument, const JsonbValue *name, Jsonb *value)
{
	/* what JSON types they have; which of them are for the verb the operation knows */
	static const KvDynamoMember members[] = {
		{"TableName", KV_DYNAMO_STRING}, {"Key", KV_DYNAMO_OBJECT}, {"Item", KV_DYNAMO_OBJECT},
		{"ConditionExpression", KV_DYNAMO_STRING}, {"UpdateExpression", KV_DYNAMO_STRING},
		{"ProjectionExpression", KV_DYNAMO_STRING}, {"ExpressionAttributeNames", KV_DYNAMO_OBJECT, false, NULL, true},
		{"ExpressionAttributeValues", KV_DYNAMO_OBJECT, false, NULL, true},
		{"ReturnValuesOnConditionCheckFailure", KV_DYNAMO_STRING, false, "NONE|ALL_OLD"}
	};
	KvDynamoValue given[lengthof(members)];
	const Verb *verb = find_verb(name);
	char	   *path = psprintf("%s.%s", (const char *) argument, verb->name);

	if (is_null(value))
		return;
	check_container("action", name, JB_ROOT_IS_OBJECT(value));
	path[strlen(argument) + 1] = pg_tolower((unsigned char) path[strlen(argument) + 1]);
	kv_dynamodb_read(value, verb->name, path, members, lengthof(members), given);
	check_required(verb, path, members, lengthof(members), given);
}

/* Checks the shape of an array of actions, before anything in them is read. */
static void
check_actions(Jsonb *actions, const char *what, const char *path)
{
	int			count;
	Jsonb	  **action = kv_dynamodb_objects(actions, what, &count);

	for (int i = 0; i < count; i++)
		kv_dynamodb_each(action[i], check_verb, kv_dynamodb_element_path(path, i));
}

/* Adds one verb of an action. */
static void
add_verb(void *argument, const JsonbValue *name, Jsonb *value)
{
	Rewriter   *rewriter = argument;

	if (is_null(value))
		return;
	kv_dynamodb_add_name(&rewriter->state, kv_dynamodb_string(name));
	kv_dynamodb_open(&rewriter->state);
	kv_dynamodb_each(value, add_action_member, rewriter);
	pushJsonbValue(&rewriter->state, WJB_END_OBJECT, NULL);
}

/* The same in a transaction, where each action names its table. */
static void
add_transact_verb(void *argument, const JsonbValue *name, Jsonb *value)
{
	Rewriter   *rewriter = argument;

	if (JB_ROOT_IS_OBJECT(value))
		rewriter->table = written_table(name, value);
	add_verb(argument, name, value);
}

/* Adds an array of actions. */
static void
add_actions(Rewriter *rewriter, Jsonb *actions, const char *what, KvDynamoVisitor add)
{
	int			count;
	Jsonb	  **action = kv_dynamodb_objects(actions, what, &count);

	pushJsonbValue(&rewriter->state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		kv_dynamodb_open(&rewriter->state);
		kv_dynamodb_each(action[i], add, rewriter);
		pushJsonbValue(&rewriter->state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(&rewriter->state, WJB_END_ARRAY, NULL);
}

/* Checks the shape of the writes to one table. */
static void
check_table_writes(void *argument, const JsonbValue *name, Jsonb *value)
{
	check_container("RequestItems", name, JB_ROOT_IS_ARRAY(value) && !JB_ROOT_IS_SCALAR(value));
	check_actions(value, "RequestItems", kv_dynamodb_member_path(argument, name));
}

/* Counts the writes to one table. */
static void
count_writes(void *argument, const JsonbValue *name, Jsonb *value)
{
	*(int *) argument += JB_ROOT_COUNT(value);
}

/* Checks the shape of the writes to all tables, and how many they are. */
static void
check_batch(Jsonb *tables)
{
	int			count = 0;

	kv_dynamodb_each(tables, check_table_writes, REQUEST_ITEMS);
	kv_dynamodb_each(tables, count_writes, &count);
	kv_request_check_count("writes", count, KV_MAX_BATCH_WRITES);
}

/* Counts the keys of one table; what has another shape is seen later. */
static void
count_keys(void *argument, const JsonbValue *name, Jsonb *value)
{
	JsonbValue	keys;

	if (JB_ROOT_IS_OBJECT(value) && getKeyJsonValueFromContainer(&value->root, "Keys", strlen("Keys"), &keys) &&
		keys.type == jbvBinary)
		*(int *) argument += JsonContainerSize(keys.val.binary.data);
}

/* Checks that not too many keys are asked for. */
static void
check_reads(Jsonb *tables)
{
	int			count = 0;

	kv_dynamodb_each(tables, count_keys, &count);
	if (count > 0)
		kv_request_check_count("keys", count, KV_MAX_BATCH_GETS);
}

/* Checks the shape of a transaction, and how many actions it has. */
static void
check_transaction(Jsonb *actions)
{
	check_actions(actions, "TransactItems", "transactItems");
	kv_request_check_count("actions", JB_ROOT_COUNT(actions), KV_MAX_TRANSACT_ACTIONS);
}

/* Runs a check of a part of the request, and frees the copies that it makes of it. */
static void
run_check(void (*check) (Jsonb *part), Jsonb *part)
{
	MemoryContext own = AllocSetContextCreate(CurrentMemoryContext, "kv.dynamodb check", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(own);

	check(part);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(own);
}

/* Adds the writes to one table. */
static void
add_table_writes(void *argument, const JsonbValue *name, Jsonb *value)
{
	Rewriter   *rewriter = argument;

	rewriter->table = kv_dynamodb_string(name);
	kv_dynamodb_add_name(&rewriter->state, rewriter->table);
	add_actions(rewriter, value, "RequestItems", add_verb);
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
add_member(void *argument, const JsonbValue *name, Jsonb *value)
{
	kv_dynamodb_add_member(argument, name, value);
}

/* Starts an answer that has what the operation gave. */
static void
start_answer(JsonbParseState **state, Jsonb *given)
{
	kv_dynamodb_open(state);
	kv_dynamodb_each(given, add_member, state);
}

/* BatchWriteItem */
Jsonb *
kv_dynamodb_batch_write_item(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"RequestItems", KV_DYNAMO_OBJECT, true}, CAPACITY, METRICS};
	KvDynamoValue value[lengthof(members)];
	KvCaller	caller = {find_table};
	Rewriter	rewriter = {0};
	JsonbParseState *state = NULL;
	Jsonb	   *given;

	kv_dynamodb_read(request, "BatchWriteItem", NULL, members, lengthof(members), value);
	run_check(check_batch, value[0].json);
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_add_name(&rewriter.state, "RequestItems");
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_each(value[0].json, add_table_writes, &rewriter);
	pushJsonbValue(&rewriter.state, WJB_END_OBJECT, NULL);
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	given = kv_operation_batch_write(kv_dynamodb_close(&rewriter.state), &caller);
	start_answer(&state, given);
	if (kv_dynamodb_is_wanted(&value[2]))
		kv_dynamodb_add_all_metrics(&state, &rewriter.metrics);
	kv_dynamodb_add_capacities(&state, value[1].string, &caller, NULL);
	return kv_dynamodb_close(&state);
}

/* Adds what is asked of one table. */
static void
add_table_reads(void *argument, const JsonbValue *name, Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"Keys", KV_DYNAMO_ARRAY, true}, {"ProjectionExpression", KV_DYNAMO_STRING},
		{"ExpressionAttributeNames", KV_DYNAMO_OBJECT, false, NULL, true}, {"ConsistentRead", KV_DYNAMO_BOOLEAN},
		{"AttributesToGet", KV_DYNAMO_ARRAY}
	};
	Rewriter   *rewriter = argument;
	JsonbParseState **state = &rewriter->state;
	KvDynamoLegacy legacy = {0};
	KvDynamoValue value[lengthof(members)];

	check_container("RequestItems", name, JB_ROOT_IS_OBJECT(request));
	kv_dynamodb_read(request, "KeysAndAttributes", kv_dynamodb_member_path(REQUEST_ITEMS, name), members, lengthof(members), value);
	kv_dynamodb_no_mix("AttributesToGet", value[4].given,
					   value[1].given ? "ProjectionExpression" : "ExpressionAttributeNames",
					   value[1].given || value[2].given);
	if (value[4].given)
	{
		value[1].string = kv_dynamodb_projection(&legacy, value[4].json);
		value[2].json = kv_dynamodb_legacy_names(&legacy);
	}
	kv_dynamodb_add_name(state, kv_dynamodb_string(name));
	kv_dynamodb_open(state);
	kv_dynamodb_add_converted(state, "Keys", value[0].json, kv_dynamodb_plain);
	if (value[1].string)
		kv_dynamodb_add_text(state, "ProjectionExpression", text_to_cstring(value[1].string));
	if (value[2].json)
		kv_dynamodb_add_json(state, "ExpressionAttributeNames", value[2].json);
	if (value[3].given)
		kv_dynamodb_add_boolean(state, "ConsistentRead", value[3].boolean);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds the items of one table. */
static void
add_table_items(void *argument, const JsonbValue *name, Jsonb *items)
{
	JsonbParseState **state = argument;

	kv_dynamodb_add_converted(state, kv_dynamodb_string(name), items, kv_dynamodb_typed);
}

/* What was not processed, and what it was asked as: AttributesToGet comes back as it was given. */
typedef struct Unprocessed
{
	JsonbParseState **state;
	Jsonb	   *asked;			/* RequestItems */
} Unprocessed;

/* Adds one member of what was asked of a table, but for its keys. */
static void
add_asked_member(void *argument, const JsonbValue *name, Jsonb *value)
{
	if (strcmp(kv_dynamodb_string(name), "Keys") != 0)
		kv_dynamodb_add_member(argument, name, value);
}

/* Adds what was not processed of one table. */
static void
add_table_unprocessed(void *argument, const JsonbValue *name, Jsonb *part)
{
	Unprocessed *unprocessed = argument;
	JsonbParseState **state = unprocessed->state;
	JsonbValue	asked;
	JsonbValue	keys;

	(void) getKeyJsonValueFromContainer(&unprocessed->asked->root, name->val.string.val, name->val.string.len, &asked);
	(void) getKeyJsonValueFromContainer(&part->root, "Keys", strlen("Keys"), &keys);
	kv_dynamodb_add_name(state, kv_dynamodb_string(name));
	kv_dynamodb_open(state);
	kv_dynamodb_add_converted(state, "Keys", JsonbValueToJsonb(&keys), kv_dynamodb_typed);
	kv_dynamodb_each(JsonbValueToJsonb(&asked), add_asked_member, state);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Adds what was read of all tables, and what was not processed. */
static void
add_batch(JsonbParseState **state, Jsonb *given, Jsonb *asked)
{
	static const KvDynamoMember members[] = {{"Responses", KV_DYNAMO_OBJECT}, {"UnprocessedKeys", KV_DYNAMO_OBJECT}};
	Unprocessed unprocessed = {state, asked};
	KvDynamoValue value[lengthof(members)];

	kv_dynamodb_read(given, "answer", NULL, members, lengthof(members), value);
	kv_dynamodb_add_name(state, "Responses");
	kv_dynamodb_open(state);
	kv_dynamodb_each(value[0].json, add_table_items, state);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
	kv_dynamodb_add_name(state, "UnprocessedKeys");
	kv_dynamodb_open(state);
	kv_dynamodb_each(value[1].json, add_table_unprocessed, &unprocessed);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* BatchGetItem */
Jsonb *
kv_dynamodb_batch_get_item(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"RequestItems", KV_DYNAMO_OBJECT, true}, CAPACITY};
	KvDynamoValue value[lengthof(members)];
	KvCaller	caller = {find_table};
	Rewriter	rewriter = {0};
	JsonbParseState *state = NULL;
	Jsonb	   *given;

	kv_dynamodb_read(request, "BatchGetItem", NULL, members, lengthof(members), value);
	run_check(check_reads, value[0].json);
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_add_name(&rewriter.state, "RequestItems");
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_each(value[0].json, add_table_reads, &rewriter);
	pushJsonbValue(&rewriter.state, WJB_END_OBJECT, NULL);
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	given = kv_operation_batch_get(kv_dynamodb_close(&rewriter.state), &caller);
	kv_dynamodb_open(&state);
	add_batch(&state, given, value[0].json);
	kv_dynamodb_add_capacities(&state, value[1].string, &caller, NULL);
	return kv_dynamodb_close(&state);
}

/* Checks that each action has a Get. */
static void
check_gets(Jsonb *actions)
{
	int			count;
	Jsonb	  **action = kv_dynamodb_objects(actions, "TransactItems", &count);
	JsonbValue	get;

	for (int i = 0; i < count; i++)
		if (getKeyJsonValueFromContainer(&action[i]->root, "Get", strlen("Get"), &get) == NULL || get.type == jbvNull)
			kv_dynamodb_refuse_null(kv_dynamodb_element_path("transactItems", i), "Get");
}

/* Returns a transaction's request with plain items. */
static Jsonb *
rewrite_transaction(Rewriter *rewriter, const KvDynamoValue *items)
{
	run_check(check_transaction, items->json);
	kv_dynamodb_open(&rewriter->state);
	kv_dynamodb_add_name(&rewriter->state, "TransactItems");
	add_actions(rewriter, items->json, "TransactItems", add_transact_verb);
	return kv_dynamodb_close(&rewriter->state);
}

/* TransactWriteItems */
Jsonb *
kv_dynamodb_transact_write_items(Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"TransactItems", KV_DYNAMO_ARRAY, true}, CAPACITY, METRICS, {"ClientRequestToken", KV_DYNAMO_STRING}
	};
	KvDynamoValue value[lengthof(members)];
	KvCaller	caller = {find_table};
	Rewriter	rewriter = {0};
	JsonbParseState *state = NULL;
	Jsonb	   *given;

	kv_dynamodb_read(request, "TransactWriteItems", NULL, members, lengthof(members), value);
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	given = kv_operation_transact_write(rewrite_transaction(&rewriter, &value[0]), value[3].string, &caller);
	start_answer(&state, given);
	if (kv_dynamodb_is_wanted(&value[2]))
		kv_dynamodb_add_all_metrics(&state, &rewriter.metrics);
	kv_dynamodb_add_capacities(&state, value[1].string, &caller,
							   caller.replayed ? "ReadCapacityUnits" : "WriteCapacityUnits");
	return kv_dynamodb_close(&state);
}

/* Adds one response: an object that has an item or nothing. */
static void
add_response(JsonbParseState **state, Jsonb *response)
{
	static const KvDynamoMember members[] = {{"Item", KV_DYNAMO_OBJECT}};
	KvDynamoValue item;

	kv_dynamodb_read(response, "response", NULL, members, 1, &item);
	kv_dynamodb_open(state);
	if (item.given)
		kv_dynamodb_add_json(state, "Item", kv_dynamodb_typed(item.json));
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
	KvCaller	caller = {find_table};
	Rewriter	rewriter = {0};
	JsonbParseState *state = NULL;
	Jsonb	  **response;
	int			count;

	kv_dynamodb_read(request, "TransactGetItems", NULL, members, lengthof(members), value);
	run_check(check_gets, value[0].json);
	caller.measured = kv_dynamodb_is_wanted(&value[1]);
	kv_dynamodb_read(kv_operation_transact_get(rewrite_transaction(&rewriter, &value[0]), &caller), "answer", NULL, parts, 1, &part);
	response = kv_dynamodb_objects(part.json, "Responses", &count);
	kv_dynamodb_open(&state);
	kv_dynamodb_add_name(&state, "Responses");
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
		add_response(&state, response[i]);
	pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	kv_dynamodb_add_capacities(&state, value[1].string, &caller, "ReadCapacityUnits");
	return kv_dynamodb_close(&state);
}
