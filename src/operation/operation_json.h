/*
 * operation_json.h
 *	  Building JSON answers, private to the room.
 */
#ifndef KV_OPERATION_OPERATION_JSON_H
#define KV_OPERATION_OPERATION_JSON_H

#include "utils/jsonb.h"

/* A member of an object that is put together from finished parts. */
typedef struct KvJsonMember
{
	const char *name;
	int			name_length;
	Jsonb	   *value;			/* an object or array */
} KvJsonMember;

/* Adds a member to an object under construction; the name is a constant. */
extern void kv_json_add(JsonbParseState **state, const char *name, JsonbValue *value);

/* Adds a string member. */
extern void kv_json_add_string(JsonbParseState **state, const char *name, const char *string);

/* Adds an object or array as a member. */
extern void kv_json_add_jsonb(JsonbParseState **state, const char *name, Jsonb *jsonb);

/* Returns an object without members. */
extern Jsonb *kv_json_empty_object(void);

/* Returns an array of objects and arrays, copied as they are. */
extern Jsonb *kv_json_array(Jsonb **elements, int count);

/* Returns an object of objects and arrays, copied as they are; sorts the members, whose names differ. */
extern Jsonb *kv_json_object(KvJsonMember *members, int count);

/* Returns an object with one member, an object or array. */
extern Jsonb *kv_json_wrap(const char *name, Jsonb *value);

/* Returns the text of a value for a message. */
extern char *kv_json_text(Jsonb *value);

#endif							/* KV_OPERATION_OPERATION_JSON_H */
