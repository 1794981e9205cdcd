/*
 * expression_update_check.c
 *	  What is wrong with an update before any item is looked at: key
 *	  attributes among its paths, and :values of types that do not fit.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* Returns the type of an operand that does not depend on the item; -1 if it does. */
static int
known_type(const KvBinding *binding, const KvNode *operand)
{
	switch (operand->type)
	{
		case KV_NODE_VALUE:
			return binding->value[operand->number].type;
		case KV_NODE_PLUS:
		case KV_NODE_MINUS:
			return KV_TYPE_NUMBER;
		case KV_NODE_LIST_APPEND:
			return KV_TYPE_LIST;
		default:
			return -1;
	}
}

/* Raises an error if the operands of an operator or function are known not to be of the type that it takes. */
static void
check_operands(const KvBinding *binding, const KvNode *node, KvValueType wanted)
{
	for (int i = 0; i < node->argument_count; i++)
	{
		int			type = known_type(binding, node->argument[i]);

		if (type >= 0 && type != wanted)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(&binding->tree->source, node->argument[i]->span,
										  "incorrect operand type for %.*s: %s",
										  node->span.length, binding->tree->source.text + node->span.start,
										  kv_value_type_name(type))));
	}
}

/* Checks a right side of SET. */
static void
check_value(const KvBinding *binding, const KvNode *node)
{
	check_stack_depth();
	for (int i = 0; i < node->argument_count; i++)
		check_value(binding, node->argument[i]);
	switch (node->type)
	{
		case KV_NODE_PLUS:
		case KV_NODE_MINUS:
			check_operands(binding, node, KV_TYPE_NUMBER);
			break;
		case KV_NODE_LIST_APPEND:
			check_operands(binding, node, KV_TYPE_LIST);
			break;
		case KV_NODE_IF_NOT_EXISTS:
			if (node->argument[0]->type != KV_NODE_PATH)
				ereport(ERROR,
						(errcode(ERRCODE_KV_VALIDATION),
						 kv_expression_errmsg(&binding->tree->source, node->argument[0]->span,
											  "the first operand of if_not_exists must be a document path")));
			break;
		default:
			break;
	}
}

/* Checks the :value of ADD or DELETE. */
static void
check_added(const KvBinding *binding, const KvAction *action)
{
	KvValueType type = binding->value[action->value->number].type;
	bool		add = (action->clause == KV_CLAUSE_ADD);

	if (type == KV_TYPE_STRING_SET || type == KV_TYPE_NUMBER_SET || type == KV_TYPE_BINARY_SET ||
		(add && type == KV_TYPE_NUMBER))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(&binding->tree->source, action->value->span,
								  "incorrect operand type for %s: %s",
								  add ? "ADD" : "DELETE", kv_value_type_name(type)),
			 add ? errhint("ADD takes a number or a set; list_append extends a list.") :
			 errhint("DELETE takes a set; REMOVE removes an attribute.")));
}

/* Raises an error if something is wrong with an update whatever the item. */
void
kv_update_check(const KvBinding *binding)
{
	const KvTree *tree = binding->tree;

	for (int i = 0; i < tree->action_count; i++)
	{
		const KvAction *action = &tree->action[i];

		if (binding->path_key[action->path] >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(&tree->source, tree->path[action->path].span,
										  "attribute \"%s\" is part of the key and cannot be updated",
										  binding->schema->attribute[binding->path_key[action->path]].name)));
		if (action->clause == KV_CLAUSE_SET)
			check_value(binding, action->value);
		else if (action->clause != KV_CLAUSE_REMOVE)
			check_added(binding, action);
	}
}
