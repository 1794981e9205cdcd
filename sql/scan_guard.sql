-- What is not a key query is refused when it is planned, with what is missing and what would work.
SET client_min_messages = warning;
SELECT kv.create_table('scan_guard', 'pk', 'sk', partitions => 4);
INSERT INTO scan_guard SELECT 't' || i % 5, 'm' || i, '{}' FROM generate_series(1, 50) i;
CREATE TABLE scan_guard_single (pk text COLLATE "C", sk numeric, item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk, sk)) USING key_value;
CREATE TABLE scan_guard_o (id int, thread text);
INSERT INTO scan_guard_o VALUES (1, 't1'), (2, NULL);

-- each reason in words
SELECT * FROM scan_guard;
SELECT * FROM scan_guard_single;
SELECT * FROM scan_guard WHERE sk = 'm1';
SELECT * FROM scan_guard WHERE item @> '{}';
SELECT * FROM scan_guard WHERE pk > 't1';
SELECT * FROM scan_guard WHERE pk <> 't1';
SELECT * FROM scan_guard WHERE pk LIKE 't%';
SELECT * FROM scan_guard WHERE pk <> ALL ('{t1}');
SELECT * FROM scan_guard WHERE pk > ANY ('{t1}');
SELECT * FROM scan_guard WHERE (pk, sk) > ('t1', 'm1');
SELECT * FROM scan_guard WHERE pk = 't1' OR sk = 'm1';
-- (from 17 on there is no condition left)
DO $$
DECLARE
	detail text;
BEGIN
	PERFORM FROM scan_guard WHERE pk IS NOT NULL;
EXCEPTION WHEN SQLSTATE 'KV010' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RAISE WARNING '%: %', SQLERRM, detail = CASE WHEN current_setting('server_version_num')::int < 170000
		THEN 'The partition key pk is only tested for NULL.' ELSE 'No condition fixes the partition key pk.' END;
END $$;
SELECT * FROM scan_guard WHERE lower(pk) = 't1';
SELECT * FROM scan_guard WHERE pk || '' = 't1';
SELECT * FROM scan_guard WHERE pk IN ('t1', sk);
SELECT * FROM scan_guard WHERE pk = sk;
SELECT * FROM scan_guard WHERE pk = random()::text;
SELECT * FROM scan_guard WHERE pk = 't1' COLLATE "POSIX";
SELECT * FROM scan_guard WHERE pk::bytea = 't1';
SELECT * FROM scan_guard_single WHERE pk = 'a' OR sk = 1;
SELECT * FROM scan_guard TABLESAMPLE system (10);
SELECT * FROM scan_guard_p0 TABLESAMPLE bernoulli (10) WHERE pk = 't4';

-- names that need quotes
SELECT kv.create_table('"Scan guard"', 'Key, first', 'sk', partitions => 2);
SELECT * FROM "Scan guard" WHERE sk = 'x';
DROP TABLE "Scan guard";

-- a table that has not the shape
CREATE TABLE scan_guard_shape (pk text, item jsonb, PRIMARY KEY (pk)) USING key_value;
INSERT INTO scan_guard_shape VALUES ('a', '{}');
SELECT * FROM scan_guard_shape WHERE pk = 'a';
CREATE TABLE scan_guard_bare (a int) USING key_value;
SELECT * FROM scan_guard_bare;
DROP TABLE scan_guard_shape, scan_guard_bare;

-- from here on only whether, not why
\set VERBOSITY sqlstate

-- forms of SELECT
TABLE scan_guard;
SELECT count(*) FROM scan_guard;
SELECT 1 FROM scan_guard LIMIT 1;
SELECT * FROM scan_guard LIMIT 0;
SELECT pk FROM scan_guard ORDER BY pk LIMIT 1;
SELECT max(pk) FROM scan_guard;
SELECT DISTINCT pk FROM scan_guard;
SELECT pk, count(*) FROM scan_guard GROUP BY pk;
SELECT * FROM scan_guard_p0;
SELECT * FROM ONLY scan_guard_p0;
SELECT * FROM scan_guard_p0 WHERE sk = 'm1';
SELECT * FROM ONLY scan_guard_single WHERE sk = 1;
SELECT * FROM scan_guard WHERE tableoid = 'scan_guard_p0'::regclass;
SELECT * FROM scan_guard WHERE ctid = '(0,1)';
SELECT * FROM scan_guard_single WHERE ctid = '(0,1)';
SELECT * FROM scan_guard_single WHERE ctid > '(0,0)';
SELECT * FROM scan_guard FOR UPDATE;
EXPLAIN SELECT * FROM scan_guard;
EXPLAIN ANALYZE SELECT count(*) FROM scan_guard;

-- inside something else
SELECT * FROM (SELECT * FROM scan_guard) s;
SELECT * FROM (SELECT * FROM scan_guard OFFSET 0) s WHERE pk = 't1';
WITH w AS (SELECT * FROM scan_guard) SELECT * FROM w;
WITH w AS MATERIALIZED (SELECT * FROM scan_guard) SELECT * FROM w WHERE pk = 't1';
WITH RECURSIVE w AS (SELECT pk FROM scan_guard WHERE pk = 't1' UNION SELECT s.pk FROM w, scan_guard s WHERE s.sk > w.pk) SELECT * FROM w;
SELECT (SELECT count(*) FROM scan_guard);
SELECT EXISTS (SELECT FROM scan_guard);
SELECT 1 WHERE EXISTS (SELECT FROM scan_guard);
SELECT ARRAY(SELECT pk FROM scan_guard);
SELECT * FROM scan_guard_o WHERE thread NOT IN (SELECT pk FROM scan_guard);
SELECT * FROM scan_guard WHERE pk = 't1' UNION ALL SELECT * FROM scan_guard;
SELECT pk FROM scan_guard WHERE pk = 't1' EXCEPT SELECT pk FROM scan_guard_p0;
SELECT * FROM scan_guard_o o, LATERAL (SELECT * FROM scan_guard s WHERE s.sk = o.thread) l;
VALUES ((SELECT count(*) FROM scan_guard));
SELECT CASE WHEN id > 0 THEN (SELECT count(*) FROM scan_guard) END FROM scan_guard_o;

-- views and functions
CREATE VIEW scan_guard_view AS SELECT * FROM scan_guard;
SELECT * FROM scan_guard_view;
SELECT count(*) FROM scan_guard_view WHERE pk = 't1';
CREATE FUNCTION scan_guard_rows() RETURNS SETOF scan_guard LANGUAGE sql STABLE AS 'SELECT * FROM scan_guard';
SELECT * FROM scan_guard_rows();
SELECT count(*) FROM scan_guard_rows() WHERE pk = 't1';
CREATE FUNCTION scan_guard_count() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM scan_guard';
SELECT scan_guard_count();
CREATE FUNCTION scan_guard_count_pl() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM scan_guard); END $$;
SELECT scan_guard_count_pl();
CREATE FUNCTION scan_guard_loop() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE r record; n bigint := 0; BEGIN FOR r IN SELECT * FROM scan_guard LOOP n := n + 1; END LOOP; RETURN n; END $$;
SELECT scan_guard_loop();
CREATE FUNCTION scan_guard_dynamic(query text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN EXECUTE query INTO n; RETURN n; END $$;
SELECT scan_guard_dynamic('SELECT count(*) FROM scan_guard');
SELECT scan_guard_dynamic('SELECT fk.n FROM (SELECT count(*) AS n FROM scan_guard) fk');
SELECT scan_guard_dynamic('SELECT 1 FROM ONLY scan_guard_p0 x');
SELECT query_to_xml('SELECT * FROM scan_guard', true, false, '');

-- cursors, and statements that keep what they read
BEGIN; DECLARE c CURSOR FOR SELECT * FROM scan_guard; ROLLBACK;
CREATE TABLE scan_guard_copy AS SELECT * FROM scan_guard;
SELECT * INTO scan_guard_copy FROM scan_guard;
INSERT INTO scan_guard_o SELECT 1, pk FROM scan_guard;
CREATE MATERIALIZED VIEW scan_guard_mv AS SELECT * FROM scan_guard;
COPY (SELECT * FROM scan_guard) TO STDOUT;
COPY (SELECT * FROM scan_guard_p0) TO STDOUT;

-- writes
UPDATE scan_guard SET item = '{}';
UPDATE scan_guard SET item = '{}' WHERE sk = 'm1';
UPDATE scan_guard SET item = '{}' FROM scan_guard_o o WHERE sk = o.thread;
UPDATE scan_guard_p0 SET item = '{}';
UPDATE ONLY scan_guard_p0 SET item = '{}';
UPDATE scan_guard_o SET id = 1 FROM scan_guard s WHERE s.sk = thread;
UPDATE scan_guard_o SET id = (SELECT count(*) FROM scan_guard);
DELETE FROM scan_guard;
DELETE FROM scan_guard WHERE item->>'a' = 'b';
DELETE FROM scan_guard USING scan_guard_o o WHERE sk = o.thread;
DELETE FROM scan_guard_single;
DELETE FROM scan_guard_o WHERE EXISTS (SELECT FROM scan_guard s WHERE s.sk = thread);
MERGE INTO scan_guard s USING scan_guard_o o ON s.sk = o.thread WHEN MATCHED THEN DELETE;
MERGE INTO scan_guard_o o USING scan_guard s ON s.sk = o.thread WHEN MATCHED THEN DELETE;
WITH d AS (DELETE FROM scan_guard RETURNING pk) SELECT * FROM d;
INSERT INTO scan_guard_o VALUES (3, 'x') RETURNING (SELECT count(*) FROM scan_guard);

-- prepared: a NULL parameter is a key that nothing is equal to
PREPARE by_key(text) AS SELECT count(*) FROM scan_guard WHERE pk = $1;
EXECUTE by_key(NULL);
EXECUTE by_key('t1');
PREPARE everything AS SELECT count(*) FROM scan_guard;
EXECUTE everything;
EXPLAIN EXECUTE everything;
PREPARE by_sort_key(text) AS SELECT count(*) FROM scan_guard WHERE sk = $1;
EXECUTE by_sort_key('m1');
SET plan_cache_mode = force_generic_plan;
EXECUTE by_sort_key('m1');
EXPLAIN EXECUTE by_sort_key('m1');
RESET plan_cache_mode;

-- one that is a key query for some values only, also after core has tried a generic plan
PREPARE by_choice(text) AS SELECT count(*) FROM scan_guard WHERE $1 IS NULL OR pk = $1;
EXECUTE by_choice('t1');
EXECUTE by_choice('t1');
EXECUTE by_choice('t1');
EXECUTE by_choice('t1');
EXECUTE by_choice('t1');
EXECUTE by_choice('t1');
EXECUTE by_choice('t1');
EXECUTE by_choice(NULL);
SET plan_cache_mode = force_generic_plan;
EXECUTE by_choice('t1');
RESET plan_cache_mode;
DEALLOCATE ALL;

-- what is proved to read nothing passes
SELECT * FROM scan_guard WHERE false;
SELECT * FROM scan_guard WHERE pk = 't1' AND pk = 't2';
SELECT count(*) FROM scan_guard WHERE sk = 'm1' AND NULL;
DELETE FROM scan_guard WHERE false;

-- the first query of a session, which the library may not have seen coming
\c -
SELECT count(*) FROM scan_guard;
\c -
EXPLAIN SELECT count(*) FROM scan_guard;
\c -
SELECT count(*) FROM scan_guard WHERE pk = 't1';
\c -
UPDATE scan_guard SET item = '{}';
\c -
SELECT * FROM scan_guard_rows();
\c -
SELECT scan_guard_dynamic('SELECT count(*) FROM scan_guard_p0');
\c -
COPY (SELECT * FROM scan_guard) TO STDOUT;
\c -
PREPARE by_key(text) AS SELECT count(*) FROM scan_guard WHERE pk = $1;
EXECUTE by_key('t1');
DEALLOCATE by_key;
SET client_min_messages = warning;

-- a table without partitions yet
CREATE TABLE scan_guard_empty (pk text COLLATE "C", item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk)) PARTITION BY HASH (pk kv.xxh3_text_ops);
SELECT * FROM scan_guard_empty WHERE pk IN ('a', 'b') ORDER BY pk;
EXPLAIN (COSTS OFF) SELECT * FROM scan_guard_empty WHERE pk = 'a';
SELECT * FROM scan_guard_empty;
DROP TABLE scan_guard_empty;

-- commands that read whole tables, none of which is a query
\set VERBOSITY default
VACUUM ANALYZE scan_guard;
VACUUM FULL scan_guard_p0;
CREATE INDEX scan_guard_sk ON scan_guard (sk);
CREATE INDEX scan_guard_item ON scan_guard_single ((item->>'a'));
REINDEX TABLE scan_guard;
CLUSTER scan_guard_p0 USING scan_guard_p0_pkey;
ALTER TABLE scan_guard ADD CHECK (length(sk) < 100);
ALTER TABLE scan_guard ADD COLUMN tag text COLLATE "C" GENERATED ALWAYS AS (pk) STORED;
ALTER TABLE scan_guard ALTER COLUMN item SET DEFAULT '{}';
COPY scan_guard_p0 TO '/dev/null';
COPY scan_guard_single TO '/dev/null';
DELETE FROM scan_guard WHERE pk IN ('t0', 't2', 't3', 't4');
DELETE FROM scan_guard WHERE pk = 't1' AND sk <> 'm11';
COPY scan_guard TO STDOUT;
COPY scan_guard (sk) TO STDOUT WITH (FORMAT csv, HEADER);

-- foreign keys, from and to it: checks of the whole table, of one row, and actions
CREATE TABLE scan_guard_ref (id text COLLATE "C" PRIMARY KEY);
ALTER TABLE scan_guard ADD CONSTRAINT scan_guard_tag_fkey FOREIGN KEY (tag) REFERENCES scan_guard_ref ON DELETE CASCADE;
INSERT INTO scan_guard_ref SELECT 't' || g FROM generate_series(0, 5) g;
ALTER TABLE scan_guard ADD CONSTRAINT scan_guard_tag_fkey FOREIGN KEY (tag) REFERENCES scan_guard_ref ON DELETE CASCADE;
ALTER TABLE scan_guard ADD CONSTRAINT scan_guard_pk_fkey FOREIGN KEY (pk) REFERENCES scan_guard_ref ON DELETE CASCADE;
INSERT INTO scan_guard (pk, sk) VALUES ('t9', 'm1');
INSERT INTO scan_guard (pk, sk) VALUES ('t5', 'm1'), ('t5', 'm2');
DELETE FROM scan_guard_ref WHERE id = 't5';
SELECT count(*) FROM scan_guard WHERE pk = 't5';
CREATE TABLE scan_guard_child (a text COLLATE "C", b text COLLATE "C");
INSERT INTO scan_guard_child VALUES ('t1', 'nothing');
ALTER TABLE scan_guard_child ADD FOREIGN KEY (a, b) REFERENCES scan_guard ON DELETE SET NULL;
UPDATE scan_guard_child SET b = 'm11';
ALTER TABLE scan_guard_child ADD FOREIGN KEY (a, b) REFERENCES scan_guard ON DELETE SET NULL;
DELETE FROM scan_guard WHERE pk = 't1' AND sk = 'm11';
SELECT * FROM scan_guard_child;

-- a trigger that runs inside a foreign key's action is guarded
CREATE FUNCTION scan_guard_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM count(*) FROM scan_guard_single; RETURN OLD; END $$;
CREATE TRIGGER scan_guard_trigger BEFORE DELETE ON scan_guard FOR EACH ROW EXECUTE FUNCTION scan_guard_trigger();
INSERT INTO scan_guard_ref VALUES ('t6');
INSERT INTO scan_guard (pk, sk) VALUES ('t6', 'm1');
DELETE FROM scan_guard_ref WHERE id = 't6';
-- so is a function that runs inside ALTER TABLE, and one that COPY calls
CREATE FUNCTION scan_guard_any(text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM scan_guard_single) >= 0; END $$;
-- (its context has another word from 18 on)
\set SHOW_CONTEXT never
ALTER TABLE scan_guard_ref ADD CHECK (scan_guard_any(id));
\set SHOW_CONTEXT errors

DROP TABLE scan_guard_child, scan_guard_single, scan_guard_o, scan_guard CASCADE;
DROP TABLE scan_guard_ref;
DROP FUNCTION scan_guard_count, scan_guard_count_pl, scan_guard_loop, scan_guard_dynamic, scan_guard_trigger, scan_guard_any;
