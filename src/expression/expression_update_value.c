/*
 * expression_update_value.c
 *	  The values of updates: the right sides of SET (+, -, if_not_exists,
 *	  list_append), and what ADD, DELETE and REMOVE leave.
 *
 * Everything is read from the item as it was before the update.  Arithmetic
 * is exact: a result of more than 38 digits or out of range is an error.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/numeric.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* What values are computed with. */
typedef struct Evaluation
{
	const KvBinding *binding;
	const KvItemView *view;
} Evaluation;

static void evaluate(const Evaluation *evaluation, const KvNode *node, KvOperand *result);

/* Raises the error for an operand whose type does not fit. */
static void
wrong_type(const Evaluation *evaluation, KvSpan span, const char *what, KvValueType type)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(&evaluation->binding->tree->source, span,
								  "incorrect data type for %s in the item: %s", what, kv_value_type_name(type))));
}

/* Evaluates an operand that must be a number. */
static Numeric
evaluate_number(const Evaluation *evaluation, const KvNode *node, const char *operator)
{
	KvOperand	operand;

	evaluate(evaluation, node, &operand);
	if (operand.type != KV_TYPE_NUMBER)
		wrong_type(evaluation, node->span, operator, operand.type);
	return operand.value.val.numeric;
}

/* Makes an operand of a computed number. */
static void
number_operand(Numeric number, KvOperand *result)
{
	result->type = KV_TYPE_NUMBER;
	result->value.type = jbvNumeric;
	result->value.val.numeric = kv_number_normalize(number);
	result->bytes = NULL;
}

/* Evaluates + and -. */
static void
evaluate_arithmetic(const Evaluation *evaluation, const KvNode *node, KvOperand *result)
{
	bool		plus = (node->type == KV_NODE_PLUS);
	Numeric		left = evaluate_number(evaluation, node->argument[0], plus ? "+" : "-");
	Numeric		right = evaluate_number(evaluation, node->argument[1], plus ? "+" : "-");

	number_operand(plus ? numeric_add_opt_error(left, right, NULL) :
				   numeric_sub_opt_error(left, right, NULL), result);
}

/* Evaluates if_not_exists: what is at the path, or else the second operand. */
static void
evaluate_if_not_exists(const Evaluation *evaluation, const KvNode *node, KvOperand *result)
{
	if (!kv_path_find(evaluation->binding, node->argument[0]->number, evaluation->view, result))
		evaluate(evaluation, node->argument[1], result);
}

/* Returns the number of elements of a list, stored or built. */
static int
list_length(const KvOperand *list)
{
	return list->value.type == jbvArray ? list->value.val.array.nElems :
		JsonContainerSize(list->value.val.binary.data);
}

/* Copies the elements of a list. */
static void
copy_elements(const KvOperand *list, JsonbValue *element)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	part;

	if (list->value.type == jbvArray)
	{
		memcpy(element, list->value.val.array.elems, list->value.val.array.nElems * sizeof(JsonbValue));
		return;
	}
	iterator = JsonbIteratorInit(list->value.val.binary.data);
	while ((token = JsonbIteratorNext(&iterator, &part, true)) != WJB_DONE)
		if (token == WJB_ELEM)
			*element++ = part;
}

/* Evaluates list_append: the elements of the first list, then those of the second. */
static void
evaluate_list_append(const Evaluation *evaluation, const KvNode *node, KvOperand *result)
{
	KvOperand	list[2];
	int			first_length;
	int			length;
	JsonbValue *element;

	for (int i = 0; i < 2; i++)
	{
		evaluate(evaluation, node->argument[i], &list[i]);
		if (list[i].type != KV_TYPE_LIST)
			wrong_type(evaluation, node->argument[i]->span, "list_append", list[i].type);
	}
	first_length = list_length(&list[0]);
	length = first_length + list_length(&list[1]);
	element = palloc(Max(length, 1) * sizeof(JsonbValue));
	copy_elements(&list[0], element);
	copy_elements(&list[1], element + first_length);

	result->type = KV_TYPE_LIST;
	result->value.type = jbvArray;
	result->value.val.array.nElems = length;
	result->value.val.array.elems = element;
	result->value.val.array.rawScalar = false;
	result->bytes = NULL;
}

/* Evaluates an operand or a whole right side. */
static void
evaluate(const Evaluation *evaluation, const KvNode *node, KvOperand *result)
{
	const KvBinding *binding = evaluation->binding;

	check_stack_depth();
	switch (node->type)
	{
		case KV_NODE_PATH:
			if (!kv_path_find(binding, node->number, evaluation->view, result))
				ereport(ERROR,
						(errcode(ERRCODE_KV_VALIDATION),
						 kv_expression_errmsg(&binding->tree->source, node->span,
											  "attribute does not exist in the item"),
						 errhint("Use if_not_exists(path, value) to give a value for that case.")));
			break;
		case KV_NODE_VALUE:
			*result = binding->value[node->number];
			break;
		case KV_NODE_PLUS:
		case KV_NODE_MINUS:
			evaluate_arithmetic(evaluation, node, result);
			break;
		case KV_NODE_IF_NOT_EXISTS:
			evaluate_if_not_exists(evaluation, node, result);
			break;
		case KV_NODE_LIST_APPEND:
			evaluate_list_append(evaluation, node, result);
			break;
		default:
			elog(ERROR, "unexpected operand %d", (int) node->type);
	}
}

/* Adds a number to a number, or the members of a set to a set. */
static void
add_value(const Evaluation *evaluation, const KvAction *action, const KvOperand *old, JsonbValue *result)
{
	const KvOperand *value = &evaluation->binding->value[action->value->number];
	KvOperand	sum;

	if (old->type != value->type)
		wrong_type(evaluation, evaluation->binding->tree->path[action->path].span, "ADD", old->type);
	if (value->type != KV_TYPE_NUMBER)
	{
		kv_set_union(old, value, result);
		return;
	}
	number_operand(numeric_add_opt_error(old->value.val.numeric, value->value.val.numeric, NULL), &sum);
	*result = sum.value;
}

/* Takes the members of a set from a set; false if none are left. */
static bool
delete_value(const Evaluation *evaluation, const KvAction *action, const KvOperand *old, JsonbValue *result)
{
	const KvOperand *value = &evaluation->binding->value[action->value->number];

	if (old->type != value->type)
		wrong_type(evaluation, evaluation->binding->tree->path[action->path].span, "DELETE", old->type);
	return kv_set_difference(old, value, result);
}

/* Gives the value that an action leaves at its path; false if it leaves nothing. */
bool
kv_update_value(const KvBinding *binding, const KvItemView *view, int number,
				const JsonbValue *old, JsonbValue *result)
{
	const KvAction *action = &binding->tree->action[number];
	Evaluation	evaluation;
	KvOperand	operand;

	evaluation.binding = binding;
	evaluation.view = view;
	if (old)
		kv_operand_from_value(old, &operand);
	switch (action->clause)
	{
		case KV_CLAUSE_SET:
			evaluate(&evaluation, action->value, &operand);
			kv_operand_to_value(&operand, result);
			return true;
		case KV_CLAUSE_REMOVE:
			return false;
		case KV_CLAUSE_ADD:
			if (old)
				add_value(&evaluation, action, &operand, result);
			else
				kv_operand_to_value(&binding->value[action->value->number], result);
			return true;
		case KV_CLAUSE_DELETE:
			return old && delete_value(&evaluation, action, &operand, result);
	}
	return false;
}
