/*
 * dynamodb_definition.c
 *	  What CreateTable and UpdateTable say of attributes, keys and indexes.
 *
 * All of it is read and checked before it is asked whether the table is there.
 *
 * Source of the rules: DynamoDB API reference, AttributeDefinition,
 * KeySchemaElement, GlobalSecondaryIndex, LocalSecondaryIndex and Projection.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb_definition.h"

/* Members of an index. */
enum
{
	INDEX_NAME,
	INDEX_KEY,
	INDEX_PROJECTION,
	INDEX_MEMBERS = INDEX_PROJECTION + 4
};
static const KvDynamoMember index_members[INDEX_MEMBERS] = {
	{"IndexName", KV_DYNAMO_STRING, true},
	{"KeySchema", KV_DYNAMO_ARRAY, true, NULL, true},
	{"Projection", KV_DYNAMO_OBJECT, true},
	{"ProvisionedThroughput", KV_DYNAMO_ANY},
	{"OnDemandThroughput", KV_DYNAMO_ANY},
	{"WarmThroughput", KV_DYNAMO_ANY}
};

/* Orders texts. */
static int
compare_texts(const text *a, const text *b)
{
	return kv_name_compare(VARDATA_ANY(a), VARSIZE_ANY_EXHDR(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(b));
}

/* Orders definitions by name, for qsort and bsearch. */
static int
compare_definitions(const void *a, const void *b)
{
	return compare_texts(((const KvDynamoDefinition *) a)->name, ((const KvDynamoDefinition *) b)->name);
}

/* Reads AttributeDefinitions. */
void
kv_dynamodb_read_definitions(const KvDynamoValue *value, KvDynamoDefinitions *definitions)
{
	static const KvDynamoMember members[] = {
		{"AttributeName", KV_DYNAMO_STRING, true}, {"AttributeType", KV_DYNAMO_STRING, true, "S|N|B"}
	};
	JsonbValue *element;

	memset(definitions, 0, sizeof(KvDynamoDefinitions));
	if (!value->given)
		return;
	element = kv_dynamodb_objects(kv_dynamodb_part(value), "AttributeDefinitions", &definitions->count);
	definitions->one = palloc0(sizeof(KvDynamoDefinition) * (definitions->count + 1));
	for (int i = 0; i < definitions->count; i++)
	{
		KvDynamoValue member[lengthof(members)];

		kv_dynamodb_read(element[i].val.binary.data, "AttributeDefinitions", kv_dynamodb_element_path("attributeDefinitions", i),
						 members, lengthof(members), member);
		definitions->one[i].name = member[0].string;
		definitions->one[i].type = member[1].string;
	}
	qsort(definitions->one, definitions->count, sizeof(KvDynamoDefinition), compare_definitions);
	for (int i = 1; i < definitions->count; i++)
		if (compare_definitions(&definitions->one[i - 1], &definitions->one[i]) == 0)
			kv_dynamodb_refuse("Duplicate AttributeName in AttributeDefinitions");
}

/* Returns the type of a key attribute. */
static text *
find_type(KvDynamoDefinitions *definitions, text *name)
{
	KvDynamoDefinition key = {name};
	KvDynamoDefinition *found = definitions->count == 0 ? NULL :
		bsearch(&key, definitions->one, definitions->count, sizeof(KvDynamoDefinition), compare_definitions);

	if (found == NULL)
		kv_dynamodb_refuse(psprintf("Some index key attributes are not defined in AttributeDefinitions. Keys: [%s]",
									kv_dynamodb_shown(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name))));
	found->used = true;
	return found->type;
}

/* Reads KeySchema. */
void
kv_dynamodb_read_keys(JsonbContainer *schema, const char *path, KvDynamoDefinitions *definitions, KvDynamoKeys *keys)
{
	static const KvDynamoMember members[] = {
		{"AttributeName", KV_DYNAMO_STRING, true}, {"KeyType", KV_DYNAMO_STRING, true, "HASH|RANGE"}
	};
	int			count;
	JsonbValue *element = kv_dynamodb_objects(schema, "KeySchema", &count);

	memset(keys, 0, sizeof(KvDynamoKeys));
	if (count > KV_MAX_TABLE_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("1 validation error detected: Value at '%s' failed to satisfy constraint: "
						"Member must have length less than or equal to %d", path, KV_MAX_TABLE_KEYS)));
	for (int i = 0; i < count; i++)
	{
		KvDynamoValue member[lengthof(members)];

		kv_dynamodb_read(element[i].val.binary.data, "KeySchema", kv_dynamodb_element_path(path, i),
						 members, lengthof(members), member);
		if (!kv_dynamodb_is(member[1].string, i == 0 ? "HASH" : "RANGE"))
			kv_dynamodb_refuse(i == 0 ? "The first KeySchemaElement is not a HASH key type" :
							   "The second KeySchemaElement is not a RANGE key type");
		keys->name[i] = member[0].string;
		keys->type[i] = find_type(definitions, member[0].string);
		/* names are checked before it is asked whether the table is there */
		kv_table_add_key_attribute(&keys->schema, i == 0 ? "partition key" : "sort key", keys->name[i],
								   kv_table_check_key_type("key_type", keys->type[i]));
	}
}

/* Reads Projection. */
static void
read_projection(JsonbContainer *projection, const char *path, KvCreateIndex *create)
{
	static const KvDynamoMember members[] = {
		{"ProjectionType", KV_DYNAMO_STRING, false, "ALL|KEYS_ONLY|INCLUDE"},
		{"NonKeyAttributes", KV_DYNAMO_STRINGS, false, NULL, true}
	};
	KvDynamoValue member[lengthof(members)];
	JsonbIterator *iterator;
	JsonbValue	value;
	Datum	   *names;
	int			count = 0;

	kv_dynamodb_read(projection, "Projection", path, members, lengthof(members), member);
	if (!member[0].given)
		kv_dynamodb_refuse("Unknown ProjectionType: null");
	create->projection = member[0].string;
	if (!member[1].given)
		return;
	names = palloc(sizeof(Datum) * (JsonContainerSize(kv_dynamodb_part(&member[1])) + 1));
	iterator = JsonbIteratorInit(kv_dynamodb_part(&member[1]));
	(void) JsonbIteratorNext(&iterator, &value, true);
	while (JsonbIteratorNext(&iterator, &value, true) == WJB_ELEM)
		names[count++] = PointerGetDatum(cstring_to_text_with_len(value.val.string.val, value.val.string.len));
	create->include = construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT);
}

/* Reads one index; table_keys NULL: those of a table that there is already. */
void
kv_dynamodb_read_index(JsonbContainer *request, const char *path, KvDynamoDefinitions *definitions, bool global,
					   const KvDynamoKeys *table_keys, KvDynamoIndex *index)
{
	KvDynamoValue member[INDEX_MEMBERS];
	KvDynamoKeys keys;

	memset(index, 0, sizeof(KvDynamoIndex));
	kv_dynamodb_read(request, "index", path, index_members, INDEX_MEMBERS, member);
	kv_dynamodb_read_keys(kv_dynamodb_part(&member[INDEX_KEY]), psprintf("%s.keySchema", path), definitions, &keys);
	index->name = member[INDEX_NAME].string;
	index->global = global;
	kv_dynamodb_check_index_name(index->name, true);
	if (!global)
	{
		if (compare_texts(keys.name[0], table_keys->name[0]) != 0)
			kv_dynamodb_refuse(psprintf("Index KeySchema does not have the same leading hash key as table KeySchema for index: %s",
										text_to_cstring(index->name)));
		if (keys.name[1] == NULL)
			kv_dynamodb_refuse(psprintf("Index KeySchema does not have a range key for index: %s", text_to_cstring(index->name)));
	}
	else
	{
		index->create.partition_key = keys.name[0];
		index->create.partition_key_type = keys.type[0];
	}
	index->create.sort_key = keys.name[1];
	index->create.sort_key_type = keys.type[1];
	read_projection(kv_dynamodb_part(&member[INDEX_PROJECTION]), psprintf("%s.projection", path), &index->create);
	kv_index_check_projection(&index->create, &keys.schema, table_keys ? &table_keys->schema : NULL);
}

/* Raises an error if an index of a request is called like one before it. */
static void
check_other_name(const List *indexes, text *name)
{
	ListCell   *cell;

	foreach(cell, indexes)
		if (compare_texts(((const KvDynamoIndex *) lfirst(cell))->name, name) == 0)
			kv_dynamodb_refuse(psprintf("Duplicate index name: %s", text_to_cstring(name)));
}

/* Reads an array of indexes. */
List *
kv_dynamodb_read_indexes(const KvDynamoValue *value, bool global, KvDynamoDefinitions *definitions,
						 const KvDynamoKeys *table_keys, List *indexes)
{
	const char *what = global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes";
	int			limit = global ? KV_MAX_GLOBAL_INDEXES : KV_MAX_LOCAL_INDEXES;
	int			count;
	JsonbValue *element;

	if (!value->given)
		return indexes;
	element = kv_dynamodb_objects(kv_dynamodb_part(value), what, &count);
	/* before the first one is made */
	if (count > limit)
		kv_dynamodb_refuse(psprintf("%s has %d elements; a table has at most %d of them", what, count, limit));
	for (int i = 0; i < count; i++)
	{
		KvDynamoIndex *index = palloc(sizeof(KvDynamoIndex));

		kv_dynamodb_read_index(element[i].val.binary.data,
							   kv_dynamodb_element_path(global ? "globalSecondaryIndexes" : "localSecondaryIndexes", i),
							   definitions, global, table_keys, index);
		check_other_name(indexes, index->name);
		indexes = lappend(indexes, index);
	}
	return indexes;
}

/* Raises an error if an attribute is defined that is no key. */
void
kv_dynamodb_check_used(const KvDynamoDefinitions *definitions)
{
	for (int i = 0; i < definitions->count; i++)
	{
		const text *name = definitions->one[i].name;

		if (!definitions->one[i].used)
			kv_dynamodb_refuse(psprintf("Number of attributes in KeySchema does not exactly match number of attributes defined in "
										"AttributeDefinitions: %s is no key",
										kv_dynamodb_shown(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name))));
	}
}
