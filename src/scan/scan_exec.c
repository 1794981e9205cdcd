/*
 * scan_exec.c
 *	  Runs the nodes: routes, opens leaves when they are needed, reads through
 *	  the store's cursor, and lets ExecScan filter and project.
 *
 * Core compiles the expressions of a custom scan for a virtual slot.  Such a
 * slot gets the columns of the cursor's row, as far as they are used, without
 * their contents being copied.  It has no xmin and the like, and EvalPlanQual
 * wants to put a heap row into it; nodes that need one of these set up their
 * expressions again, for slots of any kind, and hand on the cursor's own.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/tupconvert.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "scan/scan_state.h"

static void begin_scan(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *node);
static void end_scan(CustomScanState *node);
static void rescan(CustomScanState *node);

static const CustomExecMethods exec_methods = {
	.CustomName = "KeyValue",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.ExplainCustomScan = kv_scan_explain
};

/* Makes the state of a node; begin_scan fills it. */
Node *
kv_scan_create_state(CustomScan *scan)
{
	KvScanState *state = (KvScanState *) newNode(sizeof(KvScanState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

/* Raises the error of a refused node: nobody looked at the plan when it was made. */
Node *
kv_scan_create_refused_state(CustomScan *scan)
{
	kv_scan_refuse_node(scan);
}

/* What expressions use of the scanned relation. */
typedef struct ColumnUse
{
	AttrNumber	last;			/* the highest column; a whole row is all of them */
	bool		system;			/* a system column that a virtual slot lacks */
} ColumnUse;

/* Walks expressions for the columns of the scanned relation. */
static bool
find_column_use(Node *node, ColumnUse *use)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		AttrNumber	attno = ((Var *) node)->varattno;

		if (attno == InvalidAttrNumber)
			use->last = MaxAttrNumber;
		else if (attno < 0)
			use->system |= attno != TableOidAttributeNumber && attno != SelfItemPointerAttributeNumber;
		else if (attno > use->last)
			use->last = attno;
		return false;
	}
	return expression_tree_walker(node, find_column_use, use);
}

/* Chooses the slot that rows are handed on in, and how much of a row is taken apart for it. */
static void
choose_slot(KvScanState *state)
{
	ScanState  *ss = &state->css.ss;
	Plan	   *plan = ss->ps.plan;
	EState	   *estate = ss->ps.state;
	TupleDesc	columns = RelationGetDescr(ss->ss_currentRelation);
	ColumnUse	use = {0};

	find_column_use((Node *) plan->targetlist, &use);
	find_column_use((Node *) plan->qual, &use);
	if (ss->ps.ps_ProjInfo == NULL)
		use.last = columns->natts;
	state->last_attribute = Min(use.last, columns->natts);

	state->heap_slots = use.system || estate->es_epq_active != NULL;
	if (state->heap_slots)
	{
		ExecInitScanTupleSlot(estate, ss, columns, &TTSOpsBufferHeapTuple);
		ss->ps.scanopsfixed = false;
		ExecAssignScanProjectionInfoWithVarno(ss, ((Scan *) plan)->scanrelid);
		ss->ps.qual = ExecInitQual(plan->qual, &ss->ps);
	}
	else
		memset(ss->ss_ScanTupleSlot->tts_isnull, true, sizeof(bool) * columns->natts);
}

/* Reads the conditions of the plan and prepares their values. */
static void
begin_conditions(KvScanState *state, CustomScan *scan)
{
	PlanState  *ps = &state->css.ss.ps;
	List	   *conditions = list_nth(scan->custom_private, KV_PLAN_CONDITIONS);
	List	   *values = list_nth(scan->custom_exprs, KV_EXPR_VALUES);
	ListCell   *value = list_head(values);
	ListCell   *lc;

	state->condition = palloc0(sizeof(KvScanCondition) * list_length(conditions));
	foreach(lc, conditions)
	{
		List	   *parts = (List *) lfirst(lc);
		KvScanCondition *condition = &state->condition[state->condition_count++];

		condition->column = linitial_int(parts);
		condition->kind = (KvConditionKind) lsecond_int(parts);
		condition->strategy = lthird_int(parts);
		for (int i = 0; i < kv_condition_values(condition->kind); i++)
		{
			condition->expression[i] = ExecInitExpr((Expr *) lfirst(value), ps);
			value = lnext(values, value);
		}
	}
	state->simple = kv_scan_has_simple_keys(state);
	state->key_context = CreateExprContext(ps->state);
	if (ps->state->es_epq_active != NULL)
		state->recheck = ExecInitQual(list_nth(scan->custom_exprs, KV_EXPR_CONDITIONS), ps);
}

/* Raises KV010 if the node reads everything and that is not allowed any more. */
static void
check_allowed(const KvScanState *state)
{
	if (state->mode != KV_SCAN_ALL || kv_guc_allow_scan || state->exempt)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_KV_NOT_A_KEY_QUERY),
			 errmsg("query on key-value table \"%s\" is not a key query",
					RelationGetRelationName(state->css.ss.ss_currentRelation)),
			 errdetail("It was planned while key_value.allow_scan was on, which is off now."),
			 errhint("Prepare the query again to see what is missing.")));
}

/* Tells whether rows of two relations have the same columns in the same places. */
static bool
equal_layout(TupleDesc a, TupleDesc b)
{
	if (a->natts != b->natts)
		return false;
	for (int i = 0; i < a->natts; i++)
	{
		Form_pg_attribute one = TupleDescAttr(a, i);
		Form_pg_attribute other = TupleDescAttr(b, i);

		if (one->attisdropped != other->attisdropped || one->atttypid != other->atttypid ||
			strcmp(NameStr(one->attname), NameStr(other->attname)) != 0)
			return false;
	}
	return true;
}

/* Returns the leaf that a condition "tableoid = constant" leaves over, or InvalidOid: all of them. */
static Oid
find_only_leaf(List *qual)
{
	ListCell   *lc;

	foreach(lc, qual)
	{
		OpExpr	   *op = (OpExpr *) lfirst(lc);
		Var		   *var;
		Const	   *value;

		if (!IsA(op, OpExpr) || op->opfuncid != F_OIDEQ)
			continue;
		var = linitial(op->args);
		value = lsecond(op->args);
		if (IsA(var, Var) && var->varattno == TableOidAttributeNumber &&
			IsA(value, Const) && !value->constisnull)
			return DatumGetObjectId(value->constvalue);
	}
	return InvalidOid;
}

/* Raises an error if the node reads an index that is not ready, or that the user may not read through. */
static void
check_index(const KvScanState *state, const CustomScan *scan, int eflags)
{
	EState	   *estate = state->css.ss.ps.state;
	Oid			user;

	if (likely(state->table->index == NULL) || (eflags & EXEC_FLAG_EXPLAIN_ONLY))
		return;
	user = kv_compat_exec_check_as_user(estate, exec_rt_fetch(scan->scan.scanrelid, estate));
	kv_table_check_base_rights(state->table, OidIsValid(user) ? user : GetUserId());
	/* who may scan sees what is there: pg_dump --inserts must not fail on an index that is being filled */
	if (state->mode != KV_SCAN_ALL)
		kv_table_check_ready(state->table);
}

/* Sets the node up; no leaf is opened yet. */
static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	KvScanState *state = (KvScanState *) node;
	CustomScan *scan = castNode(CustomScan, node->ss.ps.plan);
	int			leaves;

	state->mode = (KvScanMode) intVal(list_nth(scan->custom_private, KV_PLAN_MODE));
	state->parent = intVal(list_nth(scan->custom_private, KV_PLAN_PARENT)) != 0;
	state->backward = intVal(list_nth(scan->custom_private, KV_PLAN_BACKWARD)) != 0;
	state->exempt = intVal(list_nth(scan->custom_private, KV_PLAN_EXEMPT)) != 0;
	check_allowed(state);

	state->table = kv_table_lookup(RelationGetRelid(node->ss.ss_currentRelation));
	if (state->table == NULL || (!state->table->usable && (state->parent || state->mode == KV_SCAN_QUERY)))
		elog(ERROR, "key-value table \"%s\" changed under a plan",
			 RelationGetRelationName(node->ss.ss_currentRelation));
	check_index(state, scan, eflags);
	state->last_block = InvalidBlockNumber;
	choose_slot(state);

	leaves = state->parent ? Max(state->table->leaf_count, 1) : 1;
	if (state->mode == KV_SCAN_QUERY)
	{
		begin_conditions(state, scan);
		state->cursor = palloc0(sizeof(KvCursor *) * leaves);
		state->visited = palloc0(sizeof(bool) * leaves);
	}
	if (state->parent)
	{
		state->map = palloc0(sizeof(TupleConversionMap *) * leaves);
		state->map_known = palloc0(sizeof(bool) * leaves);
		state->only_leaf = find_only_leaf(scan->scan.plan.qual);
	}
}

/* Closes all cursors. */
static void
close_cursors(KvScanState *state)
{
	int			leaves = state->parent ? state->table->leaf_count : 1;

	for (int i = 0; i < leaves && state->open_cursors > 0; i++)
	{
		if (state->cursor[i] == NULL)
			continue;
		kv_cursor_close(state->cursor[i]);
		state->cursor[i] = NULL;
		state->open_cursors--;
	}
}

/* Returns the cursor over a leaf, opened when first asked for. */
static KvCursor *
leaf_cursor(KvScanState *state, int leaf)
{
	if (unlikely(state->cursor[leaf] == NULL))
	{
		EState	   *estate = state->css.ss.ps.state;
		MemoryContext caller;

		if (state->open_cursors >= KV_MAX_OPEN_CURSORS)
			close_cursors(state);
		caller = MemoryContextSwitchTo(estate->es_query_cxt);
		state->open_cursors++;
		state->visited[leaf] = true;
		state->cursor[leaf] = kv_cursor_open(state->table, leaf, estate->es_snapshot, ForwardScanDirection);
		MemoryContextSwitchTo(caller);
	}
	return state->cursor[leaf];
}

/* Closes the scan of a whole leaf. */
static void
end_leaf_scan(KvScanState *state)
{
	if (state->scan == NULL)
		return;
	ExecDropSingleTupleTableSlot(state->leaf_slot);
	table_endscan(state->scan);
	if (state->parent)
		table_close(state->leaf, NoLock);
	state->leaf_slot = NULL;
	state->scan = NULL;
	state->leaf = NULL;
}

/* Starts the scan of a whole leaf. */
static void
begin_leaf_scan(KvScanState *state, int leaf)
{
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);

	end_leaf_scan(state);
	state->leaf = state->parent ? table_open(state->table->leaf_relid[leaf], AccessShareLock) :
		state->css.ss.ss_currentRelation;
	state->scan = table_beginscan(state->leaf, estate->es_snapshot, 0, NULL);
	state->leaf_slot = table_slot_create(state->leaf, NULL);
	MemoryContextSwitchTo(caller);
}

/* Goes to the start of what current names. */
static void
start_reading(KvScanState *state)
{
	if (state->mode == KV_SCAN_QUERY)
	{
		const KvScanRange *range = &state->range[state->current];
		KvCursorRange cursor_range = {.has_partition_key = true,.key = range->key};

		kv_cursor_rescan(leaf_cursor(state, range->leaf), &cursor_range);
	}
	else
		begin_leaf_scan(state, state->current);
	state->reading = true;
}

/* Returns the next row of what current names, in key order or against it, or NULL. */
static TupleTableSlot *
read_next(KvScanState *state, ScanDirection direction)
{
	if (state->mode == KV_SCAN_QUERY)
		return kv_cursor_next(state->cursor[state->range[state->current].leaf], direction);
	return table_scan_getnextslot(state->scan, direction, state->leaf_slot) ? state->leaf_slot : NULL;
}

/* Returns how the rows being read become the parent's, or NULL if they are alike. */
static TupleConversionMap *
find_map(KvScanState *state)
{
	int			leaf = state->current;
	TupleDesc	columns = RelationGetDescr(state->css.ss.ss_currentRelation);
	Relation	relation = state->leaf;

	if (state->mode == KV_SCAN_QUERY)
	{
		leaf = state->range[state->current].leaf;
		relation = kv_cursor_leaf(state->cursor[leaf]);
	}
	if (likely(state->map_known[leaf]))
		return state->map[leaf];

	state->map_known[leaf] = true;
	if (!equal_layout(RelationGetDescr(relation), columns))
	{
		MemoryContext caller = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);

		state->map[leaf] = convert_tuples_by_name(RelationGetDescr(relation), columns);
		MemoryContextSwitchTo(caller);
	}
	return state->map[leaf];
}

/* Returns a leaf's row with the parent's layout, as a heap row with its system columns. */
static TupleTableSlot *
convert_heap_row(KvScanState *state, TupleConversionMap *map, TupleTableSlot *slot)
{
	bool		should_free;
	HeapTuple	row = ExecFetchSlotHeapTuple(slot, false, &should_free);
	HeapTuple	converted = execute_attr_map_tuple(row, map);

	converted->t_self = row->t_self;
	converted->t_tableOid = slot->tts_tableOid;
	converted->t_data->t_ctid = row->t_data->t_ctid;
	converted->t_data->t_choice = row->t_data->t_choice;
	if (should_free)
		heap_freetuple(row);

	if (state->parent_slot == NULL)
		state->parent_slot = ExecInitExtraTupleSlot(state->css.ss.ps.state,
													RelationGetDescr(state->css.ss.ss_currentRelation),
													&TTSOpsHeapTuple);
	return ExecStoreHeapTuple(converted, state->parent_slot, true);
}

/* Puts a leaf's row into the slot that it is handed on in. */
static TupleTableSlot *
hand_on(KvScanState *state, TupleConversionMap *map, TupleTableSlot *row)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	if (state->heap_slots)
		return map ? convert_heap_row(state, map, row) : row;

	if (map != NULL)
		execute_attr_map_slot(map->attrMap, row, slot);
	else
	{
		ExecClearTuple(slot);
		slot_getsomeattrs(row, state->last_attribute);
		for (int i = 0; i < state->last_attribute; i++)
		{
			slot->tts_values[i] = row->tts_values[i];
			slot->tts_isnull[i] = row->tts_isnull[i];
		}
		ExecStoreVirtualTuple(slot);
	}
	slot->tts_tid = row->tts_tid;
	slot->tts_tableOid = row->tts_tableOid;
	return slot;
}

/* Counts a row for EXPLAIN ANALYZE. */
static inline void
count_row(KvScanState *state, TupleTableSlot *slot)
{
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(&slot->tts_tid);

	state->items_read++;
	if (block != state->last_block)
	{
		state->pages_read++;
		state->last_block = block;
	}
}

/* Evaluates the keys and stands before the first row, or behind the last where the order is descending. */
static void
start(KvScanState *state)
{
	int			count = 1;

	if (state->mode == KV_SCAN_QUERY)
	{
		ResetExprContext(state->key_context);
		kv_scan_evaluate_keys(state);
		count = state->range_count;
	}
	else if (state->parent)
		count = state->table->leaf_count;
	state->range_count = count;
	state->current = state->backward ? count : -1;
	state->reading = false;
	state->started = true;
}

/* Goes on to the next range or leaf; false at the end. */
static bool
go_on(KvScanState *state, bool forward)
{
	int			step = forward ? 1 : -1;
	int			next = state->current + step;

	while (OidIsValid(state->only_leaf) && state->mode == KV_SCAN_ALL && next >= 0 && next < state->range_count &&
		   state->table->leaf_relid[next] != state->only_leaf)
		next += step;
	if (next < 0 || next >= state->range_count)
	{
		state->current = forward ? state->range_count : -1;
		return false;
	}
	state->current = next;
	start_reading(state);
	return true;
}

/* Returns the next row in the executor's direction, or NULL: the access method of ExecScan. */
static TupleTableSlot *
next_row(ScanState *node)
{
	KvScanState *state = (KvScanState *) node;
	bool		forward = ScanDirectionIsForward(node->ps.state->es_direction) != state->backward;

	if (unlikely(!state->started))
		start(state);

	while (state->reading || go_on(state, forward))
	{
		TupleTableSlot *row = read_next(state, forward ? ForwardScanDirection : BackwardScanDirection);

		if (row != NULL)
		{
			count_row(state, row);
			return hand_on(state, state->parent ? find_map(state) : NULL, row);
		}
		state->reading = false;
	}
	return ExecClearTuple(node->ss_ScanTupleSlot);
}

/* Tells whether a row that EvalPlanQual brings still satisfies the key conditions. */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	KvScanState *state = (KvScanState *) node;
	ExprContext *econtext = node->ps.ps_ExprContext;

	if (state->recheck == NULL)
		return true;
	econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(state->recheck, econtext);
}

/* Returns the node's next row, filtered and projected. */
static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, recheck_row);
}

/* Starts over, with whatever values the parameters have now. */
static void
rescan(CustomScanState *node)
{
	KvScanState *state = (KvScanState *) node;

	ExecScanReScan(&node->ss);
	end_leaf_scan(state);
	state->started = false;
	state->last_block = InvalidBlockNumber;
}

/* Closes what was opened; locks stay to the end of the transaction. */
static void
end_scan(CustomScanState *node)
{
	KvScanState *state = (KvScanState *) node;

	end_leaf_scan(state);
	close_cursors(state);
}
