/*
 * operation_capacity.c
 *	  What operations consume, in DynamoDB's capacity units.
 *
 * A write costs one unit for each started KB of the larger of old and new
 * item.  Of an index it costs by the size of what the index holds: one write to
 * put an item into it, one to take it out, two if a key of the index changes, one
 * if another attribute that it holds changes, none if nothing does (Developer
 * Guide, "Global Secondary Indexes", Write Capacity Units).  "Local Secondary
 * Indexes" has the same rules but for the change of another attribute, of which
 * it says nothing: it is taken to cost one write there too.
 *
 * A transaction pays twice, to prepare and to commit (Developer Guide,
 * "Capacity management for transactions").  The documentation does not say
 * what that means for indexes: local ones are written with the item and count
 * twice here, global ones follow it and count once.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "operation/operation_capacity.h"

#define READ_UNIT_BYTES 4096
#define WRITE_UNIT_BYTES 1024

/* What an index holds of an item. */
typedef struct Entry
{
	bool		present;
	Datum		key[KV_MAX_KEYS];
	Jsonb	   *projected;		/* the attributes; of an index of all the rest of the item */
	int64		size;
} Entry;

/* Returns how many units so many bytes are: every started one, and at least one. */
static int64
started_units(int64 bytes, int64 unit)
{
	return Max((bytes + unit - 1) / unit, 1);
}

/* Returns the units that halves are. */
Numeric
kv_capacity_units(int64 halves)
{
	Numeric		number = int64_div_fast_to_numeric(halves * 5, 1);

	return DatumGetNumeric(DirectFunctionCall1(numeric_trim_scale, NumericGetDatum(number)));
}

/* Returns the sum over table and indexes, in halves. */
int64
kv_capacity_total(const KvCapacity *capacity)
{
	int64		total = capacity->table;

	for (int i = 0; i < capacity->index_count; i++)
		total += capacity->index[i].halves;
	return total;
}

/* Adds to what an index consumed. */
static void
add_to_index(KvCapacity *capacity, Oid relid, bool local, int64 halves)
{
	int			i = 0;

	while (i < capacity->index_count && capacity->index[i].relid != relid)
		i++;
	if (i == capacity->index_count)
	{
		/* indexes that a trigger drops and makes anew while the request runs */
		if (i == lengthof(capacity->index))
			return;
		capacity->index[i].relid = relid;
		capacity->index[i].local = local;
		capacity->index[i].halves = 0;
		capacity->index_count++;
	}
	capacity->index[i].halves += halves;
}

/* Adds all of one count to another. */
void
kv_capacity_add(KvCapacity *capacity, const KvCapacity *other)
{
	capacity->table += other->table;
	for (int i = 0; i < other->index_count; i++)
		add_to_index(capacity, other->index[i].relid, other->index[i].local, other->index[i].halves);
}

/* Adds a read of the table. */
void
kv_capacity_add_read(KvCapacity *capacity, int64 bytes, bool consistent, int times)
{
	capacity->table += started_units(bytes, READ_UNIT_BYTES) * (consistent ? 2 : 1) * times;
}

/* Adds a read of an index. */
void
kv_capacity_add_index_read(KvCapacity *capacity, const KvIndex *index, bool local, int64 bytes, bool consistent)
{
	add_to_index(capacity, index->relid, local, started_units(bytes, READ_UNIT_BYTES) * (consistent ? 2 : 1));
}

/* Returns the size of a plain item. */
static int64
plain_size(Jsonb *item)
{
	static const KvKeySchema no_key;
	KvItemView	view = {&no_key};

	view.rest = item;
	return kv_item_size(&view);
}

/* Returns the size of a projection of an item; NULL: of the whole. */
int64
kv_capacity_projected_size(const KvProjection *projection, const KvItemView *view)
{
	return projection ? plain_size(kv_projection_apply(projection, view)) : kv_item_size(view);
}

/* Fills what an index holds of an item, which may be NULL. */
static void
make_entry(const KvIndex *index, const KvItemView *item, const KvProjection *projection, Entry *entry)
{
	entry->present = false;
	if (item == NULL)
		return;
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY &&
			!kv_key_from_rest_if_valid(&index->key.attribute[i], i, item->rest, &entry->key[i]))
			return;
	entry->present = true;
	entry->projected = projection ? kv_projection_apply(projection, item) : item->rest;
	entry->size = projection ? plain_size(entry->projected) : kv_item_size(item);
}

/* Tells whether two entries hold the same. */
static bool
same_content(const Entry *a, const Entry *b)
{
	return compareJsonbContainers(&a->projected->root, &b->projected->root) == 0;
}

/* Returns the projection of an index that has not all; NULL of one that has. */
KvProjection *
kv_capacity_index_projection(const KvIndex *index, const KvKeySchema *base)
{
	char	  **names;
	int			count = 0;

	if (index->projection == KV_PROJECT_ALL)
		return NULL;
	names = palloc(sizeof(char *) * (KV_MAX_KEYS + index->include_count));
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY)
			names[count++] = pstrdup(index->key.attribute[i].name);
	for (int i = 0; i < index->include_count; i++)
		names[count++] = index->include_name[i];
	return kv_projection_of_attributes(base, true, names, count);
}

/* Returns the units that a write costs in an index. */
static int64
index_units(const KvIndex *index, const KvItemView *old_item, const KvItemView *new_item, const KvKeySchema *base)
{
	KvProjection *projection = kv_capacity_index_projection(index, base);
	Entry		old_entry;
	Entry		new_entry;
	int64		old_units;
	int64		new_units;

	make_entry(index, old_item, projection, &old_entry);
	make_entry(index, new_item, projection, &new_entry);
	old_units = old_entry.present ? started_units(old_entry.size, WRITE_UNIT_BYTES) : 0;
	new_units = new_entry.present ? started_units(new_entry.size, WRITE_UNIT_BYTES) : 0;
	if (!old_entry.present || !new_entry.present || !kv_table_same_index_key(index, old_entry.key, new_entry.key))
		return old_units + new_units;
	return same_content(&old_entry, &new_entry) ? 0 : Max(old_units, new_units);
}

/* Adds a write to the table and its indexes. */
void
kv_capacity_add_write(KvCapacity *capacity, const KvTable *table,
					  const KvItemView *old_item, const KvItemView *new_item, int times)
{
	MemoryContext own = AllocSetContextCreate(CurrentMemoryContext, "key_value capacity", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(own);
	int64		bytes = Max(old_item ? kv_item_size(old_item) : 0, new_item ? kv_item_size(new_item) : 0);
	int64		units;

	capacity->table += started_units(bytes, WRITE_UNIT_BYTES) * 2 * times;
	for (int i = 0; i < table->local_count; i++)
	{
		units = index_units(&table->local[i], old_item, new_item, &table->key);
		if (units > 0)
			add_to_index(capacity, table->local[i].relid, true, units * 2 * times);
	}
	for (int i = 0; i < table->global_count; i++)
	{
		const KvTable *global = kv_table_lookup(table->global_relid[i]);

		if (global == NULL || !global->usable || global->index == NULL)
			continue;
		units = index_units(global->index, old_item, new_item, &table->key);
		if (units > 0)
			add_to_index(capacity, global->relid, false, units * 2);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(own);
}
