/*
 * operation_target.c
 *	  The row that a write is about, reached through the store or through SQL.
 */
#include "postgres.h"

#include "base/compat.h"
#include "operation/operation_write.h"

struct KvTarget
{
	KvWriter   *writer;			/* NULL: through SQL */
	KvPolicyWriter *policy_writer;
};

/* Opens a target in one leaf of a table. */
KvTarget *
kv_target_open(KvTable *table, int leaf, bool through_policy)
{
	KvTarget   *target = palloc0(sizeof(KvTarget));

	if (through_policy)
		target->policy_writer = kv_policy_writer_open(table);
	else
		target->writer = kv_writer_open(table, leaf);
	return target;
}

/* Closes the target. */
void
kv_target_close(KvTarget *target)
{
	if (target->writer)
		kv_writer_close(target->writer);
	pfree(target);
}

/* Looks for the row of a key and fills the view if it is there. */
bool
kv_target_find(KvTarget *target, const Datum *key, KvItemView *view)
{
	if (target->policy_writer)
		return kv_policy_writer_find(target->policy_writer, key, view);
	if (!kv_writer_find(target->writer, key))
		return false;
	kv_writer_found(target->writer, view);
	return true;
}

/* Tells where the row found lies; invalid where SQL looks after that itself. */
ItemPointerData
kv_target_place(const KvTarget *target)
{
	ItemPointerData nowhere;

	if (target->writer)
		return kv_writer_place(target->writer);
	ItemPointerSetInvalid(&nowhere);
	return nowhere;
}

/* Finds the row again that was locked at a place, or finds out that the key is still absent if the place is invalid. */
bool
kv_target_find_again(KvTarget *target, const Datum *key, ItemPointerData place)
{
	if (target->policy_writer)
		return false;
	if (ItemPointerIsValid(&place))
		return kv_writer_find_at(target->writer, key, place);
	return !kv_writer_find(target->writer, key);
}

/* Tells whether the row found may be judged before it is locked; SQL looks after itself. */
bool
kv_target_settled(KvTarget *target, KvRowChange change)
{
	return target->policy_writer || kv_writer_settled(target->writer, change);
}

/* Locks the row found; false if it is to be found again. */
bool
kv_target_lock(KvTarget *target, KvRowChange change)
{
	if (target->policy_writer)
		return change != KV_ROW_KEEP || kv_policy_writer_keep(target->policy_writer);
	return kv_writer_lock(target->writer, change);
}

/* Inserts the item; fills the view with what was written. */
KvWriteResult
kv_target_insert(KvTarget *target, const KvItemView *item, KvItemView *written)
{
	KvWriteResult result;

	if (target->policy_writer)
		return kv_policy_writer_insert(target->policy_writer, item, written);
	result = kv_writer_insert(target->writer, item);
	if (result == KV_WRITE_DONE)
		kv_writer_written(target->writer, written);
	return result;
}

/* Keeps the absent key absent; under a policy the lock on the key does that among transactions. */
KvWriteResult
kv_target_reserve(KvTarget *target)
{
	return target->policy_writer ? KV_WRITE_DONE : kv_writer_reserve(target->writer);
}

/* Gives the row found a new rest; fills the view with what was written. */
KvWriteResult
kv_target_replace(KvTarget *target, Jsonb *rest, KvItemView *written)
{
	KvWriteResult result;

	if (target->policy_writer)
		return kv_policy_writer_replace(target->policy_writer, rest, written);
	result = kv_writer_replace(target->writer, rest);
	if (result == KV_WRITE_DONE)
		kv_writer_written(target->writer, written);
	return result;
}

/* Removes the row found. */
KvWriteResult
kv_target_remove(KvTarget *target)
{
	if (target->policy_writer)
		return kv_policy_writer_remove(target->policy_writer);
	return kv_writer_remove(target->writer);
}
