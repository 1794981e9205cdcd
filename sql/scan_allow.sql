-- key_value.allow_scan: what it lets through, how that shows, and plans that were made while it was on.
\i sql/plan.inc
SET client_min_messages = warning;
SELECT kv.create_table('scan_allow', 'pk', 'sk', partitions => 4);
INSERT INTO scan_allow SELECT 't' || i % 5, 'm' || lpad(i::text, 2, '0'), jsonb_build_object('n', i) FROM generate_series(1, 20) i;
CREATE TABLE scan_allow_o (thread text);
INSERT INTO scan_allow_o VALUES ('t1'), ('x');
ANALYZE scan_allow_o;
SHOW key_value.allow_scan;
SET key_value.allow_scan = on;

-- scans, of the table, of a partition, of what has not the shape
SELECT count(*) FROM scan_allow;
SELECT pk, sk FROM scan_allow WHERE (item->>'n')::int % 7 = 0 ORDER BY sk;
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_allow WHERE (item->>'n')::int % 7 = 0 ORDER BY sk;
SELECT count(*) > 0 AS some FROM scan_allow_p2;
EXPLAIN (COSTS OFF) SELECT * FROM scan_allow_p2;
CREATE TABLE scan_allow_shape (a int, b text) USING key_value;
INSERT INTO scan_allow_shape VALUES (1, 'x'), (2, 'y');
SELECT * FROM scan_allow_shape ORDER BY a;
EXPLAIN (COSTS OFF) SELECT * FROM scan_allow_shape WHERE a = 1;
SELECT pg_temp.run_plan($$SELECT * FROM scan_allow_shape WHERE a = 1$$);

-- the leaf's own columns and rows, and a partition of another layout
SELECT DISTINCT tableoid::regclass FROM scan_allow ORDER BY 1;
CREATE TABLE scan_allow_other (item jsonb NOT NULL DEFAULT '{}', sk text COLLATE "C" NOT NULL, pk text COLLATE "C" NOT NULL,
	CONSTRAINT scan_allow_item_check CHECK (kv.check_item(tableoid, item, pk, sk)));
CREATE TABLE scan_allow_gone AS SELECT * FROM scan_allow_p2;
ALTER TABLE scan_allow DETACH PARTITION scan_allow_p2;
SELECT count(*) = 20 - (SELECT count(*) FROM scan_allow_gone) AS fewer FROM scan_allow;
ALTER TABLE scan_allow ATTACH PARTITION scan_allow_other FOR VALUES WITH (MODULUS 4, REMAINDER 2);
INSERT INTO scan_allow SELECT * FROM scan_allow_gone;
SELECT count(*), count(xmin), count(DISTINCT s) FROM scan_allow s;

-- key queries stay key queries
EXPLAIN (COSTS OFF) SELECT * FROM scan_allow WHERE pk = 't1';
EXPLAIN (COSTS OFF) SELECT * FROM scan_allow_o o JOIN scan_allow s ON s.pk = o.thread;
SELECT count(*) FROM scan_allow WHERE pk = ANY (ARRAY(SELECT 't' || g FROM generate_series(1, 500) g));

-- joins, aggregates, writes, locks, samples, cursors
SELECT count(*) FROM scan_allow a JOIN scan_allow b USING (pk, sk);
SELECT s.pk, count(*), o.thread FROM scan_allow s LEFT JOIN scan_allow_o o ON o.thread = s.pk GROUP BY 1, 3 ORDER BY 1;
UPDATE scan_allow SET item = item || '{"seen": 1}' WHERE sk > 'm18' RETURNING sk, item;
EXPLAIN (COSTS OFF) DELETE FROM scan_allow WHERE sk > 'm18';
DELETE FROM scan_allow WHERE sk = 'm20' RETURNING sk;
SELECT sk FROM scan_allow WHERE sk > 'm17' ORDER BY sk FOR UPDATE;
SELECT count(*) FROM scan_allow TABLESAMPLE bernoulli (100);
CREATE TABLE scan_allow_copy AS SELECT * FROM scan_allow;
SELECT count(*) FROM scan_allow_copy;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM scan_allow;
MOVE FORWARD ALL FROM c;
MOVE BACKWARD ALL FROM c;
MOVE 5 FROM c;
MOVE BACKWARD 3 FROM c;
COMMIT;

-- plans that were made while it was on
PREPARE everything AS SELECT count(*) FROM scan_allow;
PREPARE sampled AS SELECT count(*) FROM scan_allow TABLESAMPLE bernoulli (100);
PREPARE joined AS SELECT count(*) FROM scan_allow s, scan_allow_o o WHERE s.pk = o.thread;
PREPARE by_key(text) AS SELECT count(*) FROM scan_allow WHERE pk = $1;
EXECUTE everything;
EXECUTE sampled;
EXECUTE joined;
EXECUTE by_key('t1');
CREATE FUNCTION scan_allow_count() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM scan_allow); END $$;
SELECT scan_allow_count();
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM scan_allow;
MOVE 5 FROM c;
SET key_value.allow_scan = off;
-- what has started goes on
MOVE 5 FROM c;
COMMIT;
EXECUTE everything;
EXPLAIN EXECUTE everything;
EXECUTE sampled;
EXECUTE joined;
EXECUTE by_key('t1');
-- (its context has another word from 18 on)
\set SHOW_CONTEXT never
SELECT scan_allow_count();
\set SHOW_CONTEXT errors

-- lists whose product no memory holds
SET key_value.allow_scan = on;
SELECT count(*) FROM scan_allow WHERE pk = ANY (array(SELECT i::text FROM generate_series(1, 65537) i)) AND sk = ANY (array(SELECT i::text FROM generate_series(1, 65537) i));
SET key_value.allow_scan = off;

-- for one transaction, for one function
BEGIN;
SET LOCAL key_value.allow_scan = on;
EXECUTE everything;
SELECT scan_allow_count();
COMMIT;
EXECUTE everything;
CREATE FUNCTION scan_allow_may() RETURNS bigint LANGUAGE plpgsql SET key_value.allow_scan = on AS $$ BEGIN RETURN (SELECT count(*) FROM scan_allow); END $$;
SELECT scan_allow_may();
SELECT scan_allow_may();
SELECT count(*) FROM scan_allow;
DEALLOCATE ALL;

-- a plan of another making that gets to run: the node asks again when it starts
CREATE TABLE scan_allow_late (value text);
CREATE RULE scan_allow_late AS ON INSERT TO scan_allow_late DO ALSO SELECT count(*) FROM scan_allow;
SET key_value.allow_scan = on;
INSERT INTO scan_allow_late VALUES ('here it runs');
INSERT INTO scan_allow_late VALUES (set_config('key_value.allow_scan', 'off', false));
SHOW key_value.allow_scan;

DROP TABLE scan_allow, scan_allow_p2, scan_allow_gone, scan_allow_copy, scan_allow_o, scan_allow_shape, scan_allow_late;
DROP FUNCTION scan_allow_count, scan_allow_may;
