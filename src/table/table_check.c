/*
 * table_check.c
 *	  The check that keeps rows honest which plain SQL writes.
 *
 * kv.create_table gives each table
 *
 *		CHECK (kv.check_item(tableoid, item, pk, sk))
 *
 * The names of the key attributes go by the names of the columns, and a column
 * can be renamed, so they are not written into the constraint: they are looked
 * up, once for each relation that a statement writes to, from tableoid and the
 * column numbers in the constraint's own expression.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/primnodes.h"
#include "utils/rel.h"

#include "base/errors.h"
#include "table/table_internal.h"

/* Raises the error for a call that is not the one in a table's constraint. */
pg_noreturn static void
refuse_call(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("kv.check_item takes columns of a table only"),
			 errhint("Write it in a CHECK constraint, as kv.check_item(tableoid, item, partition_key, sort_key).")));
}

/* Returns the column number of one argument, which must be a column. */
static AttrNumber
column_argument(List *arguments, int number)
{
	Var		   *column = (Var *) list_nth(arguments, number);

	if (!IsA(column, Var))
		refuse_call();
	return column->varattno;
}

/* Reads from the call's expression which columns are the keys. */
void
kv_table_check_prepare(KvItemCheck *check, Node *call)
{
	List	   *arguments;
	int			i;

	if (call == NULL || !IsA(call, FuncExpr) || ((FuncExpr *) call)->funcvariadic)
		refuse_call();
	arguments = ((FuncExpr *) call)->args;
	check->key.count = list_length(arguments) - KV_CHECK_FIRST_KEY;
	if (check->key.count < 1 || check->key.count > KV_MAX_TABLE_KEYS ||
		column_argument(arguments, 0) != TableOidAttributeNumber)
		refuse_call();

	check->relid = InvalidOid;
	for (i = 0; i < check->key.count; i++)
	{
		Var		   *column = (Var *) list_nth(arguments, KV_CHECK_FIRST_KEY + i);

		check->attno[i] = column_argument(arguments, KV_CHECK_FIRST_KEY + i);
		check->key.attribute[i].type = kv_key_type_of(column->vartype);
		if (check->attno[i] <= 0 || check->key.attribute[i].type == 0)
			refuse_call();
	}
}

/*
 * Looks up the names of the key columns.
 *
 * The relation is being written to, so it is open and locked.  Logical
 * replication's apply worker leaves tableoid unset; names stay empty then, and
 * the rest of the check holds still.
 */
static void
read_names(KvItemCheck *check, Oid relid)
{
	Relation	relation = OidIsValid(relid) ? RelationIdGetRelation(relid) : NULL;
	int			i;

	for (i = 0; i < check->key.count; i++)
	{
		KvKeyAttribute *attribute = &check->key.attribute[i];

		attribute->name[0] = '\0';
		attribute->name_length = 0;
		if (relation != NULL && check->attno[i] <= RelationGetNumberOfAttributes(relation))
			kv_table_read_attribute_name(relation, check->attno[i], attribute);
	}
	if (relation != NULL)
		RelationClose(relation);
	check->relid = relid;
}

/* Raises KV007 unless the row may be in a key-value table. */
void
kv_table_check_row(KvItemCheck *check, Oid relid, const Datum *key, Jsonb *rest)
{
	KvItemView	view;
	int			i;

	if (unlikely(check->relid != relid || !OidIsValid(relid)))
		read_names(check, relid);

	view.schema = &check->key;
	view.rest = rest;
	for (i = 0; i < check->key.count; i++)
	{
		kv_key_check(&check->key.attribute[i], i, key[i]);
		view.key[i] = key[i];
	}
	kv_item_check_rest(&check->key, rest);
	kv_item_check_size(&view);
}
