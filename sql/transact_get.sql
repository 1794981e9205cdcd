-- kv.transact_get_items: items in the order of the request, limits, what is refused.
SELECT kv.create_table('tg', 'pk', 'sk', partitions => 4);
SELECT kv.create_table('tg_n', 'n', partition_key_type => 'N', partitions => 2);
SELECT count(kv.put_item('tg', jsonb_build_object('pk', 'p' || n % 5, 'sk', lpad(n::text, 4, '0'), 'n', n))) FROM generate_series(1, 120) n;
SELECT kv.put_item('tg_n', '{"n": 3, "v": {"$NS": [1, 2]}, "w": [1, {"x": "y"}]}');
CREATE FUNCTION tg_try(call text) RETURNS text LANGUAGE plpgsql AS $$
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
		coalesce(E'\nin ' || substring(context FROM '^(action \d.*?)\n'), '');
END $$;
CREATE FUNCTION tg_gets(first int, number int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_agg(jsonb_build_object('Get', jsonb_build_object('TableName', 'tg', 'Key', jsonb_build_object('pk', 'p' || n % 5, 'sk', lpad(n::text, 4, '0')))) ORDER BY n DESC)
	FROM generate_series(first, first + number - 1) n $$;
\t on

-- Several tables, projections, items that are not there.
SELECT kv.transact_get_items('[{"Get": {"TableName": "tg", "Key": {"pk": "p2", "sk": "0002"}}},
	{"Get": {"TableName": "tg", "Key": {"pk": "p2", "sk": "0001"}}},
	{"Get": {"TableName": "public.tg_n", "Key": {"n": 3.0}, "ProjectionExpression": "#w[1].x, n", "ExpressionAttributeNames": {"#w": "w"}}},
	{"Get": {"TableName": "tg", "Key": {"pk": "p1", "sk": "0001"}, "ProjectionExpression": "nothing"}}]');
SELECT kv.transact_get_items('{"TransactItems": [{"Get": {"TableName": "tg_n", "Key": {"n": 3}}}], "ReturnConsumedCapacity": "NONE"}');

-- 100 are allowed, in their order; 101 are not, nor more than 4 MB.
SELECT count(*), bool_and(r -> 'Item' ->> 'n' = (101 - n)::text)
	FROM jsonb_array_elements(kv.transact_get_items(tg_gets(1, 100)) -> 'Responses') WITH ORDINALITY x(r, n);
SELECT tg_try('kv.transact_get_items(tg_gets(1, 101))');
-- An item is pk (2) + large (5) + sk (2) + 01 (2) + body (4) bytes and its body: 16 items of 262,144 bytes are 4,194,304.
SELECT count(kv.put_item('tg', jsonb_build_object('pk', 'large', 'sk', lpad(n::text, 2, '0'), 'body', repeat('x', 262129)))) FROM generate_series(1, 16) n;
SELECT sum(kv.item_size(r -> 'Item')) FROM jsonb_array_elements(kv.transact_get_items((SELECT jsonb_agg(jsonb_build_object('Get',
	jsonb_build_object('TableName', 'tg', 'Key', jsonb_build_object('pk', 'large', 'sk', lpad(n::text, 2, '0'))))) FROM generate_series(1, 16) n)) -> 'Responses') r;
SELECT tg_try($$kv.transact_get_items((SELECT jsonb_agg(jsonb_build_object('Get',
	jsonb_build_object('TableName', 'tg', 'Key', jsonb_build_object('pk', 'large', 'sk', lpad(n::text, 2, '0')), 'ProjectionExpression', 'sk'))) FROM generate_series(1, 16) n)
	|| '{"Get": {"TableName": "tg_n", "Key": {"n": 3}}}'::jsonb)$$);

-- What is refused.
SELECT tg_try($$kv.transact_get_items(NULL)$$);
SELECT tg_try($$kv.transact_get_items('[]')$$);
SELECT tg_try($$kv.transact_get_items('{"Get": {}}')$$);
SELECT tg_try($$kv.transact_get_items('[1]')$$);
SELECT tg_try($$kv.transact_get_items('[{}]')$$);
SELECT tg_try($$kv.transact_get_items('[{"Put": {"TableName": "tg", "Item": {"pk": "a", "sk": "1"}}}]')$$);
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg", "Key": {"pk": "a", "sk": "1"}, "ConsistentRead": true}}]')$$);
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg", "Key": {"pk": "a", "sk": "1"}}}, {"Get": {"TableName": "tg", "Key": {"pk": "a"}}}]')$$);
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg", "Key": {"pk": "a", "sk": "1"}, "ProjectionExpression": "#a"}}]')$$);
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg", "Key": {"pk": "a", "sk": "1"}, "ExpressionAttributeNames": {"#a": "a"}}}]')$$);
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg", "Key": {"pk": "a", "sk": "1"}}}, {"Get": {"TableName": "tg_nowhere", "Key": {"pk": "a", "sk": "2"}}}]')$$);
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg_n", "Key": {"n": 1}}}, {"Get": {"TableName": "tg_n", "Key": {"n": 2}}}, {"Get": {"TableName": "tg_n", "Key": {"n": 1.0}}}]')$$);

-- Rights and policies; a read-only transaction and a standby may read.
CREATE ROLE tg_ann;
GRANT SELECT ON tg_n TO tg_ann;
SET ROLE tg_ann;
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg_n", "Key": {"n": 3}}}, {"Get": {"TableName": "tg", "Key": {"pk": "p1", "sk": "0001"}}}]')$$);
RESET ROLE;
CREATE POLICY none ON tg_n USING (false);
ALTER TABLE tg_n ENABLE ROW LEVEL SECURITY;
BEGIN READ ONLY;
SET LOCAL ROLE tg_ann;
SELECT tg_try($$kv.transact_get_items('[{"Get": {"TableName": "tg_n", "Key": {"n": 3}}}]')$$);
ROLLBACK;
\t off

DROP TABLE tg, tg_n;
DROP FUNCTION tg_try, tg_gets;
DROP ROLE tg_ann;
