/*
 * kv_test_item.c
 *	  SQL faces of the room "item".
 *
 * A key schema is given as an array of names and a string of type letters,
 * 'SN'; key values as texts, as kv_key_from_text() reads them.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "item/item.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(kv_test_jsonb_identical);
PG_FUNCTION_INFO_V1(kv_test_normalize);
PG_FUNCTION_INFO_V1(kv_test_normalize_is_free);
PG_FUNCTION_INFO_V1(kv_test_check_rest);
PG_FUNCTION_INFO_V1(kv_test_join);
PG_FUNCTION_INFO_V1(kv_test_split);
PG_FUNCTION_INFO_V1(kv_test_check_size);
PG_FUNCTION_INFO_V1(kv_test_key_from_json);
PG_FUNCTION_INFO_V1(kv_test_key_to_json);
PG_FUNCTION_INFO_V1(kv_test_key_to_value);
PG_FUNCTION_INFO_V1(kv_test_key_compare);
PG_FUNCTION_INFO_V1(kv_test_check_number_key);
PG_FUNCTION_INFO_V1(kv_test_check_text_key);
PG_FUNCTION_INFO_V1(kv_test_prefix_range);

/* Fills a key schema from names and type letters. */
static void
read_schema(ArrayType *names, text *types, KvKeySchema *schema)
{
	Datum	   *name;
	int			i;

	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &name, NULL, &schema->count);
	schema->trailing = 0;
	if (schema->count < 1 || schema->count > KV_MAX_TABLE_KEYS || VARSIZE_ANY_EXHDR(types) != schema->count)
		elog(ERROR, "a schema has one or two names and as many type letters");
	for (i = 0; i < schema->count; i++)
	{
		KvKeyAttribute *attribute = &schema->attribute[i];

		strlcpy(attribute->name, TextDatumGetCString(name[i]), sizeof(attribute->name));
		attribute->name_length = strlen(attribute->name);
		attribute->type = (KvKeyType) VARDATA_ANY(types)[i];
	}
}

/* Reads key values from an array of texts. */
static void
read_key(const KvKeySchema *schema, ArrayType *texts, Datum *key)
{
	Datum	   *element;
	int			count;
	int			i;

	deconstruct_array(texts, TEXTOID, -1, false, TYPALIGN_INT, &element, NULL, &count);
	if (count != schema->count)
		elog(ERROR, "as many key values as names are needed");
	for (i = 0; i < count; i++)
		key[i] = kv_key_from_text(&schema->attribute[i], i, DatumGetTextPP(element[i]));
}

/* Returns key values as an array of texts, in the output form of their SQL types. */
static Datum
key_texts(const KvKeySchema *schema, const Datum *key)
{
	Datum		element[KV_MAX_KEYS];
	int			i;

	for (i = 0; i < schema->count; i++)
	{
		if (schema->attribute[i].type == KV_KEY_STRING)
			element[i] = key[i];
		else
			element[i] = CStringGetTextDatum(DatumGetCString(
															 schema->attribute[i].type == KV_KEY_NUMBER ?
															 DirectFunctionCall1(numeric_out, key[i]) :
															 DirectFunctionCall1(byteaout, key[i])));
	}
	return PointerGetDatum(construct_array(element, schema->count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Tells whether two jsonb values are the same bytes. */
Datum
kv_test_jsonb_identical(PG_FUNCTION_ARGS)
{
	Jsonb	   *a = PG_GETARG_JSONB_P(0);
	Jsonb	   *b = PG_GETARG_JSONB_P(1);

	PG_RETURN_BOOL(VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0);
}

/* kv_item_normalize() */
Datum
kv_test_normalize(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_item_normalize(PG_GETARG_JSONB_P(0)));
}

/* Tells whether kv_item_normalize() gives back its argument and allocates nothing. */
Datum
kv_test_normalize_is_free(PG_FUNCTION_ARGS)
{
	Jsonb	   *item = PG_GETARG_JSONB_P(0);
	Jsonb	   *result;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "normalize", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	char	   *first = palloc(8);
	char	   *second = palloc(8);
	char	   *third;

	/* Chunks of a fresh context follow each other. */
	result = kv_item_normalize(item);
	third = palloc(8);
	MemoryContextSwitchTo(caller);
	PG_RETURN_BOOL(result == item && third - second == second - first);
}

/* kv_item_check_rest() */
Datum
kv_test_check_rest(PG_FUNCTION_ARGS)
{
	KvKeySchema schema;

	read_schema(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_TEXT_PP(1), &schema);
	kv_item_check_rest(&schema, PG_GETARG_JSONB_P(2));
	PG_RETURN_VOID();
}

/* kv_item_join(), several times if its cost is to be measured */
Datum
kv_test_join(PG_FUNCTION_ARGS)
{
	KvKeySchema schema;
	KvItemView	view;
	Jsonb	   *whole;
	int			i;

	read_schema(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_TEXT_PP(1), &schema);
	read_key(&schema, PG_GETARG_ARRAYTYPE_P(2), view.key);
	view.schema = &schema;
	view.rest = PG_GETARG_JSONB_P(3);
	whole = kv_item_join(&view);
	for (i = 1; i < PG_GETARG_INT32(4); i++)
	{
		CHECK_FOR_INTERRUPTS();
		pfree(whole);
		whole = kv_item_join(&view);
	}
	PG_RETURN_JSONB_P(whole);
}

/* kv_item_split(), several times if its cost is to be measured */
Datum
kv_test_split(PG_FUNCTION_ARGS)
{
	Jsonb	   *whole = PG_GETARG_JSONB_P(2);
	KvKeySchema schema;
	KvItemView	view;
	TupleDesc	row;
	Datum		values[2];
	bool		nulls[2] = {false, false};
	int			i;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	read_schema(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_TEXT_PP(1), &schema);
	kv_item_split(&schema, whole, &view);
	for (i = 1; i < PG_GETARG_INT32(3); i++)
	{
		int			k;

		CHECK_FOR_INTERRUPTS();
		for (k = 0; k < schema.count; k++)
			pfree(DatumGetPointer(view.key[k]));
		pfree(view.rest);
		kv_item_split(&schema, whole, &view);
	}
	values[0] = key_texts(&schema, view.key);
	values[1] = JsonbPGetDatum(view.rest);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}

/* kv_item_check_size(); returns the size */
Datum
kv_test_check_size(PG_FUNCTION_ARGS)
{
	KvKeySchema schema;
	KvItemView	view;

	read_schema(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_TEXT_PP(1), &schema);
	read_key(&schema, PG_GETARG_ARRAYTYPE_P(2), view.key);
	view.schema = &schema;
	view.rest = PG_GETARG_JSONB_P(3);
	kv_item_check_size(&view);
	PG_RETURN_INT64(kv_item_size(&view));
}

/* kv_key_from_json() */
Datum
kv_test_key_from_json(PG_FUNCTION_ARGS)
{
	KvKeySchema schema;
	Datum		key[KV_MAX_KEYS];

	read_schema(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_TEXT_PP(1), &schema);
	kv_key_from_json(&schema, PG_GETARG_JSONB_P(2), key);
	PG_RETURN_DATUM(key_texts(&schema, key));
}

/* kv_key_to_json() */
Datum
kv_test_key_to_json(PG_FUNCTION_ARGS)
{
	KvKeySchema schema;
	Datum		key[KV_MAX_KEYS];

	read_schema(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_TEXT_PP(1), &schema);
	read_key(&schema, PG_GETARG_ARRAYTYPE_P(2), key);
	PG_RETURN_JSONB_P(kv_key_to_json(&schema, key));
}

/* Fills an attribute of a type, named k. */
static void
read_type(text *type, KvKeyAttribute *attribute)
{
	strlcpy(attribute->name, "k", sizeof(attribute->name));
	attribute->name_length = 1;
	attribute->type = (KvKeyType) VARDATA_ANY(type)[0];
}

/* kv_key_to_value() */
Datum
kv_test_key_to_value(PG_FUNCTION_ARGS)
{
	KvKeyAttribute attribute;
	JsonbValue	value;

	read_type(PG_GETARG_TEXT_PP(0), &attribute);
	kv_key_to_value(attribute.type, kv_key_from_text(&attribute, 0, PG_GETARG_TEXT_PP(1)), &value);
	PG_RETURN_JSONB_P(JsonbValueToJsonb(&value));
}

/* kv_key_compare() */
Datum
kv_test_key_compare(PG_FUNCTION_ARGS)
{
	KvKeyAttribute attribute;

	read_type(PG_GETARG_TEXT_PP(0), &attribute);
	PG_RETURN_INT32(kv_key_compare(attribute.type,
								   kv_key_from_text(&attribute, 0, PG_GETARG_TEXT_PP(1)),
								   kv_key_from_text(&attribute, 0, PG_GETARG_TEXT_PP(2))));
}

/* kv_key_check() of a numeric, which may be packed, special or not in normal form */
Datum
kv_test_check_number_key(PG_FUNCTION_ARGS)
{
	KvKeyAttribute attribute = {KV_KEY_NUMBER, 1, "k"};

	kv_key_check(&attribute, 0, PG_GETARG_DATUM(0));
	PG_RETURN_VOID();
}

/* kv_key_check() of a text as it is stored, toasted or not */
Datum
kv_test_check_text_key(PG_FUNCTION_ARGS)
{
	KvKeyAttribute attribute = {KV_KEY_STRING, 1, "k"};

	kv_key_check(&attribute, PG_GETARG_INT32(0), PG_GETARG_DATUM(1));
	PG_RETURN_VOID();
}

/* kv_key_prefix_range(); NULL: no bound */
Datum
kv_test_prefix_range(PG_FUNCTION_ARGS)
{
	KvBound		bound[2];
	TupleDesc	row;
	Datum		values[2];
	bool		nulls[2];
	KvKeyType	type;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	type = kv_key_type_of(TupleDescAttr(row, 0)->atttypid);
	kv_key_prefix_range(type, PG_GETARG_DATUM(0), &bound[0], &bound[1]);
	if ((bound[0].present && !bound[0].inclusive) || (bound[1].present && bound[1].inclusive))
		elog(ERROR, "a prefix range includes its lower bound and excludes its upper");
	values[0] = bound[0].value;
	values[1] = bound[1].value;
	nulls[0] = !bound[0].present;
	nulls[1] = !bound[1].present;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}
