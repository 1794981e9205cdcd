-- Conditions and filters: paths, precedence, missing attributes, and errors
-- that are known before any item is looked at.  Each case carries what
-- DynamoDB's documentation gives for it.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION outcome(expression text, rest jsonb, attribute_values jsonb, attribute_names jsonb, kind text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN kv_test.condition(expression, rest, attribute_values, attribute_names, kind => kind);
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE <> 'KV007' THEN SQLSTATE || ': ' ELSE '' END || SQLERRM;
END $$;

CREATE TABLE cases (n serial, expression text, expected text, attribute_values jsonb, rest jsonb, attribute_names jsonb, kind text DEFAULT 'condition');
-- The item of most cases, as its rest; its key is pk = p, sk = s.
CREATE TABLE item AS SELECT '{
	"id": 206, "title": "20-Bicycle 206", "price": 500, "inStock": true, "color": ["Red", "Black"], "n": null, "e": "",
	"safety": {"warning": "Always wear a helmet"}, "safety.warning": "flat",
	"reviews": {"fiveStar": ["Excellent!", "Great"], "oneStar": [{"who": "x", "tags": {"$SS": ["a", "b"]}}]},
	"pictures": {"front": {"$B": "AQIDBA=="}}, "nums": {"$NS": [1, 2.5, 30]},
	"deep": [[["x"]]], "esc": {"$$B": 1}, "two": {"$B": 1, "k": 2}, "a": 1, "b": 2, "c": 3, "t": "a😀é"}'::jsonb AS rest;

INSERT INTO cases (expression, expected, attribute_values) VALUES
	-- paths
	('id = :v', 'true', '{":v": 206}'),
	('safety.warning = :v', 'true', '{":v": "Always wear a helmet"}'),
	('reviews.fiveStar[0] = :v', 'true', '{":v": "Excellent!"}'),
	('reviews.fiveStar[2] = :v', 'false', '{":v": "Excellent!"}'),
	('reviews.oneStar[0].who = :v', 'true', '{":v": "x"}'),
	('contains(reviews.oneStar[0].tags, :v)', 'true', '{":v": "b"}'),
	('deep[0][0][0] = :v', 'true', '{":v": "x"}'),
	('attribute_exists(deep[0][0][0])', 'true', NULL),
	('attribute_exists(deep[0][1])', 'false', NULL),
	('attribute_exists(safety.warning.x)', 'false', NULL),
	('attribute_exists(safety[0])', 'false', NULL),
	('attribute_exists(color.x)', 'false', NULL),
	('attribute_exists(id.x)', 'false', NULL),
	('attribute_exists(id[0])', 'false', NULL),
	('attribute_exists(e)', 'true', NULL),
	('attribute_exists(n)', 'true', NULL),
	-- a step never goes into a binary or a set
	('attribute_exists(deep[0][0][0][0])', 'false', NULL),
	('attribute_exists(nums[0])', 'false', NULL),
	('size(pictures.front) = :v', 'true', '{":v": 4}'),
	-- the key is part of the item
	('pk = :v', 'true', '{":v": "p"}'),
	('sk > pk', 'true', NULL),
	('begins_with(sk, :v)', 'true', '{":v": "s"}'),
	('attribute_exists(pk)', 'true', NULL),
	('attribute_not_exists(pk)', 'false', NULL),
	('attribute_exists(pk.x)', 'false', NULL),
	('attribute_exists(pk[0])', 'false', NULL),
	('size(pk) = :v', 'true', '{":v": 1}'),
	('attribute_type(pk, :v)', 'true', '{":v": "S"}'),
	-- names are case-sensitive
	('attribute_exists(ID)', 'false', NULL),
	-- missing attributes
	('gone = :v', 'false', '{":v": 1}'),
	('gone <> :v', 'true', '{":v": 1}'),
	(':v <> gone', 'true', '{":v": 1}'),
	('gone = nope', 'false', NULL),
	('gone <> nope', 'true', NULL),
	('gone < :v', 'false', '{":v": 1}'),
	('gone >= :v', 'false', '{":v": 1}'),
	('NOT gone = :v', 'true', '{":v": 1}'),
	('NOT gone < :v', 'true', '{":v": 1}'),
	('gone BETWEEN :v AND :w', 'false', '{":v": 1, ":w": 2}'),
	('a BETWEEN gone AND :w', 'false', '{":w": 2}'),
	('gone IN (:v, nope)', 'false', '{":v": 1}'),
	('a IN (nope, :v)', 'true', '{":v": 1}'),
	('begins_with(gone, :v)', 'false', '{":v": "x"}'),
	('begins_with(title, gone)', 'false', NULL),
	('contains(gone, :v)', 'false', '{":v": "x"}'),
	('contains(title, gone)', 'false', NULL),
	('attribute_type(gone, :v)', 'false', '{":v": "S"}'),
	('size(gone) = :v', 'false', '{":v": 0}'),
	('size(gone) <> :v', 'false', '{":v": 0}'),
	('size(id) <> :v', 'false', '{":v": 0}'),
	('NOT size(gone) <> :v', 'true', '{":v": 0}'),
	-- NULL and empty are values
	('n = :v', 'true', '{":v": null}'),
	('n <> :v', 'true', '{":v": false}'),
	('e = :v', 'true', '{":v": ""}'),
	('size(e) = :v', 'true', '{":v": 0}'),
	('attribute_type(n, :v)', 'true', '{":v": "NULL"}'),
	-- numbers compare by value, strings by bytes
	('id = :v', 'true', '{":v": 206.000}'),
	('id < :v', 'false', '{":v": "3"}'),
	('title < :v', 'true', '{":v": "21"}'),
	('title < :v', 'true', '{":v": "3"}'),
	('t < :v', 'true', '{":v": "a😁"}'),
	('t > :v', 'true', '{":v": "aﬁ"}'),
	('size(t) = :v', 'true', '{":v": 4}'),
	-- containers are equal in their normal form
	('nums = :v', 'true', '{":v": {"$NS": [30, 1.0, 2.50]}}'),
	('nums = :v', 'false', '{":v": {"$NS": [30, 1]}}'),
	('nums = :v', 'false', '{":v": [1, 2.5, 30]}'),
	('color = :v', 'true', '{":v": ["Red", "Black"]}'),
	('color = :v', 'false', '{":v": ["Black", "Red"]}'),
	('reviews.oneStar[0] = :v', 'true', '{":v": {"tags": {"$SS": ["b", "a"]}, "who": "x"}}'),
	('reviews.oneStar[0] <> :v', 'false', '{":v": {"tags": {"$SS": ["b", "a"]}, "who": "x"}}'),
	('color IN (:v, :w)', 'true', '{":v": "Red", ":w": ["Red", "Black"]}'),
	-- contains
	('contains(title, :v)', 'true', '{":v": "Bicycle"}'),
	('contains(title, :v)', 'false', '{":v": "bicycle"}'),
	('contains(title, :v)', 'false', '{":v": 20}'),
	('contains(color, :v)', 'true', '{":v": "Red"}'),
	('contains(color, :v)', 'false', '{":v": "Re"}'),
	('contains(nums, :v)', 'true', '{":v": 2.50}'),
	('contains(nums, :v)', 'false', '{":v": "1"}'),
	('contains(:v, title)', 'true', '{":v": ["20-Bicycle 206"]}'),
	('contains(:v, a)', 'true', '{":v": {"$NS": [7, 1]}}'),
	('contains(pictures.front, :v)', 'true', '{":v": {"$B": "AgM="}}'),
	('contains(pictures.front, :v)', 'false', '{":v": {"$B": "AgQ="}}'),
	('contains(title, :v)', 'true', '{":v": ""}'),
	('contains(safety, :v)', 'false', '{":v": "warning"}'),
	-- begins_with
	('begins_with(title, :v)', 'true', '{":v": "20-"}'),
	('begins_with(title, :v)', 'false', '{":v": "Bicycle"}'),
	('begins_with(title, :v)', 'false', '{":v": "20-Bicycle 206 and more"}'),
	('begins_with(:v, title)', 'true', '{":v": "20-Bicycle 206 and more"}'),
	('begins_with(pictures.front, :v)', 'true', '{":v": {"$B": "AQI="}}'),
	('begins_with(id, :v)', 'false', '{":v": "2"}'),
	-- attribute_type
	('attribute_type(reviews, :v)', 'true', '{":v": "M"}'),
	('attribute_type(color, :v)', 'true', '{":v": "L"}'),
	('attribute_type(pictures.front, :v)', 'true', '{":v": "B"}'),
	('attribute_type(esc, :v)', 'true', '{":v": "M"}'),
	('attribute_type(:w, :v)', 'true', '{":v": "N", ":w": 1}'),
	-- precedence: comparison, NOT, AND, OR
	('a < b AND b < c', 'true', NULL),
	('a < b AND c < b', 'false', NULL),
	('b < a OR b < c', 'true', NULL),
	('a < b OR c < b AND b < a', 'true', NULL),
	('(a < b OR c < b) AND b < a', 'false', NULL),
	('NOT b < a', 'true', NULL),
	('NOT a < b AND c < b', 'false', NULL),
	('NOT a < b OR b < c', 'true', NULL),
	('NOT (a < b OR b < c)', 'false', NULL),
	('NOT NOT NOT NOT a < b', 'true', NULL),
	('b BETWEEN a AND c AND a < b', 'true', NULL),
	('b BETWEEN a AND c AND b < a', 'false', NULL),
	('NOT b BETWEEN a AND c OR a < b', 'true', NULL),
	('b BETWEEN c AND a', 'false', NULL),
	('a IN (b, c) OR a < b', 'true', NULL),
	('NOT a IN (b, c) AND NOT b IN (a)', 'true', NULL),
	('a < size(color) AND size(color) <= b AND size(color) BETWEEN a AND b', 'true', NULL),
	('b = size(color)', 'true', NULL),
	('size(color) IN (c, b)', 'true', NULL),
	(':v = :w', 'false', '{":v": 1, ":w": 2}'),
	(':v < :w', 'true', '{":v": 1, ":w": 2}'),
	-- errors: types of :values
	('a < :v', 'invalid ConditionExpression: incorrect operand type for <: L; token ":v", position 5', '{":v": [1]}'),
	('gone <= :v', 'invalid ConditionExpression: incorrect operand type for <=: BOOL; token ":v", position 9', '{":v": true}'),
	(':v > a', 'invalid ConditionExpression: incorrect operand type for >: NULL; token ":v", position 1', '{":v": null}'),
	('a >= :v', 'invalid ConditionExpression: incorrect operand type for >=: SS; token ":v", position 6', '{":v": {"$SS": ["x"]}}'),
	('a = b OR a < :v', 'invalid ConditionExpression: incorrect operand type for <: M; token ":v", position 14', '{":v": {}}'),
	('a BETWEEN :v AND :w', 'invalid ConditionExpression: incorrect operand type for BETWEEN: L; token ":v", position 11', '{":v": [1], ":w": [2]}'),
	('a between :v and :w', 'invalid ConditionExpression: the bounds of BETWEEN are of different types, N and S; token ":w", position 18', '{":v": 1, ":w": "2"}'),
	('a BETWEEN :v AND :w', 'invalid ConditionExpression: the upper bound of BETWEEN is less than the lower bound; token ":w", position 18', '{":v": 2, ":w": 1}'),
	('title BETWEEN :v AND :w', 'invalid ConditionExpression: the upper bound of BETWEEN is less than the lower bound; token ":w", position 22', '{":v": "b", ":w": "a"}'),
	('gone BETWEEN :v AND :w', 'invalid ConditionExpression: the upper bound of BETWEEN is less than the lower bound; token ":w", position 21', '{":v": {"$B": "/w=="}, ":w": {"$B": "fw=="}}'),
	('a BETWEEN :v AND :w', 'true', '{":v": 1, ":w": 1}'),
	('begins_with(title, :v)', 'invalid ConditionExpression: incorrect operand type for begins_with: N; token ":v", position 20', '{":v": 2}'),
	('begins_with(:v, title)', 'invalid ConditionExpression: incorrect operand type for begins_with: L; token ":v", position 13', '{":v": []}'),
	('begins_with(title, size(e))', 'invalid ConditionExpression: incorrect operand type for begins_with: N; token "size", position 20', NULL),
	('contains(:v, a)', 'invalid ConditionExpression: incorrect operand type for contains: M; token ":v", position 10', '{":v": {}}'),
	('contains(size(e), a)', 'invalid ConditionExpression: incorrect operand type for contains: N; token "size", position 10', NULL),
	('size(:v) = a', 'invalid ConditionExpression: incorrect operand type for size: BOOL; token ":v", position 6', '{":v": true}'),
	('size(size(a)) = a', 'invalid ConditionExpression: incorrect operand type for size: N; token "size", position 6', NULL),
	('attribute_type(a, b)', 'invalid ConditionExpression: the second operand of attribute_type must be a :value; token "b", position 19', NULL),
	('attribute_type(a, :v)', 'invalid ConditionExpression: incorrect operand type for attribute_type: N; token ":v", position 19', '{":v": 1}'),
	('attribute_type(a, :v)', 'invalid ConditionExpression: invalid attribute type name "DOG"; token ":v", position 19', '{":v": "DOG"}'),
	('attribute_type(a, :v)', 'invalid ConditionExpression: invalid attribute type name "s"; token ":v", position 19', '{":v": "s"}'),
	('attribute_type(a, :v)', 'invalid ConditionExpression: invalid attribute type name ""; token ":v", position 19', '{":v": ""}'),
	('attribute_type(a, :v)', 'invalid ConditionExpression: invalid attribute type name "öööööööööö"; token ":v", position 19', '{":v": "öööööööööööööööööööööööööö"}'),
	-- errors: what must be a path
	('attribute_exists(:v)', 'invalid ConditionExpression: the operand of attribute_exists must be a document path; token ":v", position 18', '{":v": 1}'),
	('attribute_not_exists(size(a))', 'invalid ConditionExpression: the operand of attribute_not_exists must be a document path; token "size", position 22', NULL),
	-- errors: an operand with itself
	('a = a', 'invalid ConditionExpression: the first operand of = must be distinct from the others; token "a", position 5', NULL),
	('a.b[1] <= a.b[1]', 'invalid ConditionExpression: the first operand of <= must be distinct from the others; token "a.b[1]", position 11', NULL),
	('a.b[1] <= a.b[2]', 'false', NULL),
	('contains(a, a)', 'invalid ConditionExpression: the first operand of contains must be distinct from the others; token "a", position 13', NULL),
	('begins_with(a, a)', 'invalid ConditionExpression: the first operand of begins_with must be distinct from the others; token "a", position 16', NULL),
	('a IN (b, a)', 'invalid ConditionExpression: the first operand of IN must be distinct from the others; token "a", position 10', NULL),
	('a BETWEEN b AND a', 'invalid ConditionExpression: the first operand of BETWEEN must be distinct from the others; token "a", position 17', NULL),
	('size(a) = size(a)', 'false', NULL);

INSERT INTO cases (expression, expected, attribute_names, attribute_values) VALUES
	-- a #name is one step, dots and all
	('#n = :v', 'true', '{"#n": "safety.warning"}', '{":v": "flat"}'),
	('safety.#n = :v', 'true', '{"#n": "warning"}', '{":v": "Always wear a helmet"}'),
	('#s.#n = :v', 'true', '{"#n": "warning", "#s": "safety"}', '{":v": "Always wear a helmet"}'),
	('#n[0] = :v', 'true', '{"#n": "color"}', '{":v": "Red"}'),
	('#n = :v', 'false', '{"#n": "color[0]"}', '{":v": "Red"}'),
	('#n = :v', 'true', '{"#n": "pk"}', '{":v": "p"}'),
	('#a = #b', 'invalid ConditionExpression: the first operand of = must be distinct from the others; token "#b", position 6', '{"#a": "a", "#b": "a"}', NULL),
	('#a = a', 'invalid ConditionExpression: the first operand of = must be distinct from the others; token "a", position 6', '{"#a": "a"}', NULL),
	-- a map whose only key looks like a marker is stored escaped and read by its own name
	('esc.#n = :v', 'true', '{"#n": "$B"}', '{":v": 1}'),
	('esc.#n = :v', 'false', '{"#n": "$$B"}', '{":v": 1}'),
	('two.#n = :v', 'true', '{"#n": "$B"}', '{":v": 1}'),
	('attribute_exists(pictures.front.#n)', 'false', '{"#n": "$B"}', NULL),
	('attribute_exists(#s.#n)', 'false', '{"#n": "$NS", "#s": "nums"}', NULL),
	('esc = :v', 'true', NULL, '{":v": {"$$B": 1}}');

-- An item that does not exist is empty, without a key too.
INSERT INTO cases (expression, expected, attribute_values, rest)
	SELECT expression, expected, attribute_values, 'null' FROM (VALUES
	('attribute_not_exists(pk)', 'true', NULL::jsonb), ('attribute_exists(pk)', 'false', NULL), ('attribute_not_exists(a)', 'true', NULL), ('pk = :v', 'false', '{":v": "p"}'),
	('pk <> :v', 'true', '{":v": "p"}'), ('a = b', 'false', NULL), ('a <> b', 'true', NULL), ('NOT a = b', 'true', NULL), ('size(a) >= :v', 'false', '{":v": 0}'),
	('attribute_not_exists(pk) OR version = :v', 'true', '{":v": 1}')) AS t(expression, expected, attribute_values);

-- A filter of a query knows no key attributes, that of a scan does; nope than that they are conditions.
INSERT INTO cases (expression, expected, attribute_values, kind) VALUES
	('a = :v', 'true', '{":v": 1}', 'filter'),
	('a = :v', 'true', '{":v": 1}', 'scan filter'),
	('a = :v AND pk = :w', 'invalid FilterExpression: key attribute "pk" is not allowed in the filter of a query; token "pk", position 12', '{":v": 1, ":w": "p"}', 'filter'),
	('a = :v AND pk = :w', 'true', '{":v": 1, ":w": "p"}', 'scan filter'),
	('size(sk) > :v', 'invalid FilterExpression: key attribute "sk" is not allowed in the filter of a query; token "sk", position 6', '{":v": 1}', 'filter'),
	('attribute_exists(sk.x)', 'invalid FilterExpression: key attribute "sk" is not allowed in the filter of a query; token "sk.x", position 18', NULL, 'filter'),
	('a <', 'invalid FilterExpression: syntax error; token "<EOF>", position 4', NULL, 'filter'),
	('a <', 'invalid FilterExpression: syntax error; token "<EOF>", position 4', NULL, 'scan filter');

SELECT n, c.expression, outcome FROM cases AS c, item,
	LATERAL (SELECT outcome(expression, CASE WHEN c.rest IS NULL THEN item.rest WHEN c.rest <> 'null' THEN c.rest END, attribute_values, attribute_names, kind)) AS o(outcome)
WHERE outcome IS DISTINCT FROM expected ORDER BY n;
SELECT count(*), count(*) FILTER (WHERE expected = 'true') AS true, count(*) FILTER (WHERE expected = 'false') AS false FROM cases;

-- Key attributes of nope types.
SELECT kv_test.condition('pk = :v AND sk < :w AND size(sk) = :n AND begins_with(sk, :b) AND contains(l, pk) AND contains(l, sk) AND sk IN (:x, sk2)',
	'{"l": [1.5, {"$B": "AP8="}], "sk2": {"$B": "AP8="}}', '{":v": 1.50, ":w": {"$B": "AQ=="}, ":n": 2, ":b": {"$B": "AA=="}, ":x": 1}', key => '{1.5,AP8=}', types => 'NB');
SELECT kv_test.condition('sk = :v', '{}', '{":v": {"$B": "AP8="}}', key => '{1.5,AP8=}', types => 'NB'),
	kv_test.condition('sk = :v', '{}', '{":v": {"$B": "AP4="}}', key => '{1.5,AP8=}', types => 'NB'),
	kv_test.condition('sk = b', '{"b": {"$B": "AP8="}}', key => '{1.5,AP8=}', types => 'NB'),
	kv_test.condition('contains(b, sk)', '{"b": {"$BS": ["AP8=", "AA=="]}}', key => '{1.5,AP8=}', types => 'NB'),
	kv_test.condition('contains(sk, b)', '{"b": {"$B": "/w=="}}', key => '{1.5,AP8=}', types => 'NB');

-- Limits: 100 operands of IN, 300 operators and functions, 32 steps, 4,096 bytes.
SELECT outcome('a IN (' || list || ')', '{"a": 99}', attribute_values, NULL, 'condition')
FROM (SELECT n, string_agg(':v' || i, ', ' ORDER BY i) AS list, jsonb_object_agg(':v' || i, i) AS attribute_values FROM unnest('{99,100,101}'::int[]) AS n, generate_series(1, n) AS i GROUP BY n) AS t ORDER BY n;
SELECT n, outcome('NOT ' || repeat('a = :v OR NOT ', n) || 'a = :v', '{"a": 1}', '{":v": 1}', NULL, 'condition') FROM (VALUES (99), (100)) AS t(n);
SELECT n, outcome('attribute_exists(a' || repeat('.a', n) || ')', '{}', NULL, NULL, 'condition') FROM (VALUES (31), (32)) AS t(n);
SELECT n, outcome('attribute_exists(a' || repeat('[0]', n) || ')', ('{"a": ' || repeat('[', n - 1) || '[1]' || repeat(']', n - 1) || '}')::jsonb, NULL, NULL, 'condition') FROM (VALUES (31)) AS t(n);
SELECT n, outcome('a = ' || repeat(' ', n - 6) || ':v', '{"a": 1}', '{":v": 1}', NULL, 'condition') FROM (VALUES (4096), (4097)) AS t(n);

DROP TABLE cases, item;
DROP FUNCTION outcome;
