-- kv.query_page: pages that together give each item once.
\pset null '(null)'

SELECT kv.create_table('read_page', 'pk', 'sk');
INSERT INTO read_page
	SELECT 'p' || p, 'k' || lpad(s::text, 3, '0'), jsonb_build_object('s', s, 'third', s % 3 = 0)
	FROM generate_series(1, 3) p, generate_series(1, 25) s;

-- one page; the last key is absent only when the end was seen
SELECT jsonb_path_query_array(items, '$[*].sk') AS sk, count, scanned_count, last_evaluated_key, consumed_capacity
FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', page_size => 3);
SELECT count, scanned_count, last_evaluated_key FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', page_size => 24);
SELECT count, scanned_count, last_evaluated_key FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', page_size => 25);
SELECT count, scanned_count, last_evaluated_key FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', page_size => 26);
SELECT count, scanned_count, last_evaluated_key FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}');
SELECT * FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', page_size => 25, exclusive_start_key => '{"pk": "p1", "sk": "k025"}');
SELECT * FROM kv.query_page('read_page', 'pk = :p', '{":p": "none"}');

-- page_size counts what was read, before the filter: a page may be empty and not the last
SELECT items, count, scanned_count, last_evaluated_key
FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1", ":t": true}', filter => 'third = :t', page_size => 2);
SELECT jsonb_path_query_array(items, '$[*].sk') AS sk, count, scanned_count, last_evaluated_key
FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1", ":t": true}', filter => 'third = :t', page_size => 10, scan_forward => false);
-- max_items counts what is returned
SELECT jsonb_path_query_array(items, '$[*].sk') AS sk, count, scanned_count, last_evaluated_key
FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1", ":t": true}', filter => 'third = :t', max_items => 2);
-- a projection does not take the key from the page
SELECT items, last_evaluated_key FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', projection => 's', page_size => 2);

-- walks through all pages of a query
CREATE FUNCTION read_page_walk(relation regclass, condition text, vals jsonb, size int, forward bool, filter text = NULL,
							   OUT keys jsonb, OUT pages int)
LANGUAGE plpgsql AS $$
DECLARE
	page record;
	start jsonb;
BEGIN
	keys := '[]';
	pages := 0;
	LOOP
		SELECT * INTO page FROM kv.query_page(relation, condition, vals, filter => filter, scan_forward => forward,
											  exclusive_start_key => start, page_size => size);
		keys := keys || jsonb_path_query_array(page.items, '$[*].sk');
		pages := pages + 1;
		start := page.last_evaluated_key;
		EXIT WHEN start IS NULL OR pages > 1000;
	END LOOP;
END $$;

-- with every page size, both ways: each item once, in order
SELECT forward, count(*) AS sizes, count(*) FILTER (WHERE w.keys = want.keys) AS exact
FROM unnest('{true, false}'::bool[]) AS forward, generate_series(1, 27) AS size,
	LATERAL (SELECT jsonb_agg(sk ORDER BY CASE WHEN forward THEN n ELSE -n END) AS keys
			 FROM (SELECT 'k' || lpad(n::text, 3, '0') AS sk, n FROM generate_series(1, 25) n) k) AS want,
	read_page_walk('read_page', 'pk = :p', '{":p": "p2"}', size, forward) AS w
GROUP BY forward ORDER BY forward;
-- 25 items in pages of 5: five full pages, and an empty one that sees the end
SELECT size, pages FROM unnest('{1, 4, 5, 24, 25, 26}'::int[]) AS size, read_page_walk('read_page', 'pk = :p', '{":p": "p2"}', size, true) ORDER BY size;
-- a part of a collection, and a filter
SELECT forward, bool_and(w.keys = CASE WHEN forward THEN '["k011", "k012", "k013", "k014"]'::jsonb ELSE '["k014", "k013", "k012", "k011"]' END) AS exact
FROM unnest('{true, false}'::bool[]) AS forward, generate_series(1, 6) AS size,
	read_page_walk('read_page', 'pk = :p AND sk BETWEEN :a AND :b', '{":p": "p2", ":a": "k011", ":b": "k014"}', size, forward) AS w
GROUP BY forward ORDER BY forward;
SELECT bool_and(w.keys = '["k003", "k006", "k009", "k012", "k015", "k018", "k021", "k024"]') AS exact
FROM generate_series(1, 27) AS size,
	read_page_walk('read_page', 'pk = :p', '{":p": "p3", ":t": true}', size, true, 'third = :t') AS w;

-- items that are gone are passed over, whether or not a scan has marked them
DELETE FROM read_page WHERE pk = 'p3' AND sk > 'k005' AND sk < 'k020';
SELECT keys, pages FROM read_page_walk('read_page', 'pk = :p', '{":p": "p3"}', 4, true);
SELECT keys, pages FROM read_page_walk('read_page', 'pk = :p', '{":p": "p3"}', 4, false);
SELECT count(*) FROM kv.query('read_page', 'pk = :p', '{":p": "p3"}') AS a, kv.query('read_page', 'pk = :p', '{":p": "p3"}') AS b;

-- start keys that this query would not have come to
SELECT count FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', exclusive_start_key => '{"pk": "p2", "sk": "k001"}');
SELECT count FROM kv.query_page('read_page', 'pk = :p AND sk > :s', '{":p": "p1", ":s": "k010"}', exclusive_start_key => '{"pk": "p1", "sk": "k010"}');
SELECT count FROM kv.query_page('read_page', 'pk = :p AND sk >= :s', '{":p": "p1", ":s": "k010"}', exclusive_start_key => '{"pk": "p1", "sk": "k010"}');
SELECT count FROM kv.query_page('read_page', 'pk = :p AND sk < :s', '{":p": "p1", ":s": "k010"}', exclusive_start_key => '{"pk": "p1", "sk": "k011"}', scan_forward => false);
SELECT count FROM kv.query_page('read_page', 'pk = :p AND begins_with(sk, :s)', '{":p": "p1", ":s": "k01"}', exclusive_start_key => '{"pk": "p1", "sk": "k020"}');
SELECT count FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', exclusive_start_key => '{"pk": "p1"}');
SELECT count FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', exclusive_start_key => '{"pk": "p1", "sk": 1}');
SELECT count FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', exclusive_start_key => '{"pk": "p1", "sk": "k001", "more": 1}');
SELECT count FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', exclusive_start_key => '{}');
SELECT count FROM kv.query_page('read_page', 'pk = :p', '{":p": "p1"}', exclusive_start_key => 'null');
SELECT kv.query('read_page', 'pk = :p', '{":p": "p1"}', exclusive_start_key => '{"pk": "p2", "sk": "k001"}');
SELECT kv.drop_table('read_page');

-- The 1 MB of a page counts items as stored.  An item here is 2 (pk) + 1 ("p") + 2 (sk) + 2 (sort key) +
-- 1 ("b") + 102392 = 102,400 bytes.  Ten of them, 1,024,000, are not over 1,048,576, so that an eleventh is read: 275 * 4 KB.
SELECT kv.create_table('read_page_size', 'pk', 'sk');
INSERT INTO read_page_size SELECT 'p', lpad(s::text, 2, '0'), jsonb_build_object('b', repeat('x', 102392)) FROM generate_series(1, 25) s;
SELECT (kv.item_size(kv.get('read_page_size', 'p', '01'))) AS size;
SELECT count, scanned_count, last_evaluated_key, consumed_capacity FROM kv.query_page('read_page_size', 'pk = :p', '{":p": "p"}');
SELECT count, scanned_count, last_evaluated_key, consumed_capacity FROM kv.query_page('read_page_size', 'pk = :p', '{":p": "p"}', consistent_read => true);
-- neither a filter nor a projection lets a page read more
SELECT items, count, scanned_count, last_evaluated_key FROM kv.query_page('read_page_size', 'pk = :p', '{":p": "p", ":b": "y"}', filter => 'b = :b');
SELECT count, scanned_count, last_evaluated_key FROM kv.query_page('read_page_size', 'pk = :p', '{":p": "p"}', projection => 'sk');
SELECT forward, pages, jsonb_array_length(keys) AS items, keys->0 AS first, keys->-1 AS last,
	keys = (SELECT jsonb_agg(k ORDER BY CASE WHEN forward THEN k ELSE NULL END, k DESC) FROM jsonb_array_elements(keys) k) AS in_order
FROM unnest('{true, false}'::bool[]) AS forward, read_page_walk('read_page_size', 'pk = :p', '{":p": "p"}', NULL, forward) ORDER BY forward;
SELECT pages, jsonb_array_length(keys) AS items FROM read_page_walk('read_page_size', 'pk = :p', '{":p": "p"}', 7, true);
-- kv.query has no such limit
SELECT count(*) FROM kv.query('read_page_size', 'pk = :p', '{":p": "p"}', projection => 'sk');
SELECT kv.drop_table('read_page_size');

-- Consumed capacity: sizes are added up before rounding, one unit per started 4 KB, half if eventually consistent.
-- An item here is 2 + 1 + 2 + 1 + 1 + its string's length.
SELECT kv.create_table('read_page_units', 'pk', 'sk');
INSERT INTO read_page_units VALUES
	('1', '1', jsonb_build_object('b', repeat('x', 2041))),
	('1', '2', jsonb_build_object('b', repeat('x', 2041))),
	('2', '1', jsonb_build_object('b', repeat('x', 2041))),
	('2', '2', jsonb_build_object('b', repeat('x', 2042)));
SELECT p, c, count, consumed_capacity
FROM unnest('{0, 1, 2}'::int[]) p, unnest('{true, false}'::bool[]) c,
	kv.query_page('read_page_units', 'pk = :p', jsonb_build_object(':p', p::text), consistent_read => c)
ORDER BY p, c DESC;
-- Counting returns no items, and goes with filters, limits and continuation as a page of items does.
SELECT * FROM kv.query_page('read_page_units', 'pk = :p', '{":p": "1"}', count_only => true);
SELECT * FROM kv.query_page('read_page_units', 'pk = :p', '{":p": "2", ":n": 2041}', filter => 'size(b) > :n', count_only => true);
SELECT * FROM kv.query_page('read_page_units', 'pk = :p', '{":p": "1"}', page_size => 1, count_only => true);
SELECT items, count, scanned_count, last_evaluated_key FROM kv.scan_page('read_page_units', count_only => true);
SELECT * FROM kv.query_page('read_page_units', 'pk = :p', '{":p": "1"}', projection => 'b', count_only => true);
SELECT * FROM kv.scan_page('read_page_units', projection => 'b', count_only => true);
SELECT kv.drop_table('read_page_units');

-- number keys: a start key may be written in any way
SELECT kv.create_table('read_page_number', 'pk', 'at', 'N', 'N');
INSERT INTO read_page_number SELECT 1, s, '{}' FROM unnest('{1000, 1e-5, -3, 20}'::numeric[]) s;
SELECT items, last_evaluated_key FROM kv.query_page('read_page_number', 'pk = :p', '{":p": 1.0}', page_size => 2);
SELECT items FROM kv.query_page('read_page_number', 'pk = :p', '{":p": 1}', exclusive_start_key => '{"pk": 1.0, "at": 2e1}');
SELECT kv.drop_table('read_page_number');

-- binary keys
SELECT kv.create_table('read_page_binary', 'pk', 'b', 'B', 'B');
INSERT INTO read_page_binary SELECT '\x01', s, '{}' FROM unnest('{"\\x00", "\\xff", "\\x7f"}'::bytea[]) s;
SELECT items, last_evaluated_key FROM kv.query_page('read_page_binary', 'pk = :p', '{":p": {"$B": "AQ=="}}', page_size => 1);
SELECT items, last_evaluated_key FROM kv.query_page('read_page_binary', 'pk = :p', '{":p": {"$B": "AQ=="}}', exclusive_start_key => '{"pk": {"$B": "AQ=="}, "b": {"$B": "AA=="}}');
SELECT kv.drop_table('read_page_binary');

DROP FUNCTION read_page_walk;
