-- The session's cache of parsed expressions: bounded, and never in the way of
-- an expression that is in use.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

-- The cache's own memory, trees included.
CREATE VIEW cache AS
	SELECT count(*) FILTER (WHERE name = 'key_value expression') AS trees, sum(total_bytes) AS bytes
	FROM pg_backend_memory_contexts WHERE name IN ('key_value expressions', 'key_value expression');

-- One tree however often it is asked.
SELECT kv_test.condition('a = :v', jsonb_build_object('a', i), '{":v": 3}') FROM generate_series(1, 5) AS i;
SELECT trees FROM cache;
-- The same text as another kind is another tree; so is other white space.
SELECT kv_test.condition('a = :v', '{"a": 1}', '{":v": 3}', kind => 'filter');
SELECT kv_test.condition('a  = :v', '{"a": 1}', '{":v": 3}');
SELECT trees FROM cache;
-- An error leaves nothing.
SELECT kv_test.condition('a = = :v', '{"a": 1}', '{":v": 3}');
SELECT trees FROM cache;
-- Bound in number ...
SELECT count(kv_test.condition('a = :v OR a' || i || ' = :v', '{}', '{":v": 1}')) FROM generate_series(1, 1000) AS i;
SELECT trees <= 256, trees > 200, bytes < 1500000 FROM cache;
-- ... and in bytes.
SELECT count(kv_test.projection(list, '{}')) FROM (SELECT string_agg('a' || i || '_' || j, ',') AS list FROM generate_series(1, 200) AS i, generate_series(1, 300) AS j GROUP BY i) AS lists;
SELECT trees < 100, bytes < 1500000 FROM cache;
-- What was pushed out is parsed again.
SELECT kv_test.condition('a = :v', '{"a": 3}', '{":v": 3}');

-- The last use counts: an expression used all along stays, which is seen by time only, so just right answers here.
SELECT count(*) FILTER (WHERE kv_test.condition('a = :v', '{"a": 3}', '{":v": 3}') AND NOT kv_test.condition('b = :v' || repeat(' ', i), '{"a": 3}', '{":v": 3}'))
FROM generate_series(1, 600) AS i;

-- An expression in use outlives its place in the cache: a condition that is bound while 600 others come and go is
-- asked again afterwards, in a function that binds it once for all rows of a query.
CREATE FUNCTION others() RETURNS int LANGUAGE sql AS $$
	SELECT count(kv_test.condition('z = :v' || repeat(' ', i), '{}', '{":v": 1}'))::int FROM generate_series(1, 600) AS i $$;
SELECT kv_test.condition_around('a = :v AND b = :w', '{"a": 1, "b": 2}', '{":v": 1, ":w": 2}', 'SELECT others()');
SELECT kv_test.condition_around('a = :v AND b = :w', '{"a": 1, "b": 2}', '{":v": 1, ":w": 2}', 'SELECT 1/0');
SELECT trees <= 256 FROM cache;

-- Nothing is left behind in the transaction's memory by a million evaluations.
CREATE TABLE before AS SELECT sum(total_bytes) AS bytes FROM pg_backend_memory_contexts;
SELECT kv_test.condition('size(a) = :n AND contains(l, :x) AND begins_with(b, :b) AND l[1] = :n AND b > :b AND s = :s AND contains(s, :x) AND contains(ns, :n)',
	'{"a": "abc", "l": [1, 3, "x"], "b": {"$B": "AQID"}, "s": {"$SS": ["x", "y"]}, "ns": {"$NS": [1, 3.00]}}', '{":n": 3, ":x": "x", ":b": {"$B": "AQI="}, ":s": {"$SS": ["y", "x"]}}', repeat => 100000);
SELECT sum(total_bytes) - bytes < 1000000 FROM pg_backend_memory_contexts, before GROUP BY bytes;

DROP VIEW cache;
DROP TABLE before;
DROP FUNCTION others;
