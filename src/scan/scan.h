/*
 * scan.h
 *	  Planner hooks: the guard that refuses what is not a key query, and the
 *	  custom scan that runs what is.
 */
#ifndef KV_SCAN_SCAN_H
#define KV_SCAN_SCAN_H

/* Installs the planner and utility hooks and registers the custom scan; called once from _PG_init. */
extern void kv_scan_install_hooks(void);

#endif							/* KV_SCAN_SCAN_H */
