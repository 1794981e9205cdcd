/*
 * scan_stream.h
 *	  kv.query and kv.scan in FROM, row by row: private to the room.
 */
#ifndef KV_SCAN_SCAN_STREAM_H
#define KV_SCAN_SCAN_STREAM_H

#include "nodes/parsenodes.h"

/* Rewrites every kv.query and kv.scan in the FROM lists of a query about to be planned, at any depth. */
extern void kv_scan_stream_functions(Query *query);

#endif							/* KV_SCAN_SCAN_STREAM_H */
