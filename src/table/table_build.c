/*
 * table_build.c
 *	  Builds the descriptor of a key-value table from the catalogs.
 *
 * Everything is read through the relation cache and the system caches, at the
 * first use of a table in a session and again after its definition changed.
 * What makes a relation ours is in the catalogs alone: the hash function of
 * its partition key, its access method, or its parent.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "table/table_internal.h"

/* Marks the descriptor unusable and keeps the reason, a whole sentence; the first reason stays. */
void
kv_table_mark_unusable(KvTable *table, const char *format,...)
{
	StringInfoData reason;

	if (!table->usable)
		return;

	initStringInfo(&reason);
	for (;;)
	{
		va_list		arguments;
		int			needed;

		va_start(arguments, format);
		needed = appendStringInfoVA(&reason, format, arguments);
		va_end(arguments);
		if (needed == 0)
			break;
		enlargeStringInfo(&reason, needed);
	}
	table->usable = false;
	table->unusable_reason = reason.data;
}

/* Tells whether the relation uses our access method. */
static bool
has_our_access_method(Relation relation)
{
	Oid			method = relation->rd_rel->relam;
	char	   *name;

	if (relation->rd_rel->relkind != RELKIND_RELATION || method == HEAP_TABLE_AM_OID)
		return false;
	name = get_am_name(method);
	return name != NULL && strcmp(name, KV_ACCESS_METHOD) == 0;
}

/* Tells whether a relation is partitioned by an expression. */
static bool
has_partition_expression(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(relid));
	bool		found;

	if (!HeapTupleIsValid(tuple))
		return false;
	found = !heap_attisnull(tuple, Anum_pg_partitioned_table_partexprs, NULL);
	ReleaseSysCache(tuple);
	return found;
}

/*
 * Tells whether the relation is partitioned by hash with an operator class of ours.
 *
 * A table that is partitioned by an expression is none of ours, and its
 * partition key is not even asked for: the relation cache would run the
 * constant parts of the expression, functions of the table's owner, as the
 * current user, who may be a worker.
 */
static bool
has_our_partitioning(Relation relation)
{
	PartitionKey key;
	int			i;

	if (relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE ||
		has_partition_expression(RelationGetRelid(relation)))
		return false;

	key = RelationGetPartitionKey(relation);
	if (key == NULL || key->strategy != PARTITION_STRATEGY_HASH)
		return false;
	for (i = 0; i < key->partnatts; i++)
	{
		if (kv_table_is_our_hash(&key->partsupfunc[i]))
			return true;
	}
	return false;
}

/* Tells whether the relation is a partition of a table of ours. */
static bool
has_our_parent(Relation relation)
{
	Oid			parent_relid;
	Relation	parent;
	bool		ours;

	if (!relation->rd_rel->relispartition)
		return false;

	parent_relid = get_partition_parent(RelationGetRelid(relation), true);
	parent = RelationIdGetRelation(parent_relid);
	if (parent == NULL)
		return false;
	ours = has_our_partitioning(parent);
	RelationClose(parent);
	return ours;
}

/*
 * Tells at little cost whether a relation may be ours.
 *
 * It costs nothing for the usual relation, an ordinary table with heap
 * underneath that is no partition; the answer for the others is worth caching.
 */
bool
kv_table_is_candidate(Relation relation)
{
	Form_pg_class form = relation->rd_rel;

	if (form->relkind == RELKIND_PARTITIONED_TABLE)
		return true;
	return form->relkind == RELKIND_RELATION &&
		(form->relispartition || form->relam != HEAP_TABLE_AM_OID);
}

/* Reads one key column into the descriptor; marks the table unusable if it cannot be a key. */
static void
read_key_column(KvTable *table, Relation relation, int position, AttrNumber attno)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), attno - 1);
	KvKeyAttribute *attribute = &table->key.attribute[position];

	kv_table_read_attribute_name(relation, attno, attribute);
	attribute->type = kv_key_type_of(column->atttypid);
	table->key_attno[position] = attno;

	if (attribute->type == 0)
		kv_table_mark_unusable(table, "Key column \"%s\" has type %s; a key is text COLLATE \"C\", numeric or bytea.",
					  attribute->name, format_type_be(column->atttypid));
	else if (column->atttypmod >= 0)
		kv_table_mark_unusable(table, "Key column \"%s\" has type %s; a key has no type modifier.",
					  attribute->name,
					  format_type_with_typemod(column->atttypid, column->atttypmod));
	else if (attribute->type == KV_KEY_STRING && column->attcollation != C_COLLATION_OID)
		kv_table_mark_unusable(table, "Key column \"%s\" has collation \"%s\", not \"C\".",
					  attribute->name, get_collation_name(column->attcollation));
}

/* Reads the key columns from the primary key. */
static void
read_key(KvTable *table, Relation relation, bool is_index)
{
	Oid			index = kv_compat_primary_key_index(relation);
	HeapTuple	tuple;
	Form_pg_index form;
	int			i;

	if (!OidIsValid(index))
	{
		kv_table_mark_unusable(table, "It has no primary key that is valid and not deferrable.");
		return;
	}

	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	form = (Form_pg_index) GETSTRUCT(tuple);

	if (form->indnkeyatts > (is_index ? KV_MAX_KEYS : KV_MAX_TABLE_KEYS))
		kv_table_mark_unusable(table, "Its primary key has %d columns; a key is a partition key and at most one sort key.",
					  form->indnkeyatts);
	else
	{
		table->key.count = form->indnkeyatts;
		for (i = 0; i < form->indnkeyatts; i++)
			read_key_column(table, relation, i, form->indkey.values[i]);
	}
	ReleaseSysCache(tuple);
}

/* Finds the column that holds the items. */
static void
read_item_column(KvTable *table, Relation relation)
{
	TupleDesc	columns = RelationGetDescr(relation);
	int			i;

	for (i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (column->attisdropped || strcmp(NameStr(column->attname), KV_ITEM_COLUMN) != 0)
			continue;

		table->item_attno = column->attnum;
		if (column->atttypid != JSONBOID)
			kv_table_mark_unusable(table, "Its column \"%s\" has type %s, not jsonb.",
						  KV_ITEM_COLUMN, format_type_be(column->atttypid));
		else if (!kv_compat_column_not_null(columns, i))
			kv_table_mark_unusable(table, "Its column \"%s\" is not declared NOT NULL.", KV_ITEM_COLUMN);
		else if (column->attgenerated)
			kv_table_mark_unusable(table, "Its column \"%s\" is generated.", KV_ITEM_COLUMN);
		return;
	}
	kv_table_mark_unusable(table, "It has no column \"%s\" of type jsonb.", KV_ITEM_COLUMN);
}

/* Checks that the partitioning is over the partition key alone. */
static void
check_partitioning(KvTable *table, Relation relation)
{
	PartitionKey key = RelationGetPartitionKey(relation);

	if (key->partnatts != 1)
		kv_table_mark_unusable(table, "It is partitioned by %d columns, not by the partition key alone.",
					  key->partnatts);
	else if (table->key.count > 0 && key->partattrs[0] != table->key_attno[0])
		kv_table_mark_unusable(table, "It is partitioned by column \"%s\", which is not the first of its primary key.",
					  NameStr(TupleDescAttr(RelationGetDescr(relation), key->partattrs[0] - 1)->attname));
}

/*
 * Copies the partitions and their bounds.
 *
 * While a partition is being detached concurrently, which partitions there
 * are depends on the snapshot; core does not keep such a list, nor do we.
 */
static void
read_partitions(KvTable *table, Relation relation)
{
	KvTablePrivate *private_data = table->private_data;
	PartitionDesc partitions = RelationGetPartitionDesc(relation, true);
	int			i;

	private_data->snapshot_bound = partitions->detached_exist;
	table->leaf_count = partitions->nparts;
	if (partitions->nparts == 0)
		return;

	table->leaf_relid = palloc(sizeof(Oid) * partitions->nparts);
	memcpy(table->leaf_relid, partitions->oids, sizeof(Oid) * partitions->nparts);
	private_data->modulus = partitions->boundinfo->nindexes;
	private_data->leaf_by_remainder = palloc(sizeof(int) * private_data->modulus);
	memcpy(private_data->leaf_by_remainder, partitions->boundinfo->indexes,
		   sizeof(int) * private_data->modulus);

	for (i = 0; i < partitions->nparts; i++)
	{
		if (!partitions->is_leaf[i])
			kv_table_mark_unusable(table, "Its partition \"%s\" is itself partitioned.",
						  get_rel_name(partitions->oids[i]));
	}
}

/*
 * Tells whether the partitions that the active snapshot sees are those of the
 * descriptor.
 */
bool
kv_table_partitions_match(const KvTable *table)
{
	Relation	relation = RelationIdGetRelation(table->relid);
	PartitionDesc partitions;
	bool		match;

	if (relation == NULL)
		return false;
	partitions = RelationGetPartitionDesc(relation, true);
	match = partitions->nparts == table->leaf_count &&
		memcmp(partitions->oids, table->leaf_relid, sizeof(Oid) * table->leaf_count) == 0;
	RelationClose(relation);
	return match;
}

/* Makes the relation the only leaf of its own table. */
static void
be_own_leaf(KvTable *table)
{
	KvTablePrivate *private_data = table->private_data;

	table->leaf_count = 1;
	table->leaf_relid = palloc(sizeof(Oid));
	table->leaf_relid[0] = table->relid;
	private_data->modulus = 1;
	private_data->leaf_by_remainder = palloc0(sizeof(int));
}

/* Fills a new descriptor; everything it allocates goes to the current context. */
static KvTable *
build_in_context(Relation relation, MemoryContext context)
{
	KvTable    *table = palloc0(sizeof(KvTable));
	KvTablePrivate *private_data = palloc0(sizeof(KvTablePrivate));
	bool		is_index;

	private_data->context = context;
	private_data->relkind = relation->rd_rel->relkind;
	private_data->row_security = relation->rd_rel->relrowsecurity;
	table->private_data = private_data;
	table->relid = RelationGetRelid(relation);
	table->partitioned = (private_data->relkind == RELKIND_PARTITIONED_TABLE);
	table->is_leaf = relation->rd_rel->relispartition;
	if (table->is_leaf)
		table->root_relid = get_partition_parent(table->relid, true);
	table->usable = true;

	if (RELATION_IS_OTHER_TEMP(relation))
		kv_table_mark_unusable(table, "It is a temporary table of another session.");
	is_index = kv_table_is_index(relation);
	read_key(table, relation, is_index);
	read_item_column(table, relation);
	if (table->partitioned)
	{
		check_partitioning(table, relation);
		read_partitions(table, relation);
	}
	else
		be_own_leaf(table);
	if (is_index)
		kv_table_read_index(table, relation);
	else if (table->usable && !table->is_leaf)
	{
		kv_table_find_global_indexes(table);
		kv_table_find_local_indexes(table, relation);
	}
	private_data->leaf = palloc0(sizeof(KvCachedLeaf *) * Max(table->leaf_count, 1));
	return table;
}

/*
 * Builds the descriptor of a relation; returns NULL if the relation is not ours.
 *
 * The descriptor gets a context of its own, which becomes a child of the
 * cache's context only when nothing can fail any more.
 */
KvTable *
kv_table_build(Relation relation)
{
	MemoryContext context;
	MemoryContext caller;
	KvTable    *table;

	if (!has_our_access_method(relation) &&
		!has_our_partitioning(relation) &&
		!has_our_parent(relation))
		return NULL;

	context = AllocSetContextCreate(CurrentMemoryContext, "key_value table", ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(context);
	table = build_in_context(relation, context);
	MemoryContextSwitchTo(caller);

	MemoryContextSetParent(context, CacheMemoryContext);
	return table;
}

/*
 * Returns the leaf's attribute number of one of the table's columns, which
 * most often is the same; what the relation cache has need not be looked up.
 */
static AttrNumber
leaf_attno(Relation leaf, Oid relid, AttrNumber attno)
{
	TupleDesc	columns = RelationGetDescr(leaf);
	char	   *name = get_attname(relid, attno, false);
	AttrNumber	found = InvalidAttrNumber;

	for (int i = 0; i < columns->natts && found == InvalidAttrNumber; i++)
	{
		int			candidate = (attno - 1 + i) % columns->natts;
		Form_pg_attribute column = TupleDescAttr(columns, candidate);

		if (!column->attisdropped && strcmp(NameStr(column->attname), name) == 0)
			found = candidate + 1;
	}
	if (found == InvalidAttrNumber)
		elog(ERROR, "could not find column \"%s\" of relation \"%s\"",
			 name, RelationGetRelationName(leaf));
	pfree(name);
	return found;
}

/* Tells whether a constraint's expression is the call of kv.check_item that kv.create_table writes. */
static bool
is_own_check(const char *expression, const KvTable *table, const KvLeaf *leaf)
{
	FuncExpr   *call = stringToNode(expression);
	AttrNumber	expected[KV_CHECK_FIRST_KEY + KV_MAX_KEYS];
	ListCell   *cell;
	char	   *name;

	if (!IsA(call, FuncExpr) || list_length(call->args) != KV_CHECK_FIRST_KEY + table->key.count)
		return false;

	expected[0] = TableOidAttributeNumber;
	expected[1] = leaf->item_attno;
	memcpy(&expected[KV_CHECK_FIRST_KEY], leaf->key_attno, sizeof(leaf->key_attno));
	foreach(cell, call->args)
	{
		Var		   *column = lfirst(cell);

		if (!IsA(column, Var) || column->varattno != expected[foreach_current_index(cell)])
			return false;
	}

	name = get_func_name(call->funcid);
	return name != NULL && strcmp(name, "check_item") == 0 &&
		get_func_namespace(call->funcid) == get_namespace_oid("kv", true);
}

/* Tells whether a column of the leaf is one of the key. */
static bool
is_key_column(const KvTable *table, const KvLeaf *leaf, AttrNumber attno)
{
	for (int i = 0; i < table->key.count; i++)
		if (leaf->key_attno[i] == attno)
			return true;
	return false;
}

/* Tells whether the leaf has no constraints but those that kv.create_table makes. */
static bool
has_only_own_constraints(Relation relation, const KvTable *table, const KvLeaf *leaf)
{
	TupleDesc	columns = RelationGetDescr(relation);
	TupleConstr *constraints = columns->constr;
	int			i;

	if (constraints == NULL)
		return true;
	if (constraints->has_generated_stored || constraints->num_check > 1 ||
		(constraints->num_check == 1 && !is_own_check(constraints->check[0].ccbin, table, leaf)))
		return false;

	for (i = 0; i < columns->natts; i++)
	{
		AttrNumber	attno = i + 1;

		if (TupleDescAttr(columns, i)->attnotnull && attno != leaf->item_attno &&
			!is_key_column(table, leaf, attno))
			return false;
	}
	return true;
}

/* Builds what is known of one leaf, allocated in the table's own context. */
KvCachedLeaf *
kv_table_build_leaf(const KvTable *table, Oid leaf_relid)
{
	Relation	relation = RelationIdGetRelation(leaf_relid);
	Oid			index;
	KvCachedLeaf *cached;
	int			i;

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("a partition of table \"%s\" does not exist any more",
						get_rel_name(table->relid))));
	if (relation->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("partition \"%s\" of key-value table \"%s\" is not an ordinary table",
						RelationGetRelationName(relation), get_rel_name(table->relid))));

	/* a partition's only primary key is the one that belongs to its parent's; the relcache says which at one time */
	index = kv_compat_primary_key_index(relation);
	if (!OidIsValid(index))
		elog(ERROR, "could not find the primary key of partition \"%s\"",
			 RelationGetRelationName(relation));

	cached = MemoryContextAllocZero(table->private_data->context, sizeof(KvCachedLeaf));
	cached->leaf.relid = leaf_relid;
	cached->leaf.primary_index = index;
	for (i = 0; i < table->key.count; i++)
		cached->leaf.key_attno[i] = leaf_attno(relation, table->relid, table->key_attno[i]);
	cached->leaf.item_attno = leaf_attno(relation, table->relid, table->item_attno);
	for (i = 0; i < table->local_count; i++)
		cached->leaf.local_index[i] = leaf_relid == table->relid ? table->local[i].relid :
			index_get_partition(relation, table->local[i].relid);
	cached->leaf.only_own_constraints = has_only_own_constraints(relation, table, &cached->leaf);

	RelationClose(relation);
	return cached;
}
