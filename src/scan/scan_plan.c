/*
 * scan_plan.c
 *	  From a path to a CustomScan, and the check of the finished plan.
 *
 * A refused node is put into the plan like any other and looked for when the
 * plan is complete: core also plans alternatives that it throws away.  Where
 * the library was loaded in the middle of a planning, so that nobody looks,
 * the node raises the same error when execution or EXPLAIN sets it up.
 *
 * The layout of custom_private and custom_exprs is in scan_internal.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "scan/scan_internal.h"

uint64		kv_scan_refused_nodes = 0;

static const CustomScanMethods query_methods = {
	.CustomName = "KeyValue Query",
	.CreateCustomScanState = kv_scan_create_state
};

static const CustomScanMethods all_methods = {
	.CustomName = "KeyValue Scan",
	.CreateCustomScanState = kv_scan_create_state
};

static const CustomScanMethods refused_methods = {
	.CustomName = "KeyValue Refused",
	.CreateCustomScanState = kv_scan_create_refused_state
};

/* Registers the nodes. */
void
kv_scan_register_nodes(void)
{
	RegisterCustomScanMethods(&query_methods);
	RegisterCustomScanMethods(&all_methods);
	RegisterCustomScanMethods(&refused_methods);
}

/* Returns the clauses that rows must still be checked against: without those that the key conditions ensure. */
static List *
remaining_filter(List *scan_clauses, List *key_clauses, List *quals, RestrictInfo *ensured)
{
	List	   *remaining = NIL;
	ListCell   *lc;

	foreach(lc, scan_clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo == ensured)
			continue;
		if (rinfo->pseudoconstant)
			continue;			/* a Result node above sees to it */
		if (is_redundant_with_indexclauses(rinfo, key_clauses))
			continue;
		if (quals != NIL && !contain_mutable_functions((Node *) rinfo->clause) &&
			predicate_implied_by(list_make1(rinfo->clause), quals, false))
			continue;
		remaining = lappend(remaining, rinfo);
	}
	return extract_actual_clauses(remaining, false);
}

/* Fills in what a node reads by key. */
static void
plan_query(PlannerInfo *root, CustomPath *path, const KvTable *table, List *scan_clauses, CustomScan *scan)
{
	RelOptInfo *rel = path->path.parent;
	IndexPath  *index_path = list_nth_node(IndexPath, path->custom_private, KV_PATH_INDEX_PATH);
	RestrictInfo *or_rinfo = list_nth(path->custom_private, KV_PATH_OR);
	List	   *key_clauses = kv_scan_usable_clauses(root, index_path);
	KvConditionLists lists = {0};
	RestrictInfo *ensured = NULL;
	List	   *exact;

	kv_scan_add_clauses(index_path, key_clauses, &lists);
	exact = list_copy(lists.quals);
	if (or_rinfo == NULL)
		kv_scan_add_patterns(rel, table, scan_clauses, &lists);
	else if (kv_scan_add_arms(root, rel, table, or_rinfo, &lists))
		ensured = or_rinfo;

	scan->scan.plan.qual = remaining_filter(scan_clauses, key_clauses, exact, ensured);
	scan->custom_exprs = list_make2(lists.values, lists.quals);
	lfirst(list_nth_cell(scan->custom_private, KV_PLAN_BACKWARD)) =
		makeInteger(ScanDirectionIsBackward(index_path->indexscandir));
	lfirst(list_nth_cell(scan->custom_private, KV_PLAN_CONDITIONS)) = lists.conditions;
}

/* Tells whether an expression names a parameter of the statement. */
static bool
has_statement_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		return has_statement_parameter((Node *) ((RestrictInfo *) node)->clause, context);
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXTERN)
		return true;
	return expression_tree_walker(node, has_statement_parameter, context);
}

/*
 * Fills in why a node is refused.
 *
 * In a generic plan it is refused when it runs and no sooner: with the values
 * known, as in a custom plan, "$1 IS NULL OR pk = $1" may be a key query, and
 * the cost of this plan makes plancache stay with custom ones.
 */
static void
plan_refusal(PlannerInfo *root, RelOptInfo *rel, const KvTable *table, CustomScan *scan)
{
	bool		deferred = root->glob->boundParams == NULL &&
		has_statement_parameter((Node *) rel->baserestrictinfo, NULL);

	kv_scan_refused_nodes++;
	lfirst(list_nth_cell(scan->custom_private, KV_PLAN_REFUSAL)) = kv_scan_explain_refusal(root, rel, table);
	lfirst(list_nth_cell(scan->custom_private, KV_PLAN_DEFERRED)) = makeInteger(deferred);
}

/* Makes the node of a path. */
static Plan *
plan_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *scan_clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	KvScanMode	mode = (KvScanMode) intVal(list_nth(path->custom_private, KV_PATH_MODE));
	KvTable    *table = kv_table_lookup(planner_rt_fetch(rel->relid, root)->relid);

	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_private = list_make5(makeInteger(mode),
									  copyObject(list_nth(path->custom_private, KV_PATH_PARENT)),
									  makeInteger(kv_scan_is_exempt(root, rel)),
									  makeInteger(0), NIL);
	scan->custom_private = list_concat(scan->custom_private, list_make2(NIL, makeInteger(0)));
	scan->custom_exprs = list_make2(NIL, NIL);
	Assert(list_length(scan->custom_private) == KV_PLAN_COUNT);

	if (mode == KV_SCAN_QUERY)
	{
		scan->methods = &query_methods;
		plan_query(root, path, table, scan_clauses, scan);
		return &scan->scan.plan;
	}
	scan->scan.plan.qual = remaining_filter(scan_clauses, NIL, NIL, NULL);
	if (mode == KV_SCAN_ALL)
		scan->methods = &all_methods;
	else
	{
		scan->methods = &refused_methods;
		plan_refusal(root, rel, table, scan);
	}
	return &scan->scan.plan;
}

/* Translates a path's conditions to a child relation of a partitionwise join. */
static List *
reparameterize_path(PlannerInfo *root, List *custom_private, RelOptInfo *child_rel)
{
	List	   *copy = list_copy(custom_private);
	ListCell   *cell = list_nth_cell(copy, KV_PATH_INDEX_PATH);

	if (lfirst(cell) != NULL)
	{
		IndexPath  *index_path = makeNode(IndexPath);

		memcpy(index_path, lfirst(cell), sizeof(IndexPath));
		index_path->indexclauses = (List *)
			kv_compat_adjust_child_attrs(root, (Node *) index_path->indexclauses, child_rel);
		lfirst(cell) = index_path;
	}
	return copy;
}

const CustomPathMethods kv_scan_path_methods = {
	.CustomName = "KeyValue",
	.PlanCustomPath = plan_path,
	.ReparameterizeCustomPathByChild = reparameterize_path
};

/* Raises KV010 for a refused node. */
void
kv_scan_refuse_node(const CustomScan *scan)
{
	List	   *refusal = list_nth(scan->custom_private, KV_PLAN_REFUSAL);

	ereport(ERROR,
			(errcode(ERRCODE_KV_NOT_A_KEY_QUERY),
			 errmsg("query on key-value table \"%s\" is not a key query", strVal(linitial(refusal))),
			 errdetail_internal("%s", strVal(lsecond(refusal))),
			 errhint("%s", strVal(lthird(refusal)))));
}

static void check_plan_node(Plan *plan);

/* Looks through a list of plans. */
static void
check_plan_list(List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		check_plan_node((Plan *) lfirst(lc));
}

/* Looks for a refused node in a plan tree. */
static void
check_plan_node(Plan *plan)
{
	if (plan == NULL)
		return;
	check_stack_depth();

	switch (nodeTag(plan))
	{
		case T_Append:
			check_plan_list(((Append *) plan)->appendplans);
			break;
		case T_MergeAppend:
			check_plan_list(((MergeAppend *) plan)->mergeplans);
			break;
		case T_SubqueryScan:
			check_plan_node(((SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			if (((CustomScan *) plan)->methods == &refused_methods &&
				intVal(list_nth(((CustomScan *) plan)->custom_private, KV_PLAN_DEFERRED)) == 0)
				kv_scan_refuse_node((CustomScan *) plan);
			check_plan_list(((CustomScan *) plan)->custom_plans);
			break;
		default:
			break;				/* bitmap nodes hold no scans of relations */
	}
	check_plan_node(plan->lefttree);
	check_plan_node(plan->righttree);
}

/* Raises KV010 if a refused node is part of the plan. */
void
kv_scan_check_plan(PlannedStmt *plan)
{
	check_plan_node(plan->planTree);
	check_plan_list(plan->subplans);
}
