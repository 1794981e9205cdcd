-- Hostile text and values: an error at once, or an answer; never a crash or a hang.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on
SET statement_timeout = '60s';

CREATE FUNCTION outcome(kind text, expression text, rest jsonb = '{}', attribute_values jsonb = NULL, attribute_names jsonb = NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	CASE kind
		WHEN 'C' THEN result := kv_test.condition(expression, rest, attribute_values, attribute_names);
		WHEN 'K' THEN result := kv_test.key_condition(expression, NULL, attribute_values, attribute_names);
		WHEN 'P' THEN result := kv_test.projection(expression, rest, attribute_values, attribute_names);
		WHEN 'U' THEN result := kv_test.update(expression, rest, attribute_values, attribute_names);
	END CASE;
	RETURN CASE WHEN length(result) > 200 THEN 'length ' || length(result) ELSE result END;
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE <> 'KV007' THEN SQLSTATE || ': ' ELSE '' END || SQLERRM;
END $$;

-- 4 KB of one thing, as each kind of expression.
SELECT part, kind, outcome(kind, repeat(part, 4096 / octet_length(part))) FROM unnest('{C,K,P,U}'::text[]) AS kind,
	unnest(ARRAY['(', ')', '[', 'a[', 'a.', 'NOT ', 'not(', 'a=', ':', '#', ',', 'a,', '-', '+', '<', 'size(', 'f(', '1', 'a', '😀', 'SET ', 'AND ', 'a AND ']) AS part ORDER BY part COLLATE "C", kind;

-- Nesting up to the limit is allowed, one more is not; 300 operators are the other limit.
SELECT n, outcome('C', repeat('(', n) || 'a = b' || repeat(')', n)) FROM unnest('{298,299,300,2000}'::int[]) AS n;
SELECT n, outcome('C', repeat('(', n) || 'a' || repeat(')', n) || ' = b') FROM unnest('{298,299,300,2000}'::int[]) AS n;
SELECT n, outcome('C', repeat('NOT ', n) || 'a <> b') FROM unnest('{298,299,300,1000}'::int[]) AS n;
SELECT n, outcome('U', 'SET a = ' || repeat('if_not_exists(a, ', n) || ':v' || repeat(')', n), '{}', '{":v": 1}') FROM unnest('{100,149,150,200}'::int[]) AS n;
SELECT n, outcome('U', 'SET a = ' || repeat('(:v + ', n) || ':v' || repeat(')', n), '{}', '{":v": 1}') FROM unnest('{100,299,300,400}'::int[]) AS n;
SELECT n, outcome('U', 'SET a = ' || repeat('list_append(', n) || ':v' || repeat(', :v)', n), '{}', '{":v": [1]}') FROM unnest('{100,149,150,200}'::int[]) AS n;
SELECT n, outcome('C', 'a = :v' || repeat(' AND a = :v', n), '{"a": 1}', '{":v": 1}') FROM unnest('{149,150,300}'::int[]) AS n;
SELECT n, outcome('C', 'size(' || repeat('size(', n) || 'a' || repeat(')', n) || ') = a') FROM unnest('{1,200}'::int[]) AS n;

-- Very many paths; long names; big indexes.
SELECT outcome('P', string_agg('a' || i, ',')) FROM generate_series(1, 680) AS i;
SELECT outcome('P', string_agg('a[' || i || ']', ',' ORDER BY -i), '{"a": [0, 1, 2]}') FROM generate_series(1, 500) AS i;
SELECT outcome('U', 'SET ' || string_agg('a[' || i || ']=:v', ',' ORDER BY -i), '{"a": [0, 1, 2]}', '{":v": "x"}') FROM generate_series(1, 300) AS i;
SELECT outcome('U', 'REMOVE ' || string_agg('a.b' || i, ',' ORDER BY -i), '{"a": {"b1": 1, "c": 2}}') FROM generate_series(1, 500) AS i;
SELECT left(outcome('P', repeat('a', 4096)), 120);
SELECT outcome('P', 'a[' || repeat('0', 4000) || '1]', '{"a": [1, 2]}');
SELECT outcome('P', 'a[' || repeat('9', 4000) || ']');
SELECT outcome('U', 'SET a[2147483647] = :v, a[2147483646] = :w', '{"a": []}', '{":v": 1, ":w": 2}');
SELECT outcome('C', 'a[2147483647][2147483647] = :v', '{"a": []}', '{":v": 1}');

-- Names of 65,535 bytes and long values.
SELECT outcome('U', 'SET #n = :v', '{}', '{":v": 1}', jsonb_build_object('#n', repeat('n', 65535)));
SELECT outcome('U', 'SET a.#n = :v', '{"a": {}}', '{":v": 1}', jsonb_build_object('#n', repeat('é', 32767)));
SELECT outcome('P', '#n', '{}', NULL, jsonb_build_object('#n', repeat('n', 65536)));
SELECT outcome('C', 'contains(a, :v)', jsonb_build_object('a', repeat('ab', 150000)), jsonb_build_object(':v', repeat('ab', 1000) || 'b'));
SELECT outcome('C', 'contains(a, :v)', jsonb_build_object('a', jsonb_build_object('$NS', (SELECT jsonb_agg(i) FROM generate_series(1, 20000) AS i))), '{":v": 20000}');
SELECT outcome('U', 'ADD a :v', jsonb_build_object('a', jsonb_build_object('$NS', (SELECT jsonb_agg(i) FROM generate_series(1, 20000, 2) AS i))),
	jsonb_build_object(':v', jsonb_build_object('$NS', (SELECT jsonb_agg(i) FROM generate_series(2, 20000, 2) AS i))))
	= 'length ' || length(jsonb_build_object('a', jsonb_build_object('$NS', (SELECT jsonb_agg(i ORDER BY i) FROM generate_series(1, 20000) AS i)))::text);

-- 4 KB of placeholders, none of which is defined, and very many that nothing uses.
SELECT outcome('P', string_agg('#' || i, ','), '{}', NULL, '{"#x": "x"}') FROM generate_series(1, 800) AS i;
SELECT outcome('P', 'a', '{}', NULL, jsonb_object_agg('#' || i, 'x')) FROM generate_series(1, 100000) AS i;

-- Numbers at the edges.
SELECT n, outcome('U', 'SET x = :a + :b, y = :a - :b', '{}', jsonb_build_object(':a', a, ':b', b)) FROM (VALUES
	(1, 1e-130, 1e-130), (2, 1e-130, -1e-130), (3, 1e-130, 2e-130), (4, 9.9e125, -9.9e125), (5, 1e125, 1e88), (6, 1e125, 1e87), (7, 0, 0), (8, -0.0, 0.00)) AS t(n, a, b) ORDER BY n;

DROP FUNCTION outcome;
