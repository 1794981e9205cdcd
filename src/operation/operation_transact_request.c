/*
 * operation_transact_request.c
 *	  Reading the request of kv.transact_write_items.
 *
 * All of it is read, bound and checked before anything is locked: members,
 * tables, rights, keys, expressions, sizes, and that no two actions are for
 * one key.
 *
 * Source of the rules: DynamoDB API reference, TransactWriteItems.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_json.h"
#include "operation/operation_transact.h"

/* Members of the request where it is wrapped as in the API. */
enum
{
	REQUEST_ITEMS,
	REQUEST_TOKEN,
	REQUEST_MEMBERS = 4
};
static const KvMember request_members[REQUEST_MEMBERS] = {
	[REQUEST_ITEMS] = {"TransactItems", KV_MEMBER_ARRAY, true},
	[REQUEST_TOKEN] = {"ClientRequestToken", KV_MEMBER_STRING, false},
	{"ReturnConsumedCapacity", KV_MEMBER_NONE, false},
	{"ReturnItemCollectionMetrics", KV_MEMBER_NONE, false}
};

/* What an action may do, by verb. */
#define VERB_COUNT (KV_VERB_CHECK + 1)
static const KvMember verb_members[VERB_COUNT] = {
	[KV_VERB_PUT] = {"Put", KV_MEMBER_OBJECT, false},
	[KV_VERB_UPDATE] = {"Update", KV_MEMBER_OBJECT, false},
	[KV_VERB_DELETE] = {"Delete", KV_MEMBER_OBJECT, false},
	[KV_VERB_CHECK] = {"ConditionCheck", KV_MEMBER_OBJECT, false}
};

/* Members of an action. */
enum
{
	ACTION_TABLE,
	ACTION_KEY,					/* of a put, the item */
	ACTION_CONDITION,
	ACTION_NAMES,
	ACTION_VALUES,
	ACTION_RETURN,
	ACTION_MEMBERS,
	ACTION_UPDATE = ACTION_MEMBERS,
	UPDATE_MEMBERS
};
#define COMMON_MEMBERS(key, condition_required) \
	[ACTION_TABLE] = {"TableName", KV_MEMBER_STRING, true}, \
	[ACTION_KEY] = {key, KV_MEMBER_OBJECT, true}, \
	[ACTION_CONDITION] = {"ConditionExpression", KV_MEMBER_STRING, condition_required}, \
	[ACTION_NAMES] = {"ExpressionAttributeNames", KV_MEMBER_OBJECT, false}, \
	[ACTION_VALUES] = {"ExpressionAttributeValues", KV_MEMBER_OBJECT, false}, \
	[ACTION_RETURN] = {"ReturnValuesOnConditionCheckFailure", KV_MEMBER_STRING, false}
static const KvMember put_members[] = {COMMON_MEMBERS("Item", false)};
static const KvMember delete_members[] = {COMMON_MEMBERS("Key", false)};
static const KvMember check_members[] = {COMMON_MEMBERS("Key", true)};
static const KvMember update_members[] = {
	COMMON_MEMBERS("Key", false), [ACTION_UPDATE] = {"UpdateExpression", KV_MEMBER_STRING, true}
};
const KvVerb kv_transact_verbs[VERB_COUNT] = {
	[KV_VERB_PUT] = {"Put", put_members, lengthof(put_members)},
	[KV_VERB_UPDATE] = {"Update", update_members, lengthof(update_members)},
	[KV_VERB_DELETE] = {"Delete", delete_members, lengthof(delete_members)},
	[KV_VERB_CHECK] = {"ConditionCheck", check_members, lengthof(check_members)}
};

/* An action as it was asked for. */
typedef struct ActionRequest
{
	KvWriteVerb verb;
	KvMemberValue member[UPDATE_MEMBERS];
	Jsonb	   *key;			/* of a put, the item */
	Jsonb	   *names;
	Jsonb	   *values;
} ActionRequest;

/* A transaction that is being read. */
typedef struct Reader
{
	KvTransaction *transaction;
	ActionRequest *request;
	KvRequestContext context;
	int64		bytes;			/* of the items put so far */
} Reader;

/* Returns the array of a request. */
JsonbContainer *
kv_transact_unwrap(JsonbContainer *request, const KvMember *members, int count, KvMemberValue *values)
{
	memset(values, 0, sizeof(KvMemberValue) * count);
	if (JsonContainerIsArray(request) && !JsonContainerIsScalar(request))
		return request;
	if (!JsonContainerIsObject(request))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("request is not an array"),
				 errhint("It is an array of actions, or an object with the member %s.", members[0].name)));
	kv_request_read(request, "request", members, count, values);
	return values[0].container;
}

/* Reads ReturnValuesOnConditionCheckFailure: whether the item is wanted. */
static bool
read_return_on_failure(const KvMemberValue *member)
{
	return kv_write_read_return_on_failure("ReturnValuesOnConditionCheckFailure", member[ACTION_RETURN].string);
}

/* Finds out what an action does, and returns its description. */
static JsonbContainer *
read_verb(const JsonbValue *value, KvWriteVerb *verb)
{
	JsonbContainer *object = kv_request_object(value);
	KvMemberValue given[VERB_COUNT];
	int			count = 0;

	if (object == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("action is not an object")));
	kv_request_read(object, "action", verb_members, VERB_COUNT, given);
	for (int i = 0; i < VERB_COUNT; i++)
		if (given[i].container)
		{
			*verb = i;
			count++;
		}
	if (count != 1)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("action must have exactly one of Put, Update, Delete and ConditionCheck")));
	return given[*verb].container;
}

/* Goes to an action. */
static KvAction *
go_to_action(Reader *reader, int number)
{
	reader->context.number = number + 1;
	reader->context.verb = verb_members[reader->request[number].verb].name;
	return &reader->transaction->action[number];
}

/* Reads the shape of one action. */
static void
read_shape(Reader *reader, const JsonbValue *value)
{
	int			number = reader->transaction->count++;
	ActionRequest *request = &reader->request[number];
	KvAction   *action = &reader->transaction->action[number];
	JsonbContainer *object;

	reader->context.number = number + 1;
	reader->context.verb = NULL;
	object = read_verb(value, &request->verb);
	action->name = reader->context.verb = verb_members[request->verb].name;
	kv_request_read(object, action->name, kv_transact_verbs[request->verb].members,
					kv_transact_verbs[request->verb].count, request->member);
	(void) read_return_on_failure(request->member);
	request->key = kv_request_plain(reader->transaction->tables.caller, &request->member[ACTION_KEY]);
	request->names = kv_request_copy(&request->member[ACTION_NAMES]);
	request->values = kv_request_plain(reader->transaction->tables.caller, &request->member[ACTION_VALUES]);
}

/* Raises the error of an expression that is wrong, where a table is not there. */
static void
check_expressions(Reader *reader)
{
	for (int i = 0; i < reader->transaction->count; i++)
	{
		const ActionRequest *request = &reader->request[i];
		KvExpressions expressions = {.condition_kind = KV_EXPRESSION_CONDITION};

		(void) go_to_action(reader, i);
		expressions.update = request->member[ACTION_UPDATE].string;
		expressions.condition = request->member[ACTION_CONDITION].string;
		expressions.names = request->names;
		expressions.values = request->values;
		kv_expressions_check(&expressions);
	}
}

/* Opens the table of an action and binds its expressions. */
static void
open_action(Reader *reader, int number)
{
	KvRequestTables *tables = &reader->transaction->tables;
	const ActionRequest *request = &reader->request[number];
	const KvMemberValue *member = request->member;
	KvAction   *action = go_to_action(reader, number);
	KvWriteRequest bound = {0};
	text	   *name = member[ACTION_TABLE].string;
	KvTable    *table = kv_request_table(tables, VARDATA(name), VARSIZE(name) - VARHDRSZ);

	kv_write_start(&action->write, request->verb, table, member[ACTION_CONDITION].string != NULL);
	action->write.return_on_failure = read_return_on_failure(member);
	if (kv_request_capacity(tables, table))
		action->capacity = palloc0(sizeof(KvCapacity));

	bound.condition = member[ACTION_CONDITION].string;
	bound.update = member[ACTION_UPDATE].string;
	bound.attribute_names = request->names;
	bound.attribute_values = request->values;
	kv_write_bind(&action->write, &bound);
}

/* Takes the item or the key of an action, and counts what it adds to the transaction's size. */
static void
read_key(Reader *reader, int number)
{
	KvTransaction *transaction = reader->transaction;
	Jsonb	   *given = reader->request[number].key;
	KvAction   *action = go_to_action(reader, number);
	KvWrite    *write = &action->write;
	KvRequestKey *key = &transaction->key[number];

	if (write->verb == KV_VERB_PUT)
	{
		kv_item_split(&write->table->key, kv_item_normalize(given), &write->item);
		kv_item_check_size(&write->item);
		memcpy(write->key, write->item.key, sizeof(write->key));
		reader->bytes += kv_item_size(&write->item);
	}
	else
		kv_key_from_json(&write->table->key, given, write->key);
	kv_transact_check_size(reader->bytes);

	action->leaf = kv_table_route(write->table, write->key[0]);
	key->table = write->table;
	key->leaf = action->leaf;
	memcpy(key->key, write->key, sizeof(key->key));
	key->verb = action->name;
	key->shared = write->verb == KV_VERB_CHECK;
	key->keep = write->through_policy;
	key->number = number;
}

/* Reads all actions: their shape, then expressions and tables, then keys and items. */
static void
read_actions(Reader *reader, JsonbContainer *actions)
{
	KvTransaction *transaction = reader->transaction;
	bool		all_there = true;
	KvRequestWalk walk;

	kv_request_walk_start(&walk, actions);
	while (kv_request_walk_next(&walk))
		read_shape(reader, &walk.value);
	for (int i = 0; i < transaction->count; i++)
	{
		text	   *name = reader->request[i].member[ACTION_TABLE].string;

		(void) go_to_action(reader, i);
		all_there &= kv_request_find_table(&transaction->tables, VARDATA(name), VARSIZE(name) - VARHDRSZ);
	}
	if (!all_there)
		check_expressions(reader);
	for (int i = 0; i < transaction->count; i++)
		open_action(reader, i);
	for (int i = 0; i < transaction->count; i++)
		read_key(reader, i);
}

/* Takes the token, which may come as an argument or inside the request. */
static text *
read_token(text *argument, text *member)
{
	text	   *token = argument ? argument : member;

	if (argument && member)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("token is given twice: as client_request_token and as %s",
						request_members[REQUEST_TOKEN].name)));
	if (token)
		kv_token_check(token);
	return token;
}

/* Adds what an action was given, its items plain. */
static void
add_action(JsonbParseState **state, const ActionRequest *request)
{
	const KvVerb *verb = &kv_transact_verbs[request->verb];

	kv_json_open(state);
	kv_json_add_name(state, verb->name);
	kv_json_open(state);
	for (int i = 0; i < verb->count; i++)
		if (request->member[i].string)
			kv_json_add_text(state, verb->members[i].name, text_to_cstring(request->member[i].string));
	kv_json_add_jsonb(state, verb->members[ACTION_KEY].name, request->key);
	if (request->names)
		kv_json_add_jsonb(state, verb->members[ACTION_NAMES].name, request->names);
	if (request->values)
		kv_json_add_jsonb(state, verb->members[ACTION_VALUES].name, request->values);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Returns the actions of a caller with plain items: a token stands for what they mean, not for how they are written. */
static JsonbContainer *
plain_content(const Reader *reader)
{
	JsonbParseState *state = NULL;

	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < reader->transaction->count; i++)
		add_action(&state, &reader->request[i]);
	return &kv_json_write(pushJsonbValue(&state, WJB_END_ARRAY, NULL))->root;
}

/* Reads and checks the whole request. */
void
kv_transact_read(KvTransaction *transaction, JsonbContainer *request, text *token)
{
	KvMemberValue member[REQUEST_MEMBERS];
	JsonbContainer *actions = kv_transact_unwrap(request, request_members, REQUEST_MEMBERS, member);
	int			count = JsonContainerSize(actions);
	Reader		reader = {transaction};

	kv_request_check_count("actions", count, KV_MAX_TRANSACT_ACTIONS);
	transaction->token = read_token(token, member[REQUEST_TOKEN].string);
	transaction->action = palloc0(sizeof(KvAction) * count);
	transaction->key = palloc0(sizeof(KvRequestKey) * count);
	transaction->tables.lockmode = RowExclusiveLock;
	transaction->tables.function = "kv.transact_write_items()";
	reader.request = palloc0(sizeof(ActionRequest) * count);

	kv_request_context_push(&reader.context, "action");
	read_actions(&reader, actions);
	kv_request_context_pop(&reader.context);
	if (transaction->token)
		transaction->content = transaction->tables.caller ? plain_content(&reader) : actions;
	kv_request_sort(transaction->key, count, "actions");
}
