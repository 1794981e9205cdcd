/*
 * dynamodb.h
 *	  kv.dynamodb(): DynamoDB's own requests.  Private to the room.
 *
 * An operation takes the JSON body that an SDK sends and returns the body
 * that it expects.  The room only translates: names to relations, typed JSON
 * to items and back, legacy parameters to expressions, errors to exceptions.
 * Rules are those of the functions of operation, table and index, but for what
 * only such requests have: their shape, Select, tags, legacy parameters.
 *
 * Source of the names: DynamoDB API reference, API version 2012-08-10.
 */
#ifndef KV_DYNAMODB_DYNAMODB_H
#define KV_DYNAMODB_DYNAMODB_H

#include "utils/jsonb.h"

#include "expression/expression.h"
#include "operation/operation.h"
#include "table/table.h"

/* --- dynamodb_error.c --- */

/* DETAIL of errors that no SQLSTATE of ours stands for. */
#define KV_DYNAMODB_SERIALIZATION "{\"__type\": \"com.amazon.coral.service#SerializationException\"}"
#define KV_DYNAMODB_UNKNOWN_OPERATION "{\"__type\": \"com.amazon.coral.service#UnknownOperationException\"}"

/* Raises the current error of a request anew as DynamoDB's exception; for PG_CATCH.  Operation and request may be NULL. */
pg_noreturn extern void kv_dynamodb_rethrow(MemoryContext caller, const text *operation, Jsonb *request);

/* --- dynamodb_message.c --- */

/* Returns what DynamoDB says for a message of ours in an operation; NULL: nothing else. */
extern char *kv_dynamodb_message(const char *operation, const char *message);

/* --- dynamodb_request.c: bodies in and out --- */

typedef enum KvDynamoKind
{
	KV_DYNAMO_STRING,
	KV_DYNAMO_BOOLEAN,
	KV_DYNAMO_INTEGER,
	KV_DYNAMO_OBJECT,
	KV_DYNAMO_NAMES,			/* an object of strings */
	KV_DYNAMO_ARRAY,
	KV_DYNAMO_STRINGS,			/* an array of strings */
	KV_DYNAMO_ANY				/* accepted, and without effect here */
} KvDynamoKind;

/* A member that a body may have. */
typedef struct KvDynamoMember
{
	const char *name;
	KvDynamoKind kind;
	bool		required;
	const char *allowed;		/* of a string: the values, between bars; NULL: any */
	bool		not_empty;		/* of an object or array */
} KvDynamoMember;

/* Its value; all zero: not given. */
typedef struct KvDynamoValue
{
	bool		given;
	text	   *string;
	bool		boolean;
	int32		integer;
	JsonbValue	part;			/* object or array, as it lies in the request */
} KvDynamoValue;

/* Returns an object or array of a request where it lies, or as a copy; NULL if it is not given. */
static inline JsonbContainer *
kv_dynamodb_part(const KvDynamoValue *value)
{
	return value->given ? value->part.val.binary.data : NULL;
}
extern Jsonb *kv_dynamodb_json(const KvDynamoValue *value);

/* Tells whether a value is an object, or an array. */
static inline bool
kv_dynamodb_is_object(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data);
}
static inline bool
kv_dynamodb_is_array(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
}

/*
 * Reads the members of an object in the order of the table; one that is null
 * is not given.  Errors name the object by what it is, and its members by their
 * path from the request's: path is NULL for the request itself.  Inside of it a
 * member that is missing is said before one that is not known: the service does
 * not see the latter.
 */
extern void kv_dynamodb_read(JsonbContainer *object, const char *what, const char *path, const KvDynamoMember *members,
							 int count, KvDynamoValue *values);

/* Raises a validation error of the form that most have: one or more parameter values were invalid. */
pg_noreturn extern void kv_dynamodb_refuse(const char *why);

/* Raises the error of a member that is not given and must be. */
pg_noreturn extern void kv_dynamodb_refuse_null(const char *path, const char *name);

/* Returns the path of an element of an array, counted from 0, or of a member of a map. */
extern char *kv_dynamodb_element_path(const char *array, int number);
extern char *kv_dynamodb_member_path(const char *map, const JsonbValue *name);

/* Returns a plain item or key of a typed one; NULL for NULL. */
extern Jsonb *kv_dynamodb_plain(JsonbContainer *typed);

/* The way back. */
extern Jsonb *kv_dynamodb_typed(Jsonb *plain);

/* Returns the elements of an array of objects; an error that names it for any other element. */
extern JsonbValue *kv_dynamodb_objects(JsonbContainer *array, const char *what, int *count);

/* Returns a string of a request, or the name of a member. */
extern char *kv_dynamodb_string(const JsonbValue *string);

/* Calls a function for each member of an object. */
typedef void (*KvDynamoVisitor) (void *argument, const JsonbValue *name, const JsonbValue *value);
extern void kv_dynamodb_each(JsonbContainer *object, KvDynamoVisitor visit, void *argument);

/* Adds a member that is an array of plain items or keys as one of typed ones. */
extern void kv_dynamodb_add_typed(JsonbParseState **state, const char *name, JsonbContainer *array);

/* Returns what of a foreign string goes into a message: the beginning, if it is long. */
#define KV_DYNAMO_SHOWN_LENGTH 300	/* bytes: more than a name has */
extern char *kv_dynamodb_shown(const char *string, int length);

/* Tells whether a text, which may be NULL, is this word. */
extern bool kv_dynamodb_is(const text *value, const char *word);

/* --- dynamodb_name.c: names of tables and indexes --- */

/* Returns the table of a TableName or ARN; KV005, or InvalidOid, if there is none. */
extern Oid	kv_dynamodb_table(text *name);
extern Oid	kv_dynamodb_find_table(text *name);

/* The same as kv_dynamodb_table, but errors of expressions come before that it is not there. */
extern Oid	kv_dynamodb_table_of(text *name, const KvExpressions *expressions);

/* Returns the name of a table that is to be created, quoted for SQL; *derived tells whether it is not the name itself. */
extern char *kv_dynamodb_new_table_name(text *name, bool *derived);

/* Returns the name that DynamoDB knows a table by; NULL if it was dropped meanwhile, which only a lock on it prevents. */
extern char *kv_dynamodb_table_name(Oid relid);

/* Returns the schema of the setting; InvalidOid if it is not there. */
extern Oid	kv_dynamodb_schema(void);

/* Notes the name of a table or index, locked, in its comment, and a table's tags. */
extern void kv_dynamodb_note_table(Oid relid, const char *name, Jsonb *tags);
extern void kv_dynamodb_note_index(Oid relid, const char *name);

/* Returns the tags of a table, an object. */
extern Jsonb *kv_dynamodb_tags(Oid relid);

/* Raises an error unless an index, that is to be created or may be there, can have the name. */
extern void kv_dynamodb_check_index_name(text *name, bool is_new);

/* Returns the relation name of an index to be created; *derived as above. */
extern char *kv_dynamodb_new_index_name(Oid table, text *name, bool *derived);

/* Returns the relation name of an index of a table by DynamoDB's name. */
extern text *kv_dynamodb_index(Oid table, text *name);

/* Returns the name that DynamoDB knows an index by; NULL if it was dropped meanwhile, which only a lock on it prevents. */
extern char *kv_dynamodb_index_name(Oid relid);

/* --- dynamodb_legacy.c: what came before expressions --- */

/* Placeholders that legacy parameters need in the expressions made of them; starts all zero. */
typedef struct KvDynamoLegacy
{
	int			count;			/* of names and values so far */
	JsonbParseState *names;		/* an open object; NULL: none as yet */
	JsonbParseState *values;	/* the same, plain */
} KvDynamoLegacy;

/* Raises an error if legacy parameters (named) come with expressions. */
extern void kv_dynamodb_no_mix(const char *legacy, bool has_legacy, const char *expression, bool has_expression);

/* Raises an error if placeholders are given without an expression, whose possible names are said. */
extern void kv_dynamodb_check_placeholders(const KvDynamoValue *names, const KvDynamoValue *values,
										   bool has_expression, const char *expressions);

/* Raises an error if ConditionalOperator comes without conditions that it could join. */
extern void kv_dynamodb_check_operator(const KvDynamoValue *conditional_operator, const KvDynamoValue *conditions,
									   const char *what);

/* Each returns an expression, or NULL if the parameter is empty. */
extern text *kv_dynamodb_expected(KvDynamoLegacy *legacy, JsonbContainer *expected, text *conditional_operator);
extern text *kv_dynamodb_conditions(KvDynamoLegacy *legacy, const char *path, JsonbContainer *conditions,
									text *conditional_operator);
extern text *kv_dynamodb_projection(KvDynamoLegacy *legacy, JsonbContainer *attributes);
extern text *kv_dynamodb_updates(KvDynamoLegacy *legacy, JsonbContainer *updates);

/* Returns attribute names, or plain values, for the expressions made; NULL if there are none.  Once only. */
extern Jsonb *kv_dynamodb_legacy_names(KvDynamoLegacy *legacy);
extern Jsonb *kv_dynamodb_legacy_values(KvDynamoLegacy *legacy);

/* --- dynamodb_capacity.c --- */

/* Tells whether something other than NONE was asked for. */
extern bool kv_dynamodb_is_wanted(const KvDynamoValue *value);

/* Adds ConsumedCapacity to an answer, if it was asked for. */
extern void kv_dynamodb_add_capacity(JsonbParseState **state, text *wanted, Oid table, const KvCapacity *capacity);

/*
 * The same as an array, of an operation on many items; whole names the member
 * beside CapacityUnits that has them all, or is NULL.
 */
extern void kv_dynamodb_add_capacities(JsonbParseState **state, text *wanted, const KvCaller *caller, const char *whole);

/* --- dynamodb_metrics.c: ItemCollectionMetrics --- */

/* Adds the metrics of one table's collection by the item or key, plain, as a member. */
extern void kv_dynamodb_add_metrics(JsonbParseState **state, Oid table, Jsonb *key);

/* Item collections that a request wrote to; starts all zero. */
typedef struct KvDynamoMetrics
{
	List	   *writes;
} KvDynamoMetrics;

/* Notes a write that was done by a table's name in the request and the item or key, typed; both must stay. */
extern void kv_dynamodb_note_collection(KvDynamoMetrics *metrics, const char *table, JsonbContainer *key);

/* Adds the metrics of all collections noted, by table; nothing, if no table has local indexes. */
extern void kv_dynamodb_add_all_metrics(JsonbParseState **state, const KvDynamoMetrics *metrics);

/* --- dynamodb_describe.c --- */

/* Returns the TableDescription of a table. */
extern Jsonb *kv_dynamodb_description(Oid relid, const char *status);

/* Returns the size of a table on disk in started GB. */
extern int64 kv_dynamodb_gigabytes(Oid relid);

/* --- dynamodb_tag.c --- */

/* Returns old tags, an object, with those of an array of Key and Value. */
extern Jsonb *kv_dynamodb_read_tags(JsonbContainer *array, Jsonb *old);

/* --- the operations --- */

typedef Jsonb *(*KvDynamoOperation) (Jsonb *request);

extern Jsonb *kv_dynamodb_put_item(Jsonb *request);
extern Jsonb *kv_dynamodb_get_item(Jsonb *request);
extern Jsonb *kv_dynamodb_update_item(Jsonb *request);
extern Jsonb *kv_dynamodb_delete_item(Jsonb *request);
extern Jsonb *kv_dynamodb_query(Jsonb *request);
extern Jsonb *kv_dynamodb_scan(Jsonb *request);
extern Jsonb *kv_dynamodb_create_table(Jsonb *request);
extern Jsonb *kv_dynamodb_delete_table(Jsonb *request);
extern Jsonb *kv_dynamodb_describe_table(Jsonb *request);
extern Jsonb *kv_dynamodb_list_tables(Jsonb *request);
extern Jsonb *kv_dynamodb_update_table(Jsonb *request);
extern Jsonb *kv_dynamodb_batch_get_item(Jsonb *request);
extern Jsonb *kv_dynamodb_batch_write_item(Jsonb *request);
extern Jsonb *kv_dynamodb_transact_get_items(Jsonb *request);
extern Jsonb *kv_dynamodb_transact_write_items(Jsonb *request);
extern Jsonb *kv_dynamodb_tag_resource(Jsonb *request);
extern Jsonb *kv_dynamodb_untag_resource(Jsonb *request);
extern Jsonb *kv_dynamodb_list_tags_of_resource(Jsonb *request);
extern Jsonb *kv_dynamodb_describe_limits(Jsonb *request);
extern Jsonb *kv_dynamodb_describe_endpoints(Jsonb *request);

#endif							/* KV_DYNAMODB_DYNAMODB_H */
