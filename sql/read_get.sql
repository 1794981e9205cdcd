-- Point reads: kv.get and kv.get_item.
\pset null '(null)'

SELECT kv.create_table('read_get', 'pk', 'sk');
INSERT INTO read_get VALUES
	('a', '1', '{"n": 1, "m": {"x": [1, 2, 3], "y": "z"}}'),
	('a', '10', '{}'),
	('a', '2', '{"n": null}'),
	('ä', '€', '{"big": "b"}'),
	('b', '1', jsonb_build_object('text', repeat('x', 100000)));

-- the whole item, key attributes and the rest joined
SELECT kv.get('read_get', 'a', '1');
SELECT kv.get('read_get', 'a', '10');
SELECT kv.get('read_get', 'a', '2');
SELECT kv.get('read_get', 'ä', '€');
SELECT kv.get(partition_key => 'a', table_name => 'read_get', sort_key => '1') = kv.get('read_get', 'a', '1') AS by_name;

-- absent: NULL, also for a key that is the beginning of another
SELECT kv.get('read_get', 'a', '3'), kv.get('read_get', 'c', '1'), kv.get('read_get', 'a', '100');

-- a value that Postgres stores out of line
SELECT length(kv.get('read_get', 'b', '1')->>'text'), kv.get('read_get', 'b', '1')->>'sk' AS sk;

-- the key as JSON, members in any order; parts of the item
SELECT kv.get_item('read_get', '{"sk": "1", "pk": "a"}');
SELECT kv.get_item('read_get', '{"pk": "a", "sk": "3"}');
SELECT kv.get_item('read_get', '{"pk": "a", "sk": "1"}', 'n, m.x[1]');
SELECT kv.get_item('read_get', '{"pk": "a", "sk": "1"}', 'sk, #m.y', '{"#m": "m"}');
SELECT kv.get_item('read_get', '{"pk": "a", "sk": "1"}', 'nothing');
SELECT kv.get_item('read_get', '{"pk": "a", "sk": "9"}', 'n');
SELECT kv.get_item('read_get', '{"pk": "a", "sk": "1"}', consistent_read => false) = kv.get('read_get', 'a', '1') AS same;

-- many keys in one statement, and keys out of another table
SELECT k, kv.get('read_get', 'a', k)->'n' AS n FROM unnest(ARRAY['1', '2', '3']) WITH ORDINALITY AS u(k, o) ORDER BY o;

-- the statement's snapshot: what the transaction wrote before is there, what comes later is not
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO read_get VALUES ('own', '1', '{}');
SELECT kv.get('read_get', 'own', '1');
SAVEPOINT s;
UPDATE read_get SET item = '{"v": 2}' WHERE pk = 'own' AND sk = '1';
SELECT kv.get('read_get', 'own', '1');
ROLLBACK TO s;
SELECT kv.get('read_get', 'own', '1');
DELETE FROM read_get WHERE pk = 'own' AND sk = '1';
SELECT kv.get('read_get', 'own', '1');
ROLLBACK;

-- a prepared statement sees tables as they are now
PREPARE read_get_one(text, text) AS SELECT kv.get('read_get', $1, $2);
SET plan_cache_mode = force_generic_plan;
EXECUTE read_get_one('a', '10');
ALTER TABLE read_get RENAME COLUMN sk TO "Sort Key";
EXECUTE read_get_one('a', '10');
ALTER TABLE read_get RENAME COLUMN "Sort Key" TO sk;
TRUNCATE read_get;
EXECUTE read_get_one('a', '10');
RESET plan_cache_mode;
DEALLOCATE read_get_one;
SELECT kv.drop_table('read_get');

-- number keys: 1.0 and 1 are one key, and the text may be written in any way
SELECT kv.create_table('read_get_number', 'id', 'at', 'N', 'N');
INSERT INTO read_get_number VALUES (1, -2.5, '{"v": "a"}'), (12345678901234567890123456789012345678, 1e-100, '{"v": "b"}');
SELECT kv.get('read_get_number', '1.0', '-25e-1');
SELECT kv.get_item('read_get_number', '{"id": 1.00, "at": -2.50}');
SELECT kv.get('read_get_number', '12345678901234567890123456789012345678', '1E-100')->>'v' AS v;
SELECT kv.get('read_get_number', '2', '2');
SELECT kv.drop_table('read_get_number');

-- binary keys, as base64; and a table without a sort key
SELECT kv.create_table('read_get_binary', 'id', partition_key_type => 'B');
INSERT INTO read_get_binary VALUES ('\x00ff', '{"v": 1}'), ('\x00', '{"v": 2}');
SELECT kv.get('read_get_binary', 'AP8=');
SELECT kv.get_item('read_get_binary', '{"id": {"$B": "AA=="}}');
SELECT kv.get('read_get_binary', 'AA==', NULL);
SELECT kv.get('read_get_binary', '/w==');
SELECT kv.drop_table('read_get_binary');

-- a table made by hand, of one partition, with its columns in another order
CREATE TABLE read_get_hand (
	item jsonb NOT NULL,
	gone int,
	sk bytea NOT NULL,
	pk text COLLATE "C" NOT NULL,
	PRIMARY KEY (pk, sk)
) USING key_value;
ALTER TABLE read_get_hand DROP COLUMN gone;
INSERT INTO read_get_hand(pk, sk, item) VALUES ('p', '\x01', '{"v": 1}');
SELECT kv.get('read_get_hand', 'p', 'AQ==');
DROP TABLE read_get_hand;

-- a temporary table: the workers of a parallel query cannot read it, so the call stays with the leader
SELECT kv.create_table('pg_temp.read_get_temporary', 'id', partitions => 1);
SELECT kv.put_item('pg_temp.read_get_temporary', '{"id": "a", "v": 1}');
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT kv.get('pg_temp.read_get_temporary', 'a');
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
DROP TABLE read_get_temporary;
