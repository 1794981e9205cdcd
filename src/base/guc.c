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

	MarkGUCPrefixReserved("key_value");
}
