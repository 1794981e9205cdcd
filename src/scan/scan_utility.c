/*
 * scan_utility.c
 *	  Queries of core's own that may scan, and one of ours.
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
 * The text is looked at so that functions that run inside these, triggers of
 * a foreign key's action too, are guarded; for COPY it is the first query that
 * is planned.  Ours is the one that reads rows through a policy.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "replication/walsender.h"
#include "tcop/utility.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/guc.h"
#include "scan/scan_internal.h"

/* How deep we are in ALTER TABLE commands. */
static int	alter_table_depth = 0;

/* The query being planned; without text if the planner hook has not seen it. */
KvScanPlanning kv_scan_planning = {0};

/* The next query that is planned is that of a COPY. */
bool		kv_scan_copy_is_next = false;

ProcessUtility_hook_type kv_scan_next_process_utility = NULL;

/* Returns the table permitted to a query, which uses up the permit. */
Oid
kv_scan_take_permit(const char *query_string)
{
	if (likely(kv_guc_scan_permit.query == NULL) || query_string == NULL ||
		strcmp(query_string, kv_guc_scan_permit.query) != 0)
		return InvalidOid;
	kv_guc_scan_permit.query = NULL;
	return kv_guc_scan_permit.table;
}

/* Returns the relation that the query names: of a partition that it reaches through its table, the table. */
static Oid
named_relation(PlannerInfo *root, const RelOptInfo *rel)
{
	Index		rti = rel->relid;

	while (root->append_rel_array != NULL && root->append_rel_array[rti] != NULL)
	{
		Index		parent = root->append_rel_array[rti]->parent_relid;

		if (planner_rt_fetch(parent, root)->rtekind != RTE_RELATION)
			break;				/* an arm of UNION ALL */
		rti = parent;
	}
	return planner_rt_fetch(rti, root)->relid;
}

/* Returns the name of a relation as core writes it in these queries (quoteRelationName in ri_triggers.c). */
static char *
name_in_text(Oid relid)
{
	const char *part[] = {get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid)};
	StringInfoData name;

	initStringInfo(&name);
	for (int i = 0; i < lengthof(part); i++)
	{
		appendStringInfoString(&name, i > 0 ? ".\"" : "\"");
		for (const char *c = part[i] ? part[i] : ""; *c != '\0'; c++)
		{
			if (*c == '"')
				appendStringInfoChar(&name, '"');
			appendStringInfoChar(&name, *c);
		}
		appendStringInfoChar(&name, '"');
	}
	return name.data;
}

/* Steps over a word of a text; false if something else stands there. */
static bool
skip(const char **text, const char *word)
{
	size_t		length = strlen(word);

	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Tells whether the text is that of a check or action of a foreign key, on a relation. */
static bool
is_foreign_key_text(const char *text, const char *name)
{
	bool		select = skip(&text, "SELECT 1 FROM ");
	bool		update = !select && skip(&text, "UPDATE ");

	if (!select && !update && !skip(&text, "DELETE FROM "))
		return false;
	(void) skip(&text, "ONLY ");
	if (!skip(&text, name))
		return false;
	if (update)
		return skip(&text, " SET \"");
	if (select && !skip(&text, " x"))
		return false;
	return skip(&text, " WHERE ") && (skip(&text, "$1") || (select && skip(&text, "\"")));
}

/* Tells whether the text is that of a check of a whole table, or of a partition, with a relation on either side. */
static bool
is_table_check_text(const char *text, const char *name)
{
	return skip(&text, "SELECT fk.") &&
		(strstr(text, psprintf(" %s fk ", name)) != NULL || strstr(text, psprintf(" %s pk ", name)) != NULL);
}

/* Tells whether the query being planned is one of core's or our own that may read all of a relation. */
bool
kv_scan_is_exempt(PlannerInfo *root, const RelOptInfo *rel)
{
	const char *text = kv_scan_planning.query_string;
	Oid			relid;

	if (am_walsender || kv_scan_planning.is_copy)
		return true;
	if (!InNoForceRLSOperation() && alter_table_depth == 0 && !OidIsValid(kv_scan_planning.permitted))
		return false;

	relid = named_relation(root, rel);
	if (relid == kv_scan_planning.permitted)
		return true;
	if (InNoForceRLSOperation())
		return text == NULL || is_foreign_key_text(text, name_in_text(relid));
	return alter_table_depth > 0 && (text == NULL || is_table_check_text(text, name_in_text(relid)));
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
 * A leaf of an index is read without a query, so who may read it is asked
 * here.  Core copies a partitioned table only as a query, and tells people to write
 * one, which the guard would refuse.
 */
static PlannedStmt *
prepare_copy(PlannedStmt *pstmt, bool *may_scan)
{
	CopyStmt   *copy = (CopyStmt *) pstmt->utilityStmt;
	Relation	relation;
	const KvTable *table;

	if (copy->is_from || copy->relation == NULL)
		return pstmt;
	relation = table_openrv_extended(copy->relation, AccessShareLock, true);
	if (relation == NULL)
		return pstmt;
	table = kv_table_lookup(RelationGetRelid(relation));
	if (table != NULL)
	{
		*may_scan = true;
		if (table->index != NULL)
			kv_table_check_base_rights(table, GetUserId());
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
