/*
 * index_drop.c
 *	  kv.drop_index.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_create.h"

/* Returns the name of a relation, qualified and quoted. */
static char *
qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));
}

/* Takes the capture triggers off a table that has no global index any more, if it is not busy. */
static void
drop_capture(Oid base)
{
	const KvTable *table = kv_table_lookup(base);

	if (table == NULL || table->global_count > 0 || !ConditionalLockRelationOid(base, AccessExclusiveLock))
		return;
	kv_create_run(psprintf("DROP TRIGGER IF EXISTS kv_capture ON %s", qualified_name(base)));
	kv_create_run(psprintf("DROP TRIGGER IF EXISTS kv_capture_truncate ON %s", qualified_name(base)));
}

/* Drops an index of a table by its name. */
void
kv_index_drop(Oid table, text *name)
{
	KvTable    *base = kv_table_open(table, AccessShareLock);
	const KvIndex *local;
	Oid			global;

	PreventCommandIfReadOnly("kv.drop_index()");
	PreventCommandIfParallelMode("kv.drop_index()");
	if (!kv_compat_owns_relation(table, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(table)), get_rel_name(table));

	local = kv_table_find_index(base, name, &global);
	SPI_connect();
	if (local)
		kv_create_run(psprintf("DROP INDEX %s", qualified_name(local->relid)));
	else
	{
		kv_create_run(psprintf("DROP TABLE %s", qualified_name(global)));
		(void) kv_state_remove(global, true);
		CacheInvalidateRelcacheByRelid(table);
		CommandCounterIncrement();
		drop_capture(table);
	}
	SPI_finish();
}
