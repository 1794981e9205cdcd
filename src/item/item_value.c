/*
 * item_value.c
 *	  Validity and normal form of items.
 *
 * The root object is the map of attributes: it is no value, so it is not
 * counted as a level of nesting and cannot be a marker.  A map or list that
 * is an attribute's value is level 1, and level 32 is the last (DynamoDB
 * Developer Guide, "Nested attribute depth"); sets and binaries are values of
 * their own, no levels.  Attribute names have 1 to 65,535 bytes at any level.
 *
 * One read-only pass checks everything and tells whether the item is in
 * normal form already, which it nearly always is; only then is it built anew.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/errors.h"
#include "item/item_internal.h"

#define MAX_NAME_LENGTH		65535

static bool scan_container(const JsonbContainer *container, int depth, bool strict, const KvPath *path);
static void rebuild_value(JsonbParseState **state, JsonbIteratorToken token,
						  JsonbValue *value, const KvPath *path);

/* Raises the error for a marker that does not hold what it should. */
static void
report_malformed(KvValueType type, const KvPath *path)
{
	const char *detail;

	switch (type)
	{
		case KV_TYPE_BINARY:
			detail = "The value of \"$B\" must be a string in base64, padded with \"=\".";
			break;
		case KV_TYPE_STRING_SET:
			detail = "The value of \"$SS\" must be an array of strings.";
			break;
		case KV_TYPE_NUMBER_SET:
			detail = "The value of \"$NS\" must be an array of numbers.";
			break;
		default:
			detail = "The value of \"$BS\" must be an array of strings in base64, padded with \"=\".";
			break;
	}
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("malformed %s in attribute \"%s\"",
					type == KV_TYPE_BINARY ? "binary value" : "set", kv_path_text(path)),
			 errdetail("%s", detail),
			 errhint("A map whose only key is \"%s\" is written with one more \"$\": \"$%s\".",
					 kv_marker_name(type), kv_marker_name(type))));
}

/* Raises the error for a set without members. */
static void
report_empty_set(const KvPath *path)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("set in attribute \"%s\" is empty", kv_path_text(path)),
			 errhint("Leave the attribute out instead.")));
}

/* Raises the error for a set that holds a member twice. */
static void
report_duplicate(const KvPath *path, const JsonbValue *member)
{
	Jsonb	   *shown = JsonbValueToJsonb(unconstify(JsonbValue *, member));

	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("set in attribute \"%s\" holds a member twice: %s", kv_path_text(path),
					JsonbToCString(NULL, &shown->root, VARSIZE(shown)))));
}

/* Raises an error if a map or list at this depth is too deep. */
void
kv_check_depth(int depth, const KvPath *path)
{
	if (depth > KV_MAX_DEPTH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("attribute \"%s\" is nested too deeply", kv_path_text(path)),
				 errdetail("Maps and lists nest at most %d levels deep.", KV_MAX_DEPTH)));
}

/* Raises an error if an attribute name is empty or too long. */
static void
check_name(const KvPath *parent, const char *name, int length)
{
	if (length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 parent == NULL ?
				 errmsg("attribute name is empty") :
				 errmsg("attribute name in \"%s\" is empty", kv_path_text(parent))));
	if (length > MAX_NAME_LENGTH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("attribute name is too long: %d bytes", length),
				 errdetail("A name has at most %d bytes.", MAX_NAME_LENGTH)));
}

/* Checks a number and tells whether it is in normal form. */
static bool
scan_number(Numeric number, const KvPath *path)
{
	KvNumberState state = kv_number_check(number);

	if (state > KV_NUMBER_ACCEPTED)
		kv_number_report(state, number, NULL, path);
	return state == KV_NUMBER_NORMAL;
}

/* Checks a member of a set, or the inside of a binary, and tells whether it is in normal form. */
static bool
scan_member(KvValueType type, const JsonbValue *member, const KvPath *path)
{
	KvBase64State state;
	int			byte_count;

	if (member->type != (type == KV_TYPE_NUMBER_SET ? jbvNumeric : jbvString))
		report_malformed(type, path);
	if (type == KV_TYPE_NUMBER_SET)
		return scan_number(member->val.numeric, path);
	if (type == KV_TYPE_STRING_SET)
		return true;
	state = kv_base64_check(member->val.string.val, member->val.string.len, &byte_count);
	if (state == KV_BASE64_INVALID)
		report_malformed(type, path);
	return state == KV_BASE64_CANONICAL;
}

/* Raises the error for a marker that is valid but not in normal form, where only that is accepted. */
static void
report_not_normal(KvValueType type, bool sorted, const KvPath *path)
{
	if (sorted)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s in attribute \"%s\" is not in canonical base64",
						type == KV_TYPE_BINARY ? "binary value" : "set", kv_path_text(path)),
				 errhint("Leave out white space, as in translate(encode(.., 'base64'), E'\\n', '').")));
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("set in attribute \"%s\" is not sorted", kv_path_text(path)),
			 errdetail("Sets are stored sorted: strings and binaries by their bytes, numbers by value."),
			 errhint("The item functions sort the sets that they are given.")));
}

/* Checks a marker and tells whether it is in normal form; for a set that is sorted, finds duplicates. */
static bool
scan_marker(KvValueType type, const JsonbValue *value, bool strict, const KvPath *path)
{
	JsonbValue	inside;
	JsonbValue	member[2];
	KvWalk		walk;
	const char *name;
	int			name_length;
	bool		normal = true;
	bool		sorted = true;
	int			i;

	kv_marker_inside(value, &inside);
	if (type == KV_TYPE_BINARY)
	{
		normal = scan_member(type, &inside, path);
		if (strict && !normal)
			report_not_normal(type, true, path);
		return normal;
	}
	if (inside.type != jbvBinary || !JsonContainerIsArray(inside.val.binary.data))
		report_malformed(type, path);

	kv_walk_start(&walk, inside.val.binary.data);
	if (walk.count == 0)
		report_empty_set(path);
	for (i = 0; kv_walk_next(&walk, &name, &name_length, &member[i & 1]); i++)
	{
		int			order = -1;

		if (!scan_member(type, &member[i & 1], path))
			normal = false;
		/* Binaries compare in canonical form only. */
		if (i > 0 && (normal || type != KV_TYPE_BINARY_SET))
			order = kv_set_member_compare(type, &member[(i - 1) & 1], &member[i & 1]);
		if (order == 0)
			report_duplicate(path, &member[i & 1]);
		if (order > 0)
			sorted = false;
	}
	if (strict && (!sorted || (!normal && type == KV_TYPE_BINARY_SET)))
		report_not_normal(type, sorted, path);
	return normal && sorted;
}

/* Checks a value other than the root and tells whether it is in normal form. */
static bool
scan_nested(const JsonbValue *value, int depth, bool strict, const KvPath *path)
{
	KvValueType type = kv_container_type(value->val.binary.data);

	if (type != KV_TYPE_MAP && type != KV_TYPE_LIST)
		return scan_marker(type, value, strict, path);
	kv_check_depth(depth, path);
	return scan_container(value->val.binary.data, depth, strict, path);
}

/*
 * Checks the members of an array or object at a depth (0: the root) and tells
 * whether all are in normal form.  Strict: a set or binary that is not is an
 * error; a number that is not (1.0) is harmless, since jsonb compares by value.
 */
static bool
scan_container(const JsonbContainer *container, int depth, bool strict, const KvPath *path)
{
	KvWalk		walk;
	KvPath		step = {path};
	JsonbValue	value;
	bool		normal = true;

	check_stack_depth();
	kv_walk_start(&walk, container);
	while (kv_walk_next(&walk, &step.name, &step.name_length, &value))
	{
		step.index = walk.index - 1;
		if (walk.is_object && (step.name_length == 0 || step.name_length > MAX_NAME_LENGTH))
			check_name(path, step.name, step.name_length);
		if (value.type == jbvNumeric)
			normal &= scan_number(value.val.numeric, &step);
		else if (value.type == jbvBinary)
			normal &= scan_nested(&value, depth + 1, strict, &step);
	}
	return normal;
}

/* Orders two members of a set for qsort_arg. */
static int
compare_members(const void *a, const void *b, void *type)
{
	return kv_set_member_compare(*(KvValueType *) type, a, b);
}

/* Brings base64 text, which has been checked, into canonical form. */
static void
rebuild_base64(JsonbValue *value)
{
	char	   *bytes = palloc(value->val.string.len + 1);
	int			byte_count = kv_base64_decode(value->val.string.val, value->val.string.len, bytes);
	char	   *text = palloc(KV_BASE64_LENGTH(byte_count) + 1);

	value->val.string.len = kv_base64_encode(bytes, byte_count, text);
	value->val.string.val = text;
	pfree(bytes);
}

/* Pushes the members of a set, sorted; an error if there is a duplicate. */
static void
rebuild_set(JsonbParseState **state, KvValueType type, const JsonbContainer *container, const KvPath *path)
{
	KvWalk		walk;
	JsonbValue *members;
	const char *name;
	int			name_length;
	int			i;

	kv_walk_start(&walk, container);
	members = (JsonbValue *) palloc(sizeof(JsonbValue) * walk.count);
	for (i = 0; kv_walk_next(&walk, &name, &name_length, &members[i]); i++)
	{
		if (type == KV_TYPE_BINARY_SET)
			rebuild_base64(&members[i]);
		else if (type == KV_TYPE_NUMBER_SET)
			members[i].val.numeric = kv_number_normalize_at(members[i].val.numeric, path);
	}
	qsort_arg(members, walk.count, sizeof(JsonbValue), compare_members, &type);

	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (i = 0; i < walk.count; i++)
	{
		if (i > 0 && compare_members(&members[i - 1], &members[i], &type) == 0)
			report_duplicate(path, &members[i]);
		pushJsonbValue(state, WJB_ELEM, &members[i]);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
}

/* Pushes a marker in normal form. */
static void
rebuild_marker(JsonbParseState **state, KvValueType type, const JsonbValue *value, const KvPath *path)
{
	JsonbValue	inside;
	JsonbValue	name;

	name.type = jbvString;
	name.val.string.val = unconstify(char *, kv_marker_name(type));
	name.val.string.len = strlen(name.val.string.val);
	kv_marker_inside(value, &inside);

	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	pushJsonbValue(state, WJB_KEY, &name);
	if (type == KV_TYPE_BINARY)
	{
		rebuild_base64(&inside);
		pushJsonbValue(state, WJB_VALUE, &inside);
	}
	else
		rebuild_set(state, type, inside.val.binary.data, path);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Pushes an array or object whose members are in normal form then; returns the whole for the outermost. */
static JsonbValue *
rebuild_container(JsonbParseState **state, const JsonbContainer *container, const KvPath *path)
{
	KvWalk		walk;
	KvPath		step = {path};
	JsonbValue	value;

	kv_walk_start(&walk, container);
	pushJsonbValue(state, walk.is_object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	while (kv_walk_next(&walk, &step.name, &step.name_length, &value))
	{
		step.index = walk.index - 1;
		if (walk.is_object)
		{
			JsonbValue	name;

			name.type = jbvString;
			name.val.string.val = unconstify(char *, step.name);
			name.val.string.len = step.name_length;
			pushJsonbValue(state, WJB_KEY, &name);
		}
		rebuild_value(state, walk.is_object ? WJB_VALUE : WJB_ELEM, &value, &step);
	}
	return pushJsonbValue(state, walk.is_object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
}

/* Pushes a value in normal form; it has been scanned, so only duplicates in sets are left to find. */
static void
rebuild_value(JsonbParseState **state, JsonbIteratorToken token, JsonbValue *value, const KvPath *path)
{
	KvValueType type;

	check_stack_depth();
	if (value->type == jbvNumeric)
		value->val.numeric = kv_number_normalize_at(value->val.numeric, path);
	if (value->type != jbvBinary)
	{
		pushJsonbValue(state, token, value);
		return;
	}
	type = kv_container_type(value->val.binary.data);
	if (type == KV_TYPE_MAP || type == KV_TYPE_LIST)
		rebuild_container(state, value->val.binary.data, path);
	else
		rebuild_marker(state, type, value, path);
}

/* Returns an item, or a lone scalar or array, in normal form: the argument itself where it is normal already. */
Jsonb *
kv_item_normalize(Jsonb *value)
{
	JsonbParseState *state = NULL;

	if (JB_ROOT_IS_SCALAR(value))
	{
		KvWalk		walk;
		const char *name;
		int			name_length;
		JsonbValue	scalar;

		/* Only a number can be other than normal. */
		kv_walk_start(&walk, &value->root);
		(void) kv_walk_next(&walk, &name, &name_length, &scalar);
		if (scalar.type != jbvNumeric || scan_number(scalar.val.numeric, NULL))
			return value;
		scalar.val.numeric = kv_number_normalize_at(scalar.val.numeric, NULL);
		return JsonbValueToJsonb(&scalar);
	}
	if (scan_container(&value->root, JB_ROOT_IS_OBJECT(value) ? 0 : 1, false, NULL))
		return value;
	return JsonbValueToJsonb(rebuild_container(&state, &value->root, NULL));
}

/* Raises an error unless rest is a valid item body in normal form that holds no key attribute. */
void
kv_item_check_rest(const KvKeySchema *schema, Jsonb *rest)
{
	JsonbValue	value;
	int			i;

	if (!JB_ROOT_IS_OBJECT(rest))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("item is not a JSON object")));
	for (i = 0; i < schema->count; i++)
	{
		const KvKeyAttribute *attribute = &schema->attribute[i];

		if (getKeyJsonValueFromContainer(&rest->root, attribute->name, attribute->name_length, &value) != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("item holds the key attribute \"%s\"", attribute->name),
					 errdetail("A key attribute is kept in the column of its name and not in the column \"item\".")));
	}
	(void) scan_container(&rest->root, 0, true, NULL);
}
