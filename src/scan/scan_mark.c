/*
 * scan_mark.c
 *	  Marks the entries of key-value parents that one node is to read.
 *
 * A marked entry says that it is an ordinary table without children
 * (relkind 'r', inh false), although its relation is partitioned.  Core then
 * plans it as one relation: no partition is opened or expanded, and unlike
 * with relkind 'p' it is not taken for an empty one.  Nothing else in core
 * looks at these fields after parsing, and SELECT FROM ONLY keeps its own look.
 *
 * The tree is the planner's own to change: plancache, SQL functions and
 * EXPLAIN give it a copy, or a tree that is planned once.
 *
 * Row marks need leaf relations, and a subquery may be pulled up into a query
 * that has them; so what a query that locks rows, or that updates, deletes or
 * merges, has in FROM and WHERE keeps the usual expansion.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "scan/scan_internal.h"

static void mark_query(Query *query);

/* Tells whether one node can read the whole relation of an entry. */
static bool
is_markable(const RangeTblEntry *rte)
{
	const KvTable *table;

	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_PARTITIONED_TABLE ||
		!rte->inh || rte->tablesample != NULL)
		return false;
	table = kv_table_lookup(rte->relid);
	return table != NULL && table->partitioned && table->usable;
}

/* Finds the queries inside expressions. */
static bool
mark_sublinks(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		mark_query((Query *) node);
		return false;
	}
	return expression_tree_walker(node, mark_sublinks, context);
}

/* Marks what can be marked in a query and in those below it. */
static void
mark_query(Query *query)
{
	ListCell   *lc;
	Index		rti = 0;

	check_stack_depth();

	if (query->commandType == CMD_UPDATE || query->commandType == CMD_DELETE ||
		query->commandType == CMD_MERGE || query->rowMarks != NIL)
	{
		/* subqueries in an output list are never pulled up */
		if (query->hasSubLinks)
		{
			(void) mark_sublinks((Node *) query->targetList, NULL);
			(void) mark_sublinks((Node *) query->returningList, NULL);
		}
		return;
	}

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		rti++;
		if (rte->rtekind == RTE_SUBQUERY)
			mark_query(rte->subquery);
		else if (rti != query->resultRelation && is_markable(rte))
		{
			rte->inh = false;
			rte->relkind = RELKIND_RELATION;
		}
	}

	foreach(lc, query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, lc);

		if (IsA(cte->ctequery, Query))
			mark_query((Query *) cte->ctequery);
	}

	if (query->hasSubLinks)
		(void) query_tree_walker(query, mark_sublinks, NULL,
								 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

/* Marks the entries of key-value parents that one node is to read, at any depth of the query. */
void
kv_scan_mark_parents(Query *query)
{
	mark_query(query);
}

/* Tells whether an entry was marked. */
bool
kv_scan_is_marked(const RangeTblEntry *rte, const KvTable *table)
{
	return table->partitioned && rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_RELATION;
}
