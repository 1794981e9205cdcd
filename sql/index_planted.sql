-- What the owner of a table plants in its definition is never run as who brings changes to its indexes, nor as who looks at it.
SET client_min_messages = warning;
CREATE ROLE regress_ip_owner;
GRANT CREATE ON SCHEMA public TO regress_ip_owner;
SET ROLE regress_ip_owner;
SELECT kv.create_table('index_planted', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('index_planted', 'ip_a', 'a');
-- immutable, so that the relation cache and the planner run it where its argument is constant
CREATE FUNCTION ip_trap(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'regress_ip_owner' THEN
		RAISE WARNING 'run as %', current_user;
	END IF;
	RETURN $1;
END $$;
-- in what looks like a local index: constants in place of the attribute and in the predicate
CREATE INDEX ip_like_local ON index_planted (pk, kv.attr_s(item, ip_trap('b')) COLLATE "C", sk) WHERE kv.in_local_index(item, 'b', ip_trap('ALL'), '{}');
-- in the partition key of what looks like a table of an index
CREATE TABLE ip_like_global (a text COLLATE "C" NOT NULL, pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL) PARTITION BY HASH ((a || ip_trap('x')));
CREATE CONSTRAINT TRIGGER kv_index AFTER UPDATE OF item ON ip_like_global FROM index_planted FOR EACH ROW WHEN (false) EXECUTE FUNCTION kv.global_index('ALL', 'a/01');
CREATE TABLE ip_like_table (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL) PARTITION BY HASH (pk kv.xxh3_text_ops, (sk || ip_trap('x')));
CREATE TABLE ip_like_table_p0 PARTITION OF ip_like_table FOR VALUES WITH (MODULUS 1, REMAINDER 0);
-- in the index, which a new filling builds anew
CREATE INDEX ip_on_index ON ip_a (ip_trap(item::text), ip_trap('c')) WHERE ip_trap('d') = 'd';
SELECT kv.put_item('index_planted', '{"pk": "P", "sk": "S", "a": "x", "b": "y"}');
TRUNCATE index_planted_p0;
\c -
SET client_min_messages = warning;
-- TRUNCATE has put the index in doubt: it is emptied, its btrees made anew, and filled
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT table_name, index_name, kind FROM kv.indexes ORDER BY index_name;
SELECT table_name FROM kv.tables WHERE table_name::text ~ '^(index_planted|ip_)' ORDER BY 1;
SELECT kv.describe_table('index_planted') IS NOT NULL;
SELECT kv.scan('index_planted', index => 'ip_a');
SELECT kv.get('ip_like_table', 'P', 'S');
SELECT kv.query('index_planted', 'pk = :p', '{":p": "P"}', index => 'ip_like_local');

-- operators that fit better than those of the system
SET ROLE regress_ip_owner;
CREATE FUNCTION ip_equal(oid, int4) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'run as %', current_user; RETURN $1 = $2::oid; END $$;
CREATE FUNCTION ip_equal(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'run as %', current_user; RETURN $1 = $2::oid; END $$;
CREATE OPERATOR public.= (leftarg = oid, rightarg = int4, function = ip_equal);
CREATE OPERATOR public.= (leftarg = oid, rightarg = regclass, function = ip_equal);
RESET ROLE;
SELECT kv.create_global_index('index_planted', 'ip_b', 'b');
SELECT kv.create_local_index('index_planted', 'ip_l', 'c');
SELECT kv.drop_index('index_planted', 'ip_b');
SELECT kv.dynamodb('ListTables', '{"Limit": 1}') IS NOT NULL;
TRUNCATE index_planted;
DROP OPERATOR public.= (oid, int4), public.= (oid, regclass);

DROP TABLE ip_like_global, ip_like_table;
SELECT kv.drop_table('index_planted');
DROP FUNCTION ip_trap, ip_equal(oid, int4), ip_equal(oid, regclass);
REVOKE CREATE ON SCHEMA public FROM regress_ip_owner;
DROP ROLE regress_ip_owner;
