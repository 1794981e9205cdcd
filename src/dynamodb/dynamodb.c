/*
 * dynamodb.c
 *	  kv.dynamodb(operation, request): finds the operation and calls it.
 *
 * Errors leave as DynamoDB's exceptions.  The transaction or subtransaction
 * ends with them as with any error, so nothing has to be undone here.
 */
#include "postgres.h"

#include "fmgr.h"

#include "base/compat.h"
#include "base/errors.h"
#include "dynamodb/dynamodb.h"

PG_FUNCTION_INFO_V1(kv_dynamodb_sql);

static const struct
{
	const char *name;
	KvDynamoOperation run;
}			operations[] = {
	{"PutItem", kv_dynamodb_put_item},
	{"GetItem", kv_dynamodb_get_item},
	{"UpdateItem", kv_dynamodb_update_item},
	{"DeleteItem", kv_dynamodb_delete_item},
	{"Query", kv_dynamodb_query},
	{"Scan", kv_dynamodb_scan},
	{"BatchGetItem", kv_dynamodb_batch_get_item},
	{"BatchWriteItem", kv_dynamodb_batch_write_item},
	{"TransactGetItems", kv_dynamodb_transact_get_items},
	{"TransactWriteItems", kv_dynamodb_transact_write_items},
	{"CreateTable", kv_dynamodb_create_table},
	{"DeleteTable", kv_dynamodb_delete_table},
	{"DescribeTable", kv_dynamodb_describe_table},
	{"ListTables", kv_dynamodb_list_tables},
	{"UpdateTable", kv_dynamodb_update_table},
	{"TagResource", kv_dynamodb_tag_resource},
	{"UntagResource", kv_dynamodb_untag_resource},
	{"ListTagsOfResource", kv_dynamodb_list_tags_of_resource},
	{"DescribeLimits", kv_dynamodb_describe_limits},
	{"DescribeEndpoints", kv_dynamodb_describe_endpoints}
};

/* Finds an operation and runs it. */
static Jsonb *
run_operation(text *name, Jsonb *request)
{
	if (name == NULL || request == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must not be null", name == NULL ? "operation" : "request")));
	for (int i = 0; i < lengthof(operations); i++)
	{
		if (!kv_dynamodb_is(name, operations[i].name))
			continue;
		if (!JB_ROOT_IS_OBJECT(request))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("request is not a JSON object"),
					 errdetail_internal(KV_DYNAMODB_SERIALIZATION)));
		return operations[i].run(request);
	}
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("unknown operation \"%s\"", kv_dynamodb_shown(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name))),
			 errdetail_internal(KV_DYNAMODB_UNKNOWN_OPERATION),
			 errhint("Operations have the names of DynamoDB's API, as in PutItem.")));
}

/* kv.dynamodb(operation text, request jsonb) returns jsonb */
Datum
kv_dynamodb_sql(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	text	   *operation = PG_ARGISNULL(0) ? NULL : PG_GETARG_TEXT_PP(0);
	Jsonb	   *request = PG_ARGISNULL(1) ? NULL : PG_GETARG_JSONB_P(1);
	Jsonb	   *volatile answer = NULL;

	PG_TRY();
	{
		answer = run_operation(operation, request);
	}
	PG_CATCH();
	{
		kv_dynamodb_rethrow(caller, operation, request);
	}
	PG_END_TRY();
	PG_RETURN_JSONB_P(answer);
}
