/*
 * operation_write.c
 *	  The one write path: route, find and lock the row, judge the condition,
 *	  write.
 *
 * A row that nobody else is changing is judged as it stands, without taking
 * its lock first; the write itself then finds out whether it was still the
 * newest version.  In every other case, also before a condition is declared
 * failed, the row is locked first.  Whoever loses against another writer
 * starts again with the lock, on top of what the other left.  An absent row
 * is inserted if it is still absent.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_capacity.h"
#include "operation/operation_json.h"
#include "operation/operation_write.h"

static const char *const verb_names[] = {
	[KV_VERB_PUT] = "kv.put_item()",
	[KV_VERB_UPDATE] = "kv.update_item()",
	[KV_VERB_DELETE] = "kv.delete_item()"
};

static const char *const return_value_names[] = {
	[KV_RETURN_NONE] = "NONE",
	[KV_RETURN_ALL_OLD] = "ALL_OLD",
	[KV_RETURN_UPDATED_OLD] = "UPDATED_OLD",
	[KV_RETURN_ALL_NEW] = "ALL_NEW",
	[KV_RETURN_UPDATED_NEW] = "UPDATED_NEW"
};

/* Tells whether a text argument is this word. */
static bool
text_is(const text *argument, const char *word)
{
	return VARSIZE_ANY_EXHDR(argument) == strlen(word) &&
		memcmp(VARDATA_ANY(argument), word, strlen(word)) == 0;
}

/* Reads return_values; last is the last value allowed. */
static KvReturnValues
read_return_values(const text *argument, KvReturnValues last)
{
	if (argument == NULL)
		return KV_RETURN_NONE;
	for (int i = KV_RETURN_NONE; i <= last; i++)
		if (text_is(argument, return_value_names[i]))
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("invalid return_values \"%s\"", text_to_cstring(argument)),
			 last == KV_RETURN_ALL_OLD ?
			 errhint("Use NONE or ALL_OLD.") :
			 errhint("Use NONE, ALL_OLD, UPDATED_OLD, ALL_NEW or UPDATED_NEW.")));
}

/* Reads return_values_on_failure, whatever the request calls it: whether the item is wanted. */
bool
kv_write_read_return_on_failure(const char *name, const text *argument)
{
	if (argument == NULL || text_is(argument, "NONE"))
		return false;
	if (text_is(argument, "ALL_OLD"))
		return true;
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("invalid %s \"%s\"", name, text_to_cstring(argument)),
			 errhint("Use NONE or ALL_OLD.")));
}

/* Reads on_condition_failure: whether a failed condition is returned. */
static bool
read_on_condition_failure(const text *argument)
{
	if (argument == NULL || text_is(argument, "raise"))
		return false;
	if (text_is(argument, "return"))
		return true;
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("invalid on_condition_failure \"%s\"", text_to_cstring(argument)),
			 errhint("Use raise or return.")));
}

/* Refuses a write where SQL would refuse INSERT, UPDATE and DELETE. */
void
kv_write_check_allowed(const char *function, Oid relid)
{
	PreventCommandDuringRecovery(function);
	if (XactReadOnly && get_rel_persistence(relid) != RELPERSISTENCE_TEMP)
		PreventCommandIfReadOnly(function);
	PreventCommandIfParallelMode(function);
}

/* Returns the rights that a write needs: SELECT only where something of the old item can be learnt. */
static AclMode
needed_rights(KvWriteVerb verb, bool learns)
{
	switch (verb)
	{
		case KV_VERB_PUT:
			return learns ? ACL_INSERT | ACL_UPDATE | ACL_SELECT : ACL_INSERT | ACL_UPDATE;
		case KV_VERB_UPDATE:
			return ACL_INSERT | ACL_UPDATE | ACL_SELECT;
		case KV_VERB_CHECK:
			/* those of SELECT .. FOR SHARE */
			return ACL_UPDATE | ACL_SELECT;
		default:
			return ACL_DELETE | ACL_SELECT;
	}
}

/* Starts a write to an open table. */
void
kv_write_start(KvWrite *write, KvWriteVerb verb, KvTable *table, bool learns)
{
	memset(write, 0, sizeof(KvWrite));
	write->verb = verb;
	write->table = table;
	kv_table_check_rights(table, needed_rights(verb, learns));
	write->through_policy = kv_table_has_row_security(table);
}

/* Opens the table of a single write and starts it. */
void
kv_write_open(KvWrite *write, KvWriteVerb verb, const KvWriteRequest *request)
{
	KvReturnValues return_values;
	bool		return_on_failure;

	kv_write_check_allowed(verb_names[verb], request->table);
	return_values = read_return_values(request->return_values,
									   verb == KV_VERB_UPDATE ? KV_RETURN_UPDATED_NEW : KV_RETURN_ALL_OLD);
	return_on_failure = kv_write_read_return_on_failure("return_values_on_failure", request->return_values_on_failure);
	(void) read_on_condition_failure(request->on_condition_failure);

	kv_write_start(write, verb, kv_table_open(request->table, RowExclusiveLock),
				   request->condition || return_values != KV_RETURN_NONE);
	write->return_values = return_values;
	write->return_on_failure = return_on_failure;
	write->capacity = request->capacity;
	write->removal_needs_item = request->removal_needs_item;
}

/* Binds the expressions of the request. */
void
kv_write_bind(KvWrite *write, const KvWriteRequest *request)
{
	const KvKeySchema *schema = &write->table->key;
	KvPlaceholders *placeholders;

	if (request->condition == NULL && request->update == NULL &&
		request->attribute_names == NULL && request->attribute_values == NULL)
		return;

	placeholders = kv_placeholders_create(request->attribute_names, request->attribute_values);
	if (request->update)
		write->update = kv_update_bind(request->update, placeholders, schema);
	if (request->condition)
		write->condition = kv_condition_bind(KV_EXPRESSION_CONDITION, request->condition, placeholders, schema);
	kv_placeholders_check_used(placeholders);
}

/* Returns the paths of the item that the update names, NULL if it has none of them. */
static Jsonb *
touched_paths(const KvWrite *write, const KvItemView *view)
{
	Jsonb	   *touched;

	if (view == NULL || write->update == NULL)
		return NULL;
	touched = kv_update_touched(write->update, view);
	return JB_ROOT_COUNT(touched) > 0 ? touched : NULL;
}

/* Notes what the caller wants to have back of a write that was made; either view NULL: no such item. */
static void
take_returned(KvWrite *write, const KvItemView *old, const KvItemView *new)
{
	write->outcome = KV_OUTCOME_DONE;
	if (write->capacity)
		kv_capacity_add_write(write->capacity, write->table, old, new, 1);
	switch (write->return_values)
	{
		case KV_RETURN_NONE:
			break;
		case KV_RETURN_ALL_OLD:
			write->returned = old ? kv_item_join(old) : NULL;
			break;
		case KV_RETURN_ALL_NEW:
			write->returned = new ? kv_item_join(new) : NULL;
			break;
		case KV_RETURN_UPDATED_OLD:
			write->returned = touched_paths(write, old);
			break;
		case KV_RETURN_UPDATED_NEW:
			write->returned = touched_paths(write, new);
			break;
	}
}

/* Fills the item that a put or update makes of the old one; false if it leaves what is there as it is. */
bool
kv_write_make_item(const KvWrite *write, const KvItemView *old, KvItemView *new)
{
	if (write->verb == KV_VERB_PUT)
	{
		*new = write->item;
		return true;
	}

	/* nothing but the key: what is there stays as it is */
	if (write->update == NULL && old)
		return false;

	/*
	 * An expression updates an existing item, "or adds a new item to the
	 * table if it does not already exist", REMOVE and DELETE being no
	 * exception (Developer Guide, "Using update expressions in DynamoDB").
	 * Of the legacy action DELETE it says that nothing happens then (API
	 * reference, UpdateItem, AttributeUpdates).
	 */
	if (write->removal_needs_item && write->update && old == NULL && kv_update_only_removes(write->update))
		return false;

	new->schema = &write->table->key;
	memcpy(new->key, write->key, sizeof(new->key));
	if (write->update)
	{
		new->rest = kv_update_apply(write->update, old);
		kv_item_check_size(new);
	}
	else
		new->rest = kv_json_empty_object();
	return true;
}

/* Writes to the row found, or to the absent one (old is NULL); the condition holds. */
static KvWriteResult
change_row(KvWrite *write, KvTarget *target, const KvItemView *old)
{
	KvItemView	new;
	KvItemView	written;
	KvWriteResult result;

	if (write->verb == KV_VERB_DELETE)
	{
		result = old ? kv_target_remove(target) : KV_WRITE_DONE;
		if (result == KV_WRITE_DONE)
			take_returned(write, old, NULL);
		return result;
	}

	if (!kv_write_make_item(write, old, &new))
	{
		take_returned(write, old, old);
		return KV_WRITE_DONE;
	}
	result = old ? kv_target_replace(target, new.rest, &written) :
		kv_target_insert(target, &new, &written);
	if (result == KV_WRITE_DONE)
		take_returned(write, old, &written);
	return result;
}

/* Finds the row, judges the condition and writes. */
void
kv_write_execute(KvWrite *write, KvTarget *target)
{
	KvRowChange change = write->verb == KV_VERB_DELETE ? KV_ROW_REMOVE : KV_ROW_REPLACE;
	bool		lock_first = false;

	for (;;)
	{
		KvItemView	view;
		const KvItemView *old = NULL;
		KvWriteResult result;

		CHECK_FOR_INTERRUPTS();
		if (kv_target_find(target, write->key, &view))
		{
			old = &view;
			if (!lock_first && !kv_target_settled(target, change))
				lock_first = true;
			if (lock_first && !kv_target_lock(target, change))
				continue;
		}

		if (write->condition && !kv_condition_holds(write->condition, old))
		{
			/* locking the row that was judged leaves it where it is */
			if (old && !lock_first && !kv_target_lock(target, change))
			{
				lock_first = true;
				continue;
			}
			write->outcome = KV_OUTCOME_CONDITION_FAILED;
			if (old && write->return_on_failure)
				write->returned = kv_item_join(old);
			break;
		}

		result = change_row(write, target, old);
		if (result == KV_WRITE_SUPPRESSED)
			write->outcome = KV_OUTCOME_SUPPRESSED;
		if (result != KV_WRITE_LOST)
			break;
		lock_first = true;
	}
}

/* Executes a write that is alone. */
void
kv_write_execute_single(KvWrite *write)
{
	KvTarget   *target = kv_target_open(write->table, kv_table_route(write->table, write->key[0]),
										write->through_policy);

	kv_write_execute(write, target);
	kv_target_close(target);
}

/* Raises KV001. */
static void
raise_condition_failed(const KvWrite *write)
{
	Jsonb	   *key = kv_key_to_json(&write->table->key, write->key);

	ereport(ERROR,
			(errcode(ERRCODE_KV_CONDITION_FAILED),
			 errmsg("condition failed for key %s of table \"%s\"",
					kv_json_text(key),
					get_rel_name(write->table->relid)),
			 write->returned ?
			 errdetail_internal("%s", kv_json_text(write->returned)) : 0));
}

/* Returns the answer of a caller who wants a failed condition returned. */
static Jsonb *
make_envelope(const KvWrite *write)
{
	JsonbParseState *state = NULL;

	kv_json_open(&state);
	kv_json_add_boolean(&state, "applied", write->outcome == KV_OUTCOME_DONE);
	if (write->outcome == KV_OUTCOME_SUPPRESSED)
		kv_json_add_boolean(&state, "suppressed", true);
	if (write->returned)
		kv_json_add_jsonb(&state, write->outcome == KV_OUTCOME_DONE ? "attributes" : "item", write->returned);
	return kv_json_close(&state);
}

/* Turns the outcome of a single write into what its function returns, or raises KV001. */
Jsonb *
kv_write_answer(const KvWrite *write, const KvWriteRequest *request)
{
	if (read_on_condition_failure(request->on_condition_failure))
		return make_envelope(write);
	if (write->outcome == KV_OUTCOME_CONDITION_FAILED)
		raise_condition_failed(write);
	return write->returned;
}
