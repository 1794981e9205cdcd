/*
 * dynamodb_batch.c
 *	  BatchGetItem, BatchWriteItem, TransactGetItems and TransactWriteItems.
 *
 * Requests are rewritten into those of kv.batch_get_item() and its kin, which
 * have the same shape with plain items and PostgreSQL's names of tables, and
 * answers back.
 *
 * Source of the rules: DynamoDB API reference, the operations of these names.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

#define CAPACITY {"ReturnConsumedCapacity", KV_DYNAMO_STRING, false, "NONE|TOTAL|INDEXES"}
#define METRICS {"ReturnItemCollectionMetrics", KV_DYNAMO_STRING, false, "NONE|SIZE"}

/* A table by both its names. */
typedef struct NamedTable
{
	char	   *name;			/* DynamoDB's */
	char	   *qualified;
} NamedTable;

/* A request that is being rewritten. */
typedef struct Rewriter
{
	JsonbParseState *state;
	List	   *tables;
} Rewriter;

/* Raises an error unless a member is an object or array. */
static void
check_container(const char *what, const JsonbValue *name, bool good)
{
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s of \"%s\" has the wrong form", what, pnstrdup(name->val.string.val, name->val.string.len)),
				 errdetail_internal("%s", kv_dynamodb_detail(KV_DYNAMODB_SERIALIZATION))));
}

/* Returns the qualified name of a table, and notes it for the way back. */
static char *
table_named(Rewriter *rewriter, const JsonbValue *name)
{
	NamedTable *table = palloc(sizeof(NamedTable));
	ListCell   *cell;

	table->name = pnstrdup(name->val.string.val, name->val.string.len);
	foreach(cell, rewriter->tables)
	{
		NamedTable *known = lfirst(cell);

		if (strcmp(known->name, table->name) == 0)
			return known->qualified;
	}
	table->qualified = kv_dynamodb_qualified_name(kv_dynamodb_table(cstring_to_text(table->name)));
	foreach(cell, rewriter->tables)
		if (strcmp(((NamedTable *) lfirst(cell))->qualified, table->qualified) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("request names table %s twice", table->name)));
	rewriter->tables = lappend(rewriter->tables, table);
	return table->qualified;
}

/* Returns DynamoDB's name of a table of the request. */
static const char *
name_back(const Rewriter *rewriter, const JsonbValue *qualified)
{
	ListCell   *cell;

	foreach(cell, rewriter->tables)
	{
		NamedTable *table = lfirst(cell);

		if (strlen(table->qualified) == qualified->val.string.len &&
			memcmp(table->qualified, qualified->val.string.val, qualified->val.string.len) == 0)
			return table->name;
	}
	elog(ERROR, "answer names an unknown table");
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

/* Adds a value of any kind. */
static void
add_value(JsonbParseState **state, JsonbIteratorToken token, Jsonb *value)
{
	JsonbValue	scalar;

	if (JB_ROOT_IS_SCALAR(value))
	{
		(void) JsonbExtractScalar(&value->root, &scalar);
		pushJsonbValue(state, token, &scalar);
	}
	else
	{
		scalar.type = jbvBinary;
		scalar.val.binary.data = &value->root;
		scalar.val.binary.len = VARSIZE(value) - VARHDRSZ;
		pushJsonbValue(state, token, &scalar);
	}
}

/* Adds a member of an action: table names and items rewritten, all else as it is. */
static void
add_action_member(void *argument, const JsonbValue *name, Jsonb *value)
{
	Rewriter   *rewriter = argument;
	JsonbValue	scalar;

	if (strncmp(name->val.string.val, "TableName", name->val.string.len) == 0 &&
		name->val.string.len == strlen("TableName") &&
		JB_ROOT_IS_SCALAR(value) && JsonbExtractScalar(&value->root, &scalar) && scalar.type == jbvString)
	{
		kv_dynamodb_add_text(&rewriter->state, "TableName", table_named(rewriter, &scalar));
		return;
	}
	kv_dynamodb_add_name(&rewriter->state, pnstrdup(name->val.string.val, name->val.string.len));
	add_value(&rewriter->state, WJB_VALUE,
			  is_typed_member(name) && JB_ROOT_IS_OBJECT(value) ? kv_dynamodb_plain(value) : value);
}

/* Adds one verb of an action, such as Put or PutRequest. */
static void
add_verb(void *argument, const JsonbValue *name, Jsonb *value)
{
	Rewriter   *rewriter = argument;

	check_container("action", name, JB_ROOT_IS_OBJECT(value));
	kv_dynamodb_add_name(&rewriter->state, pnstrdup(name->val.string.val, name->val.string.len));
	kv_dynamodb_open(&rewriter->state);
	kv_dynamodb_each(value, add_action_member, rewriter);
	pushJsonbValue(&rewriter->state, WJB_END_OBJECT, NULL);
}

/* Adds an array of actions. */
static void
add_actions(Rewriter *rewriter, Jsonb *actions, const char *what)
{
	int			count;
	Jsonb	  **action = kv_dynamodb_objects(actions, what, &count);

	pushJsonbValue(&rewriter->state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		kv_dynamodb_open(&rewriter->state);
		kv_dynamodb_each(action[i], add_verb, rewriter);
		pushJsonbValue(&rewriter->state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(&rewriter->state, WJB_END_ARRAY, NULL);
}

/* Adds the writes to one table. */
static void
add_table_writes(void *argument, const JsonbValue *name, Jsonb *value)
{
	Rewriter   *rewriter = argument;

	check_container("RequestItems", name, JB_ROOT_IS_ARRAY(value) && !JB_ROOT_IS_SCALAR(value));
	kv_dynamodb_add_name(&rewriter->state, table_named(rewriter, name));
	add_actions(rewriter, value, "RequestItems");
}

/* Refuses to return what these operations do not count. */
static void
check_none(const KvDynamoMember *member, const KvDynamoValue *value)
{
	if (value->given && !kv_dynamodb_is(value->string, "NONE"))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s of batches and transactions must be NONE", member->name),
				 errhint("Operations on single items, Query and Scan count what they cost.")));
}

/* BatchWriteItem */
Jsonb *
kv_dynamodb_batch_write_item(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"RequestItems", KV_DYNAMO_OBJECT, true}, CAPACITY, METRICS};
	KvDynamoValue value[lengthof(members)];
	Rewriter	rewriter = {0};

	kv_dynamodb_read(request, "BatchWriteItem", members, lengthof(members), value);
	check_none(&members[1], &value[1]);
	check_none(&members[2], &value[2]);
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_add_name(&rewriter.state, "RequestItems");
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_each(value[0].json, add_table_writes, &rewriter);
	pushJsonbValue(&rewriter.state, WJB_END_OBJECT, NULL);
	return kv_operation_batch_write(kv_dynamodb_close(&rewriter.state));
}

/* Adds an array of typed items or keys, made plain, or the other way round. */
static void
add_converted(JsonbParseState **state, Jsonb *array, const char *what, Jsonb *(*convert) (Jsonb *))
{
	int			count;
	Jsonb	  **element = kv_dynamodb_objects(array, what, &count);

	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
		kv_dynamodb_add_element(state, convert(element[i]));
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Adds what is asked of one table. */
static void
add_table_reads(void *argument, const JsonbValue *name, Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"Keys", KV_DYNAMO_ARRAY, true}, {"ProjectionExpression", KV_DYNAMO_STRING},
		{"ExpressionAttributeNames", KV_DYNAMO_OBJECT}, {"ConsistentRead", KV_DYNAMO_BOOLEAN},
		{"AttributesToGet", KV_DYNAMO_ARRAY}
	};
	Rewriter   *rewriter = argument;
	JsonbParseState **state = &rewriter->state;
	KvDynamoLegacy legacy = {0};
	KvDynamoValue value[lengthof(members)];

	check_container("RequestItems", name, JB_ROOT_IS_OBJECT(request));
	kv_dynamodb_read(request, "KeysAndAttributes", members, lengthof(members), value);
	kv_dynamodb_no_mix("AttributesToGet", value[4].given,
					   value[1].given ? "ProjectionExpression" : "ExpressionAttributeNames",
					   value[1].given || value[2].given);
	if (value[4].given)
	{
		value[1].string = kv_dynamodb_projection(&legacy, value[4].json);
		value[2].json = kv_dynamodb_legacy_names(&legacy);
	}
	kv_dynamodb_add_name(state, table_named(rewriter, name));
	kv_dynamodb_open(state);
	kv_dynamodb_add_name(state, "Keys");
	add_converted(state, value[0].json, "Keys", kv_item_from_typed);
	if (value[1].string)
		kv_dynamodb_add_text(state, "ProjectionExpression", text_to_cstring(value[1].string));
	if (value[2].json)
		kv_dynamodb_add_json(state, "ExpressionAttributeNames", value[2].json);
	if (value[3].given)
		kv_dynamodb_add_boolean(state, "ConsistentRead", value[3].boolean);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* An answer that is being made of another. */
typedef struct Answer
{
	JsonbParseState *state;
	const Rewriter *rewriter;
} Answer;

/* Adds the items of one table. */
static void
add_table_items(void *argument, const JsonbValue *name, Jsonb *items)
{
	Answer	   *answer = argument;

	kv_dynamodb_add_name(&answer->state, name_back(answer->rewriter, name));
	add_converted(&answer->state, items, "Responses", kv_item_to_typed);
}

/* Adds one member of what was not processed of a table. */
static void
add_unprocessed_member(void *argument, const JsonbValue *name, Jsonb *value)
{
	JsonbParseState **state = argument;

	kv_dynamodb_add_name(state, pnstrdup(name->val.string.val, name->val.string.len));
	if (JB_ROOT_IS_ARRAY(value) && !JB_ROOT_IS_SCALAR(value))
		add_converted(state, value, "Keys", kv_item_to_typed);
	else
		add_value(state, WJB_VALUE, value);
}

/* Adds what was not processed of one table. */
static void
add_table_unprocessed(void *argument, const JsonbValue *name, Jsonb *value)
{
	Answer	   *answer = argument;

	kv_dynamodb_add_name(&answer->state, name_back(answer->rewriter, name));
	kv_dynamodb_open(&answer->state);
	kv_dynamodb_each(value, add_unprocessed_member, &answer->state);
	pushJsonbValue(&answer->state, WJB_END_OBJECT, NULL);
}

/* BatchGetItem */
Jsonb *
kv_dynamodb_batch_get_item(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"RequestItems", KV_DYNAMO_OBJECT, true}, CAPACITY};
	static const KvDynamoMember parts[] = {{"Responses", KV_DYNAMO_OBJECT, true}, {"UnprocessedKeys", KV_DYNAMO_OBJECT, true}};
	KvDynamoValue value[lengthof(members)];
	KvDynamoValue part[lengthof(parts)];
	Rewriter	rewriter = {0};
	Answer		answer = {NULL, &rewriter};

	kv_dynamodb_read(request, "BatchGetItem", members, lengthof(members), value);
	check_none(&members[1], &value[1]);
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_add_name(&rewriter.state, "RequestItems");
	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_each(value[0].json, add_table_reads, &rewriter);
	pushJsonbValue(&rewriter.state, WJB_END_OBJECT, NULL);
	kv_dynamodb_read(kv_operation_batch_get(kv_dynamodb_close(&rewriter.state)), "answer", parts, lengthof(parts), part);

	kv_dynamodb_open(&answer.state);
	kv_dynamodb_add_name(&answer.state, "Responses");
	kv_dynamodb_open(&answer.state);
	kv_dynamodb_each(part[0].json, add_table_items, &answer);
	pushJsonbValue(&answer.state, WJB_END_OBJECT, NULL);
	kv_dynamodb_add_name(&answer.state, "UnprocessedKeys");
	kv_dynamodb_open(&answer.state);
	kv_dynamodb_each(part[1].json, add_table_unprocessed, &answer);
	pushJsonbValue(&answer.state, WJB_END_OBJECT, NULL);
	return kv_dynamodb_close(&answer.state);
}

/* Returns a transaction's request with plain items. */
static Jsonb *
rewrite_transaction(const KvDynamoValue *items)
{
	Rewriter	rewriter = {0};

	kv_dynamodb_open(&rewriter.state);
	kv_dynamodb_add_name(&rewriter.state, "TransactItems");
	add_actions(&rewriter, items->json, "TransactItems");
	return kv_dynamodb_close(&rewriter.state);
}

/* TransactWriteItems */
Jsonb *
kv_dynamodb_transact_write_items(Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"TransactItems", KV_DYNAMO_ARRAY, true}, CAPACITY, METRICS, {"ClientRequestToken", KV_DYNAMO_STRING}
	};
	KvDynamoValue value[lengthof(members)];

	kv_dynamodb_read(request, "TransactWriteItems", members, lengthof(members), value);
	check_none(&members[1], &value[1]);
	check_none(&members[2], &value[2]);
	return kv_operation_transact_write(rewrite_transaction(&value[0]), value[3].string);
}

/* TransactGetItems */
Jsonb *
kv_dynamodb_transact_get_items(Jsonb *request)
{
	static const KvDynamoMember members[] = {{"TransactItems", KV_DYNAMO_ARRAY, true}, CAPACITY};
	static const KvDynamoMember parts[] = {{"Responses", KV_DYNAMO_ARRAY, true}};
	static const KvDynamoMember response_members[] = {{"Item", KV_DYNAMO_OBJECT}};
	KvDynamoValue value[lengthof(members)];
	KvDynamoValue part;
	JsonbParseState *state = NULL;
	Jsonb	  **response;
	int			count;

	kv_dynamodb_read(request, "TransactGetItems", members, lengthof(members), value);
	check_none(&members[1], &value[1]);
	kv_dynamodb_read(kv_operation_transact_get(rewrite_transaction(&value[0])), "answer", parts, 1, &part);
	response = kv_dynamodb_objects(part.json, "Responses", &count);
	kv_dynamodb_open(&state);
	kv_dynamodb_add_name(&state, "Responses");
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		KvDynamoValue item;

		kv_dynamodb_read(response[i], "response", response_members, 1, &item);
		kv_dynamodb_open(&state);
		if (item.given)
			kv_dynamodb_add_json(&state, "Item", kv_item_to_typed(item.json));
		pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	return kv_dynamodb_close(&state);
}
