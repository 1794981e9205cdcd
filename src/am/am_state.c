/*
 * am_state.c
 *	  What a backend remembers of a relation between two writes to it.
 *
 * Kept in rd_amcache.  A relcache invalidation frees it, so a pointer from
 * kv_am_state() is good until something may take a lock, and no longer.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "am/am_internal.h"

/* Collections in a row that were new before the next is taken for new without a look, but for one in some. */
#define SURE_RUN 256
#define SURE_LOOK 8

/* Changes of collection that the moving average of returning ones spans. */
#define CHANGE_WINDOW 256

/* What a hint is about. */
typedef struct HintScope
{
	Oid			relid;			/* InvalidOid: no hint */
	Oid			file_number;
	LocalTransactionId lxid;	/* the hint is void in another transaction */
} HintScope;

/* The caller's own finding of the neighbour of its next insert. */
static HintScope neighbour_scope;
static KvAmNeighbour hinted_neighbour;

/* What the caller saw of the page of its next update. */
static HintScope room_scope;
static BlockNumber hinted_block;
static Size hinted_room;

/* Makes a hint one about a relation. */
static void
set_scope(HintScope *scope, Relation relation)
{
	scope->relid = RelationGetRelid(relation);
	scope->file_number = kv_compat_file_number(relation);
	scope->lxid = kv_compat_my_lxid();
}

/* Tells whether a hint is about a relation, and ends it. */
static bool
take_scope(HintScope *scope, Relation relation)
{
	bool		valid = scope->relid == RelationGetRelid(relation) &&
		scope->file_number == kv_compat_file_number(relation) &&
		scope->lxid == kv_compat_my_lxid();

	scope->relid = InvalidOid;
	return valid;
}

/* Takes the caller's own finding of the neighbour of its next insert. */
void
kv_am_hint_neighbour(Relation relation, const KvAmNeighbour *neighbour)
{
	set_scope(&neighbour_scope, relation);
	hinted_neighbour = *neighbour;
}

/* Gives out the hint for an insert into the relation, once. */
bool
kv_am_take_hint(Relation relation, KvAmNeighbour *neighbour)
{
	if (!take_scope(&neighbour_scope, relation))
		return false;
	*neighbour = hinted_neighbour;
	return true;
}

/* Takes what the caller saw of the page of its next update. */
void
kv_am_hint_room(Relation relation, BlockNumber block, Size room)
{
	set_scope(&room_scope, relation);
	hinted_block = block;
	hinted_room = room;
}

/* Gives that out, once. */
bool
kv_am_take_room(Relation relation, BlockNumber block, Size *room)
{
	if (!take_scope(&room_scope, relation) || hinted_block != block)
		return false;
	*room = hinted_room;
	return true;
}

/* Reads the relation's primary key; at most two index openings for each relcache entry. */
static void
read_primary_key(Relation relation, KvAmState *state)
{
	Oid			primary_key = kv_compat_primary_key_index(relation);
	Relation	index;

	if (!OidIsValid(primary_key))
		return;
	index = index_open(primary_key, RowExclusiveLock);
	if (IndexRelationGetNumberOfKeyAttributes(index) >= 2 && index->rd_index->indisvalid)
	{
		Oid			type = index->rd_opcintype[1];

		state->has_sort_key = true;
		state->partition_key = index->rd_index->indkey.values[0];
		state->sort_key = index->rd_index->indkey.values[1];
		state->sorts_bytewise = type == BYTEAOID ||
			(type == TEXTOID && index->rd_indcollation[1] == C_COLLATION_OID);
	}
	index_close(index, RowExclusiveLock);
}

/*
 * Returns what this backend remembers of the relation, made anew if need be.
 * Blocks are forgotten when the relation's files were closed, as happens when
 * others truncate them: only then can a remembered block be gone.
 */
KvAmState *
kv_am_state(Relation relation)
{
	static uint64 generations = 0;
	KvAmState  *state = relation->rd_amcache;
	KvAmState	fresh;

	if (state == NULL)
	{
		memset(&fresh, 0, sizeof(KvAmState));
		read_primary_key(relation, &fresh);
		if (relation->rd_amcache == NULL)
			relation->rd_amcache = MemoryContextAlloc(CacheMemoryContext, sizeof(KvAmState));
		state = relation->rd_amcache;
		*state = fresh;
		state->sample_point = MyProcPid;
	}
	if (state->generation == 0 || RelationGetTargetBlock(relation) == InvalidBlockNumber)
	{
		state->generation = ++generations;
		state->start_block = InvalidBlockNumber;
	}
	return state;
}

/* Returns the size class of a row that heap would toast. */
static int
toast_class(Size length)
{
	int			class = 0;

	while (class < KV_AM_TOAST_CLASSES - 1 && length > ((Size) 4096 << class))
		class++;
	return class;
}

/* Sets the length that a row will have on its page; of a row to be toasted that is what such rows had lately. */
void
kv_am_expect_length(Relation relation, HeapTuple row, KvAmTarget *target)
{
	uint16		usual;

	target->length = row->t_len;
	target->toast_class = -1;
	target->group = 0;
	target->previous = InvalidBlockNumber;
	if (row->t_len <= TOAST_TUPLE_THRESHOLD)
		return;
	target->toast_class = toast_class(row->t_len);
	usual = kv_am_state(relation)->toasted_length[target->toast_class];
	target->length = usual != 0 ? usual : TOAST_TUPLE_TARGET;
}

/* Hashes a partition key within the relation's generation. */
static uint64
hash_partition_key(Relation relation, const KvAmState *state, Datum key)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(relation), state->partition_key - 1);
	uint64		hash;

	if (attribute->attbyval)
		hash = hash_combine64(state->generation, (uint64) key);
	else if (attribute->attlen == -1)
		hash = hash_bytes_extended((const unsigned char *) VARDATA_ANY(DatumGetPointer(key)),
								   VARSIZE_ANY_EXHDR(DatumGetPointer(key)), state->generation);
	else
		hash = hash_bytes_extended((const unsigned char *) DatumGetPointer(key),
								   datumGetSize(key, false, attribute->attlen), state->generation);
	return hash == 0 ? 1 : hash;
}

/* Keeps the share of changes of collection that went to a known one; going on in one collection is no change. */
void
kv_am_note_change(Relation relation, uint64 hash, bool found)
{
	KvAmState  *state = kv_am_state(relation);

	if (state->last_hash == hash)
		return;
	state->last_hash = hash;
	state->new_run = found ? 0 : state->new_run + 1;
	if (state->change_count < CHANGE_WINDOW)
		state->change_count++;
	state->returning += ((found ? 1.0 : 0.0) - state->returning) / state->change_count;
}

/* Tells whether a variable-length value is compressed or out of line. */
static bool
is_toasted(Datum value)
{
	return VARATT_IS_EXTENDED(DatumGetPointer(value)) && !VARATT_IS_SHORT(DatumGetPointer(value));
}

/* Reads the key columns of a row; false if one is NULL, which the constraint will refuse. */
bool
kv_am_read_keys(Relation relation, TupleTableSlot *slot, KvAmKeys *keys)
{
	KvAmState  *state = kv_am_state(relation);
	bool		isnull;

	keys->partition_key = slot_getattr(slot, state->partition_key, &isnull);
	if (isnull)
		return false;
	keys->sort_key = slot_getattr(slot, state->sort_key, &isnull);
	if (isnull)
		return false;
	keys->hash = hash_partition_key(relation, state, keys->partition_key);
	keys->bytes = NULL;
	keys->length = 0;
	if (state->sorts_bytewise && !is_toasted(keys->sort_key))
	{
		keys->bytes = VARDATA_ANY(DatumGetPointer(keys->sort_key));
		keys->length = VARSIZE_ANY_EXHDR(DatumGetPointer(keys->sort_key));
	}
	return true;
}

/* Learns the length of a row that was toasted. */
void
kv_am_learn_length(Relation relation, ItemPointer tid, int toast_class)
{
	uint16	   *usual = &kv_am_state(relation)->toasted_length[toast_class];
	int			length = kv_am_space_of_row(relation, tid);

	*usual = *usual == 0 ? length : *usual + (length - *usual) / 4;
}

/* Tells whether to take the next collection for new unseen, as all were of late. */
bool
kv_am_surely_new(Relation relation)
{
	KvAmState  *state = kv_am_state(relation);

	return state->new_run >= SURE_RUN && state->new_run % SURE_LOOK != 0;
}
