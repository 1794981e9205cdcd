/*
 * dynamodb_legacy.c
 *	  What came before expressions, as expressions: Expected, KeyConditions,
 *	  QueryFilter, ScanFilter, AttributesToGet and AttributeUpdates.
 *
 * Names become #_0, #_1, ..; values :_0, :_1, ..; a request has either these
 * or expressions of its own.
 *
 * Source of the rules: DynamoDB Developer Guide, "Legacy DynamoDB conditional
 * parameters".
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

/* How a comparison operator is written: $a stands for the attribute, $v for a value. */
static const struct
{
	const char *name;
	int			values;			/* how many it takes; -1: one or more */
	const char *form;
}			operators[] = {
	{"EQ", 1, "$a = $v"},
	{"NE", 1, "$a <> $v"},
	{"LE", 1, "$a <= $v"},
	{"LT", 1, "$a < $v"},
	{"GE", 1, "$a >= $v"},
	{"GT", 1, "$a > $v"},
	{"NOT_NULL", 0, "attribute_exists($a)"},
	{"NULL", 0, "attribute_not_exists($a)"},
	{"CONTAINS", 1, "contains($a, $v)"},
	{"NOT_CONTAINS", 1, "NOT contains($a, $v)"},
	{"BEGINS_WITH", 1, "begins_with($a, $v)"},
	{"IN", -1, "$a IN ($v"},
	{"BETWEEN", 2, "$a BETWEEN $v AND $v"}
};
#define OPERATOR_VALUES "EQ|NE|LE|LT|GE|GT|NOT_NULL|NULL|CONTAINS|NOT_CONTAINS|BEGINS_WITH|IN|BETWEEN"

/* Members of what is said of one attribute. */
enum
{
	CONDITION_OPERATOR,
	CONDITION_VALUES,
	CONDITION_MEMBERS,
	EXPECTED_VALUE = CONDITION_MEMBERS,
	EXPECTED_EXISTS,
	EXPECTED_MEMBERS
};
static const KvDynamoMember expected_members[EXPECTED_MEMBERS] = {
	[CONDITION_OPERATOR] = {"ComparisonOperator", KV_DYNAMO_STRING, false, OPERATOR_VALUES},
	[CONDITION_VALUES] = {"AttributeValueList", KV_DYNAMO_ARRAY},
	[EXPECTED_VALUE] = {"Value", KV_DYNAMO_OBJECT},
	[EXPECTED_EXISTS] = {"Exists", KV_DYNAMO_BOOLEAN}
};

/* An expression that is being written. */
typedef struct Writer
{
	KvDynamoLegacy *legacy;
	StringInfoData text;
	const char *joint;			/* between two parts */
	const char *path;			/* of the conditions in the request */
	StringInfoData clause[4];	/* of an update */
} Writer;

enum
{
	CLAUSE_SET,
	CLAUSE_REMOVE,
	CLAUSE_ADD,
	CLAUSE_DELETE
};
static const char *const clause_names[] = {"SET", "REMOVE", "ADD", "DELETE"};

/* Raises an error if legacy parameters come with expressions. */
void
kv_dynamodb_no_mix(const char *legacy, bool has_legacy, const char *expression, bool has_expression)
{
	if (has_legacy && has_expression)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("Can not use both expression and non-expression parameters in the same request: "
						"Non-expression parameters: {%s} Expression parameters: {%s}", legacy, expression)));
}

/* Raises an error if placeholders are given without an expression. */
void
kv_dynamodb_check_placeholders(const KvDynamoValue *names, const KvDynamoValue *values,
							   bool has_expression, const char *expressions)
{
	if (has_expression)
		return;
	if (names->given)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("ExpressionAttributeNames can only be specified when using expressions")));
	if (values && values->given)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("ExpressionAttributeValues can only be specified when using expressions: %s", expressions)));
}

/* Raises an error if ConditionalOperator comes without conditions that it could join. */
void
kv_dynamodb_check_operator(const KvDynamoValue *conditional_operator, const KvDynamoValue *conditions, const char *what)
{
	if (conditional_operator->given && !conditions->given)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("ConditionalOperator cannot be used without %s", what)));
}

/* Returns a placeholder for an attribute's name. */
static char *
add_name(KvDynamoLegacy *legacy, const JsonbValue *name)
{
	char	   *placeholder = psprintf("#_%d", legacy->count++);
	JsonbValue	value = *name;

	if (name->val.string.len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("One or more parameter values were invalid: attribute name is empty")));
	if (legacy->names == NULL)
		kv_json_open(&legacy->names);
	kv_json_add_name(&legacy->names, placeholder);
	pushJsonbValue(&legacy->names, WJB_VALUE, &value);
	return placeholder;
}

/* Returns a placeholder for a value that is about to be added. */
static char *
start_value(KvDynamoLegacy *legacy)
{
	char	   *placeholder = psprintf(":_%d", legacy->count++);

	if (legacy->values == NULL)
		kv_json_open(&legacy->values);
	kv_json_add_name(&legacy->values, placeholder);
	return placeholder;
}

/* Returns a placeholder for a typed value of an attribute, which errors name. */
static char *
add_value(KvDynamoLegacy *legacy, const JsonbValue *name, const JsonbValue *value)
{
	char	   *placeholder = start_value(legacy);
	JsonbParseState *state = NULL;
	JsonbValue	plain;
	Jsonb	   *item;

	kv_json_open(&state);
	kv_json_add_member(&state, name, value);
	item = kv_dynamodb_plain(&kv_json_close(&state)->root);
	(void) getKeyJsonValueFromContainer(&item->root, name->val.string.val, name->val.string.len, &plain);
	kv_json_push(&legacy->values, WJB_VALUE, &plain);
	return placeholder;
}

/* Writes one comparison. */
static void
write_comparison(Writer *writer, const char *operator, const JsonbValue *name, const JsonbValue *values, int count)
{
	StringInfo	text = &writer->text;
	char	   *attribute = add_name(writer->legacy, name);
	int			next = 0;
	int			i = 0;

	while (strcmp(operators[i].name, operator) != 0)
		i++;
	if (operators[i].values >= 0 ? count != operators[i].values : count < 1)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("One or more parameter values were invalid: "
						"Invalid number of argument(s) for the %s ComparisonOperator", operator)));

	if (text->len > 0)
		appendStringInfoString(text, writer->joint);
	for (const char *c = operators[i].form; *c; c++)
	{
		if (*c != '$')
			appendStringInfoChar(text, *c);
		else if (*++c == 'a')
			appendStringInfoString(text, attribute);
		else
			appendStringInfoString(text, add_value(writer->legacy, name, &values[next++]));
	}
	if (operators[i].values < 0)
	{
		while (next < count)
			appendStringInfo(text, ", %s", add_value(writer->legacy, name, &values[next++]));
		appendStringInfoChar(text, ')');
	}
}

/* Raises an error unless what is said of an attribute is an object. */
static void
check_object(const char *what, const JsonbValue *name, const JsonbValue *value)
{
	if (!kv_dynamodb_is_object(value))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s \"%s\" must be an object", what, kv_dynamodb_string(name)),
				 errdetail_internal(KV_DYNAMODB_SERIALIZATION)));
}

/* Writes what is said of one attribute by an operator and a list of values. */
static void
write_by_operator(Writer *writer, const JsonbValue *name, const KvDynamoValue *member)
{
	JsonbValue *values = NULL;
	int			count = 0;

	if (member[CONDITION_VALUES].given)
		values = kv_dynamodb_objects(kv_dynamodb_part(&member[CONDITION_VALUES]), "AttributeValueList", &count);
	write_comparison(writer, text_to_cstring(member[CONDITION_OPERATOR].string), name, values, count);
}

/* Writes the condition for one attribute. */
static void
write_condition(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	Writer	   *writer = argument;
	char	   *path = kv_dynamodb_member_path(writer->path, name);
	KvDynamoValue member[CONDITION_MEMBERS];

	check_object("condition on", name, value);
	kv_dynamodb_read(value->val.binary.data, "condition", path, expected_members, CONDITION_MEMBERS, member);
	if (!member[CONDITION_OPERATOR].given)
		kv_dynamodb_refuse_null(path, expected_members[CONDITION_OPERATOR].name);
	write_by_operator(writer, name, member);
}

/* Writes what is expected of one attribute. */
static void
write_expected(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	Writer	   *writer = argument;
	KvDynamoValue member[EXPECTED_MEMBERS];
	bool		has_value;

	check_object("Expected of", name, value);
	kv_dynamodb_read(value->val.binary.data, "Expected", kv_dynamodb_member_path("expected", name), expected_members, EXPECTED_MEMBERS, member);
	has_value = member[EXPECTED_VALUE].given;
	if (member[CONDITION_OPERATOR].given)
	{
		if (member[EXPECTED_EXISTS].given || (has_value && member[CONDITION_VALUES].given))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("One or more parameter values were invalid: "
							"Exists and Value cannot be used with ComparisonOperator and AttributeValueList for Attribute: %s",
							kv_dynamodb_string(name))));
		if (has_value)
			write_comparison(writer, text_to_cstring(member[CONDITION_OPERATOR].string), name,
							 &member[EXPECTED_VALUE].part, 1);
		else
			write_by_operator(writer, name, member);
		return;
	}
	if (member[EXPECTED_EXISTS].given && !member[EXPECTED_EXISTS].boolean && !has_value)
		write_comparison(writer, "NULL", name, NULL, 0);
	else if (has_value && (!member[EXPECTED_EXISTS].given || member[EXPECTED_EXISTS].boolean))
		write_comparison(writer, "EQ", name, &member[EXPECTED_VALUE].part, 1);
	else
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("One or more parameter values were invalid: Value must%s be provided when Exists is %s for Attribute: %s",
						has_value ? " not" : "", has_value ? "false" : "null or true",
						kv_dynamodb_string(name))));
}

/* Starts an expression whose parts are joined by AND or OR. */
static void
start(Writer *writer, KvDynamoLegacy *legacy, text *conditional_operator)
{
	memset(writer, 0, sizeof(Writer));
	writer->legacy = legacy;
	writer->joint = kv_dynamodb_is(conditional_operator, "OR") ? " OR " : " AND ";
	initStringInfo(&writer->text);
}

/* Returns the expression; NULL if it is empty. */
static text *
finish(const Writer *writer)
{
	return writer->text.len > 0 ? cstring_to_text(psprintf("%s%s", kv_expression_made_mark(), writer->text.data)) : NULL;
}

/* Returns the condition that Expected stands for. */
text *
kv_dynamodb_expected(KvDynamoLegacy *legacy, JsonbContainer *expected, text *conditional_operator)
{
	Writer		writer;

	start(&writer, legacy, conditional_operator);
	kv_dynamodb_each(expected, write_expected, &writer);
	return finish(&writer);
}

/* Returns the key condition or filter that conditions stand for. */
text *
kv_dynamodb_conditions(KvDynamoLegacy *legacy, const char *path, JsonbContainer *conditions, text *conditional_operator)
{
	Writer		writer;

	start(&writer, legacy, conditional_operator);
	writer.path = path;
	kv_dynamodb_each(conditions, write_condition, &writer);
	return finish(&writer);
}

/* Returns the projection that AttributesToGet stands for. */
text *
kv_dynamodb_projection(KvDynamoLegacy *legacy, JsonbContainer *attributes)
{
	JsonbIterator *iterator = JsonbIteratorInit(attributes);
	JsonbValue	name;
	Writer		writer;

	start(&writer, legacy, NULL);
	(void) JsonbIteratorNext(&iterator, &name, true);
	while (JsonbIteratorNext(&iterator, &name, true) == WJB_ELEM)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfo(&writer.text, "%s%s", writer.text.len > 0 ? ", " : "", add_name(legacy, &name));
	}
	return finish(&writer);
}

/* Returns a placeholder for a list without elements. */
static char *
add_empty_list(KvDynamoLegacy *legacy)
{
	char	   *placeholder = start_value(legacy);

	pushJsonbValue(&legacy->values, WJB_BEGIN_ARRAY, NULL);
	pushJsonbValue(&legacy->values, WJB_END_ARRAY, NULL);
	return placeholder;
}

/* Returns the assignment that appends a list to an attribute, which need not be there. */
static char *
append_to_list(KvDynamoLegacy *legacy, const char *attribute, const JsonbValue *name, const JsonbValue *list)
{
	char	   *added = add_value(legacy, name, list);

	return psprintf("%s = list_append(if_not_exists(%s, %s), %s)", attribute, attribute, add_empty_list(legacy), added);
}

/* Writes the update of one attribute. */
static void
write_update(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	static const KvDynamoMember members[] = {
		{"Value", KV_DYNAMO_OBJECT}, {"Action", KV_DYNAMO_STRING, false, "PUT|ADD|DELETE"}
	};
	Writer	   *writer = argument;
	KvDynamoLegacy *legacy = writer->legacy;
	KvDynamoValue member[lengthof(members)];
	char	   *action;
	char	   *attribute;
	char	   *parts;
	JsonbValue	list;
	int			clause;

	check_object("AttributeUpdates of", name, value);
	kv_dynamodb_read(value->val.binary.data, "AttributeUpdates", kv_dynamodb_member_path("attributeUpdates", name), members, lengthof(members), member);
	action = member[1].given ? text_to_cstring(member[1].string) : pstrdup("PUT");
	attribute = add_name(legacy, name);
	if (!member[0].given)
	{
		if (strcmp(action, "DELETE") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("One or more parameter values were invalid: "
							"Only DELETE action is allowed when no attribute value is specified")));
		clause = CLAUSE_REMOVE;
		parts = attribute;
	}
	else if (strcmp(action, "PUT") == 0)
	{
		clause = CLAUSE_SET;
		parts = psprintf("%s = %s", attribute, add_value(legacy, name, &member[0].part));
	}
	else if (strcmp(action, "ADD") == 0 &&
			 getKeyJsonValueFromContainer(kv_dynamodb_part(&member[0]), "L", 1, &list) != NULL)
	{
		clause = CLAUSE_SET;
		parts = append_to_list(legacy, attribute, name, &member[0].part);
	}
	else
	{
		clause = action[0] == 'A' ? CLAUSE_ADD : CLAUSE_DELETE;
		parts = psprintf("%s %s", attribute, add_value(legacy, name, &member[0].part));
	}
	if (writer->clause[clause].data == NULL)
		initStringInfo(&writer->clause[clause]);
	appendStringInfo(&writer->clause[clause], "%s%s", writer->clause[clause].len > 0 ? ", " : " ", parts);
}

/* Returns the update that AttributeUpdates stands for. */
text *
kv_dynamodb_updates(KvDynamoLegacy *legacy, JsonbContainer *updates)
{
	Writer		writer;

	start(&writer, legacy, NULL);
	kv_dynamodb_each(updates, write_update, &writer);
	for (int i = 0; i < lengthof(clause_names); i++)
		if (writer.clause[i].data != NULL)
			appendStringInfo(&writer.text, "%s%s%s", writer.text.len > 0 ? " " : "", clause_names[i],
							 writer.clause[i].data);
	return finish(&writer);
}

/* Returns the names of the placeholders. */
Jsonb *
kv_dynamodb_legacy_names(KvDynamoLegacy *legacy)
{
	return legacy->names ? kv_json_close(&legacy->names) : NULL;
}

/* Returns the values of the placeholders. */
Jsonb *
kv_dynamodb_legacy_values(KvDynamoLegacy *legacy)
{
	return legacy->values ? kv_json_close(&legacy->values) : NULL;
}
