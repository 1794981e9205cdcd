/*
 * dynamodb_name.c
 *	  Names of tables and indexes, between DynamoDB and PostgreSQL.
 *
 * Tables lie in the schema that key_value.dynamodb_schema names.  A table is
 * called there as DynamoDB calls it; a name of more than 63 bytes is cut and
 * gets "~" and its hash behind, "~" being no character of DynamoDB's names.
 * The whole name is in the relation's comment, where the view kv.tables finds
 * it, and dump and restore keep it.
 *
 * Indexes of different tables may share a name in DynamoDB, not in a schema.
 * An index is called as it is if that is free, else it gets a derived name,
 * and its comment says the one it has in DynamoDB.
 *
 * Source of the rules: DynamoDB Developer Guide, "Naming rules".
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "dynamodb/dynamodb.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
#define MIN_NAME_LENGTH 3		/* of what is created; PostgreSQL's own may be shorter */
#define MAX_NAME_LENGTH 255

/* How comments begin; tags of a table follow its name. */
#define TABLE_COMMENT "DynamoDB table "
#define TAGS_COMMENT " tags "
#define INDEX_COMMENT "DynamoDB index "

/* Returns the schema of the setting. */
Oid
kv_dynamodb_schema(void)
{
	return LookupExplicitNamespace(kv_guc_dynamodb_schema, true);
}

/* Checks a name of DynamoDB's and returns it. */
static char *
check_name(const char *what, text *name, int shortest)
{
	char	   *value = text_to_cstring(name);
	int			length = strlen(value);

	if (strspn(value, NAME_CHARACTERS) != length)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: "
						"Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
						kv_dynamodb_shown(value, length), what)));
	if (length < shortest || length > MAX_NAME_LENGTH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%c%s must be at least %d characters long and at most %d characters long",
						pg_toupper((unsigned char) what[0]), what + 1, shortest, MAX_NAME_LENGTH)));
	return value;
}

/* Returns the name of the relation that is to have a name of DynamoDB's. */
static char *
derive_name(const char *name)
{
	return strlen(name) < NAMEDATALEN ? pstrdup(name) : kv_table_derive_name(name);
}

/* Returns the table name that an ARN ends in, or the name itself. */
static text *
name_of_resource(text *name)
{
	char	   *value = text_to_cstring(name);
	char	   *part = strncmp(value, "arn:", 4) == 0 ? strstr(value, ":table/") : NULL;

	if (part == NULL)
		return name;
	part += strlen(":table/");
	return cstring_to_text_with_len(part, strcspn(part, "/"));
}

/* Returns the table of a TableName or ARN; InvalidOid if there is none. */
Oid
kv_dynamodb_find_table(text *name)
{
	char	   *value = check_name("tableName", name_of_resource(name), 1);
	Oid			schema = kv_dynamodb_schema();

	return OidIsValid(schema) ? get_relname_relid(derive_name(value), schema) : InvalidOid;
}

/* Returns the table of a TableName or ARN. */
Oid
kv_dynamodb_table(text *name)
{
	Oid			relid = kv_dynamodb_find_table(name);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_KV_NOT_A_TABLE),
				 errmsg("Requested resource not found: Table: %s not found",
						text_to_cstring(name_of_resource(name)))));
	return relid;
}

/* Returns the table of a TableName or ARN; errors of expressions come before that it is not there. */
Oid
kv_dynamodb_table_of(text *name, const KvExpressions *expressions)
{
	Oid			relid = kv_dynamodb_find_table(name);

	if (OidIsValid(relid))
		return relid;
	kv_expressions_check(expressions);
	return kv_dynamodb_table(name);
}

/* Returns the name of a table that is to be created. */
char *
kv_dynamodb_new_table_name(text *name, bool *derived)
{
	char	   *value = check_name("tableName", name, MIN_NAME_LENGTH);
	char	   *relation = derive_name(value);
	Oid			schema = kv_dynamodb_schema();

	if (OidIsValid(schema) && OidIsValid(get_relname_relid(relation, schema)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_RESOURCE_IN_USE),
				 errmsg("Table already exists: %s", value)));
	*derived = strcmp(relation, value) != 0;
	return quote_qualified_identifier(kv_guc_dynamodb_schema, relation);
}

/* Returns what stands behind the beginning of a relation's comment; NULL if it begins otherwise. */
static char *
comment_behind(Oid relid, const char *beginning)
{
	char	   *comment = GetComment(relid, RelationRelationId, 0);

	if (comment == NULL || strncmp(comment, beginning, strlen(beginning)) != 0)
		return NULL;
	return comment + strlen(beginning);
}

/* Returns what stands behind the beginning of a table's comment, a name and maybe tags; NULL if somebody else wrote it. */
static char *
table_comment(Oid relid)
{
	char	   *noted = comment_behind(relid, TABLE_COMMENT);
	int			length = noted ? strspn(noted, NAME_CHARACTERS) : 0;

	if (length == 0 || (noted[length] != '\0' && strncmp(noted + length, TAGS_COMMENT "{", strlen(TAGS_COMMENT "{")) != 0))
		return NULL;
	return noted;
}

/* Returns the name that DynamoDB knows a table by. */
char *
kv_dynamodb_table_name(Oid relid)
{
	char	   *relation = get_rel_name(relid);
	char	   *noted = table_comment(relid);

	if (relation == NULL || noted == NULL)
		return relation;
	noted = pnstrdup(noted, strcspn(noted, " "));
	/* a table that was renamed has its new name */
	return strcmp(derive_name(noted), relation) == 0 ? noted : relation;
}

/* Returns the tags of a table. */
Jsonb *
kv_dynamodb_tags(Oid relid)
{
	char	   *noted = table_comment(relid);

	noted = noted ? strchr(noted, ' ') : NULL;
	if (noted == NULL)
		return kv_json_empty_object();
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(noted + strlen(TAGS_COMMENT))));
}

/* Notes the name and tags of a table in its comment; one that somebody else wrote is not overwritten. */
void
kv_dynamodb_note_table(Oid relid, const char *name, Jsonb *tags)
{
	char	   *comment = GetComment(relid, RelationRelationId, 0);

	if (comment != NULL && table_comment(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("table \"%s\" has a comment of its own, where its tags would be kept", name),
				 errhint("Remove it with COMMENT ON TABLE .. IS NULL.")));
	comment = psprintf(TABLE_COMMENT "%s", name);
	if (tags && JB_ROOT_COUNT(tags) > 0)
		comment = psprintf("%s" TAGS_COMMENT "%s", comment, JsonbToCString(NULL, &tags->root, VARSIZE(tags)));
	CreateComments(relid, RelationRelationId, 0, comment);
	CommandCounterIncrement();
}

/* Notes the name of an index in its comment. */
void
kv_dynamodb_note_index(Oid relid, const char *name)
{
	CreateComments(relid, RelationRelationId, 0, psprintf(INDEX_COMMENT "%s", name));
	CommandCounterIncrement();
}

/* Returns the name that DynamoDB knows an index by. */
char *
kv_dynamodb_index_name(Oid relid)
{
	char	   *noted = comment_behind(relid, INDEX_COMMENT);

	return noted ? noted : get_rel_name(relid);
}

/* Returns the relation name of an index of a table by DynamoDB's name; NULL if there is none. */
static char *
find_index(Oid relid, const char *name)
{
	const KvTable *table = kv_table_open(relid, AccessShareLock);

	for (int i = 0; i < table->global_count + table->local_count; i++)
	{
		Oid			index = i < table->global_count ? table->global_relid[i] :
			table->local[i - table->global_count].relid;
		char	   *relation = get_rel_name(index);
		char	   *known = kv_dynamodb_index_name(index);

		if (relation && known && strcmp(known, name) == 0)
			return relation;
	}
	return NULL;
}

/* Raises an error unless an index may have the name. */
void
kv_dynamodb_check_index_name(text *name, bool is_new)
{
	(void) check_name("indexName", name, is_new ? MIN_NAME_LENGTH : 1);
}

/* Returns the relation name of an index to be created. */
char *
kv_dynamodb_new_index_name(Oid table, text *name, bool *derived)
{
	char	   *value = check_name("indexName", name, MIN_NAME_LENGTH);
	char	   *relation = derive_name(value);
	Oid			schema = get_rel_namespace(table);

	/* who creates one of this name, of this table or another, is waited for */
	kv_table_lock_name(schema, relation);
	if (find_index(table, value))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("Attempting to create an index which already exists: %s", value)));
	if (OidIsValid(get_relname_relid(relation, schema)))
		relation = derive_name(psprintf("%s~%s", get_rel_name(table), value));
	*derived = strcmp(relation, value) != 0;
	return relation;
}

/* Returns the relation name of an index of a table. */
text *
kv_dynamodb_index(Oid table, text *name)
{
	char	   *value = check_name("indexName", name, 1);
	char	   *relation = find_index(table, value);

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("The table does not have the specified index: %s", value)));
	return cstring_to_text(relation);
}
