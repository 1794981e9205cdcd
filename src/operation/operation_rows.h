/*
 * operation_rows.h
 *	  Rows of a table in key order, whichever way they come: private to the room.
 *
 * Where no policy applies the rows come from the store's cursor; where one
 * does, from an SQL query that the planner puts the policy into.  Get, query
 * and scan are written over this seam and do not see the difference.
 */
#ifndef KV_OPERATION_OPERATION_ROWS_H
#define KV_OPERATION_OPERATION_ROWS_H

#include "store/store.h"

/* --- operation_rows.c --- */

typedef struct KvRows KvRows;

/*
 * Opens the rows of a table for the current user, in the order of its key or
 * of a local index (NULL: none), whose items alone come then.  State lives in
 * CurrentMemoryContext; the snapshot must outlive it.
 */
extern KvRows *kv_rows_open(KvTable *table, const KvIndex *local, Snapshot snapshot, ScanDirection direction);

/* Goes to the start of a range in one leaf.  The range's key values must stay as long as its rows are read. */
extern void kv_rows_seek(KvRows *rows, int leaf, const KvCursorRange *range);

/*
 * Fills the view with the next row; false at the end.  What has to be copied
 * is allocated in CurrentMemoryContext, the rest is good until the next call.
 */
extern bool kv_rows_next(KvRows *rows, KvItemView *view);

extern void kv_rows_close(KvRows *rows);

/* --- operation_policy.c: the same, through SQL --- */

typedef struct KvPolicyRows KvPolicyRows;

extern KvPolicyRows *kv_policy_rows_open(KvTable *table, const KvIndex *local, ScanDirection direction);
extern void kv_policy_rows_seek(KvPolicyRows *rows, int leaf, const KvCursorRange *range);
extern bool kv_policy_rows_next(KvPolicyRows *rows, KvItemView *view);
extern void kv_policy_rows_close(KvPolicyRows *rows);

#endif							/* KV_OPERATION_OPERATION_ROWS_H */
