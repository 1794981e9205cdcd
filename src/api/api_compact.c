/*
 * api_compact.c
 *	  SQL entry point of kv.compact, a procedure that commits.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/parsenodes.h"

#include "api/api_arguments.h"
#include "base/errors.h"
#include "operation/operation.h"

PG_FUNCTION_INFO_V1(kv_compact_sql);

/* Raises an error unless the procedure may commit. */
static void
check_not_atomic(FunctionCallInfo fcinfo)
{
	if (fcinfo->context != NULL && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
			 errmsg("kv.compact cannot run inside a transaction block"),
			 errdetail("It commits after some hundred kilobytes of items each."),
			 errhint("CALL it outside of BEGIN and COMMIT, and not from a function.")));
}

/* kv.compact */
Datum
kv_compact_sql(PG_FUNCTION_ARGS)
{
	Oid			relid = table_argument(fcinfo, 0);
	int32		max_pages = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);
	KvCompactResult result = {0};
	TupleDesc	row_type;
	Datum		values[5];
	bool		isnull[5] = {false};

	check_not_atomic(fcinfo);
	if (!PG_ARGISNULL(1) && max_pages <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("max_pages must be greater than 0, not %d", max_pages)));
	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "kv.compact returns a row");
	row_type = BlessTupleDesc(row_type);

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	kv_operation_compact(relid, max_pages, &result);
	SPI_finish();

	values[0] = Int64GetDatum(result.collections);
	values[1] = Int64GetDatum(result.moved_collections);
	values[2] = Int64GetDatum(result.moved_items);
	values[3] = Int64GetDatum(result.pages_before);
	values[4] = Int64GetDatum(result.pages_after);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(row_type, values, isnull)));
}
