/*
 * expression.h
 *	  The expression language: text to tree to answer.
 *
 * Five kinds of expression share one lexer and one parser.  Parsed trees are
 * kept per session in a bounded cache keyed by kind and text; binding a tree
 * to one call's placeholders and evaluating it touch no catalog.
 *
 * Source of the rules: DynamoDB Developer Guide, "Using expressions in
 * DynamoDB", and API reference.  Unless said otherwise results live in
 * CurrentMemoryContext and errors are ERRCODE_KV_VALIDATION; they name the
 * expression, the token and its place.
 */
#ifndef KV_EXPRESSION_EXPRESSION_H
#define KV_EXPRESSION_EXPRESSION_H

#include "item/item.h"

#define KV_MAX_EXPRESSION_LENGTH	4096	/* bytes */
#define KV_MAX_EXPRESSION_OPERATORS 300 /* operators and functions */
#define KV_MAX_IN_OPERANDS			100

/*
 * What an expression begins with that was made of something that has no such
 * limits, as DynamoDB's parameters before expressions: only this one holds.  It
 * is another one in each session, so whoever writes expressions cannot know it.
 */
extern const char *kv_expression_made_mark(void);
#define KV_MAX_MADE_LENGTH			(256 * 1024)

typedef enum KvExpressionKind
{
	KV_EXPRESSION_CONDITION,
	KV_EXPRESSION_FILTER,		/* of a query: no key attributes */
	KV_EXPRESSION_SCAN_FILTER,	/* of a scan: key attributes as well */
	KV_EXPRESSION_KEY_CONDITION,
	KV_EXPRESSION_PROJECTION,
	KV_EXPRESSION_UPDATE
} KvExpressionKind;

/* attribute_names and attribute_values of one call, and which were used. */
typedef struct KvPlaceholders KvPlaceholders;

/*
 * Either argument may be NULL; both must live as long as what is bound with
 * them.  Values are normalised; keys must look like #name and :value.
 */
extern KvPlaceholders *kv_placeholders_create(Jsonb *names, Jsonb *values);

/* Raises an error if a placeholder was defined and not used by any expression bound so far. */
extern void kv_placeholders_check_used(const KvPlaceholders *placeholders);

/* A condition or filter, bound. */
typedef struct KvCondition KvCondition;

/* Binds a condition; in the filter of a query, key attributes of the schema are refused (API reference, Query, FilterExpression). */
extern KvCondition *kv_condition_bind(KvExpressionKind kind, text *expression,
									  KvPlaceholders *placeholders, const KvKeySchema *schema);

/*
 * Tells whether the condition holds for the item; view NULL is an item that
 * does not exist.  An attribute that is not there is equal to nothing, not even
 * to another one, so <> is true and every other comparison false.  The Developer
 * Guide, "Comparison Operator and Function Reference", says only that a <> b is
 * true if a is not equal to b; that the service answers so for absent attributes
 * was observed by others (github.com/ExtendDB/extenddb, pull request 5).
 */
extern bool kv_condition_holds(const KvCondition *condition, const KvItemView *view);

/* Binds a key condition and gives the range of keys that it names. */
extern void kv_key_condition_bind(text *expression, KvPlaceholders *placeholders,
								  const KvKeySchema *schema, KvKeyRange *range);

/* Raises the error of a key condition that is wrong whatever the key. */
extern void kv_key_condition_check(text *expression, KvPlaceholders *placeholders);

/* A projection, bound. */
typedef struct KvProjection KvProjection;

extern KvProjection *kv_projection_bind(text *expression, KvPlaceholders *placeholders,
										const KvKeySchema *schema);

/* The same from names of whole attributes, which must stay, and with_keys the key attributes of the schema. */
extern KvProjection *kv_projection_of_attributes(const KvKeySchema *schema, bool with_keys,
												 char *const *names, int count);

/* Returns the first attribute that the projection reads and that is neither a key attribute nor one of names; NULL if there is none. */
extern char *kv_projection_find_other(const KvProjection *projection, char *const *names, int count);

/* Returns the projected part of the item, key attributes only where they are named. */
extern Jsonb *kv_projection_apply(const KvProjection *projection, const KvItemView *view);

/* An update expression, bound. */
typedef struct KvUpdate KvUpdate;

extern KvUpdate *kv_update_bind(text *expression, KvPlaceholders *placeholders,
								const KvKeySchema *schema);

/*
 * Returns the rest of the item after the update; view NULL is an item that
 * does not exist, which is updated as an empty one.  A path whose parent is
 * not there is an error in all clauses, REMOVE included; an attribute itself
 * that is not there is no error (Developer Guide, "Update Expressions", REMOVE:
 * "If the attributes do not exist, nothing happens").  The documentation does not
 * say it of the parent; that the service refuses REMOVE x.y where x is no map was
 * observed by others (github.com/scylladb/scylladb, issue 10043).
 */
extern Jsonb *kv_update_apply(const KvUpdate *update, const KvItemView *view);

/* Tells whether the update only takes away (REMOVE, DELETE). */
extern bool kv_update_only_removes(const KvUpdate *update);

/*
 * Returns the paths that the update names, as they are in the item, in their
 * nested shape: UPDATED_OLD of the item before the update, UPDATED_NEW of the
 * item after it.  A path is looked up as it is written even where list
 * elements have moved, as DynamoDB does.  An empty object if nothing is there.
 */
extern Jsonb *kv_update_touched(const KvUpdate *update, const KvItemView *view);

/* The expressions of a request; NULL where there is none. */
typedef struct KvExpressions
{
	text	   *update;
	text	   *condition;		/* or filter */
	KvExpressionKind condition_kind;
	text	   *key_condition;
	text	   *projection;
	Jsonb	   *names;
	Jsonb	   *values;
} KvExpressions;

/*
 * Raises the error of expressions that are wrong whatever the table.  Binding
 * them to one tells more, and all of this as well: only a request whose table
 * is not there needs this, for DynamoDB names the expression first.
 */
extern void kv_expressions_check(const KvExpressions *expressions);

#endif							/* KV_EXPRESSION_EXPRESSION_H */
