-- Key conditions: what range they name, and what is refused.  A range is
-- shown as: partition key, then the interval of sort keys.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION outcome(expression text, attribute_values jsonb, attribute_names jsonb, types text, key_names text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN kv_test.key_condition(expression, NULL, attribute_values, attribute_names,
		key => CASE types WHEN 'SN' THEN '{p,1}' WHEN 'NB' THEN '{1,AA==}' WHEN 'BS' THEN '{AA==,s}' ELSE '{p,s}' END::text[], key_names => key_names, types => types);
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE <> 'KV007' THEN SQLSTATE || ': ' ELSE '' END || SQLERRM;
END $$;

CREATE TABLE cases (n serial, types text DEFAULT 'SS', expression text, attribute_values jsonb, expected text, attribute_names jsonb, key_names text[] DEFAULT '{pk,sk}');
INSERT INTO cases (expression, attribute_values, expected) VALUES
	('pk = :p', '{":p": "x"}', '"x" (, )'),
	(':p=pk', '{":p": "x"}', '"x" (, )'),
	('((pk) = (:p))', '{":p": "x"}', '"x" (, )'),
	('pk = :p AND sk = :s', '{":p": "x", ":s": "y"}', '"x" ["y", "y"]'),
	('sk = :s and pk = :p', '{":p": "x", ":s": "y"}', '"x" ["y", "y"]'),
	(':p = pk AND :s = sk', '{":p": "x", ":s": "y"}', '"x" ["y", "y"]'),
	('((sk = :s) AND (pk = :p))', '{":p": "x", ":s": "y"}', '"x" ["y", "y"]'),
	('(((sk = :s) AND ((pk = :p))))', '{":p": "x", ":s": "y"}', '"x" ["y", "y"]'),
	('pk = :p AND sk < :s', '{":p": "x", ":s": "y"}', '"x" (, "y")'),
	('pk = :p AND sk <= :s', '{":p": "x", ":s": "y"}', '"x" (, "y"]'),
	('pk = :p AND sk > :s', '{":p": "x", ":s": "y"}', '"x" ("y", )'),
	('pk = :p AND sk >= :s', '{":p": "x", ":s": "y"}', '"x" ["y", )'),
	('pk = :p AND :s < sk', '{":p": "x", ":s": "y"}', '"x" ("y", )'),
	('pk = :p AND :s <= sk', '{":p": "x", ":s": "y"}', '"x" ["y", )'),
	('pk = :p AND :s > sk', '{":p": "x", ":s": "y"}', '"x" (, "y")'),
	('pk = :p AND :s >= sk', '{":p": "x", ":s": "y"}', '"x" (, "y"]'),
	('pk = :p AND sk BETWEEN :s AND :t', '{":p": "x", ":s": "a", ":t": "b"}', '"x" ["a", "b"]'),
	('sk between :s and :t and pk = :p', '{":p": "x", ":s": "a", ":t": "b"}', '"x" ["a", "b"]'),
	('(sk BETWEEN :s AND :t) AND pk = :p', '{":p": "x", ":s": "a", ":t": "a"}', '"x" ["a", "a"]'),
	('pk = :p AND begins_with(sk, :s)', '{":p": "x", ":s": "y#"}', '"x" ["y#", "y$")'),
	('begins_with ( sk , :s ) AND pk = :p', '{":p": "x", ":s": "y#"}', '"x" ["y#", "y$")'),
	('pk = :p AND sk = :p', '{":p": "x"}', '"x" ["x", "x"]'),
	-- the partition key
	('sk = :s', '{":s": "y"}', 'invalid KeyConditionExpression: no condition on the partition key "pk"'),
	('begins_with(sk, :s)', '{":s": "y"}', 'invalid KeyConditionExpression: no condition on the partition key "pk"'),
	('pk < :p', '{":p": "x"}', 'invalid KeyConditionExpression: operator is not supported on the partition key "pk"; token "<", position 4'),
	('pk >= :p AND sk = :s', '{":p": "x", ":s": "y"}', 'invalid KeyConditionExpression: operator is not supported on the partition key "pk"; token ">=", position 4'),
	('begins_with(pk, :p)', '{":p": "x"}', 'invalid KeyConditionExpression: operator is not supported on the partition key "pk"; token "begins_with", position 1'),
	('pk BETWEEN :p AND :q', '{":p": "x", ":q": "y"}', 'invalid KeyConditionExpression: operator is not supported on the partition key "pk"; token "BETWEEN", position 4'),
	('pk <> :p', '{":p": "x"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "<>", position 4'),
	('pk IN (:p)', '{":p": "x"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "IN", position 4'),
	-- operators that are none of a key condition's
	('pk = :p AND sk <> :s', '{":p": "x", ":s": "y"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "<>", position 16'),
	('pk = :p AND sk IN (:s)', '{":p": "x", ":s": "y"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "IN", position 16'),
	('pk = :p OR sk = :s', '{":p": "x", ":s": "y"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "OR", position 9'),
	('NOT pk = :p', '{":p": "x"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "NOT", position 1'),
	('pk = :p AND NOT sk = :s', '{":p": "x", ":s": "y"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "NOT", position 13'),
	('pk = :p AND (sk = :s OR sk = :p)', '{":p": "x", ":s": "y"}', 'invalid KeyConditionExpression: operator is not supported in a key condition; token "OR", position 22'),
	-- one condition a key attribute
	('pk = :p AND pk = :p', '{":p": "x"}', 'invalid KeyConditionExpression: only one condition per key attribute is allowed; token "pk", position 13'),
	('pk = :p AND sk >= :s AND sk <= :t', '{":p": "x", ":s": "a", ":t": "b"}', 'invalid KeyConditionExpression: only one condition per key attribute is allowed; token "sk", position 26'),
	('pk = :p AND (sk >= :s AND sk <= :t)', '{":p": "x", ":s": "a", ":t": "b"}', 'invalid KeyConditionExpression: only one condition per key attribute is allowed; token "sk", position 27'),
	-- attributes that are no keys
	('pk = :p AND a < :s', '{":p": "x", ":s": "a"}', 'invalid KeyConditionExpression: attribute is not a key attribute; token "a", position 13'),
	('pk = :p AND sk < :s AND a < :s', '{":p": "x", ":s": "a"}', 'invalid KeyConditionExpression: attribute is not a key attribute; token "a", position 25'),
	('PK = :p', '{":p": "x"}', 'invalid KeyConditionExpression: attribute is not a key attribute; token "PK", position 1'),
	('pk.a = :p', '{":p": "x"}', 'invalid KeyConditionExpression: nested attributes are not supported in a key condition; token "pk.a", position 1'),
	('pk = :p AND sk[0] = :s', '{":p": "x", ":s": "a"}', 'invalid KeyConditionExpression: nested attributes are not supported in a key condition; token "sk[0]", position 13'),
	-- a key attribute on one side, a value on the other
	('pk = sk', NULL, 'invalid KeyConditionExpression: a key condition compares a key attribute with a :value; token "sk", position 6'),
	('pk = a', NULL, 'invalid KeyConditionExpression: a key condition compares a key attribute with a :value; token "a", position 6'),
	(':p = :q', '{":p": "x", ":q": "x"}', 'invalid KeyConditionExpression: a key condition compares a key attribute with a :value; token ":q", position 6'),
	('pk = :p AND begins_with(:s, sk)', '{":p": "x", ":s": "x"}', 'invalid KeyConditionExpression: a key condition compares a key attribute with a :value; token ":s", position 25'),
	('pk = :p AND begins_with(sk, pk)', '{":p": "x"}', 'invalid KeyConditionExpression: a key condition compares a key attribute with a :value; token "pk", position 29'),
	('pk = :p AND :s BETWEEN sk AND sk', '{":p": "x", ":s": "x"}', 'invalid KeyConditionExpression: a key condition compares a key attribute with a :value; token ":s", position 13'),
	('pk = :p AND sk BETWEEN :s AND pk', '{":p": "x", ":s": "x"}', 'invalid KeyConditionExpression: a key condition compares a key attribute with a :value; token "pk", position 31'),
	-- values
	('pk = :p', '{":p": 3}', 'invalid KeyConditionExpression: value is of type N, but key attribute "pk" is of type S; token ":p", position 6'),
	('pk = :p', '{":p": null}', 'invalid KeyConditionExpression: value is of type NULL, but key attribute "pk" is of type S; token ":p", position 6'),
	('pk = :p', '{":p": ["x"]}', 'invalid KeyConditionExpression: value is of type L, but key attribute "pk" is of type S; token ":p", position 6'),
	('pk = :p', '{":p": {"$SS": ["x"]}}', 'invalid KeyConditionExpression: value is of type SS, but key attribute "pk" is of type S; token ":p", position 6'),
	('pk = :p AND sk = :s', '{":p": "x", ":s": {"$B": "AA=="}}', 'invalid KeyConditionExpression: value is of type B, but key attribute "sk" is of type S; token ":s", position 18'),
	('pk = :p AND sk BETWEEN :s AND :t', '{":p": "x", ":s": "a", ":t": 1}', 'invalid KeyConditionExpression: value is of type N, but key attribute "sk" is of type S; token ":t", position 31'),
	('pk = :p AND sk BETWEEN :s AND :t', '{":p": "x", ":s": "b", ":t": "a"}', 'invalid KeyConditionExpression: the upper bound of BETWEEN is less than the lower bound; token ":t", position 31'),
	('pk = :p', '{":p": ""}', 'key attribute "pk" is empty'),
	('pk = :p AND begins_with(sk, :s)', '{":p": "x", ":s": ""}', 'key attribute "sk" is empty'),
	('pk = :p AND sk > :s', jsonb_build_object(':p', 'x', ':s', repeat('y', 1025)), 'key attribute "sk" is too long: 1025 bytes'),
	('pk = :p', NULL, 'invalid KeyConditionExpression: attribute value placeholder is not defined; token ":p", position 6'),
	('pk = :p AND c!=:c', '{":p": "x"}', 'invalid KeyConditionExpression: syntax error; token "!", position 14'),
	('pk', NULL, 'invalid KeyConditionExpression: syntax error; token "<EOF>", position 3');

INSERT INTO cases (types, expression, attribute_values, expected) VALUES
	-- a number and a binary as sort key
	('SN', 'pk = :p AND sk >= :s', '{":p": "x", ":s": 1.50}', '"x" [1.5, )'),
	('SN', 'pk = :p AND sk BETWEEN :s AND :t', '{":p": "x", ":s": 9, ":t": 10}', '"x" [9, 10]'),
	('SN', 'pk = :p AND begins_with(sk, :s)', '{":p": "x", ":s": 9}', 'invalid KeyConditionExpression: begins_with needs a sort key of type S or B, not N; token "begins_with", position 13'),
	('SN', 'pk = :p AND sk = :s', '{":p": "x", ":s": "9"}', 'invalid KeyConditionExpression: value is of type S, but key attribute "sk" is of type N; token ":s", position 18'),
	('NB', 'pk = :p AND sk BETWEEN :s AND :t', '{":p": 1e3, ":s": {"$B": "fw=="}, ":t": {"$B": "gA=="}}', '1000 [\x7f, \x80]'),
	('NB', 'pk = :p AND sk BETWEEN :t AND :s', '{":p": 1e3, ":s": {"$B": "fw=="}, ":t": {"$B": "gA=="}}', 'invalid KeyConditionExpression: the upper bound of BETWEEN is less than the lower bound; token ":s", position 31'),
	('NB', 'pk = :p AND begins_with(sk, :s)', '{":p": 1, ":s": {"$B": "Af8="}}', '1 [\x01ff, \x02)'),
	('NB', 'pk = :p AND begins_with(sk, :s)', '{":p": 1, ":s": {"$B": "//8="}}', '1 [\xffff, )'),
	('BS', 'pk = :p', '{":p": {"$B": "AP8="}}', '\x00ff (, )'),
	-- no sort key
	('S', 'pk = :p', '{":p": "x"}', '"x" (, )'),
	('S', 'pk = :p AND sk = :s', '{":p": "x", ":s": "y"}', 'invalid KeyConditionExpression: attribute is not a key attribute; token "sk", position 13'),
	('S', 'sk = :s', '{":s": "y"}', 'invalid KeyConditionExpression: attribute is not a key attribute; token "sk", position 1');
UPDATE cases SET key_names = '{pk}' WHERE types = 'S';

INSERT INTO cases (expression, attribute_values, attribute_names, key_names, expected) VALUES
	('#p = :p AND #s = :s', '{":p": "x", ":s": "y"}', '{"#p": "pk", "#s": "sk"}', '{pk,sk}', '"x" ["y", "y"]'),
	('#p = :p AND #s = :s', '{":p": "x", ":s": "y"}', '{"#p": "pk", "#s": "pk"}', '{pk,sk}', 'invalid KeyConditionExpression: only one condition per key attribute is allowed; token "#s", position 13'),
	('#p = :p AND #s = :s', '{":p": "x", ":s": "y"}', '{"#p": "a.b", "#s": "Year of birth"}', '{a.b,Year of birth}', '"x" ["y", "y"]'),
	('year = :p', '{":p": "x"}', NULL, '{year,sk}', 'invalid KeyConditionExpression: attribute name is a reserved word; token "year", position 1'),
	('#p = :p', '{":p": "x"}', NULL, '{pk,sk}', 'invalid KeyConditionExpression: attribute name placeholder is not defined; token "#p", position 1'),
	('pk = :p', '{":p": "x", ":q": 1}', NULL, '{pk,sk}', 'attribute_values defines ":q", which no expression uses');

SELECT n, expression, outcome FROM (SELECT *, outcome(expression, attribute_values, attribute_names, types, key_names) FROM cases) AS o
WHERE outcome IS DISTINCT FROM expected ORDER BY n;
SELECT count(*) FROM cases;

-- The details name the key.
CREATE FUNCTION detail(expression text, key_names text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text; hint text;
BEGIN
	RETURN kv_test.key_condition(expression, NULL, '{":v": "x"}', key_names => key_names);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' / ', nullif(detail, ''), nullif(hint, ''));
END $$;
SELECT detail(expression, key_names) FROM (VALUES (1, 'a = :v', '{pk,sk}'::text[]), (2, 'a = :v', '{pk}'), (3, 'sk = :v', '{pk,sk}'), (4, 'pk < :v', '{pk,sk}'),
	(5, 'pk = :v AND sk > :v AND sk < :v', '{pk,sk}'), (6, 'pk = :v OR sk > :v', '{pk,sk}')) AS t(n, expression, key_names) ORDER BY n;

DROP TABLE cases;
DROP FUNCTION outcome, detail;
