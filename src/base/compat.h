/*
 * compat.h
 *	  The one place that looks at PG_VERSION_NUM.
 *
 * The code is written against the newest API; each wrapper here names what
 * changed in which version and when it can go.
 */
#ifndef KV_BASE_COMPAT_H
#define KV_BASE_COMPAT_H

#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#if PG_VERSION_NUM < 150000
#error "key_value needs PostgreSQL 15 or newer"
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
#else
#define kv_compat_owns_relation(relid, role) object_ownercheck(RelationRelationId, relid, role)
#define kv_compat_owns_schema(nspid, role) object_ownercheck(NamespaceRelationId, nspid, role)
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

/* 16: relation files are named by a locator.  Can go with 15. */
#if PG_VERSION_NUM < 160000
#define kv_compat_file_number(relation) ((relation)->rd_node.relNode)
#else
#define kv_compat_file_number(relation) ((relation)->rd_locator.relNumber)
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

/* 18: disabled nodes are counted instead of made expensive. Can go with 17. */
#if PG_VERSION_NUM < 180000
#define kv_compat_disable_path(path) ((void) 0)
#else
#define kv_compat_disable_path(path) ((path)->disabled_nodes = 1000)
#endif

#endif							/* KV_BASE_COMPAT_H */
