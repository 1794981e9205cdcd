-- Reads and rights: grants, row security, search_path, odd names.
\pset null '(null)'
SET client_min_messages = warning;
CREATE ROLE regress_read_owner;
CREATE ROLE regress_read_user;
CREATE ROLE regress_read_other;
CREATE SCHEMA read_security;
GRANT USAGE ON SCHEMA read_security TO PUBLIC;
GRANT CREATE ON SCHEMA read_security TO regress_read_owner;
RESET client_min_messages;

SET ROLE regress_read_owner;
SELECT kv.create_table('read_security.notes', 'pk', 'sk', partitions => 4);
INSERT INTO read_security.notes
	SELECT 'p' || p, 's' || lpad(s::text, 3, '0'), jsonb_build_object('owner', CASE s % 2 WHEN 0 THEN 'regress_read_user' ELSE 'regress_read_other' END, 's', s)
	FROM generate_series(1, 6) p, generate_series(1, 4) s;

-- without the right to select: SQL's own error from every read
SET ROLE regress_read_user;
SELECT kv.get('read_security.notes', 'p1', 's001');
SELECT kv.get_item('read_security.notes', '{"pk": "p1", "sk": "s001"}');
SELECT kv.query('read_security.notes', 'pk = :p', '{":p": "p1"}');
SELECT kv.query_page('read_security.notes', 'pk = :p', '{":p": "p1"}');
SELECT kv.scan('read_security.notes');
SELECT kv.scan_page('read_security.notes');

-- column rights: all of key and item are needed
SET ROLE regress_read_owner;
GRANT SELECT (pk, item) ON read_security.notes TO regress_read_user;
SET ROLE regress_read_user;
SELECT kv.get('read_security.notes', 'p1', 's001');
SET ROLE regress_read_owner;
GRANT SELECT (sk) ON read_security.notes TO regress_read_user;
SET ROLE regress_read_user;
SELECT kv.get('read_security.notes', 'p1', 's001');
SELECT count(*) FROM kv.query('read_security.notes', 'pk = :p', '{":p": "p1"}');
SET ROLE regress_read_owner;
REVOKE SELECT (pk, sk, item) ON read_security.notes FROM regress_read_user;
SET ROLE regress_read_user;
SELECT kv.get('read_security.notes', 'p1', 's001');

-- a SECURITY DEFINER function reads with its owner's rights
SET ROLE regress_read_owner;
CREATE FUNCTION read_security.one(pk text, sk text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER AS $$ SELECT kv.get('read_security.notes', pk, sk) $$;
SET ROLE regress_read_user;
SELECT read_security.one('p1', 's001');

-- row security: only one's own rows, through every read
SET ROLE regress_read_owner;
GRANT SELECT ON read_security.notes TO regress_read_user, regress_read_other;
PREPARE read_security_get AS SELECT kv.get('read_security.notes', 'p1', 's001')->'s' AS one, kv.get('read_security.notes', 'p1', 's002')->'s' AS two;
SET ROLE regress_read_user;
EXECUTE read_security_get;
SET ROLE regress_read_owner;
ALTER TABLE read_security.notes ENABLE ROW LEVEL SECURITY;
SET ROLE regress_read_user;
EXECUTE read_security_get;
SET ROLE regress_read_owner;
CREATE POLICY own ON read_security.notes FOR SELECT USING (item->>'owner' = current_user);
SET ROLE regress_read_user;
EXECUTE read_security_get;
SELECT kv.get_item('read_security.notes', '{"pk": "p1", "sk": "s001"}') AS one, kv.get_item('read_security.notes', '{"pk": "p1", "sk": "s002"}', 's, sk') AS two;
SELECT q->'sk' AS sk FROM kv.query('read_security.notes', 'pk = :p', '{":p": "p2"}') AS q;
SELECT q->'sk' AS sk FROM kv.query('read_security.notes', 'pk = :p', '{":p": "p2"}', scan_forward => false) AS q;
SELECT q->'sk' AS sk FROM kv.query('read_security.notes', 'pk = :p AND sk > :s', '{":p": "p2", ":s": "s002"}') AS q;
SELECT q->'sk' AS sk FROM kv.query('read_security.notes', 'pk = :p AND sk BETWEEN :a AND :b', '{":p": "p2", ":a": "s001", ":b": "s003"}') AS q;
SELECT q FROM kv.query('read_security.notes', 'pk = :p', '{":p": "p2", ":s": 3}', filter => 's > :s', projection => 's') AS q;
SELECT q->'sk' AS sk FROM kv.query('read_security.notes', 'pk = :p', '{":p": "p2"}', exclusive_start_key => '{"pk": "p2", "sk": "s002"}') AS q;
-- what the policy hides is not counted, nor is it a last key
SELECT jsonb_path_query_array(items, '$[*].sk') AS sk, count, scanned_count, last_evaluated_key FROM kv.query_page('read_security.notes', 'pk = :p', '{":p": "p2"}', page_size => 1);
SELECT count, scanned_count, last_evaluated_key FROM kv.query_page('read_security.notes', 'pk = :p', '{":p": "p2"}', page_size => 3);
SELECT count(*), count(DISTINCT s->>'pk' || (s->>'sk')) AS different, bool_and(s->>'owner' = current_user) AS own FROM kv.scan('read_security.notes') AS s;
SELECT count(*) FROM generate_series(0, 2) AS segment, kv.scan('read_security.notes', segment => segment, total_segments => 3) AS s;
SELECT q->'sk' AS sk FROM unnest('{p1, p2}'::text[]) AS p, kv.query('read_security.notes', 'pk = :p', jsonb_build_object(':p', p)) AS q;

-- the walk of a scan gives the same with any page size
CREATE FUNCTION pg_temp.walk(size int) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	page record;
	start jsonb;
	keys text[];
BEGIN
	LOOP
		SELECT * INTO page FROM kv.scan_page('read_security.notes', exclusive_start_key => start, page_size => size);
		keys := keys || ARRAY(SELECT i->>'pk' || '/' || (i->>'sk') FROM jsonb_array_elements(page.items) i);
		start := page.last_evaluated_key;
		EXIT WHEN start IS NULL;
	END LOOP;
	RETURN keys;
END $$;
SELECT count(DISTINCT pg_temp.walk(size)) AS walks, max(cardinality(pg_temp.walk(size))) AS items FROM generate_series(1, 13) AS size;

-- stopped early; a cursor under a read that CLOSE ALL takes away
SELECT kv.query('read_security.notes', 'pk = :p', '{":p": "p2"}', projection => 'sk') LIMIT 1;
BEGIN;
DECLARE c CURSOR FOR SELECT kv.query('read_security.notes', 'pk = :p', '{":p": "p2"}', projection => 'sk');
FETCH 1 FROM c;
CLOSE ALL;
SELECT count(*) FROM pg_cursors;
COMMIT;

-- more rows than one chunk holds
SET ROLE regress_read_owner;
INSERT INTO read_security.notes SELECT 'many', 's' || lpad(s::text, 3, '0'), '{"owner": "regress_read_user"}' FROM generate_series(1, 150) s;
SET ROLE regress_read_user;
SELECT count(*), min(q->>'sk'), max(q->>'sk') FROM kv.query('read_security.notes', 'pk = :p', '{":p": "many"}') AS q;
SELECT count(*) FROM (SELECT kv.query('read_security.notes', 'pk = :p', '{":p": "many"}') LIMIT 51) AS q;

-- the owner and a superuser are exempt, unless it is forced on the owner
SET ROLE regress_read_owner;
EXECUTE read_security_get;
ALTER TABLE read_security.notes FORCE ROW LEVEL SECURITY;
EXECUTE read_security_get;
RESET ROLE;
EXECUTE read_security_get;

-- row_security off: an error instead of fewer rows
SET ROLE regress_read_user;
SET row_security = off;
SELECT kv.get('read_security.notes', 'p1', 's002');
SELECT kv.query('read_security.notes', 'pk = :p', '{":p": "p1"}');
RESET row_security;

-- a policy that calls functions: PL/pgSQL, and one that reads by key itself
SET ROLE regress_read_owner;
SELECT kv.create_table('read_security.members', 'who');
INSERT INTO read_security.members VALUES ('regress_read_user', '{"level": 3}');
GRANT SELECT ON read_security.members TO PUBLIC;
CREATE FUNCTION read_security.level() RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN coalesce((kv.get('read_security.members', current_user)->>'level')::int, 0);
END $$;
ALTER POLICY own ON read_security.notes USING ((item->>'s')::int <= read_security.level());
SET ROLE regress_read_user;
SELECT jsonb_agg(q->'s') FROM kv.query('read_security.notes', 'pk = :p', '{":p": "p3"}') AS q;
SET ROLE regress_read_other;
SELECT jsonb_agg(q->'s') FROM kv.query('read_security.notes', 'pk = :p', '{":p": "p3"}') AS q;
-- the error of a policy is the reader's
SET ROLE regress_read_owner;
ALTER POLICY own ON read_security.notes USING (1 / ((item->>'s')::int - 3) < 99);
SET ROLE regress_read_user;
SELECT kv.query('read_security.notes', 'pk = :p', '{":p": "p3"}');
SELECT kv.get('read_security.notes', 'p3', 's002')->'s' AS two;

-- number and binary keys, no sort key, one partition
SET ROLE regress_read_owner;
SELECT kv.create_table('read_security.numbers', 'n', 'b', 'N', 'B');
INSERT INTO read_security.numbers VALUES (1, '\x00', '{"v": 1}'), (1, '\x80', '{"v": 2}'), (1, '\xff', '{"v": 3}'), (2, '\x00', '{"v": 4}');
SELECT kv.create_table('read_security.singles', 'pk', partitions => 2);
INSERT INTO read_security.singles VALUES ('a', '{"v": 1}'), ('b', '{"v": 2}'), ('c', '{"v": 3}');
CREATE TABLE read_security.hand (item jsonb NOT NULL, pk text COLLATE "C" PRIMARY KEY) USING key_value;
INSERT INTO read_security.hand SELECT item, pk FROM (VALUES ('a', '{"v": 1}'::jsonb), ('b', '{"v": 2}'), ('c', '{"v": 3}')) AS v(pk, item);
GRANT SELECT ON read_security.numbers, read_security.singles, read_security.hand TO regress_read_user;
ALTER TABLE read_security.numbers ENABLE ROW LEVEL SECURITY;
ALTER TABLE read_security.singles ENABLE ROW LEVEL SECURITY;
ALTER TABLE read_security.hand ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON read_security.numbers USING (item->'v' <> '2');
CREATE POLICY odd ON read_security.singles USING (item->'v' <> '2');
CREATE POLICY odd ON read_security.hand USING (item->'v' <> '2');
SET ROLE regress_read_user;
SELECT kv.get('read_security.numbers', '1.0', 'gA==') AS hidden, kv.get('read_security.numbers', '1.0', '/w==') AS shown;
SELECT jsonb_agg(q->'v') FROM kv.query('read_security.numbers', 'n = :n', '{":n": 1}') AS q;
SELECT jsonb_agg(q->'v') FROM kv.query('read_security.numbers', 'n = :n AND b >= :b', '{":n": 1, ":b": {"$B": "gA=="}}', scan_forward => false) AS q;
SELECT jsonb_agg(s->'v' ORDER BY s->'v') FROM kv.scan('read_security.numbers') AS s;
SELECT kv.get('read_security.singles', 'a') AS a, kv.get('read_security.singles', 'b') AS b;
SELECT jsonb_agg(q->'v') FROM kv.query('read_security.singles', 'pk = :p', '{":p": "c"}') AS q;
SELECT jsonb_agg(q->'v') FROM kv.query('read_security.singles', 'pk = :p', '{":p": "c"}', exclusive_start_key => '{"pk": "c"}') AS q;
SELECT jsonb_agg(s->'v' ORDER BY s->'v') FROM kv.scan('read_security.singles') AS s;
SELECT jsonb_agg(s->'v') FROM kv.scan('read_security.hand') AS s;
SELECT jsonb_agg(s->'v') FROM kv.scan('read_security.hand', exclusive_start_key => '{"pk": "a"}') AS s;

-- names that need quotes, and a search_path with operators of the same name
RESET ROLE;
CREATE SCHEMA "Read ""Odd"" Schema";
GRANT USAGE ON SCHEMA "Read ""Odd"" Schema" TO PUBLIC;
SELECT kv.create_table('"Read ""Odd"" Schema"."The ""Table"', 'Part "Key', 'select');
INSERT INTO "Read ""Odd"" Schema"."The ""Table" SELECT 'p', 's' || s, jsonb_build_object('s', s) FROM generate_series(1, 4) s;
ALTER TABLE "Read ""Odd"" Schema"."The ""Table" ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON "Read ""Odd"" Schema"."The ""Table" USING (item->'s' > '1');
GRANT SELECT ON "Read ""Odd"" Schema"."The ""Table" TO regress_read_user;
CREATE FUNCTION read_security.never(text, text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE OPERATOR read_security.= (LEFTARG = text, RIGHTARG = text, FUNCTION = read_security.never);
CREATE OPERATOR read_security.>= (LEFTARG = text, RIGHTARG = text, FUNCTION = read_security.never);
CREATE OPERATOR read_security.> (LEFTARG = text, RIGHTARG = text, FUNCTION = read_security.never);
CREATE FUNCTION read_security.get(regclass, text, text) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
SET search_path = read_security, pg_catalog;
SELECT kv.get('"Read ""Odd"" Schema"."The ""Table"', 'p', 's1');
SET ROLE regress_read_user;
SELECT kv.get('"Read ""Odd"" Schema"."The ""Table"', 'p', 's1') AS hidden, kv.get('"Read ""Odd"" Schema"."The ""Table"', 'p', 's2') AS shown;
SELECT kv.query('"Read ""Odd"" Schema"."The ""Table"', '#p = :p AND #s >= :s', '{":p": "p", ":s": "s3"}', '{"#p": "Part \"Key", "#s": "select"}');
SELECT items, last_evaluated_key FROM kv.query_page('"Read ""Odd"" Schema"."The ""Table"', '#p = :p', '{":p": "p"}', '{"#p": "Part \"Key"}', page_size => 1);
SELECT jsonb_agg(s->'s') FROM kv.scan('"Read ""Odd"" Schema"."The ""Table"') AS s;
SELECT jsonb_agg(s->'s') FROM kv.scan('"Read ""Odd"" Schema"."The ""Table"', exclusive_start_key => '{"Part \"Key": "p", "select": "s2"}') AS s;
RESET ROLE;
RESET search_path;
DROP FUNCTION pg_temp.walk;

SET client_min_messages = warning;
SELECT kv.drop_table('"Read ""Odd"" Schema"."The ""Table"');
DROP SCHEMA "Read ""Odd"" Schema";
DEALLOCATE read_security_get;
DROP SCHEMA read_security CASCADE;
DROP ROLE regress_read_owner, regress_read_user, regress_read_other;
