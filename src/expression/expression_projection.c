/*
 * expression_projection.c
 *	  Projections: the parts of an item that some paths lead to.
 *
 * The result keeps the item's nesting; elements of a list close up in their
 * old order; a container of which nothing was found is left out.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

struct KvProjection
{
	KvBinding	binding;
	KvPathNode *root;
};

static bool project_container(const KvPathNode *node, JsonbContainer *container, JsonbValue *result);

/* Binds a projection. */
KvProjection *
kv_projection_bind(text *expression, KvPlaceholders *placeholders, const KvKeySchema *schema)
{
	KvProjection *projection = palloc(sizeof(KvProjection));

	kv_expression_bind(&projection->binding, KV_EXPRESSION_PROJECTION, expression, placeholders, schema);
	projection->root = kv_path_node_create();
	for (int i = 0; i < projection->binding.tree->path_count; i++)
		kv_path_node_add(projection->root, &projection->binding, i, i);
	return projection;
}

/* Adds a whole attribute to the paths; the first time counts. */
static void
add_attribute(KvPathNode *root, const char *data, int length, int key)
{
	KvName		name = {data, length};
	KvPathNode *node = kv_path_node_child(root, name, -1);

	if (node->leaf >= 0)
		return;
	node->leaf = 0;
	node->key = key;
}

/* Makes a projection of whole attributes. */
KvProjection *
kv_projection_of_attributes(const KvKeySchema *schema, bool with_keys, char *const *names, int count)
{
	KvProjection *projection = palloc0(sizeof(KvProjection));

	projection->root = kv_path_node_create();
	for (int i = 0; with_keys && i < schema->count; i++)
		add_attribute(projection->root, schema->attribute[i].name, schema->attribute[i].name_length, i);
	for (int i = 0; i < count; i++)
		add_attribute(projection->root, names[i], strlen(names[i]), -1);
	return projection;
}

/* Returns the first attribute that the projection reads and that is neither a key attribute nor one of names. */
char *
kv_projection_find_other(const KvProjection *projection, char *const *names, int count)
{
	for (const KvPathNode *node = projection->root->child; node != NULL; node = node->next)
	{
		bool		found = node->key >= 0;

		for (int i = 0; i < count && !found; i++)
			found = strlen(names[i]) == node->name.length &&
				memcmp(names[i], node->name.data, node->name.length) == 0;
		if (!found)
			return pnstrdup(node->name.data, node->name.length);
	}
	return NULL;
}

/* Gives what the paths at and below a node take of a value that was found there. */
static bool
project_value(const KvPathNode *node, const JsonbValue *found, JsonbValue *result)
{
	if (node->leaf >= 0)
	{
		*result = *found;
		return true;
	}
	return kv_path_can_enter(found) &&
		project_container(node, found->val.binary.data, result);
}

/* Gives what the paths below a node take of a list. */
static bool
project_list(const KvPathNode *node, JsonbContainer *list, JsonbValue *result)
{
	JsonbValue *element = palloc(kv_path_node_child_count(node) * sizeof(JsonbValue));
	int			count = 0;

	for (const KvPathNode *child = node->child; child != NULL; child = child->next)
	{
		JsonbValue	found;

		if (kv_path_find_in_list(list, child->index, &found) &&
			project_value(child, &found, &element[count]))
			count++;
	}
	result->type = jbvArray;
	result->val.array.nElems = count;
	result->val.array.elems = element;
	result->val.array.rawScalar = false;
	return count > 0;
}

/* Gives what the paths below a node take of a map. */
static bool
project_map(const KvPathNode *node, JsonbContainer *map, JsonbValue *result)
{
	JsonbPair  *pair = palloc(kv_path_node_child_count(node) * sizeof(JsonbPair));
	int			count = 0;

	for (const KvPathNode *child = node->child; child != NULL; child = child->next)
	{
		JsonbValue	found;

		if (kv_path_find_in_map(map, true, child->name, &found) &&
			project_value(child, &found, &pair[count].value))
			kv_path_name_to_key(child->name, &pair[count++].key);
	}
	kv_path_finish_map(pair, count, result);
	return count > 0;
}

/* Gives what the paths below a node take of a container. */
static bool
project_container(const KvPathNode *node, JsonbContainer *container, JsonbValue *result)
{
	check_stack_depth();
	if (JsonContainerIsArray(container))
		return node->child->index >= 0 && project_list(node, container, result);
	return node->child->index < 0 && project_map(node, container, result);
}

/* Gives what the paths at and below a node of the top level take of an item. */
static bool
project_attribute(const KvPathNode *node, const KvItemView *view, JsonbValue *result)
{
	JsonbValue	found;

	if (node->key >= 0)
	{
		if (node->leaf < 0)
			return false;
		kv_key_to_value(view->schema->attribute[node->key].type, view->key[node->key], result);
		return true;
	}
	return kv_path_find_in_map(&view->rest->root, false, node->name, &found) &&
		project_value(node, &found, result);
}

/* Gives what the paths of a tree take of an item; NULL is an item that does not exist. */
Jsonb *
kv_path_node_project(const KvPathNode *root, const KvItemView *view)
{
	JsonbValue	item;
	JsonbPair  *pair = palloc((kv_path_node_child_count(root) + 1) * sizeof(JsonbPair));
	int			count = 0;

	for (const KvPathNode *child = view ? root->child : NULL; child != NULL; child = child->next)
		if (project_attribute(child, view, &pair[count].value))
			kv_path_name_to_key(child->name, &pair[count++].key);
	item.type = jbvObject;
	item.val.object.nPairs = count;
	item.val.object.pairs = pair;
	return kv_json_write(&item);
}

/* Returns the projected part of the item. */
Jsonb *
kv_projection_apply(const KvProjection *projection, const KvItemView *view)
{
	return kv_path_node_project(projection->root, view);
}
