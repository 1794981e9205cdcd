/*
 * store_trigger.c
 *	  Firing the triggers of one write.
 *
 * Foreign keys and deferred unique constraints are AFTER triggers too.  Row
 * triggers of a partitioned table are cloned to its leaves, statement
 * triggers and transition tables belong to the table itself.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "store/store_internal.h"

KvCaptureHook kv_store_capture_hook = NULL;

/* Tells whether a relation has BEFORE ROW triggers for a command. */
static bool
has_before_row_triggers(const TriggerDesc *triggers, CmdType command)
{
	if (triggers == NULL)
		return false;
	switch (command)
	{
		case CMD_INSERT:
			return triggers->trig_insert_before_row;
		case CMD_UPDATE:
			return triggers->trig_update_before_row;
		default:
			return triggers->trig_delete_before_row;
	}
}

/* Tells whether a relation has AFTER ROW triggers for a command. */
static bool
has_after_row_triggers(const TriggerDesc *triggers, CmdType command)
{
	if (triggers == NULL)
		return false;
	switch (command)
	{
		case CMD_INSERT:
			return triggers->trig_insert_after_row;
		case CMD_UPDATE:
			return triggers->trig_update_after_row;
		default:
			return triggers->trig_delete_after_row;
	}
}

/* Tells whether a relation has statement triggers or transition tables for a command. */
static bool
has_statement_triggers(const TriggerDesc *triggers, CmdType command)
{
	if (triggers == NULL)
		return false;
	switch (command)
	{
		case CMD_INSERT:
			return triggers->trig_insert_before_statement || triggers->trig_insert_after_statement ||
				triggers->trig_insert_new_table;
		case CMD_UPDATE:
			return triggers->trig_update_before_statement || triggers->trig_update_after_statement ||
				triggers->trig_update_old_table || triggers->trig_update_new_table;
		default:
			return triggers->trig_delete_before_statement || triggers->trig_delete_after_statement ||
				triggers->trig_delete_old_table;
	}
}

/* Fires the BEFORE STATEMENT triggers of the table. */
static void
fire_before_statement(KvTriggers *triggers)
{
	switch (triggers->command)
	{
		case CMD_INSERT:
			ExecBSInsertTriggers(triggers->estate, triggers->root);
			break;
		case CMD_UPDATE:
			ExecBSUpdateTriggers(triggers->estate, triggers->root);
			break;
		default:
			ExecBSDeleteTriggers(triggers->estate, triggers->root);
			break;
	}
}

/* Queues the AFTER STATEMENT triggers of the table. */
static void
queue_after_statement(KvTriggers *triggers)
{
	switch (triggers->command)
	{
		case CMD_INSERT:
			ExecASInsertTriggers(triggers->estate, triggers->root, triggers->capture);
			break;
		case CMD_UPDATE:
			ExecASUpdateTriggers(triggers->estate, triggers->root, triggers->capture);
			break;
		default:
			ExecASDeleteTriggers(triggers->estate, triggers->root, triggers->capture);
			break;
	}
}

/* Returns the row triggers of the leaf; NULL if there are none but those of indexes. */
TriggerDesc *
kv_store_row_triggers(const KvWriter *writer)
{
	TriggerDesc *triggers = writer->heap->trigdesc;

	return kv_table_has_foreign_triggers(writer->table, triggers) ? triggers : NULL;
}

/* Prepares the triggers of a command and fires BEFORE STATEMENT triggers. */
void
kv_triggers_begin(KvTriggers *triggers, KvWriter *writer, CmdType command)
{
	EState	   *estate;

	memset(triggers, 0, sizeof(KvTriggers));
	triggers->command = command;
	triggers->before_row = has_before_row_triggers(kv_store_row_triggers(writer), command);
	if (!triggers->before_row &&
		!has_after_row_triggers(kv_store_row_triggers(writer), command) &&
		!has_statement_triggers(writer->root_heap->trigdesc, command))
	{
		triggers->captures = writer->table->index == NULL && writer->heap->trigdesc != NULL &&
			kv_store_row_triggers(writer) == NULL;
		return;
	}

	triggers->active = true;
	triggers->estate = estate = CreateExecutorState();
	kv_store_init_target(estate, writer, &triggers->target, &triggers->root);
	estate->es_snapshot = GetActiveSnapshot();
	estate->es_output_cid = GetCurrentCommandId(true);
	kv_compat_init_epq(&triggers->epq, estate);

	AfterTriggerBeginQuery();
	triggers->capture = MakeTransitionCaptureState(triggers->root->ri_TrigDesc,
												   RelationGetRelid(writer->root_heap), command);
	fire_before_statement(triggers);
}

/* Calls the capture hook in the place of its trigger. */
void
kv_triggers_capture(const KvTriggers *triggers, KvWriter *writer, bool changed, bool written)
{
	MemoryContext caller;
	KvItemView	old;
	KvItemView	new;

	if (likely(!triggers->captures))
		return;
	caller = MemoryContextSwitchTo(GetPerTupleMemoryContext(writer->estate));
	if (changed)
		kv_store_view(writer->table, writer->leaf, writer->current, &old);
	if (written)
		kv_store_view(writer->table, writer->leaf, writer->next, &new);
	kv_store_capture_hook(writer->table, changed ? &old : NULL, written ? &new : NULL, &writer->next->tts_tid);
	MemoryContextSwitchTo(caller);
}

/* Fires the AFTER triggers queued, and AFTER STATEMENT triggers if the row was written. */
void
kv_triggers_end(KvTriggers *triggers, bool written)
{
	EState	   *estate = triggers->estate;

	if (!triggers->active)
		return;
	if (written)
		queue_after_statement(triggers);
	AfterTriggerEndQuery(estate);

	EvalPlanQualEnd(&triggers->epq);
	ExecCloseResultRelations(estate);
	ExecResetTupleTable(estate->es_tupleTable, false);
	FreeExecutorState(estate);
}
