/*
 * expression_condition_check.c
 *	  What is wrong with a condition before any item is looked at.
 *
 * Checked are the types of :values (the type of an attribute is known only
 * in an item, where a wrong one makes the condition false), bounds of BETWEEN
 * that are both :values, an operand that is compared with itself, and key
 * attributes in the filter of a query.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* Sets of types, as bits by KvValueType. */
#define TYPE_BIT(type)	(1 << (type))
#define ORDERED_TYPES	(TYPE_BIT(KV_TYPE_STRING) | TYPE_BIT(KV_TYPE_NUMBER) | TYPE_BIT(KV_TYPE_BINARY))
#define PREFIX_TYPES	(TYPE_BIT(KV_TYPE_STRING) | TYPE_BIT(KV_TYPE_BINARY))
#define SET_TYPES		(TYPE_BIT(KV_TYPE_STRING_SET) | TYPE_BIT(KV_TYPE_NUMBER_SET) | TYPE_BIT(KV_TYPE_BINARY_SET))
#define CONTAINING_TYPES (PREFIX_TYPES | SET_TYPES | TYPE_BIT(KV_TYPE_LIST))
#define SIZED_TYPES		(CONTAINING_TYPES | TYPE_BIT(KV_TYPE_MAP))

/* Returns the text of an operator or function for a message. */
static const char *
node_text(const KvBinding *binding, const KvNode *node)
{
	return pnstrdup(binding->tree->source.text + node->span.start, node->span.length);
}

/* Returns the type of an operand that does not depend on the item; -1 if it does. */
static int
known_type(const KvBinding *binding, const KvNode *operand)
{
	if (operand->type == KV_NODE_VALUE)
		return binding->value[operand->number].type;
	if (operand->type == KV_NODE_SIZE)
		return KV_TYPE_NUMBER;
	return -1;
}

/* Raises an error if an operand is known to be of a type that its operator does not take. */
static void
check_type(const KvBinding *binding, const KvNode *node, int argument, int allowed)
{
	const KvNode *operand = node->argument[argument];
	int			type = known_type(binding, operand);

	if (type >= 0 && !(allowed & TYPE_BIT(type)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&binding->tree->source, operand->span,
									  "incorrect operand type for %s: %s",
									  node_text(binding, node), kv_value_type_name(type))));
}

/* Checks the types of all arguments of a node. */
static void
check_types(const KvBinding *binding, const KvNode *node, int allowed)
{
	for (int i = 0; i < node->argument_count; i++)
		check_type(binding, node, i, allowed);
}

/* Tells whether two steps are the same. */
static bool
same_step(const KvBinding *binding, const KvPathStep *a, const KvPathStep *b)
{
	KvName		a_name;
	KvName		b_name;

	if (a->index >= 0 || b->index >= 0)
		return a->index == b->index;
	a_name = kv_path_step_name(binding, a);
	b_name = kv_path_step_name(binding, b);
	return a_name.length == b_name.length && memcmp(a_name.data, b_name.data, a_name.length) == 0;
}

/* Tells whether two operands are the same path. */
static bool
same_path(const KvBinding *binding, const KvNode *a, const KvNode *b)
{
	const KvDocumentPath *a_path;
	const KvDocumentPath *b_path;

	if (a->type != KV_NODE_PATH || b->type != KV_NODE_PATH)
		return false;
	a_path = &binding->tree->path[a->number];
	b_path = &binding->tree->path[b->number];
	if (a_path->step_count != b_path->step_count)
		return false;
	for (int i = 0; i < a_path->step_count; i++)
		if (!same_step(binding, &a_path->step[i], &b_path->step[i]))
			return false;
	return true;
}

/* Raises an error if the first operand stands among the others again. */
static void
check_distinct(const KvBinding *binding, const KvNode *node)
{
	for (int i = 1; i < node->argument_count; i++)
		if (same_path(binding, node->argument[0], node->argument[i]))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(&binding->tree->source, node->argument[i]->span,
										  "the first operand of %s must be distinct from the others",
										  node_text(binding, node))));
}

/* Checks the bounds of BETWEEN where both are :values. */
static void
check_bounds(const KvBinding *binding, const KvNode *node)
{
	const KvNode *low = node->argument[1];
	const KvNode *high = node->argument[2];
	const KvOperand *low_value;
	const KvOperand *high_value;

	if (low->type != KV_NODE_VALUE || high->type != KV_NODE_VALUE)
		return;
	low_value = &binding->value[low->number];
	high_value = &binding->value[high->number];
	if (low_value->type != high_value->type)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&binding->tree->source, high->span,
									  "the bounds of BETWEEN are of different types, %s and %s",
									  kv_value_type_name(low_value->type),
									  kv_value_type_name(high_value->type))));
	if (kv_operand_compare(low_value, high_value) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&binding->tree->source, high->span,
									  "the upper bound of BETWEEN is less than the lower bound")));
}

/* Checks that the type that attribute_type asks for is a :value with a type's name. */
static void
check_type_name(const KvBinding *binding, const KvNode *node)
{
	const KvNode *name = node->argument[1];
	const KvOperand *value;
	KvValueType type;

	if (name->type != KV_NODE_VALUE)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&binding->tree->source, name->span,
									  "the second operand of attribute_type must be a :value")));
	check_type(binding, node, 1, TYPE_BIT(KV_TYPE_STRING));
	value = &binding->value[name->number];
	if (!kv_function_type_of_name(value, &type))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&binding->tree->source, name->span,
									  "invalid attribute type name \"%.*s\"",
									  pg_mbcliplen(value->value.val.string.val, value->value.val.string.len, 20),
									  value->value.val.string.val),
				 errhint("The types are S, N, B, SS, NS, BS, M, L, NULL and BOOL.")));
}

/* Checks that an operand is a document path. */
static void
check_path(const KvBinding *binding, const KvNode *node)
{
	if (node->argument[0]->type != KV_NODE_PATH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&binding->tree->source, node->argument[0]->span,
									  "the operand of %s must be a document path",
									  node_text(binding, node))));
}

/* Checks one node and everything below it. */
static void
check_node(const KvBinding *binding, const KvNode *node)
{
	check_stack_depth();
	for (int i = 0; i < node->argument_count; i++)
		check_node(binding, node->argument[i]);
	switch (node->type)
	{
		case KV_NODE_EQ:
		case KV_NODE_NE:
		case KV_NODE_IN:
			check_distinct(binding, node);
			break;
		case KV_NODE_LT:
		case KV_NODE_LE:
		case KV_NODE_GT:
		case KV_NODE_GE:
			check_types(binding, node, ORDERED_TYPES);
			check_distinct(binding, node);
			break;
		case KV_NODE_BETWEEN:
			check_types(binding, node, ORDERED_TYPES);
			check_bounds(binding, node);
			check_distinct(binding, node);
			break;
		case KV_NODE_BEGINS_WITH:
			check_types(binding, node, PREFIX_TYPES);
			check_distinct(binding, node);
			break;
		case KV_NODE_CONTAINS:
			check_type(binding, node, 0, CONTAINING_TYPES);
			check_distinct(binding, node);
			break;
		case KV_NODE_SIZE:
			check_type(binding, node, 0, SIZED_TYPES);
			break;
		case KV_NODE_ATTRIBUTE_EXISTS:
		case KV_NODE_ATTRIBUTE_NOT_EXISTS:
			check_path(binding, node);
			break;
		case KV_NODE_ATTRIBUTE_TYPE:
			check_type_name(binding, node);
			break;
		default:
			break;
	}
}

/* Raises an error if the filter of a query names a key attribute. */
static void
check_no_keys(const KvBinding *binding)
{
	const KvTree *tree = binding->tree;

	for (int i = 0; i < tree->path_count; i++)
		if (binding->path_key[i] >= 0 && binding->path_key[i] < kv_key_own_count(binding->schema))
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(&tree->source, tree->path[i].span,
										  "key attribute \"%s\" is not allowed in the filter of a query",
										  binding->schema->attribute[binding->path_key[i]].name),
					 errhint("Put conditions on key attributes into the key condition.")));
}

/* Raises an error if something is wrong with a condition whatever the item. */
void
kv_condition_check(const KvBinding *binding)
{
	if (binding->tree->source.kind == KV_EXPRESSION_FILTER)
		check_no_keys(binding);
	check_node(binding, binding->tree->root);
}
