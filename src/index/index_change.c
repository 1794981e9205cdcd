/*
 * index_change.c
 *	  The form of a record of the change log.
 *
 * A record names an item by its key and tells which keys it had in the
 * indexes before the change, as far as they changed.  The item itself is not
 * copied: apply reads it when it comes to it, and looks first where the
 * change left it.
 *
 *		types of the item's key (1 byte), each value as length and bytes
 *		where the row was put (6 bytes), invalid where it was removed
 *		then for each old key: the index's OID (4 bytes), its types (1 byte),
 *		each value as length and bytes
 *
 * Only those values of an index key are here that are not keys of the base
 * table.  The bytes of a value are those behind its varlena header.  Its
 * length is one byte, or LONG_VALUE and four more: a key that compresses well
 * can have any length where a table has no check.
 *
 * The types tell records apart that were written before a key got another
 * form.  Nobody needs those: the indexes are filled anew after that.
 */
#include "postgres.h"

#include "base/errors.h"
#include "index/index_internal.h"

/* The first byte of a length of so much or more. */
#define LONG_VALUE 255

/* Bits that a type takes in the byte for the types of a key's values; 0 stands for no more values. */
#define TYPE_BITS 2
#define TYPE_MASK 3

/* Returns the code of a type. */
static uint8
type_code(KvKeyType type)
{
	return type == KV_KEY_STRING ? 1 : type == KV_KEY_NUMBER ? 2 : 3;
}

/* Returns the byte for the types of the key of a base table. */
static uint8
base_types(const KvKeySchema *base)
{
	uint8		types = 0;

	for (int i = 0; i < base->count; i++)
		types |= type_code(base->attribute[i].type) << (i * TYPE_BITS);
	return types;
}

/* Returns the byte for the types of what a record has of the key of an index. */
static uint8
index_types(const KvIndex *index)
{
	uint8		types = 0;
	int			count = 0;

	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY)
			types |= type_code(index->key.attribute[i].type) << (count++ * TYPE_BITS);
	return types;
}

/* Appends a value. */
static void
append_value(StringInfo record, Datum value)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	uint32		length = VARSIZE_ANY_EXHDR(packed);

	appendStringInfoCharMacro(record, (char) Min(length, LONG_VALUE));
	if (length >= LONG_VALUE)
		appendBinaryStringInfo(record, (char *) &length, sizeof(length));
	appendBinaryStringInfo(record, VARDATA_ANY(packed), length);
}

/* Reads the length of the value at the offset, and moves the offset to its bytes. */
static uint32
read_length(const char *record, int *offset)
{
	uint32		length = (uint8) record[(*offset)++];

	if (length == LONG_VALUE)
	{
		memcpy(&length, record + *offset, sizeof(length));
		*offset += sizeof(length);
	}
	return length;
}

/* Moves the offset behind a value. */
static void
skip_value(const char *record, int *offset)
{
	uint32		length = read_length(record, offset);

	*offset += length;
}

/* Reads a value and moves the offset behind it. */
static Datum
read_value(const char *record, int *offset)
{
	uint32		length = read_length(record, offset);
	struct varlena *value = palloc(VARHDRSZ + length);

	SET_VARSIZE(value, VARHDRSZ + length);
	memcpy(VARDATA(value), record + *offset, length);
	*offset += length;
	return PointerGetDatum(value);
}

/* Starts a record with the key of an item. */
void
kv_change_begin(StringInfo record, const KvKeySchema *base, const Datum *base_key)
{
	resetStringInfo(record);
	appendStringInfoCharMacro(record, (char) base_types(base));
	for (int i = 0; i < base->count; i++)
		append_value(record, base_key[i]);
}

/* Adds where the row was put; NULL where it was removed. */
void
kv_change_add_place(StringInfo record, const ItemPointerData *place)
{
	ItemPointerData none;

	ItemPointerSetInvalid(&none);
	appendBinaryStringInfo(record, (const char *) (place ? place : &none), sizeof(ItemPointerData));
}

/* Adds the old key of an index. */
void
kv_change_add_old(StringInfo record, const KvIndex *index, const Datum *key)
{
	appendBinaryStringInfo(record, (const char *) &index->relid, sizeof(Oid));
	appendStringInfoCharMacro(record, (char) index_types(index));
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY)
			append_value(record, key[i]);
}

/* Tells whether the item's key still has the form that the record has it in. */
bool
kv_change_fits(const KvKeySchema *base, const char *record)
{
	return (uint8) record[0] == base_types(base);
}

/* Reads the item's key; returns how long that part of the record is. */
int
kv_change_read_key(const KvKeySchema *base, const char *record, Datum *base_key)
{
	int			offset = sizeof(uint8);

	for (int i = 0; i < base->count; i++)
		base_key[i] = read_value(record, &offset);
	return offset;
}

/* Reads where the row was put, from behind the key, and tells where the old keys begin. */
int
kv_change_read_place(const char *record, int key_length, ItemPointer place)
{
	memcpy(place, record + key_length, sizeof(ItemPointerData));
	return key_length + sizeof(ItemPointerData);
}

/* Finds the next old key of a record; false at the end. */
bool
kv_change_next_old(const char *record, int length, int *offset, Oid *index, int *key_offset)
{
	uint8		types;

	if (*offset >= length)
		return false;
	memcpy(index, record + *offset, sizeof(Oid));
	*offset += sizeof(Oid);
	*key_offset = *offset;
	types = (uint8) record[*offset];
	*offset += sizeof(uint8);
	for (; types & TYPE_MASK; types >>= TYPE_BITS)
		skip_value(record, offset);
	return true;
}

/* Reads an old key of an index; false if the index has another form by now. */
bool
kv_change_read_old(const char *record, int key_offset, const KvIndex *index, Datum *key)
{
	int			offset = key_offset + sizeof(uint8);

	if ((uint8) record[key_offset] != index_types(index))
		return false;
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY)
			key[i] = read_value(record, &offset);
	return true;
}
