-- Client request tokens: a request that is sent twice has one effect.
SELECT kv.create_table('tt', 'pk', partitions => 2);
CREATE FUNCTION tt_try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb;
BEGIN
	EXECUTE 'SELECT ' || call INTO answer;
	RETURN coalesce(answer::text, 'NULL');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- Adds one to an item, with a token.
CREATE FUNCTION tt_add(item text, token text) RETURNS text LANGUAGE sql AS $$
	SELECT tt_try(format('kv.transact_write_items(%L, %L)', jsonb_build_array(jsonb_build_object('Update', jsonb_build_object('TableName', 'tt',
		'Key', jsonb_build_object('pk', item), 'UpdateExpression', 'ADD n :one', 'ExpressionAttributeValues', '{":one": 1}'::jsonb))), token)) $$;
CREATE FUNCTION tt_value(item text) RETURNS jsonb LANGUAGE sql AS $$ SELECT kv.get('tt', item) -> 'n' $$;
\t on

-- Twice the same: one effect; without a token: two.
SELECT tt_add('a', 'token-1');
SELECT tt_add('a', 'token-1');
SELECT tt_value('a');
SELECT tt_add('a', NULL);
SELECT tt_add('a', NULL);
SELECT tt_value('a');

-- The same whatever the order of members and the look of numbers, as an argument or a member.
SELECT kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "b", "x": 1.0, "y": {"p": 1, "q": 2}}}}]', 'token-2');
SELECT kv.put_item('tt', '{"pk": "b"}');
SELECT kv.transact_write_items('[{"Put": {"Item": {"y": {"q": 2, "p": 1}, "x": 1, "pk": "b"}, "TableName": "tt"}}]', 'token-2');
SELECT kv.transact_write_items('{"ClientRequestToken": "token-2", "TransactItems": [{"Put": {"Item": {"y": {"q": 2, "p": 1}, "x": 1.00, "pk": "b"}, "TableName": "tt"}}], "ReturnConsumedCapacity": "NONE"}');
SELECT kv.get('tt', 'b');

-- Other content: KV004, and nothing is done.
SELECT tt_add('c', 'token-1');
SELECT tt_try($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "b", "x": "1", "y": {"p": 1, "q": 2}}}}]', 'token-2')$$);
SELECT tt_try($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "b", "x": 1, "y": {"p": 2, "q": 1}}}}]', 'token-2')$$);
SELECT tt_try($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "b", "x": 1, "y": {"p": 1, "q": 2}}}}, {"Delete": {"TableName": "tt", "Key": {"pk": "a"}}}]', 'token-2')$$);
SELECT tt_value('c'), tt_value('a');

-- What is read and checked comes before the token; 1 to 36 characters, given once.
SELECT tt_try($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {}}}]', 'token-2')$$);
SELECT tt_try($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "b"}}}]', '')$$);
SELECT tt_try(format($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "d"}}}]', %L)$$, repeat('ä', 37)));
SELECT tt_try(format($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "d"}}}]', %L)$$, repeat('ä', 36)));
SELECT tt_try($$kv.transact_write_items('{"ClientRequestToken": "token-3", "TransactItems": [{"Put": {"TableName": "tt", "Item": {"pk": "d"}}}]}', 'token-3')$$);
SELECT tt_try($$kv.transact_write_items('{"ClientRequestToken": 3, "TransactItems": [{"Put": {"TableName": "tt", "Item": {"pk": "d"}}}]}')$$);

-- A cancelled transaction, one taken back and one rolled back leave no token.
SELECT tt_try($$kv.transact_write_items('[{"Put": {"TableName": "tt", "Item": {"pk": "a"}, "ConditionExpression": "attribute_not_exists(pk)"}}]', 'token-4')$$);
SELECT tt_add('e', 'token-4');
BEGIN;
SAVEPOINT s;
SELECT tt_add('e', 'token-5');
SELECT tt_add('e', 'token-5');
SELECT tt_value('e');
ROLLBACK TO s;
SELECT tt_value('e');
SELECT tt_add('f', 'token-5');
ROLLBACK;
SELECT tt_add('g', 'token-5');
SELECT tt_value('e'), tt_value('f'), tt_value('g');

-- Ten minutes, and a token is unused.
CREATE FUNCTION tt_age(name text, minutes numeric) RETURNS void LANGUAGE sql AS $$
	UPDATE kv.request_tokens SET created_at = created_at - minutes * interval '1 minute' WHERE token = name $$;
SELECT tt_age('token-1', 9.9);
SELECT tt_add('a', 'token-1');
SELECT tt_value('a');
SELECT tt_age('token-1', 0.1);
SELECT tt_add('a', 'token-1');
SELECT tt_value('a');
SELECT tt_add('a', 'token-1');
SELECT tt_value('a');
SELECT tt_age('token-1', 10);
SELECT tt_add('h', 'token-1');
SELECT tt_value('a'), tt_value('h');

-- Old ones are removed by later calls, a few at a time.
SELECT count(tt_add('i', 'old-' || n)) FROM generate_series(1, 25) n;
SELECT tt_value('i');
UPDATE kv.request_tokens SET created_at = created_at - interval '11 minutes' WHERE token LIKE 'old-%';
SELECT tt_add('j', 'new-1');
SELECT count(*) FROM kv.request_tokens WHERE token LIKE 'old-%';
SELECT tt_add('j', 'new-2'), tt_add('j', 'new-3');
SELECT count(*) FROM kv.request_tokens WHERE token LIKE 'old-%';
SELECT count(*) FROM kv.request_tokens WHERE token LIKE 'new-%';

-- A token is the role's own, and the table is nobody's.
CREATE ROLE tt_ann;
GRANT SELECT, INSERT, UPDATE, DELETE ON tt TO tt_ann;
SET ROLE tt_ann;
SELECT tt_add('k', 'token-1');
SELECT tt_add('k', 'token-1');
SELECT tt_value('k');
SELECT tt_add('l', 'token-1');
SELECT tt_try('to_jsonb(count(*)) FROM kv.request_tokens');
RESET ROLE;
SELECT count(*) FROM kv.request_tokens WHERE token = 'token-1';
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();

-- Above READ COMMITTED a token that was used after the snapshot was taken is known all the same (see test/specs/transact_token.spec); own ones too.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT tt_add('m', 'token-6');
SELECT tt_add('m', 'token-6');
COMMIT;
SELECT tt_value('m');
\t off

DELETE FROM kv.request_tokens;
DROP TABLE tt;
DROP FUNCTION tt_try, tt_add, tt_value, tt_age;
DROP ROLE tt_ann;
