-- UPDATE, DELETE, MERGE and row locks by key.
\i sql/plan.inc
SET client_min_messages = warning;
SELECT kv.create_table('scan_dml', 'pk', 'sk', partitions => 4);
INSERT INTO scan_dml SELECT 't' || i % 4, 'm' || lpad((i / 4)::text, 2, '0'), jsonb_build_object('n', i) FROM generate_series(0, 31) i;
CREATE TABLE scan_dml_o (thread text, sub text, n int);
INSERT INTO scan_dml_o VALUES ('t0', 'm01', 100), ('t3', 'm99', 200), (NULL, 'm01', 300), ('t1', 'm00', 400);
ANALYZE scan_dml_o;

-- UPDATE
UPDATE scan_dml SET item = item || '{"seen": true}' WHERE pk = 't1' AND sk = 'm02' RETURNING *;
UPDATE scan_dml SET item = '{"all": 1}' WHERE pk = 't2' AND sk >= 'm06' RETURNING tableoid::regclass, pk, sk, item;
UPDATE scan_dml SET item = '{}' WHERE pk = 'nobody';
UPDATE scan_dml SET item = '{"list": 1}' WHERE pk IN ('t0', 't3') AND sk IN ('m00', 'm07') AND (item->>'n')::int < 10 RETURNING pk, sk;
UPDATE scan_dml SET item = '{"pair": 1}' WHERE (pk, sk) IN (('t0', 'm02'), ('t3', 'm02'), ('t3', 'm98')) RETURNING pk, sk;
EXPLAIN (COSTS OFF) UPDATE scan_dml SET item = '{}' WHERE pk = 't1' AND sk = 'm02';
EXPLAIN (COSTS OFF) UPDATE scan_dml SET item = '{}' WHERE pk IN ('t0', 't3') AND sk IN ('m00', 'm07');

-- a change of the key moves the row, to another partition if need be
UPDATE scan_dml SET pk = 'moved', sk = 'here' WHERE pk = 't1' AND sk = 'm03' RETURNING pk, sk;
SELECT * FROM scan_dml WHERE pk = 'moved';
SELECT count(*) FROM scan_dml WHERE pk = 't1';

-- UPDATE .. FROM, DELETE .. USING: the other table gives the key, or takes it
UPDATE scan_dml s SET item = jsonb_build_object('from', o.n) FROM scan_dml_o o WHERE s.pk = o.thread AND s.sk = o.sub RETURNING s.pk, s.sk, s.item;
EXPLAIN (COSTS OFF) UPDATE scan_dml_p3 s SET item = jsonb_build_object('from', o.n) FROM scan_dml_o o WHERE s.pk = o.thread AND s.sk = o.sub;
UPDATE scan_dml_o o SET n = (s.item->>'from')::int + 1 FROM scan_dml s WHERE s.pk = o.thread AND s.sk = o.sub RETURNING o.*;
UPDATE scan_dml_o o SET n = (SELECT count(*) FROM scan_dml s WHERE s.pk = o.thread) RETURNING o.*;
EXPLAIN (COSTS OFF) UPDATE scan_dml_o o SET n = (SELECT count(*) FROM scan_dml s WHERE s.pk = o.thread);
DELETE FROM scan_dml s USING scan_dml_o o WHERE s.pk = o.thread AND s.sk = o.sub RETURNING s.pk, s.sk;
DELETE FROM scan_dml_o o WHERE NOT EXISTS (SELECT FROM scan_dml s WHERE s.pk = o.thread) RETURNING o.*;

-- DELETE
DELETE FROM scan_dml WHERE pk = 't2' AND sk BETWEEN 'm00' AND 'm01' RETURNING *;
DELETE FROM scan_dml_p2 WHERE pk = 't2' AND sk = 'm02' RETURNING *;
DELETE FROM ONLY scan_dml WHERE pk = 't2';
WITH d AS (DELETE FROM scan_dml WHERE pk = 't2' AND sk = 'm03' RETURNING *) INSERT INTO scan_dml SELECT 'copied', sk, item FROM d RETURNING *;
EXPLAIN (COSTS OFF) DELETE FROM scan_dml WHERE pk = 't2' AND sk LIKE 'm0%';

-- generic plans of writes
SET plan_cache_mode = force_generic_plan;
PREPARE change(text, text, jsonb) AS UPDATE scan_dml SET item = $3 WHERE pk = $1 AND sk = $2 RETURNING *;
EXECUTE change('t0', 'm04', '{"generic": 1}');
EXECUTE change('t3', 'm04', '{"generic": 2}');
EXECUTE change(NULL, 'm04', '{"generic": 3}');
-- (from 18 on only the partitions that are left are named as changed)
SELECT regexp_replace(plan, 'scan_dml_\d', 'scan_dml', 'g') AS plan FROM pg_temp.plan($$EXECUTE change('t0', 'm04', '{}')$$) WHERE plan !~ '^ +Update on';
DEALLOCATE ALL;
RESET plan_cache_mode;

-- INSERT: ON CONFLICT, and SELECT by key as a source
INSERT INTO scan_dml VALUES ('t0', 'm04', '{"new": 1}') ON CONFLICT (pk, sk) DO UPDATE SET item = scan_dml.item || excluded.item RETURNING *;
INSERT INTO scan_dml SELECT 'copied', sk, item FROM scan_dml WHERE pk = 't0' AND sk < 'm01' RETURNING pk, sk;
CREATE TABLE scan_dml_copy AS SELECT * FROM scan_dml WHERE pk = 'copied';
SELECT * FROM scan_dml_copy ORDER BY sk;
COPY (SELECT pk, sk FROM scan_dml WHERE pk = 'copied') TO STDOUT;
CREATE MATERIALIZED VIEW scan_dml_mv AS SELECT pk, count(*) AS n FROM scan_dml WHERE pk IN ('copied', 't0') GROUP BY pk;
DELETE FROM scan_dml WHERE pk = 'copied' AND sk = 'm00';
REFRESH MATERIALIZED VIEW scan_dml_mv;
SELECT * FROM scan_dml_mv ORDER BY pk;

-- MERGE
INSERT INTO scan_dml_o VALUES ('t0', 'm05', 1), ('t0', 'm77', 2), ('t3', 'm05', 3);
MERGE INTO scan_dml s USING scan_dml_o o ON s.pk = o.thread AND s.sk = o.sub
	WHEN MATCHED AND o.thread = 't3' THEN DELETE
	WHEN MATCHED THEN UPDATE SET item = jsonb_build_object('merged', o.n)
	WHEN NOT MATCHED AND o.thread IS NOT NULL THEN INSERT VALUES (o.thread, o.sub, jsonb_build_object('inserted', o.n));
SELECT pk, sk, item FROM scan_dml WHERE (pk, sk) IN (('t0', 'm05'), ('t0', 'm77'), ('t3', 'm05'), ('t3', 'm99'));

-- row locks
SELECT pk, sk FROM scan_dml WHERE pk = 't0' AND sk > 'm04' ORDER BY sk FOR UPDATE;
SELECT o.thread, s.sk FROM scan_dml_o o JOIN scan_dml s ON s.pk = o.thread AND s.sk = o.sub ORDER BY 1, 2 FOR SHARE OF s;
SELECT o.thread, s.sk FROM scan_dml_o o JOIN scan_dml s ON s.pk = o.thread AND s.sk = o.sub ORDER BY 1, 2 FOR UPDATE OF o;
SELECT * FROM (SELECT pk, sk FROM scan_dml WHERE pk = 't0' AND sk < 'm04') s ORDER BY sk FOR UPDATE SKIP LOCKED;
-- (which side of = comes first differs between majors)
SELECT replace(plan, '((o.sub)::text = scan_dml.sk)', '(scan_dml.sk = (o.sub)::text)') AS plan FROM pg_temp.plan($$SELECT * FROM scan_dml_o o JOIN (SELECT * FROM scan_dml WHERE pk = 't0' AND sk < 'm04') s ON s.sk = o.sub FOR UPDATE OF o$$);

-- triggers and RETURNING see the row
CREATE FUNCTION scan_dml_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% % -> %', TG_TABLE_NAME, OLD.sk, NEW.item; RETURN NEW; END $$;
CREATE TRIGGER scan_dml_note BEFORE UPDATE ON scan_dml FOR EACH ROW EXECUTE FUNCTION scan_dml_note();
SET client_min_messages = notice;
UPDATE scan_dml SET item = '{"noted": 1}' WHERE pk = 't0' AND sk = 'm06' RETURNING scan_dml;
SET client_min_messages = warning;

-- a table without partitions
CREATE TABLE scan_dml_single (pk text COLLATE "C", sk text COLLATE "C", item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk, sk)) USING key_value;
INSERT INTO scan_dml_single SELECT pk, sk FROM scan_dml WHERE pk = 't3';
UPDATE scan_dml_single SET item = '{"x": 1}' WHERE pk = 't3' AND sk = 'm06' RETURNING *;
DELETE FROM scan_dml_single WHERE pk = 't3' AND sk > 'm02';
SELECT sk FROM scan_dml_single WHERE pk = 't3';

-- an index made while rows change, which core's planner does not use for a while
BEGIN;
UPDATE scan_dml_single SET item = '{"x": 2}' WHERE pk = 't3' AND sk = 'm01';
ALTER TABLE scan_dml_single DROP CONSTRAINT scan_dml_single_pkey, ADD PRIMARY KEY (pk, sk);
SELECT indcheckxmin FROM pg_index WHERE indrelid = 'scan_dml_single'::regclass;
UPDATE scan_dml_single SET item = '{"x": 3}' WHERE pk = 't3' AND sk = 'm01' RETURNING *;
SELECT sk FROM scan_dml_single WHERE pk = 't3' OR pk = 't4' AND sk = 'm01' ORDER BY pk, sk;
COMMIT;

DROP MATERIALIZED VIEW scan_dml_mv;
DROP TABLE scan_dml, scan_dml_o, scan_dml_copy, scan_dml_single;
DROP FUNCTION scan_dml_note;
