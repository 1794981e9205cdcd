/*
 * module.c
 *	  Library entry point: defines the settings and installs the hooks.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "base/guc.h"
#include "index/index.h"
#include "scan/scan.h"
#include "worker/worker.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

/* Sets the library up when it is loaded, by preload or by first use. */
void
_PG_init(void)
{
	kv_guc_define();
	kv_scan_install_hooks();
	kv_index_init();
	if (process_shared_preload_libraries_in_progress)
	{
		kv_index_request_shared_memory();
		kv_worker_init();
	}
}
