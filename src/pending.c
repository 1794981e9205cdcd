/*
 * pending.c
 *	  Stand-ins for functions that other rooms are about to bring; weak, so
 *	  that the real ones win.  Goes away with the last of them.
 */
#include "postgres.h"

#include "expression/expression.h"

#define PENDING __attribute__((weak))
#define FAIL elog(ERROR, "%s is not there yet", __func__)

PENDING KvUpdate *kv_update_bind(text *expression, KvPlaceholders *placeholders, const KvKeySchema *schema) { FAIL; }
PENDING Jsonb *kv_update_apply(const KvUpdate *update, const KvItemView *view) { FAIL; }
PENDING Jsonb *kv_update_touched(const KvUpdate *update, const KvItemView *view) { FAIL; }
