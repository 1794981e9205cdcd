/*
 * worker_internal.h
 *	  What the files of the room worker share among themselves.
 *
 * The launcher gives each worker a slot in shared memory.  A slot is taken and
 * freed by the launcher alone; the worker in it says in what state it is and,
 * at its end, why it ended.
 */
#ifndef KV_WORKER_WORKER_INTERNAL_H
#define KV_WORKER_WORKER_INTERNAL_H

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"

#include "worker/worker.h"

/* As many workers as there can be at a time. */
#define KV_WORKER_SLOTS 64

/* Why a worker ended. */
typedef enum KvWorkerEnd
{
	KV_WORKER_FAILED,			/* by an error or a signal: it said nothing */
	KV_WORKER_NO_EXTENSION,		/* the database has not got the extension */
	KV_WORKER_IDLE,				/* there was nothing to do for long */
	KV_WORKER_YIELDED,			/* another database waited for a worker */
	KV_WORKER_LEFT				/* it was told to leave */
} KvWorkerEnd;

/* What a worker says when it ends. */
typedef struct KvWorkerReport
{
	KvWorkerEnd end;
	TimestampTz come_back;		/* when there will be something to do; 0: nothing known */
} KvWorkerReport;

/* What a worker is started with. */
typedef struct KvWorkerStart
{
	int			slot;
	uint32		generation;		/* of the slot: tells late starters from the one that is meant */
	Oid			database;
} KvWorkerStart;

/* --- worker_shared.c: for the launcher --- */

/* Asks for shared memory; called from _PG_init. */
extern void kv_worker_request_shared_memory(void);

/* Announces the launcher, once the workers of the one before are gone. */
extern void kv_worker_begin_launcher(void);

/* Takes a free slot for a database's worker; false if there is none, or the database is held. */
extern bool kv_worker_take_slot(Oid database, KvWorkerStart *start);

/* Frees the slot of a worker that is gone, or never came, and returns what it said. */
extern KvWorkerReport kv_worker_free_slot(int slot);

/* Tells a worker to leave soon. */
extern void kv_worker_tell_to_leave(int slot);

/*
 * Returns the databases that call for a worker, in the caller's memory;
 * whether there were too many to note them all, and whether pg_database is to
 * be read again, both since the last time.
 */
extern List *kv_worker_read_calls(bool *everyone, bool *look_again);

/* Forgets the call of a database: its worker has come, or none will. */
extern void kv_worker_clear_call(Oid database);

/* Tells workers that have nothing to do how many databases wait for one of them to yield. */
extern void kv_worker_set_waiting(int count);

/* --- for a worker --- */

/* Announces the worker; false if it is not wanted any more.  Must be called before it connects. */
extern bool kv_worker_begin(const KvWorkerStart *start);

/* Says why the worker is about to end. */
extern void kv_worker_say_end(KvWorkerEnd end, TimestampTz come_back);

/* Tells whether the worker was told to leave. */
extern bool kv_worker_is_told_to_leave(void);

/* Tells whether databases wait for a worker. */
extern bool kv_worker_others_wait(void);

/* Asks whether to yield to a waiting database; one worker yields for each that waits. */
extern bool kv_worker_should_yield(void);

/* --- for every session --- */

/* Calls for a worker in a database. */
extern void kv_worker_call(Oid database);

/* Tells the launcher to read pg_database again. */
extern void kv_worker_look_again(void);

/*
 * Makes the worker of a database leave and keeps others away until
 * kv_worker_release(), which must follow at the end of the transaction.  Waits
 * for it a few seconds at most.  A session holds one database at a time.
 */
extern void kv_worker_hold(Oid database);
extern void kv_worker_release(void);

/* --- worker_launcher.c, worker_main.c: entry points --- */
extern PGDLLEXPORT void kv_worker_launcher_main(Datum argument);
extern PGDLLEXPORT void kv_worker_main(Datum argument);

/* Ends the process without a word if it was told to by SIGTERM, and sees to all other signals. */
extern void kv_worker_check_signals(int exit_code);

/* --- worker_crash.c --- */

/* Counts a launcher that begins; returns for how long it should start no workers after crashes, in ms. */
extern int	kv_worker_count_launcher(void);

/* Forgets the crashes before this launcher, which has lived for long. */
extern void kv_worker_forget_crashes(void);

/* --- worker_database.c --- */

/* Returns the OIDs of the databases that may have a worker: those that can be connected to and are no templates. */
extern List *kv_worker_list_databases(void);

/* --- worker_utility.c --- */

/* Installs what sees commands about databases and the extension. */
extern void kv_worker_install_hooks(void);

#endif							/* KV_WORKER_WORKER_INTERNAL_H */
