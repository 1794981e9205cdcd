/*
 * guc.c
 *	  Definition of the settings of key_value.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/plancache.h"

#include "base/compat.h"
#include "base/guc.h"

bool		kv_guc_allow_scan = false;
int			kv_guc_index_batch_size = 1000;
int			kv_guc_max_index_backlog = 1024;

/* Drops cached plans: those made under the other value read everything, or were chosen where that was forbidden. */
static void
assign_allow_scan(bool new_value, void *extra)
{
	if (new_value != kv_guc_allow_scan)
		ResetPlanCache();
}

/* Defines every setting and reserves the prefix. */
void
kv_guc_define(void)
{
	DefineCustomBoolVariable("key_value.allow_scan",
							 "Lets queries on key-value tables run that are not key queries.",
							 "Such a query reads whole partitions; it is refused with SQLSTATE KV010 while this is off.",
							 &kv_guc_allow_scan,
							 false,
							 PGC_SUSET,
							 0,
							 NULL, assign_allow_scan, NULL);

	DefineCustomIntVariable("key_value.index_batch_size",
							"Sets how many changes or items are brought to global indexes in one transaction.",
							NULL,
							&kv_guc_index_batch_size,
							1000, 1, 100000,
							PGC_SIGHUP,
							0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("key_value.max_index_backlog",
							"Sets how large the change log of global indexes may grow.",
							"Beyond that, writes that change an index are refused with SQLSTATE KV008; 0 means no limit.",
							&kv_guc_max_index_backlog,
							1024, 0, 1024 * 1024,
							PGC_SUSET,
							GUC_UNIT_MB,
							NULL, NULL, NULL);

	MarkGUCPrefixReserved("key_value");
}
