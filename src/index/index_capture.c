/*
 * index_capture.c
 *	  The trigger that notes which items changed.
 *
 * An AFTER ROW trigger on the base table, ENABLE ALWAYS so that logical
 * replication fires it too.  Where it is the only trigger, item functions call
 * it without the machinery of triggers.  It compares what the indexes would see of the
 * item before and after, refuses an attribute that cannot be a key, and
 * writes at most one record, whatever the number of indexes (two where the
 * key of the item itself changed).
 *
 * Which indexes there are is the base table's descriptor's to say, whatever
 * their state: an index that is not filled yet has its changes noted as well.
 * One whose changes cannot be noted is put in doubt (index_doubt.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

PG_FUNCTION_INFO_V1(kv_capture_change_sql);

/* What an item has, or had, of the key of an index. */
typedef struct IndexKey
{
	bool		is_object;		/* there is an item, and it can have attributes */
	bool		has[KV_MAX_KEYS];	/* by place in the index key, where that is not a key of the base table */
	JsonbValue	value[KV_MAX_KEYS];
	bool		present;		/* the item is in the index, under */
	Datum		key[KV_MAX_KEYS];
} IndexKey;

/* Adds to an error which index it is about. */
static void
add_error_context(void *argument)
{
	errcontext("key of index \"%s\"", get_rel_name(((const KvIndex *) argument)->relid));
}

/* Finds an attribute; NULL if it is not there, or the rest is no object, which SQL can write. */
static const JsonbValue *
find_attribute(Jsonb *rest, const char *name, int length, JsonbValue *value)
{
	return JB_ROOT_IS_OBJECT(rest) ? getKeyJsonValueFromContainer(&rest->root, name, length, value) : NULL;
}

/* Finds the attributes that an item has of the key of an index. */
static void
find_key(const KvIndex *index, const KvItemView *item, IndexKey *key)
{
	key->present = false;
	key->is_object = item != NULL && JB_ROOT_IS_OBJECT(item->rest);
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
	{
		const KvKeyAttribute *attribute = &index->key.attribute[i];

		if (index->base_key[i] == KV_NOT_BASE_KEY)
			key->has[i] = key->is_object &&
				find_attribute(item->rest, attribute->name, attribute->name_length, &key->value[i]) != NULL;
	}
}

/* Tells whether the item whose attributes were found is in the index. */
static bool
is_in_index(const KvIndex *index, const IndexKey *key)
{
	if (!key->is_object)
		return false;
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY &&
			(!key->has[i] || !kv_key_is_valid(&index->key.attribute[i], i, &key->value[i])))
			return false;
	return true;
}

/* Makes the key of the attributes found, if the item is in the index. */
static void
make_key(const KvIndex *index, const KvItemView *item, IndexKey *key)
{
	key->present = is_in_index(index, key);
	if (!key->present)
		return;
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY)
			key->key[i] = kv_key_from_value(&index->key.attribute[i], i, &key->value[i]);
	kv_entry_complete_key(index, item->key, key->key);
}

/* Tells whether two values of an item are the same as they are stored; NULL is no value. */
static bool
same_value(const JsonbValue *a, const JsonbValue *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->type != b->type)
		return false;
	switch (a->type)
	{
		case jbvNull:
			return true;
		case jbvBool:
			return a->val.boolean == b->val.boolean;
		case jbvString:
			return a->val.string.len == b->val.string.len &&
				memcmp(a->val.string.val, b->val.string.val, a->val.string.len) == 0;
		case jbvNumeric:
			return VARSIZE_ANY(a->val.numeric) == VARSIZE_ANY(b->val.numeric) &&
				memcmp(a->val.numeric, b->val.numeric, VARSIZE_ANY(a->val.numeric)) == 0;
		default:
			return a->val.binary.len == b->val.binary.len &&
				memcmp(a->val.binary.data, b->val.binary.data, a->val.binary.len) == 0;
	}
}

/* Tells whether an attribute is the same in two items. */
static bool
same_attribute(const char *name, int length, const KvItemView *old, const KvItemView *new)
{
	JsonbValue	old_value;
	JsonbValue	new_value;

	return same_value(find_attribute(old->rest, name, length, &old_value),
					  find_attribute(new->rest, name, length, &new_value));
}

/*
 * Raises KV007 if an item that is not in an index would be there but for an
 * attribute that cannot be a key, which this change brought.
 */
static void
check_attributes(const KvIndex *index, const KvItemView *old, const KvItemView *new)
{
	ErrorContextCallback callback = {.callback = add_error_context,.arg = (void *) index};
	Datum		key;

	callback.previous = error_context_stack;
	error_context_stack = &callback;
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
	{
		const KvKeyAttribute *attribute = &index->key.attribute[i];

		if (index->base_key[i] == KV_NOT_BASE_KEY &&
			(old == NULL || !same_attribute(attribute->name, attribute->name_length, old, new)))
			(void) kv_key_from_rest(attribute, i, new->rest, &key);
	}
	error_context_stack = callback.previous;
}

/* Tells whether the index sees a difference between two items with one key in it. */
static bool
same_content(const KvIndex *index, const KvItemView *old, const KvItemView *new)
{
	if (index->projection == KV_PROJECT_ALL)
		return false;			/* the two are known to differ */
	for (int i = 0; i < index->include_count; i++)
		if (!same_attribute(index->include_name[i], strlen(index->include_name[i]), old, new))
			return false;
	return true;
}

/* Tells whether the attributes found of two items are the same as they are stored, and both can have such or neither. */
static bool
same_key(const KvIndex *index, const IndexKey *old, const IndexKey *new)
{
	if (old->is_object != new->is_object)
		return false;
	for (int i = 0; i < kv_key_own_count(&index->key); i++)
		if (index->base_key[i] == KV_NOT_BASE_KEY &&
			!same_value(old->has[i] ? &old->value[i] : NULL, new->has[i] ? &new->value[i] : NULL))
			return false;
	return true;
}

/*
 * Compares what one index sees of an item before and after; either is NULL
 * where there is none.  Adds the old key to the record if it goes away.
 * Returns whether the index has to change.
 */
static bool
compare_for_index(const KvIndex *index, const KvItemView *old, const KvItemView *new, StringInfo record)
{
	IndexKey	old_key;
	IndexKey	new_key;
	bool		equal;

	find_key(index, old, &old_key);
	find_key(index, new, &new_key);
	if (old != NULL && new != NULL && same_key(index, &old_key, &new_key))
		return is_in_index(index, &new_key) && !same_content(index, old, new);

	make_key(index, old, &old_key);
	make_key(index, new, &new_key);
	if (new != NULL && !new_key.present)
		check_attributes(index, old, new);
	equal = old_key.present && new_key.present && kv_table_same_index_key(index, old_key.key, new_key.key);
	if (new_key.present && !equal)
		kv_entry_check_size(index, new_key.key);

	if (!old_key.present)
		return new_key.present;
	if (equal)
		return !same_content(index, old, new);
	kv_change_add_old(record, index, old_key.key);
	return true;
}

/* Returns the descriptor of one of the table's indexes; NULL, having put it in doubt, if it cannot follow the table. */
static const KvIndex *
find_index(const KvTable *base, Oid relid)
{
	const KvTable *index = kv_table_lookup(relid);
	bool		fits = index != NULL && index->usable && index->index != NULL &&
	index->index->base_relid == base->relid;

	if (unlikely(!fits || index->index->outdated))
		kv_index_note_doubt(relid);
	return fits ? index->index : NULL;
}

/* Writes a record of a change of one item, if an index sees it; either view is NULL where there is no item, the row of new lies at a place. */
static void
capture(const KvTable *base, const KvItemView *old, const KvItemView *new, const ItemPointerData *row)
{
	StringInfoData record;
	bool		seen = false;

	if (old != NULL && new != NULL && VARSIZE(old->rest) == VARSIZE(new->rest) &&
		memcmp(old->rest, new->rest, VARSIZE(old->rest)) == 0)
		return;

	initStringInfo(&record);
	kv_change_begin(&record, &base->key, old ? old->key : new->key);
	kv_change_add_place(&record, new ? row : NULL);
	for (int i = 0; i < base->global_count; i++)
	{
		const KvIndex *index = find_index(base, base->global_relid[i]);

		if (index != NULL && compare_for_index(index, old, new, &record))
			seen = true;
	}
	if (seen)
	{
		kv_index_keep_pace();
		kv_log_append(base->relid, &record);
		kv_index_wake_at_commit();
	}
	pfree(record.data);
}

/* Makes the store call us directly where there is no other trigger. */
void
kv_index_install_capture(void)
{
	kv_store_capture_hook = capture;
}

/* Fills a view from a row of the leaf. */
static void
read_row(const KvTable *leaf, TupleDesc row_type, HeapTuple row, KvItemView *view)
{
	bool		isnull;

	view->schema = &leaf->key;
	for (int i = 0; i < leaf->key.count; i++)
		view->key[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(heap_getattr(row, leaf->key_attno[i], row_type, &isnull)));
	view->rest = DatumGetJsonbP(heap_getattr(row, leaf->item_attno, row_type, &isnull));
}

/* Captures what a row trigger tells. */
static void
capture_row(const TriggerData *data, const KvTable *leaf, const KvTable *base)
{
	TupleDesc	row_type = RelationGetDescr(data->tg_relation);
	KvItemView	first;
	KvItemView	second;

	read_row(leaf, row_type, data->tg_trigtuple, &first);
	if (TRIGGER_FIRED_BY_INSERT(data->tg_event))
		capture(base, NULL, &first, &data->tg_trigtuple->t_self);
	else if (TRIGGER_FIRED_BY_DELETE(data->tg_event))
		capture(base, &first, NULL, NULL);
	else
	{
		read_row(leaf, row_type, data->tg_newtuple, &second);
		if (kv_key_compare_whole(first.schema, first.key, second.key) == 0)
			capture(base, &first, &second, &data->tg_newtuple->t_self);
		else
		{
			capture(base, &first, NULL, NULL);
			capture(base, NULL, &second, &data->tg_newtuple->t_self);
		}
	}
}

/* kv.capture_change(): the trigger function of base tables. */
Datum
kv_capture_change_sql(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	const KvTable *leaf;
	const KvTable *base;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("kv.capture_change() is the function of an AFTER trigger")));
	if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
	{
		kv_index_after_truncate(RelationGetRelid(data->tg_relation));
		return PointerGetDatum(NULL);
	}

	leaf = kv_table_lookup(RelationGetRelid(data->tg_relation));
	base = leaf != NULL && leaf->is_leaf ? kv_table_lookup(leaf->root_relid) : leaf;
	if (base == NULL || !leaf->usable || !base->usable)
		kv_index_note_doubt(RelationGetRelid(data->tg_relation));
	else if (base->global_count > 0)
		capture_row(data, leaf, base);
	return PointerGetDatum(NULL);
}
