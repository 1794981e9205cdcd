/*
 * operation_rows.c
 *	  The seam between the read operations and where rows come from.
 */
#include "postgres.h"

#include "base/compat.h"
#include "operation/operation_rows.h"

struct KvRows
{
	KvTable    *table;
	const KvIndex *local;		/* NULL: in the order of the table's key */
	Snapshot	snapshot;
	ScanDirection direction;
	MemoryContext context;		/* holds this struct and the cursor */
	KvCursor   *cursor;			/* over cursor_leaf; NULL until the first seek */
	int			cursor_leaf;
	KvPolicyRows *policy;		/* NULL: no policy applies */
};

/* Opens the rows of a table for the current user. */
KvRows *
kv_rows_open(KvTable *table, const KvIndex *local, Snapshot snapshot, ScanDirection direction)
{
	KvRows	   *rows = palloc0(sizeof(KvRows));

	rows->table = table;
	rows->local = local;
	rows->snapshot = snapshot;
	rows->direction = direction;
	rows->context = CurrentMemoryContext;
	if (kv_table_has_row_security(table))
		rows->policy = kv_policy_rows_open(table, local, direction);
	return rows;
}

/* Goes to the start of a range in one leaf. */
void
kv_rows_seek(KvRows *rows, int leaf, const KvCursorRange *range)
{
	if (rows->policy)
	{
		kv_policy_rows_seek(rows->policy, leaf, range);
		return;
	}

	if (rows->cursor && rows->cursor_leaf != leaf)
	{
		kv_cursor_close(rows->cursor);
		rows->cursor = NULL;
	}
	if (rows->cursor == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(rows->context);

		rows->cursor = rows->local ?
			kv_cursor_open_local(rows->table, rows->local, leaf, rows->snapshot, rows->direction) :
			kv_cursor_open(rows->table, leaf, rows->snapshot, rows->direction);
		rows->cursor_leaf = leaf;
		MemoryContextSwitchTo(caller);
	}
	kv_cursor_rescan(rows->cursor, range);
}

/* Fills the view with the next row; false at the end. */
bool
kv_rows_next(KvRows *rows, KvItemView *view)
{
	TupleTableSlot *slot;

	if (rows->policy)
		return kv_policy_rows_next(rows->policy, view);

	slot = kv_cursor_next(rows->cursor, rows->direction);
	if (slot == NULL)
		return false;
	if (rows->local)
		kv_store_local_view(rows->local, kv_cursor_leaf_descriptor(rows->cursor), slot, view);
	else
		kv_store_view(rows->table, kv_cursor_leaf_descriptor(rows->cursor), slot, view);
	return true;
}

/* Closes the rows and what they hold. */
void
kv_rows_close(KvRows *rows)
{
	if (rows->policy)
		kv_policy_rows_close(rows->policy);
	if (rows->cursor)
		kv_cursor_close(rows->cursor);
	pfree(rows);
}
