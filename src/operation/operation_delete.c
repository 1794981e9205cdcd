/*
 * operation_delete.c
 *	  kv.delete_item: removes an item; one that is not there is no error.
 */
#include "postgres.h"

#include "base/compat.h"
#include "operation/operation_write.h"

/* Deletes the item with that key. */
Jsonb *
kv_operation_delete(const KvWriteRequest *request)
{
	KvWrite		write;

	kv_write_open(&write, KV_VERB_DELETE, request);
	kv_write_bind(&write, request);
	kv_key_from_json(&write.table->key, request->key, write.key);
	kv_write_execute_single(&write);
	return kv_write_answer(&write, request);
}
