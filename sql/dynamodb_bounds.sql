-- kv.dynamodb: requests of a size that no operation can have are refused in good time and with a short message; what tables are for is for tables alone.
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION pg_temp.refusal(operation text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM kv.dynamodb(operation, request);
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || split_part(detail::jsonb ->> '__type', '#', 2) || ': ' || CASE WHEN length(SQLERRM) > 700 THEN 'a message of ' || length(SQLERRM) ELSE SQLERRM END;
END $$;
SELECT kv.create_table('bounds', 'pk');

-- Each of these took time that grows with the square of its size.
SELECT pg_temp.refusal('CreateTable', jsonb_build_object('TableName', 'new', 'KeySchema', '[{"AttributeName": "a10000", "KeyType": "HASH"}]'::jsonb, 'AttributeDefinitions',
	(SELECT jsonb_agg(jsonb_build_object('AttributeName', 'a' || i, 'AttributeType', 'S')) FROM generate_series(10000, 49999) i)));
SELECT pg_temp.refusal('CreateTable', jsonb_build_object('TableName', 'new', 'KeySchema', '[{"AttributeName": "a1", "KeyType": "HASH"}]'::jsonb, 'AttributeDefinitions',
	(SELECT jsonb_agg(jsonb_build_object('AttributeName', 'a' || i % 39999, 'AttributeType', 'S')) FROM generate_series(0, 39999) i)));
SELECT pg_temp.refusal('TransactWriteItems', jsonb_build_object('TransactItems',
	(SELECT jsonb_agg(jsonb_build_object('Put', jsonb_build_object('TableName', 't' || i, 'Item', '{}'::jsonb))) FROM generate_series(10000, 49999) i)));
SELECT pg_temp.refusal('BatchWriteItem', jsonb_build_object('RequestItems',
	(SELECT jsonb_object_agg('t' || i, '[{"PutRequest": {"Item": {}}}]'::jsonb) FROM generate_series(10000, 49999) i)));
SELECT pg_temp.refusal('BatchGetItem', jsonb_build_object('RequestItems', (SELECT jsonb_object_agg('t' || i, '{"Keys": []}'::jsonb) FROM generate_series(10000, 49999) i)
	|| '{"bounds": {"Keys": [{"pk": {"S": "x"}}]}}'));
SELECT pg_temp.refusal('BatchWriteItem', jsonb_build_object('RequestItems', (SELECT jsonb_object_agg('bounds' || i, '[]'::jsonb) FROM generate_series(1, 25) i)
	|| '{"bounds": [{"DeleteRequest": {"Key": {"pk": {"S": "x"}}}}]}'));

-- .. and these, which are right: names of legacy parameters and their placeholders are found among many. Ten lists as long as they may be took seven seconds.
SELECT count(kv.put_item('bounds', '{"pk": "x", "a10001": 1, "a27000": 2, "a5": 3}'));
SET statement_timeout = '5s';
SELECT kv.dynamodb('BatchGetItem', jsonb_build_object('RequestItems', (SELECT jsonb_object_agg('arn:aws:dynamodb:local:' || t || ':table/bounds',
	jsonb_build_object('Keys', jsonb_build_array(jsonb_build_object('pk', jsonb_build_object('S', CASE t WHEN 7 THEN 'x' ELSE t::text END))),
	'AttributesToGet', (SELECT jsonb_agg('a' || i) FROM generate_series(4000 + t, 27000) i))) FROM generate_series(0, 9) t)))
	#> '{Responses,arn:aws:dynamodb:local:7:table/bounds}';
SELECT kv.dynamodb('BatchGetItem', jsonb_build_object('RequestItems', (SELECT jsonb_object_agg('arn:aws:dynamodb:local:' || t || ':table/bounds',
	jsonb_build_object('Keys', jsonb_build_array(jsonb_build_object('pk', jsonb_build_object('S', CASE t WHEN 7 THEN 'x' ELSE t::text END))),
	'AttributesToGet', (SELECT jsonb_agg('a' || i ORDER BY hashint4(i)) FROM generate_series(4000 + t, 27000) i))) FROM generate_series(0, 9) t)))
	#> '{Responses,arn:aws:dynamodb:local:7:table/bounds}';
RESET statement_timeout;
-- The first name that is there twice is the one that is refused, in whatever order they come.
SELECT pg_temp.refusal('GetItem', jsonb_build_object('TableName', 'bounds', 'Key', '{"pk": {"S": "x"}}'::jsonb, 'AttributesToGet',
	(SELECT jsonb_agg('a' || i ORDER BY hashint4(i)) || '["a17", "a3"]'::jsonb FROM generate_series(0, 19999) i)));
SELECT kv.dynamodb('UpdateItem', jsonb_build_object('TableName', 'bounds', 'Key', '{"pk": {"S": "x"}}'::jsonb, 'ReturnValues', 'UPDATED_NEW', 'AttributeUpdates',
	(SELECT jsonb_object_agg('a' || i, CASE WHEN i % 2000 = 1 THEN '{"Action": "ADD", "Value": {"N": "1"}}' ELSE '{"Action": "DELETE"}' END::jsonb) FROM generate_series(1, 20000) i)));
SELECT count(kv.delete_item('bounds', '{"pk": "x"}'));

-- Memory for a batch is a small multiple of the request: what it takes while the items are written, of which each was copied a dozen times.
SELECT kv.create_table('bounds_memory', 'pk');
CREATE TEMP TABLE memory (bytes numeric);
CREATE FUNCTION pg_temp.note_memory() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO memory SELECT sum(total_bytes) FROM pg_backend_memory_contexts;
	RETURN NEW;
END $$;
CREATE TRIGGER note BEFORE INSERT ON bounds_memory FOR EACH ROW EXECUTE FUNCTION pg_temp.note_memory();
CREATE FUNCTION pg_temp.times(operation text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before numeric := (SELECT sum(total_bytes) FROM pg_backend_memory_contexts);
	answer jsonb := kv.dynamodb(operation, request);
	times numeric := ((SELECT max(bytes) FROM memory) - before) / pg_column_size(request);
BEGIN
	TRUNCATE memory;
	RETURN CASE WHEN times < 5 THEN 'less than 5 times' ELSE round(times, 1) || ' times' END;
END $$;
SELECT pg_temp.times('BatchWriteItem', '{"RequestItems": {"bounds_memory": [{"PutRequest": {"Item": {"pk": {"S": "x"}}}}]}}') IS NOT NULL AS warm;
SELECT pg_temp.times('BatchWriteItem', jsonb_build_object('RequestItems', jsonb_build_object('bounds_memory', (SELECT jsonb_agg(jsonb_build_object('PutRequest',
	jsonb_build_object('Item', jsonb_build_object('pk', jsonb_build_object('S', 'a' || i), 'a', jsonb_build_object('S', repeat(i || 'x', 130000)))))) FROM generate_series(1, 25) i))));
SELECT pg_temp.times('TransactWriteItems', jsonb_build_object('TransactItems', (SELECT jsonb_agg(jsonb_build_object('Put', jsonb_build_object('TableName', 'bounds_memory',
	'Item', jsonb_build_object('pk', jsonb_build_object('S', 'b' || i), 'a', jsonb_build_object('S', repeat(i || 'x', 100000)))))) FROM generate_series(1, 12) i)));
SELECT kv.drop_table('bounds_memory');

-- Long names and values come shortened.
SELECT pg_temp.refusal(repeat('é', 1000000), '{}');
SELECT pg_temp.refusal('GetItem', jsonb_build_object(repeat('é', 1000000), 1));
SELECT pg_temp.refusal('GetItem', jsonb_build_object('TableName', repeat('é', 1000000), 'Key', '{}'::jsonb));
SELECT pg_temp.refusal('GetItem', jsonb_build_object('TableName', repeat('a', 1000000), 'Key', '{}'::jsonb));
SELECT pg_temp.refusal('Query', jsonb_build_object('TableName', 'bounds', 'Select', repeat('a', 1000000)));
SELECT pg_temp.refusal('CreateTable', jsonb_build_object('TableName', 'new', 'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', repeat('a', 1000000), 'KeyType', 'HASH')),
	'AttributeDefinitions', '[]'::jsonb));
SELECT pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'bounds', 'Item', jsonb_build_object('pk', '{"S": "x"}'::jsonb, 'a',
	jsonb_build_object('SS', jsonb_build_array(repeat('é', 500000), repeat('é', 500000))))));
SELECT pg_temp.refusal('BatchWriteItem', jsonb_build_object('RequestItems', jsonb_build_object(repeat('a', 1000000), 1)));

-- What lifts the limits of expressions made of legacy parameters cannot be written; it does not come back with what was not processed either.
SELECT pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'bounds', 'Item', '{"pk": {"S": "x"}}'::jsonb, 'ConditionExpression', E'\x01attribute_not_exists(pk)'));
SELECT count(kv.put_item('bounds', jsonb_build_object('pk', 'big' || lpad(i::text, 2, '0'), 'b', repeat('x', 400000)))) FROM generate_series(1, 42) i;
SELECT (kv.dynamodb('BatchGetItem', jsonb_build_object('RequestItems', jsonb_build_object('bounds', jsonb_build_object('AttributesToGet', '["pk"]'::jsonb, 'ConsistentRead', true, 'Keys',
	(SELECT jsonb_agg(jsonb_build_object('pk', jsonb_build_object('S', 'big' || lpad(i::text, 2, '0')))) FROM generate_series(1, 42) i))))) #> '{UnprocessedKeys,bounds}') - 'Keys'::text AS asked;

-- Tags are for key-value tables: not for another one, nor for an index or a view.
CREATE TABLE bounds_plain (a int PRIMARY KEY);
CREATE VIEW bounds_view AS SELECT 1 AS a;
SELECT operation, resource, pg_temp.refusal(operation, jsonb_build_object('ResourceArn', resource) ||
	CASE operation WHEN 'TagResource' THEN '{"Tags": [{"Key": "a", "Value": "b"}]}' WHEN 'UntagResource' THEN '{"TagKeys": ["a"]}' ELSE '{}' END::jsonb)
FROM unnest(ARRAY['TagResource', 'UntagResource', 'ListTagsOfResource']) operation, unnest(ARRAY['bounds', 'bounds_p00', 'bounds_pkey', 'bounds_plain', 'bounds_plain_pkey', 'bounds_view']) resource
ORDER BY operation COLLATE "C", resource COLLATE "C";
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE relname LIKE 'bounds%' AND obj_description(oid, 'pg_class') IS NOT NULL ORDER BY relname COLLATE "C";

-- Collections of one table that a request calls by two names are all there.
SELECT kv.create_table('bounds_local', 'pk', 'sk');
SELECT kv.create_local_index('bounds_local', 'bounds_l', 'l');
SELECT kv.dynamodb('BatchWriteItem', '{"ReturnItemCollectionMetrics": "SIZE", "RequestItems": {"bounds_local": [{"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"S": "1"}}}},
	{"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"S": "2"}}}}],
	"arn:aws:dynamodb:local:000000000000:table/bounds_local": [{"PutRequest": {"Item": {"pk": {"S": "b"}, "sk": {"S": "1"}}}}, {"PutRequest": {"Item": {"pk": {"S": "a"}, "sk": {"S": "3"}}}}]}}');
SELECT kv.drop_table('bounds_local'), kv.drop_table('bounds');
DROP VIEW bounds_view;
DROP TABLE bounds_plain;
