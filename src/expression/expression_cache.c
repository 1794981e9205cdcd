/*
 * expression_cache.c
 *	  Parsed trees, kept per session.
 *
 * Keyed by kind and text, so that a call with an expression seen before does
 * not lex or parse.  Bounded in entries and bytes; the least recently used
 * tree goes first.  Each tree lives in a memory context of its own.
 *
 * A tree that somebody was given is pinned until the memory context that was
 * current at that time is reset: a cursor may evaluate it long after other
 * expressions have pushed it out.  An evicted tree is freed when its last pin
 * goes.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/ilist.h"
#include "utils/memutils.h"

#include "base/errors.h"
#include "expression/expression_tree.h"

#define CACHE_MAX_ENTRIES	256
#define CACHE_MAX_BYTES		(1024 * 1024)
#define CACHE_MAX_TREE		(CACHE_MAX_BYTES / 8)	/* larger trees are not kept */
#define CACHE_BUCKETS		256 /* power of 2 */

typedef struct KvCacheEntry
{
	dlist_node	by_use;			/* in cache_by_use, most recent first */
	dlist_node	by_hash;		/* in its bucket */
	uint32		hash;
	Size		bytes;			/* of the tree's context */
	int			pins;
	bool		in_cache;
	KvTree	   *tree;			/* the entry lies in tree->context too */
} KvCacheEntry;

/* What the end of a memory context takes back. */
typedef struct Pin
{
	MemoryContextCallback callback;
	KvCacheEntry *entry;
} Pin;

/* See kv_expression_made_mark; empty until it is asked for. */
static char made_mark[18];

static MemoryContext cache_context = NULL;
static dlist_head cache_by_use;
static dlist_head cache_bucket[CACHE_BUCKETS];
static int	cache_entries = 0;
static Size cache_bytes = 0;

/* Creates the empty cache on first use. */
static void
create_cache(void)
{
	cache_context = AllocSetContextCreate(TopMemoryContext, "key_value expressions", ALLOCSET_SMALL_SIZES);
	dlist_init(&cache_by_use);
	for (int i = 0; i < CACHE_BUCKETS; i++)
		dlist_init(&cache_bucket[i]);
}

/* Takes an entry out of the cache; its tree stays while it is pinned. */
static void
evict_entry(KvCacheEntry *entry)
{
	dlist_delete(&entry->by_use);
	dlist_delete(&entry->by_hash);
	entry->in_cache = false;
	cache_entries--;
	cache_bytes -= entry->bytes;
	if (entry->pins == 0)
		MemoryContextDelete(entry->tree->context);
}

/* Callback: gives one pin back. */
static void
release_pin(void *argument)
{
	KvCacheEntry *entry = ((Pin *) argument)->entry;

	if (--entry->pins == 0 && !entry->in_cache)
		MemoryContextDelete(entry->tree->context);
}

/* Finds the entry of an expression; NULL if there is none. */
static KvCacheEntry *
find_entry(const KvSource *source, uint32 hash)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache_bucket[hash & (CACHE_BUCKETS - 1)])
	{
		KvCacheEntry *entry = dlist_container(KvCacheEntry, by_hash, iter.cur);
		const KvSource *known = &entry->tree->source;

		if (entry->hash == hash && known->kind == source->kind && known->made == source->made &&
			known->length == source->length &&
			memcmp(known->text, source->text, source->length) == 0)
			return entry;
	}
	return NULL;
}

/* Parses an expression into a context of its own, which belongs to CurrentMemoryContext as yet. */
static KvTree *
parse_tree(const KvSource *source)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "key_value expression",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	KvSource	copy = *source;
	char	   *text = palloc(source->length + 1);
	KvTree	   *tree;

	memcpy(text, source->text, source->length);
	text[source->length] = '\0';
	copy.text = text;
	tree = kv_expression_parse(&copy);
	tree->context = context;
	MemoryContextSwitchTo(old_context);
	return tree;
}

/* Puts a tree into the cache and makes room for it. */
static KvCacheEntry *
add_entry(KvTree *tree, uint32 hash, Size bytes)
{
	KvCacheEntry *entry = MemoryContextAllocZero(tree->context, sizeof(KvCacheEntry));

	while (cache_entries > 0 &&
		   (cache_entries >= CACHE_MAX_ENTRIES || cache_bytes + bytes > CACHE_MAX_BYTES))
		evict_entry(dlist_tail_element(KvCacheEntry, by_use, &cache_by_use));

	entry->tree = tree;
	entry->hash = hash;
	entry->bytes = bytes;
	entry->in_cache = true;
	MemoryContextSetParent(tree->context, cache_context);
	dlist_push_head(&cache_by_use, &entry->by_use);
	dlist_push_head(&cache_bucket[hash & (CACHE_BUCKETS - 1)], &entry->by_hash);
	cache_entries++;
	cache_bytes += bytes;
	return entry;
}

/* Returns what an expression begins with that was made. */
const char *
kv_expression_made_mark(void)
{
	uint64		number;

	if (made_mark[0] == '\0')
	{
		if (!pg_strong_random(&number, sizeof(number)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate a random number")));
		snprintf(made_mark, sizeof(made_mark), "%016llx ", (unsigned long long) number);
	}
	return made_mark;
}

/* Takes the mark off a text that was made. */
static void
read_mark(KvSource *source)
{
	int			length = sizeof(made_mark) - 1;

	source->made = made_mark[0] != '\0' && source->length > length && memcmp(source->text, made_mark, length) == 0;
	if (source->made)
	{
		source->text += length;
		source->length -= length;
	}
}

/* Refuses a text that is too long before anything reads it. */
static void
check_length(const KvSource *source)
{
	int			limit = source->made ? KV_MAX_MADE_LENGTH : KV_MAX_EXPRESSION_LENGTH;

	if (source->length > limit)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("invalid %s: %d bytes exceed the limit of %d",
						kv_expression_kind_name(source->kind), source->length, limit)));
}

/* Returns the tree of an expression, pinned for the life of CurrentMemoryContext. */
const KvTree *
kv_expression_tree(KvExpressionKind kind, text *expression)
{
	KvSource	source;
	KvCacheEntry *entry;
	Pin		   *pin;
	uint32		hash;

	source.kind = kind;
	source.text = VARDATA_ANY(expression);
	source.length = VARSIZE_ANY_EXHDR(expression);
	read_mark(&source);
	check_length(&source);

	if (cache_context == NULL)
		create_cache();
	hash = hash_combine(hash_bytes((const unsigned char *) source.text, source.length), kind);
	entry = find_entry(&source, hash);
	pin = palloc(sizeof(Pin));
	if (entry == NULL)
	{
		KvTree	   *tree = parse_tree(&source);
		Size		bytes = MemoryContextMemAllocated(tree->context, true);

		if (bytes > CACHE_MAX_TREE)
			return tree;
		entry = add_entry(tree, hash, bytes);
	}
	else
		dlist_move_head(&cache_by_use, &entry->by_use);

	entry->pins++;
	pin->entry = entry;
	pin->callback.func = release_pin;
	pin->callback.arg = pin;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &pin->callback);
	return entry->tree;
}
