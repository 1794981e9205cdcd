/*
 * am_bulk.c
 *	  Inserts of many rows at once, as COPY makes them.
 *
 * The index gets its entries for the rows of a batch only after the batch, so
 * no probe could find one of them for another.  The batch is therefore sorted
 * by key; rows of a collection that go behind all others of it are put down in
 * one go as far as a page has room, each such run one WAL record.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "am/am_internal.h"

/* One row of the batch. */
typedef struct BatchRow
{
	TupleTableSlot *slot;
	HeapTuple	row;
	KvAmKeys	keys;
} BatchRow;

/* The batch and how it is ordered. */
typedef struct Batch
{
	BatchRow   *rows;
	int			count;
	SortSupportData order[2];
} Batch;

/* Compares two rows by key. */
static int
compare_rows(const void *left, const void *right, void *arg)
{
	const BatchRow *a = left;
	const BatchRow *b = right;
	Batch	   *batch = arg;
	int			result;

	result = ApplySortComparator(a->keys.partition_key, false, b->keys.partition_key, false, &batch->order[0]);
	if (result == 0)
		result = ApplySortComparator(a->keys.sort_key, false, b->keys.sort_key, false, &batch->order[1]);
	return result;
}

/* Sets up the order of one key column. */
static void
prepare_order(Relation relation, AttrNumber attno, SortSupport order)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(relation), attno - 1);
	TypeCacheEntry *type = lookup_type_cache(attribute->atttypid, TYPECACHE_LT_OPR);

	memset(order, 0, sizeof(SortSupportData));
	order->ssup_cxt = CurrentMemoryContext;
	order->ssup_collation = attribute->attcollation;
	PrepareSortSupportFromOrderingOp(type->lt_opr, order);
}

/* Reads and sorts the rows; false if a key is NULL or has no order. */
static bool
make_batch(Relation relation, TupleTableSlot **slots, int slot_count, Batch *batch)
{
	AttrNumber	attno[2] = {kv_am_state(relation)->partition_key, kv_am_state(relation)->sort_key};
	int			i;

	for (i = 0; i < 2; i++)
	{
		Oid			type = TupleDescAttr(RelationGetDescr(relation), attno[i] - 1)->atttypid;

		if (!OidIsValid(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr))
			return false;
		prepare_order(relation, attno[i], &batch->order[i]);
	}
	batch->rows = palloc(sizeof(BatchRow) * slot_count);
	batch->count = slot_count;
	for (i = 0; i < slot_count; i++)
	{
		BatchRow   *row = &batch->rows[i];

		row->slot = slots[i];
		row->row = ExecFetchSlotHeapTuple(slots[i], true, NULL);
		if (!kv_am_read_keys(relation, slots[i], &row->keys))
			return false;
	}
	qsort_arg(batch->rows, slot_count, sizeof(BatchRow), compare_rows, batch);
	return true;
}

/* Returns the index behind the last row of the collection that the row at start belongs to. */
static int
group_end(Batch *batch, int start)
{
	int			end = start + 1;

	while (end < batch->count &&
		   ApplySortComparator(batch->rows[start].keys.partition_key, false,
							   batch->rows[end].keys.partition_key, false, &batch->order[0]) == 0)
		end++;
	return end;
}

/* Returns how many rows from start on fit the chosen page together, and the space that they take. */
static int
run_length(Relation relation, Batch *batch, int start, int end, const KvAmTarget *target, Size *taken)
{
	int			i;

	*taken = MAXALIGN(target->length) + sizeof(ItemIdData);
	for (i = start + 1; i < end && target->toast_class < 0; i++)
	{
		KvAmTarget	next;

		kv_am_expect_length(relation, batch->rows[i].row, &next);
		if (next.toast_class >= 0 ||
			target->space < *taken + kv_am_space_needed(relation, next.length))
			break;
		*taken += MAXALIGN(next.length) + sizeof(ItemIdData);
	}
	return i - start;
}

/* Returns the bytes that rows from start to end take on their pages. */
static Size
rows_size(Relation relation, Batch *batch, int start, int end)
{
	Size		size = 0;

	for (; start < end; start++)
	{
		KvAmTarget	row;

		kv_am_expect_length(relation, batch->rows[start].row, &row);
		size += MAXALIGN(row.length) + sizeof(ItemIdData);
	}
	return size;
}

/* Inserts the rows of one collection, run by run. */
static void
insert_group(Relation relation, Batch *batch, int start, int end, CommandId cid, int options)
{
	TupleTableSlot **slots = palloc(sizeof(TupleTableSlot *) * (end - start));
	BlockNumber previous = InvalidBlockNumber;
	Size		remaining = rows_size(relation, batch, start, end);
	int			i;

	for (i = start; i < end; i++)
		slots[i - start] = batch->rows[i].slot;
	while (start < end)
	{
		BatchRow   *first = &batch->rows[start];
		KvAmTarget	target;
		Size		taken = 0;
		int			run = 1;

		CHECK_FOR_INTERRUPTS();
		kv_am_expect_length(relation, first->row, &target);
		target.previous = previous;
		target.group = remaining;
		kv_am_choose(relation, first->slot, first->row, &target);
		if (target.at_end)
			run = run_length(relation, batch, start, end, &target, &taken);
		if (run > 1)
		{
			KvAmKeys   *last = &batch->rows[start + run - 1].keys;

			target.length = taken - sizeof(ItemIdData);
			if (last->bytes != NULL)
				kv_am_append_note(last->hash, last->bytes, last->length, target.block);
		}
		heap_multi_insert(relation, slots, run, cid, options & ~HEAP_INSERT_SKIP_FSM, NULL);
		kv_am_placed(relation, &slots[run - 1]->tts_tid, &target);
		if (target.at_end)
			previous = ItemPointerGetBlockNumber(&slots[run - 1]->tts_tid);
		remaining -= rows_size(relation, batch, start, start + run);
		slots += run;
		start += run;
	}
}

/* Inserts many rows, each next to its neighbour. */
void
kv_am_multi_insert(Relation relation, TupleTableSlot **slots, int slot_count, CommandId cid,
				   int options, BulkInsertState bistate)
{
	Batch		batch;
	int			start,
				end;

	if (!kv_am_state(relation)->has_sort_key || !make_batch(relation, slots, slot_count, &batch))
	{
		heap_multi_insert(relation, slots, slot_count, cid, options, bistate);
		return;
	}
	for (start = 0; start < slot_count; start = end)
	{
		end = group_end(&batch, start);
		insert_group(relation, &batch, start, end, cid, options);
	}
}
