/*
 * kv_test_fuzz.c
 *	  Fuzzes the room "expression" inside a backend.
 *
 * Each round writes an expression by the grammar, mostly damages it, and
 * binds it against random placeholders.  What binds is applied to every
 * sample item, and the answers must hold together: a negated condition turns
 * round, an updated or projected item is in normal form and is what core
 * would have written, a projection of all top-level names is the item.
 * Whatever is refused must be refused as a validation error.
 *
 * The rooms tested are pure, so an error needs no subtransaction: its memory
 * is reset and the next round goes on.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/errors.h"
#include "expression/expression.h"

PG_FUNCTION_INFO_V1(kv_test_fuzz);

#define MAX_DEPTH 5

/* What a run counts. */
typedef struct Counts
{
	int64		accepted;
	int64		refused;
	int64		applied;
	int64		failed;			/* updates that bound, but did not fit an item */
} Counts;

/* One round. */
typedef struct Round
{
	KvExpressionKind kind;
	StringInfoData text;
} Round;

static pg_prng_state random_state;

static const char *const sample_values[] = {
	"1", "0", "-1.5", "38", "1e125", "1e-130", "99999999999999999999999999999999999999", "\"\"", "\"a\"", "\"ab\"", "\"S\"", "\"L\"", "\"BOOL\"",
	"\"\\u00e9\\ud83d\\ude00\"", "null", "true", "false", "[]", "[1, \"a\", null]", "[[1], [\"a\", {\"a\": 1}]]", "{}", "{\"a\": 1}", "{\"a\": {\"b\": [1, 2]}}",
	"{\"$B\": \"\"}", "{\"$B\": \"AQI=\"}", "{\"$B\": \"AQID\"}", "{\"$SS\": [\"a\"]}", "{\"$SS\": [\"b\", \"a\"]}", "{\"$NS\": [1, 2.50]}", "{\"$BS\": [\"AQI=\", \"\"]}",
	"{\"$$B\": 1}", "{\"$$$SS\": {\"$B\": \"AQI=\"}}"
};

static const char *const sample_items[] = {
	NULL,
	"{}",
	"{\"a\": 1, \"b\": \"a\", \"c\": [1, \"a\", {\"a\": [1, [2]]}], \"d\": {\"a\": {\"b\": [1, 2]}, \"b\": \"ab\"}}",
	"{\"a\": [1, 2, 3, [4, {\"a\": 5}]], \"b\": {\"$SS\": [\"a\", \"b\"]}, \"c\": {\"$NS\": [1, 38]}, \"d\": {\"$BS\": [\"AQI=\"]}}",
	"{\"a\": {\"$B\": \"AQIDBA==\"}, \"b\": null, \"c\": true, \"d\": {\"$$B\": {\"a\": 1}}, \"$B\": \"x\"}",
	"{\"a\": {\"a\": {\"a\": {\"a\": 1}}}, \"b\": [[[[1]]]], \"c\": {\"b\": {\"$$SS\": [1]}}, \"d\": -1.5}",
	"{\"$SS\": [\"a\"]}"
};

static const char *const names[] = {"a", "b", "c", "d", "a", "b", "e", "pk", "sk", "#a", "#b", "#x", "#k", "#m", "#u", "A", "name", "x_1"};
static const char *const sample_names =
"{\"#a\": \"a\", \"#b\": \"b\", \"#x\": \"x.y\", \"#k\": \"pk\", \"#m\": \"$B\"}";
static const char *const junk[] = {
	"(", ")", "[", "]", ",", ".", "=", "<>", "<", "<=", ">", ">=", "+", "-", ":v0", ":v9", ":x", "#a", "#", ":", "a", "pk", "0", "2147483647", "99999999999",
	"AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE", "size(", "contains(", "attribute_exists(", "list_append(", "if_not_exists(", "f(", "'", "\"", "!", "\xc3\xa9",
	"\xf0\x9f\x98\x80", "\n", "\t", ";", "--", "/*", "\\", "%", "$1", "NULL", "and", "name"
};

/* Returns a random number below n. */
static inline uint32
below(uint32 n)
{
	return (uint32) pg_prng_uint64_range(&random_state, 0, n - 1);
}

#define PICK(array) ((array)[below(lengthof(array))])

/* Writes a path. */
static void
write_path(StringInfo out)
{
	appendStringInfoString(out, PICK(names));
	while (below(3) == 0)
	{
		if (below(2) == 0)
			appendStringInfo(out, ".%s", PICK(names));
		else
			appendStringInfo(out, "[%u]", below(5));
	}
}

/* Writes a :value. */
static void
write_value(StringInfo out)
{
	appendStringInfo(out, ":v%u", below(10));
}

/* Writes an operand of a condition. */
static void
write_operand(StringInfo out, int depth)
{
	switch (below(depth > MAX_DEPTH ? 6 : 8))
	{
		case 0:
		case 1:
		case 2:
			write_value(out);
			break;
		case 6:
			appendStringInfoString(out, "size(");
			write_operand(out, depth + 1);
			appendStringInfoChar(out, ')');
			break;
		case 7:
			appendStringInfoChar(out, '(');
			write_operand(out, depth + 1);
			appendStringInfoChar(out, ')');
			break;
		default:
			write_path(out);
			break;
	}
}

/* Writes a comparison or a function. */
static void
write_comparison(StringInfo out, int depth)
{
	static const char *const comparators[] = {"=", "<>", "<", "<=", ">", ">="};
	static const char *const functions[] = {"begins_with", "contains", "attribute_type"};

	switch (below(6))
	{
		case 0:
			write_operand(out, depth);
			appendStringInfoString(out, " BETWEEN ");
			write_operand(out, depth);
			appendStringInfoString(out, " AND ");
			write_operand(out, depth);
			break;
		case 1:
			write_operand(out, depth);
			appendStringInfoString(out, " IN (");
			do
			{
				write_operand(out, depth);
				appendStringInfoChar(out, ',');
			} while (below(3) == 0);
			write_operand(out, depth);
			appendStringInfoChar(out, ')');
			break;
		case 2:
			appendStringInfo(out, "attribute_%sexists(", below(2) ? "not_" : "");
			write_path(out);
			appendStringInfoChar(out, ')');
			break;
		case 3:
			appendStringInfo(out, "%s(", PICK(functions));
			write_operand(out, depth);
			appendStringInfoString(out, ", ");
			write_operand(out, depth);
			appendStringInfoChar(out, ')');
			break;
		default:
			write_operand(out, depth);
			appendStringInfo(out, " %s ", PICK(comparators));
			write_operand(out, depth);
			break;
	}
}

/* Writes a condition. */
static void
write_condition(StringInfo out, int depth)
{
	switch (below(depth > MAX_DEPTH ? 1 : 6))
	{
		case 3:
			write_condition(out, depth + 1);
			appendStringInfoString(out, below(2) ? " AND " : " OR ");
			write_condition(out, depth + 1);
			break;
		case 4:
			appendStringInfoString(out, "NOT ");
			write_condition(out, depth + 1);
			break;
		case 5:
			appendStringInfoChar(out, '(');
			write_condition(out, depth + 1);
			appendStringInfoChar(out, ')');
			break;
		default:
			write_comparison(out, depth);
			break;
	}
}

/* Writes a key condition. */
static void
write_key_condition(StringInfo out)
{
	static const char *const tails[] = {
		"", " AND sk = :v8", " AND sk < :v8", " AND :v8 >= sk", " AND sk BETWEEN :v8 AND :v9", " AND begins_with(sk, :v8)", " AND sk IN (:v8)", " AND a = :v8"
	};

	appendStringInfo(out, "%s = :v%u%s", below(4) ? "pk" : "#k", below(10), PICK(tails));
}

/* Writes the right side of SET. */
static void
write_set_value(StringInfo out, int depth)
{
	switch (below(depth > MAX_DEPTH ? 2 : 7))
	{
		case 0:
			write_value(out);
			break;
		case 1:
			write_path(out);
			break;
		case 2:
		case 3:
			appendStringInfoChar(out, '(');
			write_set_value(out, depth + 1);
			appendStringInfoString(out, below(2) ? " + " : " - ");
			write_set_value(out, depth + 1);
			appendStringInfoChar(out, ')');
			break;
		case 4:
			appendStringInfoString(out, "list_append(");
			write_set_value(out, depth + 1);
			appendStringInfoChar(out, ',');
			write_set_value(out, depth + 1);
			appendStringInfoChar(out, ')');
			break;
		default:
			appendStringInfoString(out, "if_not_exists(");
			write_path(out);
			appendStringInfoChar(out, ',');
			write_set_value(out, depth + 1);
			appendStringInfoChar(out, ')');
			break;
	}
}

/* Writes an update. */
static void
write_update(StringInfo out)
{
	static const char *const clauses[] = {"SET ", " REMOVE ", " ADD ", " DELETE "};

	for (int i = 0; i < lengthof(clauses); i++)
	{
		if (below(2) == 0)
			continue;
		appendStringInfoString(out, clauses[i]);
		for (;;)
		{
			write_path(out);
			if (i == 0)
			{
				appendStringInfoString(out, " = ");
				write_set_value(out, 0);
			}
			else if (i > 1)
			{
				appendStringInfoChar(out, ' ');
				write_value(out);
			}
			if (below(3))
				break;
			appendStringInfoString(out, ", ");
		}
	}
}

/* Writes a projection. */
static void
write_projection(StringInfo out)
{
	write_path(out);
	while (below(2))
	{
		appendStringInfoString(out, ", ");
		write_path(out);
	}
}

/* Damages a text: junk put in, a piece dropped or doubled; characters stay whole. */
static void
damage(StringInfo text)
{
	StringInfoData result;
	int			place = text->len ? below(text->len) : 0;
	int			length = below(8);

	while (place > 0 && (text->data[place] & 0xC0) == 0x80)
		place--;
	length = Min(length, text->len - place);
	while (place + length < text->len && (text->data[place + length] & 0xC0) == 0x80)
		length++;
	initStringInfo(&result);
	appendBinaryStringInfo(&result, text->data, place);
	switch (below(4))
	{
		case 0:
			appendBinaryStringInfo(&result, text->data + place, length);
			appendStringInfoString(&result, PICK(junk));
			break;
		case 1:
			break;
		case 2:
			appendBinaryStringInfo(&result, text->data + place, length);
			appendBinaryStringInfo(&result, text->data + place, length);
			break;
		default:
			appendStringInfo(&result, " %s ", PICK(junk));
			break;
	}
	appendBinaryStringInfo(&result, text->data + place + length, text->len - place - length);
	*text = result;
}

/* Writes the text of a round. */
static void
write_round(Round *round)
{
	static const KvExpressionKind kinds[] = {
		KV_EXPRESSION_CONDITION, KV_EXPRESSION_CONDITION, KV_EXPRESSION_FILTER, KV_EXPRESSION_SCAN_FILTER,
		KV_EXPRESSION_KEY_CONDITION, KV_EXPRESSION_PROJECTION, KV_EXPRESSION_UPDATE, KV_EXPRESSION_UPDATE, KV_EXPRESSION_UPDATE
	};

	round->kind = PICK(kinds);
	initStringInfo(&round->text);
	if (below(20) == 0)
		for (int i = below(60); i > 0; i--)
			appendStringInfo(&round->text, "%s%s", PICK(junk), below(2) ? " " : "");
	else if (round->kind == KV_EXPRESSION_KEY_CONDITION)
		write_key_condition(&round->text);
	else if (round->kind == KV_EXPRESSION_PROJECTION)
		write_projection(&round->text);
	else if (round->kind == KV_EXPRESSION_UPDATE)
		write_update(&round->text);
	else
		write_condition(&round->text, 0);
	if (below(2))
		for (int i = below(3); i >= 0; i--)
			damage(&round->text);
}

/* Reads JSON. */
static Jsonb *
read_json(const char *json)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));
}

/* Makes placeholders: all the names, and a random value for each of ten. */
static KvPlaceholders *
make_placeholders(void)
{
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < 10; i++)
		appendStringInfo(&json, "%c\":v%d\": %s", i == 0 ? '{' : ',', i, PICK(sample_values));
	appendStringInfoChar(&json, '}');
	return kv_placeholders_create(read_json(sample_names), read_json(json.data));
}

/* Insists that a result is in normal form, and byte for byte what core would have written. */
static void
check_result(const KvKeySchema *schema, Jsonb *result)
{
	Jsonb	   *rebuilt = read_json(JsonbToCString(NULL, &result->root, VARSIZE(result)));

	if (VARSIZE(rebuilt) != VARSIZE(result) || memcmp(rebuilt, result, VARSIZE(result)) != 0)
		elog(ERROR, "fuzz: the result is not what core would have written");
	if (kv_item_normalize(result) != result)
		elog(ERROR, "fuzz: the result is not in normal form");
	if (schema)
		kv_item_check_rest(schema, result);
}

/* Applies an update to an item: its own errors are a result too, but what it gives must be sound. */
static void
apply_update(const KvUpdate *update, const KvItemView *item, Counts *counts)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile bool fits = false;
	Jsonb	   *volatile result = NULL;
	KvItemView	after;

	PG_TRY();
	{
		result = kv_update_apply(update, item);
		fits = true;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		if (geterrcode() != ERRCODE_KV_VALIDATION)
			PG_RE_THROW();
		FlushErrorState();
	}
	PG_END_TRY();
	if (!fits)
	{
		counts->failed++;
		return;
	}
	counts->applied++;
	check_result(item ? item->schema : NULL, result);
	check_result(NULL, kv_update_touched(update, item));
	if (item)
	{
		after = *item;
		after.rest = result;
		check_result(NULL, kv_update_touched(update, &after));
	}
	(void) kv_update_only_removes(update);
}

/* Asks a condition and its negation of an item. */
static void
ask_condition(const KvCondition *condition, const KvCondition *negation, const KvItemView *item, Counts *counts)
{
	counts->applied++;
	if (kv_condition_holds(condition, item) == kv_condition_holds(negation, item))
		elog(ERROR, "fuzz: a condition and its negation are both true or both false");
}

/* Binds the expression of a round and applies it to every item. */
static void
run_round(const Round *round, const KvKeySchema *schema, KvItemView *items, Counts *counts)
{
	text	   *expression = cstring_to_text_with_len(round->text.data, round->text.len);
	KvPlaceholders *placeholders = make_placeholders();
	KvProjection *projection = NULL;
	KvUpdate   *update = NULL;
	KvCondition *condition = NULL;
	KvCondition *negation = NULL;
	KvKeyRange	range;

	if (round->kind == KV_EXPRESSION_KEY_CONDITION)
		kv_key_condition_bind(expression, placeholders, schema, &range);
	else if (round->kind == KV_EXPRESSION_PROJECTION)
		projection = kv_projection_bind(expression, placeholders, schema);
	else if (round->kind == KV_EXPRESSION_UPDATE)
		update = kv_update_bind(expression, placeholders, schema);
	else
	{
		condition = kv_condition_bind(round->kind, expression, placeholders, schema);
		negation = kv_condition_bind(round->kind, cstring_to_text(psprintf("NOT (%s)", round->text.data)),
									 placeholders, schema);
	}
	counts->accepted++;
	for (int i = 0; i < lengthof(sample_items); i++)
	{
		KvItemView *item = sample_items[i] ? &items[i] : NULL;

		if (condition)
			ask_condition(condition, negation, item, counts);
		if (projection)
			check_result(NULL, kv_projection_apply(projection, item));
		if (update)
			apply_update(update, item, counts);
	}
}

/* Runs one round; anything but a validation error gets out, with the expression. */
static void
try_round(const KvKeySchema *schema, KvItemView *items, Counts *counts)
{
	MemoryContext caller = CurrentMemoryContext;
	Round		round;

	write_round(&round);
	PG_TRY();
	{
		run_round(&round, schema, items, counts);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_KV_VALIDATION)
		{
			ereport(LOG, (errmsg("fuzz: expression of kind %d: %s", (int) round.kind, round.text.data)));
			PG_RE_THROW();
		}
		MemoryContextSwitchTo(caller);
		FlushErrorState();
		counts->refused++;
	}
	PG_END_TRY();
}

/* Runs rounds of a seed, or for as many seconds if rounds is 0; gives the counts. */
Datum
kv_test_fuzz(PG_FUNCTION_ARGS)
{
	int64		rounds = PG_GETARG_INT64(1);
	TimestampTz end = GetCurrentTimestamp() + PG_GETARG_INT32(2) * USECS_PER_SEC;
	KvKeySchema schema = {2, {{KV_KEY_STRING, 2, "pk"}, {PG_GETARG_INT64(0) % 2 ? KV_KEY_NUMBER : KV_KEY_BINARY, 2, "sk"}}};
	KvItemView	items[lengthof(sample_items)];
	Counts		counts = {0};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "fuzz", ALLOCSET_DEFAULT_SIZES);
	TupleDesc	tupdesc;
	Datum		value[4];
	bool		isnull[4] = {false};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "a row type is needed");
	pg_prng_seed(&random_state, PG_GETARG_INT64(0));
	for (int i = 0; i < lengthof(sample_items); i++)
	{
		items[i].schema = &schema;
		items[i].key[0] = CStringGetTextDatum("a");
		items[i].key[1] = kv_key_from_text(&schema.attribute[1], 1,
										   cstring_to_text(schema.attribute[1].type == KV_KEY_NUMBER ? "38" : "AQI="));
		items[i].rest = sample_items[i] ? kv_item_normalize(read_json(sample_items[i])) : NULL;
	}
	for (int64 i = 0; rounds > 0 ? i < rounds : (i % 1000 != 0 || GetCurrentTimestamp() < end); i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		try_round(&schema, items, &counts);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
	}
	value[0] = Int64GetDatum(counts.accepted);
	value[1] = Int64GetDatum(counts.refused);
	value[2] = Int64GetDatum(counts.applied);
	value[3] = Int64GetDatum(counts.failed);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), value, isnull)));
}
