/*
 * table_index.c
 *	  What a global index is: its definition, and whether it can be read.
 *
 * The definition is in standard objects alone, so that it survives dump and
 * restore and renames of everything it names:
 *	- the index's own table has the key columns of the index and, behind them,
 *	  those of the base table that are not among them, all in its primary key;
 *	- a constraint trigger on it, FROM the base table, that never fires and
 *	  whose arguments are: the projection, the origins of the columns of the
 *	  primary key, and the included attributes.  Each origin is a letter ("a":
 *	  the attribute that has the column's name, "0" or "1": that key of the
 *	  base table), with a slash behind the index key, as in "aa/01".
 * An index belongs to its base table only while both have one owner: the
 * trigger alone would let anybody with the right TRIGGER have items copied
 * into a table of his own.
 *
 * How far an index is filled is in kv.index_state, which is not dumped.  A
 * fingerprint there covers all that the index's content depends on but the
 * items; an index whose fingerprint has changed, or that has no row there,
 * cannot be read and is filled anew.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "tcop/cmdtag.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/xid8.h"

#include "base/compat.h"
#include "base/errors.h"
#include "table/table_internal.h"

/* Arguments of the defining trigger. */
#define ARGUMENT_PROJECTION	0
#define ARGUMENT_ORIGIN		1
#define ARGUMENT_INCLUDE	2	/* and those that follow */

PG_FUNCTION_INFO_V1(kv_table_index_trigger);

Oid			kv_table_written_index = InvalidOid;

/* Tells whether a function is the one of that name in schema kv. */
static bool
is_kv_function(Oid function, const char *wanted)
{
	char	   *name = get_func_name(function);

	return name != NULL && strcmp(name, wanted) == 0 &&
		get_func_namespace(function) == get_namespace_oid("kv", true);
}

/* Tells whether a trigger's function is the one of index tables. */
bool
kv_table_is_definition(Oid function)
{
	return is_kv_function(function, "global_index");
}

/* Tells whether a trigger's function is the one that captures changes. */
bool
kv_table_is_capture(Oid function)
{
	return is_kv_function(function, "capture_change");
}

/*
 * Returns the trigger that makes the relation the table of a global index, or a
 * leaf of one; NULL if there is none.  It is a copy: any catalog look-up may
 * rebuild the relcache entry, and triggers do not survive that.
 */
static const Trigger *
find_definition(Relation relation)
{
	const TriggerDesc *triggers = CopyTriggerDesc(relation->trigdesc);

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (OidIsValid(trigger->tgconstrrelid) && !trigger->tgisinternal &&
			trigger->tgnargs >= ARGUMENT_INCLUDE && kv_table_is_definition(trigger->tgfoid))
			return trigger;
	}
	return NULL;
}

/* Tells whether the relation is the table of a global index, or a leaf of one. */
bool
kv_table_is_index(Relation relation)
{
	return find_definition(relation) != NULL;
}

/* Reads the projection from the trigger's arguments. */
static void
read_projection(KvTable *table, KvIndex *index, const Trigger *trigger)
{
	const char *projection = trigger->tgargs[ARGUMENT_PROJECTION];

	if (strcmp(projection, "ALL") == 0)
		index->projection = KV_PROJECT_ALL;
	else if (strcmp(projection, "KEYS_ONLY") == 0)
		index->projection = KV_PROJECT_KEYS_ONLY;
	else if (strcmp(projection, "INCLUDE") == 0)
		index->projection = KV_PROJECT_INCLUDE;
	else
		kv_table_mark_unusable(table, "Its projection \"%s\" is unknown.", projection);

	if (index->projection != KV_PROJECT_INCLUDE)
		return;
	index->include_count = trigger->tgnargs - ARGUMENT_INCLUDE;
	index->include_name = palloc(sizeof(char *) * Max(index->include_count, 1));
	for (int i = 0; i < index->include_count; i++)
		index->include_name[i] = pstrdup(trigger->tgargs[ARGUMENT_INCLUDE + i]);
}

/* Makes one key column of the index stand for a key of the base table: that one names it. */
static void
tie_to_base_key(KvTable *table, KvIndex *index, int position, const KvTable *base, int base_key)
{
	const KvKeyAttribute *attribute = &base->key.attribute[base_key];

	if (table->key.attribute[position].type != attribute->type)
		kv_table_mark_unusable(table, "The type of key attribute \"%s\" of table \"%s\" has changed.",
							   attribute->name, get_rel_name(base->relid));
	index->base_key[position] = base_key;
	table->key.attribute[position] = *attribute;
}

/* Raises no error, but marks an index unusable whose key does not go with its table's any more. */
static void
mark_key_changed(KvTable *table, const KvTable *base)
{
	kv_table_mark_unusable(table, "Its key does not go with that of table \"%s\" any more.",
						   get_rel_name(base->relid));
}

/* Reads the origin of each key column from the trigger's arguments. */
static void
read_origins(KvTable *table, KvIndex *index, const Trigger *trigger, const KvTable *base)
{
	const char *origin = trigger->tgargs[ARGUMENT_ORIGIN];
	const char *slash = strchr(origin, '/');
	int			own_count = slash ? slash - origin : 0;
	int			found = 0;		/* which base keys, as bits */

	if (own_count < 1 || own_count > KV_MAX_TABLE_KEYS || strlen(origin) != table->key.count + 1)
	{
		mark_key_changed(table, base);
		return;
	}
	table->key.trailing = table->key.count - own_count;
	for (int i = 0; i < table->key.count; i++)
	{
		char		letter = origin[i < own_count ? i : i + 1];
		int			base_key = letter - '0';

		index->base_key[i] = KV_NOT_BASE_KEY;
		if (letter == 'a' && i < own_count)
			continue;
		if (base_key < 0 || base_key >= base->key.count || (found & (1 << base_key)) != 0)
		{
			mark_key_changed(table, base);
			return;
		}
		tie_to_base_key(table, index, i, base, base_key);
		found |= 1 << base_key;
	}
	if (found != (1 << base->key.count) - 1)
		mark_key_changed(table, base);
}

/* Returns the OID of a relation's primary key, which another one is if it was dropped and added again. */
static Oid
primary_key_of(Oid relid)
{
	Relation	relation = RelationIdGetRelation(relid);
	Oid			primary_key;

	if (relation == NULL)
		return InvalidOid;
	primary_key = kv_compat_primary_key_index(relation);
	RelationClose(relation);
	return primary_key;
}

/*
 * Hashes all that the content of the index depends on but the items.  Without
 * their primary keys, table and index were not looked after.
 */
static uint64
make_fingerprint(const KvTable *table, const KvIndex *index, const KvTable *base)
{
	StringInfoData facts;

	initStringInfo(&facts);
	appendStringInfo(&facts, "%u %u %u %d %d %d", base->relid, primary_key_of(base->relid),
					 primary_key_of(index->relid), base->item_attno, (int) index->projection, index->key.trailing);
	for (int i = 0; i < table->key.count; i++)
		appendStringInfo(&facts, " %s %c %d", table->key.attribute[i].name,
						 (char) table->key.attribute[i].type, index->base_key[i]);
	for (int i = 0; i < base->key.count; i++)
		appendStringInfo(&facts, " %s %d", base->key.attribute[i].name, base->key_attno[i]);
	for (int i = 0; i < index->include_count; i++)
		appendStringInfo(&facts, " %s", index->include_name[i]);
	for (int i = 0; i < base->leaf_count; i++)
		appendStringInfo(&facts, " %u", base->leaf_relid[i]);
	for (int i = 0; i < table->leaf_count; i++)
		appendStringInfo(&facts, " %u", table->leaf_relid[i]);
	return hash_bytes_extended((unsigned char *) facts.data, facts.len, 0);
}

/* Reads how far the index is filled, and whether that is still so. */
static void
read_state(KvIndex *index)
{
	Oid			state_relid = kv_table_extension_relation("index_state");
	Relation	state_table;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	index->state = KV_INDEX_CREATING;
	if (!OidIsValid(state_relid))
		return;

	state_table = table_open(state_relid, AccessShareLock);
	ScanKeyInit(&key, KV_STATE_INDEX, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(index->relid));
	scan = systable_beginscan(state_table, kv_table_extension_relation("index_state_pkey"), true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		TupleDesc	row_type = RelationGetDescr(state_table);
		char	   *state = TextDatumGetCString(heap_getattr(tuple, KV_STATE_STATE, row_type, &isnull));

		index->outdated = DatumGetInt64(heap_getattr(tuple, KV_STATE_FINGERPRINT, row_type, &isnull)) != (int64) index->fingerprint;
		if (!index->outdated)
			index->state = strcmp(state, "ACTIVE") == 0 ? KV_INDEX_ACTIVE :
				strcmp(state, "BACKFILLING") == 0 ? KV_INDEX_BACKFILLING : KV_INDEX_CREATING;
		index->filled = DatumGetFullTransactionId(heap_getattr(tuple, KV_STATE_FILLED, row_type, &isnull));
	}
	systable_endscan(scan);
	table_close(state_table, AccessShareLock);
}

/* Returns a leaf of a table that is unlogged or temporary; InvalidOid if there is none. */
static Oid
find_unlogged(const KvTable *table)
{
	for (int i = 0; i < table->leaf_count; i++)
		if (get_rel_persistence(table->leaf_relid[i]) != RELPERSISTENCE_PERMANENT)
			return table->leaf_relid[i];
	return InvalidOid;
}

/* Finds out whether the index can be read, or why not. */
static void
judge(KvTable *table, KvIndex *index, const KvTable *base)
{
	Oid			unlogged = find_unlogged(base);

	if (!OidIsValid(unlogged))
		unlogged = find_unlogged(table);
	index->unlogged = OidIsValid(unlogged);
	index->foreign_owner = kv_table_owner(index->relid) != kv_table_owner(index->base_relid);
	read_state(index);
	if (index->unlogged)
		index->not_ready = psprintf("Table \"%s\" is not logged, so a crash would empty it.", get_rel_name(unlogged));
	else if (index->foreign_owner)
		index->not_ready = psprintf("It has another owner than table \"%s\".", get_rel_name(base->relid));
	else if (!base->captured)
		index->not_ready = psprintf("Changes of table \"%s\" are not captured: its trigger is not enabled always, or gone.",
									get_rel_name(base->relid));
	else if (index->state != KV_INDEX_ACTIVE)
		index->not_ready = index->state == KV_INDEX_BACKFILLING ?
			"It is being filled." : "It has yet to be filled.";
}

/* Lets a leaf of an index be as ready as the index is. */
static void
judge_as_root(KvIndex *index)
{
	const KvTable *root = kv_table_lookup(index->relid);

	if (root == NULL || root->index == NULL || !root->usable)
		return;
	index->foreign_owner = root->index->foreign_owner;
	index->unlogged = root->index->unlogged;
	index->state = root->index->state;
	index->fingerprint = root->index->fingerprint;
	index->filled = root->index->filled;
	index->not_ready = root->index->not_ready ? pstrdup(root->index->not_ready) : NULL;
}

/* Reads the definition of a global index into its descriptor, which has its key columns. */
void
kv_table_read_index(KvTable *table, Relation relation)
{
	const Trigger *trigger = find_definition(relation);
	KvIndex    *index = palloc0(sizeof(KvIndex));
	KvTable    *base;

	table->index = index;
	index->relid = table->is_leaf ? table->root_relid : table->relid;
	index->base_relid = trigger->tgconstrrelid;
	kv_table_note_dependency(table->relid, index->base_relid, index->relid);
	index->trigger_function = trigger->tgfoid;
	index->not_ready = "It is not usable.";
	read_projection(table, index, trigger);
	base = kv_table_lookup(index->base_relid);
	if (base == NULL || !base->usable || base->index != NULL || base->is_leaf)
		kv_table_mark_unusable(table, "Table \"%s\" is not usable as a key-value table.",
							   get_rel_name(trigger->tgconstrrelid));
	if (!table->usable)
		return;

	read_origins(table, index, trigger, base);
	if (!table->usable)
		return;
	index->key = table->key;
	if (table->is_leaf)
	{
		judge_as_root(index);
		return;
	}
	index->fingerprint = make_fingerprint(table, index, base);
	index->not_ready = NULL;
	judge(table, index, base);
}

/* Tells whether a trigger ties the table of a global index to a base table; returns the index's OID in *index. */
static bool
is_definition_from(Oid trigger_oid, Oid base_relid, Relation triggers, Oid *index)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result = false;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger_oid));
	scan = systable_beginscan(triggers, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		result = form->tgconstrrelid == base_relid && !form->tgisinternal &&
			!OidIsValid(form->tgparentid) && kv_table_is_definition(form->tgfoid);
		*index = form->tgrelid;
	}
	systable_endscan(scan);
	return result;
}

/*
 * Returns the function of the trigger of a relation that captures all changes
 * of its rows, whoever makes them; InvalidOid if there is none.
 *
 * A partition has a trigger of its own, which can be disabled by itself.
 */
static Oid
find_capture(Oid relid, Relation triggers)
{
	static const int16 wanted = TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			function = InvalidOid;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(triggers, TriggerRelidNameIndexId, true, NULL, 1, &key);
	while (!OidIsValid(function) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);

		if (form->tgenabled == TRIGGER_FIRES_ALWAYS && (form->tgtype & wanted) == wanted &&
			form->tgattr.dim1 == 0 && heap_attisnull(tuple, Anum_pg_trigger_tgqual, NULL) &&
			kv_table_is_capture(form->tgfoid))
			function = form->tgfoid;
	}
	systable_endscan(scan);
	return function;
}

/* Orders OIDs. */
static int
compare_oids(const void *a, const void *b)
{
	Oid			left = *(const Oid *) a;
	Oid			right = *(const Oid *) b;

	return left < right ? -1 : left > right;
}

/*
 * Finds the global indexes of a table: the triggers that depend on it.
 *
 * A trigger that is made by itself, as pg_restore does, does not invalidate
 * the base table's descriptor; the index is not used until it was filled,
 * which begins with that.
 */
void
kv_table_find_global_indexes(KvTable *table)
{
	Relation	depends = table_open(DependRelationId, AccessShareLock);
	Relation	triggers = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	int			capacity = KV_MAX_GLOBAL_INDEXES;

	table->capture_function = find_capture(table->relid, triggers);
	table->captured = OidIsValid(table->capture_function);
	for (int i = 0; table->captured && i < table->leaf_count; i++)
		if (table->leaf_relid[i] != table->relid)
			table->captured = find_capture(table->leaf_relid[i], triggers) == table->capture_function;

	table->global_relid = palloc(sizeof(Oid) * capacity);
	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table->relid));
	scan = systable_beginscan(depends, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		Oid			index;

		if (form->classid != TriggerRelationId ||
			!is_definition_from(form->objid, table->relid, triggers, &index))
			continue;
		if (table->global_count == capacity)
		{
			capacity *= 2;
			table->global_relid = repalloc(table->global_relid, sizeof(Oid) * capacity);
		}
		table->global_relid[table->global_count++] = index;
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	table_close(depends, AccessShareLock);
	qsort(table->global_relid, table->global_count, sizeof(Oid), compare_oids);
}

/* Raises KV005: the table has no index of that name. */
pg_noreturn static void
refuse_name(const KvTable *table, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_NOT_A_TABLE),
			 errmsg("table \"%s\" has no index \"%s\"", get_rel_name(table->relid), name),
			 errhint("kv.indexes lists the indexes.")));
}

/* Finds an index of the table by name. */
const KvIndex *
kv_table_find_index(const KvTable *table, text *name, Oid *global)
{
	char	   *wanted = text_to_cstring(name);

	*global = InvalidOid;
	for (int i = 0; i < table->global_count; i++)
	{
		char	   *found = get_rel_name(table->global_relid[i]);

		if (found != NULL && strcmp(found, wanted) == 0)
		{
			*global = table->global_relid[i];
			return NULL;
		}
	}
	for (int i = 0; i < table->local_count; i++)
	{
		char	   *found = get_rel_name(table->local[i].relid);

		if (found != NULL && strcmp(found, wanted) == 0)
			return &table->local[i];
	}
	refuse_name(table, wanted);
}

/* Tells whether two keys of one item in an index are the same. */
bool
kv_table_same_index_key(const KvIndex *index, const Datum *a, const Datum *b)
{
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY &&
			kv_key_compare(index->key.attribute[i].type, a[i], b[i]) != 0)
			return false;
	return true;
}

/* Returns the name of a projection type. */
const char *
kv_table_projection_name(KvProjectionType projection)
{
	switch (projection)
	{
		case KV_PROJECT_ALL:
			return "ALL";
		case KV_PROJECT_KEYS_ONLY:
			return "KEYS_ONLY";
		case KV_PROJECT_INCLUDE:
			return "INCLUDE";
	}
	elog(ERROR, "unknown projection %d", (int) projection);
}

/* No snapshot is so old, in transactions, that it does not see one of so long ago. */
#define LONG_AGO 1000000000

/* Tells whether the active snapshot sees the transaction that the index is filled since. */
static bool
is_filled_before_snapshot(const KvIndex *index)
{
	TransactionId filled = XidFromFullTransactionId(index->filled);
	uint64		next = U64FromFullTransactionId(ReadNextFullTransactionId());

	return !ActiveSnapshotSet() || next - U64FromFullTransactionId(index->filled) > LONG_AGO ||
		TransactionIdIsCurrentTransactionId(filled) || !XidInMVCCSnapshot(filled, GetActiveSnapshot());
}

/*
 * Raises KV012 unless the index can be read.
 *
 * What was filled by transactions behind the active snapshot is not there for
 * it, all or in part.  It is asked once: a session's later snapshots see more.
 */
void
kv_table_check_ready(const KvTable *index)
{
	if (likely(index->index->not_ready == NULL))
	{
		if (likely(!FullTransactionIdIsValid(index->index->filled)))
			return;
		if (!is_filled_before_snapshot(index->index))
			ereport(ERROR,
					(errcode(ERRCODE_KV_INDEX_NOT_READY),
					 errmsg("index \"%s\" is not ready", get_rel_name(index->index->relid)),
					 errdetail("It was filled after the snapshot of this transaction was taken."),
					 errhint("Read it in a new transaction.")));
		((KvIndex *) index->index)->filled = InvalidFullTransactionId;
		return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_KV_INDEX_NOT_READY),
			 errmsg("index \"%s\" is not ready", get_rel_name(index->index->relid)),
			 errdetail_internal("%s", index->index->not_ready),
			 errhint("Wait for it with kv.wait_for_index; without a worker, which takes key_value in shared_preload_libraries, kv.apply_changes() fills it.")));
}

/* Tells whether a leaf of the table has other triggers than those of indexes. */
bool
kv_table_has_foreign_triggers(const KvTable *table, const TriggerDesc *triggers)
{
	if (triggers == NULL)
		return false;
	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (table->index != NULL ? trigger->tgfoid != table->index->trigger_function :
			trigger->tgfoid != table->capture_function || trigger->tgenabled != TRIGGER_FIRES_ALWAYS)
			return true;
	}
	return false;
}

/* Tells whether the rows come from COPY or logical replication, which write what they find and cannot know better. */
static bool
is_copied(void)
{
	return IsLogicalWorker() || (ActivePortal != NULL && ActivePortal->commandTag == CMDTAG_COPY);
}

/* Raises the error for a write to an index's table. */
pg_noreturn static void
refuse_write(Relation relation)
{
	const KvTable *table = kv_table_lookup(RelationGetRelid(relation));

	ereport(ERROR,
			(errcode(ERRCODE_KV_NOT_A_TABLE),
			 errmsg("\"%s\" belongs to an index and cannot be written to",
					table && table->is_leaf ? get_rel_name(table->root_relid) : RelationGetRelationName(relation)),
			 table && table->index ?
			 errhint("Write to table \"%s\"; its indexes follow.", get_rel_name(table->index->base_relid)) : 0));
}

/* Tells whether the index is being kept by this session; what a trigger on another one does meanwhile is not that. */
static bool
is_being_kept(Relation relation)
{
	const KvTable *table;

	if (!OidIsValid(kv_table_written_index))
		return false;
	table = kv_table_lookup(RelationGetRelid(relation));
	return table != NULL && table->index != NULL && table->index->relid == kv_table_written_index;
}

/*
 * The trigger function of index tables: the guard.
 *
 * The index is written from its base table alone.  Rows that come with COPY
 * (a restored dump whose tables were there already) or by logical
 * replication are left out without an error: the base table's rows come the
 * same way and bring the index's with them.
 */
Datum
kv_table_index_trigger(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("kv.global_index() is a trigger function")));
	if (!TRIGGER_FIRED_BEFORE(data->tg_event) || !TRIGGER_FIRED_FOR_ROW(data->tg_event))
		return PointerGetDatum(NULL);
	if (is_being_kept(data->tg_relation))
		return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple);
	if (is_copied())
		return PointerGetDatum(NULL);
	refuse_write(data->tg_relation);
}
