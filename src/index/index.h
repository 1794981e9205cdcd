/*
 * index.h
 *	  Secondary indexes: definition, capture of changes, the change log, apply
 *	  and backfill.
 *
 * What an index is, is said in table.h; reading through one is the business
 * of operation and scan.  Here is what keeps global indexes right:
 *
 *	- a trigger on the base table writes one record a change into the change
 *	  log, in the writer's transaction (index_capture.c);
 *	- a round of apply takes what became visible since the last one and makes
 *	  the indexes agree with the items as they are now (index_apply.c);
 *	- a new index, or one in doubt, is filled in chunks (index_backfill.c).
 *
 * Rounds are the worker's to run; kv.apply_changes() runs them by hand.  One
 * session at a time applies in a database, held apart by a lock.
 */
#ifndef KV_INDEX_INDEX_H
#define KV_INDEX_INDEX_H

#include "datatype/timestamp.h"
#include "utils/jsonb.h"

#include "table/table.h"

/* --- index_create.c, index_create_local.c, index_drop.c --- */

typedef struct KvCreateIndex
{
	Oid			table;
	text	   *index_name;
	text	   *partition_key;	/* global only */
	text	   *sort_key;		/* global: NULL for none */
	text	   *partition_key_type;
	text	   *sort_key_type;
	text	   *projection;		/* ALL, KEYS_ONLY or INCLUDE */
	ArrayType  *include;		/* text[], or NULL */
} KvCreateIndex;

/*
 * Raises KV007 or KV009 if an index with that key cannot have the projection,
 * whatever else is in the table: for who has more to check before he looks at
 * that.  base is the table's key, NULL if it is not known as yet.
 */
extern void kv_index_check_projection(const KvCreateIndex *request, const KvKeySchema *key, const KvKeySchema *base);

/* Creates an index for the current user, who must own the table; returns its OID. */
extern Oid	kv_index_create_global(const KvCreateIndex *request);
extern Oid	kv_index_create_local(const KvCreateIndex *request);

/* Drops an index of a table by its name. */
extern void kv_index_drop(Oid table, text *name);

/* --- index_round.c: rounds --- */

/* What a round did. */
typedef struct KvIndexRound
{
	int64		changes;		/* records of the change log that were applied */
	int64		filled;			/* items that a backfill went over */
	bool		more;			/* there is more to do at once */
	bool		failed;			/* something failed or was locked, and is to be tried again soon */
} KvIndexRound;

/*
 * For the worker: does a bounded piece of what there is to do in the current
 * database, in transactions of its own (there must be none open).  An error in
 * one index does not stop the others: it is noted in kv.index_state and
 * tried again later.  Returns false, having done nothing, if another
 * session is applying or the extension is not there.
 */
extern bool kv_index_round(KvIndexRound *round);

/*
 * For kv.apply_changes(): does all there is to do in the caller's
 * transaction, which must be READ COMMITTED; returns the number of changes.
 */
extern int64 kv_index_apply_all(void);

/* --- index_wake.c: telling the worker --- */

/* Asks for shared memory; called from _PG_init while shared_preload_libraries are loaded. */
extern void kv_index_request_shared_memory(void);

/* Tells whether the library was preloaded, so that there are workers. */
extern bool kv_index_is_preloaded(void);

/*
 * A worker announces itself: from now on commits that have something to
 * apply in the current database set its latch.  False: the database has a
 * worker already, or there are too many.  Detached when the process ends.
 */
extern bool kv_index_attach_worker(void);
extern void kv_index_detach_worker(void);

/*
 * Tells a worker whether there was such a commit since it asked last.  Its
 * latch alone does not: waiting for a lock resets it.
 */
extern bool kv_index_was_called(void);

/* Tells whether the current database has a worker, and whether it may get one when it has none. */
extern bool kv_index_has_worker(void);
extern bool kv_index_expects_worker(void);

/* Wakes the worker of the current database when the transaction commits, or at once. */
extern void kv_index_wake_at_commit(void);
extern void kv_index_wake(void);

/* --- index_list.c --- */

/* What is known of one index, for kv.indexes. */
typedef struct KvIndexInfo
{
	const KvIndex *index;
	bool		global;
	const char *state;
	const char *detail;			/* why it cannot be read, or NULL */
	int64		pending;		/* changes not applied yet */
	TimestampTz oldest;			/* when the oldest of them was made; 0: none */
	const char *error;			/* of the last failure, as far as the current user may see it, or NULL */
	TimestampTz error_at;
} KvIndexInfo;

/* Returns all indexes of tables on which the current user holds some right: a list of KvIndexInfo. */
extern List *kv_index_list(void);

/* --- index_wait.c --- */

/* Waits until every change committed before the call is in the index; false if that took too long (timeout in ms, below 0: for ever). */
extern bool kv_index_wait(Oid table, text *name, int64 timeout);

/* Called when there is something to apply in a database without a worker; set by the room worker. */
typedef void (*KvIndexCallWorkerHook) (Oid database);
extern KvIndexCallWorkerHook kv_index_call_worker_hook;

/* Installs callbacks and hooks; called once from _PG_init. */
extern void kv_index_init(void);

#endif							/* KV_INDEX_INDEX_H */
