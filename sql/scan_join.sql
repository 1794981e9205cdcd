-- Joins that fix the partition key through the other side: loops of key queries.
\i sql/plan.inc
SET client_min_messages = warning;
SELECT kv.create_table('scan_join', 'pk', 'sk', partitions => 4);
INSERT INTO scan_join SELECT 't' || i % 4, 'm' || lpad((i / 4)::text, 2, '0'), jsonb_build_object('n', i, 'next', 't' || (i + 1) % 4) FROM generate_series(0, 39) i;
CREATE TABLE scan_join_o (id int PRIMARY KEY, thread text, last text);
INSERT INTO scan_join_o VALUES (1, 't0', 'm08'), (2, 't2', 'm09'), (3, 'nothing', 'm01'), (4, NULL, 'm01'), (5, 't0', NULL);
ANALYZE scan_join_o;

-- inner and outer joins
SELECT o.id, count(*), min(m.sk) FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread GROUP BY o.id ORDER BY o.id;
EXPLAIN (COSTS OFF) SELECT * FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread;
SELECT o.id, m.sk FROM scan_join_o o LEFT JOIN scan_join m ON m.pk = o.thread AND m.sk = o.last ORDER BY o.id;
EXPLAIN (COSTS OFF) SELECT o.id, m.sk FROM scan_join_o o LEFT JOIN scan_join m ON m.pk = o.thread AND m.sk = o.last;
SELECT o.id, m.sk FROM scan_join m RIGHT JOIN scan_join_o o ON m.pk = o.thread AND m.sk >= o.last ORDER BY o.id, m.sk;
SELECT pg_temp.plan($$SELECT * FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread AND m.sk BETWEEN o.last AND 'm09' AND m.item->>'n' > o.last$$);
SELECT o.id, m.sk FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread AND m.sk LIKE left(o.last, 2) || '8%' ORDER BY o.id;

-- many to many: a table joined with itself by what an item says
SELECT a.pk, a.sk, b.pk AS next FROM scan_join a JOIN scan_join b ON b.pk = a.item->>'next' AND b.sk = a.sk WHERE a.pk = 't3' AND a.sk < 'm02';
EXPLAIN (COSTS OFF) SELECT a.pk, a.sk, b.pk AS next FROM scan_join a JOIN scan_join b ON b.pk = a.item->>'next' AND b.sk = a.sk WHERE a.pk = 't3' AND a.sk < 'm02';
SELECT count(*) FROM scan_join a JOIN scan_join b USING (pk) WHERE a.pk = 't1';
EXPLAIN (COSTS OFF) SELECT count(*) FROM scan_join a JOIN scan_join b USING (pk) WHERE a.pk = 't1';
SELECT count(*) FROM scan_join a JOIN scan_join b USING (pk, sk) JOIN scan_join c USING (pk, sk) WHERE pk = 't1';

-- semijoins and antijoins
SELECT id FROM scan_join_o o WHERE EXISTS (SELECT FROM scan_join m WHERE m.pk = o.thread AND m.sk > o.last) ORDER BY id;
SELECT id FROM scan_join_o o WHERE NOT EXISTS (SELECT FROM scan_join m WHERE m.pk = o.thread) ORDER BY id;
SELECT count(*) FROM scan_join WHERE pk IN (SELECT thread FROM scan_join_o);
SELECT id FROM scan_join_o WHERE thread IN (SELECT pk FROM scan_join) ORDER BY id;
EXPLAIN (COSTS OFF) SELECT id FROM scan_join_o o WHERE NOT EXISTS (SELECT FROM scan_join m WHERE m.pk = o.thread);

-- subqueries that core plans twice, once to be hashed: that one would be a scan
SELECT id, EXISTS (SELECT FROM scan_join m WHERE m.pk = o.thread) FROM scan_join_o o ORDER BY id;
SELECT id FROM scan_join_o o WHERE id = 4 OR EXISTS (SELECT FROM scan_join m WHERE m.pk = o.thread) ORDER BY id;
SELECT pg_temp.plan($$SELECT id FROM scan_join_o o WHERE id = 4 OR EXISTS (SELECT FROM scan_join m WHERE m.pk = o.thread)$$);
SELECT id FROM scan_join_o o WHERE id = 4 OR EXISTS (SELECT FROM scan_join m JOIN scan_join n USING (pk, sk) WHERE m.pk = o.thread) ORDER BY id;
SELECT id, (SELECT count(*) FROM scan_join m WHERE m.pk = o.thread) FROM scan_join_o o ORDER BY id;

-- LATERAL, also with nothing but a reference sideways in its list
SELECT o.id, l.* FROM scan_join_o o LEFT JOIN LATERAL (SELECT sk FROM scan_join m WHERE m.pk = o.thread AND m.sk < o.last ORDER BY sk DESC LIMIT 1) l ON true ORDER BY o.id;
EXPLAIN (COSTS OFF) SELECT o.id, l.* FROM scan_join_o o, LATERAL (SELECT sk, o.last FROM scan_join m WHERE m.pk = o.thread ORDER BY sk DESC LIMIT 1) l;
SELECT o.id, l.* FROM scan_join_o o, LATERAL (SELECT sk, o.last FROM scan_join m WHERE m.pk = 't1' AND m.sk = o.last) l ORDER BY o.id;

-- through a chain, and through functions, values and CTEs
EXPLAIN (COSTS OFF) SELECT * FROM scan_join_o o JOIN scan_join a ON a.pk = o.thread AND a.sk = o.last JOIN scan_join b ON b.pk = a.item->>'next' AND b.sk = a.sk WHERE o.id = 1;
SELECT m.pk, m.sk FROM (VALUES ('t1', 'm01'), ('t3', 'm05')) v(p, s) JOIN scan_join m ON (m.pk, m.sk) = (v.p, v.s) ORDER BY 1;
SELECT m.pk, count(*) FROM unnest(ARRAY['t2', 't1', 't9']) k JOIN scan_join m ON m.pk = k GROUP BY m.pk ORDER BY m.pk;
WITH w AS MATERIALIZED (SELECT thread FROM scan_join_o WHERE id < 3) SELECT m.pk, count(*) FROM w JOIN scan_join m ON m.pk = w.thread GROUP BY m.pk ORDER BY m.pk;
WITH RECURSIVE walk AS (SELECT pk, sk, item, 1 AS step FROM scan_join WHERE pk = 't0' AND sk = 'm00' UNION ALL SELECT m.pk, m.sk, m.item, step + 1 FROM walk w JOIN scan_join m ON m.pk = w.item->>'next' AND m.sk = w.sk WHERE step < 6) SELECT pk, step FROM walk;

-- a join that is removed, one that is proved empty
EXPLAIN (COSTS OFF) SELECT o.* FROM scan_join_o o LEFT JOIN scan_join m ON m.pk = o.thread AND m.sk = o.last;
EXPLAIN (COSTS OFF) SELECT o.* FROM scan_join_o o JOIN scan_join m ON m.sk = o.last AND false;

-- joins that no loop of key queries can answer
SELECT * FROM scan_join m LEFT JOIN scan_join_o o ON m.pk = o.thread;
SELECT * FROM scan_join m FULL JOIN scan_join_o o ON m.pk = o.thread;
SELECT * FROM scan_join_o WHERE thread NOT IN (SELECT pk FROM scan_join);
SELECT count(*) FROM scan_join a JOIN scan_join b USING (pk);
SELECT * FROM scan_join_o o JOIN scan_join m ON m.pk > o.thread;
SELECT * FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread || m.sk;
SELECT * FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread OR m.sk = o.last;

-- whatever core would rather do
SET enable_nestloop = off;
SELECT o.id, count(*) FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread GROUP BY o.id ORDER BY o.id;
RESET enable_nestloop;
SET enable_partitionwise_join = on;
SELECT count(*) FROM scan_join a JOIN scan_join b USING (pk);
SELECT count(*) FROM (SELECT FROM scan_join a JOIN scan_join b USING (pk) WHERE a.pk IN ('t1', 't2') FOR UPDATE) s;
EXPLAIN (COSTS OFF) SELECT FROM scan_join a JOIN scan_join b ON a.pk = b.pk AND a.sk = b.sk WHERE a.pk IN ('t1', 't2') FOR UPDATE;
RESET enable_partitionwise_join;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT o.id, count(*) FROM scan_join_o o JOIN scan_join m ON m.pk = o.thread GROUP BY o.id ORDER BY o.id;
RESET ALL;

DROP TABLE scan_join, scan_join_o;
