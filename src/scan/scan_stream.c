/*
 * scan_stream.c
 *	  Makes kv.query and kv.scan in FROM stream.
 *
 * A function in FROM is run to its end before its first row is used, so that
 * a LIMIT would not stop it.  In a SELECT list it gives one row at a time.
 * Before planning, FROM kv.query(..) AS m is therefore turned into
 * FROM (SELECT kv.query(..)) AS m, which means the same: one column, the
 * same name.
 *
 * The functions are known by language and C symbol, which only a superuser
 * can give to another function.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "scan/scan_stream.h"

/* Tells whether a function is kv.query or kv.scan. */
static bool
is_streaming_function(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		result = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		if (!isnull)
		{
			char	   *symbol = TextDatumGetCString(source);

			result = strcmp(symbol, "kv_query_sql") == 0 || strcmp(symbol, "kv_scan_sql") == 0;
			pfree(symbol);
		}
	}
	ReleaseSysCache(tuple);
	return result;
}

/* Returns the call of kv.query or kv.scan that the entry consists of, or NULL. */
static FuncExpr *
streaming_call(const RangeTblEntry *rte)
{
	FuncExpr   *call;

	if (rte->rtekind != RTE_FUNCTION || rte->funcordinality || list_length(rte->functions) != 1)
		return NULL;
	call = (FuncExpr *) linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (!IsA(call, FuncExpr) || !call->funcretset || call->funcresulttype != JSONBOID)
		return NULL;
	return is_streaming_function(call->funcid) ? call : NULL;
}

/* Turns the entry of a call into a subquery that selects it. */
static void
make_subquery(RangeTblEntry *rte, FuncExpr *call)
{
	Query	   *subquery = makeNode(Query);

	/* the arguments may name other entries of the list, from one level up now */
	IncrementVarSublevelsUp((Node *) call, 1, 0);

	subquery->commandType = CMD_SELECT;
	subquery->querySource = QSRC_ORIGINAL;
	subquery->canSetTag = true;
	subquery->jointree = makeFromExpr(NIL, NULL);
	subquery->targetList = list_make1(makeTargetEntry((Expr *) call, 1,
													  pstrdup(strVal(linitial(rte->eref->colnames))),
													  false));
	subquery->hasTargetSRFs = true;
	subquery->hasSubLinks = checkExprHasSubLink((Node *) call);

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = subquery;
	rte->functions = NIL;
}

/* Rewrites the calls in a query and in the queries below it. */
static bool
stream_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		FuncExpr   *call = streaming_call((RangeTblEntry *) node);

		if (call)
			make_subquery((RangeTblEntry *) node, call);
		return false;			/* what is below follows by itself */
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, stream_walker, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, stream_walker, context);
}

/* Rewrites every kv.query and kv.scan in the FROM lists of a query about to be planned. */
void
kv_scan_stream_functions(Query *query)
{
	(void) stream_walker((Node *) query, NULL);
}
