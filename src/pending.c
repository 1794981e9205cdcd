/*
 * pending.c
 *	  Stand-ins for functions that other rooms are about to bring; weak, so
 *	  that the real ones win.  Goes away with the last of them.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"

#include "expression/expression.h"

#define PENDING __attribute__((weak))
#define FAIL elog(ERROR, "%s is not there yet", __func__)

PENDING KvPlaceholders *kv_placeholders_create(Jsonb *names, Jsonb *values) { FAIL; }
PENDING void kv_placeholders_check_used(const KvPlaceholders *placeholders) { FAIL; }
PENDING KvCondition *kv_condition_bind(KvExpressionKind kind, text *expression, KvPlaceholders *placeholders, const KvKeySchema *schema) { FAIL; }
PENDING bool kv_condition_holds(const KvCondition *condition, const KvItemView *view) { FAIL; }
PENDING void kv_key_condition_bind(text *expression, KvPlaceholders *placeholders, const KvKeySchema *schema, KvKeyRange *range) { FAIL; }
PENDING KvProjection *kv_projection_bind(text *expression, KvPlaceholders *placeholders, const KvKeySchema *schema) { FAIL; }
PENDING Jsonb *kv_projection_apply(const KvProjection *projection, const KvItemView *view) { FAIL; }
