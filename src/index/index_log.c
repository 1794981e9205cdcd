/*
 * index_log.c
 *	  The change log: a few tables used in turn, kv.change_log_0 and so on.
 *
 * Each record has the writing transaction and a number that counts its
 * records, and a btree over the two.  Records are only ever appended; a table
 * that is full is left for another and truncated as a whole once all of it
 * is applied, so an old snapshot elsewhere costs nothing.
 *
 * Nothing says which table is the one to append to.  A session stays with
 * one until it sees it full, then takes the fullest of those that are not:
 * so all sessions meet in one table, and one that a transaction does not let
 * go of is passed over.  Whether a table may be truncated does not depend on
 * where sessions are: who holds its lock has no writer beside him, and then
 * looks for records that are not applied.
 *
 * Writers lock the table in ROW EXCLUSIVE mode to the end of the transaction.
 * Nobody waits for a lock here.
 *
 * The tables are materialized views as far as the catalogs are concerned: so
 * nobody writes to them by SQL, and a publication FOR ALL TABLES leaves them
 * out.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "index/index_internal.h"

/* The columns of the log. */
#define LOG_XID		1
#define LOG_NUMBER	2
#define LOG_BASE	3
#define LOG_AT		4
#define LOG_CHANGE	5
#define LOG_COLUMNS 5

#define MAX_SCAN_KEYS 2

/* A session looks at the size of the whole log when it begins and every so many pages. */
#define PAGES_PER_CHECK 16

/* Of so many entries that were written without knowing the btree's last leaf one looks for it. */
#define ENTRIES_PER_AIM 4

/* Records of a table that are looked at to see whether it is behind. */
#define MAX_BACKLOG_TRIES 1000

/* The table that this session appends to; -1: to be chosen. */
static int	current_log = -1;

/* Counts the records of the current transaction, and the bytes that they take. */
static FullTransactionId numbered_xid = {0};
static int32 last_number = 0;
static uint64 own_bytes = 0;

struct KvLogScan
{
	Snapshot	snapshot;
	const KvDone *before;
	const KvDone *after;
	KvLogPosition behind;
	bool		has_behind;
	int			log;			/* being read */
	int			phase;			/* of the log: position in before's xip, then xip_count for all that is newer */
	Relation	heap;			/* NULL: not open */
	Relation	btree;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	bool		positioned;
	ScanKeyData row[2];
};

/* The names of the tables of the log, and of their btrees. */
static const char *const log_name[KV_LOG_COUNT][2] = {
	{"change_log_0", "change_log_0_xid_number"},
	{"change_log_1", "change_log_1_xid_number"},
	{"change_log_2", "change_log_2_xid_number"},
	{"change_log_3", "change_log_3_xid_number"},
	{"change_log_4", "change_log_4_xid_number"},
	{"change_log_5", "change_log_5_xid_number"},
	{"change_log_6", "change_log_6_xid_number"},
	{"change_log_7", "change_log_7_xid_number"},
};

/* Returns the OID of a table of the log, or of its btree. */
static Oid
log_relation(int log, bool btree)
{
	static KvExtensionRelation *known[KV_LOG_COUNT][2];
	const char *name = log_name[log][btree];
	Oid			relid = kv_table_extension_relation_again(name, &known[log][btree]);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"kv.%s\" does not exist", name),
				 errhint("Install the extension key_value anew, or update it.")));
	return relid;
}

/* Returns the size of a table of the log, in pages; false if somebody has it locked against what the caller wants of it. */
static bool
measure_log(int log, LOCKMODE lockmode, BlockNumber *pages)
{
	Oid			relid = log_relation(log, false);
	Relation	heap;

	if (!ConditionalLockRelationOid(relid, lockmode))
		return false;
	heap = table_open(relid, NoLock);
	*pages = RelationGetNumberOfBlocks(heap);
	table_close(heap, lockmode);
	return true;
}

/* Chooses a table of those that can be appended to now: the fullest that is not full, else the least full. */
static int
choose_log(void)
{
	int			chosen = -1;
	BlockNumber chosen_pages = 0;

	for (int log = 0; log < KV_LOG_COUNT; log++)
	{
		BlockNumber pages;
		bool		better;

		if (!measure_log(log, RowExclusiveLock, &pages))
			continue;
		if (chosen < 0)
			better = true;
		else if (pages >= KV_LOG_FULL_PAGES || chosen_pages >= KV_LOG_FULL_PAGES)
			better = pages < chosen_pages;
		else
			better = pages > chosen_pages;
		if (better)
		{
			chosen = log;
			chosen_pages = pages;
		}
	}
	return Max(chosen, 0);
}

static void check_backlog(Oid base_relid);

/* Opens the table to append to, locked to the end of the transaction. */
static Relation
open_to_append(Oid base_relid)
{
	if (current_log >= 0)
	{
		Oid			relid = log_relation(current_log, false);

		if (ConditionalLockRelationOid(relid, RowExclusiveLock))
			return table_open(relid, NoLock);
	}

	check_backlog(base_relid);
	current_log = choose_log();
	return table_open(log_relation(current_log, false), RowExclusiveLock);
}

/* Returns the number of the transaction's next record. */
static int32
next_number(FullTransactionId xid)
{
	if (!FullTransactionIdEquals(xid, numbered_xid))
	{
		numbered_xid = xid;
		last_number = 0;
		own_bytes = 0;
	}
	return ++last_number;
}

/* Describes a btree of the log, as what inserts an entry asks for it; they are all alike. */
static IndexInfo *
describe_btree(Relation btree)
{
	static IndexInfo *info = NULL;

	if (info == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);

		info = BuildIndexInfo(btree);
		MemoryContextSwitchTo(caller);
	}
	return info;
}

/*
 * Tells nbtree the last leaf of the log's btree, where most entries belong.
 *
 * It remembers that page by itself in btrees of three levels, which those of
 * the log seldom grow to, looks whether an entry belongs there, and forgets the
 * page when it is full, or another session is writing to it.
 */
static void
aim_at_last_leaf(Relation btree)
{
	static uint32 missing = 0;
	Buffer		leaf;

	if (RelationGetTargetBlock(btree) != InvalidBlockNumber || missing++ % ENTRIES_PER_AIM != 0)
		return;
	leaf = kv_compat_bt_get_endpoint(btree, 0, true);
	if (!BufferIsValid(leaf))
		return;
	RelationSetTargetBlock(btree, BufferGetBlockNumber(leaf));
	_bt_relbuf(btree, leaf);
}

/* Tells whether an index of a table of the log is its btree, or one that is to take its place, and wants entries. */
static bool
wants_entries(Relation index)
{
	return index->rd_rel->relam == BTREE_AM_OID && index->rd_index->indisready &&
		IndexRelationGetNumberOfKeyAttributes(index) == 2 &&
		index->rd_index->indkey.values[0] == LOG_XID && index->rd_index->indkey.values[1] == LOG_NUMBER;
}

/* Inserts the entry of a record into one index of its table; false if it wants none. */
static bool
insert_entry(Oid index, Relation heap, HeapTuple tuple, Datum *values, bool *nulls)
{
	Relation	btree = index_open(index, RowExclusiveLock);
	bool		wants = wants_entries(btree);

	if (wants)
	{
		aim_at_last_leaf(btree);
		index_insert(btree, values, nulls, &tuple->t_self, heap, UNIQUE_CHECK_NO, false, describe_btree(btree));
	}
	index_close(btree, NoLock);
	return wants;
}

/* Inserts the entry of a record into the log's btree: into two, while REINDEX CONCURRENTLY makes another. */
static void
insert_entries(Relation heap, HeapTuple tuple, Datum *values, bool *nulls)
{
	bool		inserted = false;

	if (likely(heap->rd_indexvalid && list_length(heap->rd_indexlist) == 1))
		inserted = insert_entry(linitial_oid(heap->rd_indexlist), heap, tuple, values, nulls);
	else
	{
		List	   *indexes = RelationGetIndexList(heap);
		ListCell   *cell;

		foreach(cell, indexes)
			inserted |= insert_entry(lfirst_oid(cell), heap, tuple, values, nulls);
		list_free(indexes);
	}
	if (!inserted)
		elog(ERROR, "index %u of the change log takes no entries", log_relation(current_log, true));
}

/* Starts a scan of a table's btree for the entries of a transaction, or of all from it on. */
static IndexScanDesc
begin_entries(Relation heap, Relation btree, Snapshot snapshot, StrategyNumber strategy, FullTransactionId xid)
{
	IndexScanDesc scan = kv_compat_index_beginscan(heap, btree, snapshot, 1);
	ScanKeyData key;

	ScanKeyInit(&key, LOG_XID, strategy, strategy == BTEqualStrategyNumber ? F_XID8EQ : F_XID8GE,
				FullTransactionIdGetDatum(xid));
	index_rescan(scan, &key, 1, NULL, 0);
	return scan;
}

/* Tells whether one of the first entries from a transaction on, or of it, can be seen. */
static bool
sees_entry(Relation heap, Relation btree, Snapshot snapshot, StrategyNumber strategy, FullTransactionId xid)
{
	IndexScanDesc scan = begin_entries(heap, btree, snapshot, strategy, xid);
	TupleTableSlot *slot = table_slot_create(heap, NULL);
	bool		found = false;

	for (int tries = 0; tries < MAX_BACKLOG_TRIES && !found; tries++)
	{
		if (index_getnext_tid(scan, ForwardScanDirection) == NULL)
			break;
		found = index_fetch_heap(scan, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
	return found;
}

/* Tells whether one of the first records of a table that are not applied is committed. */
static bool
has_backlog(int log, const KvDone *applied, Snapshot snapshot)
{
	Relation	heap = table_open(log_relation(log, false), AccessShareLock);
	Relation	btree = index_open(log_relation(log, true), AccessShareLock);
	bool		found = sees_entry(heap, btree, snapshot, BTGreaterEqualStrategyNumber, applied->xmax);

	for (int i = 0; i < applied->xip_count && !found; i++)
		found = sees_entry(heap, btree, snapshot, BTEqualStrategyNumber, applied->xip[i]);
	index_close(btree, AccessShareLock);
	table_close(heap, AccessShareLock);
	return found;
}

/* Raises KV008 if more is put aside for the indexes of a table than the log may have. */
static void
check_retries(Oid base_relid, uint64 limit)
{
	if (!kv_retry_exceeds(base_relid, limit))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_KV_THROUGHPUT_EXCEEDED),
			 errmsg("global indexes of table \"%s\" are too far behind for more writes", get_rel_name(base_relid)),
			 errdetail("Changes that could not be written to an index take more than key_value.max_index_backlog, %d MB.",
					   kv_guc_max_index_backlog),
			 errhint("See kv.indexes for the index's last error; drop the index if nobody can mend it.")));
}

/*
 * Raises KV008 if the log is larger than it may be.
 *
 * Only tables count that hold something that could be applied, and not what
 * the own transaction has written: what a long transaction fills is not the
 * workers' fault.  What is put aside for an index that cannot be written to
 * counts for writers of its table alone.
 */
static void
check_backlog(Oid base_relid)
{
	BlockNumber pages[KV_LOG_COUNT];
	uint64		limit = (uint64) kv_guc_max_index_backlog * (1024 * 1024 / BLCKSZ);
	uint64		all = 0;
	uint64		backlog = 0;
	KvProgress	progress;
	Snapshot	snapshot;

	if (limit > 0)
		check_retries(base_relid, limit);
	for (int log = 0; log < KV_LOG_COUNT; log++)
	{
		if (!measure_log(log, AccessShareLock, &pages[log]))
			pages[log] = 0;
		all += pages[log];
	}
	if (limit == 0 || all <= limit)
		return;

	kv_progress_read(&progress);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	for (int log = 0; log < KV_LOG_COUNT; log++)
		if (pages[log] > 0 && has_backlog(log, &progress.before, snapshot))
			backlog += pages[log];
	UnregisterSnapshot(snapshot);
	if (FullTransactionIdEquals(numbered_xid, GetTopFullTransactionIdIfAny()))
		backlog -= Min(backlog, own_bytes / BLCKSZ);
	if (backlog > limit)
		ereport(ERROR,
				(errcode(ERRCODE_KV_THROUGHPUT_EXCEEDED),
				 errmsg("global indexes are too far behind for more writes"),
				 errdetail("The change log has " UINT64_FORMAT " MB that are not applied; key_value.max_index_backlog is %d MB.",
						   backlog / (1024 * 1024 / BLCKSZ), kv_guc_max_index_backlog),
				 errhint("Try again later; see kv.indexes for what holds the indexes up.")));
}

/* Looks after the size of the log, where a record went to another page than the one before. */
static void
note_page(BlockNumber page, Oid base_relid)
{
	static BlockNumber last_page = InvalidBlockNumber;

	if (page == last_page)
		return;
	last_page = page;
	if (page >= KV_LOG_FULL_PAGES)
		current_log = -1;
	if (page >= KV_LOG_FULL_PAGES || page % PAGES_PER_CHECK == 0)
		check_backlog(base_relid);
}

/* Appends a record to the log. */
void
kv_log_append(Oid base_relid, const StringInfo record)
{
	Relation	heap = open_to_append(base_relid);
	FullTransactionId xid = GetTopFullTransactionId();
	bytea	   *change = palloc(VARHDRSZ + record->len);
	Datum		values[LOG_COLUMNS];
	bool		nulls[LOG_COLUMNS] = {false};
	HeapTuple	tuple;

	SET_VARSIZE(change, VARHDRSZ + record->len);
	memcpy(VARDATA(change), record->data, record->len);
	values[LOG_XID - 1] = FullTransactionIdGetDatum(xid);
	values[LOG_NUMBER - 1] = Int32GetDatum(next_number(xid));
	values[LOG_BASE - 1] = ObjectIdGetDatum(base_relid);
	values[LOG_AT - 1] = TimestampTzGetDatum(GetCurrentTimestamp());
	values[LOG_CHANGE - 1] = PointerGetDatum(change);

	tuple = heap_form_tuple(RelationGetDescr(heap), values, nulls);
	heap_insert(heap, tuple, GetCurrentCommandId(true), 0, NULL);
	insert_entries(heap, tuple, values, nulls);
	own_bytes += MAXALIGN(tuple->t_len) + sizeof(ItemIdData);
	note_page(ItemPointerGetBlockNumber(&tuple->t_self), base_relid);
	heap_freetuple(tuple);
	pfree(change);
	table_close(heap, NoLock);
}

/* Starts reading the log. */
KvLogScan *
kv_log_begin(Snapshot snapshot, const KvDone *before, const KvDone *after, const KvLogPosition *behind)
{
	KvLogScan  *scan = palloc0(sizeof(KvLogScan));

	scan->snapshot = snapshot;
	scan->before = before;
	scan->after = after;
	if (behind)
	{
		scan->behind = *behind;
		scan->has_behind = true;
		scan->log = behind->log;
	}
	return scan;
}

/* Opens the table being read; false if it is empty. */
static bool
open_to_read(KvLogScan *scan)
{
	scan->heap = table_open(log_relation(scan->log, false), AccessShareLock);
	scan->phase = 0;
	scan->positioned = false;
	if (RelationGetNumberOfBlocks(scan->heap) == 0)
		return false;
	scan->btree = index_open(log_relation(scan->log, true), AccessShareLock);
	scan->slot = table_slot_create(scan->heap, NULL);
	scan->scan = kv_compat_index_beginscan(scan->heap, scan->btree, scan->snapshot, MAX_SCAN_KEYS);
	return true;
}

/* Closes the table being read and unlocks it, lest a long transaction keeps it from being truncated. */
static void
close_read(KvLogScan *scan)
{
	if (scan->scan)
	{
		index_endscan(scan->scan);
		ExecDropSingleTupleTableSlot(scan->slot);
		index_close(scan->btree, AccessShareLock);
	}
	scan->scan = NULL;
	if (scan->heap)
		table_close(scan->heap, AccessShareLock);
	scan->heap = NULL;
}

/* Fills the row comparison (xid, number) > position. */
static void
fill_behind(KvLogScan *scan, ScanKey key)
{
	ScanKeyEntryInitialize(&scan->row[0], SK_ROW_MEMBER, LOG_XID, BTGreaterStrategyNumber, InvalidOid,
						   InvalidOid, F_XID8CMP, FullTransactionIdGetDatum(scan->behind.xid));
	ScanKeyEntryInitialize(&scan->row[1], SK_ROW_MEMBER | SK_ROW_END, LOG_NUMBER, BTGreaterStrategyNumber,
						   InvalidOid, InvalidOid, F_BTINT4CMP, Int32GetDatum(scan->behind.number));
	MemSet(key, 0, sizeof(ScanKeyData));
	key->sk_flags = SK_ROW_HEADER;
	key->sk_attno = LOG_XID;
	key->sk_strategy = BTGreaterStrategyNumber;
	key->sk_argument = PointerGetDatum(scan->row);
}

/* Tells whether the position lies in the table being read. */
static bool
is_behind_here(const KvLogScan *scan)
{
	return scan->has_behind && scan->behind.log == scan->log;
}

/* Goes to the start of the phase; false if there is nothing to be read in it. */
static bool
start_phase(KvLogScan *scan)
{
	ScanKeyData keys[MAX_SCAN_KEYS];
	int			count = 0;

	if (scan->phase < scan->before->xip_count)
	{
		FullTransactionId xid = scan->before->xip[scan->phase];

		if (!kv_done_includes(scan->after, xid) && !FullTransactionIdEquals(xid, GetTopFullTransactionIdIfAny()))
			return false;
		if (is_behind_here(scan) && FullTransactionIdPrecedes(xid, scan->behind.xid))
			return false;
		ScanKeyInit(&keys[count++], LOG_XID, BTEqualStrategyNumber, F_XID8EQ, FullTransactionIdGetDatum(xid));
		if (is_behind_here(scan) && FullTransactionIdEquals(xid, scan->behind.xid))
			fill_behind(scan, &keys[count++]);
	}
	else if (is_behind_here(scan) && FullTransactionIdFollowsOrEquals(scan->behind.xid, scan->before->xmax))
		fill_behind(scan, &keys[count++]);
	else
		ScanKeyInit(&keys[count++], LOG_XID, BTGreaterEqualStrategyNumber, F_XID8GE,
					FullTransactionIdGetDatum(scan->before->xmax));

	scan->scan->numberOfKeys = count;
	index_rescan(scan->scan, keys, count, NULL, 0);
	return true;
}

/* Tells whether a record found belongs to what is to be read. */
static bool
is_wanted(const KvLogScan *scan, FullTransactionId xid)
{
	return kv_done_includes(scan->after, xid) || FullTransactionIdEquals(xid, GetTopFullTransactionIdIfAny());
}

/* Copies a record and its place. */
static void
read_record(KvLogScan *scan, KvLogRecord *record, KvLogPosition *position)
{
	bytea	   *change;

	slot_getallattrs(scan->slot);
	change = (bytea *) PG_DETOAST_DATUM_PACKED(scan->slot->tts_values[LOG_CHANGE - 1]);
	record->base_relid = DatumGetObjectId(scan->slot->tts_values[LOG_BASE - 1]);
	record->at = DatumGetTimestampTz(scan->slot->tts_values[LOG_AT - 1]);
	record->length = VARSIZE_ANY_EXHDR(change);
	record->record = palloc(record->length);
	memcpy(record->record, VARDATA_ANY(change), record->length);
	position->log = scan->log;
	position->xid = DatumGetFullTransactionId(scan->slot->tts_values[LOG_XID - 1]);
	position->number = DatumGetInt32(scan->slot->tts_values[LOG_NUMBER - 1]);
}

/* Reads the next record. */
bool
kv_log_next(KvLogScan *scan, KvLogRecord *record, KvLogPosition *position)
{
	for (; scan->log < KV_LOG_COUNT; scan->log++)
	{
		if (scan->heap != NULL || open_to_read(scan))
		{
			while (scan->phase <= scan->before->xip_count)
			{
				CHECK_FOR_INTERRUPTS();
				if (!scan->positioned && !(scan->positioned = start_phase(scan)))
				{
					scan->phase++;
					continue;
				}
				if (!index_getnext_slot(scan->scan, ForwardScanDirection, scan->slot))
				{
					scan->phase++;
					scan->positioned = false;
					continue;
				}
				read_record(scan, record, position);
				if (is_wanted(scan, position->xid))
					return true;
				pfree(record->record);
			}
		}
		close_read(scan);
	}
	return false;
}

/* Ends reading. */
void
kv_log_end(KvLogScan *scan)
{
	close_read(scan);
	pfree(scan);
}

/* Tells whether a table's btree has an entry of a transaction, or of any from it on. */
static bool
has_entry(Relation heap, Relation btree, StrategyNumber strategy, FullTransactionId xid)
{
	IndexScanDesc scan = begin_entries(heap, btree, SnapshotAny, strategy, xid);
	bool		found;

	found = index_getnext_tid(scan, ForwardScanDirection) != NULL;
	index_endscan(scan);
	return found;
}

/* Tells whether a table, which is locked against writers, holds nothing that is not applied. */
static bool
is_applied(int log, Relation heap, const KvDone *applied)
{
	Relation	btree = index_open(log_relation(log, true), AccessShareLock);
	bool		result = !has_entry(heap, btree, BTGreaterEqualStrategyNumber, applied->xmax);

	for (int i = 0; i < applied->xip_count && result; i++)
		result = !has_entry(heap, btree, BTEqualStrategyNumber, applied->xip[i]);
	index_close(btree, NoLock);
	return result;
}

/* Gives a table of the extension new, empty files, as ExecuteTruncateGuts in core's tablecmds.c does. */
void
kv_log_truncate_table(Relation heap)
{
	Oid			toast_relid = heap->rd_rel->reltoastrelid;
	Oid			relid = RelationGetRelid(heap);

	kv_compat_set_new_file(heap);
	if (OidIsValid(toast_relid))
	{
		Relation	toast = relation_open(toast_relid, AccessExclusiveLock);

		kv_compat_set_new_file(toast);
		table_close(toast, NoLock);
	}
	kv_compat_reindex_relation(relid);
}

/*
 * Truncates the full tables of the log that are applied and free.
 *
 * Not in a transaction block, which may stay open: nobody could append to them
 * until its end, and there may be no others.
 */
void
kv_log_truncate(const KvDone *applied)
{
	if (IsTransactionBlock())
		return;
	for (int log = 0; log < KV_LOG_COUNT; log++)
	{
		BlockNumber pages;
		Oid			relid = log_relation(log, false);
		Relation	heap;

		if (!measure_log(log, AccessShareLock, &pages) || pages < KV_LOG_FULL_PAGES)
			continue;
		if (!ConditionalLockRelationOid(relid, AccessExclusiveLock))
			continue;
		heap = table_open(relid, NoLock);
		if (is_applied(log, heap, applied))
		{
			kv_log_truncate_table(heap);
			table_close(heap, NoLock);
		}
		else
			table_close(heap, AccessExclusiveLock);
	}
}
