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
PENDING int64 kv_item_size(const KvItemView *view) { FAIL; }
PENDING void kv_item_check_size(const KvItemView *view) { FAIL; }
PENDING void kv_key_from_json(const KvKeySchema *schema, Jsonb *json, Datum *key) { FAIL; }
PENDING Datum kv_key_from_text(const KvKeyAttribute *attribute, int position, text *value) { FAIL; }
PENDING Jsonb *kv_key_to_json(const KvKeySchema *schema, const Datum *key) { FAIL; }
PENDING Oid kv_key_sql_type(KvKeyType type) { return type == KV_KEY_STRING ? TEXTOID : type == KV_KEY_NUMBER ? NUMERICOID : BYTEAOID; }
PENDING KvKeyType kv_key_type_of(Oid sql_type) { return sql_type == TEXTOID ? KV_KEY_STRING : sql_type == NUMERICOID ? KV_KEY_NUMBER : sql_type == BYTEAOID ? KV_KEY_BINARY : 0; }
PENDING int kv_key_compare(KvKeyType type, Datum a, Datum b) { FAIL; }
PENDING Jsonb *kv_item_join(const KvItemView *view) { FAIL; }
PENDING void kv_item_split(const KvKeySchema *schema, Jsonb *whole, KvItemView *view) { FAIL; }
