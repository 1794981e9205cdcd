-- kv.dynamodb: a session of an order-status service, as its SDK sends it.
-- Access patterns: a user's orders by time; an order by its id; pending orders by date bucket and shard; idempotent creation; versioned status change.
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
SELECT kv.dynamodb('CreateTable', '{"TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
	"AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"},
		{"AttributeName": "GSI1PK", "AttributeType": "S"}, {"AttributeName": "GSI1SK", "AttributeType": "S"}],
	"KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
	"GlobalSecondaryIndexes": [{"IndexName": "Pending", "KeySchema": [{"AttributeName": "GSI1PK", "KeyType": "HASH"}, {"AttributeName": "GSI1SK", "KeyType": "RANGE"}],
		"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["OrderId", "Total"]}}]}') #>> '{TableDescription,TableStatus}';

-- An order is created with its pointer from the user and the request that made it: all or nothing, and once.
CREATE FUNCTION pg_temp.new_order(id text, usr text, at text, total text, token text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT kv.dynamodb('TransactWriteItems', format('{"ClientRequestToken": %5$s, "TransactItems": [
		{"Put": {"TableName": "Orders", "Item": {"PK": {"S": "ORDER#%1$s"}, "SK": {"S": "ORDER"}, "OrderId": {"S": "%1$s"}, "User": {"S": "%2$s"}, "Status": {"S": "PENDING"},
			"Version": {"N": "1"}, "Total": {"N": "%4$s"}, "GSI1PK": {"S": "PENDING#2026-03-01#%6$s"}, "GSI1SK": {"S": "%3$s#%1$s"}},
			"ConditionExpression": "attribute_not_exists(PK)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
		{"Put": {"TableName": "Orders", "Item": {"PK": {"S": "USER#%2$s"}, "SK": {"S": "%3$s#%1$s"}, "OrderId": {"S": "%1$s"}, "Total": {"N": "%4$s"}}}}]}',
		id, usr, at, total, to_json(token), id::int % 2)::jsonb) $$;
SELECT pg_temp.new_order('1', 'ana', '2026-03-01T10:00', '20.50', 'req-1');
SELECT pg_temp.new_order('2', 'ana', '2026-03-01T11:00', '7', 'req-2');
SELECT pg_temp.new_order('3', 'ben', '2026-03-01T12:00', '100', 'req-3');
SELECT pg_temp.new_order('4', 'ana', '2026-03-01T13:00', '1', 'req-4');
-- The same request again is the same order; the same id by another request is refused.
SELECT pg_temp.new_order('4', 'ana', '2026-03-01T13:00', '1', 'req-4');
SELECT pg_temp.new_order('4', 'eve', '2026-03-01T13:00', '2', 'req-5');

-- A user's orders, latest first, in pages of two.
SELECT kv.dynamodb('Query', '{"TableName": "Orders", "KeyConditionExpression": "PK = :u", "ExpressionAttributeValues": {":u": {"S": "USER#ana"}},
	"ScanIndexForward": false, "Limit": 2, "ProjectionExpression": "OrderId, #t", "ExpressionAttributeNames": {"#t": "Total"}}');
SELECT kv.dynamodb('Query', '{"TableName": "Orders", "KeyConditionExpression": "PK = :u", "ExpressionAttributeValues": {":u": {"S": "USER#ana"}},
	"ScanIndexForward": false, "Limit": 2, "ProjectionExpression": "OrderId, #t", "ExpressionAttributeNames": {"#t": "Total"}, "ExclusiveStartKey": {"PK": {"S": "USER#ana"}, "SK": {"S": "2026-03-01T11:00#2"}}}');
-- .. and those of a span of time, oldest first, with their sum of what was read.
SELECT kv.dynamodb('Query', '{"TableName": "Orders", "KeyConditionExpression": "PK = :u AND SK BETWEEN :from AND :to", "ProjectionExpression": "OrderId", "ReturnConsumedCapacity": "TOTAL",
	"ExpressionAttributeValues": {":u": {"S": "USER#ana"}, ":from": {"S": "2026-03-01T10:30"}, ":to": {"S": "2026-03-01T12:30"}}}');
-- An order by its id.
SELECT kv.dynamodb('GetItem', '{"TableName": "Orders", "Key": {"PK": {"S": "ORDER#1"}, "SK": {"S": "ORDER"}}, "ConsistentRead": true,
	"ProjectionExpression": "OrderId, #s, Version, #t", "ExpressionAttributeNames": {"#s": "Status", "#t": "Total"}}');

-- The dashboard: each shard of the bucket.
SELECT count(kv.apply_changes());
SELECT kv.dynamodb('Query', jsonb_build_object('TableName', 'Orders', 'IndexName', 'Pending', 'KeyConditionExpression', 'GSI1PK = :b', 'ProjectionExpression', 'OrderId',
	'ExpressionAttributeValues', jsonb_build_object(':b', jsonb_build_object('S', 'PENDING#2026-03-01#' || shard)))) FROM generate_series(0, 1) shard;

-- A status change goes through on the version that was read, and takes the order off the dashboard.
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Orders", "Key": {"PK": {"S": "ORDER#1"}, "SK": {"S": "ORDER"}},
	"UpdateExpression": "SET #s = :new, Version = Version + :one REMOVE GSI1PK, GSI1SK", "ConditionExpression": "Version = :seen AND #s = :old",
	"ExpressionAttributeNames": {"#s": "Status"}, "ReturnValues": "UPDATED_NEW",
	"ExpressionAttributeValues": {":new": {"S": "SHIPPED"}, ":old": {"S": "PENDING"}, ":one": {"N": "1"}, ":seen": {"N": "1"}}}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "Orders", "Key": {"PK": {"S": "ORDER#1"}, "SK": {"S": "ORDER"}},
	"UpdateExpression": "SET #s = :new, Version = Version + :one", "ConditionExpression": "Version = :seen AND #s = :old", "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
	"ExpressionAttributeNames": {"#s": "Status"},
	"ExpressionAttributeValues": {":new": {"S": "CANCELLED"}, ":old": {"S": "PENDING"}, ":one": {"N": "1"}, ":seen": {"N": "1"}}}');
SELECT count(kv.apply_changes());
SELECT kv.dynamodb('Query', jsonb_build_object('TableName', 'Orders', 'IndexName', 'Pending', 'KeyConditionExpression', 'GSI1PK = :b', 'Select', 'COUNT',
	'ExpressionAttributeValues', jsonb_build_object(':b', jsonb_build_object('S', 'PENDING#2026-03-01#' || shard)))) FROM generate_series(0, 1) shard;
SELECT kv.dynamodb('BatchGetItem', '{"RequestItems": {"Orders": {"Keys": [{"PK": {"S": "ORDER#1"}, "SK": {"S": "ORDER"}}, {"PK": {"S": "ORDER#3"}, "SK": {"S": "ORDER"}}],
	"ProjectionExpression": "OrderId, #s", "ExpressionAttributeNames": {"#s": "Status"}}}}');
-- The same change sent again with its token: done once; the token with another change is refused.
SELECT kv.dynamodb('TransactWriteItems', '{"ClientRequestToken": "ship-2", "TransactItems": [{"Update": {"TableName": "Orders", "Key": {"PK": {"S": "ORDER#2"}, "SK": {"S": "ORDER"}},
	"UpdateExpression": "SET #s = :new ADD Version :one REMOVE GSI1PK, GSI1SK", "ExpressionAttributeNames": {"#s": "Status"}, "ExpressionAttributeValues": {":new": {"S": "SHIPPED"}, ":one": {"N": "1"}}}}]}')
FROM generate_series(1, 2);
SELECT kv.dynamodb('TransactWriteItems', '{"ClientRequestToken": "ship-2", "TransactItems": [{"Delete": {"TableName": "Orders", "Key": {"PK": {"S": "ORDER#2"}, "SK": {"S": "ORDER"}}}}]}');
SELECT kv.dynamodb('GetItem', '{"TableName": "Orders", "Key": {"PK": {"S": "ORDER#2"}, "SK": {"S": "ORDER"}}, "ProjectionExpression": "#s, Version", "ExpressionAttributeNames": {"#s": "Status"}}');
-- What is left on the dashboard.
SELECT count(kv.apply_changes());
SELECT i #>> '{OrderId,S}' AS pending FROM generate_series(0, 1) shard, jsonb_array_elements(kv.dynamodb('Query', jsonb_build_object('TableName', 'Orders', 'IndexName', 'Pending', 'KeyConditionExpression', 'GSI1PK = :b',
	'ExpressionAttributeValues', jsonb_build_object(':b', jsonb_build_object('S', 'PENDING#2026-03-01#' || shard)))) -> 'Items') i ORDER BY 1;
SELECT kv.dynamodb('DeleteTable', '{"TableName": "Orders"}') #>> '{TableDescription,TableStatus}';
