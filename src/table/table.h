/*
 * table.h
 *	  What a key-value table is: its descriptor, routing and definition.
 *
 * A relation is a key-value table when it is
 *	- partitioned by hash over one column with an operator class of one of
 *	  our xxh3 families, or
 *	- an ordinary table USING key_value that is not a partition,
 * and has the shape: primary key over (partition key [, sort key]), each NOT
 * NULL text COLLATE "C", numeric or bytea, and a column item jsonb NOT NULL.
 * A relation that carries our access method or operator class but lacks the
 * shape is guarded (see scan.h) and refused by the item functions.
 *
 * Descriptors are cached per session and dropped by relcache invalidation.
 * A descriptor stays readable until the end of the top-level transaction in
 * which it was handed out, even if it went stale meanwhile; nobody frees one.
 */
#ifndef KV_TABLE_TABLE_H
#define KV_TABLE_TABLE_H

#include "access/attnum.h"
#include "nodes/parsenodes.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "item/item.h"

/* One leaf: where an item lives. */
typedef struct KvLeaf
{
	Oid			relid;
	Oid			primary_index;	/* the btree over the key columns */
	AttrNumber	key_attno[KV_MAX_KEYS]; /* of the leaf, which may differ from the root's */
	AttrNumber	item_attno;

	/*
	 * The leaf has no constraints but those that kv.create_table makes: key
	 * and item columns NOT NULL, and kv.check_item(); nor has it generated
	 * columns.  A writer that checked the item itself need not ask them.
	 */
	bool		only_own_constraints;
} KvLeaf;

/* One key-value table. */
typedef struct KvTable
{
	Oid			relid;
	bool		partitioned;	/* false: the relation is its own only leaf */
	bool		is_leaf;		/* the relation is a partition of another table */
	bool		usable;			/* has the shape of a key-value table */
	const char *unusable_reason;	/* a whole sentence for DETAIL where !usable */
	KvKeySchema key;
	AttrNumber	key_attno[KV_MAX_KEYS];
	AttrNumber	item_attno;
	int			leaf_count;
	Oid		   *leaf_relid;		/* in bound order, leaf_count of them */
	/* private to the room */
	struct KvTablePrivate *private_data;
} KvTable;

/* --- table_cache.c --- */

/*
 * Locks the relation and returns its descriptor.  Errors: KV005 if it does
 * not exist (any more), is no usable key-value table, or is a leaf of one.
 * The lock is kept to the end of the transaction, as SQL does.
 */
extern KvTable *kv_table_open(Oid relid, LOCKMODE lockmode);

/* Returns the descriptor of a relation already locked, usable or not; NULL if nothing about it is ours. */
extern KvTable *kv_table_lookup(Oid relid);

/* Returns the leaf for a partition key value: an index into leaf_relid.  Error KV007 if no partition takes it. */
extern int	kv_table_route(KvTable *table, Datum partition_key);

/* The same, but returns -1 if no partition takes it: then no such item exists. */
extern int	kv_table_find_leaf(const KvTable *table, Datum partition_key);

/* Returns what is known of a leaf.  The leaf must be locked (or be about to be locked by the caller, who then calls again). */
extern const KvLeaf *kv_table_leaf(KvTable *table, int leaf);

/* --- table_rights.c --- */

/*
 * Raises SQL's own permission error unless the current user holds all of mode
 * on the table, or on its columns: SELECT and INSERT on all key columns and
 * the item column, UPDATE on the item column.
 */
extern void kv_table_check_rights(const KvTable *table, AclMode mode);

/* Tells whether a row security policy applies to the current user. */
extern bool kv_table_has_row_security(const KvTable *table);

/* --- table_check.c: the CHECK constraint of every table --- */

#define KV_CHECK_FIRST_KEY	2	/* kv.check_item(tableoid, item, partition key [, sort key]) */

/* What one call of kv.check_item in a constraint knows; kept as long as the expression. */
typedef struct KvItemCheck
{
	Oid			relid;			/* the relation whose names key has */
	KvKeySchema key;
	AttrNumber	attno[KV_MAX_KEYS];
} KvItemCheck;

/* Reads from the call's expression which columns are the keys; an error if it is not a call with columns. */
extern void kv_table_check_prepare(KvItemCheck *check, Node *call);

/* Raises KV007 unless the row may be in a key-value table; key and rest detoasted. */
extern void kv_table_check_row(KvItemCheck *check, Oid relid, const Datum *key, Jsonb *rest);

/* --- table_create.c, table_describe.c --- */

typedef struct KvCreateTable
{
	text	   *table_name;
	text	   *partition_key;
	text	   *sort_key;		/* NULL: none */
	text	   *partition_key_type;
	text	   *sort_key_type;
	int32		partitions;
} KvCreateTable;

extern Oid	kv_table_create(const KvCreateTable *request);
extern void kv_table_drop(Oid relid);
extern Jsonb *kv_table_describe(Oid relid);

#endif							/* KV_TABLE_TABLE_H */
