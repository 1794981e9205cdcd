/*
 * operation_update.c
 *	  kv.update_item: changes attributes of an item, which it creates if it is
 *	  not there.
 *
 * The size limit holds for the result.  Without an update expression an item
 * that is there stays untouched: nothing is written, no trigger fires.
 */
#include "postgres.h"

#include "base/compat.h"
#include "operation/operation_write.h"

/* Updates the item with that key. */
Jsonb *
kv_operation_update(const KvWriteRequest *request)
{
	KvWrite		write;

	kv_write_open(&write, KV_VERB_UPDATE, request);
	kv_write_bind(&write, request);
	kv_key_from_json(&write.table->key, request->key, write.key);
	kv_write_execute_single(&write);
	return kv_write_answer(&write, request);
}
