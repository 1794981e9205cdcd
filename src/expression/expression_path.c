/*
 * expression_path.c
 *	  Document paths: finding what they lead to, and several of them as a tree.
 *
 * Paths are looked up in jsonb's containers as they lie; nothing is unpacked.
 * A step never goes into a marker ({"$B": ..} and the sets).  A map inside an
 * item whose only key would read as a marker is stored with one more "$"
 * (item.h); paths use the name without it.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* Returns the name of a path step, which must be no index. */
KvName
kv_path_step_name(const KvBinding *binding, const KvPathStep *step)
{
	KvName		name;

	if (step->placeholder >= 0)
		return binding->name[step->placeholder];
	name.data = step->name;
	name.length = step->name_length;
	return name;
}

/* Tells whether a name is "$" at least once and then B, SS, NS or BS. */
bool
kv_path_name_is_marker(KvName name)
{
	const char *p = name.data;
	const char *end = name.data + name.length;

	if (p == end || *p != '$')
		return false;
	while (p < end && *p == '$')
		p++;
	if (end - p == 1)
		return *p == 'B';
	return end - p == 2 && p[1] == 'S' && (p[0] == 'S' || p[0] == 'N' || p[0] == 'B');
}

/* Sets a jsonb key to a name. */
void
kv_path_name_to_key(KvName name, JsonbValue *key)
{
	key->type = jbvString;
	key->val.string.val = unconstify(char *, name.data);
	key->val.string.len = name.length;
}

/* Makes a map inside an item; an only key that would read as a marker gets one more "$". */
void
kv_path_finish_map(JsonbPair *pair, int count, JsonbValue *result)
{
	if (count == 1)
	{
		KvName		name = {pair[0].key.val.string.val, pair[0].key.val.string.len};

		if (kv_path_name_is_marker(name))
		{
			char	   *escaped = palloc(name.length + 1);

			escaped[0] = '$';
			memcpy(escaped + 1, name.data, name.length);
			pair[0].key.val.string.val = escaped;
			pair[0].key.val.string.len = name.length + 1;
		}
	}
	result->type = jbvObject;
	result->val.object.nPairs = count;
	result->val.object.pairs = pair;
}

/* Gives the name that users see of the only key of a map inside an item, which is no marker. */
KvName
kv_path_unescape_name(KvName name)
{
	if (kv_path_name_is_marker(name))
	{
		name.data++;
		name.length--;
	}
	return name;
}

/* Returns the only key of a one-key map. */
static KvName
only_key(const JsonbContainer *map)
{
	KvName		key;

	Assert(JsonContainerSize(map) == 1);
	key.data = (const char *) &map->children[2];
	key.length = getJsonbLength(map, 0);
	return key;
}

/* Tells whether a value is a container that path steps can enter. */
bool
kv_path_can_enter(const JsonbValue *value)
{
	JsonbContainer *container;
	KvName		key;

	if (value->type != jbvBinary)
		return false;
	container = value->val.binary.data;
	if (!JsonContainerIsObject(container) || JsonContainerSize(container) != 1)
		return true;
	key = only_key(container);
	return !(kv_path_name_is_marker(key) && key.data[1] != '$');
}

/* Finds an attribute of a map by the name that users see. */
bool
kv_path_find_in_map(JsonbContainer *map, bool inner, KvName name, JsonbValue *result)
{
	if (!JsonContainerIsObject(map))
		return false;
	if (inner && JsonContainerSize(map) == 1 && kv_path_name_is_marker(name))
	{
		KvName		key = only_key(map);

		if (key.length != name.length + 1 || key.data[0] != '$' ||
			memcmp(key.data + 1, name.data, name.length) != 0)
			return false;
		name = key;
	}
	return getKeyJsonValueFromContainer(map, name.data, name.length, result) != NULL;
}

/* Finds an element of a list. */
bool
kv_path_find_in_list(JsonbContainer *list, int32 index, JsonbValue *result)
{
	JsonbValue *element;

	if (!JsonContainerIsArray(list))
		return false;
	element = getIthJsonbValueFromContainer(list, index);
	if (element == NULL)
		return false;
	*result = *element;
	pfree(element);
	return true;
}

/* Makes an operand of a key attribute. */
static void
operand_from_key(KvKeyType type, Datum key, KvOperand *result)
{
	result->bytes = NULL;
	switch (type)
	{
		case KV_KEY_STRING:
			result->type = KV_TYPE_STRING;
			result->value.type = jbvString;
			result->value.val.string.val = VARDATA_ANY(DatumGetPointer(key));
			result->value.val.string.len = VARSIZE_ANY_EXHDR(DatumGetPointer(key));
			break;
		case KV_KEY_NUMBER:
			result->type = KV_TYPE_NUMBER;
			result->value.type = jbvNumeric;
			result->value.val.numeric = DatumGetNumeric(key);
			break;
		case KV_KEY_BINARY:
			result->type = KV_TYPE_BINARY;
			result->bytes = DatumGetByteaPP(key);
			break;
	}
}

/* Finds what a path leads to; false if there is nothing. */
bool
kv_path_find(const KvBinding *binding, int path, const KvItemView *view, KvOperand *result)
{
	const KvDocumentPath *steps = &binding->tree->path[path];
	int			key = binding->path_key[path];
	JsonbContainer *container;
	JsonbValue	value;

	if (view == NULL)
		return false;
	if (key >= 0)
	{
		if (steps->step_count > 1)
			return false;
		operand_from_key(binding->schema->attribute[key].type, view->key[key], result);
		return true;
	}
	container = &view->rest->root;
	for (int i = 0; i < steps->step_count; i++)
	{
		const KvPathStep *step = &steps->step[i];

		if (i > 0)
		{
			if (!kv_path_can_enter(&value))
				return false;
			container = value.val.binary.data;
		}
		if (step->index >= 0 ?
			!kv_path_find_in_list(container, step->index, &value) :
			!kv_path_find_in_map(container, i > 0, kv_path_step_name(binding, step), &value))
			return false;
	}
	result->value = value;
	result->type = kv_value_type(&value);
	result->bytes = NULL;
	return true;
}

/* --- path trees --- */

/* Makes a node. */
static KvPathNode *
make_path_node(KvName name, int32 index)
{
	KvPathNode *node = palloc(sizeof(KvPathNode));

	node->name = name;
	node->index = index;
	node->leaf = -1;
	node->key = -1;
	node->child = NULL;
	node->next = NULL;
	node->top = NULL;
	node->left = NULL;
	node->right = NULL;
	node->priority = pg_prng_uint32(&pg_global_prng_state);
	return node;
}

/* Makes the root of an empty path tree. */
KvPathNode *
kv_path_node_create(void)
{
	KvName		none = {NULL, 0};

	return make_path_node(none, -1);
}

/* Returns how many steps lie directly below a node. */
int
kv_path_node_child_count(const KvPathNode *node)
{
	int			count = 0;

	for (const KvPathNode *child = node->child; child != NULL; child = child->next)
		count++;
	return count;
}

/* Orders a step against a node: jsonb's key order, or the index. */
static int
compare_step(KvName name, int32 index, const KvPathNode *node)
{
	if (index >= 0)
		return index < node->index ? -1 : (index > node->index ? 1 : 0);
	return kv_name_compare(name.data, name.length, node->name.data, node->name.length);
}

/* Adds a step to the list that a message shows of a path. */
static void
append_step(StringInfo list, KvName name, int32 index)
{
	if (list->len > 0)
		appendStringInfoString(list, ", ");
	if (index >= 0)
		appendStringInfo(list, "[%d]", index);
	else
		appendBinaryStringInfo(list, name.data, name.length);
}

/*
 * Raises the error for two paths that cannot stand in one expression.  The
 * earlier one has the first steps of the later, shared in number, and goes on
 * below the node.
 */
static void
path_collision(const KvBinding *binding, int path, int shared, const KvPathNode *node, const char *what)
{
	const KvDocumentPath *later = &binding->tree->path[path];
	StringInfoData list[2];

	initStringInfo(&list[0]);
	initStringInfo(&list[1]);
	for (int i = 0; i < later->step_count; i++)
	{
		const KvPathStep *step = &later->step[i];
		KvName		name = {NULL, 0};

		if (step->index < 0)
			name = kv_path_step_name(binding, step);
		append_step(&list[1], name, step->index);
		if (i < shared)
			append_step(&list[0], name, step->index);
	}
	while (node->leaf < 0)
	{
		node = node->child;
		append_step(&list[0], node->name, node->index);
	}
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 kv_expression_errmsg(&binding->tree->source, later->span,
								  "two document paths %s with each other: [%s] and [%s]",
								  what, list[0].data, list[1].data),
			 errhint("Remove or rewrite one of these paths.")));
}

/* Puts a step that is new at its place into the treap, and below it what had a lower priority there. */
static void
add_to_treap(KvPathNode **place, KvPathNode *node)
{
	KvPathNode **left = &node->left;
	KvPathNode **right = &node->right;
	KvPathNode *rest;

	while (*place != NULL && (*place)->priority >= node->priority)
		place = compare_step(node->name, node->index, *place) < 0 ? &(*place)->left : &(*place)->right;
	rest = *place;
	*place = node;
	while (rest != NULL)
		if (compare_step(node->name, node->index, rest) < 0)
		{
			*right = rest;
			right = &rest->left;
			rest = rest->left;
		}
		else
		{
			*left = rest;
			left = &rest->right;
			rest = rest->right;
		}
	*left = NULL;
	*right = NULL;
}

/* Returns the node of a step below a node, a new one in its sorted place if there is none. */
KvPathNode *
kv_path_node_child(KvPathNode *node, KvName name, int32 index)
{
	KvPathNode *before = NULL;
	KvPathNode *child = node->top;
	KvPathNode **link;

	while (child != NULL)
	{
		int			order = compare_step(name, index, child);

		if (order == 0)
			return child;
		if (order > 0)
			before = child;
		child = order < 0 ? child->left : child->right;
	}
	link = before ? &before->next : &node->child;
	child = make_path_node(name, index);
	child->next = *link;
	*link = child;
	add_to_treap(&node->top, child);
	return child;
}

/* The same for a step of a path. */
static KvPathNode *
child_for_step(KvPathNode *node, const KvBinding *binding, const KvPathStep *step)
{
	KvName		name = {NULL, 0};

	if (step->index < 0)
		name = kv_path_step_name(binding, step);
	return kv_path_node_child(node, name, step->index);
}

/* Adds a path; an error if it overlaps or conflicts with one that is there. */
void
kv_path_node_add(KvPathNode *root, const KvBinding *binding, int path, int leaf)
{
	const KvDocumentPath *steps = &binding->tree->path[path];
	KvPathNode *node = root;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < steps->step_count; i++)
	{
		if (node->child && (node->child->index >= 0) != (steps->step[i].index >= 0))
			path_collision(binding, path, i, node, "conflict");
		node = child_for_step(node, binding, &steps->step[i]);
		if (i == 0)
			node->key = binding->path_key[path];
		if (node->leaf >= 0)
			path_collision(binding, path, i + 1, node, "overlap");
	}
	if (node->child != NULL)
		path_collision(binding, path, steps->step_count, node, "overlap");
	node->leaf = leaf;
}
