/*
 * dynamodb_error.c
 *	  Errors as DynamoDB's exceptions.
 *
 * DETAIL becomes a JSON object with __type and what the exception carries.
 * What it said before goes into HINT.  SQLSTATE stays: those of our class name
 * the exception; serialization failures and the like stay what clients retry.
 *
 * Source of the rules: DynamoDB Developer Guide, "Error handling with
 * DynamoDB", and API reference, "Errors" of each operation.
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/fmgrprotos.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

#define DYNAMODB(name) "com.amazonaws.dynamodb.v20120810#" name
#define VALIDATION "com.amazon.coral.validate#ValidationException"
#define NOT_FOUND "Requested resource not found"
#define ACCESS_DENIED "com.amazon.coral.service#AccessDeniedException"

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
	{ERRCODE_KV_COLLECTION_TOO_LARGE, DYNAMODB("ItemCollectionSizeLimitExceededException")},
	{ERRCODE_KV_INDEX_NOT_READY, VALIDATION},
	{ERRCODE_INSUFFICIENT_PRIVILEGE, ACCESS_DENIED},
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
		int			length = strspn(message, "abcdefghijklmnopqrstuvwxyz_");
		int			i = 0;

		if (length == 0 || quoted)
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

/* Returns a DETAIL with __type alone. */
char *
kv_dynamodb_detail(const char *type)
{
	return psprintf("{\"__type\": \"%s\"}", type);
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

/* Returns the reasons of a transaction with typed items; *codes becomes their codes. */
static Jsonb *
typed_reasons(Jsonb *reasons, char **codes)
{
	static const KvDynamoMember members[] = {
		{"Code", KV_DYNAMO_STRING}, {"Message", KV_DYNAMO_STRING}, {"Item", KV_DYNAMO_OBJECT}
	};
	JsonbParseState *state = NULL;
	StringInfoData list;
	int			count;
	Jsonb	  **reason = kv_dynamodb_objects(reasons, "reasons", &count);

	initStringInfo(&list);
	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		KvDynamoValue value[lengthof(members)];

		kv_dynamodb_read(reason[i], "reason", members, lengthof(members), value);
		appendStringInfo(&list, "%s%.*s", i > 0 ? ", " : "",
						 (int) VARSIZE_ANY_EXHDR(value[0].string), VARDATA_ANY(value[0].string));
		pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
		kv_dynamodb_add_text(&state, "Code", pnstrdup(VARDATA_ANY(value[0].string), VARSIZE_ANY_EXHDR(value[0].string)));
		if (value[1].given)
			kv_dynamodb_add_text(&state, "Message",
								 pnstrdup(VARDATA_ANY(value[1].string), VARSIZE_ANY_EXHDR(value[1].string)));
		if (value[2].given)
			kv_dynamodb_add_json(&state, "Item", kv_item_to_typed(value[2].json));
		pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	}
	*codes = list.data;
	return JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_ARRAY, NULL));
}

/* Fills DETAIL, and the message where DynamoDB documents one. */
static void
translate_error(ErrorData *error)
{
	JsonbParseState *state = NULL;
	Jsonb	   *detail;
	char	   *said = error->detail;
	int			code = error->sqlerrcode;

	/* a conflict with reasons was one of a transaction, which is cancelled then */
	if (error->sqlerrcode == ERRCODE_KV_TRANSACTION_CONFLICT && said && *said == '[')
		code = ERRCODE_KV_TRANSACTION_CANCELED;
	kv_dynamodb_open(&state);
	kv_dynamodb_add_text(&state, "__type", exception_type(code));
	if (error->sqlerrcode == ERRCODE_KV_CONDITION_FAILED)
	{
		error->message = pstrdup("The conditional request failed");
		if (said && *said == '{')
			kv_dynamodb_add_json(&state, "Item", kv_item_to_typed(parse(said)));
		said = NULL;
	}
	else if (code == ERRCODE_KV_TRANSACTION_CANCELED && said && *said == '[')
	{
		char	   *codes;

		kv_dynamodb_add_json(&state, "CancellationReasons", typed_reasons(parse(said), &codes));
		error->message = psprintf("Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", codes);
		said = NULL;
	}
	else if (code == ERRCODE_KV_NOT_A_TABLE && strncmp(error->message, NOT_FOUND, strlen(NOT_FOUND)) != 0)
		error->message = psprintf(NOT_FOUND ": %s", error->message);
	detail = kv_dynamodb_close(&state);
	if (said && *said)
		error->hint = error->hint ? psprintf("%s %s", said, error->hint) : said;
	if (code == ERRCODE_KV_VALIDATION)
	{
		error->message = name_members(error->message);
		error->hint = name_members(error->hint);
	}
	error->detail = JsonbToCString(NULL, &detail->root, VARSIZE(detail));
}

/* Raises the current error anew as DynamoDB's exception. */
void
kv_dynamodb_rethrow(MemoryContext caller)
{
	ErrorData  *error;

	/* the server or the user ends this: no business of DynamoDB's */
	if (ERRCODE_TO_CATEGORY(geterrcode()) == ERRCODE_OPERATOR_INTERVENTION)
		PG_RE_THROW();
	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	FlushErrorState();
	if (error->detail == NULL || strncmp(error->detail, "{\"__type\"", 9) != 0)
		translate_error(error);
	ReThrowError(error);
}
