/*
 * index_doubt.c
 *	  What puts an index in doubt, so that it is filled anew.
 *
 * TRUNCATE of a whole base table truncates its indexes in the same
 * transaction: a trigger sees it.  These are seen otherwise, and leave the
 * indexes in doubt:
 *	- a leaf truncated by itself, or an index table by its owner: the access
 *	  method tells;
 *	- ALTER TABLE that computes a column anew: an event trigger tells;
 *	- the capture trigger enabled, disabled or dropped: a hook tells
 *	  (index_hooks.c);
 *	- a row written while the table or the index is not usable, or the index
 *	  has another definition than it was filled by: capture tells.
 * (Partitions attached and detached, and changed definitions, show in the
 * fingerprint, but not once they are undone.)  What was told is kept until the
 * transaction commits, since it comes in the middle of catalog changes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "am/am.h"
#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

PG_FUNCTION_INFO_V1(kv_on_table_rewrite_sql);

/* Relations that something was done to in the current transaction, in TopTransactionContext. */
static List *doubtful = NIL;

/* Base tables whose truncation as a whole their triggers saw, so that their leaves need no doubt. */
static List *seen_by_trigger = NIL;

/* Notes that a base table, an index or a leaf of one has other rows than its indexes were told of. */
void
kv_index_note_doubt(Oid relid)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);

	doubtful = list_append_unique_oid(doubtful, relid);
	MemoryContextSwitchTo(caller);
}

/* Hook of the access method: notes that a relation was truncated, not by ourselves. */
static void
note_truncation(Relation relation)
{
	if (kv_table_index_write_depth == 0)
		kv_index_note_doubt(RelationGetRelid(relation));
}

/* kv.on_table_rewrite(): event trigger that sees ALTER TABLE compute the columns of a table anew. */
Datum
kv_on_table_rewrite_sql(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("kv.on_table_rewrite() is an event trigger function")));
	if (DatumGetInt32(OidFunctionCall0(F_PG_EVENT_TRIGGER_TABLE_REWRITE_REASON)) & AT_REWRITE_COLUMN_REWRITE)
		kv_index_note_doubt(DatumGetObjectId(OidFunctionCall0(F_PG_EVENT_TRIGGER_TABLE_REWRITE_OID)));
	PG_RETURN_VOID();
}

/* Puts the indexes that a relation concerns in doubt. */
static void
put_in_doubt(Oid relid)
{
	Oid			root = get_rel_relispartition(relid) ? llast_oid(get_partition_ancestors(relid)) : relid;

	(void) kv_state_remove(root, true); /* it is an index */
	if (!list_member_oid(seen_by_trigger, root))
		kv_state_remove_of_base(root);
}

/* Transaction callback: puts indexes in doubt before the transaction commits. */
static void
follow_doubts(XactEvent event, void *argument)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			/* the extension may be what was dropped */
			if (doubtful != NIL && OidIsValid(kv_table_extension_relation("index_state")))
			{
				ListCell   *cell;

				PushActiveSnapshot(GetTransactionSnapshot());
				foreach(cell, doubtful)
					put_in_doubt(lfirst_oid(cell));
				PopActiveSnapshot();
				kv_index_wake_at_commit();
			}
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
			doubtful = NIL;
			seen_by_trigger = NIL;
			break;
		default:
			break;
	}
}

/* Subtransaction callback: a truncation that a trigger saw may be undone. */
static void
forget_seen(SubXactEvent event, SubTransactionId subtransaction, SubTransactionId parent, void *argument)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		seen_by_trigger = NIL;
}

/* Truncates one index, as its owner. */
static void
truncate_index(const KvTable *index)
{
	char	   *command = psprintf("TRUNCATE %s",
								   quote_qualified_identifier(get_namespace_name(get_rel_namespace(index->relid)),
															  get_rel_name(index->relid)));
	KvOwnerSwitch saved;

	kv_index_become_owner(index->relid, &saved);
	PG_TRY();
	{
		SPI_connect();
		if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
			elog(ERROR, "SPI_execute failed for \"%s\"", command);
		SPI_finish();
	}
	PG_CATCH();
	{
		kv_table_index_write_depth--;
		PG_RE_THROW();
	}
	PG_END_TRY();
	kv_index_become_again(&saved);
}

/* Makes the indexes of a table follow its truncation. */
void
kv_index_after_truncate(Oid base_relid)
{
	const KvTable *base = kv_table_lookup(base_relid);
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);

	seen_by_trigger = list_append_unique_oid(seen_by_trigger, base_relid);
	MemoryContextSwitchTo(caller);
	for (int i = 0; base != NULL && i < base->global_count; i++)
	{
		const KvTable *index = kv_table_lookup(base->global_relid[i]);

		if (index != NULL && index->index != NULL && index->index->base_relid == base_relid &&
			!index->index->foreign_owner)
			truncate_index(index);
		else
			(void) kv_state_remove(base->global_relid[i], true);
	}
}

/* Installs the hook and the callback. */
void
kv_index_watch_doubts(void)
{
	kv_am_truncate_hook = note_truncation;
	RegisterXactCallback(follow_doubts, NULL);
	RegisterSubXactCallback(forget_seen, NULL);
}
