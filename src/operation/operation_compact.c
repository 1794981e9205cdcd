/*
 * operation_compact.c
 *	  kv.compact: a table's collections are moved together, in many transactions.
 *
 * Each leaf is vacuumed, worked off in short transactions and vacuumed again.
 * Between two transactions no lock is held and no snapshot, so the table may
 * be altered or dropped meanwhile: it is opened, and the right to maintain it
 * asked for, anew in each.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation.h"
#include "store/store.h"

/* One call. */
typedef struct Compaction
{
	Oid			relid;
	bool		is_index;		/* the table of a global index */
	int64		max_bytes;		/* 0: no limit */
	bool		has_snapshot;	/* pushed by us; the first transaction's is its portal's */
	KvCompactCounts counts;
} Compaction;

/* Opens the table and checks that the user may maintain it. */
static KvTable *
open_table(const Compaction *compaction)
{
	KvTable    *table = compaction->is_index ?
		kv_table_open_index(compaction->relid, RowExclusiveLock) :
		kv_table_open(compaction->relid, RowExclusiveLock);

	if (!kv_compat_may_maintain(compaction->relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(compaction->relid)),
					   get_rel_name(compaction->relid));
	return table;
}

/* Commits and begins the next transaction, with a snapshot. */
static KvTable *
next_transaction(Compaction *compaction, int isolation)
{
	if (compaction->has_snapshot)
		PopActiveSnapshot();
	compaction->has_snapshot = false;
	SPI_commit();
	XactIsoLevel = isolation;
	/* what a crash takes back is only a move */
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
	/* who had it locked may have put other rows there, which no older snapshot sees */
	LockRelationOid(compaction->relid, RowExclusiveLock);
	PushActiveSnapshot(GetTransactionSnapshot());
	compaction->has_snapshot = true;
	return open_table(compaction);
}

/* Tells whether as much was moved as is wished. */
static bool
is_enough(const Compaction *compaction)
{
	return compaction->max_bytes > 0 && compaction->counts.moved_bytes >= compaction->max_bytes;
}

/* Compacts one leaf. */
static void
compact_leaf(Compaction *compaction, KvTable *table, int leaf)
{
	KvCompaction *state = kv_compaction_begin(table, leaf, &compaction->counts);
	KvCompactStep step = KV_COMPACT_VACUUM;

	while (step != KV_COMPACT_DONE && !is_enough(compaction))
	{
		if (step == KV_COMPACT_VACUUM)
			kv_compaction_vacuum(state, next_transaction(compaction, XACT_READ_COMMITTED), false);
		step = kv_compaction_step(state, next_transaction(compaction, XACT_SERIALIZABLE));
	}
	kv_compaction_vacuum(state, next_transaction(compaction, XACT_READ_COMMITTED), true);
	kv_compaction_end(state, next_transaction(compaction, XACT_READ_COMMITTED));
}

/* Finds out what kind of table it is. */
static void
identify(Compaction *compaction)
{
	KvTable    *table;

	LockRelationOid(compaction->relid, AccessShareLock);
	table = kv_table_lookup(compaction->relid);
	compaction->is_index = table != NULL && table->index != NULL;
}

/* Says what could not be done. */
static void
report(const Compaction *compaction)
{
	const KvCompactCounts *counts = &compaction->counts;

	if (counts->held_back)
		ereport(NOTICE,
				(errmsg("table \"%s\" was not compacted as far as it could be", get_rel_name(compaction->relid)),
				 errdetail("Older snapshots, of transactions or replication, need moved items where they were, so that their room could not be used again."),
				 errhint("CALL kv.compact again when they are gone.")));
	if (counts->busy_items > 0)
		ereport(NOTICE,
				(errmsg("%lld items of table \"%s\" were not moved because they are locked or being changed",
						(long long) counts->busy_items, get_rel_name(compaction->relid))));
}

/* Moves the items of scattered collections together. */
void
kv_operation_compact(Oid relid, int64 max_pages, KvCompactResult *result)
{
	Compaction	compaction = {0};
	KvTable    *table;

	PreventCommandIfReadOnly("kv.compact");
	PreventCommandDuringRecovery("kv.compact");
	compaction.relid = relid;
	compaction.max_bytes = max_pages * BLCKSZ;
	identify(&compaction);
	table = open_table(&compaction);
	/* a collection of one item is on one page as it is */
	for (int leaf = 0; table->key.count > 1 && leaf < table->leaf_count && !is_enough(&compaction); leaf++)
	{
		compact_leaf(&compaction, table, leaf);
		table = open_table(&compaction);
	}
	report(&compaction);
	if (compaction.has_snapshot)
		PopActiveSnapshot();
	result->collections = compaction.counts.collections;
	result->moved_collections = compaction.counts.moved_collections;
	result->moved_items = compaction.counts.moved_items;
	result->pages_before = compaction.counts.pages_before;
	result->pages_after = compaction.counts.pages_after;
}
