-- kv.dynamodb: what is refused, as which exception, in DynamoDB's order: shape, limits, expressions, table, item.
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
COMMIT;
-- Nothing of all this was written.
SELECT kv.dynamodb('Scan', '{"TableName": "errs"}');
SELECT kv.drop_table('errs');
