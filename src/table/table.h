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
 * A global index is a key-value table as well, whose primary key has the key
 * columns of its base table behind its own, and which a trigger made by
 * kv.create_global_index ties to that table.  Its definition is all in that
 * trigger (table_index.c).  A local index is a btree on each leaf.
 *
 * Descriptors are cached per session and dropped by relcache invalidation.
 * A descriptor stays readable until the end of the top-level transaction in
 * which it was handed out, even if it went stale meanwhile; nobody frees one.
 */
#ifndef KV_TABLE_TABLE_H
#define KV_TABLE_TABLE_H

#include "access/transam.h"
#include "access/attnum.h"
#include "nodes/parsenodes.h"
#include "storage/lockdefs.h"
#include "utils/reltrigger.h"
#include "utils/relcache.h"

#include "item/item.h"

#define KV_MAX_GLOBAL_INDEXES	20
#define KV_MAX_LOCAL_INDEXES	5

/* What an index holds of an item, as DynamoDB's ProjectionType. */
typedef enum KvProjectionType
{
	KV_PROJECT_ALL,
	KV_PROJECT_KEYS_ONLY,
	KV_PROJECT_INCLUDE
} KvProjectionType;

/* How far an index is: the names are DynamoDB's IndexStatus, BACKFILLING its Backfilling. */
typedef enum KvIndexState
{
	KV_INDEX_CREATING,			/* nothing is known of it: made, restored or in doubt, and to be filled from the start */
	KV_INDEX_BACKFILLING,
	KV_INDEX_ACTIVE
} KvIndexState;

#define KV_NOT_BASE_KEY (-1)

/* The definition of an index.  Lives with the descriptor that it hangs on. */
typedef struct KvIndex
{
	Oid			relid;			/* global: the index's own table; local: the btree on the base table */
	Oid			base_relid;
	KvKeySchema key;			/* the index key, and what follows of the base table's */
	int8		base_key[KV_MAX_KEYS];	/* by key column: which base key it is; KV_NOT_BASE_KEY: another attribute */
	KvProjectionType projection;
	int			include_count;
	char	  **include_name;	/* KV_PROJECT_INCLUDE: attributes beside the keys */

	/* global only */
	Oid			trigger_function;	/* of the triggers that define and guard it */
	bool		foreign_owner;	/* not that of the base table */
	bool		unlogged;		/* a crash would empty it, or its base table, in part */
	KvIndexState state;
	bool		outdated;		/* it was filled by another definition */
	uint64		fingerprint;	/* of all that its content depends on but the items */
	FullTransactionId filled;	/* the transaction that it is filled since; invalid: it is long done */
	const char *not_ready;		/* a whole sentence; NULL: it can be read */
} KvIndex;

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
	Oid			local_index[KV_MAX_LOCAL_INDEXES];	/* btrees, by position in the table's local */
} KvLeaf;

/* One key-value table. */
typedef struct KvTable
{
	Oid			relid;
	bool		partitioned;	/* false: the relation is its own only leaf */
	bool		is_leaf;		/* the relation is a partition of another table .. */
	Oid			root_relid;		/* .. which is this one */
	bool		usable;			/* has the shape of a key-value table */
	const char *unusable_reason;	/* a whole sentence for DETAIL where !usable */
	KvKeySchema key;
	AttrNumber	key_attno[KV_MAX_KEYS];
	AttrNumber	item_attno;
	int			leaf_count;
	Oid		   *leaf_relid;		/* in bound order, leaf_count of them */
	const KvIndex *index;		/* not NULL: a global index, or a leaf of one */
	bool		captured;		/* the trigger that captures changes for global indexes is there and enabled */
	Oid			capture_function;	/* its function */
	int			global_count;	/* global indexes of this table, as far as they are defined */
	Oid		   *global_relid;
	int			local_count;
	KvIndex    *local;
	/* private to the room */
	struct KvTablePrivate *private_data;
} KvTable;

/* --- table_cache.c --- */

/*
 * Locks the relation and returns its descriptor.  Errors: KV005 if it does
 * not exist (any more), is no usable key-value table, or is an index or a
 * leaf of one.  The lock is kept to the end of the transaction, as SQL does.
 */
extern KvTable *kv_table_open(Oid relid, LOCKMODE lockmode);

/* The same for the table of a global index: error KV005 if it is none. */
extern KvTable *kv_table_open_index(Oid relid, LOCKMODE lockmode);

/* Returns the descriptor of a relation already locked, usable or not; NULL if nothing about it is ours. */
extern KvTable *kv_table_lookup(Oid relid);

/* Returns the leaf for a partition key value: an index into leaf_relid.  Error KV007 if no partition takes it. */
extern int	kv_table_route(KvTable *table, Datum partition_key);

/* The same, but returns -1 if no partition takes it: then no such item exists. */
extern int	kv_table_find_leaf(const KvTable *table, Datum partition_key);

/* Raises KV005 if a leaf was dropped since the descriptor was handed out, which only the own transaction can do beside our locks. */
extern void kv_table_check_leaf(const KvTable *table, int leaf);

/* Returns what is known of a leaf.  The leaf must be locked (or be about to be locked by the caller, who then calls again). */
extern const KvLeaf *kv_table_leaf(KvTable *table, int leaf);

/* --- table_index.c: global indexes --- */

/*
 * Finds an index of the table by name.  Returns its definition if it is a
 * local one; else NULL, and the OID in *global.  Error KV005 if there is none.
 */
extern const KvIndex *kv_table_find_index(const KvTable *table, text *name, Oid *global);

/* Tells whether two keys of one item in an index are the same: what they have of its own key is. */
extern bool kv_table_same_index_key(const KvIndex *index, const Datum *a, const Datum *b);

/* Returns "ALL", "KEYS_ONLY" or "INCLUDE". */
extern const char *kv_table_projection_name(KvProjectionType projection);

/* Raises KV012 unless the index can be read. */
extern void kv_table_check_ready(const KvTable *index);

/* Raises an error unless the role may read items of the base table, so those of its index. */
extern void kv_table_check_base_rights(const KvTable *index, Oid role);

/*
 * The index whose table the guard lets writes pass to; InvalidOid: none.  It is
 * the index room's to set, and to set back when a transaction ends.
 */
extern Oid	kv_table_written_index;

/* Tells whether a trigger's function is the one that captures changes, or that defines and guards indexes. */
extern bool kv_table_is_capture(Oid function);
extern bool kv_table_is_definition(Oid function);

/*
 * Tells whether a leaf of the table has other triggers than the definition
 * and the guard of an index, or the one that captures changes.
 */
extern bool kv_table_has_foreign_triggers(const KvTable *table, const TriggerDesc *triggers);

/* --- table_extension.c: the extension's own tables --- */

/* Returns the OID of a table of schema kv, or InvalidOid; kept for the session. */
extern Oid	kv_table_extension_relation(const char *name);

/* The same; *known, NULL at first, is for the next time that the name is asked for. */
typedef struct KvExtensionRelation KvExtensionRelation;
extern Oid	kv_table_extension_relation_again(const char *name, KvExtensionRelation **known);

/* The columns of kv.index_state. */
#define KV_STATE_INDEX			1	/* oid */
#define KV_STATE_BASE			2	/* oid */
#define KV_STATE_STATE			3	/* text */
#define KV_STATE_FINGERPRINT	4	/* int8 */
#define KV_STATE_LEAF			5	/* oid: being filled from */
#define KV_STATE_POSITION		6	/* bytea: last key filled from that leaf */
#define KV_STATE_ERROR			7	/* text */
#define KV_STATE_ERROR_AT		8	/* timestamptz */
#define KV_STATE_RETRY_AT		9	/* timestamptz */
#define KV_STATE_FILLED			10	/* xid8: the transaction that made it ACTIVE */
#define KV_STATE_COLUMNS		10

/* --- table_rights.c --- */

/*
 * Raises SQL's own permission error unless the current user holds all of mode
 * on the table, or on its columns: SELECT and INSERT on all key columns and
 * the item column, UPDATE on the item column.
 */
extern void kv_table_check_rights(const KvTable *table, AclMode mode);

/* Returns the owner of a relation; InvalidOid if there is no such relation. */
extern Oid	kv_table_owner(Oid relid);

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

/* --- table_name.c: names that PostgreSQL cannot hold --- */

/*
 * Returns a name that PostgreSQL can hold for one that it cannot: its
 * beginning, "~" and a hash.  The whole name is to be noted in the comment of
 * what is called so, where dump and restore keep it.
 */
extern char *kv_table_derive_name(const char *name);

/*
 * Lets one session at a time create a table or index of this name in a schema,
 * to the end of its transaction: of two the second learns that there is one,
 * not that some index of the catalogs has a duplicate.  Plain DDL does not wait.
 */
extern void kv_table_lock_name(Oid schema, const char *name);

/*
 * Returns the name of the column of a key attribute: that of the attribute, or
 * a derived one if it is too long, "item" or that of a system column.
 */
extern char *kv_table_column_name(const char *attribute);

/* Returns the command that notes the name of a key attribute in the comment of its column; NULL: there is no need. */
extern char *kv_table_note_attribute_command(const char *qualified_table, const char *attribute);

/* Of use for indexes too: errors name the argument, or what is named. */
extern KvKeyType kv_table_check_key_type(const char *argument, text *letter);
extern void kv_table_check_identifier(const char *what, const char *name, int length);
extern void kv_table_check_attribute_name(const char *what, const char *name, int length);
extern void kv_table_add_key_attribute(KvKeySchema *key, const char *what, text *name, KvKeyType type);

/* The SQL type of a key column with its collation, and the operator class to partition by it. */
extern const char *kv_table_key_column_type(KvKeyType type);
extern const char *kv_table_key_operator_class(KvKeyType type);

extern Oid	kv_table_create(const KvCreateTable *request);

/* Locks a table that is to be dropped, for its owner; kv_table_drop does so itself. */
extern void kv_table_lock_to_drop(Oid relid);
extern void kv_table_drop(Oid relid);
extern Jsonb *kv_table_describe(Oid relid);

#endif							/* KV_TABLE_TABLE_H */
