/*
 * index_apply.c
 *	  From records of the change log to entries of the indexes.
 *
 * A batch is what lies between two snapshots: the records of transactions
 * that are done by the newer and were not by the older one, however long they
 * took; who is still running is left to a later batch and holds nobody up.
 * Batches are worked off in pieces, and how far it went is stored in the
 * transaction that did it: a crash repeats nothing and loses nothing.
 *
 * The records of one item are merged, and the item is read as it is now: what
 * the indexes hold of it is removed where a record says that it was and
 * written where it is to be.  So the order of records does not matter, nor
 * if one comes again.
 *
 * Reading an item takes no lock on it.  The base table and its leaves are
 * locked (ACCESS SHARE) before the indexes, as TRUNCATE and DROP do.  Each leaf
 * is read as it is when it is locked: ALTER TABLE may have written it anew since
 * the batch was cut, with rows that no older snapshot sees.
 *
 * What cannot be written to an index, since a trigger there fails or somebody
 * holds it locked, goes to kv.change_retry (index_retry.c) and stops no other.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

/* Items whose entries are worked out before they are written. */
#define CHUNK_ITEMS 512
#define CHUNK_BYTES (8 * 1024 * 1024)

/* One item with its records, which are neighbours in an array. */
typedef struct ChangedItem
{
	int			leaf;			/* -1: no partition takes it any more */
	Datum		key[KV_MAX_TABLE_KEYS];
	KvLogRecord *records;
	int			count;
} ChangedItem;

/* What is to be written to one index. */
typedef struct IndexWork
{
	KvTable    *index;
	KvIndexWrite *writes;
	int			count;
	int			capacity;
	StringInfoData *retry;		/* a record for each item, in case it fails */
} IndexWork;

/* One base table under work. */
typedef struct BaseWork
{
	KvTable    *base;
	Snapshot	snapshot;		/* of the leaf read last */
	bool		point_open;
	KvPoint		point;			/* open on the leaf read last */
	int			index_count;
	IndexWork	index[KV_MAX_GLOBAL_INDEXES];
} BaseWork;

/* Adds a write to an index's work. */
static KvIndexWrite *
add_write(IndexWork *work, const Datum *key)
{
	KvIndexWrite *write;

	if (work->count == work->capacity)
	{
		work->capacity = Max(work->capacity * 2, 64);
		work->writes = work->writes ?
			repalloc(work->writes, sizeof(KvIndexWrite) * work->capacity) :
			palloc(sizeof(KvIndexWrite) * work->capacity);
	}
	write = &work->writes[work->count++];
	memcpy(write->key, key, sizeof(write->key));
	write->rest = NULL;
	write->leaf = kv_table_find_leaf(work->index, key[0]);
	return write;
}

/* Adds what is to be done in one index about one item, as its records and its present state say. */
static void
add_item(IndexWork *work, const KvKeySchema *base, const ChangedItem *item, const KvItemView *view)
{
	const KvIndex *definition = work->index->index;
	KvIndexEntry entry;
	bool		wanted = view != NULL && kv_entry_make(work->index, view, &entry);

	for (int i = 0; i < item->count; i++)
	{
		const KvLogRecord *record = &item->records[i];
		ItemPointerData place;
		int			offset = kv_change_read_place(record->record, record->key_length, &place);
		int			key_offset;
		Oid			index;

		while (kv_change_next_old(record->record, record->length, &offset, &index, &key_offset))
		{
			Datum		key[KV_MAX_KEYS] = {0};

			if (index != definition->relid || !kv_change_read_old(record->record, key_offset, definition, key))
				continue;
			kv_entry_complete_key(definition, item->key, key);
			if (!wanted || kv_key_compare_whole(&definition->key, key, entry.key) != 0)
				(void) add_write(work, key);
		}
	}
	if (wanted)
		add_write(work, entry.key)->rest = entry.rest;
}

/* Copies a value. */
static void *
copy_value(const void *value)
{
	Size		size = VARSIZE_ANY(value);

	return memcpy(palloc(size), value, size);
}

/* Copies what points into the row of an item, so that it stays: keys of the base table as the row has them, the rest as it is. */
static void
copy_from_row(IndexWork *work, int first, const ChangedItem *item, const KvItemView *view)
{
	const KvIndex *definition = work->index->index;

	for (int i = first; i < work->count; i++)
	{
		KvIndexWrite *write = &work->writes[i];

		for (int k = 0; k < definition->key.count; k++)
		{
			int			base = definition->base_key[k];

			if (base != KV_NOT_BASE_KEY && write->key[k] != item->key[base])
				write->key[k] = PointerGetDatum(copy_value(DatumGetPointer(write->key[k])));
		}
		if (view != NULL && write->rest == view->rest)
			write->rest = copy_value(write->rest);
	}
}

/* Ends reading the leaf that is open, if one is. */
static void
close_leaf(BaseWork *work)
{
	if (!work->point_open)
		return;
	kv_store_get_end(&work->point);
	UnregisterSnapshot(work->snapshot);
	work->point_open = false;
}

/* Reads an item where its last record says that it was put, which is most often where it is. */
static bool
read_where_put(BaseWork *work, const ChangedItem *item, KvItemView *view)
{
	const KvLogRecord *last = &item->records[0];
	ItemPointerData place;

	for (int i = 1; i < item->count; i++)
		if (item->records[i].at > last->at)
			last = &item->records[i];
	(void) kv_change_read_place(last->record, last->key_length, &place);
	return kv_store_get_at(work->base, item->key, &place, work->snapshot, &work->point, view);
}

/* Reads an item as it is now; false if it is not there.  kv_store_get_release comes next if its leaf is there. */
static bool
read_item(BaseWork *work, const ChangedItem *item, KvItemView *view)
{
	if (item->leaf < 0)
		return false;
	if (!work->point_open || work->point.leaf != item->leaf)
	{
		close_leaf(work);
		kv_store_get_begin(work->base, item->leaf, &work->point);
		/* who changes the item next makes room for it */
		work->point.pruning = KV_PRUNE_NEVER;
		work->snapshot = RegisterSnapshot(GetLatestSnapshot());
		work->point_open = true;
	}
	return read_where_put(work, item, view) || kv_store_get(work->base, item->key, work->snapshot, &work->point, view);
}

/* Works out what is to be done about one item in all indexes; returns about how many bytes that takes. */
static Size
work_out_item(BaseWork *work, const ChangedItem *item)
{
	KvItemView	view;
	bool		found = read_item(work, item, &view);
	Size		bytes = 0;

	for (int i = 0; i < work->index_count; i++)
	{
		int			first = work->index[i].count;

		add_item(&work->index[i], &work->base->key, item, found ? &view : NULL);
		copy_from_row(&work->index[i], first, item, found ? &view : NULL);
		if (found)
			bytes += VARSIZE(view.rest);
	}
	if (item->leaf >= 0)
		kv_store_get_release(&work->point);
	return bytes;
}

/*
 * Merges records into items, in the order of their leaves and keys, so that
 * neighbours are read together; returns their number.
 */
static int
merge_records(const KvTable *base, KvLogRecord *records, int count, ChangedItem *items)
{
	Datum	   *keys = palloc(sizeof(Datum) * KV_MAX_TABLE_KEYS * count);
	KvOrdered  *ordered = palloc(sizeof(KvOrdered) * count);
	KvLogRecord *in_order = palloc(sizeof(KvLogRecord) * count);
	int			item_count = 0;

	for (int i = 0; i < count; i++)
	{
		Datum	   *key = &keys[KV_MAX_TABLE_KEYS * i];

		records[i].key_length = kv_change_read_key(&base->key, records[i].record, key);
		ordered[i].leaf = kv_table_find_leaf(base, key[0]);
		ordered[i].key = key;
		ordered[i].thing = &records[i];
	}
	kv_order(&base->key, ordered, count);
	for (int i = 0; i < count; i++)
	{
		ChangedItem *item;

		in_order[i] = *(const KvLogRecord *) ordered[i].thing;
		if (i > 0 && kv_order_same(&base->key, &ordered[i - 1], &ordered[i]))
		{
			items[item_count - 1].count++;
			continue;
		}
		item = &items[item_count++];
		memcpy(item->key, ordered[i].key, sizeof(item->key));
		item->leaf = ordered[i].leaf;
		item->records = &in_order[i];
		item->count = 1;
	}
	pfree(ordered);
	return item_count;
}

/* Writes what was worked out to one index; what fails is kept for later. */
static void
write_index(BaseWork *work, int number, const ChangedItem *items, int item_count)
{
	IndexWork  *index = &work->index[number];

	if (kv_retry_write(index->index, index->writes, index->count))
		return;
	for (int i = 0; i < item_count; i++)
		for (int k = 0; k < items[i].count; k++)
			kv_retry_keep(index->index->relid, &items[i].records[k]);
}

/* Applies the records of one base table, which is locked. */
static void
apply_to_base(BaseWork *work, KvLogRecord *records, int count)
{
	ChangedItem *items = palloc(sizeof(ChangedItem) * count);
	int			item_count = merge_records(work->base, records, count, items);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value apply chunk",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);

	for (int first = 0; first < item_count;)
	{
		Size		bytes = 0;
		int			next;

		for (next = first; next < item_count && next - first < CHUNK_ITEMS && bytes < CHUNK_BYTES; next++)
		{
			CHECK_FOR_INTERRUPTS();
			bytes += work_out_item(work, &items[next]);
		}
		for (int i = 0; i < work->index_count; i++)
		{
			write_index(work, i, &items[first], next - first);
			work->index[i].writes = NULL;
			work->index[i].count = work->index[i].capacity = 0;
		}
		MemoryContextReset(context);
		first = next;
	}
	MemoryContextSwitchTo(caller);
	close_leaf(work);
	MemoryContextDelete(context);
	pfree(items);
}

/*
 * Opens a base table and those of its indexes that are to be kept right.
 *
 * False: there is nothing to be done, since none of its indexes has been begun
 * to be filled.  An index that was, but cannot be kept at present, misses
 * these records, so it is in doubt.
 */
static bool
open_base(BaseWork *work, Oid base_relid)
{
	memset(work, 0, sizeof(BaseWork));
	work->base = kv_table_lookup(base_relid);
	if (work->base == NULL || !work->base->usable)
	{
		kv_state_remove_of_base(base_relid);
		return false;
	}
	for (int i = 0; i < work->base->global_count && work->index_count < KV_MAX_GLOBAL_INDEXES; i++)
	{
		KvTable    *index = kv_table_lookup(work->base->global_relid[i]);

		if (index != NULL && index->usable && index->index != NULL && index->index->state != KV_INDEX_CREATING)
			work->index[work->index_count++].index = index;
		else
			(void) kv_state_remove(work->base->global_relid[i], true);
	}
	return work->index_count > 0;
}

/* Leaves out the records from before the base table's key got another form; returns the number of the others. */
static int
leave_out_old_forms(const KvTable *base, KvLogRecord *records, int count)
{
	int			kept = 0;

	for (int i = 0; i < count; i++)
		if (kv_change_fits(&base->key, records[i].record))
			records[kept++] = records[i];
	return kept;
}

/* Applies records of one base table to all its indexes, or to one of them if only is set. */
void
kv_apply_records(Oid base_relid, Oid only, KvLogRecord *records, int count)
{
	BaseWork	work;

	LockRelationOid(base_relid, AccessShareLock);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(base_relid)))
		return;
	if (!open_base(&work, base_relid))
		return;
	for (int i = work.index_count - 1; OidIsValid(only) && i >= 0; i--)
		if (work.index[i].index->relid != only)
			work.index[i] = work.index[--work.index_count];
	count = leave_out_old_forms(work.base, records, count);
	if (work.index_count > 0 && count > 0)
		apply_to_base(&work, records, count);
}

/* Orders records by base table. */
static int
compare_bases(const void *a, const void *b)
{
	Oid			left = ((const KvLogRecord *) a)->base_relid;
	Oid			right = ((const KvLogRecord *) b)->base_relid;

	return left < right ? -1 : left > right;
}

/* Reads records for one piece; *ended tells whether the batch ends with them. */
static int
read_piece(KvProgress *progress, Snapshot snapshot, int limit, KvLogRecord *records, bool *ended)
{
	KvLogScan  *scan = kv_log_begin(snapshot, &progress->before, &progress->after,
									FullTransactionIdIsValid(progress->position.xid) ? &progress->position : NULL);
	int			count = 0;
	Size		bytes = 0;

	*ended = false;
	while (count < limit && bytes < KV_PIECE_BYTES)
	{
		if (!kv_log_next(scan, &records[count], &progress->position))
		{
			*ended = true;
			break;
		}
		bytes += records[count].length;
		count++;
	}
	kv_log_end(scan);
	return count;
}

/* Works off one piece of at most limit records; returns how many there were, and whether that was the batch's end. */
static int
apply_piece(KvProgress *progress, Snapshot snapshot, int limit, bool *ended)
{
	KvLogRecord *records = palloc(sizeof(KvLogRecord) * limit);
	int			count = read_piece(progress, snapshot, limit, records, ended);

	qsort(records, count, sizeof(KvLogRecord), compare_bases);
	for (int first = 0; first < count;)
	{
		int			next = first;

		while (next < count && records[next].base_relid == records[first].base_relid)
			next++;
		kv_retry_apply(records[first].base_relid, &records[first], next - first);
		first = next;
	}
	return count;
}

/*
 * Works off one piece and stores the progress, if there was anything.  The
 * apply lock is held.
 */
int
kv_apply_piece(int limit, bool *ended)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value apply", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	KvProgress	progress;
	bool		was_in_batch;
	int			count;

	kv_progress_read(&progress);
	was_in_batch = progress.in_batch;
	if (!was_in_batch)
		kv_done_from_snapshot(snapshot, &progress.after);
	PushActiveSnapshot(snapshot);
	count = apply_piece(&progress, snapshot, limit, ended);
	PopActiveSnapshot();
	UnregisterSnapshot(snapshot);

	if (count > 0 || (was_in_batch && *ended))
	{
		kv_done_exclude_current(&progress.after);
		progress.in_batch = !*ended;
		if (*ended)
		{
			progress.before = progress.after;
			memset(&progress.position, 0, sizeof(KvLogPosition));
		}
		kv_progress_write(&progress);
		CommandCounterIncrement();
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return count;
}
