/*
 * am_append.c
 *	  Remembers where this backend appended to collections last.
 *
 * Most rows come in the order of their sort keys: they go behind the last row
 * of their collection.  For those the index need not be probed again if this
 * backend knows the end of the collection.  What is remembered is only a
 * hint: others may have appended further since, or may have filled the page.
 *
 * The cache is of fixed size (its memory is touched as it fills) and shared by
 * all relations of the backend; entries are found by a hash that covers the
 * relation's generation, so forgetting a relation costs nothing.  Sort keys
 * are compared byte by byte, so this serves types that sort that way only.
 */
#include "postgres.h"

#include "am/am_internal.h"

#define SETS 2048				/* a power of two */
#define WAYS 4
#define KEY_BYTES 35

/* The end of one collection. */
typedef struct AppendEntry
{
	uint64		hash;			/* of generation and partition key; 0: free */
	BlockNumber block;
	uint8		length;			/* of key; a longer sort key is cut */
	char		key[KEY_BYTES];	/* the last sort key */
} AppendEntry;

static AppendEntry entries[SETS * WAYS];

/* Returns the entry of a collection, or NULL. */
static AppendEntry *
find_entry(uint64 hash)
{
	AppendEntry *set = entries + (hash & (SETS - 1)) * WAYS;
	int			i;

	for (i = 0; i < WAYS; i++)
		if (set[i].hash == hash)
			return &set[i];
	return NULL;
}

/* Returns an entry to use for a collection that has none: a free one, else its set's in turn. */
static AppendEntry *
take_entry(uint64 hash)
{
	static uint32 turn = 0;
	AppendEntry *set = entries + (hash & (SETS - 1)) * WAYS;
	int			i;

	for (i = 0; i < WAYS; i++)
		if (set[i].hash == 0)
			return &set[i];
	return &set[turn++ % WAYS];
}

/* Tells whether a sort key is surely behind the entry's. */
static bool
is_behind(const AppendEntry *entry, const char *key, int length)
{
	int			order = memcmp(key, entry->key, Min(length, entry->length));

	return order > 0 || (order == 0 && length > entry->length && entry->length < KEY_BYTES);
}

/* Returns the block of the last row of a collection if the sort key goes behind it, else InvalidBlockNumber. */
BlockNumber
kv_am_append_find(uint64 hash, const char *key, int length)
{
	AppendEntry *entry = find_entry(hash);

	if (entry == NULL || !is_behind(entry, key, length))
		return InvalidBlockNumber;
	return entry->block;
}

/* Remembers that the last row of a collection goes to a block. */
void
kv_am_append_note(uint64 hash, const char *key, int length, BlockNumber block)
{
	AppendEntry *entry = find_entry(hash);

	if (entry == NULL)
		entry = take_entry(hash);
	entry->hash = hash;
	entry->block = block;
	entry->length = Min(length, KEY_BYTES);
	memcpy(entry->key, key, entry->length);
}
