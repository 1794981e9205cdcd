-- Every operator and function of conditions x every pair of types.  The
-- expected side is computed here from the documented rules alone:
--	=, IN		same type and equal; a missing attribute equals nothing
--	<>			the opposite of =; a missing attribute differs from everything
--	< <= > >=	same type, one of S, N, B, and ordered so; BETWEEN is >= and <=
--	begins_with	both S or both B
--	contains	S in S, B in B, member of a set, element of a list
--	a :value of a type that an operator does not take is an error at once
LOAD 'key_value';
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on

-- Two values of each type; the second of an ordered type is greater, and begins with the first.
CREATE TABLE sample (type text, rank int, value jsonb);
INSERT INTO sample VALUES
	('S', 1, '"ab"'), ('S', 2, '"abc"'),
	('N', 1, '9'), ('N', 2, '10.5'),
	('B', 1, '{"$B": "/v8="}'), ('B', 2, '{"$B": "/v8A"}'),
	('SS', 1, '{"$SS": ["ab", "x"]}'), ('SS', 2, '{"$SS": ["abc"]}'),
	('NS', 1, '{"$NS": [9, 77]}'), ('NS', 2, '{"$NS": [-1, 10.5, 77]}'),
	('BS', 1, '{"$BS": ["/v8=", "AA=="]}'), ('BS', 2, '{"$BS": ["/v8A"]}'),
	('M', 1, '{"ab": 9}'), ('M', 2, '{"ab": 10.5}'),
	('L', 1, '["ab", 9, {"$B": "/v8="}, null, true, ["ab"], {"$SS": ["abc"]}]'), ('L', 2, '[{"ab": 9}, "abc"]'),
	('NULL', 1, 'null'),
	('BOOL', 1, 'false'), ('BOOL', 2, 'true');

-- Where an operand can stand: in the item, as a :value, as a key attribute, or nowhere.
CREATE TABLE operand AS
	SELECT type, rank, value, 'path' AS place FROM sample
	UNION ALL SELECT type, rank, value, 'value' FROM sample
	UNION ALL SELECT type, rank, value, 'key' FROM sample WHERE type IN ('S', 'N', 'B')
	UNION ALL SELECT 'missing', 0, NULL, 'path';

-- Asks a condition over operands a, b, c; the key attribute pk is any of them.
CREATE FUNCTION ask(expression text, a operand, b operand, c operand = NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	operands operand[] := ARRAY[a, b, c];
	names text[] := '{a,b,c}';
	rest jsonb := '{}';
	attribute_values jsonb := '{}';
	key text := 'p';
	type text := 'S';
BEGIN
	FOR i IN 1 .. 3 LOOP
		IF operands[i].place = 'value' THEN
			expression := replace(expression, '$' || names[i], ':' || names[i]);
			attribute_values := attribute_values || jsonb_build_object(':' || names[i], operands[i].value);
		ELSIF operands[i].place = 'key' THEN
			expression := replace(expression, '$' || names[i], 'pk');
			type := operands[i].type;
			key := coalesce(operands[i].value ->> '$B', operands[i].value #>> '{}');
		ELSE
			expression := replace(expression, '$' || names[i], names[i]);
			IF operands[i].value IS NOT NULL THEN
				rest := rest || jsonb_build_object(names[i], operands[i].value);
			END IF;
		END IF;
	END LOOP;
	RETURN kv_test.condition(expression, rest, attribute_values, key => ARRAY[key], key_names => '{pk}', types => type);
EXCEPTION WHEN SQLSTATE 'KV007' THEN
	RETURN regexp_replace(SQLERRM, '^invalid ConditionExpression: (.*); token.*$', '\1');
END $$;

-- The rules.
CREATE FUNCTION equal(a operand, b operand) RETURNS boolean LANGUAGE sql AS $$
	SELECT a.type = b.type AND a.rank = b.rank AND a.type <> 'missing' $$;
CREATE FUNCTION ordered(a operand) RETURNS boolean LANGUAGE sql AS $$ SELECT a.type IN ('S', 'N', 'B') $$;
CREATE FUNCTION compared(op text, a operand, b operand) RETURNS boolean LANGUAGE sql AS $$
	SELECT CASE op WHEN '=' THEN equal(a, b) WHEN '<>' THEN NOT equal(a, b)
		ELSE a.type = b.type AND ordered(a) AND CASE op WHEN '<' THEN a.rank < b.rank WHEN '<=' THEN a.rank <= b.rank
			WHEN '>' THEN a.rank > b.rank ELSE a.rank >= b.rank END END $$;
-- The first :value of a type that the operator does not take.
CREATE FUNCTION refused(op text, types text[], a operand, b operand, c operand = NULL) RETURNS text LANGUAGE sql AS $$
	SELECT format('incorrect operand type for %s: %s', op, (o).type)
	FROM unnest(ARRAY[a, b, c]) WITH ORDINALITY AS t(type, rank, value, place, n), LATERAL (SELECT ROW(type, rank, value, place)::operand AS o) AS x
	WHERE place = 'value' AND type <> ALL (types) ORDER BY n LIMIT 1 $$;
-- Both cannot be the one key attribute of the test's table.
CREATE FUNCTION possible(a operand, b operand) RETURNS boolean LANGUAGE sql AS $$
	SELECT NOT (a.place = 'key' AND b.place = 'key') $$;

-- Comparisons.
CREATE TABLE answer AS
	SELECT op, a, b, ask('$a ' || op || ' $b', a, b) AS given,
		coalesce(CASE WHEN op NOT IN ('=', '<>') THEN refused(op, '{S,N,B}', a, b) END, compared(op, a, b)::text) AS expected
	FROM operand a, operand b, unnest('{=,<>,<,<=,>,>=}'::text[]) AS op
	WHERE possible(a, b);
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true, count(*) FILTER (WHERE expected = 'false') AS false FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- BETWEEN: all triples of types; the bounds as paths or as :values.
CREATE TABLE answer AS
	SELECT a, b, c, ask('$a BETWEEN $b AND $c', a, b, c) AS given,
		coalesce(refused('BETWEEN', '{S,N,B}', a, b, c),
			CASE WHEN b.place = 'value' AND c.place = 'value' AND b.type <> c.type
				THEN format('the bounds of BETWEEN are of different types, %s and %s', b.type, c.type) END,
			CASE WHEN b.place = 'value' AND c.place = 'value' AND b.rank > c.rank
				THEN 'the upper bound of BETWEEN is less than the lower bound' END,
			(compared('>=', a, b) AND compared('<=', a, c))::text) AS expected
	FROM operand a, operand b, operand c
	WHERE a.place = 'path' AND b.place <> 'key' AND c.place <> 'key';
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true, count(*) FILTER (WHERE expected = 'false') AS false FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- IN: a list of two.
CREATE TABLE answer AS
	SELECT a, b, c, ask('$a IN ($b, $c)', a, b, c) AS given, (equal(a, b) OR equal(a, c))::text AS expected
	FROM operand a, operand b, operand c
	WHERE a.place <> 'value' AND b.place = 'value' AND c.place = 'path';
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- begins_with.
CREATE TABLE answer AS
	SELECT a, b, ask('begins_with($a, $b)', a, b) AS given,
		coalesce(refused('begins_with', '{S,B}', a, b), (a.type = b.type AND a.type IN ('S', 'B') AND a.rank >= b.rank)::text) AS expected
	FROM operand a, operand b WHERE possible(a, b);
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- contains.
CREATE TABLE answer AS
	SELECT a, b, ask('contains($a, $b)', a, b) AS given,
		coalesce(CASE WHEN a.place = 'value' THEN refused('contains', '{S,B,SS,NS,BS,L}', a, NULL) END,
			coalesce(CASE a.type
				WHEN 'S' THEN b.type = 'S' AND strpos(a.value #>> '{}', b.value #>> '{}') > 0
				WHEN 'B' THEN b.type = 'B' AND position(decode(b.value ->> '$B', 'base64') IN decode(a.value ->> '$B', 'base64')) > 0
				WHEN 'SS' THEN b.type = 'S' AND a.value -> '$SS' @> b.value
				WHEN 'NS' THEN b.type = 'N' AND a.value -> '$NS' @> b.value
				WHEN 'BS' THEN b.type = 'B' AND a.value -> '$BS' @> (b.value -> '$B')
				WHEN 'L' THEN EXISTS (SELECT FROM jsonb_array_elements(a.value) AS e WHERE e = b.value) END, false)::text) AS expected
	FROM operand a, operand b WHERE possible(a, b);
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- attribute_type.
CREATE TABLE answer AS
	SELECT a, t, ask('attribute_type($a, $b)', a, ROW('S', 1, to_jsonb(t), 'value')::operand) AS given, (a.type = t)::text AS expected
	FROM operand a, (SELECT DISTINCT type FROM sample) AS types(t);
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- attribute_exists, attribute_not_exists.
SELECT a.type, ask('attribute_exists($a)', a, NULL), ask('attribute_not_exists($a)', a, NULL)
FROM operand a WHERE a.place <> 'value' AND (ask('attribute_exists($a)', a, NULL), ask('attribute_not_exists($a)', a, NULL))
	IS DISTINCT FROM ((a.type <> 'missing')::text, (a.type = 'missing')::text);
SELECT DISTINCT ask('attribute_exists($a)', a, NULL), ask('attribute_not_exists($a)', a, NULL) FROM operand a WHERE a.place = 'value';

-- size: characters, bytes, members; nothing for other types, and then every comparison is false.
CREATE TABLE sized (type text, rank int, size int);
INSERT INTO sized VALUES ('S', 1, 2), ('S', 2, 3), ('B', 1, 2), ('B', 2, 3), ('SS', 1, 2), ('SS', 2, 1), ('NS', 1, 2), ('NS', 2, 3), ('BS', 1, 2), ('BS', 2, 1),
	('M', 1, 1), ('M', 2, 1), ('L', 1, 7), ('L', 2, 2);
CREATE TABLE answer AS
	SELECT a, op, n, ask('size($a) ' || op || ' $b', a, ROW('N', 1, to_jsonb(n), 'value')::operand) AS given,
		coalesce(CASE WHEN (a).place = 'value' THEN refused('size', '{S,B,SS,NS,BS,L,M}', a, NULL) END,
			CASE WHEN size IS NULL THEN false ELSE
				CASE op WHEN '=' THEN size = n WHEN '<>' THEN size <> n WHEN '<' THEN size < n WHEN '<=' THEN size <= n WHEN '>' THEN size > n ELSE size >= n END END::text) AS expected
	FROM (SELECT operand AS a, size FROM operand LEFT JOIN sized USING (type, rank)) AS o, unnest('{=,<>,<,<=,>,>=}'::text[]) AS op, generate_series(0, 8) AS n;
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- size against another type: like any number.
CREATE TABLE answer AS
	SELECT op, b, ask('size($a) ' || op || ' $b', ROW('S', 1, '"ab"', 'path')::operand, b) AS given,
		coalesce(CASE WHEN op NOT IN ('=', '<>') THEN refused(op, '{S,N,B}', b, NULL) END,
			CASE WHEN b.type = 'N' THEN compared(op, ROW('N', 0, NULL, 'path')::operand, b) ELSE op = '<>' END::text) AS expected
	FROM operand b, unnest('{=,<>,<,<=,>,>=}'::text[]) AS op;
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true FROM answer;
SELECT * FROM answer WHERE given IS DISTINCT FROM expected;
DROP TABLE answer;

-- NOT turns each answer round.
SELECT count(*) FROM operand a, operand b, unnest('{=,<>,<,<=,>,>=}'::text[]) AS op
WHERE a.place = 'path' AND b.place = 'path' AND (ask('NOT $a ' || op || ' $b', a, b) = 'true') = (ask('$a ' || op || ' $b', a, b) = 'true');

DROP TABLE sized, operand, sample CASCADE;
