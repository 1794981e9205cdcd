-- kv.dynamodb: tables, indexes, their names and tags.
SET client_min_messages = warning;
CREATE SCHEMA "Dynamo";
SET key_value.dynamodb_schema = 'Dynamo';
SELECT kv.dynamodb('ListTables', '{}');

SELECT jsonb_pretty(kv.dynamodb('CreateTable', '{
	"TableName": "Thread",
	"AttributeDefinitions": [{"AttributeName": "ForumName", "AttributeType": "S"}, {"AttributeName": "Subject", "AttributeType": "S"},
		{"AttributeName": "LastPost", "AttributeType": "N"}, {"AttributeName": "By", "AttributeType": "B"}],
	"KeySchema": [{"AttributeName": "ForumName", "KeyType": "HASH"}, {"AttributeName": "Subject", "KeyType": "RANGE"}],
	"LocalSecondaryIndexes": [{"IndexName": "LastPostIndex",
		"KeySchema": [{"AttributeName": "ForumName", "KeyType": "HASH"}, {"AttributeName": "LastPost", "KeyType": "RANGE"}],
		"Projection": {"ProjectionType": "KEYS_ONLY"}}],
	"GlobalSecondaryIndexes": [{"IndexName": "ByIndex",
		"KeySchema": [{"AttributeName": "By", "KeyType": "HASH"}, {"AttributeName": "ForumName", "KeyType": "RANGE"}],
		"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["Views"]},
		"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}],
	"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
	"Tags": [{"Key": "Owner", "Value": "BlueTeam"}]}') #- '{TableDescription,TableSizeBytes}' #- '{TableDescription,GlobalSecondaryIndexes,0,IndexSizeBytes}');
SELECT kv.dynamodb('CreateTable', '{"TableName": "Thread", "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
	"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}]}');

-- Another table with an index of the same name: its relation gets another one.
SELECT kv.dynamodb('CreateTable', '{"TableName": "my.Other-Table_2", "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "N"}],
	"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST",
	"GlobalSecondaryIndexes": [{"IndexName": "ByIndex", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]}')
	#> '{TableDescription,GlobalSecondaryIndexes,0,IndexName}';
SELECT kv.dynamodb('PutItem', '{"TableName": "my.Other-Table_2", "Item": {"a": {"N": "1"}}}');
SELECT count(kv.apply_changes());
SELECT kv.dynamodb('Query', '{"TableName": "my.Other-Table_2", "IndexName": "ByIndex", "KeyConditionExpression": "a = :a", "ExpressionAttributeValues": {":a": {"N": "1"}}}');

-- A name longer than PostgreSQL's: derived, explained by kv.tables, and the item functions reach it too.
SELECT kv.dynamodb('CreateTable', jsonb_build_object('TableName', repeat('long-name.', 20)) || '{"AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
	"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}]}') #>> '{TableDescription,TableName}' = repeat('long-name.', 20) AS name;
SELECT kv.dynamodb('PutItem', jsonb_build_object('TableName', repeat('long-name.', 20)) || '{"Item": {"a": {"S": "1"}}}');
SELECT table_name, left(dynamodb_name, 30), length(dynamodb_name), kv.get(table_name, '1') FROM kv.tables WHERE dynamodb_name LIKE 'long-name%';

-- Tables are the same from both sides.
SELECT kv.create_table('"Dynamo".made_by_sql', 'id', partition_key_type => 'B');
SELECT kv.dynamodb('PutItem', '{"TableName": "made_by_sql", "Item": {"id": {"B": "AQI="}}}');
SELECT * FROM "Dynamo".made_by_sql WHERE id = '\x0102';
SELECT kv.dynamodb('ListTables', '{"Limit": 2}');
SELECT kv.dynamodb('ListTables', '{"ExclusiveStartTableName": "made_by_sql"}');

-- Indexes come and go.
SELECT kv.dynamodb('UpdateTable', '{"TableName": "made_by_sql", "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "B"}, {"AttributeName": "x", "AttributeType": "S"}],
	"GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "by_x", "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}}]}')
	#> '{TableDescription,GlobalSecondaryIndexes,0,KeySchema}';
SELECT kv.dynamodb('UpdateTable', '{"TableName": "made_by_sql", "AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}],
	"GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "by_x", "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}}]}');
SELECT kv.dynamodb('UpdateTable', '{"TableName": "made_by_sql", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_x"}}]}') #> '{TableDescription}' ? 'GlobalSecondaryIndexes' AS left_over;
SELECT kv.dynamodb('UpdateTable', '{"TableName": "made_by_sql", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_x"}}]}');
SELECT kv.dynamodb('UpdateTable', '{"TableName": "Thread", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "LastPostIndex"}}]}');

-- Tags.
SELECT kv.dynamodb('ListTagsOfResource', '{"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/Thread"}');
SELECT kv.dynamodb('TagResource', '{"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/Thread", "Tags": [{"Key": "Owner", "Value": "RedTeam"}, {"Key": "Stage", "Value": "test"}]}');
SELECT kv.dynamodb('ListTagsOfResource', '{"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/Thread"}');
SELECT kv.dynamodb('UntagResource', '{"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/Thread", "TagKeys": ["Owner", "none"]}');
SELECT kv.dynamodb('ListTagsOfResource', '{"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/Thread"}');
COMMENT ON TABLE "Dynamo".made_by_sql IS 'mine';
SELECT kv.dynamodb('TagResource', '{"ResourceArn": "arn:aws:dynamodb:local:000000000000:table/made_by_sql", "Tags": [{"Key": "a", "Value": "b"}]}');
-- .. even if it begins as those do that are written for tags
COMMENT ON TABLE "Dynamo".made_by_sql IS 'DynamoDB table of orders';
SELECT kv.dynamodb('TagResource', '{"ResourceArn": "made_by_sql", "Tags": [{"Key": "a", "Value": "b"}]}');
COMMENT ON TABLE "Dynamo".made_by_sql IS 'DynamoDB table for tags and more';
SELECT kv.dynamodb('ListTagsOfResource', '{"ResourceArn": "made_by_sql"}');
COMMENT ON TABLE "Dynamo".made_by_sql IS NULL;
SELECT kv.dynamodb('TagResource', '{"ResourceArn": "made_by_sql", "Tags": [{"Key": "a", "Value": "b"}]}');
SELECT kv.dynamodb('TagResource', '{"ResourceArn": "made_by_sql", "Tags": [{"Key": "a", "Value": "c"}]}');
SELECT obj_description('"Dynamo".made_by_sql'::regclass, 'pg_class');

-- Constants.
SELECT kv.dynamodb('DescribeLimits', '{}');
SELECT kv.dynamodb('DescribeEndpoints', '{}');

-- The end.
SELECT kv.dynamodb('DeleteTable', '{"TableName": "Thread"}') #> '{TableDescription,TableStatus}';
SELECT kv.dynamodb('DeleteTable', '{"TableName": "Thread"}');
SELECT count(kv.dynamodb('DeleteTable', jsonb_build_object('TableName', name)))
FROM jsonb_array_elements_text(kv.dynamodb('ListTables', '{}') -> 'TableNames') name;
SELECT kv.dynamodb('ListTables', '{}');
DROP SCHEMA "Dynamo";
SELECT kv.dynamodb('ListTables', '{}');
RESET key_value.dynamodb_schema;
