/*
 * api_index.c
 *	  SQL entry points of secondary indexes.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "api/api_arguments.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index.h"

PG_FUNCTION_INFO_V1(kv_attr_s_sql);
PG_FUNCTION_INFO_V1(kv_attr_n_sql);
PG_FUNCTION_INFO_V1(kv_attr_b_sql);
PG_FUNCTION_INFO_V1(kv_in_local_index_sql);
PG_FUNCTION_INFO_V1(kv_create_global_index_sql);
PG_FUNCTION_INFO_V1(kv_create_local_index_sql);
PG_FUNCTION_INFO_V1(kv_drop_index_sql);
PG_FUNCTION_INFO_V1(kv_wait_for_index_sql);
PG_FUNCTION_INFO_V1(kv_apply_changes_sql);
PG_FUNCTION_INFO_V1(kv_list_indexes_sql);
PG_FUNCTION_INFO_V1(kv_refuse_refresh_sql);
PG_FUNCTION_INFO_V1(kv_on_refresh_sql);

/* From so many milliseconds on a timeout is none; some 146,000 years. */
#define MAX_TIMEOUT (PG_INT64_MAX / 2000)

/* Columns of kv.list_indexes. */
#define LIST_COLUMNS 15

/* Returns the index_name argument. */
static text *
index_name_argument(FunctionCallInfo fcinfo, int number)
{
	require_argument(fcinfo, number, "index_name");
	return PG_GETARG_TEXT_PP(number);
}

/* Returns an attribute of an item as a sort key of a type. */
static Datum
attribute_of_item(FunctionCallInfo fcinfo, KvKeyType type)
{
	KvKeyAttribute attribute;
	text	   *name = PG_GETARG_TEXT_PP(1);
	Datum		key;

	kv_table_check_attribute_name("attribute name", VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
	attribute.type = type;
	attribute.name_length = VARSIZE_ANY_EXHDR(name);
	memcpy(attribute.name, VARDATA_ANY(name), attribute.name_length);
	attribute.name[attribute.name_length] = '\0';
	if (!JB_ROOT_IS_OBJECT(PG_GETARG_JSONB_P(0)) ||
		!kv_key_from_rest(&attribute, 1, PG_GETARG_JSONB_P(0), &key))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(key);
}

/* kv.attr_s(item jsonb, name text) */
Datum
kv_attr_s_sql(PG_FUNCTION_ARGS)
{
	return attribute_of_item(fcinfo, KV_KEY_STRING);
}

/* kv.attr_n(item jsonb, name text) */
Datum
kv_attr_n_sql(PG_FUNCTION_ARGS)
{
	return attribute_of_item(fcinfo, KV_KEY_NUMBER);
}

/* kv.attr_b(item jsonb, name text) */
Datum
kv_attr_b_sql(PG_FUNCTION_ARGS)
{
	return attribute_of_item(fcinfo, KV_KEY_BINARY);
}

/* kv.in_local_index(item jsonb, name text, projection text, include text[]): the projection is only carried. */
Datum
kv_in_local_index_sql(PG_FUNCTION_ARGS)
{
	text	   *name = PG_GETARG_TEXT_PP(1);
	Jsonb	   *item = PG_GETARG_JSONB_P(0);
	JsonbValue	value;

	PG_RETURN_BOOL(JB_ROOT_IS_OBJECT(item) &&
				   getKeyJsonValueFromContainer(&item->root, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), &value) != NULL);
}

/* kv.create_global_index */
Datum
kv_create_global_index_sql(PG_FUNCTION_ARGS)
{
	KvCreateIndex request = {0};

	request.table = table_argument(fcinfo, 0);
	request.index_name = text_argument(fcinfo, 1);
	request.partition_key = text_argument(fcinfo, 2);
	request.sort_key = text_argument(fcinfo, 3);
	request.partition_key_type = text_argument(fcinfo, 4);
	request.sort_key_type = text_argument(fcinfo, 5);
	request.projection = text_argument(fcinfo, 6);
	request.include = PG_ARGISNULL(7) ? NULL : PG_GETARG_ARRAYTYPE_P(7);
	PG_RETURN_OID(kv_index_create_global(&request));
}

/* kv.create_local_index */
Datum
kv_create_local_index_sql(PG_FUNCTION_ARGS)
{
	KvCreateIndex request = {0};

	request.table = table_argument(fcinfo, 0);
	request.index_name = text_argument(fcinfo, 1);
	request.sort_key = text_argument(fcinfo, 2);
	request.sort_key_type = text_argument(fcinfo, 3);
	request.projection = text_argument(fcinfo, 4);
	request.include = PG_ARGISNULL(5) ? NULL : PG_GETARG_ARRAYTYPE_P(5);
	PG_RETURN_OID(kv_index_create_local(&request));
}

/* kv.drop_index */
Datum
kv_drop_index_sql(PG_FUNCTION_ARGS)
{
	kv_index_drop(table_argument(fcinfo, 0), index_name_argument(fcinfo, 1));
	PG_RETURN_VOID();
}

/* kv.wait_for_index */
Datum
kv_wait_for_index_sql(PG_FUNCTION_ARGS)
{
	int64		timeout = -1;

	if (!PG_ARGISNULL(2))
	{
		Interval   *interval = PG_GETARG_INTERVAL_P(2);

		double		milliseconds = (interval->time +
									((double) interval->day + (double) interval->month * DAYS_PER_MONTH) * USECS_PER_DAY) / 1000;

		if (milliseconds < 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("timeout must not be negative")));
		/* what is longer than time goes on is for ever */
		if (milliseconds < MAX_TIMEOUT)
			timeout = (int64) milliseconds;
	}
	PG_RETURN_BOOL(kv_index_wait(table_argument(fcinfo, 0), index_name_argument(fcinfo, 1), timeout));
}

/* kv.apply_changes */
Datum
kv_apply_changes_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(kv_index_apply_all());
}

/* Raises the error for REFRESH of a materialized view of the extension's. */
pg_noreturn static void
refuse_refresh(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("materialized views of schema kv cannot be refreshed"),
			 errdetail("The extension key_value keeps in them what global indexes have yet to follow.")));
}

/* kv.refuse_refresh(): the materialized views that have it as their condition are filled by C code alone. */
Datum
kv_refuse_refresh_sql(PG_FUNCTION_ARGS)
{
	if (!creating_extension)
		refuse_refresh();
	PG_RETURN_BOOL(false);
}

/* kv.on_refresh(): event trigger that refuses REFRESH .. WITH NO DATA of them, which does not ask for the condition. */
Datum
kv_on_refresh_sql(PG_FUNCTION_ARGS)
{
	const RefreshMatViewStmt *command;
	Oid			relid;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("kv.on_refresh() is an event trigger function")));
	command = (const RefreshMatViewStmt *) ((EventTriggerData *) fcinfo->context)->parsetree;
	if (IsA(command, RefreshMatViewStmt) && command->skipData)
	{
		relid = RangeVarGetRelid(command->relation, NoLock, true);
		if (OidIsValid(relid) && get_rel_namespace(relid) == get_namespace_oid("kv", true))
			refuse_refresh();
	}
	PG_RETURN_VOID();
}

/* Sets a column to a text. */
static void
set_text(Datum *values, bool *nulls, int column, const char *string)
{
	nulls[column] = string == NULL;
	values[column] = string ? CStringGetTextDatum(string) : (Datum) 0;
}

/* Sets two columns to name and type of a key attribute. */
static void
set_attribute(Datum *values, bool *nulls, int column, const KvKeySchema *key, int position)
{
	char		letter[2] = {0};

	if (position >= kv_key_own_count(key))
	{
		nulls[column] = nulls[column + 1] = true;
		return;
	}
	letter[0] = (char) key->attribute[position].type;
	set_text(values, nulls, column, key->attribute[position].name);
	set_text(values, nulls, column + 1, letter);
}

/* Returns the included attributes as text[]. */
static Datum
include_array(const KvIndex *index)
{
	Datum	   *names = palloc(sizeof(Datum) * Max(index->include_count, 1));

	for (int i = 0; i < index->include_count; i++)
		names[i] = CStringGetTextDatum(index->include_name[i]);
	return PointerGetDatum(construct_array(names, index->include_count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Fills the row of an index. */
static void
fill_list_row(const KvIndexInfo *info, Datum *values, bool *nulls)
{
	const KvIndex *index = info->index;

	memset(nulls, 0, sizeof(bool) * LIST_COLUMNS);
	values[0] = ObjectIdGetDatum(index->base_relid);
	values[1] = ObjectIdGetDatum(index->relid);
	set_text(values, nulls, 2, info->global ? "GLOBAL" : "LOCAL");
	set_attribute(values, nulls, 3, &index->key, 0);
	set_attribute(values, nulls, 5, &index->key, 1);
	set_text(values, nulls, 7, kv_table_projection_name(index->projection));
	values[8] = index->projection == KV_PROJECT_INCLUDE ? include_array(index) : (Datum) 0;
	nulls[8] = index->projection != KV_PROJECT_INCLUDE;
	set_text(values, nulls, 9, info->state);
	set_text(values, nulls, 10, info->detail);
	values[11] = Int64GetDatum(info->pending);
	values[12] = TimestampTzGetDatum(info->oldest);
	nulls[12] = info->oldest == 0;
	set_text(values, nulls, 13, info->error);
	values[14] = TimestampTzGetDatum(info->error_at);
	nulls[14] = info->error == NULL;
}

/* kv.list_indexes */
Datum
kv_list_indexes_sql(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, kv_index_list())
	{
		Datum		values[LIST_COLUMNS];
		bool		nulls[LIST_COLUMNS];

		fill_list_row(lfirst(cell), values, nulls);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
