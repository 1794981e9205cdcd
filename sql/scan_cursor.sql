-- Cursors over key queries: both directions, held, moved, current of.
SET client_min_messages = warning;
SELECT kv.create_table('scan_cursor', 'pk', 'sk', partitions => 4);
INSERT INTO scan_cursor SELECT 't' || i % 3, 'm' || i / 3, jsonb_build_object('n', i) FROM generate_series(0, 14) i;

-- over several ranges, which lie in several partitions
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT pk, sk FROM scan_cursor WHERE pk IN ('t2', 't0') AND sk < 'm2';
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
FETCH FORWARD 1 FROM c;
FETCH BACKWARD ALL FROM c;
FETCH BACKWARD 1 FROM c;
FETCH NEXT FROM c;
FETCH LAST FROM c;
FETCH ABSOLUTE 2 FROM c;
FETCH RELATIVE 0 FROM c;
FETCH RELATIVE -1 FROM c;
MOVE FORWARD ALL FROM c;
FETCH PRIOR FROM c;
CLOSE c;

-- in descending order
DECLARE c SCROLL CURSOR FOR SELECT pk, sk FROM scan_cursor WHERE pk IN ('t2', 't0') AND sk IN ('m0', 'm3') ORDER BY pk DESC, sk DESC;
FETCH BACKWARD 1 FROM c;
FETCH 3 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH FORWARD ALL FROM c;
FETCH BACKWARD 2 FROM c;
CLOSE c;

-- a cursor that sees what was there when it was opened
DECLARE c SCROLL CURSOR FOR SELECT sk FROM scan_cursor WHERE pk = 't1' AND sk > 'm2';
FETCH 1 FROM c;
INSERT INTO scan_cursor VALUES ('t1', 'm9');
DELETE FROM scan_cursor WHERE pk = 't1' AND sk = 'm4';
FETCH ALL FROM c;
ROLLBACK;

-- held over the end of its transaction
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT pk, sk FROM scan_cursor WHERE pk = 't1' ORDER BY sk DESC LIMIT 3;
FETCH 1 FROM c;
COMMIT;
DELETE FROM scan_cursor WHERE pk = 't1' AND sk = 'm3';
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
CLOSE c;

-- over the one row of a whole key
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT pk, sk, item FROM scan_cursor WHERE pk = 't1' AND sk = 'm2';
FETCH 1 FROM c;
FETCH 1 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
CLOSE c;

-- .. which has more versions by now than a look-up goes through
DECLARE c CURSOR FOR SELECT item FROM scan_cursor WHERE pk = 't1' AND sk = 'm2';
DO $$
BEGIN
	FOR i IN 101..120 LOOP
		DELETE FROM scan_cursor WHERE pk = 't1' AND sk = 'm2';
		INSERT INTO scan_cursor VALUES ('t1', 'm2', jsonb_build_object('n', i));
	END LOOP;
END $$;
FETCH ALL FROM c;
SELECT item FROM scan_cursor WHERE pk = 't1' AND sk = 'm2';
ROLLBACK;

-- .. whose key comes from another table, compressed, as the index has it too
CREATE TABLE scan_cursor_keys (pk text, sk text);
INSERT INTO scan_cursor_keys SELECT repeat('k', 2040), 'm' || i FROM generate_series(1, 2) i;
INSERT INTO scan_cursor_keys VALUES ('t0', 'm1'), ('t0', 'none');
INSERT INTO scan_cursor SELECT pk, sk, '{"n": 200}' FROM scan_cursor_keys WHERE sk = 'm2';
SELECT k.sk, pg_column_size(k.pk) < length(k.pk) AS compressed, length(m.pk), m.item
FROM scan_cursor_keys k LEFT JOIN scan_cursor m ON m.pk = k.pk AND m.sk = k.sk ORDER BY length(k.pk), k.sk;

-- no cursor without a key
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM scan_cursor WHERE sk = 'm1';
ROLLBACK;

-- WHERE CURRENT OF reads no key, and no table either
CREATE TABLE scan_cursor_single (pk text COLLATE "C", sk text COLLATE "C", item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk, sk)) USING key_value;
INSERT INTO scan_cursor_single SELECT 'a', g::text FROM generate_series(1, 4) g;
BEGIN;
DECLARE c CURSOR FOR SELECT sk FROM scan_cursor_single WHERE pk = 'a';
FETCH 2 FROM c;
UPDATE scan_cursor_single SET item = '{"current": 1}' WHERE CURRENT OF c RETURNING sk, item;
FETCH 1 FROM c;
DELETE FROM scan_cursor_single WHERE CURRENT OF c RETURNING sk;
FETCH 1 FROM c;
FETCH 1 FROM c;
DELETE FROM scan_cursor_single WHERE CURRENT OF c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT pk, sk FROM scan_cursor WHERE pk IN ('t0', 't2') ORDER BY pk, sk FOR UPDATE;
FETCH 1 FROM c;
UPDATE scan_cursor_p2 SET item = '{"current": 1}' WHERE CURRENT OF c RETURNING sk, item;
COMMIT;

-- PL/pgSQL: loops, refcursors, an inner query for each row
CREATE FUNCTION scan_cursor_walk(keys text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	o record;
	i record;
	result text := '';
	c refcursor;
BEGIN
	FOR o IN SELECT pk, sk FROM scan_cursor WHERE pk = ANY (keys) AND sk < 'm2' LOOP
		FOR i IN SELECT sk FROM scan_cursor WHERE pk = o.pk AND sk > o.sk ORDER BY sk DESC LIMIT 1 LOOP
			result := concat(result, o.pk, o.sk, '<', i.sk, ' ');
		END LOOP;
	END LOOP;
	OPEN c SCROLL FOR SELECT sk FROM scan_cursor WHERE pk = keys[1] ORDER BY sk;
	FETCH LAST FROM c INTO i;
	result := concat(result, i.sk);
	FETCH PRIOR FROM c INTO i;
	RETURN concat(result, ' ', i.sk);
END $$;
SELECT scan_cursor_walk('{t2,t0}');
CREATE PROCEDURE scan_cursor_commits() LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT pk, sk FROM scan_cursor WHERE pk IN ('t0', 't2') LOOP
		UPDATE scan_cursor SET item = '{"seen": 1}' WHERE pk = r.pk AND sk = r.sk;
		COMMIT;
	END LOOP;
END $$;
CALL scan_cursor_commits();
SELECT count(*) FROM scan_cursor WHERE pk IN ('t0', 't2') AND item ? 'seen';

DROP TABLE scan_cursor, scan_cursor_single, scan_cursor_keys;
DROP FUNCTION scan_cursor_walk;
DROP PROCEDURE scan_cursor_commits;
