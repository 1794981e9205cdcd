/*
 * api_table.c
 *	  SQL entry points that define and describe tables.
 */
#include "postgres.h"

#include "fmgr.h"

#include "base/errors.h"
#include "table/table.h"

PG_FUNCTION_INFO_V1(kv_create_table_sql);
PG_FUNCTION_INFO_V1(kv_drop_table_sql);

/* Returns a text argument, or NULL. */
static text *
text_argument(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL : PG_GETARG_TEXT_PP(number);
}

/* Returns the table_name argument of type regclass. */
static Oid
table_argument(FunctionCallInfo fcinfo, int number)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("table_name must not be null")));
	return PG_GETARG_OID(number);
}

/* kv.create_table */
Datum
kv_create_table_sql(PG_FUNCTION_ARGS)
{
	KvCreateTable request = {0};

	if (PG_ARGISNULL(5))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("partitions must not be null")));
	request.table_name = text_argument(fcinfo, 0);
	request.partition_key = text_argument(fcinfo, 1);
	request.sort_key = text_argument(fcinfo, 2);
	request.partition_key_type = text_argument(fcinfo, 3);
	request.sort_key_type = text_argument(fcinfo, 4);
	request.partitions = PG_GETARG_INT32(5);
	PG_RETURN_OID(kv_table_create(&request));
}

/* kv.drop_table */
Datum
kv_drop_table_sql(PG_FUNCTION_ARGS)
{
	kv_table_drop(table_argument(fcinfo, 0));
	PG_RETURN_VOID();
}
