/*
 * am_internal.h
 *	  What the files of the access method share among themselves.
 */
#ifndef KV_AM_AM_INTERNAL_H
#define KV_AM_AM_INTERNAL_H

#endif							/* KV_AM_AM_INTERNAL_H */
