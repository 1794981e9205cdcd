-- catalog: what the extension and kv.create_table leave in the catalogs is standard PostgreSQL.
BEGIN;
SELECT plan(36);

-- The extension.
SELECT has_extension('key_value');
SELECT has_schema('kv');
SELECT is((SELECT extrelocatable FROM pg_extension WHERE extname = 'key_value'), false, 'the schema is fixed');
SELECT schema_privs_are('kv', 'public', ARRAY['USAGE'], 'everyone may use the schema, none create in it');
SELECT is((SELECT amtype FROM pg_am WHERE amname = 'key_value'), 't', 'key_value is a table access method');
SELECT set_eq(
	$$SELECT opcname::text, opcintype::regtype::text, a.amname::text FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
	  WHERE opcnamespace = 'kv'::regnamespace$$,
	$$VALUES ('xxh3_text_ops', 'text', 'hash'), ('xxh3_numeric_ops', 'numeric', 'hash'), ('xxh3_bytea_ops', 'bytea', 'hash')$$,
	'a hash operator class for each key type');
SELECT is_empty($$SELECT opcname FROM pg_opclass WHERE opcnamespace = 'kv'::regnamespace AND opcdefault$$,
	'no operator class is a default one: other tables hash as they did');
SELECT has_view('kv', 'tables', 'kv.tables');
SELECT has_view('kv', 'partitions', 'kv.partitions');
SELECT table_privs_are('kv', 'tables', 'public', ARRAY['SELECT']);
SELECT table_privs_are('kv', 'partitions', 'public', ARRAY['SELECT']);

-- A table with a sort key.
CREATE SCHEMA test;
SELECT is(kv.create_table('test.messages', 'pk', 'sk')::text, 'test.messages', 'create_table returns the table');
SELECT is((SELECT relkind FROM pg_class WHERE oid = 'test.messages'::regclass), 'p', 'it is partitioned');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'test.messages'::regclass), 16::bigint, 'into 16');
SELECT is(pg_get_partkeydef('test.messages'::regclass), 'HASH (pk kv.xxh3_text_ops)', 'by the hash of the partition key');
SELECT is_empty(
	$$SELECT c.oid FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_am a ON a.oid = c.relam
	  WHERE inhparent = 'test.messages'::regclass AND a.amname <> 'key_value'$$, 'each partition uses key_value');
SELECT columns_are('test', 'messages', ARRAY['pk', 'sk', 'item']);
SELECT col_type_is('test', 'messages', 'pk', 'text', 'pk is text');
SELECT col_type_is('test', 'messages', 'sk', 'text', 'sk is text');
SELECT col_type_is('test', 'messages', 'item', 'jsonb', 'item is jsonb');
SELECT results_eq(
	$$SELECT attname, c.collname, attnotnull FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = attcollation
	  WHERE attrelid = 'test.messages'::regclass AND attnum > 0 ORDER BY attnum$$,
	$$VALUES ('pk'::name, 'C'::name, true), ('sk', 'C', true), ('item', NULL, true)$$, 'keys compare by bytes, nothing is null');
SELECT col_default_is('test', 'messages', 'item', '{}', 'an item is empty by default');
SELECT col_is_pk('test', 'messages', ARRAY['pk', 'sk'], 'the primary key is the key');
SELECT is((SELECT count(*) FROM pg_constraint WHERE conrelid = 'test.messages'::regclass AND contype = 'c'), 1::bigint, 'one CHECK');
SELECT is_empty($$SELECT 1 FROM pg_rewrite WHERE ev_class = 'test.messages'::regclass$$, 'no rules');

-- The setting, defined once the library is loaded.
SELECT is((SELECT context FROM pg_settings WHERE name = 'key_value.allow_scan'), 'superuser', 'key_value.allow_scan is for superusers');
SELECT is((SELECT boot_val FROM pg_settings WHERE name = 'key_value.allow_scan'), 'off', 'and off');

-- Other types, no sort key, another number of partitions.
SELECT lives_ok($$SELECT kv.create_table('test.numbers', 'n', partition_key_type => 'N', partitions => 3)$$);
SELECT col_type_is('test', 'numbers', 'n', 'numeric', 'N is numeric');
SELECT col_is_pk('test', 'numbers', ARRAY['n'], 'the partition key alone is the primary key');
SELECT is((SELECT count(*) FROM pg_inherits WHERE inhparent = 'test.numbers'::regclass), 3::bigint, 'three partitions');
SELECT is(pg_get_partkeydef('test.numbers'::regclass), 'HASH (n kv.xxh3_numeric_ops)', 'by the hash of a number');
SELECT lives_ok($$SELECT kv.create_table('test.bytes', 'b', 'n', 'B', 'N', 1)$$);
SELECT is(pg_get_partkeydef('test.bytes'::regclass), 'HASH (b kv.xxh3_bytea_ops)', 'by the hash of bytes');

-- Dropping leaves nothing.
SELECT lives_ok($$SELECT kv.drop_table('test.messages')$$);
SELECT is((SELECT count(*) FROM pg_class WHERE relnamespace = 'test'::regnamespace AND relname LIKE 'messages%'), 0::bigint,
	'drop_table leaves nothing');

SELECT finish();
ROLLBACK;
