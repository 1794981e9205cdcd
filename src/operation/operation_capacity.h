/*
 * operation_capacity.h
 *	  Counting what operations consume, private to the room.
 */
#ifndef KV_OPERATION_OPERATION_CAPACITY_H
#define KV_OPERATION_OPERATION_CAPACITY_H

#include "expression/expression.h"
#include "operation/operation.h"

/* Adds all of one count to another. */
extern void kv_capacity_add(KvCapacity *capacity, const KvCapacity *other);

/* Adds a read of so many bytes of the table, or of an index; times is 2 in a transaction. */
extern void kv_capacity_add_read(KvCapacity *capacity, int64 bytes, bool consistent, int times);
extern void kv_capacity_add_index_read(KvCapacity *capacity, const KvIndex *index, bool local,
									   int64 bytes, bool consistent);

/* Adds a write that makes new_item of old_item; NULL: there is none. */
extern void kv_capacity_add_write(KvCapacity *capacity, const KvTable *table,
								  const KvItemView *old_item, const KvItemView *new_item, int times);

/* Returns the projection of what an index holds of an item whose key is base; NULL: the index has all. */
extern KvProjection *kv_capacity_index_projection(const KvIndex *index, const KvKeySchema *base);

/* Returns the size of a projection of an item; NULL: of the whole. */
extern int64 kv_capacity_projected_size(const KvProjection *projection, const KvItemView *view);

#endif							/* KV_OPERATION_OPERATION_CAPACITY_H */
