/*
 * store_compact.c
 *	  Moves the items of collections together, a few at a time, beside writers.
 *
 * A leaf is worked off page by page, those with the most room first: the collections
 * that have a row on the page are looked at whole, through the primary key, and
 * those that lie on more pages than they need are moved (am_move.c) to pages
 * that am_pack.c chooses.  All of it is done in transactions of some hundred
 * kilobytes.  Before the next one begins, the pages that the last one left are
 * pruned, so that their room is used again at once; that only works as far as
 * no older snapshot is held anywhere.
 *
 * Rows on pages beyond the limit that am_room.c sets go below it in any case, so
 * that the pages at the end become empty and VACUUM can give them back.  Where
 * no room is found below, at most one page in EXTRA_SHARE is added; these lie
 * beyond the limit as well, and are worked off last.
 *
 * Line pointers of rows that left stay until VACUUM has removed the index
 * entries to them.  A collection of a page or more wants pages without such:
 * the leaf is vacuumed whenever one page in VACUUM_SHARE was moved and there
 * are none left, and before and after the whole.
 *
 * A collection larger than PART_PAGES pages is taken for several.
 *
 * Transactions are SERIALIZABLE so that others who are see a move as the
 * update that it is: a row read before it and changed after it is a conflict
 * that would be missed otherwise.  Nothing is read here under a snapshot that
 * predicate locks are taken for, so a move can never be what has to be
 * rolled back.
 *
 * In PostgreSQL 15, 100,000 items of 240 bytes in 16 partitions, which the bench's
 * rows of collections measure anew: pages over the fewest possible, of the last 50 items
 * before and of whole collections after, and heap size over a plain heap's after.
 *
 *	 collections of		3				10				50				500
 *	 in turn			2.0 1.00  1.04	3.9 1.02  1.23	3.0 1.08  1.14	1.14 1.14  1.01
 *	 shuffled			2.3 1.00  1.14	3.7 1.04  1.20	2.8 1.12  1.14
 *	 random sort keys									2.7 1.00  1.16	4.2 1.03  1.15
 *
 * Sizes by Zipf's law 2.1 1.01 1.15, of 1, 8 and 200 mixed 1.4 1.00 1.26; 50 in turn
 * after ten rounds of deleting and inserting 1.24 (1.14).  WAL is 1.4 to 3.4 times
 * the plain heap: a third of it full-page images behind a checkpoint, a fifth
 * what fills up pages that rows are to leave, a tenth locks.
 *
 * Locks: ROW EXCLUSIVE on the leaf, rows as UPDATE does, to the end of each
 * transaction.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "am/am.h"
#include "store/store_internal.h"

#define PART_PAGES 64
#define EXTRA_SHARE 10
#define VACUUM_SHARE 10
#define LEAST_EXTRA_PAGES 16

/* Bytes of items moved, and pages looked at, in one transaction. */
#define CHUNK_BYTES (512 * 1024)
#define CHUNK_PAGES 1024

/* So much is moved before a transaction is ended for the room that it leaves. */
#define LEAST_BYTES (128 * 1024)

/* Collections that lie on this much more than the fewest pages are moved. */
#define SCATTERED 1.2

/* To so many times the fewest pages: a whole number is left of it, so that it is the fewest unless they are many. */
#define ENOUGH 1.1

/* Where all of a leaf lies on more than this, pages may be added. */
#define SCATTERED_LEAF 1.12

/* Collections that fill this share of a page want empty ones, without line pointers. */
#define EMPTY_SHARE 0.9

/* Collections that are remembered to have been looked at: sets, a power of two, and ways. */
#define MAX_SEEN_SETS (256 * 1024)
#define SEEN_WAYS 4

/* The part of a collection that is at hand. */
typedef struct Part
{
	KvAmGroup	group;
	ItemPointerData *row;
	int			size;			/* of the arrays */
	bool		at_end;			/* the collection has no more rows */
	int			fewest;			/* pages that it takes at least, */
	int			most;			/* and that are few enough */
	bool		scattered;		/* lies on too many */
	bool		clears;			/* lies on pages that are to become empty */
} Part;

struct KvCompaction
{
	MemoryContext context;
	MemoryContext page_context; /* of the keys of the page at hand */
	MemoryContext start_context;	/* of start */
	Oid			leaf_relid;
	KvCompactCounts *counts;
	KvAmPack   *pack;
	BlockNumber page;			/* that is looked at */
	bool		clearing;		/* the pages that were added are being worked off, from the end */
	int			key_count;		/* partition keys of the page at hand */
	int			key_next;
	Datum		key[MaxHeapTuplesPerPage];
	bool		has_start;		/* behind this key of the collection at hand */
	Datum		start[KV_MAX_KEYS];
	bool		moved_any;		/* of the collection at hand */
	int64		pages_wanted;	/* fewest pages of the parts looked at, added up */
	int64		pages_found;	/* what they lay on, where they lay scattered, */
	int64		pages_left;		/* and what they were left on, where that is so still */
	bool		again;			/* all pages are being worked off a second time */
	Part		part;
	uint64	   *seen;			/* hashes of partition keys, each in its set; the newest push the oldest out */
	uint32		seen_mask;
	BlockNumber *emptied;		/* pages that rows have left and that were not pruned since */
	int			emptied_count;
	int			emptied_size;
	TransactionId last_xid;		/* of the transaction that moved rows last */
	Size		unpruned_bytes; /* moved by the transaction, or since pages were pruned */
	Size		unvacuumed_bytes;
	Size		vacuum_bytes;	/* so much moved is worth a VACUUM */
};

/* What belongs to one transaction. */
typedef struct Chunk
{
	KvCompaction *compaction;
	KvTable    *table;
	KvCursor   *cursor;			/* of all versions of rows */
	KvMover		mover;
	Size		moved_bytes;
	int			pages;
} Chunk;

/* What became of a part. */
typedef enum Outcome
{
	PART_PLANNED,				/* has pages to move to */
	PART_SETTLED,				/* moved, or left where it is for good */
	PART_PUT_OFF,				/* left until another of its pages is worked off */
	PART_WANTS_COMMIT,			/* rows must have left their pages first */
	PART_WANTS_VACUUM
} Outcome;

/* Hashes a partition key; never 0. */
static uint64
hash_key(Datum key)
{
	uint64		hash = hash_bytes_extended((unsigned char *) VARDATA_ANY(DatumGetPointer(key)),
										   VARSIZE_ANY_EXHDR(DatumGetPointer(key)), 0);

	return hash == 0 ? 1 : hash;
}

/* Tells whether a collection was looked at, as far as that is remembered. */
static bool
was_seen(const KvCompaction *compaction, uint64 hash)
{
	const uint64 *set = compaction->seen + (hash & compaction->seen_mask) * SEEN_WAYS;

	for (int i = 0; i < SEEN_WAYS; i++)
		if (set[i] == hash)
			return true;
	return false;
}

/* Remembers that a collection was looked at. */
static void
remember_seen(KvCompaction *compaction, uint64 hash)
{
	uint64	   *set = compaction->seen + (hash & compaction->seen_mask) * SEEN_WAYS;

	memmove(set + 1, set, (SEEN_WAYS - 1) * sizeof(uint64));
	set[0] = hash;
}

/* Starts to compact a leaf of the table. */
KvCompaction *
kv_compaction_begin(KvTable *table, int leaf, KvCompactCounts *counts)
{
	Relation	heap = table_open(table->leaf_relid[leaf], RowExclusiveLock);
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value compaction",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	KvCompaction *compaction = palloc0(sizeof(KvCompaction));
	uint32		seen_sets = 1024;

	compaction->context = context;
	compaction->page_context = AllocSetContextCreate(context, "key_value compaction page", ALLOCSET_DEFAULT_SIZES);
	compaction->start_context = AllocSetContextCreate(context, "key_value compaction start", ALLOCSET_SMALL_SIZES);
	compaction->leaf_relid = table->leaf_relid[leaf];
	compaction->counts = counts;
	compaction->pack = kv_am_pack_begin(heap, blocks / EXTRA_SHARE + LEAST_EXTRA_PAGES);
	while (seen_sets < MAX_SEEN_SETS && seen_sets < blocks * 16)
		seen_sets *= 2;
	compaction->seen_mask = seen_sets - 1;
	compaction->seen = palloc0(seen_sets * SEEN_WAYS * sizeof(uint64));
	compaction->vacuum_bytes = (blocks / VACUUM_SHARE + LEAST_EXTRA_PAGES) * (Size) BLCKSZ;
	counts->pages_before += blocks;
	MemoryContextSwitchTo(caller);
	table_close(heap, NoLock);
	return compaction;
}

/* Makes room for one more row in a part. */
static void
grow_part(KvCompaction *compaction)
{
	Part	   *part = &compaction->part;
	MemoryContext caller;

	if (part->group.count < part->size)
		return;
	caller = MemoryContextSwitchTo(compaction->context);
	if (part->size == 0)
	{
		part->size = 256;
		part->row = palloc(part->size * sizeof(ItemPointerData));
		part->group.bytes = palloc(part->size * sizeof(uint16));
		part->group.present = palloc(part->size * sizeof(BlockNumber));
		part->group.target = palloc(part->size * sizeof(BlockNumber));
	}
	else
	{
		part->size *= 2;
		part->row = repalloc(part->row, part->size * sizeof(ItemPointerData));
		part->group.bytes = repalloc(part->group.bytes, part->size * sizeof(uint16));
		part->group.present = repalloc(part->group.present, part->size * sizeof(BlockNumber));
		part->group.target = repalloc(part->group.target, part->size * sizeof(BlockNumber));
	}
	MemoryContextSwitchTo(caller);
}

/* Orders block numbers. */
static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber x = *(const BlockNumber *) a;
	BlockNumber y = *(const BlockNumber *) b;

	return x < y ? -1 : x > y;
}

/* Counts the pages that a group lies on at present. */
static void
count_pages(KvAmGroup *group)
{
	memcpy(group->target, group->present, group->count * sizeof(BlockNumber));
	qsort(group->target, group->count, sizeof(BlockNumber), compare_blocks);
	group->present_pages = group->count > 0 ? 1 : 0;
	for (int i = 1; i < group->count; i++)
		if (group->target[i] != group->target[i - 1])
			group->present_pages++;
}

/* Remembers the key of a row, behind which the collection goes on. */
static void
remember_start(Chunk *chunk, TupleTableSlot *slot)
{
	KvCompaction *compaction = chunk->compaction;
	const KvLeaf *leaf = kv_cursor_leaf_descriptor(chunk->cursor);
	MemoryContext caller;

	MemoryContextReset(compaction->start_context);
	caller = MemoryContextSwitchTo(compaction->start_context);
	for (int i = 0; i < chunk->table->key.count; i++)
	{
		bool		isnull;

		compaction->start[i] = PointerGetDatum(PG_DETOAST_DATUM_COPY(slot_getattr(slot, leaf->key_attno[i], &isnull)));
	}
	MemoryContextSwitchTo(caller);
}

/*
 * Reads rows of the collection at hand from start on, until they fill
 * PART_PAGES pages.  The cursor gives all versions of rows; what the
 * transaction itself moved before is not among those that its snapshot sees,
 * once the command counter was incremented.
 */
static TupleTableSlot *
read_part(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	Part	   *part = &compaction->part;
	KvAmGroup  *group = &part->group;
	Size		limit = PART_PAGES * kv_am_pack_capacity(compaction->pack);
	KvCursorRange range;
	TupleTableSlot *slot;

	memset(&range, 0, sizeof(range));
	range.has_partition_key = true;
	range.key.partition_key = compaction->key[compaction->key_next];
	range.has_start = compaction->has_start;
	memcpy(range.start, compaction->start, sizeof(range.start));
	kv_cursor_rescan(chunk->cursor, &range);

	group->count = 0;
	group->total_bytes = 0;
	part->at_end = true;
	while ((slot = kv_cursor_next(chunk->cursor, ForwardScanDirection)) != NULL)
	{
		HeapTuple	row;

		if (!table_tuple_satisfies_snapshot(chunk->mover.heap, slot, GetActiveSnapshot()))
			continue;
		row = ExecFetchSlotHeapTuple(slot, false, NULL);
		grow_part(compaction);
		part->row[group->count] = row->t_self;
		group->present[group->count] = ItemPointerGetBlockNumber(&row->t_self);
		/* a row that takes more than fillfactor leaves has a page to itself */
		group->bytes[group->count] = Min(MAXALIGN(row->t_len) + sizeof(ItemIdData), kv_am_pack_capacity(compaction->pack));
		group->total_bytes += group->bytes[group->count++];
		if (group->total_bytes >= limit)
		{
			part->at_end = false;
			break;
		}
	}
	count_pages(group);
	return slot;
}

/* Notes a page that a row has left. */
static void
note_emptied(KvCompaction *compaction, BlockNumber block)
{
	for (int i = compaction->emptied_count - 1; i >= 0 && i >= compaction->emptied_count - 64; i--)
		if (compaction->emptied[i] == block)
			return;
	if (compaction->emptied_count == compaction->emptied_size)
	{
		compaction->emptied_size = Max(256, compaction->emptied_size * 2);
		if (compaction->emptied == NULL)
			compaction->emptied = MemoryContextAlloc(compaction->context, compaction->emptied_size * sizeof(BlockNumber));
		else
			compaction->emptied = repalloc(compaction->emptied, compaction->emptied_size * sizeof(BlockNumber));
	}
	compaction->emptied[compaction->emptied_count++] = block;
}

/*
 * Prunes the pages that rows have left in earlier transactions, unless a
 * snapshot older than the last of these is held, which needs the rows there.
 */
static void
prune_emptied(KvCompaction *compaction, Relation heap)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);

	compaction->unpruned_bytes = 0;
	compaction->counts->held_back = compaction->emptied_count > 0 &&
		!TransactionIdPrecedes(compaction->last_xid, GetOldestNonRemovableTransactionId(heap));
	if (compaction->counts->held_back)
		return;
	for (int i = 0; i < compaction->emptied_count; i++)
	{
		if (compaction->emptied[i] < blocks)
			kv_am_pack_prune(compaction->pack, heap, compaction->emptied[i]);
		CHECK_FOR_INTERRUPTS();
	}
	compaction->emptied_count = 0;
}

/* Moves the rows of a part to where they were planned to lie. */
static void
move_part(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	Part	   *part = &compaction->part;

	for (int i = 0; i < part->group.count; i++)
	{
		Size		bytes = part->group.bytes[i];

		if (part->group.target[i] == part->group.present[i])
			continue;
		CHECK_FOR_INTERRUPTS();
		if (!kv_mover_move(&chunk->mover, &part->row[i], part->group.target[i]))
		{
			compaction->counts->busy_items++;
			continue;
		}
		note_emptied(compaction, part->group.present[i]);
		compaction->counts->moved_items++;
		compaction->counts->moved_bytes += bytes;
		compaction->moved_any = true;
		chunk->moved_bytes += bytes;
		compaction->unpruned_bytes += bytes;
		compaction->unvacuumed_bytes += bytes;
	}
	compaction->last_xid = GetTopTransactionId();
	/* the next collection's rows are not to be taken for those that were there before */
	CommandCounterIncrement();
	UpdateActiveSnapshotCommandId();
}

/* Tells whether one of the blocks is among those that are to become empty. */
static bool
reach_beyond(const BlockNumber *blocks, int count, BlockNumber limit)
{
	for (int i = 0; i < count; i++)
		if (blocks[i] >= limit)
			return true;
	return false;
}

/* Finds out whether the part at hand lies on too many pages, or on wrong ones. */
static void
judge_part(KvCompaction *compaction)
{
	Part	   *part = &compaction->part;
	KvAmGroup  *group = &part->group;

	part->fewest = kv_am_pack_fewest(compaction->pack, group);
	part->scattered = group->present_pages > part->fewest * SCATTERED;
	part->most = part->scattered ? (int) (part->fewest * ENOUGH) : group->present_pages;
	part->clears = reach_beyond(group->present, group->count, kv_am_pack_limit(compaction->pack));
}

/* Tells whether the plan for the part at hand is worth to be carried out. */
static bool
is_better(const KvCompaction *compaction)
{
	const Part *part = &compaction->part;
	const KvAmGroup *group = &part->group;

	if (!part->clears || reach_beyond(group->target, group->count, kv_am_pack_limit(compaction->pack)))
		return group->target_pages < group->present_pages;
	return group->target_pages <= group->present_pages ||
		(group->target_pages <= part->fewest + 1 &&
		 reach_beyond(group->present, group->count, kv_am_pack_bound(compaction->pack)));
}

/*
 * Tells whether pages may be added for the part at hand.  Where few are
 * scattered, they are those that the last call found no room for.
 */
static bool
may_extend(const KvCompaction *compaction)
{
	const Part *part = &compaction->part;

	return part->scattered && !compaction->clearing &&
		(part->group.present_pages > 2 * part->fewest ||
		 compaction->pages_found > SCATTERED_LEAF * compaction->pages_wanted ||
		 kv_am_pack_may_grow(compaction->pack));
}

/* Tells whether a page is to be worked off yet. */
static bool
is_to_come(const KvCompaction *compaction, BlockNumber block)
{
	if (!compaction->clearing)
		return kv_am_pack_is_to_do(compaction->pack, block);
	return block < compaction->page && block >= kv_am_pack_limit(compaction->pack);
}

/* Tells whether the collection at hand, a single part, has a row on a page that is to be worked off yet. */
static bool
comes_again(const KvCompaction *compaction)
{
	const KvAmGroup *group = &compaction->part.group;

	if (compaction->has_start || !compaction->part.at_end)
		return false;
	for (int i = 0; i < group->count; i++)
		if (is_to_come(compaction, group->present[i]))
			return true;
	return false;
}

/* Plans the part at hand on more pages than are wished, if that is better than nothing. */
static bool
plan_on_more(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	Part	   *part = &compaction->part;
	KvAmGroup  *group = &part->group;

	for (int more = 1; part->most + more <= Max(group->present_pages, part->fewest + 1); more *= 2)
	{
		if (!kv_am_pack_plan(compaction->pack, chunk->mover.heap, group, part->most + more))
			continue;
		if (is_better(compaction))
			return true;
		kv_am_pack_undo(compaction->pack, group);
	}
	return false;
}

/* Plans the part at hand, or says what has to come first. */
static Outcome
plan_part(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	Part	   *part = &compaction->part;

	while (!kv_am_pack_plan(compaction->pack, chunk->mover.heap, &part->group, part->most))
	{
		if (compaction->unpruned_bytes >= LEAST_BYTES)
			return PART_WANTS_COMMIT;
		if (may_extend(compaction) && kv_am_pack_extend(compaction->pack, chunk->mover.heap))
			continue;
		if (compaction->unpruned_bytes > 0)
			return comes_again(compaction) ? PART_PUT_OFF : PART_WANTS_COMMIT;
		if (part->group.total_bytes >= EMPTY_SHARE * kv_am_pack_capacity(compaction->pack) &&
			compaction->unvacuumed_bytes >= compaction->vacuum_bytes)
			return PART_WANTS_VACUUM;
		if (plan_on_more(chunk))
			return PART_PLANNED;
		if (!compaction->clearing || !kv_am_pack_raise(compaction->pack, compaction->page))
			return PART_SETTLED;
	}
	if (is_better(compaction))
		return PART_PLANNED;
	kv_am_pack_undo(compaction->pack, &part->group);
	return PART_SETTLED;
}

/* Moves the part at hand if that does it good. */
static Outcome
settle_part(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	Part	   *part = &compaction->part;
	Outcome		outcome = PART_SETTLED;
	int			left;

	judge_part(compaction);
	if (part->scattered || part->clears)
		outcome = plan_part(chunk);
	if (outcome != PART_PLANNED && outcome != PART_SETTLED)
		return outcome;
	left = outcome == PART_PLANNED ? part->group.target_pages : part->group.present_pages;
	compaction->pages_wanted += part->fewest;
	compaction->pages_found += part->scattered ? part->group.present_pages : part->fewest;
	compaction->pages_left += left > part->fewest * SCATTERED ? left : part->fewest;
	if (outcome == PART_PLANNED)
		move_part(chunk);
	return PART_SETTLED;
}

/* Goes on with the next collection. */
static void
finish_collection(KvCompaction *compaction)
{
	remember_seen(compaction, hash_key(compaction->key[compaction->key_next]));
	/* some come a second time */
	if (!compaction->clearing && !compaction->again)
	{
		compaction->counts->collections++;
		if (compaction->moved_any)
			compaction->counts->moved_collections++;
	}
	compaction->moved_any = false;
	compaction->has_start = false;
	compaction->key_next++;
}

/* Works on the collection at hand until it is done, or the transaction is to end. */
static KvCompactStep
compact_collection(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;

	while (chunk->moved_bytes < CHUNK_BYTES)
	{
		TupleTableSlot *last = read_part(chunk);
		bool		at_end = compaction->part.at_end;

		if (!at_end)
			remember_start(chunk, last);
		switch (settle_part(chunk))
		{
			case PART_WANTS_COMMIT:
				return KV_COMPACT_MORE;
			case PART_WANTS_VACUUM:
				return KV_COMPACT_VACUUM;
			case PART_PUT_OFF:
				compaction->key_next++;
				return KV_COMPACT_DONE;
			case PART_PLANNED:
			case PART_SETTLED:
				break;
		}
		if (at_end)
		{
			finish_collection(compaction);
			return KV_COMPACT_DONE;
		}
		compaction->has_start = true;
	}
	return KV_COMPACT_MORE;
}

/* Adds the partition key of a row to those of the page at hand, unless it is there or was seen before. */
static void
add_key(KvCompaction *compaction, Datum value)
{
	Datum		key = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	uint64		hash = hash_key(key);
	int			i;

	if (was_seen(compaction, hash))
		return;
	for (i = compaction->key_count - 1; i >= 0; i--)
		if (datumIsEqual(compaction->key[i], key, false, -1))
			return;
	compaction->key[compaction->key_count++] = key;
}

/* Reads the partition keys of a page's rows, from a copy of the page, since values may have to be detoasted. */
static void
read_page(Chunk *chunk, BlockNumber block)
{
	KvCompaction *compaction = chunk->compaction;
	Relation	heap = chunk->mover.heap;
	AttrNumber	attno = kv_cursor_leaf_descriptor(chunk->cursor)->key_attno[0];
	Buffer		buffer = ReadBuffer(heap, block);
	PGAlignedBlock copy;
	bool		visible[MaxHeapTuplesPerPage + 1];
	HeapTupleData row;
	OffsetNumber last = 0;
	MemoryContext caller;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(copy.data, BufferGetPage(buffer), BLCKSZ);
	if (!PageIsNew((Page) copy.data))
		last = PageGetMaxOffsetNumber((Page) copy.data);
	row.t_tableOid = RelationGetRelid(heap);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(BufferGetPage(buffer), offset);

		visible[offset] = ItemIdIsNormal(item);
		if (!visible[offset])
			continue;
		row.t_data = (HeapTupleHeader) PageGetItem(BufferGetPage(buffer), item);
		row.t_len = ItemIdGetLength(item);
		ItemPointerSet(&row.t_self, block, offset);
		visible[offset] = HeapTupleSatisfiesVisibility(&row, GetActiveSnapshot(), buffer);
	}
	UnlockReleaseBuffer(buffer);

	caller = MemoryContextSwitchTo(compaction->page_context);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId((Page) copy.data, offset);
		bool		isnull;
		Datum		value;

		if (!visible[offset])
			continue;
		row.t_data = (HeapTupleHeader) PageGetItem((Page) copy.data, item);
		row.t_len = ItemIdGetLength(item);
		value = heap_getattr(&row, attno, RelationGetDescr(heap), &isnull);
		if (!isnull)
			add_key(compaction, datumCopy(value, false, -1));
	}
	MemoryContextSwitchTo(caller);
}

/* Chooses the page to look at next; false at the end. */
static bool
choose_page(KvCompaction *compaction)
{
	if (!compaction->clearing)
	{
		compaction->page = kv_am_pack_next(compaction->pack);
		return compaction->page != InvalidBlockNumber;
	}
	if (compaction->page <= kv_am_pack_limit(compaction->pack))
		return false;
	compaction->page--;
	return true;
}

/* Goes on to the next page that has collections to look at; false at the end. */
static bool
next_page(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;
	BlockNumber blocks = RelationGetNumberOfBlocks(chunk->mover.heap);

	while (compaction->key_next >= compaction->key_count)
	{
		CHECK_FOR_INTERRUPTS();
		if (chunk->pages++ >= CHUNK_PAGES)
			return true;
		compaction->key_next = 0;
		compaction->key_count = 0;
		MemoryContextReset(compaction->page_context);
		if (!choose_page(compaction))
			return false;
		if (compaction->page < blocks)
			read_page(chunk, compaction->page);
	}
	return true;
}

/* Forgets which collections were looked at. */
static void
forget_seen(KvCompaction *compaction)
{
	memset(compaction->seen, 0, (compaction->seen_mask + 1) * SEEN_WAYS * sizeof(uint64));
}

/*
 * Turns to all pages a second time, where many collections were left on more
 * than they need since there was no room then; false if there is no need to.
 */
static bool
begin_again(KvCompaction *compaction)
{
	if (compaction->clearing || compaction->again || compaction->counts->held_back ||
		compaction->pages_left <= SCATTERED_LEAF * compaction->pages_wanted)
		return false;
	compaction->again = true;
	compaction->pages_wanted = 0;
	compaction->pages_found = 0;
	kv_am_pack_restart(compaction->pack);
	forget_seen(compaction);
	return true;
}

/* Turns to the pages that were added, and whatever else lies beyond the limit; false if that is done, or there are none. */
static bool
begin_clearing(KvCompaction *compaction, Relation heap)
{
	BlockNumber limit = kv_am_pack_limit(compaction->pack);
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);

	if (compaction->clearing || blocks <= limit)
		return false;
	compaction->clearing = true;
	compaction->page = blocks;
	forget_seen(compaction);
	return true;
}

/* Works on pages and collections until the transaction is to end. */
static KvCompactStep
work(Chunk *chunk)
{
	KvCompaction *compaction = chunk->compaction;

	while (chunk->moved_bytes < CHUNK_BYTES && chunk->pages < CHUNK_PAGES)
	{
		KvCompactStep step;

		if (!next_page(chunk))
			return begin_again(compaction) || begin_clearing(compaction, chunk->mover.heap) ?
				KV_COMPACT_VACUUM : KV_COMPACT_DONE;
		if (compaction->key_next >= compaction->key_count)
			continue;
		step = compact_collection(chunk);
		if (step != KV_COMPACT_DONE)
			return step;
	}
	return KV_COMPACT_MORE;
}

/* Opens and locks the leaf, and tells which of the table's it is; NULL if it is the table's no more. */
static Relation
open_leaf(const KvCompaction *compaction, const KvTable *table, int *leaf)
{
	for (*leaf = 0; *leaf < table->leaf_count; (*leaf)++)
		if (table->leaf_relid[*leaf] == compaction->leaf_relid)
			return table_open(compaction->leaf_relid, RowExclusiveLock);
	return NULL;
}

/* Does the work of one transaction. */
KvCompactStep
kv_compaction_step(KvCompaction *compaction, KvTable *table)
{
	int			leaf;
	Relation	heap = open_leaf(compaction, table, &leaf);
	Chunk		chunk;
	KvCompactStep step;

	if (heap == NULL)
		return KV_COMPACT_DONE;
	CheckCmdReplicaIdentity(heap, CMD_UPDATE);
	memset(&chunk, 0, sizeof(chunk));
	chunk.compaction = compaction;
	chunk.table = table;
	/* no lock was held since the last transaction */
	kv_am_pack_trim(compaction->pack, heap);
	prune_emptied(compaction, heap);
	kv_mover_begin(&chunk.mover, heap);
	chunk.cursor = kv_cursor_open(table, leaf, SnapshotAny, ForwardScanDirection);
	step = work(&chunk);
	kv_cursor_close(chunk.cursor);
	kv_mover_end(&chunk.mover);
	table_close(heap, NoLock);
	return step;
}

/* Vacuums the leaf unless somebody else does. */
void
kv_compaction_vacuum(KvCompaction *compaction, KvTable *table, bool may_truncate)
{
	int			leaf;
	Relation	heap = open_leaf(compaction, table, &leaf);

	compaction->unvacuumed_bytes = 0;
	if (heap == NULL)
		return;
	if (ConditionalLockRelation(heap, ShareUpdateExclusiveLock))
	{
		Oid			user;
		int			security_context;

		GetUserIdAndSecContext(&user, &security_context);
		SetUserIdAndSecContext(heap->rd_rel->relowner, security_context | SECURITY_RESTRICTED_OPERATION);
		kv_am_vacuum(heap, may_truncate);
		SetUserIdAndSecContext(user, security_context);
	}
	kv_am_pack_refresh(compaction->pack, heap);
	table_close(heap, NoLock);
}

/* Ends the compaction. */
void
kv_compaction_end(KvCompaction *compaction, KvTable *table)
{
	int			leaf;
	Relation	heap = open_leaf(compaction, table, &leaf);

	if (heap != NULL)
	{
		compaction->counts->pages_after += RelationGetNumberOfBlocks(heap);
		table_close(heap, NoLock);
	}
	MemoryContextDelete(compaction->context);
}
