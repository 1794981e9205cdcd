/*
 * item_size.c
 *	  The size of an item by DynamoDB's rule.
 *
 * DynamoDB Developer Guide, "DynamoDB item sizes and formats": an item is the
 * sum of its attributes' names and values.  A string counts its UTF-8 bytes, a
 * binary its raw bytes, a number one byte for every two significant digits
 * plus one, null and boolean 1, a map or list 3 plus its contents plus 1 for
 * each member, a set the sum of its members.  What our way of writing adds
 * (markers, base64, a "$" of escaping) does not count.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"

#include "base/errors.h"
#include "item/item_internal.h"

#define CONTAINER_OVERHEAD	3
#define MEMBER_OVERHEAD		1

/* Returns the size of a number. */
static inline int64
number_size(Numeric number)
{
	return (kv_number_digits(number) + 1) / 2 + 1;
}

/* Returns the number of bytes of a binary from its base64. */
static int64
binary_size(const JsonbValue *text)
{
	int			byte_count = 0;

	if (text->type == jbvString)
		(void) kv_base64_check(text->val.string.val, text->val.string.len, &byte_count);
	return byte_count;
}

/* Returns the size of the members of a container, without overhead. */
static int64
members_size(const JsonbContainer *container)
{
	KvWalk		walk;
	const char *name;
	int			name_length;
	JsonbValue	value;
	int64		size = 0;

	check_stack_depth();
	kv_walk_start(&walk, container);
	while (kv_walk_next(&walk, &name, &name_length, &value))
		size += name_length + kv_value_size(&value);
	return size;
}

/* Returns the size of a set: that of its members. */
static int64
set_size(KvValueType type, const JsonbValue *members)
{
	KvWalk		walk;
	const char *name;
	int			name_length;
	JsonbValue	member;
	int64		size = 0;

	if (type != KV_TYPE_BINARY_SET)
		return members_size(members->val.binary.data);
	kv_walk_start(&walk, members->val.binary.data);
	while (kv_walk_next(&walk, &name, &name_length, &member))
		size += binary_size(&member);
	return size;
}

/* Returns the size of a map, list, binary or set in its binary form. */
static int64
container_size(const JsonbValue *value)
{
	const JsonbContainer *container = value->val.binary.data;
	KvValueType type = kv_container_type(container);
	uint32		count = JsonContainerSize(container);
	int64		size;

	if (type != KV_TYPE_MAP && type != KV_TYPE_LIST)
	{
		JsonbValue	inside;

		kv_marker_inside(value, &inside);
		if (type == KV_TYPE_BINARY)
			return binary_size(&inside);
		return inside.type == jbvBinary ? set_size(type, &inside) : 0;
	}
	size = CONTAINER_OVERHEAD + members_size(container) + count * MEMBER_OVERHEAD;
	if (type == KV_TYPE_MAP && count == 1 &&
		kv_name_looks_like_marker((const char *) &container->children[2],
								  JBE_OFFLENFLD(container->children[0])))
		size--;					/* the "$" that escapes */
	return size;
}

/* Returns the size of a value. */
int64
kv_value_size(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
		case jbvBool:
			return 1;
		case jbvString:
			return value->val.string.len;
		case jbvNumeric:
			return number_size(value->val.numeric);
		case jbvBinary:
			return container_size(value);
		case jbvArray:
		case jbvObject:
			{
				/* Built in memory and not yet stored: seldom asked. */
				JsonbValue	stored;

				JsonbToJsonbValue(JsonbValueToJsonb(unconstify(JsonbValue *, value)), &stored);
				return container_size(&stored);
			}
		default:
			break;
	}
	elog(ERROR, "unexpected type of JSON value: %d", (int) value->type);
	return 0;
}

/* Returns the size of the key attributes of an item. */
static int64
key_size(const KvItemView *view)
{
	int64		size = 0;
	int			i;

	for (i = 0; i < view->schema->count; i++)
	{
		const KvKeyAttribute *attribute = &view->schema->attribute[i];

		size += attribute->name_length;
		if (attribute->type == KV_KEY_NUMBER)
			size += number_size(DatumGetNumeric(view->key[i]));
		else
			size += toast_raw_datum_size(view->key[i]) - VARHDRSZ;
	}
	return size;
}

/* Returns the size of an item. */
int64
kv_item_size(const KvItemView *view)
{
	return key_size(view) + members_size(&view->rest->root);
}

/*
 * Raises an error if the item is over the limit.  Its jsonb is never smaller
 * than its size by the rule (an entry alone takes four bytes), so most items
 * need not be walked.
 */
void
kv_item_check_size(const KvItemView *view)
{
	int64		size = key_size(view);

	if (size + VARSIZE(view->rest) <= KV_MAX_ITEM_SIZE)
		return;
	size += members_size(&view->rest->root);
	if (size > KV_MAX_ITEM_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("item is too large: " INT64_FORMAT " bytes", size),
				 errdetail("An item has at most %d bytes, attribute names and values together.",
						   KV_MAX_ITEM_SIZE)));
}
