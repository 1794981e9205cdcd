-- Local indexes: a collection in another order, current at every moment.
SET client_min_messages = warning;
SELECT kv.create_table('index_local', 'pk', 'sk', partitions => 3);
SELECT kv.create_local_index('index_local', 'il_title', 'title');
SELECT kv.create_local_index('index_local', 'il_n', 'n', 'N', 'KEYS_ONLY');
SELECT kv.create_local_index('index_local', 'il_bytes', 'bytes', sort_key_type => 'B', projection => 'INCLUDE', include => ARRAY['title', 'a "b" \c']);
SELECT pg_get_indexdef(oid) FROM pg_class WHERE relname IN ('il_title', 'il_n', 'il_bytes') ORDER BY relname;
SELECT index_name, kind, partition_key, partition_key_type, sort_key, sort_key_type, projection, include, state, detail, pending FROM kv.indexes
	WHERE table_name = 'index_local'::regclass ORDER BY 1;
SELECT kv.describe_table('index_local') -> 'LocalSecondaryIndexes' AS local;

SELECT count(kv.put_item('index_local', jsonb_strip_nulls(jsonb_build_object('pk', 'P' || n % 2, 'sk', 'S' || lpad(n::text, 2, '0'),
	'title', CASE WHEN n % 4 <> 0 THEN chr(96 + 13 - n % 12) END, 'n', CASE WHEN n % 3 = 0 THEN -n / 10.0 END,
	'bytes', CASE WHEN n % 5 = 0 THEN jsonb_build_object('$B', encode(decode(lpad(to_hex(255 - n), 2, '0'), 'hex'), 'base64')) END,
	'a "b" \c', n)))) FROM generate_series(1, 24) n;
SELECT kv.query('index_local', 'pk = :p', '{":p": "P1"}', index => 'il_title', projection => 'sk, title');
SELECT kv.query('index_local', 'pk = :p AND title > :t', '{":p": "P1", ":t": "f"}', index => 'il_title', scan_forward => false, projection => 'sk, title');
SELECT kv.query('index_local', 'pk = :p AND title = :t', '{":p": "P1", ":t": "d"}', index => 'il_title', consistent_read => true);
SELECT kv.query('index_local', 'pk = :p AND n BETWEEN :a AND :b', '{":p": "P0", ":a": -2, ":b": -1}', index => 'il_n');
-- attributes that are not projected come if they are asked for
SELECT kv.query('index_local', 'pk = :p', '{":p": "P1"}', index => 'il_n', projection => 'n, title', max_items => 2);
SELECT kv.query('index_local', 'pk = :p', '{":p": "P1"}', index => 'il_bytes');
SELECT kv.query('index_local', 'pk = :p AND bytes >= :b', '{":p": "P0", ":b": {"$B": "8Q=="}}', index => 'il_bytes', projection => 'sk, bytes');
SELECT kv.query('index_local', 'pk = :p', '{":p": "P0", ":s": "S18"}', index => 'il_n', filter => 'sk < :s', projection => 'sk, n');

-- pages through equal index keys, each item once
CREATE FUNCTION il_walk(forward bool, size int) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE page record; last jsonb;
BEGIN
	LOOP
		SELECT * INTO page FROM kv.query_page('index_local', 'pk = :p', '{":p": "P1"}', index => 'il_title',
			scan_forward => forward, exclusive_start_key => last, page_size => size);
		RETURN QUERY SELECT jsonb_array_elements(page.items);
		last := page.last_evaluated_key;
		EXIT WHEN last IS NULL;
	END LOOP;
END $$;
SELECT item ->> 'title' AS title, item ->> 'sk' AS sk FROM il_walk(true, 5) item;
SELECT (SELECT array_agg(w) FROM il_walk(true, 1) w) = (SELECT array_agg(w) FROM il_walk(true, 100) w) AS forward,
	(SELECT array_agg(w ORDER BY n DESC) FROM il_walk(false, 2) WITH ORDINALITY x(w, n)) = (SELECT array_agg(w) FROM il_walk(true, 100) w) AS backward;
SELECT last_evaluated_key FROM kv.query_page('index_local', 'pk = :p', '{":p": "P1"}', index => 'il_title', page_size => 2);
SELECT last_evaluated_key FROM kv.query_page('index_local', 'pk = :p', '{":p": "P0"}', index => 'il_bytes', page_size => 1);

-- a scan reads what the index has
SELECT count(*), count(item ->> 'n'), count(item ->> 'title') FROM kv.scan('index_local', index => 'il_n') item;
SELECT (SELECT count(*) FROM kv.scan('index_local', index => 'il_title', segment => 0, total_segments => 2)) +
	(SELECT count(*) FROM kv.scan('index_local', index => 'il_title', segment => 1, total_segments => 2)) AS all_segments;

-- current in the same transaction, and gone when it rolls back
BEGIN;
SELECT kv.update_item('index_local', '{"pk": "P1", "sk": "S01"}', 'SET title = :t', attribute_values => '{":t": "zz"}');
SELECT kv.query('index_local', 'pk = :p AND title = :t', '{":p": "P1", ":t": "zz"}', index => 'il_title', projection => 'sk');
ROLLBACK;
SELECT kv.query('index_local', 'pk = :p AND title = :t', '{":p": "P1", ":t": "zz"}', index => 'il_title', projection => 'sk');

-- what cannot be a key is refused when it is written
SELECT kv.put_item('index_local', '{"pk": "P1", "sk": "X", "title": 1}');
SELECT kv.put_item('index_local', '{"pk": "P1", "sk": "X", "n": "1"}');
SELECT kv.put_item('index_local', '{"pk": "P1", "sk": "X", "bytes": "x"}');
SELECT kv.put_item('index_local', '{"pk": "P1", "sk": "X", "title": ""}');
SELECT kv.put_item('index_local', '{"pk": "P1", "sk": "X", "title": null}');
SELECT kv.put_item('index_local', jsonb_build_object('pk', 'P1', 'sk', 'X', 'title', repeat('x', 1025)));
UPDATE index_local SET item = item || '{"title": [1]}' WHERE pk = 'P1' AND sk = 'S01';
-- and an index over such items is not made
SELECT kv.put_item('index_local', '{"pk": "P1", "sk": "mixed", "mixed": 1}');
SELECT kv.put_item('index_local', '{"pk": "P1", "sk": "mixed 2", "mixed": "x"}');
SELECT kv.create_local_index('index_local', 'il_mixed', 'mixed');

-- partitions attached later are part of it
CREATE TABLE index_local_more (LIKE index_local INCLUDING ALL) USING key_value;
ALTER TABLE index_local DETACH PARTITION index_local_p1;
ALTER TABLE index_local ATTACH PARTITION index_local_more FOR VALUES WITH (MODULUS 3, REMAINDER 1);
SELECT kv.put_item('index_local', jsonb_build_object('pk', 'Q' || n, 'sk', 'S', 'title', 't')) FROM generate_series(1, 6) n;
SELECT count(*) FROM generate_series(1, 6) n, LATERAL (SELECT kv.query('index_local', 'pk = :p', jsonb_build_object(':p', 'Q' || n), index => 'il_title')) q;

SELECT kv.drop_index('index_local', 'il_n');
SELECT kv.query('index_local', 'pk = :p', '{":p": "P0"}', index => 'il_n');
DROP INDEX il_bytes;
SELECT index_name FROM kv.indexes WHERE table_name = 'index_local'::regclass;
SELECT kv.drop_table('index_local');
DROP TABLE index_local_p1;
DROP FUNCTION il_walk;
