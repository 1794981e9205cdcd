/*
 * dynamodb_tag.c
 *	  Tags of tables, and what is constant: DescribeLimits, DescribeEndpoints.
 *
 * Tags are kept in the table's comment (dynamodb_name.c); only its owner may
 * change them.
 *
 * Source of the rules: DynamoDB API reference, TagResource.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

#define MAX_TAGS 50
#define MAX_TAG_KEY 128			/* characters */
#define MAX_TAG_VALUE 256

/* Raises an error unless the current user owns the table. */
static void
check_owner(Oid relid)
{
	if (!kv_compat_owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)), get_rel_name(relid));
}

/*
 * Finds a table whose tags the current user may change, and locks it as
 * COMMENT does: nobody else changes them or drops it meanwhile.  Who must not
 * does not get as far as the lock.
 */
static Oid
open_to_tag(text *resource)
{
	Oid			table = kv_dynamodb_table(resource);

	check_owner(table);
	PreventCommandIfReadOnly("kv.dynamodb()");
	(void) kv_table_open(table, ShareUpdateExclusiveLock);
	check_owner(table);
	return table;
}

/* Returns old tags with those of an array of Key and Value. */
Jsonb *
kv_dynamodb_read_tags(JsonbContainer *array, Jsonb *old)
{
	static const KvDynamoMember members[] = {
		{"Key", KV_DYNAMO_STRING, true}, {"Value", KV_DYNAMO_STRING, true}
	};
	JsonbParseState *state = NULL;
	int			count;
	JsonbValue *tag = kv_dynamodb_objects(array, "Tags", &count);
	JsonbIterator *iterator = JsonbIteratorInit(&old->root);
	JsonbValue	value;
	Jsonb	   *tags;

	kv_json_open(&state);
	(void) JsonbIteratorNext(&iterator, &value, true);
	while (JsonbIteratorNext(&iterator, &value, true) == WJB_KEY)
	{
		pushJsonbValue(&state, WJB_KEY, &value);
		(void) JsonbIteratorNext(&iterator, &value, true);
		pushJsonbValue(&state, WJB_VALUE, &value);
	}
	for (int i = 0; i < count; i++)
	{
		KvDynamoValue member[lengthof(members)];
		int			key_length;
		int			value_length;

		kv_dynamodb_read(tag[i].val.binary.data, "Tags", kv_dynamodb_element_path("tags", i), members, lengthof(members), member);
		key_length = pg_mbstrlen_with_len(VARDATA_ANY(member[0].string), VARSIZE_ANY_EXHDR(member[0].string));
		value_length = pg_mbstrlen_with_len(VARDATA_ANY(member[1].string), VARSIZE_ANY_EXHDR(member[1].string));
		if (key_length < 1 || key_length > MAX_TAG_KEY || value_length > MAX_TAG_VALUE)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("One or more parameter values were invalid: a tag has a key of 1 to %d and a value of up to %d characters",
							MAX_TAG_KEY, MAX_TAG_VALUE)));
		/* of members with one name jsonb keeps the last */
		kv_json_add_text(&state, text_to_cstring(member[0].string), text_to_cstring(member[1].string));
	}
	tags = kv_json_close(&state);
	if (JB_ROOT_COUNT(tags) > MAX_TAGS)
		ereport(ERROR,
				(errcode(ERRCODE_KV_LIMIT_EXCEEDED),
				 errmsg("Too many tags: a table has at most %d", MAX_TAGS)));
	return tags;
}

/* TagResource */
Jsonb *
kv_dynamodb_tag_resource(Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"ResourceArn", KV_DYNAMO_STRING, true}, {"Tags", KV_DYNAMO_ARRAY, true}
	};
	KvDynamoValue value[lengthof(members)];
	Oid			table;

	kv_dynamodb_read(&request->root, "TagResource", NULL, members, lengthof(members), value);
	table = open_to_tag(value[0].string);
	kv_dynamodb_note_table(table, kv_dynamodb_table_name(table),
						   kv_dynamodb_read_tags(kv_dynamodb_part(&value[1]), kv_dynamodb_tags(table)));
	return kv_json_empty_object();
}

/* UntagResource */
Jsonb *
kv_dynamodb_untag_resource(Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"ResourceArn", KV_DYNAMO_STRING, true}, {"TagKeys", KV_DYNAMO_STRINGS, true}
	};
	KvDynamoValue value[lengthof(members)];
	JsonbParseState *state = NULL;
	JsonbIterator *iterator;
	JsonbValue	name;
	JsonbValue	tag;
	Oid			table;

	kv_dynamodb_read(&request->root, "UntagResource", NULL, members, lengthof(members), value);
	table = open_to_tag(value[0].string);
	iterator = JsonbIteratorInit(&kv_dynamodb_tags(table)->root);
	kv_json_open(&state);
	(void) JsonbIteratorNext(&iterator, &name, true);
	while (JsonbIteratorNext(&iterator, &name, true) == WJB_KEY)
	{
		(void) JsonbIteratorNext(&iterator, &tag, true);
		if (findJsonbValueFromContainer(kv_dynamodb_part(&value[1]), JB_FARRAY, &name) != NULL)
			continue;
		pushJsonbValue(&state, WJB_KEY, &name);
		pushJsonbValue(&state, WJB_VALUE, &tag);
	}
	kv_dynamodb_note_table(table, kv_dynamodb_table_name(table), kv_json_close(&state));
	return kv_json_empty_object();
}

/* Adds one tag to an array. */
static void
add_tag(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	JsonbParseState **state = argument;

	kv_json_open(state);
	kv_json_add_text(state, "Key", kv_dynamodb_string(name));
	kv_json_add_name(state, "Value");
	kv_json_push(state, WJB_VALUE, value);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* ListTagsOfResource: all tags come at once. */
Jsonb *
kv_dynamodb_list_tags_of_resource(Jsonb *request)
{
	static const KvDynamoMember members[] = {
		{"ResourceArn", KV_DYNAMO_STRING, true}, {"NextToken", KV_DYNAMO_STRING}
	};
	KvDynamoValue value[lengthof(members)];
	JsonbParseState *state = NULL;
	Oid			table;

	kv_dynamodb_read(&request->root, "ListTagsOfResource", NULL, members, lengthof(members), value);
	table = kv_dynamodb_table(value[0].string);
	(void) kv_table_open(table, AccessShareLock);
	kv_json_open(&state);
	kv_json_add_name(&state, "Tags");
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	kv_dynamodb_each(&kv_dynamodb_tags(table)->root, add_tag, &state);
	pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	return kv_json_close(&state);
}

/* DescribeLimits: the service's defaults; nothing here is limited so. */
Jsonb *
kv_dynamodb_describe_limits(Jsonb *request)
{
	KvDynamoValue none;
	JsonbParseState *state = NULL;

	kv_dynamodb_read(&request->root, "DescribeLimits", NULL, NULL, 0, &none);
	kv_json_open(&state);
	kv_json_add_integer(&state, "AccountMaxReadCapacityUnits", 80000);
	kv_json_add_integer(&state, "AccountMaxWriteCapacityUnits", 80000);
	kv_json_add_integer(&state, "TableMaxReadCapacityUnits", 40000);
	kv_json_add_integer(&state, "TableMaxWriteCapacityUnits", 40000);
	return kv_json_close(&state);
}

/* DescribeEndpoints */
Jsonb *
kv_dynamodb_describe_endpoints(Jsonb *request)
{
	KvDynamoValue none;
	JsonbParseState *state = NULL;

	kv_dynamodb_read(&request->root, "DescribeEndpoints", NULL, NULL, 0, &none);
	kv_json_open(&state);
	kv_json_add_name(&state, "Endpoints");
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	kv_json_open(&state);
	kv_json_add_text(&state, "Address", "dynamodb.local");
	kv_json_add_integer(&state, "CachePeriodInMinutes", 1440);
	pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	pushJsonbValue(&state, WJB_END_ARRAY, NULL);
	return kv_json_close(&state);
}
