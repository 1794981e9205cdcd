/*
 * operation_page.c
 *	  One page of a query or scan, and what it cost.
 *
 * A page ends when the limit of items read, of bytes read or of items
 * returned is met, and then has a last key even if nothing lies behind it;
 * only a read that met the end has none.
 *
 * Source of the rules: DynamoDB Developer Guide, "Paginating table query
 * results" and "Read and write operations" (capacity); API reference, Query,
 * Select (a count goes with no projection).
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_json.h"
#include "operation/operation_read.h"

/* Items of a page until they become one array. */
typedef struct ItemList
{
	Jsonb	  **item;
	int			count;
	int			capacity;
} ItemList;

/* Appends an item to the list. */
static void
append_item(ItemList *list, Jsonb *item)
{
	if (list->count == list->capacity)
	{
		list->capacity *= 2;
		list->item = repalloc_huge(list->item, sizeof(Jsonb *) * list->capacity);
	}
	list->item[list->count++] = item;
}

/* Reads one page. */
void
kv_operation_page(const KvReadRequest *request, KvPage *page)
{
	KvRead	   *read;
	int64		page_size = request->page_size ? *request->page_size : PG_INT64_MAX;
	int64		max_items = request->max_items ? *request->max_items : PG_INT64_MAX;
	int64		bytes = 0;
	ItemList	list;
	KvItemView	view;

	if (request->count_only && request->projection)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("count_only does not go with a projection"),
				 errhint("Leave one of the two out.")));

	read = kv_read_begin(request);
	list.count = 0;
	list.capacity = 32;
	list.item = palloc(sizeof(Jsonb *) * list.capacity);
	memset(page, 0, sizeof(KvPage));

	while (kv_read_next_row(read, &view))
	{
		page->scanned_count++;
		bytes += kv_read_count(read, &view);
		if (kv_read_passes(read, &view))
		{
			page->count++;
			if (!request->count_only)
				append_item(&list, kv_read_result(read, &view));
		}

		if (page->scanned_count >= page_size || page->count >= max_items || bytes > KV_MAX_PAGE_BYTES)
		{
			page->last_evaluated_key = kv_key_to_json(view.schema, view.key);
			break;
		}
	}
	kv_read_add_capacity(read, &page->capacity);
	kv_read_end(read);

	if (!request->count_only)
		page->items = kv_json_array(list.item, list.count);
}
