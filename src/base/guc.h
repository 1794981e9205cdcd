/*
 * guc.h
 *	  Every setting of key_value.
 */
#ifndef KV_BASE_GUC_H
#define KV_BASE_GUC_H

/* key_value.allow_scan: lets queries that are not key queries run. Superuser-set; off. */
extern bool kv_guc_allow_scan;

/*
 * One query of our own that may read all rows of one table whatever
 * key_value.allow_scan says.  Who runs it sets this before; the planner hook
 * clears it with the first query that has the text, so that no query inside
 * it, of a function in a policy, goes by it.
 */
typedef struct KvScanPermit
{
	const char *query;			/* its text; NULL: there is none */
	Oid			table;
} KvScanPermit;

extern KvScanPermit kv_guc_scan_permit;

/* key_value.index_batch_size: records or items that apply and backfill work off in one transaction. */
extern int	kv_guc_index_batch_size;

/* key_value.max_index_backlog: size of the change log, in MB, beyond which writers are refused; 0 for no limit. Superuser-set. */
extern int	kv_guc_max_index_backlog;

/*
 * key_value.index_lag_target: how many ms global indexes may be behind before
 * writers pause to let the worker catch up; 0: they never do. Superuser-set.
 */
extern int	kv_guc_index_lag_target;

/* key_value.index_write_timeout: how many ms a worker lets one write to an index take; 0: no limit. */
extern int	kv_guc_index_write_timeout;

/* key_value.workers: how many background workers there may be at a time; 0 for none. */
extern int	kv_guc_workers;

/* key_value.naptime: after how many ms an idle worker looks for work that nobody told it of. */
extern int	kv_guc_naptime;

/* key_value.worker_idle_timeout: after how many ms a worker ends that has nothing to do; 0 for never. */
extern int	kv_guc_worker_idle_timeout;

/* key_value.apply_interval: how many ms lie between the beginnings of two rounds of a worker, at least. */
extern int	kv_guc_apply_interval;

/* key_value.dynamodb_schema: where the tables of kv.dynamodb() lie. */
extern char *kv_guc_dynamodb_schema;

/* Defines the settings; called once from _PG_init. */
extern void kv_guc_define(void);

#endif							/* KV_BASE_GUC_H */
