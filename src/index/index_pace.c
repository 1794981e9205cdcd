/*
 * index_pace.c
 *	  Slows down writers that the worker cannot keep up with.
 *
 * One worker against many sessions that do nothing but write gets too small a
 * share of the machine, and the indexes would fall behind without end.  So
 * writers that find them further behind than key_value.index_lag_target pause
 * before they write their transaction's first record: for an eighth of what
 * the lag has in excess, so that the pauses settle where the worker just keeps
 * up.  Below the target nobody pauses, nor where there is no worker.
 *
 * A transaction that was large makes the next one of its session pause for
 * longer.  Who pauses holds what his write holds, and can be interrupted.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/guc.h"
#include "index/index_internal.h"

/* The part of the excess that a pause takes. */
#define EXCESS_SHARE 8

/* The longest pause, in ms; after a larger transaction one for each of its records, up to a second. */
#define MAX_PAUSE 100
#define MAX_PAUSE_OF_LARGE 1000

/* While an index is being filled, the worker has less time for changes: then so many times the target, and short pauses. */
#define FILLING_FACTOR 10
#define MAX_PAUSE_FILLING 20

/* Records of the current transaction, and of the one before that had some. */
static int	records = 0;
static int	records_before = 0;

/* Pauses too short to be made, in us. */
static int64 owed = 0;

/* Returns for how long to pause, in us. */
static int64
choose_pause(void)
{
	bool		is_filling = false;
	int64		lag = kv_index_measure_lag(&is_filling);
	int64		target = (int64) kv_guc_index_lag_target * 1000 * (is_filling ? FILLING_FACTOR : 1);
	int64		longest = is_filling ? MAX_PAUSE_FILLING : Max(MAX_PAUSE, Min(records_before, MAX_PAUSE_OF_LARGE));

	longest *= 1000;
	return lag <= target ? 0 : Min((lag - target) / EXCESS_SHARE, longest);
}

/* Sleeps for so many ms. */
static void
sleep_for(long ms)
{
	static uint32 wait_event = 0;
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms);

	if (wait_event == 0)
		wait_event = kv_compat_new_wait_event("KeyValueIndexLag");
	while (ms > 0)
	{
		if (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms, wait_event) & WL_LATCH_SET)
			ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		ms = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);
	}
}

/* Pauses before a record is written, if the indexes are too far behind. */
void
kv_index_keep_pace(void)
{
	if (records++ > 0 || kv_guc_index_lag_target == 0)
		return;
	owed += choose_pause();
	if (owed >= 1000)
	{
		long		ms = owed / 1000;

		owed %= 1000;
		sleep_for(ms);
	}
}

/* Ends the transaction's count of records. */
void
kv_index_end_pace(void)
{
	if (records > 0)
		records_before = records;
	records = 0;
}
