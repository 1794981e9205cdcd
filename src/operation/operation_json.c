/*
 * operation_json.c
 *	  Building JSON answers.
 *
 * Answers that hold whole items are put together from finished parts, copied
 * as they are and aligned as convertJsonbArray and convertJsonbObject in
 * core's jsonb_util.c do: pushing them as values would take each apart and
 * put it together again.
 */
#include "postgres.h"

#include "base/compat.h"
#include "item/item.h"
#include "operation/operation_json.h"

/* A container under construction. */
typedef struct Container
{
	Jsonb	   *jsonb;
	char	   *data;			/* behind the entries */
	uint32		index;			/* of the next entry */
	uint32		offset;			/* where the last entry's data ends */
} Container;

/* Starts a container with so many entries and at most so many bytes of data. */
static void
begin_container(Container *container, uint32 header, int entries, Size data_length)
{
	Size		length = VARHDRSZ + sizeof(uint32) + sizeof(JEntry) * entries;

	container->jsonb = palloc0(length + data_length);
	container->jsonb->root.header = header;
	container->data = (char *) container->jsonb + length;
	container->index = 0;
	container->offset = 0;
}

/* Adds an entry whose data begins at start. */
static void
add_entry(Container *container, JEntry type, uint32 start, const void *data, uint32 length)
{
	uint32		end = start + length;

	memcpy(container->data + start, data, length);
	container->jsonb->root.children[container->index] = type |
		(container->index % JB_OFFSET_STRIDE == 0 ? end | JENTRY_HAS_OFF : end - container->offset);
	container->index++;
	container->offset = end;
}

/* Adds an object or array. */
static void
add_part(Container *container, Jsonb *part)
{
	add_entry(container, JENTRY_ISCONTAINER, INTALIGN(container->offset),
			  &part->root, VARSIZE(part) - VARHDRSZ);
}

/* Finishes a container. */
static Jsonb *
end_container(Container *container)
{
	SET_VARSIZE(container->jsonb, container->data + container->offset - (char *) container->jsonb);
	return container->jsonb;
}

/* Returns an array of objects and arrays. */
Jsonb *
kv_json_array(Jsonb **elements, int count)
{
	Container	container;
	Size		length = 0;

	for (int i = 0; i < count; i++)
		length += INTALIGN(VARSIZE(elements[i]));
	begin_container(&container, JB_FARRAY | count, count, length);
	for (int i = 0; i < count; i++)
		add_part(&container, elements[i]);
	return end_container(&container);
}

/* Orders members as jsonb does. */
static int
compare_members(const void *a, const void *b)
{
	const KvJsonMember *left = a;
	const KvJsonMember *right = b;

	return kv_name_compare(left->name, left->name_length, right->name, right->name_length);
}

/* Returns an object of objects and arrays. */
Jsonb *
kv_json_object(KvJsonMember *members, int count)
{
	Container	container;
	Size		length = 0;

	for (int i = 0; i < count; i++)
		length += INTALIGN(VARSIZE(members[i].value)) + INTALIGN(members[i].name_length);
	begin_container(&container, JB_FOBJECT | count, 2 * count, length);
	if (count > 1)
		qsort(members, count, sizeof(KvJsonMember), compare_members);
	for (int i = 0; i < count; i++)
		add_entry(&container, JENTRY_ISSTRING, container.offset, members[i].name, members[i].name_length);
	for (int i = 0; i < count; i++)
		add_part(&container, members[i].value);
	return end_container(&container);
}

/* Returns an object with one member. */
Jsonb *
kv_json_wrap(const char *name, Jsonb *value)
{
	KvJsonMember member = {name, strlen(name), value};

	return kv_json_object(&member, 1);
}

/* Returns the text of a value. */
char *
kv_json_text(Jsonb *value)
{
	return JsonbToCString(NULL, &value->root, VARSIZE(value));
}
