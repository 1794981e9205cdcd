-- Global indexes: items found by other keys, as they were when changes were applied.
SET client_min_messages = warning;
SELECT kv.create_table('index_global', 'pk', 'sk', partitions => 4);
SELECT kv.create_global_index('index_global', 'ig_status', 'status', 'n', sort_key_type => 'N');
SELECT kv.create_global_index('index_global', 'ig_owner', 'owner');
SELECT kv.create_global_index('index_global', 'ig_inverted', 'sk', 'pk', projection => 'KEYS_ONLY');
SELECT kv.create_global_index('index_global', 'ig_tag', 'tag', 'sk', partition_key_type => 'B', projection => 'INCLUDE', include => '{title,n}');

-- what they are made of
SELECT attname, format_type(atttypid, NULL), attnotnull FROM pg_attribute WHERE attrelid = 'ig_status'::regclass AND attnum > 0 ORDER BY attnum;
SELECT pg_get_partkeydef('ig_status'::regclass), (SELECT count(*) FROM pg_inherits WHERE inhparent = 'ig_status'::regclass);
SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'p' AND conrelid::regclass::text IN ('ig_status', 'ig_owner', 'ig_inverted', 'ig_tag') ORDER BY conrelid::regclass::text COLLATE "C";
SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid IN ('index_global'::regclass, 'ig_status'::regclass, 'ig_tag'::regclass) ORDER BY 1, 2;
SELECT index_name, kind, partition_key, partition_key_type, sort_key, sort_key_type, projection, include, state, detail, pending, last_error
	FROM kv.indexes WHERE table_name = 'index_global'::regclass ORDER BY 1;
SELECT jsonb_pretty(kv.describe_table('index_global') - '{TableSizeBytes,ItemCount,Partitions}'::text[] #- '{GlobalSecondaryIndexes,0,IndexSizeBytes}'
	#- '{GlobalSecondaryIndexes,1}' #- '{GlobalSecondaryIndexes,1}' #- '{GlobalSecondaryIndexes,1,IndexSizeBytes}');
SELECT table_name FROM kv.tables WHERE table_name::text LIKE 'ig%';

-- thirty items; an index has those that have its key
SELECT count(kv.put_item('index_global', jsonb_strip_nulls(jsonb_build_object('pk', 'P' || n % 3, 'sk', 'S' || lpad(n::text, 2, '0'), 'n', n,
	'status', CASE n % 3 WHEN 0 THEN 'OPEN' WHEN 1 THEN 'DONE' END, 'owner', CASE WHEN n % 2 = 0 THEN 'o' || n % 4 END,
	'tag', CASE WHEN n % 5 = 0 THEN '{"$B": "AQI="}'::jsonb END, 'title', 'title ' || n)))) FROM generate_series(1, 30) n;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_global', '#s = :s', '{":s": "OPEN"}', '{"#s": "status"}', index => 'ig_status');
SELECT kv.query('index_global', '#s = :s AND n BETWEEN :a AND :b', '{":s": "OPEN", ":a": 6, ":b": 15}', '{"#s": "status"}', index => 'ig_status', scan_forward => false);
SELECT kv.query('index_global', '#s = :s AND n > :a', '{":s": "OPEN", ":a": 20, ":t": "title 24"}', '{"#s": "status"}', index => 'ig_status', filter => 'title <> :t', projection => 'sk, n');
SELECT kv.query('index_global', '#o = :o', '{":o": "o2"}', '{"#o": "owner"}', index => 'ig_owner', max_items => 2);
SELECT kv.query('index_global', 'sk = :s', '{":s": "S07"}', index => 'ig_inverted');
SELECT kv.query('index_global', 'tag = :t AND begins_with(sk, :s)', '{":t": {"$B": "AQI="}, ":s": "S1"}', index => 'ig_tag');
SELECT count(*), count(item ->> 'title') FROM kv.scan('index_global', index => 'ig_tag') item;
SELECT count(*) FROM kv.scan('index_global', index => 'ig_status', filter => 'n > :n', attribute_values => '{":n": 10}');
-- a key of the table is no key of this index, so a filter may name it
SELECT kv.query('index_global', '#s = :s', '{":s": "OPEN", ":p": "S03"}', '{"#s": "status"}', index => 'ig_status', filter => 'sk = :p');

-- pages through equal index keys, forward and backward, each item once
CREATE FUNCTION ig_walk(forward bool, size int) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE page record; last jsonb;
BEGIN
	LOOP
		SELECT * INTO page FROM kv.query_page('index_global', '#o = :o', '{":o": "o0"}', '{"#o": "owner"}', index => 'ig_owner',
			scan_forward => forward, exclusive_start_key => last, page_size => size);
		RETURN QUERY SELECT jsonb_array_elements(page.items);
		last := page.last_evaluated_key;
		EXIT WHEN last IS NULL;
	END LOOP;
END $$;
SELECT item ->> 'pk' AS pk, item ->> 'sk' AS sk FROM ig_walk(true, 3) item;
SELECT (SELECT array_agg(w) FROM ig_walk(true, 1) w) = (SELECT array_agg(w) FROM ig_walk(true, 100) w) AS forward,
	(SELECT array_agg(w ORDER BY n DESC) FROM ig_walk(false, 2) WITH ORDINALITY x(w, n)) = (SELECT array_agg(w) FROM ig_walk(true, 100) w) AS backward;
SELECT last_evaluated_key FROM kv.query_page('index_global', '#s = :s', '{":s": "OPEN"}', '{"#s": "status"}', index => 'ig_status', page_size => 2);
SELECT last_evaluated_key, jsonb_array_length(items) FROM kv.scan_page('index_global', index => 'ig_inverted', page_size => 1);

-- plain SQL on the index, through the same guard and node
SELECT * FROM ig_status WHERE status = 'OPEN' ORDER BY n DESC LIMIT 2;
EXPLAIN (COSTS OFF) SELECT * FROM ig_status WHERE status = 'OPEN' AND n > 3 ORDER BY n LIMIT 20;
EXPLAIN (COSTS OFF) SELECT * FROM ig_owner WHERE owner = 'o2' ORDER BY pk, sk;
SELECT sk FROM ig_owner WHERE owner = 'o2' AND pk = 'P1' AND sk > 'S1' ORDER BY sk;
EXPLAIN (COSTS OFF) SELECT sk FROM ig_status WHERE status = 'OPEN' AND n > 5 AND pk = 'P0' AND sk < 'S2';
SELECT sk FROM ig_status WHERE status = 'OPEN' AND n > 5 AND pk = 'P0' AND sk < 'S2';
SELECT * FROM ig_status;
SELECT * FROM ig_status WHERE n = 3;
SELECT s.n, b.item ->> 'title' AS title FROM ig_status s JOIN index_global b ON b.pk = s.pk AND b.sk = s.sk WHERE s.status = 'DONE' AND s.n < 8 ORDER BY 1;
-- the refusal of a query on the table names the index that would serve
SELECT * FROM index_global WHERE item ->> 'status' = 'OPEN';
SELECT * FROM index_global WHERE sk = 'S07';
SELECT * FROM index_global WHERE item @> '{"owner": "o2"}';
SELECT * FROM index_global WHERE item ->> 'title' = 'x';

-- changes of all kinds, then each index holds what the items say
UPDATE index_global SET item = item || '{"status": "DONE"}' WHERE pk = 'P0' AND sk IN ('S03', 'S06');
DELETE FROM index_global WHERE pk = 'P1' AND sk = 'S10';
SELECT kv.delete_item('index_global', '{"pk": "P2", "sk": "S20"}');
SELECT kv.update_item('index_global', '{"pk": "P0", "sk": "S09"}', 'REMOVE #s', attribute_names => '{"#s": "status"}');
UPDATE index_global SET sk = 'S99' WHERE pk = 'P0' AND sk = 'S12';
INSERT INTO index_global VALUES ('P9', 'S50', '{"status": "OPEN", "n": 50}');
SELECT kv.query('index_global', '#s = :s', '{":s": "OPEN"}', '{"#s": "status"}', index => 'ig_status', projection => 'pk, sk, n') WHERE false;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_global', '#s = :s', '{":s": "OPEN"}', '{"#s": "status"}', index => 'ig_status', projection => 'pk, sk, n');
SELECT kv.query('index_global', '#s = :s', '{":s": "DONE"}', '{"#s": "status"}', index => 'ig_status', projection => 'pk, sk, n');
SELECT kv.query('index_global', 'sk = :s', '{":s": "S12"}', index => 'ig_inverted');
SELECT kv.query('index_global', 'sk = :s', '{":s": "S99"}', index => 'ig_inverted');

-- an index made on a table with items: not readable until it is filled
BEGIN;
SELECT kv.create_global_index('index_global', 'ig_late', 'owner', 'n', sort_key_type => 'N', projection => 'KEYS_ONLY');
SELECT state, detail FROM kv.indexes WHERE index_name = 'ig_late';
SAVEPOINT s;
SELECT kv.query('index_global', '#o = :o', '{":o": "o2"}', '{"#o": "owner"}', index => 'ig_late');
ROLLBACK TO s;
SELECT * FROM ig_late WHERE owner = 'o2';
ROLLBACK TO s;
SELECT (d -> 'IndexStatus')::text, (d -> 'Backfilling')::text FROM jsonb_array_elements(kv.describe_table('index_global') -> 'GlobalSecondaryIndexes') d WHERE d ->> 'IndexName' = 'ig_late';
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT state, detail FROM kv.indexes WHERE index_name = 'ig_late';
SELECT kv.query('index_global', '#o = :o', '{":o": "o2"}', '{"#o": "owner"}', index => 'ig_late');
COMMIT;
SELECT kv.wait_for_index('index_global', 'ig_late');
-- what is not committed is not waited for
BEGIN;
SELECT kv.put_item('index_global', '{"pk": "P1", "sk": "waiting", "owner": "o2", "n": 5}');
SELECT kv.wait_for_index('index_global', 'ig_late', '1 s');
ROLLBACK;

-- gone with the table, or by itself
SELECT kv.drop_index('index_global', 'ig_late');
SELECT kv.query('index_global', '#o = :o', '{":o": "o2"}', '{"#o": "owner"}', index => 'ig_late');
DROP TABLE ig_owner;
SELECT index_name FROM kv.indexes WHERE table_name = 'index_global'::regclass ORDER BY 1;
SELECT kv.put_item('index_global', '{"pk": "P1", "sk": "new", "owner": "o1"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.drop_table('index_global');
SELECT relname FROM pg_class WHERE relname LIKE 'ig\_%' AND relkind IN ('r', 'p');
DROP FUNCTION ig_walk;
