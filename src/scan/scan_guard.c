/*
 * scan_guard.c
 *	  Why a query is refused, in words.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "scan/scan_internal.h"

/* The relation and its partition key, as the conditions name it. */
typedef struct Subject
{
	PlannerInfo *root;
	RelOptInfo *rel;
	const KvTable *table;
	AttrNumber	attno;			/* of the partition key */
	const char *name;			/* of the partition key, quoted */
} Subject;

/* Tells whether the expression is the bare partition key. */
static bool
is_partition_key(const Subject *subject, Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node != NULL && IsA(node, Var) &&
		((Var *) node)->varno == subject->rel->relid &&
		((Var *) node)->varattno == subject->attno &&
		((Var *) node)->varlevelsup == 0;
}

/* Tells whether the expression uses the column anywhere. */
static bool
mentions(const Subject *subject, Node *node, AttrNumber attno)
{
	Bitmapset  *attnos = NULL;

	pull_varattnos(node, subject->rel->relid, &attnos);
	return bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attnos);
}

/* Explains why an equality on the bare partition key could not be used. */
static const char *
explain_equality(const Subject *subject, OpExpr *op, Node *value)
{
	Oid			collation = kv_key_sql_collation(subject->table->key.attribute[0].type);

	if (OidIsValid(collation) && op->inputcollid != collation)
		return psprintf("The partition key %s is compared by collation \"%s\", not \"%s\".", subject->name,
						OidIsValid(op->inputcollid) ? get_collation_name(op->inputcollid) : "none",
						get_collation_name(collation));
	if (contain_volatile_functions(value))
		return psprintf("The partition key %s is compared with a value that may change from row to row.",
						subject->name);
	if (bms_is_member(subject->rel->relid, pull_varnos(subject->root, value)))
		return psprintf("The partition key %s is compared with a column of the same row.", subject->name);
	if (!bms_is_empty(pull_varnos(subject->root, value)))
		return psprintf("The partition key %s is compared with another table's column, but that table's rows cannot be read first.",
						subject->name);
	return psprintf("The comparison of the partition key %s must wait for a security policy or a view's condition.",
					subject->name);
}

/* Explains why a comparison by operator could not be used. */
static const char *
explain_operator(const Subject *subject, OpExpr *op)
{
	Node	   *left = linitial(op->args);
	Node	   *right = list_length(op->args) > 1 ? lsecond(op->args) : NULL;
	bool		on_left = is_partition_key(subject, left);

	if (right == NULL || !(on_left || is_partition_key(subject, right)))
		return psprintf("The partition key %s is used inside an expression; only the column itself can be looked up.",
						subject->name);
	if (op_mergejoinable(op->opno, exprType(left)))
	{
		Oid			family = lookup_type_cache(kv_key_sql_type(subject->table->key.attribute[0].type),
											   TYPECACHE_BTREE_OPFAMILY)->btree_opf;

		if (get_op_opfamily_strategy(op->opno, family) == BTEqualStrategyNumber)
			return explain_equality(subject, op, on_left ? right : left);
		return psprintf("The partition key %s is compared with a value of type %s.", subject->name,
						format_type_be(exprType(on_left ? right : left)));
	}
	return psprintf("The partition key %s is compared by operator %s; only = and = ANY fix it.",
					subject->name, get_opname(op->opno));
}

/* Explains why one condition that uses the partition key does not fix it. */
static const char *
explain_condition(const Subject *subject, Node *clause)
{
	if (is_orclause(clause))
		return psprintf("Not every arm of an OR fixes the partition key %s.", subject->name);
	if (IsA(clause, OpExpr))
		return explain_operator(subject, (OpExpr *) clause);
	if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) clause;

		return psprintf("The partition key %s is compared by operator %s %s; only = and = ANY fix it.",
						subject->name, get_opname(array->opno), array->useOr ? "ANY" : "ALL");
	}
	if (IsA(clause, RowCompareExpr))
		return psprintf("The partition key %s is part of a row comparison; only = and = ANY fix it.",
						subject->name);
	if (IsA(clause, NullTest))
		return psprintf("The partition key %s is only tested for NULL.", subject->name);
	return psprintf("The partition key %s is used inside an expression; only the column itself can be looked up.",
					subject->name);
}

/* Looks for a condition on the partition key among clauses and explains why it does not do; NULL if there is none. */
static const char *
explain_clauses(const Subject *subject, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;

		if (mentions(subject, clause, subject->attno))
			return explain_condition(subject, clause);
	}
	return NULL;
}

/* Tells whether the partition key is held equal to something outside the relation. */
static bool
is_joined(const Subject *subject)
{
	ListCell   *lc;

	foreach(lc, subject->root->eq_classes)
	{
		EquivalenceClass *ec = lfirst_node(EquivalenceClass, lc);
		ListCell   *lm;

		if (ec->ec_merged != NULL || list_length(ec->ec_members) < 2)
			continue;
		foreach(lm, ec->ec_members)
		{
			if (is_partition_key(subject, (Node *) lfirst_node(EquivalenceMember, lm)->em_expr))
				return true;
		}
	}
	return false;
}

/* Explains what is missing, in one sentence. */
static const char *
explain_missing(const Subject *subject)
{
	const KvTable *table = subject->table;
	const char *reason;
	ListCell   *lc;

	if (planner_rt_fetch(subject->rel->relid, subject->root)->tablesample != NULL)
		return "TABLESAMPLE reads whole partitions.";
	reason = explain_clauses(subject, subject->rel->baserestrictinfo);
	if (reason == NULL)
		reason = explain_clauses(subject, subject->rel->joininfo);
	if (reason == NULL && is_joined(subject))
		reason = psprintf("The partition key %s is joined with another table's column, but that table's rows cannot be read first.",
						  subject->name);
	if (reason != NULL)
		return reason;

	foreach(lc, subject->rel->baserestrictinfo)
	{
		if (table->key.count > 1 &&
			mentions(subject, (Node *) lfirst_node(RestrictInfo, lc)->clause, table->key_attno[1]))
			return psprintf("No condition fixes the partition key %s; one on the sort key %s is not enough.",
							subject->name, quote_identifier(kv_table_column_name(table->key.attribute[1].name)));
	}
	return psprintf("No condition fixes the partition key %s.", subject->name);
}

/* Returns the name of the relation as the query knows it: a partition reached through its table goes by the table's. */
static char *
name_in_query(PlannerInfo *root, Index rti)
{
	while (root->append_rel_array != NULL && root->append_rel_array[rti] != NULL)
	{
		Index		parent = root->append_rel_array[rti]->parent_relid;

		if (planner_rt_fetch(parent, root)->rtekind != RTE_RELATION)
			break;				/* an arm of UNION ALL */
		rti = parent;
	}
	return get_rel_name(planner_rt_fetch(rti, root)->relid);
}

/*
 * Returns the relation's name, why no key query of it was found and what would
 * work.
 */
List *
kv_scan_explain_refusal(PlannerInfo *root, RelOptInfo *rel, const KvTable *table)
{
	Subject		subject = {.root = root,.rel = rel,.table = table};
	const char *detail;
	const char *hint;

	if (table == NULL || !table->usable)
	{
		detail = table ? table->unusable_reason : "It is not a key-value table any more.";
		hint = "Give it the columns and the primary key of a key-value table; kv.create_table makes one.";
	}
	else
	{
		subject.attno = table->key_attno[0];
		subject.name = quote_identifier(kv_table_column_name(table->key.attribute[0].name));
		detail = explain_missing(&subject);
		hint = kv_scan_hint_index(rel, table);
		if (hint == NULL)
			hint = psprintf("Fix it with %s = .. or %s = ANY (..)%s, or read the whole %s with kv.scan.",
							subject.name, subject.name,
							table->index == NULL && kv_scan_asks_item(root, rel, table) ?
							", make an index for what it asks with kv.create_global_index" : "",
							table->index ? "index" : "table");
	}
	return list_make3(makeString(name_in_query(root, rel->relid)), makeString(pstrdup(detail)), makeString(pstrdup(hint)));
}
