/*
 * scan_utility.c
 *	  Queries of core's own that may scan.
 *
 * Most commands that read whole tables (VACUUM, CREATE INDEX, COPY TO of a
 * leaf, ALTER TABLE's rewriting) read them without the planner.  These do not:
 *	- foreign-key checks and actions when rows change (ri_triggers.c): known
 *	  by the security context that only they set, and by their text;
 *	- the checks of whole tables in ALTER TABLE .. ADD FOREIGN KEY, VALIDATE
 *	  CONSTRAINT, ATTACH and DETACH: known by the command they run in, and by
 *	  their text;
 *	- the first copy of logical replication, in a walsender;
 *	- COPY TO of a table with row security, which core turns into a query, and
 *	  of a partitioned table, which core refuses and which is turned into one
 *	  here.
 * The text is looked at so that functions that run inside these are guarded;
 * for COPY it is the first query that is planned.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "replication/walsender.h"
#include "tcop/utility.h"
#include "utils/rel.h"

#include "scan/scan_internal.h"

/* How deep we are in ALTER TABLE commands. */
static int	alter_table_depth = 0;

/* The query being planned; without text if the planner hook has not seen it. */
KvScanPlanning kv_scan_planning = {0};

/* The next query that is planned is that of a COPY. */
bool		kv_scan_copy_is_next = false;

ProcessUtility_hook_type kv_scan_next_process_utility = NULL;

/* Tells whether the query's text begins with a prefix. */
static bool
query_begins_with(const char *prefix)
{
	const char *text = kv_scan_planning.query_string;

	return text == NULL || strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Tells whether the query being planned is one of core's own that may scan. */
bool
kv_scan_is_exempt(void)
{
	if (am_walsender || kv_scan_planning.is_copy)
		return true;
	if (InNoForceRLSOperation())
		return query_begins_with("SELECT 1 FROM ") || query_begins_with("DELETE FROM ") ||
			query_begins_with("UPDATE ");
	return alter_table_depth > 0 && query_begins_with("SELECT fk.");
}

/* Returns the columns that COPY of a table gives: all that are not generated, or those that it names. */
static List *
copied_columns(const CopyStmt *copy, Relation relation)
{
	TupleDesc	columns = RelationGetDescr(relation);
	List	   *names = copy->attlist;
	List	   *targets = NIL;
	ListCell   *lc;

	for (int i = 0; copy->attlist == NIL && i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (!column->attisdropped && !column->attgenerated)
			names = lappend(names, makeString(pstrdup(NameStr(column->attname))));
	}
	foreach(lc, names)
	{
		ColumnRef  *reference = makeNode(ColumnRef);
		ResTarget  *target = makeNode(ResTarget);

		reference->fields = list_make1(lfirst(lc));
		reference->location = -1;
		target->val = (Node *) reference;
		target->location = -1;
		targets = lappend(targets, target);
	}
	return targets;
}

/*
 * Prepares COPY TO of a key-value table; returns the command to run, and
 * whether its query may scan.
 *
 * Core copies a partitioned table only as a query, and tells people to write
 * one, which the guard would refuse.
 */
static PlannedStmt *
prepare_copy(PlannedStmt *pstmt, bool *may_scan)
{
	CopyStmt   *copy = (CopyStmt *) pstmt->utilityStmt;
	Relation	relation;

	if (copy->is_from || copy->relation == NULL)
		return pstmt;
	relation = table_openrv_extended(copy->relation, AccessShareLock, true);
	if (relation == NULL)
		return pstmt;
	if (kv_table_lookup(RelationGetRelid(relation)) != NULL)
	{
		*may_scan = true;
		if (relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		{
			SelectStmt *select = makeNode(SelectStmt);

			pstmt = copyObject(pstmt);
			copy = (CopyStmt *) pstmt->utilityStmt;
			select->targetList = copied_columns(copy, relation);
			select->fromClause = list_make1(copy->relation);
			copy->query = (Node *) select;
			copy->relation = NULL;
			copy->attlist = NIL;
		}
	}
	table_close(relation, NoLock);
	return pstmt;
}

/* What a utility command is called with. */
typedef struct UtilityCall
{
	PlannedStmt *pstmt;
	const char *query_string;
	bool		read_only_tree;
	ProcessUtilityContext context;
	ParamListInfo params;
	QueryEnvironment *query_env;
	DestReceiver *dest;
	QueryCompletion *qc;
} UtilityCall;

/* Runs a command as it would run without us. */
static void
run(const UtilityCall *call)
{
	ProcessUtility_hook_type next = kv_scan_next_process_utility ?
		kv_scan_next_process_utility : standard_ProcessUtility;

	next(call->pstmt, call->query_string, call->read_only_tree, call->context,
		 call->params, call->query_env, call->dest, call->qc);
}

/* Runs COPY TO, whose first query may scan. */
static void
run_copy(const UtilityCall *call)
{
	kv_scan_copy_is_next = true;
	PG_TRY();
	{
		run(call);
	}
	PG_FINALLY();
	{
		kv_scan_copy_is_next = false;
	}
	PG_END_TRY();
}

/* Runs ALTER TABLE, whose checks of foreign keys may scan. */
static void
run_alter_table(const UtilityCall *call)
{
	alter_table_depth++;
	PG_TRY();
	{
		run(call);
	}
	PG_FINALLY();
	{
		alter_table_depth--;
	}
	PG_END_TRY();
}

/* Runs a utility command, noting what kv_scan_is_exempt must know of it. */
void
kv_scan_process_utility(PlannedStmt *pstmt, const char *query_string, bool read_only_tree,
						ProcessUtilityContext context, ParamListInfo params,
						QueryEnvironment *query_env, DestReceiver *dest, QueryCompletion *qc)
{
	UtilityCall call = {pstmt, query_string, read_only_tree, context, params, query_env, dest, qc};
	bool		may_scan = false;

	if (IsA(pstmt->utilityStmt, CopyStmt))
		call.pstmt = prepare_copy(pstmt, &may_scan);

	if (may_scan)
		run_copy(&call);
	else if (IsA(pstmt->utilityStmt, AlterTableStmt))
		run_alter_table(&call);
	else
		run(&call);
}
