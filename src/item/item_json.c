/*
 * item_json.c
 *	  Building JSON member by member.
 *
 * Core takes an object or array that is pushed apart to the last scalar, at
 * many times its size, and puts it together again; here it goes into the
 * result as it is, which kv_json_write copies in one piece.
 */
#include "postgres.h"

#include "utils/numeric.h"

#include "item/item.h"

/* Starts an object. */
void
kv_json_open(JsonbParseState **state)
{
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
}

/* Ends the outermost object and returns it. */
Jsonb *
kv_json_close(JsonbParseState **state)
{
	return kv_json_write(pushJsonbValue(state, WJB_END_OBJECT, NULL));
}

/* Adds a string. */
void
kv_json_push_text(JsonbParseState **state, JsonbIteratorToken token, const char *text)
{
	JsonbValue	string;

	string.type = jbvString;
	string.val.string.val = unconstify(char *, text);
	string.val.string.len = strlen(text);
	pushJsonbValue(state, token, &string);
}

/* Adds a value as it is, an object or array that lies in binary form as well. */
void
kv_json_push(JsonbParseState **state, JsonbIteratorToken token, const JsonbValue *value)
{
	JsonbValue	pushed = *value;
	JsonbValue *place;

	if (value->type == jbvBinary)
		pushed.type = jbvNull;
	pushJsonbValue(state, token, &pushed);
	if (value->type != jbvBinary)
		return;
	place = token == WJB_ELEM ?
		&(*state)->contVal.val.array.elems[(*state)->contVal.val.array.nElems - 1] :
		&(*state)->contVal.val.object.pairs[(*state)->contVal.val.object.nPairs - 1].value;
	*place = *value;
}

/* Adds an object or array as it is. */
void
kv_json_push_jsonb(JsonbParseState **state, JsonbIteratorToken token, Jsonb *jsonb)
{
	JsonbValue	value;

	value.type = jbvBinary;
	value.val.binary.data = &jsonb->root;
	value.val.binary.len = VARSIZE(jsonb) - VARHDRSZ;
	kv_json_push(state, token, &value);
}

/* Adds the name of a member. */
void
kv_json_add_name(JsonbParseState **state, const char *name)
{
	kv_json_push_text(state, WJB_KEY, name);
}

/* Adds a string member. */
void
kv_json_add_text(JsonbParseState **state, const char *name, const char *value)
{
	kv_json_add_name(state, name);
	kv_json_push_text(state, WJB_VALUE, value);
}

/* Adds a member that is a number. */
void
kv_json_add_numeric(JsonbParseState **state, const char *name, Numeric value)
{
	JsonbValue	number;

	kv_json_add_name(state, name);
	number.type = jbvNumeric;
	number.val.numeric = value;
	pushJsonbValue(state, WJB_VALUE, &number);
}

/* Adds a member that is a whole number. */
void
kv_json_add_integer(JsonbParseState **state, const char *name, int64 value)
{
	kv_json_add_numeric(state, name, int64_to_numeric(value));
}

/* Adds a boolean member. */
void
kv_json_add_boolean(JsonbParseState **state, const char *name, bool value)
{
	JsonbValue	boolean;

	kv_json_add_name(state, name);
	boolean.type = jbvBool;
	boolean.val.boolean = value;
	pushJsonbValue(state, WJB_VALUE, &boolean);
}

/* Adds an object or array as a member. */
void
kv_json_add_jsonb(JsonbParseState **state, const char *name, Jsonb *value)
{
	kv_json_add_name(state, name);
	kv_json_push_jsonb(state, WJB_VALUE, value);
}

/* Adds a member of another object. */
void
kv_json_add_member(JsonbParseState **state, const JsonbValue *name, const JsonbValue *value)
{
	kv_json_push(state, WJB_KEY, name);
	kv_json_push(state, WJB_VALUE, value);
}

/* Returns an object without members. */
Jsonb *
kv_json_empty_object(void)
{
	JsonbParseState *state = NULL;

	kv_json_open(&state);
	return kv_json_close(&state);
}
