/*
 * index_doubt.c
 *	  What puts an index in doubt, so that it is filled anew.
 *
 * TRUNCATE of a whole base table truncates its indexes in the same
 * transaction: a trigger sees it.  These are seen otherwise, and leave the
 * indexes in doubt:
 *	- a leaf truncated by itself, or an index table by its owner: a hook tells
 *	  of TRUNCATE, whatever the access method, and the access method of what
 *	  else gives it new, empty files;
 *	- ALTER TABLE that computes a column anew, or SET UNLOGGED, after which a
 *	  crash empties the table: an event trigger tells;
 *	- the capture trigger enabled, disabled or dropped: a hook tells
 *	  (index_hooks.c);
 *	- a row written while the table or the index is not usable, or the index
 *	  has another definition than it was filled by: capture tells;
 *	- partitions attached and detached: a hook as well.
 * (Changed definitions show in the fingerprint, but not once they are undone.)
 * What was told is kept until the transaction commits, since it comes in the
 * middle of catalog changes.
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

/* Something that was done to a relation in the current transaction. */
typedef struct Event
{
	Oid			relid;
	SubTransactionId subtransaction;
	bool		followed;		/* a base table truncated as a whole, its indexes with it; or an index made */
} Event;

/* What was done, in order, in TopTransactionContext. */
static List *events = NIL;

/* Tells whether the same was noted before, and nothing that makes up for it since. */
static bool
is_noted(Oid relid)
{
	for (int i = list_length(events) - 1; i >= 0; i--)
	{
		const Event *event = list_nth(events, i);

		if (event->followed)
			return false;
		if (event->relid == relid)
			return true;
	}
	return false;
}

/* Adds an event, unless it was noted before. */
static void
add_event(Oid relid, bool followed)
{
	MemoryContext caller;
	Event	   *event;

	if (!followed && is_noted(relid))
		return;
	caller = MemoryContextSwitchTo(TopTransactionContext);
	event = palloc(sizeof(Event));
	event->relid = relid;
	event->subtransaction = GetCurrentSubTransactionId();
	event->followed = followed;
	events = lappend(events, event);
	MemoryContextSwitchTo(caller);
}

/* Notes that a base table, an index or a leaf of one has other rows than its indexes were told of. */
void
kv_index_note_doubt(Oid relid)
{
	add_event(relid, false);
}

/* Notes that an index was made, which what was done to its table before is no reason to doubt. */
void
kv_index_note_made(Oid index)
{
	add_event(index, true);
}

/* Hook of the access method: notes that a relation was truncated, not by ourselves. */
static void
note_truncation(Relation relation)
{
	if (!kv_index_is_written(RelationGetRelid(relation)))
		kv_index_note_doubt(RelationGetRelid(relation));
}

/* kv.on_table_rewrite(): event trigger that sees ALTER TABLE compute the columns of a table anew, or make it unlogged. */
Datum
kv_on_table_rewrite_sql(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("kv.on_table_rewrite() is an event trigger function")));
	if (DatumGetInt32(OidFunctionCall0(F_PG_EVENT_TRIGGER_TABLE_REWRITE_REASON)) &
		(AT_REWRITE_COLUMN_REWRITE | AT_REWRITE_ALTER_PERSISTENCE))
		kv_index_note_doubt(DatumGetObjectId(OidFunctionCall0(F_PG_EVENT_TRIGGER_TABLE_REWRITE_OID)));
	PG_RETURN_VOID();
}

/* Tells whether a base table was truncated as a whole behind an event, or its index made. */
static bool
is_followed(int event, Oid base, Oid index)
{
	for (int i = event + 1; i < list_length(events); i++)
	{
		const Event *later = list_nth(events, i);

		if (later->followed && (later->relid == base || later->relid == index))
			return true;
	}
	return false;
}

/* Puts the index, or the indexes of the base table, in doubt that an event concerns; returns whether there are any. */
static bool
put_in_doubt(int event)
{
	Oid			relid = ((const Event *) list_nth(events, event))->relid;
	/* also of one that is being detached, which has no ancestors any more */
	Oid			root = get_rel_relispartition(relid) ? get_partition_parent(relid, true) : relid;
	ListCell   *cell;
	bool		removed = false;

	/* what is wrong with the relation, or was, may be why an index has no row */
	kv_state_look_again(root);
	foreach(cell, kv_state_read_all())
	{
		const KvStateRow *row = lfirst(cell);

		if ((row->index != root && row->base != root && row->index != relid && row->base != relid) || is_followed(event, row->base, row->index))
			continue;
		(void) kv_state_remove(row->index, true);
		removed = true;
	}
	return removed;
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
			if (events != NIL && OidIsValid(kv_table_extension_relation("index_state")))
			{
				PushActiveSnapshot(GetTransactionSnapshot());
				for (int i = 0; i < list_length(events); i++)
					if (!((const Event *) list_nth(events, i))->followed && put_in_doubt(i))
						kv_index_wake_at_commit();
				PopActiveSnapshot();
			}
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
			events = NIL;
			break;
		default:
			break;
	}
}

/* Subtransaction callback: forgets what was done in one that is rolled back, and in those inside it, whose numbers are higher. */
static void
forget_events(SubXactEvent event, SubTransactionId subtransaction, SubTransactionId parent, void *argument)
{
	ListCell   *cell;

	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	foreach(cell, events)
		if (((const Event *) lfirst(cell))->subtransaction >= subtransaction)
			events = foreach_delete_current(events, cell);
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
		kv_table_written_index = saved.written_index;
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

	add_event(base_relid, true);
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
	RegisterSubXactCallback(forget_events, NULL);
}
