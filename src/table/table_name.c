/*
 * table_name.c
 *	  Names as users write them: parsed and checked, never truncated.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "parser/scansup.h"
#include "utils/builtins.h"

#include "base/errors.h"
#include "table/table_internal.h"

#define MAX_NAME_PARTS 3		/* database, schema, relation */

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
