/*
 * dynamodb_request.c
 *	  Reading the bodies of requests, and building those of answers.
 *
 * The shape is checked before anything else, as DynamoDB does.  A member of
 * the wrong JSON type is a SerializationException.  Unlike the service, a
 * member that is not known is refused: it would ask for something that does
 * not happen.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

static const char *const kind_names[] = {
	[KV_DYNAMO_STRING] = "a string",
	[KV_DYNAMO_BOOLEAN] = "true or false",
	[KV_DYNAMO_INTEGER] = "a whole number",
	[KV_DYNAMO_OBJECT] = "an object",
	[KV_DYNAMO_NAMES] = "an object of strings",
	[KV_DYNAMO_ARRAY] = "an array",
	[KV_DYNAMO_STRINGS] = "an array of strings"
};

/* Returns a string of a request, or the name of a member. */
char *
kv_dynamodb_string(const JsonbValue *string)
{
	return pnstrdup(string->val.string.val, string->val.string.len);
}

/* Returns what of a foreign string goes into a message. */
char *
kv_dynamodb_shown(const char *string, int length)
{
	int			shown = pg_mbcliplen(string, length, KV_DYNAMO_SHOWN_LENGTH);

	return psprintf("%.*s%s", shown, string, shown < length ? ".." : "");
}

/* Tells whether a text is this word. */
bool
kv_dynamodb_is(const text *value, const char *word)
{
	return value != NULL && VARSIZE_ANY_EXHDR(value) == strlen(word) &&
		memcmp(VARDATA_ANY(value), word, strlen(word)) == 0;
}

/* Returns the path of a member, as errors of constraints have it: names begin in lower case. */
static char *
constraint_path(const char *path, const char *name)
{
	char	   *whole = path ? psprintf("%s.%s", path, name) : pstrdup(name);
	char	   *first = whole + strlen(whole) - strlen(name);

	*first = pg_tolower((unsigned char) *first);
	return whole;
}

/* Raises a validation error of the form that most have. */
void
kv_dynamodb_refuse(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("One or more parameter values were invalid: %s", why)));
}

/* Raises the error of a member that is not given and must be. */
void
kv_dynamodb_refuse_null(const char *path, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("1 validation error detected: Value null at '%s' failed to satisfy constraint: "
					"Member must not be null", constraint_path(path, name))));
}

/* Returns the path of an element of an array. */
char *
kv_dynamodb_element_path(const char *array, int number)
{
	return psprintf("%s.%d.member", array, number + 1);
}

/* Returns the path of a member of a map. */
char *
kv_dynamodb_member_path(const char *map, const JsonbValue *name)
{
	return psprintf("%s.%s.member", map, kv_dynamodb_shown(name->val.string.val, name->val.string.len));
}

/* Raises an error unless a string is one of the values allowed. */
static void
check_allowed(const char *path, const KvDynamoMember *member, const text *value)
{
	StringInfoData set;

	for (const char *start = member->allowed; *start;)
	{
		int			length = strcspn(start, "|");

		if (VARSIZE_ANY_EXHDR(value) == length && memcmp(start, VARDATA_ANY(value), length) == 0)
			return;
		start += length + (start[length] == '|');
	}
	initStringInfo(&set);
	for (const char *c = member->allowed; *c; c++)
		if (*c == '|')
			appendStringInfoString(&set, ", ");
		else
			appendStringInfoChar(&set, *c);
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: "
					"Member must satisfy enum value set: [%s]",
					kv_dynamodb_shown(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)),
					constraint_path(path, member->name), set.data)));
}

/* Reads a whole number that fits 32 bits; false if it is none. */
static bool
read_integer(const JsonbValue *value, int32 *result)
{
	Datum		number;

	if (value->type != jbvNumeric || numeric_is_nan(value->val.numeric))
		return false;
	number = NumericGetDatum(value->val.numeric);
	if (DatumGetBool(DirectFunctionCall2(numeric_ne, number, DirectFunctionCall2(numeric_trunc, number, Int32GetDatum(0)))) ||
		DatumGetBool(DirectFunctionCall2(numeric_gt, number, NumericGetDatum(int64_to_numeric(PG_INT32_MAX)))) ||
		DatumGetBool(DirectFunctionCall2(numeric_lt, number, NumericGetDatum(int64_to_numeric(PG_INT32_MIN)))))
		return false;
	*result = DatumGetInt32(DirectFunctionCall1(numeric_int4, number));
	return true;
}

/* Tells whether all members of an object, or elements of an array, are strings. */
static bool
holds_strings(JsonbContainer *container)
{
	JsonbIterator *iterator = JsonbIteratorInit(container);
	JsonbIteratorToken token;
	JsonbValue	value;

	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
		if ((token == WJB_VALUE || token == WJB_ELEM) && value.type != jbvString)
			return false;
	return true;
}

/* Reads one value; false if it is not of the kind. */
static bool
read_value(const JsonbValue *value, const char *path, const KvDynamoMember *member, KvDynamoValue *result)
{
	switch (member->kind)
	{
		case KV_DYNAMO_STRING:
			if (value->type != jbvString)
				return false;
			result->string = cstring_to_text_with_len(value->val.string.val, value->val.string.len);
			if (member->allowed)
				check_allowed(path, member, result->string);
			return true;
		case KV_DYNAMO_BOOLEAN:
			result->boolean = value->type == jbvBool && value->val.boolean;
			return value->type == jbvBool;
		case KV_DYNAMO_INTEGER:
			return read_integer(value, &result->integer);
		case KV_DYNAMO_OBJECT:
		case KV_DYNAMO_NAMES:
			result->part = *value;
			return kv_dynamodb_is_object(value) &&
				(member->kind == KV_DYNAMO_OBJECT || holds_strings(value->val.binary.data));
		case KV_DYNAMO_ARRAY:
		case KV_DYNAMO_STRINGS:
			result->part = *value;
			return kv_dynamodb_is_array(value) &&
				(member->kind == KV_DYNAMO_ARRAY || holds_strings(value->val.binary.data));
		case KV_DYNAMO_ANY:
			break;
	}
	return true;
}

/* Returns a copy of an object or array of a request. */
Jsonb *
kv_dynamodb_json(const KvDynamoValue *value)
{
	JsonbValue	part = value->part;

	return value->given ? JsonbValueToJsonb(&part) : NULL;
}

/* Raises the error of an object or array that must not be empty. */
pg_noreturn static void
refuse_empty(const char *path, const KvDynamoMember *member)
{
	if (member->kind == KV_DYNAMO_OBJECT || member->kind == KV_DYNAMO_NAMES)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must not be empty", member->name)));
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("1 validation error detected: Value '[]' at '%s' failed to satisfy constraint: "
					"Member must have length greater than or equal to 1", constraint_path(path, member->name))));
}

/* Finds a member by name; count if there is none. */
static int
find_member(const JsonbValue *name, const KvDynamoMember *members, int count)
{
	int			i = 0;

	while (i < count && (strlen(members[i].name) != name->val.string.len ||
						 memcmp(members[i].name, name->val.string.val, name->val.string.len) != 0))
		i++;
	return i;
}

/* Raises the error of a member that is not known. */
pg_noreturn static void
refuse_member(const JsonbValue *name, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("%s has the unknown member \"%s\"", what,
					kv_dynamodb_shown(name->val.string.val, name->val.string.len))));
}

/* Reads the members of an object. */
void
kv_dynamodb_read(JsonbContainer *object, const char *what, const char *path, const KvDynamoMember *members, int count,
				 KvDynamoValue *values)
{
	JsonbIterator *iterator = JsonbIteratorInit(object);
	JsonbValue	unknown = {jbvNull};
	JsonbValue	name;
	JsonbValue	value;

	memset(values, 0, sizeof(KvDynamoValue) * count);
	(void) JsonbIteratorNext(&iterator, &name, true);
	while (JsonbIteratorNext(&iterator, &name, true) == WJB_KEY)
	{
		int			i = find_member(&name, members, count);

		CHECK_FOR_INTERRUPTS();
		(void) JsonbIteratorNext(&iterator, &value, true);
		if (i == count)
			unknown = name;
		if (i == count && path == NULL)
			refuse_member(&name, what);
		if (i == count || value.type == jbvNull)
			continue;
		if (!read_value(&value, path, &members[i], &values[i]))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("%s of %s must be %s", members[i].name, what, kind_names[members[i].kind]),
					 errdetail_internal(KV_DYNAMODB_SERIALIZATION)));
		values[i].given = true;
		if (members[i].not_empty && JsonContainerSize(kv_dynamodb_part(&values[i])) == 0)
			refuse_empty(path, &members[i]);
	}
	for (int i = 0; i < count; i++)
		if (members[i].required && !values[i].given)
			kv_dynamodb_refuse_null(path, members[i].name);
	if (unknown.type != jbvNull)
		refuse_member(&unknown, what);
}

/* Enters a context for a conversion, which takes many times what comes out of it; returns the caller's. */
static MemoryContext
enter_context(void)
{
	return MemoryContextSwitchTo(AllocSetContextCreate(CurrentMemoryContext, "kv.dynamodb item", ALLOCSET_DEFAULT_SIZES));
}

/* Goes back to the caller's context with an item, and frees all else. */
static Jsonb *
leave_context(MemoryContext caller, const Jsonb *item)
{
	MemoryContext own = MemoryContextSwitchTo(caller);
	Jsonb	   *copy = palloc(VARSIZE(item));

	memcpy(copy, item, VARSIZE(item));
	MemoryContextDelete(own);
	return copy;
}

/* Returns a plain item or key. */
Jsonb *
kv_dynamodb_plain(JsonbContainer *typed)
{
	MemoryContext caller;

	if (typed == NULL)
		return NULL;
	caller = enter_context();
	return leave_context(caller, kv_item_from_typed(typed));
}

/* Returns a typed item or key. */
Jsonb *
kv_dynamodb_typed(Jsonb *plain)
{
	MemoryContext caller = enter_context();

	return leave_context(caller, kv_item_to_typed(plain));
}

/* Returns the elements of an array of objects. */
JsonbValue *
kv_dynamodb_objects(JsonbContainer *array, const char *what, int *count)
{
	JsonbValue *objects = palloc(sizeof(JsonbValue) * (JsonContainerSize(array) + 1));
	JsonbIterator *iterator = JsonbIteratorInit(array);
	JsonbValue	value;

	*count = 0;
	(void) JsonbIteratorNext(&iterator, &value, true);
	while (JsonbIteratorNext(&iterator, &value, true) == WJB_ELEM)
	{
		CHECK_FOR_INTERRUPTS();
		if (!kv_dynamodb_is_object(&value))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("an element of %s is not an object", what),
					 errdetail_internal(KV_DYNAMODB_SERIALIZATION)));
		objects[(*count)++] = value;
	}
	return objects;
}

/* Calls a function for each member of an object. */
void
kv_dynamodb_each(JsonbContainer *object, KvDynamoVisitor visit, void *argument)
{
	JsonbIterator *iterator = JsonbIteratorInit(object);
	JsonbValue	name;
	JsonbValue	value;

	(void) JsonbIteratorNext(&iterator, &name, true);
	while (JsonbIteratorNext(&iterator, &name, true) == WJB_KEY)
	{
		CHECK_FOR_INTERRUPTS();
		(void) JsonbIteratorNext(&iterator, &value, true);
		visit(argument, &name, &value);
	}
}

/* Adds an array of plain items or keys as one of typed ones. */
void
kv_dynamodb_add_typed(JsonbParseState **state, const char *name, JsonbContainer *array)
{
	int			count;
	JsonbValue *item = kv_dynamodb_objects(array, name, &count);

	kv_json_add_name(state, name);
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		Jsonb	   *plain = JsonbValueToJsonb(&item[i]);

		CHECK_FOR_INTERRUPTS();
		kv_json_push_jsonb(state, WJB_ELEM, kv_dynamodb_typed(plain));
		pfree(plain);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}
