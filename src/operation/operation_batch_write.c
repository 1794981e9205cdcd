/*
 * operation_batch_write.c
 *	  kv.batch_write_item: puts and deletes of up to 25 items.
 *
 * The request is read as a whole before anything is written.  Then the rows
 * are written in order of leaf and key: a leaf is opened once, neighbours in
 * the index come one after the other.  The keys are locked first, as those of
 * a transaction are: neither two batches nor a batch and a transaction can
 * deadlock.  No item is left unprocessed: what cannot be written is an error.
 *
 * Source of the rules: DynamoDB API reference, BatchWriteItem.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_json.h"
#include "operation/operation_request.h"
#include "operation/operation_write.h"

/* One write as it was asked for. */
typedef struct OneWrite
{
	KvWriteVerb verb;
	KvTable    *table;
	Jsonb	   *body;			/* item or key */
} OneWrite;

/* A batch that is being read. */
typedef struct Batch
{
	KvRequestTables tables;
	KvRequestContext context;
	int			count;
	OneWrite	one[KV_MAX_BATCH_WRITES];
	KvWrite		write[KV_MAX_BATCH_WRITES];
	KvRequestKey key[KV_MAX_BATCH_WRITES];
} Batch;

/* Members of the request where it is wrapped as in the API. */
enum
{
	REQUEST_ITEMS,
	REQUEST_MEMBERS = 3
};
static const KvMember request_members[REQUEST_MEMBERS] = {
	[REQUEST_ITEMS] = {"RequestItems", KV_MEMBER_OBJECT, true},
	{"ReturnConsumedCapacity", KV_MEMBER_NONE, false},
	{"ReturnItemCollectionMetrics", KV_MEMBER_NONE, false}
};

/* Members of one write. */
enum
{
	PUT_REQUEST,
	DELETE_REQUEST,
	WRITE_MEMBERS
};
static const KvMember write_members[WRITE_MEMBERS] = {
	[PUT_REQUEST] = {"PutRequest", KV_MEMBER_OBJECT, false},
	[DELETE_REQUEST] = {"DeleteRequest", KV_MEMBER_OBJECT, false}
};
static const KvMember put_members[] = {{"Item", KV_MEMBER_OBJECT, true}};
static const KvMember delete_members[] = {{"Key", KV_MEMBER_OBJECT, true}};
const KvVerb kv_batch_verbs[] = {
	[KV_VERB_PUT] = {"PutRequest", put_members, 1},
	[KV_VERB_DELETE] = {"DeleteRequest", delete_members, 1}
};

/* Reads the shape of one write. */
static void
read_shape(Batch *batch, OneWrite *one, const JsonbValue *value)
{
	JsonbContainer *object = kv_request_object(value);
	KvMemberValue verb[WRITE_MEMBERS];
	KvMemberValue body;

	if (object == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("write is not an object")));
	kv_request_read(object, "write", write_members, WRITE_MEMBERS, verb);
	if ((verb[PUT_REQUEST].container != NULL) == (verb[DELETE_REQUEST].container != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("write must have either PutRequest or DeleteRequest")));
	one->verb = verb[PUT_REQUEST].container ? KV_VERB_PUT : KV_VERB_DELETE;
	batch->context.verb = kv_batch_verbs[one->verb].name;
	kv_request_read(verb[one->verb == KV_VERB_PUT ? PUT_REQUEST : DELETE_REQUEST].container, batch->context.verb,
					kv_batch_verbs[one->verb].members, 1, &body);
	one->body = kv_request_plain(batch->tables.caller, &body);
}

/* Takes the item or key of one write. */
static void
read_item(Batch *batch, int number)
{
	const OneWrite *one = &batch->one[number];
	KvWrite    *write = &batch->write[number];
	KvRequestKey *key = &batch->key[number];

	batch->context.number = number + 1;
	key->verb = batch->context.verb = kv_batch_verbs[one->verb].name;
	kv_write_start(write, one->verb, one->table, false);
	write->capacity = kv_request_capacity(&batch->tables, one->table);
	if (one->verb == KV_VERB_PUT)
	{
		kv_item_split(&one->table->key, kv_item_normalize(one->body), &write->item);
		kv_item_check_size(&write->item);
		memcpy(write->key, write->item.key, sizeof(write->key));
	}
	else
		kv_key_from_json(&one->table->key, one->body, write->key);
	key->table = one->table;
	key->leaf = kv_table_route(key->table, write->key[0]);
	memcpy(key->key, write->key, sizeof(key->key));
	key->number = number;
}

/* Counts the writes, so that a batch with too many of them is not read. */
static int
count_writes(JsonbContainer *tables, const KvCaller *caller)
{
	KvRequestWalk walk;
	int			count = 0;

	kv_request_walk_start(&walk, tables);
	while (kv_request_walk_next(&walk))
	{
		JsonbContainer *writes = kv_request_array(&walk.value);

		if (writes == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("writes to table \"%.*s\" are not an array",
							walk.name.val.string.len, walk.name.val.string.val)));
		kv_request_check_some(caller, "writes", &walk.name, writes, KV_MAX_BATCH_WRITES);
		count += JsonContainerSize(writes);
	}
	return count;
}

/* Reads the shape of the writes to one table. */
static void
read_shapes(Batch *batch, const JsonbValue *value)
{
	KvRequestWalk walk;

	kv_request_walk_start(&walk, kv_request_array(value));
	while (kv_request_walk_next(&walk))
	{
		batch->context.number = batch->count + 1;
		batch->context.verb = NULL;
		read_shape(batch, &batch->one[batch->count], &walk.value);
		batch->count++;
	}
	batch->context.number = 0;
}

/* Opens the tables of a request whose shape has been read. */
static void
open_tables(Batch *batch, JsonbContainer *tables)
{
	KvRequestWalk walk;
	int			number = 0;

	kv_request_walk_start(&walk, tables);
	while (kv_request_walk_next(&walk))
	{
		KvTable    *table = kv_request_table(&batch->tables, walk.name.val.string.val, walk.name.val.string.len);
		int			end = number + JsonContainerSize(kv_request_array(&walk.value));

		while (number < end)
			batch->one[number++].table = table;
	}
}

/* Reads the whole request. */
static void
read_request(Batch *batch, JsonbContainer *request)
{
	JsonbContainer *tables = kv_request_unwrap(request, batch->tables.caller, request_members, REQUEST_MEMBERS,
											   KV_MAX_BATCH_WRITES);
	KvRequestWalk walk;

	kv_request_check_count("writes", count_writes(tables, batch->tables.caller), KV_MAX_BATCH_WRITES);
	kv_request_walk_start(&walk, tables);
	while (kv_request_walk_next(&walk))
		read_shapes(batch, &walk.value);
	open_tables(batch, tables);
	for (int i = 0; i < batch->count; i++)
		read_item(batch, i);
	batch->context.number = 0;
}

/* Writes the rows in order. */
static void
write_rows(Batch *batch)
{
	KvTarget   *target = NULL;

	kv_request_context_push(&batch->context, "write");
	for (int i = 0; i < batch->count; i++)
	{
		const KvRequestKey *key = &batch->key[i];
		KvWrite    *write = &batch->write[key->number];

		if (i == 0 || !kv_request_same_leaf(key, &batch->key[i - 1]))
		{
			if (target)
				kv_target_close(target);
			target = kv_target_open(key->table, key->leaf, write->through_policy);
		}
		batch->context.number = key->number + 1;
		batch->context.verb = key->verb;
		kv_write_execute(write, target);
	}
	kv_target_close(target);
	kv_request_context_pop(&batch->context);
}

/* Writes the items. */
Jsonb *
kv_operation_batch_write(JsonbContainer *request, KvCaller *caller)
{
	Batch	   *batch = palloc0(sizeof(Batch));

	batch->tables.caller = caller;
	batch->tables.lockmode = RowExclusiveLock;
	batch->tables.function = "kv.batch_write_item()";
	kv_request_context_push(&batch->context, "write");
	read_request(batch, request);
	kv_request_context_pop(&batch->context);
	kv_request_sort(batch->key, batch->count, "writes");
	kv_request_lock(batch->key, batch->count, "write", NULL);
	write_rows(batch);
	kv_request_unlock(batch->key, batch->count);
	kv_request_give_capacity(&batch->tables);
	return kv_json_wrap("UnprocessedItems", kv_json_empty_object());
}
