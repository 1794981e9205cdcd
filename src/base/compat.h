/*
 * compat.h
 *	  The one place that looks at PG_VERSION_NUM.
 *
 * The code is written against the newest API; each wrapper here names what
 * changed in which version and when it can go.
 */
#ifndef KV_BASE_COMPAT_H
#define KV_BASE_COMPAT_H

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

#endif							/* KV_BASE_COMPAT_H */
