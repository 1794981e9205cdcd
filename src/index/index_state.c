/*
 * index_state.c
 *	  What apply remembers: the state of each index and its own progress.
 *
 * kv.index_state has a row for each global index that was ever begun to be
 * filled.  An index without one is in doubt.  None of it is dumped, so a
 * restored index is.
 *
 * kv.apply_progress_0 and _1 hold the progress of rounds.  A row is inserted
 * for each round, since one that is updated all the time leaves versions
 * behind that an old snapshot elsewhere does not let go; the two tables are
 * used in turn and truncated.  The last row counts.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

/* The columns of kv.apply_progress_0 and _1. */
#define PROGRESS_ROUND		1	/* int8 */
#define PROGRESS_BEFORE		2	/* pg_snapshot */
#define PROGRESS_AFTER		3	/* pg_snapshot; null: not in a batch, nor the rest */
#define PROGRESS_LOG		4	/* int4 */
#define PROGRESS_XID		5	/* xid8 */
#define PROGRESS_NUMBER		6	/* int4 */
#define PROGRESS_COLUMNS	6

/* Rounds after which the other table is used. */
#define ROUNDS_PER_TABLE	1000

static const char *const state_names[] = {
	[KV_INDEX_CREATING] = "CREATING",
	[KV_INDEX_BACKFILLING] = "BACKFILLING",
	[KV_INDEX_ACTIVE] = "ACTIVE"
};

/* Returns the name of a state, as kv.index_state and kv.indexes have it. */
const char *
kv_index_state_name(KvIndexState state)
{
	return state_names[state];
}

/* Returns the OID of one of the extension's relations. */
static Oid
require_relation(const char *name)
{
	Oid			relid = kv_table_extension_relation(name);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"kv.%s\" does not exist", name),
				 errhint("Install the extension key_value anew, or update it.")));
	return relid;
}

/* Names the lock that one session at a time applies under: an object of ours that nobody else locks, sub-object 1 of the first table of progress. */
static void
set_apply_tag(LOCKTAG *tag)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, RelationRelationId, require_relation("apply_progress_0"), 1);
}

/* Takes the lock that one session at a time applies under. */
bool
kv_apply_lock(bool wait)
{
	LOCKTAG		tag;

	set_apply_tag(&tag);
	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

/* Describes the other session that has that lock in a transaction by hand; NULL if there is none. */
char *
kv_apply_describe_holder(void)
{
	LOCKTAG		tag;
	VirtualTransactionId *holder;
	int			count;
	PGPROC	   *process;

	set_apply_tag(&tag);
	holder = GetLockConflicts(&tag, ExclusiveLock, &count);
	if (count == 0)
		return NULL;
	if (VirtualTransactionIdIsRecoveredPreparedXact(holder[0]))
		return pstrdup("a prepared transaction called kv.apply_changes() and has not ended");
	process = kv_compat_process_of(holder[0]);
	if (process == NULL || kv_index_is_worker(process))
		return NULL;
	return psprintf("process %d called kv.apply_changes() in a transaction that has not ended", process->pid);
}

/* --- progress --- */

/* Fills the progress from a row. */
static void
read_progress_row(HeapTuple tuple, TupleDesc row_type, KvProgress *progress)
{
	Datum		values[PROGRESS_COLUMNS];
	bool		nulls[PROGRESS_COLUMNS];

	heap_deform_tuple(tuple, row_type, values, nulls);
	memset(progress, 0, sizeof(KvProgress));
	progress->round = DatumGetInt64(values[PROGRESS_ROUND - 1]);
	kv_done_from_datum(values[PROGRESS_BEFORE - 1], &progress->before);
	progress->in_batch = !nulls[PROGRESS_AFTER - 1];
	if (!progress->in_batch)
		return;
	kv_done_from_datum(values[PROGRESS_AFTER - 1], &progress->after);
	progress->position.log = DatumGetInt32(values[PROGRESS_LOG - 1]);
	progress->position.xid = DatumGetFullTransactionId(values[PROGRESS_XID - 1]);
	progress->position.number = DatumGetInt32(values[PROGRESS_NUMBER - 1]);
}

/* Reads the last row of one table of progress from a round on; false if there is none. */
static bool
read_last_row(int number, int64 from, KvProgress *progress)
{
	Relation	table = table_open(require_relation(psprintf("apply_progress_%d", number)), AccessShareLock);
	Relation	btree = index_open(require_relation(psprintf("apply_progress_%d_round", number)), AccessShareLock);
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	bool		found;

	ScanKeyInit(&key, PROGRESS_ROUND, BTGreaterEqualStrategyNumber, F_INT8GE, Int64GetDatum(from));
	scan = systable_beginscan_ordered(table, btree, NULL, from > 0 ? 1 : 0, &key);
	tuple = systable_getnext_ordered(scan, BackwardScanDirection);
	found = HeapTupleIsValid(tuple);
	if (found)
		read_progress_row(tuple, RelationGetDescr(table), progress);
	systable_endscan_ordered(scan);
	index_close(btree, AccessShareLock);
	table_close(table, AccessShareLock);
	return found;
}

/* Reads the last progress from a round on; false if there is none. */
static bool
read_progress(int64 from, KvProgress *progress)
{
	KvProgress	other;
	bool		found = read_last_row(0, from, progress);

	if (read_last_row(1, from, &other) && (!found || other.round > progress->round))
	{
		*progress = other;
		found = true;
	}
	return found;
}

/*
 * Reads the progress.
 *
 * It does not go back, so the round read last is where to look first: a scan
 * from the end would go over a whole page of rounds.
 */
void
kv_progress_read(KvProgress *progress)
{
	static int64 last_round = 0;

	if ((last_round > 0 && read_progress(last_round, progress)) || read_progress(0, progress))
		last_round = progress->round;
	else
	{
		last_round = 0;
		memset(progress, 0, sizeof(KvProgress));
		progress->before.xmin = FullTransactionIdFromEpochAndXid(0, FirstNormalTransactionId);
		progress->before.xmax = progress->before.xmin;
	}
}

/* Stores the progress as the next round's. */
void
kv_progress_write(KvProgress *progress)
{
	Datum		values[PROGRESS_COLUMNS] = {0};
	bool		nulls[PROGRESS_COLUMNS] = {false};
	Relation	table;
	Oid			relid;
	HeapTuple	tuple;

	progress->round++;
	relid = require_relation(psprintf("apply_progress_%d", (int) (progress->round / ROUNDS_PER_TABLE % 2)));
	/* not in a transaction block, which may stay open: who asks how far apply is would wait for it */
	if (progress->round % ROUNDS_PER_TABLE == 0 && !IsTransactionBlock() && ConditionalLockRelationOid(relid, AccessExclusiveLock))
	{
		table = table_open(relid, NoLock);
		kv_log_truncate_table(table);
		table_close(table, NoLock);
	}

	values[PROGRESS_ROUND - 1] = Int64GetDatum(progress->round);
	values[PROGRESS_BEFORE - 1] = kv_done_to_datum(&progress->before);
	if (progress->in_batch)
	{
		values[PROGRESS_AFTER - 1] = kv_done_to_datum(&progress->after);
		values[PROGRESS_LOG - 1] = Int32GetDatum(progress->position.log);
		values[PROGRESS_XID - 1] = FullTransactionIdGetDatum(progress->position.xid);
		values[PROGRESS_NUMBER - 1] = Int32GetDatum(progress->position.number);
	}
	else
		memset(&nulls[PROGRESS_AFTER - 1], true, sizeof(bool) * (PROGRESS_COLUMNS - PROGRESS_AFTER + 1));

	table = table_open(relid, RowExclusiveLock);
	tuple = heap_form_tuple(RelationGetDescr(table), values, nulls);
	CatalogTupleInsert(table, tuple);
	heap_freetuple(tuple);
	table_close(table, NoLock);
}

/* --- states --- */

/* Fills a state from a row of the table. */
static void
read_state_row(HeapTuple tuple, TupleDesc row_type, KvStateRow *row)
{
	Datum		values[KV_STATE_COLUMNS];
	bool		nulls[KV_STATE_COLUMNS];
	char	   *state;

	heap_deform_tuple(tuple, row_type, values, nulls);
	memset(row, 0, sizeof(KvStateRow));
	row->index = DatumGetObjectId(values[KV_STATE_INDEX - 1]);
	row->base = DatumGetObjectId(values[KV_STATE_BASE - 1]);
	state = TextDatumGetCString(values[KV_STATE_STATE - 1]);
	for (int i = 0; i < lengthof(state_names); i++)
		if (strcmp(state, state_names[i]) == 0)
			row->state = i;
	row->fingerprint = (uint64) DatumGetInt64(values[KV_STATE_FINGERPRINT - 1]);
	row->leaf = DatumGetObjectId(values[KV_STATE_LEAF - 1]);
	if (!nulls[KV_STATE_POSITION - 1])
		row->position = DatumGetByteaPCopy(values[KV_STATE_POSITION - 1]);
	if (!nulls[KV_STATE_ERROR - 1])
		row->error = TextDatumGetCString(values[KV_STATE_ERROR - 1]);
	if (!nulls[KV_STATE_ERROR_AT - 1])
		row->error_at = DatumGetTimestampTz(values[KV_STATE_ERROR_AT - 1]);
	if (!nulls[KV_STATE_RETRY_AT - 1])
		row->retry_at = DatumGetTimestampTz(values[KV_STATE_RETRY_AT - 1]);
	row->filled = DatumGetFullTransactionId(values[KV_STATE_FILLED - 1]);
}

/* Makes a row of the table. */
static HeapTuple
make_state_row(TupleDesc row_type, const KvStateRow *row)
{
	Datum		values[KV_STATE_COLUMNS] = {0};
	bool		nulls[KV_STATE_COLUMNS] = {false};

	values[KV_STATE_INDEX - 1] = ObjectIdGetDatum(row->index);
	values[KV_STATE_BASE - 1] = ObjectIdGetDatum(row->base);
	values[KV_STATE_STATE - 1] = CStringGetTextDatum(state_names[row->state]);
	values[KV_STATE_FINGERPRINT - 1] = Int64GetDatum((int64) row->fingerprint);
	values[KV_STATE_LEAF - 1] = ObjectIdGetDatum(row->leaf);
	values[KV_STATE_POSITION - 1] = PointerGetDatum(row->position);
	nulls[KV_STATE_POSITION - 1] = row->position == NULL;
	values[KV_STATE_ERROR - 1] = row->error ? CStringGetTextDatum(row->error) : (Datum) 0;
	nulls[KV_STATE_ERROR - 1] = row->error == NULL;
	values[KV_STATE_ERROR_AT - 1] = TimestampTzGetDatum(row->error_at);
	nulls[KV_STATE_ERROR_AT - 1] = row->error == NULL;
	values[KV_STATE_RETRY_AT - 1] = TimestampTzGetDatum(row->retry_at);
	nulls[KV_STATE_RETRY_AT - 1] = row->retry_at == 0;
	values[KV_STATE_FILLED - 1] = FullTransactionIdGetDatum(row->filled);
	return heap_form_tuple(row_type, values, nulls);
}

/* Returns a copy of the row of an index, or NULL. */
static HeapTuple
find_state_row(Relation table, Oid index)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, KV_STATE_INDEX, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(index));
	scan = systable_beginscan(table, require_relation("index_state_pkey"), true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		tuple = heap_copytuple(tuple);
	systable_endscan(scan);
	return tuple;
}

/* Reads the row of an index. */
bool
kv_state_read(Oid index, KvStateRow *row)
{
	Relation	table = table_open(require_relation("index_state"), AccessShareLock);
	HeapTuple	tuple = find_state_row(table, index);

	if (HeapTupleIsValid(tuple))
		read_state_row(tuple, RelationGetDescr(table), row);
	table_close(table, AccessShareLock);
	return HeapTupleIsValid(tuple);
}

/* Returns all rows. */
List *
kv_state_read_all(void)
{
	Relation	table = table_open(require_relation("index_state"), AccessShareLock);
	SysScanDesc scan = systable_beginscan(table, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	List	   *rows = NIL;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		KvStateRow *row = palloc(sizeof(KvStateRow));

		read_state_row(tuple, RelationGetDescr(table), row);
		rows = lappend(rows, row);
	}
	systable_endscan(scan);
	table_close(table, AccessShareLock);
	return rows;
}

/* Makes all sessions look again at a relation, if it is there. */
void
kv_state_look_again(Oid relid)
{
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		CacheInvalidateRelcacheByRelid(relid);
}

/*
 * Returns a copy of the row of an index, which nobody else can change or remove
 * any more, or NULL.  Without wait, *busy tells that somebody is about to.
 */
static HeapTuple
lock_state_row(Relation table, Oid index, bool wait, bool *busy)
{
	HeapTuple	tuple;

	*busy = false;

	while (!*busy && HeapTupleIsValid(tuple = find_state_row(table, index)))
	{
		HeapTupleData locked = {.t_self = tuple->t_self};
		TM_FailureData failure;
		Buffer		buffer;
		TM_Result	result = heap_lock_tuple(table, &locked, GetCurrentCommandId(true), LockTupleExclusive,
											 wait ? LockWaitBlock : LockWaitSkip, false, &buffer, &failure);

		ReleaseBuffer(buffer);
		if (result == TM_Ok)
			break;
		*busy = result == TM_WouldBlock;
		/* else somebody was faster */
		CHECK_FOR_INTERRUPTS();
	}
	return tuple;
}

/* Updates the row of an index; inserts it, if that is wanted, where there is none.  False if that is somebody else's to do. */
static bool
write_state(const KvStateRow *row, bool may_insert, bool wait)
{
	Relation	table = table_open(require_relation("index_state"), RowExclusiveLock);
	bool		busy;
	HeapTuple	old = lock_state_row(table, row->index, wait, &busy);
	HeapTuple	tuple = make_state_row(RelationGetDescr(table), row);

	if (!busy && HeapTupleIsValid(old))
		CatalogTupleUpdate(table, &old->t_self, tuple);
	else if (!busy && may_insert)
		CatalogTupleInsert(table, tuple);
	table_close(table, NoLock);
	CommandCounterIncrement();
	return !busy;
}

/* Updates what readers need not know of an index, unless its row was removed. */
bool
kv_state_write_quietly(const KvStateRow *row, bool wait)
{
	return write_state(row, false, wait);
}

/* Updates the row of an index, unless it was removed, and tells all sessions; inserts it if may_insert is set. */
bool
kv_state_write(const KvStateRow *row, bool may_insert, bool wait)
{
	if (!write_state(row, may_insert, wait))
		return false;
	kv_state_look_again(row->index);
	kv_state_look_again(row->base);
	CommandCounterIncrement();	/* we look again ourselves */
	return true;
}

/* Removes the row of an index. */
bool
kv_state_remove(Oid index, bool wait)
{
	Relation	table = table_open(require_relation("index_state"), RowExclusiveLock);
	HeapTuple	tuple;
	TM_Result	result = TM_Ok;

	while (HeapTupleIsValid(tuple = find_state_row(table, index)))
	{
		TM_FailureData failure;

		result = heap_delete(table, &tuple->t_self, GetCurrentCommandId(true), InvalidSnapshot, wait,
							 &failure, false);
		if (result == TM_Ok)
		{
			kv_state_look_again(index);
			CommandCounterIncrement();
		}
		if (result == TM_Ok || result == TM_BeingModified)
			break;
		/* apply has changed it, or removed it */
		CHECK_FOR_INTERRUPTS();
	}
	table_close(table, NoLock);
	return result != TM_BeingModified;
}

/* Removes the rows of all indexes of a base table. */
void
kv_state_remove_of_base(Oid base)
{
	ListCell   *cell;

	foreach(cell, kv_state_read_all())
		if (((KvStateRow *) lfirst(cell))->base == base)
			(void) kv_state_remove(((KvStateRow *) lfirst(cell))->index, true);
}
