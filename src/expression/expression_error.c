/*
 * expression_error.c
 *	  The message of every error about an expression.
 *
 * They all read: invalid UpdateExpression: what is wrong; token "x", position 7.
 * The position counts characters from 1, as the person who typed it does.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

#define MAX_SHOWN_TOKEN 60		/* bytes of a token that a message repeats */

/* Returns DynamoDB's name of the request parameter. */
const char *
kv_expression_kind_name(KvExpressionKind kind)
{
	switch (kind)
	{
		case KV_EXPRESSION_CONDITION:
			return "ConditionExpression";
		case KV_EXPRESSION_FILTER:
		case KV_EXPRESSION_SCAN_FILTER:
			return "FilterExpression";
		case KV_EXPRESSION_KEY_CONDITION:
			return "KeyConditionExpression";
		case KV_EXPRESSION_PROJECTION:
			return "ProjectionExpression";
		case KV_EXPRESSION_UPDATE:
			return "UpdateExpression";
	}
	return "Expression";
}

/* Sets the message of the error being reported. */
int
kv_expression_errmsg(const KvSource *source, KvSpan span, const char *fmt,...)
{
	StringInfoData what;
	int			position = pg_mbstrlen_with_len(source->text, span.start) + 1;

	initStringInfo(&what);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, fmt);
		needed = appendStringInfoVA(&what, fmt, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&what, needed);
	}

	if (span.length == 0)
		errmsg("invalid %s: %s; token \"<EOF>\", position %d",
			   kv_expression_kind_name(source->kind), what.data, position);
	else
	{
		int			shown = pg_mbcliplen(source->text + span.start, span.length, MAX_SHOWN_TOKEN);

		errmsg("invalid %s: %s; token \"%.*s%s\", position %d",
			   kv_expression_kind_name(source->kind), what.data,
			   shown, source->text + span.start,
			   shown < span.length ? "..." : "", position);
	}
	pfree(what.data);
	return 0;
}
