-- Projections: nested paths keep their shape, list elements close up, what is
-- not there is left out; paths must not overlap.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION outcome(expression text, rest jsonb, attribute_names jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN kv_test.projection(expression, rest, NULL, attribute_names);
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE <> 'KV007' THEN SQLSTATE || ': ' ELSE '' END || SQLERRM;
END $$;

CREATE TABLE item AS SELECT '{
	"a": {"b": [2, 4, {"x": "hi", "y": "yo"}, [10, 11, 12]], "c": 5, "d": {"$B": "AQI="}, "long name": 1},
	"b": "hello", "e": {}, "f": [], "g": {"$SS": ["x", "y"]}, "a.b": "dotted", "n": null,
	"esc": {"$$B": "one"}, "two": {"$B": "one", "k": 2}, "three": [{"$SS": 1, "k": 2}, {"$$$NS": 3, "k": 2}]}'::jsonb AS rest;

CREATE TABLE cases (n serial, expression text, expected text, attribute_names jsonb);
INSERT INTO cases (expression, expected) VALUES
	('b', '{"b": "hello"}'),
	('b,a', '{"a": {"b": [2, 4, {"x": "hi", "y": "yo"}, [10, 11, 12]], "c": 5, "d": {"$B": "AQI="}, "long name": 1}, "b": "hello"}'),
	('a.b', '{"a": {"b": [2, 4, {"x": "hi", "y": "yo"}, [10, 11, 12]]}}'),
	('a.b[0]', '{"a": {"b": [2]}}'),
	('a.b[2]', '{"a": {"b": [{"x": "hi", "y": "yo"}]}}'),
	('a.b[2].y', '{"a": {"b": [{"y": "yo"}]}}'),
	('a.b[3][1]', '{"a": {"b": [[11]]}}'),
	('a.b[1], a.b[0]', '{"a": {"b": [2, 4]}}'),
	('a.b[3][2], a.b[3][0], a.b[2].x, a.b[1]', '{"a": {"b": [4, {"x": "hi"}, [10, 12]]}}'),
	('a.b[0],a.c', '{"a": {"b": [2], "c": 5}}'),
	('a.c,b', '{"a": {"c": 5}, "b": "hello"}'),
	('a.d', '{"a": {"d": {"$B": "AQI="}}}'),
	('e, f, g, n', '{"e": {}, "f": [], "g": {"$SS": ["x", "y"]}, "n": null}'),
	-- what is not there
	('x', '{}'),
	('a.x', '{}'),
	('a.x.y', '{}'),
	('a.b[4]', '{}'),
	('a.b[3].x', '{}'),
	('a.b.x', '{}'),
	('a[0]', '{}'),
	('a.b[0].x', '{}'),
	('a.b[0][0]', '{}'),
	('b.c', '{}'),
	('b[0]', '{}'),
	('n.c', '{}'),
	('g[0]', '{}'),
	('e.x, f[0]', '{}'),
	('a.x, a.b[0], x, a.b[3].x', '{"a": {"b": [2]}}'),
	('a.b[99], a.b[1]', '{"a": {"b": [4]}}'),
	('a.b[2].z, a.b[1]', '{"a": {"b": [4]}}'),
	-- key attributes only where they are named
	('pk', '{"pk": "p"}'),
	('sk, b, pk', '{"b": "hello", "pk": "p", "sk": "s"}'),
	('pk.x, sk[0], b', '{"b": "hello"}'),
	-- overlaps and conflicts, whatever the item holds
	('a, a', 'invalid ProjectionExpression: two document paths overlap with each other: [a] and [a]; token "a", position 4'),
	('a.b, a.b', 'invalid ProjectionExpression: two document paths overlap with each other: [a, b] and [a, b]; token "a.b", position 6'),
	('a[1], a[1]', 'invalid ProjectionExpression: two document paths overlap with each other: [a, [1]] and [a, [1]]; token "a[1]", position 7'),
	('a, a.b', 'invalid ProjectionExpression: two document paths overlap with each other: [a] and [a, b]; token "a.b", position 4'),
	('a.b, a', 'invalid ProjectionExpression: two document paths overlap with each other: [a, b] and [a]; token "a", position 6'),
	('a.b, a.b[2]', 'invalid ProjectionExpression: two document paths overlap with each other: [a, b] and [a, b, [2]]; token "a.b[2]", position 6'),
	('a.b, a.b.c', 'invalid ProjectionExpression: two document paths overlap with each other: [a, b] and [a, b, c]; token "a.b.c", position 6'),
	('a, a.b[2].c', 'invalid ProjectionExpression: two document paths overlap with each other: [a] and [a, b, [2], c]; token "a.b[2].c", position 4'),
	('a.b.d.e, b, a.b', 'invalid ProjectionExpression: two document paths overlap with each other: [a, b, d, e] and [a, b]; token "a.b", position 13'),
	('pk, b, pk', 'invalid ProjectionExpression: two document paths overlap with each other: [pk] and [pk]; token "pk", position 8'),
	('a.b, a[1]', 'invalid ProjectionExpression: two document paths conflict with each other: [a, b] and [a, [1]]; token "a[1]", position 6'),
	('a[1], a.b', 'invalid ProjectionExpression: two document paths conflict with each other: [a, [1]] and [a, b]; token "a.b", position 7'),
	('a.b[0].c, a.b.c', 'invalid ProjectionExpression: two document paths conflict with each other: [a, b, [0], c] and [a, b, c]; token "a.b.c", position 11'),
	('a.b.d, a.b.e, a.c[2], x[1], x[2], B, b', '{"b": "hello"}');
INSERT INTO cases (expression, attribute_names, expected) VALUES
	('#n', '{"#n": "a.b"}', '{"a.b": "dotted"}'),
	('#n, a.b[0]', '{"#n": "a.b"}', '{"a": {"b": [2]}, "a.b": "dotted"}'),
	('#a.#b[0], #a.#n', '{"#a": "a", "#b": "b", "#n": "long name"}', '{"a": {"b": [2], "long name": 1}}'),
	('#p', '{"#p": "pk"}', '{"pk": "p"}'),
	('#a, a', '{"#a": "a"}', 'invalid ProjectionExpression: two document paths overlap with each other: [a] and [a]; token "a", position 5'),
	('#a, #b', '{"#a": "a", "#b": "a"}', 'invalid ProjectionExpression: two document paths overlap with each other: [a] and [a]; token "#b", position 5'),
	('#a', '{"#b": "a"}', 'invalid ProjectionExpression: attribute name placeholder is not defined; token "#a", position 1'),
	('#a', NULL, 'invalid ProjectionExpression: attribute name placeholder is not defined; token "#a", position 1'),
	('b', '{"#b": "a"}', 'attribute_names defines "#b", which no expression uses'),
	-- a map whose only key looks like a marker is escaped, no other is
	('esc', NULL, '{"esc": {"$$B": "one"}}'),
	('esc.#n', '{"#n": "$B"}', '{"esc": {"$$B": "one"}}'),
	('esc.#n', '{"#n": "$$B"}', '{}'),
	('two', NULL, '{"two": {"k": 2, "$B": "one"}}'),
	('two.#n', '{"#n": "$B"}', '{"two": {"$$B": "one"}}'),
	('two.#n, two.k', '{"#n": "$B"}', '{"two": {"k": 2, "$B": "one"}}'),
	('three[0].#n', '{"#n": "$SS"}', '{"three": [{"$$SS": 1}]}'),
	('three[1].#n', '{"#n": "$$$NS"}', '{"three": [{"$$$$NS": 3}]}'),
	('g.#n', '{"#n": "$SS"}', '{}'),
	('a.d.#n', '{"#n": "$B"}', '{}');

SELECT n, expression, outcome FROM (SELECT cases.*, outcome(expression, rest, attribute_names) FROM cases, item) AS o
WHERE outcome IS DISTINCT FROM CASE WHEN expected LIKE '{%' THEN expected::jsonb::text ELSE expected END ORDER BY n;
SELECT count(*) FROM cases;

-- No item: nothing.
SELECT outcome('a, pk', NULL, NULL);
-- Keys of other types, in their normal form.
SELECT kv_test.projection('pk, sk, a', '{"a": 1.50}', key => '{1.500,AP8=}', types => 'NB');

-- Against SQL: every path of up to two steps of random items, alone.
CREATE TABLE random_item AS
	SELECT n, jsonb_object_agg(chr(97 + i), CASE (n * 7 + i * 3) % 5
		WHEN 0 THEN jsonb_build_object('a', n, 'b', i) WHEN 1 THEN jsonb_build_array(n, i, 'x') WHEN 2 THEN to_jsonb(n) WHEN 3 THEN '{}' ELSE 'null' END) AS rest
	FROM generate_series(1, 40) AS n, generate_series(0, n % 40) AS i WHERE i < 26 GROUP BY n;
SELECT count(*), count(*) FILTER (WHERE given <> '{}') AS found, count(*) FILTER (WHERE given IS DISTINCT FROM expected) AS wrong FROM (
	SELECT kv_test.projection('#a' || step, rest, NULL, jsonb_build_object('#a', name)) AS given,
		CASE WHEN step = '' AND rest ? name THEN jsonb_build_object(name, rest -> name)
			WHEN step = '.a' AND rest -> name ? 'a' AND jsonb_typeof(rest -> name) = 'object' THEN jsonb_build_object(name, jsonb_build_object('a', rest -> name -> 'a'))
			WHEN step = '[2]' AND jsonb_typeof(rest -> name) = 'array' THEN jsonb_build_object(name, jsonb_build_array(rest -> name -> 2))
			ELSE '{}' END AS expected
	FROM random_item, unnest('{"",.a,[2]}'::text[]) AS step, (SELECT chr(96 + i) AS name FROM generate_series(1, 26) AS i) AS names) AS p;

DROP TABLE cases, item, random_item;
DROP FUNCTION outcome;
