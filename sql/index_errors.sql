-- Indexes: what bad input gets.
SET client_min_messages = warning;
CREATE FUNCTION ie(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE || ' ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on
SELECT kv.create_table('index_errors', 'pk', 'sk', sort_key_type => 'N');
SELECT kv.create_table('index_errors_simple', 'pk');
CREATE TABLE index_errors_plain (pk text);
CREATE TABLE index_errors_unlogged (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) USING key_value;
ALTER TABLE index_errors_unlogged SET UNLOGGED;

-- arguments of create_global_index
SELECT ie($$SELECT kv.create_global_index(NULL, 'i', 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', NULL, 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', NULL)$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', '', 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', repeat('x', 64), 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', '')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', repeat('a', 256))$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', partition_key_type => 'X')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', 'b', sort_key_type => 'SS')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', 'sk', sort_key_type => 'S')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'SOME')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE', include => '{}')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'ALL', include => '{b}')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE', include => '{b,NULL}')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE', include => '{b,b}')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE', include => '{a}')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE', include => '{pk}')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE', include => '{""}')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a', projection => 'INCLUDE', include => (SELECT array_agg('a' || n) FROM generate_series(1, 101) n))$$);
SELECT ie($$SELECT kv.create_global_index('index_errors_plain', 'ie_i', 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors_p00', 'ie_i', 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors_unlogged', 'ie_i', 'a')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'index_errors_plain', 'a')$$);
-- of create_local_index
SELECT ie($$SELECT kv.create_local_index('index_errors', 'ie_i', NULL)$$);
SELECT ie($$SELECT kv.create_local_index('index_errors', 'ie_i', 'sk')$$);
SELECT ie($$SELECT kv.create_local_index('index_errors', 'ie_i', 'pk')$$);
SELECT ie($$SELECT kv.create_local_index('index_errors_simple', 'ie_i', 'a')$$);
SELECT ie($$SELECT kv.create_local_index('index_errors', 'ie_i', 'a', 'Q')$$);
SELECT ie($$SELECT kv.create_local_index('index_errors', 'ie_i', 'a', projection => 'KEYS_ONLY', include => '{b}')$$);

-- one type for an attribute in all indexes; limits; names
SELECT kv.create_global_index('index_errors', 'ie_a', 'a', 'sk', projection => 'INCLUDE', include => '{b}');
SELECT ie($$SELECT kv.create_local_index('index_errors', 'ie_i', 'a', 'N')$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_a', 'c')$$);
SELECT ie(format($$SELECT kv.create_local_index('index_errors', 'ie_l%s', 'l%s')$$, n, n)) FROM generate_series(1, 6) n;
SELECT kv.create_table('index_errors_many', 'pk', partitions => 1);
SELECT n, ie(format($$SELECT kv.create_global_index('index_errors_many', 'ie_m%s', 'm')$$, n)) FROM generate_series(18, 39) n WHERE n IN (18, 19)
	OR ie(format($$SELECT kv.create_global_index('index_errors_many', 'ie_m%s', 'm')$$, n)) <> 'no error';

-- an index is not a table
SELECT ie($$SELECT kv.put_item('ie_a', '{"a": "x", "sk": 1, "pk": "y"}')$$);
SELECT ie($$SELECT kv.get_item('ie_a', '{"a": "x"}')$$);
SELECT ie($$SELECT kv.describe_table('ie_a')$$);
SELECT ie($$SELECT kv.drop_table('ie_a')$$);
SELECT ie($$SELECT kv.create_global_index('ie_a', 'ie_i', 'b')$$);
SELECT ie($$SELECT kv.query('ie_a', 'a = :a', '{":a": "x"}')$$);
SELECT ie($$INSERT INTO ie_a VALUES ('x', 1, 'y', '{}')$$);

-- reading
SELECT kv.put_item('index_errors', '{"pk": "P", "sk": 1, "a": "x", "b": 1, "c": 2}');
SELECT kv.apply_changes() IS NOT NULL;
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'ie_a')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'IE_A')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'ie_a', consistent_read => true)$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": 1}', index => 'ie_a')$$);
SELECT ie($$SELECT kv.query('index_errors', 'pk = :a', '{":a": "x"}', index => 'ie_a')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a AND pk = :b', '{":a": "x", ":b": "P"}', index => 'ie_a')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x", ":n": 1}', index => 'ie_a', filter => 'sk = :n')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'ie_a', projection => 'b, sk, pk')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'ie_a', projection => 'b, c.d')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'ie_a', exclusive_start_key => '{"a": "x", "sk": 1}')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'ie_a', exclusive_start_key => '{"a": "x", "sk": 1, "pk": "P", "b": 2}')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a', '{":a": "x"}', index => 'ie_a', exclusive_start_key => '{"a": "y", "sk": 1, "pk": "P"}')$$);
SELECT ie($$SELECT kv.query('index_errors', 'a = :a AND sk > :n', '{":a": "x", ":n": 5}', index => 'ie_a', exclusive_start_key => '{"a": "x", "sk": 1, "pk": "P"}')$$);
SELECT ie($$SELECT kv.scan('index_errors', index => 'ie_a', consistent_read => true)$$);
SELECT ie($$SELECT kv.query('index_errors', 'pk = :p', '{":p": "P"}', index => 'ie_l1', exclusive_start_key => '{"pk": "P", "sk": 1}')$$);

-- rows of a table without a check: keys longer than the limits, items that are no objects
CREATE TABLE index_errors_hand (pk text COLLATE "C", sk text COLLATE "C", item jsonb NOT NULL, PRIMARY KEY (pk, sk)) USING key_value;
SELECT kv.create_global_index('index_errors_hand', 'ie_h', 'a');
SELECT kv.create_local_index('index_errors_hand', 'ie_hl', 'a');
SELECT kv.create_global_index('index_errors_hand', 'ie_h3', 'sk', projection => 'KEYS_ONLY');
INSERT INTO index_errors_hand VALUES (repeat('p', 70000), '1', '{"a": "long"}'), (repeat('p', 70000), '2', '{"a": "long"}'), ('p', '3', '{"a": "long"}'),
	('q', '1', '["a"]'), ('q', '2', '"a"'), ('q', '3', 'null'), ('q', '4', '{}');
SELECT kv.apply_changes() IS NOT NULL;
SELECT length(pk), sk FROM ie_h WHERE a = 'long' ORDER BY 1, 2;
-- an index made later is filled by chunks, each behind the last key
SELECT kv.create_global_index('index_errors_hand', 'ie_h2', 'sk', 'a', projection => 'INCLUDE', include => '{b}');
SELECT kv.apply_changes() IS NOT NULL;
SELECT length(pk), sk FROM ie_h2 WHERE sk = '2';
UPDATE index_errors_hand SET item = CASE WHEN jsonb_typeof(item) = 'object' THEN jsonb '[1]' ELSE '{"a": "now"}' END
	WHERE pk IN ('p', 'q', repeat('p', 70000));
SELECT kv.apply_changes() IS NOT NULL;
SELECT length(pk), sk FROM ie_h WHERE a IN ('long', 'now') ORDER BY 1, 2;
-- the key of this one is the table's alone: there are those that are objects now
SELECT pk, sk FROM ie_h3 WHERE sk IN ('1', '2', '3', '4') AND pk = 'q' ORDER BY 2;
SELECT kv.query('index_errors_hand', 'pk = :p', '{":p": "q"}', index => 'ie_hl');
DELETE FROM index_errors_hand WHERE pk IN ('p', 'q', repeat('p', 70000));
SELECT kv.apply_changes() IS NOT NULL;
SELECT (SELECT count(*) FROM ie_h WHERE a IN ('long', 'now')) + (SELECT count(*) FROM ie_h2 WHERE sk IN ('1', '2', '3', '4')) +
	(SELECT count(*) FROM ie_h3 WHERE sk IN ('1', '2', '3', '4')) AS left_over;
DROP TABLE index_errors_hand;

-- the rest
SELECT ie($$SELECT kv.drop_index('index_errors', 'nothing')$$);
SELECT ie($$SELECT kv.drop_index('index_errors', NULL)$$);
SELECT ie($$SELECT kv.drop_index(NULL, 'ie_a')$$);
-- what the extension keeps for its indexes is nobody's to change
SELECT ie($$REFRESH MATERIALIZED VIEW kv.change_log_0$$);
SELECT ie($$REFRESH MATERIALIZED VIEW kv.index_state$$);
SELECT ie($$REFRESH MATERIALIZED VIEW kv.change_log_0 WITH NO DATA$$);
SET search_path = kv;
SELECT public.ie($$REFRESH MATERIALIZED VIEW index_state WITH NO DATA$$);
RESET search_path;
CREATE MATERIALIZED VIEW ie_own AS SELECT 1 AS one;
SELECT ie($$REFRESH MATERIALIZED VIEW ie_own WITH NO DATA$$);
SELECT ie($$REFRESH MATERIALIZED VIEW ie_own$$);
DROP MATERIALIZED VIEW ie_own;
SELECT ie($$DELETE FROM kv.change_retry$$);
SELECT ie($$SELECT kv.wait_for_index('index_errors', 'nothing')$$);
SELECT ie($$SELECT kv.wait_for_index('index_errors', NULL)$$);
SELECT ie($$SELECT kv.wait_for_index('index_errors', 'ie_a', '-1 s')$$);
SELECT kv.wait_for_index('index_errors', 'ie_a', '170000000 years');
SELECT ie($$SELECT kv.wait_for_index('index_errors', 'ie_l1', '0')$$);
SELECT ie($$SELECT kv.attr_s('[1]', 'a'), kv.attr_s('{"a": 1}', 'b'), kv.attr_s(NULL, 'b')$$);
SELECT ie($$SELECT kv.attr_s('{"a": 1}', 'a')$$);
SELECT ie($$SELECT kv.attr_n('{"a": 1e126}', 'a')$$);
SELECT ie($$SELECT kv.attr_b('{"a": {"$B": "?"}}', 'a')$$);
SELECT ie($$SELECT kv.attr_s('{"a": 1}', '')$$);
SELECT ie($$SELECT kv.global_index()$$);
SELECT ie($$SELECT kv.capture_change()$$);
SELECT ie($$SELECT kv.on_table_rewrite()$$);
SELECT ie($$SELECT kv.on_refresh()$$);
CREATE TRIGGER odd BEFORE INSERT ON index_errors_plain FOR EACH ROW EXECUTE FUNCTION kv.capture_change();
SELECT ie($$INSERT INTO index_errors_plain VALUES ('x')$$);
DROP TRIGGER odd ON index_errors_plain;
CREATE TRIGGER odd AFTER INSERT OR UPDATE OR DELETE ON index_errors_plain FOR EACH ROW EXECUTE FUNCTION kv.capture_change();
SELECT ie($$INSERT INTO index_errors_plain VALUES ('x')$$);
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ;
SELECT ie($$SELECT kv.apply_changes()$$);
COMMIT;
BEGIN READ ONLY;
SELECT ie($$SELECT kv.apply_changes()$$);
SELECT ie($$SELECT kv.create_global_index('index_errors', 'ie_i', 'a')$$);
SELECT ie($$SELECT kv.drop_index('index_errors', 'ie_a')$$);
COMMIT;

SELECT kv.drop_table('index_errors');
SELECT kv.drop_table('index_errors_simple');
SELECT kv.drop_table('index_errors_many');
DROP TABLE index_errors_plain, index_errors_unlogged;
DROP FUNCTION ie;
