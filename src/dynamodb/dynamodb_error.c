/*
 * dynamodb_error.c
 *	  Errors as DynamoDB's exceptions.
 *
 * DETAIL becomes a JSON object with __type and what the exception carries.
 * What it said before goes into HINT, and so does a message that DynamoDB words
 * otherwise.  SQLSTATE stays: those of our class name the exception;
 * serialization failures and the like stay what clients retry.
 *
 * Two that stand in each other's way are a transaction conflict: of one item
 * that is TransactionConflictException, of a transaction its cancellation with
 * reasons (Developer Guide, "Amazon DynamoDB Transactions: How It Works",
 * Transaction Conflict Handling).  A batch is refused as a whole, as a single
 * item is: what it wrote before the conflict goes with the error, and handing
 * it back as UnprocessedItems would need a subtransaction for each batch, and
 * would promise success to a transaction that may have none.
 *
 * Source of the rules: DynamoDB Developer Guide, "Error handling with
 * DynamoDB", and API reference, "Errors" of each operation.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

#define DYNAMODB(name) "com.amazonaws.dynamodb.v20120810#" name
#define VALIDATION "com.amazon.coral.validate#ValidationException"
#define NOT_FOUND "Requested resource not found"
#define MAX_MESSAGE 10000		/* bytes: more than the text of an expression, or a name, makes of one */
#define ACCESS_DENIED "com.amazon.coral.service#AccessDeniedException"

/* Marks an error that a call inside of this one has translated: the domain of messages is of no use once there is a message. */
#define TRANSLATED "kv.dynamodb"

static const struct
{
	int			code;
	const char *type;
}			exceptions[] = {
	{ERRCODE_KV_CONDITION_FAILED, DYNAMODB("ConditionalCheckFailedException")},
	{ERRCODE_KV_TRANSACTION_CANCELED, DYNAMODB("TransactionCanceledException")},
	{ERRCODE_KV_TRANSACTION_CONFLICT, DYNAMODB("TransactionConflictException")},
	{ERRCODE_KV_IDEMPOTENT_MISMATCH, DYNAMODB("IdempotentParameterMismatchException")},
	{ERRCODE_KV_NOT_A_TABLE, DYNAMODB("ResourceNotFoundException")},
	{ERRCODE_KV_RESOURCE_IN_USE, DYNAMODB("ResourceInUseException")},
	{ERRCODE_KV_VALIDATION, VALIDATION},
	{ERRCODE_KV_THROUGHPUT_EXCEEDED, DYNAMODB("ProvisionedThroughputExceededException")},
	{ERRCODE_KV_LIMIT_EXCEEDED, DYNAMODB("LimitExceededException")},
	{ERRCODE_KV_NOT_A_KEY_QUERY, VALIDATION},
	{ERRCODE_KV_COLLECTION_TOO_LARGE, DYNAMODB("ItemCollectionSizeLimitExceededException")},
	{ERRCODE_KV_INDEX_NOT_READY, VALIDATION},
	{ERRCODE_INSUFFICIENT_PRIVILEGE, ACCESS_DENIED},
	{ERRCODE_OBJECT_IN_USE, DYNAMODB("ResourceInUseException")},
	{ERRCODE_T_R_SERIALIZATION_FAILURE, DYNAMODB("TransactionConflictException")},
	{ERRCODE_T_R_DEADLOCK_DETECTED, DYNAMODB("TransactionConflictException")},
	{ERRCODE_LOCK_NOT_AVAILABLE, DYNAMODB("TransactionConflictException")}
};

/* What arguments of SQL's functions are called in requests. */
static const struct
{
	const char *argument;
	const char *member;
}			members_of_arguments[] = {
	{"attribute_names", "ExpressionAttributeNames"},
	{"attribute_values", "ExpressionAttributeValues"},
	{"segment", "Segment"},
	{"total_segments", "TotalSegments"},
	{"page_size", "Limit"},
	{"exclusive_start_key", "ExclusiveStartKey"},
	{"last_evaluated_key", "LastEvaluatedKey"},
	{"client_request_token", "ClientRequestToken"},
	{"include", "NonKeyAttributes"}
};

/* Returns a message or hint that is no longer than one may be: values of requests are in it. */
static char *
cut(char *message)
{
	int			length = message ? strlen(message) : 0;

	if (length <= MAX_MESSAGE)
		return message;
	return psprintf("%.*s..", pg_mbcliplen(message, length, MAX_MESSAGE), message);
}

/* Returns a message with the names that requests have for arguments; what is quoted stays. */
static char *
name_members(const char *message)
{
	StringInfoData named;
	bool		quoted = false;

	if (message == NULL)
		return NULL;
	initStringInfo(&named);
	while (*message)
	{
		int			length = quoted ? 0 : strspn(message, "abcdefghijklmnopqrstuvwxyz_");
		int			i = 0;

		if (length == 0)
		{
			quoted ^= *message == '"';
			appendStringInfoChar(&named, *message++);
			continue;
		}
		while (i < lengthof(members_of_arguments) &&
			   (strlen(members_of_arguments[i].argument) != length ||
				memcmp(members_of_arguments[i].argument, message, length) != 0))
			i++;
		if (i < lengthof(members_of_arguments))
			appendStringInfoString(&named, members_of_arguments[i].member);
		else
			appendBinaryStringInfo(&named, message, length);
		message += length;
	}
	return named.data;
}

/* Returns the exception that an error is. */
static const char *
exception_type(int code)
{
	for (int i = 0; i < lengthof(exceptions); i++)
		if (exceptions[i].code == code)
			return exceptions[i].type;
	if (ERRCODE_TO_CATEGORY(code) == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)
		return VALIDATION;
	return DYNAMODB("InternalServerError");
}

/* Returns JSON text as a value. */
static Jsonb *
parse(const char *json)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}

/* Returns what a reason says: it is one of an update, if it is not of a condition or conflict. */
static char *
reason_message(char *message)
{
	char	   *worded = kv_dynamodb_message("UpdateItem", message);

	return worded ? worded : message;
}

/* Adds the reasons of a transaction with typed items; returns their codes. */
static char *
add_reasons(JsonbParseState **state, Jsonb *reasons)
{
	static const KvDynamoMember members[] = {
		{"Code", KV_DYNAMO_STRING, true}, {"Message", KV_DYNAMO_STRING}, {"Item", KV_DYNAMO_OBJECT}
	};
	StringInfoData codes;
	int			count;
	JsonbValue *reason = kv_dynamodb_objects(&reasons->root, "reasons", &count);

	initStringInfo(&codes);
	kv_json_add_name(state, "CancellationReasons");
	pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		KvDynamoValue value[lengthof(members)];
		char	   *code;

		kv_dynamodb_read(reason[i].val.binary.data, "reason", NULL, members, lengthof(members), value);
		code = text_to_cstring(value[0].string);
		appendStringInfo(&codes, "%s%s", i > 0 ? ", " : "", code);
		kv_json_open(state);
		kv_json_add_text(state, "Code", code);
		if (value[1].given)
			kv_json_add_text(state, "Message", reason_message(text_to_cstring(value[1].string)));
		if (value[2].given)
			kv_json_add_jsonb(state, "Item", kv_dynamodb_typed(kv_dynamodb_json(&value[2])));
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(state, WJB_END_ARRAY, NULL);
	return codes.data;
}

/* Returns an exception as JSON with what it carries: what DETAIL said (NULL: nothing); *codes becomes the codes of reasons. */
static Jsonb *
make_exception(int code, const char *said, char **codes)
{
	JsonbParseState *state = NULL;

	kv_json_open(&state);
	kv_json_add_text(&state, "__type", exception_type(code));
	if (said && code == ERRCODE_KV_CONDITION_FAILED)
		kv_json_add_jsonb(&state, "Item", kv_dynamodb_typed(parse(said)));
	else if (said)
		*codes = add_reasons(&state, parse(said));
	return kv_json_close(&state);
}

/*
 * The same for what the operations write into DETAIL; NULL if it is something
 * else.  A trigger of the user's can raise an error with our SQLSTATE and any
 * DETAIL.  Only functions over values run here, so nothing has to be undone.
 */
static Jsonb *
try_exception(int code, const char *said, char **codes)
{
	MemoryContext caller = CurrentMemoryContext;
	Jsonb	   *volatile exception = NULL;

	PG_TRY();
	{
		exception = make_exception(code, said, codes);
	}
	PG_CATCH();
	{
		int			why = geterrcode();

		if (why != ERRCODE_KV_VALIDATION && ERRCODE_TO_CATEGORY(why) != ERRCODE_DATA_EXCEPTION &&
			ERRCODE_TO_CATEGORY(why) != ERRCODE_PROGRAM_LIMIT_EXCEEDED)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		FlushErrorState();
	}
	PG_END_TRY();
	return exception;
}

/* Tells whether an error says that two transactions are in each other's way. */
static bool
is_conflict(int code)
{
	return code == ERRCODE_T_R_SERIALIZATION_FAILURE || code == ERRCODE_T_R_DEADLOCK_DETECTED ||
		code == ERRCODE_LOCK_NOT_AVAILABLE || code == ERRCODE_KV_TRANSACTION_CONFLICT;
}

/* Returns reasons for a TransactGetItems that met a conflict: at which of its items is not known. */
static char *
conflict_reasons(Jsonb *request)
{
	JsonbValue	items;
	StringInfoData reasons;
	int			count = 1;

	if (getKeyJsonValueFromContainer(&request->root, "TransactItems", strlen("TransactItems"), &items) &&
		items.type == jbvBinary)
		count = JsonContainerSize(items.val.binary.data);
	initStringInfo(&reasons);
	for (int i = 0; i < count; i++)
		appendStringInfo(&reasons, "%s{\"Code\": \"TransactionConflict\", \"Message\": \"Transaction is ongoing for the item\"}",
						 i > 0 ? ", " : "[");
	appendStringInfoChar(&reasons, ']');
	return reasons.data;
}

/* Puts DynamoDB's message in the place of ours, which begins the hint then. */
static void
word_message(ErrorData *error, const char *operation)
{
	char	   *message = name_members(error->message);
	char	   *worded = kv_dynamodb_message(operation, message);

	error->hint = name_members(error->hint);
	if (worded)
	{
		char	   *sentence = psprintf("%s.", message);

		sentence[0] = pg_toupper((unsigned char) sentence[0]);
		error->hint = error->hint ? psprintf("%s %s", sentence, error->hint) : sentence;
	}
	error->message = worded ? worded : message;
}

/* Tells whether an error says that something in the request has not the JSON type that it must have. */
static bool
is_serialization(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_KV_VALIDATION && error->datatype_name &&
		strcmp(error->datatype_name, KV_JSON_TYPE) == 0;
}

/* Fills DETAIL, and the message where DynamoDB has one. */
static void
translate_error(ErrorData *error, const char *operation, Jsonb *request)
{
	char	   *said = error->detail;
	char	   *codes = NULL;
	int			code = error->sqlerrcode;
	Jsonb	   *exception = NULL;

	/* a conflict with reasons was one of a transaction, which is cancelled then */
	if (is_conflict(code) && strcmp(operation, "TransactGetItems") == 0)
		said = conflict_reasons(request);
	if (is_conflict(code) && said && *said == '[')
		code = ERRCODE_KV_TRANSACTION_CANCELED;
	if (said && *said == (code == ERRCODE_KV_CONDITION_FAILED ? '{' : '[') &&
		(code == ERRCODE_KV_CONDITION_FAILED || code == ERRCODE_KV_TRANSACTION_CANCELED))
		exception = try_exception(code, said, &codes);
	if (exception)
		said = NULL;
	else
		exception = make_exception(code, NULL, &codes);
	if (code == ERRCODE_KV_CONDITION_FAILED)
		error->message = pstrdup("The conditional request failed");
	else if (codes)
		error->message = psprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", codes);
	if (said && *said)
		error->hint = error->hint ? psprintf("%s %s", cut(said), error->hint) : cut(said);
	if ((code == ERRCODE_KV_VALIDATION && !is_serialization(error)) || code == ERRCODE_KV_NOT_A_TABLE ||
		code == ERRCODE_KV_RESOURCE_IN_USE)
		word_message(error, operation);
	if (code == ERRCODE_KV_NOT_A_TABLE && strncmp(error->message, NOT_FOUND, strlen(NOT_FOUND)) != 0)
		error->message = psprintf(NOT_FOUND ": %s", error->message);
	error->detail = is_serialization(error) ? pstrdup(KV_DYNAMODB_SERIALIZATION) :
		JsonbToCString(NULL, &exception->root, VARSIZE(exception));
	error->datatype_name = NULL;
}

/* Tells whether an error is left as it is: the server or the user ends the statement, or nobody is to catch it. */
static bool
is_left_alone(int code)
{
	return ERRCODE_TO_CATEGORY(code) == ERRCODE_OPERATOR_INTERVENTION ||
		code == ERRCODE_OUT_OF_MEMORY || code == ERRCODE_ASSERT_FAILURE;
}

/* Tells whether an error is one of DynamoDB's exceptions already. */
static bool
is_translated(const ErrorData *error)
{
	return (error->domain && strcmp(error->domain, TRANSLATED) == 0) ||
		(error->detail && (strcmp(error->detail, KV_DYNAMODB_SERIALIZATION) == 0 ||
						   strcmp(error->detail, KV_DYNAMODB_UNKNOWN_OPERATION) == 0));
}

/* Raises the current error anew as DynamoDB's exception. */
void
kv_dynamodb_rethrow(MemoryContext caller, const text *operation, Jsonb *request)
{
	ErrorData  *error;

	if (is_left_alone(geterrcode()))
		PG_RE_THROW();
	/* until now it was the one that is emptied with the error's state */
	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	FlushErrorState();
	error->message = cut(error->message);
	error->hint = cut(error->hint);
	if (!is_translated(error))
		translate_error(error, operation ? text_to_cstring(operation) : "", request);
	error->domain = TRANSLATED;
	ReThrowError(error);
}
