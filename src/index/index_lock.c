/*
 * index_lock.c
 *	  Locks a busy table without holding its writers off for long.
 *
 * Who waits for a lock makes all wait who come after him.  So the lock is
 * asked for a short while at a time: a transaction that has been writing for
 * long then keeps us waiting, but not the others.  In each turn deadlocks are
 * looked for, which also sends autovacuum away: nobody else's look may fall
 * into a turn.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "index/index_internal.h"

/* How long others may wait behind us at a time, and how long they are let through then. */
#define TURN "40ms"
#define PAUSE_MS 60

/* When to look for a deadlock in a turn. */
#define LOOK "10ms"

/* A deadlock that is met so often in a row is no matter of the locks of a turn: somebody waits for what we did before. */
#define MAX_DEADLOCKS 10

/*
 * Asks for the lock, or for those of all partitions too, for one turn; false
 * if it was not to be had: then none is held.  *deadlocks counts turns that
 * ended in a deadlock.
 */
static bool
try_turn(Oid relid, LOCKMODE lockmode, bool partitions, int *deadlocks)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool locked = true;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		int			nest_level = NewGUCNestLevel();

		(void) set_config_option("lock_timeout", TURN, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
		(void) set_config_option("deadlock_timeout", LOOK, PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
		LockRelationOid(relid, lockmode);
		if (partitions)
			(void) find_all_inheritors(relid, lockmode, NULL);
		AtEOXact_GUC(true, nest_level);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		CurrentResourceOwner = owner;
		*deadlocks = error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED ? *deadlocks + 1 : 0;
		if (*deadlocks >= MAX_DEADLOCKS || (*deadlocks == 0 && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE))
			ReThrowError(error);
		FreeErrorData(error);
		locked = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	return locked;
}

/* Raises an error if turns have been taken for longer than lock_timeout. */
static void
check_lock_timeout(TimestampTz start)
{
	if (LockTimeout > 0 && TimestampDifferenceExceeds(start, GetCurrentTimestamp(), LockTimeout))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("canceling statement due to lock timeout")));
}

/*
 * Locks a table, or all its partitions too, in at most so many turns; false if
 * that was not enough.  Who would take any number of turns is bound by
 * lock_timeout.
 */
static bool
lock_in_turns(Oid relid, LOCKMODE lockmode, bool partitions, int turns)
{
	TimestampTz start = GetCurrentTimestamp();
	int			deadlocks = 0;

	for (int turn = 0; turn < turns; turn++)
	{
		CHECK_FOR_INTERRUPTS();
		if (turns == KV_ANY_TURNS)
			check_lock_timeout(start);
		if (try_turn(relid, lockmode, partitions, &deadlocks))
			return true;
		if (turn + 1 == turns)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, PAUSE_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	return false;
}

/* Locks a table or index; false if that was not to be had in one turn. */
bool
kv_index_lock_soon(Oid relid, LOCKMODE lockmode)
{
	return ConditionalLockRelationOid(relid, lockmode) || lock_in_turns(relid, lockmode, false, 1);
}

/*
 * Locks a table with all its partitions, since who writes to one of them by its
 * name has no lock on the table.  All are had at once or none: who writes to
 * one for long keeps only us waiting.
 */
bool
kv_index_lock_with_partitions(Oid relid, LOCKMODE lockmode, int turns)
{
	return lock_in_turns(relid, lockmode, true, turns);
}

/*
 * Locks a table or index to apply changes to it; false if somebody has it
 * locked.  One turn is waited for him, who may be the one who has just
 * committed and gives his locks back; by hand, for as long as it takes.
 */
bool
kv_index_lock_to_apply(Oid relid, LOCKMODE lockmode)
{
	if (!kv_retry_by_hand)
		return kv_index_lock_soon(relid, lockmode);
	LockRelationOid(relid, lockmode);
	return true;
}
