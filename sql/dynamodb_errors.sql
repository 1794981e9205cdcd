-- kv.dynamodb: what is refused, as which exception, in DynamoDB's order: shape, limits, expressions, table, item.
SET client_min_messages = warning;
SELECT kv.create_table('errs', 'pk', 'sk', 'S', 'N');
CREATE FUNCTION pg_temp.refusal(operation text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM kv.dynamodb(operation, request);
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || split_part(detail::jsonb ->> '__type', '#', 2) || ': ' || SQLERRM;
END $$;
\pset format unaligned
\pset tuples_only on

-- The shape of the request.
SELECT pg_temp.refusal(NULL, '{}');
SELECT pg_temp.refusal('GetItem', NULL);
SELECT pg_temp.refusal('getItem', '{}');
SELECT pg_temp.refusal('GetItem', '[]');
SELECT pg_temp.refusal('GetItem', '"x"');
SELECT pg_temp.refusal('GetItem', '{}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs"}');
SELECT pg_temp.refusal('GetItem', '{"TableName": null, "Key": {}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": {}, "Key": {}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": []}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {}, "ConsistentRead": "true"}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {}, "AttributesToGet": [1]}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {}, "Consistent": true}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "Limit": 1.5}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "Limit": 1e10}');
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": []}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"errs": {}}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"errs": [1]}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"errs": [{}]}}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "errs"}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": 7, "Item": {}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": []}');

-- Values that are not of the set.
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {}, "ReturnValues": "ALL_NEW"}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {}, "ReturnValues": "NEW"}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {}, "ReturnConsumedCapacity": "ALL"}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {}, "ReturnValuesOnConditionCheckFailure": "ALL_NEW"}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "Select": "ALL"}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "Select": "ALL_ATTRIBUTES|COUNT"}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "Select": ""}');

-- Typed values.
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": "x"}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x", "N": "1"}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"N": 1}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "one"}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "a": {"SS": []}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "a": {"SS": ["a", "a"]}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "a": {"B": "*"}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "a": {"N": "1E126"}}}');

-- Names of tables.
SELECT pg_temp.refusal('GetItem', '{"TableName": "", "Key": {}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "a table", "Key": {}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "none", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "public.errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "arn:aws:dynamodb:local:000000000000:table/errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}');
CREATE TABLE plain_table (a int);
SELECT pg_temp.refusal('GetItem', '{"TableName": "plain_table", "Key": {"pk": {"S": "x"}}}');
DROP TABLE plain_table;

-- Keys.
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"S": "1"}}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {"pk": {"S": ""}, "sk": {"N": "1"}}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}, "a": {"S": "x"}}}');
SELECT pg_temp.refusal('DeleteItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}}}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}}}');

-- Expressions.
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "ProjectionExpression": "a,,b"}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "ConditionExpression": "a = :v"}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": {"S": "1"}, ":w": {"S": "1"}}}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "UpdateExpression": "SET pk = :v", "ExpressionAttributeValues": {":v": {"S": "1"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditionExpression": "sk = :v", "ExpressionAttributeValues": {":v": {"N": "1"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": {":v": {"S": "1"}}, "ExclusiveStartKey": {"pk": {"S": "2"}, "sk": {"N": "1"}}}');

-- What is wrong with an expression is said before that there is no such table.
SELECT pg_temp.refusal('GetItem', '{"TableName": "none", "Key": {"pk": {"S": "x"}}, "ProjectionExpression": "a,,b"}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "none", "Item": {"pk": {"S": "x"}}, "ConditionExpression": "a = :v"}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "none", "Key": {"pk": {"S": "x"}}, "UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": {"S": "1"}, ":w": {"S": "1"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditionExpression": "pk = :v", "FilterExpression": "a =", "ExpressionAttributeValues": {":v": {"S": "1"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditionExpression": "pk = :v", "FilterExpression": "a = :v", "ExpressionAttributeValues": {":v": {"S": "1"}}}');
SELECT pg_temp.refusal('Scan', '{"TableName": "none", "FilterExpression": "pk = :v", "ExpressionAttributeValues": {":v": {"S": "1"}}}');

-- The definition of tables.
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [], "AttributeDefinitions": []}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "ab", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "RANGE"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "b", "AttributeType": "S"}]}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "b", "AttributeType": "S"}]}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "SS"}]}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
	"StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"}}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
	"LocalSecondaryIndexes": [{"IndexName": "loc", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
	"GlobalSecondaryIndexes": [{"IndexName": "glo", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {}}]}');
SELECT pg_temp.refusal('UpdateTable', '{"TableName": "errs", "GlobalSecondaryIndexUpdates": [{}]}');
SELECT pg_temp.refusal('ListTables', '{"Limit": 101}');
SELECT pg_temp.refusal('TagResource', '{"ResourceArn": "errs", "Tags": [{"Key": "", "Value": "x"}]}');
SELECT pg_temp.refusal('DescribeTable', '{"TableName": "new"}');

-- Each operation says what it must have.
SELECT operation, pg_temp.refusal(operation, '{}') FROM unnest(ARRAY['PutItem', 'GetItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'BatchGetItem', 'BatchWriteItem',
	'TransactGetItems', 'TransactWriteItems', 'CreateTable', 'DeleteTable', 'DescribeTable', 'UpdateTable', 'TagResource', 'UntagResource', 'ListTagsOfResource']) operation;
-- .. and refuses what it does not know.
SELECT operation, pg_temp.refusal(operation, '{"Nothing": 1}') FROM unnest(ARRAY['PutItem', 'GetItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'BatchGetItem', 'BatchWriteItem',
	'TransactGetItems', 'TransactWriteItems', 'CreateTable', 'DeleteTable', 'DescribeTable', 'ListTables', 'UpdateTable', 'TagResource', 'UntagResource', 'ListTagsOfResource',
	'DescribeLimits', 'DescribeEndpoints']) operation;
-- Each member of the wrong JSON type; null is as if it were not there.
SELECT member, string_agg(DISTINCT split_part(pg_temp.refusal(operation, jsonb_build_object(member, value)), ':', 1), ', ') FROM (VALUES
	('PutItem', 'TableName'), ('PutItem', 'Item'), ('GetItem', 'Key'), ('PutItem', 'ConditionExpression'), ('PutItem', 'ExpressionAttributeNames'), ('PutItem', 'ExpressionAttributeValues'),
	('PutItem', 'ReturnValues'), ('PutItem', 'Expected'), ('PutItem', 'ConditionalOperator'), ('UpdateItem', 'UpdateExpression'), ('UpdateItem', 'AttributeUpdates'), ('Query', 'IndexName'),
	('Query', 'KeyConditionExpression'), ('Query', 'KeyConditions'), ('Query', 'FilterExpression'), ('Query', 'QueryFilter'), ('Query', 'ExclusiveStartKey'), ('Query', 'Select'),
	('Scan', 'ScanFilter'), ('GetItem', 'ProjectionExpression'), ('BatchGetItem', 'RequestItems'), ('BatchWriteItem', 'RequestItems'), ('TransactWriteItems', 'TransactItems'),
	('TransactWriteItems', 'ClientRequestToken'), ('CreateTable', 'KeySchema'), ('CreateTable', 'AttributeDefinitions'), ('CreateTable', 'GlobalSecondaryIndexes'), ('CreateTable', 'Tags'),
	('UpdateTable', 'GlobalSecondaryIndexUpdates'), ('TagResource', 'ResourceArn'), ('TagResource', 'Tags'), ('UntagResource', 'TagKeys'), ('ListTables', 'ExclusiveStartTableName')) m (operation, member),
	unnest(ARRAY['1', 'true', '1e400']::jsonb[]) value GROUP BY member ORDER BY member COLLATE "C";
SELECT member, string_agg(DISTINCT split_part(pg_temp.refusal(operation, jsonb_build_object('TableName', 'errs', 'Key', '{}'::jsonb, member, value)), ':', 1), ', ') FROM (VALUES
	('GetItem', 'ConsistentRead'), ('Query', 'ScanIndexForward'), ('Query', 'Limit'), ('Scan', 'Segment'), ('Scan', 'TotalSegments'), ('ListTables', 'Limit')) m (operation, member),
	unnest(ARRAY['"1"', '[]', '{}', '[true]', '1.5', '1e10', '-1e400']::jsonb[]) value WHERE NOT (member IN ('ConsistentRead', 'ScanIndexForward') AND jsonb_typeof(value) = 'boolean') GROUP BY member ORDER BY member COLLATE "C";
SELECT pg_temp.refusal('PutItem', ('{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "a": ' || repeat('{"L": [', 32) || '{"S": "x"}' || repeat(']}', 32) || '}}')::jsonb);
SELECT pg_temp.refusal('PutItem', ('{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "2"}, "a": ' || repeat('{"L": [', 33) || '{"S": "x"}' || repeat(']}', 33) || '}}')::jsonb);
SELECT pg_temp.refusal('PutItem', ('{"TableName": "errs", "Item": ' || repeat('[', 3000) || repeat(']', 3000) || '}')::jsonb);
SELECT pg_temp.refusal('DeleteItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}');
-- U+0000 does not even become jsonb.
SELECT kv.dynamodb('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x\u0000"}, "sk": {"N": "1"}}}');

-- Typed values, one by one.
SELECT v AS value, pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'errs', 'Item', jsonb_build_object('pk', '{"S": "x"}'::jsonb, 'sk', '{"N": "1"}'::jsonb, 'a', v::jsonb)))
FROM unnest(ARRAY['{}', '{"S": null}', '{"S": 1}', '{"X": "1"}', '{"s": "1"}', '{"S": "a", "NULL": true}', '{"N": ""}', '{"N": " 1"}', '{"N": "1 "}', '{"N": "0x1"}', '{"N": "NaN"}', '{"N": "Infinity"}', '{"N": "1e"}',
	'{"N": "123456789012345678901234567890123456789"}', '{"N": "1E-131"}', '{"N": "1e99999"}', '{"B": "A"}', '{"B": "AA"}', '{"B": "AA="}', '{"B": "AB=="}', '{"B": "AA==AA=="}', '{"B": "AA = ="}', '{"B": "_-=="}', '{"B": 1}',
	'{"BOOL": "true"}', '{"BOOL": null}', '{"NULL": false}', '{"NULL": "x"}', '{"SS": "a"}', '{"SS": {}}', '{"SS": [null]}', '{"SS": ["a", 1]}', '{"NS": []}', '{"NS": ["1", "1.0"]}', '{"NS": ["x"]}', '{"BS": ["AQ==", "AQ=="]}',
	'{"BS": ["x"]}', '{"L": {}}', '{"L": ["x"]}', '{"L": [{"S": "x"}, {}]}', '{"M": []}', '{"M": {"a": "x"}}', '{"M": {"a": {"N": "x"}}}']) v;
-- What is strange and good: it comes back in normal form.
CREATE TEMP TABLE strange AS SELECT * FROM unnest(ARRAY['{"S": ""}', '{"N": "-0"}', '{"N": "+007.500"}', '{"N": ".5"}', '{"N": "1E3"}', '{"N": "12345678901234567890123456789012345678"}', '{"N": "1E-130"}',
	'{"N": "-9.9999999999999999999999999999999999999E+125"}', '{"B": ""}', '{"B": "AB=="}', '{"B": "A A\n=="}', '{"SS": ["b", "a", ""]}', '{"NS": ["10", "9.0", "-1"]}', '{"BS": ["Ag==", "AQ=="]}', '{"L": []}', '{"M": {}}',
	'{"M": {"$B": {"S": "AA=="}}}', '{"M": {"$$SS": {"L": []}}}', '{"BOOL": false}', '{"NULL": true}']) WITH ORDINALITY AS v (value, number);
SELECT value, pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'errs', 'Item', jsonb_build_object('pk', '{"S": "strange"}'::jsonb, 'sk', jsonb_build_object('N', number::text), 'a', value::jsonb))) FROM strange
UNION ALL SELECT v, pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'errs', 'Item', jsonb_build_object('pk', '{"S": "x"}'::jsonb, 'sk', '{"N": "1"}'::jsonb, 'a', v::jsonb)))
	FROM unnest(ARRAY['{"NS": ["10", "1e1000"]}', '{"M": {"": {"NULL": true}}}']) v;
SELECT strange.value, i -> 'a' AS got FROM jsonb_array_elements(kv.dynamodb('Query', '{"TableName": "errs", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "strange"}}}') -> 'Items') i
	JOIN strange ON number::text = i #>> '{sk,N}' ORDER BY number;
SELECT count(pg_temp.refusal('DeleteItem', jsonb_build_object('TableName', 'errs', 'Key', jsonb_build_object('pk', jsonb_build_object('S', k), 'sk', jsonb_build_object('N', n::text))))) FROM unnest(ARRAY['x', 'strange']) k, generate_series(1, 20) n;

-- Sizes.
SELECT pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'errs', 'Item', jsonb_build_object('pk', '{"S": "x"}'::jsonb, 'sk', '{"N": "1"}'::jsonb, 'a', jsonb_build_object('S', repeat('x', 410000)))));
SELECT left(pg_temp.refusal('GetItem', jsonb_build_object('TableName', 'errs', 'Key', jsonb_build_object('pk', jsonb_build_object('S', repeat('x', 2049)), 'sk', '{"N": "1"}'::jsonb))), 100);
SELECT pg_temp.refusal('GetItem', jsonb_build_object('TableName', repeat('n', 256), 'Key', '{}'::jsonb)) LIKE '%TableName must be at least 1 characters long and at most 255 characters long' AS long_name;
SELECT left(pg_temp.refusal('Scan', jsonb_build_object('TableName', 'none', 'FilterExpression', repeat('a', 5000))), 120);

-- Batches: shape, then limits, then expressions, then tables, then items.
SELECT pg_temp.refusal('BatchWriteItem', jsonb_build_object('RequestItems', jsonb_build_object('none', (SELECT jsonb_agg('{"DeleteRequest": {"Key": {}}}'::jsonb) FROM generate_series(1, 26)))));
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"none": [{"DeleteRequest": {"Key": {}}}], "errs": [{"DeleteRequest": {"Key": {}}, "PutRequest": {"Item": {}}}]}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"none": [{"DeleteRequest": {"Key": {}}}], "errs": [{"DeleteRequest": {"Key": {}}}]}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"errs": [{"DeleteRequest": {"Key": {}}}]}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"errs": [{"DeleteRequest": {"Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}}, {"PutRequest": {"Item": {"pk": {"S": "x"}, "sk": {"N": "1.0"}}}}]}}');
SELECT pg_temp.refusal('BatchGetItem', jsonb_build_object('RequestItems', jsonb_build_object('none', jsonb_build_object('Keys', (SELECT jsonb_agg('{}'::jsonb) FROM generate_series(1, 101))))));
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": [{}]}, "none": {"Keys": [{}], "ProjectionExpression": "a,,b"}}}');
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": [{}], "ProjectionExpression": "#a", "ExpressionAttributeNames": {"#a": "a", "#b": "b"}}, "none": {"Keys": [{}]}}}');
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": [{}]}, "none": {"Keys": [{}]}}}');
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": [{"pk": {"S": "x"}, "sk": {"N": "1"}}, {"pk": {"S": "x"}, "sk": {"N": "1.0"}}]}}}');
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": [{}], "AttributesToGet": ["a"], "ProjectionExpression": "a"}}}');
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": []}}}');

-- Transactions: the same.
SELECT pg_temp.refusal('TransactWriteItems', jsonb_build_object('TransactItems', (SELECT jsonb_agg('{"Delete": {"TableName": "none", "Key": {}}}'::jsonb) FROM generate_series(1, 101))));
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "none", "Item": {}}}, {"Delete": {"Key": {}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "none", "Item": {}}}, {"Delete": {"TableName": "errs", "Key": {}, "ConditionExpression": "a ="}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "none", "Item": {}}}, {"Update": {"TableName": "errs", "Key": {}, "UpdateExpression": "SET a = :a"}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "none", "Item": {}}}, {"Delete": {"TableName": "errs", "Key": {}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "errs", "Item": {}}}, {"Update": {"TableName": "errs", "Key": {}, "UpdateExpression": "SET pk = :a", "ExpressionAttributeValues": {":a": {"S": "x"}}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "errs", "Item": {}}}, {"Delete": {"TableName": "errs", "Key": {}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}}}}, {"ConditionCheck": {"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "ConditionExpression": "attribute_exists(pk)"}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"ConditionCheck": {"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Put": {"TableName": "errs", "Item": {}, "ReturnValuesOnConditionCheckFailure": "ALL_NEW"}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"ClientRequestToken": "", "TransactItems": [{"Put": {"TableName": "errs", "Item": {}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"ClientRequestToken": "1234567890123456789012345678901234567", "TransactItems": [{"Put": {"TableName": "errs", "Item": {}}}]}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Update": {"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "UpdateExpression": "SET a.b = :b", "ExpressionAttributeValues": {":b": {"S": "x"}}}}]}');
SELECT pg_temp.refusal('TransactGetItems', '{"TransactItems": [{"Get": {"TableName": "none", "Key": {}}}, {"Get": {"TableName": "errs", "Key": {}, "ProjectionExpression": "a,"}}]}');
SELECT pg_temp.refusal('TransactGetItems', '{"TransactItems": [{"Get": {"TableName": "errs", "Key": {}}}, {"Get": {"TableName": "none", "Key": {}}}]}');
SELECT pg_temp.refusal('TransactGetItems', '{"TransactItems": [{"Put": {"TableName": "errs", "Item": {}}}]}');

-- Expressions before keys, and the key condition before the table too.
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {}, "ConditionExpression": "a ="}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {}, "UpdateExpression": "SET a"}');
SELECT pg_temp.refusal('DeleteItem', '{"TableName": "errs", "Key": {}, "ConditionExpression": "a = :b"}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {}, "ProjectionExpression": "a[x]"}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "ExclusiveStartKey": {}, "KeyConditionExpression": "pk = :p AND", "ExpressionAttributeValues": {":p": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditionExpression": "pk = :p AND", "ExpressionAttributeValues": {":p": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditionExpression": "pk <> :p", "ExpressionAttributeValues": {":p": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":q": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "x"}, ":q": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditions": {"pk": {"ComparisonOperator": "NE", "AttributeValueList": [{"S": "x"}]}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "none", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}}');

-- Select with everything, without index, with a local one that has all, one that has keys, and global ones that have all and keys.
CREATE FUNCTION pg_temp.selects(index text) RETURNS TABLE (chosen text, alone text, projected text) LANGUAGE sql AS $$
	SELECT s, pg_temp.refusal('Query', r), pg_temp.refusal('Query', r || '{"ProjectionExpression": "pk"}') FROM unnest(ARRAY[NULL, 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES', 'COUNT']) s,
		LATERAL (SELECT jsonb_strip_nulls(jsonb_build_object('TableName', 'errs', 'IndexName', index, 'Select', s,
			'KeyConditionExpression', CASE WHEN index LIKE 'errs_g%' THEN 'g = :p' ELSE 'pk = :p' END, 'ExpressionAttributeValues', '{":p": {"S": "x"}}'::jsonb)) AS r) q $$;
SELECT count(kv.create_local_index('errs', 'errs_la', 'l')), count(kv.create_local_index('errs', 'errs_lk', 'l', projection => 'KEYS_ONLY')),
	count(kv.create_global_index('errs', 'errs_ga', 'g')), count(kv.create_global_index('errs', 'errs_gk', 'g', projection => 'KEYS_ONLY'));
SELECT count(kv.apply_changes());
SELECT index, s.* FROM unnest(ARRAY[NULL, 'errs_la', 'errs_lk', 'errs_ga', 'errs_gk']) index, LATERAL pg_temp.selects(index) s;
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "IndexName": "errs_gk", "ProjectionExpression": "z", "KeyConditionExpression": "g = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "IndexName": "errs_gk", "ConsistentRead": true, "KeyConditionExpression": "g = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "IndexName": "none", "KeyConditionExpression": "g = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "g": {"N": "1"}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}, "l": {"S": ""}}}');
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs_ga", "Key": {"g": {"S": "x"}}}');

-- Scans.
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "Segment": 1}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "TotalSegments": 1}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "Segment": -1, "TotalSegments": 1}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "Segment": 0, "TotalSegments": 1000001}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "Segment": 0, "TotalSegments": 1000000}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "Limit": -1}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "ExclusiveStartKey": {"pk": {"S": "x"}}}');
-- a key that a condition asks for is none to start at
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": ""}}}');
SELECT pg_temp.refusal('Query', jsonb_build_object('TableName', 'errs', 'KeyConditionExpression', 'pk = :p', 'ExpressionAttributeValues', jsonb_build_object(':p', jsonb_build_object('S', repeat('x', 2049)))));
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}, "ExclusiveStartKey": {"pk": {"S": "x"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}, "ExclusiveStartKey": {"pk": {"S": "x"}, "sk": {"S": "1"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "x"}}, "ExclusiveStartKey": {"pk": {"S": ""}, "sk": {"N": "1"}}}');

-- Legacy parameters.
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {}, "ConditionalOperator": "OR"}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}}, "ConditionalOperator": "OR"}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}}, "FilterExpression": "a = b"}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditions": {"pk": {"AttributeValueList": [{"S": "x"}]}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditions": {"pk": {"ComparisonOperator": "EQ"}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditions": {"sk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": "1"}]}}}');
SELECT pg_temp.refusal('Query', '{"TableName": "errs", "KeyConditions": {"pk": "x"}}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "ScanFilter": {"a": {"ComparisonOperator": "NULL", "AttributeValueList": [{"S": "x"}]}}}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "ScanFilter": {"a": {"ComparisonOperator": "IN", "AttributeValueList": []}}}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "ScanFilter": {"a": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"N": "1"}]}}}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "ScanFilter": {"a": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "2"}, {"N": "1"}]}}}');
SELECT pg_temp.refusal('Scan', '{"TableName": "errs", "ScanFilter": {"a": {"ComparisonOperator": "LT", "AttributeValueList": [{"SS": ["a"]}]}}}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "AttributeUpdates": {"a": {"Action": "ADD", "Value": {"S": "x"}}}}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "AttributeUpdates": {"a": {"Action": "ADD"}}}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "AttributeUpdates": {"a": {"Action": "SET", "Value": {"S": "x"}}}}');
SELECT pg_temp.refusal('UpdateItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}, "AttributeUpdates": {"a": {"Value": {"S": "x"}}}, "UpdateExpression": "SET a = b"}');

-- Tables, indexes and tags.
CREATE FUNCTION pg_temp.create_refusal(more jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT pg_temp.refusal('CreateTable', '{"TableName": "new", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]}' || more) $$;
SELECT more, pg_temp.create_refusal(more::jsonb) FROM unnest(ARRAY['{"TableName": "errs"}', '{"TableName": "arn:aws:dynamodb:x:y:table/new"}', '{"TableName": "n~w"}', '{"BillingMode": "FREE"}', '{"DeletionProtectionEnabled": true}', '{"KeySchema": [{}]}', '{"KeySchema": [{"AttributeName": "a"}]}',
	'{"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "a", "KeyType": "RANGE"}]}', '{"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "HASH"}]}',
	'{"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "RANGE"}, {"AttributeName": "c", "KeyType": "RANGE"}]}', '{"AttributeDefinitions": [{"AttributeName": "a"}]}',
	'{"AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "a", "AttributeType": "N"}]}', '{"AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "BOOL"}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "i1", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE"}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL", "NonKeyAttributes": ["x"]}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": [1]}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "b", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}, {"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"LocalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "a", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "b", "AttributeType": "S"}], "LocalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "RANGE"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "b", "AttributeType": "S"}], "LocalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "b", "KeyType": "HASH"}, {"AttributeName": "a", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"Tags": [{"Key": "a"}]}', '{"Tags": [1]}']) more;
SELECT pg_temp.refusal('CreateTable', jsonb_build_object('TableName', 'new', 'KeySchema', '[{"AttributeName": "a", "KeyType": "HASH"}]'::jsonb, 'AttributeDefinitions', '[{"AttributeName": "a", "AttributeType": "S"}]'::jsonb,
	'GlobalSecondaryIndexes', (SELECT jsonb_agg(jsonb_build_object('IndexName', 'ind' || i, 'KeySchema', '[{"AttributeName": "a", "KeyType": "HASH"}]'::jsonb, 'Projection', '{"ProjectionType": "ALL"}'::jsonb)) FROM generate_series(1, 21) i)));
-- what can be said without the table comes before that it is there
SELECT pg_temp.refusal('CreateTable', jsonb_build_object('TableName', 'errs', 'KeySchema', '[{"AttributeName": "a", "KeyType": "HASH"}]'::jsonb,
	'AttributeDefinitions', '[{"AttributeName": "a", "AttributeType": "S"}]'::jsonb) || more)
FROM unnest(ARRAY['{}', '{"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "a", "KeyType": "RANGE"}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE"}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY", "NonKeyAttributes": ["x"]}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "a"]}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "x"]}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": [""]}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "in", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}, {"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]}',
	'{"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "RANGE"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "b", "AttributeType": "S"}, {"AttributeName": "c", "AttributeType": "S"}],
		"LocalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "c", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b"]}}]}']::jsonb[]) more;
SELECT pg_temp.refusal('UpdateTable', '{"TableName": "none", "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]}'::jsonb || jsonb_build_object('GlobalSecondaryIndexUpdates', jsonb_build_array(change)))
FROM unnest(ARRAY['{}', '{"Delete": {"IndexName": "a b"}}', '{"Update": {"IndexName": ""}}', '{"Create": {"IndexName": "ind", "KeySchema": [], "Projection": {}}}',
	'{"Create": {"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "a"]}}}',
	'{"Create": {"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}']::jsonb[]) change;
SELECT pg_temp.refusal('Scan', '{"TableName": "none", "IndexName": "a b"}');
SELECT pg_temp.refusal('UpdateTable', '{"TableName": "errs", "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "none", "ProvisionedThroughput": {}}}]}');
SELECT pg_temp.refusal('UpdateTable', '{"TableName": "errs", "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "errs_ga"}, "Delete": {"IndexName": "errs_ga"}}]}');
SELECT pg_temp.refusal('UpdateTable', '{"TableName": "errs", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "none"}}]}');
SELECT pg_temp.refusal('UpdateTable', '{"TableName": "errs", "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "N"}], "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "errs_gn",
	"KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}]}');
SELECT pg_temp.refusal('UpdateTable', '{"TableName": "none", "BillingMode": "PAY_PER_REQUEST"}');
SELECT pg_temp.refusal('ListTables', '{"Limit": 0}');
SELECT pg_temp.refusal('TagResource', '{"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/none", "Tags": []}');
SELECT pg_temp.refusal('TagResource', jsonb_build_object('ResourceArn', 'errs', 'Tags', (SELECT jsonb_agg(jsonb_build_object('Key', i::text, 'Value', '')) FROM generate_series(1, 51) i)));
SELECT pg_temp.refusal('TagResource', jsonb_build_object('ResourceArn', 'errs', 'Tags', jsonb_build_array(jsonb_build_object('Key', repeat('é', 129), 'Value', ''))));
SELECT pg_temp.refusal('UntagResource', '{"ResourceArn": "errs", "TagKeys": [1]}');

-- Lists that must have an element.
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": [{"pk": {"S": "x"}, "sk": {"N": "1"}}]}, "none": {"Keys": []}}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"errs": [{"DeleteRequest": {"Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}}], "none": []}}');
SELECT pg_temp.refusal('BatchWriteItem', '{"RequestItems": {"errs": []}}');
SELECT pg_temp.refusal('BatchGetItem', '{"RequestItems": {"errs": {"Keys": [{"pk": {"S": "x"}, "sk": {"N": "1"}}], "AttributesToGet": []}}}');
SELECT pg_temp.refusal('CreateTable', '{"TableName": "errs", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
	"GlobalSecondaryIndexes": [{"IndexName": "ind", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL", "NonKeyAttributes": []}}]}');

-- What has the wrong JSON type is said as such, wherever it is, and before that the table is not there.
SELECT operation, v.request, pg_temp.refusal(operation, r.request) FROM (VALUES
	('PutItem', '{"TableName": "none", "Item": {"pk": {"S": "x"}, "m": {"M": {"l": {"L": [{"BOOL": 1}]}}}}}'),
	('GetItem', '{"TableName": "none", "Key": {"pk": "x"}}'),
	('UpdateItem', '{"TableName": "none", "Key": {"pk": {"S": "x"}}, "UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"N": 1}}}'),
	('UpdateItem', '{"TableName": "none", "Key": {"pk": {"S": "x"}}, "AttributeUpdates": {"a": {"Value": {"N": 1}}}}'),
	('GetItem', '{"TableName": "none", "Key": {"pk": {"S": "x"}}, "ProjectionExpression": "#a", "ExpressionAttributeNames": {"#a": 1}}'),
	('Query', '{"TableName": "none", "KeyConditionExpression": "a = :a", "ExpressionAttributeValues": {":a": {"B": {}}}}'),
	('Scan', '{"TableName": "none", "ExclusiveStartKey": {"pk": {"S": []}}}'),
	('Scan', '{"TableName": "none", "ScanFilter": {"a": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": 1}]}}}'),
	('BatchWriteItem', '{"RequestItems": {"none": [{"PutRequest": {"Item": {"pk": {"NS": [1]}}}}]}}'),
	('BatchGetItem', '{"RequestItems": {"none": {"Keys": [{"pk": {"S": 1}}]}}}'),
	('BatchGetItem', '{"RequestItems": {"none": {"Keys": [null]}}}'),
	('TransactWriteItems', '{"TransactItems": [{"Delete": {"TableName": "none", "Key": {"pk": {"S": 1}}}}]}'),
	('TransactGetItems', '{"TransactItems": [{"Get": {"TableName": "none", "Key": {"pk": {"S": 1}}}}]}'),
	('TransactGetItems', '{"TransactItems": [{"Get": {"TableName": "none", "Key": {"pk": {"S": "x"}}, "ProjectionExpression": "#a", "ExpressionAttributeNames": {"#a": null}}}]}')) v (operation, request),
	LATERAL (SELECT v.request::jsonb AS request) r;
-- .. but what only SQL takes is another matter.
SELECT kv.from_dynamodb_json('{"a": {"S": 1}}');

-- Who may not, and what is PostgreSQL's own.
CREATE ROLE regress_kv_dynamodb;
SET ROLE regress_kv_dynamodb;
SELECT pg_temp.refusal('GetItem', '{"TableName": "errs", "Key": {"pk": {"S": "x"}, "sk": {"N": "1"}}}');
SELECT pg_temp.refusal('TagResource', '{"ResourceArn": "errs", "Tags": []}');
SELECT pg_temp.refusal('DeleteTable', '{"TableName": "errs"}');
RESET ROLE;
DROP ROLE regress_kv_dynamodb;
ALTER TABLE errs ADD CONSTRAINT small CHECK (sk < 100);
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "100"}}}');
BEGIN READ ONLY;
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}}}');
SELECT operation, pg_temp.refusal(operation, '{"ResourceArn": "errs"}'::jsonb || more::jsonb) FROM (VALUES ('TagResource', '{"Tags": []}'), ('UntagResource', '{"TagKeys": []}')) v (operation, more);
COMMIT;
-- A table that a cursor of this session reads is in use.
BEGIN;
SELECT pg_temp.refusal('PutItem', '{"TableName": "errs", "Item": {"pk": {"S": "x"}, "sk": {"N": "1"}}}');
DECLARE reading CURSOR FOR SELECT kv.scan('errs');
FETCH reading;
SELECT operation, split_part(pg_temp.refusal(operation, '{"TableName": "errs"}'::jsonb || more::jsonb), ':', 1) FROM (VALUES ('DeleteTable', '{}'),
	('UpdateTable', '{"AttributeDefinitions": [{"AttributeName": "u", "AttributeType": "S"}], "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "errs_u", "KeySchema": [{"AttributeName": "u", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}]}')) v (operation, more);
ROLLBACK;
-- Nothing of all this was written.
SELECT kv.dynamodb('Scan', '{"TableName": "errs"}');
SELECT kv.drop_table('errs');
