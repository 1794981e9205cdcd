/*
 * index_retry.c
 *	  What could not be written to an index, and is tried again.
 *
 * An index that cannot be written to (a trigger of its owner fails, somebody
 * holds it locked, its disk is full) must not stop the others, nor keep the
 * change log from being truncated.  The records are moved to kv.change_retry,
 * one for each index, and the error is noted in kv.index_state.  They are
 * tried again after a while that doubles with each failure, up to a minute, or
 * to a few seconds where it is only locked, which is soon seen.
 * Records that come for the index meanwhile go there at once; order does not
 * matter (index_apply.c).
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
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "index/index_internal.h"

/* The columns of kv.change_retry. */
#define RETRY_INDEX		1		/* oid; 0: all of the base table */
#define RETRY_BASE		2		/* oid */
#define RETRY_AT		3		/* timestamptz: of the change */
#define RETRY_CHANGE	4		/* bytea */
#define RETRY_COLUMNS	4

#define MIN_PAUSE	1000		/* ms */
#define MAX_PAUSE	60000
#define MAX_LOCK_PAUSE	4000

/* What fails within so many ms costs little to try again; waiting for one lock takes less. */
#define QUICK_FAILURE	1000

/* With so many records kept, the indexes of a table are behind for good. */
#define MANY_KEPT	1000

/* How long a worker waits for a lock: of a row or a leaf of an index, and of a base table or its leaf. */
#define STEP_LOCK_TIMEOUT "500ms"
#define BASE_LOCK_TIMEOUT "40ms"

/* Errors are tried again whatever was noted, and told to the client. */
bool		kv_retry_by_hand = false;

/* Counts the records kept, to see whether there were new ones. */
static uint64 kept_records = 0;

/* Until when records that are kept for all of a base table are not tried again. */
static TimestampTz bases_retry_at = 0;

/* Base tables that were found locked, and until when records for one of their indexes are not tried again; the oldest goes first. */
#define MAX_LOCKED_BASES 16
typedef struct LockedBase
{
	Oid			base;
	TimestampTz retry_at;
} LockedBase;
static LockedBase locked_bases[MAX_LOCKED_BASES];

/* What kv_retry_write hands to its step. */
typedef struct WriteStep
{
	KvIndexWrite *writes;
	int			count;
} WriteStep;

/* Tells whether an error only says that somebody has a lock. */
static bool
is_lock_error(int code)
{
	return code == ERRCODE_LOCK_NOT_AVAILABLE || code == ERRCODE_T_R_DEADLOCK_DETECTED;
}

/* Returns how long to wait at most after an error, in ms: that nobody has a lock any more, or an index its owner, is soon seen. */
static int64
longest_pause(int code)
{
	return is_lock_error(code) || code == ERRCODE_KV_INDEX_NOT_READY ? MAX_LOCK_PAUSE : MAX_PAUSE;
}

/* Notes an error of an index and when to try again. */
static void
note_error(Oid index, Oid base, const char *message, int64 longest)
{
	KvStateRow	row;
	int64		pause = MIN_PAUSE;
	TimestampTz now = GetCurrentTimestamp();

	if (!kv_state_read(index, &row))
		return;
	if (row.error != NULL && row.retry_at > row.error_at)
		pause = Min(Max((row.retry_at - row.error_at) / 1000 * 2, MIN_PAUSE), longest);
	row.error = pstrdup(message);
	row.error_at = now;
	row.retry_at = TimestampTzPlusMilliseconds(now, pause);
	(void) kv_state_write_quietly(&row, false);
}

/*
 * Tells whether an error is about the session, not about an index.
 *
 * Its code alone does not tell: a trigger of the index's owner can raise it,
 * and is not to stop the worker by that.  A lock that was waited for too long
 * is told in the same place.
 */
static bool
is_session_error(const ErrorData *error)
{
	return error->funcname != NULL && strcmp(error->funcname, "ProcessInterrupts") == 0 &&
		error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE;
}

/* Opens an index for a step, without waiting for its lock. */
static KvTable *
open_for_step(Oid index)
{
	KvTable    *table;

	if (!kv_index_lock_to_apply(index, RowExclusiveLock))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("index \"%s\" is locked", get_rel_name(index))));
	table = kv_table_open_index(index, RowExclusiveLock);
	if (table->index->foreign_owner)
		ereport(ERROR,
				(errcode(ERRCODE_KV_INDEX_NOT_READY),
				 errmsg("index \"%s\" has another owner than its table", get_rel_name(index)),
				 errhint("Give it the same with ALTER TABLE .. OWNER TO.")));
	return table;
}

/* What is run in a subtransaction. */
typedef void (*Work) (void *argument);

/* How long a worker lets it take: for a lock, as the setting has it, and in all, in ms (0: no limit). */
typedef struct Patience
{
	const char *lock_timeout;
	int			limit;
} Patience;

/* Runs work within its time, by the timeout of statements, which a worker has none of. */
static void
run_in_time(const Patience *patience, Work work, void *argument)
{
	int			nest_level = NewGUCNestLevel();

	(void) set_config_option("lock_timeout", patience->lock_timeout, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	if (patience->limit > 0)
		enable_timeout_after(STATEMENT_TIMEOUT, patience->limit);
	work(argument);
	if (patience->limit > 0)
	{
		disable_timeout(STATEMENT_TIMEOUT, false);
		/* it may have come at the last moment: then it is about this work, not about what follows */
		CHECK_FOR_INTERRUPTS();
	}
	AtEOXact_GUC(true, nest_level);
}

/* Returns what an error of such work says. */
static char *
describe_error(const ErrorData *error, const Patience *patience, bool timed_out)
{
	if (timed_out)
		return psprintf("it took longer than key_value.index_write_timeout, %d ms", patience->limit);
	return error->detail ? psprintf("%s (%s)", error->message, error->detail) : pstrdup(error->message);
}

/* Runs something in a subtransaction, in which a worker is patient so far; returns what the error said, and its code, or NULL. */
static char *
run_in_subtransaction(const Patience *patience, Work work, void *argument, int *code)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	Oid			written_index = kv_table_written_index;
	TimestampTz start = GetCurrentTimestamp();
	char	   *volatile message = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		if (kv_retry_by_hand)
			work(argument);
		else
			run_in_time(patience, work, argument);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;
		bool		timed_out;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		timed_out = error->sqlerrcode == ERRCODE_QUERY_CANCELED && !kv_retry_by_hand && patience->limit > 0 &&
			TimestampDifferenceExceeds(start, GetCurrentTimestamp(), patience->limit);
		if (patience->limit > 0 && !kv_retry_by_hand)
		{
			/* it may have come after the error: what follows is not meant */
			if (get_timeout_indicator(STATEMENT_TIMEOUT, true))
				QueryCancelPending = false;
			disable_timeout(STATEMENT_TIMEOUT, false);
		}
		FlushErrorState();
		kv_table_written_index = written_index;
		RollbackAndReleaseCurrentSubTransaction();
		CurrentResourceOwner = owner;
		MemoryContextSwitchTo(caller);
		/* not before the subtransaction is gone: who catches it ends his own alone */
		if (is_session_error(error) && !timed_out)
			ReThrowError(error);
		message = describe_error(error, patience, timed_out);
		*code = error->sqlerrcode;
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	return message;
}

/* A step about one index. */
typedef struct IndexStep
{
	Oid			index;
	KvIndexStep step;
	void	   *argument;
} IndexStep;

/* Runs it. */
static void
run_index_step(void *argument)
{
	IndexStep  *step = argument;

	step->step(open_for_step(step->index), step->argument);
}

/* Runs a step about one index in a subtransaction; notes an error and returns false. */
bool
kv_retry_guarded(Oid index, Oid base, KvIndexStep step, void *argument)
{
	IndexStep	index_step = {index, step, argument};
	Patience	patience = {STEP_LOCK_TIMEOUT, kv_guc_index_write_timeout};
	int			code;
	TimestampTz start = GetCurrentTimestamp();
	char	   *message = run_in_subtransaction(&patience, run_index_step, &index_step, &code);
	bool		quick;

	if (message == NULL)
		return true;
	quick = !TimestampDifferenceExceeds(start, GetCurrentTimestamp(), QUICK_FAILURE);
	/* nobody misses what an index lacks that was dropped meanwhile */
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(index)))
		return false;
	ereport(kv_retry_by_hand ? WARNING : LOG,
			(errmsg("could not write to index \"%s\": %s", get_rel_name(index), message)));
	/* a trigger of the index's owner can raise any code, after as long as it likes */
	note_error(index, base, message, quick ? longest_pause(code) : MAX_PAUSE);
	return false;
}

/* Records of one base table. */
typedef struct Records
{
	Oid			base;
	Oid			only;
	KvLogRecord *records;
	int			count;
} Records;

/* Applies them. */
static void
apply_records(void *argument)
{
	Records    *records = argument;

	PushActiveSnapshot(GetLatestSnapshot());
	kv_apply_records(records->base, records->only, records->records, records->count);
	PopActiveSnapshot();
}

/* Notes an error with an index, or with all indexes of a base table, and tells of it. */
static void
note_error_of_relation(Oid relid, const char *message, int code)
{
	ListCell   *cell;

	ereport(kv_retry_by_hand ? WARNING : LOG,
			(errmsg("could not keep indexes right because of \"%s\": %s", get_rel_name(relid), message)));
	foreach(cell, kv_state_read_all())
	{
		KvStateRow *row = lfirst(cell);

		if (row->base == relid || row->index == relid)
			note_error(row->index, row->base, message, longest_pause(code));
	}
}

/* Keeps records for an index, or for each index of their base table. */
static void
keep_for_each(const Records *records)
{
	ListCell   *cell;

	foreach(cell, kv_state_read_all())
	{
		KvStateRow *row = lfirst(cell);

		if (row->base != records->base || (OidIsValid(records->only) && row->index != records->only))
			continue;
		for (int i = 0; i < records->count; i++)
			kv_retry_keep(row->index, &records->records[i]);
	}
}

/* Says that somebody has a base table locked, or a row about an index; for a while nothing is tried that needs it. */
static void
note_lock(Oid base, const char *message)
{
	static uint32 count = 0;
	LockedBase *locked = &locked_bases[count++ % MAX_LOCKED_BASES];

	ereport(kv_retry_by_hand ? WARNING : LOG,
			(errmsg("could not apply changes of table \"%s\": %s", get_rel_name(base), message)));
	bases_retry_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), MIN_PAUSE);
	locked->base = base;
	locked->retry_at = bases_retry_at;
}

/* Tells whether a base table was found locked so short a time ago that it is not tried. */
static bool
was_locked(Oid base)
{
	TimestampTz now = GetCurrentTimestamp();

	for (int i = 0; i < MAX_LOCKED_BASES && !kv_retry_by_hand; i++)
		if (locked_bases[i].base == base && locked_bases[i].retry_at > now)
			return true;
	return false;
}

/*
 * Applies records of one base table.  What stands in the way, as somebody who
 * has the table or a row about an index locked for longer than a worker waits,
 * or a table that cannot be read, stops these records and no others.
 */
void
kv_retry_apply(Oid base, KvLogRecord *records, int count)
{
	Records		work = {base, InvalidOid, records, count};
	Patience	patience = {BASE_LOCK_TIMEOUT, 0};
	int			code;
	char	   *message = run_in_subtransaction(&patience, apply_records, &work, &code);

	if (message == NULL || !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(base)))
		return;
	if (!is_lock_error(code))
	{
		note_error_of_relation(base, message, code);
		keep_for_each(&work);
		return;
	}
	for (int i = 0; i < count; i++)
		kv_retry_keep(InvalidOid, &records[i]);
	note_lock(base, message);
}

/* Runs a function about an index in a subtransaction; an error is noted. */
void
kv_retry_look(Oid index, KvLook look, void *argument)
{
	Patience	patience = {STEP_LOCK_TIMEOUT, kv_guc_index_write_timeout};
	int			code;
	char	   *message = run_in_subtransaction(&patience, look, argument, &code);

	if (message != NULL && SearchSysCacheExists1(RELOID, ObjectIdGetDatum(index)))
		note_error_of_relation(index, message, code);
}

/* Writes to the index, as a step. */
static void
write_step(KvTable *index, void *argument)
{
	WriteStep  *step = argument;

	kv_index_write(index, step->writes, step->count);
}

/* Tells whether an index, or any base table for InvalidOid, failed so short a time ago that it is not tried. */
static bool
is_paused(Oid index)
{
	KvStateRow	row;

	if (kv_retry_by_hand)
		return false;
	if (!OidIsValid(index))
		return bases_retry_at > GetCurrentTimestamp();
	return kv_state_read(index, &row) && row.retry_at > GetCurrentTimestamp();
}

/*
 * Returns how many of at most limit records or items to try of an index that
 * failed: fewer with each failure, since it may take too much time for each, and
 * more again with each success (ease_error).
 */
int
kv_retry_limit(const KvStateRow *row, int limit)
{
	int64		pause = row->error != NULL ? (row->retry_at - row->error_at) / 1000 : 0;
	int64		share = Max(pause / MIN_PAUSE, 1);

	return kv_retry_by_hand ? limit : Max(limit / (share * share), 1);
}

/* Writes to an index in a subtransaction. */
bool
kv_retry_write(KvTable *index, KvIndexWrite *writes, int count)
{
	WriteStep	step = {writes, count};

	if (count == 0)
		return true;
	if (is_paused(index->relid))
		return false;
	return kv_retry_guarded(index->relid, index->index->base_relid, write_step, &step);
}

/* Opens kv.change_retry. */
static Relation
open_retry(LOCKMODE lockmode)
{
	Oid			relid = kv_table_extension_relation("change_retry");

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"kv.change_retry\" does not exist"),
				 errhint("Install the extension key_value anew, or update it.")));
	return table_open(relid, lockmode);
}

/* Keeps a record for an index, or for all of its base table. */
void
kv_retry_keep(Oid index, const KvLogRecord *record)
{
	Relation	table = open_retry(RowExclusiveLock);
	bytea	   *change = palloc(VARHDRSZ + record->length);
	Datum		values[RETRY_COLUMNS];
	bool		nulls[RETRY_COLUMNS] = {false};
	HeapTuple	tuple;

	SET_VARSIZE(change, VARHDRSZ + record->length);
	memcpy(VARDATA(change), record->record, record->length);
	values[RETRY_INDEX - 1] = ObjectIdGetDatum(index);
	values[RETRY_BASE - 1] = ObjectIdGetDatum(record->base_relid);
	values[RETRY_AT - 1] = TimestampTzGetDatum(record->at);
	values[RETRY_CHANGE - 1] = PointerGetDatum(change);
	tuple = heap_form_tuple(RelationGetDescr(table), values, nulls);
	CatalogTupleInsert(table, tuple);
	heap_freetuple(tuple);
	pfree(change);
	table_close(table, NoLock);
	kept_records++;
}

/* Returns the index or the base table of a record of the table. */
static Oid
oid_of_row(HeapTuple tuple, int column, Relation table)
{
	bool		isnull;

	return DatumGetObjectId(heap_getattr(tuple, column, RelationGetDescr(table), &isnull));
}

/* Copies a record of the table. */
static void
read_row(HeapTuple tuple, TupleDesc row_type, KvLogRecord *record)
{
	Datum		values[RETRY_COLUMNS];
	bool		nulls[RETRY_COLUMNS];
	bytea	   *change;

	heap_deform_tuple(tuple, row_type, values, nulls);
	record->base_relid = DatumGetObjectId(values[RETRY_BASE - 1]);
	record->at = DatumGetTimestampTz(values[RETRY_AT - 1]);
	change = DatumGetByteaPCopy(values[RETRY_CHANGE - 1]);
	record->length = VARSIZE(change) - VARHDRSZ;
	record->record = VARDATA(change);
}

/* Starts a scan of the records for an index, or for all of a base table for InvalidOid: those of one base table, or of it and all that follow. */
static SysScanDesc
begin_rows(Relation table, Oid index, StrategyNumber strategy, Oid base)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], RETRY_INDEX, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(index));
	ScanKeyInit(&keys[1], RETRY_BASE, strategy, strategy == BTEqualStrategyNumber ? F_OIDEQ : F_OIDGE,
				ObjectIdGetDatum(base));
	return systable_beginscan(table, kv_table_extension_relation("change_retry_index_base"), true, NULL, 2, keys);
}

/* Starts a scan of the records for an index and all that follow, or for those alone. */
static SysScanDesc
begin_indexes(Relation table, StrategyNumber strategy, Oid index)
{
	ScanKeyData key;

	ScanKeyInit(&key, RETRY_INDEX, strategy, strategy == BTGreaterStrategyNumber ? F_OIDGT : F_OIDGE,
				ObjectIdGetDatum(index));
	return systable_beginscan(table, kv_table_extension_relation("change_retry_index_base"), true, NULL, 1, &key);
}

/* Reads the index and the base table of the first record of a scan, and ends it; false if there is none. */
static bool
read_first(Relation table, SysScanDesc scan, KvRetryPlace *place)
{
	HeapTuple	tuple = systable_getnext(scan);
	bool		found = HeapTupleIsValid(tuple);

	if (found)
	{
		place->index = oid_of_row(tuple, RETRY_INDEX, table);
		place->base = oid_of_row(tuple, RETRY_BASE, table);
	}
	systable_endscan(scan);
	return found;
}

/* Goes from a place to the first, it or one behind it, that has records to be tried now; false if there is none. */
static bool
find_due(Relation table, KvRetryPlace *place)
{
	bool		found = OidIsValid(place->base) &&
		read_first(table, begin_rows(table, place->index, BTGreaterEqualStrategyNumber, place->base), place);
	StrategyNumber strategy = OidIsValid(place->base) ? BTGreaterStrategyNumber : BTGreaterEqualStrategyNumber;

	while (!found || is_paused(place->index) || was_locked(place->base))
	{
		CHECK_FOR_INTERRUPTS();
		found = read_first(table, begin_indexes(table, strategy, place->index), place);
		if (!found)
			return false;
		strategy = BTGreaterStrategyNumber;
	}
	return true;
}

/* Takes records of an index, or of any for InvalidOid, and of one base table out of the table: at most count. */
static void
take_records(Relation table, Records *records, int count)
{
	SysScanDesc scan = begin_rows(table, records->only, BTEqualStrategyNumber, records->base);
	HeapTuple	tuple;
	Size		bytes = 0;

	records->count = 0;
	while (records->count < count && bytes < KV_PIECE_BYTES && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		KvLogRecord *record = &records->records[records->count];

		CHECK_FOR_INTERRUPTS();
		read_row(tuple, RelationGetDescr(table), record);
		simple_heap_delete(table, &tuple->t_self);
		bytes += record->length;
		records->count++;
	}
	systable_endscan(scan);
	CommandCounterIncrement();
}

/* Tells whether records are kept for an index. */
static bool
has_kept(Oid index)
{
	Relation	table = open_retry(AccessShareLock);
	KvRetryPlace place;
	bool		found = read_first(table, begin_rows(table, index, BTGreaterEqualStrategyNumber, InvalidOid), &place);

	table_close(table, NoLock);
	return found;
}

/* Tells whether records of a base table are kept for one of its indexes, or for all of them. */
bool
kv_retry_has_kept(Oid base, Oid index)
{
	Relation	table = open_retry(AccessShareLock);
	Oid			kept_for[] = {InvalidOid, index};
	bool		found = false;

	for (int i = 0; i < lengthof(kept_for) && !found; i++)
	{
		KvRetryPlace place;

		found = read_first(table, begin_rows(table, kept_for[i], BTEqualStrategyNumber, base), &place);
	}
	table_close(table, AccessShareLock);
	return found;
}

/* Tells whether what is kept takes more than so many pages and a good part of it is of indexes of the base table. */
bool
kv_retry_exceeds(Oid base, uint64 pages)
{
	Relation	table = open_retry(AccessShareLock);
	int			kept = 0;

	if (RelationGetNumberOfBlocks(table) > pages)
	{
		KvTable    *base_table = kv_table_lookup(base);

		for (int i = -1; base_table != NULL && i < base_table->global_count && kept < MANY_KEPT; i++)
		{
			SysScanDesc scan = begin_rows(table, i < 0 ? InvalidOid : base_table->global_relid[i], BTEqualStrategyNumber, base);

			while (kept < MANY_KEPT && HeapTupleIsValid(systable_getnext(scan)))
				kept++;
			systable_endscan(scan);
		}
	}
	table_close(table, AccessShareLock);
	return kept == MANY_KEPT;
}

/* Calls a function for each record that is kept. */
void
kv_retry_each(KvRetryVisitor visit, List *argument)
{
	Relation	table = open_retry(AccessShareLock);
	SysScanDesc scan = systable_beginscan(table, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		KvLogRecord record;

		CHECK_FOR_INTERRUPTS();
		read_row(tuple, RelationGetDescr(table), &record);
		visit(argument, record.base_relid, oid_of_row(tuple, RETRY_INDEX, table), record.at);
		pfree(record.record - VARHDRSZ);
	}
	systable_endscan(scan);
	table_close(table, AccessShareLock);
}

/*
 * Clears the error of an index of which nothing is left to try.  Otherwise
 * what was just written shows that it can be: half the pause is noted, so that
 * more is tried at a time.
 */
static void
ease_error(Oid index)
{
	KvStateRow	row;

	if (!OidIsValid(index) || !kv_state_read(index, &row) || row.error == NULL)
		return;
	if (has_kept(index))
	{
		if ((row.retry_at - row.error_at) / 1000 <= MIN_PAUSE)
			return;
		row.retry_at -= (row.retry_at - row.error_at) / 2;
	}
	else
	{
		row.error = NULL;
		row.retry_at = 0;
	}
	(void) kv_state_write_quietly(&row, false);
}

/* What is tried again in one step. */
typedef struct RetryStep
{
	Relation	table;
	int			limit;
	Records		records;
} RetryStep;

/* Takes records out of the table and applies them; what fails for one index is kept anew. */
static void
take_and_apply(void *argument)
{
	RetryStep  *step = argument;

	take_records(step->table, &step->records, step->limit);
	apply_records(&step->records);
}

/* Tries records of an index, or of a base table for InvalidOid, again; false if some are kept still. */
static bool
try_again(RetryStep *step)
{
	Patience	patience = {BASE_LOCK_TIMEOUT, 0};
	Records    *records = &step->records;
	uint64		kept_before = kept_records;
	int			code;
	char	   *message = run_in_subtransaction(&patience, take_and_apply, step, &code);

	CommandCounterIncrement();
	if (message == NULL)
		return kept_records == kept_before;
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(records->base)))
		return false;			/* dropped just now: the next time they go */
	if (is_lock_error(code))
		/* they are where they were: that a table is locked for long costs nothing in kv.change_retry */
		note_lock(records->base, message);
	else
	{
		note_error_of_relation(records->base, message, code);
		take_records(step->table, records, records->count);
		keep_for_each(records);
	}
	return false;
}

/* Tries again what is due. */
bool
kv_retry_due(int limit, KvRetryResult *result)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value retry", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RetryStep	step = {.table = open_retry(RowExclusiveLock),.limit = limit};
	Records    *records = &step.records;
	KvStateRow	row;
	bool		done = true;
	KvRetryPlace place = result->from;
	bool		found = find_due(step.table, &place);

	result->count = 0;
	if (found)
	{
		records->only = place.index;
		records->base = place.base;
		if (OidIsValid(records->only) && kv_state_read(records->only, &row))
			step.limit = kv_retry_limit(&row, limit);
		/* not for an index of which fewer are tried, since it failed */
		if (step.limit == limit)
			step.limit *= result->batches;
		records->records = palloc(sizeof(KvLogRecord) * step.limit);
		done = try_again(&step);
		if (done)
		{
			ease_error(records->only);
			result->count = records->count;
		}
		result->from = place;
		if (!done && ++result->from.base == InvalidOid)
			result->from.index++;
	}
	table_close(step.table, NoLock);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	result->failed = !done || is_paused(InvalidOid);
	return found;
}
