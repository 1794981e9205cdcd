/*
 * scan_hint.c
 *	  Which index would serve a query that is refused.
 *
 * An index serves when a condition names the attribute that is its partition
 * key: item->>'a' = .., item->'a' = .., item @> '{"a": ..}', kv.attr_s(item,
 * 'a') = .., or a key column of the table.  What the condition is is left to
 * the user: the hint says how to ask.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "scan/scan_internal.h"

/* What is looked for in the conditions. */
typedef struct Wanted
{
	Index		relid;			/* in the query */
	AttrNumber	item_attno;
	AttrNumber	column;			/* of the attribute itself; 0: it is in the item */
	const KvKeyAttribute *attribute;
} Wanted;

/* Tells whether the expression is a column of the relation. */
static bool
is_column(const Wanted *wanted, Node *node, AttrNumber attno)
{
	return node != NULL && IsA(node, Var) && ((Var *) node)->varno == wanted->relid &&
		((Var *) node)->varattno == attno && ((Var *) node)->varlevelsup == 0;
}

/* Tells whether the expression is a constant that names the attribute, as text or as a member of a JSON object. */
static bool
names_attribute(const Wanted *wanted, Node *node)
{
	const KvKeyAttribute *attribute = wanted->attribute;
	Const	   *value = (Const *) node;
	JsonbValue	member;

	if (node == NULL || !IsA(node, Const) || value->constisnull)
		return false;
	if (value->consttype == TEXTOID)
	{
		text	   *name = DatumGetTextPP(value->constvalue);

		return VARSIZE_ANY_EXHDR(name) == attribute->name_length &&
			memcmp(VARDATA_ANY(name), attribute->name, attribute->name_length) == 0;
	}
	if (value->consttype == JSONBOID)
	{
		Jsonb	   *json = DatumGetJsonbP(value->constvalue);

		return JB_ROOT_IS_OBJECT(json) &&
			getKeyJsonValueFromContainer(&json->root, attribute->name, attribute->name_length, &member) != NULL;
	}
	return false;
}

/* Walks a condition for a mention of the attribute. */
static bool
mentions(Node *node, Wanted *wanted)
{
	List	   *args = NIL;

	if (node == NULL)
		return false;
	if (wanted->column != 0)
	{
		if (is_column(wanted, node, wanted->column))
			return true;
	}
	else if (IsA(node, OpExpr))
		args = ((OpExpr *) node)->args;
	else if (IsA(node, FuncExpr))
		args = ((FuncExpr *) node)->args;

	if (list_length(args) == 2 && is_column(wanted, linitial(args), wanted->item_attno) &&
		names_attribute(wanted, lsecond(args)))
		return true;
	return expression_tree_walker(node, mentions, wanted);
}

/* Tells whether a condition on the relation mentions the partition key of an index. */
static bool
would_serve(const RelOptInfo *rel, const KvTable *table, const KvIndex *index)
{
	Wanted		wanted = {.relid = rel->relid,.item_attno = table->item_attno,.attribute = &index->key.attribute[0]};
	ListCell   *lc;

	if (index->base_key[0] != KV_NOT_BASE_KEY)
		wanted.column = table->key_attno[index->base_key[0]];
	foreach(lc, rel->baserestrictinfo)
	{
		if (mentions((Node *) lfirst_node(RestrictInfo, lc)->clause, &wanted))
			return true;
	}
	return false;
}

/* Tells whether a condition of the user's, not of a policy, is about attributes of the item. */
bool
kv_scan_asks_item(const PlannerInfo *root, const RelOptInfo *rel, const KvTable *table)
{
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		const RestrictInfo *info = lfirst_node(RestrictInfo, lc);

		if (info->security_level == root->qual_security_level)
			pull_varattnos((Node *) info->clause, rel->relid, &columns);
	}
	return bms_is_member(table->item_attno - FirstLowInvalidHeapAttributeNumber, columns);
}

/* Returns how to ask the index that would serve the query, a sentence; NULL if there is none. */
char *
kv_scan_hint_index(const RelOptInfo *rel, const KvTable *table)
{
	const KvTable *root = table->is_leaf ? kv_table_lookup(table->root_relid) : table;

	for (int i = 0; root != NULL && i < root->global_count; i++)
	{
		const KvTable *index = kv_table_lookup(root->global_relid[i]);

		if (index != NULL && index->usable && index->index != NULL &&
			would_serve(rel, table, index->index))
			return psprintf("Ask its index: SELECT .. FROM %s WHERE %s = .., or kv.query with index => %s.",
							quote_identifier(get_rel_name(index->relid)),
							quote_identifier(get_attname(index->relid, index->key_attno[0], false)),
							quote_literal_cstr(get_rel_name(index->relid)));
	}
	return NULL;
}
