/*
 * operation_put.c
 *	  kv.put_item: replaces an item as a whole, or inserts it.
 *
 * Columns that a user has added to the table get their defaults when the item
 * is new and keep their values when it is replaced.  An item that is equal to
 * the old one is written all the same, as UPDATE does.
 */
#include "postgres.h"

#include "base/compat.h"
#include "operation/operation_write.h"

/* Puts the item. */
Jsonb *
kv_operation_put(const KvWriteRequest *request)
{
	KvWrite		write;

	kv_write_open(&write, KV_VERB_PUT, request);
	kv_write_bind(&write, request);
	kv_item_split(&write.table->key, kv_item_normalize(request->item), &write.item);
	kv_item_check_size(&write.item);
	memcpy(write.key, write.item.key, sizeof(write.key));
	kv_write_execute_single(&write);
	return kv_write_answer(&write, request);
}
