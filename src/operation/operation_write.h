/*
 * operation_write.h
 *	  The one write path, private to the room: put, update, delete and
 *	  transactions fill a KvWrite and hand it over.
 */
#ifndef KV_OPERATION_OPERATION_WRITE_H
#define KV_OPERATION_OPERATION_WRITE_H

#include "expression/expression.h"
#include "operation/operation.h"
#include "store/store.h"

typedef enum KvWriteVerb
{
	KV_VERB_PUT,
	KV_VERB_UPDATE,
	KV_VERB_DELETE,
	KV_VERB_CHECK				/* of a transaction: nothing but the condition */
} KvWriteVerb;

typedef enum KvReturnValues
{
	KV_RETURN_NONE,
	KV_RETURN_ALL_OLD,
	KV_RETURN_UPDATED_OLD,
	KV_RETURN_ALL_NEW,
	KV_RETURN_UPDATED_NEW
} KvReturnValues;

typedef enum KvWriteOutcome
{
	KV_OUTCOME_DONE,			/* written, or nothing needed to be */
	KV_OUTCOME_SUPPRESSED,		/* a BEFORE trigger said no */
	KV_OUTCOME_CONDITION_FAILED
} KvWriteOutcome;

/* The row to be written, see below. */
typedef struct KvTarget KvTarget;

/* One write to one key. */
typedef struct KvWrite
{
	/* what is asked */
	KvWriteVerb verb;
	KvTable    *table;
	bool		through_policy; /* row security applies to the current user */
	Datum		key[KV_MAX_KEYS];
	KvItemView	item;			/* put: the new item */
	const KvUpdate *update;		/* update; NULL: no expression */
	bool		removal_needs_item; /* it creates no item if it only takes away */
	const KvCondition *condition;	/* NULL: none */
	KvReturnValues return_values;
	bool		return_on_failure;
	KvCapacity *capacity;		/* NULL: not wanted; else what the write consumes is added */

	/* the answer, in the memory context of kv_write_execute */
	KvWriteOutcome outcome;
	Jsonb	   *returned;		/* what return_values or return_on_failure asked for; NULL: nothing */
} KvWrite;

/* --- operation_write.c --- */

/* Raises SQL's own error where it would refuse to write to the table; function is what the message calls the caller. */
extern void kv_write_check_allowed(const char *function, Oid relid);

/*
 * Starts a write to an open table: empty but for verb and table, with the
 * rights of the current user checked.  learns: a condition or a returned item
 * may tell something of the old item.
 */
extern void kv_write_start(KvWrite *write, KvWriteVerb verb, KvTable *table, bool learns);

/* Reads return_values_on_failure, which the request calls by name: whether the item is wanted. */
extern bool kv_write_read_return_on_failure(const char *name, const text *argument);

/* Opens the table of a single write and starts it. */
extern void kv_write_open(KvWrite *write, KvWriteVerb verb, const KvWriteRequest *request);

/* Binds the expressions of the request. */
extern void kv_write_bind(KvWrite *write, const KvWriteRequest *request);

/*
 * Fills the item that a put or update makes of the old one, which may be NULL.
 * False: the write leaves what is there as it is.
 */
extern bool kv_write_make_item(const KvWrite *write, const KvItemView *old, KvItemView *new);

/* Finds the row, judges the condition and writes; the target is open in the leaf of the key. */
extern void kv_write_execute(KvWrite *write, KvTarget *target);

/* The same, alone. */
extern void kv_write_execute_single(KvWrite *write);

/* Turns the outcome of a single write into what its function returns, or raises KV001. */
extern Jsonb *kv_write_answer(const KvWrite *write, const KvWriteRequest *request);

/* --- operation_target.c: the row to be written, whichever way it is reached --- */

/*
 * A target is a store writer, or SQL where a policy applies to the current
 * user.  Its functions mean what those of KvWriter mean (store.h).  A key
 * must stay where it is as long as its row is worked on.
 */
extern KvTarget *kv_target_open(KvTable *table, int leaf, bool through_policy);
extern void kv_target_close(KvTarget *target);
extern bool kv_target_find(KvTarget *target, const Datum *key, KvItemView *view);
extern ItemPointerData kv_target_place(const KvTarget *target);

/* True: the row at the place, or the key's absence if the place is invalid, is as it was; false: find it. */
extern bool kv_target_find_again(KvTarget *target, const Datum *key, ItemPointerData place);
extern bool kv_target_settled(KvTarget *target, KvRowChange change);
extern bool kv_target_lock(KvTarget *target, KvRowChange change);
extern KvWriteResult kv_target_insert(KvTarget *target, const KvItemView *item, KvItemView *written);
extern KvWriteResult kv_target_reserve(KvTarget *target);
extern KvWriteResult kv_target_replace(KvTarget *target, Jsonb *rest, KvItemView *written);
extern KvWriteResult kv_target_remove(KvTarget *target);

/* --- operation_policy_write.c: the same, through SQL --- */

typedef struct KvPolicyWriter KvPolicyWriter;

extern KvPolicyWriter *kv_policy_writer_open(KvTable *table);
extern bool kv_policy_writer_find(KvPolicyWriter *writer, const Datum *key, KvItemView *view);
extern bool kv_policy_writer_keep(KvPolicyWriter *writer);
extern KvWriteResult kv_policy_writer_insert(KvPolicyWriter *writer, const KvItemView *item, KvItemView *written);
extern KvWriteResult kv_policy_writer_replace(KvPolicyWriter *writer, Jsonb *rest, KvItemView *written);
extern KvWriteResult kv_policy_writer_remove(KvPolicyWriter *writer);

#endif							/* KV_OPERATION_OPERATION_WRITE_H */
