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
static const KvMember action_members[VERB_COUNT][UPDATE_MEMBERS] = {
	[KV_VERB_PUT] = {COMMON_MEMBERS("Item", false)},
	[KV_VERB_UPDATE] = {COMMON_MEMBERS("Key", false), [ACTION_UPDATE] = {"UpdateExpression", KV_MEMBER_STRING, true}},
	[KV_VERB_DELETE] = {COMMON_MEMBERS("Key", false)},
	[KV_VERB_CHECK] = {COMMON_MEMBERS("Key", true)}
};

/* A transaction that is being read. */
typedef struct Reader
{
	KvTransaction *transaction;
	KvRequestTables tables;
	KvRequestContext context;
	int64		bytes;			/* of the items put so far */
} Reader;

/* Returns the array of a request. */
JsonbContainer *
kv_transact_unwrap(Jsonb *request, const KvMember *members, int count, KvMemberValue *values)
{
	memset(values, 0, sizeof(KvMemberValue) * count);
	if (JB_ROOT_IS_ARRAY(request) && !JB_ROOT_IS_SCALAR(request))
		return &request->root;
	if (!JB_ROOT_IS_OBJECT(request))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("request is not an array"),
				 errhint("It is an array of actions, or an object with the member %s.", members[0].name)));
	kv_request_read(&request->root, "request", members, count, values);
	return values[0].array;
}

/* Reads ReturnValuesOnConditionCheckFailure: whether the item is wanted. */
static bool
read_return_on_failure(text *value)
{
	char	   *word = value ? text_to_cstring(value) : "NONE";

	if (strcmp(word, "NONE") != 0 && strcmp(word, "ALL_OLD") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("invalid ReturnValuesOnConditionCheckFailure \"%s\"", word),
				 errhint("Use NONE or ALL_OLD.")));
	return word[0] == 'A';
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
		if (given[i].object)
		{
			*verb = i;
			count++;
		}
	if (count != 1)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("action must have exactly one of Put, Update, Delete and ConditionCheck")));
	return &given[*verb].object->root;
}

/* Takes the item or the key of an action, and counts what it adds to the transaction's size. */
static void
read_key(Reader *reader, KvWrite *write, Jsonb *given)
{
	const KvKeySchema *schema = &write->table->key;

	if (write->verb == KV_VERB_PUT)
	{
		kv_item_split(schema, kv_item_normalize(given), &write->item);
		kv_item_check_size(&write->item);
		memcpy(write->key, write->item.key, sizeof(write->key));
		reader->bytes += kv_item_size(&write->item);
	}
	else
		kv_key_from_json(schema, given, write->key);
	kv_transact_check_size(reader->bytes);
}

/* Reads one action. */
static void
read_action(Reader *reader, const JsonbValue *value)
{
	KvTransaction *transaction = reader->transaction;
	KvAction   *action = &transaction->action[transaction->count];
	KvRequestKey *key = &transaction->key[transaction->count];
	KvMemberValue member[UPDATE_MEMBERS] = {0};
	KvWriteRequest bound = {0};
	KvWriteVerb verb;
	JsonbContainer *object = read_verb(value, &verb);
	text	   *name;

	reader->context.verb = verb_members[verb].name;
	kv_request_read(object, reader->context.verb, action_members[verb],
					verb == KV_VERB_UPDATE ? UPDATE_MEMBERS : ACTION_MEMBERS, member);
	name = member[ACTION_TABLE].string;
	kv_write_start(&action->write, verb,
				   kv_request_table(&reader->tables, VARDATA(name), VARSIZE(name) - VARHDRSZ),
				   member[ACTION_CONDITION].string != NULL);
	action->name = reader->context.verb;
	action->write.return_on_failure = read_return_on_failure(member[ACTION_RETURN].string);
	read_key(reader, &action->write, member[ACTION_KEY].object);

	bound.condition = member[ACTION_CONDITION].string;
	bound.update = member[ACTION_UPDATE].string;
	bound.attribute_names = member[ACTION_NAMES].object;
	bound.attribute_values = member[ACTION_VALUES].object;
	kv_write_bind(&action->write, &bound);

	action->leaf = kv_table_route(action->write.table, action->write.key[0]);
	key->table = action->write.table;
	key->leaf = action->leaf;
	memcpy(key->key, action->write.key, sizeof(key->key));
	key->verb = action->name;
	key->shared = verb == KV_VERB_CHECK;
	key->keep = action->write.through_policy;
	key->number = transaction->count++;
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

/* Returns the actions as a value of their own, which a token stands for. */
static Jsonb *
take_content(JsonbContainer *actions, Jsonb *request)
{
	JsonbValue	items;

	if (actions == &request->root)
		return request;
	(void) getKeyJsonValueFromContainer(&request->root, request_members[REQUEST_ITEMS].name,
										strlen(request_members[REQUEST_ITEMS].name), &items);
	return JsonbValueToJsonb(&items);
}

/* Reads and checks the whole request. */
KvTransaction *
kv_transact_read(Jsonb *request, text *token)
{
	KvMemberValue member[REQUEST_MEMBERS];
	JsonbContainer *actions = kv_transact_unwrap(request, request_members, REQUEST_MEMBERS, member);
	int			count = JsonContainerSize(actions);
	KvTransaction *transaction = palloc0(sizeof(KvTransaction));
	Reader		reader = {transaction};
	KvRequestWalk walk;

	kv_request_check_count("actions", count, KV_MAX_TRANSACT_ACTIONS);
	transaction->token = read_token(token, member[REQUEST_TOKEN].string);
	if (transaction->token)
		transaction->content = take_content(actions, request);
	transaction->action = palloc0(sizeof(KvAction) * count);
	transaction->key = palloc0(sizeof(KvRequestKey) * count);
	reader.tables.lockmode = RowExclusiveLock;
	reader.tables.function = "kv.transact_write_items()";

	kv_request_context_push(&reader.context, "action");
	kv_request_walk_start(&walk, actions);
	while (kv_request_walk_next(&walk))
	{
		reader.context.number = transaction->count + 1;
		reader.context.verb = NULL;
		read_action(&reader, &walk.value);
	}
	kv_request_context_pop(&reader.context);
	kv_request_sort(transaction->key, count, "actions");
	return transaction;
}
