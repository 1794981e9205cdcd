/*
 * expression_bind.c
 *	  One tree and one call's placeholders: what every kind of expression
 *	  binds first.
 */
#include "postgres.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* Resolves every #name of the tree. */
static void
bind_names(KvBinding *binding, KvPlaceholders *placeholders)
{
	const KvTree *tree = binding->tree;

	binding->name = tree->name_count > 0 ? palloc(tree->name_count * sizeof(KvName)) : NULL;
	for (int i = 0; i < tree->name_count; i++)
	{
		KvSpan		span = tree->name[i].span;
		const KvName *name = kv_placeholders_name(placeholders, tree->source.text + span.start, span.length);

		if (name == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(&tree->source, span,
										  "attribute name placeholder is not defined"),
					 errhint("Give it in attribute_names.")));
		binding->name[i] = *name;
	}
}

/* Resolves every :value of the tree. */
static void
bind_values(KvBinding *binding, KvPlaceholders *placeholders)
{
	const KvTree *tree = binding->tree;

	binding->value = tree->value_count > 0 ? palloc(tree->value_count * sizeof(KvOperand)) : NULL;
	for (int i = 0; i < tree->value_count; i++)
	{
		KvSpan		span = tree->value[i].span;
		const KvOperand *value = kv_placeholders_value(placeholders, tree->source.text + span.start, span.length);

		if (value == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 kv_expression_errmsg(&tree->source, span,
										  "attribute value placeholder is not defined"),
					 errhint("Give it in attribute_values.")));
		binding->value[i] = *value;
	}
}

/* Finds out which paths begin with a key attribute. */
static void
bind_keys(KvBinding *binding)
{
	const KvTree *tree = binding->tree;
	const KvKeySchema *schema = binding->schema;

	binding->path_key = tree->path_count > 0 ? palloc(tree->path_count * sizeof(int8)) : NULL;
	for (int i = 0; i < tree->path_count; i++)
	{
		KvName		name = kv_path_step_name(binding, &tree->path[i].step[0]);

		binding->path_key[i] = -1;
		for (int k = 0; k < schema->count; k++)
			if (schema->attribute[k].name_length == name.length &&
				memcmp(schema->attribute[k].name, name.data, name.length) == 0)
				binding->path_key[i] = k;
	}
}

/* Fills a binding: finds or parses the tree and resolves its placeholders. */
void
kv_expression_bind(KvBinding *binding, KvExpressionKind kind, text *expression,
				   KvPlaceholders *placeholders, const KvKeySchema *schema)
{
	binding->tree = kv_expression_tree(kind, expression);
	binding->schema = schema;
	bind_names(binding, placeholders);
	bind_values(binding, placeholders);
	bind_keys(binding);
}
