/*
 * api_item.c
 *	  SQL functions over items that need no table.
 */
#include "postgres.h"

#include "fmgr.h"

#include "base/errors.h"
#include "item/item.h"

PG_FUNCTION_INFO_V1(kv_item_size_sql);
PG_FUNCTION_INFO_V1(kv_from_dynamodb_json_sql);
PG_FUNCTION_INFO_V1(kv_to_dynamodb_json_sql);

/* kv.item_size(jsonb): the size of a whole item in bytes, by DynamoDB's rule. */
Datum
kv_item_size_sql(PG_FUNCTION_ARGS)
{
	static const KvKeySchema no_key;
	Jsonb	   *item = PG_GETARG_JSONB_P(0);
	KvItemView	view;

	if (!JB_ROOT_IS_OBJECT(item))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("item is not a JSON object")));
	view.schema = &no_key;
	view.rest = kv_item_normalize(item);
	PG_RETURN_INT64(kv_item_size(&view));
}

/* kv.from_dynamodb_json(jsonb): an item from typed JSON. */
Datum
kv_from_dynamodb_json_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_item_from_typed(&PG_GETARG_JSONB_P(0)->root));
}

/* kv.to_dynamodb_json(jsonb): an item as typed JSON. */
Datum
kv_to_dynamodb_json_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_JSONB_P(kv_item_to_typed(PG_GETARG_JSONB_P(0)));
}
