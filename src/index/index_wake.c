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
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "storage/spin.h"

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
} WorkerSlot;

/* What is in shared memory. */
typedef struct WakeShared
{
	slock_t		mutex;
	WorkerSlot	worker[MAX_WORKERS];
} WakeShared;

static WakeShared *shared = NULL;
static bool preloaded = false;

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
	}
	SpinLockRelease(&shared->mutex);

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

/* Tells whether the current database may get a worker when it calls for one. */
bool
kv_index_expects_worker(void)
{
	return shared != NULL && kv_guc_workers > 0 && !IsBinaryUpgrade;
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
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			wake_at_commit = false;
			kv_table_index_write_depth = 0;
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
