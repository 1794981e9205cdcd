/*
 * worker.h
 *	  Background workers that keep global indexes right: a launcher, and a
 *	  worker in each database that has something to apply.
 *
 * They exist only where the library is preloaded (shared_preload_libraries).
 * What a worker does is index.h's kv_index_round(); here is who does it when.
 */
#ifndef KV_WORKER_WORKER_H
#define KV_WORKER_WORKER_H

/* Registers the launcher and installs the hooks; called from _PG_init while shared_preload_libraries are loaded. */
extern void kv_worker_init(void);

#endif							/* KV_WORKER_WORKER_H */
