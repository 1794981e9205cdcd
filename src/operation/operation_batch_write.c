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

/* A batch that is being read. */
typedef struct Batch
{
	KvRequestTables tables;
	KvRequestContext context;
	int			count;
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

/* Reads one write. */
static void
read_write(Batch *batch, KvTable *table, const JsonbValue *value)
{
	KvWrite    *write = &batch->write[batch->count];
	KvRequestKey *key = &batch->key[batch->count];
	JsonbContainer *object = kv_request_object(value);
	KvMemberValue verb[WRITE_MEMBERS];
	KvMemberValue body;

	if (object == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("write is not an object")));
	kv_request_read(object, "write", write_members, WRITE_MEMBERS, verb);
	if ((verb[PUT_REQUEST].object != NULL) == (verb[DELETE_REQUEST].object != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("write must have either PutRequest or DeleteRequest")));

	if (verb[PUT_REQUEST].object)
	{
		batch->context.verb = "PutRequest";
		kv_request_read(&verb[PUT_REQUEST].object->root, "PutRequest", put_members, 1, &body);
		kv_write_start(write, KV_VERB_PUT, table, false);
		kv_item_split(&table->key, kv_item_normalize(body.object), &write->item);
		kv_item_check_size(&write->item);
		memcpy(write->key, write->item.key, sizeof(write->key));
	}
	else
	{
		batch->context.verb = "DeleteRequest";
		kv_request_read(&verb[DELETE_REQUEST].object->root, "DeleteRequest", delete_members, 1, &body);
		kv_write_start(write, KV_VERB_DELETE, table, false);
		kv_key_from_json(&table->key, body.object, write->key);
	}

	key->table = table;
	key->verb = batch->context.verb;
	key->leaf = kv_table_route(table, write->key[0]);
	memcpy(key->key, write->key, sizeof(key->key));
	key->number = batch->count++;
}

/* Reads the writes to one table. */
static void
read_table(Batch *batch, const JsonbValue *name, const JsonbValue *value)
{
	KvTable    *table = kv_request_table(&batch->tables, name->val.string.val, name->val.string.len);
	KvRequestWalk walk;

	kv_request_walk_start(&walk, kv_request_array(value));
	while (kv_request_walk_next(&walk))
	{
		batch->context.number = batch->count + 1;
		batch->context.verb = NULL;
		read_write(batch, table, &walk.value);
	}
	batch->context.number = 0;
}

/* Counts the writes, so that a batch with too many of them is not read. */
static int
count_writes(JsonbContainer *tables)
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
		count += JsonContainerSize(writes);
	}
	return count;
}

/* Reads the whole request. */
static void
read_request(Batch *batch, Jsonb *request)
{
	JsonbContainer *tables = kv_request_unwrap(request, request_members, REQUEST_MEMBERS);
	KvRequestWalk walk;

	kv_request_check_count("writes", count_writes(tables), KV_MAX_BATCH_WRITES);
	kv_request_walk_start(&walk, tables);
	while (kv_request_walk_next(&walk))
		read_table(batch, &walk.name, &walk.value);
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
kv_operation_batch_write(Jsonb *request)
{
	Batch	   *batch = palloc0(sizeof(Batch));

	batch->tables.lockmode = RowExclusiveLock;
	batch->tables.function = "kv.batch_write_item()";
	kv_request_context_push(&batch->context, "write");
	read_request(batch, request);
	kv_request_context_pop(&batch->context);
	kv_request_sort(batch->key, batch->count, "writes");
	kv_request_lock(batch->key, batch->count, "write");
	write_rows(batch);
	kv_request_unlock(batch->key, batch->count);
	return kv_json_wrap("UnprocessedItems", kv_json_empty_object());
}
