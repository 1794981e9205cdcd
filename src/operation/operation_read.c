/*
 * operation_read.c
 *	  Query and scan: a key range, or segments of the table leaf by leaf.
 *
 * A query reads one range of one leaf.  A scan reads leaf after leaf in bound
 * order, each by key; its exclusive start key continues in the leaf that the
 * key routes to.  A segment of a scan is every total_segments-th leaf.
 *
 * Source of the rules: DynamoDB API reference, Query and Scan.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/errors.h"
#include "expression/expression.h"
#include "operation/operation_capacity.h"
#include "operation/operation_read.h"
#include "operation/operation_rows.h"

struct KvRead
{
	KvTable    *table;			/* being read: the one asked for, or that of its global index */
	const KvKeySchema *schema;	/* of the rows */
	const KvIndex *index;		/* NULL: none */
	const KvIndex *local;		/* the same if it is a local one */
	Snapshot	snapshot;		/* registered with owner */
	ResourceOwner owner;
	MemoryContext row_context;	/* one row at a time */
	KvCondition *filter;
	KvProjection *projection;
	KvRows	   *rows;
	KvCursorRange range;
	int			leaf;			/* being read; behind the last: all read */
	int			leaf_step;		/* from leaf to the segment's next; of a query: to the end */
	int64		items_left;		/* that may still be returned */

	/* what rows cost */
	bool		consistent;
	KvProjection *entry;		/* of a local index that has not all: what it has */
	bool		fetches;		/* what it has not is read from the table */
	int64		bytes;			/* of the items or entries read */
	int64		fetched_halves;	/* capacity for what was fetched */
};

/* Returns the active snapshot, or raises an error if there is none. */
Snapshot
kv_read_snapshot(void)
{
	if (!ActiveSnapshotSet())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("items can be read only where a snapshot is active")));
	return GetActiveSnapshot();
}

/* Returns what messages call the index. */
static char *
index_name(const KvReadRequest *request)
{
	return text_to_cstring(request->index_alias ? request->index_alias : request->index);
}

/* Opens the index that a request names. */
static void
open_index(KvRead *read, const KvReadRequest *request)
{
	KvTable    *global;
	Oid			global_relid;

	read->index = read->local = kv_table_find_index(read->table, request->index, &global_relid);
	if (read->local)
	{
		read->schema = &read->local->key;
		return;
	}

	if (request->consistent_read)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("consistent reads are not supported on global index \"%s\"", index_name(request)),
				 errhint("Read the items that you find once more from the table, by their keys.")));
	global = kv_table_open_index(global_relid, AccessShareLock);
	kv_table_check_base_rights(global, GetUserId());
	kv_table_check_ready(global);
	read->table = global;
	read->index = global->index;
	read->schema = &global->key;
}

/* Binds the projection: of a local index, what is not projected is there all the same if it is asked for. */
static void
bind_projection(KvRead *read, const KvReadRequest *request, KvPlaceholders *placeholders)
{
	const KvIndex *index = read->index;
	char	   *missing;

	if (request->projection)
		read->projection = kv_projection_bind(request->projection, placeholders, read->schema);
	if (index == NULL || index->projection == KV_PROJECT_ALL)
		return;

	if (read->local)
	{
		read->entry = kv_capacity_index_projection(index, &read->table->key);
		read->fetches = read->projection ?
			kv_projection_find_other(read->projection, index->include_name, index->include_count) != NULL :
			request->all_attributes;
	}
	if (read->local == NULL && request->all_attributes)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("index \"%s\" does not project all attributes", index_name(request)),
				 errhint("Ask for the projected ones, or read the items from the table by their keys.")));
	if (read->projection == NULL)
	{
		if (read->local && !request->all_attributes)
			read->projection = kv_projection_of_attributes(read->schema, true, index->include_name, index->include_count);
		return;
	}
	missing = read->local ? NULL :
		kv_projection_find_other(read->projection, index->include_name, index->include_count);
	if (missing)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("index \"%s\" does not project attribute \"%s\"", index_name(request), missing),
				 errhint("Ask for projected attributes only, or read the items from the table by their keys.")));
}

/* Binds all expressions. */
static void
bind_expressions(KvRead *read, const KvReadRequest *request)
{
	KvPlaceholders *placeholders = kv_placeholders_create(request->attribute_names, request->attribute_values);

	if (request->key_condition)
		kv_key_condition_bind(request->key_condition, placeholders, read->schema, &read->range.key);
	if (request->filter)
		read->filter = kv_condition_bind(request->key_condition ? KV_EXPRESSION_FILTER : KV_EXPRESSION_SCAN_FILTER,
										 request->filter, placeholders, read->schema);
	bind_projection(read, request, placeholders);
	kv_placeholders_check_used(placeholders);
}

/* Raises an error unless an optional count is at least one. */
static void
check_count(const char *name, const int32 *count)
{
	if (count && *count < 1)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must be at least 1, not %d", name, *count)));
}

/* Raises an error unless segment and total_segments are both absent or in range. */
static void
check_segment(const KvReadRequest *request)
{
	if (request->segment == NULL && request->total_segments == NULL)
		return;

	if (request->segment == NULL || request->total_segments == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s is given without %s",
						request->segment ? "segment" : "total_segments",
						request->segment ? "total_segments" : "segment"),
				 errhint("Give both, or none to scan the whole table.")));

	if (*request->total_segments < 1 || *request->total_segments > KV_MAX_TOTAL_SEGMENTS)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("total_segments must be between 1 and %d, not %d",
						KV_MAX_TOTAL_SEGMENTS, *request->total_segments)));

	if (*request->segment < 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("segment must be at least 0, not %d", *request->segment)));

	if (*request->segment >= *request->total_segments)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("segment %d is not less than total_segments %d",
						*request->segment, *request->total_segments),
				 errdetail("Segments count from 0 to total_segments - 1.")));
}

/* Raises the error for a start key that the request would not have come to. */
static void
refuse_start_key(const KvReadRequest *request, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("exclusive_start_key %s does not belong to this %s",
					JsonbToCString(NULL, &request->exclusive_start_key->root,
								   VARSIZE(request->exclusive_start_key)),
					request->key_condition ? "query" : "scan"),
			 errdetail_internal("%s", detail),
			 errhint("Pass the last_evaluated_key of the page before, with the same arguments.")));
}

/* Sets the read to one range of one collection. */
static void
start_query(KvRead *read, const KvReadRequest *request)
{
	const KvKeySchema *schema = read->schema;
	KvCursorRange *range = &read->range;

	range->has_partition_key = true;
	if (range->has_start)
	{
		if (kv_key_compare(schema->attribute[0].type, range->start[0], range->key.partition_key) != 0)
			refuse_start_key(request, "Its partition key is not that of the key condition.");
		if (schema->count > 1 &&
			!kv_key_range_holds(&range->key, schema->attribute[1].type, range->start[1]))
			refuse_start_key(request, "Its sort key is outside of the key condition.");
	}

	read->leaf = kv_table_route(read->table, range->key.partition_key);
	read->leaf_step = read->table->leaf_count;
}

/* Sets the read to the leaves of the segment, or to all. */
static void
start_scan(KvRead *read, const KvReadRequest *request)
{
	int			segment = request->segment ? *request->segment : 0;
	int			total = request->total_segments ? *request->total_segments : 1;

	read->leaf = segment;
	read->leaf_step = total;
	if (read->range.has_start)
	{
		read->leaf = kv_table_route(read->table, read->range.start[0]);
		if (read->leaf % total != segment)
			refuse_start_key(request, "It lies in another segment.");
	}
}

/* Checks the numbers, which need no table. */
void
kv_operation_check_limits(const KvReadRequest *request)
{
	check_count("max_items", request->max_items);
	check_count("page_size", request->page_size);
	check_segment(request);
}

/* Starts a query or scan. */
KvRead *
kv_read_begin(const KvReadRequest *request)
{
	KvRead	   *read = palloc0(sizeof(KvRead));
	Snapshot	snapshot = kv_read_snapshot();

	kv_operation_check_limits(request);
	read->table = kv_table_open(request->table, AccessShareLock);
	kv_table_check_rights(read->table, ACL_SELECT);
	read->schema = &read->table->key;
	if (request->index)
		open_index(read, request);

	bind_expressions(read, request);
	if (request->exclusive_start_key)
	{
		kv_key_from_json(read->schema, request->exclusive_start_key, read->range.start);
		read->range.has_start = true;
	}
	if (request->key_condition)
		start_query(read, request);
	else
		start_scan(read, request);

	read->consistent = request->consistent_read;
	read->items_left = request->max_items ? *request->max_items : PG_INT64_MAX;
	read->row_context = AllocSetContextCreate(CurrentMemoryContext, "key_value read row",
											  ALLOCSET_DEFAULT_SIZES);
	read->owner = CurrentResourceOwner;
	read->snapshot = RegisterSnapshotOnOwner(snapshot, read->owner);
	read->rows = kv_rows_open(read->table, read->local, read->snapshot,
							  request->scan_forward ? ForwardScanDirection : BackwardScanDirection);
	if (read->leaf < read->table->leaf_count)
		kv_rows_seek(read->rows, read->leaf, &read->range);
	return read;
}

/* Fills the view with the next row, before the filter; false at the end. */
bool
kv_read_next_row(KvRead *read, KvItemView *view)
{
	MemoryContext caller;
	bool		found = false;

	MemoryContextReset(read->row_context);
	caller = MemoryContextSwitchTo(read->row_context);
	while (read->leaf < read->table->leaf_count)
	{
		found = kv_rows_next(read->rows, view);
		if (found)
			break;

		/* total_segments goes to a million: no overflow here */
		read->leaf += read->leaf_step;
		read->range.has_start = false;
		if (read->leaf < read->table->leaf_count)
			kv_rows_seek(read->rows, read->leaf, &read->range);
	}
	MemoryContextSwitchTo(caller);
	return found;
}

/* Returns a row of a local index as one of the table. */
static KvItemView
base_view(const KvRead *read, const KvItemView *view)
{
	KvItemView	base = {&read->table->key};

	for (int i = 0; i < view->schema->count; i++)
		if (read->local->base_key[i] != KV_NOT_BASE_KEY)
			base.key[read->local->base_key[i]] = view->key[i];
	base.rest = view->rest;
	return base;
}

/*
 * Counts the row and returns its size.  Of a local index the entry counts,
 * and, where it does not have what is asked for, the item as well, each for
 * itself (Developer Guide, "Local secondary indexes", "Provisioned throughput
 * considerations").
 */
int64
kv_read_count(KvRead *read, const KvItemView *view)
{
	MemoryContext caller;
	KvItemView	base;
	int64		size;

	if (read->local == NULL)
	{
		size = kv_item_size(view);
		read->bytes += size;
		return size;
	}
	caller = MemoryContextSwitchTo(read->row_context);
	base = base_view(read, view);
	size = kv_item_size(&base);
	read->bytes += kv_capacity_projected_size(read->entry, &base);
	if (read->fetches)
	{
		KvCapacity	fetched = {0};

		kv_capacity_add_read(&fetched, size, read->consistent, 1);
		read->fetched_halves += fetched.table;
	}
	MemoryContextSwitchTo(caller);
	return size;
}

/* Adds what the rows counted cost to read. */
void
kv_read_add_capacity(const KvRead *read, KvCapacity *capacity)
{
	if (read->index)
		kv_capacity_add_index_read(capacity, read->index, read->local != NULL, read->bytes, read->consistent);
	else
		kv_capacity_add_read(capacity, read->bytes, read->consistent, 1);
	capacity->table += read->fetched_halves;
}

/* Tells whether the row passes the filter. */
bool
kv_read_passes(KvRead *read, const KvItemView *view)
{
	MemoryContext caller;
	bool		passes;

	if (read->filter == NULL)
		return true;

	caller = MemoryContextSwitchTo(read->row_context);
	passes = kv_condition_holds(read->filter, view);
	MemoryContextSwitchTo(caller);
	return passes;
}

/* Returns the row as the caller wants it, projected or whole. */
Jsonb *
kv_read_result(KvRead *read, const KvItemView *view)
{
	if (read->projection)
		return kv_projection_apply(read->projection, view);
	return kv_item_join(view);
}

/* Returns the next item that passes the filter, projected; NULL at the end. */
Jsonb *
kv_read_next(KvRead *read)
{
	KvItemView	view;

	if (read->items_left <= 0)
		return NULL;

	while (kv_read_next_row(read, &view))
	{
		if (kv_read_passes(read, &view))
		{
			read->items_left--;
			return kv_read_result(read, &view);
		}
	}
	return NULL;
}

/* Releases what the read holds; its memory goes with its context. */
void
kv_read_end(KvRead *read)
{
	ResourceOwner caller = CurrentResourceOwner;

	CurrentResourceOwner = read->owner;
	kv_rows_close(read->rows);
	CurrentResourceOwner = caller;
	UnregisterSnapshotFromOwner(read->snapshot, read->owner);
	MemoryContextDelete(read->row_context);
}
