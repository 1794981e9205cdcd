/*
 * operation_batch_get.c
 *	  kv.batch_get_item: up to 100 items by their keys.
 *
 * Items come in no promised order and carry their keys unless a projection
 * leaves them out; an item that does not exist is just absent.  What does not
 * fit into the answer is named as unprocessed.
 *
 * Source of the rules: DynamoDB API reference, BatchGetItem.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "expression/expression.h"
#include "operation/operation_capacity.h"
#include "operation/operation_json.h"
#include "operation/operation_request.h"

/* Members of what is asked of one table. */
enum
{
	PART_KEYS,
	PART_PROJECTION,
	PART_NAMES,
	PART_CONSISTENT_READ,
	PART_MEMBERS
};
static const KvMember part_members[PART_MEMBERS] = {
	[PART_KEYS] = {"Keys", KV_MEMBER_ARRAY, true},
	[PART_PROJECTION] = {"ProjectionExpression", KV_MEMBER_STRING, false},
	[PART_NAMES] = {"ExpressionAttributeNames", KV_MEMBER_OBJECT, false},
	[PART_CONSISTENT_READ] = {"ConsistentRead", KV_MEMBER_BOOLEAN, false}
};

/* The keys of one table. */
typedef struct TablePart
{
	JsonbValue	name;
	JsonbContainer *request;	/* as it was given */
	KvMemberValue member[PART_MEMBERS];
	KvTable    *table;
	KvProjection *projection;	/* NULL: whole items */
	KvCapacity *capacity;		/* NULL: not wanted */
} TablePart;

/* A batch. */
typedef struct Batch
{
	KvRequestTables tables;
	KvRequestContext context;
	int			part_count;
	TablePart  *part;
	int			count;
	KvRequestKey key[KV_MAX_BATCH_GETS];
	Jsonb	   *key_json[KV_MAX_BATCH_GETS];
	int			part_of[KV_MAX_BATCH_GETS];
	bool		processed[KV_MAX_BATCH_GETS];
	Jsonb	   *item[KV_MAX_BATCH_GETS];	/* NULL: there is none */
	int64		bytes;			/* read so far */
} Batch;

/* Members of the request where it is wrapped as in the API. */
enum
{
	REQUEST_ITEMS,
	REQUEST_MEMBERS = 2
};
static const KvMember request_members[REQUEST_MEMBERS] = {
	[REQUEST_ITEMS] = {"RequestItems", KV_MEMBER_OBJECT, true},
	{"ReturnConsumedCapacity", KV_MEMBER_NONE, false}
};

/* Takes one key as JSON. */
static void
take_key(Batch *batch, int part, const JsonbValue *value)
{
	KvMemberValue key = {.container = kv_request_object(value)};

	if (key.container == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("key is not an object")));
	key.length = value->val.binary.len;
	batch->key_json[batch->count] = kv_request_plain(batch->tables.caller, &key);
	batch->part_of[batch->count++] = part;
}

/* Reads one key. */
static void
read_key(Batch *batch, int number)
{
	KvRequestKey *key = &batch->key[number];

	batch->context.number = number + 1;
	key->table = batch->part[batch->part_of[number]].table;
	kv_key_from_json(&key->table->key, batch->key_json[number], key->key);
	key->leaf = kv_table_route(key->table, key->key[0]);
	key->number = number;
}

/* Reads the shape of what is asked of one table. */
static void
read_shape(Batch *batch, const JsonbValue *name, const JsonbValue *value)
{
	TablePart  *part = &batch->part[batch->part_count++];

	part->name = *name;
	part->request = kv_request_object(value);
	if (part->request == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("reads of table \"%.*s\" are not an object",
						name->val.string.len, name->val.string.val)));
	kv_request_read(part->request, "request", part_members, PART_MEMBERS, part->member);
	kv_request_check_some(batch->tables.caller, "keys", name, part->member[PART_KEYS].container, KV_MAX_BATCH_GETS);
}

/* Raises the error of a projection that is wrong, where a table is not there. */
static void
check_expressions(const Batch *batch)
{
	for (int i = 0; i < batch->part_count; i++)
	{
		KvExpressions expressions = {0};

		expressions.projection = batch->part[i].member[PART_PROJECTION].string;
		expressions.names = kv_request_copy(&batch->part[i].member[PART_NAMES]);
		kv_expressions_check(&expressions);
	}
}

/* Opens the tables and binds the projections. */
static void
open_tables(Batch *batch)
{
	bool		all_there = true;

	for (int i = 0; i < batch->part_count; i++)
		all_there &= kv_request_find_table(&batch->tables, batch->part[i].name.val.string.val,
										   batch->part[i].name.val.string.len);
	if (!all_there)
		check_expressions(batch);
	for (int i = 0; i < batch->part_count; i++)
	{
		TablePart  *part = &batch->part[i];
		KvPlaceholders *placeholders;

		part->table = kv_request_table(&batch->tables, part->name.val.string.val, part->name.val.string.len);
		kv_table_check_rights(part->table, ACL_SELECT);
		part->capacity = kv_request_capacity(&batch->tables, part->table);
		placeholders = kv_placeholders_create(kv_request_copy(&part->member[PART_NAMES]), NULL);
		if (part->member[PART_PROJECTION].string)
			part->projection = kv_projection_bind(part->member[PART_PROJECTION].string, placeholders,
												  &part->table->key);
		kv_placeholders_check_used(placeholders);
	}
}

/* Counts the keys, so that a batch with too many of them is not read. */
static void
check_count(const Batch *batch)
{
	int			count = 0;

	for (int i = 0; i < batch->part_count; i++)
		count += JsonContainerSize(batch->part[i].member[PART_KEYS].container);
	kv_request_check_count("keys", count, KV_MAX_BATCH_GETS);
}

/* Takes the keys of one table. */
static void
take_keys(Batch *batch, int part)
{
	KvRequestWalk walk;

	kv_request_walk_start(&walk, batch->part[part].member[PART_KEYS].container);
	while (kv_request_walk_next(&walk))
	{
		batch->context.number = batch->count + 1;
		take_key(batch, part, &walk.value);
	}
	batch->context.number = 0;
}

/* Reads the whole request. */
static void
read_request(Batch *batch, JsonbContainer *request)
{
	JsonbContainer *tables = kv_request_unwrap(request, batch->tables.caller, request_members, REQUEST_MEMBERS,
											   KV_MAX_BATCH_GETS);
	KvRequestWalk walk;

	batch->part = palloc0(sizeof(TablePart) * JsonContainerSize(tables));
	kv_request_walk_start(&walk, tables);
	while (kv_request_walk_next(&walk))
		read_shape(batch, &walk.name, &walk.value);
	check_count(batch);
	for (int i = 0; i < batch->part_count; i++)
		take_keys(batch, i);
	open_tables(batch);
	for (int i = 0; i < batch->count; i++)
		read_key(batch, i);
	batch->context.number = 0;
}

/* Takes an item that was read, unless the answer is full. */
static bool
take_item(void *argument, int number, const KvItemView *view)
{
	Batch	   *batch = argument;
	const TablePart *part = &batch->part[batch->part_of[number]];
	int64		size = view ? kv_item_size(view) : 0;

	batch->bytes += size;
	if (batch->bytes > KV_MAX_BATCH_GET_BYTES)
		return false;
	if (part->capacity)
		kv_capacity_add_read(part->capacity, size, part->member[PART_CONSISTENT_READ].boolean, 1);
	if (view)
		batch->item[number] = part->projection ? kv_projection_apply(part->projection, view) : kv_item_join(view);
	batch->processed[number] = true;
	return true;
}

/* Returns the items by table, in the order of the request. */
static Jsonb *
make_responses(const Batch *batch)
{
	KvJsonMember *members = palloc(sizeof(KvJsonMember) * batch->part_count);
	Jsonb	   *items[KV_MAX_BATCH_GETS];
	int			number = 0;

	for (int i = 0; i < batch->part_count; i++)
	{
		int			count = 0;

		for (; number < batch->count && batch->part_of[number] == i; number++)
			if (batch->item[number])
				items[count++] = batch->item[number];
		members[i].name = batch->part[i].name.val.string.val;
		members[i].name_length = batch->part[i].name.val.string.len;
		members[i].value = kv_json_array(items, count);
	}
	return kv_json_object(members, batch->part_count);
}

/* Returns what was asked of one table with the keys that were not processed; NULL if there are none. */
static Jsonb *
make_unprocessed_part(const Batch *batch, int part)
{
	JsonbParseState *state = NULL;
	Jsonb	   *keys[KV_MAX_BATCH_GETS];
	KvRequestWalk walk;
	int			count = 0;

	for (int i = 0; i < batch->count; i++)
		if (batch->part_of[i] == part && !batch->processed[i])
			keys[count++] = batch->key_json[i];
	if (count == 0)
		return NULL;

	kv_json_open(&state);
	kv_json_add_jsonb(&state, part_members[PART_KEYS].name, kv_json_array(keys, count));
	kv_request_walk_start(&walk, batch->part[part].request);
	while (kv_request_walk_next(&walk))
		if (kv_request_array(&walk.value) == NULL)
			kv_json_add_member(&state, &walk.name, &walk.value);
	return kv_json_close(&state);
}

/* Returns what was not processed, by table. */
static Jsonb *
make_unprocessed(const Batch *batch)
{
	KvJsonMember *members = palloc(sizeof(KvJsonMember) * batch->part_count);
	int			count = 0;

	for (int i = 0; i < batch->part_count; i++)
	{
		Jsonb	   *part = make_unprocessed_part(batch, i);

		if (part == NULL)
			continue;
		members[count].name = batch->part[i].name.val.string.val;
		members[count].name_length = batch->part[i].name.val.string.len;
		members[count++].value = part;
	}
	return kv_json_object(members, count);
}

/* Reads the items. */
Jsonb *
kv_operation_batch_get(JsonbContainer *request, KvCaller *caller)
{
	Batch	   *batch = palloc0(sizeof(Batch));
	KvJsonMember members[2] = {{"Responses", strlen("Responses")}, {"UnprocessedKeys", strlen("UnprocessedKeys")}};

	batch->tables.caller = caller;
	batch->tables.lockmode = AccessShareLock;
	kv_request_context_push(&batch->context, "key");
	read_request(batch, request);
	kv_request_context_pop(&batch->context);
	kv_request_sort(batch->key, batch->count, "keys");
	kv_request_read_items(batch->key, batch->count, take_item, batch);
	kv_request_give_capacity(&batch->tables);
	members[0].value = make_responses(batch);
	members[1].value = make_unprocessed(batch);
	return kv_json_object(members, 2);
}
