-- kv.dynamodb: BatchWriteItem, BatchGetItem, TransactWriteItems and TransactGetItems.
SELECT kv.create_table('"Forum"', 'Name');
SELECT kv.create_table('"Thread"', 'ForumName', 'Subject');

SELECT kv.dynamodb('BatchWriteItem', '{"RequestItems": {
	"Forum": [{"PutRequest": {"Item": {"Name": {"S": "Amazon DynamoDB"}, "Category": {"S": "Amazon Web Services"}, "Views": {"N": "1"}}}},
		{"PutRequest": {"Item": {"Name": {"S": "Amazon RDS"}, "Category": {"S": "Amazon Web Services"}}}},
		{"DeleteRequest": {"Key": {"Name": {"S": "Amazon ElastiCache"}}}}],
	"Thread": [{"PutRequest": {"Item": {"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "Concurrent reads"}, "Tags": {"SS": ["Reads"]}}}}]},
	"ReturnConsumedCapacity": "NONE"}');
SELECT kv.dynamodb('BatchGetItem', '{"RequestItems": {
	"Forum": {"Keys": [{"Name": {"S": "Amazon DynamoDB"}}, {"Name": {"S": "Amazon RDS"}}, {"Name": {"S": "none"}}], "ProjectionExpression": "#n, #v",
		"ExpressionAttributeNames": {"#n": "Name", "#v": "Views"}, "ConsistentRead": true},
	"Thread": {"Keys": [{"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "Concurrent reads"}}], "AttributesToGet": ["Tags"]}}}');

-- What is beyond 16 MB comes back as it was asked for.
SELECT count(kv.dynamodb('PutItem', jsonb_build_object('TableName', 'Forum', 'Item', jsonb_build_object(
	'Name', jsonb_build_object('S', 'big' || lpad(i::text, 2, '0')), 'b', jsonb_build_object('S', repeat('x', 400000)))))) FROM generate_series(1, 45) i;
SELECT jsonb_array_length(answer #> '{Responses,Forum}') AS read, answer #> '{UnprocessedKeys,Forum,Keys,0}' AS first_left,
	jsonb_array_length(answer #> '{UnprocessedKeys,Forum,Keys}') AS "left", answer #> '{UnprocessedKeys,Forum,ProjectionExpression}' AS projection
FROM (SELECT kv.dynamodb('BatchGetItem', jsonb_build_object('RequestItems', jsonb_build_object('Forum', jsonb_build_object('ProjectionExpression', 'Category', 'Keys',
	(SELECT jsonb_agg(jsonb_build_object('Name', jsonb_build_object('S', 'big' || lpad(i::text, 2, '0')))) FROM generate_series(1, 45) i))))) AS answer) a;

-- Transactions.
SELECT kv.dynamodb('TransactWriteItems', '{"ClientRequestToken": "first", "TransactItems": [
	{"Put": {"TableName": "Thread", "Item": {"ForumName": {"S": "Amazon RDS"}, "Subject": {"S": "New"}, "Bytes": {"B": "AA=="}}, "ConditionExpression": "attribute_not_exists(Subject)"}},
	{"Update": {"TableName": "Forum", "Key": {"Name": {"S": "Amazon RDS"}}, "UpdateExpression": "ADD Threads :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}},
	{"ConditionCheck": {"TableName": "Forum", "Key": {"Name": {"S": "Amazon DynamoDB"}}, "ConditionExpression": "attribute_exists(#n)", "ExpressionAttributeNames": {"#n": "Name"}}},
	{"Delete": {"TableName": "Thread", "Key": {"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "Concurrent reads"}}}}]}');
-- Again, members in another order: no second effect.  With other content: an error.
SELECT kv.dynamodb('TransactWriteItems', '{"TransactItems": [
	{"Put": {"Item": {"Subject": {"S": "New"}, "ForumName": {"S": "Amazon RDS"}, "Bytes": {"B": "AA=="}}, "TableName": "Thread", "ConditionExpression": "attribute_not_exists(Subject)"}},
	{"Update": {"TableName": "Forum", "Key": {"Name": {"S": "Amazon RDS"}}, "UpdateExpression": "ADD Threads :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}},
	{"ConditionCheck": {"TableName": "Forum", "Key": {"Name": {"S": "Amazon DynamoDB"}}, "ConditionExpression": "attribute_exists(#n)", "ExpressionAttributeNames": {"#n": "Name"}}},
	{"Delete": {"TableName": "Thread", "Key": {"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "Concurrent reads"}}}}], "ClientRequestToken": "first"}');
-- Numbers and sets written otherwise are the same content, and null is as if it were not there.
SELECT kv.dynamodb('TransactWriteItems', '{"ClientRequestToken": "second", "ReturnConsumedCapacity": "TOTAL", "TransactItems": [
	{"Put": {"TableName": "Forum", "Item": {"Name": {"S": "x"}, "n": {"N": "1.0"}, "s": {"SS": ["b", "a"]}}, "ConditionExpression": "attribute_not_exists(#n)", "ExpressionAttributeNames": {"#n": "Name"}}}]}');
SELECT kv.dynamodb('TransactWriteItems', '{"ClientRequestToken": "second", "ReturnConsumedCapacity": "TOTAL", "TransactItems": [
	{"Put": {"TableName": "Forum", "Item": {"Name": {"S": "x"}, "n": {"N": "1"}, "s": {"SS": ["a", "b"]}}, "ConditionExpression": "attribute_not_exists(#n)", "ExpressionAttributeNames": {"#n": "Name"}, "ExpressionAttributeValues": null}}]}');
SELECT kv.dynamodb('TransactWriteItems', '{"ClientRequestToken": "first", "TransactItems": [{"Delete": {"TableName": "Forum", "Key": {"Name": {"S": "x"}}}}]}');
\echo :LAST_ERROR_SQLSTATE
SELECT kv.dynamodb('TransactGetItems', '{"TransactItems": [
	{"Get": {"TableName": "Forum", "Key": {"Name": {"S": "Amazon RDS"}}, "ProjectionExpression": "Threads"}},
	{"Get": {"TableName": "Thread", "Key": {"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "Concurrent reads"}}}},
	{"Get": {"TableName": "Thread", "Key": {"ForumName": {"S": "Amazon RDS"}, "Subject": {"S": "New"}}}}]}');
-- A condition that does not hold: a reason for each action, and nothing is written.
SELECT kv.dynamodb('TransactWriteItems', '{"TransactItems": [
	{"Put": {"TableName": "Forum", "Item": {"Name": {"S": "Never"}}}},
	{"Put": {"TableName": "Thread", "Item": {"ForumName": {"S": "Amazon RDS"}, "Subject": {"S": "New"}}, "ConditionExpression": "attribute_not_exists(Subject)",
		"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]}');
\echo :LAST_ERROR_SQLSTATE
SELECT kv.dynamodb('GetItem', '{"TableName": "Forum", "Key": {"Name": {"S": "Never"}}}');

-- A table may be called like what is around the tables of a request.
SELECT kv.create_table('"RequestItems"', 'Keys');
SELECT kv.dynamodb('BatchWriteItem', '{"RequestItems": {"RequestItems": [{"PutRequest": {"Item": {"Keys": {"S": "a"}, "N": {"N": "1.0"}}}}]}}');
SELECT kv.dynamodb('BatchGetItem', '{"RequestItems": {"RequestItems": {"Keys": [{"Keys": {"S": "a"}}]}}}');
SELECT kv.drop_table('"RequestItems"');

-- What is null is not there.
SELECT kv.dynamodb('TransactWriteItems', '{"ClientRequestToken": null, "ReturnConsumedCapacity": null, "TransactItems": [{"Put": null, "Delete": {"TableName": "Forum", "Key": {"Name": {"S": "none"}}, "ConditionExpression": null}}]}');
SELECT kv.dynamodb('BatchWriteItem', '{"RequestItems": {"Forum": [{"PutRequest": null, "DeleteRequest": {"Key": {"Name": {"S": "none"}}}}]}}');

-- What is refused as a whole.
SELECT kv.dynamodb('BatchWriteItem', '{"RequestItems": {"Forum": [{"PutRequest": {"Item": {"Name": {"S": "a"}}}}, {"DeleteRequest": {"Key": {"Name": {"S": "a"}}}}]}}');
SELECT kv.dynamodb('BatchWriteItem', '{"RequestItems": {"Absent": [{"PutRequest": {"Item": {"Name": {"S": "a"}}}}]}}');
SELECT kv.dynamodb('BatchWriteItem', '{"RequestItems": {}}');
SELECT kv.dynamodb('BatchGetItem', '{"RequestItems": {"Forum": {"Keys": [{"Name": {"N": "1"}}]}}}');
SELECT kv.dynamodb('TransactGetItems', '{"TransactItems": [{"Get": "no"}]}');

SELECT kv.drop_table('"Forum"');
SELECT kv.drop_table('"Thread"');
