/*
 * item.h
 *	  Items, values and keys: pure functions over jsonb.
 *
 * An item is a JSON object.  SQL stores it split: each key attribute in a
 * column of its own, all the rest in the column "item" (called the rest here).
 * A whole item is the two joined.  Nothing in this room opens a relation.
 *
 * What JSON lacks is written as a one-key map: {"$B": base64},
 * {"$SS": [..]}, {"$NS": [..]}, {"$BS": [..]}; a user's own one-key map whose
 * key matches ^\$+(B|SS|NS|BS)$ carries one more "$".  Normal form: numbers
 * without trailing zeros or negative zero, sets sorted without duplicates.
 *
 * Source of the limits and of the size rule: DynamoDB Developer Guide,
 * "Service, account, and table quotas" and "DynamoDB item sizes and formats".
 *
 * Unless said otherwise results are allocated in CurrentMemoryContext and
 * errors are ERRCODE_KV_VALIDATION.
 */
#ifndef KV_ITEM_ITEM_H
#define KV_ITEM_ITEM_H

#include "utils/jsonb.h"

#define KV_MAX_ITEM_SIZE			(400 * 1024)	/* bytes, by the size rule */
#define KV_MAX_PARTITION_KEY_SIZE	2048	/* bytes */
#define KV_MAX_SORT_KEY_SIZE		1024	/* bytes */
#define KV_MAX_KEY_NAME				255		/* bytes, of the name of a key attribute */
#define KV_MAX_DEPTH				32		/* nested maps and lists below the item itself */
#define KV_MAX_TABLE_KEYS			2		/* partition key and sort key */
#define KV_MAX_KEYS					4		/* key columns of a row: an index has its own key and the table's */

/* Type of a key attribute; the letters are DynamoDB's. */
typedef enum KvKeyType
{
	KV_KEY_STRING = 'S',		/* text COLLATE "C" */
	KV_KEY_NUMBER = 'N',		/* numeric */
	KV_KEY_BINARY = 'B'			/* bytea */
} KvKeyType;

/* One key attribute.  A column that cannot have this name has a derived one (table.h). */
typedef struct KvKeyAttribute
{
	KvKeyType	type;
	int			name_length;	/* bytes, without the terminator */
	char		name[KV_MAX_KEY_NAME + 1];
} KvKeyAttribute;

/*
 * The key of a table or an index: partition key first, then the sort key if
 * there is one.  In an index those attributes of the table's key follow that
 * are not part of the index key; they order items with equal index keys.
 */
typedef struct KvKeySchema
{
	int			count;			/* of a table 1 or 2 */
	KvKeyAttribute attribute[KV_MAX_KEYS];
	int			trailing;		/* how many at the end only follow; of a table 0 */
} KvKeySchema;

/* The number of attributes that a key condition is about: partition key and sort key. */
static inline int
kv_key_own_count(const KvKeySchema *schema)
{
	return schema->count - schema->trailing;
}

/*
 * An item as it is stored: key column values beside the rest.  Expressions
 * read it in this form, so that nothing is joined only to be looked at.  A
 * missing item is a NULL view pointer.  Does not own what it points to; rest
 * must be detoasted.
 */
typedef struct KvItemView
{
	const KvKeySchema *schema;
	Datum		key[KV_MAX_KEYS];	/* text, numeric or bytea by the schema's type; detoasted */
	Jsonb	   *rest;			/* an object, without the key attributes */
} KvItemView;

/* One end of a range of sort keys. */
typedef struct KvBound
{
	bool		present;
	bool		inclusive;
	Datum		value;			/* of the sort key's type */
} KvBound;

/* What a key query reads: one collection, or the part of it between two bounds. */
typedef struct KvKeyRange
{
	Datum		partition_key;
	KvBound		low;
	KvBound		high;
} KvKeyRange;

/* Orders names as jsonb does inside an object: by length, then by bytes. */
static inline int
kv_name_compare(const char *a, int a_length, const char *b, int b_length)
{
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return memcmp(a, b, a_length);
}

/* --- item_value.c: normal form and validity --- */

/*
 * Returns the item in normal form: the argument itself where it is normal
 * already.  An object is taken as a map of attributes, so it is no marker
 * itself and its members are at the first level (placeholder values alike);
 * a scalar or array is taken as a value.  White space in base64 is dropped.
 */
extern Jsonb *kv_item_normalize(Jsonb *value);

/*
 * Raises an error unless rest is a valid item body in normal form that holds
 * no key attribute (the table's CHECK).  Numbers with trailing zeros pass:
 * to jsonb 1.0 and 1 are equal.
 */
extern void kv_item_check_rest(const KvKeySchema *schema, Jsonb *rest);

/* --- item_number.c --- */

/* Returns the number in normal form; an error if it has over 38 digits or is outside 1E-130 .. 9.99E+125. */
extern Numeric kv_number_normalize(Numeric number);

/* --- item_size.c: DynamoDB's size rule, bytes --- */

extern int64 kv_item_size(const KvItemView *view);
extern int64 kv_value_size(const JsonbValue *value);

/* Raises an error if the item is over KV_MAX_ITEM_SIZE. */
extern void kv_item_check_size(const KvItemView *view);

/* --- item_write.c --- */

/*
 * Writes an array or object as jsonb.  Unlike core's JsonbValueToJsonb it
 * takes containers in binary form anywhere and copies them as they are; objects
 * must be sorted and without duplicates.
 */
extern Jsonb *kv_json_write(const JsonbValue *value);

/* --- item_json.c: building JSON --- */

/*
 * An object member by member.  Objects and arrays that are added, and strings,
 * must stay until it is closed.
 */
extern void kv_json_open(JsonbParseState **state);
extern Jsonb *kv_json_close(JsonbParseState **state);
extern void kv_json_add_name(JsonbParseState **state, const char *name);
extern void kv_json_add_text(JsonbParseState **state, const char *name, const char *value);
extern void kv_json_add_integer(JsonbParseState **state, const char *name, int64 value);
extern void kv_json_add_numeric(JsonbParseState **state, const char *name, Numeric value);
extern void kv_json_add_boolean(JsonbParseState **state, const char *name, bool value);
extern void kv_json_add_jsonb(JsonbParseState **state, const char *name, Jsonb *value);
extern void kv_json_add_member(JsonbParseState **state, const JsonbValue *name, const JsonbValue *value);

/* Adds a value, or an element of an array (WJB_ELEM). */
extern void kv_json_push(JsonbParseState **state, JsonbIteratorToken token, const JsonbValue *value);
extern void kv_json_push_text(JsonbParseState **state, JsonbIteratorToken token, const char *text);
extern void kv_json_push_jsonb(JsonbParseState **state, JsonbIteratorToken token, Jsonb *jsonb);

/* Returns an object without members. */
extern Jsonb *kv_json_empty_object(void);

/* --- item_key.c: keys out of JSON and text, and back --- */

/* Takes the key from a JSON object that must hold the key attributes and nothing else; checks type, emptiness and length. */
extern void kv_key_from_json(const KvKeySchema *schema, Jsonb *json, Datum *key);

/* Reads one key value from text: S as it is, N as a number, B as base64. */
extern Datum kv_key_from_text(const KvKeyAttribute *attribute, int position, text *value);

/* Takes one key value from a JSON value (position 0 is the partition key); checks type, emptiness and length. */
extern Datum kv_key_from_value(const KvKeyAttribute *attribute, int position, const JsonbValue *value);

/*
 * Takes an attribute of the item's rest as a key value of an index, which
 * begins at position.  False if it is not there.  As kv_key_from_value
 * otherwise.
 */
extern bool kv_key_from_rest(const KvKeyAttribute *attribute, int position, const Jsonb *rest, Datum *key);

/* The same without errors: false also where the attribute cannot be a key value. */
extern bool kv_key_from_rest_if_valid(const KvKeyAttribute *attribute, int position, const Jsonb *rest, Datum *key);

/* Tells whether a value can be one of a key, that is whether kv_key_from_value would take it. */
extern bool kv_key_is_valid(const KvKeyAttribute *attribute, int position, const JsonbValue *value);

/* Raises an error if a key value is empty, too long or not in range. */
extern void kv_key_check(const KvKeyAttribute *attribute, int position, Datum value);

/* Returns the key value as an item value ({"$B": ..} for binary). */
extern void kv_key_to_value(KvKeyType type, Datum key, JsonbValue *value);

/* Returns the key as a JSON object. */
extern Jsonb *kv_key_to_json(const KvKeySchema *schema, const Datum *key);

/* The SQL type and collation of a key type, and back; kv_key_type_of returns 0 for a type that cannot be a key. */
extern Oid	kv_key_sql_type(KvKeyType type);
extern Oid	kv_key_sql_collation(KvKeyType type);
extern KvKeyType kv_key_type_of(Oid sql_type);

/* Orders two key values of one type as DynamoDB does: bytes, or numeric value. */
extern int	kv_key_compare(KvKeyType type, Datum a, Datum b);

/* Orders two keys of one schema, all their values. */
extern int	kv_key_compare_whole(const KvKeySchema *schema, const Datum *a, const Datum *b);

/* Makes a range the one key, or the one sort key of any partition key. */
extern void kv_key_range_set(KvKeyRange *range, const KvKeySchema *schema, const Datum *key);
extern void kv_key_range_set_sort_key(KvKeyRange *range, Datum sort_key);

/* Tells whether a sort key of a type lies between the bounds of a range. */
extern bool kv_key_range_holds(const KvKeyRange *range, KvKeyType type, Datum sort_key);

/* Sets the bounds that hold exactly the keys that begin with prefix (S and B). */
extern void kv_key_prefix_range(KvKeyType type, Datum prefix, KvBound *low, KvBound *high);

/* --- item_join.c: between the stored form and the whole item --- */

/* Returns the whole item: rest plus the key attributes. */
extern Jsonb *kv_item_join(const KvItemView *view);

/* Splits a whole item, already in normal form, into keys and rest; checks the keys. */
extern void kv_item_split(const KvKeySchema *schema, Jsonb *whole, KvItemView *view);

/* Returns a copy of an object without the attributes of a schema. */
extern Jsonb *kv_item_without(const KvKeySchema *schema, const Jsonb *object);

/* --- item_typed.c: DynamoDB's typed JSON --- */

/* DATATYPE of the error that something has not the JSON type of its place. */
#define KV_JSON_TYPE "jsonb"

/* Returns the item, in normal form, of a map of attribute names to typed values, {"a": {"S": "x"}}. */
extern Jsonb *kv_item_from_typed(const JsonbContainer *typed);

/* Returns the reverse; the item need not be in normal form. */
extern Jsonb *kv_item_to_typed(Jsonb *item);

/* --- item_marker.c: binary and sets inside jsonb --- */

/* DynamoDB's types, as attribute_type() names them. */
typedef enum KvValueType
{
	KV_TYPE_STRING,
	KV_TYPE_NUMBER,
	KV_TYPE_BINARY,
	KV_TYPE_STRING_SET,
	KV_TYPE_NUMBER_SET,
	KV_TYPE_BINARY_SET,
	KV_TYPE_MAP,
	KV_TYPE_LIST,
	KV_TYPE_NULL,
	KV_TYPE_BOOLEAN
} KvValueType;

/* Returns the DynamoDB type of a value in normal form, markers looked through. */
extern KvValueType kv_value_type(const JsonbValue *value);

/* Returns "S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL" or "BOOL". */
extern const char *kv_value_type_name(KvValueType type);

/* Fills *inside with what a marker holds: the base64 string of a binary, the array of a set. */
extern void kv_marker_inside(const JsonbValue *value, JsonbValue *inside);

/* Returns the bytes of a binary value (marker {"$B": ..}); an error if the marker does not hold base64. */
extern bytea *kv_binary_bytes(const JsonbValue *value);

/* Orders two members of a set (its type: STRING_SET, NUMBER_SET or BINARY_SET) as sets are stored. */
extern int	kv_set_member_compare(KvValueType set_type, const JsonbValue *a, const JsonbValue *b);

#endif							/* KV_ITEM_ITEM_H */
