/*
 * index_write.c
 *	  Makes entries of an index table what they are to be.
 *
 * Entries are written by the store as items are, so indexes, constraints and
 * triggers that the owner has put on the index table hold.  Whatever of his is
 * run, is run as the owner in a security-restricted operation.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

/* Acts as the owner of an index from now on. */
void
kv_index_become_owner(Oid index, KvOwnerSwitch *saved)
{
	Oid			owner = kv_table_owner(index);

	if (!OidIsValid(owner))
		elog(ERROR, "cache lookup failed for relation %u", index);
	GetUserIdAndSecContext(&saved->user, &saved->context);
	SetUserIdAndSecContext(owner, saved->context | SECURITY_RESTRICTED_OPERATION);
	saved->nest_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	saved->written_index = kv_table_written_index;
	kv_table_written_index = index;
}

/* Acts as before again. */
void
kv_index_become_again(const KvOwnerSwitch *saved)
{
	kv_table_written_index = saved->written_index;
	AtEOXact_GUC(false, saved->nest_level);
	SetUserIdAndSecContext(saved->user, saved->context);
}

/* Tells whether a relation is the table of the index that is being written to, or a leaf of it. */
bool
kv_index_is_written(Oid relid)
{
	if (!OidIsValid(kv_table_written_index))
		return false;
	return relid == kv_table_written_index ||
		(get_rel_relispartition(relid) && get_partition_parent(relid, true) == kv_table_written_index);
}

/* Tells whether two rests are the same as they are stored. */
static bool
same_rest(const Jsonb *a, const Jsonb *b)
{
	return VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

/* Does to the row found, or to the absent one, what is to be done. */
static KvWriteResult
write_entry(KvWriter *writer, const KvTable *index, const KvIndexWrite *write, bool found)
{
	KvItemView	entry;
	KvItemView	there;

	if (write->rest == NULL)
		return found ? kv_writer_remove(writer) : KV_WRITE_DONE;

	if (found)
	{
		kv_writer_found(writer, &there);
		if (same_rest(there.rest, write->rest))
			return KV_WRITE_DONE;
		return kv_writer_replace(writer, write->rest);
	}
	entry.schema = &index->key;
	memcpy(entry.key, write->key, sizeof(entry.key));
	entry.rest = write->rest;
	return kv_writer_insert(writer, &entry);
}

/* Makes one entry agree. */
static void
make_agree(KvWriter *writer, const KvTable *index, const KvIndexWrite *write)
{
	KvRowChange change = write->rest ? KV_ROW_REPLACE : KV_ROW_REMOVE;
	KvWriteResult result = KV_WRITE_LOST;

	while (result == KV_WRITE_LOST)
	{
		bool		found;

		CHECK_FOR_INTERRUPTS();
		if (write->rest)
			kv_writer_expect(writer, write->rest);
		found = kv_writer_find(writer, write->key);
		if (found && !kv_writer_settled(writer, change) && !kv_writer_lock(writer, change))
			continue;
		result = write_entry(writer, index, write, found);
	}
}

/*
 * Puts writes in order and leaves out what is said twice, since two records
 * name one old key: the writer takes each key once.  Returns their number.
 */
static int
order_writes(const KvTable *index, KvIndexWrite *writes, int count, KvOrdered *ordered)
{
	int			kept = 0;

	for (int i = 0; i < count; i++)
	{
		ordered[i].leaf = writes[i].leaf;
		ordered[i].key = writes[i].key;
		ordered[i].thing = &writes[i];
	}
	kv_order(&index->key, ordered, count);
	for (int i = 0; i < count; i++)
	{
		if (kept == 0 || !kv_order_same(&index->key, &ordered[kept - 1], &ordered[i]))
			ordered[kept++] = ordered[i];
		else if (((KvIndexWrite *) ordered[i].thing)->rest != NULL)
			ordered[kept - 1] = ordered[i];
	}
	return kept;
}

/* Makes the index agree. */
void
kv_index_write(KvTable *index, KvIndexWrite *writes, int count)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value index entry",
												  ALLOCSET_DEFAULT_SIZES);
	KvOrdered  *ordered = palloc(sizeof(KvOrdered) * count);
	MemoryContext caller;
	KvOwnerSwitch saved;
	KvWriter   *writer = NULL;

	count = order_writes(index, writes, count, ordered);
	kv_index_become_owner(index->relid, &saved);
	for (int i = 0; i < count; i++)
	{
		const KvIndexWrite *write = ordered[i].thing;

		if (i == 0 || write->leaf != ordered[i - 1].leaf)
		{
			if (writer)
				kv_writer_close(writer);
			if (write->leaf < 0)
				(void) kv_table_route(index, write->key[0]);	/* says what is wrong */
			writer = kv_writer_open(index, write->leaf);
		}
		caller = MemoryContextSwitchTo(context);
		make_agree(writer, index, write);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
	}
	if (writer)
		kv_writer_close(writer);
	kv_index_become_again(&saved);
	MemoryContextDelete(context);
	pfree(ordered);
}
