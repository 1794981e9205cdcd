-- Key queries in plain SQL: each form's rows, and the plan that reads them.
\i sql/plan.inc
SET client_min_messages = warning;
SELECT kv.create_table('scan_query', 'pk', 'sk', partitions => 4);
INSERT INTO scan_query
	SELECT 'p' || p, kind || lpad(s::text, 2, '0'), jsonb_build_object('s', s, 'even', s % 2 = 0)
	FROM generate_series(1, 4) p, unnest(ARRAY['MSG#', 'USER#']) kind, generate_series(1, 6) s;

-- the whole collection, one item, nothing
SELECT sk, item FROM scan_query WHERE pk = 'p1' AND sk < 'MSG#04';
EXPLAIN (COSTS OFF) SELECT * FROM scan_query WHERE pk = 'p1';
SELECT * FROM scan_query WHERE pk = 'p2' AND sk = 'USER#03';
EXPLAIN (COSTS OFF) SELECT * FROM scan_query WHERE pk = 'p2' AND sk = 'USER#03';
SELECT * FROM scan_query WHERE pk = 'nobody';
SELECT count(*) FROM scan_query WHERE pk = 'p3';

-- either side, expressions, other types that are compared as text
SELECT count(*) FROM scan_query WHERE 'p3' = pk AND 'MSG#03' >= sk;
SELECT count(*) FROM scan_query WHERE pk = lower('P' || 3);
SELECT count(*) FROM scan_query WHERE pk = (SELECT 'p' || max(g) FROM generate_series(1, 3) g);
SELECT count(*) FROM scan_query WHERE pk = 'p1'::varchar;
SELECT count(*) FROM scan_query WHERE pk = 'p1'::name;
SELECT count(*) FROM scan_query WHERE pk = 'p1'::char(8);
SELECT count(*) FROM scan_query WHERE NOT (pk <> 'p1');
EXPLAIN (COSTS OFF) SELECT * FROM scan_query WHERE pk = 'p1'::name AND sk = 'MSG#01'::name;

-- ranges of the sort key
SELECT sk FROM scan_query WHERE pk = 'p1' AND sk > 'MSG#05';
SELECT sk FROM scan_query WHERE pk = 'p1' AND sk >= 'MSG#05' AND sk <= 'USER#01';
SELECT sk FROM scan_query WHERE pk = 'p1' AND sk BETWEEN 'MSG#02' AND 'MSG#03';
SELECT sk FROM scan_query WHERE pk = 'p1' AND sk BETWEEN 'MSG#03' AND 'MSG#02';
SELECT sk FROM scan_query WHERE pk = 'p1' AND sk >= 'MSG#02' AND sk > 'MSG#02' AND sk <= 'MSG#09' AND sk <= 'MSG#05' AND sk < 'MSG#05';
EXPLAIN (COSTS OFF) SELECT sk FROM scan_query WHERE pk = 'p1' AND sk BETWEEN 'MSG#02' AND 'MSG#03';

-- beginnings
SELECT sk FROM scan_query WHERE pk = 'p1' AND sk LIKE 'USER#%' AND (item->>'even')::bool;
EXPLAIN (COSTS OFF) SELECT sk FROM scan_query WHERE pk = 'p1' AND sk LIKE 'USER#%' AND (item->>'even')::bool;
SELECT sk FROM scan_query WHERE pk = 'p1' AND sk ^@ 'MSG#0' LIMIT 2;
EXPLAIN (COSTS OFF) SELECT sk FROM scan_query WHERE pk = 'p1' AND starts_with(sk, 'MSG#');
SELECT count(*) FROM scan_query WHERE pk = 'p1' AND sk LIKE '%5';
SELECT count(*) FROM scan_query WHERE pk = 'p1' AND sk NOT LIKE 'MSG#%';

-- row comparisons, alone on the sort key and with the partition key
SELECT sk FROM scan_query WHERE pk = 'p1' AND ROW(sk) > ROW('USER#04');
SELECT pk, sk FROM scan_query WHERE pk IN ('p1', 'p2', 'p3') AND (pk, sk) > ('p2', 'USER#05');
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_query WHERE pk IN ('p1', 'p2', 'p3') AND (pk, sk) > ('p2', 'USER#05');
SELECT count(*) FROM scan_query WHERE pk = 'p2' AND (pk, sk) > ('p2', NULL);
SELECT count(*) FROM scan_query WHERE pk = 'p2' AND (pk, sk) > ('p1', NULL);
SELECT count(*) FROM scan_query WHERE pk = 'p2' AND (pk, sk) > (NULL, 'MSG#01');
SELECT * FROM scan_query WHERE (pk, sk) = ('p2', 'MSG#01');

-- lists of keys: each once, NULLs are nothing
SELECT pk, sk FROM scan_query WHERE pk IN ('p4', 'p1', 'p4', 'nobody') AND sk = 'MSG#01';
SELECT pk, sk FROM scan_query WHERE pk = ANY ('{p2,NULL,p1}') AND sk IN ('USER#06', 'MSG#01', 'USER#06', NULL);
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_query WHERE pk = ANY ('{p2,NULL,p1}') AND sk IN ('USER#06', 'MSG#01', 'USER#06', NULL);
SELECT count(*) FROM scan_query WHERE pk = ANY ('{}');
SELECT count(*) FROM scan_query WHERE pk = ANY (NULL::text[]);
SELECT count(*) FROM scan_query WHERE pk = ANY (ARRAY(SELECT 'p' || g FROM generate_series(2, 9) g));
SELECT count(*) FROM scan_query WHERE pk IN ('p1', 'p2', 'p3') AND pk = ANY ('{p3,p2}') AND pk > 'p2';

-- full keys, as a batch
SELECT pk, sk FROM scan_query WHERE (pk, sk) IN (('p4', 'MSG#01'), ('p1', 'USER#06'), ('p4', 'MSG#01'), ('p1', 'nothing'), ('p1', NULL));
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_query WHERE (pk, sk) IN (('p4', 'MSG#01'), ('p1', 'USER#06'));
SELECT pk, count(*) FROM scan_query WHERE pk = 'p1' OR (pk = 'p2' AND sk > 'USER#04') OR (pk = 'p1' AND sk = 'MSG#01') OR (sk = 'MSG#01' AND 'p3' = pk) GROUP BY pk ORDER BY pk;

-- at most 100 keys
SELECT count(*) FROM scan_query WHERE pk = ANY (ARRAY(SELECT 'p' || g % 100 FROM generate_series(1, 1000) g));
SELECT count(*) FROM scan_query WHERE pk = ANY (ARRAY(SELECT 'p' || g FROM generate_series(1, 101) g));
SELECT count(*) FROM scan_query WHERE pk = ANY (ARRAY(SELECT 'p' || g FROM generate_series(1, 11) g)) AND sk = ANY (ARRAY(SELECT g::text FROM generate_series(1, 10) g));
SELECT count(*) FROM unnest(ARRAY(SELECT 'p' || g FROM generate_series(1, 101) g)) k JOIN scan_query ON pk = k;

-- generic plans: the values come when it runs, patterns too
SET plan_cache_mode = force_generic_plan;
PREPARE by_key(text, text) AS SELECT pk, sk FROM scan_query WHERE pk = $1 AND sk = $2;
EXECUTE by_key('p1', 'MSG#02');
EXECUTE by_key('p1', NULL);
EXECUTE by_key(NULL, 'MSG#02');
EXPLAIN (COSTS OFF) EXECUTE by_key('p1', 'MSG#02');
PREPARE by_pattern(text, text) AS SELECT pk, sk FROM scan_query WHERE pk = $1 AND sk LIKE $2;
EXECUTE by_pattern('p1', 'USER#0_');
EXECUTE by_pattern('p1', 'USER#02');
EXECUTE by_pattern('p1', 'MSG\#01');
EXECUTE by_pattern('p1', NULL);
SELECT pg_temp.run_plan($$EXECUTE by_pattern('p1', 'USER#%')$$);
SELECT pg_temp.run_plan($$EXECUTE by_pattern('p1', '%2')$$);
PREPARE by_list(text[]) AS SELECT pk, sk FROM scan_query WHERE pk = ANY ($1) AND sk = 'MSG#01';
EXECUTE by_list('{p3,p1,NULL,p3}');
EXECUTE by_list(NULL);
EXPLAIN (COSTS OFF) EXECUTE by_list('{p3,p1,NULL,p3}');
DEALLOCATE ALL;
RESET plan_cache_mode;

-- what EXPLAIN ANALYZE says: items read and heap pages, filtered or not
SELECT pg_temp.run_plan($$SELECT * FROM scan_query WHERE pk = 'p1' AND item->>'s' = '3'$$);
SELECT pg_temp.run_plan($$SELECT * FROM scan_query WHERE pk = 'p1' ORDER BY sk DESC LIMIT 3$$);
EXPLAIN (VERBOSE, COSTS OFF) SELECT sk, item FROM scan_query AS s WHERE pk = 'p1' AND item->>'s' = '3';
SELECT pg_temp.plan($$SELECT sk FROM scan_query WHERE pk IN ('p1', 'p2')$$, 'FORMAT JSON, COSTS OFF');

-- whole rows, and the columns that say where a row is
SELECT q, q.sk FROM scan_query q WHERE pk = 'p1' AND sk = 'MSG#01';
SELECT tableoid::regclass, ctid IS NOT NULL AS placed, xmin = pg_current_xact_id()::xid AS mine, pk FROM scan_query WHERE pk = 'p1' AND sk = 'MSG#01';
SELECT to_jsonb(q) FROM scan_query q WHERE pk = 'p1' AND sk = 'MSG#01';

-- the rows of ONLY the parent: there are none
SELECT * FROM ONLY scan_query WHERE pk = 'p1';
SELECT count(*) FROM ONLY scan_query;
EXPLAIN (COSTS OFF) SELECT * FROM ONLY scan_query WHERE pk = 'p1';

-- a partition by its name, and a table without partitions
SELECT count(*) FROM scan_query_p2 WHERE pk = 'p1';
EXPLAIN (COSTS OFF) SELECT * FROM ONLY scan_query_p2 WHERE pk = 'p1' AND sk LIKE 'M%';
CREATE TABLE scan_query_single (pk numeric, sk bytea, item jsonb NOT NULL DEFAULT '{}', more int, PRIMARY KEY (pk, sk)) USING key_value;
INSERT INTO scan_query_single SELECT i / 3, decode(to_hex(250 + i % 3), 'hex') FROM generate_series(0, 8) i;
SELECT * FROM scan_query_single WHERE pk = 1 AND sk > '\xfa' ORDER BY sk DESC;
SELECT * FROM scan_query_single WHERE pk = 1.0 AND sk = '\xfb';
SELECT count(*) FROM scan_query_single WHERE pk = 1::bigint;
EXPLAIN (COSTS OFF) SELECT * FROM scan_query_single WHERE pk IN (1, 2.0) AND sk > '\xfa' ORDER BY pk DESC, sk DESC;

-- partitions that went away, came back in another shape, or were never there
CREATE TABLE scan_query_other (extra int, item jsonb NOT NULL DEFAULT '{}', sk text COLLATE "C" NOT NULL, pk text COLLATE "C" NOT NULL);
ALTER TABLE scan_query_other DROP COLUMN extra;
ALTER TABLE scan_query_other ADD CONSTRAINT scan_query_item_check CHECK (kv.check_item(tableoid, item, pk, sk));
PREPARE kept AS SELECT pk, sk, item, tableoid::regclass, xmax FROM scan_query WHERE pk = 'p1' AND sk <= 'MSG#02';
EXECUTE kept;
INSERT INTO scan_query_other (pk, sk, item) SELECT pk, sk, item || '{"new": true}' FROM scan_query WHERE pk = 'p1';
ALTER TABLE scan_query DETACH PARTITION scan_query_p2;
EXECUTE kept;
SELECT count(*) FROM scan_query WHERE pk = 'p1';
EXPLAIN (COSTS OFF) SELECT count(*) FROM scan_query WHERE pk = 'p1';
ALTER TABLE scan_query ATTACH PARTITION scan_query_other FOR VALUES WITH (MODULUS 4, REMAINDER 2);
EXECUTE kept;
SELECT q FROM scan_query q WHERE pk = 'p1' AND sk < 'MSG#02';
SELECT pk, sk FROM scan_query q WHERE pk IN ('p1', 'p3', 'p4') AND sk = 'MSG#02';

-- a table without a sort key
SELECT kv.create_table('scan_query_pk', 'id', partitions => 2);
INSERT INTO scan_query_pk SELECT 'i' || g FROM generate_series(1, 5) g;
SELECT * FROM scan_query_pk WHERE id = 'i3';
SELECT * FROM scan_query_pk WHERE id IN ('i5', 'i1', 'i9');
EXPLAIN (COSTS OFF) SELECT * FROM scan_query_pk WHERE id IN ('i5', 'i1', 'i9') ORDER BY id DESC;

-- many partitions, more than are kept open
SELECT kv.create_table('scan_query_many', 'pk', 'sk', partitions => 80);
INSERT INTO scan_query_many SELECT 'k' || g, 'a' FROM generate_series(1, 1000) g;
SELECT count(*), count(DISTINCT scan_query_many.tableoid) FROM unnest(ARRAY(SELECT 'k' || g FROM generate_series(1, 1000) g)) k JOIN scan_query_many ON pk = k;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT pk FROM scan_query_many WHERE pk = ANY (ARRAY(SELECT 'k' || g FROM generate_series(1, 100) g)) ORDER BY pk;
MOVE 98 FROM c;
FETCH 5 FROM c;
FETCH BACKWARD 3 FROM c;
MOVE BACKWARD 90 FROM c;
FETCH BACKWARD 20 FROM c;
COMMIT;

DROP TABLE scan_query_many;
DROP TABLE scan_query_p2, scan_query, scan_query_single, scan_query_pk;
