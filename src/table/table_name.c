/*
 * table_name.c
 *	  Names as users write them: parsed and checked, never truncated.
 *
 * The name of a key attribute has up to 255 bytes and may be any.  Its column
 * has the same name where PostgreSQL can hold that, else a derived one, and
 * the attribute's name is in the column's comment.  It counts only as long as
 * the column's name is derived from it: a column that is renamed renames its
 * attribute.
 */
#include "postgres.h"

#include <xxhash.h>

#include "access/attnum.h"
#include "catalog/heap.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "commands/comment.h"
#include "common/hashfn.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "parser/scansup.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/errors.h"
#include "table/table_internal.h"

#define MAX_NAME_PARTS 3		/* database, schema, relation */
#define DERIVED_TAIL 17			/* "~" and the hash, in hexadecimal digits */
#define ATTRIBUTE_COMMENT "DynamoDB attribute "

/* Lets one session at a time create a relation of this name in a schema. */
void
kv_table_lock_name(Oid schema, const char *name)
{
	uint32		hash = hash_bytes((const unsigned char *) name, strlen(name));

	/* the object's number is no one's but 0, of the schema itself */
	LockDatabaseObject(NamespaceRelationId, schema, (uint16) (hash % PG_UINT16_MAX + 1), ShareUpdateExclusiveLock);
}

/* Raises an error for a name that PostgreSQL cannot hold; what says what is named. */
void
kv_table_check_identifier(const char *what, const char *name, int length)
{
	if (length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must not be empty", what)));
	if (length >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s \"%.*s\" is too long", what, length, name),
				 errdetail("It has %d bytes; a name in PostgreSQL has at most %d.",
						   length, NAMEDATALEN - 1)));
}

/* Raises an error for a name that no key attribute can have. */
void
kv_table_check_attribute_name(const char *what, const char *name, int length)
{
	if (length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must not be empty", what)));
	if (length > KV_MAX_KEY_NAME)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s \"%.*s\" is too long", what, length, name),
				 errdetail("It has %d bytes; the name of a key attribute has at most %d.",
						   length, KV_MAX_KEY_NAME)));
}

/* Raises the error for text that is no name. */
static void
refuse_name(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("invalid table name \"%s\"", name),
			 errhint("Write table or schema.table; quote a part that has upper case, dots or spaces with \"...\".")));
}

/* Returns one quoted part, quotes removed; *next is at the opening quote and ends behind the closing one. */
static char *
parse_quoted_part(const char *whole, const char **next)
{
	StringInfoData part;

	initStringInfo(&part);
	(*next)++;
	for (;;)
	{
		if (**next == '\0')
			refuse_name(whole);
		if (**next == '"')
		{
			(*next)++;
			if (**next != '"')
				return part.data;
		}
		appendStringInfoChar(&part, **next);
		(*next)++;
	}
}

/* Returns one unquoted part, folded to lower case as SQL does. */
static char *
parse_plain_part(const char *whole, const char **next)
{
	const char *start = *next;

	while (**next != '\0' && **next != '.' && !scanner_isspace(**next))
		(*next)++;
	if (*next == start)
		refuse_name(whole);
	return downcase_identifier(start, *next - start, false, false);
}

/*
 * Parses a possibly qualified relation name as regclass reads it.
 *
 * Unlike core's SplitIdentifierString() this truncates nothing, so a name that
 * is too long is refused instead of standing for another one.
 */
RangeVar *
kv_table_parse_name(text *name)
{
	char	   *whole = text_to_cstring(name);
	const char *next = whole;
	char	   *part[MAX_NAME_PARTS] = {NULL, NULL, NULL};
	int			parts = 0;
	bool		quoted;

	if (*whole == '\0')
		kv_table_check_identifier("table name", whole, 0);
	for (;;)
	{
		while (scanner_isspace(*next))
			next++;
		if (parts == MAX_NAME_PARTS)
			refuse_name(whole);
		quoted = (*next == '"');
		part[parts] = quoted ? parse_quoted_part(whole, &next) : parse_plain_part(whole, &next);
		kv_table_check_identifier(*next == '.' ? "schema name" : "table name",
								  part[parts], strlen(part[parts]));
		parts++;
		while (scanner_isspace(*next))
			next++;
		if (*next == '\0')
			break;
		if (*next != '.')
			refuse_name(whole);
		next++;
	}

	/* regclass reads digits as an OID and a dash as none, so such a name could not be used. */
	if (parts == 1 && !quoted &&
		(strspn(part[0], "0123456789") == strlen(part[0]) || strcmp(part[0], "-") == 0))
		refuse_name(whole);

	if (parts == 1)
		return makeRangeVar(NULL, part[0], -1);
	if (parts == 2)
		return makeRangeVar(part[0], part[1], -1);
	else
	{
		RangeVar   *qualified = makeRangeVar(part[1], part[2], -1);

		qualified->catalogname = part[0];
		return qualified;
	}
}

/* Returns a name that PostgreSQL can hold for one that it cannot. */
char *
kv_table_derive_name(const char *name)
{
	int			length = strlen(name);
	int			kept = pg_mbcliplen(name, length, NAMEDATALEN - 1 - DERIVED_TAIL);

	return psprintf("%.*s~%016llx", kept, name, (unsigned long long) XXH3_64bits(name, length));
}

/* Tells whether a name may be a derived one. */
static bool
looks_derived(const char *name)
{
	int			length = strlen(name);
	const char *tail = name + length - DERIVED_TAIL;

	return length > DERIVED_TAIL && *tail == '~' && strspn(tail + 1, "0123456789abcdef") == DERIVED_TAIL - 1;
}

/* Returns the name of the column of a key attribute. */
char *
kv_table_column_name(const char *attribute)
{
	if (strlen(attribute) >= NAMEDATALEN || strcmp(attribute, KV_ITEM_COLUMN) == 0 ||
		SystemAttributeByName(attribute) != NULL)
		return kv_table_derive_name(attribute);
	return pstrdup(attribute);
}

/* Returns the command that notes the name of a key attribute in the comment of its column. */
char *
kv_table_note_attribute_command(const char *qualified_table, const char *attribute)
{
	char	   *column = kv_table_column_name(attribute);

	if (strcmp(column, attribute) == 0)
		return NULL;
	return psprintf("COMMENT ON COLUMN %s.%s IS %s", qualified_table, quote_identifier(column),
					quote_literal_cstr(psprintf(ATTRIBUTE_COMMENT "%s", attribute)));
}

/* Returns the name that a column's comment notes, if the column's is derived from it; else NULL. */
static char *
noted_name(Oid relid, const char *column)
{
	AttrNumber	attno = get_attnum(relid, column);
	char	   *comment = attno == InvalidAttrNumber ? NULL : GetComment(relid, RelationRelationId, attno);

	if (comment == NULL || strncmp(comment, ATTRIBUTE_COMMENT, strlen(ATTRIBUTE_COMMENT)) != 0)
		return NULL;
	comment += strlen(ATTRIBUTE_COMMENT);
	return strlen(comment) <= KV_MAX_KEY_NAME && strcmp(kv_table_column_name(comment), column) == 0 ? comment : NULL;
}

/* Fills the name of a key attribute from the column that it is in. */
void
kv_table_read_attribute_name(Relation relation, AttrNumber attno, KvKeyAttribute *attribute)
{
	const char *column = NameStr(TupleDescAttr(RelationGetDescr(relation), attno - 1)->attname);
	const char *name = column;

	if (unlikely(looks_derived(column)))
	{
		Oid			relid = relation->rd_rel->relispartition ?
			get_partition_parent(RelationGetRelid(relation), true) : RelationGetRelid(relation);
		char	   *noted = noted_name(relid, column);

		name = noted ? noted : column;
	}
	strlcpy(attribute->name, name, sizeof(attribute->name));
	attribute->name_length = strlen(attribute->name);
}
