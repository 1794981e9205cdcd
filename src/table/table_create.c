/*
 * table_create.c
 *	  kv.create_table and kv.drop_table.
 *
 * A key-value table is built of standard things by ordinary DDL, run with the
 * caller's rights: a table partitioned by hash, a primary key, a check
 * constraint, and leaves that use our access method.  Whatever works on
 * tables works on it.  All names in the DDL are qualified and quoted, so the
 * search_path has no say in what they mean.
 */
#include "postgres.h"

#include "access/attnum.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "table/table_internal.h"

/* What the DDL is made from, checked. */
typedef struct TableDefinition
{
	Oid			namespace_oid;
	char	   *schema_name;
	char	   *table_name;
	char	   *qualified_name; /* quoted, for use in SQL */
	KvKeySchema key;
	int			partitions;
} TableDefinition;

/* Returns the key type named by one of DynamoDB's letters. */
KvKeyType
kv_table_check_key_type(const char *argument, text *letter)
{
	char	   *value;

	if (letter == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must not be null", argument)));
	value = text_to_cstring(letter);
	if (strcmp(value, "S") == 0)
		return KV_KEY_STRING;
	if (strcmp(value, "N") == 0)
		return KV_KEY_NUMBER;
	if (strcmp(value, "B") == 0)
		return KV_KEY_BINARY;
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("invalid %s \"%s\"", argument, value),
			 errhint("A key attribute is of type S (string), N (number) or B (binary).")));
}

/* Checks one key attribute and adds it to the key. */
void
kv_table_add_key_attribute(KvKeySchema *key, const char *what, text *name, KvKeyType type)
{
	KvKeyAttribute *attribute = &key->attribute[key->count];
	char	   *value = text_to_cstring(name);

	kv_table_check_attribute_name(what, value, strlen(value));
	if (key->count > 0 && strcmp(value, key->attribute[0].name) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("partition key and sort key must not both be called \"%s\"", value)));

	strlcpy(attribute->name, value, sizeof(attribute->name));
	attribute->name_length = strlen(value);
	attribute->type = type;
	key->count++;
}

/*
 * Chooses the schema as CREATE TABLE does, and checks that the name is free there.
 *
 * The lock lets one session at a time create key-value tables in a schema, so
 * that of two who create the same one the second learns that it exists, not
 * that some index of the catalogs has a duplicate.  Plain DDL does not wait.
 */
static void
choose_schema(TableDefinition *definition, text *table_name)
{
	RangeVar   *name = kv_table_parse_name(table_name);

	if (name->catalogname != NULL &&
		strcmp(name->catalogname, get_database_name(MyDatabaseId)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("table name \"%s\" names another database", text_to_cstring(table_name))));
	if (name->schemaname != NULL && strcmp(name->schemaname, "pg_temp") != 0 &&
		!OidIsValid(get_namespace_oid(name->schemaname, true)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("schema \"%s\" does not exist", name->schemaname),
				 errhint("Create it with CREATE SCHEMA first.")));

	definition->namespace_oid = RangeVarGetAndCheckCreationNamespace(name, NoLock, NULL);
	LockDatabaseObject(NamespaceRelationId, definition->namespace_oid, 0, ShareUpdateExclusiveLock);
	definition->schema_name = get_namespace_name(definition->namespace_oid);
	definition->table_name = name->relname;
	definition->qualified_name = quote_qualified_identifier(definition->schema_name, name->relname);
	kv_table_lock_name(definition->namespace_oid, name->relname);
	if (OidIsValid(get_relname_relid(name->relname, definition->namespace_oid)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_RESOURCE_IN_USE),
				 errmsg("relation \"%s\" already exists in schema \"%s\"",
						definition->table_name, definition->schema_name)));
}

/* Checks all arguments of kv.create_table. */
static void
check_request(const KvCreateTable *request, TableDefinition *definition)
{
	KvKeyType	partition_key_type;
	KvKeyType	sort_key_type;

	if (request->table_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("table_name must not be null")));
	if (request->partition_key == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("partition_key must not be null")));

	partition_key_type = kv_table_check_key_type("partition_key_type", request->partition_key_type);
	sort_key_type = kv_table_check_key_type("sort_key_type", request->sort_key_type);
	kv_table_add_key_attribute(&definition->key, "partition key", request->partition_key, partition_key_type);
	if (request->sort_key != NULL)
		kv_table_add_key_attribute(&definition->key, "sort key", request->sort_key, sort_key_type);

	definition->partitions = request->partitions;
	if (request->partitions < KV_MIN_PARTITIONS || request->partitions > KV_MAX_PARTITIONS)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("number of partitions %d is out of range", request->partitions),
				 errhint("A table has %d to %d partitions; 16 suit most.",
						 KV_MIN_PARTITIONS, KV_MAX_PARTITIONS)));

	choose_schema(definition, request->table_name);
}

/* Runs one DDL command. */
static void
run_command(const char *command)
{
	int			result = SPI_execute(command, false, 0);

	if (result != SPI_OK_UTILITY)
		elog(ERROR, "SPI_execute returned %s for \"%s\"", SPI_result_code_string(result), command);
}

/* Returns the SQL type of a key column, collation included. */
const char *
kv_table_key_column_type(KvKeyType type)
{
	switch (type)
	{
		case KV_KEY_STRING:
			return "pg_catalog.text COLLATE pg_catalog.\"C\"";
		case KV_KEY_NUMBER:
			return "pg_catalog.\"numeric\"";
		case KV_KEY_BINARY:
			return "pg_catalog.bytea";
	}
	elog(ERROR, "unrecognized key type: %d", (int) type);
}

/* Returns the operator class that partitions by a key type. */
const char *
kv_table_key_operator_class(KvKeyType type)
{
	switch (type)
	{
		case KV_KEY_STRING:
			return "kv.xxh3_text_ops";
		case KV_KEY_NUMBER:
			return "kv.xxh3_numeric_ops";
		case KV_KEY_BINARY:
			return "kv.xxh3_bytea_ops";
	}
	elog(ERROR, "unrecognized key type: %d", (int) type);
}

/* Returns the key columns, quoted and separated by commas. */
static char *
key_column_list(const KvKeySchema *key)
{
	StringInfoData list;
	int			i;

	initStringInfo(&list);
	for (i = 0; i < key->count; i++)
		appendStringInfo(&list, "%s%s", i == 0 ? "" : ", ",
						 quote_identifier(kv_table_column_name(key->attribute[i].name)));
	return list.data;
}

/* Creates the partitioned table. */
static void
create_root(const TableDefinition *definition)
{
	const KvKeySchema *key = &definition->key;
	StringInfoData command;
	int			i;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE TABLE %s (", definition->qualified_name);
	for (i = 0; i < key->count; i++)
		appendStringInfo(&command, "%s %s NOT NULL, ",
						 quote_identifier(kv_table_column_name(key->attribute[i].name)),
						 kv_table_key_column_type(key->attribute[i].type));
	appendStringInfo(&command, "%s pg_catalog.jsonb NOT NULL DEFAULT '{}'::pg_catalog.jsonb, ",
					 KV_ITEM_COLUMN);
	appendStringInfo(&command, "PRIMARY KEY (%s), ", key_column_list(key));
	appendStringInfo(&command, "CONSTRAINT %s CHECK (kv.check_item(tableoid, %s, %s))) ",
					 quote_identifier(makeObjectName(definition->table_name, KV_ITEM_COLUMN, "check")),
					 KV_ITEM_COLUMN, key_column_list(key));
	appendStringInfo(&command, "PARTITION BY HASH (%s %s)",
					 quote_identifier(kv_table_column_name(key->attribute[0].name)),
					 kv_table_key_operator_class(key->attribute[0].type));
	run_command(command.data);
	pfree(command.data);
	for (i = 0; i < key->count; i++)
	{
		char	   *note = kv_table_note_attribute_command(definition->qualified_name, key->attribute[i].name);

		if (note)
			run_command(note);
	}
}

/*
 * Creates the leaves, named after the table and numbered with leading zeros,
 * so that they sort.
 */
static void
create_leaves(const TableDefinition *definition)
{
	int			width = snprintf(NULL, 0, "%d", definition->partitions - 1);
	int			i;

	for (i = 0; i < definition->partitions; i++)
	{
		char		label[16];
		char	   *leaf_name;
		char	   *command;

		CHECK_FOR_INTERRUPTS();
		snprintf(label, sizeof(label), "p%0*d", width, i);
		leaf_name = ChooseRelationName(definition->table_name, NULL, label,
									   definition->namespace_oid, false);
		command = psprintf("CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d) USING %s",
						   quote_qualified_identifier(definition->schema_name, leaf_name),
						   definition->qualified_name,
						   definition->partitions, i, KV_ACCESS_METHOD);
		run_command(command);
		pfree(command);
		pfree(leaf_name);
	}
}

/* Creates a key-value table as described and returns its OID. */
Oid
kv_table_create(const KvCreateTable *request)
{
	TableDefinition definition = {0};
	Oid			relid;

	PreventCommandIfReadOnly("kv.create_table()");
	check_request(request, &definition);

	SPI_connect();
	create_root(&definition);
	create_leaves(&definition);
	SPI_finish();

	relid = get_relname_relid(definition.table_name, definition.namespace_oid);
	if (!OidIsValid(relid))
		elog(ERROR, "could not find relation %s after its creation", definition.qualified_name);
	return relid;
}

/* Returns the name of a relation, qualified and quoted. */
static char *
qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));
}

/*
 * Locks a table that is to be dropped.
 *
 * Ownership is checked before the lock, as DROP TABLE does, lest anybody could
 * lock out the table's users.
 */
void
kv_table_lock_to_drop(Oid relid)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!kv_compat_owns_relation(relid, GetUserId()) &&
		!kv_compat_owns_schema(get_rel_namespace(relid), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)), name);

	/* A standby cannot even take the lock. */
	PreventCommandIfReadOnly("kv.drop_table()");
	LockRelationOid(relid, AccessExclusiveLock);
}

/* Drops a key-value table, and its indexes. */
void
kv_table_drop(Oid relid)
{
	StringInfoData command;
	KvTable    *table;

	kv_table_lock_to_drop(relid);
	table = kv_table_lookup(relid);
	if (table == NULL || table->is_leaf || table->index != NULL)
		kv_table_refuse(relid, table);

	/* It may have been renamed while we waited for the lock. */
	initStringInfo(&command);
	appendStringInfo(&command, "DROP TABLE %s", qualified_name(relid));
	for (int i = 0; i < table->global_count; i++)
		if (get_rel_name(table->global_relid[i]) != NULL)
			appendStringInfo(&command, ", %s", qualified_name(table->global_relid[i]));
	SPI_connect();
	run_command(command.data);
	SPI_finish();
}
