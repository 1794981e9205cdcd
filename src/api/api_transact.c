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

/* Returns the request, which all functions take first. */
static Jsonb *
get_request(FunctionCallInfo fcinfo)
{
	if (unlikely(PG_ARGISNULL(0)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("request must not be null")));
	return PG_GETARG_JSONB_P(0);
}

/* kv.batch_write_item(): puts and deletes. */
Datum
kv_batch_write_item_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_operation_batch_write(get_request(fcinfo)));
}

/* kv.batch_get_item(): items by their keys. */
Datum
kv_batch_get_item_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_operation_batch_get(get_request(fcinfo)));
}
