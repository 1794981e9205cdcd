/*
 * index_snapshot.c
 *	  Which transactions are done, kept between rounds of apply.
 *
 * The stored form is that of core's type pg_snapshot (xid8funcs.c), so that
 * kv.apply_progress can be read by eye; core has no function that makes one
 * from any snapshot but the active one.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "index/index_internal.h"

/* The varlena of type pg_snapshot: PgSnapshot in core's xid8funcs.c. */
typedef struct StoredSnapshot
{
	int32		length;
	uint32		xip_count;
	FullTransactionId xmin;
	FullTransactionId xmax;
	FullTransactionId xip[FLEXIBLE_ARRAY_MEMBER];
} StoredSnapshot;

/* Orders transactions by age. */
static int
compare_xids(const void *a, const void *b)
{
	uint64		left = U64FromFullTransactionId(*(const FullTransactionId *) a);
	uint64		right = U64FromFullTransactionId(*(const FullTransactionId *) b);

	return left < right ? -1 : left > right;
}

/* Adds the epoch to a transaction ID that was in use a moment ago. */
static FullTransactionId
widen(TransactionId xid, FullTransactionId next)
{
	uint32		epoch = EpochFromFullTransactionId(next);

	if (!TransactionIdIsNormal(xid))
		return FullTransactionIdFromEpochAndXid(0, xid);
	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdFromEpochAndXid(epoch, xid);
}

/* Reads off a snapshot, taken a moment ago, which transactions are done. */
void
kv_done_from_snapshot(Snapshot snapshot, KvDone *done)
{
	FullTransactionId next = ReadNextFullTransactionId();

	done->xmin = widen(snapshot->xmin, next);
	done->xmax = widen(snapshot->xmax, next);
	done->xip_count = snapshot->xcnt;
	done->xip = palloc(sizeof(FullTransactionId) * Max(snapshot->xcnt, 1));
	for (uint32 i = 0; i < snapshot->xcnt; i++)
		done->xip[i] = widen(snapshot->xip[i], next);
	qsort(done->xip, done->xip_count, sizeof(FullTransactionId), compare_xids);
}

/* Copies what a value of type pg_snapshot says. */
void
kv_done_from_datum(Datum datum, KvDone *done)
{
	StoredSnapshot *stored = (StoredSnapshot *) PG_DETOAST_DATUM(datum);

	done->xmin = stored->xmin;
	done->xmax = stored->xmax;
	done->xip_count = stored->xip_count;
	done->xip = palloc(sizeof(FullTransactionId) * Max(stored->xip_count, 1));
	memcpy(done->xip, stored->xip, sizeof(FullTransactionId) * stored->xip_count);
}

/* Returns it as a value of type pg_snapshot. */
Datum
kv_done_to_datum(const KvDone *done)
{
	Size		length = offsetof(StoredSnapshot, xip) + sizeof(FullTransactionId) * done->xip_count;
	StoredSnapshot *stored = palloc0(length);

	SET_VARSIZE(stored, length);
	stored->xip_count = done->xip_count;
	stored->xmin = done->xmin;
	stored->xmax = done->xmax;
	memcpy(stored->xip, done->xip, sizeof(FullTransactionId) * done->xip_count);
	return PointerGetDatum(stored);
}

/* Tells whether a transaction is done. */
bool
kv_done_includes(const KvDone *done, FullTransactionId xid)
{
	if (FullTransactionIdPrecedes(xid, done->xmin))
		return true;
	if (!FullTransactionIdPrecedes(xid, done->xmax))
		return false;
	return bsearch(&xid, done->xip, done->xip_count, sizeof(FullTransactionId), compare_xids) == NULL;
}

/*
 * Takes the current transaction out of those that are done: a snapshot does
 * not list it, but it may write more.
 */
void
kv_done_exclude_current(KvDone *done)
{
	FullTransactionId own = GetTopFullTransactionIdIfAny();

	if (!FullTransactionIdIsValid(own) || !kv_done_includes(done, own))
		return;
	done->xip = repalloc(done->xip, sizeof(FullTransactionId) * (done->xip_count + 1));
	done->xip[done->xip_count++] = own;
	qsort(done->xip, done->xip_count, sizeof(FullTransactionId), compare_xids);
	if (FullTransactionIdPrecedes(own, done->xmin))
		done->xmin = own;
}
