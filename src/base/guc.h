/*
 * guc.h
 *	  Every setting of key_value.
 */
#ifndef KV_BASE_GUC_H
#define KV_BASE_GUC_H

/* key_value.allow_scan: lets queries that are not key queries run. Superuser-set; off. */
extern bool kv_guc_allow_scan;

/* Defines the settings; called once from _PG_init. */
extern void kv_guc_define(void);

#endif							/* KV_BASE_GUC_H */
