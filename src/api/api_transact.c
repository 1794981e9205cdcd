/*
 * api_transact.c
 *	  SQL's way to batches and transactions.
 */
#include "postgres.h"

#include "fmgr.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation.h"

PG_FUNCTION_INFO_V1(kv_batch_write_item_sql);
PG_FUNCTION_INFO_V1(kv_batch_get_item_sql);
PG_FUNCTION_INFO_V1(kv_transact_write_items_sql);
PG_FUNCTION_INFO_V1(kv_transact_get_items_sql);

/* Returns the request, which all functions take first. */
static JsonbContainer *
get_request(FunctionCallInfo fcinfo)
{
	if (unlikely(PG_ARGISNULL(0)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("request must not be null")));
	return &PG_GETARG_JSONB_P(0)->root;
}

/* kv.batch_write_item(): puts and deletes. */
Datum
kv_batch_write_item_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_operation_batch_write(get_request(fcinfo), NULL));
}

/* kv.batch_get_item(): items by their keys. */
Datum
kv_batch_get_item_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_operation_batch_get(get_request(fcinfo), NULL));
}

/* kv.transact_write_items(): writes and checks, all or none. */
Datum
kv_transact_write_items_sql(PG_FUNCTION_ARGS)
{
	JsonbContainer *request = get_request(fcinfo);
	text	   *token = PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1);

	PG_RETURN_JSONB_P(kv_operation_transact_write(request, token, NULL));
}

/* kv.transact_get_items(): items as they are at one moment. */
Datum
kv_transact_get_items_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_operation_transact_get(get_request(fcinfo), NULL));
}
