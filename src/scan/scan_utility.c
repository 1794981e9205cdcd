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
 *	- the first copy of logical replication, in a walsender.
 * The text is looked at so that functions that run inside these are guarded.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "replication/walsender.h"
#include "tcop/utility.h"

#include "scan/scan_internal.h"

/* How deep we are in ALTER TABLE commands. */
static int	alter_table_depth = 0;

const char *kv_scan_query_string = NULL;
ProcessUtility_hook_type kv_scan_next_process_utility = NULL;

/* Tells whether the query's text begins with a prefix. */
static bool
query_begins_with(const char *prefix)
{
	return kv_scan_query_string == NULL ||
		strncmp(kv_scan_query_string, prefix, strlen(prefix)) == 0;
}

/* Tells whether the query being planned is one of core's own that may scan. */
bool
kv_scan_is_exempt(void)
{
	if (am_walsender)
		return true;
	if (InNoForceRLSOperation())
		return query_begins_with("SELECT 1 FROM ") || query_begins_with("DELETE FROM ") ||
			query_begins_with("UPDATE ");
	return alter_table_depth > 0 && query_begins_with("SELECT fk.");
}

/* Runs a utility command, noting what kv_scan_is_exempt must know of it. */
void
kv_scan_process_utility(PlannedStmt *pstmt, const char *query_string, bool read_only_tree,
						ProcessUtilityContext context, ParamListInfo params,
						QueryEnvironment *query_env, DestReceiver *dest, QueryCompletion *qc)
{
	ProcessUtility_hook_type next = kv_scan_next_process_utility ?
		kv_scan_next_process_utility : standard_ProcessUtility;

	if (!IsA(pstmt->utilityStmt, AlterTableStmt))
	{
		next(pstmt, query_string, read_only_tree, context, params, query_env, dest, qc);
		return;
	}

	alter_table_depth++;
	PG_TRY();
	{
		next(pstmt, query_string, read_only_tree, context, params, query_env, dest, qc);
	}
	PG_FINALLY();
	{
		alter_table_depth--;
	}
	PG_END_TRY();
}
