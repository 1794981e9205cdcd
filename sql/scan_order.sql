-- ORDER BY that needs no sort, and LIMIT that stops reading.
\i sql/plan.inc
SET client_min_messages = warning;
-- not every major takes one here
SET enable_incremental_sort = off;
SELECT kv.create_table('scan_order', 'pk', 'sk', 'S', 'N', partitions => 4);
INSERT INTO scan_order SELECT 'p' || i % 3, i / 3 * 1.5, jsonb_build_object('n', i) FROM generate_series(0, 59) i;

-- one collection, both ways
SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY sk LIMIT 3;
SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY sk DESC LIMIT 3;
SELECT sk FROM scan_order WHERE pk = 'p1' AND sk BETWEEN 4 AND 8 ORDER BY sk DESC;
EXPLAIN (COSTS OFF) SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY sk LIMIT 3;
EXPLAIN (COSTS OFF) SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY sk DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY pk, sk DESC, item;
EXPLAIN (COSTS OFF) SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY sk DESC NULLS LAST;

-- reading stops with the limit
SELECT pg_temp.run_plan($$SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY sk DESC LIMIT 2 OFFSET 1$$);
SELECT pg_temp.run_plan($$SELECT sk FROM scan_order WHERE pk = 'p1' AND (item->>'n')::int % 2 = 0 ORDER BY sk LIMIT 2$$);
SELECT pg_temp.run_plan($$SELECT max(sk) FROM scan_order WHERE pk = 'p1'$$);

-- several collections: by the whole key, either way
SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') AND sk < 3 ORDER BY pk, sk;
SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') AND sk < 3 ORDER BY pk DESC, sk DESC;
SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') AND sk IN (1.5, 0, 30) ORDER BY pk DESC, sk DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') ORDER BY pk, sk;
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') AND sk IN (1.5, 0, 30) ORDER BY pk DESC, sk DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_order WHERE (pk, sk) IN (('p2', 0), ('p1', 3)) ORDER BY pk DESC, sk DESC;
EXPLAIN (COSTS OFF) SELECT DISTINCT pk FROM scan_order WHERE pk IN ('p2', 'p0');
SELECT replace(plan, 'scan_order.pk', 'pk') AS plan FROM pg_temp.plan($$SELECT pk, max(sk) FROM scan_order WHERE pk IN ('p2', 'p0') GROUP BY pk ORDER BY pk$$);

-- these do need a sort: by the sort key over several collections, mixed directions, another column
SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') AND sk < 3 ORDER BY sk DESC, pk;
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') ORDER BY sk;
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_order WHERE pk IN ('p2', 'p0') ORDER BY pk, sk DESC;
EXPLAIN (COSTS OFF) SELECT pk, sk FROM scan_order WHERE pk = 'p1' ORDER BY item;

-- a sort that merges: the last of several collections, each read from its end
SELECT l.* FROM unnest(ARRAY['p0', 'p1', 'p2']) AS k, LATERAL (SELECT pk, sk FROM scan_order WHERE pk = k ORDER BY sk DESC LIMIT 1) l;
EXPLAIN (COSTS OFF) SELECT l.* FROM unnest(ARRAY['p0', 'p1', 'p2']) AS k, LATERAL (SELECT pk, sk FROM scan_order WHERE pk = k ORDER BY sk DESC LIMIT 1) l;
SELECT pk, sk FROM scan_order WHERE pk = 'p0' AND sk > 27 UNION ALL SELECT pk, sk FROM scan_order WHERE pk = 'p1' AND sk > 27 ORDER BY sk DESC, pk;

-- window functions use the order
SELECT pg_temp.plan($$SELECT sk, row_number() OVER (ORDER BY sk DESC) FROM scan_order WHERE pk = 'p1'$$);
SELECT sk, lag(sk) OVER (ORDER BY sk DESC) FROM scan_order WHERE pk = 'p1' AND sk > 25;

-- locking takes the leaf way, in order too
EXPLAIN (COSTS OFF) SELECT sk FROM scan_order WHERE pk = 'p1' ORDER BY sk DESC LIMIT 2 FOR UPDATE;

DROP TABLE scan_order;
