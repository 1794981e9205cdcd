/*
 * expression_key_condition.c
 *	  Key conditions to the range of keys that they name.
 *
 * partition key = :value, and at most one condition on the sort key: =, <,
 * <=, >, >=, BETWEEN or begins_with, joined by AND in either order (DynamoDB
 * Developer Guide, "Key condition expressions for the Query operation").
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* The conditions found so far, by position of their key attribute. */
typedef struct KeyConditions
{
	const KvBinding *binding;
	const KvNode *node[KV_MAX_TABLE_KEYS];
	const KvNode *path[KV_MAX_TABLE_KEYS];	/* the key attribute in it */
	bool		flipped[KV_MAX_TABLE_KEYS];	/* the value stands on the left */
} KeyConditions;

/* Returns the source for error messages. */
static inline const KvSource *
source_of(const KeyConditions *conditions)
{
	return &conditions->binding->tree->source;
}

/* Returns the names of the key attributes for a DETAIL. */
static const char *
key_names(const KvKeySchema *schema)
{
	if (kv_key_own_count(schema) == 1)
		return psprintf("The key attribute is \"%s\".", schema->attribute[0].name);
	return psprintf("The key attributes are \"%s\" (partition key) and \"%s\" (sort key).",
					schema->attribute[0].name, schema->attribute[1].name);
}

/* Returns which key attribute a path node is; an error if it is none. */
static int
key_of_path(const KeyConditions *conditions, const KvNode *path)
{
	const KvBinding *binding = conditions->binding;

	if (binding->tree->path[path->number].step_count > 1)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source_of(conditions), path->span,
									  "nested attributes are not supported in a key condition"),
				 errdetail_internal("%s", key_names(binding->schema))));
	if (binding->path_key[path->number] < 0 ||
		binding->path_key[path->number] >= kv_key_own_count(binding->schema))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source_of(conditions), path->span,
									  "attribute is not a key attribute"),
				 errdetail_internal("%s", key_names(binding->schema)),
				 errhint("Put conditions on other attributes into the filter.")));
	return binding->path_key[path->number];
}

/* Takes one condition: checks its shape and files it under its key attribute. */
static void
take_condition(KeyConditions *conditions, const KvNode *node)
{
	bool		flipped = (node->type >= KV_NODE_EQ && node->type <= KV_NODE_GE &&
						   node->argument[0]->type == KV_NODE_VALUE);
	const KvNode *path = node->argument[flipped ? 1 : 0];
	int			key;

	if (path->type != KV_NODE_PATH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source_of(conditions), path->span,
									  "a key condition compares a key attribute with a :value")));
	key = key_of_path(conditions, path);
	for (int i = 0; i < node->argument_count; i++)
		if (node->argument[i] != path && node->argument[i]->type != KV_NODE_VALUE)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(source_of(conditions), node->argument[i]->span,
										  "a key condition compares a key attribute with a :value")));
	if (conditions->node[key] != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source_of(conditions), path->span,
									  "only one condition per key attribute is allowed"),
				 key == 1 ? errhint("Use BETWEEN for a range with two ends.") : 0));
	conditions->node[key] = node;
	conditions->path[key] = path;
	conditions->flipped[key] = flipped;
}

/* Walks through the ANDs; without a key only the operators are looked at. */
static void
collect_conditions(KeyConditions *conditions, const KvNode *node)
{
	check_stack_depth();
	switch (node->type)
	{
		case KV_NODE_AND:
			for (int i = 0; i < node->argument_count; i++)
				collect_conditions(conditions, node->argument[i]);
			break;
		case KV_NODE_EQ:
		case KV_NODE_LT:
		case KV_NODE_LE:
		case KV_NODE_GT:
		case KV_NODE_GE:
		case KV_NODE_BETWEEN:
		case KV_NODE_BEGINS_WITH:
			if (conditions->binding->schema->count > 0)
				take_condition(conditions, node);
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(source_of(conditions), node->span,
										  "operator is not supported in a key condition"),
					 errhint("A key condition is: partition key = :value, and at most one of =, <, <=, >, >=, BETWEEN, begins_with on the sort key.")));
	}
}

/* Reads the value of an argument as a key value of the attribute's type. */
static Datum
key_value(const KeyConditions *conditions, int key, const KvNode *argument)
{
	const KvBinding *binding = conditions->binding;
	const KvKeyAttribute *attribute = &binding->schema->attribute[key];
	const KvOperand *operand = &binding->value[argument->number];
	const char *type = kv_value_type_name(operand->type);

	if (type[0] != attribute->type || type[1] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source_of(conditions), argument->span,
									  "value is of type %s, but key attribute \"%s\" is of type %c",
									  type, attribute->name, attribute->type)));
	return kv_key_from_value(attribute, key, &operand->value);
}

/* Sets one bound. */
static void
set_bound(KvBound *bound, bool inclusive, Datum value)
{
	bound->present = true;
	bound->inclusive = inclusive;
	bound->value = value;
}

/* Sets both bounds from BETWEEN. */
static void
bind_between(const KeyConditions *conditions, int key, KvKeyRange *range)
{
	const KvNode *node = conditions->node[key];
	KvKeyType	type = conditions->binding->schema->attribute[key].type;
	Datum		low = key_value(conditions, key, node->argument[1]);
	Datum		high = key_value(conditions, key, node->argument[2]);

	if (kv_key_compare(type, low, high) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source_of(conditions), node->argument[2]->span,
									  "the upper bound of BETWEEN is less than the lower bound")));
	set_bound(&range->low, true, low);
	set_bound(&range->high, true, high);
}

/* Sets both bounds from begins_with. */
static void
bind_begins_with(const KeyConditions *conditions, int key, KvKeyRange *range)
{
	const KvNode *node = conditions->node[key];
	KvKeyType	type = conditions->binding->schema->attribute[key].type;

	if (type == KV_KEY_NUMBER)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(source_of(conditions), node->span,
									  "begins_with needs a sort key of type S or B, not N")));
	kv_key_prefix_range(type, key_value(conditions, key, node->argument[1]),
						&range->low, &range->high);
}

/* Sets the bounds from the condition on the sort key. */
static void
bind_sort_key(const KeyConditions *conditions, KvKeyRange *range)
{
	const int	key = 1;
	const KvNode *node = conditions->node[key];
	bool		flipped = conditions->flipped[key];
	Datum		value;

	if (node->type == KV_NODE_BETWEEN)
	{
		bind_between(conditions, key, range);
		return;
	}
	if (node->type == KV_NODE_BEGINS_WITH)
	{
		bind_begins_with(conditions, key, range);
		return;
	}
	value = key_value(conditions, key, node->argument[flipped ? 0 : 1]);
	switch (node->type)
	{
		case KV_NODE_EQ:
			set_bound(&range->low, true, value);
			set_bound(&range->high, true, value);
			break;
		case KV_NODE_LT:
		case KV_NODE_LE:
			set_bound(flipped ? &range->low : &range->high, node->type == KV_NODE_LE, value);
			break;
		case KV_NODE_GT:
		case KV_NODE_GE:
			set_bound(flipped ? &range->high : &range->low, node->type == KV_NODE_GE, value);
			break;
		default:
			elog(ERROR, "unexpected key condition %d", (int) node->type);
	}
}

/* Raises the error of a key condition that is wrong whatever the key. */
void
kv_key_condition_check(text *expression, KvPlaceholders *placeholders)
{
	static const KvKeySchema no_key;
	KvBinding	binding;
	KeyConditions conditions = {0};

	kv_expression_bind(&binding, KV_EXPRESSION_KEY_CONDITION, expression, placeholders, &no_key);
	conditions.binding = &binding;
	collect_conditions(&conditions, binding.tree->root);
}

/* Binds a key condition and gives the range of keys that it names. */
void
kv_key_condition_bind(text *expression, KvPlaceholders *placeholders,
					  const KvKeySchema *schema, KvKeyRange *range)
{
	KvBinding	binding;
	KeyConditions conditions = {0};
	const KvNode *node;

	kv_expression_bind(&binding, KV_EXPRESSION_KEY_CONDITION, expression, placeholders, schema);
	conditions.binding = &binding;
	collect_conditions(&conditions, binding.tree->root);

	node = conditions.node[0];
	if (node == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("invalid %s: no condition on the partition key \"%s\"",
						kv_expression_kind_name(KV_EXPRESSION_KEY_CONDITION),
						schema->attribute[0].name),
				 errhint("A key condition fixes the partition key by = and may narrow the sort key.")));
	if (node->type != KV_NODE_EQ)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&binding.tree->source, node->span,
									  "operator is not supported on the partition key \"%s\"",
									  schema->attribute[0].name),
				 errhint("Compare the partition key by =.")));
	memset(range, 0, sizeof(KvKeyRange));
	range->partition_key = key_value(&conditions, 0, node->argument[conditions.flipped[0] ? 0 : 1]);
	if (conditions.node[1] != NULL)
		bind_sort_key(&conditions, range);
}
