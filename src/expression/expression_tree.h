/*
 * expression_tree.h
 *	  Private to the expression room: tokens, parsed trees, bindings, path trees.
 *
 * A parsed tree (KvTree) depends on the text and the kind of expression only
 * and is immutable.  The cache owns the trees it keeps; a binding pins its
 * tree until the memory context it was made in is reset.
 *
 * A binding (KvBinding) resolves one call's placeholders: the tree numbers
 * its #names, :values and paths, and the binding holds an array for each.
 */
#ifndef KV_EXPRESSION_TREE_H
#define KV_EXPRESSION_TREE_H

#include "lib/stringinfo.h"

#include "expression/expression.h"

#define KV_MAX_EXPRESSION_DEPTH		300 /* nested parentheses, NOTs and functions */

/* --- the text, and errors about it: expression_error.c --- */

/* One expression as it was typed.  Does not own the text. */
typedef struct KvSource
{
	KvExpressionKind kind;
	const char *text;			/* not terminated */
	int			length;			/* bytes */
	bool		made;			/* limits of what is typed do not hold */
} KvSource;

/* Where something stands in the text, in bytes; at the end of the text the length is 0. */
typedef struct KvSpan
{
	int			start;
	int			length;
} KvSpan;

/* Returns DynamoDB's name of the request parameter, such as "UpdateExpression". */
extern const char *kv_expression_kind_name(KvExpressionKind kind);

/* For use inside ereport: errmsg that names the expression, what is wrong, the token and its position (in characters, from 1). */
extern int	kv_expression_errmsg(const KvSource *source, KvSpan span, const char *fmt,...) pg_attribute_printf(3, 4);

/* --- tokens: expression_lexer.c --- */

typedef enum KvTokenType
{
	KV_TOKEN_END,
	KV_TOKEN_NAME,				/* bare word: attribute, function or keyword */
	KV_TOKEN_NAME_PLACEHOLDER,	/* #name */
	KV_TOKEN_VALUE_PLACEHOLDER, /* :value */
	KV_TOKEN_NUMBER,			/* digits: a list index */
	KV_TOKEN_EQ,
	KV_TOKEN_NE,
	KV_TOKEN_LT,
	KV_TOKEN_LE,
	KV_TOKEN_GT,
	KV_TOKEN_GE,
	KV_TOKEN_OPEN,
	KV_TOKEN_CLOSE,
	KV_TOKEN_OPEN_BRACKET,
	KV_TOKEN_CLOSE_BRACKET,
	KV_TOKEN_COMMA,
	KV_TOKEN_DOT,
	KV_TOKEN_PLUS,
	KV_TOKEN_MINUS
} KvTokenType;

typedef struct KvLexer
{
	const KvSource *source;
	KvTokenType type;			/* the current token */
	KvSpan		span;
	KvSpan		previous;		/* the token before it */
} KvLexer;

/* Starts at the first token. */
extern void kv_lexer_init(KvLexer *lexer, const KvSource *source);

/* Goes on to the next token. */
extern void kv_lexer_next(KvLexer *lexer);

/* Tells whether the current token is this keyword (given in upper case). */
extern bool kv_lexer_at_keyword(const KvLexer *lexer, const char *keyword);

/* Raises the syntax error for the current token. */
extern void kv_lexer_syntax_error(const KvLexer *lexer);

/* Tells whether a word is on DynamoDB's list of reserved words, in any case (expression_reserved.c). */
extern bool kv_expression_is_reserved(const char *word, int length);

/* --- trees: expression_parser.c --- */

typedef struct KvPathStep
{
	const char *name;			/* a bare name; NULL for a placeholder or an index */
	int			name_length;
	int			placeholder;	/* number of the #name; -1 if none */
	int32		index;			/* of a list element; -1 for a name */
} KvPathStep;

/* A document path; the first step is a name. */
typedef struct KvDocumentPath
{
	KvSpan		span;
	int			step_count;
	KvPathStep *step;
} KvDocumentPath;

typedef enum KvNodeType
{
	/* operands */
	KV_NODE_PATH,
	KV_NODE_VALUE,
	KV_NODE_SIZE,
	KV_NODE_PLUS,
	KV_NODE_MINUS,
	KV_NODE_IF_NOT_EXISTS,
	KV_NODE_LIST_APPEND,
	/* conditions */
	KV_NODE_EQ,
	KV_NODE_NE,
	KV_NODE_LT,
	KV_NODE_LE,
	KV_NODE_GT,
	KV_NODE_GE,
	KV_NODE_BETWEEN,
	KV_NODE_IN,
	KV_NODE_ATTRIBUTE_EXISTS,
	KV_NODE_ATTRIBUTE_NOT_EXISTS,
	KV_NODE_ATTRIBUTE_TYPE,
	KV_NODE_BEGINS_WITH,
	KV_NODE_CONTAINS,
	KV_NODE_NOT,
	KV_NODE_AND,
	KV_NODE_OR
} KvNodeType;

#define KV_NODE_IS_OPERAND(node)	((node)->type <= KV_NODE_LIST_APPEND)

typedef struct KvNode
{
	KvNodeType	type;
	KvSpan		span;			/* the operator's or function's token; a whole path or value */
	int			number;			/* PATH: of tree->path; VALUE: of tree->value */
	int			argument_count;
	struct KvNode **argument;
} KvNode;

typedef enum KvClause
{
	KV_CLAUSE_SET,
	KV_CLAUSE_REMOVE,
	KV_CLAUSE_ADD,
	KV_CLAUSE_DELETE
} KvClause;

/* One action of an update. */
typedef struct KvAction
{
	KvClause	clause;
	int			path;			/* of tree->path */
	KvNode	   *value;			/* NULL for REMOVE */
} KvAction;

/* A placeholder as the text uses it. */
typedef struct KvReference
{
	KvSpan		span;			/* of its first use, with the # or : */
	int			next;			/* while parsing: number of another one in the same bucket; -1: none */
} KvReference;

typedef struct KvTree
{
	KvSource	source;			/* with a copy of the text that the tree owns */
	int			path_count;
	KvDocumentPath	   *path;
	int			name_count;
	KvReference *name;
	int			value_count;
	KvReference *value;
	KvNode	   *root;			/* condition, filter, key condition */
	int			action_count;	/* update */
	KvAction   *action;
	MemoryContext context;		/* holds the tree and nothing else */
} KvTree;

/* Placeholders of one sign that have been numbered, found by their hash. */
typedef struct KvReferenceSpace
{
	int			space;			/* of the tree's array; a power of 2, and the number of buckets */
	int		   *bucket;			/* number of the first one in each; -1: none */
} KvReferenceSpace;

/* What the parser works with. */
typedef struct KvParser
{
	KvLexer		lexer;
	KvTree	   *tree;
	int			path_space;
	KvReferenceSpace name_space;
	KvReferenceSpace value_space;
	int			operator_count;
	int			depth;
} KvParser;

/* Parses into CurrentMemoryContext; the source's text must live as long as the tree. */
extern KvTree *kv_expression_parse(const KvSource *source);

/* Returns the text of the current token. */
static inline const char *
kv_parse_text(const KvParser *parser)
{
	return parser->lexer.source->text + parser->lexer.span.start;
}

/* Parts that the parser's files share: expression_parser.c ... */
extern KvNode *kv_parse_make_node(KvParser *parser, KvNodeType type, KvSpan span);
extern void kv_parse_add_argument(KvNode *node, KvNode *argument);
extern void kv_parse_count_operator(KvParser *parser, KvSpan span);
extern void kv_parse_enter(KvParser *parser);
extern void kv_parse_leave(KvParser *parser);
extern void kv_parse_expect(KvParser *parser, KvTokenType type);
extern bool kv_parse_at_function(const KvParser *parser);
extern KvNode *kv_parse_function(KvParser *parser);

/* ... expression_parser_path.c; a path's number is of tree->path ... */
extern int	kv_parse_path(KvParser *parser);
extern KvNode *kv_parse_path_node(KvParser *parser);
extern KvNode *kv_parse_value(KvParser *parser);

/* ... and expression_parser_update.c: the clauses of an update up to the end. */
extern void kv_parse_update(KvParser *parser);
extern KvNode *kv_parse_update_operand(KvParser *parser);

/* --- cache: expression_cache.c --- */

/* Returns the tree of an expression, parsed or from the cache, pinned for the life of CurrentMemoryContext. */
extern const KvTree *kv_expression_tree(KvExpressionKind kind, text *expression);

/* --- bindings: expression_placeholder.c, expression_bind.c --- */

typedef struct KvName
{
	const char *data;
	int			length;
} KvName;

/* One side of a comparison, an argument, a value to be set.  Points into the item, the placeholders or the key. */
typedef struct KvOperand
{
	KvValueType type;
	JsonbValue	value;			/* jbvBinary for containers; not set where bytes is */
	bytea	   *bytes;			/* of a binary that is a key attribute; else NULL */
} KvOperand;

typedef struct KvBinding
{
	const KvTree *tree;
	const KvKeySchema *schema;
	KvName	   *name;			/* by number of the #name */
	KvOperand  *value;			/* by number of the :value */
	int8	   *path_key;		/* by number of the path: which key attribute its first step is, or -1 */
} KvBinding;

/* Looks a placeholder up and marks it used; NULL if it is not defined. */
extern const KvName *kv_placeholders_name(KvPlaceholders *placeholders, const char *key, int length);
extern const KvOperand *kv_placeholders_value(KvPlaceholders *placeholders, const char *key, int length);

/* Fills a binding: parses or finds the tree and resolves its placeholders. */
extern void kv_expression_bind(KvBinding *binding, KvExpressionKind kind, text *expression,
							   KvPlaceholders *placeholders, const KvKeySchema *schema);

/* --- paths: expression_path.c --- */

/* Returns the name of a path step, which must be no index. */
extern KvName kv_path_step_name(const KvBinding *binding, const KvPathStep *step);

/* Finds what a path leads to; false if there is nothing. */
extern bool kv_path_find(const KvBinding *binding, int path, const KvItemView *view, KvOperand *result);

/* Finds an attribute of a map by the name that users see; inner tells a map inside an item from the item itself. */
extern bool kv_path_find_in_map(JsonbContainer *map, bool inner, KvName name, JsonbValue *result);

/* Finds an element of a list; false if the container is no list or ends before. */
extern bool kv_path_find_in_list(JsonbContainer *list, int32 index, JsonbValue *result);

/* Tells whether a name, as the only key of a map inside an item, would read as a marker or an escaped one. */
extern bool kv_path_name_is_marker(KvName name);

/* Sets a jsonb key to a name. */
extern void kv_path_name_to_key(KvName name, JsonbValue *key);

/* Makes a map inside an item of pairs sorted by the names that users see; an only key that would read as a marker gets its "$". */
extern void kv_path_finish_map(JsonbPair *pair, int count, JsonbValue *result);

/* Gives the name that users see of the only key of a map inside an item. */
extern KvName kv_path_unescape_name(KvName name);

/* Tells whether a value is a container that path steps can enter, which markers are not. */
extern bool kv_path_can_enter(const JsonbValue *value);

/*
 * The paths of a projection or an update as a tree: what lies at one place is
 * handled at once.  Children are sorted as jsonb sorts keys, or by index.
 */
typedef struct KvPathNode
{
	KvName		name;			/* step that leads here, */
	int32		index;			/* or the index, -1 for a name */
	int			leaf;			/* number that the caller gave the path that ends here; -1 inside */
	int			key;			/* top level: which key attribute this is, or -1 */
	struct KvPathNode *child;	/* first of the steps below */
	struct KvPathNode *next;	/* next step at the same place */

	/* the steps at one place as a treap, which finds one among many; for kv_path_node_child alone */
	struct KvPathNode *top;		/* of the steps below */
	struct KvPathNode *left;
	struct KvPathNode *right;
	uint32		priority;		/* random, no lower than below */
} KvPathNode;

extern KvPathNode *kv_path_node_create(void);

/* Returns how many steps lie directly below a node. */
extern int	kv_path_node_child_count(const KvPathNode *node);

/* Returns the node of a step below a node, a new one if there is none; index is -1 for a name. */
extern KvPathNode *kv_path_node_child(KvPathNode *node, KvName name, int32 index);

/* Adds a path; an error if it overlaps or conflicts with one that is there. */
extern void kv_path_node_add(KvPathNode *root, const KvBinding *binding, int path, int leaf);

/* --- operands: expression_compare.c --- */

/* Tells whether two operands are of one type and equal. */
extern bool kv_operand_equal(const KvOperand *a, const KvOperand *b);

/* Tells whether operands of this type have an order: strings, numbers, binaries. */
extern bool kv_operand_is_ordered(const KvOperand *operand);

/* Orders two operands of one type that has an order. */
extern int	kv_operand_compare(const KvOperand *a, const KvOperand *b);

/* Makes an operand of a value. */
extern void kv_operand_from_value(const JsonbValue *value, KvOperand *operand);

/* Gives an operand as a value of an item, a key's bytes as a marker. */
extern void kv_operand_to_value(const KvOperand *operand, JsonbValue *value);

/* --- conditions: expression_condition_check.c --- */

/* Raises an error if something is wrong with a condition whatever the item. */
extern void kv_condition_check(const KvBinding *binding);

/* --- functions in conditions: expression_function.c --- */

extern bool kv_function_begins_with(const KvOperand *operand, const KvOperand *prefix);
extern bool kv_function_contains(const KvOperand *operand, const KvOperand *part);

/* Gives the size of an operand; false if it has none. */
extern bool kv_function_size(const KvOperand *operand, int64 *size);

/* Finds a type by its name; false if there is none. */
extern bool kv_function_type_of_name(const KvOperand *name, KvValueType *type);

/* --- projection of a path tree: expression_projection.c --- */

extern Jsonb *kv_path_node_project(const KvPathNode *root, const KvItemView *view);

/* --- updates: expression_update_check.c, expression_update_value.c, expression_set.c --- */

/* Raises an error if something is wrong with an update whatever the item. */
extern void kv_update_check(const KvBinding *binding);

/* Gives the value that an action leaves at its path, where old (NULL: nothing) was; false if it leaves nothing. */
extern bool kv_update_value(const KvBinding *binding, const KvItemView *view, int action,
							const JsonbValue *old, JsonbValue *result);

/* Gives the union of two sets of one type. */
extern void kv_set_union(const KvOperand *a, const KvOperand *b, JsonbValue *result);

/* Gives the members of a that are not in b; false if there are none. */
extern bool kv_set_difference(const KvOperand *a, const KvOperand *b, JsonbValue *result);

#endif							/* KV_EXPRESSION_TREE_H */
