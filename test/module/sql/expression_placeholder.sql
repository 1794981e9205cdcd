-- attribute_names and attribute_values: what they may hold, and that each is defined and used.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION outcome(expression text, attribute_values jsonb, attribute_names jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN kv_test.condition(expression, '{"a": 1}', attribute_values, attribute_names);
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE <> 'KV007' THEN SQLSTATE || ': ' ELSE '' END || SQLERRM;
END $$;

CREATE TABLE cases (n serial, expression text, attribute_values jsonb, attribute_names jsonb, expected text);
INSERT INTO cases (expression, attribute_values, attribute_names, expected) VALUES
	('a = :v', '{":v": 1}', NULL, 'true'),
	('a = :v', '{":v": 1}', '{}', 'true'),
	('#a = :v', '{":v": 1}', '{"#a": "a"}', 'true'),
	('#a = :v AND #a <> :w AND :v < :w', '{":v": 1, ":w": 2}', '{"#a": "a"}', 'true'),
	-- longer and shorter names beside each other
	('#a = :v AND #aa = :vv', '{":v": 1, ":vv": 2}', '{"#a": "a", "#aa": "b"}', 'false'),
	('attribute_exists(#a1) OR attribute_exists(#a2) OR attribute_exists(#a10)', NULL, '{"#a1": "x", "#a10": "a", "#a2": "y"}', 'true'),
	-- undefined
	('a = :v', NULL, NULL, 'invalid ConditionExpression: attribute value placeholder is not defined; token ":v", position 5'),
	('a = :v', '{}', NULL, 'invalid ConditionExpression: attribute value placeholder is not defined; token ":v", position 5'),
	('a = :v OR a = :w', '{":v": 1}', NULL, 'invalid ConditionExpression: attribute value placeholder is not defined; token ":w", position 15'),
	('a = :V', '{":v": 1}', NULL, 'invalid ConditionExpression: attribute value placeholder is not defined; token ":V", position 5'),
	('#a = :v', '{":v": 1}', '{"#b": "a"}', 'invalid ConditionExpression: attribute name placeholder is not defined; token "#a", position 1'),
	('a.#b.c = :v', '{":v": 1}', NULL, 'invalid ConditionExpression: attribute name placeholder is not defined; token "#b", position 3'),
	-- unused, also where the answer is known without them
	('a = :v', '{":v": 1, ":w": 2}', NULL, 'attribute_values defines ":w", which no expression uses'),
	('a = :v', '{":v": 1}', '{"#a": "a"}', 'attribute_names defines "#a", which no expression uses'),
	('a = :v OR a = :w', '{":v": 1, ":w": 2}', NULL, 'true'),
	-- keys that are no placeholders
	('a = :v', '{":v": 1, "w": 2}', NULL, 'attribute_values contains the invalid key "w"'),
	('a = :v', '{":v": 1, "#w": 2}', NULL, 'attribute_values contains the invalid key "#w"'),
	('a = :v', '{":v": 1, ":": 2}', NULL, 'attribute_values contains the invalid key ":"'),
	('a = :v', '{":v": 1, "": 2}', NULL, 'attribute_values contains the invalid key ""'),
	('a = :v', '{":v": 1, ":a-b": 2}', NULL, 'attribute_values contains the invalid key ":a-b"'),
	('a = :v', '{":v": 1, ":é": 2}', NULL, 'attribute_values contains the invalid key ":é"'),
	('a = :v', '{":v": 1}', '{"a": "a"}', 'attribute_names contains the invalid key "a"'),
	('a = :v', '{":v": 1}', '{":a": "a"}', 'attribute_names contains the invalid key ":a"'),
	('a = :v', '{":v": 1}', '{"#": "a"}', 'attribute_names contains the invalid key "#"'),
	('a = :v', '{":v": 1}', '{"##": "a"}', 'attribute_names contains the invalid key "##"'),
	('a = :v', '{":v": 1}', '{"#a b": "a"}', 'attribute_names contains the invalid key "#a b"'),
	-- names are strings, values are anything valid
	('#a = :v', '{":v": 1}', '{"#a": 1}', 'attribute_names must give "#a" as a string that is not empty'),
	('#a = :v', '{":v": 1}', '{"#a": null}', 'attribute_names must give "#a" as a string that is not empty'),
	('#a = :v', '{":v": 1}', '{"#a": ["a"]}', 'attribute_names must give "#a" as a string that is not empty'),
	('#a = :v', '{":v": 1}', '{"#a": ""}', 'attribute_names must give "#a" as a string that is not empty'),
	('#a = :v', '{":v": 1}', '{"#a": "b.c[0] 😀"}', 'false'),
	('a = :v', '[]', NULL, 'attribute_values must be a JSON object'),
	('a = :v', '"x"', NULL, 'attribute_values must be a JSON object'),
	('a = :v', 'null', NULL, 'attribute_values must be a JSON object'),
	('a = :v', '{":v": 1}', '[]', 'attribute_names must be a JSON object'),
	('a = :v', '{":v": 1}', '"x"', 'attribute_names must be a JSON object'),
	('a = :v', '{":v": {"$SS": []}}', NULL, 'set in attribute ":v" is empty'),
	('a = :v', '{":v": {"$SS": ["x", "x"]}}', NULL, 'set in attribute ":v" holds a member twice: "x"'),
	('a = :v', '{":v": {"x": {"$B": "?"}}}', NULL, 'malformed binary value in attribute ":v.x"');

SELECT n, expression, outcome FROM (SELECT *, outcome(expression, attribute_values, attribute_names) FROM cases) AS o
WHERE outcome IS DISTINCT FROM expected ORDER BY n;
SELECT count(*) FROM cases;

-- Many of them: each is found.
SELECT kv_test.condition('a IN (' || string_agg(':v' || i, ',') || ')', '{"a": 99}', jsonb_object_agg(':v' || i, i)) FROM generate_series(1, 100) AS i;
SELECT kv_test.projection(string_agg('#n' || i, ','), jsonb_object_agg('name ' || i, i), NULL, jsonb_object_agg('#n' || i, 'name ' || i))
	= jsonb_object_agg('name ' || i, i) FROM generate_series(1, 500) AS i;

DROP TABLE cases;
DROP FUNCTION outcome;
