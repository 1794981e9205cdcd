/*
 * operation_transact_get.c
 *	  kv.transact_get_items: up to 100 items as they are at one moment.
 *
 * The moment is that of the active snapshot, which holds every transaction as
 * a whole or not at all, so nothing is locked and nothing can fail.
 *
 * Source of the rules: DynamoDB API reference, TransactGetItems.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "expression/expression.h"
#include "operation/operation_json.h"
#include "operation/operation_transact.h"

/* A transaction of reads. */
typedef struct Reads
{
	KvRequestTables tables;
	KvRequestContext context;
	int			count;
	KvRequestKey key[KV_MAX_TRANSACT_ACTIONS];
	KvProjection *projection[KV_MAX_TRANSACT_ACTIONS];	/* NULL: the whole item */
	Jsonb	   *response[KV_MAX_TRANSACT_ACTIONS];
	int64		bytes;			/* read so far */
} Reads;

/* Members of the request where it is wrapped as in the API. */
#define REQUEST_MEMBERS 2
static const KvMember request_members[REQUEST_MEMBERS] = {
	{"TransactItems", KV_MEMBER_ARRAY, true},
	{"ReturnConsumedCapacity", KV_MEMBER_NONE, false}
};

static const KvMember action_members[] = {{"Get", KV_MEMBER_OBJECT, true}};

/* Members of a read. */
enum
{
	GET_TABLE,
	GET_KEY,
	GET_PROJECTION,
	GET_NAMES,
	GET_MEMBERS
};
static const KvMember get_members[GET_MEMBERS] = {
	[GET_TABLE] = {"TableName", KV_MEMBER_STRING, true},
	[GET_KEY] = {"Key", KV_MEMBER_OBJECT, true},
	[GET_PROJECTION] = {"ProjectionExpression", KV_MEMBER_STRING, false},
	[GET_NAMES] = {"ExpressionAttributeNames", KV_MEMBER_OBJECT, false}
};

/* Reads one action. */
static void
read_action(Reads *reads, const JsonbValue *value)
{
	KvRequestKey *key = &reads->key[reads->count];
	JsonbContainer *object = kv_request_object(value);
	KvMemberValue get;
	KvMemberValue member[GET_MEMBERS];
	KvPlaceholders *placeholders;
	text	   *name;

	if (object == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("action is not an object")));
	kv_request_read(object, "action", action_members, 1, &get);
	reads->context.verb = "Get";
	kv_request_read(&get.object->root, "Get", get_members, GET_MEMBERS, member);
	name = member[GET_TABLE].string;
	key->table = kv_request_table(&reads->tables, VARDATA(name), VARSIZE(name) - VARHDRSZ);
	kv_table_check_rights(key->table, ACL_SELECT);
	kv_key_from_json(&key->table->key, member[GET_KEY].object, key->key);

	placeholders = kv_placeholders_create(member[GET_NAMES].object, NULL);
	if (member[GET_PROJECTION].string)
		reads->projection[reads->count] = kv_projection_bind(member[GET_PROJECTION].string, placeholders,
															 &key->table->key);
	kv_placeholders_check_used(placeholders);
	key->leaf = kv_table_route(key->table, key->key[0]);
	key->number = reads->count++;
}

/* Reads the whole request. */
static void
read_request(Reads *reads, Jsonb *request)
{
	KvMemberValue member[REQUEST_MEMBERS];
	JsonbContainer *actions = kv_transact_unwrap(request, request_members, REQUEST_MEMBERS, member);
	KvRequestWalk walk;

	kv_request_check_count("actions", JsonContainerSize(actions), KV_MAX_TRANSACT_ACTIONS);
	kv_request_walk_start(&walk, actions);
	while (kv_request_walk_next(&walk))
	{
		reads->context.number = reads->count + 1;
		reads->context.verb = NULL;
		read_action(reads, &walk.value);
	}
}

/* Takes an item that was read. */
static bool
take_item(void *argument, int number, const KvItemView *view)
{
	Reads	   *reads = argument;
	KvProjection *projection = reads->projection[number];

	if (view == NULL)
	{
		reads->response[number] = kv_json_empty_object();
		return true;
	}
	reads->bytes += kv_item_size(view);
	kv_transact_check_size(reads->bytes);
	reads->response[number] = kv_json_wrap("Item", projection ? kv_projection_apply(projection, view) :
										   kv_item_join(view));
	return true;
}

/* Reads the items. */
Jsonb *
kv_operation_transact_get(Jsonb *request)
{
	Reads	   *reads = palloc0(sizeof(Reads));

	reads->tables.lockmode = AccessShareLock;
	kv_request_context_push(&reads->context, "action");
	read_request(reads, request);
	kv_request_context_pop(&reads->context);
	kv_request_sort(reads->key, reads->count, "actions");
	kv_request_read_items(reads->key, reads->count, take_item, reads);
	return kv_json_wrap("Responses", kv_json_array(reads->response, reads->count));
}
