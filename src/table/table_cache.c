/*
 * table_cache.c
 *	  The session's cache of descriptors, and routing.
 *
 * One hash table, keyed by relation OID, holds what is known of each relation
 * that was ever asked for and was not ruled out at a glance: its descriptor,
 * or that it is not ours, and of which table it is a leaf.  Entries are
 * emptied by relcache invalidation.  An emptied entry's descriptor goes to a
 * list and is freed at the end of the top-level transaction, so that a caller
 * who holds it may read on; whoever looks up again gets the new truth.
 *
 * A descriptor is only as true as the lock that protects it.  kv_table_open()
 * takes the lock first and looks up after: taking a lock processes pending
 * invalidations, so what was changed by those we waited for is seen.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/partition.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "table/table_internal.h"

/* What the session knows of one relation. */
typedef struct CacheEntry
{
	Oid			relid;			/* hash key */
	bool		known;			/* table says the truth, also when it is NULL: not ours */
	bool		recheck;		/* .. but which partitions there are depends on the snapshot */
	KvTable    *table;
	Oid			leaf_of;		/* a descriptor of this other table has looked at relid as its leaf */
	Oid			depends_on[2];	/* where the first is set, the entry is in dependent_entries */
	dlist_node	dependent_node;
	uint32		invalidations;	/* counts, so that a build notices one that came meanwhile */
} CacheEntry;

/* How often the catalogs are read again because of an invalidation meanwhile. */
#define MAX_ATTEMPTS 5

/* How often a relation is read that others have locked, a millisecond apart, if reading fails. */
#define MAX_GUARDED_TRIES 1000

static HTAB *cache = NULL;

/* The entry that was looked up last, or NULL. */
static CacheEntry *last_entry = NULL;

/* Entries whose descriptors say something of other relations, as indexes do of their base tables. */
static dlist_head dependent_entries = DLIST_STATIC_INIT(dependent_entries);

/* What was replaced and waits for the end of the transaction. */
static slist_head stale_tables = SLIST_STATIC_INIT(stale_tables);
static slist_head stale_leaves = SLIST_STATIC_INIT(stale_leaves);
static bool anything_stale = false;

static void invalidate_relation(Datum argument, Oid relid);
static void free_stale(XactEvent event, void *argument);

/* Makes the hash table and registers for invalidation, once a session. */
static void
initialize_cache(void)
{
	HASHCTL		control;

	/* Registering cannot be undone, so it must not happen again if what follows fails. */
	static bool registered = false;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(invalidate_relation, (Datum) 0);
		RegisterXactCallback(free_stale, NULL);
		registered = true;
	}

	if (CacheMemoryContext == NULL)
		CreateCacheMemoryContext();
	memset(&control, 0, sizeof(control));
	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(CacheEntry);
	control.hcxt = CacheMemoryContext;
	cache = hash_create("key_value tables", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Puts a leaf aside, to be freed at the end of the transaction. */
static void
retire_leaf(KvCachedLeaf *leaf)
{
	slist_push_head(&stale_leaves, &leaf->stale_node);
	anything_stale = true;
}

/*
 * Puts a descriptor aside, to be freed with its leaves at the end of the
 * transaction.  Invalidations do not reach it any more, so who still holds it
 * must not find leaves in it that were read before.
 */
static void
retire_table(KvTable *table)
{
	KvTablePrivate *private_data = table->private_data;

	private_data->retired = true;
	for (int i = 0; private_data->leaf != NULL && i < table->leaf_count; i++)
	{
		if (private_data->leaf[i] != NULL)
			retire_leaf(private_data->leaf[i]);
		private_data->leaf[i] = NULL;
	}
	slist_push_head(&stale_tables, &private_data->stale_node);
	anything_stale = true;
}

/* Makes the table forget what it knows of one of its leaves. */
static void
forget_leaf(Oid root_relid, Oid leaf_relid)
{
	CacheEntry *root = hash_search(cache, &root_relid, HASH_FIND, NULL);
	int			i;

	if (root == NULL || root->table == NULL)
		return;
	for (i = 0; i < root->table->leaf_count; i++)
	{
		KvCachedLeaf **leaf = &root->table->private_data->leaf[i];

		if (root->table->leaf_relid[i] == leaf_relid && *leaf != NULL)
		{
			retire_leaf(*leaf);
			*leaf = NULL;
		}
	}
}

/* Empties one entry. */
static void
invalidate_entry(CacheEntry *entry)
{
	entry->invalidations++;
	entry->known = false;
	anything_stale = true;
	if (entry->table != NULL)
	{
		retire_table(entry->table);
		entry->table = NULL;
	}
	if (OidIsValid(entry->leaf_of))
	{
		forget_leaf(entry->leaf_of, entry->relid);
		entry->leaf_of = InvalidOid;
	}
	if (OidIsValid(entry->depends_on[0]))
	{
		dlist_delete(&entry->dependent_node);
		entry->depends_on[0] = InvalidOid;
	}
}

/* Empties the entries whose descriptors say something of a relation. */
static void
invalidate_dependents(Oid relid)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &dependent_entries)
	{
		CacheEntry *entry = dlist_container(CacheEntry, dependent_node, iter.cur);

		if (entry->depends_on[0] == relid || entry->depends_on[1] == relid)
			invalidate_entry(entry);
	}
}

/* Relcache callback: forgets what was known of one relation, or of all. */
static void
invalidate_relation(Datum argument, Oid relid)
{
	HASH_SEQ_STATUS scan;
	CacheEntry *entry;

	if (cache == NULL)
		return;

	if (OidIsValid(relid))
	{
		entry = hash_search(cache, &relid, HASH_FIND, NULL);
		if (entry != NULL)
			invalidate_entry(entry);
		invalidate_dependents(relid);
		return;
	}

	hash_seq_init(&scan, cache);
	while ((entry = hash_seq_search(&scan)) != NULL)
		invalidate_entry(entry);
}

/* Transaction callback: frees what was replaced, once nobody can hold it any more. */
static void
free_stale(XactEvent event, void *argument)
{
	HASH_SEQ_STATUS scan;
	CacheEntry *entry;

	if (!anything_stale ||
		event == XACT_EVENT_PRE_COMMIT ||
		event == XACT_EVENT_PARALLEL_PRE_COMMIT ||
		event == XACT_EVENT_PRE_PREPARE)
		return;

	/* A leaf lies in its table's context, so leaves go first. */
	while (!slist_is_empty(&stale_leaves))
		pfree(slist_container(KvCachedLeaf, stale_node, slist_pop_head_node(&stale_leaves)));
	while (!slist_is_empty(&stale_tables))
		MemoryContextDelete(slist_container(KvTablePrivate, stale_node,
											slist_pop_head_node(&stale_tables))->context);

	/* Entries of dropped relations must not pile up: whatever says nothing goes. */
	hash_seq_init(&scan, cache);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (!entry->known && !OidIsValid(entry->leaf_of) && !OidIsValid(entry->depends_on[0]))
			hash_search(cache, &entry->relid, HASH_REMOVE, NULL);
	}
	last_entry = NULL;
	anything_stale = false;
}

/* Returns the entry for a relation, a new one if there is none. */
static CacheEntry *
get_entry(Oid relid)
{
	bool		found;
	CacheEntry *entry = hash_search(cache, &relid, HASH_ENTER, &found);

	if (!found)
	{
		entry->known = false;
		entry->recheck = false;
		entry->table = NULL;
		entry->leaf_of = InvalidOid;
		entry->depends_on[0] = InvalidOid;
		entry->invalidations = 0;
	}
	return entry;
}

/*
 * Finds out about a relation that the cache says nothing of, and that is locked.
 *
 * An invalidation that arrives while the catalogs are read makes what was
 * read doubtful, so it is read again.  Where that happens again and again
 * (debug_discard_caches), the lock that the caller holds has to be enough;
 * then the answer is not kept.
 */
static KvTable *
load_locked_table(Oid relid)
{
	int			attempt;

	for (attempt = 1;; attempt++)
	{
		Relation	relation;
		CacheEntry *entry;
		uint32		invalidations;
		KvTable    *table;

		/* the relation cache may have an entry of one that was dropped while it was read without a lock, and fails on it */
		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
			return NULL;
		relation = RelationIdGetRelation(relid);
		if (relation == NULL)
			return NULL;
		if (!kv_table_is_candidate(relation))
		{
			RelationClose(relation);
			return NULL;
		}

		entry = get_entry(relid);
		invalidations = entry->invalidations;
		table = kv_table_build(relation);
		RelationClose(relation);

		if (entry->invalidations == invalidations)
		{
			if (entry->table != NULL)
				retire_table(entry->table);
			entry->table = table;
			entry->known = true;
			entry->recheck = (table != NULL && table->private_data->snapshot_bound);
			return table;
		}
		if (table != NULL)
			retire_table(table);
		if (attempt == MAX_ATTEMPTS)
			return table;
		CHECK_FOR_INTERRUPTS();
	}
}

/* Tells whether an error can come of catalogs that changed while they were read. */
static bool
is_of_change(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_INTERNAL_ERROR || error->sqlerrcode == ERRCODE_UNDEFINED_TABLE ||
		error->sqlerrcode == ERRCODE_UNDEFINED_OBJECT;
}

/*
 * Does the same without a lock, in a subtransaction; false if the catalogs
 * changed meanwhile, so that reading failed.  must_work: then it is an error.
 *
 * What is read while the catalogs change may be of before in part and of after
 * in part.  That goes for a moment, since the change's invalidation is on its
 * way, and for an index it tells by its fingerprint, which is then not that of
 * kv.index_state.
 */
static bool
load_guarded(Oid relid, bool must_work, KvTable **table)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = true;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		*table = load_locked_table(relid);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		CurrentResourceOwner = owner;
		if (must_work || !is_of_change(error))
			ReThrowError(error);
		FreeErrorData(error);
		done = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	return done;
}

/*
 * Finds out about a relation that the cache says nothing of.
 *
 * A writer has no lock on his table's indexes, so what he reads of them he
 * locks for that moment, lest it be dropped.  Where others have it locked for
 * DDL, he does not wait for them: a writer does not wait for an index.
 */
static KvTable *
load_table(Oid relid)
{
	KvTable    *table;

	if (kv_compat_is_locked(relid))
		return load_locked_table(relid);
	for (int attempt = 1;; attempt++)
	{
		if (ConditionalLockRelationOid(relid, AccessShareLock))
		{
			table = load_locked_table(relid);
			UnlockRelationOid(relid, AccessShareLock);
			return table;
		}
		/* there are no subtransactions in parallel mode, nor are there writers */
		if (IsInParallelMode())
			return load_locked_table(relid);
		if (load_guarded(relid, attempt == MAX_GUARDED_TRIES, &table))
			return table;
		CHECK_FOR_INTERRUPTS();
		pg_usleep(1000);
		AcceptInvalidationMessages();
	}
}

/* Notes that the descriptor of relid, being built, says something of two other relations. */
void
kv_table_note_dependency(Oid relid, Oid first, Oid second)
{
	CacheEntry *entry = get_entry(relid);

	if (!OidIsValid(entry->depends_on[0]))
		dlist_push_head(&dependent_entries, &entry->dependent_node);
	entry->depends_on[0] = first;
	entry->depends_on[1] = second;
}

/* Returns the descriptor of a relation already locked, usable or not; NULL if nothing about it is ours. */
KvTable *
kv_table_lookup(Oid relid)
{
	CacheEntry *entry;

	if (unlikely(cache == NULL))
		initialize_cache();

	entry = last_entry;
	if (entry == NULL || entry->relid != relid)
		entry = last_entry = hash_search(cache, &relid, HASH_FIND, NULL);
	/* reading the partitions may take an invalidation in, which empties the entry */
	if (likely(entry != NULL && entry->known &&
			   (!entry->recheck || (kv_table_partitions_match(entry->table) && entry->known))))
		return entry->table;
	return load_table(relid);
}

/* Raises KV005 for a relation that the item functions cannot work on, saying why. */
void
kv_table_refuse(Oid relid, const KvTable *table)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("\"%s\" is not a key-value table", name),
				 errhint("kv.tables lists the key-value tables; kv.create_table makes one.")));
	if (table->index != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("\"%s\" belongs to an index, it is not a key-value table", name),
				 errhint("Name the index's table, \"%s\", and give the name of the index where one is asked for.",
						 get_rel_name(table->index->base_relid))));
	if (table->is_leaf)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("\"%s\" is a partition, not a key-value table", name),
				 errhint("Name the table that it belongs to, \"%s\".",
						 get_rel_name(get_partition_parent(relid, true)))));
	ereport(ERROR,
			(errcode(ERRCODE_KV_NOT_A_TABLE),
			 errmsg("\"%s\" is not usable as a key-value table", name),
			 errdetail_internal("%s", table->unusable_reason)));
}

/*
 * Locks the relation and returns its descriptor.
 *
 * The look-up comes after the lock, never before: see the head of this file.
 */
KvTable *
kv_table_open(Oid relid, LOCKMODE lockmode)
{
	KvTable    *table;

	LockRelationOid(relid, lockmode);
	table = kv_table_lookup(relid);
	if (unlikely(table == NULL || !table->usable || table->is_leaf || table->index != NULL))
		kv_table_refuse(relid, table);
	return table;
}

/* Locks the table of a global index and returns its descriptor. */
KvTable *
kv_table_open_index(Oid relid, LOCKMODE lockmode)
{
	KvTable    *table;

	LockRelationOid(relid, lockmode);
	table = kv_table_lookup(relid);
	if (table == NULL)
		kv_table_refuse(relid, table);
	if (table->index == NULL || table->is_leaf)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("\"%s\" is not an index", get_rel_name(relid))));
	if (!table->usable)
		ereport(ERROR,
				(errcode(ERRCODE_KV_INDEX_NOT_READY),
				 errmsg("index \"%s\" is not usable", get_rel_name(relid)),
				 errdetail_internal("%s", table->unusable_reason),
				 errhint("Drop it and create it again.")));
	return table;
}

/* Raises the error for a partition key that no partition takes. */
pg_noreturn static void
refuse_route(const KvTable *table, Datum partition_key)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(kv_key_sql_type(table->key.attribute[0].type), &output, &is_varlena);
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("no partition of table \"%s\" takes the partition key \"%s\"",
					get_rel_name(table->relid), OidOutputFunctionCall(output, partition_key)),
			 errhint("A partition was detached or dropped; attach one for its share of the hash.")));
}

/* Returns the leaf for a partition key value, an index into leaf_relid, or -1 if no partition takes it. */
int
kv_table_find_leaf(const KvTable *table, Datum partition_key)
{
	const KvTablePrivate *private_data = table->private_data;
	uint64		hash;

	if (!table->partitioned)
		return 0;
	if (unlikely(private_data->modulus == 0))
		return -1;
	hash = kv_table_hash(table->key.attribute[0].type, partition_key);
	return private_data->leaf_by_remainder[hash % (uint64) private_data->modulus];
}

/* Returns the leaf for a partition key value: an index into leaf_relid. */
int
kv_table_route(KvTable *table, Datum partition_key)
{
	int			leaf = kv_table_find_leaf(table, partition_key);

	if (unlikely(leaf < 0))
		refuse_route(table, partition_key);
	return leaf;
}

/* Raises KV005 if a leaf was dropped since the descriptor was handed out, as a trigger can do it. */
void
kv_table_check_leaf(const KvTable *table, int leaf)
{
	if (likely(!table->private_data->retired) ||
		SearchSysCacheExists1(RELOID, ObjectIdGetDatum(table->leaf_relid[leaf])))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_KV_NOT_A_TABLE),
			 errmsg("relation with OID %u was dropped by this transaction", table->leaf_relid[leaf]),
			 errhint("A trigger must not drop a table that the same request writes to.")));
}

/*
 * Returns what is known of a leaf.
 *
 * The leaf's own entry notes whose leaf it is, so that its invalidation
 * reaches the table.  A relation that is looked at as its own leaf needs no
 * note, and must not take the place of its parent's.  What was read while an
 * invalidation arrived is read again, as in load_table(); what is read for a
 * descriptor that is out of date already is not kept in it.
 */
const KvLeaf *
kv_table_leaf(KvTable *table, int leaf)
{
	KvCachedLeaf **known = &table->private_data->leaf[leaf];
	int			attempt;

	Assert(leaf >= 0 && leaf < table->leaf_count);

	for (attempt = 1; unlikely(*known == NULL); attempt++)
	{
		Oid			relid = table->leaf_relid[leaf];
		CacheEntry *entry = get_entry(relid);
		uint32		invalidations = entry->invalidations;
		KvCachedLeaf *built;

		if (relid != table->relid)
			entry->leaf_of = table->relid;
		built = kv_table_build_leaf(table, relid);
		if (entry->invalidations == invalidations && !table->private_data->retired)
			*known = built;
		else
		{
			retire_leaf(built);
			if (entry->invalidations == invalidations || attempt == MAX_ATTEMPTS)
				return &built->leaf;
		}
	}
	return &(*known)->leaf;
}
