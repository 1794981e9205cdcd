/*
 * am_placement.c
 *	  Chooses the page of a new row version.
 */
#include "postgres.h"

#include "am/am.h"

/* Takes the caller's own finding of the neighbour of its next insert. */
void
kv_am_hint_neighbour(Relation relation, ItemPointer neighbour)
{
}
