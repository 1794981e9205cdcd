/*
 * scan_parent.c
 *	  What core's planner asks about a marked parent.
 *
 * A partitioned table has neither size nor a btree of its own, so both are
 * made up from the leaves: sizes from pg_class, and a key index that exists
 * for the planner only.  With it core recognises key conditions, knows that
 * keys are unique, and estimates rows as for a plain table.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "scan/scan_internal.h"

/* A leaf that was never vacuumed counts as this, since its real size costs a system call. */
#define UNKNOWN_LEAF_PAGES	10
#define UNKNOWN_LEAF_ROWS	300

/* Pages of a btree to those of the heap, and entries on an inner page: for estimates only. */
#define INDEX_SHARE			0.2
#define INDEX_FANOUT		200

/* So many leaves are looked at; hashing makes the others like them. */
#define SAMPLED_LEAVES		64

/* Adds up pages and rows of the leaves as vacuum saw them. */
static void
add_up_leaves(const KvTable *table, BlockNumber *pages, double *tuples)
{
	int			sampled = Min(table->leaf_count, SAMPLED_LEAVES);
	double		all_pages = 0;

	*tuples = 0;
	for (int i = 0; i < sampled; i++)
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table->leaf_relid[i]));
		Form_pg_class leaf;

		if (!HeapTupleIsValid(tuple))
			continue;
		leaf = (Form_pg_class) GETSTRUCT(tuple);
		if (leaf->reltuples < 0)
		{
			all_pages += UNKNOWN_LEAF_PAGES;
			*tuples += UNKNOWN_LEAF_ROWS;
		}
		else
		{
			all_pages += leaf->relpages;
			*tuples += leaf->reltuples;
		}
		ReleaseSysCache(tuple);
	}
	if (sampled > 0)
	{
		all_pages = all_pages / sampled * table->leaf_count;
		*tuples = *tuples / sampled * table->leaf_count;
	}
	*pages = (BlockNumber) Min(all_pages, (double) MaxBlockNumber);
}

/* The number of levels above the leaf pages of a btree. */
static int
tree_height(BlockNumber pages, int leaf_count)
{
	double		width = (double) pages / Max(leaf_count, 1);
	int			height = 0;

	for (; width > 1; width /= INDEX_FANOUT)
		height++;
	return height;
}

/* Makes the key index that the planner is to believe in. */
IndexOptInfo *
kv_scan_make_key_index(const KvTable *table, RelOptInfo *rel)
{
	IndexOptInfo *index = makeNode(IndexOptInfo);
	int			count = table->key.count;

	index->rel = rel;
	index->pages = (BlockNumber) (rel->pages * INDEX_SHARE) + 1;
	index->tuples = rel->tuples;
	index->tree_height = tree_height(index->pages, table->leaf_count);
	index->ncolumns = index->nkeycolumns = count;
	index->indexkeys = palloc(sizeof(int) * count);
	index->indexcollations = palloc(sizeof(Oid) * count);
	index->opfamily = palloc(sizeof(Oid) * count);
	index->opcintype = palloc(sizeof(Oid) * count);
	index->canreturn = palloc0(sizeof(bool) * count);
	index->reverse_sort = palloc0(sizeof(bool) * count);
	index->nulls_first = palloc0(sizeof(bool) * count);
	index->opclassoptions = palloc0(sizeof(bytea *) * count);
	for (int i = 0; i < count; i++)
	{
		KvKeyType	type = table->key.attribute[i].type;

		index->indexkeys[i] = table->key_attno[i];
		index->indexcollations[i] = kv_key_sql_collation(type);
		index->opcintype[i] = kv_key_sql_type(type);
		index->opfamily[i] = lookup_type_cache(index->opcintype[i], TYPECACHE_BTREE_OPFAMILY)->btree_opf;
		index->indextlist = lappend(index->indextlist,
									makeTargetEntry((Expr *) makeVar(rel->relid, table->key_attno[i],
																	 index->opcintype[i], -1,
																	 index->indexcollations[i], 0),
													i + 1, NULL, false));
	}
	index->sortopfamily = index->opfamily;
	index->relam = BTREE_AM_OID;
	index->unique = true;
	index->immediate = true;
	index->hypothetical = true; /* core must not look into it */
	index->amsearcharray = true;
	index->amcostestimate = btcostestimate;
	return index;
}

/* Gives a marked parent its size and its key index. */
void
kv_scan_describe_parent(PlannerInfo *root, KvTable *table, RelOptInfo *rel)
{
	add_up_leaves(table, &rel->pages, &rel->tuples);
	rel->allvisfrac = 0;
	rel->indexlist = list_make1(kv_scan_make_key_index(table, rel));
}

/* Returns a leaf's statistics as if they were the table's: the number of distinct partition keys grows with the leaves. */
static HeapTuple
leaf_statistics(KvTable *table, AttrNumber attnum)
{
	HeapTuple	leaf;
	HeapTuple	copy;
	Form_pg_statistic form;
	AttrNumber	leaf_attnum;
	char	   *name = get_attname(table->relid, attnum, true);

	if (name == NULL || table->leaf_count == 0)
		return NULL;
	leaf_attnum = get_attnum(table->leaf_relid[0], name);
	if (leaf_attnum == InvalidAttrNumber)
		return NULL;
	leaf = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(table->leaf_relid[0]),
						   Int16GetDatum(leaf_attnum), BoolGetDatum(false));
	if (!HeapTupleIsValid(leaf))
		return NULL;
	copy = heap_copytuple(leaf);
	ReleaseSysCache(leaf);
	form = (Form_pg_statistic) GETSTRUCT(copy);
	if (attnum == table->key_attno[0] && form->stadistinct > 0)
		form->stadistinct *= table->leaf_count;
	return copy;
}

/* Finds statistics of a marked parent's column; false if there are none. */
bool
kv_scan_parent_statistics(PlannerInfo *root, RangeTblEntry *rte, KvTable *table,
						  AttrNumber attnum, VariableStatData *vardata)
{
	Oid			user = kv_compat_check_as_user(root, rte);

	vardata->statsTuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(rte->relid),
										  Int16GetDatum(attnum), BoolGetDatum(true));
	vardata->freefunc = ReleaseSysCache;
	if (!HeapTupleIsValid(vardata->statsTuple))
	{
		vardata->statsTuple = leaf_statistics(table, attnum);
		vardata->freefunc = heap_freetuple;
	}
	if (!HeapTupleIsValid(vardata->statsTuple))
		return false;

	/* As core does: values in statistics are for those who may read them anyway. */
	vardata->acl_ok = rte->securityQuals == NIL &&
		pg_class_aclcheck(rte->relid, OidIsValid(user) ? user : GetUserId(), ACL_SELECT) == ACLCHECK_OK;
	return true;
}
