-- kv.dynamodb: the parameters that came before expressions mean what the expressions mean.
SELECT kv.create_table('old', 'pk', 'sk', 'S', 'N');
SELECT count(kv.dynamodb('PutItem', jsonb_build_object('TableName', 'old', 'Item', jsonb_build_object('pk', '{"S": "p"}'::jsonb,
	'sk', jsonb_build_object('N', i::text), 'name', jsonb_build_object('S', 'n' || i), 'set', jsonb_build_object('NS', jsonb_build_array(i::text, '100'))))))
FROM generate_series(1, 6) i;

-- Which items each operator finds.
CREATE FUNCTION pg_temp.found(filter text, operator text = 'AND') RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(i #>> '{sk,N}', ' ') FROM jsonb_array_elements(kv.dynamodb('Query', jsonb_build_object('TableName', 'old',
		'KeyConditions', '{"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "p"}]}}'::jsonb,
		'QueryFilter', filter::jsonb, 'ConditionalOperator', operator)) -> 'Items') i $$;
SELECT o AS operator, v AS "values", pg_temp.found(format('{"name": {"ComparisonOperator": "%s", "AttributeValueList": [%s]}}', o, v)) AS found
FROM (VALUES ('EQ', '{"S": "n2"}'), ('NE', '{"S": "n2"}'), ('LE', '{"S": "n2"}'), ('LT', '{"S": "n2"}'), ('GE', '{"S": "n2"}'), ('GT', '{"S": "n2"}'),
	('NOT_NULL', ''), ('NULL', ''), ('CONTAINS', '{"S": "3"}'), ('NOT_CONTAINS', '{"S": "3"}'), ('BEGINS_WITH', '{"S": "n"}'),
	('IN', '{"S": "n1"}, {"S": "n5"}, {"S": "x"}'), ('BETWEEN', '{"S": "n2"}, {"S": "n4"}')) t(o, v);
SELECT pg_temp.found('{"name": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "n1"}]}, "set": {"ComparisonOperator": "CONTAINS", "AttributeValueList": [{"N": "6"}]}}');
SELECT pg_temp.found('{"name": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "n1"}]}, "set": {"ComparisonOperator": "CONTAINS", "AttributeValueList": [{"N": "6"}]}}', 'OR');

-- KeyConditions on both keys, AttributesToGet, ScanFilter.
SELECT kv.dynamodb('Query', '{"TableName": "old", "KeyConditions": {"sk": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "2"}, {"N": "3"}]},
	"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "p"}]}}, "AttributesToGet": ["name"]}');
SELECT kv.dynamodb('Scan', '{"TableName": "old", "ScanFilter": {"sk": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": "5"}]}}, "AttributesToGet": ["name", "sk"]}');
SELECT kv.dynamodb('GetItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "AttributesToGet": ["name", "absent"]}');

-- Expected.
SELECT kv.dynamodb('PutItem', '{"TableName": "old", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "Expected": {"pk": {"Exists": false}}}');
SELECT kv.dynamodb('PutItem', '{"TableName": "old", "Item": {"pk": {"S": "p"}, "sk": {"N": "7"}, "name": {"S": "n7"}}, "Expected": {"pk": {"Exists": false}}}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "7"}}, "Expected": {"name": {"Value": {"S": "n8"}}}}');
SELECT kv.dynamodb('DeleteItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "7"}}, "ReturnValues": "ALL_OLD", "ConditionalOperator": "OR",
	"Expected": {"name": {"Value": {"S": "n8"}}, "sk": {"ComparisonOperator": "IN", "AttributeValueList": [{"N": "6"}, {"N": "7"}]}}}');

-- AttributeUpdates.
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "ReturnValues": "ALL_NEW", "Expected": {"name": {"Value": {"S": "n1"}, "Exists": true}},
	"AttributeUpdates": {"name": {"Value": {"S": "new"}}, "count": {"Action": "ADD", "Value": {"N": "2"}}, "list": {"Action": "ADD", "Value": {"L": [{"S": "a"}]}},
		"set": {"Action": "DELETE", "Value": {"NS": ["100"]}}, "absent": {"Action": "DELETE"}}}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "ReturnValues": "UPDATED_NEW",
	"AttributeUpdates": {"count": {"Action": "ADD", "Value": {"N": "2"}}, "list": {"Action": "ADD", "Value": {"L": [{"S": "b"}]}}, "name": {"Action": "DELETE"}}}');

-- No item: DELETE does nothing then, ADD and PUT make one (API reference, UpdateItem, AttributeUpdates); an expression makes one whatever it says.
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "new"}, "sk": {"N": "1"}}, "ReturnValues": "ALL_NEW", "AttributeUpdates": {"a": {"Action": "DELETE"}, "b": {"Action": "DELETE", "Value": {"SS": ["x"]}}}}');
SELECT kv.dynamodb('GetItem', '{"TableName": "old", "Key": {"pk": {"S": "new"}, "sk": {"N": "1"}}}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "new"}, "sk": {"N": "1"}}, "ReturnValues": "ALL_NEW", "AttributeUpdates": {"a": {"Action": "DELETE"}, "b": {"Action": "ADD", "Value": {"N": "3"}}}}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "new"}, "sk": {"N": "2"}}, "ReturnValues": "ALL_NEW", "UpdateExpression": "REMOVE a"}');
-- An attribute that is not there is not equal to anything, contains nothing, is NULL.
SELECT pg_temp.found('{"absent": {"ComparisonOperator": "NE", "AttributeValueList": [{"S": "n2"}]}}'), pg_temp.found('{"absent": {"ComparisonOperator": "NOT_CONTAINS", "AttributeValueList": [{"S": "n2"}]}}'),
	pg_temp.found('{"absent": {"ComparisonOperator": "NULL"}}'), pg_temp.found('{"absent": {"ComparisonOperator": "LE", "AttributeValueList": [{"S": "n2"}]}}');

-- There may be more of them than an expression takes.
SELECT (SELECT count(*) FROM jsonb_object_keys(kv.dynamodb('UpdateItem', jsonb_build_object('TableName', 'old', 'Key', '{"pk": {"S": "many"}, "sk": {"N": "1"}}'::jsonb, 'ReturnValues', 'UPDATED_NEW',
	'AttributeUpdates', (SELECT jsonb_object_agg('a' || i, jsonb_build_object('Value', jsonb_build_object('N', i::text))) FROM generate_series(1, 500) i))) -> 'Attributes')) AS updated;
SELECT kv.dynamodb('UpdateItem', jsonb_build_object('TableName', 'old', 'Key', '{"pk": {"S": "many"}, "sk": {"N": "1"}}'::jsonb, 'AttributeUpdates', (SELECT jsonb_object_agg('a' || i, '{"Action": "DELETE"}'::jsonb) FROM generate_series(1, 499) i),
	'Expected', (SELECT jsonb_object_agg('a' || i, jsonb_build_object('Value', jsonb_build_object('N', i::text))) FROM generate_series(1, 500) i)));
SELECT kv.dynamodb('GetItem', jsonb_build_object('TableName', 'old', 'Key', '{"pk": {"S": "many"}, "sk": {"N": "1"}}'::jsonb, 'AttributesToGet', (SELECT jsonb_agg('a' || i) FROM generate_series(1, 500) i)));
SELECT kv.dynamodb('BatchGetItem', jsonb_build_object('RequestItems', jsonb_build_object('old', jsonb_build_object('Keys', '[{"pk": {"S": "many"}, "sk": {"N": "1"}}]'::jsonb, 'AttributesToGet', (SELECT jsonb_agg('a' || i) FROM generate_series(1, 1000) i)))));
SELECT pg_temp.found(jsonb_build_object('name', jsonb_build_object('ComparisonOperator', 'IN', 'AttributeValueList', (SELECT jsonb_agg(jsonb_build_object('S', 'n' || i)) FROM generate_series(5, 150) i)))::text);
SELECT kv.dynamodb('DeleteItem', '{"TableName": "old", "Key": {"pk": {"S": "many"}, "sk": {"N": "1"}}}');

-- What is wrong.
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "AttributeUpdates": {"": {"Value": {"S": "x"}}}}');
SELECT kv.dynamodb('GetItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "AttributesToGet": ["a", "b", "a"]}');
SELECT kv.dynamodb('PutItem', '{"TableName": "old", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "Expected": {"pk": {"Exists": false}}, "ConditionExpression": "attribute_exists(pk)"}');
SELECT kv.dynamodb('PutItem', '{"TableName": "old", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "Expected": {"pk": {"Exists": true}}}');
SELECT kv.dynamodb('PutItem', '{"TableName": "old", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "Expected": {"pk": {"Exists": false, "Value": {"S": "p"}}}}');
SELECT kv.dynamodb('Scan', '{"TableName": "old", "ScanFilter": {"sk": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "5"}]}}}');
SELECT kv.dynamodb('Scan', '{"TableName": "old", "ScanFilter": {"sk": {"ComparisonOperator": "LIKE", "AttributeValueList": [{"N": "5"}]}}}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "AttributeUpdates": {"a": {"Action": "PUT"}}}');
SELECT kv.dynamodb('UpdateItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "AttributeUpdates": {"sk": {"Action": "PUT", "Value": {"N": "2"}}}}');
SELECT kv.dynamodb('GetItem', '{"TableName": "old", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}, "AttributesToGet": []}');
SELECT kv.drop_table('old');
