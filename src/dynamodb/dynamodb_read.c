/*
 * dynamodb_read.c
 *	  Query and Scan.
 *
 * Source of the rules: DynamoDB API reference, the operations of these names.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

/* Members that both have, then those of one. */
enum
{
	READ_TABLE,
	READ_INDEX,
	READ_FILTER,
	READ_PROJECTION,
	READ_NAMES,
	READ_VALUES,
	READ_LIMIT,
	READ_START,
	READ_SELECT,
	READ_CONSISTENT,
	READ_CAPACITY,
	READ_ATTRIBUTES,
	READ_CONDITIONAL_OPERATOR,
	READ_LEGACY_FILTER,
	READ_MEMBERS,
	QUERY_CONDITION = READ_MEMBERS,
	QUERY_FORWARD,
	QUERY_LEGACY_CONDITIONS,
	QUERY_MEMBERS,
	SCAN_SEGMENT = READ_MEMBERS,
	SCAN_TOTAL_SEGMENTS,
	SCAN_MEMBERS
};
#define COMMON_MEMBERS(filter) \
	[READ_TABLE] = {"TableName", KV_DYNAMO_STRING, true}, \
	[READ_INDEX] = {"IndexName", KV_DYNAMO_STRING}, \
	[READ_FILTER] = {"FilterExpression", KV_DYNAMO_STRING}, \
	[READ_PROJECTION] = {"ProjectionExpression", KV_DYNAMO_STRING}, \
	[READ_NAMES] = {"ExpressionAttributeNames", KV_DYNAMO_NAMES, false, NULL, true}, \
	[READ_VALUES] = {"ExpressionAttributeValues", KV_DYNAMO_OBJECT, false, NULL, true}, \
	[READ_LIMIT] = {"Limit", KV_DYNAMO_INTEGER}, \
	[READ_START] = {"ExclusiveStartKey", KV_DYNAMO_OBJECT}, \
	[READ_SELECT] = {"Select", KV_DYNAMO_STRING, false, \
		"ALL_ATTRIBUTES|ALL_PROJECTED_ATTRIBUTES|SPECIFIC_ATTRIBUTES|COUNT"}, \
	[READ_CONSISTENT] = {"ConsistentRead", KV_DYNAMO_BOOLEAN}, \
	[READ_CAPACITY] = {"ReturnConsumedCapacity", KV_DYNAMO_STRING, false, "NONE|TOTAL|INDEXES"}, \
	[READ_ATTRIBUTES] = {"AttributesToGet", KV_DYNAMO_STRINGS, false, NULL, true}, \
	[READ_CONDITIONAL_OPERATOR] = {"ConditionalOperator", KV_DYNAMO_STRING, false, "AND|OR"}, \
	[READ_LEGACY_FILTER] = {filter, KV_DYNAMO_OBJECT}

static const KvDynamoMember query_members[QUERY_MEMBERS] = {
	COMMON_MEMBERS("QueryFilter"),
	[QUERY_CONDITION] = {"KeyConditionExpression", KV_DYNAMO_STRING},
	[QUERY_FORWARD] = {"ScanIndexForward", KV_DYNAMO_BOOLEAN},
	[QUERY_LEGACY_CONDITIONS] = {"KeyConditions", KV_DYNAMO_OBJECT}
};
static const KvDynamoMember scan_members[SCAN_MEMBERS] = {
	COMMON_MEMBERS("ScanFilter"),
	[SCAN_SEGMENT] = {"Segment", KV_DYNAMO_INTEGER},
	[SCAN_TOTAL_SEGMENTS] = {"TotalSegments", KV_DYNAMO_INTEGER}
};

/* Checks Select against what it goes with. */
static void
check_select(const KvDynamoValue *value)
{
	const text *select = value[READ_SELECT].string;
	bool		has_projection = value[READ_PROJECTION].given || value[READ_ATTRIBUTES].given;

	if (select == NULL)
		return;
	if (has_projection && !kv_dynamodb_is(select, "SPECIFIC_ATTRIBUTES"))
		kv_dynamodb_refuse(psprintf("Cannot specify the ProjectionExpression when choosing to get %s",
							   text_to_cstring(select)));
	if (!has_projection && kv_dynamodb_is(select, "SPECIFIC_ATTRIBUTES"))
		kv_dynamodb_refuse("Must specify the ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES");
	if (!value[READ_INDEX].given && kv_dynamodb_is(select, "ALL_PROJECTED_ATTRIBUTES"))
		kv_dynamodb_refuse("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
}

/* Checks what needs neither expressions nor the table: limits, names, and what goes with what. */
static void
check_request(KvDynamoValue *value, KvReadRequest *read)
{
	if (value[READ_LIMIT].given)
		read->page_size = &value[READ_LIMIT].integer;
	kv_operation_check_limits(read);
	if (value[READ_INDEX].given)
		kv_dynamodb_check_index_name(value[READ_INDEX].string, false);
	check_select(value);
}

/* Takes the expressions, or makes them of legacy parameters. */
static void
read_expressions(const KvDynamoValue *value, bool is_query, KvReadRequest *read)
{
	KvDynamoLegacy legacy = {0};
	bool		has_conditions = is_query && value[QUERY_LEGACY_CONDITIONS].given;
	bool		has_condition = is_query && value[QUERY_CONDITION].given;
	bool		has_legacy = has_conditions || value[READ_LEGACY_FILTER].given || value[READ_ATTRIBUTES].given;
	bool		has_placeholders = value[READ_NAMES].given || value[READ_VALUES].given;
	const char *name = has_conditions ? "KeyConditions" : value[READ_ATTRIBUTES].given ? "AttributesToGet" :
		is_query ? "QueryFilter" : "ScanFilter";

	kv_dynamodb_no_mix(name, has_legacy,
					   has_condition ? "KeyConditionExpression" : value[READ_FILTER].given ? "FilterExpression" :
					   value[READ_PROJECTION].given ? "ProjectionExpression" : "ExpressionAttributeNames",
					   has_condition || value[READ_FILTER].given || value[READ_PROJECTION].given || has_placeholders);
	kv_dynamodb_check_operator(&value[READ_CONDITIONAL_OPERATOR], &value[READ_LEGACY_FILTER],
							   is_query ? "QueryFilter" : "ScanFilter");
	kv_dynamodb_check_placeholders(&value[READ_NAMES], &value[READ_VALUES],
								   is_query || value[READ_FILTER].given || value[READ_PROJECTION].given,
								   "FilterExpression is null");
	if (is_query && !has_conditions && !has_condition)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")));
	read->key_condition = has_condition ? value[QUERY_CONDITION].string : NULL;
	read->filter = value[READ_FILTER].string;
	read->projection = value[READ_PROJECTION].string;
	read->attribute_names = kv_dynamodb_json(&value[READ_NAMES]);
	read->attribute_values = kv_dynamodb_plain(kv_dynamodb_part(&value[READ_VALUES]));
	if (!has_legacy)
		return;
	if (has_conditions)
	{
		read->key_condition = kv_dynamodb_conditions(&legacy, "keyConditions", kv_dynamodb_part(&value[QUERY_LEGACY_CONDITIONS]), NULL);
		/* without one it would be a scan */
		if (read->key_condition == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("Conditions can be of length 1 or 2 only")));
	}
	if (value[READ_LEGACY_FILTER].given)
		read->filter = kv_dynamodb_conditions(&legacy, is_query ? "queryFilter" : "scanFilter", kv_dynamodb_part(&value[READ_LEGACY_FILTER]),
											  value[READ_CONDITIONAL_OPERATOR].string);
	if (value[READ_ATTRIBUTES].given)
		read->projection = kv_dynamodb_projection(&legacy, kv_dynamodb_part(&value[READ_ATTRIBUTES]));
	read->attribute_names = kv_dynamodb_legacy_names(&legacy);
	read->attribute_values = kv_dynamodb_legacy_values(&legacy);
}

/* Reads one page and makes the answer. */
static Jsonb *
read_page(KvDynamoValue *value, KvReadRequest *read)
{
	JsonbParseState *state = NULL;
	KvExpressions expressions = {.condition_kind = KV_EXPRESSION_SCAN_FILTER};
	KvPage		page;

	read->consistent_read = value[READ_CONSISTENT].boolean;
	read->exclusive_start_key = kv_dynamodb_plain(kv_dynamodb_part(&value[READ_START]));
	read->all_attributes = kv_dynamodb_is(value[READ_SELECT].string, "ALL_ATTRIBUTES");
	read->count_only = kv_dynamodb_is(value[READ_SELECT].string, "COUNT");
	expressions.condition = read->filter;
	expressions.projection = read->projection;
	expressions.key_condition = read->key_condition;
	expressions.names = read->attribute_names;
	expressions.values = read->attribute_values;
	read->table = kv_dynamodb_table_of(value[READ_TABLE].string, &expressions);
	read->index_alias = value[READ_INDEX].string;
	if (read->index_alias)
		read->index = kv_dynamodb_index(read->table, read->index_alias);
	kv_operation_page(read, &page);

	kv_json_open(&state);
	if (page.items)
		kv_dynamodb_add_typed(&state, "Items", &page.items->root);
	kv_json_add_integer(&state, "Count", page.count);
	kv_json_add_integer(&state, "ScannedCount", page.scanned_count);
	if (page.last_evaluated_key)
		kv_json_add_jsonb(&state, "LastEvaluatedKey", kv_dynamodb_typed(page.last_evaluated_key));
	kv_dynamodb_add_capacity(&state, value[READ_CAPACITY].string, read->table, &page.capacity);
	return kv_json_close(&state);
}

/* Query */
Jsonb *
kv_dynamodb_query(Jsonb *request)
{
	KvDynamoValue value[QUERY_MEMBERS];
	KvReadRequest read = {0};

	kv_dynamodb_read(&request->root, "Query", NULL, query_members, QUERY_MEMBERS, value);
	read.scan_forward = !value[QUERY_FORWARD].given || value[QUERY_FORWARD].boolean;
	check_request(value, &read);
	read_expressions(value, true, &read);
	return read_page(value, &read);
}

/* Scan */
Jsonb *
kv_dynamodb_scan(Jsonb *request)
{
	KvDynamoValue value[SCAN_MEMBERS];
	KvReadRequest read = {0};

	kv_dynamodb_read(&request->root, "Scan", NULL, scan_members, SCAN_MEMBERS, value);
	if (value[SCAN_SEGMENT].given)
		read.segment = &value[SCAN_SEGMENT].integer;
	if (value[SCAN_TOTAL_SEGMENTS].given)
		read.total_segments = &value[SCAN_TOTAL_SEGMENTS].integer;
	read.scan_forward = true;
	check_request(value, &read);
	read_expressions(value, false, &read);
	return read_page(value, &read);
}
