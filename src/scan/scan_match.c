/*
 * scan_match.c
 *	  From the conditions that core matched to the key index to those that a
 *	  node evaluates.
 *
 * Core's matching (indxpath.c) has already seen to operator family,
 * collation, volatility, security level and to the prefix of a LIKE.  What is
 * left is to take only the forms that the cursor can use; the others stay
 * filters.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "scan/scan_internal.h"

/* Returns the value as the key column's type, or NULL if there is no way to make it one. */
static Expr *
value_as_key(Node *value, Oid key_type)
{
	Oid			type = exprType(value);

	if (type == key_type)
		return (Expr *) value;
	/* the operators on text and name are in text's family; all others there are on one type */
	if (type == NAMEOID && key_type == TEXTOID)
		return (Expr *) eval_const_expressions(NULL, (Node *)
											   makeFuncExpr(F_TEXT_NAME, TEXTOID, list_make1(value),
															DEFAULT_COLLATION_OID, C_COLLATION_OID,
															COERCE_IMPLICIT_CAST));
	return NULL;
}

/* Tells whether the expression uses a column of the relation. */
static bool
contain_var_of(Node *node, Index relid)
{
	Bitmapset  *columns = NULL;

	pull_varattnos(node, relid, &columns);
	return columns != NULL;
}

/* The btree operator family of a key type. */
static Oid
key_operator_family(KvKeyType type)
{
	return lookup_type_cache(kv_key_sql_type(type), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/* Tells whether a condition has a form that a node can evaluate. */
static bool
is_usable_condition(const IndexClause *clause, const IndexOptInfo *index, Node *condition)
{
	int			column = clause->indexcol;

	/* what follows an index key only orders */
	if (column >= KV_MAX_TABLE_KEYS)
		return false;
	if (IsA(condition, OpExpr))
		return value_as_key(lsecond(((OpExpr *) condition)->args), index->opcintype[column]) != NULL;
	if (IsA(condition, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) condition;

		return array->useOr &&
			get_element_type(exprType(lsecond(array->args))) == index->opcintype[column] &&
			get_op_opfamily_strategy(array->opno, index->opfamily[column]) == BTEqualStrategyNumber;
	}
	if (IsA(condition, RowCompareExpr))
	{
		RowCompareExpr *row = (RowCompareExpr *) condition;

		return list_length(row->rargs) == 2 && list_length(clause->indexcols) == 2 &&
			linitial_int(clause->indexcols) == 0 && lsecond_int(clause->indexcols) == 1 &&
			exprType(linitial(row->rargs)) == index->opcintype[0] &&
			exprType(lsecond(row->rargs)) == index->opcintype[1];
	}
	return false;
}

/* Returns those of the index clauses that a node can use. */
List *
kv_scan_usable_clauses(PlannerInfo *root, IndexPath *path)
{
	List	   *usable = NIL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);
		bool		all = clause->indexquals != NIL;
		ListCell   *lq;

		foreach(lq, clause->indexquals)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lq);

			if (!is_usable_condition(clause, path->indexinfo, (Node *) rinfo->clause))
				all = false;
		}
		if (all)
			usable = lappend(usable, clause);
	}
	return usable;
}

/* Tells whether usable clauses fix the partition key. */
bool
kv_scan_has_key(IndexPath *path, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);
		ListCell   *lq;

		if (clause->indexcol != 0)
			continue;
		foreach(lq, clause->indexquals)
		{
			Node	   *condition = (Node *) lfirst_node(RestrictInfo, lq)->clause;

			if (IsA(condition, ScalarArrayOpExpr))
				return true;	/* only equality is usable */
			if (IsA(condition, OpExpr) &&
				get_op_opfamily_strategy(((OpExpr *) condition)->opno,
										 path->indexinfo->opfamily[0]) == BTEqualStrategyNumber)
				return true;
		}
	}
	return false;
}

/*
 * Tells whether a path leaves out a list of sort keys.  Core tries each path
 * without such lists too, since they cost a btree scan its order.
 */
bool
kv_scan_leaves_list_out(IndexPath *path)
{
	IndexOptInfo *index = path->indexinfo;
	ListCell   *lc;

	if (index->nkeycolumns < 2)
		return false;
	foreach(lc, index->rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		IndexClause clause = {.indexcol = 1};
		bool		found = false;
		ListCell   *lp;

		if (!IsA(rinfo->clause, ScalarArrayOpExpr) ||
			!match_index_to_operand(linitial(((ScalarArrayOpExpr *) rinfo->clause)->args), 1, index) ||
			!is_usable_condition(&clause, index, (Node *) rinfo->clause))
			continue;
		foreach(lp, path->indexclauses)
			found |= lfirst_node(IndexClause, lp)->rinfo == rinfo;
		if (!found)
			return true;
	}
	return false;
}

/* Adds one condition. */
static void
add_condition(IndexOptInfo *index, int column, Node *condition, KvConditionLists *lists)
{
	KvConditionKind kind;
	int			strategy = BTEqualStrategyNumber;

	if (IsA(condition, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) condition;

		kind = KV_CONDITION_COMPARE;
		strategy = get_op_opfamily_strategy(op->opno, index->opfamily[column]);
		lists->values = lappend(lists->values, value_as_key(lsecond(op->args), index->opcintype[column]));
	}
	else if (IsA(condition, ScalarArrayOpExpr))
	{
		kind = KV_CONDITION_LIST;
		lists->values = lappend(lists->values, lsecond(((ScalarArrayOpExpr *) condition)->args));
	}
	else
	{
		RowCompareExpr *row = castNode(RowCompareExpr, condition);

		kind = KV_CONDITION_ROW;
		strategy = kv_compat_row_compare_strategy(row);
		lists->values = lappend(lists->values, linitial(row->rargs));
		lists->values = lappend(lists->values, lsecond(row->rargs));
	}
	lists->conditions = lappend(lists->conditions, list_make3_int(column, kind, strategy));
	lists->quals = lappend(lists->quals, condition);
}

/* Adds usable clauses to the conditions of a node. */
void
kv_scan_add_clauses(IndexPath *path, List *clauses, KvConditionLists *lists)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);
		ListCell   *lq;

		foreach(lq, clause->indexquals)
			add_condition(path->indexinfo, clause->indexcol,
						  (Node *) lfirst_node(RestrictInfo, lq)->clause, lists);
	}
}

/* Tells whether the expression is the bare key column. */
static bool
is_key_column(RelOptInfo *rel, const KvTable *table, int column, Node *node)
{
	if (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node != NULL && IsA(node, Var) && ((Var *) node)->varno == rel->relid &&
		((Var *) node)->varattno == table->key_attno[column] && ((Var *) node)->varlevelsup == 0;
}

/* Finds out whether a clause compares the sort key with a pattern or a prefix, and which; the value goes to *value. */
static bool
match_pattern(Node *clause, KvConditionKind *kind, Node **column, Node **value)
{
	Oid			function;
	Oid			collation;
	List	   *args;

	if (IsA(clause, OpExpr))
	{
		set_opfuncid((OpExpr *) clause);
		function = ((OpExpr *) clause)->opfuncid;
		collation = ((OpExpr *) clause)->inputcollid;
		args = ((OpExpr *) clause)->args;
	}
	else if (IsA(clause, FuncExpr))
	{
		function = ((FuncExpr *) clause)->funcid;
		collation = ((FuncExpr *) clause)->inputcollid;
		args = ((FuncExpr *) clause)->args;
	}
	else
		return false;

	if (function == F_TEXTLIKE || function == F_LIKE_TEXT_TEXT)
		*kind = KV_CONDITION_LIKE;
	else if (function == F_STARTS_WITH)
		*kind = KV_CONDITION_PREFIX;
	else
		return false;
	/* else other bytes may match too */
	if (!OidIsValid(collation) || !get_collation_isdeterministic(collation))
		return false;
	*column = linitial(args);
	*value = lsecond(args);
	return true;
}

/* Adds LIKE and the like on the sort key, for patterns that core could not look into at planning. */
void
kv_scan_add_patterns(RelOptInfo *rel, const KvTable *table, List *scan_clauses, KvConditionLists *lists)
{
	ListCell   *lc;

	if (table->key.count < 2 || table->key.attribute[1].type != KV_KEY_STRING)
		return;
	foreach(lc, scan_clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		KvConditionKind kind;
		Node	   *column;
		Node	   *value;

		if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, rel) ||
			!match_pattern((Node *) rinfo->clause, &kind, &column, &value) ||
			!is_key_column(rel, table, 1, column) ||
			IsA(value, Const) || exprType(value) != TEXTOID ||
			contain_var_of(value, rel->relid) || contain_volatile_functions(value))
			continue;
		lists->values = lappend(lists->values, value);
		lists->conditions = lappend(lists->conditions, list_make3_int(1, kind, 0));
		lists->quals = lappend(lists->quals, rinfo->clause);
	}
}

/* Returns the value that a clause sets equal to a key column, or NULL if it is no such clause. */
Expr *
kv_scan_match_equality(PlannerInfo *root, RelOptInfo *rel, const KvTable *table, int column, Node *clause)
{
	KvKeyType	type = table->key.attribute[column].type;
	Oid			collation = kv_key_sql_collation(type);
	OpExpr	   *op = (OpExpr *) clause;
	Oid			operator;
	Node	   *value;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2 ||
		(OidIsValid(collation) && op->inputcollid != collation))
		return NULL;
	if (is_key_column(rel, table, column, linitial(op->args)))
	{
		operator = op->opno;
		value = lsecond(op->args);
	}
	else if (is_key_column(rel, table, column, lsecond(op->args)))
	{
		operator = get_commutator(op->opno);
		value = linitial(op->args);
	}
	else
		return NULL;
	if (!OidIsValid(operator) ||
		get_op_opfamily_strategy(operator, key_operator_family(type)) != BTEqualStrategyNumber ||
		contain_var_of(value, rel->relid) || contain_volatile_functions(value))
		return NULL;
	return value_as_key(value, kv_key_sql_type(type));
}

/*
 * Marks the comparisons of keys that tell nothing of a row to whom it is
 * hidden.  Core marks those of text and bytea itself; those of numeric have
 * no way to tell either, since comparing two numbers never fails.  Without
 * this a policy would make every query on a key of type N a scan.
 */
void
kv_scan_mark_leakproof(RelOptInfo *rel, const KvTable *table)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		OpExpr	   *op = (OpExpr *) rinfo->clause;

		if (rinfo->leakproof || !IsA(op, OpExpr) || list_length(op->args) != 2)
			continue;
		for (int i = 0; i < table->key.count; i++)
		{
			KvKeyType	type = table->key.attribute[i].type;

			if (type == KV_KEY_NUMBER &&
				op_in_opfamily(op->opno, key_operator_family(type)) &&
				((is_key_column(rel, table, i, linitial(op->args)) && !contain_var_of(lsecond(op->args), rel->relid)) ||
				 (is_key_column(rel, table, i, lsecond(op->args)) && !contain_var_of(linitial(op->args), rel->relid))))
				rinfo->leakproof = true;
		}
	}
}
