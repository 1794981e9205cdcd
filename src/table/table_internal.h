/*
 * table_internal.h
 *	  What the files of the room table share among themselves.
 */
#ifndef KV_TABLE_TABLE_INTERNAL_H
#define KV_TABLE_TABLE_INTERNAL_H

#include "fmgr.h"
#include "lib/ilist.h"
#include "nodes/primnodes.h"

#include "base/compat.h"
#include "table/table.h"

/* Name of the column that holds all attributes but the keys. */
#define KV_ITEM_COLUMN "item"

/* Name of the access method that the leaves use. */
#define KV_ACCESS_METHOD "key_value"

#define KV_MIN_PARTITIONS 1
#define KV_MAX_PARTITIONS 1024

/* A leaf as the cache keeps it: filled at first use, replaced when the leaf's definition changes. */
typedef struct KvCachedLeaf
{
	KvLeaf		leaf;			/* first, so that a KvLeaf pointer is one to this */
	slist_node	stale_node;		/* in the list of what to free, once replaced */
} KvCachedLeaf;

/* What one role is known to hold on a table. */
typedef struct KvKnownRights
{
	Oid			role;
	AclMode		granted;		/* a bit not set means: not asked yet, or denied */
} KvKnownRights;

#define KV_KNOWN_ROLES 4

/* The descriptor's part that only this room sees; lives in the descriptor's own context. */
typedef struct KvTablePrivate
{
	MemoryContext context;		/* holds the descriptor and all that hangs on it */
	slist_node	stale_node;		/* in the list of what to free, once invalidated */
	bool		retired;		/* it is in that list: out of date, but somebody may still read it */
	char		relkind;
	bool		row_security;	/* the table has row security enabled; for whom is asked each time */
	bool		snapshot_bound; /* a partition is being detached: the truth depends on the snapshot */
	int			modulus;		/* length of leaf_by_remainder */
	int		   *leaf_by_remainder;	/* leaf index by remainder of the hash, -1 where no partition is */
	KvCachedLeaf **leaf;		/* by leaf index; NULL: not looked at yet */
	uint64		rights_generation;	/* of rights[] */
	int			next_rights;	/* next entry of rights[] to overwrite */
	KvKnownRights rights[KV_KNOWN_ROLES];
} KvTablePrivate;

/* --- table_hash.c --- */

extern Datum kv_table_xxh3_text(PG_FUNCTION_ARGS);
extern Datum kv_table_xxh3_text_extended(PG_FUNCTION_ARGS);
extern Datum kv_table_xxh3_numeric(PG_FUNCTION_ARGS);
extern Datum kv_table_xxh3_numeric_extended(PG_FUNCTION_ARGS);
extern Datum kv_table_xxh3_bytea(PG_FUNCTION_ARGS);
extern Datum kv_table_xxh3_bytea_extended(PG_FUNCTION_ARGS);

extern bool kv_table_is_our_hash(const FmgrInfo *function);
extern uint64 kv_table_hash(KvKeyType type, Datum partition_key);

/* --- table_cache.c --- */

/* Notes that the descriptor of relid, being built, says something of two other relations: a change of them empties it. */
extern void kv_table_note_dependency(Oid relid, Oid first, Oid second);

pg_noreturn extern void kv_table_refuse(Oid relid, const KvTable *table);

/* --- table_build.c --- */

/* Marks the descriptor unusable and keeps the reason, a whole sentence; the first reason stays. */
extern void kv_table_mark_unusable(KvTable *table, const char *format,...) pg_attribute_printf(2, 3);

extern bool kv_table_is_candidate(Relation relation);
extern KvTable *kv_table_build(Relation relation);
extern bool kv_table_partitions_match(const KvTable *table);
extern KvCachedLeaf *kv_table_build_leaf(const KvTable *table, Oid leaf_relid);

/* --- table_index.c, table_local.c --- */

extern Datum kv_table_index_trigger(PG_FUNCTION_ARGS);
extern bool kv_table_is_index(Relation relation);
extern void kv_table_read_index(KvTable *table, Relation relation);
extern void kv_table_find_global_indexes(KvTable *table);
extern void kv_table_find_local_indexes(KvTable *table, Relation relation);

/* --- table_name.c --- */

extern RangeVar *kv_table_parse_name(text *name);

/* Fills the name of a key attribute from the column that it is in; the relation may be a partition of the table. */
extern void kv_table_read_attribute_name(Relation relation, AttrNumber attno, KvKeyAttribute *attribute);

#endif							/* KV_TABLE_TABLE_INTERNAL_H */
