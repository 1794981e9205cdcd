-- What reads refuse: the code, and a message that names the value.
\pset null '(null)'

-- the code and the message of what a statement raises
CREATE FUNCTION read_errors(statement text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;

-- the code alone, where the message is that of keys and expressions, tested with them
CREATE FUNCTION read_errors_code(statement text) RETURNS text
LANGUAGE sql AS $$ SELECT split_part(read_errors(statement), ' ', 1) $$;

SELECT kv.create_table('read_errors', 'pk', 'sk');
SELECT kv.create_table('read_errors_single', 'id', partition_key_type => 'N');
CREATE TABLE read_errors_plain (pk text PRIMARY KEY, item jsonb);
CREATE VIEW read_errors_view AS SELECT 1 AS pk;

\t on
-- not a key-value table
SELECT read_errors($$SELECT kv.get('read_errors_plain', 'a')$$);
SELECT read_errors($$SELECT kv.get('read_errors_view', 'a')$$);
SELECT read_errors($$SELECT kv.get('pg_class', 'a')$$);
SELECT read_errors($$SELECT kv.get_item('read_errors_plain', '{"pk": "a"}')$$);
SELECT read_errors($$SELECT kv.query('read_errors_plain', 'pk = :p', '{":p": "a"}')$$);
SELECT read_errors($$SELECT kv.scan('read_errors_plain')$$);
SELECT read_errors($$SELECT kv.get(0::regclass, 'a')$$);
SELECT read_errors($$SELECT kv.get(4294967295::regclass, 'a')$$);
SELECT read_errors($$SELECT kv.get('read_errors_nowhere', 'a')$$);

-- required arguments
SELECT read_errors($$SELECT kv.get(NULL, 'a', 'b')$$);
SELECT read_errors($$SELECT kv.get('read_errors', NULL, 'b')$$);
SELECT read_errors($$SELECT kv.get_item(NULL, '{}')$$);
SELECT read_errors($$SELECT kv.get_item('read_errors', NULL)$$);
SELECT read_errors($$SELECT kv.query(NULL, 'pk = :p')$$);
SELECT read_errors($$SELECT kv.query('read_errors', NULL)$$);
SELECT read_errors($$SELECT kv.query_page('read_errors', NULL)$$);
SELECT read_errors($$SELECT kv.scan(NULL)$$);
SELECT read_errors($$SELECT kv.scan_page(NULL)$$);

-- keys
SELECT read_errors($$SELECT kv.get('read_errors', 'a')$$);
SELECT read_errors($$SELECT kv.get('read_errors_single', '1', 'b')$$);
SELECT read_errors_code($$SELECT kv.get('read_errors', '', 'b')$$);
SELECT read_errors_code($$SELECT kv.get('read_errors', 'a', '')$$);
SELECT read_errors_code($$SELECT kv.get('read_errors', repeat('a', 2049), 'b')$$);
SELECT read_errors_code($$SELECT kv.get('read_errors', 'a', repeat('b', 1025))$$);
SELECT read_errors_code($$SELECT kv.get('read_errors', repeat('a', 2048), repeat('b', 1024))$$);
SELECT read_errors_code($$SELECT kv.get('read_errors_single', 'one')$$);
SELECT read_errors_code($$SELECT kv.get('read_errors_single', 'NaN')$$);
SELECT read_errors_code($$SELECT kv.get('read_errors_single', '1e126')$$);
SELECT read_errors_code($$SELECT kv.get_item('read_errors', '{"pk": "a"}')$$);
SELECT read_errors_code($$SELECT kv.get_item('read_errors', '{"pk": "a", "sk": 1}')$$);
SELECT read_errors_code($$SELECT kv.get_item('read_errors', '{"pk": "a", "sk": null}')$$);
SELECT read_errors_code($$SELECT kv.get_item('read_errors', '{"pk": "a", "sk": "b", "x": 1}')$$);
SELECT read_errors_code($$SELECT kv.get_item('read_errors', '["a", "b"]')$$);
SELECT read_errors_code($$SELECT kv.get_item('read_errors_single', '{"id": "1"}')$$);

-- counts
SELECT read_errors($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a"}', max_items => 0)$$);
SELECT read_errors($$SELECT kv.query_page('read_errors', 'pk = :p', '{":p": "a"}', page_size => 0)$$);
SELECT read_errors($$SELECT kv.query_page('read_errors', 'pk = :p', '{":p": "a"}', page_size => -5)$$);
SELECT read_errors($$SELECT kv.scan_page('read_errors', page_size => 0)$$);
SELECT read_errors($$SELECT kv.scan('read_errors', max_items => -1)$$);

-- placeholders: over all expressions of the call
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a", ":unused": 1}')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a", ":f": 1}', filter => 'x = :f')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a"}', '{"#x": "x"}')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a"}', '{"#x": "x"}', projection => '#x')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a"}', projection => '#x')$$);
SELECT read_errors_code($$SELECT kv.scan('read_errors', attribute_values => '{":unused": 1}')$$);
SELECT read_errors_code($$SELECT kv.get_item('read_errors', '{"pk": "a", "sk": "b"}', attribute_names => '{"#x": "x"}')$$);

-- key conditions and filters
SELECT read_errors_code($$SELECT kv.query('read_errors', 'sk = :s', '{":s": "a"}')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk > :p', '{":p": "a"}')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p AND elsewhere = :o', '{":p": "a", ":o": 1}')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p', '{":p": 1}')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a", ":s": "b"}', filter => 'sk = :s')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', 'pk = :p AND', '{":p": "a"}')$$);
SELECT read_errors_code($$SELECT kv.query('read_errors', '')$$);

-- there are no indexes
SELECT read_errors($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a"}', index => 'by_status')$$);
SELECT read_errors($$SELECT kv.scan('read_errors', index => 'by_status')$$);

-- a set where none is wanted
SELECT read_errors($$SELECT CASE WHEN kv.query('read_errors', 'pk = :p', '{":p": "a"}') IS NULL THEN 1 END$$);

-- NULL for an argument that has a default is the default
SELECT read_errors($$SELECT kv.query('read_errors', 'pk = :p', '{":p": "a"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)$$);
SELECT read_errors($$SELECT kv.query_page('read_errors', 'pk = :p', '{":p": "a"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)$$);
SELECT read_errors($$SELECT kv.scan_page('read_errors', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)$$);
SELECT read_errors($$SELECT kv.get_item('read_errors', '{"pk": "a", "sk": "b"}', NULL, NULL, NULL)$$);
\t off

DROP VIEW read_errors_view;
DROP TABLE read_errors_plain;
SELECT kv.drop_table('read_errors');
SELECT kv.drop_table('read_errors_single');
DROP FUNCTION read_errors_code;
DROP FUNCTION read_errors;
