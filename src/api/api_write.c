/*
 * api_write.c
 *	  SQL's way to the writes: kv.put_item, kv.update_item and kv.delete_item.
 *
 * The functions are not strict, since optional arguments are NULL; a required
 * one that is NULL is an error that names it.
 */
#include "postgres.h"

#include "fmgr.h"

#include "api/api_arguments.h"
#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation.h"

PG_FUNCTION_INFO_V1(kv_put_item_sql);
PG_FUNCTION_INFO_V1(kv_update_item_sql);
PG_FUNCTION_INFO_V1(kv_delete_item_sql);

/* Reads the arguments with which all three functions end. */
static void
read_common_arguments(FunctionCallInfo fcinfo, int first, KvWriteRequest *request)
{
	request->condition = text_argument(fcinfo, first);
	request->attribute_values = jsonb_argument(fcinfo, first + 1);
	request->attribute_names = jsonb_argument(fcinfo, first + 2);
	request->return_values = text_argument(fcinfo, first + 3);
	request->return_values_on_failure = text_argument(fcinfo, first + 4);
	request->on_condition_failure = text_argument(fcinfo, first + 5);
}

/* Returns the answer of an operation to SQL: NULL where it is a NULL pointer. */
static Datum
return_answer(FunctionCallInfo fcinfo, Jsonb *answer)
{
	if (answer == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(answer);
}

/* kv.put_item(): replaces an item, or inserts it. */
Datum
kv_put_item_sql(PG_FUNCTION_ARGS)
{
	KvWriteRequest request = {0};

	require_argument(fcinfo, 1, "item");
	request.table = table_argument(fcinfo, 0);
	request.item = PG_GETARG_JSONB_P(1);
	read_common_arguments(fcinfo, 2, &request);
	return return_answer(fcinfo, kv_operation_put(&request));
}

/* kv.update_item(): changes attributes of an item, or creates it. */
Datum
kv_update_item_sql(PG_FUNCTION_ARGS)
{
	KvWriteRequest request = {0};

	require_argument(fcinfo, 1, "key");
	request.table = table_argument(fcinfo, 0);
	request.key = PG_GETARG_JSONB_P(1);
	request.update = text_argument(fcinfo, 2);
	read_common_arguments(fcinfo, 3, &request);
	return return_answer(fcinfo, kv_operation_update(&request));
}

/* kv.delete_item(): removes an item. */
Datum
kv_delete_item_sql(PG_FUNCTION_ARGS)
{
	KvWriteRequest request = {0};

	require_argument(fcinfo, 1, "key");
	request.table = table_argument(fcinfo, 0);
	request.key = PG_GETARG_JSONB_P(1);
	read_common_arguments(fcinfo, 2, &request);
	return return_answer(fcinfo, kv_operation_delete(&request));
}
