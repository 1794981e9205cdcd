/*
 * scan_keys.c
 *	  From conditions to ranges, each time the node starts over.
 *
 * Equalities and lists give the partition keys, sorted and each once; the
 * other conditions on the partition key take some of them away.  Conditions
 * on the sort key give either single sort keys or one range.  A value that
 * is NULL is equal to nothing, so it leaves no range at all, as in SQL.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "executor/executor.h"
#include "lib/qunique.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/errors.h"
#include "base/guc.h"
#include "scan/scan_state.h"

/* The number of ranges where lists may be as long as one likes: an array of them has to stay below MaxAllocSize. */
#define MAX_RANGES 10000000

/* Values that a key column must have one of. */
typedef struct KeyList
{
	bool		present;		/* false: any value */
	int			count;
	Datum	   *value;			/* in key order, each once */
} KeyList;

/* Orders two values of the key type that argument points to. */
static int
compare_values(const void *a, const void *b, void *argument)
{
	return kv_key_compare(*(KvKeyType *) argument, *(const Datum *) a, *(const Datum *) b);
}

/* Tells whether a value stands in the relation of a btree strategy to another, given how they compare. */
static bool
satisfies(int strategy, int comparison)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return comparison < 0;
		case BTLessEqualStrategyNumber:
			return comparison <= 0;
		case BTEqualStrategyNumber:
			return comparison == 0;
		case BTGreaterEqualStrategyNumber:
			return comparison >= 0;
		case BTGreaterStrategyNumber:
			return comparison > 0;
	}
	elog(ERROR, "unknown btree strategy %d", strategy);
}

/* Reads an array into a list of values: sorted, each once, without NULLs. */
static void
read_array(Datum array, KvKeyType type, KeyList *list)
{
	ArrayType  *elements = DatumGetArrayTypeP(array);
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			kept = 0;

	deconstruct_array(elements, ARR_ELEMTYPE(elements), -1, false, TYPALIGN_INT, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (!nulls[i])
			values[kept++] = values[i];
	}
	if (kept > 1)
	{
		qsort_arg(values, kept, sizeof(Datum), compare_values, &type);
		kept = qunique_arg(values, kept, sizeof(Datum), compare_values, &type);
	}
	list->present = true;
	list->count = kept;
	list->value = values;
}

/* Leaves in a list only what another list holds too. */
static void
intersect(KeyList *list, const KeyList *other, KvKeyType type)
{
	int			kept = 0;
	int			i = 0;
	int			j = 0;

	if (!list->present)
	{
		*list = *other;
		return;
	}
	while (i < list->count && j < other->count)
	{
		int			comparison = kv_key_compare(type, list->value[i], other->value[j]);

		if (comparison == 0)
			list->value[kept++] = list->value[i];
		if (comparison <= 0)
			i++;
		if (comparison >= 0)
			j++;
	}
	list->count = kept;
}

/* Leaves in a list only what satisfies a comparison. */
static void
restrict_list(KeyList *list, int strategy, Datum value, KvKeyType type)
{
	int			kept = 0;

	for (int i = 0; i < list->count; i++)
	{
		if (satisfies(strategy, kv_key_compare(type, list->value[i], value)))
			list->value[kept++] = list->value[i];
	}
	list->count = kept;
}

/* Narrows a range by a comparison that is not an equality. */
static void
narrow(KvKeyRange *range, int strategy, Datum value, KvKeyType type)
{
	bool		is_low = strategy == BTGreaterStrategyNumber || strategy == BTGreaterEqualStrategyNumber;
	bool		inclusive = strategy == BTGreaterEqualStrategyNumber || strategy == BTLessEqualStrategyNumber;
	KvBound    *bound = is_low ? &range->low : &range->high;

	if (bound->present)
	{
		int			comparison = kv_key_compare(type, value, bound->value);

		if (comparison == 0)
		{
			bound->inclusive = bound->inclusive && inclusive;
			return;
		}
		if ((comparison < 0) == is_low)
			return;				/* the bound that is there is the tighter one */
	}
	bound->present = true;
	bound->inclusive = inclusive;
	bound->value = value;
}

/* Evaluates the values of all conditions. */
static void
evaluate_values(KvScanState *state)
{
	for (int i = 0; i < state->condition_count; i++)
	{
		KvScanCondition *condition = &state->condition[i];

		for (int j = 0; j < kv_condition_values(condition->kind); j++)
		{
			condition->value[j] = ExecEvalExpr(condition->expression[j], state->key_context,
											   &condition->isnull[j]);
			if (!condition->isnull[j] && condition->kind != KV_CONDITION_LIST)
				condition->value[j] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(condition->value[j]));
		}
	}
}

/* Tells whether a NULL makes one of the conditions, all of which must hold, never true. */
static bool
is_never_true(const KvScanState *state)
{
	for (int i = 0; i < state->condition_count; i++)
	{
		if (state->condition[i].isnull[0])
			return true;
	}
	return false;
}

/* Gathers the equalities and lists on one column. */
static void
gather_list(const KvScanState *state, int column, KeyList *list)
{
	KvKeyType	type = state->table->key.attribute[column].type;

	for (int i = 0; i < state->condition_count; i++)
	{
		KvScanCondition *condition = &state->condition[i];
		KeyList		one;

		if (condition->column != column)
			continue;
		if (condition->kind == KV_CONDITION_LIST)
			read_array(condition->value[0], type, &one);
		else if (condition->kind == KV_CONDITION_COMPARE && condition->strategy == BTEqualStrategyNumber)
		{
			one.present = true;
			one.count = 1;
			one.value = palloc(sizeof(Datum));
			one.value[0] = condition->value[0];
		}
		else
			continue;
		intersect(list, &one, type);
	}
}

/* Returns the part of a LIKE pattern before its first wildcard; *exact if there is none. */
static text *
pattern_prefix(text *pattern, bool *exact)
{
	const char *from = VARDATA_ANY(pattern);
	const char *end = from + VARSIZE_ANY_EXHDR(pattern);
	text	   *prefix = palloc(VARHDRSZ + (end - from));
	char	   *to = VARDATA(prefix);

	for (; from < end && *from != '%' && *from != '_'; from++)
	{
		if (*from == '\\' && ++from == end)
			break;				/* the filter raises the error */
		*to++ = *from;
	}
	*exact = from == end;
	SET_VARSIZE(prefix, to - (char *) prefix);
	return prefix;
}

/* Narrows a range of sort keys to those that may match a pattern or begin with a prefix. */
static void
narrow_to_pattern(KvKeyRange *range, KvConditionKind kind, Datum value)
{
	bool		exact = false;
	text	   *prefix = DatumGetTextPP(value);
	KvBound		low;
	KvBound		high;

	if (kind == KV_CONDITION_LIKE)
		prefix = pattern_prefix(prefix, &exact);
	kv_key_prefix_range(KV_KEY_STRING, PointerGetDatum(prefix), &low, &high);
	if (exact)
	{
		low.present = high.present = high.inclusive = true;
		high.value = low.value;
	}
	if (low.present)
		narrow(range, BTGreaterEqualStrategyNumber, low.value, KV_KEY_STRING);
	if (high.present)
		narrow(range, high.inclusive ? BTLessEqualStrategyNumber : BTLessStrategyNumber,
			   high.value, KV_KEY_STRING);
}

/* Applies the conditions on the sort key that are no equalities. */
static void
gather_bounds(const KvScanState *state, KvKeyRange *range)
{
	KvKeyType	type = state->table->key.attribute[1].type;

	for (int i = 0; i < state->condition_count; i++)
	{
		const KvScanCondition *condition = &state->condition[i];

		if (condition->column != 1)
			continue;
		if (condition->kind == KV_CONDITION_LIKE || condition->kind == KV_CONDITION_PREFIX)
			narrow_to_pattern(range, condition->kind, condition->value[0]);
		else if (condition->kind == KV_CONDITION_COMPARE && condition->strategy != BTEqualStrategyNumber)
			narrow(range, condition->strategy, condition->value[0], type);
	}
}

/*
 * Applies row comparisons to the range of one partition key: where the first
 * members are equal the second decide.  Returns false if nothing is left.
 */
static bool
apply_row_conditions(const KvScanState *state, KvKeyRange *range)
{
	const KvKeySchema *key = &state->table->key;

	for (int i = 0; i < state->condition_count; i++)
	{
		const KvScanCondition *condition = &state->condition[i];
		int			comparison;

		if (condition->kind != KV_CONDITION_ROW)
			continue;
		comparison = kv_key_compare(key->attribute[0].type, range->partition_key, condition->value[0]);
		if (comparison == 0)
		{
			if (condition->isnull[1])
				return false;
			narrow(range, condition->strategy, condition->value[1], key->attribute[1].type);
		}
		else if (!satisfies(condition->strategy, comparison))
			return false;
	}
	return true;
}

/* Raises an error if lists name more keys than a key query may read, or than memory holds where it may read all. */
static void
check_list_size(const KvScanState *state, int64 count)
{
	int			limit = kv_guc_allow_scan || state->exempt ? MAX_RANGES : KV_MAX_LIST_KEYS;

	if (count > limit)
		ereport(ERROR,
				(errcode(ERRCODE_KV_LIMIT_EXCEEDED),
				 errmsg("query names " INT64_FORMAT " keys of table \"%s\"", count,
						RelationGetRelationName(state->css.ss.ss_currentRelation)),
				 errdetail("A key query reads at most %d.", limit),
				 errhint("Join with the keys instead, as in FROM unnest(..) AS k JOIN .. ON .. = k.")));
}

/* Appends a range unless no partition takes its key. */
static void
add_range(KvScanState *state, const KvKeyRange *key)
{
	KvScanRange *range = &state->range[state->range_count];

	range->leaf = state->parent ? kv_table_find_leaf(state->table, key->partition_key) : 0;
	if (range->leaf < 0)
		return;
	if (&range->key != key)
		range->key = *key;
	state->range_count++;
}

/* Appends the ranges of one partition key. */
static void
add_ranges(KvScanState *state, const KvKeyRange *bounds, const KeyList *sort_keys)
{
	KvKeyRange	whole = *bounds;

	if (!apply_row_conditions(state, &whole))
		return;
	if (!sort_keys->present)
	{
		add_range(state, &whole);
		return;
	}
	for (int i = 0; i < sort_keys->count; i++)
	{
		KvKeyRange	single = {.partition_key = whole.partition_key};

		if (!kv_key_range_holds(&whole, state->table->key.attribute[1].type, sort_keys->value[i]))
			continue;
		kv_key_range_set_sort_key(&single, sort_keys->value[i]);
		add_range(state, &single);
	}
}

/* Evaluates conditions all of which must hold. */
static void
evaluate_conjunction(KvScanState *state)
{
	KeyList		partition_keys = {0};
	KeyList		sort_keys = {0};
	KvKeyRange	bounds = {0};
	int			width = 1;

	if (is_never_true(state))
		return;
	gather_list(state, 0, &partition_keys);
	Assert(partition_keys.present);
	for (int i = 0; i < state->condition_count; i++)
	{
		const KvScanCondition *condition = &state->condition[i];

		if (condition->column == 0 && condition->kind == KV_CONDITION_COMPARE &&
			condition->strategy != BTEqualStrategyNumber)
			restrict_list(&partition_keys, condition->strategy, condition->value[0],
						  state->table->key.attribute[0].type);
	}
	if (state->table->key.count > 1)
	{
		gather_list(state, 1, &sort_keys);
		gather_bounds(state, &bounds);
		if (sort_keys.present)
			width = sort_keys.count;
	}
	check_list_size(state, (int64) partition_keys.count * width);

	state->range = palloc(sizeof(KvScanRange) * Max(partition_keys.count * width, 1));
	for (int i = 0; i < partition_keys.count; i++)
	{
		bounds.partition_key = partition_keys.value[i];
		add_ranges(state, &bounds, &sort_keys);
	}
}

/* Orders the arms of an OR by key; a whole collection comes before single keys of it. */
static int
compare_arms(const void *a, const void *b, void *argument)
{
	const KvScanCondition *left = *(KvScanCondition *const *) a;
	const KvScanCondition *right = *(KvScanCondition *const *) b;
	const KvKeySchema *key = argument;
	int			order = kv_key_compare(key->attribute[0].type, left->value[0], right->value[0]);

	if (order != 0)
		return order;
	if (left->kind != right->kind)
		return left->kind == KV_CONDITION_ARM ? -1 : 1;
	return left->kind == KV_CONDITION_ARM ? 0 :
		kv_key_compare(key->attribute[1].type, left->value[1], right->value[1]);
}

/* Evaluates the arms of an OR, each of which gives a collection or a key of it, each once. */
static void
evaluate_arms(KvScanState *state)
{
	KvKeySchema *key = &state->table->key;
	KvScanCondition **arm = palloc(sizeof(KvScanCondition *) * state->condition_count);
	const KvScanCondition *whole = NULL;
	int			count = 0;

	for (int i = 0; i < state->condition_count; i++)
	{
		KvScanCondition *condition = &state->condition[i];

		if (!condition->isnull[0] && (condition->kind == KV_CONDITION_ARM || !condition->isnull[1]))
			arm[count++] = condition;
	}
	qsort_arg(arm, count, sizeof(KvScanCondition *), compare_arms, key);
	count = qunique_arg(arm, count, sizeof(KvScanCondition *), compare_arms, key);
	check_list_size(state, count);

	state->range = palloc(sizeof(KvScanRange) * Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		KvKeyRange	range = {.partition_key = arm[i]->value[0]};

		if (arm[i]->kind == KV_CONDITION_ARM)
			whole = arm[i];
		else if (whole != NULL &&
				 kv_key_compare(key->attribute[0].type, whole->value[0], range.partition_key) == 0)
			continue;
		else
			kv_key_range_set_sort_key(&range, arm[i]->value[1]);
		add_range(state, &range);
	}
}

/* Evaluates the conditions of the usual query: one key, or one collection, or a range of it. */
static void
evaluate_simple(KvScanState *state)
{
	KvKeyRange *range = &state->single.key;

	if (is_never_true(state))
		return;
	memset(range, 0, sizeof(KvKeyRange));
	for (int i = 0; i < state->condition_count; i++)
	{
		const KvScanCondition *condition = &state->condition[i];

		if (condition->column == 0)
			range->partition_key = condition->value[0];
		else if (condition->strategy == BTEqualStrategyNumber)
			kv_key_range_set_sort_key(range, condition->value[0]);
		else
			narrow(range, condition->strategy, condition->value[0], state->table->key.attribute[1].type);
	}
	state->range = &state->single;
	add_range(state, range);
}

/* Tells whether evaluate_simple() will do. */
bool
kv_scan_has_simple_keys(const KvScanState *state)
{
	int			equalities[KV_MAX_KEYS] = {0};
	int			ranges[KV_MAX_KEYS] = {0};

	for (int i = 0; i < state->condition_count; i++)
	{
		const KvScanCondition *condition = &state->condition[i];

		if (condition->kind != KV_CONDITION_COMPARE)
			return false;
		if (condition->strategy == BTEqualStrategyNumber)
			equalities[condition->column]++;
		else
			ranges[condition->column]++;
	}
	return equalities[0] == 1 && ranges[0] == 0 &&
		(equalities[1] == 0 || (equalities[1] == 1 && ranges[1] == 0));
}

/* Evaluates the conditions into ranges, in the key context, which the caller has reset. */
void
kv_scan_evaluate_keys(KvScanState *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->key_context->ecxt_per_tuple_memory);

	state->range_count = 0;
	evaluate_values(state);
	if (state->simple)
		evaluate_simple(state);
	else if (state->condition[0].kind == KV_CONDITION_ARM || state->condition[0].kind == KV_CONDITION_ARM_PAIR)
		evaluate_arms(state);
	else
		evaluate_conjunction(state);
	MemoryContextSwitchTo(caller);
}
