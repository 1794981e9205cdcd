-- kv.dynamodb: Query and Scan.
SET client_min_messages = warning;
SELECT kv.create_table('reply', 'Id', 'Time', 'S', 'N', 4);
SELECT kv.create_local_index('reply', 'by_user', 'PostedBy', 'S', 'KEYS_ONLY');
SELECT kv.create_global_index('reply', 'of_user', 'PostedBy', 'Time', 'S', 'N', 'INCLUDE', '{Message}');
SELECT count(kv.dynamodb('PutItem', jsonb_build_object('TableName', 'reply', 'Item', jsonb_build_object(
	'Id', jsonb_build_object('S', 'T' || i / 6), 'Time', jsonb_build_object('N', (i % 6)::text),
	'PostedBy', jsonb_build_object('S', CASE WHEN i % 2 = 0 THEN 'User A' ELSE 'User B' END),
	'Message', jsonb_build_object('S', 'm' || i), 'Score', jsonb_build_object('N', i::text)))))
FROM generate_series(0, 11) i;
SELECT count(kv.apply_changes());

SELECT kv.dynamodb('Query', '{"TableName": "reply", "KeyConditionExpression": "Id = :id", "ExpressionAttributeValues": {":id": {"S": "T0"}},
	"Limit": 2, "ReturnConsumedCapacity": "TOTAL", "ProjectionExpression": "#t, Message", "ExpressionAttributeNames": {"#t": "Time"}}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "KeyConditionExpression": "Id = :id AND #t BETWEEN :a AND :b", "ScanIndexForward": false,
	"ExpressionAttributeValues": {":id": {"S": "T0"}, ":a": {"N": "1"}, ":b": {"N": "3"}, ":s": {"N": "2"}}, "FilterExpression": "Score <> :s",
	"ExpressionAttributeNames": {"#t": "Time"}, "ConsistentRead": true, "ReturnConsumedCapacity": "INDEXES"}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "KeyConditionExpression": "Id = :id", "ExpressionAttributeValues": {":id": {"S": "T0"}},
	"ExclusiveStartKey": {"Id": {"S": "T0"}, "Time": {"N": "4"}}}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "KeyConditionExpression": "Id = :id", "ExpressionAttributeValues": {":id": {"S": "T1"}}, "Select": "COUNT"}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "KeyConditionExpression": "Id = :id", "ExpressionAttributeValues": {":id": {"S": "none"}}}');

-- Indexes.
SELECT kv.dynamodb('Query', '{"TableName": "reply", "IndexName": "by_user", "KeyConditionExpression": "Id = :id AND PostedBy = :u",
	"ExpressionAttributeValues": {":id": {"S": "T1"}, ":u": {"S": "User B"}}, "Limit": 1, "ReturnConsumedCapacity": "INDEXES"}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "IndexName": "by_user", "KeyConditionExpression": "Id = :id AND PostedBy = :u",
	"ExpressionAttributeValues": {":id": {"S": "T1"}, ":u": {"S": "User B"}}, "Limit": 1, "Select": "ALL_ATTRIBUTES",
	"ExclusiveStartKey": {"Id": {"S": "T1"}, "Time": {"N": "1"}, "PostedBy": {"S": "User B"}}}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "IndexName": "of_user", "KeyConditionExpression": "PostedBy = :u AND #t > :t",
	"ExpressionAttributeValues": {":u": {"S": "User A"}, ":t": {"N": "0"}}, "ExpressionAttributeNames": {"#t": "Time"}, "Limit": 3,
	"Select": "ALL_PROJECTED_ATTRIBUTES", "ReturnConsumedCapacity": "INDEXES"}');

-- A walk in pages of five gives each item once; so do segments together.
CREATE FUNCTION pg_temp.walk(request jsonb) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	page jsonb;
BEGIN
	LOOP
		page := kv.dynamodb('Scan', request);
		RETURN QUERY SELECT i #>> '{Message,S}' FROM jsonb_array_elements(page->'Items') i;
		EXIT WHEN NOT page ? 'LastEvaluatedKey';
		request := request || jsonb_build_object('ExclusiveStartKey', page->'LastEvaluatedKey');
	END LOOP;
END $$;
SELECT count(*), count(DISTINCT m) FROM pg_temp.walk('{"TableName": "reply", "Limit": 5}') m;
SELECT count(*), count(DISTINCT m) FROM generate_series(0, 2) s, pg_temp.walk(jsonb_build_object('TableName', 'reply', 'Limit', 5, 'Segment', s, 'TotalSegments', 3)) m;
SELECT count(*) FROM pg_temp.walk('{"TableName": "reply", "IndexName": "of_user", "Limit": 5}') m;
SELECT kv.dynamodb('Scan', '{"TableName": "reply", "FilterExpression": "Score >= :s", "ExpressionAttributeValues": {":s": {"N": "10"}}, "Select": "COUNT", "ReturnConsumedCapacity": "TOTAL"}');

-- What does not go together.
SELECT kv.dynamodb('Query', '{"TableName": "reply"}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "KeyConditions": {}}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "IndexName": "other", "KeyConditionExpression": "Id = :id", "ExpressionAttributeValues": {":id": {"S": "T1"}}}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "IndexName": "of_user", "ConsistentRead": true, "KeyConditionExpression": "PostedBy = :id", "ExpressionAttributeValues": {":id": {"S": "T1"}}}');
SELECT kv.dynamodb('Query', '{"TableName": "reply", "IndexName": "of_user", "Select": "ALL_ATTRIBUTES", "KeyConditionExpression": "PostedBy = :id", "ExpressionAttributeValues": {":id": {"S": "T1"}}}');
SELECT kv.dynamodb('Scan', '{"TableName": "reply", "Select": "COUNT", "ProjectionExpression": "Id"}');
SELECT kv.dynamodb('Scan', '{"TableName": "reply", "Select": "SPECIFIC_ATTRIBUTES"}');
SELECT kv.dynamodb('Scan', '{"TableName": "reply", "Select": "ALL_PROJECTED_ATTRIBUTES"}');
SELECT kv.dynamodb('Scan', '{"TableName": "reply", "Limit": 0}');
SELECT kv.dynamodb('Scan', '{"TableName": "reply", "Segment": 3, "TotalSegments": 3}');
SELECT kv.drop_table('reply');
