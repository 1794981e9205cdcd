/*
 * expression_parser_update.c
 *	  Text to tree: update expressions.
 *
 *	update  := clause { clause }, each clause at most once
 *	clause  := SET path = value {, ..} | REMOVE path {, ..}
 *			 | ADD path :value {, ..} | DELETE path :value {, ..}
 *	value   := operand [ + operand | - operand ]
 *	operand := path | :value | if_not_exists(path, operand) | list_append(operand, operand) | ( value )
 *
 * As in DynamoDB's grammar a value has one + or -; parentheses nest more.
 */
#include "postgres.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

static const char *const clause_keyword[] = {"SET", "REMOVE", "ADD", "DELETE"};

static KvNode *parse_set_value(KvParser *parser);

/* Reads an operand of a SET value. */
KvNode *
kv_parse_update_operand(KvParser *parser)
{
	KvNode	   *node;

	kv_parse_enter(parser);
	if (parser->lexer.type == KV_TOKEN_OPEN)
	{
		kv_lexer_next(&parser->lexer);
		node = parse_set_value(parser);
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

/* Tells whether the current token is + or -. */
static bool
at_arithmetic(const KvParser *parser)
{
	return parser->lexer.type == KV_TOKEN_PLUS || parser->lexer.type == KV_TOKEN_MINUS;
}

/* Reads the right side of SET. */
static KvNode *
parse_set_value(KvParser *parser)
{
	KvNode	   *left = kv_parse_update_operand(parser);
	KvNode	   *node;

	if (!at_arithmetic(parser))
		return left;
	node = kv_parse_make_node(parser,
							  parser->lexer.type == KV_TOKEN_PLUS ? KV_NODE_PLUS : KV_NODE_MINUS,
							  parser->lexer.span);
	kv_parse_count_operator(parser, node->span);
	kv_lexer_next(&parser->lexer);
	kv_parse_add_argument(node, left);
	kv_parse_add_argument(node, kv_parse_update_operand(parser));
	if (at_arithmetic(parser))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(parser->lexer.source, parser->lexer.span, "syntax error"),
				 errhint("A value takes one + or -; put the first one in parentheses.")));
	return node;
}

/* Reads one action of a clause. */
static void
parse_action(KvParser *parser, KvClause clause, KvAction *action)
{
	action->clause = clause;
	action->value = NULL;
	action->path = kv_parse_path(parser);
	switch (clause)
	{
		case KV_CLAUSE_SET:
			kv_parse_expect(parser, KV_TOKEN_EQ);
			action->value = parse_set_value(parser);
			break;
		case KV_CLAUSE_REMOVE:
			break;
		case KV_CLAUSE_ADD:
		case KV_CLAUSE_DELETE:
			action->value = kv_parse_value(parser);
			break;
	}
}

/* Reads the actions of one clause, its keyword behind us. */
static void
parse_clause(KvParser *parser, KvClause clause, int *space)
{
	KvTree	   *tree = parser->tree;

	for (;;)
	{
		if (tree->action_count == *space)
		{
			*space = Max(4, 2 * *space);
			tree->action = tree->action ? repalloc(tree->action, *space * sizeof(KvAction)) :
				palloc(*space * sizeof(KvAction));
		}
		parse_action(parser, clause, &tree->action[tree->action_count]);
		tree->action_count++;
		if (parser->lexer.type != KV_TOKEN_COMMA)
			break;
		kv_lexer_next(&parser->lexer);
	}
}

/* Parses the clauses of an update expression up to the end. */
void
kv_parse_update(KvParser *parser)
{
	bool		seen[lengthof(clause_keyword)] = {false};
	int			space = 0;

	while (parser->lexer.type != KV_TOKEN_END)
	{
		int			clause = 0;

		while (clause < lengthof(clause_keyword) &&
			   !kv_lexer_at_keyword(&parser->lexer, clause_keyword[clause]))
			clause++;
		if (clause == lengthof(clause_keyword) && parser->tree->action_count == 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(parser->lexer.source, parser->lexer.span, "syntax error"),
					 errhint("An update expression begins with SET, REMOVE, ADD or DELETE.")));
		if (clause == lengthof(clause_keyword))
			kv_lexer_syntax_error(&parser->lexer);
		if (seen[clause])
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(parser->lexer.source, parser->lexer.span,
										  "the %s clause can be used only once", clause_keyword[clause]),
					 errhint("Separate the actions of one clause by commas.")));
		seen[clause] = true;
		kv_lexer_next(&parser->lexer);
		parse_clause(parser, (KvClause) clause, &space);
	}
}
