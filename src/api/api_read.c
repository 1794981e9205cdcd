/*
 * api_read.c
 *	  SQL's way to the reads: kv.get, kv.get_item, kv.query, kv.query_page,
 *	  kv.scan and kv.scan_page.
 *
 * The functions are not strict, since optional arguments are NULL; a required
 * one that is NULL is an error that names it.
 *
 * kv.query and kv.scan give one value per call.  Their read is closed when
 * it ends, or by a callback of the expression context when the caller stops
 * early; after an error the transaction's end releases what it held.
 */
#include "postgres.h"

#include "api/api_arguments.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation.h"

PG_FUNCTION_INFO_V1(kv_get_sql);
PG_FUNCTION_INFO_V1(kv_get_item_sql);
PG_FUNCTION_INFO_V1(kv_query_sql);
PG_FUNCTION_INFO_V1(kv_query_page_sql);
PG_FUNCTION_INFO_V1(kv_scan_sql);
PG_FUNCTION_INFO_V1(kv_scan_page_sql);

/* A request and the integers that it points to. */
typedef struct ReadArguments
{
	KvReadRequest request;
	int32		max_items;
	int32		page_size;
	int32		segment;
	int32		total_segments;
} ReadArguments;

typedef void (*ReadArgumentsReader) (FunctionCallInfo fcinfo, ReadArguments *arguments);

/* Reads the arguments that kv.query and kv.query_page share. */
static void
query_arguments(FunctionCallInfo fcinfo, ReadArguments *arguments)
{
	KvReadRequest *request = &arguments->request;

	require_argument(fcinfo, 1, "key_condition");
	memset(arguments, 0, sizeof(ReadArguments));
	request->table = table_argument(fcinfo, 0);
	request->key_condition = text_argument(fcinfo, 1);
	request->attribute_values = jsonb_argument(fcinfo, 2);
	request->attribute_names = jsonb_argument(fcinfo, 3);
	request->index = text_argument(fcinfo, 4);
	request->filter = text_argument(fcinfo, 5);
	request->projection = text_argument(fcinfo, 6);
	request->scan_forward = bool_argument(fcinfo, 7, true);
	request->max_items = int_argument(fcinfo, 8, &arguments->max_items);
	request->exclusive_start_key = jsonb_argument(fcinfo, 9);
	request->consistent_read = bool_argument(fcinfo, 10, false);
}

/* Reads the arguments that kv.scan and kv.scan_page share. */
static void
scan_arguments(FunctionCallInfo fcinfo, ReadArguments *arguments)
{
	KvReadRequest *request = &arguments->request;

	memset(arguments, 0, sizeof(ReadArguments));
	request->table = table_argument(fcinfo, 0);
	request->filter = text_argument(fcinfo, 1);
	request->attribute_values = jsonb_argument(fcinfo, 2);
	request->attribute_names = jsonb_argument(fcinfo, 3);
	request->index = text_argument(fcinfo, 4);
	request->projection = text_argument(fcinfo, 5);
	request->scan_forward = true;
	request->max_items = int_argument(fcinfo, 6, &arguments->max_items);
	request->exclusive_start_key = jsonb_argument(fcinfo, 7);
	request->consistent_read = bool_argument(fcinfo, 8, false);
	request->segment = int_argument(fcinfo, 9, &arguments->segment);
	request->total_segments = int_argument(fcinfo, 10, &arguments->total_segments);
}

/* kv.get(table_name regclass, partition_key text, sort_key text) returns jsonb */
Datum
kv_get_sql(PG_FUNCTION_ARGS)
{
	Jsonb	   *item;

	require_argument(fcinfo, 1, "partition_key");
	item = kv_operation_get(table_argument(fcinfo, 0), PG_GETARG_TEXT_PP(1), text_argument(fcinfo, 2));
	if (item == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(item);
}

/* kv.get_item(table_name, key, projection, attribute_names, consistent_read) returns jsonb */
Datum
kv_get_item_sql(PG_FUNCTION_ARGS)
{
	KvGetItemRequest request = {0};
	Jsonb	   *item;

	require_argument(fcinfo, 1, "key");
	request.table = table_argument(fcinfo, 0);
	request.key = PG_GETARG_JSONB_P(1);
	request.projection = text_argument(fcinfo, 2);
	request.attribute_names = jsonb_argument(fcinfo, 3);
	request.consistent_read = bool_argument(fcinfo, 4, true);
	item = kv_operation_get_item(&request);
	if (item == NULL)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(item);
}

/* Closes the read of a set that its caller does not want to the end. */
static void
close_unfinished_read(Datum argument)
{
	kv_read_end((KvRead *) DatumGetPointer(argument));
}

/* Gives the next item of a query or scan as one value of the set. */
static Datum
next_of_set(FunctionCallInfo fcinfo, ReadArgumentsReader read_arguments)
{
	ReturnSetInfo *result_info = (ReturnSetInfo *) fcinfo->resultinfo;
	FuncCallContext *call;
	Jsonb	   *item;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;
		ReadArguments arguments;

		call = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		read_arguments(fcinfo, &arguments);
		call->user_fctx = kv_read_begin(&arguments.request);
		MemoryContextSwitchTo(caller);
		RegisterExprContextCallback(result_info->econtext, close_unfinished_read,
									PointerGetDatum(call->user_fctx));
	}

	call = SRF_PERCALL_SETUP();
	item = kv_read_next(call->user_fctx);
	if (item)
		SRF_RETURN_NEXT(call, JsonbPGetDatum(item));

	UnregisterExprContextCallback(result_info->econtext, close_unfinished_read,
								  PointerGetDatum(call->user_fctx));
	kv_read_end(call->user_fctx);
	SRF_RETURN_DONE(call);
}

/* kv.query(table_name, key_condition, ...) returns setof jsonb */
Datum
kv_query_sql(PG_FUNCTION_ARGS)
{
	return next_of_set(fcinfo, query_arguments);
}

/* kv.scan(table_name, filter, ...) returns setof jsonb */
Datum
kv_scan_sql(PG_FUNCTION_ARGS)
{
	return next_of_set(fcinfo, scan_arguments);
}

/* Returns the row type of a page, kept with the call's expression. */
static TupleDesc
page_row_type(FunctionCallInfo fcinfo)
{
	MemoryContext caller;
	TupleDesc	row_type;

	if (fcinfo->flinfo->fn_extra)
		return fcinfo->flinfo->fn_extra;

	caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	row_type = BlessTupleDesc(row_type);
	MemoryContextSwitchTo(caller);
	fcinfo->flinfo->fn_extra = row_type;
	return row_type;
}

/* Reads a page and returns it as a row. */
static Datum
page_row(FunctionCallInfo fcinfo, const KvReadRequest *request)
{
	KvPage		page;
	Datum		values[5];
	bool		nulls[5] = {false};

	kv_operation_page(request, &page);
	values[0] = JsonbPGetDatum(page.items);
	nulls[0] = page.items == NULL;
	values[1] = Int32GetDatum(page.count);
	values[2] = Int32GetDatum(page.scanned_count);
	values[3] = JsonbPGetDatum(page.last_evaluated_key);
	nulls[3] = page.last_evaluated_key == NULL;
	values[4] = NumericGetDatum(kv_capacity_units(kv_capacity_total(&page.capacity)));
	return HeapTupleGetDatum(heap_form_tuple(page_row_type(fcinfo), values, nulls));
}

/* kv.query_page(as kv.query, page_size, count_only) returns one row */
Datum
kv_query_page_sql(PG_FUNCTION_ARGS)
{
	ReadArguments arguments;

	query_arguments(fcinfo, &arguments);
	arguments.request.page_size = int_argument(fcinfo, 11, &arguments.page_size);
	arguments.request.count_only = bool_argument(fcinfo, 12, false);
	return page_row(fcinfo, &arguments.request);
}

/* kv.scan_page(as kv.scan, page_size, count_only) returns one row */
Datum
kv_scan_page_sql(PG_FUNCTION_ARGS)
{
	ReadArguments arguments;

	scan_arguments(fcinfo, &arguments);
	arguments.request.page_size = int_argument(fcinfo, 11, &arguments.page_size);
	arguments.request.count_only = bool_argument(fcinfo, 12, false);
	return page_row(fcinfo, &arguments.request);
}
