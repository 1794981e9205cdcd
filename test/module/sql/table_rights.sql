-- Rights and row security are SQL's own, at once after each change, though
-- the answer is kept.
LOAD 'key_value';
SELECT kv.create_table('messages', 'pk', 'sk', partitions => 2);
CREATE ROLE kv_reader;
CREATE ROLE kv_group;
CREATE ROLE kv_other;

-- What the item functions would be told.
CREATE FUNCTION may(letters text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM kv_test.check_rights('messages', letters);
	RETURN 'yes';
EXCEPTION WHEN insufficient_privilege THEN
	RETURN SQLERRM;
END $$;

SET ROLE kv_reader;
SELECT may('r'), may('a'), may('w'), may('d');
RESET ROLE;
SELECT may('r'), may('a'), may('w'), may('d'), may('rawd');

-- On the table.
GRANT SELECT ON messages TO kv_reader;
SET ROLE kv_reader;
SELECT may('r'), may('a'), may('ra');
RESET ROLE;
GRANT INSERT, UPDATE ON messages TO kv_reader;
SET ROLE kv_reader;
SELECT may('raw'), may('d'), may('rawd');
RESET ROLE;
REVOKE SELECT ON messages FROM kv_reader;
SET ROLE kv_reader;
SELECT may('r'), may('aw');
RESET ROLE;
REVOKE ALL ON messages FROM kv_reader;

-- On columns: every key column and the item column, but no item's key is
-- updated.
GRANT SELECT (pk, item), INSERT (pk, sk, item), UPDATE (item) ON messages TO kv_reader;
SET ROLE kv_reader;
SELECT may('r'), may('a'), may('w');
RESET ROLE;
GRANT SELECT (sk) ON messages TO kv_reader;
SET ROLE kv_reader;
SELECT may('r'), may('ra'), may('raw'), may('d');
RESET ROLE;
REVOKE UPDATE (item) ON messages FROM kv_reader;
GRANT UPDATE (pk, sk) ON messages TO kv_reader;
SET ROLE kv_reader;
SELECT may('w');
RESET ROLE;
ALTER TABLE messages ADD COLUMN secret text;
SET ROLE kv_reader;
SELECT may('ra');
RESET ROLE;
ALTER TABLE messages DROP COLUMN secret;
REVOKE SELECT (item) ON messages FROM kv_reader;
SET ROLE kv_reader;
SELECT may('r'), may('a');
RESET ROLE;
REVOKE ALL ON messages FROM kv_reader;
REVOKE ALL (pk, sk, item) ON messages FROM kv_reader;

-- By membership, inherited or not.
GRANT SELECT ON messages TO kv_group;
SET ROLE kv_reader;
SELECT may('r');
RESET ROLE;
GRANT kv_group TO kv_reader;
SET ROLE kv_reader;
SELECT may('r');
RESET ROLE;
REVOKE kv_group FROM kv_reader;
SET ROLE kv_reader;
SELECT may('r');
RESET ROLE;
GRANT pg_read_all_data TO kv_reader;
SET ROLE kv_reader;
SELECT may('r'), may('a');
RESET ROLE;
REVOKE pg_read_all_data FROM kv_reader;
ALTER ROLE kv_reader SUPERUSER;
SET ROLE kv_reader;
SELECT may('rawd');
RESET ROLE;
ALTER ROLE kv_reader NOSUPERUSER;
SET ROLE kv_reader;
SELECT may('r');
RESET ROLE;

-- By owning it, until somebody else does.
ALTER TABLE messages OWNER TO kv_reader;
SET ROLE kv_reader;
SELECT may('rawd');
RESET ROLE;
ALTER TABLE messages OWNER TO kv_other;
SET ROLE kv_reader;
SELECT may('r');
RESET ROLE;

-- More roles than are remembered at a time.
GRANT SELECT ON messages TO kv_reader;
DO $$
BEGIN
	FOR i IN 1 .. 10 LOOP
		EXECUTE format('CREATE ROLE kv_many_%s', i);
		IF i % 2 = 0 THEN
			EXECUTE format('GRANT INSERT ON messages TO kv_many_%s', i);
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION who_may() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text := '';
BEGIN
	FOR round IN 1 .. 3 LOOP
		FOR i IN 1 .. 10 LOOP
			EXECUTE format('SET LOCAL ROLE kv_many_%s', i);
			answer := answer || CASE may('a') WHEN 'yes' THEN i::text ELSE '-' END || ' ';
			RESET ROLE;
		END LOOP;
	END LOOP;
	RETURN answer;
END $$;
SELECT who_may();
DO $$
BEGIN
	FOR i IN 1 .. 10 LOOP
		EXECUTE format('DROP OWNED BY kv_many_%s', i);
		EXECUTE format('DROP ROLE kv_many_%s', i);
	END LOOP;
END $$;

-- A right that is taken back with its transaction.
BEGIN;
GRANT DELETE ON messages TO kv_reader;
SET ROLE kv_reader;
SELECT may('d');
ROLLBACK;
SET ROLE kv_reader;
SELECT may('d');
RESET ROLE;

-- In a SECURITY DEFINER function the owner's rights count.
CREATE FUNCTION may_as_owner(letters text) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT may(letters)';
ALTER FUNCTION may_as_owner(text) OWNER TO kv_other;
SET ROLE kv_reader;
SELECT may('d'), may_as_owner('d'), may('d');
RESET ROLE;

-- Row security: whom a policy applies to.
SELECT kv_test.has_row_security('messages');
ALTER TABLE messages ENABLE ROW LEVEL SECURITY;
SELECT kv_test.has_row_security('messages') AS superuser;
SET ROLE kv_reader;
SELECT kv_test.has_row_security('messages') AS reader;
SET row_security = off;
SELECT kv_test.has_row_security('messages');
RESET row_security;
SET ROLE kv_other;
SELECT kv_test.has_row_security('messages') AS owner;
RESET ROLE;
ALTER TABLE messages FORCE ROW LEVEL SECURITY;
SET ROLE kv_other;
SELECT kv_test.has_row_security('messages') AS forced_owner;
RESET ROLE;
ALTER ROLE kv_reader BYPASSRLS;
SET ROLE kv_reader;
SELECT kv_test.has_row_security('messages') AS bypassing;
RESET ROLE;
ALTER TABLE messages DISABLE ROW LEVEL SECURITY;
SET ROLE kv_other;
SELECT kv_test.has_row_security('messages') AS disabled;
RESET ROLE;

DROP FUNCTION who_may(), may_as_owner(text), may(text);
DROP TABLE messages;
DROP ROLE kv_reader, kv_group, kv_other;
