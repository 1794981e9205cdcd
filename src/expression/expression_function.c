/*
 * expression_function.c
 *	  The functions of conditions: begins_with, contains, size, attribute_type.
 *
 * attribute_exists and attribute_not_exists ask for a path only and are
 * answered in expression_condition.c.  None of these raises an error for an
 * item's value of another type: the answer is then no.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "expression/expression_tree.h"

/* Bytes of a string or binary. */
typedef struct Bytes
{
	const char *data;
	int			length;
	bytea	   *decoded;		/* to be freed; NULL if data lies elsewhere */
} Bytes;

/* Gives the bytes of a string or binary operand. */
static void
get_bytes(const KvOperand *operand, Bytes *bytes)
{
	bytea	   *source = operand->bytes;

	bytes->decoded = NULL;
	if (operand->type == KV_TYPE_STRING)
	{
		bytes->data = operand->value.val.string.val;
		bytes->length = operand->value.val.string.len;
		return;
	}
	if (source == NULL)
		source = bytes->decoded = kv_binary_bytes(&operand->value);
	bytes->data = VARDATA_ANY(source);
	bytes->length = VARSIZE_ANY_EXHDR(source);
}

/* Frees what get_bytes decoded. */
static void
free_bytes(Bytes *bytes)
{
	if (bytes->decoded)
		pfree(bytes->decoded);
}

/* Tells whether a is one of the types that begins_with and the substring form of contains take, and b the same. */
static bool
both_strings_or_binaries(const KvOperand *a, const KvOperand *b)
{
	return a->type == b->type && (a->type == KV_TYPE_STRING || a->type == KV_TYPE_BINARY);
}

/* Tells whether a string begins with a string, or a binary with a binary. */
bool
kv_function_begins_with(const KvOperand *operand, const KvOperand *prefix)
{
	Bytes		whole;
	Bytes		start;
	bool		result;

	if (!both_strings_or_binaries(operand, prefix))
		return false;
	get_bytes(operand, &whole);
	get_bytes(prefix, &start);
	result = start.length <= whole.length && memcmp(whole.data, start.data, start.length) == 0;
	free_bytes(&whole);
	free_bytes(&start);
	return result;
}

/* Tells whether a string lies in a string, or a binary in a binary. */
static bool
contains_bytes(const KvOperand *operand, const KvOperand *part)
{
	Bytes		whole;
	Bytes		inner;
	bool		result;

	get_bytes(operand, &whole);
	get_bytes(part, &inner);
	/* Linear in both lengths whatever they hold, unlike a loop of comparisons. */
	result = memmem(whole.data, whole.length, inner.data, inner.length) != NULL;
	free_bytes(&whole);
	free_bytes(&inner);
	return result;
}

/* Tells whether a set has a member; sets are stored sorted (where a table has no check, a stray member ends the search). */
static bool
contains_member(const KvOperand *set, const KvOperand *member)
{
	JsonbValue	inside;
	JsonbValue	wanted;
	JsonbContainer *array;
	int			low = 0;
	int			high;

	kv_operand_to_value(member, &wanted);
	if (set->type == KV_TYPE_BINARY_SET)
	{
		JsonbValue	marker = wanted;

		kv_marker_inside(&marker, &wanted);
	}
	kv_marker_inside(&set->value, &inside);
	if (inside.type != jbvBinary || !JsonContainerIsArray(inside.val.binary.data))
		return false;
	array = inside.val.binary.data;
	high = JsonContainerSize(array) - 1;
	while (low <= high)
	{
		int			middle = (low + high) / 2;
		JsonbValue *found = getIthJsonbValueFromContainer(array, middle);
		int			order;

		if (found->type != wanted.type)
			return false;
		order = kv_set_member_compare(set->type, &wanted, found);
		pfree(found);
		if (order == 0)
			return true;
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return false;
}

/* Tells whether a list has an element that is equal. */
static bool
contains_element(const KvOperand *list, const KvOperand *element)
{
	JsonbContainer *array = list->value.val.binary.data;
	int			count = JsonContainerSize(array);

	for (int i = 0; i < count; i++)
	{
		JsonbValue *found = getIthJsonbValueFromContainer(array, i);
		KvOperand	operand;

		kv_operand_from_value(found, &operand);
		pfree(found);
		if (kv_operand_equal(&operand, element))
			return true;
	}
	return false;
}

/* Tells whether a string has a substring, a set a member, or a list an element. */
bool
kv_function_contains(const KvOperand *operand, const KvOperand *part)
{
	switch (operand->type)
	{
		case KV_TYPE_STRING:
		case KV_TYPE_BINARY:
			return both_strings_or_binaries(operand, part) && contains_bytes(operand, part);
		case KV_TYPE_STRING_SET:
			return part->type == KV_TYPE_STRING && contains_member(operand, part);
		case KV_TYPE_NUMBER_SET:
			return part->type == KV_TYPE_NUMBER && contains_member(operand, part);
		case KV_TYPE_BINARY_SET:
			return part->type == KV_TYPE_BINARY && contains_member(operand, part);
		case KV_TYPE_LIST:
			return contains_element(operand, part);
		default:
			return false;
	}
}

/* Counts the UTF-16 units of a string: one for each character, two beyond the basic plane. */
static int64
count_utf16_units(const char *data, int length)
{
	int64		count = 0;

	if (GetDatabaseEncoding() != PG_UTF8)
		return pg_mbstrlen_with_len(data, length);
	for (int i = 0; i < length; i++)
	{
		unsigned char c = data[i];

		if ((c & 0xC0) != 0x80)
			count += (c >= 0xF0) ? 2 : 1;
	}
	return count;
}

/* Gives the size of an operand; false if it has none. */
bool
kv_function_size(const KvOperand *operand, int64 *size)
{
	JsonbValue	inside;

	switch (operand->type)
	{
		case KV_TYPE_STRING:
			*size = count_utf16_units(operand->value.val.string.val, operand->value.val.string.len);
			return true;
		case KV_TYPE_BINARY:
			*size = operand->bytes ? VARSIZE_ANY_EXHDR(operand->bytes) : kv_value_size(&operand->value);
			return true;
		case KV_TYPE_STRING_SET:
		case KV_TYPE_NUMBER_SET:
		case KV_TYPE_BINARY_SET:
			kv_marker_inside(&operand->value, &inside);
			if (inside.type != jbvBinary)
				return false;
			*size = JsonContainerSize(inside.val.binary.data);
			return true;
		case KV_TYPE_MAP:
		case KV_TYPE_LIST:
			*size = JsonContainerSize(operand->value.val.binary.data);
			return true;
		case KV_TYPE_NUMBER:
		case KV_TYPE_NULL:
		case KV_TYPE_BOOLEAN:
			break;
	}
	return false;
}

/* Finds a type by its name; false if there is none. */
bool
kv_function_type_of_name(const KvOperand *name, KvValueType *type)
{
	for (int i = KV_TYPE_STRING; i <= KV_TYPE_BOOLEAN; i++)
	{
		const char *known = kv_value_type_name((KvValueType) i);

		if (strlen(known) == name->value.val.string.len &&
			memcmp(known, name->value.val.string.val, name->value.val.string.len) == 0)
		{
			*type = (KvValueType) i;
			return true;
		}
	}
	return false;
}
