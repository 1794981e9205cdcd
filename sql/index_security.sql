-- Indexes: who may read them, and as whom what is run that their owner has put there.
SET client_min_messages = warning;
CREATE ROLE regress_is_owner;
CREATE ROLE regress_is_reader;
CREATE ROLE regress_is_stranger;
GRANT CREATE ON SCHEMA public TO regress_is_owner, regress_is_stranger;
SET ROLE regress_is_owner;
SELECT kv.create_table('index_security', 'pk', 'sk', partitions => 2);
GRANT SELECT ON index_security TO regress_is_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE regress_is_owner GRANT SELECT ON TABLES TO regress_is_stranger;
SELECT kv.create_global_index('index_security', 'is_a', 'a');
ALTER DEFAULT PRIVILEGES FOR ROLE regress_is_owner REVOKE SELECT ON TABLES FROM regress_is_stranger;
SELECT kv.create_local_index('index_security', 'is_l', 'a');
SELECT count(kv.put_item('index_security', jsonb_build_object('pk', who, 'sk', 'S', 'a', 'x'))) FROM unnest(ARRAY['regress_is_reader', 'regress_is_other']) who;
SELECT kv.apply_changes();
RESET ROLE;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT relname, relowner::regrole, regexp_replace(relacl::text, 'arwdDxt[m]?', 'all', 'g') AS acl, relrowsecurity FROM pg_class WHERE relname IN ('is_a', 'index_security') ORDER BY relname;

-- who may read the table may ask its index
SET ROLE regress_is_reader;
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_a', projection => 'pk');
SELECT pk FROM is_a WHERE a = 'x' ORDER BY pk;
SELECT kv.drop_index('index_security', 'is_a');
SELECT kv.create_global_index('index_security', 'is_b', 'b');
SELECT kv.create_local_index('index_security', 'is_b', 'b');
-- who may not, reads nothing, even with a right on the index
SET ROLE regress_is_stranger;
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_a');
SELECT kv.query('index_security', 'pk = :a', '{":a": "x"}', index => 'is_l');
SELECT kv.scan('index_security', index => 'is_a');
SELECT kv.wait_for_index('index_security', 'is_a');
SELECT pk FROM is_a WHERE a = 'x';
SELECT count(*) FROM kv.indexes WHERE table_name = 'index_security'::regclass;
RESET ROLE;
GRANT SELECT ON is_a TO regress_is_stranger;
SET ROLE regress_is_stranger;
SELECT pk FROM is_a WHERE a = 'x';
SELECT pk FROM is_a WHERE a = 'x' FOR UPDATE;
EXPLAIN (COSTS OFF, ANALYZE) SELECT pk FROM is_a WHERE a = 'x';
COPY (SELECT pk FROM is_a WHERE a = 'x') TO stdout;
COPY is_a TO stdout;
-- nor by a leaf, which COPY reads without a query
RESET ROLE;
GRANT SELECT ON is_a_p0, is_a_p1 TO regress_is_stranger;
SET ROLE regress_is_stranger;
COPY is_a_p0 TO stdout;
COPY is_a_p1 TO stdout;
SELECT pk FROM is_a_p0 WHERE a = 'x';
RESET ROLE;
REVOKE SELECT ON is_a_p0, is_a_p1 FROM regress_is_stranger;
-- a view lends its owner's rights
RESET ROLE;
CREATE VIEW is_view AS SELECT pk FROM is_a WHERE a = 'x';
ALTER VIEW is_view OWNER TO regress_is_owner;
GRANT SELECT ON is_view TO regress_is_stranger;
SET ROLE regress_is_stranger;
SELECT * FROM is_view ORDER BY 1;
RESET ROLE;
DROP VIEW is_view;
REVOKE SELECT ON is_a FROM regress_is_stranger;
-- a right on the table that is taken away is taken away from the index
REVOKE SELECT ON index_security FROM regress_is_reader;
SET ROLE regress_is_reader;
SELECT pk FROM is_a WHERE a = 'x';
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_a');
RESET ROLE;
GRANT SELECT ON index_security TO regress_is_reader;

-- row security that comes later: the index shows nothing to whom a policy applies, until it has policies of its own
ALTER TABLE index_security ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON index_security USING (pk = current_user);
SET ROLE regress_is_reader;
SELECT kv.query('index_security', 'pk = :a', '{":a": "regress_is_reader"}', index => 'is_l', projection => 'pk');
SELECT kv.query('index_security', 'pk = :a', '{":a": "regress_is_other"}', index => 'is_l', projection => 'pk');
SELECT kv.query('index_security', 'pk = :a AND a BETWEEN :b AND :c', '{":a": "regress_is_reader", ":b": "w", ":c": "y"}', index => 'is_l', projection => 'pk',
	exclusive_start_key => '{"pk": "regress_is_reader", "a": "x", "sk": "R"}');
SELECT kv.scan('index_security', index => 'is_l', projection => 'pk');
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_a', projection => 'pk');
SELECT pk FROM is_a WHERE a = 'x';
SET row_security = off;
SELECT pk FROM is_a WHERE a = 'x';
RESET row_security;
RESET ROLE;
GRANT SELECT ON is_a_p0 TO regress_is_reader;
SET ROLE regress_is_reader;
COPY is_a_p0 TO stdout;
RESET ROLE;
REVOKE SELECT ON is_a_p0 FROM regress_is_reader;
ALTER TABLE is_a ENABLE ROW LEVEL SECURITY;
SET ROLE regress_is_reader;
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_a', projection => 'pk');
SELECT pk FROM is_a WHERE a = 'x';
RESET ROLE;
CREATE POLICY own ON is_a USING (pk = current_user);
SET ROLE regress_is_reader;
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_a', projection => 'pk');
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_a', exclusive_start_key => '{"a": "x", "pk": "regress_is_other", "sk": "S"}', projection => 'pk');
SELECT pk FROM is_a WHERE a = 'x';
RESET ROLE;
-- an index that is made later starts with row security, so shows nothing
SELECT kv.create_global_index('index_security', 'is_late', 'a', 'sk');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SET ROLE regress_is_reader;
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_late', projection => 'pk');
SELECT pk FROM is_late WHERE a = 'x';
SET ROLE regress_is_owner;
SELECT kv.query('index_security', 'a = :a', '{":a": "x"}', index => 'is_late', projection => 'pk');
SELECT kv.drop_index('index_security', 'is_late');
ALTER TABLE index_security DISABLE ROW LEVEL SECURITY;
ALTER TABLE is_a DISABLE ROW LEVEL SECURITY;

-- what the owner has put on the index runs as the owner, restricted
CREATE TABLE is_seen (who name, what text);
CREATE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO is_seen VALUES (current_user, TG_OP || ' ' || TG_WHEN || ' ' || current_setting('search_path')); RETURN NEW; END $$;
CREATE FUNCTION is_expression(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.is_seen VALUES (current_user, 'expression'); RETURN $1; END $$;
ALTER FUNCTION is_trap() SET search_path = public;
CREATE TRIGGER trap AFTER INSERT ON is_a FOR EACH ROW EXECUTE FUNCTION is_trap();
ALTER TABLE is_a ADD CHECK (is_expression(a) IS NOT NULL) NOT VALID;
RESET ROLE;
SELECT kv.put_item('index_security', '{"pk": "trap", "sk": "S", "a": "trap"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT DISTINCT * FROM is_seen ORDER BY 1, 2;
SELECT kv.query('index_security', 'a = :a', '{":a": "trap"}', index => 'is_a', projection => 'pk');
-- it cannot become anybody else, nor leave something to be run later
SET ROLE regress_is_owner;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN SET LOCAL ROLE regress_is_stranger; RETURN NEW; END $$;
RESET ROLE;
SET client_min_messages = error;
SELECT kv.put_item('index_security', '{"pk": "trap", "sk": "S", "a": "trap 2"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT last_error FROM kv.indexes WHERE index_name = 'is_a';
SET ROLE regress_is_owner;
DROP TRIGGER trap ON is_a;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.is_seen VALUES (current_user, 'deferred'); RETURN NEW; END $$;
CREATE CONSTRAINT TRIGGER trap AFTER INSERT ON is_a DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION is_trap();
RESET ROLE;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT last_error FROM kv.indexes WHERE index_name = 'is_a';
SELECT count(*) FROM is_seen WHERE what = 'deferred';
DROP TRIGGER trap ON is_a;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SET client_min_messages = warning;
SELECT last_error FROM kv.indexes WHERE index_name = 'is_a';
SELECT kv.query('index_security', 'a = :a', '{":a": "trap 2"}', index => 'is_a', projection => 'pk');

-- TRUNCATE of the table by somebody else empties the index as its owner, restricted
SET ROLE regress_is_owner;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.is_seen VALUES (current_user, TG_OP || ' ' || current_setting('search_path')); RETURN NEW; END $$;
CREATE TRIGGER trap AFTER TRUNCATE ON is_a EXECUTE FUNCTION is_trap();
GRANT TRUNCATE ON index_security TO regress_is_stranger;
SET ROLE regress_is_stranger;
BEGIN;
TRUNCATE index_security;
SELECT current_user;
SET ROLE regress_is_owner;
SELECT * FROM is_seen WHERE what LIKE 'TRUNCATE%';
ROLLBACK;
SET ROLE regress_is_owner;
DROP TRIGGER trap ON is_a;
REVOKE TRUNCATE ON index_security FROM regress_is_stranger;
RESET ROLE;

-- nor stop the others' indexes, whatever error it raises
SELECT kv.create_table('index_security_other', 'pk', partitions => 1);
SELECT kv.create_global_index('index_security_other', 'is_o', 'a');
SET ROLE regress_is_owner;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cancelled' USING ERRCODE = 'query_canceled'; END $$;
CREATE TRIGGER trap AFTER INSERT ON is_a FOR EACH ROW EXECUTE FUNCTION is_trap();
SELECT kv.put_item('index_security', '{"pk": "trap", "sk": "S", "a": "trap 3"}');
RESET ROLE;
SELECT kv.put_item('index_security_other', '{"pk": "P", "a": "x"}');
SET client_min_messages = error;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT index_name, last_error FROM kv.indexes WHERE index_name IN ('is_a', 'is_o') ORDER BY 1;
-- what an error says may be of items, so it is for the owner
SET ROLE regress_is_reader;
SELECT index_name, last_error FROM kv.indexes WHERE index_name IN ('is_a', 'is_o') ORDER BY 1;
SET ROLE regress_is_owner;
SELECT index_name, last_error FROM kv.indexes WHERE index_name IN ('is_a', 'is_o') ORDER BY 1;
RESET ROLE;
SELECT kv.scan('index_security_other', index => 'is_o');
SET ROLE regress_is_owner;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN TRUNCATE public.index_security; RETURN NEW; END $$;
RESET ROLE;
SELECT kv.put_item('index_security_other', '{"pk": "P", "a": "y"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_security_other', index => 'is_o');
-- who may apply changes does not begin to in the middle of it
GRANT EXECUTE ON FUNCTION kv.apply_changes() TO regress_is_owner;
SET ROLE regress_is_owner;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM kv.apply_changes(); RETURN NEW; END $$;
RESET ROLE;
SELECT kv.put_item('index_security', '{"pk": "trap", "sk": "S", "a": "trap 4"}');
SELECT kv.put_item('index_security_other', '{"pk": "P", "a": "yy"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT last_error FROM kv.indexes WHERE index_name = 'is_a';
SELECT kv.scan('index_security_other', index => 'is_o');
REVOKE EXECUTE ON FUNCTION kv.apply_changes() FROM regress_is_owner;
-- an index on the index that fails when it is built anew
SET ROLE regress_is_owner;
DROP TRIGGER trap ON is_a;
CREATE TABLE is_fails_now ();
CREATE FUNCTION is_fails(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF EXISTS (SELECT FROM public.is_fails_now) THEN RAISE 'it fails'; END IF; RETURN $1; END $$;
CREATE INDEX is_failing ON is_a (is_fails('a'), item);
INSERT INTO is_fails_now DEFAULT VALUES;
TRUNCATE index_security_p0;
RESET ROLE;
TRUNCATE index_security_other;
TRUNCATE is_o;
SELECT kv.put_item('index_security_other', '{"pk": "P", "a": "z"}');
\c -
SET client_min_messages = error;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT index_name, state FROM kv.indexes WHERE index_name IN ('is_a', 'is_o') ORDER BY 1;
SELECT kv.scan('index_security_other', index => 'is_o');
DROP INDEX is_failing;
DROP FUNCTION is_fails;
DROP TABLE is_fails_now;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT index_name, state, last_error FROM kv.indexes WHERE index_name IN ('is_a', 'is_o') ORDER BY 1;
-- and a table that cannot be read
SELECT kv.put_item('index_security', '{"pk": "trap", "sk": "S", "a": "trap 4"}');
UPDATE pg_index SET indisprimary = false WHERE indexrelid IN ('index_security_p0_pkey'::regclass, 'index_security_p1_pkey'::regclass);
SELECT kv.put_item('index_security_other', '{"pk": "P", "a": "after"}');
\c -
SET client_min_messages = error;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_security_other', index => 'is_o');
UPDATE pg_index SET indisprimary = true WHERE indexrelid IN ('index_security_p0_pkey'::regclass, 'index_security_p1_pkey'::regclass);
SELECT kv.drop_table('index_security_other');
\c -
SET client_min_messages = warning;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_security', 'a = :a', '{":a": "trap 4"}', index => 'is_a');

-- what is on one index does not write to another one, with a right to or not, nor empties it unseen
SET ROLE regress_is_stranger;
SELECT kv.create_table('index_security_theirs', 'pk', partitions => 1);
SELECT kv.create_global_index('index_security_theirs', 'is_theirs', 'a');
SELECT kv.put_item('index_security_theirs', '{"pk": "P", "a": "x"}');
GRANT SELECT, INSERT, TRUNCATE ON is_theirs TO regress_is_owner;
RESET ROLE;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SET ROLE regress_is_owner;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.is_theirs VALUES ('planted', 'P'); RETURN NEW; END $$;
CREATE TRIGGER trap AFTER INSERT ON is_a FOR EACH ROW EXECUTE FUNCTION is_trap();
SELECT kv.put_item('index_security', '{"pk": "trap", "sk": "S", "a": "trap 5"}');
RESET ROLE;
SET client_min_messages = error;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT last_error FROM kv.indexes WHERE index_name = 'is_a';
SELECT kv.scan('index_security_theirs', index => 'is_theirs');
SET ROLE regress_is_owner;
CREATE OR REPLACE FUNCTION is_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN TRUNCATE public.is_theirs; RETURN NEW; END $$;
RESET ROLE;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SET client_min_messages = warning;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_security', 'a = :a', '{":a": "trap 5"}', index => 'is_a');
SELECT kv.scan('index_security_theirs', index => 'is_theirs');
DROP TRIGGER trap ON is_a;
SELECT kv.drop_table('index_security_theirs');

-- a table of somebody else's that calls itself an index gets nothing
GRANT SELECT, TRIGGER ON index_security TO regress_is_stranger;
SET ROLE regress_is_stranger;
CREATE TABLE is_fake (a text COLLATE "C" NOT NULL, pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (a, pk, sk)) USING key_value;
CREATE CONSTRAINT TRIGGER kv_index AFTER UPDATE OF item ON is_fake FROM index_security FOR EACH ROW WHEN (false) EXECUTE FUNCTION kv.global_index('ALL', 'a/01');
RESET ROLE;
SELECT kv.put_item('index_security', '{"pk": "secret", "sk": "S", "a": "secret"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT index_name, state, detail FROM kv.indexes WHERE table_name = 'index_security'::regclass ORDER BY 1;
SET key_value.allow_scan = on;
SELECT count(*) FROM ONLY is_fake;
RESET key_value.allow_scan;
SELECT kv.query('index_security', 'a = :a', '{":a": "secret"}', index => 'is_fake');
ALTER TABLE index_security OWNER TO regress_is_reader;
SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('index_security', 'is_a', 'is_fake') ORDER BY 1;

DROP TABLE is_fake;
SELECT kv.drop_table('index_security');
DROP TABLE is_seen;
DROP FUNCTION is_trap, is_expression;
REVOKE CREATE ON SCHEMA public FROM regress_is_owner, regress_is_stranger;
DROP ROLE regress_is_owner, regress_is_reader, regress_is_stranger;
