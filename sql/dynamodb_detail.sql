-- kv.dynamodb: DETAIL of an error is a JSON object whatever a trigger wrote into it.
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION pg_temp.refusal(operation text, request jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	PERFORM kv.dynamodb(operation, request);
	RETURN 'done';
EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE, SQLERRM, detail, hint);
END $$;

-- An item may have an attribute that is called like the name of the exception.
SELECT kv.create_table('detail_item', 'customer');
SELECT pg_temp.refusal('PutItem', '{"TableName": "detail_item", "Item": {"customer": {"S": "c"}, "__type": {"S": "x"}}}');
SELECT pg_temp.refusal('PutItem', '{"TableName": "detail_item", "Item": {"customer": {"S": "c"}}, "ConditionExpression": "attribute_not_exists(customer)",
	"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}');
SELECT pg_temp.refusal('TransactWriteItems', '{"TransactItems": [{"Delete": {"TableName": "detail_item", "Key": {"customer": {"S": "c"}}, "ConditionExpression": "attribute_not_exists(customer)",
	"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]}');

-- A trigger raises what it likes: with SQLSTATEs of ours, with JSON of another form, with none.
SELECT kv.create_table('detail_trigger', 'pk');
CREATE FUNCTION detail_raise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = NEW.item ->> 'code', MESSAGE = 'raised', DETAIL = NEW.item ->> 'detail', HINT = 'Hinted.';
END $$;
CREATE TRIGGER raise BEFORE INSERT ON detail_trigger FOR EACH ROW EXECUTE FUNCTION detail_raise();
SELECT detail, pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'detail_trigger', 'Item', kv.to_dynamodb_json(jsonb_build_object('pk', 'x', 'code', code, 'detail', detail))))
FROM (VALUES ('KV001', '{"a": 1}'), ('KV001', '{a'), ('KV001', '[]'), ('KV001', '{"a": {"$SS": [1]}}'), ('KV001', '{"a": 1e999}'), ('KV001', '{"a": "\u0000"}'), ('KV001', 'Sentence.'),
	('KV002', '[{"Code": "None"}, {"Code": "Own", "Message": "why", "Item": {"a": 1}}]'), ('KV002', '[{}]'), ('KV002', '[{"Code": null}]'), ('KV002', '[{"Code": 1}]'), ('KV002', '[1]'), ('KV002', '{}'),
	('KV002', '[]'), ('KV002', 'Sentence.'), ('KV003', '[{"Code": "TransactionConflict"}]'), ('KV003', 'Sentence.'), ('KV003', '[}'),
	('KV007', '{"__type": "x"}'), ('KV007', '{"__type"'), ('KV010', 'Sentence.'), ('P0001', '{"__type": "x"}'),
	-- these stay as they are: the server or the user ends the statement, memory is short, a programmer's mistake
	('57014', 'Sentence.'), ('53200', 'Sentence.'), ('P0004', 'Sentence.')) v (code, detail);
SELECT left(pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'detail_trigger', 'Item', kv.to_dynamodb_json(jsonb_build_object('pk', 'x', 'code', 'KV002', 'detail', repeat('[', 100000))))), 120);

-- What a call inside of another raises is not translated twice.
CREATE OR REPLACE FUNCTION detail_raise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM kv.dynamodb(NEW.item ->> 'operation', NEW.item -> 'request');
	RETURN NEW;
END $$;
SELECT pg_temp.refusal('PutItem', jsonb_build_object('TableName', 'detail_trigger', 'Item', kv.to_dynamodb_json(jsonb_build_object('pk', 'x', 'operation', operation, 'request', request::jsonb))))
FROM (VALUES ('PutItem', '{"TableName": "detail_item", "Item": {"customer": {"S": "c"}}, "ConditionExpression": "attribute_not_exists(customer)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}'),
	('TransactWriteItems', '{"TransactItems": [{"Delete": {"TableName": "detail_item", "Key": {"customer": {"S": "c"}}, "ConditionExpression": "attribute_not_exists(customer)",
	"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]}'), ('GetItem', '{"TableName": "none", "Key": {}}'), ('GetItem', '[]'), ('Get', '{}')) v (operation, request);
SELECT kv.drop_table('detail_trigger'), kv.drop_table('detail_item');
DROP FUNCTION detail_raise;
