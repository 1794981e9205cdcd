/*
 * index_wake.c
 *	  Wakes the worker of a database when there is something to apply.
 *
 * Shared memory has a slot for each worker with its database and its latch.
 * It exists only where the library is preloaded; elsewhere nobody is woken
 * and kv.apply_changes() is the way.  Capture notes that its transaction has
 * something to apply, and the latch is set once it is committed.  COMMIT
 * PREPARED, whose transaction was captured by another session, wakes as well.
 * Where there is no worker one is called for, by a hook.
 *
 * The slot also tells since when something has been waiting to be applied,
 * which is how writers see that the worker is behind (index_pace.c).
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "base/guc.h"
#include "index/index_internal.h"

#define MAX_WORKERS 64

/* One worker. */
typedef struct WorkerSlot
{
	Oid			database;		/* InvalidOid: free */
	Latch	   *latch;
	bool		called;			/* since the worker asked last */
	pg_atomic_uint64 pending_since; /* first commit that the batch under work does not have; 0: none */
	pg_atomic_uint64 applying_since;	/* first commit that it has; 0: none */
	volatile bool is_filling;	/* an index is being filled between batches */
} WorkerSlot;

/* What is in shared memory. */
typedef struct WakeShared
{
	slock_t		mutex;
	WorkerSlot	worker[MAX_WORKERS];
} WakeShared;

static WakeShared *shared = NULL;
static bool preloaded = false;

/* In a worker: its own slot. */
static WorkerSlot *own_slot = NULL;

KvIndexCallWorkerHook kv_index_call_worker_hook = NULL;

/* The current transaction has something to apply. */
static bool wake_at_commit = false;

static shmem_request_hook_type next_shmem_request = NULL;
static shmem_startup_hook_type next_shmem_startup = NULL;

/* Asks for the room that the slots take. */
static void
request_shared_memory(void)
{
	if (next_shmem_request)
		next_shmem_request();
	RequestAddinShmemSpace(sizeof(WakeShared));
}

/* Finds the slots in shared memory, or makes them. */
static void
attach_shared_memory(void)
{
	bool		found;

	if (next_shmem_startup)
		next_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("key_value workers", sizeof(WakeShared), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(WakeShared));
		SpinLockInit(&shared->mutex);
		for (int i = 0; i < MAX_WORKERS; i++)
		{
			pg_atomic_init_u64(&shared->worker[i].pending_since, 0);
			pg_atomic_init_u64(&shared->worker[i].applying_since, 0);
		}
	}
	LWLockRelease(AddinShmemInitLock);
}

/* Asks for shared memory. */
void
kv_index_request_shared_memory(void)
{
	preloaded = true;
	next_shmem_request = shmem_request_hook;
	shmem_request_hook = request_shared_memory;
	next_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = attach_shared_memory;
}

/* Tells whether the library was preloaded. */
bool
kv_index_is_preloaded(void)
{
	return preloaded;
}

/* Finds the slot of a database; NULL if there is none.  The mutex is held. */
static WorkerSlot *
find_slot(Oid database)
{
	for (int i = 0; i < MAX_WORKERS; i++)
		if (shared->worker[i].database == database)
			return &shared->worker[i];
	return NULL;
}

/* Gives the slot back when the process ends. */
static void
detach_at_exit(int code, Datum argument)
{
	kv_index_detach_worker();
}

/* Announces a worker. */
bool
kv_index_attach_worker(void)
{
	static bool registered = false;
	WorkerSlot *slot = NULL;

	if (shared == NULL)
		return false;
	SpinLockAcquire(&shared->mutex);
	if (find_slot(MyDatabaseId) == NULL)
		slot = find_slot(InvalidOid);
	if (slot)
	{
		slot->database = MyDatabaseId;
		slot->latch = MyLatch;
		slot->called = false;
		pg_atomic_write_u64(&slot->pending_since, 0);
		pg_atomic_write_u64(&slot->applying_since, 0);
		slot->is_filling = false;
	}
	SpinLockRelease(&shared->mutex);
	own_slot = slot;

	if (slot && !registered)
		before_shmem_exit(detach_at_exit, (Datum) 0);
	registered |= slot != NULL;
	return slot != NULL;
}

/* Takes a worker's announcement back. */
void
kv_index_detach_worker(void)
{
	WorkerSlot *slot;

	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	slot = find_slot(MyDatabaseId);
	if (slot && slot->latch == MyLatch)
	{
		slot->database = InvalidOid;
		slot->latch = NULL;
	}
	SpinLockRelease(&shared->mutex);
	own_slot = NULL;
}

/* Tells a worker whether it was called since it asked last. */
bool
kv_index_was_called(void)
{
	WorkerSlot *slot;
	bool		called = false;

	if (shared == NULL)
		return false;
	SpinLockAcquire(&shared->mutex);
	slot = find_slot(MyDatabaseId);
	if (slot && slot->latch == MyLatch)
	{
		called = slot->called;
		slot->called = false;
	}
	SpinLockRelease(&shared->mutex);
	return called;
}

/* Tells whether the current database has a worker. */
bool
kv_index_has_worker(void)
{
	bool		found;

	if (shared == NULL)
		return false;
	SpinLockAcquire(&shared->mutex);
	found = find_slot(MyDatabaseId) != NULL;
	SpinLockRelease(&shared->mutex);
	return found;
}

/* Tells whether a process is the worker of the current database. */
bool
kv_index_is_worker(const PGPROC *process)
{
	WorkerSlot *slot;
	bool		found;

	if (shared == NULL)
		return false;
	SpinLockAcquire(&shared->mutex);
	slot = find_slot(MyDatabaseId);
	found = slot && slot->latch == &process->procLatch;
	SpinLockRelease(&shared->mutex);
	return found;
}

/* Tells whether the current database may get a worker when it calls for one. */
bool
kv_index_expects_worker(void)
{
	return shared != NULL && kv_guc_workers > 0 && !IsBinaryUpgrade;
}

/* Tells for how long the oldest change has waited that the worker of the current database has not applied, in us. */
int64
kv_index_measure_lag(bool *is_filling)
{
	WorkerSlot *slot = shared ? find_slot(MyDatabaseId) : NULL;
	uint64		since;

	/* without the mutex: who comes at a bad moment measures wrongly once */
	if (slot == NULL)
		return 0;
	*is_filling = slot->is_filling;
	since = pg_atomic_read_u64(&slot->applying_since);
	if (since == 0)
		since = pg_atomic_read_u64(&slot->pending_since);
	return since == 0 ? 0 : GetCurrentTimestamp() - (TimestampTz) since;
}

/* For a worker: what is committed by now is in the batch that begins, unless one is under work. */
void
kv_index_begin_batch(void)
{
	if (own_slot && pg_atomic_read_u64(&own_slot->applying_since) == 0)
		pg_atomic_write_u64(&own_slot->applying_since, pg_atomic_exchange_u64(&own_slot->pending_since, 0));
}

/* For a worker: the batch is applied. */
void
kv_index_end_batch(void)
{
	if (own_slot)
		pg_atomic_write_u64(&own_slot->applying_since, 0);
}

/* For a worker: says whether it is filling an index. */
void
kv_index_say_filling(bool is_filling)
{
	if (own_slot)
		own_slot->is_filling = is_filling;
}

/* Wakes the worker of the current database when the transaction commits. */
void
kv_index_wake_at_commit(void)
{
	wake_at_commit = true;
}

/* Wakes the worker of the current database, or calls for one. */
void
kv_index_wake(void)
{
	WorkerSlot *slot;
	Latch	   *latch = NULL;
	uint64		nothing = 0;

	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	slot = find_slot(MyDatabaseId);
	if (slot)
	{
		latch = slot->latch;
		slot->called = true;
	}
	SpinLockRelease(&shared->mutex);

	/* before the latch is set: a batch that has the change may begin at any time */
	if (slot && pg_atomic_read_u64(&slot->pending_since) == 0)
		(void) pg_atomic_compare_exchange_u64(&slot->pending_since, &nothing, GetCurrentTimestamp());

	/* a latch belongs to a PGPROC, which stays; one too many does no harm */
	if (latch)
		SetLatch(latch);
	else if (kv_index_call_worker_hook)
		kv_index_call_worker_hook(MyDatabaseId);
}

/* Transaction callback: wakes once the changes can be seen. */
static void
wake_after_commit(XactEvent event, void *argument)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
			if (wake_at_commit)
				kv_index_wake();
			wake_at_commit = false;
			kv_index_end_pace();
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			wake_at_commit = false;
			kv_index_end_pace();
			kv_table_written_index = InvalidOid;
			break;
		default:
			break;
	}
}

/* Installs callbacks and hooks. */
void
kv_index_init(void)
{
	RegisterXactCallback(wake_after_commit, NULL);
	kv_index_install_hooks();
	kv_index_watch_doubts();
	kv_index_install_capture();
}
