/*
 * operation_request.h
 *	  Reading requests in DynamoDB's shapes, and working on their keys in
 *	  order: private to the room.
 *
 * Names are those of DynamoDB's API reference.  A member that is null counts
 * as not given; one that the API does not know is refused by name.
 */
#ifndef KV_OPERATION_OPERATION_REQUEST_H
#define KV_OPERATION_OPERATION_REQUEST_H

#include "operation/operation.h"
#include "store/store.h"

/* --- operation_request.c --- */

/* What verbs are given; by KvWriteVerb where there are many. */
extern const KvVerb kv_batch_verbs[];	/* operation_batch_write.c: KV_VERB_PUT and KV_VERB_DELETE */
extern const KvVerb kv_transact_verbs[];	/* operation_transact_request.c */
extern const KvVerb kv_transact_get_verb;	/* operation_transact_get.c */

/* Its value; all zero: not given. */
typedef struct KvMemberValue
{
	text	   *string;
	bool		boolean;
	JsonbContainer *container;	/* of an object or array, inside the request */
	int			length;			/* of the container */
} KvMemberValue;

/* Reads the members of an object, in the order of the table; what names the object in messages. */
extern void kv_request_read(JsonbContainer *object, const char *what,
							const KvMember *members, int count, KvMemberValue *values);

/* Returns a copy of an object that was read; NULL if it was not given. */
extern Jsonb *kv_request_copy(const KvMemberValue *object);

/* The same of an item, key or values, as the caller, if there is one, makes them plain. */
extern Jsonb *kv_request_plain(const KvCaller *caller, const KvMemberValue *object);

/*
 * Returns the tables of a batch: the request itself, an object of tables, or,
 * without a caller, that which is wrapped as in the API; its members are
 * described, that of the tables first.  More tables than limit, which may have
 * nothing in them, are an error.
 */
extern JsonbContainer *kv_request_unwrap(JsonbContainer *request, const KvCaller *caller,
										 const KvMember *members, int count, int limit);

/* Raises an error unless a request holds at least one and at most limit of something. */
extern void kv_request_check_count(const char *what, int count, int limit);

/* Raises an error if the request of a caller, if there is one, holds none of something for a table that it names; SQL's may. */
extern void kv_request_check_some(const KvCaller *caller, const char *what, const JsonbValue *table,
								  JsonbContainer *array, int limit);

/* A walk over the members of an object or the elements of an array. */
typedef struct KvRequestWalk
{
	JsonbIterator *iterator;
	JsonbValue	name;			/* of an object's member */
	JsonbValue	value;
} KvRequestWalk;

extern void kv_request_walk_start(KvRequestWalk *walk, JsonbContainer *container);
extern bool kv_request_walk_next(KvRequestWalk *walk);

/* Returns the container of a value, or NULL if it is no object (array: no array). */
extern JsonbContainer *kv_request_object(const JsonbValue *value);
extern JsonbContainer *kv_request_array(const JsonbValue *value);

/* Tables of one request, each looked up once by its name. */
typedef struct KvRequestTables
{
	LOCKMODE	lockmode;
	const char *function;		/* writes: the caller, for messages; NULL: reads */
	KvCaller   *caller;			/* NULL: names are read as regclass reads them */
	List	   *opened;
} KvRequestTables;

/*
 * Looks for the table that a name means.  False: it is not there, and
 * kv_request_table will say so; before that the expressions of the request
 * are to be checked.
 */
extern bool kv_request_find_table(KvRequestTables *tables, const char *name, int length);

/* Returns the table that the name means, opened as kv_table_open does. */
extern KvTable *kv_request_table(KvRequestTables *tables, const char *name, int length);

/* Returns where to count what is consumed of a table that was opened; NULL: it is not wanted. */
extern KvCapacity *kv_request_capacity(const KvRequestTables *tables, const KvTable *table);

/* Gives the caller, if there is one, what was counted. */
extern void kv_request_give_capacity(const KvRequestTables *tables);

/* An error in one part of a request says in its context which one. */
typedef struct KvRequestContext
{
	ErrorContextCallback callback;
	const char *what;			/* "action" */
	int			number;			/* from 1; 0: none as yet */
	const char *verb;			/* NULL: not known as yet */
} KvRequestContext;

extern void kv_request_context_push(KvRequestContext *context, const char *what);
extern void kv_request_context_pop(KvRequestContext *context);

/* --- operation_keys.c --- */

/* The key of one part of a request, and the leaf that it lies in. */
typedef struct KvRequestKey
{
	KvTable    *table;
	int			leaf;
	Datum		key[KV_MAX_KEYS];
	int			number;			/* of the part, from 0 */
	const char *verb;			/* of the part, for messages; NULL: there is only one */
	uint64		hash;			/* that stands for the key in the lock table; filled by kv_request_lock */
	bool		skipped;		/* the lock was not taken: the row is this transaction's; set by kv_request_lock */
	bool		shared;			/* the lock is for looking only */
	bool		keep;			/* the lock stays to the end of the transaction in any case */
} KvRequestKey;

/* Tells whether two keys lie in one leaf. */
static inline bool
kv_request_same_leaf(const KvRequestKey *a, const KvRequestKey *b)
{
	return a->table == b->table && a->leaf == b->leaf;
}

/*
 * Puts keys into the one order in which rows are locked: by table, leaf and
 * key.  Two equal ones are an error; what names the parts in messages.
 */
extern void kv_request_sort(KvRequestKey *keys, int count, const char *what);

/*
 * Takes one item that was read; view is NULL if there is none and good for
 * this call only.  False: read no more.
 */
typedef bool (*KvTakeItem) (void *argument, int number, const KvItemView *view);

/* Reads the items of sorted keys with the active snapshot, leaf by leaf. */
extern void kv_request_read_items(const KvRequestKey *keys, int count, KvTakeItem take, void *argument);

/* --- operation_lock.c --- */

/* What the locks of this room are for: the fourth field of an advisory lock, where SQL's functions have 1 and 2. */
#define KV_LOCK_KEY		0x6B76	/* a key of a table */
#define KV_LOCK_TOKEN	0x6B77	/* a client request token */

/*
 * Locks keys, whether their rows are there or not, in one order; what names
 * the parts in messages, current, if not NULL, is set to the number of that
 * which is being locked.  An error releases the locks with all others of the
 * subtransaction.
 */
extern void kv_request_lock(KvRequestKey *keys, int count, const char *what, int *current);

/* Releases the locks that rows and index entries have taken over from, unless the transaction may keep them. */
extern void kv_request_unlock(const KvRequestKey *keys, int count);

#endif							/* KV_OPERATION_OPERATION_REQUEST_H */
