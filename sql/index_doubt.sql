-- What changes a table or an index and is undone again, with writes in between that nobody could capture.
SET client_min_messages = warning;
-- whether the index has just what it is to have, once all is applied
CREATE FUNCTION id_is_right(index text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM kv.apply_changes();
	RETURN NOT EXISTS ((SELECT i FROM kv.scan('index_doubt') i WHERE i ? 'a' EXCEPT ALL SELECT i FROM kv.scan('index_doubt', index => index) i)
		UNION ALL (SELECT i FROM kv.scan('index_doubt', index => index) i EXCEPT ALL SELECT i FROM kv.scan('index_doubt') i WHERE i ? 'a'));
END $$;
SELECT kv.create_table('index_doubt', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('index_doubt', 'id_by_a', 'a');
INSERT INTO index_doubt SELECT 'P' || n, 'S', jsonb_build_object('a', 'first') FROM generate_series(1, 8) n;
SELECT id_is_right('id_by_a');

-- a key column of the index that has another name meanwhile
ALTER TABLE id_by_a RENAME COLUMN a TO b;
SELECT kv.put_item('index_doubt', '{"pk": "P1", "sk": "S", "a": "by another name"}');
ALTER TABLE id_by_a RENAME COLUMN b TO a;
SELECT id_is_right('id_by_a');
-- the same undone by a rollback
BEGIN;
ALTER TABLE id_by_a RENAME COLUMN a TO b;
INSERT INTO index_doubt VALUES ('P2', 'T', '{"a": "undone"}');
ROLLBACK;
SELECT id_is_right('id_by_a');

-- a table that is none for a while
ALTER TABLE index_doubt ALTER COLUMN item DROP NOT NULL;
INSERT INTO index_doubt VALUES ('P3', 'T', '{"a": "no table"}');
ALTER TABLE index_doubt ALTER COLUMN item SET NOT NULL;
SELECT id_is_right('id_by_a');
ALTER TABLE index_doubt RENAME COLUMN item TO thing;
INSERT INTO index_doubt VALUES ('P4', 'T', '{"a": "no table"}');
ALTER TABLE index_doubt RENAME COLUMN thing TO item;
SELECT id_is_right('id_by_a');
-- items that are others at a stroke
BEGIN;
ALTER TABLE index_doubt DROP COLUMN item;
ALTER TABLE index_doubt ADD COLUMN item jsonb NOT NULL DEFAULT '{}';
COMMIT;
SELECT id_is_right('id_by_a'), (SELECT count(*) FROM kv.scan('index_doubt', index => 'id_by_a')) AS entries;
INSERT INTO index_doubt SELECT 'P' || n, 'U', jsonb_build_object('a', 'again') FROM generate_series(1, 8) n;
SELECT id_is_right('id_by_a');

-- the capture trigger dropped, and made again with another index
DROP TRIGGER kv_capture ON index_doubt;
INSERT INTO index_doubt SELECT 'P' || n, 'V', jsonb_build_object('a', 'not captured') FROM generate_series(1, 8) n;
SELECT kv.create_global_index('index_doubt', 'id_other', 'a', 'sk');
SELECT id_is_right('id_by_a'), id_is_right('id_other');

-- a truncation that is undone, and a partition's that is not
BEGIN;
SAVEPOINT s;
TRUNCATE index_doubt;
ROLLBACK TO s;
TRUNCATE index_doubt_p1;
COMMIT;
SELECT id_is_right('id_by_a'), id_is_right('id_other');

-- an index is not made beneath a command that writes to the table, which would not capture for it
INSERT INTO index_doubt SELECT 'P' || n, 'W', jsonb_build_object('a', kv.create_global_index('index_doubt', 'id_beneath', 'a')::text) FROM generate_series(1, 2) n;
SELECT kv.drop_table('index_doubt');
DROP FUNCTION id_is_right;

-- a table, or an index, that a crash would empty has no index that can be read, until it is logged again
SELECT kv.create_table('index_doubt_unlogged', 'pk', partitions => 2);
SELECT kv.create_global_index('index_doubt_unlogged', 'idu', 'a');
SELECT kv.put_item('index_doubt_unlogged', '{"pk": "P1", "a": "x"}'), kv.put_item('index_doubt_unlogged', '{"pk": "P2", "a": "x"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
ALTER TABLE index_doubt_unlogged_p1 SET UNLOGGED;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT state, detail FROM kv.indexes WHERE index_name = 'idu';
SELECT kv.scan('index_doubt_unlogged', index => 'idu');
SELECT kv.wait_for_index('index_doubt_unlogged', 'idu');
SELECT kv.put_item('index_doubt_unlogged', '{"pk": "P3", "a": "x"}');
ALTER TABLE index_doubt_unlogged_p1 SET LOGGED;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_doubt_unlogged', index => 'idu');
BEGIN;
ALTER TABLE idu_p0 SET UNLOGGED;
ALTER TABLE idu_p1 SET UNLOGGED;
COMMIT;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT state, detail FROM kv.indexes WHERE index_name = 'idu';
ALTER TABLE idu_p0 SET LOGGED;
ALTER TABLE idu_p1 SET LOGGED;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_doubt_unlogged', index => 'idu');
SELECT kv.drop_table('index_doubt_unlogged');

-- a table with an index of its own that is another table's partition for a while
SELECT kv.create_table('index_doubt_big', 'pk', partitions => 1);
DROP TABLE index_doubt_big_p0;
CREATE TABLE index_doubt_own (pk text COLLATE "C" NOT NULL, item jsonb NOT NULL DEFAULT '{}',
	CONSTRAINT index_doubt_big_item_check CHECK (kv.check_item(tableoid, item, pk)), PRIMARY KEY (pk)) USING key_value;
SELECT kv.create_global_index('index_doubt_own', 'ido', 'a');
SELECT kv.put_item('index_doubt_own', '{"pk": "P1", "a": "x"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
ALTER TABLE index_doubt_big ATTACH PARTITION index_doubt_own FOR VALUES WITH (MODULUS 1, REMAINDER 0);
SELECT kv.put_item('index_doubt_big', '{"pk": "P1", "a": "y"}');
ALTER TABLE index_doubt_big DETACH PARTITION index_doubt_own;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_doubt_own', index => 'ido');
DROP TABLE index_doubt_big, index_doubt_own;
