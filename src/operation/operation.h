/*
 * operation.h
 *	  The item operations: one verb each, called by api with plain C arguments.
 *
 * Every operation opens the table (KV005), checks the rights of the current
 * user with SQL's own errors, and honours row security: where a policy
 * applies to the current user the rows come through SQL.
 *
 * Reads use the active snapshot and lock table and leaves in ACCESS SHARE
 * mode to the end of the transaction.  Results live in CurrentMemoryContext.
 * Optional arguments are NULL pointers where they are absent; errors in
 * arguments are ERRCODE_KV_VALIDATION.
 */
#ifndef KV_OPERATION_OPERATION_H
#define KV_OPERATION_OPERATION_H

#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "table/table.h"

/* --- operation_capacity.c: what operations consume, counted and not charged --- */

/*
 * Capacity units of one table and its indexes, in halves: an eventually
 * consistent read costs half a unit.  Starts all zero.
 */
typedef struct KvCapacity
{
	int64		table;
	int			index_count;
	struct
	{
		Oid			relid;
		bool		local;
		int64		halves;
	}			index[KV_MAX_GLOBAL_INDEXES + KV_MAX_LOCAL_INDEXES];
} KvCapacity;

extern Numeric kv_capacity_units(int64 halves);
extern int64 kv_capacity_total(const KvCapacity *capacity);

/* --- operation_get.c: point reads --- */

/* Returns the item with that key, or NULL; keys are read as kv_key_from_text does. */
extern Jsonb *kv_operation_get(Oid table, text *partition_key, text *sort_key);

typedef struct KvGetItemRequest
{
	Oid			table;
	Jsonb	   *key;
	text	   *projection;		/* NULL: the whole item */
	Jsonb	   *attribute_names;
	bool		consistent_read;	/* both kinds read the active snapshot; consumed capacity differs */
	KvCapacity *capacity;		/* NULL: not wanted */
} KvGetItemRequest;

/* Returns the item, or the projected part of it; NULL if there is none. */
extern Jsonb *kv_operation_get_item(const KvGetItemRequest *request);

/* --- operation_read.c: query and scan --- */

#define KV_MAX_PAGE_BYTES		(1024 * 1024)	/* read for one page, by kv_item_size */
#define KV_MAX_TOTAL_SEGMENTS	1000000

/* What query, query_page, scan and scan_page are asked. */
typedef struct KvReadRequest
{
	Oid			table;
	text	   *key_condition;	/* NULL: a scan */
	Jsonb	   *attribute_values;
	Jsonb	   *attribute_names;
	text	   *index;
	text	   *index_alias;	/* what messages call the index; NULL: by its name */
	text	   *filter;
	text	   *projection;
	bool		scan_forward;
	int32	   *max_items;		/* bounds the items returned */
	Jsonb	   *exclusive_start_key;
	bool		consistent_read;
	int32	   *page_size;		/* bounds the items read */
	bool		count_only;		/* of a page: count the items, return none (Select COUNT) */
	int32	   *segment;		/* of a scan; both or none */
	int32	   *total_segments;
	bool		all_attributes; /* without a projection: of an index, too, all that the table has; KV007 if a global one has less */
} KvReadRequest;

/* A query or scan under way. */
typedef struct KvRead KvRead;

/*
 * Starts a query or scan.  Its state lives in CurrentMemoryContext, its pins,
 * relations and snapshot in CurrentResourceOwner until kv_read_end.
 */
extern KvRead *kv_read_begin(const KvReadRequest *request);

/* Returns the next item that passes the filter, projected, in CurrentMemoryContext; NULL at the end. */
extern Jsonb *kv_read_next(KvRead *read);

/* Releases what the read holds; its memory goes with its context. */
extern void kv_read_end(KvRead *read);

/* --- operation_page.c --- */

typedef struct KvPage
{
	Jsonb	   *items;			/* an array; NULL with count_only */
	int32		count;			/* items that pass the filter */
	int32		scanned_count;	/* items read, before the filter */
	Jsonb	   *last_evaluated_key; /* NULL: the end was seen */
	KvCapacity	capacity;		/* read units */
} KvPage;

/*
 * Reads one page: at most page_size items and KV_MAX_PAGE_BYTES read; the item
 * that passes the limit is included.  Error KV007 for count_only with a
 * projection.
 */
extern void kv_operation_page(const KvReadRequest *request, KvPage *page);

/* Raises an error unless max_items, page_size, segment and total_segments are absent or in range; reads do it themselves. */
extern void kv_operation_check_limits(const KvReadRequest *request);

/* --- operation_put.c, operation_update.c, operation_delete.c: writes of one item --- */

/*
 * What put_item, update_item and delete_item are asked.
 *
 * Writes lock the table and the leaf in ROW EXCLUSIVE mode, the row as SQL
 * would, all to the end of the transaction.  A condition is judged on the
 * newest version of the row, with the row locked or free of other writers.
 */
typedef struct KvWriteRequest
{
	Oid			table;
	Jsonb	   *item;			/* put: the whole item */
	Jsonb	   *key;			/* update, delete */
	text	   *update;			/* update; NULL: create the item if it is not there */
	bool		removal_needs_item; /* update that only takes away: leave an absent item absent, as AttributeUpdates does */
	text	   *condition;
	Jsonb	   *attribute_values;
	Jsonb	   *attribute_names;
	text	   *return_values;	/* NULL: NONE */
	text	   *return_values_on_failure;	/* NULL: NONE */
	text	   *on_condition_failure;	/* NULL: raise */
	KvCapacity *capacity;		/* what the write consumes is added here; NULL: not wanted */
} KvWriteRequest;

/*
 * Each returns what return_values asks for, NULL if there is nothing; a
 * condition that does not hold is KV001, with the item as JSON in DETAIL if
 * return_values_on_failure is ALL_OLD.
 *
 * With on_condition_failure 'return' the answer is always an object:
 * {"applied": true} and, where return_values asks for something, "attributes";
 * {"applied": false} and, where return_values_on_failure asks for it, "item".
 * A write that a BEFORE trigger suppressed is not applied either and carries
 * "suppressed": true.
 */
extern Jsonb *kv_operation_put(const KvWriteRequest *request);
extern Jsonb *kv_operation_update(const KvWriteRequest *request);
extern Jsonb *kv_operation_delete(const KvWriteRequest *request);

/* --- operation_batch_write.c, operation_batch_get.c: many items, each for itself --- */

#define KV_MAX_BATCH_WRITES		25
#define KV_MAX_BATCH_GETS		100
#define KV_MAX_BATCH_GET_BYTES	(16 * 1024 * 1024)	/* of the items read, by kv_item_size */

/* What an operation on many items consumed of a table that its request names. */
typedef struct KvConsumed
{
	const char *name;			/* as in the request */
	Oid			table;
	KvCapacity	capacity;
} KvConsumed;

/* Who calls an operation on many items in another way than SQL's functions. */
typedef struct KvCaller
{
	/* finds a table by the name that a request gives it; KV005, or InvalidOid, if there is none */
	Oid			(*find_table) (const char *name, bool missing_ok);
	/* makes an item, key or values of the request plain */
	Jsonb	   *(*plain) (JsonbContainer *part);
	bool		measured;		/* consumed is wanted */
	List	   *consumed;		/* set to a list of KvConsumed, in order of appearance */
	bool		replayed;		/* set if the token of a transaction was used for it before: nothing was written */
} KvCaller;

typedef enum KvMemberKind
{
	KV_MEMBER_STRING,
	KV_MEMBER_BOOLEAN,
	KV_MEMBER_OBJECT,
	KV_MEMBER_ARRAY,
	KV_MEMBER_NONE				/* a string that must be NONE: the rest is for kv.dynamodb */
} KvMemberKind;

/* A member that an object of a request may have. */
typedef struct KvMember
{
	const char *name;
	KvMemberKind kind;
	bool		required;
} KvMember;

/* A verb of a batch or transaction, such as PutRequest or Update, and the members of the object that it is given. */
#define KV_MAX_VERB_MEMBERS		8
typedef struct KvVerb
{
	const char *name;
	const KvMember *members;
	int			count;
} KvVerb;

/* Finds a verb; NULL if none has this name. */
extern const KvVerb *kv_operation_verb(const char *name, int length);

/*
 * The request and the answer have the shapes of DynamoDB's API, with plain
 * JSON items.  Where caller is NULL, tables are named as regclass reads them,
 * and nothing is measured; the request may have RequestItems or TransactItems
 * around it.  A caller's is what is inside of that, its items as plain makes
 * them.
 *
 * A request is read and checked as a whole before the first item is touched:
 * its shape, then limits, expressions, tables, and items last.
 */
extern Jsonb *kv_operation_batch_write(JsonbContainer *request, KvCaller *caller);
extern Jsonb *kv_operation_batch_get(JsonbContainer *request, KvCaller *caller);

/* --- operation_transact_write.c, operation_transact_get.c: many items, all or none --- */

#define KV_MAX_TRANSACT_ACTIONS	100
#define KV_MAX_TRANSACT_BYTES	(4 * 1024 * 1024)	/* of the items written or read, by kv_item_size */

/*
 * Writes and checks items as one: if a condition does not hold, nothing is
 * written and the error is KV002, whose DETAIL is a JSON array of reasons in
 * the order of the actions.  Standing in the way of other transactions is
 * KV003, with such an array as well.  With a token that has been used for the same request in the last
 * ten minutes nothing happens; for another request it is KV004.
 *
 * Such transactions are serializable among themselves and cannot deadlock.
 */
extern Jsonb *kv_operation_transact_write(JsonbContainer *request, text *token, KvCaller *caller);

/* Reads items of one moment. */
extern Jsonb *kv_operation_transact_get(JsonbContainer *request, KvCaller *caller);

/* --- operation_compact.c --- */

/* What was done; of the partitions that were looked at. */
typedef struct KvCompactResult
{
	int64		collections;
	int64		moved_collections;
	int64		moved_items;
	int64		pages_before;
	int64		pages_after;
} KvCompactResult;

/*
 * Moves the items of scattered collections of a table, or of a global index's
 * table, together, until max_pages (0: no limit) pages full of items were
 * moved.  Commits, many times: the caller has an SPI connection that may.
 * Table owners and superusers only.
 */
extern void kv_operation_compact(Oid relid, int64 max_pages, KvCompactResult *result);

#endif							/* KV_OPERATION_OPERATION_H */
