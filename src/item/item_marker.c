/*
 * item_marker.c
 *	  Markers: how binaries and sets are written in JSON, and the types of values.
 *
 * A marker is a map whose only key is $B, $SS, $NS or $BS.  The root of an
 * item is a map of attributes and never a marker.  A map of the user's whose
 * only key looks like a marker is stored with one more "$", so {"$$B": 1} is
 * a map with the key "$B".  Functions here look at the key only; whether the
 * marker holds what it should is checked in item_value.c.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "base/errors.h"
#include "item/item_internal.h"

#define MAX_SHOWN_NAME	64		/* bytes of one path step in a message */

/* Returns the type that a marker name stands for; MAP if it is none. */
static KvValueType
marker_type(const char *name, int length)
{
	if (length == 2 && name[0] == '$' && name[1] == 'B')
		return KV_TYPE_BINARY;
	if (length == 3 && name[0] == '$' && name[2] == 'S')
	{
		switch (name[1])
		{
			case 'S':
				return KV_TYPE_STRING_SET;
			case 'N':
				return KV_TYPE_NUMBER_SET;
			case 'B':
				return KV_TYPE_BINARY_SET;
			default:
				break;
		}
	}
	return KV_TYPE_MAP;
}

/* Returns the DynamoDB type of an array or object in its binary form. */
KvValueType
kv_container_type(const JsonbContainer *container)
{
	if (JsonContainerIsArray(container))
		return KV_TYPE_LIST;
	if (JsonContainerSize(container) != 1)
		return KV_TYPE_MAP;
	return marker_type((const char *) &container->children[2],
					   JBE_OFFLENFLD(container->children[0]));
}

/* Returns the DynamoDB type of a value. */
KvValueType
kv_value_type(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			return KV_TYPE_NULL;
		case jbvString:
			return KV_TYPE_STRING;
		case jbvNumeric:
			return KV_TYPE_NUMBER;
		case jbvBool:
			return KV_TYPE_BOOLEAN;
		case jbvArray:
			return KV_TYPE_LIST;
		case jbvObject:
			if (value->val.object.nPairs != 1)
				return KV_TYPE_MAP;
			return marker_type(value->val.object.pairs[0].key.val.string.val,
							   value->val.object.pairs[0].key.val.string.len);
		case jbvBinary:
			return kv_container_type(value->val.binary.data);
		default:
			break;
	}
	elog(ERROR, "unexpected type of JSON value: %d", (int) value->type);
	return KV_TYPE_NULL;
}

/* Returns the name of a type as DynamoDB writes it. */
const char *
kv_value_type_name(KvValueType type)
{
	static const char *const names[] = {
		[KV_TYPE_STRING] = "S",
		[KV_TYPE_NUMBER] = "N",
		[KV_TYPE_BINARY] = "B",
		[KV_TYPE_STRING_SET] = "SS",
		[KV_TYPE_NUMBER_SET] = "NS",
		[KV_TYPE_BINARY_SET] = "BS",
		[KV_TYPE_MAP] = "M",
		[KV_TYPE_LIST] = "L",
		[KV_TYPE_NULL] = "NULL",
		[KV_TYPE_BOOLEAN] = "BOOL",
	};

	return names[type];
}

/* Returns the marker's name of a binary or set type. */
const char *
kv_marker_name(KvValueType type)
{
	switch (type)
	{
		case KV_TYPE_BINARY:
			return "$B";
		case KV_TYPE_STRING_SET:
			return "$SS";
		case KV_TYPE_NUMBER_SET:
			return "$NS";
		case KV_TYPE_BINARY_SET:
			return "$BS";
		default:
			break;
	}
	elog(ERROR, "type %s has no marker", kv_value_type_name(type));
	return NULL;
}

/* Tells whether a name matches ^\$+(B|SS|NS|BS)$. */
bool
kv_name_looks_like_marker(const char *name, int length)
{
	if (length < 2 || name[0] != '$')
		return false;
	while (length > 1 && name[1] == '$')
	{
		name++;
		length--;
	}
	return marker_type(name, length) != KV_TYPE_MAP;
}

/* Fills *inside with what a marker holds. */
void
kv_marker_inside(const JsonbValue *value, JsonbValue *inside)
{
	KvWalk		walk;
	const char *name;
	int			name_length;

	if (value->type == jbvObject)
	{
		*inside = value->val.object.pairs[0].value;
		return;
	}
	kv_walk_start(&walk, value->val.binary.data);
	(void) kv_walk_next(&walk, &name, &name_length, inside);
}

/* Returns the bytes of a binary value. */
bytea *
kv_binary_bytes(const JsonbValue *value)
{
	JsonbValue	inside;
	bytea	   *bytes;
	int			byte_count;

	kv_marker_inside(value, &inside);
	if (inside.type != jbvString ||
		kv_base64_check(inside.val.string.val, inside.val.string.len, &byte_count) == KV_BASE64_INVALID)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("invalid binary value"),
				 errdetail("The value of \"$B\" must be a string in base64, padded with \"=\".")));
	bytes = (bytea *) palloc(VARHDRSZ + byte_count);
	SET_VARSIZE(bytes, VARHDRSZ + byte_count);
	(void) kv_base64_decode(inside.val.string.val, inside.val.string.len, VARDATA(bytes));
	return bytes;
}

/*
 * Orders two members of a set of the given type: strings by bytes, numbers by
 * value, binaries by the bytes that they stand for.
 */
int
kv_set_member_compare(KvValueType set_type, const JsonbValue *a, const JsonbValue *b)
{
	int			shorter;
	int			order;

	if (set_type == KV_TYPE_NUMBER_SET)
		return DatumGetInt32(DirectFunctionCall2(numeric_cmp,
												 NumericGetDatum(a->val.numeric),
												 NumericGetDatum(b->val.numeric)));
	if (set_type == KV_TYPE_BINARY_SET)
		return kv_base64_compare(a->val.string.val, a->val.string.len,
								 b->val.string.val, b->val.string.len);
	shorter = Min(a->val.string.len, b->val.string.len);
	order = memcmp(a->val.string.val, b->val.string.val, shorter);
	return order != 0 ? order : a->val.string.len - b->val.string.len;
}

/* Appends a path, its outermost step first. */
static void
append_path(StringInfo text, const KvPath *path)
{
	if (path->parent != NULL)
		append_path(text, path->parent);
	if (path->name == NULL)
		appendStringInfo(text, "[%u]", path->index);
	else
	{
		int			shown = pg_mbcliplen(path->name, path->name_length, MAX_SHOWN_NAME);

		if (text->len > 0)
			appendStringInfoChar(text, '.');
		appendBinaryStringInfo(text, path->name, shown);
		if (shown < path->name_length)
			appendStringInfoString(text, "...");
	}
}

/* Returns the path as text for a message. */
char *
kv_path_text(const KvPath *path)
{
	StringInfoData text;

	if (path == NULL)
		return pstrdup("value");
	initStringInfo(&text);
	append_path(&text, path);
	return text.data;
}
