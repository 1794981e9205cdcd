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
KvScanPermit kv_guc_scan_permit = {NULL, InvalidOid};
int			kv_guc_index_batch_size = 1000;
int			kv_guc_max_index_backlog = 1024;
int			kv_guc_index_lag_target = 10;
int			kv_guc_index_write_timeout = 2000;
int			kv_guc_workers = 4;
int			kv_guc_naptime = 10000;
int			kv_guc_worker_idle_timeout = 300000;
int			kv_guc_apply_interval = 5;
char	   *kv_guc_dynamodb_schema = NULL;

/* Drops cached plans: those made under the other value read everything, or were chosen where that was forbidden. */
static void
assign_allow_scan(bool new_value, void *extra)
{
	if (new_value != kv_guc_allow_scan)
		ResetPlanCache();
}

/* Defines the settings of the background workers. */
static void
define_worker_settings(void)
{
	DefineCustomIntVariable("key_value.workers",
							"Sets how many background workers may keep global indexes at a time.",
							"Each database that has the extension has one; they take turns if there are more. 0 means none.",
							&kv_guc_workers,
							4, 0, 64,
							PGC_SIGHUP,
							0,
							NULL, NULL, NULL);

	DefineCustomIntVariable("key_value.naptime",
							"Sets after how long an idle background worker looks for work that nobody told it of.",
							"Commits wake it at once.",
							&kv_guc_naptime,
							10 * 1000, 100, 60 * 60 * 1000,
							PGC_SIGHUP,
							GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomIntVariable("key_value.worker_idle_timeout",
							"Sets after how long a background worker ends that has nothing to do.",
							"It is started again when there is something to do. 0 means that it stays.",
							&kv_guc_worker_idle_timeout,
							5 * 60 * 1000, 0, INT_MAX,
							PGC_SIGHUP,
							GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomIntVariable("key_value.index_write_timeout",
							"Sets for how long a background worker may write to one index at a time.",
							"An index that takes longer, as for a slow trigger of its owner, is tried again later with fewer changes. 0 means no limit.",
							&kv_guc_index_write_timeout,
							2000, 0, 60 * 60 * 1000,
							PGC_SIGHUP,
							GUC_UNIT_MS,
							NULL, NULL, NULL);

	DefineCustomIntVariable("key_value.apply_interval",
							"Sets the time between two rounds of a busy background worker.",
							"A larger value saves work where the same items are written often, a smaller one keeps global indexes closer.",
							&kv_guc_apply_interval,
							5, 0, 1000,
							PGC_SIGHUP,
							GUC_UNIT_MS,
							NULL, NULL, NULL);
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

	DefineCustomIntVariable("key_value.index_lag_target",
							"Sets how far global indexes may be behind before writers are slowed down.",
							"Beyond that, writes that change an index pause for a few milliseconds to let the background worker catch up; 0 means never.",
							&kv_guc_index_lag_target,
							10, 0, 60 * 1000,
							PGC_SUSET,
							GUC_UNIT_MS,
							NULL, NULL, NULL);

	define_worker_settings();

	DefineCustomStringVariable("key_value.dynamodb_schema",
							   "Names the schema in which kv.dynamodb() finds and creates tables.",
							   NULL,
							   &kv_guc_dynamodb_schema,
							   "public",
							   PGC_USERSET,
							   0,
							   NULL, NULL, NULL);

	MarkGUCPrefixReserved("key_value");
}
