/*
 * item_join.c
 *	  Between the stored form of an item and the whole item.
 *
 * Both directions are on the path of every read and write, so they edit the
 * binary form of jsonb (see utils/jsonb.h) in one pass into one allocation,
 * instead of going through pushJsonbValue().  What they give is byte for byte
 * what core's conversion gives:
 *	- names come first, ordered by length and then by bytes, then the values in
 *	  the same order;
 *	- an entry holds its length, but every JB_OFFSET_STRIDE-th its end offset,
 *	  which moves to other members when one is put in or taken out;
 *	- numerics and containers are aligned to four bytes, and the padding counts
 *	  as part of them, so it changes when what lies before them does.  Behind
 *	  the first aligned member of a run old and new place are congruent again,
 *	  and the rest of the run is copied as it is.
 */
#include "postgres.h"

#include "base/errors.h"
#include "item/item_internal.h"

/* A key attribute on its way into an object. */
typedef struct KeyMember
{
	const char *name;
	int			name_length;
	JEntry		type;			/* type bits of the value's entry */
	const char *payload;		/* without padding; of a binary, the bytes to encode */
	uint32		payload_length; /* of a binary, of the whole marker */
	uint32		byte_count;		/* binary only */
} KeyMember;

/* A change at one place of an object: a member dropped, put in, or both. */
typedef struct Edit
{
	uint32		position;		/* index of the member before which to put in, or which to drop */
	bool		drop;
	const KeyMember *insert;	/* may be NULL */
} Edit;

/* The object that is read. */
typedef struct Source
{
	const JEntry *children;
	const char *data;
	uint32		count;
	uint32		offset;			/* where the next entry's data begins */
} Source;

/* The object that is written. */
typedef struct Target
{
	JEntry	   *children;
	char	   *data;
	uint32		index;			/* of the next entry */
	Size		offset;			/* where its data begins */
} Target;

/* Length of the container {"$B": base64} without the base64. */
#define BINARY_MARKER_HEADER	(sizeof(uint32) + 2 * sizeof(JEntry) + 2)

/* Writes the entry of the next member, whose data has the given length. */
static inline void
put_entry(Target *target, JEntry type, uint32 length)
{
	target->offset += length;
	target->children[target->index] = type |
		(target->index % JB_OFFSET_STRIDE == 0 ? (uint32) target->offset | JENTRY_HAS_OFF : length);
	target->index++;
}

/* Tells whether the data of an entry is aligned. */
static inline bool
is_aligned(JEntry entry)
{
	return JBE_ISNUMERIC(entry) || JBE_ISCONTAINER(entry);
}

/* Copies the entries [from, to) and their data. */
static void
copy_run(Target *target, Source *source, uint32 from, uint32 to)
{
	uint32		start = source->offset; /* of the data not yet copied */
	Size		place = target->offset; /* where it goes */
	bool		congruent = ((start ^ place) & (ALIGNOF_INT - 1)) == 0;
	uint32		i;

	for (i = from; i < to; i++)
	{
		JEntry		entry = source->children[i];
		uint32		length = kv_entry_length(entry, source->offset);

		if (!congruent && is_aligned(entry))
		{
			uint32		old_padding = INTALIGN(source->offset) - source->offset;
			uint32		new_padding = INTALIGN(target->offset) - target->offset;

			memcpy(target->data + place, source->data + start, source->offset - start);
			memset(target->data + target->offset, 0, new_padding);
			start = source->offset + old_padding;
			place = target->offset + new_padding;
			congruent = true;
			put_entry(target, entry & JENTRY_TYPEMASK, length - old_padding + new_padding);
		}
		else
			put_entry(target, entry & JENTRY_TYPEMASK, length);
		source->offset += length;
	}
	memcpy(target->data + place, source->data + start, source->offset - start);
}

/* Passes over one entry. */
static inline void
skip_entry(Source *source, uint32 index)
{
	source->offset += kv_entry_length(source->children[index], source->offset);
}

/* Writes the marker of a binary value: a container with one member. */
static void
write_binary_marker(char *place, const char *bytes, uint32 byte_count)
{
	JsonbContainer *container = (JsonbContainer *) place;

	container->header = 1 | JB_FOBJECT;
	container->children[0] = JENTRY_ISSTRING | JENTRY_HAS_OFF | 2;
	container->children[1] = JENTRY_ISSTRING | KV_BASE64_LENGTH(byte_count);
	memcpy(&container->children[2], "$B", 2);
	(void) kv_base64_encode(bytes, byte_count, (char *) &container->children[2] + 2);
}

/* Writes the value of a key attribute and its entry. */
static void
put_value(Target *target, const KeyMember *member)
{
	uint32		padding = is_aligned(member->type) ? INTALIGN(target->offset) - target->offset : 0;
	char	   *place = target->data + target->offset;

	memset(place, 0, padding);
	if (JBE_ISCONTAINER(member->type))
		write_binary_marker(place + padding, member->payload, member->byte_count);
	else
		memcpy(place + padding, member->payload, member->payload_length);
	put_entry(target, member->type, padding + member->payload_length);
}

/* Writes the name of a key attribute and its entry. */
static void
put_name(Target *target, const KeyMember *member)
{
	memcpy(target->data + target->offset, member->name, member->name_length);
	put_entry(target, JENTRY_ISSTRING, member->name_length);
}

/* Returns the object with the edits applied, which are in order of position and then of name. */
static Jsonb *
apply_edits(const JsonbContainer *container, const Edit *edits, int edit_count, Size allocate)
{
	Jsonb	   *result = (Jsonb *) palloc(allocate);
	Source		source;
	Target		target;
	uint32		count;
	int			half;
	int			i;

	source.count = JsonContainerSize(container);
	source.children = container->children;
	source.data = kv_container_data(container);
	source.offset = 0;

	count = source.count;
	for (i = 0; i < edit_count; i++)
		count += (edits[i].insert != NULL) - (int) edits[i].drop;
	result->root.header = count | JB_FOBJECT;
	target.children = result->root.children;
	target.data = (char *) &target.children[count * 2];
	target.index = 0;
	target.offset = 0;

	/* Names first, then values. */
	for (half = 0; half < 2; half++)
	{
		uint32		base = half * source.count;
		uint32		next = 0;

		for (i = 0; i < edit_count; i++)
		{
			copy_run(&target, &source, base + next, base + edits[i].position);
			next = edits[i].position;
			if (edits[i].insert != NULL)
			{
				if (half == 0)
					put_name(&target, edits[i].insert);
				else
					put_value(&target, edits[i].insert);
			}
			if (edits[i].drop)
				skip_entry(&source, base + next++);
		}
		copy_run(&target, &source, base + next, base + source.count);
	}

	if (target.offset > JENTRY_OFFLENMASK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("total size of jsonb object elements exceeds the maximum of %u bytes",
						JENTRY_OFFLENMASK)));
	SET_VARSIZE(result, target.data + target.offset - (char *) result);
	Assert(VARSIZE(result) <= allocate);
	return result;
}

/*
 * Fills an order of the schema's attributes by name, and for each an edit
 * that tells where in the object it is (drop) or would be.
 */
static void
locate_attributes(const KvKeySchema *schema, const JsonbContainer *container, int *order, Edit *edits)
{
	const char *data = kv_container_data(container);
	uint32		count = JsonContainerSize(container);
	uint32		offset = 0;
	uint32		i = 0;
	int			k;

	for (k = 0; k < schema->count; k++)
	{
		const KvKeyAttribute *attribute = &schema->attribute[k];
		int			place = k;

		for (; place > 0; place--)
		{
			const KvKeyAttribute *before = &schema->attribute[order[place - 1]];

			if (kv_name_compare(before->name, before->name_length, attribute->name, attribute->name_length) <= 0)
				break;
			order[place] = order[place - 1];
		}
		order[place] = k;
	}

	for (k = 0; k < schema->count; k++)
	{
		const KvKeyAttribute *attribute = &schema->attribute[order[k]];
		int			compared = 1;

		for (; i < count; i++)
		{
			uint32		length = kv_entry_length(container->children[i], offset);

			compared = kv_name_compare(data + offset, length, attribute->name, attribute->name_length);
			if (compared >= 0)
				break;
			offset += length;
		}
		edits[k].position = i;
		edits[k].drop = i < count && compared == 0;
		edits[k].insert = NULL;
	}
}

/* Raises an error unless the JSON is an object. */
static void
check_object(const Jsonb *json)
{
	if (!JB_ROOT_IS_OBJECT(json))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("item is not a JSON object")));
}

/* Fills the member for a key attribute; returns the most bytes that it takes in an object. */
static Size
make_member(const KvKeyAttribute *attribute, Datum key, KeyMember *member)
{
	struct varlena *packed;

	member->name = attribute->name;
	member->name_length = attribute->name_length;
	if (attribute->type == KV_KEY_NUMBER)
	{
		KvPath		path = {NULL, attribute->name, attribute->name_length, 0};
		Numeric		number = kv_number_normalize_at(DatumGetNumeric(key), &path);

		member->type = JENTRY_ISNUMERIC;
		member->payload = (const char *) number;
		member->payload_length = VARSIZE(number);
	}
	else
	{
		packed = PG_DETOAST_DATUM_PACKED(key);
		member->payload = VARDATA_ANY(packed);
		member->payload_length = VARSIZE_ANY_EXHDR(packed);
		member->type = JENTRY_ISSTRING;
		if (attribute->type == KV_KEY_BINARY)
		{
			member->type = JENTRY_ISCONTAINER;
			member->byte_count = member->payload_length;
			member->payload_length = BINARY_MARKER_HEADER + KV_BASE64_LENGTH(member->byte_count);
		}
	}
	return 2 * sizeof(JEntry) + member->name_length + ALIGNOF_INT + member->payload_length;
}

/* Returns the object with the key attributes put in. */
static Jsonb *
put_keys(const KvKeySchema *schema, const Datum *key, const JsonbContainer *rest, Size rest_size)
{
	KeyMember	members[KV_MAX_KEYS];
	Edit		edits[KV_MAX_KEYS];
	int			order[KV_MAX_KEYS];
	Size		allocate = rest_size + ALIGNOF_INT; /* and the padding that a run may gain */
	int			k;

	/* An attribute of the key's name in the rest, which the table's check refuses, gives way to the key. */
	locate_attributes(schema, rest, order, edits);
	for (k = 0; k < schema->count; k++)
	{
		allocate += ALIGNOF_INT + make_member(&schema->attribute[order[k]], key[order[k]], &members[k]);
		edits[k].insert = &members[k];
	}
	return apply_edits(rest, edits, schema->count, allocate);
}

/* Returns the whole item: rest plus the key attributes. */
Jsonb *
kv_item_join(const KvItemView *view)
{
	check_object(view->rest);
	return put_keys(view->schema, view->key, &view->rest->root, VARSIZE(view->rest));
}

/* Returns the key as a JSON object. */
Jsonb *
kv_key_to_json(const KvKeySchema *schema, const Datum *key)
{
	static const JsonbContainer nothing = {.header = JB_FOBJECT};

	return put_keys(schema, key, &nothing, VARHDRSZ + sizeof(uint32));
}

/* Returns the key value as an item value. */
void
kv_key_to_value(KvKeyType type, Datum key, JsonbValue *value)
{
	struct varlena *packed;

	if (type == KV_KEY_NUMBER)
	{
		value->type = jbvNumeric;
		value->val.numeric = kv_number_normalize(DatumGetNumeric(key));
		return;
	}
	packed = PG_DETOAST_DATUM_PACKED(key);
	if (type == KV_KEY_STRING)
	{
		value->type = jbvString;
		value->val.string.val = VARDATA_ANY(packed);
		value->val.string.len = VARSIZE_ANY_EXHDR(packed);
	}
	else
	{
		uint32		byte_count = VARSIZE_ANY_EXHDR(packed);

		value->type = jbvBinary;
		value->val.binary.len = BINARY_MARKER_HEADER + KV_BASE64_LENGTH(byte_count);
		value->val.binary.data = (JsonbContainer *) palloc(value->val.binary.len);
		write_binary_marker((char *) value->val.binary.data, VARDATA_ANY(packed), byte_count);
	}
}

/* Splits a whole item, already in normal form, into keys and rest; checks the keys. */
void
kv_item_split(const KvKeySchema *schema, Jsonb *whole, KvItemView *view)
{
	const JsonbContainer *container = &whole->root;
	uint32		count = JsonContainerSize(container);
	Edit		edits[KV_MAX_KEYS];
	int			order[KV_MAX_KEYS];
	int			k;

	check_object(whole);
	locate_attributes(schema, container, order, edits);
	view->schema = schema;
	for (k = 0; k < schema->count; k++)
	{
		const KvKeyAttribute *attribute = &schema->attribute[order[k]];
		uint32		index = count + edits[k].position;
		uint32		offset;
		JsonbValue	value;

		if (!edits[k].drop)
			ereport(ERROR,
					(errcode(ERRCODE_KV_VALIDATION),
					 errmsg("key attribute \"%s\" is missing", attribute->name)));
		offset = getJsonbOffset(container, index);
		kv_entry_value(container->children[index], kv_container_data(container), offset,
					   kv_entry_length(container->children[index], offset), &value);
		view->key[order[k]] = kv_key_from_value(attribute, order[k], &value);
	}
	view->rest = apply_edits(container, edits, schema->count,
							 VARSIZE(whole) + (schema->count + 1) * ALIGNOF_INT);
}

/* Returns a copy of an object without the attributes of a schema. */
Jsonb *
kv_item_without(const KvKeySchema *schema, const Jsonb *object)
{
	Edit		edits[KV_MAX_KEYS];
	int			order[KV_MAX_KEYS];

	check_object(object);
	locate_attributes(schema, &object->root, order, edits);
	return apply_edits(&object->root, edits, schema->count, VARSIZE(object) + (schema->count + 1) * ALIGNOF_INT);
}
