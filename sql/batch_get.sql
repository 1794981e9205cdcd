-- kv.batch_get_item: shapes, projections, limits, what is refused.
SELECT kv.create_table('bg', 'pk', 'sk', partitions => 4);
SELECT kv.create_table('bg_n', 'n', partition_key_type => 'N', partitions => 2);
SELECT count(kv.put_item('bg', jsonb_build_object('pk', 'p' || n % 5, 'sk', lpad(n::text, 4, '0'), 'n', n, 'm', '{"x": 1, "y": [1, 2]}'::jsonb)))
	FROM generate_series(1, 120) n;
SELECT count(kv.put_item('bg_n', jsonb_build_object('n', n, 'v', n * n))) FROM generate_series(1, 10) n;
CREATE FUNCTION bg_try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb;
	detail text;
	context text;
BEGIN
	EXECUTE 'SELECT ' || call INTO answer;
	RETURN coalesce(answer::text, 'NULL');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(E'\n' || nullif(detail, ''), '') ||
		coalesce(E'\nin ' || substring(context FROM '^(key \d.*?)\n'), '');
END $$;
-- The keys of so many items.
CREATE FUNCTION bg_keys(first int, number int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_agg(jsonb_build_object('pk', 'p' || n % 5, 'sk', lpad(n::text, 4, '0')) ORDER BY n) FROM generate_series(first, first + number - 1) n $$;
\t on

-- Both shapes, several tables, items that are not there.
SELECT jsonb_pretty(kv.batch_get_item('{"bg": {"Keys": [{"pk": "p1", "sk": "0001"}, {"pk": "p2", "sk": "0001"}, {"sk": "0002", "pk": "p2"}]}, "bg_n": {"Keys": [{"n": 3}, {"n": 2.0}, {"n": 77}]}}'));
SELECT kv.batch_get_item('{"RequestItems": {"public.bg_n": {"Keys": [{"n": 4}], "ConsistentRead": true}}, "ReturnConsumedCapacity": "NONE"}');
SELECT kv.batch_get_item('{"bg": {"Keys": [{"pk": "nobody", "sk": "1"}]}}');
SELECT kv.batch_get_item('{"bg": {"Keys": [{"pk": "p1", "sk": "0001"}]}, "bg_n": {"Keys": []}}') -> 'Responses';

-- A projection for each table; keys come where it names them.
SELECT kv.batch_get_item('{"bg": {"Keys": [{"pk": "p1", "sk": "0001"}], "ProjectionExpression": "#n, m.y[1]", "ExpressionAttributeNames": {"#n": "n"}},
	"bg_n": {"Keys": [{"n": 3}], "ProjectionExpression": "n, nothing"}}');

-- 100 keys are a batch, 101 are not; no key twice.
SELECT jsonb_array_length(kv.batch_get_item(jsonb_build_object('bg', jsonb_build_object('Keys', bg_keys(1, 100)))) -> 'Responses' -> 'bg');
SELECT bool_and(kv.get('bg', i ->> 'pk', i ->> 'sk') = i), count(DISTINCT i)
	FROM jsonb_array_elements(kv.batch_get_item(jsonb_build_object('bg', jsonb_build_object('Keys', bg_keys(21, 100)))) -> 'Responses' -> 'bg') i;
SELECT bg_try($$kv.batch_get_item(jsonb_build_object('bg', jsonb_build_object('Keys', bg_keys(1, 101))))$$);
SELECT bg_try($$kv.batch_get_item(jsonb_build_object('bg', jsonb_build_object('Keys', bg_keys(1, 100)), 'bg_n', '{"Keys": [{"n": 1}]}'::jsonb))$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": "1"}, {"pk": "b", "sk": "1"}, {"pk": "a", "sk": "1"}]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg_n": {"Keys": [{"n": 1}]}, "public.bg_n": {"Keys": [{"n": 1.0}]}}')$$);

-- 16 MB are an answer; what is beyond comes as unprocessed, in the shape of a request.
SELECT kv.create_table('bg_large', 'pk', partitions => 2);
SELECT count(kv.put_item('bg_large', jsonb_build_object('pk', 'k' || n, 'body', repeat('x', 400000))))
	FROM generate_series(1, 45) n;
CREATE FUNCTION bg_walk(OUT first_round int, OUT rounds int, OUT items int, OUT different int, OUT projections int) LANGUAGE plpgsql AS $$
DECLARE
	request jsonb := jsonb_build_object('bg_n', '{"Keys": [{"n": 1}]}'::jsonb, 'bg_large', jsonb_build_object('ProjectionExpression', '#p', 'ExpressionAttributeNames', '{"#p": "pk"}'::jsonb,
		'Keys', (SELECT jsonb_agg(jsonb_build_object('pk', 'k' || n)) FROM generate_series(1, 46) n)));
	answer jsonb;
	found text[] := '{}';
BEGIN
	rounds := 0;
	projections := 0;
	WHILE request <> '{}' LOOP
		rounds := rounds + 1;
		projections := projections + (request -> 'bg_large' ->> 'ProjectionExpression' = '#p')::int;
		answer := kv.batch_get_item(request);
		found := found || (SELECT coalesce(array_agg(i ->> 'pk'), '{}') FROM jsonb_array_elements(answer -> 'Responses' -> 'bg_large') i);
		first_round := coalesce(first_round, cardinality(found));
		request := answer -> 'UnprocessedKeys';
	END LOOP;
	items := cardinality(found);
	different := (SELECT count(DISTINCT i) FROM unnest(found) i);
END $$;
-- 45 items of 400,000 bytes and a little: 41 fit into 16,777,216 bytes.
SELECT * FROM bg_walk();

-- What is refused.
SELECT bg_try($$kv.batch_get_item(NULL)$$);
SELECT bg_try($$kv.batch_get_item('{}')$$);
SELECT bg_try($$kv.batch_get_item('[1]')$$);
SELECT bg_try($$kv.batch_get_item('7')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": []}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": [{"pk": "a", "sk": "1"}]}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": {"pk": "a", "sk": "1"}}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": ["a"]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": "1"}, {"pk": "a"}]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": 1}]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": "1", "x": 1}]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": "1"}], "AttributesToGet": ["n"]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": "1"}], "ConsistentRead": "yes"}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": "1"}], "ProjectionExpression": "n,"}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "a", "sk": "1"}], "ExpressionAttributeNames": {"#n": "n"}}}')$$);
SELECT bg_try($$kv.batch_get_item('{"bg": {"Keys": [{"pk": "p1", "sk": "0001"}]}, "bg_z": {"Keys": [{"pk": "a", "sk": "1"}]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"pg_class": {"Keys": [{"pk": "a", "sk": "1"}]}}')$$);
SELECT bg_try($$kv.batch_get_item('{"RequestItems": {"bg": {"Keys": []}}, "ReturnConsumedCapacity": "INDEXES"}')$$);

-- One snapshot, that of the statement.
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SELECT kv.batch_get_item('{"bg_n": {"Keys": [{"n": 5}]}}') -> 'Responses';
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT kv.batch_get_item('{"bg_n": {"Keys": [{"n": 5}, {"n": 6}, {"n": 99}]}}') -> 'Responses';
COMMIT;

-- Rights and policies.
CREATE ROLE bg_ann;
GRANT SELECT ON bg_n TO bg_ann;
SET ROLE bg_ann;
SELECT bg_try($$kv.batch_get_item('{"bg_n": {"Keys": [{"n": 5}]}, "bg": {"Keys": [{"pk": "p1", "sk": "0001"}]}}')$$);
RESET ROLE;
CREATE POLICY small ON bg_n USING ((item ->> 'v')::int < 30);
ALTER TABLE bg_n ENABLE ROW LEVEL SECURITY;
SET ROLE bg_ann;
SELECT bg_try($$kv.batch_get_item('{"bg_n": {"Keys": [{"n": 4}, {"n": 5}, {"n": 6}, {"n": 7}]}}')$$);
RESET ROLE;
\t off

DROP TABLE bg, bg_n, bg_large;
DROP FUNCTION bg_try, bg_keys, bg_walk;
DROP ROLE bg_ann;
