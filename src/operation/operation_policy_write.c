/*
 * operation_policy_write.c
 *	  Writes through SQL, for callers to whom a row security policy applies.
 *
 * The planner adds the policies, so nothing here knows what they say.  The
 * row is read, judged by the caller, and written on condition that it is
 * still the version that was read: its ctid is among the conditions of UPDATE
 * and DELETE, so a write that lost against another session touches no row and
 * the caller finds the row again.
 *
 * A statement that touches no row twice, though the row did not change, was
 * stopped by a policy or by a BEFORE trigger.  For UPDATE the two are told
 * apart by locking the row, which a policy stops too; then, as for the UPDATE
 * of INSERT .. ON CONFLICT, it is an error.  For DELETE both mean that
 * nothing is deleted, as in SQL.  A row that the caller may not see counts as
 * absent; inserting on top of it ends in the unique violation that a plain
 * INSERT meets.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_write.h"

/* key, item, and where the row was */
#define KV_POLICY_ARGS (KV_MAX_KEYS + 3)

struct KvPolicyWriter
{
	KvTable    *table;
	const Datum *key;			/* that was looked for last */
	const char *name;			/* of the table, as SQL writes it */
	ItemPointerData tid;		/* of the row found, and its leaf */
	Oid			leaf;
	bool		missed;			/* a write has touched no row since the row below was found */
	ItemPointerData missed_tid; /* invalid: it was absent */
	Oid			missed_leaf;
};

/* A statement and its arguments. */
typedef struct PolicyStatement
{
	StringInfoData text;
	int			count;
	Oid			type[KV_POLICY_ARGS];
	Datum		value[KV_POLICY_ARGS];
} PolicyStatement;

/* Adds an argument and returns its number. */
static int
add_argument(PolicyStatement *statement, Oid type, Datum value)
{
	Assert(statement->count < KV_POLICY_ARGS);
	statement->type[statement->count] = type;
	statement->value[statement->count] = value;
	return ++statement->count;
}

/* Adds the names of the key columns. */
static void
add_key_columns(PolicyStatement *statement, const KvKeySchema *schema, const char *prefix)
{
	for (int i = 0; i < schema->count; i++)
		appendStringInfo(&statement->text, "%s%s%s", i > 0 ? ", " : "", prefix,
						 quote_identifier(kv_table_column_name(schema->attribute[i].name)));
}

/* Adds the values of the key. */
static void
add_key_values(PolicyStatement *statement, const KvKeySchema *schema, const Datum *key)
{
	for (int i = 0; i < schema->count; i++)
		appendStringInfo(&statement->text, "%s$%d", i > 0 ? ", " : "",
						 add_argument(statement, kv_key_sql_type(schema->attribute[i].type), key[i]));
}

/* Adds the condition that the row has the key. */
static void
add_key_condition(PolicyStatement *statement, KvPolicyWriter *writer)
{
	const KvKeySchema *schema = &writer->table->key;

	for (int i = 0; i < schema->count; i++)
		appendStringInfo(&statement->text, "%st.%s OPERATOR(pg_catalog.=) $%d",
						 i > 0 ? " AND " : " WHERE ",
						 quote_identifier(kv_table_column_name(schema->attribute[i].name)),
						 add_argument(statement, kv_key_sql_type(schema->attribute[i].type), writer->key[i]));
}

/* Adds the condition that the row is still the version that was found. */
static void
add_version_condition(PolicyStatement *statement, KvPolicyWriter *writer)
{
	appendStringInfo(&statement->text, " AND t.ctid OPERATOR(pg_catalog.=) $%d AND t.tableoid OPERATOR(pg_catalog.=) $%d",
					 add_argument(statement, TIDOID, PointerGetDatum(&writer->tid)),
					 add_argument(statement, OIDOID, ObjectIdGetDatum(writer->leaf)));
}

/* Adds a RETURNING clause for key and item. */
static void
add_returning(PolicyStatement *statement, KvPolicyWriter *writer)
{
	appendStringInfoString(&statement->text, " RETURNING ");
	add_key_columns(statement, &writer->table->key, "t.");
	appendStringInfoString(&statement->text, ", t.item");
}

/* Starts a statement inside SPI. */
static void
begin_statement(PolicyStatement *statement)
{
	memset(statement, 0, sizeof(PolicyStatement));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	initStringInfo(&statement->text);
}

/* Copies a value of the first row out of SPI, detoasted. */
static Datum
take_value(int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, &isnull);

	if (isnull)
		elog(ERROR, "unexpected null in column %d", column);
	return SPI_datumTransfer(PointerGetDatum(PG_DETOAST_DATUM(value)), false, -1);
}

/* Notes where the first row was: the two columns behind key and item. */
static void
take_version(KvPolicyWriter *writer)
{
	int			count = writer->table->key.count;
	bool		isnull;

	writer->tid = *(ItemPointer) DatumGetPointer(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
													 count + 2, &isnull));
	writer->leaf = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
												  count + 3, &isnull));
}

/*
 * Runs the statement and leaves SPI; tells whether it touched a row.  If view
 * is given it is filled from the row's first columns, key and item, in the
 * caller's memory context.
 */
static bool
run_statement(PolicyStatement *statement, int expected, KvPolicyWriter *writer, KvItemView *view)
{
	int			result = SPI_execute_with_args(statement->text.data, statement->count, statement->type,
											   statement->value, NULL, false, 0);
	bool		touched = SPI_processed > 0;

	if (result != expected)
		elog(ERROR, "unexpected SPI result %d", result);
	if (touched && view)
	{
		view->schema = &writer->table->key;
		for (int i = 0; i < view->schema->count; i++)
			view->key[i] = take_value(i + 1);
		view->rest = DatumGetJsonbP(take_value(view->schema->count + 1));
		if (expected == SPI_OK_SELECT)
			take_version(writer);
	}
	SPI_finish();
	return touched;
}

/* Opens a writer of one row through SQL. */
KvPolicyWriter *
kv_policy_writer_open(KvTable *table)
{
	KvPolicyWriter *writer = palloc0(sizeof(KvPolicyWriter));

	writer->table = table;
	writer->name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(table->relid)),
											  get_rel_name(table->relid));
	return writer;
}

/* Begins a SELECT of the row: key, item, version. */
static void
begin_select(PolicyStatement *statement, KvPolicyWriter *writer)
{
	begin_statement(statement);
	appendStringInfoString(&statement->text, "SELECT ");
	add_key_columns(statement, &writer->table->key, "t.");
	appendStringInfo(&statement->text, ", t.item, t.ctid, t.tableoid FROM %s%s AS t",
					 writer->table->partitioned ? "" : "ONLY ", writer->name);
	add_key_condition(statement, writer);
}

/* Looks for the row and fills the view if the caller may see it. */
bool
kv_policy_writer_find(KvPolicyWriter *writer, const Datum *key, KvItemView *view)
{
	PolicyStatement statement;

	if (writer->key != key)
		writer->missed = false;
	writer->key = key;
	begin_select(&statement, writer);
	if (run_statement(&statement, SPI_OK_SELECT, writer, view))
		return true;
	ItemPointerSetInvalid(&writer->tid);
	return false;
}

/*
 * Notes that a write touched no row, and tells whether another session can be
 * the reason: not if the row was the same when this happened before.
 */
static bool
may_be_lost(KvPolicyWriter *writer)
{
	bool		again = writer->missed &&
		ItemPointerIsValid(&writer->missed_tid) == ItemPointerIsValid(&writer->tid) &&
		(!ItemPointerIsValid(&writer->tid) ||
		 (ItemPointerEquals(&writer->missed_tid, &writer->tid) && writer->missed_leaf == writer->leaf));

	writer->missed = true;
	writer->missed_tid = writer->tid;
	writer->missed_leaf = writer->leaf;
	return !again;
}

/* Inserts the item. */
KvWriteResult
kv_policy_writer_insert(KvPolicyWriter *writer, const KvItemView *item, KvItemView *written)
{
	const KvKeySchema *schema = &writer->table->key;
	bool		last = writer->missed && !ItemPointerIsValid(&writer->missed_tid);
	PolicyStatement statement;

	begin_statement(&statement);
	appendStringInfo(&statement.text, "INSERT INTO %s AS t (", writer->name);
	add_key_columns(&statement, schema, "");
	appendStringInfoString(&statement.text, ", item) VALUES (");
	add_key_values(&statement, schema, item->key);
	appendStringInfo(&statement.text, ", $%d)",
					 add_argument(&statement, JSONBOID, JsonbPGetDatum(item->rest)));
	if (!last)
	{
		appendStringInfoString(&statement.text, " ON CONFLICT (");
		add_key_columns(&statement, schema, "");
		appendStringInfoString(&statement.text, ") DO NOTHING");
	}
	add_returning(&statement, writer);
	if (run_statement(&statement, SPI_OK_INSERT_RETURNING, writer, written))
		return KV_WRITE_DONE;
	return may_be_lost(writer) ? KV_WRITE_LOST : KV_WRITE_SUPPRESSED;
}

/* Raises the error for a row that the caller may see but not lock. */
static void
refuse_to_lock(KvPolicyWriter *writer)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("item violates row-level security policy (USING expression) for table \"%s\"",
					get_rel_name(writer->table->relid))));
}

/* Raises an error unless the policies let the caller lock the row found. */
static void
check_may_update(KvPolicyWriter *writer)
{
	PolicyStatement statement;
	KvItemView	view;

	begin_select(&statement, writer);
	appendStringInfoString(&statement.text, " FOR NO KEY UPDATE OF t");
	if (!run_statement(&statement, SPI_OK_SELECT, writer, &view))
		refuse_to_lock(writer);
}

/* Keeps the row found as it is; false if it is to be found again. */
bool
kv_policy_writer_keep(KvPolicyWriter *writer)
{
	PolicyStatement statement;
	KvItemView	view;

	begin_select(&statement, writer);
	add_version_condition(&statement, writer);
	appendStringInfoString(&statement.text, " FOR SHARE OF t");
	if (run_statement(&statement, SPI_OK_SELECT, writer, &view))
		return true;
	if (!may_be_lost(writer))
		refuse_to_lock(writer);
	return false;
}

/* Gives the row found a new rest. */
KvWriteResult
kv_policy_writer_replace(KvPolicyWriter *writer, Jsonb *rest, KvItemView *written)
{
	PolicyStatement statement;

	begin_statement(&statement);
	appendStringInfo(&statement.text, "UPDATE %s%s AS t SET item = $%d",
					 writer->table->partitioned ? "" : "ONLY ", writer->name,
					 add_argument(&statement, JSONBOID, JsonbPGetDatum(rest)));
	add_key_condition(&statement, writer);
	add_version_condition(&statement, writer);
	add_returning(&statement, writer);
	if (run_statement(&statement, SPI_OK_UPDATE_RETURNING, writer, written))
		return KV_WRITE_DONE;
	if (may_be_lost(writer))
		return KV_WRITE_LOST;
	check_may_update(writer);
	return KV_WRITE_SUPPRESSED;
}

/* Removes the row found. */
KvWriteResult
kv_policy_writer_remove(KvPolicyWriter *writer)
{
	PolicyStatement statement;

	begin_statement(&statement);
	appendStringInfo(&statement.text, "DELETE FROM %s%s AS t",
					 writer->table->partitioned ? "" : "ONLY ", writer->name);
	add_key_condition(&statement, writer);
	add_version_condition(&statement, writer);
	if (run_statement(&statement, SPI_OK_DELETE, writer, NULL))
		return KV_WRITE_DONE;
	return may_be_lost(writer) ? KV_WRITE_LOST : KV_WRITE_SUPPRESSED;
}
