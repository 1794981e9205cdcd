-- Rights and row security of the caller.
SELECT kv.create_table('sec', 'pk', 'sk', partitions => 2);
SELECT kv.put_item('sec', '{"pk": "a", "sk": "1", "owner": "sec_ann"}');
CREATE ROLE sec_ann;
CREATE ROLE sec_bob;
CREATE FUNCTION sec_try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb;
BEGIN
	EXECUTE 'SELECT ' || call INTO answer;
	RETURN coalesce(answer::text, 'done');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
\t on

-- Without rights nothing goes; each right opens what needs no more.
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec', '{"pk": "a", "sk": "2"}')$$);
RESET ROLE;
GRANT INSERT ON sec TO sec_ann;
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec', '{"pk": "a", "sk": "2"}')$$);
RESET ROLE;
GRANT UPDATE ON sec TO sec_ann;
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec', '{"pk": "a", "sk": "2"}')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "a", "sk": "2"}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "a", "sk": "2"}', 'attribute_exists(pk)')$$);
SELECT sec_try($$kv.update_item('sec', '{"pk": "a", "sk": "2"}')$$);
SELECT sec_try($$kv.delete_item('sec', '{"pk": "a", "sk": "2"}')$$);
RESET ROLE;
GRANT DELETE ON sec TO sec_ann;
SET ROLE sec_ann;
SELECT sec_try($$kv.delete_item('sec', '{"pk": "a", "sk": "2"}')$$);
RESET ROLE;
GRANT SELECT ON sec TO sec_ann;
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec', '{"pk": "a", "sk": "2"}', 'attribute_exists(pk)', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.update_item('sec', '{"pk": "a", "sk": "2"}')$$);
SELECT sec_try($$kv.delete_item('sec', '{"pk": "a", "sk": "2"}', return_values => 'ALL_OLD')$$);
RESET ROLE;

-- Rights are those of the current user when the call runs, also inside a function.
CREATE FUNCTION sec_put() RETURNS jsonb LANGUAGE sql SECURITY DEFINER AS $$
	SELECT kv.put_item('sec', '{"pk": "a", "sk": "definer"}', return_values => 'ALL_OLD') $$;
SET ROLE sec_bob;
SELECT sec_try($$kv.put_item('sec', '{"pk": "a", "sk": "definer"}')$$);
SELECT sec_try($$sec_put()$$);
RESET ROLE;
SELECT sk FROM sec WHERE pk = 'a' ORDER BY sk;
SELECT kv.delete_item('sec', '{"pk": "a", "sk": "definer"}') IS NULL;
DROP FUNCTION sec_put;

-- Row security: one sees and writes one's own items.
GRANT SELECT, INSERT, UPDATE, DELETE ON sec TO sec_bob;
CREATE POLICY own ON sec USING (item ->> 'owner' = current_user) WITH CHECK (item ->> 'owner' = current_user);
ALTER TABLE sec ENABLE ROW LEVEL SECURITY;
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_ann", "v": 1}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_ann", "v": 2}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "2", "owner": "sec_bob"}')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_bob"}')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_ann", "v": 3}', 'v = :v', '{":v": 2}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_ann", "v": 3}', 'v = :v', '{":v": 2}', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_ann", "v": 3}', 'attribute_not_exists(pk)')$$);
SELECT item FROM sec WHERE pk = 'b';
RESET ROLE;

-- What one may not see is absent: deleting it does nothing, a condition finds nothing, and putting on top of it fails.
SET ROLE sec_bob;
SELECT sec_try($$kv.get('sec', 'b', '1')$$);
SELECT sec_try($$kv.delete_item('sec', '{"pk": "b", "sk": "1"}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.delete_item('sec', '{"pk": "b", "sk": "1"}', 'attribute_exists(pk)')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_bob"}')$$) AS refused;
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "1", "owner": "sec_bob"}', 'attribute_not_exists(pk)')$$) AS refused;
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "3", "owner": "sec_bob"}')$$);
RESET ROLE;
SELECT sk, item FROM sec WHERE pk = 'b' ORDER BY sk;
SET ROLE sec_ann;
SELECT sec_try($$kv.delete_item('sec', '{"pk": "b", "sk": "1"}', 'v = :v', '{":v": 3}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.delete_item('sec', '{"pk": "b", "sk": "1"}', return_values => 'ALL_OLD')$$);
RESET ROLE;

-- Different policies for reading and writing.
DROP POLICY own ON sec;
CREATE POLICY see ON sec FOR SELECT USING (true);
CREATE POLICY add ON sec FOR INSERT WITH CHECK (item ->> 'owner' = current_user);
CREATE POLICY change ON sec FOR UPDATE USING (item ->> 'owner' = current_user);
CREATE POLICY remove ON sec FOR DELETE USING (item ->> 'owner' = current_user);
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "3", "owner": "sec_ann"}')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "3", "owner": "sec_ann"}', '#o = :a', '{":a": "sec_ann"}', '{"#o": "owner"}', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return')$$);
SELECT sec_try($$kv.delete_item('sec', '{"pk": "b", "sk": "3"}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "4", "owner": "sec_ann"}')$$);
RESET ROLE;
SELECT sk, item FROM sec WHERE pk = 'b' ORDER BY sk;

-- A trigger that suppresses, under a policy.
CREATE FUNCTION sec_suppress() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER suppress BEFORE INSERT OR UPDATE OR DELETE ON sec FOR EACH ROW EXECUTE FUNCTION sec_suppress();
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "4", "owner": "sec_ann", "v": 2}', on_condition_failure => 'return')$$);
SELECT sec_try($$kv.put_item('sec', '{"pk": "b", "sk": "5", "owner": "sec_ann", "v": 2}', on_condition_failure => 'return')$$);
SELECT sec_try($$kv.delete_item('sec', '{"pk": "b", "sk": "4"}', on_condition_failure => 'return')$$);
RESET ROLE;
DROP TRIGGER suppress ON sec;
SELECT sk, item FROM sec WHERE pk = 'b' ORDER BY sk;

-- A table of one partition, binary and number keys.
CREATE TABLE sec_single (id bytea, n numeric, item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (id, n)) USING key_value;
GRANT ALL ON sec_single TO sec_ann;
ALTER TABLE sec_single ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON sec_single USING (n < 10);
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec_single', '{"n": 1, "id": {"$B": "AA=="}, "v": 1}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.put_item('sec_single', '{"n": 1.0, "id": {"$B": "AA=="}, "v": 2}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.put_item('sec_single', '{"n": 11, "id": {"$B": "AA=="}}')$$);
SELECT sec_try($$kv.delete_item('sec_single', '{"n": 1, "id": {"$B": "AA=="}}', return_values => 'ALL_OLD')$$);
RESET ROLE;

-- The owner is free of the policy unless it is forced.
SELECT sec_try($$kv.put_item('sec_single', '{"n": 11, "id": {"$B": "AA=="}}')$$);
ALTER TABLE sec_single OWNER TO sec_ann;
ALTER TABLE sec_single FORCE ROW LEVEL SECURITY;
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec_single', '{"n": 12, "id": {"$B": "AA=="}}')$$);
SET row_security = off;
SELECT sec_try($$kv.put_item('sec_single', '{"n": 1, "id": {"$B": "AA=="}}')$$);
RESET row_security;
RESET ROLE;

-- A number as partition key, whose comparison is not leakproof to core.
CREATE TABLE sec_number (id numeric PRIMARY KEY, item jsonb NOT NULL DEFAULT '{}') USING key_value;
GRANT ALL ON sec_number TO sec_ann;
ALTER TABLE sec_number ENABLE ROW LEVEL SECURITY;
CREATE POLICY open_ones ON sec_number USING (item ->> 'closed' IS NULL);
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec_number', '{"id": 1.0, "v": 1}', return_values => 'ALL_OLD')$$);
SELECT sec_try($$kv.update_item('sec_number', '{"id": 1}', 'ADD v :one', attribute_values => '{":one": 1}', return_values => 'ALL_NEW')$$);
SELECT sec_try($$kv.update_item('sec_number', '{"id": 1}', 'SET closed = :t', attribute_values => '{":t": true}')$$);
SELECT sec_try($$kv.delete_item('sec_number', '{"id": 1.00}', return_values => 'ALL_OLD')$$);
RESET ROLE;

-- Whether functions in the table's expressions may be called is asked for each role, whoever wrote before.
CREATE FUNCTION sec_stamp() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'stamped'; END $$;
REVOKE EXECUTE ON FUNCTION sec_stamp FROM PUBLIC;
CREATE TABLE sec_default (id text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL DEFAULT '{}', stamp text DEFAULT sec_stamp()) USING key_value;
GRANT ALL ON sec_default TO sec_ann;
SELECT sec_try($$kv.put_item('sec_default', '{"id": "a"}')$$);
SET ROLE sec_ann;
SELECT sec_try($$kv.put_item('sec_default', '{"id": "b"}')$$);
RESET ROLE;
SELECT sec_try($$kv.put_item('sec_default', '{"id": "c"}')$$);
SELECT id, stamp FROM sec_default WHERE id IN ('a', 'b', 'c') ORDER BY id;

\t off
DROP TABLE sec, sec_single, sec_number, sec_default;
DROP FUNCTION sec_try, sec_suppress, sec_stamp;
DROP ROLE sec_ann, sec_bob;
