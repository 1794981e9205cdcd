-- Point reads against a plain table with the same rows: deep trees, long and compressed keys, many versions.
CREATE TABLE read_point_plain (pk text COLLATE "C", sk text COLLATE "C", item jsonb, PRIMARY KEY (pk, sk));
SELECT kv.create_table('read_point', 'pk', 'sk', partitions => 2);

-- short keys; keys that are prefixes of each other; long ones that do and that do not compress
INSERT INTO read_point_plain
	SELECT 'p' || n % 40, n::text, jsonb_build_object('n', n) FROM generate_series(1, 4000) n;
INSERT INTO read_point_plain
	SELECT repeat('a', p), repeat('b', s), jsonb_build_object('p', p, 's', s) FROM generate_series(1, 30) p, generate_series(1, 30) s;
INSERT INTO read_point_plain
	SELECT repeat('z', 600 + n % 3), repeat('y', 400 + n), jsonb_build_object('n', n) FROM generate_series(1, 300) n;
-- each digest has 32 characters: pages of three tuples, so trees of many levels
INSERT INTO read_point_plain
	SELECT (SELECT string_agg(md5(n % 5 || '/' || i), '') FROM generate_series(1, 50) i),
		(SELECT string_agg(md5(n || '/' || i), '') FROM generate_series(1, 25) i), jsonb_build_object('n', n)
	FROM generate_series(1, 500) n;
INSERT INTO read_point SELECT * FROM read_point_plain ORDER BY md5(pk || sk);
ANALYZE read_point;

-- the number of keys whose item differs, or that are found though they are not there
CREATE FUNCTION read_point_check() RETURNS TABLE (keys bigint, different bigint, ghosts bigint)
LANGUAGE sql AS $$
	SELECT count(*),
		count(*) FILTER (WHERE kv.get('read_point', pk, sk) IS DISTINCT FROM item || jsonb_build_object('pk', pk, 'sk', sk)),
		count(*) FILTER (WHERE kv.get('read_point', pk, sk || '!') IS NOT NULL OR kv.get('read_point', pk || '!', sk) IS NOT NULL
			OR length(sk) > 1 AND kv.get('read_point', pk, left(sk, -1)) IS NOT NULL
				AND NOT EXISTS (SELECT FROM read_point_plain o WHERE o.pk = p.pk AND o.sk = left(p.sk, -1)))
	FROM read_point_plain p
$$;
SELECT * FROM read_point_check();
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM read_point_check();
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT * FROM read_point_check();
COMMIT;

-- many versions of one row, each with an entry of its own: an index on what changes keeps HOT away
SET key_value.allow_scan = on;
CREATE INDEX read_point_n ON read_point ((item->'v'));
DO $$
BEGIN
	FOR v IN 1 .. 60 LOOP
		UPDATE read_point SET item = item || jsonb_build_object('v', v) WHERE pk IN ('p1', 'aaa', repeat('z', 600));
		IF v % 20 = 0 THEN
			DELETE FROM read_point WHERE pk = 'p2';
			INSERT INTO read_point SELECT pk, sk, item || jsonb_build_object('v', v) FROM read_point_plain WHERE pk = 'p2';
		END IF;
	END LOOP;
END $$;
UPDATE read_point_plain SET item = item || '{"v": 60}' WHERE pk IN ('p1', 'p2', 'aaa', repeat('z', 600));
SELECT * FROM read_point_check();
VACUUM read_point;
SELECT * FROM read_point_check();

-- removed, as others see it and as the transaction that does it
BEGIN;
DELETE FROM read_point WHERE pk IN ('p1', 'p3', 'aaaa', repeat('z', 601));
SELECT count(*) AS gone FROM read_point_plain WHERE pk IN ('p1', 'p3', 'aaaa', repeat('z', 601)) AND kv.get('read_point', pk, sk) IS NULL;
ROLLBACK;
SELECT * FROM read_point_check();
DELETE FROM read_point WHERE pk IN ('p1', 'p3', 'aaaa', repeat('z', 601)) OR length(pk) = 1600 AND sk < '8';
VACUUM read_point;
SELECT count(*) AS gone, count(*) FILTER (WHERE kv.get('read_point', pk, sk) IS NOT NULL) AS ghosts
FROM read_point_plain WHERE pk IN ('p1', 'p3', 'aaaa', repeat('z', 601)) OR length(pk) = 1600 AND sk < '8';
DELETE FROM read_point_plain WHERE pk IN ('p1', 'p3', 'aaaa', repeat('z', 601)) OR length(pk) = 1600 AND sk < '8';
SELECT * FROM read_point_check();
RESET key_value.allow_scan;

-- an empty index, and one that was emptied
TRUNCATE read_point;
SELECT kv.get('read_point', 'p1', '1') IS NULL AS absent;
SELECT kv.drop_table('read_point');
DROP FUNCTION read_point_check;
DROP TABLE read_point_plain;

-- number and binary keys
CREATE TABLE read_point_plain (n numeric, b bytea, item jsonb, PRIMARY KEY (n, b));
SELECT kv.create_table('read_point', 'n', 'b', 'N', 'B', partitions => 3);
INSERT INTO read_point_plain
	SELECT (n - 500) * 10::numeric ^ (n % 21 - 10), decode(md5(n::text), 'hex') || decode(repeat('00', n % 7), 'hex'), jsonb_build_object('i', n)
	FROM generate_series(1, 2000) n ON CONFLICT DO NOTHING;
INSERT INTO read_point SELECT trim_scale(n), b, item FROM read_point_plain;
SELECT count(*) = (SELECT count(*) FROM read_point_plain) AS all_found
FROM read_point_plain WHERE kv.get('read_point', n::text, encode(b, 'base64'))->'i' = item->'i';
SELECT count(*) AS ghosts FROM read_point_plain
WHERE kv.get('read_point', (n + 1e-11)::text, encode(b, 'base64')) IS NOT NULL OR kv.get('read_point', n::text, encode(b || '\x00', 'base64')) IS NOT NULL;
SELECT kv.drop_table('read_point');
DROP TABLE read_point_plain;
