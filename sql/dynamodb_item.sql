-- kv.dynamodb: PutItem, GetItem, UpdateItem and DeleteItem, with the requests and responses of DynamoDB's API reference.
SET client_min_messages = warning;
SELECT kv.create_table('"Thread"', 'ForumName', 'Subject');

-- A new item: the response is empty.
SELECT kv.dynamodb('PutItem', '{
	"TableName": "Thread",
	"Item": {
		"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "How do I update multiple items?"},
		"Tags": {"SS": ["Update", "Multiple Items", "HelpMe"]}, "LastPostDateTime": {"S": "201303190422"},
		"Message": {"S": "I want to update multiple items in a single call."}, "LastPostedBy": {"S": "fred@example.com"},
		"Views": {"N": "0"}, "Answered": {"BOOL": false}, "Nothing": {"NULL": true}, "Picture": {"B": "AAECAw=="},
		"Scores": {"NS": ["3", "1.50", "-2"]}, "Parts": {"BS": ["Ag==", "AQ=="]},
		"More": {"M": {"a": {"L": [{"N": "1"}, {"S": "x"}, {"M": {}}]}}}}}');

-- Every type comes back as it went in; numbers in normal form, sets in order.
SELECT jsonb_pretty(kv.dynamodb('GetItem', '{"TableName": "Thread",
	"Key": {"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "How do I update multiple items?"}}}'));
-- SQL sees the same item, plain.
SELECT item->'Scores' AS scores, item->'Picture' AS picture FROM "Thread" WHERE "ForumName" = 'Amazon DynamoDB';

-- A projection; a missing item; one whose projection meets nothing.
SELECT kv.dynamodb('GetItem', '{"TableName": "Thread", "ConsistentRead": true, "ReturnConsumedCapacity": "TOTAL",
	"Key": {"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "How do I update multiple items?"}},
	"ProjectionExpression": "LastPostDateTime, #m, More.a[0]", "ExpressionAttributeNames": {"#m": "Views"}}');
SELECT kv.dynamodb('GetItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "No"}, "Subject": {"S": "No"}}, "ReturnConsumedCapacity": "INDEXES"}');
SELECT kv.dynamodb('GetItem', '{"TableName": "Thread", "ProjectionExpression": "Absent",
	"Key": {"ForumName": {"S": "Amazon DynamoDB"}, "Subject": {"S": "How do I update multiple items?"}}}');

-- A condition, and what was there.
SELECT kv.dynamodb('PutItem', '{"TableName": "Thread", "Item": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}, "v": {"N": "1"}},
	"ConditionExpression": "attribute_not_exists(ForumName)", "ReturnValues": "ALL_OLD"}');
SELECT kv.dynamodb('PutItem', '{"TableName": "Thread", "Item": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}, "v": {"N": "2"}},
	"ConditionExpression": "attribute_not_exists(ForumName)"}');
\echo :LAST_ERROR_SQLSTATE
SELECT kv.dynamodb('PutItem', '{"TableName": "Thread", "Item": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}, "v": {"N": "2"}},
	"ConditionExpression": "v > :v", "ExpressionAttributeValues": {":v": {"N": "1"}}, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}');
SELECT kv.dynamodb('PutItem', '{"TableName": "Thread", "Item": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}, "v": {"N": "2"}},
	"ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": {"N": "1.0"}}, "ReturnValues": "ALL_OLD"}');

-- All values that UpdateItem can return.
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}},
	"UpdateExpression": "SET v = v + :one, w = :w", "ExpressionAttributeValues": {":one": {"N": "1"}, ":w": {"SS": ["a"]}}, "ReturnValues": "UPDATED_OLD"}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}},
	"UpdateExpression": "ADD w :w", "ExpressionAttributeValues": {":w": {"SS": ["b"]}}, "ReturnValues": "UPDATED_NEW"}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}},
	"UpdateExpression": "DELETE w :w", "ExpressionAttributeValues": {":w": {"SS": ["a"]}}, "ReturnValues": "ALL_OLD"}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}},
	"UpdateExpression": "REMOVE w", "ReturnValues": "ALL_NEW"}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "2"}}, "ReturnValues": "NONE"}');

-- Capacity: one write unit a started KB of the larger of old and new item, one read unit a started 4 KB, half if eventually consistent.
SELECT kv.dynamodb('PutItem', jsonb_set('{"TableName": "Thread", "Item": {"ForumName": {"S": "F"}, "Subject": {"S": "big"}}, "ReturnConsumedCapacity": "TOTAL"}',
	'{Item,text}', jsonb_build_object('S', repeat('x', 5000))));
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "big"}},
	"UpdateExpression": "REMOVE #t", "ExpressionAttributeNames": {"#t": "text"}, "ReturnConsumedCapacity": "INDEXES"}');
SELECT kv.dynamodb('UpdateItem', jsonb_set('{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "big"}},
	"UpdateExpression": "SET #t = :t", "ExpressionAttributeNames": {"#t": "text"}, "ReturnConsumedCapacity": "TOTAL"}',
	'{ExpressionAttributeValues}', jsonb_build_object(':t', jsonb_build_object('S', repeat('y', 5000)))));
SELECT kv.dynamodb('GetItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "big"}}, "ProjectionExpression": "Subject",
	"ConsistentRead": true, "ReturnConsumedCapacity": "TOTAL"}');
SELECT kv.dynamodb('GetItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "big"}}, "ProjectionExpression": "Subject",
	"ReturnConsumedCapacity": "TOTAL"}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "big"}}, "ReturnConsumedCapacity": "TOTAL"}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "big"}}, "ReturnConsumedCapacity": "TOTAL"}');

-- Delete.
SELECT kv.dynamodb('DeleteItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}},
	"ConditionExpression": "attribute_not_exists(v)"}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}}, "ReturnValues": "ALL_OLD"}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}}, "ReturnValues": "ALL_OLD"}');

-- ItemCollectionMetrics, where the table has local indexes.
SELECT kv.dynamodb('PutItem', '{"TableName": "Thread", "Item": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}}, "ReturnItemCollectionMetrics": "SIZE"}');
SELECT kv.create_local_index('"Thread"', 'by_views', 'Views', 'N');
SELECT kv.dynamodb('PutItem', '{"TableName": "Thread", "Item": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}}, "ReturnItemCollectionMetrics": "SIZE"}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "Thread", "Key": {"ForumName": {"S": "F"}, "Subject": {"S": "1"}}, "ReturnItemCollectionMetrics": "NONE"}');

SELECT kv.drop_table('"Thread"');
