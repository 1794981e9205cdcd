/*
 * compat.h
 *	  The one place that looks at PG_VERSION_NUM.
 *
 * The code is written against the newest API; each wrapper here names what
 * changed in which version and when it can go.
 */
#ifndef KV_BASE_COMPAT_H
#define KV_BASE_COMPAT_H

#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/sinvaladt.h"
#include "utils/rel.h"

/* 18: what EXPLAIN writes with has headers of its own.  Can go with 17. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM < 150000
#error "key_value needs PostgreSQL 15 or newer"
#endif

/* 18: a function that does not return says so in front, not behind.  Can go with 17. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/*
 * 18: RelationGetPrimaryKeyIndex() lets its caller choose whether a deferrable
 * primary key counts; before, it never did.  Can go with 17.
 */
#if PG_VERSION_NUM >= 180000
#define kv_compat_primary_key_index(relation) RelationGetPrimaryKeyIndex(relation, false)
#else
#define kv_compat_primary_key_index(relation) RelationGetPrimaryKeyIndex(relation)
#endif

/* 16: one function for the owner of any object. Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_owns_relation(relid, role) pg_class_ownercheck(relid, role)
#define kv_compat_owns_schema(nspid, role) pg_namespace_ownercheck(nspid, role)
#define kv_compat_owns_database(database, role) pg_database_ownercheck(database, role)
#define kv_compat_owns_extension(extension, role) pg_extension_ownercheck(extension, role)
#else
#define kv_compat_owns_relation(relid, role) object_ownercheck(RelationRelationId, relid, role)
#define kv_compat_owns_schema(nspid, role) object_ownercheck(NamespaceRelationId, nspid, role)
#define kv_compat_owns_database(database, role) object_ownercheck(DatabaseRelationId, database, role)
#define kv_compat_owns_extension(extension, role) object_ownercheck(ExtensionRelationId, extension, role)
#endif

/*
 * 16: a table access method's tuple_update says which indexes need entries,
 * before only whether any does.  Can go with 15.
 */
#if PG_VERSION_NUM < 160000
#define KvCompatUpdateIndexes bool
#else
#define KvCompatUpdateIndexes TU_UpdateIndexes
#endif

/* 16: _bt_search() takes the heap; 17: it takes no snapshot any more.  Can go with 16. */
#if PG_VERSION_NUM < 160000
#define kv_compat_bt_search(index, heap, key, buffer, access) _bt_search(index, key, buffer, access, NULL)
#elif PG_VERSION_NUM < 170000
#define kv_compat_bt_search(index, heap, key, buffer, access) _bt_search(index, heap, key, buffer, access, NULL)
#else
#define kv_compat_bt_search(index, heap, key, buffer, access) _bt_search(index, heap, key, buffer, access)
#endif

/* 17: nor does _bt_get_endpoint().  Can go with 16. */
#if PG_VERSION_NUM < 170000
#define kv_compat_bt_get_endpoint(index, level, rightmost) _bt_get_endpoint(index, level, rightmost, NULL)
#else
#define kv_compat_bt_get_endpoint(index, level, rightmost) _bt_get_endpoint(index, level, rightmost)
#endif

/* 16: _bt_getroot() takes the heap.  Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_bt_getroot(index, heap, access) _bt_getroot(index, access)
#else
#define kv_compat_bt_getroot(index, heap, access) _bt_getroot(index, heap, access)
#endif

/* 16: relation files are named by a locator.  Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_file_number(relation) ((relation)->rd_node.relNode)
#else
#define kv_compat_file_number(relation) ((relation)->rd_locator.relNumber)
#endif

/* 16: .. also where a page is looked for in the buffer that it was in before.  Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_read_recent(relation, block, buffer) \
	ReadRecentBuffer((relation)->rd_node, MAIN_FORKNUM, block, buffer)
#else
#define kv_compat_read_recent(relation, block, buffer) \
	ReadRecentBuffer((relation)->rd_locator, MAIN_FORKNUM, block, buffer)
#endif

/* 16: "file node" is called "file number".  Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_set_new_file(relation) RelationSetNewRelfilenode(relation, (relation)->rd_rel->relpersistence)
#else
#define kv_compat_set_new_file(relation) RelationSetNewRelfilenumber(relation, (relation)->rd_rel->relpersistence)
#endif

/* 16: and so is a table access method's callback for it, whose type of argument has another name.  Can go with 15. */
#if PG_VERSION_NUM < 160000
#define KvCompatFileLocator RelFileNode
#define kv_compat_set_new_file_callback relation_set_new_filenode
#define kv_compat_heap_set_new_file GetHeapamTableAmRoutine()->relation_set_new_filenode
#else
#define KvCompatFileLocator RelFileLocator
#define kv_compat_set_new_file_callback relation_set_new_filelocator
#define kv_compat_heap_set_new_file GetHeapamTableAmRoutine()->relation_set_new_filelocator
#endif

/* 17: reindex_relation() takes the statement that it belongs to.  Can go with 16. */
#if PG_VERSION_NUM < 170000
#define kv_compat_reindex_relation(relid) reindex_relation(relid, REINDEX_REL_PROCESS_TOAST, &(ReindexParams) {0})
#else
#define kv_compat_reindex_relation(relid) reindex_relation(NULL, relid, REINDEX_REL_PROCESS_TOAST, &(ReindexParams) {0})
#endif

/* 17: a backend's transaction number has moved into a struct.  Can go with 16. */
#if PG_VERSION_NUM < 170000
#define kv_compat_my_lxid() (MyProc->lxid)
#else
#define kv_compat_my_lxid() (MyProc->vxid.lxid)
#endif

/*
 * 16: a relation is extended by ExtendBufferedRel(), before by reading P_NEW
 * under the extension lock.  Returns the new page's buffer, pinned, the page
 * all zeros.  Can go with 15.
 */
static inline Buffer
kv_compat_extend_relation(Relation relation)
{
#if PG_VERSION_NUM < 160000
	bool		need_lock = !RELATION_IS_LOCAL(relation);
	Buffer		buffer;

	if (need_lock)
		LockRelationForExtension(relation, ExclusiveLock);
	buffer = ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW, RBM_NORMAL, NULL);
	if (need_lock)
		UnlockRelationForExtension(relation, ExclusiveLock);
	return buffer;
#else
	return ExtendBufferedRel(BMR_REL(relation), MAIN_FORKNUM, NULL, 0);
#endif
}

/* 16: takes the parent relation instead of relids. Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_adjust_child_attrs(root, node, child_rel) \
	adjust_appendrel_attrs_multilevel(root, node, (child_rel)->relids, (child_rel)->top_parent_relids)
#else
#define kv_compat_adjust_child_attrs(root, node, child_rel) \
	adjust_appendrel_attrs_multilevel(root, node, child_rel, (child_rel)->top_parent)
#endif

/* 16: the user to check as moved from the range table entry to its permission info. Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_check_as_user(root, rte) ((rte)->checkAsUser)
#else
#define kv_compat_check_as_user(root, rte) \
	((rte)->perminfoindex != 0 ? getRTEPermissionInfo((root)->parse->rteperminfos, rte)->checkAsUser : InvalidOid)
#endif

/* 16: the same in the executor. Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_exec_check_as_user(estate, rte) ((rte)->checkAsUser)
#else
#define kv_compat_exec_check_as_user(estate, rte) \
	((rte)->perminfoindex != 0 ? getRTEPermissionInfo((estate)->es_rteperminfos, rte)->checkAsUser : InvalidOid)
#endif

/* 18: disabled nodes are counted instead of made expensive. Can go with 17. */
#if PG_VERSION_NUM < 180000
#define kv_compat_disable_path(path) ((void) 0)
#else
#define kv_compat_disable_path(path) ((path)->disabled_nodes = 1000)
#endif

/* 18: a row comparison has a comparison type; either has the numbers of the btree strategies. Can go with 17. */
#if PG_VERSION_NUM >= 180000
#define kv_compat_row_compare_strategy(row) ((int) (row)->cmptype)
#else
#define kv_compat_row_compare_strategy(row) ((int) (row)->rctype)
#endif

/* 18: NOT NULL may be declared and yet not hold of the rows that are there (NOT VALID). Can go with 17. */
#if PG_VERSION_NUM >= 180000
#define kv_compat_column_not_null(columns, i) \
	(TupleDescCompactAttr(columns, i)->attnullability == ATTNULLABLE_VALID)
#else
#define kv_compat_column_not_null(columns, i) (TupleDescAttr(columns, i)->attnotnull)
#endif

/* 18: BTMaxItemSize is a constant; before, it asks a page for the page size. Can go with 17. */
#if PG_VERSION_NUM >= 180000
#define KV_COMPAT_BT_MAX_ITEM_SIZE BTMaxItemSize
#else
#define KV_COMPAT_BT_MAX_ITEM_SIZE \
	(MAXALIGN_DOWN((BLCKSZ - MAXALIGN(SizeOfPageHeaderData + 3 * sizeof(ItemIdData)) - \
					MAXALIGN(sizeof(BTPageOpaqueData))) / 3) - MAXALIGN(sizeof(ItemPointerData)))
#endif

/* 18: index_beginscan() has a place for instrumentation. Can go with 17. */
#if PG_VERSION_NUM >= 180000
#define kv_compat_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, 0)
#else
#define kv_compat_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, nkeys, 0)
#endif

/* 16: heap_update() says which indexes need entries. Can go with 15. */
#if PG_VERSION_NUM >= 160000
#define kv_compat_heap_update(heap, from, row, cid, failure, lock_mode) \
	heap_update(heap, from, row, cid, InvalidSnapshot, true, failure, lock_mode, &(TU_UpdateIndexes) {TU_None})
#else
#define kv_compat_heap_update(heap, from, row, cid, failure, lock_mode) \
	heap_update(heap, from, row, cid, InvalidSnapshot, true, failure, lock_mode)
#endif

/* 18: vacuum_truncate has a setting behind the storage parameter. Can go with 17. */
#if PG_VERSION_NUM >= 180000
#define kv_compat_may_truncate(relation) \
	((relation)->rd_options && ((StdRdOptions *) (relation)->rd_options)->vacuum_truncate_set ? \
	 ((StdRdOptions *) (relation)->rd_options)->vacuum_truncate : vacuum_truncate)
#else
#define kv_compat_may_truncate(relation) \
	((relation)->rd_options == NULL || ((StdRdOptions *) (relation)->rd_options)->vacuum_truncate)
#endif

/* 17: a right of its own, MAINTAIN, to vacuum and the like; before, the owner's alone. Can go with 16. */
#if PG_VERSION_NUM >= 170000
#define kv_compat_may_maintain(relid, role) (pg_class_aclcheck(relid, role, ACL_MAINTAIN) == ACLCHECK_OK)
#else
#define kv_compat_may_maintain(relid, role) kv_compat_owns_relation(relid, role)
#endif

/* 17: maintenance runs under a search path of its own. Can go with 16. */
#if PG_VERSION_NUM >= 170000
#define kv_compat_restrict_search_path() RestrictSearchPath()
#else
#define kv_compat_restrict_search_path() ((void) 0)
#endif

/* 16: summarizing indexes may be the only ones that an update must reach. Can go with 15. */
#if PG_VERSION_NUM >= 160000
#define KV_COMPAT_NO_INDEXES TU_None
#define kv_compat_insert_index_tuples(target, slot, estate, update, arbiter, conflict, indexes) \
	ExecInsertIndexTuples(target, slot, estate, update, arbiter, conflict, indexes, false)
#define kv_compat_update_index_tuples(target, slot, estate, which) \
	ExecInsertIndexTuples(target, slot, estate, true, false, NULL, NIL, (which) == TU_Summarizing)
#else
#define KV_COMPAT_NO_INDEXES false
#define kv_compat_insert_index_tuples(target, slot, estate, update, arbiter, conflict, indexes) \
	ExecInsertIndexTuples(target, slot, estate, update, arbiter, conflict, indexes)
#define kv_compat_update_index_tuples(target, slot, estate, which) \
	ExecInsertIndexTuples(target, slot, estate, true, false, NULL, NIL)
#endif

/* 17: an index access method may hold on to things from insert to insert. Can go with 16. */
#if PG_VERSION_NUM >= 170000
#define kv_compat_end_index_inserts(index, info) index_insert_cleanup(index, info)
#else
#define kv_compat_end_index_inserts(index, info) ((void) 0)
#endif

/* 18: ExecCheckIndexConstraints() may know the row that is being checked. Can go with 17. */
#if PG_VERSION_NUM >= 180000
#define kv_compat_check_index_constraints(target, slot, estate, conflict, indexes) \
	ExecCheckIndexConstraints(target, slot, estate, conflict, NULL, indexes)
#else
#define kv_compat_check_index_constraints(target, slot, estate, conflict, indexes) \
	ExecCheckIndexConstraints(target, slot, estate, conflict, indexes)
#endif

/*
 * 16: the functions for BEFORE ROW triggers that report what became of the row
 * lose their "New", which keeps the old ABI in 15; 18: one argument more.  Can
 * go with 17.
 */
#if PG_VERSION_NUM >= 180000
#define kv_compat_before_update(estate, epq, target, tid, slot, result, failure) \
	ExecBRUpdateTriggers(estate, epq, target, tid, NULL, slot, result, failure, false)
#define kv_compat_before_delete(estate, epq, target, tid, result, failure) \
	ExecBRDeleteTriggers(estate, epq, target, tid, NULL, NULL, result, failure, false)
#elif PG_VERSION_NUM >= 160000
#define kv_compat_before_update(estate, epq, target, tid, slot, result, failure) \
	ExecBRUpdateTriggers(estate, epq, target, tid, NULL, slot, result, failure)
#define kv_compat_before_delete(estate, epq, target, tid, result, failure) \
	ExecBRDeleteTriggers(estate, epq, target, tid, NULL, NULL, result, failure)
#else
#define kv_compat_before_update(estate, epq, target, tid, slot, result, failure) \
	ExecBRUpdateTriggersNew(estate, epq, target, tid, NULL, slot, result, failure)
#define kv_compat_before_delete(estate, epq, target, tid, result, failure) \
	ExecBRDeleteTriggersNew(estate, epq, target, tid, NULL, NULL, result, failure)
#endif

/* 16: EvalPlanQual is told the relations that the query changes. Can go with 15. */
#if PG_VERSION_NUM >= 160000
#define kv_compat_init_epq(epq, estate) EvalPlanQualInit(epq, estate, NULL, NIL, -1, NIL)
#else
#define kv_compat_init_epq(epq, estate) EvalPlanQualInit(epq, estate, NULL, NIL, -1)
#endif

/*
 * 16: the columns that a query touches moved from the range table entry into a
 * list beside it; 18: the entries that pruning left must be told.  Can go with
 * 17.
 */
#if PG_VERSION_NUM >= 160000
#define kv_compat_set_columns(info, inserted, updated) \
	((info)->insertedCols = (inserted), (info)->updatedCols = (updated))
#endif
#if PG_VERSION_NUM >= 180000
#define kv_compat_init_range_table(estate, entry, inserted, updated) \
	do { \
		List	   *infos_ = NIL; \
		RTEPermissionInfo *info_ = addRTEPermissionInfo(&infos_, entry); \
		kv_compat_set_columns(info_, inserted, updated); \
		ExecInitRangeTable(estate, list_make1(entry), infos_, bms_make_singleton(1)); \
	} while (0)
#elif PG_VERSION_NUM >= 160000
#define kv_compat_init_range_table(estate, entry, inserted, updated) \
	do { \
		List	   *infos_ = NIL; \
		RTEPermissionInfo *info_ = addRTEPermissionInfo(&infos_, entry); \
		kv_compat_set_columns(info_, inserted, updated); \
		ExecInitRangeTable(estate, list_make1(entry), infos_); \
	} while (0)
#else
#define kv_compat_init_range_table(estate, entry, inserted, updated) \
	do { \
		(entry)->insertedCols = (inserted); \
		(entry)->updatedCols = (updated); \
		ExecInitRangeTable(estate, list_make1(entry)); \
	} while (0)
#endif

/*
 * 16: a partition's result relation finds the way from the root's columns to
 * its own by itself.  Can go with 15.
 */
#if PG_VERSION_NUM >= 160000
#define kv_compat_set_root_map(target, root_row_type, row_type) ((void) 0)
#else
#define kv_compat_set_root_map(target, root_row_type, row_type) \
	((target)->ri_RootToPartitionMap = convert_tuples_by_name(root_row_type, row_type))
#endif

/*
 * 16: generated columns are prepared for INSERT and UPDATE apart; before, for
 * the first command that asked, and those for INSERT are all of them.  Can go
 * with 15.
 */
#if PG_VERSION_NUM >= 160000
#define kv_compat_init_generated(target, estate) ((void) 0)
#else
#define kv_compat_init_generated(target, estate) \
	ExecInitStoredGenerated(target, estate, CMD_INSERT)
#endif

/*
 * 17: an extension may name its wait events; before, all are "Extension".  Can
 * go with 16.
 */
#if PG_VERSION_NUM >= 170000
#define kv_compat_new_wait_event(name) WaitEventExtensionNew(name)
#else
#define kv_compat_new_wait_event(name) PG_WAIT_EXTENSION
#endif

/* 17: the setting transaction_timeout is new; before, it is named twice what must be off anyway.  Can go with 16. */
#if PG_VERSION_NUM >= 170000
#define KV_COMPAT_TRANSACTION_TIMEOUT "transaction_timeout"
#else
#define KV_COMPAT_TRANSACTION_TIMEOUT "statement_timeout"
#endif

/*
 * 17: whether a lock is held, or a stronger one, is one question; before, one
 * for each mode.  Tells whether the session has a lock on a relation of the
 * current database.  Can go with 16.
 */
static inline bool
kv_compat_is_locked(Oid relid)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(&tag, AccessShareLock, true);
#else
	for (LOCKMODE mode = AccessShareLock; mode <= AccessExclusiveLock; mode++)
		if (LockHeldByMe(&tag, mode))
			return true;
	return false;
#endif
}

/* 17: processes go by their numbers.  Returns the process of a virtual transaction, or NULL.  Can go with 16. */
static inline PGPROC *
kv_compat_process_of(VirtualTransactionId vxid)
{
#if PG_VERSION_NUM >= 170000
	return ProcNumberGetProc(vxid.procNumber);
#else
	return BackendIdGetProc(vxid.backendId);
#endif
}

#endif							/* KV_BASE_COMPAT_H */
