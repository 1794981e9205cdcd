/*
 * store_writer.c
 *	  Opens one leaf for writing and keeps what that takes for the next call.
 *
 * The executor builds its state for a target relation anew with each
 * statement: index descriptions, constraint expressions, slots.  Here a
 * writer is kept for the session once its call is over and taken again by
 * the next call on the leaf.  While it is in use it belongs to the call: its
 * memory context hangs under the caller's, so an error frees it, and a
 * nested call on the same leaf builds its own.  It serves one role, since
 * expressions check the right to call their functions when they are built.
 *
 * A kept writer holds no relation, pin or lock.  It is dropped when an
 * invalidation arrives for the leaf, its root or one of its indexes, or for
 * any function, since its expressions hold looked-up functions.  Invalidation
 * that arrives while a writer is in use is seen by the count of them.
 *
 * The relations are locked before the writer is judged, so what it was built
 * from cannot change any more when it is used.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/tupconvert.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "rewrite/rewriteHandler.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "store/store_internal.h"

/* Writers kept at most; each takes some 20 kB. */
#define KV_MAX_KEPT_WRITERS 128

/* Most recently used first. */
static dlist_head kept_writers = DLIST_STATIC_INIT(kept_writers);
static int	kept_count = 0;

/* Counts invalidations. */
static uint64 generation = 0;
static bool callbacks_registered = false;

/* Forgets a kept writer. */
static void
drop_kept(KvWriter *writer)
{
	dlist_delete(&writer->node);
	kept_count--;
	MemoryContextDelete(writer->context);
}

/* Tells whether the relation is one that the writer was built from. */
static bool
depends_on(const KvWriter *writer, Oid relid)
{
	if (relid == writer->leaf_relid || relid == writer->root_relid)
		return true;
	for (int i = 0; i < writer->index_count; i++)
		if (writer->index_oid[i] == relid)
			return true;
	return false;
}

/* Drops the kept writers that a relcache invalidation concerns; InvalidOid concerns all. */
static void
invalidate_relation(Datum arg, Oid relid)
{
	dlist_mutable_iter iter;

	generation++;
	dlist_foreach_modify(iter, &kept_writers)
	{
		KvWriter   *writer = dlist_container(KvWriter, node, iter.cur);

		if (!OidIsValid(relid) || depends_on(writer, relid))
			drop_kept(writer);
	}
}

/* Drops all kept writers when a function or type changes. */
static void
invalidate_catalog(Datum arg, int cache, uint32 hash)
{
	invalidate_relation(arg, InvalidOid);
}

/* Takes the writer kept of a leaf for a role out of the list, or returns NULL. */
static KvWriter *
take_kept(Oid leaf_relid, Oid role)
{
	dlist_iter	iter;

	dlist_foreach(iter, &kept_writers)
	{
		KvWriter   *writer = dlist_container(KvWriter, node, iter.cur);

		if (writer->leaf_relid == leaf_relid && writer->role == role)
		{
			dlist_delete(&writer->node);
			kept_count--;
			MemoryContextSetParent(writer->context, CurrentMemoryContext);
			return writer;
		}
	}
	return NULL;
}

/* Puts the writer of a finished call into the list, if nothing made it stale. */
static void
give_back(KvWriter *writer)
{
	KvWriter   *other;

	if (!writer->keepable || writer->generation != generation)
	{
		MemoryContextDelete(writer->context);
		return;
	}

	/* a nested call on the leaf may have left its own */
	other = take_kept(writer->leaf_relid, writer->role);
	if (other)
		MemoryContextDelete(other->context);

	while (kept_count >= KV_MAX_KEPT_WRITERS)
		drop_kept(dlist_container(KvWriter, node, dlist_tail_node(&kept_writers)));

	MemoryContextSetParent(writer->context, CacheMemoryContext);
	dlist_push_head(&kept_writers, &writer->node);
	kept_count++;
}

/* Returns the columns of the root that an item function writes, as the executor counts them. */
static Bitmapset *
written_columns(const KvTable *table, bool keys)
{
	Bitmapset  *columns = bms_make_singleton(table->item_attno - FirstLowInvalidHeapAttributeNumber);

	for (int i = 0; keys && i < table->key.count; i++)
		columns = bms_add_member(columns, table->key_attno[i] - FirstLowInvalidHeapAttributeNumber);
	return columns;
}

/* Fills an executor state for one leaf: range table and result relations. */
void
kv_store_init_target(EState *estate, KvWriter *writer, ResultRelInfo **target, ResultRelInfo **root)
{
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	bool		partitioned = writer->root_heap != writer->heap;
	RangeTblEntry *entry = makeNode(RangeTblEntry);

	entry->rtekind = RTE_RELATION;
	entry->relid = RelationGetRelid(writer->root_heap);
	entry->relkind = writer->root_heap->rd_rel->relkind;
	entry->rellockmode = RowExclusiveLock;
	kv_compat_init_range_table(estate, entry,
							   written_columns(writer->table, true),
							   written_columns(writer->table, false));

	*root = makeNode(ResultRelInfo);
	InitResultRelInfo(*root, writer->root_heap, 1, NULL, 0);
	if (partitioned)
	{
		*target = makeNode(ResultRelInfo);
		InitResultRelInfo(*target, writer->heap, 0, *root, 0);
		kv_compat_set_root_map(*target, RelationGetDescr(writer->root_heap), RelationGetDescr(writer->heap));
	}
	else
		*target = *root;

	/* where ExecGetTriggerResultRel looks */
	estate->es_opened_result_relations = lappend(estate->es_opened_result_relations, *root);
	if (partitioned)
		estate->es_opened_result_relations = lappend(estate->es_opened_result_relations, *target);
	MemoryContextSwitchTo(caller);
}

/* Tells whether a column of the leaf is a key column or the item. */
static bool
is_written_column(const KvWriter *writer, AttrNumber attno)
{
	for (int i = 0; i < writer->table->key.count; i++)
		if (writer->leaf->key_attno[i] == attno)
			return true;
	return attno == writer->leaf->item_attno;
}

/* Prepares the defaults of the columns that are neither key nor item, those of the root as SQL takes them. */
static void
prepare_defaults(KvWriter *writer)
{
	TupleDesc	row_type = writer->row_type;

	for (int i = 0; i < row_type->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row_type, i);
		AttrNumber	root_attno = i + 1;
		Expr	   *expression;

		if (attribute->attisdropped || attribute->attgenerated || is_written_column(writer, i + 1))
			continue;

		if (writer->root_heap != writer->heap)
			root_attno = get_attnum(writer->root_relid, NameStr(attribute->attname));
		expression = (Expr *) build_column_default(writer->root_heap, root_attno);
		if (expression == NULL)
			continue;
		if (writer->defaults == NULL)
			writer->defaults = palloc0(row_type->natts * sizeof(ExprState *));
		writer->defaults[i] = ExecPrepareExpr(expression, writer->estate);
	}
}

/*
 * Tells whether an index is unique over just the columns of the primary key.
 *
 * REINDEX CONCURRENTLY keeps two of the primary key for a while, each of which
 * an insert may find taken first.
 */
static bool
is_key_index(const KvWriter *writer, int number)
{
	Relation	index = writer->target->ri_IndexRelationDescs[number];
	Relation	primary = writer->target->ri_IndexRelationDescs[writer->primary];
	IndexInfo  *info = writer->index_info[number];
	IndexInfo  *primary_info = writer->index_info[writer->primary];
	int			count = primary_info->ii_NumIndexKeyAttrs;

	if (!info->ii_Unique || info->ii_ExclusionOps || info->ii_Expressions || info->ii_Predicate ||
		!index->rd_index->indimmediate || info->ii_NumIndexKeyAttrs != count)
		return false;
	for (int i = 0; i < count; i++)
		if (info->ii_IndexAttrNumbers[i] != primary_info->ii_IndexAttrNumbers[i] ||
			index->rd_indcollation[i] != primary->rd_indcollation[i] ||
			index->rd_opfamily[i] != primary->rd_opfamily[i])
			return false;
	return true;
}

/* Describes the indexes of the leaf and finds the primary key, and what is unique like it, among them. */
static void
prepare_indexes(KvWriter *writer)
{
	ResultRelInfo *target = writer->target;

	ExecOpenIndices(target, true);
	writer->index_count = target->ri_NumIndices;
	writer->index_info = target->ri_IndexRelationInfo;
	writer->index_oid = palloc(sizeof(Oid) * Max(writer->index_count, 1));
	writer->primary = -1;
	for (int i = 0; i < writer->index_count; i++)
	{
		Relation	index = target->ri_IndexRelationDescs[i];

		writer->index_oid[i] = RelationGetRelid(index);
		if (RelationGetRelid(index) == writer->leaf->primary_index)
			writer->primary = i;
		/* other access methods keep pointers of a statement's life */
		if (index->rd_rel->relam != BTREE_AM_OID)
			writer->keepable = false;
	}

	if (writer->primary < 0)
		elog(ERROR, "index %u is not an index of relation %u", writer->leaf->primary_index, writer->leaf_relid);
	for (int i = 0; i < writer->index_count; i++)
	{
		if (i == writer->primary || is_key_index(writer, i))
			writer->arbiter = lappend_oid(writer->arbiter, writer->index_oid[i]);
		if (i != writer->primary && (writer->index_info[i]->ii_Unique || writer->index_info[i]->ii_ExclusionOps))
			writer->further_unique = true;
	}
}

/* Builds a writer for a leaf that is open and locked. */
static KvWriter *
build_writer(KvTable *table, int leaf, Relation heap, Relation root_heap)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value writer",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	KvWriter   *writer = palloc0(sizeof(KvWriter));

	writer->context = context;
	writer->keepable = true;
	writer->leaf_relid = RelationGetRelid(heap);
	writer->root_relid = RelationGetRelid(root_heap);
	writer->role = GetUserId();
	writer->generation = generation;
	writer->table = table;
	writer->leaf = kv_table_leaf(table, leaf);
	writer->heap = heap;
	writer->root_heap = root_heap;
	writer->row_type = CreateTupleDescCopyConstr(RelationGetDescr(heap));
	writer->current = MakeTupleTableSlot(writer->row_type, table_slot_callbacks(heap));
	writer->next = MakeTupleTableSlot(writer->row_type, table_slot_callbacks(heap));
	writer->estate = CreateExecutorState();
	kv_store_init_target(writer->estate, writer, &writer->target, &writer->root);
	kv_compat_init_generated(writer->target, writer->estate);
	prepare_indexes(writer);
	prepare_defaults(writer);
	writer->replace_lock = ExecUpdateLockMode(writer->estate, writer->target);
	MemoryContextSwitchTo(caller);
	return writer;
}

/* Opens the indexes of a writer that was kept; false if it went stale meanwhile. */
static bool
reopen_indexes(KvWriter *writer)
{
	ResultRelInfo *target = writer->target;

	for (int i = 0; i < writer->index_count; i++)
	{
		target->ri_IndexRelationDescs[i] = try_relation_open(writer->index_oid[i], RowExclusiveLock);
		if (target->ri_IndexRelationDescs[i] == NULL || writer->generation != generation)
		{
			while (i >= 0)
			{
				if (target->ri_IndexRelationDescs[i])
					index_close(target->ri_IndexRelationDescs[i], RowExclusiveLock);
				i--;
			}
			return false;
		}
	}
	return true;
}

/* Takes the kept writer of a leaf that is open and locked; NULL if there is none. */
static KvWriter *
reopen_writer(KvTable *table, int leaf, Relation heap, Relation root_heap)
{
	KvWriter   *writer = take_kept(RelationGetRelid(heap), GetUserId());

	if (writer == NULL)
		return NULL;

	writer->generation = generation;
	writer->table = table;
	writer->heap = heap;
	writer->root_heap = root_heap;
	writer->target->ri_RelationDesc = heap;
	writer->root->ri_RelationDesc = root_heap;
	if (writer->root_relid != RelationGetRelid(root_heap) || !reopen_indexes(writer))
	{
		MemoryContextDelete(writer->context);
		return NULL;
	}
	writer->leaf = kv_table_leaf(table, leaf);
	return writer;
}

/* Registers the invalidation callbacks, once a session. */
static void
register_callbacks(void)
{
	if (callbacks_registered)
		return;
	CacheRegisterRelcacheCallback(invalidate_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(PROCOID, invalidate_catalog, (Datum) 0);
	CacheRegisterSyscacheCallback(TYPEOID, invalidate_catalog, (Datum) 0);
	callbacks_registered = true;
}

/* Opens one leaf of the table for writing. */
KvWriter *
kv_writer_open(KvTable *table, int leaf)
{
	Relation	heap;
	Relation	root_heap;
	KvWriter   *writer;

	kv_table_check_leaf(table, leaf);
	heap = table_open(table->leaf_relid[leaf], RowExclusiveLock);
	root_heap = table->partitioned ? table_open(table->relid, NoLock) : heap;
	register_callbacks();
	writer = reopen_writer(table, leaf, heap, root_heap);
	if (writer == NULL)
		writer = build_writer(table, leaf, heap, root_heap);
	writer->alone = table->index != NULL;
	writer->keeps_snapshot = writer->alone && kv_store_row_triggers(writer) == NULL &&
		!kv_table_has_foreign_triggers(table, root_heap->trigdesc);
	writer->snapshot_active = false;
	writer->wrote = false;
	writer->lost = false;
	writer->expected_rest = 0;
	return writer;
}

/* Ends the writer; the lock on the leaf stays, as SQL does it. */
void
kv_writer_close(KvWriter *writer)
{
	if (writer->snapshot_active)
		PopActiveSnapshot();
	ExecClearTuple(writer->current);
	ExecClearTuple(writer->next);
	ResetPerTupleExprContext(writer->estate);

	for (int i = 0; i < writer->index_count; i++)
	{
		kv_compat_end_index_inserts(writer->target->ri_IndexRelationDescs[i], writer->index_info[i]);
		/* for the next writer of this transaction; SQL gives the lock back at once */
		index_close(writer->target->ri_IndexRelationDescs[i], writer->alone ? NoLock : RowExclusiveLock);
	}
	if (writer->root_heap != writer->heap)
		table_close(writer->root_heap, NoLock);
	table_close(writer->heap, NoLock);

	if (writer->wrote)
		CommandCounterIncrement();
	give_back(writer);
}
