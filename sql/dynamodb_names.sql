-- Names of DynamoDB's that PostgreSQL cannot hold: of tables, indexes and key attributes.
SET client_min_messages = warning;
-- 255 bytes of ASCII, 255 bytes in two-byte letters and one, names of columns that every table has, SQL words, quotes.
CREATE FUNCTION pg_temp.made(hash text, range text) RETURNS text LANGUAGE sql AS $$
	SELECT kv.dynamodb('CreateTable', jsonb_build_object('TableName', 'names',
		'AttributeDefinitions', jsonb_build_array(jsonb_build_object('AttributeName', hash, 'AttributeType', 'S'), jsonb_build_object('AttributeName', range, 'AttributeType', 'N')),
		'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', hash, 'KeyType', 'HASH'), jsonb_build_object('AttributeName', range, 'KeyType', 'RANGE')))) #>> '{TableDescription,TableStatus}' $$;
CREATE FUNCTION pg_temp.try(hash text, range text) RETURNS TABLE (made text, got bool, queried bool, updated bool, plain bool, explained bool, columns text, gone text) LANGUAGE plpgsql AS $$
DECLARE
	key jsonb := jsonb_build_object(hash, jsonb_build_object('S', 'p'), range, jsonb_build_object('N', '1'));
	item jsonb := key || jsonb_build_object('v', jsonb_build_object('N', '2'));
	names jsonb := jsonb_build_object('#h', hash, '#r', range);
	columns text[];
BEGIN
	made := pg_temp.made(hash, range);
	PERFORM kv.dynamodb('PutItem', jsonb_build_object('TableName', 'names', 'Item', item, 'ConditionExpression', 'attribute_not_exists(#h) AND attribute_not_exists(#r)', 'ExpressionAttributeNames', names));
	got := kv.dynamodb('GetItem', jsonb_build_object('TableName', 'names', 'Key', key)) -> 'Item' = item;
	queried := kv.dynamodb('Query', jsonb_build_object('TableName', 'names', 'KeyConditionExpression', '#h = :h AND #r > :r', 'ExpressionAttributeNames', names,
		'ProjectionExpression', '#h, #r, v', 'ExpressionAttributeValues', '{":h": {"S": "p"}, ":r": {"N": "0"}}'::jsonb)) -> 'Items' = jsonb_build_array(item);
	updated := kv.dynamodb('UpdateItem', jsonb_build_object('TableName', 'names', 'Key', key, 'UpdateExpression', 'ADD v :v', 'ExpressionAttributeValues', '{":v": {"N": "0"}}'::jsonb,
		'ReturnValues', 'ALL_NEW')) -> 'Attributes' = item;
	plain := kv.get('names', 'p', '1') = jsonb_build_object(hash, 'p', range, 1, 'v', 2);
	SELECT ARRAY[partition_key_column, sort_key_column], partition_key = hash AND sort_key = range INTO columns, explained FROM kv.tables WHERE table_name = 'names'::regclass;
	-- plain SQL by the columns; the check knows the attributes' names
	EXECUTE format('INSERT INTO names (%I, %I, item) VALUES (''q'', 1, ''{}'')', columns[1], columns[2]);
	BEGIN
		EXECUTE format('UPDATE names SET item = %L WHERE %I = ''q''', jsonb_build_object(hash, 1), columns[1]);
		plain := false;
	EXCEPTION WHEN SQLSTATE 'KV007' THEN
	END;
	try.columns := array_to_string(columns, ' ');
	gone := kv.dynamodb('DeleteTable', '{"TableName": "names"}') #>> '{TableDescription,TableStatus}';
	RETURN NEXT;
END $$;
\x on
\pset format unaligned
SELECT * FROM pg_temp.try(repeat('k', 255), repeat('é', 127) || 'r');
SELECT * FROM pg_temp.try(repeat('k', 64), repeat('k', 63));
SELECT * FROM pg_temp.try('item', 'tableoid');
SELECT * FROM pg_temp.try('select', 'a "quoted" ''name''. ~0123456789abcdef');
\x off
SELECT pg_temp.made(repeat('k', 256), 'r');
SELECT pg_temp.made('k', '');

-- Global and local indexes by such attributes, with such names.
SELECT kv.dynamodb('CreateTable', jsonb_build_object('TableName', 'names', 'AttributeDefinitions', jsonb_agg(jsonb_build_object('AttributeName', a, 'AttributeType', 'S') ORDER BY o),
	'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', repeat('h', 200), 'KeyType', 'HASH'), jsonb_build_object('AttributeName', repeat('r', 200), 'KeyType', 'RANGE')),
	'LocalSecondaryIndexes', jsonb_build_array(jsonb_build_object('IndexName', repeat('local-', 40), 'Projection', '{"ProjectionType": "KEYS_ONLY"}'::jsonb,
		'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', repeat('h', 200), 'KeyType', 'HASH'), jsonb_build_object('AttributeName', repeat('l', 200), 'KeyType', 'RANGE')))),
	'GlobalSecondaryIndexes', jsonb_build_array(jsonb_build_object('IndexName', repeat('global-', 36), 'Projection', '{"ProjectionType": "ALL"}'::jsonb,
		'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', repeat('g', 200), 'KeyType', 'HASH'), jsonb_build_object('AttributeName', 'item', 'KeyType', 'RANGE'))))))
	#>> '{TableDescription,GlobalSecondaryIndexes,0,KeySchema,1,AttributeName}' AS key
FROM unnest(ARRAY[repeat('h', 200), repeat('r', 200), repeat('l', 200), repeat('g', 200), 'item']) WITH ORDINALITY AS n (a, o);
SELECT kv.dynamodb('PutItem', jsonb_build_object('TableName', 'names', 'Item', jsonb_build_object(repeat('h', 200), '{"S": "h"}'::jsonb, repeat('r', 200), '{"S": "r"}'::jsonb,
	repeat('l', 200), '{"S": "l"}'::jsonb, repeat('g', 200), '{"S": "g"}'::jsonb, 'item', '{"S": "i"}'::jsonb, 'other', '{"S": "o"}'::jsonb)));
SELECT count(kv.apply_changes());
CREATE FUNCTION pg_temp.through(index text, first text, second text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_object_agg(left(a, 5), v) FROM jsonb_each(kv.dynamodb('Query', jsonb_build_object('TableName', 'names', 'IndexName', index, 'KeyConditionExpression', '#f = :f AND #s = :s',
		'ExpressionAttributeNames', jsonb_build_object('#f', first, '#s', second),
		'ExpressionAttributeValues', jsonb_build_object(':f', jsonb_build_object('S', left(first, 1)), ':s', jsonb_build_object('S', left(second, 1))))) #> '{Items,0}') i (a, v) $$;
SELECT pg_temp.through(repeat('local-', 40), repeat('h', 200), repeat('l', 200));
SELECT pg_temp.through(repeat('global-', 36), repeat('g', 200), 'item');
SELECT index_name, kind, left(dynamodb_name, 12) AS dynamodb_name, length(dynamodb_name), left(partition_key, 1) || length(partition_key) AS partition_key, left(sort_key, 1) || length(sort_key) AS sort_key
FROM kv.indexes WHERE table_name = 'names'::regclass ORDER BY 1;
-- Errors call an index as the request does.
SELECT kv.dynamodb('UpdateTable', jsonb_build_object('TableName', 'names', 'AttributeDefinitions', '[{"AttributeName": "o", "AttributeType": "S"}]'::jsonb,
	'GlobalSecondaryIndexUpdates', jsonb_build_array(jsonb_build_object('Create', jsonb_build_object('IndexName', repeat('keys.', 20), 'Projection', '{"ProjectionType": "KEYS_ONLY"}'::jsonb,
		'KeySchema', '[{"AttributeName": "o", "KeyType": "HASH"}]'::jsonb))))) #>> '{TableDescription,TableStatus}' AS status;
SELECT count(kv.apply_changes());
\set VERBOSITY terse
SELECT kv.dynamodb('Scan', jsonb_build_object('TableName', 'names', 'IndexName', repeat('keys.', 20), 'Select', 'ALL_ATTRIBUTES'));
SELECT kv.dynamodb('Scan', jsonb_build_object('TableName', 'names', 'IndexName', repeat('keys.', 20), 'ProjectionExpression', 'elsewhere'));
\set VERBOSITY default

-- A column that is renamed renames its attribute, as with any table.
SELECT format('ALTER TABLE names RENAME %I TO short', partition_key_column) FROM kv.tables WHERE table_name = 'names'::regclass \gexec
SELECT partition_key, left(sort_key, 3) || length(sort_key) AS sort_key FROM kv.tables WHERE table_name = 'names'::regclass;
-- Row security goes through SQL.
ALTER TABLE names ENABLE ROW LEVEL SECURITY;
CREATE ROLE regress_kv_names;
GRANT SELECT, INSERT, UPDATE, DELETE ON names TO regress_kv_names;
CREATE POLICY all_rows ON names USING (true);
SET ROLE regress_kv_names;
SELECT length(kv.dynamodb('GetItem', jsonb_build_object('TableName', 'names', 'Key', jsonb_build_object('short', '{"S": "h"}'::jsonb, repeat('r', 200), '{"S": "r"}'::jsonb)))::text) > 600 AS read;
SELECT kv.dynamodb('UpdateItem', jsonb_build_object('TableName', 'names', 'Key', jsonb_build_object('short', '{"S": "h"}'::jsonb, repeat('r', 200), '{"S": "s"}'::jsonb),
	'UpdateExpression', 'SET a = :a', 'ExpressionAttributeValues', '{":a": {"N": "1"}}'::jsonb, 'ReturnValues', 'UPDATED_NEW'));
RESET ROLE;
SELECT kv.drop_table('names');
DROP ROLE regress_kv_names;
