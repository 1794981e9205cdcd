-- Item functions are part of the caller's transaction.
SELECT kv.create_table('tx', 'pk', 'sk', partitions => 4);

-- Rolled back, nothing stays; within the transaction everything is seen.
BEGIN;
SELECT kv.put_item('tx', '{"pk": "a", "sk": "1", "v": 1}');
SELECT kv.get('tx', 'a', '1');
SELECT kv.put_item('tx', '{"pk": "a", "sk": "1", "v": 2}', 'v = :v', '{":v": 1}', return_values => 'ALL_OLD');
SELECT kv.delete_item('tx', '{"pk": "a", "sk": "1"}', return_values => 'ALL_OLD');
SELECT kv.put_item('tx', '{"pk": "a", "sk": "1", "v": 3}', 'attribute_not_exists(pk)', return_values => 'ALL_OLD');
SELECT * FROM tx WHERE pk = 'a';
ROLLBACK;
SELECT kv.get('tx', 'a', '1');

-- Savepoints.
BEGIN;
SELECT kv.put_item('tx', '{"pk": "a", "sk": "1", "v": 1}');
SAVEPOINT s;
SELECT kv.put_item('tx', '{"pk": "a", "sk": "1", "v": 2}');
SELECT kv.put_item('tx', '{"pk": "a", "sk": "2", "v": 2}');
ROLLBACK TO s;
SELECT * FROM tx WHERE pk = 'a' ORDER BY sk;
SELECT kv.put_item('tx', '{"pk": "a", "sk": "2", "v": 3}', 'attribute_not_exists(pk)', return_values => 'ALL_OLD');
SAVEPOINT s;
SELECT kv.delete_item('tx', '{"pk": "a", "sk": "1"}');
RELEASE s;
COMMIT;
SELECT * FROM tx WHERE pk = 'a' ORDER BY sk;

-- A failed condition in an exception block leaves the rest of the transaction alone.
DO $$
BEGIN
	PERFORM kv.put_item('tx', '{"pk": "b", "sk": "1"}');
	BEGIN
		PERFORM kv.put_item('tx', '{"pk": "b", "sk": "2"}');
		PERFORM kv.put_item('tx', '{"pk": "b", "sk": "1"}', 'attribute_not_exists(pk)');
	EXCEPTION WHEN SQLSTATE 'KV001' THEN
		RAISE NOTICE '%', SQLERRM;
	END;
	BEGIN
		PERFORM kv.put_item('tx', '{"pk": "b"}');
	EXCEPTION WHEN SQLSTATE 'KV007' THEN
		RAISE NOTICE '%', SQLERRM;
	END;
	PERFORM kv.put_item('tx', '{"pk": "b", "sk": "3"}');
END $$;
SELECT sk FROM tx WHERE pk = 'b' ORDER BY sk;

-- One key several times in one statement: the last wins, each on top of the one before.
SELECT kv.put_item('tx', jsonb_build_object('pk', 'c', 'sk', '1', 'n', n), return_values => 'ALL_OLD') FROM generate_series(1, 3) n;
SELECT kv.get('tx', 'c', '1');
SELECT kv.put_item('tx', '{"pk": "c", "sk": "2", "n": 1}', return_values => 'ALL_OLD'),
	kv.put_item('tx', '{"pk": "c", "sk": "2", "n": 2}', return_values => 'ALL_OLD'),
	kv.delete_item('tx', '{"pk": "c", "sk": "2"}', return_values => 'ALL_OLD'),
	kv.put_item('tx', '{"pk": "c", "sk": "2", "n": 3}', return_values => 'ALL_OLD');
SELECT kv.get('tx', 'c', '2');

-- Beside SQL that writes the same row in the same statement.
WITH inserted AS (INSERT INTO tx VALUES ('d', '1', '{"by": "sql"}') RETURNING pk, sk)
SELECT kv.put_item('tx', jsonb_build_object('pk', pk, 'sk', sk, 'by', 'function'), return_values => 'ALL_OLD') FROM inserted;
SELECT * FROM tx WHERE pk = 'd';
UPDATE tx SET item = '{"by": "sql"}' WHERE pk = 'd' AND sk = '1'
	RETURNING kv.put_item('tx', jsonb_build_object('pk', pk, 'sk', sk, 'by', 'function'), return_values => 'ALL_OLD');
SELECT * FROM tx WHERE pk = 'd';
-- A function in the row's new value comes first and is an error, as any function is that updates the row.
UPDATE tx SET item = jsonb_build_object('old', kv.put_item('tx', jsonb_build_object('pk', pk, 'sk', sk, 'by', 'function'), return_values => 'ALL_OLD'))
	WHERE pk = 'd' AND sk = '1';
SELECT * FROM tx WHERE pk = 'd';
DELETE FROM tx WHERE pk = 'd' AND sk = '1' RETURNING kv.put_item('tx', jsonb_build_object('pk', pk, 'sk', sk, 'by', 'function'), return_values => 'ALL_OLD');
SELECT * FROM tx WHERE pk = 'd';

-- Data of a relational table and an item come and go together.
CREATE TABLE tx_orders (id int PRIMARY KEY);
BEGIN;
INSERT INTO tx_orders VALUES (1);
SELECT kv.put_item('tx', '{"pk": "ORDER#1", "sk": "OUTBOX"}');
SAVEPOINT s;
INSERT INTO tx_orders VALUES (2);
SELECT kv.put_item('tx', '{"pk": "ORDER#2", "sk": "OUTBOX"}');
ROLLBACK TO s;
COMMIT;
SELECT id, kv.get('tx', 'ORDER#' || id, 'OUTBOX') FROM tx_orders ORDER BY id;
SELECT kv.get('tx', 'ORDER#2', 'OUTBOX');

-- Repeatable read and serializable, alone.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT kv.put_item('tx', '{"pk": "e", "sk": "1", "v": 1}');
SELECT kv.put_item('tx', '{"pk": "e", "sk": "1", "v": 2}', return_values => 'ALL_OLD');
SELECT kv.delete_item('tx', '{"pk": "e", "sk": "1"}', return_values => 'ALL_OLD');
SELECT kv.put_item('tx', '{"pk": "e", "sk": "1", "v": 3}', return_values => 'ALL_OLD');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT kv.put_item('tx', '{"pk": "e", "sk": "1", "v": 4}', 'v = :v', '{":v": 3}', return_values => 'ALL_OLD');
SAVEPOINT s;
SELECT kv.put_item('tx', '{"pk": "e", "sk": "1", "v": 5}', return_values => 'ALL_OLD');
ROLLBACK TO s;
SELECT kv.put_item('tx', '{"pk": "e", "sk": "2", "v": 5}', return_values => 'ALL_OLD');
COMMIT;
SELECT * FROM tx WHERE pk = 'e' ORDER BY sk;

-- DDL in the same transaction: what a call learnt of the table before is forgotten.
BEGIN;
SELECT kv.put_item('tx', '{"pk": "f", "sk": "1"}');
ALTER TABLE tx ADD note text DEFAULT 'new';
SELECT kv.put_item('tx', '{"pk": "f", "sk": "2"}');
ALTER TABLE tx ADD CONSTRAINT named CHECK (item ? 'name');
ROLLBACK;
BEGIN;
ALTER TABLE tx ADD note text DEFAULT 'new';
SELECT kv.put_item('tx', '{"pk": "f", "sk": "2"}');
SELECT * FROM tx WHERE pk = 'f' ORDER BY sk;
SAVEPOINT s;
ALTER TABLE tx DROP note;
SELECT kv.put_item('tx', '{"pk": "f", "sk": "2", "v": 1}');
SELECT * FROM tx WHERE pk = 'f' ORDER BY sk;
ROLLBACK TO s;
SELECT kv.put_item('tx', '{"pk": "f", "sk": "3"}');
SELECT * FROM tx WHERE pk = 'f' ORDER BY sk;
ROLLBACK;
SELECT kv.put_item('tx', '{"pk": "f", "sk": "2"}');
SELECT * FROM tx WHERE pk = 'f' ORDER BY sk;
BEGIN;
TRUNCATE tx;
SELECT kv.put_item('tx', '{"pk": "a", "sk": "2"}', return_values => 'ALL_OLD');
ROLLBACK;
SELECT kv.put_item('tx', '{"pk": "a", "sk": "2", "again": true}', return_values => 'ALL_OLD');

-- Through a cursor, and with a commit inside a procedure.
BEGIN;
DECLARE c CURSOR FOR SELECT kv.put_item('tx', jsonb_build_object('pk', 'g', 'sk', n::text), return_values => 'ALL_OLD') FROM generate_series(1, 5) n;
FETCH 2 FROM c;
CLOSE c;
COMMIT;
SELECT sk FROM tx WHERE pk = 'g' ORDER BY sk;
DO $$
BEGIN
	FOR n IN 1 .. 4 LOOP
		PERFORM kv.put_item('tx', jsonb_build_object('pk', 'h', 'sk', n::text));
		IF n % 2 = 0 THEN COMMIT; ELSE ROLLBACK; END IF;
	END LOOP;
END $$;
SELECT sk FROM tx WHERE pk = 'h' ORDER BY sk;

-- A call within a call: the argument of one writes the same leaf.
SELECT kv.put_item('tx', jsonb_build_object('pk', 'i', 'sk', '1', 'inner',
	kv.put_item('tx', '{"pk": "i", "sk": "2"}', on_condition_failure => 'return')), return_values => 'ALL_OLD');
SELECT sk, item FROM tx WHERE pk = 'i' ORDER BY sk;

-- Memory of the session does not grow with the number of calls.
CREATE FUNCTION tx_memory() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts $$;
DO $$
DECLARE
	start bigint;
	n int;
BEGIN
	FOR n IN 1 .. 2000 LOOP
		IF n = 500 THEN start := tx_memory(); END IF;
		PERFORM kv.put_item('tx', jsonb_build_object('pk', 'm' || n % 10, 'sk', 's', 'n', n), return_values => 'ALL_OLD');
		PERFORM kv.put_item('tx', jsonb_build_object('pk', 'm' || n % 10, 'sk', 's', 'n', n), 'n < :n', '{":n": 0}', on_condition_failure => 'return', return_values_on_failure => 'ALL_OLD');
		PERFORM kv.delete_item('tx', jsonb_build_object('pk', 'm' || n % 10, 'sk', 's'));
	END LOOP;
	IF tx_memory() - start > 300000 THEN
		RAISE WARNING 'memory grew by % bytes', tx_memory() - start;
	END IF;
END $$;

DROP FUNCTION tx_memory;
DROP TABLE tx, tx_orders;
