/*
 * am_handler.c
 *	  The routine table of the key_value access method.
 *
 * It is a copy of heap's, made once, in which a few callbacks are replaced.
 * Two of heap's own callbacks do not work for another access method as they
 * stand: heap_getnext(), which index builds read through, refuses a relation
 * whose rd_tableam is not heap's, and heap's relation_toast_am would give
 * TOAST tables this access method.  Index builds therefore run with
 * rd_tableam set to heap's for the call.  A relcache rebuild during the call
 * (a sinval reset is enough) puts our routine back, so a relcache callback
 * sets it again: invalidation callbacks run after the entry was rebuilt and
 * before anybody reads it.  Errors about a value that cannot be a key name the
 * item: who creates a local index has no other way to find it.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "am/am.h"
#include "am/am_internal.h"
#include "base/errors.h"

/* The row that an index build is at, to be named in errors about its values. */
typedef struct BuiltRow
{
	Relation	table;
	TableScanDesc scan;			/* NULL: heap's own */
	AttrNumber	key[2];			/* the table's key columns */
	FmgrInfo	output[2];
	ErrorContextCallback callback;
} BuiltRow;

/* One relation that reads as heap at present; the list nests as calls do. */
typedef struct HeapMask
{
	Relation	relation;
	struct HeapMask *outer;
} HeapMask;

KvAmTruncateHook kv_am_truncate_hook = NULL;

static HeapMask *heap_masks = NULL;
static TableAmRoutine key_value_methods;
static bool methods_ready = false;

PG_FUNCTION_INFO_V1(kv_am_handler_sql);

/* Puts heap's routine back on masked relations whose relcache entry was rebuilt. */
static void
restore_heap_masks(Datum arg, Oid relid)
{
	HeapMask   *mask;

	for (mask = heap_masks; mask != NULL; mask = mask->outer)
		if (relid == InvalidOid || relid == RelationGetRelid(mask->relation))
			mask->relation->rd_tableam = GetHeapamTableAmRoutine();
}

/* Makes the relation look like a heap until unmask_heap. */
static void
mask_as_heap(Relation relation, HeapMask *mask)
{
	mask->relation = relation;
	mask->outer = heap_masks;
	heap_masks = mask;
	relation->rd_tableam = GetHeapamTableAmRoutine();
}

/* Ends the innermost mask_as_heap. */
static void
unmask_heap(HeapMask *mask)
{
	HeapMask   *other;

	heap_masks = mask->outer;
	for (other = heap_masks; other != NULL; other = other->outer)
		if (other->relation == mask->relation)
			return;
	mask->relation->rd_tableam = &key_value_methods;
}

/* Says of an error about a value which item has it. */
static void
name_built_row(void *argument)
{
	BuiltRow   *row = argument;
	TupleDesc	columns = RelationGetDescr(row->table);
	HeapTuple	tuple = &((HeapScanDesc) row->scan)->rs_ctup;
	char	   *text[2];

	if (geterrcode() != ERRCODE_KV_VALIDATION || tuple->t_data == NULL)
		return;
	for (int i = 0; i < 2; i++)
	{
		bool		is_null;
		Datum		value = heap_getattr(tuple, row->key[i], columns, &is_null);

		text[i] = is_null ? "null" : OutputFunctionCall(&row->output[i], value);
	}
	errcontext("item with key (%s, %s)=(%s, %s) of \"%s\"",
			   NameStr(TupleDescAttr(columns, row->key[0] - 1)->attname),
			   NameStr(TupleDescAttr(columns, row->key[1] - 1)->attname),
			   text[0], text[1], RelationGetRelationName(row->table));
}

/*
 * Has errors that computing an index's entries raises name the item.
 *
 * The scan has to be known for that: where heap would begin it, it is begun
 * here the same way.  That of a concurrent build has a snapshot of heap's own
 * keeping, and is left to it; so is a range of blocks.
 */
static void
name_built_rows(BuiltRow *row, Relation table, const IndexInfo *index_info, bool allow_sync)
{
	const KvAmState *state;

	if (index_info->ii_Expressions == NIL || (row->scan == NULL && (index_info->ii_Concurrent || !allow_sync)))
		return;
	state = kv_am_state(table);
	if (!state->has_sort_key)
		return;
	row->key[0] = state->partition_key;
	row->key[1] = state->sort_key;
	for (int i = 0; i < 2; i++)
	{
		Oid			function;
		bool		is_varlena;

		getTypeOutputInfo(TupleDescAttr(RelationGetDescr(table), row->key[i] - 1)->atttypid, &function, &is_varlena);
		fmgr_info(function, &row->output[i]);
	}
	if (row->scan == NULL)
		row->scan = table_beginscan_strat(table, SnapshotAny, 0, NULL, true, true);
	row->table = table;
	row->callback.callback = name_built_row;
	row->callback.arg = row;
	row->callback.previous = error_context_stack;
	error_context_stack = &row->callback;
}

/* Scans the relation for an index build, as heap does. */
static double
key_value_index_build_range_scan(Relation table, Relation index, IndexInfo *index_info,
								 bool allow_sync, bool anyvisible, bool progress,
								 BlockNumber start_block, BlockNumber block_count,
								 IndexBuildCallback callback, void *callback_state,
								 TableScanDesc scan)
{
	HeapMask	mask;
	BuiltRow	row = {.scan = scan};
	ErrorContextCallback *outer = error_context_stack;
	volatile double tuples = 0;

	name_built_rows(&row, table, index_info, allow_sync);
	mask_as_heap(table, &mask);
	PG_TRY();
	{
		tuples = GetHeapamTableAmRoutine()->index_build_range_scan(table, index, index_info,
																   allow_sync, anyvisible, progress,
																   start_block, block_count,
																   callback, callback_state, row.scan);
	}
	PG_FINALLY();
	{
		unmask_heap(&mask);
	}
	PG_END_TRY();
	error_context_stack = outer;
	return tuples;
}

/* Scans the relation for the second phase of CREATE INDEX CONCURRENTLY, as heap does. */
static void
key_value_index_validate_scan(Relation table, Relation index, IndexInfo *index_info,
							  Snapshot snapshot, ValidateIndexState *state)
{
	HeapMask	mask;

	mask_as_heap(table, &mask);
	PG_TRY();
	{
		GetHeapamTableAmRoutine()->index_validate_scan(table, index, index_info, snapshot, state);
	}
	PG_FINALLY();
	{
		unmask_heap(&mask);
	}
	PG_END_TRY();
}

/* Gives the relation new files, as heap does; tells if it had some before. */
static void
key_value_relation_set_new_filenode(Relation relation, const KvCompatFileLocator *locator, char persistence,
									TransactionId *freeze_xid, MultiXactId *min_multi)
{
	kv_compat_heap_set_new_file(relation, locator, persistence, freeze_xid, min_multi);
	/* while a relation is made, its row is not there yet */
	if (kv_am_truncate_hook && SearchSysCacheExists1(RELOID, ObjectIdGetDatum(RelationGetRelid(relation))))
		kv_am_truncate_hook(relation);
}

/* Empties the relation as it stands, as heap does. */
static void
key_value_relation_nontransactional_truncate(Relation relation)
{
	GetHeapamTableAmRoutine()->relation_nontransactional_truncate(relation);
	if (kv_am_truncate_hook)
		kv_am_truncate_hook(relation);
}

/* Answers that TOAST tables of key_value relations are plain heaps. */
static Oid
key_value_relation_toast_am(Relation relation)
{
	return HEAP_TABLE_AM_OID;
}

/* Returns the routine table, which is made at the first call. */
static const TableAmRoutine *
key_value_routine(void)
{
	if (methods_ready)
		return &key_value_methods;

	key_value_methods = *GetHeapamTableAmRoutine();
	key_value_methods.index_build_range_scan = key_value_index_build_range_scan;
	key_value_methods.index_validate_scan = key_value_index_validate_scan;
	key_value_methods.tuple_insert = kv_am_tuple_insert;
	key_value_methods.tuple_insert_speculative = kv_am_tuple_insert_speculative;
	key_value_methods.multi_insert = kv_am_multi_insert;
	key_value_methods.tuple_update = kv_am_tuple_update;
	key_value_methods.kv_compat_set_new_file_callback = key_value_relation_set_new_filenode;
	key_value_methods.relation_nontransactional_truncate = key_value_relation_nontransactional_truncate;
	key_value_methods.relation_toast_am = key_value_relation_toast_am;
	CacheRegisterRelcacheCallback(restore_heap_masks, (Datum) 0);
	methods_ready = true;
	return &key_value_methods;
}

/* Tells whether the relation uses the key_value access method. */
bool
kv_am_is_key_value(Relation relation)
{
	return methods_ready && relation->rd_tableam == &key_value_methods;
}

/* Returns the routine table to CREATE ACCESS METHOD's machinery. */
Datum
kv_am_handler_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(key_value_routine());
}
