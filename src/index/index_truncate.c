/*
 * index_truncate.c
 *	  What TRUNCATE does to indexes.
 *
 * TRUNCATE of a whole base table truncates its indexes in the same
 * transaction: a trigger sees it.  A leaf that is truncated by itself has no
 * trigger, so the access method tells of it, and the indexes are in doubt
 * from then on and filled anew; the same with an index table that its owner
 * truncates.  What the access method tells is kept until the transaction
 * commits, since it comes in the middle of catalog changes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "am/am.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

/* Leaves that were truncated in the current transaction, in TopTransactionContext. */
static List *truncated = NIL;

/* Base tables whose truncation as a whole their triggers saw, so that their leaves need no doubt. */
static List *seen_by_trigger = NIL;

/* Hook of the access method: notes that a relation was truncated. */
static void
note_truncation(Relation relation)
{
	MemoryContext caller;

	if (kv_table_index_write_depth > 0)
		return;
	caller = MemoryContextSwitchTo(TopTransactionContext);
	truncated = list_append_unique_oid(truncated, RelationGetRelid(relation));
	MemoryContextSwitchTo(caller);
}

/* Puts the indexes that a truncated relation concerns in doubt. */
static void
put_in_doubt(Oid relid)
{
	const KvTable *leaf = kv_table_lookup(relid);
	const KvTable *root;

	if (leaf == NULL)
		return;
	if (leaf->index != NULL)
	{
		kv_state_remove(leaf->index->relid);
		return;
	}
	root = leaf->is_leaf ? kv_table_lookup(leaf->root_relid) : leaf;
	if (root == NULL || list_member_oid(seen_by_trigger, root->relid))
		return;
	for (int i = 0; i < root->global_count; i++)
		kv_state_remove(root->global_relid[i]);
}

/* Transaction callback: puts indexes in doubt before the transaction commits. */
static void
follow_truncations(XactEvent event, void *argument)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			if (truncated != NIL)
			{
				ListCell   *cell;

				PushActiveSnapshot(GetTransactionSnapshot());
				foreach(cell, truncated)
					put_in_doubt(lfirst_oid(cell));
				PopActiveSnapshot();
				kv_index_wake_at_commit();
			}
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
			truncated = NIL;
			seen_by_trigger = NIL;
			break;
		default:
			break;
	}
}

/* Truncates one index, as its owner. */
static void
truncate_index(const KvTable *index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index->relid));
	Oid			owner;
	Oid			user;
	int			context;
	char	   *command;

	if (!HeapTupleIsValid(tuple))
		return;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);

	command = psprintf("TRUNCATE %s", quote_qualified_identifier(get_namespace_name(get_rel_namespace(index->relid)),
																 get_rel_name(index->relid)));
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(owner, context | SECURITY_RESTRICTED_OPERATION);
	kv_table_index_write_depth++;
	SPI_connect();
	if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "SPI_execute failed for \"%s\"", command);
	SPI_finish();
	kv_table_index_write_depth--;
	SetUserIdAndSecContext(user, context);
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
			kv_state_remove(base->global_relid[i]);
	}
}

/* Installs the hook and the callback. */
void
kv_index_watch_truncation(void)
{
	kv_am_truncate_hook = note_truncation;
	RegisterXactCallback(follow_truncations, NULL);
}
