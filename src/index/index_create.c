/*
 * index_create.c
 *	  kv.create_global_index.
 *
 * As with tables everything is made by ordinary DDL of standard objects, with
 * the caller's rights; what they are is said in table_index.c.  When all is
 * made, the base table is locked against writers until the transaction ends,
 * so that whoever writes afterwards knows of the index; the lock is asked for
 * in turns (index_lock.c).
 * An index of a table without items is filled at once, another one later by a
 * worker.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_create.h"

/* A base table of more pages than these is not looked through for items before it counts as not empty. */
#define MAX_LOOK_PAGES 100

/* What is done to tables and triggers here puts nothing in doubt. */
bool		kv_index_is_creating = false;

/* Raises an error if a name is taken by a relation of the schema. */
static void
check_name_is_free(const char *name, Oid schema)
{
	if (!OidIsValid(get_relname_relid(name, schema)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_KV_RESOURCE_IN_USE),
			 errmsg("relation \"%s\" already exists in schema \"%s\"", name, get_namespace_name(schema)),
			 errhint("An index is a relation beside its table: choose another name.")));
}

/* Raises an error unless the current user owns the table. */
static void
check_owner(Oid relid)
{
	if (!kv_compat_owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)), get_rel_name(relid));
}

/* Returns the projection that a letter names. */
static KvProjectionType
read_projection(text *argument)
{
	char	   *value = argument ? text_to_cstring(argument) : "ALL";

	if (strcmp(value, "ALL") == 0)
		return KV_PROJECT_ALL;
	if (strcmp(value, "KEYS_ONLY") == 0)
		return KV_PROJECT_KEYS_ONLY;
	if (strcmp(value, "INCLUDE") == 0)
		return KV_PROJECT_INCLUDE;
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("invalid projection \"%s\"", value),
			 errhint("Use ALL, KEYS_ONLY or INCLUDE.")));
}

/* Tells whether a schema has an attribute of that name, and where. */
static int
find_attribute(const KvKeySchema *key, const char *name)
{
	for (int i = 0; i < key->count; i++)
		if (strcmp(key->attribute[i].name, name) == 0)
			return i;
	return -1;
}

/* Raises an error if an attribute cannot be included after others; base NULL: the table's key is not known as yet. */
static void
check_include(const char *name, const KvKeySchema *key, const KvKeySchema *base, char *const *others, int count)
{
	if (*name == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("an attribute in include must not be empty")));
	if (find_attribute(key, name) >= 0 || (base && find_attribute(base, name) >= 0))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("key attribute \"%s\" must not be in include", name),
				 errdetail("The keys of table and index are always projected.")));
	for (int i = 0; i < count; i++)
		if (strcmp(others[i], name) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("attribute \"%s\" is in include twice", name)));
}

/* Reads projection and include, as far as keys do not matter; returns the projection. */
static KvProjectionType
check_projection(const KvCreateIndex *request, Datum **names, bool **nulls, int *count)
{
	KvProjectionType projection = read_projection(request->projection);

	*count = 0;
	if (request->include)
		deconstruct_array(request->include, TEXTOID, -1, false, TYPALIGN_INT, names, nulls, count);
	if (projection != KV_PROJECT_INCLUDE && *count > 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("include is given without projection INCLUDE")));
	if (projection == KV_PROJECT_INCLUDE && *count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("projection INCLUDE needs the attributes to be included")));
	if (*count > KV_MAX_INCLUDE)
		ereport(ERROR,
				(errcode(ERRCODE_KV_LIMIT_EXCEEDED),
				 errmsg("include names %d attributes", *count),
				 errdetail("An index includes at most %d.", KV_MAX_INCLUDE)));
	return projection;
}

/* Reads projection and include; returns how many attributes are included. */
static int
read_projected(const KvCreateIndex *request, const KvKeySchema *key, const KvKeySchema *base,
			   KvProjectionType *projection, char ***include)
{
	Datum	   *names = NULL;
	bool	   *nulls = NULL;
	int			count;

	*projection = check_projection(request, &names, &nulls, &count);
	*include = palloc(sizeof(char *) * Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("an attribute in include must not be null")));
		(*include)[i] = TextDatumGetCString(names[i]);
		check_include((*include)[i], key, base, *include, i);
	}
	return count;
}

/* Raises an error if the projection of a request cannot be. */
void
kv_index_check_projection(const KvCreateIndex *request, const KvKeySchema *key, const KvKeySchema *base)
{
	KvProjectionType projection;
	char	  **include;

	(void) read_projected(request, key, base, &projection, &include);
}

/* Raises an error if an attribute is a key of another index, with another type. */
static void
check_same_type(const KvNewIndex *new, const KvIndex *other, const KvKeyAttribute *attribute)
{
	int			found = find_attribute(&other->key, attribute->name);

	if (found >= 0 && other->key.attribute[found].type != attribute->type)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("attribute \"%s\" is of type %c in index \"%s\", not %c", attribute->name,
						(char) other->key.attribute[found].type, get_rel_name(other->relid),
						(char) attribute->type),
				 errdetail("A key attribute has one type in all indexes of a table.")));
}

/* Adds an attribute to the index key; letter NULL: that of the table's key, else S. */
static void
add_key(KvNewIndex *new, const char *what, const char *argument, text *name, text *letter)
{
	const KvTable *base = new->base;
	KvKeyAttribute *attribute = &new->key.attribute[new->key.count];
	int			base_key = find_attribute(&base->key, text_to_cstring(name));
	KvKeyType	type = letter ? kv_table_check_key_type(argument, letter) :
		base_key >= 0 ? base->key.attribute[base_key].type : KV_KEY_STRING;

	new->base_key[new->key.count] = base_key >= 0 ? base_key : KV_NOT_BASE_KEY;
	kv_table_add_key_attribute(&new->key, what, name, type);
	if (base_key >= 0 && base->key.attribute[base_key].type != type)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s \"%s\" is of type %c in table \"%s\", not %c", what, attribute->name,
						(char) base->key.attribute[base_key].type, get_rel_name(base->relid), (char) type)));
	for (int i = 0; i < base->global_count; i++)
	{
		const KvTable *other = kv_table_lookup(base->global_relid[i]);

		if (other != NULL && other->usable && other->index != NULL)
			check_same_type(new, other->index, attribute);
	}
	for (int i = 0; i < base->local_count; i++)
		check_same_type(new, &base->local[i], attribute);
}

/* Begins a definition: opens the table and checks who asks, and the name. */
void
kv_create_begin(KvNewIndex *new, const KvCreateIndex *request, const char *function)
{
	memset(new, 0, sizeof(KvNewIndex));
	PreventCommandIfReadOnly(function);
	PreventCommandIfParallelMode(function);
	if (request->index_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("index_name must not be null")));
	new->name = text_to_cstring(request->index_name);
	kv_table_check_identifier("index name", new->name, strlen(new->name));

	new->base = kv_table_open(request->table, AccessShareLock);
	check_owner(request->table);
	new->schema = get_rel_namespace(request->table);
	kv_table_lock_name(new->schema, new->name);
	check_name_is_free(new->name, new->schema);
	new->qualified_name = quote_qualified_identifier(get_namespace_name(new->schema), new->name);
	new->base_name = quote_qualified_identifier(get_namespace_name(new->schema), get_rel_name(request->table));
}

/* Raises an error if a command of this session that is not at its end uses the relation: it knows of no new index. */
static void
check_not_in_use(Oid relid)
{
	Relation	relation = table_open(relid, NoLock);

	CheckTableNotInUse(relation, "CREATE INDEX");
	table_close(relation, NoLock);
}

/* Locks the table with its partitions until the transaction ends, and looks at it again. */
void
kv_create_lock(KvNewIndex *new, LOCKMODE lockmode)
{
	Oid			relid = new->base->relid;

	if (!kv_index_lock_with_partitions(relid, lockmode, KV_ANY_TURNS))
		elog(ERROR, "could not lock relation %u", relid);
	new->base = kv_table_open(relid, AccessShareLock);
	check_not_in_use(relid);
	for (int i = 0; new->base->partitioned && i < new->base->leaf_count; i++)
		check_not_in_use(new->base->leaf_relid[i]);
}

/* Raises an error if the table has as many global indexes as it may have. */
static void
check_count(const KvTable *base, int count)
{
	if (count <= KV_MAX_GLOBAL_INDEXES)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_KV_LIMIT_EXCEEDED),
			 errmsg("table \"%s\" has %d global indexes already", get_rel_name(base->relid), count - 1),
			 errdetail("A table has at most %d.", KV_MAX_GLOBAL_INDEXES)));
}

/* Reads the index key of a global index. */
static void
read_global_key(KvNewIndex *new, const KvCreateIndex *request)
{
	if (request->partition_key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("partition_key must not be null")));
	add_key(new, "partition key", "partition_key_type", request->partition_key, request->partition_key_type);
	if (request->sort_key)
		add_key(new, "sort key", "sort_key_type", request->sort_key, request->sort_key_type);
}

/* Reads the sort key of a local index. */
void
kv_create_read_local_key(KvNewIndex *new, const KvCreateIndex *request)
{
	if (request->sort_key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("sort_key must not be null")));
	new->key.count = 0;
	add_key(new, "sort key", "sort_key_type", request->sort_key, request->sort_key_type);
	if (new->base_key[0] != KV_NOT_BASE_KEY)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("sort key \"%s\" is a key of table \"%s\"", new->key.attribute[0].name,
						get_rel_name(new->base->relid)),
				 errhint("A local index orders a collection by another attribute.")));
	new->include_count = read_projected(request, &new->key, &new->base->key, &new->projection, &new->include);
}

/* Raises an error if items of the table do not last, or are another session's. */
static void
check_persistence(const KvTable *base)
{
	for (int i = 0; i < base->leaf_count; i++)
		if (get_rel_persistence(base->leaf_relid[i]) != RELPERSISTENCE_PERMANENT)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("global indexes are not supported on temporary or unlogged table \"%s\"",
							get_rel_name(base->relid))));
}

/* Runs one DDL command. */
void
kv_create_run(const char *command)
{
	int			result = SPI_execute(command, false, 0);

	if (result < 0)
		elog(ERROR, "SPI_execute returned %s for \"%s\"", SPI_result_code_string(result), command);
}

/* Appends the columns of the primary key and returns their origins, as in the defining trigger. */
static char *
append_columns(const KvNewIndex *new, StringInfo columns, StringInfo names)
{
	const KvTable *base = new->base;
	StringInfoData origin;
	int			found = 0;

	initStringInfo(&origin);
	for (int i = 0; i < new->key.count; i++)
	{
		const KvKeyAttribute *attribute = &new->key.attribute[i];

		appendStringInfo(columns, "%s %s NOT NULL, ", quote_identifier(kv_table_column_name(attribute->name)),
						 kv_table_key_column_type(attribute->type));
		appendStringInfo(names, "%s%s", i == 0 ? "" : ", ", quote_identifier(kv_table_column_name(attribute->name)));
		appendStringInfoChar(&origin, new->base_key[i] == KV_NOT_BASE_KEY ? 'a' : '0' + new->base_key[i]);
		if (new->base_key[i] != KV_NOT_BASE_KEY)
			found |= 1 << new->base_key[i];
	}
	appendStringInfoChar(&origin, '/');
	for (int i = 0; i < base->key.count; i++)
	{
		const KvKeyAttribute *attribute = &base->key.attribute[i];

		if (found & (1 << i))
			continue;
		appendStringInfo(columns, "%s %s NOT NULL, ", quote_identifier(kv_table_column_name(attribute->name)),
						 kv_table_key_column_type(attribute->type));
		appendStringInfo(names, ", %s", quote_identifier(kv_table_column_name(attribute->name)));
		appendStringInfoChar(&origin, '0' + i);
	}
	return origin.data;
}

/* Creates the leaves of the index table, as many as the base table has. */
static void
create_leaves(const KvNewIndex *new)
{
	int			count = Max(new->base->leaf_count, 1);
	int			width = snprintf(NULL, 0, "%d", count - 1);

	for (int i = 0; i < count; i++)
	{
		char		label[16];

		CHECK_FOR_INTERRUPTS();
		snprintf(label, sizeof(label), "p%0*d", width, i);
		kv_create_run(psprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d) USING key_value",
							   quote_qualified_identifier(get_namespace_name(new->schema),
														  ChooseRelationName(new->name, NULL, label, new->schema, false)),
							   new->qualified_name, count, i));
	}
}

/* Creates the triggers that define and guard the index. */
static void
create_definition(const KvNewIndex *new, const char *origin)
{
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE CONSTRAINT TRIGGER kv_index AFTER UPDATE OF item ON %s FROM %s "
					 "NOT DEFERRABLE FOR EACH ROW WHEN (false) EXECUTE FUNCTION kv.global_index('%s', '%s'",
					 new->qualified_name, new->base_name, kv_table_projection_name(new->projection), origin);
	for (int i = 0; i < new->include_count; i++)
		appendStringInfo(&command, ", %s", quote_literal_cstr(new->include[i]));
	appendStringInfoChar(&command, ')');
	kv_create_run(command.data);

	kv_create_run(psprintf("CREATE TRIGGER kv_guard BEFORE INSERT OR UPDATE OR DELETE ON %s "
						   "FOR EACH ROW EXECUTE FUNCTION kv.global_index()", new->qualified_name));
	kv_create_run(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER kv_guard", new->qualified_name));
}

/* Notes the names of key attributes where columns cannot have them. */
static void
note_attributes(const KvNewIndex *new)
{
	for (int i = 0; i < new->key.count + new->base->key.count; i++)
	{
		const KvKeyAttribute *attribute = i < new->key.count ? &new->key.attribute[i] :
			&new->base->key.attribute[i - new->key.count];
		char	   *note = kv_table_note_attribute_command(new->qualified_name, attribute->name);

		if (note)
			kv_create_run(note);
	}
}

/* Creates the index table. */
static void
create_index_table(const KvNewIndex *new)
{
	StringInfoData columns;
	StringInfoData names;
	char	   *origin;

	initStringInfo(&columns);
	initStringInfo(&names);
	origin = append_columns(new, &columns, &names);
	kv_create_run(psprintf("CREATE TABLE %s (%sitem pg_catalog.jsonb NOT NULL DEFAULT '{}'::pg_catalog.jsonb, "
						   "PRIMARY KEY (%s)) PARTITION BY HASH (%s %s)",
						   new->qualified_name, columns.data, names.data,
						   quote_identifier(kv_table_column_name(new->key.attribute[0].name)),
						   kv_table_key_operator_class(new->key.attribute[0].type)));
	note_attributes(new);
	create_leaves(new);
	create_definition(new, origin);
}

/* Tells whether the table has the capture trigger for its rows, or the one for TRUNCATE. */
static bool
has_capture(Oid relid, bool for_rows)
{
	Relation	relation = table_open(relid, AccessShareLock);
	TriggerDesc *triggers = CopyTriggerDesc(relation->trigdesc);
	bool		found = false;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers && !found; i++)
		found = kv_table_is_capture(triggers->triggers[i].tgfoid) &&
			for_rows == (TRIGGER_FOR_ROW(triggers->triggers[i].tgtype) != 0);
	table_close(relation, AccessShareLock);
	return found;
}

/* Creates the triggers that capture changes of the base table, as far as it has not got them. */
static void
create_capture(const KvNewIndex *new)
{
	if (!has_capture(new->base->relid, true))
	{
		kv_create_run(psprintf("CREATE TRIGGER kv_capture AFTER INSERT OR UPDATE OR DELETE ON %s "
							   "FOR EACH ROW EXECUTE FUNCTION kv.capture_change()", new->base_name));
		kv_create_run(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER kv_capture", new->base_name));
	}
	if (!has_capture(new->base->relid, false))
	{
		kv_create_run(psprintf("CREATE TRIGGER kv_capture_truncate AFTER TRUNCATE ON %s "
							   "FOR EACH STATEMENT EXECUTE FUNCTION kv.capture_change()", new->base_name));
		kv_create_run(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER kv_capture_truncate", new->base_name));
	}
}

/* The role that aclexplode() names, as GRANT takes it. */
#define GRANTEE \
	"CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE a.grantee::pg_catalog.regrole::pg_catalog.text END"

/* Gives those who may read the whole table the right to read the index, and nobody else. */
static void
copy_rights(const KvNewIndex *new, Oid index)
{
	/* operators are qualified lest the search path put others in their place */
	static const char *const query =
	"SELECT pg_catalog.format('REVOKE ALL ON %%s FROM %%s', c.oid::pg_catalog.regclass, " GRANTEE ") "
	"FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a "
	"WHERE c.oid OPERATOR(pg_catalog.=) %1$s AND a.grantee OPERATOR(pg_catalog.<>) c.relowner "
	"UNION ALL "
	"SELECT pg_catalog.format('GRANT SELECT ON %%s TO %%s', %1$s::pg_catalog.regclass, " GRANTEE ") "
	"FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a "
	"WHERE c.oid OPERATOR(pg_catalog.=) %2$s AND a.privilege_type OPERATOR(pg_catalog.=) 'SELECT' "
	"AND a.grantee OPERATOR(pg_catalog.<>) c.relowner";
	char	  **commands;
	uint64		count;

	if (SPI_execute(psprintf(query, psprintf("%u", index), psprintf("%u", new->base->relid)), false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the rights of relation %u", new->base->relid);
	count = SPI_processed;
	commands = palloc(sizeof(char *) * Max(count, 1));
	for (uint64 i = 0; i < count; i++)
		commands[i] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
	for (uint64 i = 0; i < count; i++)
		kv_create_run(commands[i]);
}

/* Gives the index the owner, the rights and the row security of its table. */
static void
copy_security(const KvNewIndex *new, Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(new->base->relid));
	FormData_pg_class form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", new->base->relid);
	form = *(Form_pg_class) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);

	copy_rights(new, index);
	if (form.relrowsecurity)
		kv_create_run(psprintf("ALTER TABLE %s ENABLE ROW LEVEL SECURITY", new->qualified_name));
	if (form.relforcerowsecurity)
		kv_create_run(psprintf("ALTER TABLE %s FORCE ROW LEVEL SECURITY", new->qualified_name));
	if (form.relowner != GetUserId())
	{
		const KvTable *table = kv_table_lookup(index);

		for (int i = 0; i < table->leaf_count; i++)
			ATExecChangeOwner(table->leaf_relid[i], form.relowner, true, AccessExclusiveLock);
		ATExecChangeOwner(index, form.relowner, true, AccessExclusiveLock);
		CommandCounterIncrement();
	}
}

/* Tells whether the table has no items, as far as that is easy to find out. */
static bool
is_empty(const KvTable *base)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	bool		empty = true;

	for (int i = 0; i < base->leaf_count && empty; i++)
	{
		Relation	leaf = table_open(base->leaf_relid[i], AccessShareLock);
		BlockNumber pages = RelationGetNumberOfBlocks(leaf);

		if (pages > MAX_LOOK_PAGES)
			empty = false;
		else if (pages > 0)
		{
			TupleTableSlot *slot = table_slot_create(leaf, NULL);
			TableScanDesc scan = table_beginscan(leaf, snapshot, 0, NULL);

			empty = !table_scan_getnextslot(scan, ForwardScanDirection, slot);
			table_endscan(scan);
			ExecDropSingleTupleTableSlot(slot);
		}
		table_close(leaf, NoLock);
	}
	UnregisterSnapshot(snapshot);
	return empty;
}

/* Notes the state that the new index begins in. */
static void
begin_state(const KvNewIndex *new, Oid relid)
{
	KvTable    *index = kv_table_open_index(relid, AccessShareLock);
	KvStateRow	row = {0};

	kv_backfill_record_dependency(relid, new->base->relid);
	row.index = relid;
	row.base = new->base->relid;
	row.fingerprint = index->index->fingerprint;
	row.state = is_empty(new->base) ? KV_INDEX_ACTIVE : KV_INDEX_BACKFILLING;
	row.filled = GetTopFullTransactionId();
	(void) kv_state_write(&row, true, true);
	kv_index_note_made(relid);
	if (row.state == KV_INDEX_BACKFILLING)
		kv_index_wake_at_commit();
}

/* Creates a global index. */
Oid
kv_index_create_global(const KvCreateIndex *request)
{
	KvNewIndex	new;
	Oid			relid = InvalidOid;
	bool		was_creating = kv_index_is_creating;

	kv_create_begin(&new, request, "kv.create_global_index()");
	check_persistence(new.base);
	check_count(new.base, new.base->global_count + 1);
	read_global_key(&new, request);
	new.include_count = read_projected(request, &new.key, &new.base->key, &new.projection, &new.include);

	kv_index_is_creating = true;
	PG_TRY();
	{
		SPI_connect();
		create_index_table(&new);
		relid = get_relname_relid(new.name, new.schema);
		copy_security(&new, relid);
		kv_create_lock(&new, ShareRowExclusiveLock);
		create_capture(&new);
		SPI_finish();
	}
	PG_FINALLY();
	{
		kv_index_is_creating = was_creating;
	}
	PG_END_TRY();

	begin_state(&new, relid);
	new.base = kv_table_open(request->table, AccessShareLock);
	check_count(new.base, new.base->global_count);
	if (!kv_index_is_preloaded())
		ereport(NOTICE,
				(errmsg("global index \"%s\" is not kept up to date by itself", new.name),
				 errdetail("key_value is not in shared_preload_libraries, so there is no worker."),
				 errhint("Call kv.apply_changes() to bring changes to the index.")));
	return relid;
}
