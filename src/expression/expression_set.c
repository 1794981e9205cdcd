/*
 * expression_set.c
 *	  Union and difference of sets, for ADD and DELETE.
 *
 * Sets are stored sorted, so both are one pass over the two.
 */
#include "postgres.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

/* Raises the error for a set that no check has seen and that holds something else. */
static void
malformed_set(const KvOperand *set)
{
	ereport(ERROR,
			(errcode(ERRCODE_KV_VALIDATION),
			 errmsg("malformed set of type %s in the item", kv_value_type_name(set->type))));
}

/* Reads the members of a set. */
static JsonbValue *
read_members(const KvOperand *set, int *count)
{
	int			member_type = (set->type == KV_TYPE_NUMBER_SET) ? jbvNumeric : jbvString;
	JsonbValue	inside;
	JsonbValue *member;
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	part;

	*count = 0;
	kv_marker_inside(&set->value, &inside);
	if (inside.type != jbvBinary || !JsonContainerIsArray(inside.val.binary.data))
		malformed_set(set);
	member = palloc((JsonContainerSize(inside.val.binary.data) + 1) * sizeof(JsonbValue));
	iterator = JsonbIteratorInit(inside.val.binary.data);
	while ((token = JsonbIteratorNext(&iterator, &part, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		if (part.type != member_type)
			malformed_set(set);
		member[(*count)++] = part;
	}
	return member;
}

/* Makes a set of sorted members. */
static void
make_set(KvValueType type, JsonbValue *member, int count, JsonbValue *result)
{
	JsonbPair  *pair = palloc(sizeof(JsonbPair));

	pair->key.type = jbvString;
	pair->key.val.string.val = psprintf("$%s", kv_value_type_name(type));
	pair->key.val.string.len = strlen(pair->key.val.string.val);
	pair->value.type = jbvArray;
	pair->value.val.array.nElems = count;
	pair->value.val.array.elems = member;
	pair->value.val.array.rawScalar = false;
	result->type = jbvObject;
	result->val.object.nPairs = 1;
	result->val.object.pairs = pair;
}

/* Gives the union of two sets of one type. */
void
kv_set_union(const KvOperand *a, const KvOperand *b, JsonbValue *result)
{
	int			a_count;
	int			b_count;
	JsonbValue *a_member = read_members(a, &a_count);
	JsonbValue *b_member = read_members(b, &b_count);
	JsonbValue *member = palloc((a_count + b_count) * sizeof(JsonbValue));
	int			count = 0;
	int			i = 0;
	int			j = 0;

	while (i < a_count || j < b_count)
	{
		int			order;

		if (i == a_count)
			order = 1;
		else if (j == b_count)
			order = -1;
		else
			order = kv_set_member_compare(a->type, &a_member[i], &b_member[j]);
		member[count++] = order <= 0 ? a_member[i] : b_member[j];
		if (order <= 0)
			i++;
		if (order >= 0)
			j++;
	}
	make_set(a->type, member, count, result);
}

/* Gives the members of a that are not in b; false if there are none. */
bool
kv_set_difference(const KvOperand *a, const KvOperand *b, JsonbValue *result)
{
	int			a_count;
	int			b_count;
	JsonbValue *a_member = read_members(a, &a_count);
	JsonbValue *b_member = read_members(b, &b_count);
	JsonbValue *member = palloc(Max(a_count, 1) * sizeof(JsonbValue));
	int			count = 0;
	int			j = 0;

	for (int i = 0; i < a_count; i++)
	{
		int			order = -1;

		while (j < b_count &&
			   (order = kv_set_member_compare(a->type, &a_member[i], &b_member[j])) > 0)
			j++;
		if (j == b_count || order < 0)
			member[count++] = a_member[i];
	}
	make_set(a->type, member, count, result);
	return count > 0;
}
