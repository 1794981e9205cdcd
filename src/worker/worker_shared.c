/*
 * worker_shared.c
 *	  What launcher, workers and sessions tell each other in shared memory.
 *
 * One lock guards it all and is held for a moment only.  There are:
 *	- slots, one a worker (worker_internal.h);
 *	- calls: databases in which something was committed that no worker will
 *	  hear of.  A call stands until a worker has come, so that a database
 *	  without hope of one calls once and costs its writers no more;
 *	- holds: databases from which workers are to keep away, since a command is
 *	  about to drop, copy, rename or move them.
 *
 * A worker gives its slot back after it has left the array of processes, so
 * who waits for the slot does not meet the process in CountOtherDBBackends().
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "worker/worker_internal.h"

#define TRANCHE "key_value worker"
#define MAX_CALLS 512
#define MAX_HOLDS 64

/* How long a command waits for a worker to leave, in all and before it is signalled, in ms. */
#define PATIENCE 5000
#define POLITENESS 500

typedef enum SlotState
{
	SLOT_FREE,
	SLOT_STARTING,				/* the worker is registered */
	SLOT_RUNNING,				/* it has begun */
	SLOT_ENDED					/* it has left the database */
} SlotState;

typedef struct WorkerSlot
{
	SlotState	state;
	uint32		generation;
	Oid			database;
	int			pid;			/* while it is running */
	Latch	   *latch;			/* the same */
	bool		leave;			/* it is told to leave */
	bool		yielding;		/* it is about to leave for another database */
	KvWorkerReport report;
} WorkerSlot;

typedef struct Hold
{
	Oid			database;		/* InvalidOid: free */
	int			pid;			/* of the session that holds it */
} Hold;

typedef struct WorkerShared
{
	LWLock	   *lock;
	Latch	   *launcher;		/* NULL: there is none */
	bool		look_again;		/* pg_database has changed */
	int			waiting;		/* databases for which some worker is to yield */
	WorkerSlot	slot[KV_WORKER_SLOTS];
	int			call_count;
	bool		too_many_calls; /* some were not noted */
	Oid			call[MAX_CALLS];
	Hold		hold[MAX_HOLDS];
} WorkerShared;

static WorkerShared *shared = NULL;

/* The slot of this process, if it is a worker. */
static WorkerSlot *my_slot = NULL;

/* The database that this session holds. */
static Oid	my_hold = InvalidOid;

static shmem_request_hook_type next_shmem_request = NULL;
static shmem_startup_hook_type next_shmem_startup = NULL;

/* Asks for the room that it takes. */
static void
request_shared_memory(void)
{
	if (next_shmem_request)
		next_shmem_request();
	RequestAddinShmemSpace(sizeof(WorkerShared));
	RequestNamedLWLockTranche(TRANCHE, 1);
}

/* Finds it in shared memory, or makes it. */
static void
attach_shared_memory(void)
{
	bool		found;

	if (next_shmem_startup)
		next_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("key_value launcher and workers", sizeof(WorkerShared), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(WorkerShared));
		shared->lock = &GetNamedLWLockTranche(TRANCHE)->lock;
	}
	LWLockRelease(AddinShmemInitLock);
}

/* Asks for shared memory. */
void
kv_worker_request_shared_memory(void)
{
	next_shmem_request = shmem_request_hook;
	shmem_request_hook = request_shared_memory;
	next_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = attach_shared_memory;
}

/* Tells whether a slot has a worker that is in its database, or may be soon. */
static bool
is_active(const WorkerSlot *slot)
{
	return slot->state == SLOT_STARTING || slot->state == SLOT_RUNNING;
}

/* Tells the worker in a slot to leave.  The lock is held. */
static void
tell_to_leave(WorkerSlot *slot)
{
	slot->leave = true;
	if (slot->state == SLOT_RUNNING)
		SetLatch(slot->latch);
}

/* Tells whether a database is held.  The lock is held. */
static bool
is_held(Oid database)
{
	for (int i = 0; i < MAX_HOLDS; i++)
		if (shared->hold[i].database == database)
			return true;
	return false;
}

/* Wakes the launcher, if there is one.  The lock is held. */
static void
wake_launcher(void)
{
	if (shared->launcher)
		SetLatch(shared->launcher);
}

/* --- for the launcher --- */

/* Takes the launcher's announcement back when it ends; its workers go too. */
static void
end_launcher(int code, Datum argument)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->launcher = NULL;
	for (int i = 0; i < KV_WORKER_SLOTS; i++)
		if (is_active(&shared->slot[i]))
			tell_to_leave(&shared->slot[i]);
	LWLockRelease(shared->lock);
}

/* Frees the slots that the launcher before has left; tells how many workers are still there. */
static int
free_old_slots(void)
{
	int			running = 0;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < KV_WORKER_SLOTS; i++)
	{
		WorkerSlot *slot = &shared->slot[i];

		if (slot->state == SLOT_RUNNING)
		{
			running++;
			tell_to_leave(slot);
		}
		else
			slot->state = SLOT_FREE;
	}
	LWLockRelease(shared->lock);
	return running;
}

/* Announces the launcher, once the workers of the one before are gone. */
void
kv_worker_begin_launcher(void)
{
	while (free_old_slots() > 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 20, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		kv_worker_check_signals(1);
	}
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->launcher = MyLatch;
	shared->look_again = true;
	shared->waiting = 0;
	LWLockRelease(shared->lock);
	before_shmem_exit(end_launcher, (Datum) 0);
}

/* Takes a free slot for a database's worker. */
bool
kv_worker_take_slot(Oid database, KvWorkerStart *start)
{
	WorkerSlot *slot = NULL;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < KV_WORKER_SLOTS && slot == NULL; i++)
		if (shared->slot[i].state == SLOT_FREE)
			slot = &shared->slot[i];
	if (slot != NULL && is_held(database))
		slot = NULL;
	if (slot != NULL)
	{
		slot->state = SLOT_STARTING;
		slot->generation++;
		slot->database = database;
		slot->pid = 0;
		slot->latch = NULL;
		slot->leave = false;
		slot->yielding = false;
		slot->report.end = KV_WORKER_FAILED;
		slot->report.come_back = 0;
		start->slot = slot - shared->slot;
		start->generation = slot->generation;
		start->database = database;
	}
	LWLockRelease(shared->lock);
	return slot != NULL;
}

/* Frees the slot of a worker that is gone. */
KvWorkerReport
kv_worker_free_slot(int slot)
{
	KvWorkerReport report;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	report = shared->slot[slot].report;
	if (report.end == KV_WORKER_FAILED && shared->slot[slot].leave)
		report.end = KV_WORKER_LEFT;
	shared->slot[slot].state = SLOT_FREE;
	LWLockRelease(shared->lock);
	return report;
}

/* Tells a worker to leave soon. */
void
kv_worker_tell_to_leave(int slot)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	tell_to_leave(&shared->slot[slot]);
	LWLockRelease(shared->lock);
}

/* Returns the databases that call for a worker. */
List *
kv_worker_read_calls(bool *everyone, bool *look_again)
{
	Oid			call[MAX_CALLS];
	int			count;
	List	   *databases = NIL;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	count = shared->call_count;
	memcpy(call, shared->call, count * sizeof(Oid));
	*everyone = shared->too_many_calls;
	shared->too_many_calls = false;
	*look_again = shared->look_again;
	shared->look_again = false;
	LWLockRelease(shared->lock);

	for (int i = 0; i < count; i++)
		databases = lappend_oid(databases, call[i]);
	return databases;
}

/* Forgets the call of a database.  The lock is held. */
static void
clear_call(Oid database)
{
	for (int i = 0; i < shared->call_count; i++)
		if (shared->call[i] == database)
		{
			shared->call[i] = shared->call[--shared->call_count];
			break;
		}
}

/* Forgets the call of a database. */
void
kv_worker_clear_call(Oid database)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	clear_call(database);
	LWLockRelease(shared->lock);
}

/* Tells workers that have nothing to do how many databases wait. */
void
kv_worker_set_waiting(int count)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < KV_WORKER_SLOTS; i++)
		if (is_active(&shared->slot[i]) && (shared->slot[i].leave || shared->slot[i].yielding))
			count--;
	count = Max(count, 0);
	for (int i = 0; i < KV_WORKER_SLOTS; i++)
		if (count > shared->waiting && shared->slot[i].state == SLOT_RUNNING)
			SetLatch(shared->slot[i].latch);
	shared->waiting = count;
	LWLockRelease(shared->lock);
}

/* --- for a worker --- */

/* Gives the slot back when the worker ends. */
static void
end_worker(int code, Datum argument)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	my_slot->state = SLOT_ENDED;
	my_slot->latch = NULL;
	my_slot->pid = 0;
	wake_launcher();
	LWLockRelease(shared->lock);
}

/* Announces the worker. */
bool
kv_worker_begin(const KvWorkerStart *start)
{
	WorkerSlot *slot = &shared->slot[start->slot];
	bool		wanted;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	wanted = slot->state == SLOT_STARTING && slot->generation == start->generation;
	if (wanted && (slot->leave || shared->launcher == NULL || is_held(start->database)))
	{
		slot->report.end = KV_WORKER_LEFT;
		slot->state = SLOT_ENDED;
		wanted = false;
	}
	if (wanted)
	{
		slot->state = SLOT_RUNNING;
		slot->pid = MyProcPid;
		slot->latch = MyLatch;
		my_slot = slot;
	}
	LWLockRelease(shared->lock);
	if (wanted)
		on_shmem_exit(end_worker, (Datum) 0);
	return wanted;
}

/* Says why the worker is about to end. */
void
kv_worker_say_end(KvWorkerEnd end, TimestampTz come_back)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	my_slot->report.end = end;
	my_slot->report.come_back = come_back;
	LWLockRelease(shared->lock);
}

/* Tells whether the worker was told to leave. */
bool
kv_worker_is_told_to_leave(void)
{
	bool		leave;

	LWLockAcquire(shared->lock, LW_SHARED);
	leave = my_slot->leave;
	LWLockRelease(shared->lock);
	return leave;
}

/* Tells whether databases wait for a worker. */
bool
kv_worker_others_wait(void)
{
	bool		wait;

	LWLockAcquire(shared->lock, LW_SHARED);
	wait = shared->waiting > 0;
	LWLockRelease(shared->lock);
	return wait;
}

/* Asks whether to yield to a waiting database. */
bool
kv_worker_should_yield(void)
{
	bool		yield;

	if (!kv_worker_others_wait())
		return false;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	yield = shared->waiting > 0;
	if (yield)
	{
		shared->waiting--;
		my_slot->yielding = true;
	}
	LWLockRelease(shared->lock);
	return yield;
}

/* --- for every session --- */

/* Tells whether a database calls already.  The lock is held. */
static bool
is_calling(Oid database)
{
	for (int i = 0; i < shared->call_count; i++)
		if (shared->call[i] == database)
			return true;
	return shared->too_many_calls;
}

/* Calls for a worker in a database. */
void
kv_worker_call(Oid database)
{
	bool		is_known;

	if (shared == NULL)
		return;
	LWLockAcquire(shared->lock, LW_SHARED);
	is_known = is_calling(database);
	LWLockRelease(shared->lock);
	if (is_known)
		return;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (!is_calling(database))
	{
		if (shared->call_count < MAX_CALLS)
			shared->call[shared->call_count++] = database;
		else
			shared->too_many_calls = true;
		wake_launcher();
	}
	LWLockRelease(shared->lock);
}

/* Tells the launcher to read pg_database again. */
void
kv_worker_look_again(void)
{
	if (shared == NULL)
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->look_again = true;
	wake_launcher();
	LWLockRelease(shared->lock);
}

/* Holds a database, and tells its worker to leave. */
static void
begin_hold(Oid database)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_HOLDS; i++)
		if (!OidIsValid(shared->hold[i].database))
		{
			shared->hold[i].database = database;
			shared->hold[i].pid = MyProcPid;
			my_hold = database;
			break;
		}
	for (int i = 0; i < KV_WORKER_SLOTS; i++)
		if (is_active(&shared->slot[i]) && shared->slot[i].database == database)
			tell_to_leave(&shared->slot[i]);
	LWLockRelease(shared->lock);
}

/* Tells whether a database has a worker still; sends it a signal if it was asked in vain. */
static bool
has_worker(Oid database, bool send_signal)
{
	bool		found = false;

	LWLockAcquire(shared->lock, LW_SHARED);
	for (int i = 0; i < KV_WORKER_SLOTS; i++)
	{
		WorkerSlot *slot = &shared->slot[i];

		if (!is_active(slot) || slot->database != database)
			continue;
		found = true;
		if (send_signal && slot->state == SLOT_RUNNING)
			(void) kill(slot->pid, SIGTERM);
	}
	LWLockRelease(shared->lock);
	return found;
}

/* Makes the worker of a database leave and keeps others away. */
void
kv_worker_hold(Oid database)
{
	TimestampTz start = GetCurrentTimestamp();
	bool		is_signalled = false;

	if (shared == NULL)
		return;
	if (OidIsValid(my_hold))
		kv_worker_release();
	begin_hold(database);
	while (has_worker(database, false))
	{
		long		waited = TimestampDifferenceMilliseconds(start, GetCurrentTimestamp());

		if (waited > PATIENCE)
			break;
		if (waited > POLITENESS && !is_signalled)
		{
			(void) has_worker(database, true);
			is_signalled = true;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 2, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Lets workers come again to the database that this session holds. */
void
kv_worker_release(void)
{
	if (!OidIsValid(my_hold))
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < MAX_HOLDS; i++)
		if (shared->hold[i].database == my_hold && shared->hold[i].pid == MyProcPid)
		{
			shared->hold[i].database = InvalidOid;
			break;
		}
	shared->look_again = true;
	wake_launcher();
	LWLockRelease(shared->lock);
	my_hold = InvalidOid;
}
