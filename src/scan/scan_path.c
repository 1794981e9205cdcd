/*
 * scan_path.c
 *	  The paths of a key-value relation.
 *
 * Core is asked for index paths over the key index alone, and each that
 * fixes the partition key is taken over, with its rows, cost, order and
 * parameters, into a path of our own; everything else that core made for the
 * relation is dropped.  Where only joins fix the key, the paths are
 * parameterised and a path that must not be taken stands beside them, so
 * that core always finds a plan; if it ends up in one, the query is refused.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/index_selfuncs.h"

#include "base/compat.h"
#include "base/guc.h"
#include "scan/scan_internal.h"

/* What a scan of a leaf costs before its first row: opening it. */
#define LEAF_OPEN_COST	10.0

/* Reading a collection to filter it by a list of sort keys is this much worse than reading the keys. */
#define LIST_LEFT_OUT_FACTOR	1000.0

/*
 * Estimates the cost of reading the key index.
 *
 * A path that does not fix the partition key must not push one that does out
 * of the running, however small the table.  The items of a collection lie
 * together whatever the statistics say of the whole table's order.
 */
static void
estimate_cost(PlannerInfo *root, IndexPath *path, double loop_count,
			  Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
			  double *correlation, double *pages)
{
	btcostestimate(root, path, loop_count, startup_cost, total_cost, selectivity, correlation, pages);
	*correlation = 1.0;
	if (!kv_scan_has_key(path, kv_scan_usable_clauses(root, path)))
		*total_cost += KV_REFUSED_COST;
	else if (kv_scan_leaves_list_out(path))
		*total_cost = *total_cost * LIST_LEFT_OUT_FACTOR + LIST_LEFT_OUT_FACTOR;
}

/*
 * Returns the key index as core's planner shows it, or one like it.
 *
 * Core hides an index for a while that was made while rows were being
 * updated (pg_index.indcheckxmin).  The store reads by it all the same, since
 * an update that leaves a row's key alone leaves its entry right.
 */
static IndexOptInfo *
find_key_index(RelOptInfo *rel, KvTable *table)
{
	Oid			key_index = table->partitioned ? InvalidOid : kv_table_leaf(table, 0)->primary_index;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (index->indexoid == key_index)
			return index;
	}
	return kv_scan_make_key_index(table, rel);
}

/* Returns the key index of the relation, limited to what our nodes do. */
static IndexOptInfo *
make_usable_index(RelOptInfo *rel, KvTable *table)
{
	IndexOptInfo *index = find_key_index(rel, table);
	IndexOptInfo *copy = makeNode(IndexOptInfo);

	memcpy(copy, index, sizeof(IndexOptInfo));
	copy->canreturn = palloc0(sizeof(bool) * index->ncolumns);
	copy->indrestrictinfo = rel->baserestrictinfo;
	copy->amoptionalkey = false;
	copy->amsearchnulls = false;
	copy->amhasgettuple = true;
	copy->amhasgetbitmap = false;
	copy->amcanparallel = false;
	copy->amcostestimate = estimate_cost;
	return copy;
}

/* Makes a path; what its node does is in custom_private. */
static CustomPath *
make_path(RelOptInfo *rel, KvScanMode mode, bool parent)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.parallel_safe = false;
	path->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &kv_scan_path_methods;
	path->custom_private = list_make4(makeInteger(mode), makeInteger(parent), NULL, NULL);
	return path;
}

/* Adds our path in place of one that core made for the key index, in the given order. */
static void
add_query_path(RelOptInfo *rel, IndexPath *index_path, ScanDirection direction, List *pathkeys, bool parent)
{
	CustomPath *path = make_path(rel, KV_SCAN_QUERY, parent);

	if (direction != index_path->indexscandir)
	{
		IndexPath  *turned = makeNode(IndexPath);

		memcpy(turned, index_path, sizeof(IndexPath));
		turned->indexscandir = direction;
		index_path = turned;
	}
	path->path.param_info = index_path->path.param_info;
	path->path.rows = index_path->path.rows;
	path->path.startup_cost = index_path->path.startup_cost;
	path->path.total_cost = index_path->path.total_cost;
	path->path.pathkeys = pathkeys;
	lfirst(list_nth_cell(path->custom_private, KV_PATH_INDEX_PATH)) = index_path;
	add_path(rel, (Path *) path);
}

/*
 * Takes over one path of core's.
 *
 * The node reads lists of keys in key order, so its rows are ordered also
 * where core, which looks at the btree, does not count on it.
 */
static void
take_over_path(PlannerInfo *root, RelOptInfo *rel, IndexPath *path, bool parent)
{
	List	   *pathkeys;

	if (path->path.pathkeys != NIL)
	{
		add_query_path(rel, path, path->indexscandir, path->path.pathkeys, parent);
		return;
	}

	pathkeys = build_index_pathkeys(root, path->indexinfo, ForwardScanDirection);
	add_query_path(rel, path, ForwardScanDirection, truncate_useless_pathkeys(root, rel, pathkeys), parent);
	pathkeys = build_index_pathkeys(root, path->indexinfo, BackwardScanDirection);
	pathkeys = truncate_useless_pathkeys(root, rel, pathkeys);
	if (pathkeys != NIL)
		add_query_path(rel, path, BackwardScanDirection, pathkeys, parent);
}

/* Adds the paths that read by key. */
static void
add_query_paths(PlannerInfo *root, RelOptInfo *rel, KvTable *table)
{
	List	   *indexes = rel->indexlist;
	List	   *index_paths;
	ListCell   *lc;

	rel->indexlist = list_make1(make_usable_index(rel, table));
	create_index_paths(root, rel);
	rel->indexlist = indexes;

	index_paths = rel->pathlist;
	rel->pathlist = NIL;
	foreach(lc, index_paths)
	{
		IndexPath  *path = lfirst_node(IndexPath, lc);

		if (kv_scan_has_key(path, kv_scan_usable_clauses(root, path)))
			take_over_path(root, rel, path, table->partitioned);
	}
}

/*
 * Adds the paths that read the keys of an OR.
 *
 * Core makes no index path for it, so the cost is ours: a descent and a heap
 * page for each arm.
 */
static void
add_or_paths(PlannerInfo *root, RelOptInfo *rel, KvTable *table)
{
	RestrictInfo *rinfo = kv_scan_find_or(root, rel, table);
	IndexOptInfo *index;
	ScanDirection directions[] = {ForwardScanDirection, BackwardScanDirection};

	if (rinfo == NULL)
		return;
	index = make_usable_index(rel, table);
	for (int i = 0; i < lengthof(directions); i++)
	{
		CustomPath *path = make_path(rel, KV_SCAN_QUERY, table->partitioned);
		IndexPath  *index_path = makeNode(IndexPath);
		int			arms = list_length(castNode(BoolExpr, rinfo->clause)->args);

		index_path->indexinfo = index;
		index_path->indexscandir = directions[i];
		lfirst(list_nth_cell(path->custom_private, KV_PATH_INDEX_PATH)) = index_path;
		lfirst(list_nth_cell(path->custom_private, KV_PATH_OR)) = rinfo;
		path->path.param_info = get_baserel_parampathinfo(root, rel, rel->lateral_relids);
		path->path.rows = path->path.param_info ? path->path.param_info->ppi_rows : rel->rows;
		path->path.startup_cost = rel->baserestrictcost.startup + random_page_cost;
		path->path.total_cost = path->path.startup_cost + 2 * random_page_cost * arms +
			(cpu_tuple_cost + cpu_index_tuple_cost + rel->baserestrictcost.per_tuple) * path->path.rows;
		path->path.pathkeys = truncate_useless_pathkeys(root, rel, build_index_pathkeys(root, index, directions[i]));
		if (i == 0 || path->path.pathkeys != NIL)
			add_path(rel, (Path *) path);
	}
}

/* Adds the path of last resort: one that reads everything where that is allowed, else one that must not be taken. */
static void
add_last_path(PlannerInfo *root, RelOptInfo *rel, KvTable *table)
{
	bool		allowed = kv_guc_allow_scan || kv_scan_is_exempt(root, rel);
	CustomPath *path = make_path(rel, allowed ? KV_SCAN_ALL : KV_SCAN_REFUSED, table->partitioned);
	QualCost   *filter = &rel->baserestrictcost;

	path->path.param_info = get_baserel_parampathinfo(root, rel, rel->lateral_relids);
	path->path.rows = path->path.param_info ? path->path.param_info->ppi_rows : rel->rows;
	if (allowed)
	{
		path->path.startup_cost = filter->startup + LEAF_OPEN_COST * Max(table->leaf_count, 1);
		path->path.total_cost = path->path.startup_cost + seq_page_cost * rel->pages +
			(cpu_tuple_cost + filter->per_tuple) * rel->tuples;
	}
	else
	{
		/* rows beyond any memory keep core from planning a hash over them just to compare costs */
		path->path.rows = KV_REFUSED_ROWS;
		path->path.startup_cost = path->path.total_cost = KV_REFUSED_COST;
		kv_compat_disable_path(&path->path);
	}
	add_path(rel, (Path *) path);
}

/* Tells whether the relation is to be read where a cursor stands (WHERE CURRENT OF): that is no scan. */
static bool
reads_current_of(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, CurrentOfExpr))
			return true;
	}
	return false;
}

/* Tells whether one of the paths can be run without parameters other than those of LATERAL. */
static bool
has_plain_path(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		if (bms_is_subset(PATH_REQ_OUTER((Path *) lfirst(lc)), rel->lateral_relids))
			return true;
	}
	return false;
}

/* Replaces the paths of a key-value relation by ours. */
void
kv_scan_set_paths(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte, KvTable *table)
{
	if (reads_current_of(rel))
		return;
	/* a sample has no keys; where scans are allowed it is core's to take */
	if (rte->tablesample != NULL && kv_guc_allow_scan)
		return;

	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	rel->consider_parallel = false;

	if (table->usable && rte->tablesample == NULL)
	{
		kv_scan_mark_leakproof(rel, table);
		add_query_paths(root, rel, table);
		if (!has_plain_path(rel))
			add_or_paths(root, rel, table);
	}
	if (!has_plain_path(rel))
		add_last_path(root, rel, table);
}
