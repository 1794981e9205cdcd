/*
 * scan_hooks.c
 *	  Installation of the hooks, each of which calls the one before it too.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "tcop/utility.h"
#include "utils/selfuncs.h"

#include "scan/scan.h"
#include "scan/scan_internal.h"
#include "scan/scan_stream.h"

static planner_hook_type next_planner = NULL;
static set_rel_pathlist_hook_type next_set_rel_pathlist = NULL;
static get_relation_info_hook_type next_get_relation_info = NULL;
static get_relation_stats_hook_type next_get_relation_stats = NULL;

/* Plans a query: marks key-value parents before and looks for refused nodes after. */
static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params)
{
	KvScanPlanning outer = kv_scan_planning;
	uint64		refused = kv_scan_refused_nodes;
	PlannedStmt *plan;

	kv_scan_stream_functions(parse);
	kv_scan_mark_parents(parse);

	kv_scan_planning.query_string = query_string;
	kv_scan_planning.is_copy = kv_scan_copy_is_next;
	kv_scan_copy_is_next = false;
	kv_scan_planning.permitted = kv_scan_take_permit(query_string);
	PG_TRY();
	{
		plan = next_planner ? next_planner(parse, query_string, cursor_options, bound_params) :
			standard_planner(parse, query_string, cursor_options, bound_params);
	}
	PG_FINALLY();
	{
		kv_scan_planning = outer;
	}
	PG_END_TRY();

	if (unlikely(refused != kv_scan_refused_nodes))
		kv_scan_check_plan(plan);
	return plan;
}

/* Returns the descriptor of the marked parent that an entry stands for, or NULL. */
static KvTable *
marked_parent(const RangeTblEntry *rte)
{
	KvTable    *table;

	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION)
		return NULL;
	table = kv_table_lookup(rte->relid);
	return table != NULL && kv_scan_is_marked(rte, table) ? table : NULL;
}

/* Tells the planner about a marked parent. */
static void
describe_relation(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	KvTable    *table;

	if (next_get_relation_info)
		next_get_relation_info(root, relid, inhparent, rel);
	if (inhparent || root->simple_rte_array == NULL)
		return;
	table = marked_parent(root->simple_rte_array[rel->relid]);
	if (table != NULL)
		kv_scan_describe_parent(root, table, rel);
}

/* Finds statistics of a marked parent. */
static bool
find_statistics(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *vardata)
{
	KvTable    *table = marked_parent(rte);

	if (table != NULL && kv_scan_parent_statistics(root, rte, table, attnum, vardata))
		return true;
	return next_get_relation_stats && next_get_relation_stats(root, rte, attnum, vardata);
}

/* Replaces the paths of key-value relations. */
static void
set_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	KvTable    *table;

	if (next_set_rel_pathlist)
		next_set_rel_pathlist(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_RELATION || rte->inh || IS_DUMMY_REL(rel))
		return;
	table = kv_table_lookup(rte->relid);
	if (table != NULL)
		kv_scan_set_paths(root, rel, rte, table);
}

/* Installs the hooks. */
void
kv_scan_install_hooks(void)
{
	kv_scan_register_nodes();

	next_planner = planner_hook;
	planner_hook = plan_query;
	next_set_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = set_paths;
	next_get_relation_info = get_relation_info_hook;
	get_relation_info_hook = describe_relation;
	next_get_relation_stats = get_relation_stats_hook;
	get_relation_stats_hook = find_statistics;
	kv_scan_next_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = kv_scan_process_utility;
}
