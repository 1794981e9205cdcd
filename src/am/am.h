/*
 * am.h
 *	  The key_value table access method: heap with placement.
 *
 * The handler is heap's routine table with a few callbacks replaced; WAL,
 * MVCC, vacuum and everything else stay heap's.  What is added is placement:
 * a new row version goes to the page of its neighbour in the primary key.
 */
#ifndef KV_AM_AM_H
#define KV_AM_AM_H

#include "storage/block.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

/* Tells whether the relation uses the key_value access method. */
extern bool kv_am_is_key_value(Relation relation);

/*
 * Tells the access method the neighbour of the row about to be inserted into
 * relation, found by the caller's own index probe, so that the access method
 * need not probe again.  neighbour invalid: the collection is new.  Holds for the next insert
 * into that relation by this backend only.
 */
extern void kv_am_hint_neighbour(Relation relation, ItemPointer neighbour);

/*
 * Called when a relation gets new, empty files (TRUNCATE, but not when it is
 * made, nor by VACUUM FULL, CLUSTER and ALTER TABLE, which fill others), or
 * is emptied as it stands.  Must not write to the relation's catalog row.
 */
typedef void (*KvAmTruncateHook) (Relation relation);
extern KvAmTruncateHook kv_am_truncate_hook;

#endif							/* KV_AM_AM_H */
