/*
 * scan_explain.c
 *	  What EXPLAIN says of the nodes.
 */
#include "postgres.h"

#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "base/compat.h"
#include "scan/scan_state.h"

/* Shows the key conditions, as core shows those of an index scan. */
static void
explain_conditions(KvScanState *state, List *ancestors, ExplainState *es)
{
	CustomScan *scan = castNode(CustomScan, state->css.ss.ps.plan);
	List	   *quals = list_nth(scan->custom_exprs, KV_EXPR_CONDITIONS);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	bool		prefixed = list_length(es->rtable) > 1 || es->verbose;

	ExplainPropertyText("Key Condition",
						deparse_expression((Node *) make_ands_explicit(quals), context, prefixed, false), es);
}

/* Tells whether the keys can be evaluated before the node runs. */
static bool
keys_are_known(const KvScanState *state)
{
	CustomScan *scan = castNode(CustomScan, state->css.ss.ps.plan);
	bool		have_params = state->css.ss.ps.state->es_param_list_info != NULL;
	ListCell   *lc;

	foreach(lc, (List *) list_nth(scan->custom_exprs, KV_EXPR_VALUES))
	{
		Node	   *value = (Node *) lfirst(lc);

		if (!IsA(value, Const) &&
			!(IsA(value, Param) && ((Param *) value)->paramkind == PARAM_EXTERN && have_params))
			return false;
	}
	return true;
}

/* Adds the name of a leaf to a list that has it not yet. */
static List *
add_leaf_name(List *names, const KvTable *table, int leaf)
{
	char	   *name = get_rel_name(table->leaf_relid[leaf]);
	ListCell   *lc;

	foreach(lc, names)
	{
		if (name == NULL || strcmp((char *) lfirst(lc), name) == 0)
			return names;
	}
	return name ? lappend(names, name) : names;
}

/* Shows the partitions that are read, or were, or that they are chosen later. */
static void
explain_partitions(KvScanState *state, ExplainState *es)
{
	const KvTable *table = state->table;
	List	   *names = NIL;

	if (state->mode == KV_SCAN_ALL)
	{
		ExplainPropertyInteger("Partitions", NULL, table->leaf_count, es);
		return;
	}

	if (es->analyze)
	{
		for (int i = 0; i < table->leaf_count; i++)
		{
			if (state->visited[i])
				names = add_leaf_name(names, table, i);
		}
	}
	else if (keys_are_known(state))
	{
		ResetExprContext(state->key_context);
		kv_scan_evaluate_keys(state);
		for (int i = 0; i < state->range_count; i++)
			names = add_leaf_name(names, table, state->range[i].leaf);
	}
	else
	{
		ExplainPropertyText("Partition", psprintf("one of %d, by the key", table->leaf_count), es);
		return;
	}

	if (list_length(names) == 1)
		ExplainPropertyText("Partition", (char *) linitial(names), es);
	else if (names == NIL)
		ExplainPropertyText("Partition", "none", es);
	else
		ExplainPropertyList("Partitions", names, es);
}

/* Shows what is known of a node beyond what core shows of every scan. */
void
kv_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	KvScanState *state = (KvScanState *) node;

	if (state->mode == KV_SCAN_QUERY)
	{
		Oid			index = kv_compat_primary_key_index(node->ss.ss_currentRelation);

		explain_conditions(state, ancestors, es);
		if (OidIsValid(index))
			ExplainPropertyText("Index", get_rel_name(index), es);
		if (state->backward)
			ExplainPropertyText("Order", "descending", es);
	}
	if (state->parent)
		explain_partitions(state, es);
	if (es->analyze)
	{
		ExplainPropertyUInteger("Items Read", NULL, state->items_read, es);
		ExplainPropertyUInteger("Pages Read", NULL, state->pages_read, es);
	}
}
