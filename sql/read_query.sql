-- kv.query: key conditions, order, filter, projection, and where it can stand.
\pset null '(null)'

SELECT kv.create_table('read_query', 'pk', 'sk');
INSERT INTO read_query
	SELECT 'p' || p, 'k' || lpad(s::text, 2, '0'), jsonb_build_object('p', p, 's', s, 'even', s % 2 = 0)
	FROM generate_series(1, 3) p, generate_series(1, 12) s;
INSERT INTO read_query VALUES ('p1', 'j', '{}'), ('p1', 'k', '{}'), ('p1', 'l', '{}'), ('p1', 'kä', '{}'), ('p1', 'K', '{}');

-- the sort keys that a condition names, in the order they come
CREATE FUNCTION read_query_keys(condition text, vals jsonb, forward bool = true, names jsonb = NULL) RETURNS text
LANGUAGE sql AS $$
	SELECT string_agg(q.item->>'sk', ' ' ORDER BY q.n)
	FROM kv.query('read_query', condition, vals, names, scan_forward => forward) WITH ORDINALITY AS q(item, n)
$$;

-- the whole collection; sort keys order by their bytes
SELECT read_query_keys('pk = :p', '{":p": "p1"}');
SELECT read_query_keys('pk = :p', '{":p": "p1"}', false);
SELECT read_query_keys('pk = :p', '{":p": "nobody"}');

-- every operator, operands and conditions in either order
SELECT c AS condition, read_query_keys(c, '{":p": "p2", ":s": "k10"}') AS forward, read_query_keys(c, '{":p": "p2", ":s": "k10"}', false) AS backward
FROM unnest(ARRAY[
	'pk = :p AND sk = :s',
	'sk = :s AND pk = :p',
	':p = pk and :s = sk',
	'pk = :p AND sk > :s',
	'pk = :p AND sk >= :s',
	'pk = :p AND sk < :s',
	'pk = :p AND sk <= :s',
	':s < sk AND :p = pk',
	':s >= sk AND (pk = :p)',
	'(pk = :p) AND (sk > :s)',
	'(pk = :p AND sk = :s)']) WITH ORDINALITY AS u(c, n) ORDER BY n;
SELECT read_query_keys('pk = :p AND sk BETWEEN :a AND :b', '{":p": "p2", ":a": "k03", ":b": "k05"}');
SELECT read_query_keys('pk = :p AND sk BETWEEN :a AND :b', '{":p": "p2", ":a": "k03", ":b": "k05"}', false);
SELECT read_query_keys('pk = :p AND sk BETWEEN :a AND :b', '{":p": "p2", ":a": "k03", ":b": "k03"}');
SELECT read_query_keys('pk = :p AND sk BETWEEN :a AND :b', '{":p": "p2", ":a": "k13", ":b": "k99"}');
SELECT read_query_keys('begins_with(sk, :s) AND pk = :p', '{":p": "p1", ":s": "k1"}');
SELECT read_query_keys('pk = :p AND begins_with(sk, :s)', '{":p": "p1", ":s": "k"}', false);
SELECT read_query_keys('pk = :p AND begins_with(sk, :s)', '{":p": "p1", ":s": "kä"}');
SELECT read_query_keys('#a = :p AND #b = :s', '{":p": "p3", ":s": "k07"}', true, '{"#a": "pk", "#b": "sk"}');

-- the filter reads whole items, the projection gives parts of them
SELECT q->'sk' AS sk FROM kv.query('read_query', 'pk = :p AND sk < :s', '{":p": "p3", ":s": "k09", ":e": true}', filter => 'even = :e') AS q;
SELECT q FROM kv.query('read_query', 'pk = :p', '{":p": "p3", ":three": 3}', filter => 's <= :three', projection => 's, pk') AS q;
SELECT q FROM kv.query('read_query', 'pk = :p', '{":p": "p3", ":z": 99}', filter => 's = :z') AS q;
-- what was left out by the projection can be filtered on
SELECT q FROM kv.query('read_query', 'pk = :p', '{":p": "p2", ":e": true, ":n": 10}', filter => 'even = :e AND s > :n', projection => 'sk') AS q;

-- max_items counts items returned
SELECT q->>'sk' AS sk FROM kv.query('read_query', 'pk = :p', '{":p": "p2", ":e": true}', filter => 'even = :e', max_items => 2) AS q;
SELECT count(*) FROM kv.query('read_query', 'pk = :p', '{":p": "p2"}', max_items => 2147483647);

-- a start key is exclusive and need not exist
SELECT string_agg(q->>'sk', ' ') FROM kv.query('read_query', 'pk = :p', '{":p": "p2"}', exclusive_start_key => '{"pk": "p2", "sk": "k10"}') AS q;
SELECT string_agg(q->>'sk', ' ') FROM kv.query('read_query', 'pk = :p', '{":p": "p2"}', exclusive_start_key => '{"pk": "p2", "sk": "k03x"}', scan_forward => false) AS q;
SELECT string_agg(q->>'sk', ' ') FROM kv.query('read_query', 'pk = :p AND sk > :s', '{":p": "p2", ":s": "k04"}', exclusive_start_key => '{"pk": "p2", "sk": "k11"}') AS q;
SELECT string_agg(q->>'sk', ' ') FROM kv.query('read_query', 'pk = :p AND sk > :s', '{":p": "p2", ":s": "k09"}', exclusive_start_key => '{"pk": "p2", "sk": "k11"}', scan_forward => false) AS q;
SELECT count(*) FROM kv.query('read_query', 'pk = :p', '{":p": "p2"}', exclusive_start_key => '{"pk": "p2", "sk": "k12"}') AS q;

-- in a SELECT list, under LIMIT, twice side by side
SELECT kv.query('read_query', 'pk = :p', '{":p": "p1"}', projection => 'sk') LIMIT 2;
SELECT kv.query('read_query', 'pk = :p', '{":p": "p1"}', projection => 'sk') AS a,
	   kv.query('read_query', 'pk = :p AND sk > :s', '{":p": "p2", ":s": "k10"}', projection => 'sk') AS b LIMIT 3;

-- LATERAL: once for each row outside; a rescan starts anew
SELECT p, q->>'sk' AS sk
FROM unnest(ARRAY['p3', 'none', 'p2', 'p3']) WITH ORDINALITY AS u(p, n)
	LEFT JOIN LATERAL kv.query('read_query', 'pk = :p', jsonb_build_object(':p', p), max_items => 2) AS q ON true
ORDER BY n, sk;
SELECT p, (SELECT q->>'sk' FROM kv.query('read_query', 'pk = :p', jsonb_build_object(':p', p), scan_forward => false) AS q LIMIT 1) AS last
FROM unnest(ARRAY['p1', 'p2', 'none']) AS p;
SELECT count(*) FROM read_query_keys('pk = :p', '{":p": "p1"}') a, kv.query('read_query', 'pk = :p', '{":p": "p2"}') b;

-- cursors: forward, early close, both directions
BEGIN;
DECLARE c CURSOR FOR SELECT kv.query('read_query', 'pk = :p', '{":p": "p2"}', projection => 'sk');
FETCH 2 FROM c;
INSERT INTO read_query VALUES ('p2', 'k02x', '{}');
FETCH 1 FROM c;
CLOSE c;
DECLARE s SCROLL CURSOR FOR SELECT q->>'sk' AS sk FROM kv.query('read_query', 'pk = :p', '{":p": "p3"}') AS q;
FETCH 3 FROM s;
FETCH BACKWARD 1 FROM s;
FETCH LAST FROM s;
FETCH FIRST FROM s;
ROLLBACK;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT kv.query('read_query', 'pk = :p AND sk > :s', '{":p": "p2", ":s": "k10"}', projection => 'sk');
FETCH 1 FROM h;
COMMIT;
FETCH 1 FROM h;
CLOSE h;

-- PL/pgSQL: loops that end early, an error inside, a query that changes what it reads
DO $$
DECLARE
	item jsonb;
	seen text := '';
BEGIN
	FOR item IN SELECT kv.query('read_query', 'pk = :p', '{":p": "p2"}') LOOP
		seen := seen || (item->>'sk') || ' ';
		EXIT WHEN item->>'sk' = 'k04';
	END LOOP;
	RAISE NOTICE '%', seen;
	BEGIN
		FOR item IN SELECT kv.query('read_query', 'pk = :p', '{":p": "p2"}') LOOP
			PERFORM 1 / 0;
		END LOOP;
	EXCEPTION WHEN division_by_zero THEN
		RAISE NOTICE 'caught';
	END;
	-- its own writes come behind the snapshot of the loop
	FOR item IN SELECT kv.query('read_query', 'pk = :p', '{":p": "p2"}') LOOP
		INSERT INTO read_query VALUES ('p2', 'z' || (item->>'sk'), '{}');
	END LOOP;
	SELECT count(*) INTO seen FROM kv.query('read_query', 'pk = :p', '{":p": "p2"}');
	RAISE NOTICE '%', seen;
END $$;

-- CREATE TABLE AS and a view
CREATE TEMP TABLE read_query_copy AS SELECT q->>'sk' AS sk FROM kv.query('read_query', 'pk = :p', '{":p": "p3"}') AS q;
SELECT count(*), min(sk), max(sk) FROM read_query_copy;
CREATE VIEW read_query_view AS SELECT q->>'sk' AS sk FROM kv.query('read_query', 'pk = :p', '{":p": "p3"}') AS q;
SELECT count(*) FROM read_query_view;
DROP VIEW read_query_view;

DROP FUNCTION read_query_keys;
SELECT kv.drop_table('read_query');

-- number sort keys order by value
SELECT kv.create_table('read_query_number', 'pk', 'at', 'S', 'N');
INSERT INTO read_query_number SELECT 'p', v, '{}' FROM unnest('{10, 9, -1, -10, 0, 0.5, 1e10, 1e-10}'::numeric[]) v;
SELECT string_agg(q->>'at', ' ') FROM kv.query('read_query_number', 'pk = :p', '{":p": "p"}') AS q;
SELECT string_agg(q->>'at', ' ') FROM kv.query('read_query_number', '#at BETWEEN :a AND :b AND pk = :p', '{":p": "p", ":a": -1.0, ":b": 9.00}', '{"#at": "at"}') AS q;
SELECT string_agg(q->>'at', ' ') FROM kv.query('read_query_number', 'pk = :p AND #at < :a', '{":p": "p", ":a": 0}', '{"#at": "at"}', scan_forward => false) AS q;
SELECT kv.drop_table('read_query_number');

-- binary sort keys order by unsigned bytes
SELECT kv.create_table('read_query_binary', 'pk', 'b', 'N', 'B');
INSERT INTO read_query_binary SELECT 7, v, '{}' FROM unnest('{"\\x00", "\\x01", "\\x7f", "\\x80", "\\xff", "\\xff00", "\\xffff"}'::bytea[]) v;
SELECT string_agg(q->'b'->>'$B', ' ') FROM kv.query('read_query_binary', 'pk = :p', '{":p": 7}') AS q;
SELECT string_agg(q->'b'->>'$B', ' ') FROM kv.query('read_query_binary', 'pk = :p AND begins_with(b, :b)', '{":p": 7, ":b": {"$B": "/w=="}}') AS q;
SELECT string_agg(q->'b'->>'$B', ' ') FROM kv.query('read_query_binary', 'pk = :p AND b > :b', '{":p": 7, ":b": {"$B": "fw=="}}', scan_forward => false) AS q;
SELECT kv.drop_table('read_query_binary');

-- without a sort key a collection is one item
SELECT kv.create_table('read_query_single', 'pk');
INSERT INTO read_query_single VALUES ('a', '{"v": 1}'), ('b', '{"v": 2}');
SELECT kv.query('read_query_single', 'pk = :p', '{":p": "a"}');
SELECT kv.query('read_query_single', 'pk = :p', '{":p": "a"}', exclusive_start_key => '{"pk": "a"}');
SELECT kv.drop_table('read_query_single');
