/*
 * index_backfill.c
 *	  Fills an index from the items that are there.
 *
 * An index is filled when it is new, or in doubt: restored from a dump, its
 * base table truncated in part or given other partitions, its definition
 * changed.  It begins with adoption: under a lock on the base table that
 * holds writers off for a moment, so that all who write afterwards know of the
 * index and capture its changes.  From then on the items are gone over in
 * chunks, in key order leaf by leaf, each in a transaction of its own that also
 * stores how far it came.  Apply works on the index meanwhile; the apply
 * lock keeps the two apart, and whatever a chunk has written of an item that
 * changes later, apply sets right.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "index/index_internal.h"

/* Bytes of items that one chunk goes over at most. */
#define CHUNK_BYTES (4 * 1024 * 1024)

/* One chunk under work. */
typedef struct Chunk
{
	KvStateRow	row;
	KvTable    *base;
	int			limit;
	int64		items;			/* gone over */
	KvIndexWrite *writes;
	int			write_count;
	bool		ended;			/* the last leaf is done */
} Chunk;

/* --- which indexes there are --- */

/* Adds the index that a trigger defines to the list. */
static List *
add_index_of_trigger(List *indexes, Relation triggers, Oid trigger)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger));
	scan = systable_beginscan(triggers, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		if (OidIsValid(form->tgconstrrelid) && !OidIsValid(form->tgparentid))
			indexes = list_append_unique_oid(indexes, form->tgrelid);
	}
	systable_endscan(scan);
	return indexes;
}

/* Returns the OIDs of all global indexes of the database: the tables with a trigger of their function. */
List *
kv_backfill_list_indexes(void)
{
	List	   *name = list_make2(makeString("kv"), makeString("global_index"));
	Oid			function = LookupFuncName(name, 0, NULL, true);
	Relation	depends;
	Relation	triggers;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *indexes = NIL;

	if (!OidIsValid(function))
		return NIL;
	depends = table_open(DependRelationId, AccessShareLock);
	triggers = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(ProcedureRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(function));
	scan = systable_beginscan(depends, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == TriggerRelationId)
			indexes = add_index_of_trigger(indexes, triggers, form->objid);
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	table_close(depends, AccessShareLock);
	return indexes;
}

/* --- adoption --- */

/* Takes a lock; unless wait is set, only if it is to be had soon. */
static bool
take_lock(Oid relid, LOCKMODE lockmode, bool wait)
{
	if (!wait)
		return kv_index_lock_soon(relid, lockmode);
	LockRelationOid(relid, lockmode);
	return true;
}

/* Locks a base table with its partitions against writers, in the same way. */
static bool
lock_base(Oid relid, bool wait)
{
	if (!wait)
		return kv_index_lock_with_partitions(relid, ShareRowExclusiveLock, 1);
	LockRelationOid(relid, ShareRowExclusiveLock);
	(void) find_all_inheritors(relid, ShareRowExclusiveLock, NULL);
	return true;
}

/* Empties a leaf of an index; what that does is no reason for doubt. */
static void
empty_leaf(Oid index, Relation leaf)
{
	Oid			written_index = kv_table_written_index;

	kv_table_written_index = index;
	PG_TRY();
	{
		kv_log_truncate_table(leaf);
	}
	PG_FINALLY();
	{
		kv_table_written_index = written_index;
	}
	PG_END_TRY();
}

/* Empties the index table; false if somebody uses it. */
static bool
empty_index(const KvTable *index, bool wait)
{
	if (!take_lock(index->relid, AccessExclusiveLock, wait))
		return false;
	for (int i = 0; i < index->leaf_count; i++)
	{
		Relation	leaf;

		if (!take_lock(index->leaf_relid[i], AccessExclusiveLock, wait))
			return false;
		leaf = table_open(index->leaf_relid[i], NoLock);
		if (RelationGetNumberOfBlocks(leaf) > 0)
		{
			CheckTableNotInUse(leaf, "fill");
			empty_leaf(index->relid, leaf);
		}
		table_close(leaf, NoLock);
	}
	return true;
}

/* Makes the index go when its base table does. */
void
kv_backfill_record_dependency(Oid index, Oid base)
{
	ObjectAddress dependent;
	ObjectAddress referenced;

	ObjectAddressSet(dependent, RelationRelationId, index);
	ObjectAddressSet(referenced, RelationRelationId, base);
	deleteDependencyRecordsForSpecific(RelationRelationId, index, DEPENDENCY_AUTO, RelationRelationId, base);
	recordDependencyOn(&dependent, &referenced, DEPENDENCY_AUTO);
}

/* Tells whether the index goes when its base table does. */
static bool
has_dependency(Oid index, Oid base)
{
	Relation	depends = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&keys[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(index));
	scan = systable_beginscan(depends, DependDependerIndexId, true, NULL, 2, keys);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
		found = ((Form_pg_depend) GETSTRUCT(tuple))->refclassid == RelationRelationId &&
			((Form_pg_depend) GETSTRUCT(tuple))->refobjid == base;
	systable_endscan(scan);
	table_close(depends, AccessShareLock);
	return found;
}

/* Tells whether changes of a base table are captured. */
static bool
is_captured(Oid base)
{
	const KvTable *table = kv_table_lookup(base);

	return table != NULL && table->captured;
}

/* Begins to fill an index, whose base table has to be locked for a moment. */
static void
adopt(Oid relid, bool wait)
{
	/* no lock yet: they have to be taken in the right order, then it is looked at again */
	const KvTable *index = kv_table_lookup(relid);
	Oid			base = index != NULL && index->index != NULL ? index->index->base_relid : InvalidOid;
	KvStateRow	row = {0};

	if (!OidIsValid(base) || !lock_base(base, wait))
		return;
	index = kv_table_lookup(relid);
	if (index == NULL || !index->usable || index->index == NULL || index->index->base_relid != base ||
		index->index->foreign_owner || index->index->unlogged || !is_captured(base) || !empty_index(index, wait))
		return;

	if (!has_dependency(relid, base))
		kv_backfill_record_dependency(relid, base);
	row.index = relid;
	row.base = base;
	row.state = KV_INDEX_BACKFILLING;
	row.fingerprint = index->index->fingerprint;
	if (!kv_state_write(&row, true, wait))
		return;
	ereport(DEBUG1,
			(errmsg_internal("begins to fill index \"%s\"", get_rel_name(relid))));
}

/* Tells whether an index is not known, or in doubt; forgets one that cannot be used. */
static bool
is_in_doubt(Oid relid, bool wait)
{
	const KvTable *index = kv_table_lookup(relid);
	KvStateRow	row;
	bool		known = kv_state_read(relid, &row);

	if (index == NULL || index->index == NULL || !index->usable)
	{
		if (known)
			(void) kv_state_remove(relid, wait);
		return false;
	}
	if (!known || row.fingerprint != index->index->fingerprint)
		return true;
	if (!has_dependency(relid, index->index->base_relid))
		kv_backfill_record_dependency(relid, index->index->base_relid);
	return false;
}

/* What is to be looked at. */
typedef struct Look
{
	Oid			index;
	bool		wait;
	bool		in_doubt;
} Look;

/* Looks at one index, guarded: what its owner has put on it must not stop the others. */
static void
look_guarded(void *argument)
{
	Look	   *look = argument;

	look->in_doubt = is_in_doubt(look->index, look->wait);
}

/* Begins to fill one index, guarded in the same way. */
static void
adopt_guarded(void *argument)
{
	const Look *look = argument;

	adopt(look->index, look->wait);
}

/* Begins to fill an index that is not known, or in doubt. */
void
kv_backfill_adopt(Oid index, bool wait)
{
	Look		look = {.index = index,.wait = wait};

	kv_retry_look(index, adopt_guarded, &look);
}

/* Returns the OIDs of the indexes that are not known, or in doubt, and forgets those that are gone. */
List *
kv_backfill_find_doubtful(bool wait)
{
	/* in this order: an index that is made meanwhile is not taken for one that is gone */
	List	   *rows = kv_state_read_all();
	List	   *indexes = kv_backfill_list_indexes();
	List	   *doubtful = NIL;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Look		look = {.index = lfirst_oid(cell),.wait = wait};

		kv_retry_look(look.index, look_guarded, &look);
		if (look.in_doubt)
			doubtful = lappend_oid(doubtful, look.index);
	}
	foreach(cell, rows)
	{
		KvStateRow *row = lfirst(cell);

		if (!list_member_oid(indexes, row->index))
			(void) kv_state_remove(row->index, wait);
	}
	return doubtful;
}

/* --- chunks --- */

/* Returns the position of a leaf in the base table; that of the first for InvalidOid, and -1 if it is not there. */
static int
find_leaf(const KvTable *base, Oid leaf)
{
	if (!OidIsValid(leaf))
		return 0;
	for (int i = 0; i < base->leaf_count; i++)
		if (base->leaf_relid[i] == leaf)
			return i;
	return -1;
}

/* Returns a copy of a value that stays. */
static Datum
copy_value(Datum value)
{
	Size		size = VARSIZE_ANY(DatumGetPointer(value));

	return PointerGetDatum(memcpy(palloc(size), DatumGetPointer(value), size));
}

/* Notes what the index is to hold of an item. */
static void
add_item(Chunk *chunk, const KvTable *index, const KvItemView *view)
{
	KvIndexEntry entry;
	KvIndexWrite *write = &chunk->writes[chunk->write_count];

	if (!kv_entry_make(index, view, &entry))
		return;
	for (int i = 0; i < index->key.count; i++)
		write->key[i] = copy_value(entry.key[i]);
	write->leaf = kv_table_find_leaf(index, write->key[0]);
	write->rest = (Jsonb *) memcpy(palloc(VARSIZE(entry.rest)), entry.rest, VARSIZE(entry.rest));
	chunk->write_count++;
}

/* Stores where the next chunk of the leaf begins. */
static void
note_position(Chunk *chunk, const KvItemView *view)
{
	StringInfoData record;

	initStringInfo(&record);
	kv_change_begin(&record, &chunk->base->key, view->key);
	chunk->row.position = palloc(VARHDRSZ + record.len);
	SET_VARSIZE(chunk->row.position, VARHDRSZ + record.len);
	memcpy(VARDATA(chunk->row.position), record.data, record.len);
}

/* Goes over items of the leaf that the row names; sets the row to where the next chunk begins. */
static void
read_items(Chunk *chunk, const KvTable *index, Snapshot snapshot)
{
	int			leaf = find_leaf(chunk->base, chunk->row.leaf);
	KvCursorRange range = {0};
	KvCursor   *cursor;
	TupleTableSlot *slot;
	Size		bytes = 0;

	if (leaf < 0 || leaf >= chunk->base->leaf_count)
	{
		chunk->ended = true;
		return;
	}
	if (chunk->row.position)
	{
		range.has_start = true;
		kv_change_read_key(&chunk->base->key, VARDATA(chunk->row.position), range.start);
	}
	cursor = kv_cursor_open(chunk->base, leaf, snapshot, ForwardScanDirection);
	kv_cursor_rescan(cursor, &range);
	while ((slot = kv_cursor_next(cursor, ForwardScanDirection)) != NULL)
	{
		KvItemView	view;

		kv_store_view(chunk->base, kv_cursor_leaf_descriptor(cursor), slot, &view);
		add_item(chunk, index, &view);
		bytes += VARSIZE(view.rest);
		if (++chunk->items >= chunk->limit || bytes >= CHUNK_BYTES)
		{
			note_position(chunk, &view);
			chunk->row.leaf = chunk->base->leaf_relid[leaf];
			break;
		}
	}
	kv_cursor_close(cursor);
	if (slot != NULL)
		return;
	chunk->row.position = NULL;
	chunk->ended = leaf + 1 >= chunk->base->leaf_count;
	if (!chunk->ended)
		chunk->row.leaf = chunk->base->leaf_relid[leaf + 1];
}

/* Locks the leaf to be read: ALTER TABLE may be writing it anew, with rows that no snapshot from before sees. */
static void
lock_leaf(const Chunk *chunk)
{
	int			leaf = find_leaf(chunk->base, chunk->row.leaf);

	if (leaf >= 0 && leaf < chunk->base->leaf_count)
		LockRelationOid(chunk->base->leaf_relid[leaf], AccessShareLock);
}

/* Does one chunk, as a guarded step. */
static void
fill_step(KvTable *index, void *argument)
{
	Chunk	   *chunk = argument;
	Snapshot	snapshot;

	lock_leaf(chunk);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	PushActiveSnapshot(snapshot);
	chunk->writes = palloc(sizeof(KvIndexWrite) * chunk->limit);
	read_items(chunk, index, snapshot);
	kv_index_write(index, chunk->writes, chunk->write_count);
	PopActiveSnapshot();
	UnregisterSnapshot(snapshot);

	if (chunk->row.error)
	{
		chunk->row.error = NULL;
		chunk->row.retry_at = 0;
	}
	if (chunk->ended)
	{
		chunk->row.state = KV_INDEX_ACTIVE;
		chunk->row.filled = GetTopFullTransactionId();
		chunk->row.leaf = InvalidOid;
		chunk->row.position = NULL;
		(void) kv_state_write(&chunk->row, false, true);
	}
	else
		(void) kv_state_write_quietly(&chunk->row, true);
}

/* Tells whether a chunk of an index can be done now. */
static bool
can_fill(const KvStateRow *row)
{
	const KvTable *index;

	if (row->state != KV_INDEX_BACKFILLING)
		return false;
	if (row->retry_at > GetCurrentTimestamp() && !kv_retry_by_hand)
		return false;
	if (!kv_index_lock_to_apply(row->base, AccessShareLock) ||
		!kv_index_lock_to_apply(row->index, RowExclusiveLock))
		return false;
	index = kv_table_lookup(row->index);
	return index != NULL && index->usable && index->index != NULL &&
		index->index->fingerprint == row->fingerprint;
}

/*
 * Returns how many items to take for the next chunk, after the last one went
 * well or not and took so many ms: fewer where an index takes too long for one.
 */
static int
adapt_chunk(int limit, bool done, int64 took)
{
	static int	items = INT_MAX;

	items = Min(items, limit);
	if (!done)
		items = Max(items / 4, 1);
	else if (kv_guc_index_write_timeout == 0 || took < kv_guc_index_write_timeout / 8)
		items = Min(items, limit / 2) * 2;
	return Max(items, 1);
}

/* Does one chunk of what is to be filled; *failed tells that an index could not be written to, now or before. */
int64
kv_backfill_chunk(int limit, bool *failed)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value backfill", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	static int	chunk_limit = INT_MAX;
	ListCell   *cell;
	int64		done = 0;

	*failed = false;
	foreach(cell, kv_state_read_all())
	{
		Chunk		chunk = {.row = *(KvStateRow *) lfirst(cell),.limit = kv_retry_by_hand ? limit : Min(chunk_limit, limit)};
		TimestampTz start = GetCurrentTimestamp();

		*failed |= chunk.row.retry_at > 0;
		if (!can_fill(&chunk.row))
		{
			*failed |= chunk.row.state == KV_INDEX_BACKFILLING;
			continue;
		}
		chunk.base = kv_table_lookup(chunk.row.base);
		if (chunk.base == NULL || !chunk.base->usable)
			continue;
		if (kv_retry_guarded(chunk.row.index, chunk.row.base, fill_step, &chunk))
		{
			CommandCounterIncrement();
			chunk_limit = adapt_chunk(limit, true, TimestampDifferenceMilliseconds(start, GetCurrentTimestamp()));
			/* a leaf without items is progress too */
			done = Max(chunk.items, 1);
			break;
		}
		chunk_limit = adapt_chunk(limit, false, 0);
		*failed = true;
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return done;
}
