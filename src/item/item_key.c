/*
 * item_key.c
 *	  Key values: out of JSON and text, checked, compared, and back.
 *
 * Limits and types are those of DynamoDB Developer Guide, "Service, account,
 * and table quotas" and "Data types".  Every error names the attribute.  Key
 * values that come from a table's columns may have short varlena headers or
 * be toasted, so nothing here relies on four-byte headers before detoasting.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "base/errors.h"
#include "item/item_internal.h"

/* What messages call an attribute that is part of a table's key. */
#define KEY_ATTRIBUTE "key attribute"

/* Returns what a message calls the key at a position. */
static const char *
position_name(int position)
{
	return position == 0 ? "partition key" : "sort key";
}

/* Raises an error if the length of a string or binary key is not allowed; what is what the attribute is. */
static void
check_length(const char *what, const KvKeyAttribute *attribute, int position, Size length)
{
	Size		limit = position == 0 ? KV_MAX_PARTITION_KEY_SIZE : KV_MAX_SORT_KEY_SIZE;

	if (length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s \"%s\" is empty", what, attribute->name),
				 errdetail("A %s must not be empty.", position_name(position))));
	if (length > limit)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s \"%s\" is too long: %zu bytes", what, attribute->name, length),
				 errdetail("A %s has at most %zu bytes.", position_name(position), limit)));
}

/* Returns the path of a key attribute for messages. */
static KvPath
key_path(const KvKeyAttribute *attribute)
{
	KvPath		path = {NULL, attribute->name, attribute->name_length, 0};

	return path;
}

/* Raises an error if a key value is empty, too long or not in range. */
void
kv_key_check(const KvKeyAttribute *attribute, int position, Datum value)
{
	if (attribute->type == KV_KEY_NUMBER)
	{
		KvPath		path = key_path(attribute);

		(void) kv_number_normalize_at(DatumGetNumeric(value), &path);
	}
	else
		check_length(KEY_ATTRIBUTE, attribute, position, toast_raw_datum_size(value) - VARHDRSZ);
}

/* Raises the error for a key value of the wrong type. */
static void
report_type(const char *what, const KvKeyAttribute *attribute, const JsonbValue *value)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("%s \"%s\" has the wrong type: expected %c, given %s", what,
					attribute->name, (char) attribute->type, kv_value_type_name(kv_value_type(value))),
			 kv_value_type(value) == KV_TYPE_MAP ?
			 errhint("Items and keys are plain JSON; kv.from_dynamodb_json converts DynamoDB's typed JSON.") : 0));
}

/* Returns the bytes of a binary key value, which is a marker. */
static Datum
binary_from_value(const char *what, const KvKeyAttribute *attribute, const JsonbValue *value)
{
	JsonbValue	inside;
	int			byte_count;

	/* Checked here as well, to name the attribute. */
	kv_marker_inside(value, &inside);
	if (inside.type != jbvString ||
		kv_base64_check(inside.val.string.val, inside.val.string.len, &byte_count) == KV_BASE64_INVALID)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("malformed binary value in %s \"%s\"", what, attribute->name),
				 errdetail("The value of \"$B\" must be a string in base64, padded with \"=\".")));
	return PointerGetDatum(kv_binary_bytes(value));
}

/* Takes one key value from a JSON value. */
static Datum
from_value(const char *what, const KvKeyAttribute *attribute, int position, const JsonbValue *value)
{
	Datum		key;

	switch (attribute->type)
	{
		case KV_KEY_STRING:
			if (value->type != jbvString)
				report_type(what, attribute, value);
			check_length(what, attribute, position, value->val.string.len);
			return PointerGetDatum(cstring_to_text_with_len(value->val.string.val, value->val.string.len));

		case KV_KEY_NUMBER:
			{
				KvPath		path = key_path(attribute);
				Numeric		number;

				if (value->type != jbvNumeric)
					report_type(what, attribute, value);
				number = kv_number_normalize_at(value->val.numeric, &path);
				/* Not a pointer into the JSON that it came from. */
				if (number == value->val.numeric)
					number = (Numeric) memcpy(palloc(VARSIZE(number)), number, VARSIZE(number));
				return NumericGetDatum(number);
			}

		case KV_KEY_BINARY:
			if (kv_value_type(value) != KV_TYPE_BINARY)
				report_type(what, attribute, value);
			key = binary_from_value(what, attribute, value);
			check_length(what, attribute, position, VARSIZE(DatumGetPointer(key)) - VARHDRSZ);
			return key;
	}
	elog(ERROR, "unexpected key type: %d", (int) attribute->type);
	return (Datum) 0;
}

/* Takes one key value of a table, or of what is asked of an index. */
Datum
kv_key_from_value(const KvKeyAttribute *attribute, int position, const JsonbValue *value)
{
	return from_value(KEY_ATTRIBUTE, attribute, position, value);
}

/* Tells whether a value can be one of a key, that is whether kv_key_from_value would take it. */
bool
kv_key_is_valid(const KvKeyAttribute *attribute, int position, const JsonbValue *value)
{
	int			limit = position == 0 ? KV_MAX_PARTITION_KEY_SIZE : KV_MAX_SORT_KEY_SIZE;
	JsonbValue	inside;
	int			byte_count;

	switch (attribute->type)
	{
		case KV_KEY_STRING:
			return value->type == jbvString && value->val.string.len > 0 && value->val.string.len <= limit;
		case KV_KEY_NUMBER:
			return value->type == jbvNumeric && kv_number_check(value->val.numeric) <= KV_NUMBER_ACCEPTED;
		case KV_KEY_BINARY:
			if (kv_value_type(value) != KV_TYPE_BINARY)
				return false;
			kv_marker_inside(value, &inside);
			return inside.type == jbvString &&
				kv_base64_check(inside.val.string.val, inside.val.string.len, &byte_count) != KV_BASE64_INVALID &&
				byte_count > 0 && byte_count <= limit;
	}
	return false;
}

/* Finds an attribute of an item's rest; false if it is not there, or the rest is no object, which SQL can write. */
static bool
find_in_rest(const KvKeyAttribute *attribute, const Jsonb *rest, JsonbValue *value)
{
	return JB_ROOT_IS_OBJECT(rest) &&
		getKeyJsonValueFromContainer((JsonbContainer *) &rest->root, attribute->name, attribute->name_length,
									 value) != NULL;
}

/* Takes an attribute of the item's rest as a key value of an index; false if it is not there. */
bool
kv_key_from_rest(const KvKeyAttribute *attribute, int position, const Jsonb *rest, Datum *key)
{
	JsonbValue	value;

	if (!find_in_rest(attribute, rest, &value))
		return false;
	*key = from_value("index key attribute", attribute, position, &value);
	return true;
}

/* The same without errors: false also where the attribute cannot be a key value. */
bool
kv_key_from_rest_if_valid(const KvKeyAttribute *attribute, int position, const Jsonb *rest, Datum *key)
{
	JsonbValue	value;

	if (!find_in_rest(attribute, rest, &value) || !kv_key_is_valid(attribute, position, &value))
		return false;
	*key = kv_key_from_value(attribute, position, &value);
	return true;
}

/* Reads one key value from text. */
Datum
kv_key_from_text(const KvKeyAttribute *attribute, int position, text *value)
{
	Datum		key;

	value = (text *) PG_DETOAST_DATUM_PACKED(PointerGetDatum(value));
	if (attribute->type == KV_KEY_STRING)
	{
		check_length(KEY_ATTRIBUTE, attribute, position, VARSIZE_ANY_EXHDR(value));
		return PointerGetDatum(value);
	}
	if (attribute->type == KV_KEY_NUMBER)
	{
		KvPath		path = key_path(attribute);

		return NumericGetDatum(kv_number_from_text(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), &path));
	}
	else
	{
		JsonbPair	pair;
		JsonbValue	marker;

		/* A binary is read as if it had come as {"$B": value}. */
		pair.value.type = jbvString;
		pair.value.val.string.val = VARDATA_ANY(value);
		pair.value.val.string.len = VARSIZE_ANY_EXHDR(value);
		marker.type = jbvObject;
		marker.val.object.nPairs = 1;
		marker.val.object.pairs = &pair;
		key = binary_from_value(KEY_ATTRIBUTE, attribute, &marker);
		check_length(KEY_ATTRIBUTE, attribute, position, VARSIZE(DatumGetPointer(key)) - VARHDRSZ);
		return key;
	}
}

/* Returns the names of a key's attributes for a message. */
static const char *
key_names(const KvKeySchema *schema)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < schema->count; i++)
		appendStringInfo(&names, "%s\"%s\"", i == 0 ? "" : i == schema->count - 1 ? " and " : ", ",
						 schema->attribute[i].name);
	return names.data;
}

/* Raises the error for an attribute that is not part of the key. */
static void
report_extra(const KvKeySchema *schema, const Jsonb *json)
{
	KvWalk		walk;
	const char *name;
	int			name_length;
	JsonbValue	value;

	kv_walk_start(&walk, &json->root);
	while (kv_walk_next(&walk, &name, &name_length, &value))
	{
		KvPath		path = {NULL, name, name_length, 0};
		bool		known = false;
		int			i;

		for (i = 0; i < schema->count; i++)
			known |= kv_name_compare(name, name_length, schema->attribute[i].name,
									 schema->attribute[i].name_length) == 0;
		if (!known)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("attribute \"%s\" is not part of the key", kv_path_text(&path)),
					 errdetail("The key is %s.", key_names(schema))));
	}
}

/* Takes the key from a JSON object that holds the key attributes and nothing else. */
void
kv_key_from_json(const KvKeySchema *schema, Jsonb *json, Datum *key)
{
	int			i;

	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("key is not a JSON object")));
	for (i = 0; i < schema->count; i++)
	{
		const KvKeyAttribute *attribute = &schema->attribute[i];
		JsonbValue	value;

		if (getKeyJsonValueFromContainer(&json->root, attribute->name, attribute->name_length, &value) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("key attribute \"%s\" is missing", attribute->name)));
		/* what follows an index key may be the table's partition key */
		key[i] = kv_key_from_value(attribute, i < kv_key_own_count(schema) ? i : 0, &value);
	}
	/* All key attributes are there, so any other number of members means an extra one. */
	if (JB_ROOT_COUNT(json) != schema->count)
		report_extra(schema, json);
}

/* Returns the SQL type of a key type. */
Oid
kv_key_sql_type(KvKeyType type)
{
	return type == KV_KEY_STRING ? TEXTOID : type == KV_KEY_NUMBER ? NUMERICOID : BYTEAOID;
}

/* Returns the collation of a key column of a type. */
Oid
kv_key_sql_collation(KvKeyType type)
{
	return type == KV_KEY_STRING ? C_COLLATION_OID : InvalidOid;
}

/* Returns the key type of an SQL type, 0 if it has none. */
KvKeyType
kv_key_type_of(Oid sql_type)
{
	switch (sql_type)
	{
		case TEXTOID:
			return KV_KEY_STRING;
		case NUMERICOID:
			return KV_KEY_NUMBER;
		case BYTEAOID:
			return KV_KEY_BINARY;
		default:
			return (KvKeyType) 0;
	}
}

/* Orders two key values of one type. */
int
kv_key_compare(KvKeyType type, Datum a, Datum b)
{
	struct varlena *left;
	struct varlena *right;
	int			left_length;
	int			right_length;
	int			order;

	if (type == KV_KEY_NUMBER)
		return DatumGetInt32(DirectFunctionCall2(numeric_cmp, a, b));

	left = PG_DETOAST_DATUM_PACKED(a);
	right = PG_DETOAST_DATUM_PACKED(b);
	left_length = VARSIZE_ANY_EXHDR(left);
	right_length = VARSIZE_ANY_EXHDR(right);
	order = memcmp(VARDATA_ANY(left), VARDATA_ANY(right), Min(left_length, right_length));
	if (order == 0)
		order = left_length - right_length;
	if (left != (struct varlena *) DatumGetPointer(a))
		pfree(left);
	if (right != (struct varlena *) DatumGetPointer(b))
		pfree(right);
	return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

/* Orders two keys of one schema, all their values. */
int
kv_key_compare_whole(const KvKeySchema *schema, const Datum *a, const Datum *b)
{
	int			order = 0;

	for (int i = 0; i < schema->count && order == 0; i++)
		order = kv_key_compare(schema->attribute[i].type, a[i], b[i]);
	return order;
}

/* Makes a range the one sort key of any partition key. */
void
kv_key_range_set_sort_key(KvKeyRange *range, Datum sort_key)
{
	range->low.present = range->high.present = true;
	range->low.inclusive = range->high.inclusive = true;
	range->low.value = range->high.value = sort_key;
}

/* Makes a range the one key. */
void
kv_key_range_set(KvKeyRange *range, const KvKeySchema *schema, const Datum *key)
{
	range->partition_key = key[0];
	if (schema->count > 1)
		kv_key_range_set_sort_key(range, key[1]);
}

/* Tells whether a sort key of a type lies between the bounds of a range. */
bool
kv_key_range_holds(const KvKeyRange *range, KvKeyType type, Datum sort_key)
{
	int			order;

	if (range->low.present)
	{
		order = kv_key_compare(type, sort_key, range->low.value);
		if (order < 0 || (order == 0 && !range->low.inclusive))
			return false;
	}
	if (range->high.present)
	{
		order = kv_key_compare(type, sort_key, range->high.value);
		if (order > 0 || (order == 0 && !range->high.inclusive))
			return false;
	}
	return true;
}

/*
 * Turns the last character of UTF-8 text into the next one, so that the text
 * stays valid; UTF-8's byte order is that of code points.  Returns the new
 * length, 0 if there is nothing greater.
 */
static int
increment_utf8(unsigned char *bytes, int length)
{
	while (length > 0)
	{
		int			start = length - 1;
		pg_wchar	code;

		while (start > 0 && (bytes[start] & 0xC0) == 0x80)
			start--;
		code = utf8_to_unicode(bytes + start) + 1;
		if (code >= 0xD800 && code <= 0xDFFF)	/* surrogates are no characters */
			code = 0xE000;
		if (code <= 0x10FFFF)
		{
			unicode_to_utf8(code, bytes + start);
			return start + pg_utf_mblen(bytes + start);
		}
		length = start;
	}
	return 0;
}

/* Turns bytes into the least ones that are greater than all that begin with them.  Returns the new length or 0. */
static int
increment_bytes(unsigned char *bytes, int length)
{
	while (length > 0 && bytes[length - 1] == 0xFF)
		length--;
	if (length > 0)
		bytes[length - 1]++;
	return length;
}

/* Sets the bounds that hold exactly the keys that begin with prefix. */
void
kv_key_prefix_range(KvKeyType type, Datum prefix, KvBound *low, KvBound *high)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(prefix);
	int			length = VARSIZE_ANY_EXHDR(packed);
	bytea	   *next = (bytea *) palloc(VARHDRSZ + length + MAX_MULTIBYTE_CHAR_LEN);
	int			next_length;

	low->present = length > 0;
	low->inclusive = true;
	low->value = prefix;

	memcpy(VARDATA(next), VARDATA_ANY(packed), length);
	if (type == KV_KEY_STRING && GetDatabaseEncoding() == PG_UTF8)
		next_length = increment_utf8((unsigned char *) VARDATA(next), length);
	else
		next_length = increment_bytes((unsigned char *) VARDATA(next), length);
	SET_VARSIZE(next, VARHDRSZ + next_length);
	high->present = next_length > 0;
	high->inclusive = false;
	high->value = PointerGetDatum(next);
}
