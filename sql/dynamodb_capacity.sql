-- kv.dynamodb: ConsumedCapacity and ItemCollectionMetrics.
-- The numbers follow from the Developer Guide: a write unit a started KB of the larger of old and new item, a read unit a started 4 KB, half of it if eventually
-- consistent, twice in a transaction; of an index 1 to put an item in, 1 to take it out, 2 if its key changes, 1 if another attribute of it does, else 0.
SET client_min_messages = warning;
SELECT kv.create_table('cap', 'pk', 'sk', 'S', 'S', 4);
SELECT kv.create_local_index('cap', 'cap_local', 'l', 'S', 'KEYS_ONLY');
SELECT kv.create_global_index('cap', 'cap_all', 'g', NULL, 'S', 'S', 'ALL');
SELECT kv.create_global_index('cap', 'cap_some', 'g', 'h', 'S', 'N', 'INCLUDE', '{a}');
SELECT kv.create_table('cap_plain', 'pk', partitions => 1);

CREATE FUNCTION pg_temp.put(more jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT kv.dynamodb('PutItem', jsonb_build_object('TableName', 'cap', 'ReturnConsumedCapacity', 'INDEXES',
		'Item', '{"pk": {"S": "p"}, "sk": {"S": "s"}}'::jsonb || more)) -> 'ConsumedCapacity' $$;
CREATE FUNCTION pg_temp.text(length int) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('S', repeat('x', length)) $$;

-- In no index: the table alone.
SELECT pg_temp.put('{}');
-- Into the local one; into all of them; nothing that an index holds but cap_all: it alone has b.
SELECT pg_temp.put('{"l": {"S": "1"}}');
SELECT pg_temp.put('{"l": {"S": "1"}, "g": {"S": "1"}, "h": {"N": "1"}}');
SELECT pg_temp.put('{"l": {"S": "1"}, "g": {"S": "1"}, "h": {"N": "1"}, "b": {"S": "x"}}');
-- The same again: no index is written.
SELECT pg_temp.put('{"l": {"S": "1"}, "g": {"S": "1"}, "h": {"N": "1.0"}, "b": {"S": "x"}}');
-- An included attribute; a key of one, of two; out of one; out of all.
SELECT pg_temp.put('{"l": {"S": "1"}, "g": {"S": "1"}, "h": {"N": "1"}, "b": {"S": "x"}, "a": {"S": "x"}}');
SELECT pg_temp.put('{"l": {"S": "2"}, "g": {"S": "1"}, "h": {"N": "1"}, "b": {"S": "x"}, "a": {"S": "x"}}');
SELECT pg_temp.put('{"l": {"S": "2"}, "g": {"S": "2"}, "h": {"N": "1"}, "b": {"S": "x"}, "a": {"S": "x"}}');
SELECT pg_temp.put('{"l": {"S": "2"}, "g": {"S": "2"}, "b": {"S": "x"}, "a": {"S": "x"}}');
SELECT pg_temp.put('{}');
-- Larger items: table and cap_all take 3 units, what holds the keys takes 1; cap_some has a of 1500 bytes, so 2.
SELECT pg_temp.put(jsonb_build_object('l', '{"S": "1"}'::jsonb, 'g', '{"S": "1"}'::jsonb, 'h', '{"N": "1"}'::jsonb, 'a', pg_temp.text(1500), 'b', pg_temp.text(1000)));
-- UpdateItem and DeleteItem count the same way: the old item is the larger one.
SELECT kv.dynamodb('UpdateItem', '{"TableName": "cap", "Key": {"pk": {"S": "p"}, "sk": {"S": "s"}}, "UpdateExpression": "REMOVE b", "ReturnConsumedCapacity": "INDEXES"}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "cap", "Key": {"pk": {"S": "p"}, "sk": {"S": "s"}}, "ReturnConsumedCapacity": "INDEXES"}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "cap", "Key": {"pk": {"S": "p"}, "sk": {"S": "s"}}, "ReturnConsumedCapacity": "TOTAL"}');

-- Batches: by table.
SELECT kv.dynamodb('BatchWriteItem', jsonb_build_object('ReturnConsumedCapacity', 'INDEXES', 'ReturnItemCollectionMetrics', 'SIZE', 'RequestItems', jsonb_build_object(
	'cap', jsonb_build_array(
		jsonb_build_object('PutRequest', jsonb_build_object('Item', jsonb_build_object('pk', '{"S": "p"}'::jsonb, 'sk', '{"S": "1"}'::jsonb, 'l', '{"S": "1"}'::jsonb))),
		jsonb_build_object('PutRequest', jsonb_build_object('Item', jsonb_build_object('pk', '{"S": "p"}'::jsonb, 'sk', '{"S": "2"}'::jsonb, 'g', '{"S": "1"}'::jsonb, 'b', pg_temp.text(1500)))),
		jsonb_build_object('DeleteRequest', '{"Key": {"pk": {"S": "q"}, "sk": {"S": "1"}}}'::jsonb)),
	'cap_plain', jsonb_build_array(jsonb_build_object('PutRequest', jsonb_build_object('Item', jsonb_build_object('pk', '{"S": "p"}'::jsonb, 'a', pg_temp.text(5000)))))))) AS answer;
SELECT kv.dynamodb('BatchGetItem', '{"ReturnConsumedCapacity": "TOTAL", "RequestItems": {
	"cap": {"Keys": [{"pk": {"S": "p"}, "sk": {"S": "1"}}, {"pk": {"S": "p"}, "sk": {"S": "2"}}, {"pk": {"S": "p"}, "sk": {"S": "3"}}], "ProjectionExpression": "sk"},
	"cap_plain": {"Keys": [{"pk": {"S": "p"}}], "ConsistentRead": true, "ProjectionExpression": "pk"}}}');

-- No metrics of tables without local indexes.
SELECT kv.dynamodb('BatchWriteItem', '{"ReturnItemCollectionMetrics": "SIZE", "RequestItems": {"cap_plain": [{"DeleteRequest": {"Key": {"pk": {"S": "q"}}}}]}}');

-- Transactions: twice, indexes that follow the item once; a check as a write.
SELECT kv.dynamodb('TransactWriteItems', '{"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE", "ClientRequestToken": "cap", "TransactItems": [
	{"Put": {"TableName": "cap", "Item": {"pk": {"S": "t"}, "sk": {"S": "1"}, "l": {"S": "1"}, "g": {"S": "1"}}}},
	{"ConditionCheck": {"TableName": "cap_plain", "Key": {"pk": {"S": "p"}}, "ConditionExpression": "attribute_exists(a)"}},
	{"Delete": {"TableName": "cap", "Key": {"pk": {"S": "p"}, "sk": {"S": "9"}}}}]}');
-- The same token: what it takes to read the items.
SELECT kv.dynamodb('TransactWriteItems', '{"ReturnConsumedCapacity": "TOTAL", "ClientRequestToken": "cap", "TransactItems": [
	{"Put": {"TableName": "cap", "Item": {"pk": {"S": "t"}, "sk": {"S": "1"}, "l": {"S": "1"}, "g": {"S": "1"}}}},
	{"ConditionCheck": {"TableName": "cap_plain", "Key": {"pk": {"S": "p"}}, "ConditionExpression": "attribute_exists(a)"}},
	{"Delete": {"TableName": "cap", "Key": {"pk": {"S": "p"}, "sk": {"S": "9"}}}}]}');
SELECT kv.dynamodb('TransactGetItems', '{"ReturnConsumedCapacity": "TOTAL", "TransactItems": [
	{"Get": {"TableName": "cap", "Key": {"pk": {"S": "t"}, "sk": {"S": "1"}}}},
	{"Get": {"TableName": "cap_plain", "Key": {"pk": {"S": "p"}}, "ProjectionExpression": "pk"}}]}') -> 'ConsumedCapacity';

-- Reads of a local index: the entries, and the items where the entries do not have what is asked for.
SELECT count(kv.dynamodb('PutItem', jsonb_build_object('TableName', 'cap', 'Item', jsonb_build_object('pk', '{"S": "r"}'::jsonb, 'sk', jsonb_build_object('S', i::text),
	'l', jsonb_build_object('S', i::text), 'b', pg_temp.text(5000))))) FROM generate_series(1, 3) i;
SELECT s, kv.dynamodb('Query', jsonb_build_object('TableName', 'cap', 'IndexName', 'cap_local', 'KeyConditionExpression', 'pk = :p', 'ConsistentRead', true,
	'ExpressionAttributeValues', '{":p": {"S": "r"}}'::jsonb, 'ReturnConsumedCapacity', 'INDEXES') || s::jsonb) -> 'ConsumedCapacity' AS capacity
FROM unnest(ARRAY['{}', '{"Select": "COUNT"}', '{"Select": "ALL_PROJECTED_ATTRIBUTES"}', '{"Select": "ALL_ATTRIBUTES"}', '{"ProjectionExpression": "l, sk"}', '{"ProjectionExpression": "b"}']) s;
SELECT kv.dynamodb('Query', '{"TableName": "cap", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "r"}}, "Select": "COUNT", "ReturnConsumedCapacity": "INDEXES"}');

SELECT kv.drop_table('cap');
SELECT kv.drop_table('cap_plain');
