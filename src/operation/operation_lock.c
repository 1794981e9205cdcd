/*
 * operation_lock.c
 *	  Locks on keys: what keeps two transactions apart before there is a row
 *	  to lock.
 *
 * A key's lock is an advisory lock that no SQL function can name, on a hash
 * of table and key.  Every transaction and batch takes those of all its keys
 * first, in the order of the hashes, so two of them cannot wait for each
 * other; a key that is only checked is shared.  Only then do they look at
 * rows.
 *
 * Once all is written the rows that were written or locked, and the entries
 * by which absent keys are kept absent, hold until the transaction commits,
 * against plain SQL too.  The locks on keys are kept all the same, because
 * whoever waits for a key's lock holds no rows as yet, which makes deadlocks
 * of transactions of several calls rarer.  But a transaction of very many
 * calls must not fill the lock table: it keeps only so many, and releases
 * those of further calls when they are done.  Where a policy applies to the
 * caller an absent key has no entry, and a transaction keeps the lock in any
 * case.
 *
 * A key whose row this transaction has written before, by whatever means, is
 * its own already: where somebody else has the lock on it he is waiting for
 * the row, and waiting for him would be a deadlock.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/fmgrprotos.h"

#include "base/compat.h"
#include "operation/operation_request.h"

/* How many locks a transaction keeps when the calls that took them are done. */
#define KV_MAX_KEPT_LOCKS 100

/* The transaction that keeps locks, and how many. */
static LocalTransactionId keeper = InvalidLocalTransactionId;
static int	kept_count = 0;

/* Returns the hash of a key value; equal numbers have one whatever their scale. */
static uint64
hash_value(KvKeyType type, Datum value, uint64 seed)
{
	struct varlena *bytes = (struct varlena *) DatumGetPointer(value);

	if (type == KV_KEY_NUMBER)
		return DatumGetUInt64(DirectFunctionCall2(hash_numeric_extended, value, UInt64GetDatum(seed)));
	return DatumGetUInt64(hash_any_extended((unsigned char *) VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), seed));
}

/* Returns the hash that stands for a key. */
static uint64
hash_key(const KvRequestKey *key)
{
	uint64		hash = key->table->relid;

	for (int i = 0; i < key->table->key.count; i++)
		hash = hash_value(key->table->key.attribute[i].type, key->key[i], hash);
	return hash;
}

/* Orders pointers to keys by hash; where two share one, the one with the stronger lock first. */
static int
compare_hashes(const void *a, const void *b)
{
	const KvRequestKey *left = *(KvRequestKey *const *) a;
	const KvRequestKey *right = *(KvRequestKey *const *) b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return (int) left->shared - (int) right->shared;
}

/* Fills the tag of a key's lock and returns its mode. */
static LOCKMODE
describe_lock(const KvRequestKey *key, LOCKTAG *tag)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, (uint32) (key->hash >> 32), (uint32) key->hash, KV_LOCK_KEY);
	return key->shared ? ShareLock : ExclusiveLock;
}

/* Locks keys. */
void
kv_request_lock(KvRequestKey *keys, int count, const char *what, int *current)
{
	KvRequestKey **sorted = palloc(sizeof(KvRequestKey *) * count);
	KvRequestContext context;

	for (int i = 0; i < count; i++)
	{
		keys[i].hash = hash_key(&keys[i]);
		sorted[i] = &keys[i];
	}
	qsort(sorted, count, sizeof(KvRequestKey *), compare_hashes);

	kv_request_context_push(&context, what);
	for (int i = 0; i < count; i++)
	{
		LOCKTAG		tag;
		LOCKMODE	mode = describe_lock(sorted[i], &tag);

		context.number = sorted[i]->number + 1;
		context.verb = sorted[i]->verb;
		if (current)
			*current = sorted[i]->number;
		if (LockAcquire(&tag, mode, false, true) != LOCKACQUIRE_NOT_AVAIL)
			continue;
		/* who has the lock may be waiting for this transaction's row */
		sorted[i]->skipped = kv_store_has_written(sorted[i]->table, sorted[i]->leaf, sorted[i]->key);
		if (!sorted[i]->skipped)
			(void) LockAcquire(&tag, mode, false, false);
	}
	kv_request_context_pop(&context);
	pfree(sorted);
}

/* Releases the locks that rows and index entries have taken over from, unless the transaction may keep them. */
void
kv_request_unlock(const KvRequestKey *keys, int count)
{
	if (keeper != kv_compat_my_lxid())
	{
		keeper = kv_compat_my_lxid();
		kept_count = 0;
	}
	if (kept_count + count <= KV_MAX_KEPT_LOCKS)
	{
		kept_count += count;
		return;
	}

	for (int i = 0; i < count; i++)
	{
		LOCKTAG		tag;
		LOCKMODE	mode = describe_lock(&keys[i], &tag);

		if (!keys[i].keep && !keys[i].skipped)
			(void) LockRelease(&tag, mode, false);
	}
}
