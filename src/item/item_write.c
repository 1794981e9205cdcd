/*
 * item_write.c
 *	  Writes values in memory as jsonb.
 *
 * Core's JsonbValueToJsonb takes containers apart to the last scalar and puts
 * them together again.  A container's bytes do not depend on where it lies,
 * as long as that is on an integer boundary, so what an update, a
 * projection or an answer leaves as it was is copied in one piece here.  The layout is
 * described in core's utils/jsonb.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "base/errors.h"
#include "item/item.h"

static void write_value(StringInfo buffer, const JsonbValue *value, JEntry *entry);

/* Adds zeroes up to the next integer boundary. */
static void
pad_to_int(StringInfo buffer)
{
	while (buffer->len != INTALIGN(buffer->len))
		appendStringInfoCharMacro(buffer, '\0');
}

/* Makes room for the entries of a container and returns its offset. */
static int
reserve_entries(StringInfo buffer, int count)
{
	int			offset = buffer->len;
	int			size = count * sizeof(JEntry);

	enlargeStringInfo(buffer, size);
	buffer->len += size;
	return offset;
}

/* Raises the error for what jsonb cannot hold. */
static void
refuse_size(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("item is too large for jsonb")));
}

/* Puts the entry of the child with this number into its place; total is the length of all children so far. */
static void
put_entry(StringInfo buffer, int offset, int number, JEntry entry, int *total)
{
	*total += JBE_OFFLENFLD(entry);
	if (*total > JENTRY_OFFLENMASK)
		refuse_size();
	if (number % JB_OFFSET_STRIDE == 0)
		entry = (entry & JENTRY_TYPEMASK) | *total | JENTRY_HAS_OFF;
	memcpy(buffer->data + offset + number * sizeof(JEntry), &entry, sizeof(JEntry));
}

/* Writes an array. */
static void
write_array(StringInfo buffer, const JsonbValue *value)
{
	int			count = value->val.array.nElems;
	uint32		header = count | JB_FARRAY;
	int			offset;
	int			total = 0;

	appendBinaryStringInfo(buffer, (char *) &header, sizeof(header));
	offset = reserve_entries(buffer, count);
	for (int i = 0; i < count; i++)
	{
		JEntry		entry;

		write_value(buffer, &value->val.array.elems[i], &entry);
		put_entry(buffer, offset, i, entry, &total);
	}
}

/* Writes an object: all keys, then all values. */
static void
write_object(StringInfo buffer, const JsonbValue *value)
{
	int			count = value->val.object.nPairs;
	const JsonbPair *pair = value->val.object.pairs;
	uint32		header = count | JB_FOBJECT;
	int			offset;
	int			total = 0;
	JEntry		entry;

	appendBinaryStringInfo(buffer, (char *) &header, sizeof(header));
	offset = reserve_entries(buffer, 2 * count);
	for (int i = 0; i < count; i++)
	{
		write_value(buffer, &pair[i].key, &entry);
		put_entry(buffer, offset, i, entry, &total);
	}
	for (int i = 0; i < count; i++)
	{
		write_value(buffer, &pair[i].value, &entry);
		put_entry(buffer, offset, count + i, entry, &total);
	}
}

/* Writes one value and gives its entry: type and length, padding included. */
static void
write_value(StringInfo buffer, const JsonbValue *value, JEntry *entry)
{
	int			start = buffer->len;

	check_stack_depth();
	switch (value->type)
	{
		case jbvNull:
			*entry = JENTRY_ISNULL;
			return;
		case jbvBool:
			*entry = value->val.boolean ? JENTRY_ISBOOL_TRUE : JENTRY_ISBOOL_FALSE;
			return;
		case jbvString:
			appendBinaryStringInfo(buffer, value->val.string.val, value->val.string.len);
			*entry = JENTRY_ISSTRING;
			break;
		case jbvNumeric:
			pad_to_int(buffer);
			appendBinaryStringInfo(buffer, (char *) value->val.numeric, VARSIZE_ANY(value->val.numeric));
			*entry = JENTRY_ISNUMERIC;
			break;
		case jbvBinary:
			pad_to_int(buffer);
			appendBinaryStringInfo(buffer, (char *) value->val.binary.data, value->val.binary.len);
			*entry = JENTRY_ISCONTAINER;
			break;
		case jbvArray:
			pad_to_int(buffer);
			write_array(buffer, value);
			*entry = JENTRY_ISCONTAINER;
			break;
		case jbvObject:
			pad_to_int(buffer);
			write_object(buffer, value);
			*entry = JENTRY_ISCONTAINER;
			break;
		default:
			elog(ERROR, "unexpected jsonb value type %d", (int) value->type);
	}
	if (buffer->len - start > JENTRY_OFFLENMASK)
		refuse_size();
	*entry |= buffer->len - start;
}

/* Writes an array or object as jsonb. */
Jsonb *
kv_json_write(const JsonbValue *value)
{
	StringInfoData buffer;
	JEntry		entry;

	Assert(value->type == jbvArray || value->type == jbvObject);
	initStringInfo(&buffer);
	reserve_entries(&buffer, VARHDRSZ / sizeof(JEntry));
	write_value(&buffer, value, &entry);
	SET_VARSIZE(buffer.data, buffer.len);
	return (Jsonb *) buffer.data;
}
