/*
 * operation_request.c
 *	  Reading requests in DynamoDB's shapes.
 *
 * Source of the names: DynamoDB API reference, BatchWriteItem, BatchGetItem,
 * TransactWriteItems and TransactGetItems.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_request.h"
#include "operation/operation_write.h"

/* How much of a foreign name goes into a message. */
#define SHOWN_NAME_LENGTH 100

/* A table by the name that a request gives it. */
typedef struct OpenedTable
{
	const char *name;
	int			length;
	Oid			relid;			/* invalid: not found */
	KvTable    *table;			/* NULL: not opened yet */
	KvConsumed *consumed;		/* NULL: not wanted */
} OpenedTable;

static const char *const kind_names[] = {
	[KV_MEMBER_STRING] = "a string",
	[KV_MEMBER_BOOLEAN] = "true or false",
	[KV_MEMBER_OBJECT] = "an object",
	[KV_MEMBER_ARRAY] = "an array",
	[KV_MEMBER_NONE] = "the string NONE"
};

/* Tells whether a verb has this name. */
static bool
is_called(const KvVerb *verb, const char *name, int length)
{
	return strlen(verb->name) == length && memcmp(verb->name, name, length) == 0;
}

/* Finds a verb. */
const KvVerb *
kv_operation_verb(const char *name, int length)
{
	for (int i = KV_VERB_PUT; i <= KV_VERB_CHECK; i++)
		if (is_called(&kv_transact_verbs[i], name, length))
			return &kv_transact_verbs[i];
	for (int i = KV_VERB_PUT; i <= KV_VERB_DELETE; i++)
		if (kv_batch_verbs[i].name && is_called(&kv_batch_verbs[i], name, length))
			return &kv_batch_verbs[i];
	return is_called(&kv_transact_get_verb, name, length) ? &kv_transact_get_verb : NULL;
}

/* Starts a walk over an object or array. */
void
kv_request_walk_start(KvRequestWalk *walk, JsonbContainer *container)
{
	walk->iterator = JsonbIteratorInit(container);
	(void) JsonbIteratorNext(&walk->iterator, &walk->value, true);
}

/* Goes to the next member or element; false at the end. */
bool
kv_request_walk_next(KvRequestWalk *walk)
{
	JsonbIteratorToken token = JsonbIteratorNext(&walk->iterator, &walk->name, true);

	if (token == WJB_ELEM)
	{
		walk->value = walk->name;
		return true;
	}
	if (token != WJB_KEY)
		return false;
	(void) JsonbIteratorNext(&walk->iterator, &walk->value, true);
	return true;
}

/* Returns the container of a value, or NULL if it is no object. */
JsonbContainer *
kv_request_object(const JsonbValue *value)
{
	if (value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data))
		return value->val.binary.data;
	return NULL;
}

/* Returns the container of a value, or NULL if it is no array. */
JsonbContainer *
kv_request_array(const JsonbValue *value)
{
	if (value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data))
		return value->val.binary.data;
	return NULL;
}

/* Raises the error for a member that an object may not have. */
static void
refuse_member(const JsonbValue *name, const char *what, const KvMember *members, int count)
{
	StringInfoData known;

	initStringInfo(&known);
	for (int i = 0; i < count; i++)
		appendStringInfo(&known, "%s%s", i == 0 ? "" : i == count - 1 ? " and " : ", ", members[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("%s has the unknown member \"%.*s\"", what,
					pg_mbcliplen(name->val.string.val, name->val.string.len, SHOWN_NAME_LENGTH),
					name->val.string.val),
			 errdetail("Its members are %s.", known.data)));
}

/* Raises the error for a member of the wrong kind. */
static void
refuse_kind(const KvMember *member, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("%s of %s must be %s", member->name, what, kind_names[member->kind])));
}

/* Reads one value; false if it is not of the kind. */
static bool
read_value(const JsonbValue *value, KvMemberKind kind, KvMemberValue *result)
{
	switch (kind)
	{
		case KV_MEMBER_NONE:
			return value->type == jbvString && value->val.string.len == 4 &&
				memcmp(value->val.string.val, "NONE", 4) == 0;
		case KV_MEMBER_STRING:
			if (value->type != jbvString)
				return false;
			result->string = cstring_to_text_with_len(value->val.string.val, value->val.string.len);
			return true;
		case KV_MEMBER_BOOLEAN:
			if (value->type != jbvBool)
				return false;
			result->boolean = value->val.boolean;
			return true;
		case KV_MEMBER_OBJECT:
			result->container = kv_request_object(value);
			break;
		default:
			result->container = kv_request_array(value);
	}
	if (result->container)
		result->length = value->val.binary.len;
	return result->container != NULL;
}

/* Returns a copy of an object. */
Jsonb *
kv_request_copy(const KvMemberValue *object)
{
	JsonbValue	value;

	if (object->container == NULL)
		return NULL;
	value.type = jbvBinary;
	value.val.binary.data = object->container;
	value.val.binary.len = object->length;
	return JsonbValueToJsonb(&value);
}

/* Returns an item, key or values as plain JSON. */
Jsonb *
kv_request_plain(const KvCaller *caller, const KvMemberValue *object)
{
	return caller && object->container ? caller->plain(object->container) : kv_request_copy(object);
}

/* Reads the members of an object. */
void
kv_request_read(JsonbContainer *object, const char *what, const KvMember *members, int count, KvMemberValue *values)
{
	KvRequestWalk walk;
	bool		given[16] = {false};

	Assert(count <= lengthof(given));
	memset(values, 0, sizeof(KvMemberValue) * count);
	kv_request_walk_start(&walk, object);
	while (kv_request_walk_next(&walk))
	{
		int			i;

		for (i = 0; i < count; i++)
			if (strlen(members[i].name) == walk.name.val.string.len &&
				memcmp(members[i].name, walk.name.val.string.val, walk.name.val.string.len) == 0)
				break;
		if (i == count)
			refuse_member(&walk.name, what, members, count);
		if (walk.value.type == jbvNull)
			continue;
		if (!read_value(&walk.value, members[i].kind, &values[i]))
			refuse_kind(&members[i], what);
		given[i] = true;
	}

	for (int i = 0; i < count; i++)
		if (members[i].required && !given[i])
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("%s has no %s", what, members[i].name)));
}

/* Returns the tables of a batch. */
JsonbContainer *
kv_request_unwrap(JsonbContainer *request, const KvCaller *caller, const KvMember *members, int count, int limit)
{
	JsonbContainer *tables = request;
	KvMemberValue value[8];
	JsonbValue	wrapped;

	Assert(count <= lengthof(value));
	if (!JsonContainerIsObject(request))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("request is not an object"),
				 errhint("It has a member for each table, or one called %s that has.", members[0].name)));
	if (caller == NULL && getKeyJsonValueFromContainer(request, members[0].name, strlen(members[0].name), &wrapped) != NULL)
	{
		kv_request_read(request, "request", members, count, value);
		tables = value[0].container;
	}
	if (JsonContainerSize(tables) > limit)
		kv_request_check_count("tables", JsonContainerSize(tables), limit);
	return tables;
}

/* Raises an error unless a request holds at least one and at most limit of something. */
void
kv_request_check_count(const char *what, int count, int limit)
{
	if (count < 1 || count > limit)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("request has %d %s", count, what),
				 errdetail("It must have at least 1 and at most %d.", limit)));
}

/* Raises an error if the request of a caller holds none of something for a table. */
void
kv_request_check_some(const KvCaller *caller, const char *what, const JsonbValue *table, JsonbContainer *array, int limit)
{
	if (caller && JsonContainerSize(array) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("request has no %s for table \"%.*s\"", what,
						pg_mbcliplen(table->val.string.val, table->val.string.len, 3 * SHOWN_NAME_LENGTH),
						table->val.string.val),
				 errdetail("It must have at least 1 and at most %d.", limit)));
}

/* Finds a table by its name. */
static Oid
find_relation(const KvRequestTables *tables, const char *name, bool missing_ok)
{
	if (tables->caller)
		return tables->caller->find_table(name, missing_ok);
	return DatumGetObjectId(DirectFunctionCall1(regclassin, CStringGetDatum(name)));
}

/* Returns what is known of a name. */
static OpenedTable *
look_up(KvRequestTables *tables, const char *name, int length)
{
	OpenedTable *opened;
	ListCell   *cell;

	foreach(cell, tables->opened)
	{
		opened = lfirst(cell);
		if (opened->length == length && memcmp(opened->name, name, length) == 0)
			return opened;
	}
	opened = palloc0(sizeof(OpenedTable));
	opened->name = pnstrdup(name, length);
	opened->length = length;
	opened->relid = find_relation(tables, opened->name, true);
	tables->opened = lappend(tables->opened, opened);
	return opened;
}

/* Looks for the table that a name means. */
bool
kv_request_find_table(KvRequestTables *tables, const char *name, int length)
{
	return OidIsValid(look_up(tables, name, length)->relid);
}

/* Returns the table that the name means. */
KvTable *
kv_request_table(KvRequestTables *tables, const char *name, int length)
{
	OpenedTable *opened = look_up(tables, name, length);

	if (opened->table)
		return opened->table;
	if (!OidIsValid(opened->relid))
		opened->relid = find_relation(tables, opened->name, false);
	if (tables->function)
		kv_write_check_allowed(tables->function, opened->relid);
	opened->table = kv_table_open(opened->relid, tables->lockmode);
	if (tables->caller && tables->caller->measured)
	{
		opened->consumed = palloc0(sizeof(KvConsumed));
		opened->consumed->name = opened->name;
		opened->consumed->table = opened->relid;
	}
	return opened->table;
}

/* Returns where to count what is consumed of a table. */
KvCapacity *
kv_request_capacity(const KvRequestTables *tables, const KvTable *table)
{
	ListCell   *cell;

	if (tables->caller == NULL || !tables->caller->measured)
		return NULL;
	foreach(cell, tables->opened)
	{
		OpenedTable *opened = lfirst(cell);

		if (opened->table == table)
			return &opened->consumed->capacity;
	}
	elog(ERROR, "table %u was not opened for the request", table->relid);
}

/* Gives the caller what was counted. */
void
kv_request_give_capacity(const KvRequestTables *tables)
{
	ListCell   *cell;

	if (tables->caller == NULL || !tables->caller->measured)
		return;
	foreach(cell, tables->opened)
	{
		OpenedTable *opened = lfirst(cell);

		/* of two names of one table the first has it all */
		if (kv_request_capacity(tables, opened->table) == &opened->consumed->capacity)
			tables->caller->consumed = lappend(tables->caller->consumed, opened->consumed);
	}
}

/* Error context callback: says in which part of the request an error is. */
static void
say_context(void *argument)
{
	KvRequestContext *context = argument;

	if (context->number == 0)
		return;
	if (context->verb)
		errcontext("%s %d (%s)", context->what, context->number, context->verb);
	else
		errcontext("%s %d", context->what, context->number);
}

/* Starts saying in which part of the request an error is. */
void
kv_request_context_push(KvRequestContext *context, const char *what)
{
	context->callback.callback = say_context;
	context->callback.arg = context;
	context->callback.previous = error_context_stack;
	context->what = what;
	context->number = 0;
	context->verb = NULL;
	error_context_stack = &context->callback;
}

/* Stops it. */
void
kv_request_context_pop(KvRequestContext *context)
{
	error_context_stack = context->callback.previous;
}
