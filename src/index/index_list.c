/*
 * index_list.c
 *	  What is known of the indexes of a database, for kv.indexes.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "index/index_internal.h"

/* Adds the table of a btree that uses the predicate of local indexes, unless it is a leaf. */
static List *
add_table_of_btree(List *tables, Oid btree)
{
	Oid			table = IndexGetRelation(btree, true);
	const KvTable *descriptor = OidIsValid(table) ? kv_table_lookup(table) : NULL;

	if (descriptor == NULL || descriptor->is_leaf || descriptor->local_count == 0)
		return tables;
	return list_append_unique_oid(tables, table);
}

/* Returns the OIDs of the tables that have local indexes. */
static List *
list_tables_with_local(void)
{
	Oid			argument[] = {JSONBOID, TEXTOID, TEXTOID, TEXTARRAYOID};
	Oid			function = LookupFuncName(list_make2(makeString("kv"), makeString("in_local_index")), 4, argument, true);
	Relation	depends = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *tables = NIL;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ProcedureRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(function));
	scan = systable_beginscan(depends, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == RelationRelationId)
			tables = add_table_of_btree(tables, form->objid);
	}
	systable_endscan(scan);
	table_close(depends, AccessShareLock);
	return tables;
}

/* Tells whether the current user holds some right on a table. */
static bool
may_see(Oid table)
{
	Oid			role = GetUserId();

	if (kv_compat_owns_relation(table, role) ||
		pg_class_aclmask(table, role, ACL_ALL_RIGHTS_RELATION, ACLMASK_ANY) != 0)
		return true;
	return pg_attribute_aclcheck_all(table, role, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
}

/* Tells whether the current user may see what errors say: they can show values of items. */
static bool
may_see_errors(Oid table)
{
	return kv_compat_owns_relation(table, GetUserId()) || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* Makes what is known of a global index. */
static KvIndexInfo *
describe_global(const KvTable *table)
{
	KvIndexInfo *info = palloc0(sizeof(KvIndexInfo));
	KvStateRow	row;

	info->index = table->index;
	info->global = true;
	info->state = kv_index_state_name(table->index->state);
	info->detail = table->usable ? table->index->not_ready : table->unusable_reason;
	if (kv_state_read(table->index->relid, &row))
	{
		info->error = row.error == NULL || may_see_errors(table->index->base_relid) ? row.error : "<insufficient privilege>";
		info->error_at = row.error_at;
	}
	return info;
}

/* Counts a record that is not applied for the indexes that it concerns. */
static void
count_pending(List *infos, Oid base, Oid only, TimestampTz at)
{
	ListCell   *cell;

	foreach(cell, infos)
	{
		KvIndexInfo *info = lfirst(cell);

		if (!info->global || info->index->base_relid != base ||
			(OidIsValid(only) && info->index->relid != only))
			continue;
		info->pending++;
		if (info->oldest == 0 || at < info->oldest)
			info->oldest = at;
	}
}

/* Counts the records that are not applied. */
static void
count_all_pending(List *infos)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	KvProgress	progress;
	KvDone		now;
	KvLogScan  *scan;
	KvLogRecord record;
	KvLogPosition position;

	kv_progress_read(&progress);
	kv_done_from_snapshot(snapshot, &now);
	scan = kv_log_begin(snapshot, &progress.before, &now, progress.in_batch ? &progress.position : NULL);
	while (kv_log_next(scan, &record, &position))
	{
		count_pending(infos, record.base_relid, InvalidOid, record.at);
		pfree(record.record);
	}
	kv_log_end(scan);
	UnregisterSnapshot(snapshot);
	kv_retry_each(count_pending, infos);
}

/* Tells of a session that keeps the worker from applying, with each index that waits for that and has no error of its own. */
static void
tell_of_holder(List *infos)
{
	char	   *holder = kv_apply_describe_holder();
	ListCell   *cell;

	foreach(cell, infos)
	{
		KvIndexInfo *info = lfirst(cell);

		if (holder == NULL || !info->global || info->error != NULL || (info->pending == 0 && info->index->state == KV_INDEX_ACTIVE))
			continue;
		info->error = holder;
		info->error_at = GetCurrentTimestamp();
	}
}

/* Returns all indexes of tables on which the current user holds some right. */
List *
kv_index_list(void)
{
	List	   *infos = NIL;
	ListCell   *cell;

	foreach(cell, kv_backfill_list_indexes())
	{
		const KvTable *table = kv_table_lookup(lfirst_oid(cell));

		if (table != NULL && table->index != NULL && may_see(table->index->base_relid))
			infos = lappend(infos, describe_global(table));
	}
	foreach(cell, list_tables_with_local())
	{
		const KvTable *table = kv_table_lookup(lfirst_oid(cell));

		for (int i = 0; table != NULL && may_see(table->relid) && i < table->local_count; i++)
		{
			KvIndexInfo *info = palloc0(sizeof(KvIndexInfo));

			info->index = &table->local[i];
			info->state = kv_index_state_name(KV_INDEX_ACTIVE);
			infos = lappend(infos, info);
		}
	}
	count_all_pending(infos);
	tell_of_holder(infos);
	return infos;
}
