/*
 * pending.c
 *	  Stand-ins for functions that other rooms are about to bring; weak, so
 *	  that the real ones win.  Goes away with the last of them.
 */
#include "postgres.h"

#include "expression/expression.h"
#include "table/table.h"

#define PENDING __attribute__((weak))
#define FAIL elog(ERROR, "%s is not there yet", __func__)

PENDING KvTable *kv_table_open(Oid relid, LOCKMODE lockmode) { FAIL; }
PENDING KvTable *kv_table_lookup(Oid relid) { FAIL; }
PENDING int kv_table_route(KvTable *table, Datum partition_key) { FAIL; }
PENDING const KvLeaf *kv_table_leaf(KvTable *table, int leaf) { FAIL; }
PENDING void kv_table_check_rights(const KvTable *table, AclMode mode) { FAIL; }
PENDING bool kv_table_has_row_security(const KvTable *table) { FAIL; }
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
PENDING Oid kv_key_sql_type(KvKeyType type) { FAIL; }
PENDING int kv_key_compare(KvKeyType type, Datum a, Datum b) { FAIL; }
PENDING Jsonb *kv_item_join(const KvItemView *view) { FAIL; }
PENDING void kv_item_split(const KvKeySchema *schema, Jsonb *whole, KvItemView *view) { FAIL; }
