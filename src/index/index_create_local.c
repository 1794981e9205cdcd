/*
 * index_create_local.c
 *	  kv.create_local_index.
 *
 * A local index is a btree of core's, of the form that table_local.c knows.
 * Core builds and keeps it, so it is current at every moment; building it
 * holds writers off, as CREATE INDEX does.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_create.h"

/* Returns the included attributes as a literal of type text[]. */
static char *
include_literal(const KvNewIndex *new)
{
	StringInfoData array;

	initStringInfo(&array);
	appendStringInfoChar(&array, '{');
	for (int i = 0; i < new->include_count; i++)
	{
		appendStringInfoString(&array, i == 0 ? "\"" : ",\"");
		for (const char *c = new->include[i]; *c != '\0'; c++)
		{
			if (*c == '"' || *c == '\\')
				appendStringInfoChar(&array, '\\');
			appendStringInfoChar(&array, *c);
		}
		appendStringInfoChar(&array, '"');
	}
	appendStringInfoChar(&array, '}');
	return quote_literal_cstr(array.data);
}

/* Creates a local index. */
Oid
kv_index_create_local(const KvCreateIndex *request)
{
	KvNewIndex	new;
	const KvKeyAttribute *attribute = &new.key.attribute[0];
	const char *name;

	kv_create_begin(&new, request, "kv.create_local_index()");
	kv_create_lock(&new, ShareLock);
	if (new.base->key.count < 2)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("table \"%s\" has no sort key", get_rel_name(new.base->relid)),
				 errdetail("A local index orders the items of a collection in another way; without a sort key each has one item.")));
	if (new.base->local_count >= KV_MAX_LOCAL_INDEXES)
		ereport(ERROR,
				(errcode(ERRCODE_KV_LIMIT_EXCEEDED),
				 errmsg("table \"%s\" has %d local indexes already", get_rel_name(new.base->relid),
						new.base->local_count),
				 errdetail("A table has at most %d.", KV_MAX_LOCAL_INDEXES)));
	kv_create_read_local_key(&new, request);

	name = quote_literal_cstr(attribute->name);
	SPI_connect();
	kv_create_run(psprintf("CREATE INDEX %s ON %s (%s, kv.attr_%c(item, %s)%s, %s) "
						   "WHERE kv.in_local_index(item, %s, '%s', %s)",
						   quote_identifier(new.name), new.base_name,
						   quote_identifier(kv_table_column_name(new.base->key.attribute[0].name)),
						   pg_tolower((unsigned char) attribute->type), name,
						   attribute->type == KV_KEY_STRING ? " COLLATE pg_catalog.\"C\"" : "",
						   quote_identifier(kv_table_column_name(new.base->key.attribute[1].name)),
						   name, kv_table_projection_name(new.projection), include_literal(&new)));
	SPI_finish();
	return get_relname_relid(new.name, new.schema);
}
