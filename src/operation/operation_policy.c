/*
 * operation_policy.c
 *	  Rows through SQL, for callers to whom a row security policy applies.
 *
 * The planner adds the policy, so nothing here knows what it says.  The
 * query names everything with its schema, so it means the same whatever
 * search_path is.  It runs read-only in a cursor that is fetched in chunks;
 * the cursor is found again by its name for every chunk, since the user may
 * have closed it with CLOSE ALL.
 *
 * A scan reads leaf by leaf, as the store does, so that order, paging and
 * segments mean the same.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "operation/operation_rows.h"

#define KV_POLICY_CHUNK		50	/* rows fetched at a time */
#define KV_POLICY_MAX_ARGS	(2 * KV_MAX_KEYS + 1)

struct KvPolicyRows
{
	KvTable    *table;
	const KvIndex *local;		/* NULL: in the order of the table's key */
	const KvKeySchema *schema;	/* of the rows */
	ScanDirection direction;
	MemoryContext context;		/* holds this struct */
	MemoryContext chunk_context;	/* holds the rows fetched */
	char	   *portal_name;	/* NULL: no cursor open */
	TupleDesc	tupdesc;		/* of the query's rows, in context */
	HeapTuple	chunk[KV_POLICY_CHUNK];
	int			chunk_count;
	int			chunk_next;
	bool		ended;
};

/* A query under construction. */
typedef struct PolicyQuery
{
	StringInfoData text;
	const char *conjunction;	/* " WHERE " or " AND " */
	int			count;
	Oid			type[KV_POLICY_MAX_ARGS];
	Datum		value[KV_POLICY_MAX_ARGS];
} PolicyQuery;

/* Adds a parameter and returns its number. */
static int
add_argument(PolicyQuery *query, Oid type, Datum value)
{
	Assert(query->count < KV_POLICY_MAX_ARGS);
	query->type[query->count] = type;
	query->value[query->count] = value;
	return ++query->count;
}

/* Returns SQL for a key column of the rows: a column of the table, or the attribute that a local index is by. */
static const char *
key_expression(const KvPolicyRows *rows, int column)
{
	const KvKeyAttribute *attribute = &rows->schema->attribute[column];

	if (rows->local == NULL)
		return psprintf("t.%s", quote_identifier(get_attname(rows->table->relid, rows->table->key_attno[column], false)));
	if (rows->local->base_key[column] != KV_NOT_BASE_KEY)
		return psprintf("t.%s", quote_identifier(kv_table_column_name(attribute->name)));
	return psprintf("kv.attr_%c(t.item, %s)%s", pg_tolower((unsigned char) attribute->type),
					quote_literal_cstr(attribute->name),
					attribute->type == KV_KEY_STRING ? " COLLATE pg_catalog.\"C\"" : "");
}

/* Adds "column operator value" to the conditions. */
static void
add_comparison(const KvPolicyRows *rows, PolicyQuery *query, int column, const char *operator, Datum value)
{
	int			number = add_argument(query, kv_key_sql_type(rows->schema->attribute[column].type), value);

	appendStringInfo(&query->text, "%s%s OPERATOR(pg_catalog.%s) $%d",
					 query->conjunction, key_expression(rows, column), operator, number);
	query->conjunction = " AND ";
}

/* Adds that the columns from one on lie behind the start, in the order of the rows. */
static void
add_start(const KvPolicyRows *rows, PolicyQuery *query, int first, const Datum *start)
{
	int			count = rows->schema->count;

	appendStringInfo(&query->text, "%s(", query->conjunction);
	for (int i = first; i < count; i++)
		appendStringInfo(&query->text, "%s%s", i == first ? "" : ", ", key_expression(rows, i));
	appendStringInfo(&query->text, ") OPERATOR(pg_catalog.%s) (",
					 ScanDirectionIsForward(rows->direction) ? ">" : "<");
	for (int i = first; i < count; i++)
		appendStringInfo(&query->text, "%s$%d", i == first ? "" : ", ",
						 add_argument(query, kv_key_sql_type(rows->schema->attribute[i].type), start[i]));
	appendStringInfoChar(&query->text, ')');
	query->conjunction = " AND ";
}

/* Adds the order of the rows by the columns from one on. */
static void
add_order(const KvPolicyRows *rows, PolicyQuery *query, int first)
{
	for (int i = first; i < rows->schema->count; i++)
		appendStringInfo(&query->text, "%s%s %s", i == first ? " ORDER BY " : ", ", key_expression(rows, i),
						 ScanDirectionIsForward(rows->direction) ? "ASC" : "DESC");
}

/* Adds the conditions of a key query and the order of its rows. */
static void
add_key_range(const KvPolicyRows *rows, PolicyQuery *query, const KvCursorRange *range)
{
	add_comparison(rows, query, 0, "=", range->key.partition_key);
	if (rows->schema->count == 1)
		return;

	if (kv_key_range_is_point(&range->key))
		add_comparison(rows, query, 1, "=", range->key.low.value);
	else
	{
		if (range->key.low.present)
			add_comparison(rows, query, 1, range->key.low.inclusive ? ">=" : ">", range->key.low.value);
		if (range->key.high.present)
			add_comparison(rows, query, 1, range->key.high.inclusive ? "<=" : "<", range->key.high.value);
	}
	if (range->has_start)
		add_start(rows, query, 1, range->start);
	add_order(rows, query, 1);
}

/* Adds the conditions of a scan of one leaf and the order of its rows. */
static void
add_leaf_range(const KvPolicyRows *rows, PolicyQuery *query, int leaf, const KvCursorRange *range)
{
	if (rows->table->partitioned)
	{
		appendStringInfo(&query->text, "%st.tableoid OPERATOR(pg_catalog.=) $%d", query->conjunction,
						 add_argument(query, OIDOID, ObjectIdGetDatum(rows->table->leaf_relid[leaf])));
		query->conjunction = " AND ";
	}
	if (range->has_start)
		add_start(rows, query, 0, range->start);
	add_order(rows, query, 0);
}

/* Writes the query that gives the rows of a range: key columns, then the item. */
static void
build_query(const KvPolicyRows *rows, PolicyQuery *query, int leaf, const KvCursorRange *range)
{
	const KvTable *table = rows->table;

	memset(query, 0, sizeof(PolicyQuery));
	query->conjunction = " WHERE ";
	initStringInfo(&query->text);

	appendStringInfoString(&query->text, "SELECT ");
	for (int i = 0; i < rows->schema->count; i++)
		appendStringInfo(&query->text, "%s, ", key_expression(rows, i));
	appendStringInfo(&query->text, "t.item FROM %s%s AS t",
					 table->partitioned ? "" : "ONLY ",
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(table->relid)),
												get_rel_name(table->relid)));
	if (rows->local)
	{
		appendStringInfo(&query->text, "%st.item OPERATOR(pg_catalog.?) %s", query->conjunction,
						 quote_literal_cstr(rows->schema->attribute[1].name));
		query->conjunction = " AND ";
	}

	if (range->has_partition_key)
		add_key_range(rows, query, range);
	else
		add_leaf_range(rows, query, leaf, range);
}

/* Opens the rows of a table through SQL. */
KvPolicyRows *
kv_policy_rows_open(KvTable *table, const KvIndex *local, ScanDirection direction)
{
	KvPolicyRows *rows = palloc0(sizeof(KvPolicyRows));

	rows->table = table;
	rows->local = local;
	rows->schema = local ? &local->key : &table->key;
	rows->direction = direction;
	rows->context = CurrentMemoryContext;
	rows->chunk_context = AllocSetContextCreate(CurrentMemoryContext, "key_value policy rows",
												ALLOCSET_DEFAULT_SIZES);
	return rows;
}

/* Closes the cursor of the last seek, if it is still there. */
static void
close_portal(KvPolicyRows *rows)
{
	Portal		portal;

	if (rows->portal_name == NULL)
		return;
	portal = SPI_cursor_find(rows->portal_name);
	if (portal)
		SPI_cursor_close(portal);
	pfree(rows->portal_name);
	rows->portal_name = NULL;
}

/*
 * Plans and starts the query in a cursor of its own.
 *
 * The guard has to let it pass: a scan has no key, and the comparison of a
 * key whose operator is not leakproof may have to wait for the policy.
 */
static void
open_portal(KvPolicyRows *rows, const PolicyQuery *query)
{
	KvScanPermit outer = kv_guc_scan_permit;
	Portal		portal = NULL;

	PG_TRY();
	{
		kv_guc_scan_permit.query = query->text.data;
		kv_guc_scan_permit.table = rows->table->relid;
		portal = SPI_cursor_open_with_args(NULL, query->text.data, query->count,
										   (Oid *) query->type, (Datum *) query->value, NULL,
										   true, CURSOR_OPT_NO_SCROLL | CURSOR_OPT_FAST_PLAN);
	}
	PG_FINALLY();
	{
		kv_guc_scan_permit = outer;
	}
	PG_END_TRY();

	rows->portal_name = MemoryContextStrdup(rows->context, portal->name);
}

/* Goes to the start of a range in one leaf. */
void
kv_policy_rows_seek(KvPolicyRows *rows, int leaf, const KvCursorRange *range)
{
	PolicyQuery query;

	close_portal(rows);
	rows->chunk_count = 0;
	rows->chunk_next = 0;

	/* one item a collection: behind its key there is nothing */
	rows->ended = range->has_partition_key && range->has_start && rows->schema->count == 1;
	if (rows->ended)
		return;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	build_query(rows, &query, leaf, range);
	open_portal(rows, &query);
	SPI_finish();
}

/* Copies the next rows of the cursor into the chunk. */
static void
fetch_chunk(KvPolicyRows *rows)
{
	MemoryContext caller;
	Portal		portal;

	MemoryContextReset(rows->chunk_context);
	rows->chunk_count = 0;
	rows->chunk_next = 0;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = SPI_cursor_find(rows->portal_name);
	if (portal == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_CURSOR_NAME),
				 errmsg("the cursor of a read of table \"%s\" was closed", get_rel_name(rows->table->relid))));
	SPI_cursor_fetch(portal, true, KV_POLICY_CHUNK);

	if (rows->tupdesc == NULL)
	{
		caller = MemoryContextSwitchTo(rows->context);
		rows->tupdesc = CreateTupleDescCopy(SPI_tuptable->tupdesc);
		MemoryContextSwitchTo(caller);
	}

	caller = MemoryContextSwitchTo(rows->chunk_context);
	for (uint64 i = 0; i < SPI_processed; i++)
		rows->chunk[i] = heap_copytuple(SPI_tuptable->vals[i]);
	MemoryContextSwitchTo(caller);
	rows->chunk_count = (int) SPI_processed;
	SPI_finish();

	if (rows->chunk_count < KV_POLICY_CHUNK)
		rows->ended = true;
}

/* Fills the view with the next row; false at the end. */
bool
kv_policy_rows_next(KvPolicyRows *rows, KvItemView *view)
{
	Datum		values[KV_MAX_KEYS + 1];
	bool		nulls[KV_MAX_KEYS + 1];
	int			key_count = rows->schema->count;

	CHECK_FOR_INTERRUPTS();

	if (rows->chunk_next >= rows->chunk_count && !rows->ended)
		fetch_chunk(rows);
	if (rows->chunk_next >= rows->chunk_count)
		return false;

	heap_deform_tuple(rows->chunk[rows->chunk_next++], rows->tupdesc, values, nulls);
	view->schema = rows->schema;
	for (int i = 0; i < key_count; i++)
		view->key[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[i]));
	view->rest = DatumGetJsonbP(values[key_count]);
	return true;
}

/* Closes the rows and their cursor. */
void
kv_policy_rows_close(KvPolicyRows *rows)
{
	close_portal(rows);
	MemoryContextDelete(rows->chunk_context);
	pfree(rows);
}
