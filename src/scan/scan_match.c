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
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

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
		return (Expr *) makeFuncExpr(F_TEXT_NAME, TEXTOID, list_make1(value),
									 DEFAULT_COLLATION_OID, C_COLLATION_OID, COERCE_IMPLICIT_CAST);
	return NULL;
}

/* Tells whether a condition has a form that a node can evaluate. */
static bool
is_usable_condition(const IndexClause *clause, const IndexOptInfo *index, Node *condition)
{
	int			column = clause->indexcol;

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

/* Splits one condition. */
static void
split_condition(IndexOptInfo *index, int column, Node *condition, List **values, List **conditions)
{
	if (IsA(condition, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) condition;

		*values = lappend(*values, value_as_key(lsecond(op->args), index->opcintype[column]));
		*conditions = lappend(*conditions,
							  list_make3_int(column, KV_CONDITION_COMPARE,
											 get_op_opfamily_strategy(op->opno, index->opfamily[column])));
	}
	else if (IsA(condition, ScalarArrayOpExpr))
	{
		*values = lappend(*values, lsecond(((ScalarArrayOpExpr *) condition)->args));
		*conditions = lappend(*conditions,
							  list_make3_int(column, KV_CONDITION_LIST, BTEqualStrategyNumber));
	}
	else
	{
		RowCompareExpr *row = castNode(RowCompareExpr, condition);

		*values = lappend(*values, linitial(row->rargs));
		*values = lappend(*values, lsecond(row->rargs));
		/* ROWCOMPARE_xx are the btree strategy numbers */
		*conditions = lappend(*conditions,
							  list_make3_int(column, KV_CONDITION_ROW, (int) row->rctype));
	}
}

/* Splits usable clauses into values, conditions and the clauses that they stand for. */
void
kv_scan_split_clauses(IndexPath *path, List *clauses, List **values, List **conditions, List **quals)
{
	ListCell   *lc;

	*values = *conditions = *quals = NIL;
	foreach(lc, clauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);
		ListCell   *lq;

		foreach(lq, clause->indexquals)
		{
			Node	   *condition = (Node *) lfirst_node(RestrictInfo, lq)->clause;

			split_condition(path->indexinfo, clause->indexcol, condition, values, conditions);
			*quals = lappend(*quals, condition);
		}
	}
}
