/*
 * operation_json.h
 *	  Building JSON answers out of finished parts, private to the room.
 */
#ifndef KV_OPERATION_OPERATION_JSON_H
#define KV_OPERATION_OPERATION_JSON_H

#include "item/item.h"

/* A member of an object that is put together from finished parts. */
typedef struct KvJsonMember
{
	const char *name;
	int			name_length;
	Jsonb	   *value;			/* an object or array */
} KvJsonMember;

/* Returns an array of objects and arrays, copied as they are. */
extern Jsonb *kv_json_array(Jsonb **elements, int count);

/* Returns an object of objects and arrays, copied as they are; sorts the members, whose names differ. */
extern Jsonb *kv_json_object(KvJsonMember *members, int count);

/* Returns an object with one member, an object or array. */
extern Jsonb *kv_json_wrap(const char *name, Jsonb *value);

/* Returns the text of a value for a message. */
extern char *kv_json_text(Jsonb *value);

#endif							/* KV_OPERATION_OPERATION_JSON_H */
