-- The access method: definition, maintenance and every way of writing, beside a plain heap with the same rows.
SET key_value.allow_scan = on;
SET client_min_messages = warning;
CREATE SCHEMA am_basic;
SET search_path = am_basic;

CREATE TABLE plain (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk, sk));
CREATE TABLE placed (LIKE plain INCLUDING ALL) USING key_value;

SELECT relname, amname FROM pg_class c JOIN pg_am a ON a.oid = relam
	WHERE relnamespace = 'am_basic'::regnamespace AND relkind = 'r' ORDER BY relname;
-- TOAST tables stay heaps.
SELECT amname FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid JOIN pg_am a ON a.oid = t.relam WHERE c.relname = 'placed';
-- The handler is not for calling.
SELECT has_function_privilege('public', 'kv.key_value_am_handler(internal)', 'EXECUTE');

-- Tells how many rows differ between the two tables, read by a scan and through the index.
CREATE FUNCTION differences() RETURNS TABLE (by_scan bigint, by_index bigint) LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_bitmapscan = off;
	SELECT count(*) INTO by_scan FROM
		((TABLE plain EXCEPT ALL TABLE placed) UNION ALL (TABLE placed EXCEPT ALL TABLE plain)) d;
	SET LOCAL enable_indexscan = on;
	SET LOCAL enable_seqscan = off;
	SELECT count(*) INTO by_index FROM plain a FULL JOIN placed b ON a.pk = b.pk AND a.sk = b.sk
		WHERE a.item IS DISTINCT FROM b.item;
	RETURN NEXT;
END $$;

-- Runs a statement on both tables, {t} standing for the name.
CREATE FUNCTION on_both(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE replace(statement, '{t}', 'plain');
	EXECUTE replace(statement, '{t}', 'placed');
END $$;

-- Inserts: in order, interleaved, with large items, some of them compressible.
SELECT on_both($$INSERT INTO {t} SELECT 'a' || n % 20, to_char(n, 'FM0000'), jsonb_build_object('n', n) FROM generate_series(1, 2000) n$$);
SELECT on_both($$INSERT INTO {t} SELECT 'b' || n / 100, to_char(n, 'FM0000'), jsonb_build_object('n', repeat(md5(n::text), n / 10)) FROM generate_series(1, 1000) n$$);
SELECT on_both($$INSERT INTO {t} SELECT 'b' || n / 100, 'x' || n, jsonb_build_object('n', repeat('x', n * 20)) FROM generate_series(1, 1000) n$$);
SELECT on_both($$INSERT INTO {t} SELECT 'c' || n % 7, md5(n::text), jsonb_build_object('n', n) FROM generate_series(1, 1000) n$$);
SELECT * FROM differences();

-- What the constraints refuse.
INSERT INTO placed VALUES ('a1', '0001');
INSERT INTO placed VALUES (NULL, '0001');
INSERT INTO placed VALUES ('a1', NULL);
\set VERBOSITY terse
INSERT INTO placed SELECT 'huge', string_agg(md5(n::text), '') FROM generate_series(1, 200) n;
\set VERBOSITY default

-- ON CONFLICT.
SELECT on_both($$INSERT INTO {t} VALUES ('a1', '0001', '{"n": -1}') ON CONFLICT DO NOTHING$$);
SELECT on_both($$INSERT INTO {t} VALUES ('a1', '0001', '{"n": -1}') ON CONFLICT (pk, sk) DO UPDATE SET item = {t}.item || excluded.item$$);
SELECT on_both($$INSERT INTO {t} VALUES ('a1', 'new', '{"n": -1}') ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item$$);
SELECT item FROM placed WHERE pk = 'a1' AND sk IN ('0001', 'new') ORDER BY sk;

-- Updates: same size, growing within and out of the page, of keys; several times in one transaction; deletes.
SELECT on_both($$UPDATE {t} SET item = jsonb_build_object('n', 1) WHERE pk = 'a2'$$);
SELECT on_both($$UPDATE {t} SET item = item || jsonb_build_object('more', repeat('y', 300)) WHERE pk LIKE 'a%'$$);
SELECT on_both($$UPDATE {t} SET item = item || jsonb_build_object('toasted', repeat(md5(sk), 200)) WHERE pk = 'a3'$$);
SELECT on_both($$UPDATE {t} SET pk = 'moved', sk = pk || sk WHERE pk IN ('a4', 'a5')$$);
SELECT on_both($$DELETE FROM {t} WHERE pk = 'a6' OR sk LIKE '%7'$$);
BEGIN;
SELECT on_both($$UPDATE {t} SET item = jsonb_build_object('round', 1) WHERE pk = 'a7'$$);
SELECT on_both($$UPDATE {t} SET item = item || jsonb_build_object('round', 2, 'more', repeat('z', 400)) WHERE pk = 'a7'$$);
COMMIT;
SELECT * FROM differences();

-- An update on the same page is heap-only.
CREATE TABLE hot (pk text COLLATE "C", sk text COLLATE "C", item jsonb, PRIMARY KEY (pk, sk)) USING key_value;
INSERT INTO hot VALUES ('a', 'b', '{"n": 1}');
UPDATE hot SET item = '{"n": 2}';
BEGIN;
UPDATE hot SET item = '{"n": 3}';
SELECT pg_stat_get_xact_tuples_hot_updated('hot'::regclass) AS hot_updates;
COMMIT;
DROP TABLE hot;

-- Rolled back, wholly and to a savepoint.
BEGIN;
SELECT on_both($$INSERT INTO {t} SELECT 'd', n::text FROM generate_series(1, 100) n$$);
SAVEPOINT one;
SELECT on_both($$INSERT INTO {t} SELECT 'd', 'lost' || n FROM generate_series(1, 100) n$$);
SELECT on_both($$UPDATE {t} SET item = '{"lost": true}' WHERE pk = 'd'$$);
ROLLBACK TO one;
SELECT on_both($$INSERT INTO {t} SELECT 'd', 'kept' || n FROM generate_series(1, 100) n$$);
COMMIT;
BEGIN;
SELECT on_both($$DELETE FROM {t}$$);
SELECT on_both($$INSERT INTO {t} VALUES ('lost', 'lost')$$);
ROLLBACK;
SELECT count(*) AS kept, count(*) FILTER (WHERE sk LIKE 'kept%') AS kept_after FROM placed WHERE pk = 'd';
SELECT * FROM differences();

-- Locks, cursors and rows by their address.
BEGIN;
SELECT sk FROM placed WHERE pk = 'd' AND sk IN ('1', '2') ORDER BY sk FOR UPDATE;
DECLARE c SCROLL CURSOR FOR SELECT sk FROM placed WHERE pk = 'd' AND sk < '12' ORDER BY sk;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
UPDATE placed SET item = '{"seen": 1}' WHERE CURRENT OF c;
COMMIT;
UPDATE plain SET item = '{"seen": 1}' WHERE pk = 'd' AND sk = '1';
SELECT count(*) FROM placed a JOIN placed b ON a.ctid = b.ctid;

-- Indexes: plain, concurrent, unique, on an expression, partial, in parallel; each one used and checked.
CREATE INDEX by_sk ON placed (sk);
CREATE INDEX CONCURRENTLY by_n ON placed ((item -> 'n')) WHERE item ? 'n';
CREATE UNIQUE INDEX CONCURRENTLY by_both ON placed (sk, pk);
\set VERBOSITY terse
CREATE UNIQUE INDEX wrong ON placed ((item -> 'n'));
\set VERBOSITY default
ALTER TABLE placed SET (parallel_workers = 2);
SET min_parallel_table_scan_size = 0;
SET max_parallel_maintenance_workers = 2;
CREATE INDEX by_parallel ON placed (sk DESC);
CREATE INDEX by_hash ON placed USING hash (sk);
CREATE INDEX by_gin ON placed USING gin (item);
CREATE INDEX by_brin ON placed USING brin (pk);
REINDEX TABLE placed;
REINDEX TABLE CONCURRENTLY placed;
SELECT count(*) AS valid FROM pg_index WHERE indrelid = 'placed'::regclass AND indisvalid;
SET enable_seqscan = off;
SELECT count(*) FROM placed WHERE sk = '0042';
SELECT count(*) FROM placed WHERE item @> '{"round": 2}';
RESET enable_seqscan;
DROP INDEX by_sk, by_n, by_both, by_parallel, by_hash, by_gin, by_brin;

-- An index expression that fails leaves the table usable.
CREATE FUNCTION fails(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no index of %', $1; END $$;
\set VERBOSITY terse
CREATE INDEX failing ON placed (fails(sk)) WHERE pk = 'd' AND sk = '1';
\set VERBOSITY default
SELECT count(*) FROM placed WHERE pk = 'd' AND sk = '1';
INSERT INTO placed VALUES ('d', 'after');
DELETE FROM placed WHERE pk = 'd' AND sk = 'after';

-- An index expression that has the table's relcache entry rebuilt in the middle of the scan.
CREATE FUNCTION regrant() RETURNS void LANGUAGE plpgsql AS $$ BEGIN GRANT SELECT ON am_basic.placed TO PUBLIC; REVOKE SELECT ON am_basic.placed FROM PUBLIC; END $$;
CREATE FUNCTION disturbs(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM am_basic.regrant(); RETURN $1; END $$;
CREATE INDEX disturbed ON placed (sk) WHERE CASE WHEN pk = 'd' AND sk LIKE '1%' THEN disturbs(sk) <> '' END;
CREATE INDEX CONCURRENTLY disturbed_too ON placed (sk) WHERE CASE WHEN pk = 'd' AND sk LIKE '1%' THEN disturbs(sk) <> '' END;
SELECT relname, reltuples FROM pg_class WHERE relname LIKE 'disturbed%' AND relkind = 'i' ORDER BY relname;
DROP INDEX disturbed, disturbed_too;

-- Maintenance.
VACUUM (ANALYZE) placed;
SELECT reltuples > 0 AS analyzed FROM pg_class WHERE oid = 'placed'::regclass;
SELECT count(*) > 0 AS sampled FROM placed TABLESAMPLE SYSTEM (50) REPEATABLE (1);
SELECT count(*) > 0 AS sampled FROM placed TABLESAMPLE BERNOULLI (50) REPEATABLE (1);
VACUUM FREEZE placed;
CLUSTER placed USING placed_pkey;
SELECT * FROM differences();
VACUUM FULL placed;
SELECT * FROM differences();
ALTER TABLE placed ALTER COLUMN sk TYPE varchar COLLATE "C";
ALTER TABLE placed ALTER COLUMN sk TYPE text COLLATE "C";
ALTER TABLE placed ADD COLUMN extra int DEFAULT 7, ADD COLUMN volatile float8 DEFAULT random();
ALTER TABLE placed DROP COLUMN extra, DROP COLUMN volatile;
SELECT * FROM differences();
ALTER TABLE placed SET ACCESS METHOD heap;
ALTER TABLE placed SET ACCESS METHOD key_value;
ALTER TABLE placed SET UNLOGGED;
ALTER TABLE placed SET LOGGED;
SELECT on_both($$INSERT INTO {t} SELECT 'e' || n % 3, n::text FROM generate_series(1, 300) n$$);
SELECT * FROM differences();
SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = 'placed'::regclass;

-- The primary key goes and comes.
ALTER TABLE placed DROP CONSTRAINT placed_pkey;
SELECT on_both($$INSERT INTO {t} SELECT 'f', n::text FROM generate_series(1, 100) n$$);
ALTER TABLE placed ADD PRIMARY KEY (pk, sk) DEFERRABLE;
SELECT on_both($$INSERT INTO {t} SELECT 'g', n::text FROM generate_series(1, 100) n$$);
ALTER TABLE placed DROP CONSTRAINT placed_pkey;
ALTER TABLE placed ADD PRIMARY KEY (pk, sk);
SELECT on_both($$INSERT INTO {t} SELECT 'h', n::text FROM generate_series(1, 100) n$$);
SELECT * FROM differences();

-- COPY, both ways and into a table that is still empty, truncated in the same transaction, frozen.
CREATE TABLE copied (LIKE placed INCLUDING ALL) USING key_value;
\copy copied FROM stdin
a	3	{"n": 3}
b	1	{"n": 1}
a	1	{"n": 1}
a	2	{"n": 2}
b	0	{"n": 0}
\.
COPY (SELECT * FROM copied ORDER BY pk, sk) TO STDOUT;
\copy copied FROM stdin
a	4	{"n": 4}
a	1	{"n": 9}
\.
\copy copied (pk, item) FROM stdin
a	{"n": 4}
\.
BEGIN;
TRUNCATE copied;
COPY copied FROM STDIN (FREEZE);
x	2	{}
x	1	{}
y	2	{}
\.
SELECT count(*) FROM copied;
COMMIT;
SELECT count(*) FROM copied;
DROP TABLE copied;

-- Unlogged, temporary, by CREATE TABLE AS, a materialized view, a partition, without a sort key, with a wider key, with other types.
CREATE UNLOGGED TABLE unlogged (LIKE placed INCLUDING ALL) USING key_value;
INSERT INTO unlogged TABLE placed;
SELECT count(*) = (SELECT count(*) FROM placed) AS all_there FROM unlogged;
DROP TABLE unlogged;
CREATE TEMP TABLE temporary (LIKE placed INCLUDING ALL) USING key_value ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO temporary TABLE placed;
UPDATE temporary SET item = item || '{"more": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}';
SELECT count(*) = (SELECT count(*) FROM placed) AS all_there FROM temporary;
COMMIT;
SELECT count(*) FROM temporary;
CREATE TABLE made USING key_value AS TABLE placed;
SELECT count(*) = (SELECT count(*) FROM placed) AS all_there FROM made;
DROP TABLE made;
CREATE MATERIALIZED VIEW seen USING key_value AS TABLE placed;
CREATE UNIQUE INDEX ON seen (pk, sk);
REFRESH MATERIALIZED VIEW CONCURRENTLY seen;
SELECT count(*) = (SELECT count(*) FROM placed) AS all_there FROM seen;
DROP MATERIALIZED VIEW seen;
CREATE TABLE parted (pk text COLLATE "C", sk text COLLATE "C", item jsonb, PRIMARY KEY (pk, sk)) PARTITION BY HASH (pk);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0) USING key_value;
CREATE TABLE parted_1 (item jsonb, sk text COLLATE "C" NOT NULL, dropped int, pk text COLLATE "C" NOT NULL) USING key_value;
ALTER TABLE parted_1 DROP COLUMN dropped;
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT 'a' || n % 9, n::text, '{}' FROM generate_series(1, 900) n;
UPDATE parted SET pk = 'b' || sk WHERE pk = 'a1';
SELECT count(*), count(DISTINCT tableoid) AS parts FROM parted;
DROP TABLE parted;
CREATE TABLE single (pk text COLLATE "C" PRIMARY KEY, item jsonb) USING key_value;
INSERT INTO single SELECT n::text, '{}' FROM generate_series(1, 100) n;
UPDATE single SET item = jsonb_build_object('more', repeat('x', 500));
SELECT count(*) FROM single;
DROP TABLE single;
CREATE TABLE numbers (pk numeric, sk numeric, item jsonb, more int, PRIMARY KEY (pk, sk) INCLUDE (more)) USING key_value;
INSERT INTO numbers SELECT n % 10 + 0.0, n, jsonb_build_object('n', repeat('x', 100)) FROM generate_series(1, 2000) n;
COPY numbers FROM STDIN;
1	-1	{}	\N
1	1e100	{}	\N
3	NaN	{}	\N
\.
SELECT count(*) FROM numbers WHERE pk = 1;
DROP TABLE numbers;
CREATE TABLE wide (pk bytea, sk int, third text COLLATE "POSIX", item text, PRIMARY KEY (pk, sk, third)) USING key_value;
INSERT INTO wide SELECT decode(md5((n % 9)::text), 'hex'), n, 'x', repeat('y', 100) FROM generate_series(1, 900) n;
INSERT INTO wide SELECT pk, sk, 'y', item FROM wide;
SELECT count(*) FROM wide;
DROP TABLE wide;
-- Long keys, which are compressed in the row.
CREATE TABLE long (LIKE placed INCLUDING ALL) USING key_value;
INSERT INTO long SELECT repeat('p' || n % 5, 1000), repeat('s' || n, 200), jsonb_build_object('n', repeat('x', n * 10)) FROM generate_series(1, 200) n;
INSERT INTO long SELECT pk, sk || 'more', item FROM long;
UPDATE long SET item = item || '{"more": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}';
SELECT count(*), count(DISTINCT pk) FROM long;

RESET search_path;
SET client_min_messages = error;
DROP SCHEMA am_basic CASCADE;
