/*
 * scan_state.h
 *	  The running node: private to scan_exec.c, scan_keys.c and scan_explain.c.
 *
 * Ranges are worked off in key order, or backward from the last; a range is
 * read through the cursor of its leaf.  Cursors are opened when first needed
 * and kept for rescans, but not too many: each pins pages.
 */
#ifndef KV_SCAN_SCAN_STATE_H
#define KV_SCAN_SCAN_STATE_H

#include "access/relscan.h"
#include "access/tupconvert.h"
#include "commands/explain.h"

#include "scan/scan_internal.h"

/* The number of cursors that a node keeps open. */
#define KV_MAX_OPEN_CURSORS 64

/* One condition on a key column, and its values as last evaluated. */
typedef struct KvScanCondition
{
	int			column;
	KvConditionKind kind;
	int			strategy;		/* btree strategy number */
	ExprState  *expression[2];	/* the second for KV_CONDITION_ROW only */
	Datum		value[2];
	bool		isnull[2];
} KvScanCondition;

/* One stretch of a leaf: one collection, or a part of it. */
typedef struct KvScanRange
{
	int			leaf;
	KvKeyRange	key;
} KvScanRange;

typedef struct KvScanState
{
	CustomScanState css;
	KvScanMode	mode;
	bool		exempt;			/* may read everything whatever key_value.allow_scan says */
	bool		parent;			/* reads all leaves of a partitioned table */
	bool		backward;		/* the node's order is descending */
	KvTable    *table;			/* NULL: not usable, KV_SCAN_ALL reads the relation itself */
	bool		heap_slots;		/* rows are handed on in slots of any kind, not in one virtual slot */
	AttrNumber	last_attribute; /* the highest column that the node or those above it use */

	/* KV_SCAN_QUERY */
	int			condition_count;
	KvScanCondition *condition;
	bool		simple;			/* one partition key by =, and at most one sort key by = or a range */
	ExprState  *recheck;		/* the conditions, only inside EvalPlanQual */
	ExprContext *key_context;	/* its per-tuple memory holds the ranges and their values */
	KvScanRange *range;			/* in key order */
	KvScanRange single;			/* what range points to where simple */
	int			range_count;
	KvCursor  **cursor;			/* by leaf; NULL: not open */
	int			open_cursors;
	bool	   *visited;		/* by leaf: a cursor was opened, for EXPLAIN */

	/* both modes */
	bool		started;		/* keys are evaluated, current is set */
	int			current;		/* the range, or leaf, being read; -1 before the first, count behind the last */
	bool		reading;		/* positioned inside current */
	TupleConversionMap **map;	/* by leaf, from its layout to the parent's; NULL: the same */
	bool	   *map_known;		/* by leaf: map is set */
	TupleTableSlot *parent_slot;	/* holds a row that was converted */

	/* KV_SCAN_ALL */
	Oid			only_leaf;		/* the leaf that a condition on tableoid leaves over, or InvalidOid */
	Relation	leaf;
	TableScanDesc scan;			/* NULL: none open */
	TupleTableSlot *leaf_slot;

	/* for EXPLAIN ANALYZE */
	uint64		items_read;
	uint64		pages_read;		/* changes from one heap page to another */
	BlockNumber last_block;
} KvScanState;

/* --- scan_keys.c --- */

/* Evaluates the conditions into ranges.  Error KV009 if lists name too many keys. */
extern void kv_scan_evaluate_keys(KvScanState *state);

/* Tells whether the conditions are those of the usual query, for which there is a short way. */
extern bool kv_scan_has_simple_keys(const KvScanState *state);

/* --- scan_explain.c --- */

extern void kv_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* KV_SCAN_SCAN_STATE_H */
