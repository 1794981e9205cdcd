/*
 * store_internal.h
 *	  What the files of the store share among themselves.
 */
#ifndef KV_STORE_STORE_INTERNAL_H
#define KV_STORE_STORE_INTERNAL_H

#include "access/skey.h"
#include "access/tableam.h"
#include "commands/trigger.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"

#include "am/am.h"
#include "store/store.h"

/* --- store_range.c --- */

/* Fills a btree scan key that asks for equality on a key column (0 or 1). */
extern void kv_store_fill_equal_key(ScanKey key, const KvKeySchema *schema, int column, Datum value);

/* --- store_probe.c --- */

#define KV_MAX_PROBE_ROWS 16

/* The row beside the place of a key in its collection, where the same leaf page of the index tells. */
typedef struct KvNeighbour
{
	bool		known;
	KvAmNeighbour place;
} KvNeighbour;

/*
 * Finds the rows that the primary key's entries for a key point to, dead or
 * alive: the caller looks at each in the heap, under an MVCC snapshot.
 * Returns their number, at most KV_MAX_PROBE_ROWS, or -1 if the caller has
 * to scan the index instead.  heap and index are open and locked.  neighbour
 * may be NULL.
 */
extern int	kv_store_probe(Relation heap, Relation index, const KvKeySchema *schema,
						   const Datum *key, ItemPointer rows, KvNeighbour *neighbour);

/* --- store_get.c --- */

/* Tells whether rows of a leaf may be looked up through kv_store_probe() under the snapshot. */
extern bool kv_store_can_probe(Relation heap, Snapshot snapshot);

/* Where to look for a row, and how. */
typedef struct KvLookup
{
	Relation	heap;			/* it and its index are open and locked */
	Relation	index;
	const KvKeySchema *schema;
	Snapshot	snapshot;
	KvPruning	pruning;
	KvNeighbour *neighbour;		/* where to say what is beside the key's place; may be NULL */
	Size		next_length;	/* of the version to come, with KV_PRUNE_FOR_CHANGE; 0: not known */
	Size	   *room;			/* where to say how many bytes are free on the row's page, with KV_PRUNE_FOR_CHANGE; may be NULL */
} KvLookup;

/*
 * Puts the row of a key that the snapshot sees into a slot of the leaf's,
 * where kv_store_can_probe() said yes.  False also where a scan has to look (*scan).
 */
extern bool kv_store_fetch(const KvLookup *lookup, const Datum *key, TupleTableSlot *slot, bool *scan);

/* --- store_writer.c --- */

/*
 * A writer.  The upper part takes long to prepare and is kept for the
 * session; all it points to lives in context.  The lower part belongs to one
 * call.
 */
struct KvWriter
{
	MemoryContext context;
	dlist_node	node;			/* in the list of kept writers */
	Oid			leaf_relid;
	Oid			root_relid;
	Oid			role;			/* whose right to call functions in expressions was checked */
	bool		keepable;		/* may be kept when the call is over */
	TupleDesc	row_type;		/* a copy, so that slots pin nothing */
	TupleTableSlot *current;	/* the row found */
	TupleTableSlot *next;		/* the row to be written */
	EState	   *estate;
	ResultRelInfo *target;		/* the leaf; its trigger fields are not used */
	ResultRelInfo *root;		/* the table, where it is partitioned */
	int			index_count;
	Oid		   *index_oid;
	IndexInfo **index_info;
	int			primary;		/* which of them is the primary key */
	List	   *arbiter;		/* OIDs of the primary key and of unique indexes over the same columns */
	bool		alone;			/* nobody else writes: the table is an index, which its guard keeps all others off */
	bool		further_unique; /* there are other unique or exclusion constraints */
	ExprState **defaults;		/* by attribute of the leaf; NULL: there are no further columns */
	LockTupleMode replace_lock;

	uint64		generation;		/* of the relcache when the writer was taken */
	KvTable    *table;
	const KvLeaf *leaf;
	Relation	heap;
	Relation	root_heap;		/* the leaf itself where the table is not partitioned */
	bool		keeps_snapshot; /* alone, and no trigger writes besides */
	bool		snapshot_active;
	bool		wrote;
	bool		lost;			/* against somebody else, at the last write or lock */
	Datum		key[KV_MAX_KEYS];	/* what kv_writer_find looked for */
	KvNeighbour neighbour;		/* of that key */
	Size		expected_rest;	/* how long the next row found will get its rest; 0: not known */
	Size		room;			/* free on the page of the row found; 0: not known */
};

/* Fills an executor state for one leaf: range table and result relations. */
extern void kv_store_init_target(EState *estate, KvWriter *writer, ResultRelInfo **target, ResultRelInfo **root);

/* --- store_lock.c --- */

/*
 * Judges why a row could not be locked or changed: returns if it is to be
 * found again, and raises the executor's own errors otherwise.
 */
extern void kv_store_check_lost(TM_Result result, const TM_FailureData *failure);

/* --- store_trigger.c --- */

/*
 * What one write needs to fire triggers, made for the write and gone with it.
 * Trigger code works on an executor state of its own, because it opens
 * relations and leaves slots behind.
 */
typedef struct KvTriggers
{
	bool		active;
	bool		captures;		/* no trigger but the one that captures changes: its hook is called */
	bool		before_row;		/* there are BEFORE ROW triggers */
	CmdType		command;
	EState	   *estate;
	ResultRelInfo *target;
	ResultRelInfo *root;		/* target itself where the table is not partitioned */
	EPQState	epq;
	TransitionCaptureState *capture;
} KvTriggers;

/* Returns the row triggers of the leaf; NULL if there are none but those of indexes. */
extern TriggerDesc *kv_store_row_triggers(const KvWriter *writer);

/* Prepares the triggers of a command and fires BEFORE STATEMENT triggers; active stays false if there are none. */
extern void kv_triggers_begin(KvTriggers *triggers, KvWriter *writer, CmdType command);

/* Calls the capture hook in the place of its trigger; changed and written tell which of the rows found and next there are. */
extern void kv_triggers_capture(const KvTriggers *triggers, KvWriter *writer, bool changed, bool written);

/* Fires the AFTER triggers queued, and AFTER STATEMENT triggers if the row was written. */
extern void kv_triggers_end(KvTriggers *triggers, bool written);

/* --- store_move.c --- */

/* A leaf whose rows are moved, with its indexes open. */
typedef struct KvMover
{
	Relation	heap;
	int			index_count;
	Relation   *index;
	IndexInfo **info;
	EState	   *estate;
	TupleTableSlot *slot;
	MemoryContext row_context;	/* reset after each row */
	Oid			user;			/* whom to be again */
	int			security_context;
	int			guc_level;
} KvMover;

/* Opens the indexes of a leaf that is locked in ROW EXCLUSIVE mode; acts as its owner from here on. */
extern void kv_mover_begin(KvMover *mover, Relation heap);

/* Moves a row to a page, with its index entries; false if it was left where it is. */
extern bool kv_mover_move(KvMover *mover, ItemPointer row, BlockNumber target);

extern void kv_mover_end(KvMover *mover);

#endif							/* KV_STORE_STORE_INTERNAL_H */
