-- kv.scan and kv.scan_page: all items, leaf by leaf, in segments or not.
\pset null '(null)'
SET key_value.allow_scan = on;

SELECT kv.create_table('read_scan', 'pk', 'sk', partitions => 4);
INSERT INTO read_scan
	SELECT 'p' || p, lpad(s::text, 2, '0'), jsonb_build_object('p', p, 's', s, 'even', s % 2 = 0)
	FROM generate_series(1, 20) p, generate_series(1, p % 4 + 1) s;
-- what plain SQL sees, in leaf order
CREATE TEMP TABLE read_scan_want AS
	SELECT row_number() OVER (ORDER BY tableoid::regclass::text COLLATE "C", pk, sk) AS n, pk || '/' || sk AS key,
		substring(tableoid::regclass::text FROM '[0-9]+$')::int AS leaf
	FROM read_scan;
RESET key_value.allow_scan;
SELECT count(*), count(DISTINCT leaf) AS leaves FROM read_scan_want;

-- the same without allow_scan through the function, in the same order
SELECT count(*), bool_and(s.item->>'pk' || '/' || (s.item->>'sk') = w.key) AS in_order
FROM kv.scan('read_scan') WITH ORDINALITY AS s(item, n) FULL JOIN read_scan_want w USING (n);

-- filter, projection, max_items
SELECT count(*) FROM kv.scan('read_scan', 'even = :e', '{":e": true}') AS s;
SELECT s FROM kv.scan('read_scan', 'p = :p', '{":p": 7}', projection => 's, pk') AS s;
SELECT s FROM kv.scan('read_scan', '#p = :p AND s > :s', '{":p": 7, ":s": 2}', '{"#p": "p"}') AS s ORDER BY s->'s';
-- other than that of a query, the filter of a scan may name key attributes
SELECT s->'sk' AS sk FROM kv.scan('read_scan', 'pk = :p AND sk BETWEEN :a AND :b', '{":p": "p7", ":a": "02", ":b": "03"}') AS s;
SELECT count(*) FROM kv.scan('read_scan', max_items => 11);
SELECT count(*) FROM (SELECT kv.scan('read_scan') LIMIT 3) AS s;

-- segments: together everything once, each its own leaves; more segments than leaves are allowed
SELECT total, count(*) AS items, count(DISTINCT s->>'pk' || '/' || (s->>'sk')) AS different,
	bool_and(w.leaf % total = segment) AS own_leaves
FROM unnest('{1, 2, 3, 4, 5, 1000000}'::int[]) AS total, generate_series(0, least(total, 7) - 1) AS segment,
	kv.scan('read_scan', segment => segment, total_segments => total) AS s
	JOIN read_scan_want w ON w.key = s->>'pk' || '/' || (s->>'sk')
GROUP BY total ORDER BY total;
SELECT count(*) FROM kv.scan('read_scan', segment => 999999, total_segments => 1000000);

-- pages
CREATE FUNCTION read_scan_walk(relation regclass, size int, filter text = NULL, vals jsonb = NULL,
							   segment int = NULL, total_segments int = NULL, OUT keys text[], OUT pages int)
LANGUAGE plpgsql AS $$
DECLARE
	page record;
	start jsonb;
BEGIN
	pages := 0;
	LOOP
		SELECT * INTO page FROM kv.scan_page(relation, filter, vals, exclusive_start_key => start, page_size => size,
											 segment => segment, total_segments => total_segments);
		keys := keys || ARRAY(SELECT concat_ws('/', i->>'pk', i->>'sk') FROM jsonb_array_elements(page.items) WITH ORDINALITY AS e(i, n) ORDER BY n);
		pages := pages + 1;
		start := page.last_evaluated_key;
		EXIT WHEN start IS NULL OR pages > 1000;
	END LOOP;
END $$;
SELECT count(*) AS sizes, bool_and(w.keys = (SELECT array_agg(key ORDER BY n) FROM read_scan_want)) AS exact
FROM generate_series(1, 52) AS size, read_scan_walk('read_scan', size) AS w;
SELECT size, pages FROM unnest('{1, 10, 25, 49, 50, 51}'::int[]) AS size, read_scan_walk('read_scan', size);
SELECT bool_and(w.keys = (SELECT array_agg(key ORDER BY n) FROM read_scan_want WHERE key LIKE '%/03')) AS exact
FROM generate_series(1, 20) AS size, read_scan_walk('read_scan', size, 's = :s', '{":s": 3}') AS w;
SELECT bool_and(w.keys = (SELECT array_agg(key ORDER BY n) FROM read_scan_want WHERE leaf % 3 = segment)) AS exact
FROM generate_series(1, 20) AS size, generate_series(0, 2) AS segment,
	read_scan_walk('read_scan', size, segment => segment, total_segments => 3) AS w;
SELECT items, count, scanned_count, last_evaluated_key IS NULL AS ended, consumed_capacity
FROM kv.scan_page('read_scan', 's = :s', '{":s": 99}', page_size => 7);

-- a start key need not exist; one of another segment is refused
SELECT count(*) < 50 AS fewer FROM kv.scan('read_scan', exclusive_start_key => '{"pk": "nobody", "sk": "x"}');
DO $$
DECLARE
	leaf int := (SELECT w.leaf FROM read_scan_want AS w WHERE key = 'p1/01');
BEGIN
	PERFORM kv.scan('read_scan', exclusive_start_key => '{"pk": "p1", "sk": "01"}', segment => leaf, total_segments => 4);
	PERFORM kv.scan('read_scan', exclusive_start_key => '{"pk": "p1", "sk": "01"}', segment => (leaf + 1) % 4, total_segments => 4);
EXCEPTION WHEN SQLSTATE 'KV007' THEN
	RAISE NOTICE '%', SQLERRM;
END $$;

-- segments and totals out of range
SELECT kv.scan('read_scan', segment => 4, total_segments => 4);
SELECT kv.scan('read_scan', segment => -1, total_segments => 4);
SELECT kv.scan('read_scan', segment => 0, total_segments => 0);
SELECT kv.scan('read_scan', segment => 0, total_segments => 1000001);
SELECT kv.scan('read_scan', segment => 0);
SELECT kv.scan('read_scan', total_segments => 4);
SELECT kv.drop_table('read_scan');

-- a table of one partition, without a sort key, made by hand
CREATE TABLE read_scan_hand (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) USING key_value;
INSERT INTO read_scan_hand SELECT 'p' || n, '{}' FROM generate_series(1, 9) n;
SELECT string_agg(s->>'pk', ' ') FROM kv.scan('read_scan_hand') AS s;
SELECT string_agg(s->>'pk', ' ') FROM kv.scan('read_scan_hand', exclusive_start_key => '{"pk": "p6"}') AS s;
SELECT items, last_evaluated_key FROM kv.scan_page('read_scan_hand', page_size => 2);
SELECT keys, pages FROM read_scan_walk('read_scan_hand', 4);
SELECT segment, count(s) FROM generate_series(0, 2) AS segment LEFT JOIN LATERAL kv.scan('read_scan_hand', segment => segment, total_segments => 3) AS s ON true GROUP BY segment ORDER BY segment;
DROP TABLE read_scan_hand;

-- a page of a scan is cut at 1 MB as well, across leaves
SELECT kv.create_table('read_scan_size', 'pk', partitions => 3);
INSERT INTO read_scan_size SELECT lpad(n::text, 2, '0'), jsonb_build_object('b', repeat('x', 102400 - 5)) FROM generate_series(1, 25) n;
SELECT pages, array_length(keys, 1) FROM read_scan_walk('read_scan_size', NULL);
SELECT count, scanned_count, last_evaluated_key IS NOT NULL AS more, consumed_capacity FROM kv.scan_page('read_scan_size', consistent_read => true);
SELECT kv.drop_table('read_scan_size');

DROP FUNCTION read_scan_walk;
