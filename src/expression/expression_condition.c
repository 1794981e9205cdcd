/*
 * expression_condition.c
 *	  Conditions and filters: answering them for an item.
 *
 * An operand that leads to nothing makes every comparison false, but <>
 * true: DynamoDB takes a missing attribute as different from everything, from
 * another missing one too.  A size() of something without a size makes every
 * comparison false.  What can be told from the text and the :values alone is
 * checked when the condition is bound (expression_condition_check.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/numeric.h"

#include "expression/expression_tree.h"

struct KvCondition
{
	KvBinding	binding;
};

/* What a condition is answered with. */
typedef struct Evaluation
{
	const KvBinding *binding;
	const KvItemView *view;
} Evaluation;

static bool holds(const Evaluation *evaluation, const KvNode *node);

/* Binds a condition or filter. */
KvCondition *
kv_condition_bind(KvExpressionKind kind, text *expression,
				  KvPlaceholders *placeholders, const KvKeySchema *schema)
{
	KvCondition *condition = palloc(sizeof(KvCondition));

	kv_expression_bind(&condition->binding, kind, expression, placeholders, schema);
	kv_condition_check(&condition->binding);
	return condition;
}

static const KvOperand *get_operand(const Evaluation *evaluation, const KvNode *node, KvOperand *space);

/* Gives the value of size(). */
static const KvOperand *
get_size(const Evaluation *evaluation, const KvNode *node, KvOperand *space)
{
	KvOperand	argument_space;
	const KvOperand *argument = get_operand(evaluation, node->argument[0], &argument_space);
	int64		size;

	if (argument == NULL || !kv_function_size(argument, &size))
		return NULL;
	space->type = KV_TYPE_NUMBER;
	space->value.type = jbvNumeric;
	space->value.val.numeric = int64_to_numeric(size);
	space->bytes = NULL;
	return space;
}

/* Gives the value of an operand; NULL if there is none.  May use space for it. */
static const KvOperand *
get_operand(const Evaluation *evaluation, const KvNode *node, KvOperand *space)
{
	switch (node->type)
	{
		case KV_NODE_PATH:
			return kv_path_find(evaluation->binding, node->number, evaluation->view, space) ? space : NULL;
		case KV_NODE_VALUE:
			return &evaluation->binding->value[node->number];
		case KV_NODE_SIZE:
			return get_size(evaluation, node, space);
		default:
			elog(ERROR, "unexpected operand %d", (int) node->type);
			return NULL;
	}
}

/* Frees what get_operand allocated. */
static void
free_operand(const KvNode *node, const KvOperand *operand)
{
	if (node->type == KV_NODE_SIZE && operand != NULL)
		pfree(operand->value.val.numeric);
}

/* Answers a comparison of two operands that are there. */
static bool
compare(KvNodeType type, const KvOperand *left, const KvOperand *right)
{
	int			order;

	if (type == KV_NODE_EQ)
		return kv_operand_equal(left, right);
	if (type == KV_NODE_NE)
		return !kv_operand_equal(left, right);
	if (left->type != right->type || !kv_operand_is_ordered(left))
		return false;
	order = kv_operand_compare(left, right);
	switch (type)
	{
		case KV_NODE_LT:
			return order < 0;
		case KV_NODE_LE:
			return order <= 0;
		case KV_NODE_GT:
			return order > 0;
		default:
			return order >= 0;
	}
}

/* Answers a comparison. */
static bool
comparison_holds(const Evaluation *evaluation, const KvNode *node)
{
	const KvNode *left_node = node->argument[0];
	const KvNode *right_node = node->argument[1];
	KvOperand	left_space;
	KvOperand	right_space;
	const KvOperand *left = get_operand(evaluation, left_node, &left_space);
	const KvOperand *right = get_operand(evaluation, right_node, &right_space);
	bool		result;

	if (left && right)
		result = compare(node->type, left, right);
	else
		result = node->type == KV_NODE_NE &&
			(left || left_node->type != KV_NODE_SIZE) &&
			(right || right_node->type != KV_NODE_SIZE);
	free_operand(left_node, left);
	free_operand(right_node, right);
	return result;
}

/* Answers BETWEEN. */
static bool
between_holds(const Evaluation *evaluation, const KvNode *node)
{
	KvOperand	space[3];
	const KvOperand *operand[3];
	bool		result;

	for (int i = 0; i < 3; i++)
		operand[i] = get_operand(evaluation, node->argument[i], &space[i]);
	result = operand[0] && operand[1] && operand[2] &&
		compare(KV_NODE_GE, operand[0], operand[1]) &&
		compare(KV_NODE_LE, operand[0], operand[2]);
	for (int i = 0; i < 3; i++)
		free_operand(node->argument[i], operand[i]);
	return result;
}

/* Answers IN. */
static bool
in_holds(const Evaluation *evaluation, const KvNode *node)
{
	KvOperand	left_space;
	const KvOperand *left = get_operand(evaluation, node->argument[0], &left_space);
	bool		result = false;

	for (int i = 1; left && !result && i < node->argument_count; i++)
	{
		KvOperand	space;
		const KvOperand *candidate = get_operand(evaluation, node->argument[i], &space);

		result = candidate && kv_operand_equal(left, candidate);
		free_operand(node->argument[i], candidate);
	}
	free_operand(node->argument[0], left);
	return result;
}

/* Answers a function of two operands. */
static bool
function_holds(const Evaluation *evaluation, const KvNode *node)
{
	KvOperand	first_space;
	KvOperand	second_space;
	const KvOperand *first = get_operand(evaluation, node->argument[0], &first_space);
	const KvOperand *second = get_operand(evaluation, node->argument[1], &second_space);
	KvValueType type;
	bool		result = false;

	if (first && second)
	{
		if (node->type == KV_NODE_BEGINS_WITH)
			result = kv_function_begins_with(first, second);
		else if (node->type == KV_NODE_CONTAINS)
			result = kv_function_contains(first, second);
		else
			result = kv_function_type_of_name(second, &type) && first->type == type;
	}
	free_operand(node->argument[0], first);
	free_operand(node->argument[1], second);
	return result;
}

/* Answers a condition. */
static bool
holds(const Evaluation *evaluation, const KvNode *node)
{
	KvOperand	space;

	check_stack_depth();
	switch (node->type)
	{
		case KV_NODE_AND:
			for (int i = 0; i < node->argument_count; i++)
				if (!holds(evaluation, node->argument[i]))
					return false;
			return true;
		case KV_NODE_OR:
			for (int i = 0; i < node->argument_count; i++)
				if (holds(evaluation, node->argument[i]))
					return true;
			return false;
		case KV_NODE_NOT:
			return !holds(evaluation, node->argument[0]);
		case KV_NODE_EQ:
		case KV_NODE_NE:
		case KV_NODE_LT:
		case KV_NODE_LE:
		case KV_NODE_GT:
		case KV_NODE_GE:
			return comparison_holds(evaluation, node);
		case KV_NODE_BETWEEN:
			return between_holds(evaluation, node);
		case KV_NODE_IN:
			return in_holds(evaluation, node);
		case KV_NODE_ATTRIBUTE_EXISTS:
			return get_operand(evaluation, node->argument[0], &space) != NULL;
		case KV_NODE_ATTRIBUTE_NOT_EXISTS:
			return get_operand(evaluation, node->argument[0], &space) == NULL;
		case KV_NODE_ATTRIBUTE_TYPE:
		case KV_NODE_BEGINS_WITH:
		case KV_NODE_CONTAINS:
			return function_holds(evaluation, node);
		default:
			elog(ERROR, "unexpected condition %d", (int) node->type);
			return false;
	}
}

/* Tells whether the condition holds for the item; view NULL is an item that does not exist. */
bool
kv_condition_holds(const KvCondition *condition, const KvItemView *view)
{
	Evaluation	evaluation;

	evaluation.binding = &condition->binding;
	evaluation.view = view;
	return holds(&evaluation, condition->binding.tree->root);
}
