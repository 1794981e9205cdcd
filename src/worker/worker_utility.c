/*
 * worker_utility.c
 *	  Commands about databases and the extension that workers must know of.
 *
 * DROP DATABASE, CREATE DATABASE .. TEMPLATE, ALTER DATABASE .. RENAME TO and
 * .. SET TABLESPACE fail if another process is in the database; core ends
 * autovacuum's only.  So the worker is made to leave first, and kept away until
 * the end of the transaction.  Who may not run the command cannot drive a
 * worker away by it.
 *
 * DROP EXTENSION locks what the worker uses, in another order than it: the
 * same is done for the current database.
 *
 * CREATE EXTENSION and new databases bring a worker soon.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_extension.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "postmaster/bgworker.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index.h"
#include "worker/worker_internal.h"

#define EXTENSION "key_value"

/* After how long the launcher is started again when it has ended, in s. */
#define RESTART_TIME 5

/* The transaction has changed pg_database. */
static bool look_at_commit = false;

static ProcessUtility_hook_type next_process_utility = NULL;

/* Tells whether the current user may create databases. */
static bool
may_create_databases(void)
{
	HeapTuple	tuple;
	bool		may;

	if (superuser())
		return true;
	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	if (!HeapTupleIsValid(tuple))
		return false;
	may = ((Form_pg_authid) GETSTRUCT(tuple))->rolcreatedb;
	ReleaseSysCache(tuple);
	return may;
}

/* Tells whether the current user may copy a database. */
static bool
may_copy(Oid database)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	bool		is_template;

	if (!HeapTupleIsValid(tuple))
		return false;
	is_template = ((Form_pg_database) GETSTRUCT(tuple))->datistemplate;
	ReleaseSysCache(tuple);
	return may_create_databases() && (is_template || kv_compat_owns_database(database, GetUserId()));
}

/* Returns the value of a command's option; NULL if it is not given. */
static const char *
find_option(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		if (strcmp(option->defname, name) == 0 && option->arg != NULL)
			return defGetString(option);
	}
	return NULL;
}

/* Returns the name of the database that a command wants for itself; NULL if there is none. */
static const char *
find_wanted_database(Node *command, bool *is_copy)
{
	const char *template;

	*is_copy = false;
	switch (nodeTag(command))
	{
		case T_DropdbStmt:
			return ((DropdbStmt *) command)->dbname;
		case T_RenameStmt:
			if (((RenameStmt *) command)->renameType == OBJECT_DATABASE)
				return ((RenameStmt *) command)->subname;
			return NULL;
		case T_AlterDatabaseStmt:
			if (find_option(((AlterDatabaseStmt *) command)->options, "tablespace"))
				return ((AlterDatabaseStmt *) command)->dbname;
			return NULL;
		case T_CreatedbStmt:
			*is_copy = true;
			template = find_option(((CreatedbStmt *) command)->options, "template");
			return template ? template : "template1";
		default:
			return NULL;
	}
}

/* Tells whether the command drops the extension, and the current user may do so. */
static bool
drops_extension(Node *command)
{
	ListCell   *lc;
	Oid			extension;

	if (!IsA(command, DropStmt) || ((DropStmt *) command)->removeType != OBJECT_EXTENSION)
		return false;
	foreach(lc, ((DropStmt *) command)->objects)
		if (strcmp(strVal(lfirst(lc)), EXTENSION) == 0)
		{
			extension = get_extension_oid(EXTENSION, true);
			return OidIsValid(extension) && kv_compat_owns_extension(extension, GetUserId());
		}
	return false;
}

/* Returns the database from which workers have to keep away while the command runs; InvalidOid if there is none. */
static Oid
database_to_hold(Node *command)
{
	bool		is_copy;
	const char *name = find_wanted_database(command, &is_copy);
	Oid			database;

	if (name == NULL)
		return drops_extension(command) ? MyDatabaseId : InvalidOid;
	database = get_database_oid(name, true);
	if (!OidIsValid(database))
		return InvalidOid;
	if (is_copy ? may_copy(database) : kv_compat_owns_database(database, GetUserId()))
		return database;
	return InvalidOid;
}

/* Tells whether the command creates a trigger with a function of the extension: that defines an index. */
static bool
defines_index(Node *command)
{
	List	   *function = IsA(command, CreateTrigStmt) ? ((CreateTrigStmt *) command)->funcname : NIL;

	return list_length(function) == 2 && strcmp(strVal(linitial(function)), "kv") == 0;
}

/* Tells whether the command creates the extension. */
static bool
creates_extension(Node *command)
{
	return IsA(command, CreateExtensionStmt) && strcmp(((CreateExtensionStmt *) command)->extname, EXTENSION) == 0;
}

/* Runs a utility command, having made workers leave that are in its way. */
static void
process_utility(PlannedStmt *pstmt, const char *query_string, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *query_env, DestReceiver *dest, QueryCompletion *qc)
{
	ProcessUtility_hook_type next = next_process_utility ? next_process_utility : standard_ProcessUtility;
	Node	   *command = pstmt->utilityStmt;
	bool		changes_databases = IsA(command, CreatedbStmt) || IsA(command, DropdbStmt) ||
		IsA(command, AlterDatabaseStmt);
	bool		concerns_worker = creates_extension(command) || defines_index(command);
	Oid			database = RecoveryInProgress() ? InvalidOid : database_to_hold(command);

	if (OidIsValid(database))
		kv_worker_hold(database);
	next(pstmt, query_string, read_only_tree, context, params, query_env, dest, qc);

	/* the command may be gone by now */
	look_at_commit |= changes_databases;
	if (concerns_worker)
		kv_index_wake_at_commit();
}

/* Transaction callback: lets workers come again, and tells the launcher of new databases. */
static void
end_transaction(XactEvent event, void *argument)
{
	if (event == XACT_EVENT_COMMIT && look_at_commit)
		kv_worker_look_again();
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
	{
		look_at_commit = false;
		kv_worker_release();
	}
}

/* Installs what sees commands about databases and the extension. */
void
kv_worker_install_hooks(void)
{
	next_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	RegisterXactCallback(end_transaction, NULL);
}

/* Registers the launcher and installs the hooks. */
void
kv_worker_init(void)
{
	BackgroundWorker launcher = {0};

	kv_worker_request_shared_memory();
	kv_worker_install_hooks();
	kv_index_call_worker_hook = kv_worker_call;

	/* pg_upgrade's servers must change nothing by themselves */
	if (IsBinaryUpgrade)
		return;
	launcher.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	launcher.bgw_start_time = BgWorkerStart_RecoveryFinished;
	launcher.bgw_restart_time = RESTART_TIME;
	snprintf(launcher.bgw_library_name, sizeof(launcher.bgw_library_name), "key_value");
	snprintf(launcher.bgw_function_name, sizeof(launcher.bgw_function_name), "kv_worker_launcher_main");
	snprintf(launcher.bgw_name, BGW_MAXLEN, "key_value launcher");
	snprintf(launcher.bgw_type, BGW_MAXLEN, "key_value launcher");
	RegisterBackgroundWorker(&launcher);
}
