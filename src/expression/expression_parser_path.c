/*
 * expression_parser_path.c
 *	  Text to tree: document paths, #names and :values, which all kinds of
 *	  expression have in common.
 *
 *	path := step { .step | [index] }, a step being a bare name or a #name
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* Returns the bucket that a placeholder belongs to. */
static int *
bucket_of(const KvParser *parser, const KvReferenceSpace *space, KvSpan span)
{
	uint32		hash = hash_bytes((const unsigned char *) parser->lexer.source->text + span.start, span.length);

	return &space->bucket[hash & (space->space - 1)];
}

/* Puts a placeholder into its bucket. */
static void
add_to_bucket(const KvParser *parser, const KvReferenceSpace *space, KvReference *list, int number)
{
	int		   *bucket = bucket_of(parser, space, list[number].span);

	list[number].next = *bucket;
	*bucket = number;
}

/* Makes room for twice as many placeholders. */
static void
enlarge_space(const KvParser *parser, KvReferenceSpace *space, KvReference **list)
{
	int			count = space->space;

	space->space = Max(4, 2 * count);
	if (count > 0)
	{
		*list = repalloc(*list, space->space * sizeof(KvReference));
		pfree(space->bucket);
	}
	else
		*list = palloc(space->space * sizeof(KvReference));
	space->bucket = palloc(space->space * sizeof(int));
	memset(space->bucket, -1, space->space * sizeof(int));
	for (int i = 0; i < count; i++)
		add_to_bucket(parser, space, *list, i);
}

/* Returns the number of a placeholder, a new one if the text has not used it yet. */
static int
number_reference(const KvParser *parser, KvReference **list, int *count, KvReferenceSpace *space)
{
	KvSpan		span = parser->lexer.span;
	const char *text = parser->lexer.source->text;
	int			known = *count > 0 ? *bucket_of(parser, space, span) : -1;

	for (; known >= 0; known = (*list)[known].next)
	{
		KvSpan		other = (*list)[known].span;

		if (other.length == span.length && memcmp(text + other.start, text + span.start, span.length) == 0)
			return known;
	}
	if (*count == space->space)
		enlarge_space(parser, space, list);
	(*list)[*count].span = span;
	add_to_bucket(parser, space, *list, *count);
	return (*count)++;
}

/* Reads one step that is a name or a #name. */
static void
parse_name_step(KvParser *parser, KvPathStep *step)
{
	step->index = -1;
	step->name = NULL;
	step->name_length = 0;
	step->placeholder = -1;
	if (parser->lexer.type == KV_TOKEN_NAME_PLACEHOLDER)
		step->placeholder = number_reference(parser, &parser->tree->name,
											 &parser->tree->name_count, &parser->name_space);
	else if (parser->lexer.type == KV_TOKEN_NAME)
	{
		step->name = kv_parse_text(parser);
		step->name_length = parser->lexer.span.length;
		if (kv_expression_is_reserved(step->name, step->name_length))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(parser->lexer.source, parser->lexer.span,
										  "attribute name is a reserved word"),
					 errhint("Write the name as a #name placeholder and give it in attribute_names.")));
	}
	else
		kv_lexer_syntax_error(&parser->lexer);
	kv_lexer_next(&parser->lexer);
}

/* Reads the number and the closing bracket of a list index. */
static void
parse_index_step(KvParser *parser, KvPathStep *step)
{
	const char *digits = kv_parse_text(parser);
	int64		index = 0;

	if (parser->lexer.type != KV_TOKEN_NUMBER)
		kv_lexer_syntax_error(&parser->lexer);
	for (int i = 0; i < parser->lexer.span.length; i++)
	{
		index = index * 10 + (digits[i] - '0');
		if (index > PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(parser->lexer.source, parser->lexer.span,
										  "list index is out of range")));
	}
	step->name = NULL;
	step->name_length = 0;
	step->placeholder = -1;
	step->index = (int32) index;
	kv_lexer_next(&parser->lexer);
	kv_parse_expect(parser, KV_TOKEN_CLOSE_BRACKET);
}

/* Reads a document path and returns its number. */
int
kv_parse_path(KvParser *parser)
{
	KvTree	   *tree = parser->tree;
	KvPathStep	step[KV_MAX_DEPTH];
	KvDocumentPath		path;

	path.span = parser->lexer.span;
	parse_name_step(parser, &step[0]);
	path.step_count = 1;
	while (parser->lexer.type == KV_TOKEN_DOT || parser->lexer.type == KV_TOKEN_OPEN_BRACKET)
	{
		bool		by_name = (parser->lexer.type == KV_TOKEN_DOT);

		if (path.step_count == KV_MAX_DEPTH)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(parser->lexer.source, parser->lexer.span,
										  "document path has more than %d steps", KV_MAX_DEPTH)));
		kv_lexer_next(&parser->lexer);
		if (by_name)
			parse_name_step(parser, &step[path.step_count++]);
		else
			parse_index_step(parser, &step[path.step_count++]);
	}
	path.span.length = parser->lexer.previous.start + parser->lexer.previous.length - path.span.start;
	path.step = palloc(path.step_count * sizeof(KvPathStep));
	memcpy(path.step, step, path.step_count * sizeof(KvPathStep));

	if (tree->path_count == parser->path_space)
	{
		parser->path_space = Max(4, 2 * parser->path_space);
		tree->path = tree->path ? repalloc(tree->path, parser->path_space * sizeof(KvDocumentPath)) :
			palloc(parser->path_space * sizeof(KvDocumentPath));
	}
	tree->path[tree->path_count] = path;
	return tree->path_count++;
}

/* Reads a :value. */
KvNode *
kv_parse_value(KvParser *parser)
{
	KvNode	   *node;

	if (parser->lexer.type != KV_TOKEN_VALUE_PLACEHOLDER)
		kv_lexer_syntax_error(&parser->lexer);
	node = kv_parse_make_node(parser, KV_NODE_VALUE, parser->lexer.span);
	node->number = number_reference(parser, &parser->tree->value,
									&parser->tree->value_count, &parser->value_space);
	kv_lexer_next(&parser->lexer);
	return node;
}

/* Reads a path as an operand. */
KvNode *
kv_parse_path_node(KvParser *parser)
{
	int			number = kv_parse_path(parser);
	KvNode	   *node = kv_parse_make_node(parser, KV_NODE_PATH, parser->tree->path[number].span);

	node->number = number;
	return node;
}
