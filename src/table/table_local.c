/*
 * table_local.c
 *	  What a local index is: a btree of a certain form on each leaf.
 *
 * On a table with partition key pk and sort key sk, a local index by the
 * attribute a is
 *
 *		CREATE INDEX ON table (pk, kv.attr_s(item, 'a') COLLATE "C", sk)
 *			WHERE kv.in_local_index(item, 'a', projection, included attributes)
 *
 * (attr_n and attr_b for numbers and binaries).  The form is all there is to
 * its definition, so it lives through dump, restore and renames like any
 * other index; the predicate asks for the attribute alone.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodes.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "table/table_internal.h"

/* Returns the name of the called function if it is one of schema kv, else NULL. */
static const char *
kv_function(const Node *node)
{
	const FuncExpr *call = (const FuncExpr *) node;

	if (node == NULL || !IsA(node, FuncExpr) ||
		get_func_namespace(call->funcid) != get_namespace_oid("kv", true))
		return NULL;
	return get_func_name(call->funcid);
}

/* Returns one argument of a call if it is a constant text, else NULL. */
static char *
text_argument(const FuncExpr *call, int number)
{
	Const	   *value = list_length(call->args) > number ? list_nth(call->args, number) : NULL;

	if (value == NULL || !IsA(value, Const) || value->consttype != TEXTOID || value->constisnull)
		return NULL;
	return TextDatumGetCString(value->constvalue);
}

/* Tells whether the first argument of a call is the item column. */
static bool
is_about_item(const FuncExpr *call, const KvTable *table)
{
	Var		   *column = linitial(call->args);

	return IsA(column, Var) && column->varattno == table->item_attno;
}

/* Reads the key expression: the attribute and its type. */
static bool
read_expression(const Node *node, const KvTable *table, KvKeyAttribute *attribute)
{
	const char *function = kv_function(node);
	char	   *name;

	if (function == NULL || list_length(((FuncExpr *) node)->args) != 2 ||
		!is_about_item((FuncExpr *) node, table))
		return false;
	if (strcmp(function, "attr_s") == 0)
		attribute->type = KV_KEY_STRING;
	else if (strcmp(function, "attr_n") == 0)
		attribute->type = KV_KEY_NUMBER;
	else if (strcmp(function, "attr_b") == 0)
		attribute->type = KV_KEY_BINARY;
	else
		return false;

	name = text_argument((FuncExpr *) node, 1);
	if (name == NULL || strlen(name) > KV_MAX_KEY_NAME)
		return false;
	strlcpy(attribute->name, name, sizeof(attribute->name));
	attribute->name_length = strlen(name);
	return true;
}

/* Reads the included attributes from an array of text. */
static bool
read_include(const Const *value, KvIndex *index)
{
	Datum	   *names;
	bool	   *nulls;

	if (!IsA(value, Const) || value->consttype != TEXTARRAYOID || value->constisnull)
		return false;
	deconstruct_array(DatumGetArrayTypeP(value->constvalue), TEXTOID, -1, false, TYPALIGN_INT,
					  &names, &nulls, &index->include_count);
	index->include_name = palloc(sizeof(char *) * Max(index->include_count, 1));
	for (int i = 0; i < index->include_count; i++)
	{
		if (nulls[i])
			return false;
		index->include_name[i] = TextDatumGetCString(names[i]);
	}
	return true;
}

/* Reads the predicate, which carries the projection. */
static bool
read_predicate(const Node *predicate, const KvTable *table, KvIndex *index)
{
	const FuncExpr *call = (const FuncExpr *) predicate;
	const char *function = kv_function(predicate);
	char	   *projection;
	char	   *name;

	if (function == NULL || strcmp(function, "in_local_index") != 0 ||
		list_length(call->args) != 4 || !is_about_item(call, table))
		return false;
	name = text_argument(call, 1);
	projection = text_argument(call, 2);
	if (name == NULL || projection == NULL || strcmp(name, index->key.attribute[1].name) != 0)
		return false;

	if (strcmp(projection, "ALL") == 0)
		index->projection = KV_PROJECT_ALL;
	else if (strcmp(projection, "KEYS_ONLY") == 0)
		index->projection = KV_PROJECT_KEYS_ONLY;
	else if (strcmp(projection, "INCLUDE") == 0)
		index->projection = KV_PROJECT_INCLUDE;
	else
		return false;
	return read_include(lfourth(call->args), index);
}

/*
 * Returns an expression of an index as it is stored, a list or a predicate;
 * NULL if it has none.
 *
 * The relation cache's functions for it run the constant parts of what they
 * return, functions of the table's owner, as the current user, who may be a
 * worker.
 */
static Node *
stored_expression(Relation btree, AttrNumber attno)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(INDEXRELID, btree->rd_indextuple, attno, &isnull);

	return isnull ? NULL : stringToNode(TextDatumGetCString(value));
}

/* Fills the definition of a local index; false if the btree is none. */
static bool
read_local_index(Relation btree, const KvTable *table, KvIndex *index)
{
	Form_pg_index form = btree->rd_index;
	List	   *expressions = (List *) stored_expression(btree, Anum_pg_index_indexprs);

	memset(index, 0, sizeof(KvIndex));
	if (!form->indisvalid || form->indnkeyatts != 3 || list_length(expressions) != 1 ||
		form->indkey.values[0] != table->key_attno[0] || form->indkey.values[1] != 0 ||
		form->indkey.values[2] != table->key_attno[1] || form->indisunique)
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
		if (btree->rd_indoption[i] != 0)
			return false;

	index->relid = RelationGetRelid(btree);
	index->base_relid = table->relid;
	index->key.count = 3;
	index->key.trailing = 1;
	index->key.attribute[0] = table->key.attribute[0];
	index->key.attribute[2] = table->key.attribute[1];
	index->base_key[0] = 0;
	index->base_key[1] = KV_NOT_BASE_KEY;
	index->base_key[2] = 1;
	if (!read_expression(linitial(expressions), table, &index->key.attribute[1]))
		return false;
	if (btree->rd_indcollation[1] != kv_key_sql_collation(index->key.attribute[1].type))
		return false;
	return read_predicate(stored_expression(btree, Anum_pg_index_indpred), table, index);
}

/* Finds the local indexes of a table. */
void
kv_table_find_local_indexes(KvTable *table, Relation relation)
{
	ListCell   *cell;

	if (table->key.count != 2)
		return;
	table->local = palloc0(sizeof(KvIndex) * KV_MAX_LOCAL_INDEXES);
	foreach(cell, RelationGetIndexList(relation))
	{
		Relation	btree = RelationIdGetRelation(lfirst_oid(cell));

		if (btree == NULL)
			continue;
		if (table->local_count < KV_MAX_LOCAL_INDEXES &&
			read_local_index(btree, table, &table->local[table->local_count]))
			table->local_count++;
		RelationClose(btree);
	}
}
