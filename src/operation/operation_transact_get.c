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
#include "operation/operation_capacity.h"
#include "operation/operation_json.h"
#include "operation/operation_transact.h"

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
const KvVerb kv_transact_get_verb = {"Get", get_members, GET_MEMBERS};

/* A transaction of reads. */
typedef struct Reads
{
	KvRequestTables tables;
	KvRequestContext context;
	int			count;
	KvMemberValue member[KV_MAX_TRANSACT_ACTIONS][GET_MEMBERS];
	Jsonb	   *key_json[KV_MAX_TRANSACT_ACTIONS];
	Jsonb	   *names[KV_MAX_TRANSACT_ACTIONS];
	KvRequestKey key[KV_MAX_TRANSACT_ACTIONS];
	const KvTable *table[KV_MAX_TRANSACT_ACTIONS];	/* by number; keys are sorted */
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

/* Reads the shape of one action. */
static void
read_shape(Reads *reads, const JsonbValue *value)
{
	JsonbContainer *object = kv_request_object(value);
	KvMemberValue get;
	KvMemberValue *member = reads->member[reads->count];

	if (object == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("action is not an object")));
	kv_request_read(object, "action", action_members, 1, &get);
	reads->context.verb = "Get";
	kv_request_read(get.container, "Get", get_members, GET_MEMBERS, member);
	reads->key_json[reads->count] = kv_request_plain(reads->tables.caller, &member[GET_KEY]);
	reads->names[reads->count++] = kv_request_copy(&member[GET_NAMES]);
}

/* Raises the error of a projection that is wrong, where a table is not there. */
static void
check_expressions(Reads *reads)
{
	for (int i = 0; i < reads->count; i++)
	{
		KvExpressions expressions = {0};

		expressions.projection = reads->member[i][GET_PROJECTION].string;
		expressions.names = reads->names[i];
		reads->context.number = i + 1;
		kv_expressions_check(&expressions);
	}
}

/* Opens the table of one action and binds the projection. */
static void
open_action(Reads *reads, int number)
{
	const KvMemberValue *member = reads->member[number];
	KvRequestKey *key = &reads->key[number];
	KvPlaceholders *placeholders;
	text	   *name = member[GET_TABLE].string;

	reads->context.number = number + 1;
	key->table = kv_request_table(&reads->tables, VARDATA(name), VARSIZE(name) - VARHDRSZ);
	kv_table_check_rights(key->table, ACL_SELECT);
	placeholders = kv_placeholders_create(reads->names[number], NULL);
	if (member[GET_PROJECTION].string)
		reads->projection[number] = kv_projection_bind(member[GET_PROJECTION].string, placeholders, &key->table->key);
	kv_placeholders_check_used(placeholders);
}

/* Takes the key of one action. */
static void
read_key(Reads *reads, int number)
{
	KvRequestKey *key = &reads->key[number];

	reads->context.number = number + 1;
	kv_key_from_json(&key->table->key, reads->key_json[number], key->key);
	key->leaf = kv_table_route(key->table, key->key[0]);
	key->number = number;
	reads->table[number] = key->table;
}

/* Reads the whole request. */
static void
read_request(Reads *reads, JsonbContainer *request)
{
	KvMemberValue member[REQUEST_MEMBERS];
	JsonbContainer *actions = kv_transact_unwrap(request, request_members, REQUEST_MEMBERS, member);
	KvRequestWalk walk;
	bool		all_there = true;

	kv_request_check_count("actions", JsonContainerSize(actions), KV_MAX_TRANSACT_ACTIONS);
	kv_request_walk_start(&walk, actions);
	while (kv_request_walk_next(&walk))
	{
		reads->context.number = reads->count + 1;
		reads->context.verb = NULL;
		read_shape(reads, &walk.value);
	}
	for (int i = 0; i < reads->count; i++)
	{
		text	   *name = reads->member[i][GET_TABLE].string;

		reads->context.number = i + 1;
		all_there &= kv_request_find_table(&reads->tables, VARDATA(name), VARSIZE(name) - VARHDRSZ);
	}
	if (!all_there)
		check_expressions(reads);
	for (int i = 0; i < reads->count; i++)
		open_action(reads, i);
	for (int i = 0; i < reads->count; i++)
		read_key(reads, i);
}

/* Takes an item that was read. */
static bool
take_item(void *argument, int number, const KvItemView *view)
{
	Reads	   *reads = argument;
	KvProjection *projection = reads->projection[number];
	KvCapacity *capacity = kv_request_capacity(&reads->tables, reads->table[number]);

	if (capacity)
		kv_capacity_add_read(capacity, view ? kv_item_size(view) : 0, true, KV_TRANSACT_TIMES);
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
kv_operation_transact_get(JsonbContainer *request, KvCaller *caller)
{
	Reads	   *reads = palloc0(sizeof(Reads));

	reads->tables.caller = caller;
	reads->tables.lockmode = AccessShareLock;
	kv_request_context_push(&reads->context, "action");
	read_request(reads, request);
	kv_request_context_pop(&reads->context);
	kv_request_sort(reads->key, reads->count, "actions");
	kv_request_read_items(reads->key, reads->count, take_item, reads);
	kv_request_give_capacity(&reads->tables);
	return kv_json_wrap("Responses", kv_json_array(reads->response, reads->count));
}
