-- Updates: SET, REMOVE, ADD, DELETE.  Each case carries what DynamoDB's
-- documentation gives for it; {} is the item that only has its key.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

CREATE FUNCTION outcome(expression text, rest jsonb, attribute_values jsonb, attribute_names jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN kv_test.update(expression, rest, attribute_values, attribute_names);
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE <> 'KV007' THEN SQLSTATE || ': ' ELSE '' END || regexp_replace(regexp_replace(SQLERRM, '^invalid UpdateExpression: ', '! '), '^number \S+', 'number');
END $$;

CREATE TABLE cases (n serial, expression text, rest jsonb, attribute_values jsonb, expected text, attribute_names jsonb);
INSERT INTO cases (expression, rest, attribute_values, expected) VALUES
	-- SET
	('SET a = :v', '{}', '{":v": 1}', '{"a": 1}'),
	('SET a = :v', NULL, '{":v": 1}', '{"a": 1}'),
	('SET a = :v', '{"a": "old", "b": 2}', '{":v": {"x": [1]}}', '{"a": {"x": [1]}, "b": 2}'),
	('SET a = :v, b = :v', '{}', '{":v": null}', '{"a": null, "b": null}'),
	('SET a = b', '{"b": [1, {"x": 2}]}', NULL, '{"a": [1, {"x": 2}], "b": [1, {"x": 2}]}'),
	('SET a = a', '{"a": 1}', NULL, '{"a": 1}'),
	('SET a = b', '{"a": 1}', NULL, '! attribute does not exist in the item; token "b", position 9'),
	('SET a = b', NULL, NULL, '! attribute does not exist in the item; token "b", position 9'),
	('SET a = a', '{}', NULL, '! attribute does not exist in the item; token "a", position 9'),
	('SET a = b.c[1]', '{"b": {"c": [1, 2]}}', NULL, '{"a": 2, "b": {"c": [1, 2]}}'),
	('SET a = b.c[2]', '{"b": {"c": [1, 2]}}', NULL, '! attribute does not exist in the item; token "b.c[2]", position 9'),
	('SET a = pk, b = sk', '{}', NULL, '{"a": "p", "b": "s"}'),
	('SET d = :v1, e = :v2, f = :v3, g = :v4', NULL, '{":v1": [], ":v2": {}, ":v3": "", ":v4": {"$B": ""}}', '{"d": [], "e": {}, "f": "", "g": {"$B": ""}}'),
	-- right sides see the item as it was
	('SET a = b, b = a', '{"a": 1, "b": 2}', NULL, '{"a": 2, "b": 1}'),
	('SET x = :v, y = x', '{}', '{":v": 4}', '! attribute does not exist in the item; token "x", position 17'),
	('REMOVE a SET b = a', '{"a": "hello"}', NULL, '{"b": "hello"}'),
	('SET c = b REMOVE b', '{"b": "hello"}', NULL, '{"c": "hello"}'),
	('SET a = a + :one, b = a ADD c :one', '{"a": 1, "c": 5}', '{":one": 1}', '{"a": 2, "b": 1, "c": 6}'),
	('SET a[0] = a[1], a[1] = a[0]', '{"a": ["x", "y"]}', NULL, '{"a": ["y", "x"]}'),
	-- arithmetic
	('SET a = a + :v', '{"a": 2}', '{":v": 3}', '{"a": 5}'),
	('SET a = :v + a', '{"a": 2}', '{":v": 3}', '{"a": 5}'),
	('SET a = a - :v', '{"a": 2}', '{":v": 3}', '{"a": -1}'),
	('SET a = :v - a', '{"a": 2}', '{":v": 3}', '{"a": 1}'),
	('SET a = b + a', '{"a": 9, "b": 10}', NULL, '{"a": 19, "b": 10}'),
	('SET a = :v + :w', '{}', '{":v": 0.1, ":w": 0.2}', '{"a": 0.3}'),
	('SET a = :v - :w', '{}', '{":v": 1.50, ":w": 0.50}', '{"a": 1}'),
	('SET a = :v - :v', '{}', '{":v": 1.5}', '{"a": 0}'),
	('SET a = :v + :w', '{}', '{":v": 12345678901234567890123456789012345678, ":w": 1}', '{"a": 12345678901234567890123456789012345679}'),
	('SET a = :v + :w', '{}', '{":v": 99999999999999999999999999999999999999, ":w": 1}', '{"a": 100000000000000000000000000000000000000}'),
	('SET a = :v + :w', '{}', '{":v": 1e125, ":w": -1e-130}', 'number has more than 38 significant digits'),
	('SET a = :v + :w', '{}', '{":v": 99999999999999999999999999999999999999, ":w": 2}', 'number has more than 38 significant digits'),
	('SET a = :v + :v', '{}', '{":v": 9e125}', 'number is out of range'),
	('SET a = a + :v', '{}', '{":v": 3}', '! attribute does not exist in the item; token "a", position 9'),
	('SET a = :v + b', NULL, '{":v": 3}', '! attribute does not exist in the item; token "b", position 14'),
	('SET a = a + :v', '{"a": "x"}', '{":v": 3}', '! incorrect data type for + in the item: S; token "a", position 9'),
	('SET a = :v - b', '{"b": [1]}', '{":v": 3}', '! incorrect data type for - in the item: L; token "b", position 14'),
	('SET a = :v + :w', '{}', '{":v": "dog", ":w": 3}', '! incorrect operand type for +: S; token ":v", position 9'),
	('SET a = b - :w', NULL, '{":w": {"$NS": [1]}}', '! incorrect operand type for -: NS; token ":w", position 13'),
	('SET a = (b + :v) - (:v - b)', '{"b": 1}', '{":v": 10}', '{"a": 2, "b": 1}'),
	('SET a = if_not_exists(a, :z) + :v', '{}', '{":z": 0, ":v": 1}', '{"a": 1}'),
	('SET a = if_not_exists(a, :z) + :v', '{"a": 7}', '{":z": 0, ":v": 1}', '{"a": 8}'),
	('SET a = sk + sk', '{}', NULL, '! incorrect data type for + in the item: S; token "sk", position 9'),
	-- if_not_exists
	('SET a = if_not_exists(a, :v)', '{}', '{":v": 2}', '{"a": 2}'),
	('SET a = if_not_exists(a, :v)', '{"a": null}', '{":v": 2}', '{"a": null}'),
	('SET a = if_not_exists(b, :v)', '{"b": 1, "a": 0}', '{":v": 2}', '{"a": 1, "b": 1}'),
	('SET a = if_not_exists(b.c[0], :v)', '{"b": {"c": []}}', '{":v": 2}', '{"a": 2, "b": {"c": []}}'),
	('SET a = if_not_exists(b, c)', '{"c": 3}', NULL, '{"a": 3, "c": 3}'),
	('SET a = if_not_exists(b, c)', '{"b": 3}', NULL, '{"a": 3, "b": 3}'),
	('SET a = if_not_exists(b, c)', '{}', NULL, '! attribute does not exist in the item; token "c", position 26'),
	('SET a = if_not_exists(b, if_not_exists(c, :v))', '{}', '{":v": 2}', '{"a": 2}'),
	('SET a = if_not_exists(pk, :v)', '{}', '{":v": 2}', '{"a": "p"}'),
	('SET a = if_not_exists(pk, :v)', NULL, '{":v": 2}', '{"a": 2}'),
	('SET a = if_not_exists(:w, :v)', '{}', '{":v": 2, ":w": 1}', '! the first operand of if_not_exists must be a document path; token ":w", position 23'),
	('SET a = if_not_exists(if_not_exists(a, :w), :v)', '{}', '{":v": 2, ":w": 1}', '! the first operand of if_not_exists must be a document path; token "if_not_exists", position 23'),
	-- list_append
	('SET a = list_append(:v, :w)', '{}', '{":v": [4, "hello"], ":w": ["hi", 7]}', '{"a": [4, "hello", "hi", 7]}'),
	('SET a = list_append(a, :v)', '{"a": ["hi", 2]}', '{":v": [4, ["x"]]}', '{"a": ["hi", 2, 4, ["x"]]}'),
	('SET a = list_append(:v, a)', '{"a": ["hi", 2]}', '{":v": ["dog"]}', '{"a": ["dog", "hi", 2]}'),
	('SET c = list_append(a, b)', '{"a": [1, {"x": 1.5}], "b": [2]}', NULL, '{"a": [1, {"x": 1.5}], "b": [2], "c": [1, {"x": 1.5}, 2]}'),
	('SET a = list_append(a, a)', '{"a": [1, 2]}', NULL, '{"a": [1, 2, 1, 2]}'),
	('SET a = list_append(a, :v)', '{"a": []}', '{":v": []}', '{"a": []}'),
	('SET a = list_append(if_not_exists(a, :e), :v)', '{}', '{":e": [], ":v": [1]}', '{"a": [1]}'),
	('SET a = list_append(list_append(:v, a), :v)', '{"a": [2]}', '{":v": [1]}', '{"a": [1, 2, 1]}'),
	('SET a.b[1] = list_append(a.b[1], :v)', '{"a": {"b": [0, [1]]}}', '{":v": [2]}', '{"a": {"b": [0, [1, 2]]}}'),
	('SET a = list_append(b, :v)', '{}', '{":v": [1]}', '! attribute does not exist in the item; token "b", position 21'),
	('SET a = list_append(:v, b)', NULL, '{":v": [1]}', '! attribute does not exist in the item; token "b", position 25'),
	('SET a = list_append(b, :v)', '{"b": "x"}', '{":v": [1]}', '! incorrect data type for list_append in the item: S; token "b", position 21'),
	('SET a = list_append(:v, b)', '{"b": {"$SS": ["x"]}}', '{":v": [1]}', '! incorrect data type for list_append in the item: SS; token "b", position 25'),
	('SET a = list_append(:v, b)', '{"b": {"x": 1}}', '{":v": [1]}', '! incorrect data type for list_append in the item: M; token "b", position 25'),
	('SET a = list_append(:v, :w)', '{}', '{":v": [1], ":w": "hi"}', '! incorrect operand type for list_append: S; token ":w", position 25'),
	('SET a = list_append((:v + :v), :w)', '{}', '{":v": 1, ":w": []}', '! incorrect operand type for list_append: N; token "+", position 25'),
	('SET a = list_append(:w, :w) + :v', '{}', '{":v": 1, ":w": []}', '! incorrect operand type for +: L; token "list_append", position 9'),
	-- nested paths
	('SET a.c = :v', '{"a": {"b": 3, "c": 4}, "d": 5}', '{":v": 7}', '{"a": {"b": 3, "c": 7}, "d": 5}'),
	('SET a.d = :v', '{"a": {"b": 3}}', '{":v": 3}', '{"a": {"b": 3, "d": 3}}'),
	('SET a.b = :v', '{"a": {}}', '{":v": 3}', '{"a": {"b": 3}}'),
	('SET a.c = :v', '{"a": {"c": {"one": 1}}}', '{":v": 7}', '{"a": {"c": 7}}'),
	('SET a.c[1].x.y[1] = :v', '{"a": {"b": 3, "c": ["hi", {"x": {"y": [3, 5, 7]}}]}}', '{":v": 9}', '{"a": {"b": 3, "c": ["hi", {"x": {"y": [3, 9, 7]}}]}}'),
	('SET a.z = a.c[0]', '{"a": {"c": [[1]]}}', NULL, '{"a": {"c": [[1]], "z": [1]}}'),
	('SET a.b = :v, a.c.d = :w, b.x = :x REMOVE a.x, b.y', '{"a": {"x": 3, "y": 4, "c": {"y": 3}}, "b": {"x": 1, "y": 2}}', '{":v": 10, ":w": "dog", ":x": 17}', '{"a": {"b": 10, "c": {"d": "dog", "y": 3}, "y": 4}, "b": {"x": 17}}'),
	('SET c.c = :v', '{"a": "hello", "b": ["hi"]}', '{":v": 7}', '! document path is invalid for update; token "c.c", position 5'),
	('SET a.c = :v', '{"a": "hello"}', '{":v": 7}', '! document path is invalid for update; token "a.c", position 5'),
	('SET b.c = :v', '{"b": ["hi"]}', '{":v": 7}', '! document path is invalid for update; token "b.c", position 5'),
	('SET b[0] = :v', '{"b": {"x": 1}}', '{":v": 7}', '! document path is invalid for update; token "b[0]", position 5'),
	('SET b[0] = :v', '{}', '{":v": 7}', '! document path is invalid for update; token "b[0]", position 5'),
	('SET b[0] = :v', NULL, '{":v": 7}', '! document path is invalid for update; token "b[0]", position 5'),
	('SET b.c.d = :v', '{"b": {}}', '{":v": 7}', '! document path is invalid for update; token "b.c.d", position 5'),
	('SET b[1].d = :v', '{"b": [{}]}', '{":v": 7}', '! document path is invalid for update; token "b[1].d", position 5'),
	('SET a = :v, s.x = :v', '{"s": {"$SS": ["x"]}}', '{":v": 7}', '! document path is invalid for update; token "s.x", position 13'),
	('SET s[0] = :v', '{"s": {"$NS": [1]}}', '{":v": 7}', '! document path is invalid for update; token "s[0]", position 5'),
	-- lists
	('SET a[1] = :v', '{"a": ["one", "two", "three"]}', '{":v": "x"}', '{"a": ["one", "x", "three"]}'),
	('SET a[7] = :v', '{"a": ["one", "two", "three"]}', '{":v": "x"}', '{"a": ["one", "two", "three", "x"]}'),
	('SET a[84] = :a, a[37] = :b, a[17] = :c, a[50] = :d', '{"a": ["one"]}', '{":a": "a1", ":b": "a2", ":c": "a3", ":d": "a4"}', '{"a": ["one", "a3", "a2", "a4", "a1"]}'),
	('SET a[0] = :v', '{"a": []}', '{":v": "x"}', '{"a": ["x"]}'),
	('SET a[2147483647] = :v', '{"a": []}', '{":v": "x"}', '{"a": ["x"]}'),
	('REMOVE a[1]', '{"a": [1, 2, 3]}', NULL, '{"a": [1, 3]}'),
	('REMOVE a[1], a[2]', '{"a": ["Chisel", "Hammer", "Nails", "Screwdriver", "Hacksaw"]}', NULL, '{"a": ["Chisel", "Screwdriver", "Hacksaw"]}'),
	('REMOVE a[2], a[0], a[17]', '{"a": [1, 2, 3]}', NULL, '{"a": [2]}'),
	('REMOVE a[0]', '{"a": [1]}', NULL, '{"a": []}'),
	('REMOVE a[1] SET a[3] = :v', '{"a": [2, 3, 4, 5, 6, 7]}', '{":v": 17}', '{"a": [2, 4, 17, 6, 7]}'),
	('SET a[3] = :v REMOVE a[1]', '{"a": [2, 3, 4, 5, 6, 7]}', '{":v": 17}', '{"a": [2, 4, 17, 6, 7]}'),
	('SET a[9] = :v REMOVE a[0]', '{"a": [1, 2]}', '{":v": 17}', '{"a": [2, 17]}'),
	('REMOVE a[0].b, a[1][0]', '{"a": [{"b": 1, "c": 2}, [3, 4]]}', NULL, '{"a": [{"c": 2}, [4]]}'),
	-- REMOVE
	('REMOVE a', '{"a": "hello", "b": "hi"}', NULL, '{"b": "hi"}'),
	('REMOVE a, b, c', '{"a": "hello", "b": "hi"}', NULL, '{}'),
	('REMOVE a', NULL, NULL, '{}'),
	('REMOVE a.b', '{"a": {"b": 1}}', NULL, '{"a": {}}'),
	('REMOVE a.y, b[7], c', '{"a": {"x": 3}, "b": ["hi"]}', NULL, '{"a": {"x": 3}, "b": ["hi"]}'),
	('REMOVE a.c', '{"a": "hello"}', NULL, '! document path is invalid for update; token "a.c", position 8'),
	('REMOVE c.c', '{"a": "hello"}', NULL, '! document path is invalid for update; token "c.c", position 8'),
	('REMOVE b[0]', '{"b": "x"}', NULL, '! document path is invalid for update; token "b[0]", position 8'),
	('REMOVE x.y, x.z[0]', NULL, NULL, '! document path is invalid for update; token "x.y", position 8'),
	('REMOVE x.y SET x.z = :v', NULL, '{":v": 1}', '! document path is invalid for update; token "x.y", position 8'),
	-- ADD
	('ADD a :v', '{"a": 3}', '{":v": 4}', '{"a": 7}'),
	('ADD a :v', '{"a": 3}', '{":v": -4.5}', '{"a": -1.5}'),
	('ADD a :v', '{}', '{":v": 7}', '{"a": 7}'),
	('ADD a :v', NULL, '{":v": 7.0}', '{"a": 7}'),
	('ADD a.b :v, c[0] :v, c[5] :v', '{"a": {}, "c": [1]}', '{":v": 7}', '{"a": {"b": 7}, "c": [8, 7]}'),
	('ADD a :v', '{"a": {"$SS": ["dog", "cat", "mouse"]}}', '{":v": {"$SS": ["pig", "cat"]}}', '{"a": {"$SS": ["cat", "dog", "mouse", "pig"]}}'),
	('ADD a :v', '{"a": {"$NS": [1, 10]}}', '{":v": {"$NS": [9, 1.0, -1]}}', '{"a": {"$NS": [-1, 1, 9, 10]}}'),
	('ADD a :v', '{"a": {"$BS": ["AQ==", "/w=="]}}', '{":v": {"$BS": ["fw==", "AQ=="]}}', '{"a": {"$BS": ["AQ==", "fw==", "/w=="]}}'),
	('ADD a :v', '{}', '{":v": {"$SS": ["b", "a"]}}', '{"a": {"$SS": ["a", "b"]}}'),
	('ADD a.b[0] :v', '{"a": {"b": [{"$SS": ["x"]}]}}', '{":v": {"$SS": ["y"]}}', '{"a": {"b": [{"$SS": ["x", "y"]}]}}'),
	('ADD a.b :v', '{}', '{":v": 1}', '! document path is invalid for update; token "a.b", position 5'),
	('ADD a :v', '{"a": "hi"}', '{":v": 1}', '! incorrect data type for ADD in the item: S; token "a", position 5'),
	('ADD a :v', '{"a": null}', '{":v": 1}', '! incorrect data type for ADD in the item: NULL; token "a", position 5'),
	('ADD a :v', '{"a": {"$SS": ["1"]}}', '{":v": {"$NS": [1]}}', '! incorrect data type for ADD in the item: SS; token "a", position 5'),
	('ADD a :v', '{"a": [1, 2]}', '{":v": {"$NS": [1]}}', '! incorrect data type for ADD in the item: L; token "a", position 5'),
	('ADD a :v', '{"a": 1}', '{":v": {"$NS": [1]}}', '! incorrect data type for ADD in the item: N; token "a", position 5'),
	('ADD a :v', '{"a": [1, 2]}', '{":v": [3]}', '! incorrect operand type for ADD: L; token ":v", position 7'),
	('ADD a :v', '{}', '{":v": "hello"}', '! incorrect operand type for ADD: S; token ":v", position 7'),
	('ADD a :v', '{"a": 99999999999999999999999999999999999999}', '{":v": 0.1}', 'number has more than 38 significant digits'),
	('ADD a :v', '{}', '{":v": {"$SS": []}}', 'set in attribute ":v" is empty'),
	-- DELETE
	('DELETE a :v', '{"a": {"$SS": ["dog", "cat", "mouse"]}, "b": 1}', '{":v": {"$SS": ["cat", "mouse", "pig"]}}', '{"a": {"$SS": ["dog"]}, "b": 1}'),
	('DELETE a :v', '{"a": {"$SS": ["dog"]}, "b": 1}', '{":v": {"$SS": ["pig"]}}', '{"a": {"$SS": ["dog"]}, "b": 1}'),
	('DELETE a :v', '{"a": {"$SS": ["dog"]}, "b": 1}', '{":v": {"$SS": ["dog", "a"]}}', '{"b": 1}'),
	('DELETE a :v', '{"b": 1}', '{":v": {"$SS": ["dog"]}}', '{"b": 1}'),
	('DELETE a :v', NULL, '{":v": {"$SS": ["dog"]}}', '{}'),
	('DELETE a :v', '{"a": {"$NS": [1, 2.5, 3]}}', '{":v": {"$NS": [3.0, 2.50]}}', '{"a": {"$NS": [1]}}'),
	('DELETE a :v', '{"a": {"$BS": ["AQ==", "/w=="]}}', '{":v": {"$BS": ["/w=="]}}', '{"a": {"$BS": ["AQ=="]}}'),
	('DELETE a.b :v, c[0] :v', '{"a": {"b": {"$SS": ["x"]}}, "c": [{"$SS": ["x"]}, 2]}', '{":v": {"$SS": ["x"]}}', '{"a": {}, "c": [2]}'),
	('DELETE a :v', '{"a": {"$SS": ["1"]}}', '{":v": {"$NS": [1]}}', '! incorrect data type for DELETE in the item: SS; token "a", position 8'),
	('DELETE a :v', '{"a": 1}', '{":v": {"$NS": [1]}}', '! incorrect data type for DELETE in the item: N; token "a", position 8'),
	('DELETE a :v', '{"a": [1]}', '{":v": {"$NS": [1]}}', '! incorrect data type for DELETE in the item: L; token "a", position 8'),
	('DELETE a :v', '{}', '{":v": "dog"}', '! incorrect operand type for DELETE: S; token ":v", position 10'),
	('DELETE a :v', '{}', '{":v": 1}', '! incorrect operand type for DELETE: N; token ":v", position 10'),
	('DELETE a.b :v', '{}', '{":v": {"$SS": ["x"]}}', '! document path is invalid for update; token "a.b", position 8'),
	-- all clauses at once
	('SET a = :v REMOVE b ADD c :v DELETE d :s', '{"a": 0, "b": 0, "c": 1, "d": {"$SS": ["x", "y"]}, "e": 5}', '{":v": 1, ":s": {"$SS": ["x"]}}', '{"a": 1, "c": 2, "d": {"$SS": ["y"]}, "e": 5}'),
	-- the key
	('SET pk = :v', '{}', '{":v": 4}', '! attribute "pk" is part of the key and cannot be updated; token "pk", position 5'),
	('SET a = :v, sk = :v', '{}', '{":v": "s"}', '! attribute "sk" is part of the key and cannot be updated; token "sk", position 13'),
	('REMOVE pk', '{}', NULL, '! attribute "pk" is part of the key and cannot be updated; token "pk", position 8'),
	('ADD sk :v', '{}', '{":v": 4}', '! attribute "sk" is part of the key and cannot be updated; token "sk", position 5'),
	('DELETE sk :v', '{}', '{":v": {"$SS": ["x"]}}', '! attribute "sk" is part of the key and cannot be updated; token "sk", position 8'),
	('SET pk.a = :v', '{}', '{":v": 4}', '! attribute "pk" is part of the key and cannot be updated; token "pk.a", position 5'),
	-- overlaps and conflicts, whatever the item holds
	('REMOVE a SET a = :v', '{}', '{":v": 1}', '! two document paths overlap with each other: [a] and [a]; token "a", position 14'),
	('SET a = :v REMOVE a', '{}', '{":v": 1}', '! two document paths overlap with each other: [a] and [a]; token "a", position 19'),
	('SET a = :v, a = :v', '{}', '{":v": 1}', '! two document paths overlap with each other: [a] and [a]; token "a", position 13'),
	('SET a = :v, a.b = :v', '{}', '{":v": 1}', '! two document paths overlap with each other: [a] and [a, b]; token "a.b", position 13'),
	('SET a.b.c.d.e = :v, a.b = :v', '{}', '{":v": 1}', '! two document paths overlap with each other: [a, b, c, d, e] and [a, b]; token "a.b", position 21'),
	('SET a[1] = :v, a[1][1] = :v', '{}', '{":v": 1}', '! two document paths overlap with each other: [a, [1]] and [a, [1], [1]]; token "a[1][1]", position 16'),
	('ADD a :v DELETE a :s', '{}', '{":v": 1, ":s": {"$SS": ["x"]}}', '! two document paths overlap with each other: [a] and [a]; token "a", position 17'),
	('SET a.b = :v, a[1] = :v', '{}', '{":v": 1}', '! two document paths conflict with each other: [a, b] and [a, [1]]; token "a[1]", position 15'),
	('SET a.b.c = :v REMOVE a.b[2]', '{}', '{":v": 1}', '! two document paths conflict with each other: [a, b, c] and [a, b, [2]]; token "a.b[2]", position 23');

INSERT INTO cases (expression, rest, attribute_names, attribute_values, expected) VALUES
	('SET #a = :v', '{"a.b": 1}', '{"#a": "a.b"}', '{":v": 3}', '{"a.b": 3}'),
	('SET #a.#b = :v', '{"a": {}}', '{"#a": "a", "#b": "x y"}', '{":v": 3}', '{"a": {"x y": 3}}'),
	('SET #a = #b', '{"b": 1}', '{"#a": "a", "#b": "b"}', NULL, '{"a": 1, "b": 1}'),
	('SET #a = :v, #b = :v', '{}', '{"#a": "a", "#b": "a"}', '{":v": 3}', '! two document paths overlap with each other: [a] and [a]; token "#b", position 14'),
	('SET #a = :v', '{}', '{"#a": "pk"}', '{":v": 3}', '! attribute "pk" is part of the key and cannot be updated; token "#a", position 5'),
	('SET #a = :v', '{}', '{"#a": "a", "#c": "z"}', '{":v": 3}', 'attribute_names defines "#c", which no expression uses'),
	-- a map whose only key looks like a marker gets one more $, and loses it when it has company
	('SET a.#n = :v', '{"a": {}}', '{"#n": "$B"}', '{":v": "x"}', '{"a": {"$$B": "x"}}'),
	('SET a.#n = :v', '{"a": {"$$B": "x"}}', '{"#n": "$B"}', '{":v": "y"}', '{"a": {"$$B": "y"}}'),
	('SET a.#n = :v', '{"a": {"$$B": "x"}}', '{"#n": "$$B"}', '{":v": "y"}', '{"a": {"$B": "x", "$$B": "y"}}'),
	('SET a.b = :v', '{"a": {"$$SS": [1]}}', NULL, '{":v": "y"}', '{"a": {"b": "y", "$SS": [1]}}'),
	('REMOVE a.b', '{"a": {"b": "y", "$SS": [1]}}', NULL, NULL, '{"a": {"$$SS": [1]}}'),
	('REMOVE a.#n', '{"a": {"$$$NS": [1]}}', '{"#n": "$$NS"}', NULL, '{"a": {}}'),
	('REMOVE a.#n', '{"a": {"$$$NS": [1]}}', '{"#n": "$$$NS"}', NULL, '{"a": {"$$$NS": [1]}}'),
	('SET a[0].#n.x = :v', '{"a": [{"$$B": {}}]}', '{"#n": "$B"}', '{":v": "y"}', '{"a": [{"$$B": {"x": "y"}}]}'),
	('SET #n = :v', '{}', '{"#n": "$B"}', '{":v": "y"}', '{"$B": "y"}'),
	('SET #n = :v REMOVE a', '{"a": 1, "$$SS": 2}', '{"#n": "$$SS"}', '{":v": "y"}', '{"$$SS": "y"}'),
	('SET a = #n.#n', '{"$B": {"$$B": 1}}', '{"#n": "$B"}', NULL, '{"a": 1, "$B": {"$$B": 1}}');

SELECT n, expression, outcome FROM (SELECT *, outcome(expression, rest, attribute_values, attribute_names) FROM cases) AS o
WHERE outcome IS DISTINCT FROM CASE WHEN expected LIKE '{%' THEN expected::jsonb::text ELSE expected END ORDER BY n;
SELECT count(*), count(*) FILTER (WHERE expected LIKE '{%') AS updates FROM cases;

-- What the item gives of keys that are numbers and binaries.
SELECT kv_test.update('SET a = pk + :v, b = sk, c = list_append(:l, :l), d = if_not_exists(pk, :v) ADD e :s', '{}', '{":v": 1, ":l": [{"$B": "AA=="}], ":s": {"$BS": ["AP8="]}}',
	key => '{1.50,AP8=}', types => 'NB');

-- UPDATED_OLD and UPDATED_NEW: the paths that are named, in their nested shape.
CREATE TABLE touched (n serial, expression text, rest jsonb, attribute_values jsonb, old jsonb, new jsonb);
INSERT INTO touched (expression, rest, attribute_values, old, new) VALUES
	('SET b = :v, c = :w', '{"a": "hi", "b": "dog"}', '{":v": "cat", ":w": "hello"}', '{"b": "dog"}', '{"b": "cat", "c": "hello"}'),
	('SET b = :v', '{"a": "hi", "b": "cat"}', '{":v": "cat"}', '{"b": "cat"}', '{"b": "cat"}'),
	('SET a = :v, b = :v REMOVE c', '{"b": 1, "c": 2}', '{":v": 0}', '{"b": 1, "c": 2}', '{"a": 0, "b": 0}'),
	('REMOVE b', '{"b": "cat"}', NULL, '{"b": "cat"}', '{}'),
	('SET a = a + :v', '{"a": 1}', '{":v": 1}', '{"a": 1}', '{"a": 2}'),
	('SET a.b = :v', '{"a": {"b": "hi", "c": [1, 2, 3]}, "d": "cat"}', '{":v": "yo"}', '{"a": {"b": "hi"}}', '{"a": {"b": "yo"}}'),
	('SET a.c[1] = :v, a.b = :w', '{"a": {"b": "hi", "c": [1, 2, 3]}}', '{":v": 7, ":w": "x"}', '{"a": {"b": "hi", "c": [2]}}', '{"a": {"b": "x", "c": [7]}}'),
	('SET a.x = :v', '{"a": {"b": "hi"}}', '{":v": 7}', '{}', '{"a": {"x": 7}}'),
	('REMOVE a.c[1], a.c[3]', '{"a": {"c": [1, 3, 3]}}', NULL, '{"a": {"c": [3]}}', '{"a": {"c": [3]}}'),
	('SET a.c[100] = :v', '{"a": {"c": [1]}}', '{":v": 7}', '{}', '{}'),
	('ADD n :v DELETE s :s', '{"n": 1, "s": {"$SS": ["x", "y"]}}', '{":v": 1, ":s": {"$SS": ["x"]}}', '{"n": 1, "s": {"$SS": ["x", "y"]}}', '{"n": 2, "s": {"$SS": ["y"]}}'),
	('SET a = :v', NULL, '{":v": 1}', '{}', '{"a": 1}');
SELECT * FROM (SELECT n, expression, kv_test.update_touched(expression, rest, attribute_values, after => false) AS given_old, old,
	kv_test.update_touched(expression, rest, attribute_values) AS given_new, new FROM touched) AS t
WHERE (given_old, given_new) IS DISTINCT FROM (old, new) ORDER BY n;
SELECT count(*) FROM touched;

-- An update that only removes does not create an item.
SELECT expression, kv_test.update_only_removes(expression, NULL, attribute_values) FROM (VALUES
	(1, 'REMOVE a', NULL::jsonb), (2, 'DELETE a :s', '{":s": {"$SS": ["x"]}}'), (3, 'REMOVE b DELETE a :s', '{":s": {"$SS": ["x"]}}'),
	(4, 'SET a = :s', '{":s": 1}'), (5, 'REMOVE b ADD a :s', '{":s": 1}')) AS t(n, expression, attribute_values) ORDER BY n;

-- Depth is checked on the result: 32 levels below the item.
CREATE FUNCTION nested(levels int) RETURNS jsonb LANGUAGE sql AS $$ SELECT (repeat('[', levels) || repeat(']', levels))::jsonb $$;
SELECT levels, step, left(outcome('SET a' || step || ' = :v', '{"a": {"x": {"y": 1}}}', jsonb_build_object(':v', nested(levels)), NULL), 120)
FROM (VALUES (1, 32, ''), (2, 31, '.x'), (3, 32, '.x'), (4, 30, '.x.y'), (5, 31, '.x.y')) AS t(n, levels, step) ORDER BY n;
SELECT left(outcome('SET a.x = b', jsonb_build_object('a', '{}'::jsonb, 'b', nested(32)), NULL, NULL), 120);
SELECT left(outcome('SET a.x = list_append(b, b)', jsonb_build_object('a', '{}'::jsonb, 'b', nested(32)), NULL, NULL), 120);

-- Arithmetic and its kin over every pair of types.
CREATE TABLE sample (type text, value jsonb);
INSERT INTO sample VALUES ('S', '"x"'), ('N', '1'), ('B', '{"$B": "AA=="}'), ('SS', '{"$SS": ["x"]}'), ('NS', '{"$NS": [1]}'), ('BS', '{"$BS": ["AA=="]}'),
	('M', '{"x": 1}'), ('L', '[1]'), ('NULL', 'null'), ('BOOL', 'true'), ('missing', NULL);
CREATE TABLE operand AS SELECT type, value, place FROM sample, unnest('{path,value}'::text[]) AS place WHERE type <> 'missing' OR place = 'path';
CREATE TABLE answer AS
	SELECT form, a, b, outcome(replace(replace(form, '$a', CASE WHEN a.place = 'value' THEN ':a' ELSE 'a' END), '$b', CASE WHEN b.place = 'value' THEN ':b' ELSE 'b' END),
			CASE WHEN a.place = 'path' AND a.value IS NOT NULL THEN jsonb_build_object('a', a.value) ELSE '{}' END || CASE WHEN b.place = 'path' AND b.value IS NOT NULL THEN jsonb_build_object('b', b.value) ELSE '{}' END,
			CASE WHEN a.place = 'value' THEN jsonb_build_object(':a', a.value) ELSE '{}' END || CASE WHEN b.place = 'value' THEN jsonb_build_object(':b', b.value) ELSE '{}' END, NULL) AS given,
		CASE form
			WHEN 'SET c = $a + $b' THEN CASE WHEN a.type = 'N' AND b.type = 'N' THEN 2::text::jsonb END
			WHEN 'SET c = $a - $b' THEN CASE WHEN a.type = 'N' AND b.type = 'N' THEN 0::text::jsonb END
			WHEN 'SET c = list_append($a, $b)' THEN CASE WHEN a.type = 'L' AND b.type = 'L' THEN '[1, 1]'::jsonb END
			WHEN 'SET c = if_not_exists($a, $b)' THEN CASE WHEN a.place = 'path' THEN coalesce(a.value, b.value) END END AS expected
	FROM operand AS a, operand AS b,
		unnest('{SET c = $a + $b,SET c = $a - $b,"SET c = list_append($a, $b)","SET c = if_not_exists($a, $b)"}'::text[]) AS form;
SELECT form, count(*), count(expected) FROM answer GROUP BY form ORDER BY form;
SELECT * FROM answer WHERE CASE WHEN expected IS NULL THEN given NOT LIKE '! %' ELSE given LIKE '! %' OR given::jsonb -> 'c' IS DISTINCT FROM expected END;
DROP TABLE answer;

CREATE TABLE answer AS
	SELECT form, a.type AS before, b.type AS added, outcome(form || ' a :b', CASE WHEN a.value IS NOT NULL THEN jsonb_build_object('a', a.value) ELSE '{}' END, jsonb_build_object(':b', b.value), NULL) AS given,
		CASE form
			WHEN 'ADD' THEN CASE WHEN b.type = 'N' AND a.type = 'N' THEN '{"a": 2}'
				WHEN b.type IN ('N', 'SS', 'NS', 'BS') AND a.type IN ('missing', b.type) THEN jsonb_build_object('a', b.value)::text ELSE '!' END
			ELSE CASE WHEN b.type IN ('SS', 'NS', 'BS') AND a.type IN ('missing', b.type) THEN '{}' ELSE '!' END END AS expected
	FROM sample AS a, sample AS b, unnest('{ADD,DELETE}'::text[]) AS form WHERE b.type <> 'missing';
SELECT form, count(*), count(*) FILTER (WHERE expected <> '!') FROM answer GROUP BY form ORDER BY form;
SELECT * FROM answer WHERE CASE WHEN expected = '!' THEN left(given, 1) ELSE given END IS DISTINCT FROM expected;

DROP TABLE cases, touched, answer, operand, sample;
DROP FUNCTION outcome, nested;
