/*
 * expression_compare.c
 *	  Equality and order of operands.
 *
 * Values of different types are never equal.  Strings, numbers and binaries
 * have an order among their own type: UTF-8 bytes, numeric value, unsigned
 * bytes.  Sets, lists and maps are equal if their normal forms are.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "expression/expression_tree.h"

/* Makes an operand of a value. */
void
kv_operand_from_value(const JsonbValue *value, KvOperand *operand)
{
	operand->type = kv_value_type(value);
	operand->value = *value;
	operand->bytes = NULL;
}

/* Gives an operand as a value of an item. */
void
kv_operand_to_value(const KvOperand *operand, JsonbValue *value)
{
	if (operand->bytes)
		kv_key_to_value(KV_KEY_BINARY, PointerGetDatum(operand->bytes), value);
	else if (operand->type == KV_TYPE_NUMBER)
	{
		/* A key's numeric may have another display scale. */
		*value = operand->value;
		value->val.numeric = kv_number_normalize(value->val.numeric);
	}
	else
		*value = operand->value;
}

/* Orders two runs of bytes. */
static int
compare_bytes(const char *a, int a_length, const char *b, int b_length)
{
	int			order = memcmp(a, b, Min(a_length, b_length));

	if (order != 0 || a_length == b_length)
		return order;
	return a_length < b_length ? -1 : 1;
}

/* Orders two binaries: as base64 where both are, else as bytes. */
static int
compare_binaries(const KvOperand *a, const KvOperand *b)
{
	bytea	   *a_bytes;
	bytea	   *b_bytes;
	int			order;

	if (a->bytes == NULL && b->bytes == NULL)
	{
		JsonbValue	a_text;
		JsonbValue	b_text;

		kv_marker_inside(&a->value, &a_text);
		kv_marker_inside(&b->value, &b_text);
		if (a_text.type == jbvString && b_text.type == jbvString)
			return kv_set_member_compare(KV_TYPE_BINARY_SET, &a_text, &b_text);
	}
	a_bytes = a->bytes ? a->bytes : kv_binary_bytes(&a->value);
	b_bytes = b->bytes ? b->bytes : kv_binary_bytes(&b->value);
	order = compare_bytes(VARDATA_ANY(a_bytes), VARSIZE_ANY_EXHDR(a_bytes),
						  VARDATA_ANY(b_bytes), VARSIZE_ANY_EXHDR(b_bytes));
	if (a_bytes != a->bytes)
		pfree(a_bytes);
	if (b_bytes != b->bytes)
		pfree(b_bytes);
	return order;
}

/* Tells whether two containers are equal; mostly their bytes are, or differ in length by more than display scales. */
static bool
equal_containers(const JsonbValue *a, const JsonbValue *b)
{
	if (a->val.binary.len == b->val.binary.len &&
		memcmp(a->val.binary.data, b->val.binary.data, a->val.binary.len) == 0)
		return true;
	return compareJsonbContainers(a->val.binary.data, b->val.binary.data) == 0;
}

/* Tells whether operands of this type have an order. */
bool
kv_operand_is_ordered(const KvOperand *operand)
{
	return operand->type == KV_TYPE_STRING || operand->type == KV_TYPE_NUMBER ||
		operand->type == KV_TYPE_BINARY;
}

/* Orders two operands of one type that has an order. */
int
kv_operand_compare(const KvOperand *a, const KvOperand *b)
{
	switch (a->type)
	{
		case KV_TYPE_STRING:
			return compare_bytes(a->value.val.string.val, a->value.val.string.len,
								 b->value.val.string.val, b->value.val.string.len);
		case KV_TYPE_NUMBER:
			return DatumGetInt32(DirectFunctionCall2(numeric_cmp,
													 NumericGetDatum(a->value.val.numeric),
													 NumericGetDatum(b->value.val.numeric)));
		case KV_TYPE_BINARY:
			return compare_binaries(a, b);
		default:
			elog(ERROR, "values of type %s have no order", kv_value_type_name(a->type));
			return 0;
	}
}

/* Tells whether two operands are of one type and equal. */
bool
kv_operand_equal(const KvOperand *a, const KvOperand *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type)
	{
		case KV_TYPE_NULL:
			return true;
		case KV_TYPE_BOOLEAN:
			return a->value.val.boolean == b->value.val.boolean;
		case KV_TYPE_STRING:
			return a->value.val.string.len == b->value.val.string.len &&
				memcmp(a->value.val.string.val, b->value.val.string.val, a->value.val.string.len) == 0;
		case KV_TYPE_NUMBER:
		case KV_TYPE_BINARY:
			return kv_operand_compare(a, b) == 0;
		case KV_TYPE_STRING_SET:
		case KV_TYPE_NUMBER_SET:
		case KV_TYPE_BINARY_SET:
		case KV_TYPE_MAP:
		case KV_TYPE_LIST:
			return equal_containers(&a->value, &b->value);
	}
	return false;
}
