-- Capture: which writes make a record of the change log, and what they refuse.
SET client_min_messages = warning;
SELECT kv.create_table('index_capture', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('index_capture', 'ic_a', 'a', projection => 'KEYS_ONLY');
SELECT kv.create_global_index('index_capture', 'ic_b', 'b', 'n', 'S', 'N', projection => 'INCLUDE', include => '{x,y}');
-- the records that the current transaction made
CREATE VIEW ic_log AS SELECT number, change FROM (
	TABLE kv.change_log_0 UNION ALL TABLE kv.change_log_1 UNION ALL TABLE kv.change_log_2 UNION ALL TABLE kv.change_log_3 UNION ALL
	TABLE kv.change_log_4 UNION ALL TABLE kv.change_log_5 UNION ALL TABLE kv.change_log_6 UNION ALL TABLE kv.change_log_7) l
	WHERE xid = pg_current_xact_id_if_assigned() AND base = 'index_capture'::regclass;
-- runs a statement and tells how many records it made
CREATE FUNCTION ic(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE before bigint;
BEGIN
	SELECT count(*) INTO before FROM ic_log;
	EXECUTE statement;
	RETURN (SELECT count(*) FROM ic_log) - before;
END $$;

BEGIN;
SELECT ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "other": 1}')$$) AS no_index_has_it,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a"}')$$) AS put,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a"}')$$) AS the_same,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a", "other": 2, "x": 1}')$$) AS not_projected,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a", "b": "b"}')$$) AS half_a_key,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a", "b": "b", "n": 1}')$$) AS both_keys,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a", "b": "b", "n": 1.0}')$$) AS equal_number,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a", "b": "b", "n": 1, "z": 1}')$$) AS not_included,
	ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "a", "b": "b", "n": 1, "x": [1]}')$$) AS included,
	ic($$SELECT kv.update_item('index_capture', '{"pk": "P", "sk": "1"}', 'SET a = :a, b = :a, n = :n', attribute_values => '{":a": "c", ":n": 2}')$$) AS two_keys_move,
	ic($$UPDATE index_capture SET item = item - 'a' WHERE pk = 'P' AND sk = '1'$$) AS key_goes,
	ic($$UPDATE index_capture SET sk = '2' WHERE pk = 'P' AND sk = '1'$$) AS item_moves,
	ic($$DELETE FROM index_capture WHERE pk = 'P' AND sk = '2'$$) AS item_goes,
	ic($$SELECT kv.delete_item('index_capture', '{"pk": "P", "sk": "2"}')$$) AS nothing_there;
-- key of the item, where its row was put, and the old keys that go away: not the item
SELECT number, length(change) FROM ic_log ORDER BY number;
ROLLBACK;

-- many rows in one statement, COPY, ON CONFLICT, a savepoint: a record for each row that stays
BEGIN;
SELECT ic($$INSERT INTO index_capture SELECT 'P' || n % 5, n::text, jsonb_build_object('a', 'x') FROM generate_series(1, 10) n$$) AS inserted,
	ic($$INSERT INTO index_capture VALUES ('P1', '1', '{"a": "y"}') ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item$$) AS upserted,
	ic($$INSERT INTO index_capture VALUES ('P1', '1', '{"a": "z"}') ON CONFLICT DO NOTHING$$) AS not_inserted,
	ic($$UPDATE index_capture SET item = item || '{"a": "w"}' WHERE pk IN ('P1', 'P2')$$) AS updated,
	ic($$WITH gone AS (DELETE FROM index_capture WHERE pk = 'P3' RETURNING *) INSERT INTO index_capture SELECT 'P9', sk, item FROM gone$$) AS moved;
COPY index_capture FROM stdin;
P7	1	{"a": "copied"}
P7	2	{"other": "copied"}
\.
SELECT count(*) FROM ic_log;
SAVEPOINT s;
SELECT ic($$SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "gone", "a": "a"}')$$);
ROLLBACK TO s;
SELECT count(*) FROM ic_log;
UPDATE index_capture SET pk = 'P8' WHERE pk = 'P7' AND sk = '1';
SELECT count(*) FROM ic_log;
ROLLBACK;

-- in one transaction: what it wrote is in the index when it applied it itself, and gone when it rolls back
BEGIN;
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "mine"}');
SELECT kv.apply_changes() > 0 AS applied;
SELECT kv.query('index_capture', 'a = :a', '{":a": "mine"}', index => 'ic_a');
SELECT kv.update_item('index_capture', '{"pk": "P", "sk": "1"}', 'SET a = :a', attribute_values => '{":a": "moved"}');
SELECT kv.apply_changes() > 0 AS applied;
SELECT kv.query('index_capture', 'a = :a', '{":a": "mine"}', index => 'ic_a');
SELECT kv.query('index_capture', 'a = :a', '{":a": "moved"}', index => 'ic_a');
ROLLBACK;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_capture', 'a = :a', '{":a": "moved"}', index => 'ic_a');

-- what cannot be a key is refused when it is written, whichever way
DO $$ BEGIN PERFORM kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": 1}'); EXCEPTION WHEN OTHERS THEN RAISE WARNING '% %', SQLSTATE, SQLERRM; END $$;
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": ""}');
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": null}');
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": {"$SS": ["x"]}}');
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "n": "1"}');
SELECT kv.put_item('index_capture', jsonb_build_object('pk', 'P', 'sk', '1', 'a', repeat('x', 2049)));
INSERT INTO index_capture VALUES ('P', '1', '{"a": [1]}');
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "1", "a": "fine", "b": "x", "n": 1}');
UPDATE index_capture SET item = '{"a": true}' WHERE pk = 'P' AND sk = '1';
SELECT kv.update_item('index_capture', '{"pk": "P", "sk": "1"}', 'SET n = :n', attribute_values => '{":n": {"$B": "AA=="}}');
COPY index_capture FROM stdin;
P	3	{"b": 1}
\.
-- keys that fit each limit but no btree entry together
SELECT kv.put_item('index_capture', jsonb_build_object('pk', (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 40) n), 'sk', '1',
	'a', (SELECT string_agg(md5(n::text), '') FROM generate_series(100, 163) n)));

-- an item from before the index with an attribute that cannot be a key: left out, but it can be written to
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "odd", "c": 5, "d": "x"}');
SELECT kv.put_item('index_capture', '{"pk": "P", "sk": "even", "c": "5", "d": "x"}');
SELECT kv.create_global_index('index_capture', 'ic_c', 'c');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_capture', index => 'ic_c');
SELECT kv.update_item('index_capture', '{"pk": "P", "sk": "odd"}', 'SET d = :d', attribute_values => '{":d": "y"}');
SELECT kv.update_item('index_capture', '{"pk": "P", "sk": "odd"}', 'SET c = :c', attribute_values => '{":c": 6}');
SELECT kv.update_item('index_capture', '{"pk": "P", "sk": "odd"}', 'SET c = :c', attribute_values => '{":c": "6"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_capture', index => 'ic_c');

-- items are found although their rows are no longer where the changes put them, and others are there
SELECT kv.create_table('index_place', 'pk', 'sk', partitions => 1);
SELECT kv.create_global_index('index_place', 'ip_a', 'a');
SELECT kv.apply_changes() IS NOT NULL AS applied;
BEGIN;
SELECT count(*) FROM (SELECT kv.put_item('index_place', jsonb_build_object('pk', 'P', 'sk', n::text, 'a', 'x' || n)) FROM generate_series(1, 4) n) q;
SELECT kv.delete_item('index_place', '{"pk": "P", "sk": "1"}');
ALTER TABLE index_place ADD COLUMN more float8 DEFAULT random();
SELECT kv.update_item('index_place', '{"pk": "P", "sk": "4"}', 'SET a = :a', attribute_values => '{":a": "y4"}');
SELECT kv.apply_changes() AS changes;
SET LOCAL key_value.allow_scan = on;
SELECT a, sk FROM ip_a ORDER BY a, sk;
ROLLBACK;
SELECT kv.drop_table('index_place');

DROP FUNCTION ic;
DROP VIEW ic_log;
SELECT kv.drop_table('index_capture');
