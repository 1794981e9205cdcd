/*
 * worker_database.c
 *	  The databases that may have a worker, read from pg_database.
 *
 * The launcher is connected to no database: pg_database is one of the few
 * catalogs that it can read.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "worker/worker_internal.h"

/* datconnlimit of a database that was half dropped. */
#define INVALID_DATABASE (-2)

/* Returns the OIDs of the databases that may have a worker, in the caller's memory. */
List *
kv_worker_list_databases(void)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *databases = NIL;
	Relation	relation;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	relation = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(relation, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);
		MemoryContext context;

		if (!database->datallowconn || database->datistemplate || database->datconnlimit == INVALID_DATABASE)
			continue;
		context = MemoryContextSwitchTo(caller);
		databases = lappend_oid(databases, database->oid);
		MemoryContextSwitchTo(context);
	}
	table_endscan(scan);
	table_close(relation, AccessShareLock);
	CommitTransactionCommand();
	MemoryContextSwitchTo(caller);
	return databases;
}
