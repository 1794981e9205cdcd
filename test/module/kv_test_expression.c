/*
 * kv_test_expression.c
 *	  SQL faces of the room "expression".
 *
 * An item is given as its rest (NULL: no item) beside its key as texts; the
 * schema as in kv_test_item.c.  All functions take the same arguments:
 * expression, rest, attribute_values, attribute_names, key, key_names, types.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "expression/expression.h"

PG_FUNCTION_INFO_V1(kv_test_condition);
PG_FUNCTION_INFO_V1(kv_test_condition_around);
PG_FUNCTION_INFO_V1(kv_test_key_condition);
PG_FUNCTION_INFO_V1(kv_test_projection);
PG_FUNCTION_INFO_V1(kv_test_update);
PG_FUNCTION_INFO_V1(kv_test_update_touched);
PG_FUNCTION_INFO_V1(kv_test_update_only_removes);

/* The arguments that the functions have in common. */
typedef struct Call
{
	text	   *expression;
	KvPlaceholders *placeholders;
	KvKeySchema schema;
	KvItemView	view;
	KvItemView *item;			/* NULL: no item */
} Call;

/* Returns an argument of type jsonb, or NULL. */
static Jsonb *
jsonb_argument(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : PG_GETARG_JSONB_P(n);
}

/* Reads the key and its schema. */
static void
read_key(FunctionCallInfo fcinfo, Call *call)
{
	Datum	   *key;
	Datum	   *name;
	text	   *types = PG_GETARG_TEXT_PP(6);
	int			key_count;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(4), TEXTOID, -1, false, TYPALIGN_INT, &key, NULL, &key_count);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(5), TEXTOID, -1, false, TYPALIGN_INT, &name, NULL, &call->schema.count);
	call->schema.trailing = 0;
	if (call->schema.count < 1 || call->schema.count > KV_MAX_TABLE_KEYS ||
		key_count < call->schema.count || VARSIZE_ANY_EXHDR(types) < call->schema.count)
		elog(ERROR, "a schema has one or two names and at least as many types and key values");
	for (int i = 0; i < call->schema.count; i++)
	{
		KvKeyAttribute *attribute = &call->schema.attribute[i];

		strlcpy(attribute->name, TextDatumGetCString(name[i]), sizeof(attribute->name));
		attribute->name_length = strlen(attribute->name);
		attribute->type = (KvKeyType) VARDATA_ANY(types)[i];
		call->view.key[i] = kv_key_from_text(attribute, i, DatumGetTextPP(key[i]));
	}
}

/* Reads the arguments that the functions have in common. */
static void
read_call(FunctionCallInfo fcinfo, Call *call)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(4) || PG_ARGISNULL(5) || PG_ARGISNULL(6))
		elog(ERROR, "expression, key, key_names and types must not be null");
	memset(call, 0, sizeof(Call));
	call->expression = PG_GETARG_TEXT_PP(0);
	read_key(fcinfo, call);
	call->view.schema = &call->schema;
	if (!PG_ARGISNULL(1))
	{
		call->view.rest = kv_item_normalize(PG_GETARG_JSONB_P(1));
		call->item = &call->view;
	}
	call->placeholders = kv_placeholders_create(jsonb_argument(fcinfo, 3), jsonb_argument(fcinfo, 2));
}

/* kv_condition_bind(), kv_condition_holds() as often as repeat says */
Datum
kv_test_condition(PG_FUNCTION_ARGS)
{
	Call		call;
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(7));
	int			repeat = PG_GETARG_INT32(8);
	KvCondition *condition;
	bool		result = false;

	read_call(fcinfo, &call);
	condition = kv_condition_bind(strcmp(kind, "filter") == 0 ? KV_EXPRESSION_FILTER :
								  strcmp(kind, "scan filter") == 0 ? KV_EXPRESSION_SCAN_FILTER :
								  KV_EXPRESSION_CONDITION,
								  call.expression, call.placeholders, &call.schema);
	kv_placeholders_check_used(call.placeholders);
	for (int i = 0; i < repeat; i++)
	{
		CHECK_FOR_INTERRUPTS();
		result = kv_condition_holds(condition, call.item);
	}
	PG_RETURN_BOOL(result);
}

/* Binds a condition, runs a command, and asks the condition then */
Datum
kv_test_condition_around(PG_FUNCTION_ARGS)
{
	text	   *expression = PG_GETARG_TEXT_PP(0);
	KvPlaceholders *placeholders = kv_placeholders_create(NULL, PG_GETARG_JSONB_P(2));
	KvKeySchema schema = {1, {{KV_KEY_STRING, 2, "pk"}}};
	KvItemView	view = {&schema, {CStringGetTextDatum("p")}, kv_item_normalize(PG_GETARG_JSONB_P(1))};
	KvCondition *condition = kv_condition_bind(KV_EXPRESSION_CONDITION, expression, placeholders, &schema);

	SPI_connect();
	SPI_execute(text_to_cstring(PG_GETARG_TEXT_PP(3)), false, 0);
	SPI_finish();
	PG_RETURN_BOOL(kv_condition_holds(condition, &view));
}

/* Appends a key value in the output form of its SQL type. */
static void
append_key(StringInfo out, KvKeyType type, Datum key)
{
	if (type == KV_KEY_STRING)
		appendStringInfo(out, "\"%s\"", TextDatumGetCString(key));
	else if (type == KV_KEY_NUMBER)
		appendStringInfoString(out, DatumGetCString(DirectFunctionCall1(numeric_out, key)));
	else
		appendStringInfoString(out, DatumGetCString(DirectFunctionCall1(byteaout, key)));
}

/* kv_key_condition_bind(): the partition key, then the range as an interval */
Datum
kv_test_key_condition(PG_FUNCTION_ARGS)
{
	Call		call;
	KvKeyRange	range;
	StringInfoData out;

	read_call(fcinfo, &call);
	kv_key_condition_bind(call.expression, call.placeholders, &call.schema, &range);
	kv_placeholders_check_used(call.placeholders);
	initStringInfo(&out);
	append_key(&out, call.schema.attribute[0].type, range.partition_key);
	appendStringInfoString(&out, range.low.present && range.low.inclusive ? " [" : " (");
	if (range.low.present)
		append_key(&out, call.schema.attribute[1].type, range.low.value);
	appendStringInfoString(&out, ", ");
	if (range.high.present)
		append_key(&out, call.schema.attribute[1].type, range.high.value);
	appendStringInfoChar(&out, range.high.present && range.high.inclusive ? ']' : ')');
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}

/* kv_projection_bind(), kv_projection_apply() */
Datum
kv_test_projection(PG_FUNCTION_ARGS)
{
	Call		call;
	KvProjection *projection;

	read_call(fcinfo, &call);
	projection = kv_projection_bind(call.expression, call.placeholders, &call.schema);
	kv_placeholders_check_used(call.placeholders);
	PG_RETURN_JSONB_P(kv_projection_apply(projection, call.item));
}

/* Binds the update of a call. */
static KvUpdate *
bind_update(Call *call)
{
	KvUpdate   *update = kv_update_bind(call->expression, call->placeholders, &call->schema);

	kv_placeholders_check_used(call->placeholders);
	return update;
}

/* kv_update_bind(), kv_update_apply() as often as repeat says; the result must be in normal form, byte for byte */
Datum
kv_test_update(PG_FUNCTION_ARGS)
{
	Call		call;
	int			repeat = PG_GETARG_INT32(7);
	KvUpdate   *update;
	Jsonb	   *result = NULL;
	MemoryContext context;
	Jsonb	   *rebuilt;

	read_call(fcinfo, &call);
	update = bind_update(&call);
	context = AllocSetContextCreate(CurrentMemoryContext, "update", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < repeat; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(context);
		result = kv_update_apply(update, call.item);
		MemoryContextSwitchTo(caller);
	}
	kv_item_check_rest(&call.schema, result);
	rebuilt = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(JsonbToCString(NULL, &result->root, VARSIZE(result)))));
	if (VARSIZE(rebuilt) != VARSIZE(result) || memcmp(rebuilt, result, VARSIZE(result)) != 0)
		elog(ERROR, "the updated item is not what core would have written");
	PG_RETURN_JSONB_P(result);
}

/* kv_update_touched() of the item before the update, or after it */
Datum
kv_test_update_touched(PG_FUNCTION_ARGS)
{
	Call		call;
	bool		after = PG_GETARG_BOOL(7);
	KvUpdate   *update;
	KvItemView	view;

	read_call(fcinfo, &call);
	update = bind_update(&call);
	if (!after)
		PG_RETURN_JSONB_P(kv_update_touched(update, call.item));
	view = call.view;
	view.rest = kv_update_apply(update, call.item);
	PG_RETURN_JSONB_P(kv_update_touched(update, &view));
}

/* kv_update_only_removes() */
Datum
kv_test_update_only_removes(PG_FUNCTION_ARGS)
{
	Call		call;

	read_call(fcinfo, &call);
	PG_RETURN_BOOL(kv_update_only_removes(bind_update(&call)));
}
