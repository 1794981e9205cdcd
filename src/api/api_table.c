/*
 * api_table.c
 *	  SQL entry points that define and describe tables.
 */
#include "postgres.h"

#include "fmgr.h"

#include "api/api_arguments.h"
#include "base/errors.h"
#include "table/table.h"

PG_FUNCTION_INFO_V1(kv_create_table_sql);
PG_FUNCTION_INFO_V1(kv_drop_table_sql);
PG_FUNCTION_INFO_V1(kv_describe_table_sql);
PG_FUNCTION_INFO_V1(kv_check_item_sql);

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

/* kv.describe_table */
Datum
kv_describe_table_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_table_describe(table_argument(fcinfo, 0)));
}

/*
 * kv.check_item
 *
 * Called once for each row that is written, so it works out only once what
 * the constraint says.  NULLs are NOT NULL's to refuse.
 */
Datum
kv_check_item_sql(PG_FUNCTION_ARGS)
{
	KvItemCheck *check = fcinfo->flinfo->fn_extra;
	Datum		key[KV_MAX_KEYS];
	int			i;

	if (unlikely(check == NULL))
	{
		check = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(KvItemCheck));
		kv_table_check_prepare(check, fcinfo->flinfo->fn_expr);
		fcinfo->flinfo->fn_extra = check;
	}

	for (i = 0; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i))
			PG_RETURN_BOOL(true);
	}
	for (i = 0; i < check->key.count; i++)
		key[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(KV_CHECK_FIRST_KEY + i)));
	kv_table_check_row(check, PG_GETARG_OID(0), key, PG_GETARG_JSONB_P(1));
	PG_RETURN_BOOL(true);
}
