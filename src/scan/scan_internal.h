/*
 * scan_internal.h
 *	  What the files of the scan room share.
 *
 * Planning goes: a Query tree's entries for key-value parents are marked
 * (scan_mark.c); for each relation the paths that core makes for the key
 * index are turned into ours (scan_path.c), which keeps recognition of
 * conditions core's own; a path becomes a CustomScan whose expressions and
 * private lists are laid out below (scan_plan.c).
 */
#ifndef KV_SCAN_SCAN_INTERNAL_H
#define KV_SCAN_SCAN_INTERNAL_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "tcop/utility.h"
#include "utils/selfuncs.h"

#include "base/compat.h"
#include "store/store.h"

/* The number of keys that one key query may name in lists, as in a batch get. */
#define KV_MAX_LIST_KEYS 100

/* Cost and rows of a path that must not be taken: above anything core comes up with, far from overflow. */
#define KV_REFUSED_COST 1.0e30
#define KV_REFUSED_ROWS 1.0e15

/* What a node does. */
typedef enum KvScanMode
{
	KV_SCAN_QUERY,				/* reads by key */
	KV_SCAN_ALL,				/* reads everything: key_value.allow_scan, or core's own checks */
	KV_SCAN_REFUSED				/* an error, unless something proves it away */
} KvScanMode;

/* The members of CustomPath.custom_private. */
typedef enum KvPathPrivate
{
	KV_PATH_MODE,				/* Integer, KvScanMode */
	KV_PATH_PARENT,				/* Integer, 1: one node for a whole partitioned table */
	KV_PATH_INDEX_PATH,			/* IndexPath that core made, or NULL */
	KV_PATH_OR,					/* RestrictInfo of an OR over keys, or NULL */
	KV_PATH_COUNT
} KvPathPrivate;

/* The members of CustomScan.custom_private. */
typedef enum KvPlanPrivate
{
	KV_PLAN_MODE,				/* Integer, KvScanMode */
	KV_PLAN_PARENT,				/* Integer, 1: one node for a whole partitioned table */
	KV_PLAN_EXEMPT,				/* Integer, 1: needs no key_value.allow_scan when it runs */
	KV_PLAN_BACKWARD,			/* Integer, 1: rows come in descending key order */
	KV_PLAN_CONDITIONS,			/* List of IntList (column, kind, strategy), see KvConditionKind */
	KV_PLAN_REFUSAL,			/* List of String: relation, DETAIL, HINT; NIL unless KV_SCAN_REFUSED */
	KV_PLAN_DEFERRED,			/* Integer, 1: refused when it runs, since other parameter values may do */
	KV_PLAN_COUNT
} KvPlanPrivate;

/* The lists in CustomScan.custom_exprs. */
typedef enum KvPlanExpressions
{
	KV_EXPR_VALUES,				/* what the keys are compared with: one a condition, or two */
	KV_EXPR_CONDITIONS,			/* the conditions as clauses, for EXPLAIN and for EvalPlanQual */
	KV_EXPR_COUNT
} KvPlanExpressions;

/* The form of one condition on a key column. */
typedef enum KvConditionKind
{
	KV_CONDITION_COMPARE,		/* column operator value */
	KV_CONDITION_LIST,			/* column = ANY (array) */
	KV_CONDITION_ROW,			/* (partition key, sort key) operator (value, value) */
	KV_CONDITION_LIKE,			/* column LIKE a value that is known at run time only; a filter checks it again */
	KV_CONDITION_PREFIX,		/* column starts with such a value; a filter checks it again */
	KV_CONDITION_ARM,			/* one arm of an OR: partition key = value */
	KV_CONDITION_ARM_PAIR		/* one arm of an OR: partition key = value AND sort key = value */
} KvConditionKind;

/* The number of values that a condition has. */
static inline int
kv_condition_values(KvConditionKind kind)
{
	return kind == KV_CONDITION_ROW || kind == KV_CONDITION_ARM_PAIR ? 2 : 1;
}

/* The conditions of a node as they are put together. */
typedef struct KvConditionLists
{
	List	   *values;			/* expressions, for KV_EXPR_VALUES */
	List	   *conditions;		/* IntLists, for KV_PLAN_CONDITIONS */
	List	   *quals;			/* clauses, for KV_EXPR_CONDITIONS */
} KvConditionLists;

/* --- scan_mark.c --- */

/* Marks the entries of key-value parents that one node is to read, at any depth of the query. */
extern void kv_scan_mark_parents(Query *query);

/* Tells whether an entry was marked: core then plans it as a plain relation. */
extern bool kv_scan_is_marked(const RangeTblEntry *rte, const KvTable *table);

/* --- scan_parent.c: what core asks about a marked parent --- */

/* Makes the key index of a relation that core shows none of; it exists for the planner only. */
extern IndexOptInfo *kv_scan_make_key_index(const KvTable *table, RelOptInfo *rel);

/* Gives a marked parent its size and its key index. */
extern void kv_scan_describe_parent(PlannerInfo *root, KvTable *table, RelOptInfo *rel);

/* Finds statistics of a marked parent's column; false if there are none. */
extern bool kv_scan_parent_statistics(PlannerInfo *root, RangeTblEntry *rte, KvTable *table,
									  AttrNumber attnum, VariableStatData *vardata);

/* --- scan_match.c --- */

/* Returns those of the index clauses that a node can use. */
extern List *kv_scan_usable_clauses(PlannerInfo *root, IndexPath *path);

/* Tells whether usable clauses fix the partition key. */
extern bool kv_scan_has_key(IndexPath *path, List *clauses);

/* Tells whether a path leaves out a list of sort keys that a node could use. */
extern bool kv_scan_leaves_list_out(IndexPath *path);

/* Adds usable clauses to the conditions of a node. */
extern void kv_scan_add_clauses(IndexPath *path, List *clauses, KvConditionLists *lists);

/* Adds LIKE and the like on the sort key, for patterns that core could not look into at planning. */
extern void kv_scan_add_patterns(RelOptInfo *rel, const KvTable *table, List *scan_clauses, KvConditionLists *lists);

/* Returns the value that a clause sets equal to a key column, or NULL if it is no such clause. */
extern Expr *kv_scan_match_equality(PlannerInfo *root, RelOptInfo *rel, const KvTable *table, int column, Node *clause);

/* Marks the comparisons of keys that tell nothing of a row to whom it is hidden, numbers' too. */
extern void kv_scan_mark_leakproof(RelOptInfo *rel, const KvTable *table);

/* --- scan_or.c --- */

/* Returns the first restriction that is an OR each of whose arms fixes the partition key, or NULL. */
extern RestrictInfo *kv_scan_find_or(PlannerInfo *root, RelOptInfo *rel, const KvTable *table);

/* Adds the arms of such an OR to the conditions of a node; true if they say all that the OR does. */
extern bool kv_scan_add_arms(PlannerInfo *root, RelOptInfo *rel, const KvTable *table,
							 RestrictInfo *rinfo, KvConditionLists *lists);

/* --- scan_path.c --- */

/* Replaces the paths of a key-value relation by ours. */
extern void kv_scan_set_paths(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte, KvTable *table);

/* --- scan_plan.c --- */

extern const CustomPathMethods kv_scan_path_methods;

/* Registers the nodes; called once. */
extern void kv_scan_register_nodes(void);

/* The number of refused nodes that plans of this session got so far. */
extern uint64 kv_scan_refused_nodes;

/* Raises KV010 if a refused node is part of the plan. */
extern void kv_scan_check_plan(PlannedStmt *plan);

/* Raises KV010 for a refused node. */
pg_noreturn extern void kv_scan_refuse_node(const CustomScan *scan);

/* --- scan_guard.c --- */

/* Returns the relation's name, why no key query of it was found (DETAIL) and what would work (HINT), as Strings. */
extern List *kv_scan_explain_refusal(PlannerInfo *root, RelOptInfo *rel, const KvTable *table);

/* --- scan_hint.c --- */

/* Returns how to ask the index that would serve the query, a sentence; NULL if there is none. */
extern char *kv_scan_hint_index(const RelOptInfo *rel, const KvTable *table);

/* Tells whether a condition of the user's, not of a policy, is about attributes of the item. */
extern bool kv_scan_asks_item(const PlannerInfo *root, const RelOptInfo *rel, const KvTable *table);

/* --- scan_utility.c --- */

/* What is known of the query being planned; set by scan_hooks.c. */
typedef struct KvScanPlanning
{
	const char *query_string;	/* NULL if the planner hook has not seen it */
	bool		is_copy;		/* it is COPY TO of a table */
	Oid			permitted;		/* table that it may read all of (kv_guc_scan_permit), or InvalidOid */
} KvScanPlanning;

extern KvScanPlanning kv_scan_planning;

/* The next query that is planned is that of COPY TO of a table. */
extern bool kv_scan_copy_is_next;

/* The utility hook that was there before ours. */
extern ProcessUtility_hook_type kv_scan_next_process_utility;

/* Tells whether the query being planned is one of core's or our own that may read all of a relation. */
extern bool kv_scan_is_exempt(PlannerInfo *root, const RelOptInfo *rel);

/* Returns the table that a query may read all of by kv_guc_scan_permit, which has served then; else InvalidOid. */
extern Oid	kv_scan_take_permit(const char *query_string);

/* Runs a utility command, noting what kv_scan_is_exempt must know of it. */
extern void kv_scan_process_utility(PlannedStmt *pstmt, const char *query_string, bool read_only_tree,
									ProcessUtilityContext context, ParamListInfo params,
									QueryEnvironment *query_env, DestReceiver *dest, QueryCompletion *qc);

/* --- scan_exec.c --- */

extern Node *kv_scan_create_state(CustomScan *scan);
extern Node *kv_scan_create_refused_state(CustomScan *scan);

#endif							/* KV_SCAN_SCAN_INTERNAL_H */
