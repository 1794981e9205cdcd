/*
 * index_hooks.c
 *	  What DDL does to base tables and their indexes.
 *
 * Most of it needs no help: an index that does not go with its base table any
 * more has another fingerprint (table_index.c), and dependencies drop it.
 * Here are TRUNCATE of any relation by SQL, the change of a base table's owner,
 * which its indexes follow, the capture trigger enabled, disabled and dropped,
 * partitions that come and go, and COMMIT PREPARED, which wakes the worker.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/tablecmds.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "index/index_internal.h"

static object_access_hook_type next_object_access = NULL;
static ProcessUtility_hook_type next_process_utility = NULL;

/* Returns the owner that this command gives a relation. */
static Oid
find_new_owner(Oid relid)
{
	Relation	relations = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(relations, ClassOidIndexId, true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	systable_endscan(scan);
	table_close(relations, AccessShareLock);
	return owner;
}

/* Gives an index and its leaves an owner. */
static void
change_owner(const KvTable *index, Oid owner)
{
	ATExecChangeOwner(index->relid, owner, true, AccessExclusiveLock);
	for (int i = 0; i < index->leaf_count; i++)
		ATExecChangeOwner(index->leaf_relid[i], owner, true, AccessExclusiveLock);
}

/*
 * Makes the indexes of a table follow its change of owner.
 *
 * Only those that had its owner before: anybody else's table that calls
 * itself an index of this one stays his own.  The hook comes before the
 * command counter goes on, so the catalogs have the old owner still.
 */
static void
follow_owner(Oid relid)
{
	const KvTable *base = kv_table_lookup(relid);
	Oid			old_owner;
	Oid			new_owner;

	if (base == NULL || base->is_leaf || base->index != NULL || base->global_count == 0)
		return;
	old_owner = kv_table_owner(relid);
	new_owner = find_new_owner(relid);
	if (old_owner == new_owner || !OidIsValid(old_owner) || !OidIsValid(new_owner))
		return;

	CommandCounterIncrement();
	for (int i = 0; i < base->global_count; i++)
	{
		const KvTable *index = kv_table_lookup(base->global_relid[i]);

		if (index != NULL && index->index != NULL && index->index->base_relid == relid &&
			kv_table_owner(index->relid) == old_owner)
			change_owner(index, new_owner);
	}
}

/* Follows what was done to a capture trigger. */
static void
follow_capture(Oid relid, bool is_dropped)
{
	kv_index_note_doubt(relid);
	/* what is known of a table tells whether all of its partitions are captured; a trigger is dropped with the table's */
	if (!is_dropped && get_rel_relispartition(relid))
		CacheInvalidateRelcacheByRelid(get_partition_parent(relid, true));
}

/*
 * Follows a trigger that was enabled or disabled, or is about to be dropped:
 * one that captures changes leaves the indexes of its table in doubt; with one
 * that defines an index, the base table loses the index.
 */
static void
follow_trigger(Oid trigger, bool is_dropped)
{
	Relation	triggers = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger));
	scan = systable_beginscan(triggers, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		if (kv_table_is_capture(form->tgfoid))
			follow_capture(form->tgrelid, is_dropped);
		else if (is_dropped && OidIsValid(form->tgconstrrelid) && !form->tgisinternal &&
				 SearchSysCacheExists1(RELOID, ObjectIdGetDatum(form->tgconstrrelid)))
			CacheInvalidateRelcacheByRelid(form->tgconstrrelid);
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
}

/*
 * Puts the indexes of a table, or the index, in doubt that gets or loses a
 * partition: that may come back with other rows and be the same to the catalogs.
 * So may indexes of its own that the partition has from a time when it was none.
 */
static void
follow_partition(Oid partition, const ObjectAccessPostAlter *alter)
{
	if (alter == NULL || get_rel_relkind(alter->auxiliary_id) != RELKIND_PARTITIONED_TABLE)
		return;
	kv_index_note_doubt(alter->auxiliary_id);
	kv_index_note_doubt(partition);
}

/* Sees what is done to catalog objects. */
static void
see_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *argument)
{
	if (next_object_access)
		next_object_access(access, class_id, object_id, sub_id, argument);
	if (access == OAT_TRUNCATE && class_id == RelationRelationId)
	{
		if (!kv_index_is_written(object_id) && kv_table_lookup(object_id) != NULL)
			kv_index_note_doubt(object_id);
	}
	else if (access == OAT_POST_ALTER && class_id == RelationRelationId && sub_id == 0)
		follow_owner(object_id);
	else if ((access == OAT_POST_ALTER || access == OAT_DROP) && class_id == TriggerRelationId &&
			 !kv_index_is_creating)
		follow_trigger(object_id, access == OAT_DROP);
	else if (access == OAT_POST_ALTER && class_id == InheritsRelationId && !kv_index_is_creating)
		follow_partition(object_id, argument);
}

/* Returns the name of the partition that a command detaches, a copy; NULL if it detaches none. */
static RangeVar *
find_detached(Node *command)
{
	ListCell   *cell;

	if (!IsA(command, AlterTableStmt))
		return NULL;
	foreach(cell, ((AlterTableStmt *) command)->cmds)
	{
		const AlterTableCmd *step = lfirst_node(AlterTableCmd, cell);

		if (step->subtype == AT_DetachPartition || step->subtype == AT_DetachPartitionFinalize)
			return copyObject(castNode(PartitionCmd, step->def)->name);
	}
	return NULL;
}

/* Returns the trigger of a relation that it has from an index, as a leaf of it; InvalidOid if there is none. */
static Oid
find_inherited_definition(Oid relid)
{
	Relation	triggers = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			found = InvalidOid;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(triggers, TriggerRelidNameIndexId, true, NULL, 1, &key);
	while (!OidIsValid(found) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		if (OidIsValid(form->tgparentid) && OidIsValid(form->tgconstrrelid) && kv_table_is_definition(form->tgfoid))
			found = form->oid;
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	return found;
}

/*
 * Takes the trigger that defines an index off a leaf that was detached from it.
 *
 * Core takes off what it gave the leaf when it was attached, but for triggers
 * that have two tables, since it knows of foreign keys' only; with it the leaf
 * could not be attached again.
 */
static void
drop_inherited_definition(const RangeVar *detached)
{
	Oid			relid = RangeVarGetRelid(detached, NoLock, true);
	ObjectAddress trigger = {TriggerRelationId};

	if (!OidIsValid(relid) || get_rel_relispartition(relid) ||
		!OidIsValid(trigger.objectId = find_inherited_definition(relid)))
		return;
	deleteDependencyRecordsForClass(TriggerRelationId, trigger.objectId, TriggerRelationId, DEPENDENCY_PARTITION_PRI);
	deleteDependencyRecordsForClass(TriggerRelationId, trigger.objectId, RelationRelationId, DEPENDENCY_PARTITION_SEC);
	CommandCounterIncrement();
	/* DETACH CONCURRENTLY has ended the transaction that had one */
	PushActiveSnapshot(GetTransactionSnapshot());
	performDeletion(&trigger, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
	PopActiveSnapshot();
	CommandCounterIncrement();
}

/* Runs a utility command, and does what comes behind DETACH PARTITION and COMMIT PREPARED, which wakes the worker. */
static void
process_utility(PlannedStmt *pstmt, const char *query_string, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *query_env, DestReceiver *dest, QueryCompletion *qc)
{
	ProcessUtility_hook_type next = next_process_utility ? next_process_utility : standard_ProcessUtility;
	bool		commits_prepared = IsA(pstmt->utilityStmt, TransactionStmt) &&
		((TransactionStmt *) pstmt->utilityStmt)->kind == TRANS_STMT_COMMIT_PREPARED;
	const RangeVar *detached = find_detached(pstmt->utilityStmt);

	next(pstmt, query_string, read_only_tree, context, params, query_env, dest, qc);
	if (detached)
		drop_inherited_definition(detached);
	if (commits_prepared)
		kv_index_wake();
}

/* Installs the hooks. */
void
kv_index_install_hooks(void)
{
	next_object_access = object_access_hook;
	object_access_hook = see_object_access;
	next_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
