-- kv.create_table makes standard things, named and typed as documented.
SELECT kv.create_table('messages', 'pk', 'sk', partitions => 2);
SELECT attname, format_type(atttypid, atttypmod) AS type, nullif(attcollation, 0)::regcollation AS collation, attnotnull, pg_get_expr(adbin, adrelid) AS default
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = 'messages'::regclass AND attnum > 0 ORDER BY attnum;
SELECT pg_get_partkeydef('messages'::regclass);
SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid IN ('messages'::regclass, 'messages_p0'::regclass) AND contype IN ('p', 'c') ORDER BY 1, 2;
SELECT relid, isleaf, amname, pg_get_expr(relpartbound, c.oid) AS bound
FROM pg_partition_tree('messages') JOIN pg_class c ON c.oid = relid LEFT JOIN pg_am m ON m.oid = c.relam ORDER BY relid::text COLLATE "C";

-- Every pair of key types, with and without sort key.
SELECT kv.create_table('t_' || p, 'a', NULL, p, partitions => 1) FROM unnest(ARRAY['S', 'N', 'B']) p;
SELECT kv.create_table('t_' || p || s, 'a', 'b', p, s, partitions => 1)
FROM unnest(ARRAY['S', 'N', 'B']) p, unnest(ARRAY['S', 'N', 'B']) s;
SELECT table_name, partition_key, partition_key_type, sort_key, sort_key_type, partitions, owner = current_user AS owned FROM kv.tables WHERE table_name::text LIKE 't\_%' ORDER BY table_name::text COLLATE "C";
SELECT a.attrelid::regclass, string_agg(attname || ' ' || format_type(atttypid, atttypmod) || coalesce(' ' || nullif(attcollation, 0)::regcollation, ''), ', ' ORDER BY attnum) AS columns,
	bool_and(attnotnull) AS not_null
FROM pg_attribute a JOIN kv.tables t ON a.attrelid = t.table_name
WHERE attnum > 0 AND t.table_name::text LIKE 't\_%' GROUP BY attrelid ORDER BY attrelid::regclass::text COLLATE "C";

-- Numbers and binaries as keys are read back as what they are.
INSERT INTO t_nb VALUES (1.50, '\xff00', '{"x": 1}');
SELECT kv.get('t_nb', '1.5', '/wA=');
SELECT kv.drop_table(table_name) FROM kv.tables WHERE table_name::text LIKE 't\_%' ORDER BY table_name::text COLLATE "C";

-- What describes a table.
SELECT kv.describe_table('messages') - 'TableSizeBytes' AS described;
INSERT INTO messages SELECT 'a' || i, i, '{"x": "y"}' FROM generate_series(1, 1000) i;
ANALYZE messages;
SELECT d ->> 'ItemCount' AS items, (d ->> 'TableSizeBytes')::bigint BETWEEN 30000 AND 500000 AS plausible
FROM kv.describe_table('messages') d;
SELECT partition_name, modulus, remainder, sum(item_count) OVER () AS items, table_bytes > 8192 AS has_size, index_bytes > 8192 AS has_index_size
FROM kv.partitions WHERE table_name = 'messages'::regclass ORDER BY 1;
SELECT jsonb_pretty(kv.describe_table('messages') - 'TableSizeBytes' - 'ItemCount');
SELECT kv.drop_table('messages');
SELECT count(*) FROM pg_class WHERE relname LIKE 'messages%';

-- Names: qualified, quoted, mixed case, with dots, quotes and blanks.
CREATE SCHEMA "Mixed Case";
SELECT kv.create_table('"Mixed Case"."My.""Table"""', 'Pk', 'select', partitions => 2);
INSERT INTO "Mixed Case"."My.""Table""" VALUES ('a', 'b', '{"x": 1}');
SELECT kv.get('"Mixed Case"."My.""Table"""', 'a', 'b');
SELECT partition_name FROM kv.partitions WHERE table_name = '"Mixed Case"."My.""Table"""'::regclass ORDER BY 1;
SELECT kv.describe_table('"Mixed Case"."My.""Table"""') ->> 'TableName' AS name;
SELECT kv.create_table(' PUBLIC . Folded ', 'pk', partitions => 1);
SELECT kv.create_table('  "with blank"  ', 'a b', 'c"d', partitions => 1);
INSERT INTO "with blank" VALUES ('1', '2');
SELECT kv.get('"with blank"', '1', '2');
SELECT kv.create_table('dash-ed', 'pk', partitions => 1);
SELECT kv.create_table('"123"', 'pk', partitions => 1);
SELECT kv.create_table(current_database() || '.public.three', 'pk', partitions => 1);
SELECT kv.create_table('été', 'clé', partitions => 1);
SELECT kv.drop_table(t) FROM unnest(ARRAY['"Mixed Case"."My.""Table"""', 'folded', '"with blank"', '"dash-ed"', '"123"', 'three', 'été']::regclass[]) t;

-- Leaves of long names keep whole characters; two tables whose names are the
-- same once cut do not clash.
SELECT kv.create_table(repeat('é', 31) || 'a', 'pk', partitions => 2), kv.create_table(repeat('é', 31) || 'b', 'pk', partitions => 2);
SELECT table_name, partition_name, octet_length(partition_name::text) AS bytes FROM kv.partitions ORDER BY table_name::text COLLATE "C", remainder;
SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'c' AND conrelid IN (SELECT table_name FROM kv.tables) ORDER BY 1;
SELECT kv.drop_table(table_name) FROM kv.tables ORDER BY table_name::text COLLATE "C";
CREATE TABLE taken_p1 (x int);
SELECT kv.create_table('taken', 'pk', partitions => 3);
SELECT partition_name FROM kv.partitions ORDER BY remainder;
SELECT kv.drop_table('taken');
DROP TABLE taken_p1;

-- Names of keys as long as they may be.
SELECT kv.create_table('long', repeat('k', 63), repeat('é', 31) || 'k', partitions => 1);
INSERT INTO long VALUES ('a', 'b');
SELECT kv.get('long', 'a', 'b') = jsonb_build_object(repeat('k', 63), 'a', repeat('é', 31) || 'k', 'b') AS same;
SELECT kv.drop_table('long');

-- Leaves are numbered so that they sort.
SELECT kv.create_table('eleven', 'pk', partitions => 11);
SELECT string_agg(partition_name::text, ' ' ORDER BY remainder) AS by_remainder,
	string_agg(partition_name::text, ' ' ORDER BY partition_name::text COLLATE "C") AS by_name FROM kv.partitions;
SELECT kv.drop_table('eleven');

-- The search_path chooses the schema and nothing else: what lies in its way is
-- not used.
CREATE SCHEMA evil;
CREATE DOMAIN evil.text AS int;
CREATE DOMAIN evil.jsonb AS int;
CREATE DOMAIN evil.numeric AS int;
CREATE DOMAIN evil.bytea AS int;
CREATE FUNCTION evil.check_item(oid, pg_catalog.jsonb, pg_catalog.text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
SET search_path = evil, pg_catalog, public;
SELECT kv.create_table('in_path', 'a', 'b', 'N', 'B', partitions => 1);
INSERT INTO evil.in_path VALUES (1, '\x01');
SELECT kv.get('in_path', '1', 'AQ==');
SET search_path = '';
SELECT kv.get('evil.in_path', '1', 'AQ==');
SELECT kv.create_table('public.elsewhere', 'a', partitions => 1);
SELECT kv.create_table('nowhere', 'a');
RESET search_path;
SELECT kv.drop_table('evil.in_path'), kv.drop_table('elsewhere');
DROP SCHEMA evil CASCADE;
SET search_path = "Mixed Case", public;
SELECT kv.create_table('t', 'pk', partitions => 1);
RESET search_path;
SELECT kv.drop_table('"Mixed Case".t');
DROP SCHEMA "Mixed Case";

-- Temporary tables.
SELECT kv.create_table('pg_temp.scratch', 'pk', partitions => 2);
SELECT count(*), min(relpersistence) AS persistence FROM pg_class c JOIN kv.partitions p ON p.partition_name = c.oid;
INSERT INTO scratch VALUES ('a', '{"x": 1}');
SELECT kv.get('scratch', 'a');
SELECT kv.drop_table('scratch');

-- A table made by hand is a table of one partition.
CREATE TABLE by_hand (id text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) USING key_value;
INSERT INTO by_hand VALUES ('a', '{"x": 1}');
SELECT kv.get('by_hand', 'a');
SELECT table_name, partition_key, partition_key_type, sort_key, sort_key_type, partitions, owner = current_user AS owned FROM kv.tables;
SELECT partition_name, modulus, remainder FROM kv.partitions;
SELECT kv.describe_table('by_hand') -> 'Partitions' AS partitions;
SELECT kv.drop_table('by_hand');
CREATE UNLOGGED TABLE unlogged (id numeric, sk bytea, item jsonb NOT NULL, PRIMARY KEY (id, sk)) USING key_value;
INSERT INTO unlogged VALUES (1, '\x01', '{"x": 1}');
SELECT kv.get('unlogged', '1.0', 'AQ==');
SELECT kv.drop_table('unlogged');

-- Created and dropped in one transaction, and rolled back.
BEGIN;
SELECT kv.create_table('brief', 'pk', partitions => 2);
INSERT INTO brief VALUES ('a');
SELECT kv.get('brief', 'a');
SELECT kv.drop_table('brief');
SELECT kv.create_table('brief', 'other', partitions => 3);
INSERT INTO brief VALUES ('a');
SELECT kv.get('brief', 'a');
ROLLBACK;
SELECT to_regclass('brief');
