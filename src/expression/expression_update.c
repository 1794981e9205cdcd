/*
 * expression_update.c
 *	  Updates: putting the values of all actions into an item at once.
 *
 * The paths of the actions form a tree (expression_path.c), and one walk over
 * it and the item side by side builds the result; what no path touches is
 * copied as it lies.  Since the walk reads the old item only, all right sides
 * see the item as it was, and list indexes count in the old list: elements
 * that are removed close up, those set behind the end are appended in order.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

struct KvUpdate
{
	KvBinding	binding;
	KvPathNode *root;			/* leaves are numbers of actions */
};

/* One walk. */
typedef struct Walk
{
	const KvBinding *binding;
	const KvItemView *view;		/* NULL: no item */
} Walk;

static bool apply_node(const Walk *walk, const KvPathNode *node, const JsonbValue *old, int level, JsonbValue *result);

/* Binds an update. */
KvUpdate *
kv_update_bind(text *expression, KvPlaceholders *placeholders, const KvKeySchema *schema)
{
	KvUpdate   *update = palloc(sizeof(KvUpdate));
	const KvTree *tree;

	kv_expression_bind(&update->binding, KV_EXPRESSION_UPDATE, expression, placeholders, schema);
	kv_update_check(&update->binding);
	update->root = kv_path_node_create();
	tree = update->binding.tree;
	for (int i = 0; i < tree->action_count; i++)
		kv_path_node_add(update->root, &update->binding, tree->action[i].path, i);
	return update;
}

/* Returns the number of the first action at or below a node. */
static int
first_action(const KvPathNode *node)
{
	while (node->leaf < 0)
		node = node->child;
	return node->leaf;
}

/* Tells whether an action only takes away. */
static bool
action_removes(const KvAction *action)
{
	return action->clause == KV_CLAUSE_REMOVE || action->clause == KV_CLAUSE_DELETE;
}

/* Raises the error for a path whose parent is not there or of the wrong kind. */
static void
invalid_path(const Walk *walk, const KvPathNode *node)
{
	const KvTree *tree = walk->binding->tree;
	const KvAction *action = &tree->action[first_action(node)];

	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(&tree->source, tree->path[action->path].span,
								  "document path is invalid for update"),
			 errdetail("What is before the last step must be a map, or a list for an index, in the item."),
			 errhint("Create it in an update before this one, by SET path = if_not_exists(path, :empty), or set it as a whole.")));
}

/* Returns how many levels of maps and lists a value has, 0 for other values. */
static int
value_depth(const JsonbValue *value)
{
	int			deepest = 0;
	int			depth;

	check_stack_depth();
	if (value->type == jbvArray)
	{
		for (int i = 0; i < value->val.array.nElems; i++)
		{
			depth = value_depth(&value->val.array.elems[i]);
			deepest = Max(deepest, depth);
		}
		return deepest + 1;
	}
	if (kv_path_can_enter(value))
	{
		JsonbIterator *iterator = JsonbIteratorInit(value->val.binary.data);
		JsonbIteratorToken token;
		JsonbValue	part;

		while ((token = JsonbIteratorNext(&iterator, &part, true)) != WJB_DONE)
		{
			if (token != WJB_VALUE && token != WJB_ELEM)
				continue;
			depth = value_depth(&part);
			deepest = Max(deepest, depth);
		}
		return deepest + 1;
	}
	return 0;
}

/* Raises an error if a value that is set at a level makes the item too deep; at the first level it cannot. */
static void
check_depth(const Walk *walk, const KvAction *action, int level, const JsonbValue *value)
{
	const KvTree *tree = walk->binding->tree;

	if (level > 1 && action->clause == KV_CLAUSE_SET && level - 1 + value_depth(value) > KV_MAX_DEPTH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 kv_expression_errmsg(&tree->source, tree->path[action->path].span,
									  "the value makes the item nest more than %d levels deep",
									  KV_MAX_DEPTH)));
}

/* Orders names as jsonb does. */
static int
compare_names(KvName a, KvName b)
{
	return kv_name_compare(a.data, a.length, b.data, b.length);
}

/* Applies the actions at a step that the map does not have. */
static void
add_pair(const Walk *walk, const KvPathNode *child, int level, JsonbPair *pair, int *count)
{
	if (apply_node(walk, child, NULL, level, &pair[*count].value))
		kv_path_name_to_key(child->name, &pair[(*count)++].key);
}

/* Applies the actions below a node to a map; gives sorted pairs. */
static int
apply_map(const Walk *walk, const KvPathNode *node, JsonbContainer *map, int level, JsonbPair **result)
{
	int			old_count = map ? JsonContainerSize(map) : 0;
	JsonbPair  *pair = palloc((old_count + kv_path_node_child_count(node)) * sizeof(JsonbPair));
	const KvPathNode *child = node->child;
	int			count = 0;
	JsonbIterator *iterator = map ? JsonbIteratorInit(map) : NULL;
	JsonbIteratorToken token;
	JsonbValue	part;
	KvName		name = {NULL, 0};

	while (iterator && (token = JsonbIteratorNext(&iterator, &part, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			name.data = part.val.string.val;
			name.length = part.val.string.len;
			if (level > 1 && old_count == 1)
				name = kv_path_unescape_name(name);
		}
		if (token != WJB_VALUE)
			continue;
		for (; child != NULL && compare_names(child->name, name) < 0; child = child->next)
			add_pair(walk, child, level, pair, &count);
		if (child != NULL && compare_names(child->name, name) == 0)
		{
			if (apply_node(walk, child, &part, level, &pair[count].value))
				kv_path_name_to_key(child->name, &pair[count++].key);
			child = child->next;
		}
		else
		{
			kv_path_name_to_key(name, &pair[count].key);
			pair[count++].value = part;
		}
	}
	for (; child != NULL; child = child->next)
		add_pair(walk, child, level, pair, &count);
	*result = pair;
	return count;
}

/* Applies the actions below a node to a list. */
static void
apply_list(const Walk *walk, const KvPathNode *node, JsonbContainer *list, int level, JsonbValue *result)
{
	int			old_count = JsonContainerSize(list);
	JsonbValue *element = palloc((old_count + kv_path_node_child_count(node)) * sizeof(JsonbValue));
	const KvPathNode *child = node->child;
	int			count = 0;
	int			index = 0;
	JsonbIterator *iterator = JsonbIteratorInit(list);
	JsonbIteratorToken token;
	JsonbValue	part;

	while ((token = JsonbIteratorNext(&iterator, &part, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		if (child != NULL && child->index == index)
		{
			if (apply_node(walk, child, &part, level, &element[count]))
				count++;
			child = child->next;
		}
		else
			element[count++] = part;
		index++;
	}
	for (; child != NULL; child = child->next)
		if (apply_node(walk, child, NULL, level, &element[count]))
			count++;
	result->type = jbvArray;
	result->val.array.nElems = count;
	result->val.array.elems = element;
	result->val.array.rawScalar = false;
}

/*
 * Applies the actions at and below a node; old is what is there, or NULL.
 * Level counts path steps from 1.  False if nothing is left there.
 */
static bool
apply_node(const Walk *walk, const KvPathNode *node, const JsonbValue *old, int level, JsonbValue *result)
{
	JsonbContainer *container;
	JsonbPair  *pair;
	int			count;

	check_stack_depth();
	if (node->leaf >= 0)
	{
		if (!kv_update_value(walk->binding, walk->view, node->leaf, old, result))
			return false;
		check_depth(walk, &walk->binding->tree->action[node->leaf], level, result);
		return true;
	}
	if (old == NULL || !kv_path_can_enter(old))
		invalid_path(walk, node);
	container = old->val.binary.data;
	if (JsonContainerIsArray(container) != (node->child->index >= 0))
		invalid_path(walk, node);
	if (JsonContainerIsArray(container))
	{
		apply_list(walk, node, container, level + 1, result);
		return true;
	}
	count = apply_map(walk, node, container, level + 1, &pair);
	kv_path_finish_map(pair, count, result);
	return true;
}

/* Returns the rest of the item after the update. */
Jsonb *
kv_update_apply(const KvUpdate *update, const KvItemView *view)
{
	Walk		walk;
	JsonbValue	item;

	walk.binding = &update->binding;
	walk.view = view;
	item.type = jbvObject;
	item.val.object.nPairs = apply_map(&walk, update->root, view ? &view->rest->root : NULL, 1,
									   &item.val.object.pairs);
	return kv_json_write(&item);
}

/* Tells whether the update only takes away. */
bool
kv_update_only_removes(const KvUpdate *update)
{
	const KvTree *tree = update->binding.tree;

	for (int i = 0; i < tree->action_count; i++)
		if (!action_removes(&tree->action[i]))
			return false;
	return true;
}

/* Returns what the paths of the update lead to. */
Jsonb *
kv_update_touched(const KvUpdate *update, const KvItemView *view)
{
	return kv_path_node_project(update->root, view);
}
