/*
 * compat.h
 *	  The one place that looks at PG_VERSION_NUM.
 *
 * The code is written against the newest API; each wrapper here names what
 * changed in which version and when it can go.
 */
#ifndef KV_BASE_COMPAT_H
#define KV_BASE_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "key_value needs PostgreSQL 15 or newer"
#endif

#endif							/* KV_BASE_COMPAT_H */
