/*
 * item_typed.c
 *	  Between items and DynamoDB's typed JSON, {"a": {"S": "x"}}.
 *
 * Both directions take an item: a map of attribute names to values.  The
 * typed form is that of the low-level API (API reference, AttributeValue):
 * exactly one of S, N, B, SS, NS, BS, M, L, NULL, BOOL a value; numbers are
 * strings.  A map whose only key looks like a marker gains one "$" on the way
 * in and loses it on the way out.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/errors.h"
#include "item/item_internal.h"

static void from_typed_value(JsonbParseState **state, JsonbIteratorToken token,
							 const JsonbValue *typed, int depth, const KvPath *path);
static void to_typed_value(JsonbParseState **state, const JsonbValue *value);

/* Pushes a string. */
static void
push_string(JsonbParseState **state, JsonbIteratorToken token, const char *text, int length)
{
	JsonbValue	value;

	value.type = jbvString;
	value.val.string.val = unconstify(char *, text);
	value.val.string.len = length;
	pushJsonbValue(state, token, &value);
}

/* Raises the error for a value that does not have the typed form; DATATYPE tells if it is no object. */
static void
report_untyped(const KvPath *path, const JsonbValue *typed, bool has_many)
{
	bool		wrong_type = typed && typed->type != jbvNull;

	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 wrong_type ? err_generic_string(PG_DIAG_DATATYPE_NAME, KV_JSON_TYPE) : 0,
			 has_many ? errmsg("attribute \"%s\" has more than one type in typed JSON", kv_path_text(path)) :
			 errmsg("attribute \"%s\" is not in typed JSON", kv_path_text(path)),
			 errdetail("A typed value is an object with exactly one of S, N, B, SS, NS, BS, M, L, NULL, BOOL."),
			 errhint("Write a string as {\"S\": \"text\"} and a number as {\"N\": \"1\"}.")));
}

/*
 * Raises the error for a type whose content is not what it should be; DATATYPE
 * tells if it is not of the right JSON type.
 */
static void
report_content(KvValueType type, bool right_type, const char *expected, const KvPath *path)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 right_type ? 0 : err_generic_string(PG_DIAG_DATATYPE_NAME, KV_JSON_TYPE),
			 errmsg("malformed value of attribute \"%s\" in typed JSON", kv_path_text(path)),
			 errdetail("The value of \"%s\" must be %s.", kv_value_type_name(type), expected)));
}

/* Finds a type by DynamoDB's name; false if there is none. */
static bool
find_type(const char *name, int length, KvValueType *type)
{
	int			i;

	for (i = KV_TYPE_STRING; i <= KV_TYPE_BOOLEAN; i++)
	{
		const char *candidate = kv_value_type_name((KvValueType) i);

		if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
		{
			*type = (KvValueType) i;
			return true;
		}
	}
	return false;
}

/* Tells whether the value is an array, or an object. */
static bool
is_container(const JsonbValue *value, uint32 flag)
{
	return value->type == jbvBinary && (value->val.binary.data->header & flag) != 0;
}

/* Pushes the name of a map's member, with one more "$" if it would be taken for a marker. */
static void
push_escaped_name(JsonbParseState **state, const char *name, int length, bool alone)
{
	if (alone && kv_name_looks_like_marker(name, length))
	{
		char	   *escaped = palloc(length + 1);

		escaped[0] = '$';
		memcpy(escaped + 1, name, length);
		push_string(state, WJB_KEY, escaped, length + 1);
	}
	else
		push_string(state, WJB_KEY, name, length);
}

/* Pushes a map or list from its typed content; depth 0 is the item itself. */
static JsonbValue *
from_typed_container(JsonbParseState **state, const JsonbContainer *container, int depth, const KvPath *path)
{
	KvWalk		walk;
	KvPath		step = {path};
	JsonbValue	typed;

	check_stack_depth();
	kv_check_depth(depth, path);
	kv_walk_start(&walk, container);
	pushJsonbValue(state, walk.is_object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	while (kv_walk_next(&walk, &step.name, &step.name_length, &typed))
	{
		step.index = walk.index - 1;
		if (walk.is_object)
			push_escaped_name(state, step.name, step.name_length, depth > 0 && walk.count == 1);
		from_typed_value(state, walk.is_object ? WJB_VALUE : WJB_ELEM, &typed, depth, &step);
	}
	return pushJsonbValue(state, walk.is_object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
}

/* Raises an error unless the value is a string in base64. */
static void
check_base64(KvValueType type, const JsonbValue *value, const KvPath *path)
{
	const char *expected = type == KV_TYPE_BINARY ? "a string in base64, padded with \"=\"" :
		"an array of strings in base64, padded with \"=\"";
	int			byte_count;

	if (value->type != jbvString ||
		kv_base64_check(value->val.string.val, value->val.string.len, &byte_count) == KV_BASE64_INVALID)
		report_content(type, value->type == jbvString, expected, path);
}

/* Pushes a set, its members in the order given. */
static void
from_typed_set(JsonbParseState **state, KvValueType type, const JsonbContainer *container, const KvPath *path)
{
	KvWalk		walk;
	KvPath		step = {path};
	JsonbValue	member;

	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	kv_walk_start(&walk, container);
	while (kv_walk_next(&walk, &step.name, &step.name_length, &member))
	{
		step.index = walk.index - 1;
		if (type == KV_TYPE_BINARY_SET)
			check_base64(type, &member, path);
		else if (member.type != jbvString)
			report_content(type, false, "an array of strings", path);
		if (type == KV_TYPE_NUMBER_SET)
		{
			Numeric		number = kv_number_from_text(member.val.string.val, member.val.string.len, &step);

			member.type = jbvNumeric;
			member.val.numeric = number;
		}
		pushJsonbValue(state, WJB_ELEM, &member);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Pushes the marker of a binary or set. */
static void
from_typed_marker(JsonbParseState **state, KvValueType type, JsonbValue *content, const KvPath *path)
{
	const char *name = kv_marker_name(type);

	if (type == KV_TYPE_BINARY)
		check_base64(type, content, path);
	else if (!is_container(content, JB_FARRAY))
		report_content(type, false, "an array of strings", path);

	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	push_string(state, WJB_KEY, name, strlen(name));
	if (type == KV_TYPE_BINARY)
		pushJsonbValue(state, WJB_VALUE, content);
	else
		from_typed_set(state, type, content->val.binary.data, path);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Pushes a scalar. */
static void
from_typed_scalar(JsonbParseState **state, JsonbIteratorToken token, KvValueType type,
				  JsonbValue *content, const KvPath *path)
{
	switch (type)
	{
		case KV_TYPE_STRING:
			if (content->type != jbvString)
				report_content(type, false, "a string", path);
			break;
		case KV_TYPE_NUMBER:
			{
				Numeric		number;

				if (content->type != jbvString)
					report_content(type, false, "a string that holds a number", path);
				number = kv_number_from_text(content->val.string.val, content->val.string.len, path);
				content->type = jbvNumeric;
				content->val.numeric = number;
				break;
			}
		case KV_TYPE_NULL:
			if (content->type != jbvBool || !content->val.boolean)
				report_content(type, content->type == jbvBool, "true", path);
			content->type = jbvNull;
			break;
		default:
			if (content->type != jbvBool)
				report_content(type, false, "true or false", path);
			break;
	}
	pushJsonbValue(state, token, content);
}

/* Pushes one value from its typed form; depth is that of the map or list around it. */
static void
from_typed_value(JsonbParseState **state, JsonbIteratorToken token,
				 const JsonbValue *typed, int depth, const KvPath *path)
{
	KvWalk		walk;
	const char *name;
	int			name_length;
	JsonbValue	content;
	KvValueType type;

	if (!is_container(typed, JB_FOBJECT))
		report_untyped(path, typed, false);
	kv_walk_start(&walk, typed->val.binary.data);
	if (walk.count != 1 || !kv_walk_next(&walk, &name, &name_length, &content) ||
		!find_type(name, name_length, &type))
		report_untyped(path, NULL, walk.count > 1);
	/* null is no content */
	if (content.type == jbvNull)
		report_untyped(path, NULL, false);

	switch (type)
	{
		case KV_TYPE_MAP:
		case KV_TYPE_LIST:
			if (!is_container(&content, type == KV_TYPE_MAP ? JB_FOBJECT : JB_FARRAY))
				report_content(type, false, type == KV_TYPE_MAP ? "an object" : "an array", path);
			from_typed_container(state, content.val.binary.data, depth + 1, path);
			break;
		case KV_TYPE_BINARY:
		case KV_TYPE_STRING_SET:
		case KV_TYPE_NUMBER_SET:
		case KV_TYPE_BINARY_SET:
			from_typed_marker(state, type, &content, path);
			break;
		default:
			from_typed_scalar(state, token, type, &content, path);
			break;
	}
}

/* Returns the item that the typed JSON stands for, in normal form. */
Jsonb *
kv_item_from_typed(const JsonbContainer *typed)
{
	JsonbParseState *state = NULL;
	JsonbValue *item;

	if (!JsonContainerIsObject(typed))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("typed JSON is not an object of attributes")));
	item = from_typed_container(&state, typed, 0, NULL);
	/* Sorts sets; checks duplicates and names. */
	return kv_item_normalize(JsonbValueToJsonb(item));
}

/* Pushes a number as a string. */
static void
push_number_text(JsonbParseState **state, JsonbIteratorToken token, Numeric number)
{
	char	   *text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));

	push_string(state, token, text, strlen(text));
}

/* Pushes the members of a map or list, each typed; returns the whole for the outermost. */
static JsonbValue *
to_typed_container(JsonbParseState **state, const JsonbContainer *container, bool is_root)
{
	KvWalk		walk;
	const char *name;
	int			name_length;
	JsonbValue	value;

	check_stack_depth();
	kv_walk_start(&walk, container);
	pushJsonbValue(state, walk.is_object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	while (kv_walk_next(&walk, &name, &name_length, &value))
	{
		if (walk.is_object)
		{
			int			escape = !is_root && walk.count == 1 && kv_name_looks_like_marker(name, name_length);

			push_string(state, WJB_KEY, name + escape, name_length - escape);
		}
		to_typed_value(state, &value);
	}
	return pushJsonbValue(state, walk.is_object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
}

/* Pushes the content of a binary or set. */
static void
to_typed_marker(JsonbParseState **state, const JsonbValue *value)
{
	KvWalk		walk;
	const char *name;
	int			name_length;
	JsonbValue	inside;
	JsonbValue	member;

	kv_marker_inside(value, &inside);
	if (inside.type == jbvString)
	{
		pushJsonbValue(state, WJB_VALUE, &inside);
		return;
	}
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	kv_walk_start(&walk, inside.val.binary.data);
	while (kv_walk_next(&walk, &name, &name_length, &member))
	{
		if (member.type == jbvNumeric)
			push_number_text(state, WJB_ELEM, member.val.numeric);
		else
			pushJsonbValue(state, WJB_ELEM, &member);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Pushes one value in typed form. */
static void
to_typed_value(JsonbParseState **state, const JsonbValue *value)
{
	KvValueType type = kv_value_type(value);
	const char *type_name = kv_value_type_name(type);
	JsonbValue	content = *value;

	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	push_string(state, WJB_KEY, type_name, strlen(type_name));
	switch (type)
	{
		case KV_TYPE_MAP:
		case KV_TYPE_LIST:
			to_typed_container(state, value->val.binary.data, false);
			break;
		case KV_TYPE_NUMBER:
			push_number_text(state, WJB_VALUE, value->val.numeric);
			break;
		case KV_TYPE_NULL:
			content.type = jbvBool;
			content.val.boolean = true;
			pushJsonbValue(state, WJB_VALUE, &content);
			break;
		case KV_TYPE_STRING:
		case KV_TYPE_BOOLEAN:
			pushJsonbValue(state, WJB_VALUE, &content);
			break;
		default:
			to_typed_marker(state, value);
			break;
	}
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Returns the item in typed JSON. */
Jsonb *
kv_item_to_typed(Jsonb *item)
{
	JsonbParseState *state = NULL;

	if (!JB_ROOT_IS_OBJECT(item))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("item is not a JSON object")));
	item = kv_item_normalize(item);
	return JsonbValueToJsonb(to_typed_container(&state, &item->root, true));
}
