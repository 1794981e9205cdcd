/*
 * operation_read.h
 *	  A query or scan row by row, for the functions of the room.
 */
#ifndef KV_OPERATION_OPERATION_READ_H
#define KV_OPERATION_OPERATION_READ_H

#include "operation/operation.h"
#include "store/store.h"

/* Fills the view with the next row, before the filter; false at the end.  The view is good until the next call. */
extern bool kv_read_next_row(KvRead *read, KvItemView *view);

/* Counts the row and returns its size. */
extern int64 kv_read_count(KvRead *read, const KvItemView *view);

/* Adds what the rows counted cost to read. */
extern void kv_read_add_capacity(const KvRead *read, KvCapacity *capacity);

/* Tells whether the row passes the filter. */
extern bool kv_read_passes(KvRead *read, const KvItemView *view);

/* Returns the row as the caller wants it, projected or whole, in CurrentMemoryContext. */
extern Jsonb *kv_read_result(KvRead *read, const KvItemView *view);

/* Returns the active snapshot, or raises an error if there is none. */
extern Snapshot kv_read_snapshot(void);

#endif							/* KV_OPERATION_OPERATION_READ_H */
