/*
 * index_order.c
 *	  Puts items and entries in the order of their leaves and keys.
 *
 * What is in order touches the pages of a leaf together, and locks entries in
 * one order.  Most comparisons are made of two numbers: the leaf, and some
 * bytes of the partition key behind those that all partition keys begin with.
 */
#include "postgres.h"

#include "base/compat.h"
#include "index/index_internal.h"

/* Returns the bytes of a key value that is no number. */
static const uint8 *
bytes_of(Datum value, int *length)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);

	*length = VARSIZE_ANY_EXHDR(packed);
	return (const uint8 *) VARDATA_ANY(packed);
}

/* Returns how many bytes all partition keys begin with alike. */
static int
common_length(const KvOrdered *things, int count)
{
	int			common;
	const uint8 *first = bytes_of(things[0].key[0], &common);

	for (int i = 1; i < count && common > 0; i++)
	{
		int			length;
		const uint8 *bytes = bytes_of(things[i].key[0], &length);
		int			same = 0;

		length = Min(length, common);
		while (same < length && bytes[same] == first[same])
			same++;
		common = same;
	}
	return common;
}

/* Fills the head of each: a number that orders like the bytes of the partition key, as far as it goes. */
static void
fill_heads(KvOrdered *things, int count)
{
	int			common = common_length(things, count);

	for (int i = 0; i < count; i++)
	{
		int			length;
		const uint8 *bytes = bytes_of(things[i].key[0], &length);
		uint64		head = 0;

		length -= common;
		for (int k = 0; k < sizeof(head); k++)
			head = head << 8 | (k < length ? bytes[common + k] : 0);
		things[i].head = head;
	}
}

/* Compares two by leaf and key. */
static inline int
compare(const KvOrdered *a, const KvOrdered *b, const KvKeySchema *schema)
{
	if (a->leaf != b->leaf)
		return a->leaf < b->leaf ? -1 : 1;
	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	return kv_key_compare_whole(schema, a->key, b->key);
}

#define ST_SORT sort_things
#define ST_ELEMENT_TYPE KvOrdered
#define ST_COMPARE(a, b, schema) compare(a, b, schema)
#define ST_COMPARE_ARG_TYPE const KvKeySchema
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Puts things in order by leaf and key. */
void
kv_order(const KvKeySchema *schema, KvOrdered *things, int count)
{
	bool		numbers = schema->attribute[0].type == KV_KEY_NUMBER;

	if (count > 0 && !numbers)
		fill_heads(things, count);
	for (int i = 0; numbers && i < count; i++)
		things[i].head = 0;
	sort_things(things, count, schema);
}

/* Tells whether two that kv_order put in order have one leaf and key. */
bool
kv_order_same(const KvKeySchema *schema, const KvOrdered *a, const KvOrdered *b)
{
	return compare(a, b, schema) == 0;
}
