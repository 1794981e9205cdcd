-- Syntax of every kind of expression: what is refused, with the token and its
-- place.  The expected side is written by hand after DynamoDB's grammar.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

-- What a call gives: the kind of expression decides the function.
CREATE FUNCTION outcome(kind text, expression text, attribute_values jsonb, attribute_names jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
BEGIN
	CASE kind
		WHEN 'C' THEN RETURN kv_test.condition(expression, '{}', attribute_values, attribute_names);
		WHEN 'F' THEN RETURN kv_test.condition(expression, '{}', attribute_values, attribute_names, kind => 'filter');
		WHEN 'K' THEN RETURN kv_test.key_condition(expression, NULL, attribute_values, attribute_names);
		WHEN 'P' THEN RETURN kv_test.projection(expression, '{}', attribute_values, attribute_names);
		WHEN 'U' THEN RETURN kv_test.update(expression, '{}', attribute_values, attribute_names);
	END CASE;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
	RETURN CASE WHEN SQLSTATE <> 'KV007' THEN SQLSTATE || ': ' ELSE '' END || message;
END $$;

CREATE TABLE cases (n serial, kind text, expression text, what text, token text, "position" int, attribute_values jsonb, attribute_names jsonb);

INSERT INTO cases (kind, expression, what, token, "position") VALUES
	-- nothing there
	('C', '', 'expression is empty', '<EOF>', 1),
	('F', ' ', 'expression is empty', '<EOF>', 2),
	('K', E'\t\n', 'expression is empty', '<EOF>', 3),
	('P', '', 'expression is empty', '<EOF>', 1),
	('U', '', 'expression is empty', '<EOF>', 1),
	-- characters that begin no token
	('C', 'a ! b', 'syntax error', '!', 3),
	('C', 'a != :b', 'syntax error', '!', 3),
	('C', 'a == :b', 'syntax error', '=', 4),
	('C', 'a & b', 'syntax error', '&', 3),
	('C', 'a = ''x''', 'syntax error', '''', 5),
	('C', '"a" = :b', 'syntax error', '"', 1),
	('C', '_a = :b', 'syntax error', '_', 1),
	('C', 'a$b = :b', 'syntax error', '$', 2),
	('C', 'a = b;', 'syntax error', ';', 6),
	('C', 'straße = :b', 'syntax error', 'ß', 5),
	('C', '😀 = :b', 'syntax error', '😀', 1),
	('C', 'a = 😀', 'syntax error', '😀', 5),
	('C', 'a = b' || chr(160), 'syntax error', chr(160), 6),
	('C', '#', 'syntax error', '#', 1),
	('C', '# = :a', 'syntax error', '#', 1),
	('C', 'a = :', 'syntax error', ':', 5),
	('C', 'a = :-x', 'syntax error', ':', 5),
	('C', '#é = :a', 'syntax error', '#', 1),
	-- numbers and names
	('C', 'a = 5', 'syntax error', '5', 5),
	('C', '5 = a', 'syntax error', '5', 1),
	('C', '1a = :b', 'syntax error', '1', 1),
	('U', 'SET 123 = :v', 'syntax error', '123', 5),
	('U', 'SET hi-there = :v', 'syntax error', '-', 7),
	('U', 'SET hi there = :v', 'syntax error', 'there', 8),
	('C', 'hi there', 'syntax error', 'there', 4),
	-- operands without a comparison
	('C', 'a', 'syntax error', '<EOF>', 2),
	('C', ':a', 'syntax error', '<EOF>', 3),
	('C', '(a)', 'syntax error', '<EOF>', 4),
	('C', 'NOT a', 'syntax error', '<EOF>', 6),
	('C', 'a AND b = c', 'syntax error', 'AND', 3),
	('C', 'b = c AND a', 'syntax error', '<EOF>', 12),
	('C', 'b = c OR a OR d = e', 'syntax error', 'OR', 12),
	('C', 'size(a)', 'function cannot be used this way', 'size', 1),
	('C', 'a = b AND size(c)', 'function cannot be used this way', 'size', 11),
	('C', 'NOT size(c)', 'function cannot be used this way', 'size', 5),
	('C', '(size(c))', 'function cannot be used this way', 'size', 2),
	('C', 'attribute_exists(a) = :b', 'function cannot be used this way', 'attribute_exists', 1),
	('C', '(attribute_exists(a)) = :b', 'function cannot be used this way', 'attribute_exists', 2),
	('C', 'b < attribute_exists(a)', 'function cannot be used this way', 'attribute_exists', 5),
	('C', 'a IN (contains(b, c))', 'function cannot be used this way', 'contains', 7),
	('C', 'size(begins_with(a, b)) = c', 'function cannot be used this way', 'begins_with', 6),
	-- conditions where operands must be
	('C', '(a = b) = c', 'syntax error', '=', 9),
	('C', 'a = (b = c)', 'syntax error', '=', 8),
	('C', '(NOT a = b) < c', 'syntax error', '<', 13),
	('C', 'a = b = c', 'syntax error', '=', 7),
	('C', 'a < b < c', 'syntax error', '<', 7),
	-- half-written
	('C', 'a =', 'syntax error', '<EOF>', 4),
	('C', '= a', 'syntax error', '=', 1),
	('C', 'a = b AND', 'syntax error', '<EOF>', 10),
	('C', 'AND a = b', 'attribute name is a reserved word', 'AND', 1),
	('C', 'a = b AND OR c = d', 'attribute name is a reserved word', 'OR', 11),
	('C', 'a = b c = d', 'syntax error', 'c', 7),
	('C', 'a = b, c = d', 'syntax error', ',', 6),
	('C', '(a = b', 'syntax error', '<EOF>', 7),
	('C', 'a = b)', 'syntax error', ')', 6),
	('C', '()', 'syntax error', ')', 2),
	('C', 'NOT', 'syntax error', '<EOF>', 4),
	('C', 'NOT NOT', 'syntax error', '<EOF>', 8),
	-- BETWEEN and IN
	('C', 'a BETWEEN b', 'syntax error', '<EOF>', 12),
	('C', 'a BETWEEN b, c', 'syntax error', ',', 12),
	('C', 'a BETWEEN b OR c', 'syntax error', 'OR', 13),
	('C', 'a BETWEEN b AND', 'syntax error', '<EOF>', 16),
	('C', 'BETWEEN b AND c', 'attribute name is a reserved word', 'BETWEEN', 1),
	('C', 'a NOT BETWEEN b AND c', 'syntax error', 'NOT', 3),
	('C', 'a NOT IN (b)', 'syntax error', 'NOT', 3),
	('C', 'a IN b', 'syntax error', 'b', 6),
	('C', 'a IN ()', 'syntax error', ')', 7),
	('C', 'a IN (b', 'syntax error', '<EOF>', 8),
	('C', 'a IN (b,)', 'syntax error', ')', 9),
	('C', 'a IN (b c)', 'syntax error', 'c', 9),
	-- arithmetic is for updates
	('C', 'a = b + c', 'syntax error', '+', 7),
	('C', 'a = -b', 'syntax error', '-', 5),
	-- paths
	('P', 'a.', 'syntax error', '<EOF>', 3),
	('P', '.a', 'syntax error', '.', 1),
	('P', 'a..b', 'syntax error', '.', 3),
	('P', 'a.1', 'syntax error', '1', 3),
	('P', 'a[', 'syntax error', '<EOF>', 3),
	('P', 'a[]', 'syntax error', ']', 3),
	('P', 'a[0', 'syntax error', '<EOF>', 4),
	('P', 'a[-1]', 'syntax error', '-', 3),
	('P', 'a[1.5]', 'syntax error', '.', 4),
	('P', 'a[b]', 'syntax error', 'b', 3),
	('P', 'a[:b]', 'syntax error', ':b', 3),
	('P', 'a[#b]', 'syntax error', '#b', 3),
	('P', 'a[0]b', 'syntax error', 'b', 5),
	('P', '[0]', 'syntax error', '[', 1),
	('P', 'a[2147483648]', 'list index is out of range', '2147483648', 3),
	('P', 'a[99999999999999999999999999]', 'list index is out of range', '99999999999999999999999999', 3),
	('P', 'a,', 'syntax error', '<EOF>', 3),
	('P', ',a', 'syntax error', ',', 1),
	('P', 'a,,b', 'syntax error', ',', 3),
	('P', 'a b', 'syntax error', 'b', 3),
	('P', ':a', 'syntax error', ':a', 1),
	('P', 'a = b', 'syntax error', '=', 3),
	('P', 'size(a)', 'attribute name is a reserved word', 'size', 1),
	('P', '(a)', 'syntax error', '(', 1),
	('P', '*', 'syntax error', '*', 1),
	('P', 'name', 'attribute name is a reserved word', 'name', 1),
	('P', 'a.Name', 'attribute name is a reserved word', 'Name', 3),
	('P', 'a[1].STATUS', 'attribute name is a reserved word', 'STATUS', 6),
	-- functions
	('C', 'f(a)', 'invalid function name', 'f', 1),
	('C', 'a = f123_hi(b)', 'invalid function name', 'f123_hi', 5),
	('C', 'a = _f(b)', 'syntax error', '_', 5),
	('C', 'Attribute_exists(a)', 'invalid function name', 'Attribute_exists', 1),
	('C', 'SIZE(a) = b', 'invalid function name', 'SIZE', 1),
	('C', 'list_append(a, b) = c', 'function is not allowed in this kind of expression', 'list_append', 1),
	('C', 'a = if_not_exists(b, c)', 'function is not allowed in this kind of expression', 'if_not_exists', 5),
	('U', 'SET a = size(b)', 'function is not allowed in this kind of expression', 'size', 9),
	('U', 'SET a = attribute_exists(b)', 'function is not allowed in this kind of expression', 'attribute_exists', 9),
	('U', 'SET a = LIST_APPEND(b, c)', 'invalid function name', 'LIST_APPEND', 9),
	('U', 'SET a = f(b)', 'invalid function name', 'f', 9),
	('K', 'pk = :p AND contains(sk, :s)', 'function is not allowed in this kind of expression', 'contains', 13),
	('K', 'attribute_exists(pk)', 'function is not allowed in this kind of expression', 'attribute_exists', 1),
	('K', 'size(pk) = :p', 'function is not allowed in this kind of expression', 'size', 1),
	('K', 'pk = :p AND dog(sk, :s)', 'invalid function name', 'dog', 13),
	('K', 'pk = :p AND BEGINS_WITH(sk, :s)', 'invalid function name', 'BEGINS_WITH', 13),
	('C', 'attribute_exists()', 'syntax error', ')', 18),
	('C', 'attribute_exists(a, b)', 'incorrect number of operands, 2 instead of 1', 'attribute_exists', 1),
	('C', 'attribute_not_exists(a, b)', 'incorrect number of operands, 2 instead of 1', 'attribute_not_exists', 1),
	('C', 'attribute_type(a)', 'incorrect number of operands, 1 instead of 2', 'attribute_type', 1),
	('C', 'begins_with(a)', 'incorrect number of operands, 1 instead of 2', 'begins_with', 1),
	('C', 'begins_with(a, b, c)', 'incorrect number of operands, 3 instead of 2', 'begins_with', 1),
	('C', 'contains(a)', 'incorrect number of operands, 1 instead of 2', 'contains', 1),
	('C', 'contains(a b)', 'syntax error', 'b', 12),
	('C', 'contains(a, b', 'syntax error', '<EOF>', 14),
	('C', 'size(a, b) = c', 'incorrect number of operands, 2 instead of 1', 'size', 1),
	('C', 'attribute_exists a', 'syntax error', 'a', 18),
	('C', 'attribute_exists', 'syntax error', '<EOF>', 17),
	('U', 'SET a = list_append(b)', 'incorrect number of operands, 1 instead of 2', 'list_append', 9),
	('U', 'SET a = if_not_exists(b, c, d)', 'incorrect number of operands, 3 instead of 2', 'if_not_exists', 9),
	-- update clauses
	('U', 'a = b', 'syntax error', 'a', 1),
	('U', 'HELLO a = b', 'syntax error', 'HELLO', 1),
	('U', 'SET', 'syntax error', '<EOF>', 4),
	('U', 'SET a', 'syntax error', '<EOF>', 6),
	('U', 'SET a =', 'syntax error', '<EOF>', 8),
	('U', 'SET a = b,', 'syntax error', '<EOF>', 11),
	('U', 'SET a = b, REMOVE c', 'syntax error', 'c', 19),
	('U', 'SET a = b AND c = d', 'syntax error', 'AND', 11),
	('U', 'SET a := b', 'syntax error', ':', 7),
	('U', 'SET :a = b', 'syntax error', ':a', 5),
	('U', 'SET (a) = b', 'syntax error', '(', 5),
	('U', 'SET a = b SET c = d', 'the SET clause can be used only once', 'SET', 11),
	('U', 'SET a = b REMOVE e SET c = d', 'the SET clause can be used only once', 'SET', 20),
	('U', 'REMOVE a remove b', 'the REMOVE clause can be used only once', 'remove', 10),
	('U', 'ADD a :b ADD c :d', 'the ADD clause can be used only once', 'ADD', 10),
	('U', 'DELETE a :b Delete c :d', 'the DELETE clause can be used only once', 'Delete', 13),
	('U', 'REMOVE', 'syntax error', '<EOF>', 7),
	('U', 'REMOVE a = b', 'syntax error', '=', 10),
	('U', 'REMOVE a b', 'syntax error', 'b', 10),
	('U', 'REMOVE :a', 'syntax error', ':a', 8),
	('U', 'ADD a', 'syntax error', '<EOF>', 6),
	('U', 'ADD a = :b', 'syntax error', '=', 7),
	('U', 'ADD a b', 'syntax error', 'b', 7),
	('U', 'ADD a :b + :c', 'syntax error', '+', 10),
	('U', 'DELETE a', 'syntax error', '<EOF>', 9),
	('U', 'DELETE a b', 'syntax error', 'b', 10),
	('U', 'SET a = b + c + d', 'syntax error', '+', 15),
	('U', 'SET a = b - c + d', 'syntax error', '+', 15),
	('U', 'SET a = b * c', 'syntax error', '*', 11),
	('U', 'SET a = + b', 'syntax error', '+', 9),
	('U', 'SET a = b +', 'syntax error', '<EOF>', 12),
	('U', 'SET a = (b', 'syntax error', '<EOF>', 11),
	('U', 'SET a = ()', 'syntax error', ')', 10),
	('U', 'SET a = if_not_exists(b, c + d)', 'syntax error', '+', 28),
	('U', 'SET a = if_not_exists(non@sense, c)', 'syntax error', '@', 26),
	('U', 'SET a[:i] = :v', 'syntax error', ':i', 7),
	('U', 'SET name = :v', 'attribute name is a reserved word', 'name', 5),
	('U', 'SET a = name', 'attribute name is a reserved word', 'name', 9),
	('U', 'SET add = :v', 'attribute name is a reserved word', 'add', 5),
	-- the position counts characters, not bytes, and lines are not special
	('C', E'a = b\n  AND c ? d', 'syntax error', '?', 15),
	('C', E'a =\tb\r\nAND ü = c', 'syntax error', 'ü', 12);

-- Long tokens are cut.
INSERT INTO cases (kind, expression, what, token, "position") VALUES
	('U', 'SET a = b ' || repeat('x', 100), 'syntax error', repeat('x', 60) || '...', 11);

SELECT n, kind, expression, outcome FROM (
	SELECT *, outcome(kind, expression, attribute_values, attribute_names) FROM cases) AS o
WHERE outcome IS DISTINCT FROM format('invalid %s: %s; token "%s", position %s',
	CASE kind WHEN 'C' THEN 'ConditionExpression' WHEN 'F' THEN 'FilterExpression' WHEN 'K' THEN 'KeyConditionExpression'
		WHEN 'P' THEN 'ProjectionExpression' ELSE 'UpdateExpression' END, what, token, "position")
ORDER BY n;
SELECT count(*) AS refused FROM cases;

-- What is allowed: white space anywhere between tokens, keywords in any case, parentheses around conditions and operands.
SELECT kind, expression, outcome(kind, expression, attribute_values, attribute_names) FROM (VALUES
	(1, 'C', E' \t\r\n a\n=\t:v ', '{":v": 1}'::jsonb, NULL::jsonb),
	(2, 'C', 'a=:v', '{":v": 1}', NULL),
	(3, 'C', 'nOt(a=:v)aNd(NOT(b<>:v)oR:v=c)', '{":v": 1}', NULL),
	(4, 'C', '(((a))) = ((:v))', '{":v": 1}', NULL),
	(5, 'C', 'a between:v and:v', '{":v": 1}', NULL),
	(6, 'C', 'a iN(:v)', '{":v": 1}', NULL),
	(7, 'C', 'size (a) = :v', '{":v": 1}', NULL),
	(8, 'C', 'contains((a), (size(b)))', NULL, NULL),
	(9, 'C', 'NOT NOT NOT a = :v', '{":v": 1}', NULL),
	(10, 'C', 'a . b [ 0 ] . c = :v', '{":v": 1}', NULL),
	(11, 'C', '#1 = :1', '{":1": 1}', '{"#1": "a"}'),
	(12, 'C', '#_ = :_', '{":_": 1}', '{"#_": "a"}'),
	(13, 'C', 'A_1z9 = :v', '{":v": 1}', NULL),
	(14, 'C', 'remove = :v AND contains = :v AND attribute_exists(attribute_exists)', '{":v": 1}', NULL),
	(15, 'U', 'sEt a=:v,b=:v rEmOvE c,d add e:v dElEtE f:s', '{":v": 1, ":s": {"$SS": ["x"]}}', NULL),
	(16, 'U', 'DELETE f :s ADD e :v REMOVE remove SET a = :v', '{":v": 1, ":s": {"$SS": ["x"]}}', NULL),
	(17, 'U', 'SET a = ((:v) + (:v))', '{":v": 1}', NULL),
	(18, 'U', 'SET a = (:v + :v) - (:v - (:v + :v))', '{":v": 1}', NULL),
	(19, 'U', 'SET a = if_not_exists(b, (:v + :v))', '{":v": 1}', NULL),
	(20, 'P', ' a , b.c , d[0] , d[1].e ', NULL, NULL),
	(21, 'P', 'a[2147483647]', NULL, NULL),
	(22, 'P', 'a[007]', NULL, NULL)
) AS t(n, kind, expression, attribute_values, attribute_names) ORDER BY n;

-- Which hints people get.
CREATE FUNCTION hint(kind text, expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	PERFORM CASE kind WHEN 'C' THEN kv_test.condition(expression, '{}')::text ELSE kv_test.update(expression, '{}')::text END;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END $$;
SELECT expression, hint(kind, expression) FROM (VALUES
	(1, 'C', 'a = 5'), (2, 'C', 'a = ''x'''), (3, 'C', 'année = :a'), (4, 'C', 'status = :a'), (5, 'C', 'Size(a) = :a'), (6, 'C', 'size(a)'), (7, 'C', 'a = :a'),
	(8, 'C', '#a = b'), (9, 'U', 'SET a = b + c + d'), (10, 'U', 'SET a = b SET c = d'), (11, 'U', 'SET a = b')
) AS t(n, kind, expression) ORDER BY n;

DROP TABLE cases;
DROP FUNCTION outcome, hint;
