/*
 * operation_transact_lock.c
 *	  Locks on keys: what keeps two transactions apart before there is a row
 *	  to lock.
 *
 * A key's lock is an advisory lock that no SQL function can name, on a hash
 * of table and key.  Every transaction takes those of all its keys first, in
 * the order of the hashes, so two of them cannot wait for each other; a key
 * that is only checked is shared.  Only then does it look at rows.
 *
 * Once its actions are done the rows that it wrote or locked, and the entries
 * by which it keeps absent keys absent, hold until it commits, against plain
 * SQL too.  The locks on keys are released then, so that a transaction of many
 * calls does not fill the lock table.  Where a policy applies to the caller
 * an absent key has no such entry, and the lock is kept to the end.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/fmgrprotos.h"

#include "base/compat.h"
#include "operation/operation_transact.h"

/* The lock of one action. */
typedef struct KeyLock
{
	uint64		hash;
	LOCKMODE	mode;
} KeyLock;

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
uint64
kv_transact_lock_hash(const KvTable *table, const Datum *key)
{
	uint64		hash = table->relid;

	for (int i = 0; i < table->key.count; i++)
		hash = hash_value(table->key.attribute[i].type, key[i], hash);
	return hash;
}

/* Orders locks by hash; where two keys share one, the stronger first. */
static int
compare_locks(const void *a, const void *b)
{
	const KeyLock *left = a;
	const KeyLock *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return right->mode - left->mode;
}

/* Fills the lock of an action. */
static KeyLock
lock_of(const KvAction *action)
{
	KeyLock		lock = {action->lock, action->write.verb == KV_VERB_CHECK ? ShareLock : ExclusiveLock};

	return lock;
}

/* Fills the tag of a lock. */
static void
set_tag(LOCKTAG *tag, uint64 hash)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, (uint32) (hash >> 32), (uint32) hash, KV_LOCK_KEY);
}

/* Locks the keys of all actions. */
void
kv_transact_lock(const KvTransaction *transaction)
{
	KeyLock    *locks = palloc(sizeof(KeyLock) * transaction->count);

	for (int i = 0; i < transaction->count; i++)
		locks[i] = lock_of(&transaction->action[i]);
	qsort(locks, transaction->count, sizeof(KeyLock), compare_locks);

	for (int i = 0; i < transaction->count; i++)
	{
		LOCKTAG		tag;

		set_tag(&tag, locks[i].hash);
		(void) LockAcquire(&tag, locks[i].mode, false, false);
	}
	pfree(locks);
}

/* Releases the locks that rows and index entries have taken over from. */
void
kv_transact_unlock(const KvTransaction *transaction)
{
	for (int i = 0; i < transaction->count; i++)
	{
		const KvAction *action = &transaction->action[i];
		KeyLock		lock = lock_of(action);
		LOCKTAG		tag;

		if (action->write.through_policy)
			continue;
		set_tag(&tag, lock.hash);
		(void) LockRelease(&tag, lock.mode, false);
	}
}
