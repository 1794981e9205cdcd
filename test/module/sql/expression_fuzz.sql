-- A few seconds of the fuzzer with fixed seeds; run it for longer with
-- SELECT * FROM kv_test.fuzz(seed, 0, seconds).
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on
SELECT seed, accepted > 2000, refused > 2000, applied > 2000, failed > 100 FROM generate_series(1, 4) AS seed, LATERAL kv_test.fuzz(seed, 20000) ORDER BY seed;

-- Odd inputs: what a fuzzer or a colleague once found, and their neighbours.
CREATE FUNCTION outcome(kind text, expression text, attribute_values jsonb) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
	names jsonb := '{"#a": "a", "#b": "b", "#x": "x.y", "#k": "pk", "#m": "$B"}';
	used jsonb := coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(names) WHERE expression ~ (key || '\M')), '{}');
	rest jsonb := '{"a": [1, 2, [3, {"a": 4}]], "b": {"a": {"b": {}}}, "c": {"$SS": ["a"]}, "d": {"$$B": {"$$B": 1}}, "$B": "x"}';
BEGIN
	CASE kind
		WHEN 'C' THEN RETURN kv_test.condition(expression, rest, attribute_values, used);
		WHEN 'K' THEN RETURN kv_test.key_condition(expression, NULL, attribute_values, used);
		WHEN 'P' THEN RETURN kv_test.projection(expression, rest, attribute_values, used);
		WHEN 'U' THEN RETURN kv_test.update(expression, rest, attribute_values, used);
	END CASE;
EXCEPTION WHEN SQLSTATE 'KV007' THEN
	RETURN SQLERRM;
END $body$;
SELECT kind, expression, outcome(kind, expression, attribute_values) FROM (VALUES
	(1, 'C', 'a[0]=a[1]or not(not(a[2][0]>a[0]))', NULL::jsonb),
	(2, 'C', '((a[0])<(a[1]))and((size(a))=:v)', '{":v": 3}'),
	(3, 'C', 'd.#m.#m = :v', '{":v": 1}'),
	(4, 'C', 'd = :v', '{":v": {"$$B": {"$$B": 1}}}'),
	(5, 'C', '#m = :v AND contains(c, a[9])', '{":v": "x"}'),
	(6, 'C', 'a in(b,c,d)and a between b and c and b in(a)', NULL),
	(7, 'C', 'attribute_exists(b.a.b.c)or attribute_exists(b.a.b)', NULL),
	(8, 'C', 'a.b[1]c', NULL),
	(9, 'C', 'a<>=b', NULL),
	(10, 'C', 'a=<b', NULL),
	(11, 'C', 'a>=-b', NULL),
	(12, 'C', 'in in (in)', NULL),
	(13, 'C', 'contains (contains, contains)', NULL),
	(14, 'C', 'a BETWEEN (b) AND (c) AND (NOT (b) = (c))', NULL),
	(15, 'C', 'not_a = b', NULL),
	(16, 'C', 'NOT_a = b OR NOTa = b', NULL),
	(17, 'P', 'a[2][1].a,a[2][0],a[1]', NULL),
	(18, 'P', 'd.#m,b.a.b,#m', NULL),
	(19, 'P', 'd.#m.#m', NULL),
	(20, 'P', '#a.#b.#x', NULL),
	(21, 'P', 'a[0],#a[1],#a', NULL),
	(22, 'U', 'SETa=:v', '{":v": 1}'),
	(23, 'U', 'SET a[2][1].a=a[0]-a[1]REMOVE b.a.b,d.#m.#m ADD c:v', '{":v": {"$SS": ["b"]}}'),
	(24, 'U', 'REMOVE d.#m SET d.x=:v', '{":v": 1}'),
	(25, 'U', 'SET d.x=:v,d.y=:v REMOVE d.#m', '{":v": 1}'),
	(26, 'U', 'SET #m=#m,a[2]=a[2][1]', NULL),
	(27, 'U', 'DELETE c :v REMOVE a[2][1].a,a[2][0],a[9]', '{":v": {"$SS": ["a"]}}'),
	(28, 'U', 'SET b.a.b.c=b', NULL),
	(29, 'U', 'ADD a[0] :v,a[7] :v,b.n :v', '{":v": -1}'),
	(30, 'U', 'SET #k=:v', '{":v": 1}'),
	(31, 'K', '#k=:v AND NOT sk=:v', '{":v": "x"}'),
	(32, 'K', '(pk)=:v AND(:v)<(sk)', '{":v": "x"}'),
	(33, 'K', 'pk=:v AND begins_with((sk),(:v))', '{":v": "x"}')
) AS t(n, kind, expression, attribute_values) ORDER BY n;
DROP FUNCTION outcome;
