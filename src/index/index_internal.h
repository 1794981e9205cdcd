/*
 * index_internal.h
 *	  What the files of the room index share among themselves.
 */
#ifndef KV_INDEX_INDEX_INTERNAL_H
#define KV_INDEX_INDEX_INTERNAL_H

#include "access/htup.h"
#include "access/transam.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "storage/proc.h"
#include "utils/snapshot.h"

#include "index/index.h"
#include "store/store.h"

/* --- index_change.c: what a record of the change log says --- */

/* The old key of one index: the attributes of it that are not keys of the base table. */
typedef struct KvOldKey
{
	Oid			index;
	Datum		key[KV_MAX_TABLE_KEYS]; /* by position in the index key; unset where a base key is */
} KvOldKey;

/* One change of one item. */
typedef struct KvChange
{
	Datum		base_key[KV_MAX_TABLE_KEYS];
	int			old_count;
	KvOldKey	old[KV_MAX_GLOBAL_INDEXES];
} KvChange;

/* Starts a record with the key of an item. */
extern void kv_change_begin(StringInfo record, const KvKeySchema *base, const Datum *base_key);

/* Adds where the row was put, which comes next; NULL where it was removed. */
extern void kv_change_add_place(StringInfo record, const ItemPointerData *place);

/* Adds the old key of an index. */
extern void kv_change_add_old(StringInfo record, const KvIndex *index, const Datum *key);

/* Tells whether the item's key still has the form that the record has it in; what follows counts on that. */
extern bool kv_change_fits(const KvKeySchema *base, const char *record);

/* Reads the item's key; returns how long that part of the record is. */
extern int	kv_change_read_key(const KvKeySchema *base, const char *record, Datum *base_key);

/* Reads where the row was put, invalid where it was removed; returns where the old keys begin. */
extern int	kv_change_read_place(const char *record, int key_length, ItemPointer place);

/*
 * Goes through the old keys of a record: *offset starts as
 * kv_change_read_place() says.  Reads the next index and where its key is;
 * false at the end.
 */
extern bool kv_change_next_old(const char *record, int length, int *offset, Oid *index, int *key_offset);

/* Reads an old key, found so, of an index; false if the index has another form by now. */
extern bool kv_change_read_old(const char *record, int key_offset, const KvIndex *index, Datum *key);

/* --- index_entry.c: what an index holds of an item --- */

/* What one index is to hold of one item, or holds. */
typedef struct KvIndexEntry
{
	Datum		key[KV_MAX_KEYS];
	Jsonb	   *rest;
} KvIndexEntry;

/* Fills the whole key of an entry from the attributes among it and the base key. */
extern void kv_entry_complete_key(const KvIndex *index, const Datum *base_key, Datum *key);

/* Fills the entry of an item; false if the index has none of it, since an attribute is missing or cannot be a key. */
extern bool kv_entry_make(const KvTable *index, const KvItemView *item, KvIndexEntry *entry);

/* Raises KV007 if the key takes more room than an entry of a btree has. */
extern void kv_entry_check_size(const KvIndex *index, const Datum *key);

/* --- index_snapshot.c: which transactions are done --- */

/*
 * What a snapshot says about transactions, as type pg_snapshot: those below
 * xmax that are not in xip are done.  Subtransactions do not count.
 */
typedef struct KvDone
{
	FullTransactionId xmin;
	FullTransactionId xmax;
	int			xip_count;
	FullTransactionId *xip;		/* ascending */
} KvDone;

extern void kv_done_from_snapshot(Snapshot snapshot, KvDone *done);
extern void kv_done_from_datum(Datum datum, KvDone *done);
extern Datum kv_done_to_datum(const KvDone *done);
extern bool kv_done_includes(const KvDone *done, FullTransactionId xid);

/* Takes the current transaction out of those that are done. */
extern void kv_done_exclude_current(KvDone *done);

/* --- index_log.c: the change log --- */

/* Tables of the log, used in turn. */
#define KV_LOG_COUNT 8

/* From this many pages on a table of the log is left for another. */
#define KV_LOG_FULL_PAGES 1024

/* Appends a record to the log. */
extern void kv_log_append(Oid base_relid, const StringInfo record);

/* Bytes of records that are read at a time. */
#define KV_PIECE_BYTES (16 * 1024 * 1024)

/* A record that was read. */
typedef struct KvLogRecord
{
	Oid			base_relid;
	TimestampTz at;
	int			length;
	char	   *record;			/* in the memory context of the reading */
	int			key_length;		/* of its part that is the item's key; apply's own */
} KvLogRecord;

/* A place in the log. */
typedef struct KvLogPosition
{
	int			log;
	FullTransactionId xid;
	int32		number;
} KvLogPosition;

typedef struct KvLogScan KvLogScan;

/*
 * Starts reading the records of transactions that are done by after and not
 * by before, as the snapshot sees them, behind a position if that is not NULL.
 */
extern KvLogScan *kv_log_begin(Snapshot snapshot, const KvDone *before, const KvDone *after,
							   const KvLogPosition *behind);

/* Reads the next record, in CurrentMemoryContext, and where it is; false at the end. */
extern bool kv_log_next(KvLogScan *scan, KvLogRecord *record, KvLogPosition *position);
extern void kv_log_end(KvLogScan *scan);

/* Truncates the tables of the log that are full and hold nothing that is not done, unless somebody uses them. */
extern void kv_log_truncate(const KvDone *applied);

/* Gives a table of the extension new, empty files; it is locked in ACCESS EXCLUSIVE mode. */
extern void kv_log_truncate_table(Relation heap);

/* --- index_state.c: rows of kv.index_state and kv.apply_progress --- */

/* How far apply has come. */
typedef struct KvProgress
{
	int64		round;
	KvDone		before;			/* all of these are applied */
	bool		in_batch;		/* in the middle of what lies between before and after */
	KvDone		after;
	KvLogPosition position;		/* applied up to here */
} KvProgress;

/* Reads the progress; everything that was logged counts as not applied where there is none. */
extern void kv_progress_read(KvProgress *progress);

/* Stores it as the next round's. */
extern void kv_progress_write(KvProgress *progress);

/* Returns the name of a state, as kv.index_state and kv.indexes have it. */
extern const char *kv_index_state_name(KvIndexState state);

/* One row of kv.index_state. */
typedef struct KvStateRow
{
	Oid			index;
	Oid			base;
	KvIndexState state;
	uint64		fingerprint;
	Oid			leaf;			/* of the backfill: being read */
	bytea	   *position;		/* behind this key; NULL: from the start */
	char	   *error;			/* NULL: none */
	TimestampTz error_at;
	TimestampTz retry_at;		/* 0: none */
	FullTransactionId filled;	/* the transaction that made it ACTIVE */
} KvStateRow;

/* Reads the row of an index; false if there is none. */
extern bool kv_state_read(Oid index, KvStateRow *row);

/* Returns all rows, a list of KvStateRow. */
extern List *kv_state_read_all(void);

/*
 * Updates the row of an index, unless it was removed, and tells all sessions;
 * inserts it if may_insert is set.  False, without wait, if somebody else is
 * about to change or remove it.
 */
extern bool kv_state_write(const KvStateRow *row, bool may_insert, bool wait);

/*
 * Updates what readers need not know, position and error, unless the row was
 * removed meanwhile.  False, without wait, if somebody else is about to.
 */
extern bool kv_state_write_quietly(const KvStateRow *row, bool wait);

/* Removes the row of an index: it is in doubt, or gone.  False, without wait, if somebody else is about to change it. */
extern bool kv_state_remove(Oid index, bool wait);

/* Removes the rows of all indexes of a base table. */
extern void kv_state_remove_of_base(Oid base);

/* Makes all sessions look again at a base table or an index, if it is there, once the transaction has committed. */
extern void kv_state_look_again(Oid relid);

/* Takes the lock that one session at a time applies under; false if it is taken and wait is not set. */
extern bool kv_apply_lock(bool wait);

/* Describes the other session that has it in a transaction by hand; NULL if there is none. */
extern char *kv_apply_describe_holder(void);

/* --- index_capture.c --- */

/* Makes the store call capture directly where there is no other trigger. */
extern void kv_index_install_capture(void);

/* --- index_wake.c: how far the worker is behind --- */

/* Tells whether a process is the worker of the current database. */
extern bool kv_index_is_worker(const PGPROC *process);

/* Tells for how long the oldest change has waited that the worker of the current database has not applied, in us. */
extern int64 kv_index_measure_lag(bool *is_filling);

/* For a worker: a batch begins, before its snapshot is taken; it is applied; an index is being filled. */
extern void kv_index_begin_batch(void);
extern void kv_index_end_batch(void);
extern void kv_index_say_filling(bool is_filling);

/* --- index_pace.c: writers that the worker cannot keep up with --- */

/* Pauses before a record is written, if the indexes are too far behind. */
extern void kv_index_keep_pace(void);

/* Ends the transaction's count of records. */
extern void kv_index_end_pace(void);

/* --- index_doubt.c --- */

/* Notes that a base table, an index or a leaf of one has other rows than it should, or its indexes were told of. */
extern void kv_index_note_doubt(Oid relid);

/* Notes that an index was made, which what was done to its table before is no reason to doubt. */
extern void kv_index_note_made(Oid index);

/* Makes the indexes of a table follow its truncation; called by its trigger. */
extern void kv_index_after_truncate(Oid base_relid);

/* Installs what notes doubts. */
extern void kv_index_watch_doubts(void);

/* --- index_write.c: writing to index tables --- */

/* What to go back to after acting as the owner of a relation. */
typedef struct KvOwnerSwitch
{
	Oid			user;
	int			context;
	int			nest_level;
	Oid			written_index;
} KvOwnerSwitch;

/*
 * Acts as the owner of an index, in a security-restricted operation with a
 * safe search path, and as who may write to it.  An error undoes it when
 * its subtransaction ends, but for kv_table_written_index.
 */
extern void kv_index_become_owner(Oid index, KvOwnerSwitch *saved);
extern void kv_index_become_again(const KvOwnerSwitch *saved);

/* Tells whether a relation is the table of the index that is being written to, or a leaf of it. */
extern bool kv_index_is_written(Oid relid);

/* One thing to do in an index. */
typedef struct KvIndexWrite
{
	int			leaf;
	Datum		key[KV_MAX_KEYS];
	Jsonb	   *rest;			/* NULL: remove the entry, if it is there */
} KvIndexWrite;

/* Makes the index agree, in the order of its keys; all as the owner of the index. */
extern void kv_index_write(KvTable *index, KvIndexWrite *writes, int count);

/* --- index_order.c --- */

/* Something with a key that is to be put in order. */
typedef struct KvOrdered
{
	int			leaf;
	uint64		head;			/* filled by kv_order */
	const Datum *key;
	void	   *thing;
} KvOrdered;

/* Puts things in order by leaf and key. */
extern void kv_order(const KvKeySchema *schema, KvOrdered *things, int count);

/* Tells whether two that kv_order put in order have one leaf and key. */
extern bool kv_order_same(const KvKeySchema *schema, const KvOrdered *a, const KvOrdered *b);

/* --- index_lock.c --- */

/* As many turns as it takes, within lock_timeout. */
#define KV_ANY_TURNS PG_INT32_MAX

/*
 * Locks a table with all its partitions in at most so many turns, each of which
 * holds its other users off for some 40 ms; false if that was not enough.
 */
extern bool kv_index_lock_with_partitions(Oid relid, LOCKMODE lockmode, int turns);

/* Locks a table or index in one turn; false if that was not enough. */
extern bool kv_index_lock_soon(Oid relid, LOCKMODE lockmode);

/* Locks a table or index to apply changes to it; false if somebody has it locked, and not just for a moment. */
extern bool kv_index_lock_to_apply(Oid relid, LOCKMODE lockmode);

/* --- index_create.c --- */

/* Set while kv.create_global_index makes tables and triggers, which puts nothing in doubt. */
extern bool kv_index_is_creating;

/* --- index_hooks.c --- */

/* Installs the hooks that see what is done to base tables and indexes by DDL. */
extern void kv_index_install_hooks(void);

/* --- index_apply.c --- */

/* Applies records of one base table to all its indexes, or to one of them if only is set. */
extern void kv_apply_records(Oid base_relid, Oid only, KvLogRecord *records, int count);

/* Works off a piece of the log and stores the progress; returns how many records there were, and whether all is done. */
extern int	kv_apply_piece(int limit, bool *ended);

/* --- index_retry.c: what could not be written --- */

/* Calls kv_apply_records, and keeps the records if the table cannot be read or a worker cannot have a lock that it needs. */
extern void kv_retry_apply(Oid base, KvLogRecord *records, int count);

/*
 * Writes to an index in a subtransaction.  False if that failed, or is not
 * tried since it failed a moment ago: then the caller keeps the records.
 */
extern bool kv_retry_write(KvTable *index, KvIndexWrite *writes, int count);

/* Keeps a record for an index, or for all of its base table (InvalidOid), to be tried again. */
extern void kv_retry_keep(Oid index, const KvLogRecord *record);

/* Tells whether records of a base table are kept for one of its indexes, or for all of them. */
extern bool kv_retry_has_kept(Oid base, Oid index);

/* Tells whether what is kept takes more than so many pages and a good part of it is of indexes of the base table. */
extern bool kv_retry_exceeds(Oid base, uint64 pages);

/* Returns how many of at most limit records or items to try of an index: fewer after failures. */
extern int	kv_retry_limit(const KvStateRow *row, int limit);

/* Calls a function for each record that is kept: its base table, its index or InvalidOid, and when it was made. */
typedef void (*KvRetryVisitor) (List *argument, Oid base, Oid index, TimestampTz at);
extern void kv_retry_each(KvRetryVisitor visit, List *argument);

/* A place among what is to be tried again, which is in order of these two. */
typedef struct KvRetryPlace
{
	Oid			index;			/* InvalidOid: all of the base table's */
	Oid			base;
} KvRetryPlace;

/* What came of trying again. */
typedef struct KvRetryResult
{
	KvRetryPlace from;			/* in and out: the place to begin with, zeros for the first; behind one that failed */
	int			batches;		/* in: how often the limit, for what has not failed */
	int			count;			/* records that are done with */
	bool		failed;			/* some are kept still, and to be tried soon */
} KvRetryResult;

/* Tries again at most limit records of the first index and base table that are due; false if none are. */
extern bool kv_retry_due(int limit, KvRetryResult *result);

/* Set while kv.apply_changes() runs: errors are tried again whatever was noted, and told to the client. */
extern bool kv_retry_by_hand;

/* Runs a step about one index in a subtransaction; notes an error and returns false. */
typedef void (*KvIndexStep) (KvTable *index, void *argument);
extern bool kv_retry_guarded(Oid index, Oid base, KvIndexStep step, void *argument);

/* Runs a function about an index in a subtransaction; an error is noted. */
typedef void (*KvLook) (void *argument);
extern void kv_retry_look(Oid index, KvLook look, void *argument);

/* --- index_backfill.c --- */

/*
 * Does one chunk of what is to be filled; returns the number of items gone
 * over, 0 if nothing is to be filled or could be.  *failed tells that an index
 * could not be written to, now or before.
 */
extern int64 kv_backfill_chunk(int limit, bool *failed);

/* Returns the OIDs of all global indexes of the database. */
extern List *kv_backfill_list_indexes(void);

/* Makes the index go when its base table does. */
extern void kv_backfill_record_dependency(Oid index, Oid base);

/* Begins to fill an index that is defined and not known, or in doubt; wait tells whether to wait for locks. */
extern void kv_backfill_adopt(Oid index, bool wait);

/* Returns the OIDs of the indexes that are to be adopted, and forgets those that are gone. */
extern List *kv_backfill_find_doubtful(bool wait);

#endif							/* KV_INDEX_INDEX_INTERNAL_H */
