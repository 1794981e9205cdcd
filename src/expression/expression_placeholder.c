/*
 * expression_placeholder.c
 *	  attribute_names and attribute_values of one call, and which were used.
 *
 * All expressions of a call share them.  Every placeholder that an expression
 * uses must be defined, and every one that is defined must be used by some
 * expression of the call (DynamoDB API reference, ExpressionAttributeNames).
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

#define MAX_NAME_LENGTH		65535	/* bytes, as in the item room */

/* One #name. */
typedef struct NameEntry
{
	KvName		key;			/* with the # */
	KvName		name;
	bool		used;
} NameEntry;

/* One :value. */
typedef struct ValueEntry
{
	KvName		key;			/* with the : */
	KvOperand	value;
	bool		used;
} ValueEntry;

/* Both arrays are in jsonb's key order; the strings belong to the jsonb. */
struct KvPlaceholders
{
	int			name_count;
	NameEntry  *name;
	int			value_count;
	ValueEntry *value;
};

/* Raises an error unless a key is the sign and at least one letter, digit or underscore. */
static void
check_key(const JsonbValue *key, char sign, const char *parameter)
{
	const char *p = key->val.string.val;
	int			length = key->val.string.len;
	bool		good = (length >= 2 && p[0] == sign);

	for (int i = 1; good && i < length; i++)
		good = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') ||
			(p[i] >= '0' && p[i] <= '9') || p[i] == '_';
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s contains the invalid key \"%.*s\"", parameter,
						pg_mbcliplen(p, length, 100), p),
				 errdetail("A placeholder is \"%c\" followed by letters, digits and underscores.", sign)));
}

/* Returns how many members a parameter has; an error if it is not an object. */
static int
check_object(Jsonb *json, const char *parameter)
{
	if (json == NULL)
		return 0;
	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must be a JSON object", parameter)));
	return JB_ROOT_COUNT(json);
}

/* Fills the array of names. */
static void
read_names(KvPlaceholders *placeholders, Jsonb *names)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	part;
	int			i = 0;

	placeholders->name_count = check_object(names, "attribute_names");
	if (placeholders->name_count == 0)
		return;
	placeholders->name = palloc0(placeholders->name_count * sizeof(NameEntry));
	iterator = JsonbIteratorInit(&names->root);
	while ((token = JsonbIteratorNext(&iterator, &part, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			check_key(&part, '#', "attribute_names");
			placeholders->name[i].key.data = part.val.string.val;
			placeholders->name[i].key.length = part.val.string.len;
		}
		else if (token == WJB_VALUE)
		{
			if (part.type != jbvString || part.val.string.len == 0)
				ereport(ERROR,
						(errcode(ERRCODE_KV_VALIDATION),
						 errmsg("attribute_names must give \"%.*s\" as a string that is not empty",
								placeholders->name[i].key.length, placeholders->name[i].key.data)));
			if (part.val.string.len > MAX_NAME_LENGTH)
				ereport(ERROR,
						(errcode(ERRCODE_KV_VALIDATION),
						 errmsg("attribute_names gives \"%.*s\" a name of %d bytes",
								placeholders->name[i].key.length, placeholders->name[i].key.data,
								part.val.string.len),
						 errdetail("A name has at most %d bytes.", MAX_NAME_LENGTH)));
			placeholders->name[i].name.data = part.val.string.val;
			placeholders->name[i].name.length = part.val.string.len;
			i++;
		}
	}
}

/* Fills the array of values from an object; the keys are checked. */
static void
fill_values(KvPlaceholders *placeholders, Jsonb *values)
{
	JsonbIterator *iterator = JsonbIteratorInit(&values->root);
	JsonbIteratorToken token;
	JsonbValue	part;
	int			i = 0;

	while ((token = JsonbIteratorNext(&iterator, &part, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			check_key(&part, ':', "attribute_values");
			placeholders->value[i].key.data = part.val.string.val;
			placeholders->value[i].key.length = part.val.string.len;
		}
		else if (token == WJB_VALUE)
		{
			kv_operand_from_value(&part, &placeholders->value[i].value);
			i++;
		}
	}
}

/* Reads the values, of which most come in normal form. */
static void
read_values(KvPlaceholders *placeholders, Jsonb *values)
{
	Jsonb	   *normal;

	placeholders->value_count = check_object(values, "attribute_values");
	if (placeholders->value_count == 0)
		return;
	placeholders->value = palloc0(placeholders->value_count * sizeof(ValueEntry));
	fill_values(placeholders, values);
	normal = kv_item_normalize(values);
	if (normal != values)
		fill_values(placeholders, normal);
}

/* Reads the placeholders of one call. */
KvPlaceholders *
kv_placeholders_create(Jsonb *names, Jsonb *values)
{
	KvPlaceholders *placeholders = palloc0(sizeof(KvPlaceholders));

	read_names(placeholders, names);
	read_values(placeholders, values);
	return placeholders;
}

/* Looks a #name up and marks it used; NULL if it is not defined. */
const KvName *
kv_placeholders_name(KvPlaceholders *placeholders, const char *key, int length)
{
	int			low = 0;
	int			high = placeholders ? placeholders->name_count - 1 : -1;

	while (low <= high)
	{
		int			middle = (low + high) / 2;
		NameEntry  *entry = &placeholders->name[middle];
		int			order = kv_name_compare(entry->key.data, entry->key.length, key, length);

		if (order == 0)
		{
			entry->used = true;
			return &entry->name;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return NULL;
}

/* Looks a :value up and marks it used; NULL if it is not defined. */
const KvOperand *
kv_placeholders_value(KvPlaceholders *placeholders, const char *key, int length)
{
	int			low = 0;
	int			high = placeholders ? placeholders->value_count - 1 : -1;

	while (low <= high)
	{
		int			middle = (low + high) / 2;
		ValueEntry *entry = &placeholders->value[middle];
		int			order = kv_name_compare(entry->key.data, entry->key.length, key, length);

		if (order == 0)
		{
			entry->used = true;
			return &entry->value;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return NULL;
}

/* Raises the error for a placeholder that nothing uses. */
static void
unused_placeholder(const char *parameter, const KvName *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("%s defines \"%.*s\", which no expression uses",
					parameter, key->length, key->data)));
}

/* Raises an error if a placeholder was defined and not used by any expression bound so far. */
void
kv_placeholders_check_used(const KvPlaceholders *placeholders)
{
	if (placeholders == NULL)
		return;
	for (int i = 0; i < placeholders->name_count; i++)
		if (!placeholders->name[i].used)
			unused_placeholder("attribute_names", &placeholders->name[i].key);
	for (int i = 0; i < placeholders->value_count; i++)
		if (!placeholders->value[i].used)
			unused_placeholder("attribute_values", &placeholders->value[i].key);
}
