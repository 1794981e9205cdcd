/*
 * scan_or.c
 *	  OR over keys: pk = 'a' OR pk = 'b', (pk, sk) IN ((..), (..)).
 *
 * SQL spells a batch of full keys this way.  Core would answer it with bitmap
 * scans, which a key-value table has none of, so the matching is ours: every
 * arm has to fix the partition key by equality.  An equality on the sort key
 * is used too; whatever else an arm says stays a filter over the collection.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/restrictinfo.h"

#include "scan/scan_internal.h"

/* What is used of one arm. */
typedef struct Arm
{
	Expr	   *value[KV_MAX_TABLE_KEYS]; /* NULL: not fixed */
	bool		complete;		/* the arm says nothing else */
} Arm;

/* Reads one arm; false if it does not fix the partition key. */
static bool
match_arm(PlannerInfo *root, RelOptInfo *rel, const KvTable *table, Node *clause, Arm *arm)
{
	List	   *parts = is_andclause(clause) ? ((BoolExpr *) clause)->args : list_make1(clause);
	ListCell   *lc;

	memset(arm, 0, sizeof(Arm));
	arm->complete = true;
	foreach(lc, parts)
	{
		bool		used = false;

		for (int i = 0; i < Min(table->key.count, KV_MAX_TABLE_KEYS) && !used; i++)
		{
			Expr	   *value;

			if (arm->value[i] != NULL)
				continue;
			value = kv_scan_match_equality(root, rel, table, i, (Node *) lfirst(lc));
			if (value != NULL)
			{
				arm->value[i] = value;
				used = true;
			}
		}
		arm->complete &= used;
	}
	return arm->value[0] != NULL;
}

/* Tells whether each arm of an OR fixes the partition key. */
static bool
is_or_of_keys(PlannerInfo *root, RelOptInfo *rel, const KvTable *table, Node *clause)
{
	ListCell   *lc;

	if (!is_orclause(clause))
		return false;
	foreach(lc, ((BoolExpr *) clause)->args)
	{
		Arm			arm;

		if (!match_arm(root, rel, table, (Node *) lfirst(lc), &arm))
			return false;
	}
	return true;
}

/* Returns the first restriction that is an OR each of whose arms fixes the partition key, or NULL. */
RestrictInfo *
kv_scan_find_or(PlannerInfo *root, RelOptInfo *rel, const KvTable *table)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant && restriction_is_securely_promotable(rinfo, rel) &&
			is_or_of_keys(root, rel, table, (Node *) rinfo->clause))
			return rinfo;
	}
	return NULL;
}

/* Adds the arms of such an OR to the conditions of a node; true if they say all that the OR does. */
bool
kv_scan_add_arms(PlannerInfo *root, RelOptInfo *rel, const KvTable *table,
				 RestrictInfo *rinfo, KvConditionLists *lists)
{
	bool		complete = true;
	ListCell   *lc;

	foreach(lc, castNode(BoolExpr, rinfo->clause)->args)
	{
		Arm			arm;
		KvConditionKind kind;

		if (!match_arm(root, rel, table, (Node *) lfirst(lc), &arm))
			elog(ERROR, "an arm of an OR over keys fixes no key any more");
		complete &= arm.complete;
		kind = arm.value[1] != NULL ? KV_CONDITION_ARM_PAIR : KV_CONDITION_ARM;
		for (int i = 0; i < kv_condition_values(kind); i++)
			lists->values = lappend(lists->values, arm.value[i]);
		lists->conditions = lappend(lists->conditions, list_make3_int(0, kind, 0));
	}
	lists->quals = lappend(lists->quals, rinfo->clause);
	return complete;
}
