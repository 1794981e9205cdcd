/*
 * operation_transact_write.c
 *	  kv.transact_write_items: up to 100 puts, updates, deletes and checks, all
 *	  or none.
 *
 * After the request has been read the keys of all actions are locked.  Then
 * two passes go over the rows.  The first locks each row that is there, in
 * the order of keys, judges the condition on it and works out what is to be
 * written; if any action fails, nothing has been written and the reasons are
 * the error.  The second writes, in the order of the request, since triggers
 * and foreign keys may care.
 *
 * A row that is locked stays as it was judged.  An absent key can still be
 * inserted by somebody who takes no locks on keys, a single put or plain SQL;
 * a trigger of an earlier action may change a later one's row.  The second
 * pass notices, and judges again.  An absent key that the transaction leaves
 * absent is kept so: what was checked holds until it commits.
 *
 * Source of the rules: DynamoDB API reference, TransactWriteItems, and
 * Developer Guide, "Managing complex workflows with DynamoDB transactions".
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_capacity.h"
#include "operation/operation_json.h"
#include "operation/operation_transact.h"

/* A pass over the actions: the leaf that is open for writing. */
typedef struct Pass
{
	KvTransaction *transaction;
	KvRequestContext context;
	KvTable    *table;
	int			leaf;
	KvTarget   *target;			/* NULL: none is open */
} Pass;

/* Raises an error if the items of a transaction are too large together. */
void
kv_transact_check_size(int64 bytes)
{
	if (bytes > KV_MAX_TRANSACT_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("transaction is too large: its items have more than %d bytes", KV_MAX_TRANSACT_BYTES)));
}

/* Starts a pass. */
static void
begin_pass(Pass *pass, KvTransaction *transaction)
{
	pass->transaction = transaction;
	pass->target = NULL;
	kv_request_context_push(&pass->context, "action");
}

/* Closes the leaf that is open. */
static void
close_leaf(Pass *pass)
{
	if (pass->target)
		kv_target_close(pass->target);
	pass->target = NULL;
}

/* Goes to an action and opens its leaf, unless it is open already. */
static KvTarget *
go_to_action(Pass *pass, const KvAction *action, int number)
{
	pass->transaction->current = number;
	pass->context.number = number + 1;
	pass->context.verb = action->name;
	if (pass->target && pass->table == action->write.table && pass->leaf == action->leaf)
		return pass->target;
	close_leaf(pass);
	pass->table = action->write.table;
	pass->leaf = action->leaf;
	pass->target = kv_target_open(pass->table, pass->leaf, action->write.through_policy);
	return pass->target;
}

/* Ends a pass. */
static void
end_pass(Pass *pass)
{
	close_leaf(pass);
	pass->transaction->current = -1;
	kv_request_context_pop(&pass->context);
}

/* Tells what an action is going to do to a row. */
static KvRowChange
row_change(const KvAction *action)
{
	switch (action->write.verb)
	{
		case KV_VERB_DELETE:
			return KV_ROW_REMOVE;
		case KV_VERB_CHECK:
			return KV_ROW_KEEP;
		default:
			return KV_ROW_REPLACE;
	}
}

/*
 * Works out the item to be written.  That the old item does not allow the
 * update is a reason to cancel like a failed condition (API reference,
 * CancellationReason, ValidationError).  Only pure functions over values run
 * here, so an error leaves nothing behind that a subtransaction would have to
 * clean up.
 */
static void
make_item(KvAction *action, const KvItemView *old)
{
	MemoryContext caller = CurrentMemoryContext;

	PG_TRY();
	{
		action->has_item = kv_write_make_item(&action->write, old, &action->item);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_KV_VALIDATION)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		action->error = CopyErrorData()->message;
		FlushErrorState();
	}
	PG_END_TRY();
}

/* Counts what an action consumes that has been judged; a check, of which nothing is said, as a write of what is there. */
static void
count_action(KvAction *action, const KvItemView *old)
{
	const KvItemView *new = action->has_item ? &action->item :
		action->write.verb == KV_VERB_DELETE ? NULL : old;

	/* it may be judged again */
	memset(action->capacity, 0, sizeof(KvCapacity));
	kv_capacity_add_write(action->capacity, action->write.table, old, new, KV_TRANSACT_TIMES);
}

/* Finds and locks the row of an action, and judges the action on it. */
static void
judge(KvAction *action, KvTarget *target)
{
	KvWrite    *write = &action->write;
	KvItemView	view;
	const KvItemView *old;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		action->present = kv_target_find(target, write->key, &view);
		if (!action->present || kv_target_lock(target, row_change(action)))
			break;
	}

	ItemPointerSetInvalid(&action->place);
	if (action->present)
		action->place = kv_target_place(target);
	old = action->present ? &view : NULL;
	write->outcome = KV_OUTCOME_DONE;
	action->error = NULL;
	action->has_item = false;
	if (write->condition && !kv_condition_holds(write->condition, old))
	{
		write->outcome = KV_OUTCOME_CONDITION_FAILED;
		if (old && write->return_on_failure)
			write->returned = kv_item_join(old);
	}
	else if (row_change(action) == KV_ROW_REPLACE)
		make_item(action, old);
	if (action->capacity)
		count_action(action, old);
}

/* Tells whether an action is a reason to cancel. */
static bool
has_failed(const KvAction *action)
{
	return action->write.outcome == KV_OUTCOME_CONDITION_FAILED || action->error;
}

/* Returns the code of an action's reason, as DynamoDB names it; conflicting: the number of the action that another transaction is in the way of, or -1. */
static const char *
reason_code(const KvTransaction *transaction, int number, int conflicting)
{
	const KvAction *action = &transaction->action[number];

	if (conflicting >= 0)
		return number == conflicting ? "TransactionConflict" : "None";
	if (action->error)
		return "ValidationError";
	return has_failed(action) ? "ConditionalCheckFailed" : "None";
}

/* Returns what a reason says, NULL if there is nothing to say. */
static const char *
reason_message(const KvTransaction *transaction, int number, int conflicting)
{
	const KvAction *action = &transaction->action[number];

	if (conflicting >= 0)
		return number == conflicting ? "Transaction is ongoing for the item" : NULL;
	if (action->error)
		return action->error;
	return has_failed(action) ? "The conditional request failed" : NULL;
}

/* Returns the reasons as JSON text, in the order of the actions. */
static char *
make_reasons(const KvTransaction *transaction, int conflicting)
{
	JsonbParseState *state = NULL;

	pushJsonbValue(&state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < transaction->count; i++)
	{
		const KvAction *action = &transaction->action[i];
		const char *message = reason_message(transaction, i, conflicting);

		kv_json_open(&state);
		kv_json_add_text(&state, "Code", reason_code(transaction, i, conflicting));
		if (message)
			kv_json_add_text(&state, "Message", message);
		if (conflicting < 0 && has_failed(action) && action->write.returned)
			kv_json_add_jsonb(&state, "Item", action->write.returned);
		pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	}
	return kv_json_text(kv_json_write(pushJsonbValue(&state, WJB_END_ARRAY, NULL)));
}

/* Returns the message of KV002: the codes of the reasons. */
static char *
cancellation(const KvTransaction *transaction)
{
	StringInfoData message;

	initStringInfo(&message);
	appendStringInfoString(&message, "transaction cancelled: ");
	for (int i = 0; i < transaction->count; i++)
		appendStringInfo(&message, "%s%s", i > 0 ? ", " : "", reason_code(transaction, i, -1));
	return message.data;
}

/* Raises KV002. */
pg_noreturn static void
cancel(const KvTransaction *transaction)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_TRANSACTION_CANCELED),
			 errmsg_internal("%s", cancellation(transaction)),
			 errdetail_internal("%s", make_reasons(transaction, -1))));
}

/* Judges all actions; any that failed cancels the transaction. */
static void
judge_all(KvTransaction *transaction)
{
	int64		bytes = 0;
	bool		failed = false;
	Pass		pass;

	begin_pass(&pass, transaction);
	for (int i = 0; i < transaction->count; i++)
	{
		int			number = transaction->key[i].number;
		KvAction   *action = &transaction->action[number];

		judge(action, go_to_action(&pass, action, number));
		failed |= has_failed(action);
		if (action->has_item)
			bytes += kv_item_size(&action->item);
	}
	end_pass(&pass);
	if (failed)
		cancel(transaction);
	kv_transact_check_size(bytes);
}

/* Does what an action does to its row, or to the absent one. */
static KvWriteResult
change_row(const KvAction *action, KvTarget *target)
{
	KvItemView	written;

	if (action->has_item)
		return action->present ? kv_target_replace(target, action->item.rest, &written) :
			kv_target_insert(target, &action->item, &written);
	if (!action->present)
		return kv_target_reserve(target);
	if (action->write.verb == KV_VERB_DELETE)
		return kv_target_remove(target);
	return KV_WRITE_DONE;
}

/* Writes the row of one action. */
static void
write_row(KvTransaction *transaction, KvAction *action, KvTarget *target)
{
	bool		as_judged = kv_target_find_again(target, action->write.key, action->place);

	for (;;)
	{
		if (!as_judged)
		{
			judge(action, target);
			if (has_failed(action))
				cancel(transaction);
		}
		if (change_row(action, target) != KV_WRITE_LOST)
			break;
		as_judged = false;
	}
}

/* Writes all rows. */
static void
write_all(KvTransaction *transaction)
{
	Pass		pass;

	begin_pass(&pass, transaction);
	for (int i = 0; i < transaction->count; i++)
	{
		KvAction   *action = &transaction->action[i];

		CHECK_FOR_INTERRUPTS();
		if (action->write.verb == KV_VERB_CHECK && action->present)
			continue;
		write_row(transaction, action, go_to_action(&pass, action, i));
	}
	end_pass(&pass);
}

/* Gives the caller what the actions consumed. */
static void
give_capacity(KvTransaction *transaction)
{
	for (int i = 0; i < transaction->count; i++)
	{
		const KvAction *action = &transaction->action[i];

		if (action->capacity)
			kv_capacity_add(kv_request_capacity(&transaction->tables, action->write.table), action->capacity);
	}
	kv_request_give_capacity(&transaction->tables);
}

/*
 * Counts what a transaction consumes whose token was used for it before: what
 * it takes to read its items (API reference, TransactWriteItems, Idempotency).
 */
static bool
count_replayed(void *argument, int number, const KvItemView *view)
{
	KvTransaction *transaction = argument;
	KvAction   *action = &transaction->action[number];

	memset(action->capacity, 0, sizeof(KvCapacity));
	kv_capacity_add_read(action->capacity, view ? kv_item_size(view) : 0, true, KV_TRANSACT_TIMES);
	return true;
}

/* Runs a transaction. */
static void
run(KvTransaction *transaction, JsonbContainer *request, text *token)
{
	kv_transact_read(transaction, request, token);
	if (transaction->token && !kv_token_claim(transaction->token, transaction->content))
	{
		if (transaction->tables.caller)
			transaction->tables.caller->replayed = true;
		if (transaction->action[0].capacity)
			kv_request_read_items(transaction->key, transaction->count, count_replayed, transaction);
	}
	else
	{
		kv_request_lock(transaction->key, transaction->count, "action", &transaction->current);
		judge_all(transaction);
		write_all(transaction);
		kv_request_unlock(transaction->key, transaction->count);
	}
	give_capacity(transaction);
}

/*
 * Raises KV003 instead of the current error if that says that the transaction
 * and another one stand in each other's way, with the reasons (API reference,
 * CancellationReason, TransactionConflict).  A serialization failure stays one,
 * since the whole transaction must be run again, but for a caller that wants
 * reasons has them.  The error ends the transaction or subtransaction all the
 * same, so nothing has to be undone here.
 */
static void
raise_conflict(const KvTransaction *transaction, MemoryContext caller)
{
	int			code = geterrcode();
	bool		stays = code == ERRCODE_T_R_SERIALIZATION_FAILURE && transaction->tables.caller != NULL;
	ErrorData  *error;

	if (code != ERRCODE_T_R_DEADLOCK_DETECTED && code != ERRCODE_LOCK_NOT_AVAILABLE && !stays)
		return;
	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	FlushErrorState();
	if (!stays)
	{
		error->sqlerrcode = ERRCODE_KV_TRANSACTION_CONFLICT;
		error->message = psprintf("transaction conflicts with another one: %s", error->message);
		error->hint = "Nothing was written; try again.";
	}
	if (error->detail && !error->detail_log)
		error->detail_log = error->detail;
	error->detail = make_reasons(transaction, Max(transaction->current, 0));
	ReThrowError(error);		/* with the context that it has, once */
}

/*
 * Raises KV002 instead of the current error if that says that what an action
 * writes is refused, as an attribute is that cannot be the key of an index (API
 * reference, TransactWriteItems, "a similar validation error occurs because of
 * changes made by the transaction").
 */
static void
raise_refusal(const KvTransaction *transaction, MemoryContext caller)
{
	ErrorData  *error;

	if (geterrcode() != ERRCODE_KV_VALIDATION || transaction->current < 0)
		return;
	MemoryContextSwitchTo(caller);
	error = CopyErrorData();
	FlushErrorState();
	transaction->action[transaction->current].error = error->message;
	error->sqlerrcode = ERRCODE_KV_TRANSACTION_CANCELED;
	error->message = cancellation(transaction);
	error->detail = make_reasons(transaction, -1);
	error->hint = NULL;
	ReThrowError(error);
}

/* Writes the items, all or none. */
Jsonb *
kv_operation_transact_write(JsonbContainer *request, text *token, KvCaller *caller)
{
	MemoryContext context = CurrentMemoryContext;
	KvTransaction *transaction = palloc0(sizeof(KvTransaction));

	transaction->tables.caller = caller;
	transaction->current = -1;
	PG_TRY();
	{
		run(transaction, request, token);
	}
	PG_CATCH();
	{
		raise_conflict(transaction, context);
		raise_refusal(transaction, context);
		PG_RE_THROW();
	}
	PG_END_TRY();
	return kv_json_empty_object();
}
