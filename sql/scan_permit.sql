-- What may scan while key_value.allow_scan is off may do so for itself, not for what runs inside it.
\set VERBOSITY terse
SELECT kv.create_table('secrets', 'pk', 'sk', partitions => 2);
SELECT kv.create_table('notes', 'pk', 'sk', partitions => 2);
SELECT count(kv.put_item('secrets', jsonb_build_object('pk', 'p' || n, 'sk', 's'))) FROM generate_series(1, 3) AS n;
SELECT count(kv.put_item('notes', jsonb_build_object('pk', 'p' || n, 'sk', 's', 'n', n))) FROM generate_series(1, 3) AS n;

-- A function that is folded when a query through a policy is planned is no part of that query.
CREATE FUNCTION count_secrets() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM secrets' INTO result;
	RETURN result;
END $$;
CREATE ROLE regress_kv_reader;
GRANT USAGE ON SCHEMA kv TO regress_kv_reader;
GRANT SELECT ON notes, secrets TO regress_kv_reader;
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY counted ON notes USING (count_secrets() = 3);
SET ROLE regress_kv_reader;
SELECT kv.scan('notes');
SELECT kv.get('notes', 'p1', 's');
RESET ROLE;

-- Nor is one that is called for each row.
ALTER FUNCTION count_secrets() VOLATILE;
SET ROLE regress_kv_reader;
SELECT kv.scan('notes');
SELECT kv.get('notes', 'p1', 's');
RESET ROLE;

-- Nor is a query inside the policy, or one of an SQL function that is made part of it.
DROP POLICY counted ON notes;
CREATE POLICY counted ON notes USING ((SELECT count(*) FROM secrets) = 3);
SET ROLE regress_kv_reader;
SELECT kv.scan('notes');
RESET ROLE;
DROP POLICY counted ON notes;
CREATE POLICY counted ON notes USING (item ->> 'n' < '3' AND EXISTS (SELECT FROM secrets s WHERE s.pk = notes.pk AND s.sk = 's'));
SET ROLE regress_kv_reader;
SELECT item FROM kv.scan('notes') AS item ORDER BY item ->> 'pk';
SELECT kv.get('notes', 'p1', 's'), kv.get('notes', 'p3', 's');
SELECT count(*) FROM notes;
RESET ROLE;
DROP POLICY counted ON notes;

-- A long list of keys in a policy is no matter to a read of one.
CREATE POLICY listed ON notes USING (pk = ANY (ARRAY(SELECT 'p' || n FROM generate_series(1, 150) AS n)));
SET ROLE regress_kv_reader;
SELECT kv.get('notes', 'p1', 's');
SELECT count(*) FROM kv.scan('notes');
RESET ROLE;
DROP TABLE notes;
DROP FUNCTION count_secrets();

-- A trigger that fires in a foreign key's action is guarded, however its queries begin.
CREATE TABLE parents (id text COLLATE "C" PRIMARY KEY);
ALTER TABLE secrets ADD COLUMN parent text COLLATE "C" REFERENCES parents ON DELETE CASCADE ON UPDATE CASCADE;
CREATE FUNCTION secrets_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE current_setting('test.query');
	RETURN NULL;
END $$;
CREATE TRIGGER snoop AFTER UPDATE OR DELETE ON secrets FOR EACH ROW EXECUTE FUNCTION secrets_trigger();
INSERT INTO parents VALUES ('a'), ('b');
INSERT INTO secrets VALUES ('q1', 's', '{}', 'a'), ('q2', 's', '{}', 'b');
SET test.query = 'SELECT 1 FROM secrets';
DELETE FROM parents WHERE id = 'a';
SET test.query = 'SELECT 1 FROM "public"."secrets" x';
UPDATE parents SET id = 'c' WHERE id = 'a';
SET test.query = 'DELETE FROM secrets';
DELETE FROM parents WHERE id = 'a';
SET test.query = 'DELETE FROM "public"."secrets"';
DELETE FROM parents WHERE id = 'a';
SET test.query = 'UPDATE secrets SET item = ''{}''';
UPDATE parents SET id = 'c' WHERE id = 'a';
SET test.query = 'SELECT';
UPDATE parents SET id = 'c' WHERE id = 'a';
DELETE FROM parents WHERE id = 'b';
SELECT pk, parent FROM secrets WHERE pk = ANY ('{q1,q2}');
DELETE FROM parents WHERE id = 'c';
SELECT pk, parent FROM secrets WHERE pk = ANY ('{q1,q2}');

DROP TABLE secrets, parents;
DROP FUNCTION secrets_trigger();
REVOKE USAGE ON SCHEMA kv FROM regress_kv_reader;
DROP ROLE regress_kv_reader;
