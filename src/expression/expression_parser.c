/*
 * expression_parser.c
 *	  Text to tree: conditions, key conditions, projections, and what the
 *	  parser's other files share with them.
 *
 * Recursive descent:
 *
 *	condition  := and { OR and }
 *	and        := not { AND not }
 *	not        := NOT not | primary
 *	primary    := function | operand comparison | ( condition )
 *	comparison := comparator operand | BETWEEN operand AND operand | IN ( operand {, operand} )
 *	operand    := path | :value | size(..) | ( operand )
 *
 * Whether a parenthesis holds a condition or an operand is known only at its
 * end, so the rules give either, and their callers say which they take.
 * Keywords are case-insensitive, function names are not.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

static KvNode *parse_or(KvParser *parser);

/* Takes the current token, which must be of this type. */
void
kv_parse_expect(KvParser *parser, KvTokenType type)
{
	if (parser->lexer.type != type)
		kv_lexer_syntax_error(&parser->lexer);
	kv_lexer_next(&parser->lexer);
}

/* Counts one level of nesting on the way down. */
void
kv_parse_enter(KvParser *parser)
{
	check_stack_depth();
	if (++parser->depth > KV_MAX_EXPRESSION_DEPTH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(parser->lexer.source, parser->lexer.span,
									  "nested more than %d levels deep", KV_MAX_EXPRESSION_DEPTH)));
}

/* Leaves one level of nesting. */
void
kv_parse_leave(KvParser *parser)
{
	parser->depth--;
}

/* Counts one operator or function against the limit. */
void
kv_parse_count_operator(KvParser *parser, KvSpan span)
{
	if (++parser->operator_count > KV_MAX_EXPRESSION_OPERATORS && !parser->lexer.source->made)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(parser->lexer.source, span,
									  "more than %d operators and functions", KV_MAX_EXPRESSION_OPERATORS)));
}

/* Makes a node without arguments. */
KvNode *
kv_parse_make_node(KvParser *parser, KvNodeType type, KvSpan span)
{
	KvNode	   *node = palloc0(sizeof(KvNode));

	node->type = type;
	node->span = span;
	node->number = -1;
	return node;
}

/* Appends an argument; the array doubles when it is full. */
void
kv_parse_add_argument(KvNode *node, KvNode *argument)
{
	int			count = node->argument_count;

	if (count == 0)
		node->argument = palloc(2 * sizeof(KvNode *));
	else if (count >= 2 && (count & (count - 1)) == 0)
		node->argument = repalloc(node->argument, 2 * count * sizeof(KvNode *));
	node->argument[node->argument_count++] = argument;
}

/* What is known of a function by its name. */
typedef struct FunctionRule
{
	const char *name;
	KvNodeType	type;
	int			argument_count;
	bool		in_update;		/* else in conditions */
} FunctionRule;

static const FunctionRule function_rules[] = {
	{"attribute_exists", KV_NODE_ATTRIBUTE_EXISTS, 1, false},
	{"attribute_not_exists", KV_NODE_ATTRIBUTE_NOT_EXISTS, 1, false},
	{"attribute_type", KV_NODE_ATTRIBUTE_TYPE, 2, false},
	{"begins_with", KV_NODE_BEGINS_WITH, 2, false},
	{"contains", KV_NODE_CONTAINS, 2, false},
	{"size", KV_NODE_SIZE, 1, false},
	{"if_not_exists", KV_NODE_IF_NOT_EXISTS, 2, true},
	{"list_append", KV_NODE_LIST_APPEND, 2, true},
};

/* Finds the function that the current token names; an error if this kind of expression has none such. */
static const FunctionRule *
find_function(KvParser *parser)
{
	KvExpressionKind kind = parser->lexer.source->kind;
	bool		lower_matches = false;

	for (int i = 0; i < lengthof(function_rules); i++)
	{
		const FunctionRule *rule = &function_rules[i];

		if (!(strlen(rule->name) == parser->lexer.span.length &&
			  pg_strncasecmp(rule->name, kv_parse_text(parser), parser->lexer.span.length) == 0))
			continue;
		if (strncmp(rule->name, kv_parse_text(parser), parser->lexer.span.length) != 0)
		{
			lower_matches = true;
			break;
		}
		if (rule->in_update != (kind == KV_EXPRESSION_UPDATE) ||
			(kind == KV_EXPRESSION_KEY_CONDITION && rule->type != KV_NODE_BEGINS_WITH))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(parser->lexer.source, parser->lexer.span,
										  "function is not allowed in this kind of expression")));
		return rule;
	}
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(parser->lexer.source, parser->lexer.span,
								  "invalid function name"),
			 lower_matches ? errhint("Function names are case-sensitive: write it in lower case.") : 0));
	return NULL;
}

/* Tells whether the current token is a name with an open parenthesis behind it. */
bool
kv_parse_at_function(const KvParser *parser)
{
	KvLexer		ahead;

	if (parser->lexer.type != KV_TOKEN_NAME)
		return false;
	ahead = parser->lexer;
	kv_lexer_next(&ahead);
	return ahead.type == KV_TOKEN_OPEN;
}

/* Reads a function in a condition: its arguments are paths, :values and size(). */
static KvNode *
parse_condition_argument(KvParser *parser)
{
	KvNode	   *node;

	kv_parse_enter(parser);
	if (parser->lexer.type == KV_TOKEN_OPEN)
	{
		kv_lexer_next(&parser->lexer);
		node = parse_condition_argument(parser);
		kv_parse_expect(parser, KV_TOKEN_CLOSE);
	}
	else if (kv_parse_at_function(parser))
		node = kv_parse_function(parser);
	else if (parser->lexer.type == KV_TOKEN_VALUE_PLACEHOLDER)
		node = kv_parse_value(parser);
	else
		node = kv_parse_path_node(parser);
	kv_parse_leave(parser);
	return node;
}

/* Raises the error for a function that gives the wrong kind of result for its place. */
static void
misplaced_function(const KvParser *parser, const KvNode *node)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(parser->lexer.source, node->span,
								  "function cannot be used this way"),
			 node->type == KV_NODE_SIZE ?
			 errhint("size() is a number: compare it, as in size(a) > :n.") :
			 errhint("This function is a condition of its own and cannot be an operand.")));
}

/* Reads an operand and insists that it is one. */
static KvNode *
parse_operand(KvParser *parser)
{
	KvNode	   *node = parse_condition_argument(parser);

	if (!KV_NODE_IS_OPERAND(node))
		misplaced_function(parser, node);
	return node;
}

/* Reads a function call, its name being the current token. */
KvNode *
kv_parse_function(KvParser *parser)
{
	const FunctionRule *rule = find_function(parser);
	KvNode	   *node = kv_parse_make_node(parser, rule->type, parser->lexer.span);

	kv_parse_enter(parser);
	kv_parse_count_operator(parser, node->span);
	kv_lexer_next(&parser->lexer);
	kv_parse_expect(parser, KV_TOKEN_OPEN);
	for (;;)
	{
		kv_parse_add_argument(node, rule->in_update ? kv_parse_update_operand(parser) : parse_operand(parser));
		if (parser->lexer.type != KV_TOKEN_COMMA)
			break;
		kv_lexer_next(&parser->lexer);
	}
	kv_parse_expect(parser, KV_TOKEN_CLOSE);
	if (node->argument_count != rule->argument_count)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(parser->lexer.source, node->span,
									  "incorrect number of operands, %d instead of %d",
									  node->argument_count, rule->argument_count)));
	kv_parse_leave(parser);
	return node;
}

/* Returns the comparator that the current token is, or -1. */
static int
comparator_type(const KvParser *parser)
{
	switch (parser->lexer.type)
	{
		case KV_TOKEN_EQ:
			return KV_NODE_EQ;
		case KV_TOKEN_NE:
			return KV_NODE_NE;
		case KV_TOKEN_LT:
			return KV_NODE_LT;
		case KV_TOKEN_LE:
			return KV_NODE_LE;
		case KV_TOKEN_GT:
			return KV_NODE_GT;
		case KV_TOKEN_GE:
			return KV_NODE_GE;
		default:
			return -1;
	}
}

/* Reads the operands of IN. */
static void
parse_in_list(KvParser *parser, KvNode *node)
{
	kv_parse_expect(parser, KV_TOKEN_OPEN);
	for (;;)
	{
		if (node->argument_count > KV_MAX_IN_OPERANDS && !parser->lexer.source->made)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(parser->lexer.source, node->span,
										  "IN takes at most %d operands", KV_MAX_IN_OPERANDS)));
		kv_parse_add_argument(node, parse_operand(parser));
		if (parser->lexer.type != KV_TOKEN_COMMA)
			break;
		kv_lexer_next(&parser->lexer);
	}
	kv_parse_expect(parser, KV_TOKEN_CLOSE);
}

/* Reads what follows the left operand of a comparison; the operand itself if nothing does. */
static KvNode *
parse_comparison(KvParser *parser, KvNode *left)
{
	KvNode	   *node;
	KvSpan		span = parser->lexer.span;
	int			type = comparator_type(parser);

	if (type < 0)
	{
		if (kv_lexer_at_keyword(&parser->lexer, "BETWEEN"))
			type = KV_NODE_BETWEEN;
		else if (kv_lexer_at_keyword(&parser->lexer, "IN"))
			type = KV_NODE_IN;
		else
			return left;
	}
	if (!KV_NODE_IS_OPERAND(left))
	{
		if (left->type >= KV_NODE_ATTRIBUTE_EXISTS && left->type <= KV_NODE_CONTAINS)
			misplaced_function(parser, left);
		kv_lexer_syntax_error(&parser->lexer);
	}
	node = kv_parse_make_node(parser, type, span);
	kv_parse_count_operator(parser, span);
	kv_parse_add_argument(node, left);
	kv_lexer_next(&parser->lexer);
	if (type == KV_NODE_IN)
		parse_in_list(parser, node);
	else
	{
		kv_parse_add_argument(node, parse_operand(parser));
		if (type == KV_NODE_BETWEEN)
		{
			if (!kv_lexer_at_keyword(&parser->lexer, "AND"))
				kv_lexer_syntax_error(&parser->lexer);
			kv_lexer_next(&parser->lexer);
			kv_parse_add_argument(node, parse_operand(parser));
		}
	}
	return node;
}

/* Reads a primary: a condition, or an operand if no comparison follows it. */
static KvNode *
parse_primary(KvParser *parser)
{
	KvNode	   *node;

	if (parser->lexer.type == KV_TOKEN_OPEN)
	{
		kv_parse_enter(parser);
		kv_lexer_next(&parser->lexer);
		node = parse_or(parser);
		kv_parse_expect(parser, KV_TOKEN_CLOSE);
		kv_parse_leave(parser);
	}
	else
		node = parse_condition_argument(parser);
	return parse_comparison(parser, node);
}

/* Insists that a node is a condition. */
static KvNode *
check_condition(KvParser *parser, KvNode *node)
{
	if (node->type == KV_NODE_SIZE)
		misplaced_function(parser, node);
	if (KV_NODE_IS_OPERAND(node))
		kv_lexer_syntax_error(&parser->lexer);
	return node;
}

/* Reads NOT and what it negates. */
static KvNode *
parse_not(KvParser *parser)
{
	KvNode	   *node;

	if (!kv_lexer_at_keyword(&parser->lexer, "NOT"))
		return parse_primary(parser);
	kv_parse_enter(parser);
	node = kv_parse_make_node(parser, KV_NODE_NOT, parser->lexer.span);
	kv_parse_count_operator(parser, node->span);
	kv_lexer_next(&parser->lexer);
	kv_parse_add_argument(node, check_condition(parser, parse_not(parser)));
	kv_parse_leave(parser);
	return node;
}

/* Reads conditions with AND or OR between them; a single one is returned as it is. */
static KvNode *
parse_chain(KvParser *parser, KvNodeType type, const char *keyword, KvNode *(*parse_part) (KvParser *))
{
	KvNode	   *first = parse_part(parser);
	KvNode	   *chain = NULL;

	while (kv_lexer_at_keyword(&parser->lexer, keyword))
	{
		if (chain == NULL)
		{
			chain = kv_parse_make_node(parser, type, parser->lexer.span);
			kv_parse_add_argument(chain, check_condition(parser, first));
		}
		kv_parse_count_operator(parser, parser->lexer.span);
		kv_lexer_next(&parser->lexer);
		kv_parse_add_argument(chain, check_condition(parser, parse_part(parser)));
	}
	return chain ? chain : first;
}

/* Reads conditions joined by AND. */
static KvNode *
parse_and(KvParser *parser)
{
	return parse_chain(parser, KV_NODE_AND, "AND", parse_not);
}

/* Reads conditions joined by OR. */
static KvNode *
parse_or(KvParser *parser)
{
	return parse_chain(parser, KV_NODE_OR, "OR", parse_and);
}

/* Reads the paths of a projection. */
static void
parse_projection(KvParser *parser)
{
	for (;;)
	{
		kv_parse_path(parser);
		if (parser->lexer.type != KV_TOKEN_COMMA)
			break;
		kv_lexer_next(&parser->lexer);
	}
}

/* Parses an expression of any kind. */
KvTree *
kv_expression_parse(const KvSource *source)
{
	KvParser	parser = {0};

	parser.tree = palloc0(sizeof(KvTree));
	parser.tree->source = *source;
	kv_lexer_init(&parser.lexer, &parser.tree->source);
	if (parser.lexer.type == KV_TOKEN_END)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source, parser.lexer.span, "expression is empty")));
	switch (source->kind)
	{
		case KV_EXPRESSION_CONDITION:
		case KV_EXPRESSION_FILTER:
		case KV_EXPRESSION_SCAN_FILTER:
		case KV_EXPRESSION_KEY_CONDITION:
			parser.tree->root = check_condition(&parser, parse_or(&parser));
			break;
		case KV_EXPRESSION_PROJECTION:
			parse_projection(&parser);
			break;
		case KV_EXPRESSION_UPDATE:
			kv_parse_update(&parser);
			break;
	}
	if (parser.lexer.type != KV_TOKEN_END)
		kv_lexer_syntax_error(&parser.lexer);
	return parser.tree;
}
