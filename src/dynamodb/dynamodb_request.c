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
	[KV_DYNAMO_ARRAY] = "an array"
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

/* Reads one value; false if it is not of the kind. */
static bool
read_value(JsonbValue *value, const char *path, const KvDynamoMember *member, KvDynamoValue *result)
{
	bool		is_container = value->type == jbvBinary;

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
			if (!is_container || !JsonContainerIsObject(value->val.binary.data))
				return false;
			break;
		case KV_DYNAMO_ARRAY:
			if (!is_container || !JsonContainerIsArray(value->val.binary.data))
				return false;
			break;
		case KV_DYNAMO_ANY:
			return true;
	}
	result->json = JsonbValueToJsonb(value);
	return true;
}

/* Finds a member by name. */
static int
find_member(const JsonbValue *name, const char *what, const KvDynamoMember *members, int count)
{
	for (int i = 0; i < count; i++)
		if (strlen(members[i].name) == name->val.string.len &&
			memcmp(members[i].name, name->val.string.val, name->val.string.len) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("%s has the unknown member \"%s\"", what,
					kv_dynamodb_shown(name->val.string.val, name->val.string.len))));
}

/* Reads the members of an object. */
void
kv_dynamodb_read(Jsonb *object, const char *what, const char *path, const KvDynamoMember *members, int count,
				 KvDynamoValue *values)
{
	JsonbIterator *iterator = JsonbIteratorInit(&object->root);
	JsonbValue	name;
	JsonbValue	value;

	memset(values, 0, sizeof(KvDynamoValue) * count);
	(void) JsonbIteratorNext(&iterator, &name, true);
	while (JsonbIteratorNext(&iterator, &name, true) == WJB_KEY)
	{
		int			i = find_member(&name, what, members, count);

		CHECK_FOR_INTERRUPTS();
		(void) JsonbIteratorNext(&iterator, &value, true);
		if (value.type == jbvNull)
			continue;
		if (!read_value(&value, path, &members[i], &values[i]))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("%s of %s must be %s", members[i].name, what, kind_names[members[i].kind]),
					 errdetail_internal(KV_DYNAMODB_SERIALIZATION)));
		values[i].given = true;
		if (members[i].not_empty && JB_ROOT_COUNT(values[i].json) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("%s must not be empty", members[i].name)));
	}
	for (int i = 0; i < count; i++)
		if (members[i].required && !values[i].given)
			kv_dynamodb_refuse_null(path, members[i].name);
}

/* Converts an item or key; what that takes besides, many times as much, is freed. */
static Jsonb *
convert_item(Jsonb *(*convert) (Jsonb *), Jsonb *item)
{
	MemoryContext own = AllocSetContextCreate(CurrentMemoryContext, "kv.dynamodb item", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(own);
	Jsonb	   *converted = convert(item);
	Jsonb	   *copy = MemoryContextAlloc(caller, VARSIZE(converted));

	memcpy(copy, converted, VARSIZE(converted));
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(own);
	return copy;
}

/* Returns a plain item or key. */
Jsonb *
kv_dynamodb_plain(Jsonb *typed)
{
	return typed ? convert_item(kv_item_from_typed, typed) : NULL;
}

/* Returns a typed item or key. */
Jsonb *
kv_dynamodb_typed(Jsonb *plain)
{
	return convert_item(kv_item_to_typed, plain);
}

/* Returns an element of an array that must be an object. */
static Jsonb *
read_object(JsonbValue *element, const char *what)
{
	if (element->type != jbvBinary || !JsonContainerIsObject(element->val.binary.data))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("an element of %s is not an object", what),
				 errdetail_internal(KV_DYNAMODB_SERIALIZATION)));
	return JsonbValueToJsonb(element);
}

/* Returns the elements of an array of objects. */
Jsonb **
kv_dynamodb_objects(Jsonb *array, const char *what, int *count)
{
	Jsonb	  **objects = palloc(sizeof(Jsonb *) * (JB_ROOT_COUNT(array) + 1));
	JsonbIterator *iterator = JsonbIteratorInit(&array->root);
	JsonbValue	value;

	*count = 0;
	(void) JsonbIteratorNext(&iterator, &value, true);
	while (JsonbIteratorNext(&iterator, &value, true) == WJB_ELEM)
	{
		CHECK_FOR_INTERRUPTS();
		objects[(*count)++] = read_object(&value, what);
	}
	return objects;
}

/* Calls a function for each member of an object. */
void
kv_dynamodb_each(Jsonb *object, KvDynamoVisitor visit, void *argument)
{
	JsonbIterator *iterator = JsonbIteratorInit(&object->root);
	JsonbValue	name;
	JsonbValue	value;

	(void) JsonbIteratorNext(&iterator, &name, true);
	while (JsonbIteratorNext(&iterator, &name, true) == WJB_KEY)
	{
		CHECK_FOR_INTERRUPTS();
		(void) JsonbIteratorNext(&iterator, &value, true);
		visit(argument, &name, JsonbValueToJsonb(&value));
	}
}

/*
 * Adds an object or array as it is.  Core takes one that is pushed apart to
 * the last scalar, at many times its size; kv_json_write copies it.
 */
static void
push_whole(JsonbParseState **state, JsonbIteratorToken token, Jsonb *value)
{
	JsonbValue	empty;
	JsonbValue *place;

	empty.type = jbvNull;
	pushJsonbValue(state, token, &empty);
	place = token == WJB_ELEM ?
		&(*state)->contVal.val.array.elems[(*state)->contVal.val.array.nElems - 1] :
		&(*state)->contVal.val.object.pairs[(*state)->contVal.val.object.nPairs - 1].value;
	place->type = jbvBinary;
	place->val.binary.data = &value->root;
	place->val.binary.len = VARSIZE(value) - VARHDRSZ;
}

/* Starts an object. */
void
kv_dynamodb_open(JsonbParseState **state)
{
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
}

/* Ends the outermost object and returns it. */
Jsonb *
kv_dynamodb_close(JsonbParseState **state)
{
	return kv_json_write(pushJsonbValue(state, WJB_END_OBJECT, NULL));
}

/* Adds the name of a member. */
void
kv_dynamodb_add_name(JsonbParseState **state, const char *name)
{
	JsonbValue	key;

	key.type = jbvString;
	key.val.string.val = unconstify(char *, name);
	key.val.string.len = strlen(name);
	pushJsonbValue(state, WJB_KEY, &key);
}

/* Adds a string member. */
void
kv_dynamodb_add_text(JsonbParseState **state, const char *name, const char *value)
{
	JsonbValue	string;

	kv_dynamodb_add_name(state, name);
	string.type = jbvString;
	string.val.string.val = unconstify(char *, value);
	string.val.string.len = strlen(value);
	pushJsonbValue(state, WJB_VALUE, &string);
}

/* Adds a member that is a number. */
void
kv_dynamodb_add_numeric(JsonbParseState **state, const char *name, Numeric value)
{
	JsonbValue	number;

	kv_dynamodb_add_name(state, name);
	number.type = jbvNumeric;
	number.val.numeric = value;
	pushJsonbValue(state, WJB_VALUE, &number);
}

/* Adds a member that is a whole number. */
void
kv_dynamodb_add_integer(JsonbParseState **state, const char *name, int64 value)
{
	kv_dynamodb_add_numeric(state, name, int64_to_numeric(value));
}

/* Adds a boolean member. */
void
kv_dynamodb_add_boolean(JsonbParseState **state, const char *name, bool value)
{
	JsonbValue	boolean;

	kv_dynamodb_add_name(state, name);
	boolean.type = jbvBool;
	boolean.val.boolean = value;
	pushJsonbValue(state, WJB_VALUE, &boolean);
}

/* Adds an object or array as a member. */
void
kv_dynamodb_add_json(JsonbParseState **state, const char *name, Jsonb *value)
{
	kv_dynamodb_add_name(state, name);
	push_whole(state, WJB_VALUE, value);
}

/* Adds a member as it is. */
void
kv_dynamodb_add_member(JsonbParseState **state, const JsonbValue *name, Jsonb *value)
{
	JsonbValue	pushed = *name;

	pushJsonbValue(state, WJB_KEY, &pushed);
	if (!JB_ROOT_IS_SCALAR(value))
	{
		push_whole(state, WJB_VALUE, value);
		return;
	}
	(void) JsonbExtractScalar(&value->root, &pushed);
	pushJsonbValue(state, WJB_VALUE, &pushed);
}

/* Adds an array of items or keys, each converted. */
void
kv_dynamodb_add_converted(JsonbParseState **state, const char *name, Jsonb *array, Jsonb *(*convert) (Jsonb *))
{
	JsonbIterator *iterator = JsonbIteratorInit(&array->root);
	JsonbValue	value;

	kv_dynamodb_add_name(state, name);
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	(void) JsonbIteratorNext(&iterator, &value, true);
	while (JsonbIteratorNext(&iterator, &value, true) == WJB_ELEM)
	{
		Jsonb	   *item;

		CHECK_FOR_INTERRUPTS();
		item = read_object(&value, name);
		push_whole(state, WJB_ELEM, convert(item));
		pfree(item);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Returns an object without members. */
Jsonb *
kv_dynamodb_empty(void)
{
	JsonbParseState *state = NULL;

	kv_dynamodb_open(&state);
	return kv_dynamodb_close(&state);
}
