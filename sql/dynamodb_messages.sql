-- kv.dynamodb: the message of each validation error is DynamoDB's own; what the SQL functions say comes as HINT.
SET client_min_messages = warning;
SELECT kv.create_table('msgs', 'pk', 'sk', 'S', 'N');
SELECT kv.create_global_index('msgs', 'msgs_g', 'g', projection => 'KEYS_ONLY') IS NOT NULL AS global, kv.create_local_index('msgs', 'msgs_l', 'l') IS NOT NULL AS local;
SELECT count(kv.apply_changes()) FROM generate_series(1, 2);
SELECT kv.put_item('msgs', jsonb_build_object('pk', 'x', 'sk', 1, 's', 'text', 'n', 1, 'm', '{"a": {"b": 1}}'::jsonb, 'l1', '[1]'::jsonb, 'big', repeat('x', 300000)));
CREATE FUNCTION pg_temp.said(operation text, request jsonb, OUT type text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM kv.dynamodb(operation, request);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	message := SQLERRM;
	type := split_part(detail::jsonb ->> '__type', '#', 2) || coalesce(' ' || (detail::jsonb ->> 'CancellationReasons'), '');
END $$;
-- A request to the table for the item there, with more.
CREATE FUNCTION pg_temp.request(operation text, more text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('TableName', 'msgs') || CASE operation WHEN 'PutItem' THEN '{"Item": {"pk": {"S": "x"}, "sk": {"N": "1"}}}' WHEN 'Query' THEN '{}' WHEN 'Scan' THEN '{}' ELSE '{"Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}' END::jsonb
		|| more::jsonb $$;
CREATE FUNCTION pg_temp.updated(expression text, given text) RETURNS TABLE (type text, message text, hint text) LANGUAGE sql AS $$
	SELECT * FROM pg_temp.said('UpdateItem', pg_temp.request('UpdateItem', '{}') || jsonb_build_object('UpdateExpression', expression)
		|| CASE WHEN given = '{}' THEN '{}' ELSE jsonb_build_object('ExpressionAttributeValues', given::jsonb) END) $$;
\pset format unaligned
\pset tuples_only on
\pset fieldsep '\n  '

-- What the item does not allow (API reference, TransactWriteItems, CancellationReasons), alone and as a reason.
SELECT e || ' ' || v, u.* FROM (VALUES ('SET a = absent', '{}'), ('SET a = m.absent', '{}'), ('SET a = absent + :n', '{":n": {"N": "1"}}'), ('SET m.x.y = :n', '{":n": {"N": "1"}}'), ('SET absent.y = :n', '{":n": {"N": "1"}}'),
	('SET s[0] = :n', '{":n": {"N": "1"}}'), ('REMOVE absent.y', '{}'), ('ADD s :n', '{":n": {"N": "1"}}'), ('ADD n :s', '{":s": {"SS": ["a"]}}'), ('DELETE n :s', '{":s": {"SS": ["a"]}}'), ('SET a = s + :n', '{":n": {"N": "1"}}'),
	('SET a = list_append(s, :l)', '{":l": {"L": []}}'), ('SET n = n + :n', '{":n": {"N": "9E125"}}'), ('SET a = :n + :n', '{":n": {"N": "6E125"}}'), ('SET a = n - :n', '{":n": {"N": "1E-39"}}'), ('SET g = :n', '{":n": {"N": "1"}}'), ('SET g = :n', '{":n": {"NULL": true}}'),
	('SET g = :s', '{":s": {"S": ""}}'), ('SET l = :n', '{":n": {"N": "1"}}'), ('SET a = big', '{}')) v (e, v), LATERAL pg_temp.updated(e, v) u;
SELECT * FROM pg_temp.updated('SET g = :s', jsonb_build_object(':s', jsonb_build_object('S', repeat('x', 2049)))::text);
SELECT * FROM pg_temp.updated('SET m.a.b = :s', ('{":s": ' || repeat('{"L": [', 31) || '{"S": "x"}' || repeat(']}', 31) || '}'));
SELECT r.* FROM unnest(ARRAY['SET a = absent', 'SET absent.y = s', 'SET a = s + n', 'SET a = big']) e, LATERAL pg_temp.said('TransactWriteItems', jsonb_build_object('TransactItems', jsonb_build_array(
	jsonb_build_object('Update', pg_temp.request('UpdateItem', '{}') || jsonb_build_object('UpdateExpression', e))))) r;

-- An index's key is seen when the item is written: a reason too, of a put as of an update, and in SQL.
SELECT r.* FROM unnest(ARRAY['{"Update": {"TableName": "msgs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "UpdateExpression": "SET g = n"}}', '{"Put": {"TableName": "msgs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "l": {"S": ""}}}}']) action,
	LATERAL pg_temp.said('TransactWriteItems', jsonb_build_object('TransactItems', jsonb_build_array('{"Put": {"TableName": "msgs", "Item": {"pk": {"S": "other"}, "sk": {"N": "1"}}}}'::jsonb, action::jsonb))) r;
SELECT kv.transact_write_items('[{"Delete": {"TableName": "msgs", "Key": {"pk": "x", "sk": 1}}}, {"Put": {"TableName": "msgs", "Item": {"pk": "y", "sk": 1, "g": [1]}}}]');

-- Update expressions that are wrong for any item.
SELECT e || ' ' || v, u.* FROM (VALUES ('SET a = :a', '{}'), ('SET a = :a', '{":a": {"S": "x"}, ":b": {"S": "x"}}'), ('SET a = :a', '{":a": {"S": "x"}, "b": {"S": "x"}}'), ('SET #a = s', '{}'), ('SET a', '{}'), ('SET a = = b', '{}'), ('', '{}'),
	('SET name = s', '{}'), ('SET a = s SET b = s', '{}'), ('SET pk = s', '{}'), ('SET m = s REMOVE m.a', '{}'), ('SET m.a.b = s, m.a = s', '{}'), ('SET m.a = s, m[1] = s', '{}'), ('SET m[1].a = s, m[1].a = s', '{}'), ('ADD n :s', '{":s": {"S": "x"}}'),
	('ADD n :s', '{":s": {"L": []}}'), ('ADD n :s', '{":s": {"NULL": true}}'), ('DELETE n :s', '{":s": {"N": "1"}}'), ('SET a = n + :s', '{":s": {"S": "x"}}'), ('SET a = list_append(n, :s)', '{":s": {"M": {}}}'), ('SET a = size(s)', '{}'), ('SET a = nothing(s)', '{}'),
	('SET a = if_not_exists(:s, :s)', '{":s": {"S": "x"}}'), ('SET a = list_append(n)', '{}')) v (e, v), LATERAL pg_temp.updated(e, v) u;

-- Placeholders without expressions, and none at all.
SELECT operation, more, r.message FROM unnest(ARRAY['{"ExpressionAttributeNames": {}}', '{"ExpressionAttributeValues": {}}', '{"ExpressionAttributeNames": {"#a": "a"}}', '{"ExpressionAttributeValues": {":a": {"S": "x"}}}']) more, unnest(ARRAY['PutItem', 'UpdateItem', 'GetItem', 'Scan']) operation,
	LATERAL pg_temp.said(operation, pg_temp.request(operation, more)) r WHERE NOT (operation = 'GetItem' AND more LIKE '%Values%');
SELECT r.message FROM pg_temp.said('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "msgs", "Item": {}, "ExpressionAttributeValues": {}}}]}') r;
SELECT r.message FROM pg_temp.said('UpdateTable', '{"TableName": "msgs", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"}]}') r;

-- Conditions and filters.
SELECT c || ' ' || v, r.* FROM (VALUES ('a = :a', '{":b": {"S": "x"}}'), ('a BETWEEN :a AND :b', '{":a": {"N": "2"}, ":b": {"N": "1"}}'), ('a BETWEEN :a AND :b', '{":a": {"N": "2"}, ":b": {"S": "1"}}'), ('a < :a', '{":a": {"SS": ["x"]}}'),
	('begins_with(a, :a)', '{":a": {"N": "1"}}'), ('contains(a, a)', '{}'), ('attribute_type(a, :a)', '{":a": {"S": "X"}}'), ('attribute_exists(:a)', '{":a": {"S": "X"}}'), ('size(:a)', '{":a": {"S": "X"}}'), ('size(a)', '{}'), ('list_append(a, b)', '{}'),
	('if_not_exists(a, b) = c', '{}'), ('contains(a)', '{}'), ('a = b AND', '{}'), ('a = 1', '{}'), ('status = a', '{}'), ('Begins_With(a, :a)', '{":a": {"S": "X"}}')) v (c, v), LATERAL pg_temp.said('PutItem', pg_temp.request('PutItem',
	jsonb_build_object('ConditionExpression', c)::text) || CASE WHEN v = '{}' THEN '{}' ELSE jsonb_build_object('ExpressionAttributeValues', v::jsonb) END) r;
SELECT r.type, r.message FROM pg_temp.said('Scan', pg_temp.request('Scan', jsonb_build_object('FilterExpression', repeat('a', 4097))::text)) r;
SELECT r.* FROM pg_temp.said('GetItem', pg_temp.request('GetItem', '{"ProjectionExpression": "#a", "ExpressionAttributeNames": {"#a": "a", "#b": "b"}}')) r;

-- Key conditions.
SELECT c || ' ' || v, r.* FROM (VALUES ('sk = :n', '{}'), ('pk = :s AND n = :n', '{}'), ('pk = :s AND sk <> :n', '{}'), ('pk < :s', '{}'), ('pk = :s AND sk > :n AND sk < :n', '{}'), ('pk = :n', '{}'), ('pk = :s AND m.a = :n', '{}'), ('pk = :s OR sk = :n', '{}'))
	v (c, v), LATERAL pg_temp.said('Query', pg_temp.request('Query', jsonb_build_object('KeyConditionExpression', c)::text) || jsonb_build_object('ExpressionAttributeValues', jsonb_strip_nulls(jsonb_build_object(
	':s', CASE WHEN c LIKE '%:s%' THEN '{"S": "x"}'::jsonb END, ':n', CASE WHEN c LIKE '%:n%' THEN '{"N": "1"}'::jsonb END)))) r;
SELECT r.* FROM pg_temp.said('Query', pg_temp.request('Query', '{"KeyConditionExpression": "pk = :s", "FilterExpression": "sk = :s", "ExpressionAttributeValues": {":s": {"S": "x"}}}')) r;

-- Legacy parameters.
SELECT more, r.* FROM unnest(ARRAY['{"ScanFilter": {"a": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"N": "1"}]}}}', '{"ScanFilter": {"a": {"ComparisonOperator": "LT", "AttributeValueList": [{"L": []}]}}}',
	'{"ScanFilter": {"a": {"ComparisonOperator": "LE", "AttributeValueList": [{"L": []}]}}}', '{"ScanFilter": {"a": {"ComparisonOperator": "GT", "AttributeValueList": [{"L": []}]}}}', '{"ScanFilter": {"a": {"ComparisonOperator": "GE", "AttributeValueList": [{"L": []}]}}}',
	'{"ScanFilter": {"a": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "2"}, {"N": "1"}]}}}', '{"ScanFilter": {"a": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"L": []}, {"L": []}]}}}']) more, LATERAL pg_temp.said('Scan', pg_temp.request('Scan', more)) r;
SELECT more, r.* FROM unnest(ARRAY['{"AttributeUpdates": {"a": {"Action": "ADD", "Value": {"S": "x"}}}}', '{"AttributeUpdates": {"a": {"Action": "DELETE", "Value": {"N": "1"}}}}', '{"AttributeUpdates": {"pk": {"Value": {"S": "x"}}}}',
	'{"AttributeUpdates": {"s": {"Action": "ADD", "Value": {"N": "1"}}}}']) more, LATERAL pg_temp.said('UpdateItem', pg_temp.request('UpdateItem', more)) r;

SELECT r.* FROM pg_temp.said('PutItem', pg_temp.request('PutItem', '{"Expected": {"a": {"Exists": true, "ComparisonOperator": "NULL"}}}')) r;

-- Values.
SELECT v, r.type, r.message FROM unnest(ARRAY['{}', '{"S": "a", "N": "1"}', '{"N": "one"}', '{"N": "123456789012345678901234567890123456789"}', '{"N": "1E126"}', '{"N": "-1E126"}', '{"N": "1E-131"}', '{"N": "-1e-131"}', '{"SS": []}', '{"SS": ["a", "a"]}', '{"S": 1}', '{"M": {"": {"S": "x"}}}']) v,
	LATERAL pg_temp.said('PutItem', pg_temp.request('PutItem', jsonb_build_object('Item', jsonb_build_object('pk', '{"S": "x"}'::jsonb, 'sk', '{"N": "1"}'::jsonb, 'a', v::jsonb))::text)) r;
SELECT r.type, r.message FROM pg_temp.said('PutItem', pg_temp.request('PutItem', jsonb_build_object('Item', jsonb_build_object('pk', '{"S": "x"}'::jsonb, 'sk', '{"N": "1"}'::jsonb, 'a', jsonb_build_object('S', repeat('x', 409600))))::text)) r;

-- Keys: of an item, of a key, where to start.
SELECT operation, key, r.* FROM unnest(ARRAY['{}', '{"pk": {"S": "x"}}', '{"pk": {"N": "1"}, "sk": {"N": "1"}}', '{"pk": {"NULL": true}, "sk": {"N": "1"}}', '{"pk": {"S": ""}, "sk": {"N": "1"}}', '{"pk": {"S": "x"}, "sk": {"N": "1"}, "g": {"N": "1"}}',
	'{"pk": {"S": "x"}, "sk": {"N": "1"}, "g": {"S": ""}}']) key, unnest(ARRAY['PutItem', 'GetItem', 'UpdateItem', 'DeleteItem']) operation, LATERAL pg_temp.said(operation, jsonb_build_object('TableName', 'msgs', CASE operation WHEN 'PutItem' THEN 'Item' ELSE 'Key' END, key::jsonb)) r;
SELECT operation, key, r.* FROM unnest(ARRAY['{"pk": {"S": "x"}}', '{"pk": {"N": "1"}, "sk": {"N": "1"}}', '{"pk": {"S": "x"}, "sk": {"N": "1"}, "a": {"N": "1"}}', '{"pk": {"S": "y"}, "sk": {"N": "1"}}']) key, unnest(ARRAY['Query', 'Scan']) operation,
	LATERAL pg_temp.said(operation, jsonb_build_object('TableName', 'msgs', 'ExclusiveStartKey', key::jsonb) || CASE operation WHEN 'Query' THEN '{"KeyConditionExpression": "pk = :s", "ExpressionAttributeValues": {":s": {"S": "x"}}}' ELSE '{}' END::jsonb) r;

SELECT r.* FROM pg_temp.said('GetItem', jsonb_build_object('TableName', 'msgs', 'Key', jsonb_build_object('pk', jsonb_build_object('S', repeat('x', 2049)), 'sk', '{"N": "1"}'::jsonb))) r;

-- Segments and limits come before expressions and before the table.
SELECT more, r.* FROM unnest(ARRAY['{"Segment": 0}', '{"TotalSegments": 1}', '{"Segment": 1, "TotalSegments": 1}', '{"Segment": -1, "TotalSegments": 1}', '{"Segment": 0, "TotalSegments": 0}', '{"Segment": 0, "TotalSegments": 1000001}', '{"Limit": 0}']) more,
	LATERAL pg_temp.said('Scan', '{"TableName": "none", "FilterExpression": "a =", "Select": "SPECIFIC_ATTRIBUTES"}'::jsonb || more::jsonb) r;
SELECT r.* FROM pg_temp.said('Query', '{"TableName": "none", "KeyConditionExpression": "a =", "Limit": 0}') r;
WITH keys AS (SELECT kv.dynamodb('PutItem', jsonb_build_object('TableName', 'msgs', 'Item', jsonb_build_object('pk', jsonb_build_object('S', 'k' || i), 'sk', '{"N": "1"}'::jsonb))) FROM generate_series(1, 9) i)
	SELECT count(*) FROM keys;
SELECT r.type, r.message, count(*) FROM generate_series(1, 9) i, LATERAL pg_temp.said('Scan', jsonb_build_object('TableName', 'msgs', 'Segment', 0, 'TotalSegments', 16, 'ExclusiveStartKey', jsonb_build_object('pk', jsonb_build_object('S', 'k' || i), 'sk', '{"N": "1"}'::jsonb))) r
	WHERE r.type IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 4;
SELECT more, r.* FROM unnest(ARRAY['{"ConsistentRead": true}', '{"ProjectionExpression": "s"}', '{"Select": "ALL_ATTRIBUTES"}']) more, LATERAL pg_temp.said('Query', pg_temp.request('Query', '{"IndexName": "msgs_g", "KeyConditionExpression": "g = :s", "ExpressionAttributeValues": {":s": {"S": "x"}}}') || more::jsonb) r;

-- Members that must be there, in each action.
SELECT verb, r.message FROM (VALUES ('TransactWriteItems', '{"Put": {}}'), ('TransactWriteItems', '{"Put": {"TableName": "msgs"}}'), ('TransactWriteItems', '{"Update": {"TableName": "msgs"}}'), ('TransactWriteItems', '{"Update": {"TableName": "msgs", "Key": {}}}'),
	('TransactWriteItems', '{"Update": {"Key": {}, "UpdateExpression": "x"}}'), ('TransactWriteItems', '{"Delete": {"TableName": "msgs", "Key": null}}'), ('TransactWriteItems', '{"ConditionCheck": {"TableName": "msgs", "Key": {}}}'), ('TransactWriteItems', '{"ConditionCheck": {"TableName": "msgs"}}'),
	('TransactGetItems', '{}'), ('TransactGetItems', '{"Get": null}'), ('TransactWriteItems', '{"Post": {"TableName": "msgs"}}'), ('TransactGetItems', '{"Get": {"TableName": "msgs"}}'), ('TransactGetItems', '{"Get": {"Key": {}}}'), ('TransactWriteItems', '{"Put": {"TableName": "msgs", "Item": {}, "ReturnValuesOnConditionCheckFailure": "X"}}')) v (operation, verb),
	LATERAL pg_temp.said(operation, jsonb_build_object('TransactItems', jsonb_build_array(CASE operation WHEN 'TransactGetItems' THEN '{"Get": {"TableName": "msgs", "Key": {"pk": "no typed value"}}}' ELSE '{"Put": {"TableName": "msgs", "Item": {"pk": "no typed value"}}}' END::jsonb, verb::jsonb))) r;
SELECT verb, r.message FROM unnest(ARRAY['{"PutRequest": {}}', '{"DeleteRequest": {}}', '{"PutRequest": {"Key": {}}}']) verb, LATERAL pg_temp.said('BatchWriteItem', jsonb_build_object('RequestItems', jsonb_build_object('msgs', jsonb_build_array('{"PutRequest": {"Item": {"pk": "x"}}}'::jsonb, verb::jsonb)))) r;
SELECT r.message FROM pg_temp.said('BatchGetItem', '{"RequestItems": {"msgs": {}}}') r;

-- How many.
CREATE FUNCTION pg_temp.many(operation text, number int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE operation WHEN 'BatchWriteItem' THEN jsonb_build_object('RequestItems', jsonb_build_object('msgs', list)) WHEN 'BatchGetItem' THEN jsonb_build_object('RequestItems', jsonb_build_object('msgs', jsonb_build_object('Keys', list)))
		ELSE jsonb_build_object('TransactItems', list) END
	FROM (SELECT coalesce(jsonb_agg(CASE operation WHEN 'BatchWriteItem' THEN '{"DeleteRequest": {"Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}}' WHEN 'BatchGetItem' THEN '{"pk": {"S": "x"}, "sk": {"N": "1"}}'
		WHEN 'TransactGetItems' THEN '{"Get": {"TableName": "msgs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}}' ELSE '{"Delete": {"TableName": "msgs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}}' END::jsonb), '[]') AS list FROM generate_series(1, number)) l $$;
SELECT operation, number, r.message FROM (VALUES ('BatchWriteItem', 26), ('BatchGetItem', 101), ('TransactWriteItems', 101), ('TransactGetItems', 101)) v (operation, most), LATERAL unnest(ARRAY[0, 2, most]) number, LATERAL pg_temp.said(operation, pg_temp.many(operation, number)) r;
-- .. which is said before anything of what they hold, and before that there is no such table.
SELECT operation, r.message FROM (VALUES ('BatchWriteItem', 26), ('BatchGetItem', 101), ('TransactWriteItems', 101), ('TransactGetItems', 101)) v (operation, number),
	LATERAL pg_temp.said(operation, replace(replace(pg_temp.many(operation, number)::text, '{"N": "1"}', '{"N": "one"}'), 'msgs', 'none')::jsonb) r;
SELECT token, r.message FROM unnest(ARRAY['', '1234567890123456789012345678901234567']) token, LATERAL pg_temp.said('TransactWriteItems', pg_temp.many('TransactWriteItems', 1) || jsonb_build_object('ClientRequestToken', token)) r;
SELECT r.message FROM pg_temp.said('TransactWriteItems', '{"TransactItems": [{}]}') r;
SELECT r.message FROM pg_temp.said('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "msgs", "Item": {}}, "Delete": {"TableName": "msgs", "Key": {}}}]}') r;
SELECT kv.drop_table('msgs');
