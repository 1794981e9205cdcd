/*
 * item_internal.h
 *	  What the files of the room "item" share and other rooms do not see.
 *
 * The walks here read the binary form of jsonb directly (see utils/jsonb.h):
 * JsonbIterator allocates a state for each level, and these run on every
 * read and write.  Containers come from a detoasted Jsonb, so they are
 * aligned to four bytes and numerics in them have a four-byte header.
 */
#ifndef KV_ITEM_INTERNAL_H
#define KV_ITEM_INTERNAL_H

#include "base/compat.h"
#include "item/item.h"

/* One step from the root of an item to a value; lives on the stack of the walk, read only when an error is raised. */
typedef struct KvPath
{
	const struct KvPath *parent;	/* NULL for a top-level attribute */
	const char *name;			/* NULL: a list element */
	int			name_length;
	uint32		index;			/* of the list element */
} KvPath;

/* A walk over the direct members of an array or object, in stored order. */
typedef struct KvWalk
{
	const JsonbContainer *container;
	const char *data;			/* the variable-length part */
	uint32		count;
	uint32		index;			/* of the next member */
	uint32		name_offset;
	uint32		value_offset;
	bool		is_object;
} KvWalk;

/* Returns the length of an entry that starts at the given offset, padding included. */
static inline uint32
kv_entry_length(JEntry entry, uint32 offset)
{
	return JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) - offset : JBE_OFFLENFLD(entry);
}

/* Returns where the variable-length part of a container begins. */
static inline const char *
kv_container_data(const JsonbContainer *container)
{
	uint32		entries = JsonContainerSize(container);

	if (JsonContainerIsObject(container))
		entries *= 2;
	return (const char *) &container->children[entries];
}

/* Fills a JsonbValue that points into the container. */
static inline void
kv_entry_value(JEntry entry, const char *data, uint32 offset, uint32 length, JsonbValue *value)
{
	switch (entry & JENTRY_TYPEMASK)
	{
		case JENTRY_ISSTRING:
			value->type = jbvString;
			value->val.string.val = unconstify(char *, data + offset);
			value->val.string.len = length;
			break;
		case JENTRY_ISNUMERIC:
			value->type = jbvNumeric;
			value->val.numeric = (Numeric) (data + INTALIGN(offset));
			break;
		case JENTRY_ISCONTAINER:
			value->type = jbvBinary;
			value->val.binary.data = (JsonbContainer *) (data + INTALIGN(offset));
			value->val.binary.len = length - (INTALIGN(offset) - offset);
			break;
		case JENTRY_ISNULL:
			value->type = jbvNull;
			break;
		default:
			value->type = jbvBool;
			value->val.boolean = JBE_ISBOOL_TRUE(entry);
			break;
	}
}

/* Starts a walk. */
static inline void
kv_walk_start(KvWalk *walk, const JsonbContainer *container)
{
	walk->container = container;
	walk->data = kv_container_data(container);
	walk->count = JsonContainerSize(container);
	walk->index = 0;
	walk->name_offset = 0;
	walk->is_object = JsonContainerIsObject(container);
	walk->value_offset = walk->is_object ? getJsonbOffset(container, walk->count) : 0;
}

/* Gives the next member, and for an object its name; false at the end. */
static inline bool
kv_walk_next(KvWalk *walk, const char **name, int *name_length, JsonbValue *value)
{
	const JEntry *children = walk->container->children;
	JEntry		entry;
	uint32		length;

	if (walk->index >= walk->count)
		return false;
	if (walk->is_object)
	{
		length = kv_entry_length(children[walk->index], walk->name_offset);
		*name = walk->data + walk->name_offset;
		*name_length = length;
		walk->name_offset += length;
		entry = children[walk->count + walk->index];
	}
	else
	{
		*name = NULL;
		*name_length = 0;
		entry = children[walk->index];
	}
	length = kv_entry_length(entry, walk->value_offset);
	kv_entry_value(entry, walk->data, walk->value_offset, length, value);
	walk->value_offset += length;
	walk->index++;
	return true;
}

/* --- item_marker.c --- */

/* Returns the DynamoDB type of an array or object: LIST, MAP, or what its marker says (whatever the marker holds). */
extern KvValueType kv_container_type(const JsonbContainer *container);

/* Returns the marker's name of a binary or set type with its "$". */
extern const char *kv_marker_name(KvValueType type);

/* Tells whether the name, as the only one of a map, is a marker or an escaped marker: ^\$+(B|SS|NS|BS)$. */
extern bool kv_name_looks_like_marker(const char *name, int length);

/* Returns the path as text for a message; "value" for the root. */
extern char *kv_path_text(const KvPath *path);

/* --- item_value.c --- */

/* Raises an error if a map or list at this depth (1: an attribute's value) is too deep. */
extern void kv_check_depth(int depth, const KvPath *path);

/* --- item_base64.c --- */

typedef enum KvBase64State
{
	KV_BASE64_CANONICAL,
	KV_BASE64_ACCEPTED,			/* white space inside, or unused bits that are not zero */
	KV_BASE64_INVALID
} KvBase64State;

/* Checks base64 text and gives the number of bytes that it stands for. */
extern KvBase64State kv_base64_check(const char *text, int length, int *byte_count);

/* Decodes text that kv_base64_check did not call invalid; returns the number of bytes. */
extern int	kv_base64_decode(const char *text, int length, char *bytes);

/* Encodes; returns the number of characters, which is KV_BASE64_LENGTH(length). */
extern int	kv_base64_encode(const char *bytes, int length, char *text);

#define KV_BASE64_LENGTH(n)		(((n) + 2) / 3 * 4)

/* Orders two canonical texts as the bytes that they stand for. */
extern int	kv_base64_compare(const char *a, int a_length, const char *b, int b_length);

/* --- item_number.c --- */

typedef enum KvNumberState
{
	KV_NUMBER_NORMAL,
	KV_NUMBER_ACCEPTED,			/* has trailing zeros */
	KV_NUMBER_TOO_LONG,
	KV_NUMBER_OUT_OF_RANGE		/* also NaN and the infinities */
} KvNumberState;

/* Checks a number with a four-byte header. */
extern KvNumberState kv_number_check(Numeric number);

/* Returns the number in normal form; errors name the path. */
extern Numeric kv_number_normalize_at(Numeric number, const KvPath *path);

/* Returns the number of significant decimal digits, 0 for zero. */
extern int	kv_number_digits(Numeric number);

/* Reads decimal text such as -1.5E3 into normal form; errors name the path. */
extern Numeric kv_number_from_text(const char *text, int length, const KvPath *path);

/* Raises the error for a state that is one; number may be NULL if text says what it is. */
pg_noreturn extern void kv_number_report(KvNumberState state, Numeric number, const char *text, const KvPath *path);

#endif							/* KV_ITEM_INTERNAL_H */
