/*
 * dynamodb_item.c
 *	  PutItem, GetItem, UpdateItem and DeleteItem.
 *
 * Source of the rules: DynamoDB API reference, the operations of these names.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

#define CAPACITY_VALUES "NONE|TOTAL|INDEXES"
#define FAILURE_VALUES "NONE|ALL_OLD"

/* Members of the writes. */
enum
{
	WRITE_TABLE,
	WRITE_KEY,					/* of a put, the item */
	WRITE_CONDITION,
	WRITE_NAMES,
	WRITE_VALUES,
	WRITE_RETURN,
	WRITE_RETURN_ON_FAILURE,
	WRITE_CAPACITY,
	WRITE_METRICS,
	WRITE_EXPECTED,
	WRITE_CONDITIONAL_OPERATOR,
	WRITE_MEMBERS,
	WRITE_UPDATE = WRITE_MEMBERS,
	WRITE_ATTRIBUTE_UPDATES,
	UPDATE_MEMBERS
};
#define COMMON_MEMBERS(key, return_values) \
	[WRITE_TABLE] = {"TableName", KV_DYNAMO_STRING, true}, \
	[WRITE_KEY] = {key, KV_DYNAMO_OBJECT, true}, \
	[WRITE_CONDITION] = {"ConditionExpression", KV_DYNAMO_STRING}, \
	[WRITE_NAMES] = {"ExpressionAttributeNames", KV_DYNAMO_NAMES, false, NULL, true}, \
	[WRITE_VALUES] = {"ExpressionAttributeValues", KV_DYNAMO_OBJECT, false, NULL, true}, \
	[WRITE_RETURN] = {"ReturnValues", KV_DYNAMO_STRING, false, return_values}, \
	[WRITE_RETURN_ON_FAILURE] = {"ReturnValuesOnConditionCheckFailure", KV_DYNAMO_STRING, false, FAILURE_VALUES}, \
	[WRITE_CAPACITY] = {"ReturnConsumedCapacity", KV_DYNAMO_STRING, false, CAPACITY_VALUES}, \
	[WRITE_METRICS] = {"ReturnItemCollectionMetrics", KV_DYNAMO_STRING, false, "NONE|SIZE"}, \
	[WRITE_EXPECTED] = {"Expected", KV_DYNAMO_OBJECT}, \
	[WRITE_CONDITIONAL_OPERATOR] = {"ConditionalOperator", KV_DYNAMO_STRING, false, "AND|OR"}

static const KvDynamoMember put_members[] = {COMMON_MEMBERS("Item", "NONE|ALL_OLD")};
static const KvDynamoMember delete_members[] = {COMMON_MEMBERS("Key", "NONE|ALL_OLD")};
static const KvDynamoMember update_members[UPDATE_MEMBERS] = {
	COMMON_MEMBERS("Key", "NONE|ALL_OLD|UPDATED_OLD|ALL_NEW|UPDATED_NEW"),
	[WRITE_UPDATE] = {"UpdateExpression", KV_DYNAMO_STRING},
	[WRITE_ATTRIBUTE_UPDATES] = {"AttributeUpdates", KV_DYNAMO_OBJECT}
};

/* Members of GetItem. */
enum
{
	GET_TABLE,
	GET_KEY,
	GET_PROJECTION,
	GET_NAMES,
	GET_CONSISTENT,
	GET_CAPACITY,
	GET_ATTRIBUTES,
	GET_MEMBERS
};
static const KvDynamoMember get_members[GET_MEMBERS] = {
	[GET_TABLE] = {"TableName", KV_DYNAMO_STRING, true},
	[GET_KEY] = {"Key", KV_DYNAMO_OBJECT, true},
	[GET_PROJECTION] = {"ProjectionExpression", KV_DYNAMO_STRING},
	[GET_NAMES] = {"ExpressionAttributeNames", KV_DYNAMO_NAMES, false, NULL, true},
	[GET_CONSISTENT] = {"ConsistentRead", KV_DYNAMO_BOOLEAN},
	[GET_CAPACITY] = {"ReturnConsumedCapacity", KV_DYNAMO_STRING, false, CAPACITY_VALUES},
	[GET_ATTRIBUTES] = {"AttributesToGet", KV_DYNAMO_STRINGS, false, NULL, true}
};

/* Fills the request of a write, legacy parameters as expressions; the table last. */
static void
read_write(const KvDynamoValue *value, const KvDynamoMember *members, int count, KvWriteRequest *write)
{
	KvDynamoLegacy legacy = {0};
	KvExpressions expressions = {.condition_kind = KV_EXPRESSION_CONDITION};
	bool		has_update = count > WRITE_UPDATE && value[WRITE_UPDATE].given;
	bool		has_updates = count > WRITE_UPDATE && value[WRITE_ATTRIBUTE_UPDATES].given;
	bool		has_placeholders = value[WRITE_NAMES].given || value[WRITE_VALUES].given;
	const char *expression = has_update ? "UpdateExpression" :
		value[WRITE_CONDITION].given ? "ConditionExpression" : "ExpressionAttributeNames";

	kv_dynamodb_no_mix(value[WRITE_EXPECTED].given ? "Expected" : "AttributeUpdates",
					   value[WRITE_EXPECTED].given || has_updates, expression,
					   has_update || value[WRITE_CONDITION].given || has_placeholders);
	kv_dynamodb_check_operator(&value[WRITE_CONDITIONAL_OPERATOR], &value[WRITE_EXPECTED], "Expected");
	kv_dynamodb_check_placeholders(&value[WRITE_NAMES], &value[WRITE_VALUES], has_update || value[WRITE_CONDITION].given,
								   count > WRITE_UPDATE ? "UpdateExpression and ConditionExpression are null" :
								   "ConditionExpression is null");
	write->condition = value[WRITE_CONDITION].string;
	write->attribute_names = kv_dynamodb_json(&value[WRITE_NAMES]);
	write->attribute_values = kv_dynamodb_plain(kv_dynamodb_part(&value[WRITE_VALUES]));
	if (value[WRITE_EXPECTED].given)
		write->condition = kv_dynamodb_expected(&legacy, kv_dynamodb_part(&value[WRITE_EXPECTED]),
												value[WRITE_CONDITIONAL_OPERATOR].string);
	if (has_update)
		write->update = value[WRITE_UPDATE].string;
	else if (has_updates)
	{
		write->update = kv_dynamodb_updates(&legacy, kv_dynamodb_part(&value[WRITE_ATTRIBUTE_UPDATES]));
		write->removal_needs_item = true;
	}
	if (legacy.count > 0)
	{
		write->attribute_names = kv_dynamodb_legacy_names(&legacy);
		write->attribute_values = kv_dynamodb_legacy_values(&legacy);
	}
	write->return_values = value[WRITE_RETURN].string;
	write->return_values_on_failure = value[WRITE_RETURN_ON_FAILURE].string;
	write->key = kv_dynamodb_plain(kv_dynamodb_part(&value[WRITE_KEY]));
	write->item = write->key;
	expressions.update = write->update;
	expressions.condition = write->condition;
	expressions.names = write->attribute_names;
	expressions.values = write->attribute_values;
	write->table = kv_dynamodb_table_of(value[WRITE_TABLE].string, &expressions);
}

/* Runs a write and makes the answer. */
static Jsonb *
run_write(Jsonb *request, const char *what, const KvDynamoMember *members, int count,
		  Jsonb *(*run) (const KvWriteRequest *request))
{
	KvDynamoValue value[UPDATE_MEMBERS];
	KvWriteRequest write = {0};
	JsonbParseState *state = NULL;
	KvCapacity	capacity = {0};
	Jsonb	   *attributes;

	kv_dynamodb_read(&request->root, what, NULL, members, count, value);
	read_write(value, members, count, &write);
	if (kv_dynamodb_is_wanted(&value[WRITE_CAPACITY]))
		write.capacity = &capacity;
	attributes = run(&write);

	kv_json_open(&state);
	if (attributes)
		kv_json_add_jsonb(&state, "Attributes", kv_dynamodb_typed(attributes));
	kv_dynamodb_add_capacity(&state, value[WRITE_CAPACITY].string, write.table, &capacity);
	if (kv_dynamodb_is_wanted(&value[WRITE_METRICS]))
		kv_dynamodb_add_metrics(&state, write.table, write.key);
	return kv_json_close(&state);
}

/* PutItem */
Jsonb *
kv_dynamodb_put_item(Jsonb *request)
{
	return run_write(request, "PutItem", put_members, lengthof(put_members), kv_operation_put);
}

/* DeleteItem */
Jsonb *
kv_dynamodb_delete_item(Jsonb *request)
{
	return run_write(request, "DeleteItem", delete_members, lengthof(delete_members), kv_operation_delete);
}

/* UpdateItem */
Jsonb *
kv_dynamodb_update_item(Jsonb *request)
{
	return run_write(request, "UpdateItem", update_members, UPDATE_MEMBERS, kv_operation_update);
}

/* GetItem */
Jsonb *
kv_dynamodb_get_item(Jsonb *request)
{
	KvDynamoValue value[GET_MEMBERS];
	KvGetItemRequest get = {0};
	KvDynamoLegacy legacy = {0};
	KvExpressions expressions = {0};
	KvCapacity	capacity = {0};
	JsonbParseState *state = NULL;
	Jsonb	   *item;

	kv_dynamodb_read(&request->root, "GetItem", NULL, get_members, GET_MEMBERS, value);
	kv_dynamodb_no_mix("AttributesToGet", value[GET_ATTRIBUTES].given,
					   value[GET_PROJECTION].given ? "ProjectionExpression" : "ExpressionAttributeNames",
					   value[GET_PROJECTION].given || value[GET_NAMES].given);
	kv_dynamodb_check_placeholders(&value[GET_NAMES], NULL, value[GET_PROJECTION].given, NULL);
	get.projection = value[GET_PROJECTION].string;
	get.attribute_names = kv_dynamodb_json(&value[GET_NAMES]);
	if (value[GET_ATTRIBUTES].given)
	{
		get.projection = kv_dynamodb_projection(&legacy, kv_dynamodb_part(&value[GET_ATTRIBUTES]));
		get.attribute_names = kv_dynamodb_legacy_names(&legacy);
	}
	get.consistent_read = value[GET_CONSISTENT].boolean;
	get.key = kv_dynamodb_plain(kv_dynamodb_part(&value[GET_KEY]));
	expressions.projection = get.projection;
	expressions.names = get.attribute_names;
	get.table = kv_dynamodb_table_of(value[GET_TABLE].string, &expressions);
	if (kv_dynamodb_is_wanted(&value[GET_CAPACITY]))
		get.capacity = &capacity;
	item = kv_operation_get_item(&get);

	kv_json_open(&state);
	if (item)
		kv_json_add_jsonb(&state, "Item", kv_dynamodb_typed(item));
	kv_dynamodb_add_capacity(&state, value[GET_CAPACITY].string, get.table, &capacity);
	return kv_json_close(&state);
}
