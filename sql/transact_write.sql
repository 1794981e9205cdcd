-- kv.transact_write_items: all or none, reasons in order, limits, what is refused.
SELECT kv.create_table('tw', 'pk', 'sk', partitions => 4);
SELECT kv.create_table('tw_n', 'n', partition_key_type => 'N', partitions => 2);
-- What a call gives: its answer, or code, message, reasons (a line for each action) and where.
CREATE FUNCTION tw_try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb;
	detail text;
	context text;
BEGIN
	EXECUTE 'SELECT ' || call INTO answer;
	RETURN coalesce(answer::text, 'NULL');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	IF SQLSTATE = 'KV002' THEN
		detail := (SELECT string_agg(reason::text, E'\n' ORDER BY n) FROM jsonb_array_elements(detail::jsonb) WITH ORDINALITY r(reason, n));
	END IF;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(E'\n' || nullif(detail, ''), '') ||
		coalesce(E'\nin ' || substring(context FROM '^(action \d.*?)\n'), '');
END $$;
CREATE FUNCTION tw_all() RETURNS SETOF jsonb LANGUAGE sql AS $$
	SELECT i FROM (SELECT kv.scan('tw') UNION ALL SELECT kv.scan('tw_n')) x(i) ORDER BY i ->> 'pk', i ->> 'sk', i ->> 'n' $$;
\t on

-- Every verb, two tables.
SELECT kv.put_item('tw', '{"pk": "a", "sk": "old", "v": 1}');
SELECT kv.put_item('tw', '{"pk": "a", "sk": "gone", "v": 1}');
SELECT kv.put_item('tw_n', '{"n": 7, "v": 1}');
SELECT kv.transact_write_items('[
	{"Put": {"TableName": "tw", "Item": {"pk": "a", "sk": "new", "tags": {"$NS": [2, 1]}}, "ConditionExpression": "attribute_not_exists(pk)"}},
	{"Update": {"TableName": "tw", "Key": {"pk": "a", "sk": "old"}, "UpdateExpression": "SET v = v + :one, #w = :w", "ConditionExpression": "v = :one",
		"ExpressionAttributeNames": {"#w": "w"}, "ExpressionAttributeValues": {":one": 1, ":w": "x"}}},
	{"Delete": {"TableName": "public.tw", "Key": {"pk": "a", "sk": "gone"}}},
	{"Delete": {"TableName": "tw", "Key": {"pk": "a", "sk": "never"}, "ConditionExpression": "attribute_not_exists(pk)"}},
	{"Update": {"TableName": "tw", "Key": {"pk": "b", "sk": "made"}, "UpdateExpression": "ADD v :five", "ExpressionAttributeValues": {":five": 5}}},
	{"Put": {"TableName": "tw", "Item": {"pk": "c", "sk": "plain"}}},
	{"ConditionCheck": {"TableName": "tw_n", "Key": {"n": 7.0}, "ConditionExpression": "v < :two AND attribute_exists(n)", "ExpressionAttributeValues": {":two": 2}}},
	{"ConditionCheck": {"TableName": "tw_n", "Key": {"n": 8}, "ConditionExpression": "attribute_not_exists(n)"}}]');
SELECT tw_all();
SELECT kv.transact_write_items('{"TransactItems": [{"Put": {"TableName": "tw_n", "Item": {"n": 9}}}], "ReturnConsumedCapacity": "NONE"}');
SELECT kv.get('tw_n', '9');

-- Any failed condition, and nothing is written; the reasons are in order, with the item where it is asked for and there is one.
SELECT tw_try($$kv.transact_write_items('[
	{"Put": {"TableName": "tw", "Item": {"pk": "d", "sk": "1"}}},
	{"Put": {"TableName": "tw", "Item": {"pk": "a", "sk": "old"}, "ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
	{"Delete": {"TableName": "tw", "Key": {"pk": "a", "sk": "new"}}},
	{"Update": {"TableName": "tw", "Key": {"pk": "b", "sk": "made"}, "UpdateExpression": "SET v = :v", "ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": 6},
		"ReturnValuesOnConditionCheckFailure": "NONE"}},
	{"ConditionCheck": {"TableName": "tw_n", "Key": {"n": 7}, "ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": 6}, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
	{"ConditionCheck": {"TableName": "tw_n", "Key": {"n": 77}, "ConditionExpression": "v = :v", "ExpressionAttributeValues": {":v": 6}, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
	{"Delete": {"TableName": "tw", "Key": {"pk": "d", "sk": "2"}, "ConditionExpression": "attribute_exists(pk)"}}]')$$);

-- What an update makes of the item can be a reason too.
SELECT tw_try($$kv.transact_write_items('[
	{"Put": {"TableName": "tw", "Item": {"pk": "d", "sk": "1"}}},
	{"Update": {"TableName": "tw", "Key": {"pk": "a", "sk": "old"}, "UpdateExpression": "ADD w :one", "ExpressionAttributeValues": {":one": 1}}},
	{"Update": {"TableName": "tw", "Key": {"pk": "b", "sk": "made"}, "UpdateExpression": "SET x.y = :one", "ExpressionAttributeValues": {":one": 1}}},
	{"ConditionCheck": {"TableName": "tw_n", "Key": {"n": 7}, "ConditionExpression": "attribute_not_exists(n)"}}]')$$);
SELECT kv.put_item('tw', jsonb_build_object('pk', 'large', 'sk', '1', 'a', repeat('x', 200000)));
SELECT tw_try($$kv.transact_write_items(jsonb_build_array('{"Put": {"TableName": "tw", "Item": {"pk": "d", "sk": "1"}}}'::jsonb, jsonb_build_object('Update',
	jsonb_build_object('TableName', 'tw', 'Key', '{"pk": "large", "sk": "1"}'::jsonb, 'UpdateExpression', 'SET b = :b', 'ExpressionAttributeValues', jsonb_build_object(':b', repeat('y', 210000))))))$$);
SELECT kv.delete_item('tw', '{"pk": "large", "sk": "1"}');
SELECT tw_all();

-- 100 actions are a transaction, 101 are not; 4 MB by the size rule, and not a byte more.
CREATE FUNCTION tw_puts(number int, body int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_agg(jsonb_build_object('Put', jsonb_build_object('TableName', 'tw', 'Item',
		jsonb_build_object('pk', 'many', 'sk', lpad(n::text, 4, '0'), 'body', repeat('x', body)))) ORDER BY n) FROM generate_series(1, number) n $$;
SELECT kv.transact_write_items(tw_puts(100, 40 * 1024));
SELECT count(*), sum(kv.item_size(i)) FROM kv.query('tw', 'pk = :p', '{":p": "many"}') i;
SELECT kv.transact_write_items((SELECT jsonb_agg(jsonb_build_object('Delete', jsonb_build_object('TableName', 'tw', 'Key', jsonb_build_object('pk', 'many', 'sk', lpad(n::text, 4, '0')))))
	FROM generate_series(1, 100) n));
SELECT count(*) FROM kv.query('tw', 'pk = :p', '{":p": "many"}') i;
SELECT tw_try('kv.transact_write_items(tw_puts(101, 1))');
-- An item is pk (2) + many (4) + sk (2) + 0001 (4) + body (4) bytes and its body: 16 items of 262,144 bytes are 4,194,304.
SELECT tw_try('kv.transact_write_items(tw_puts(16, 262128))');
SELECT tw_try($$kv.transact_write_items(tw_puts(16, 262128) || '{"Put": {"TableName": "tw_n", "Item": {"n": 1}}}'::jsonb)$$);
SELECT count(*), sum(kv.item_size(i)) FROM kv.query('tw', 'pk = :p', '{":p": "many"}') i;
-- What updates make counts too.
SELECT tw_try($$kv.transact_write_items((SELECT jsonb_agg(jsonb_build_object('Update', jsonb_build_object('TableName', 'tw', 'Key', jsonb_build_object('pk', 'many', 'sk', lpad(n::text, 4, '0')),
	'UpdateExpression', 'SET x = :x', 'ExpressionAttributeValues', '{":x": true}'::jsonb))) FROM generate_series(1, 16) n))$$);
SELECT count(*) FILTER (WHERE i ? 'x') FROM kv.query('tw', 'pk = :p', '{":p": "many"}') i;
DELETE FROM tw WHERE pk = 'many';

-- No two actions on one key, no unknown table in the middle: errors before any write.
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}}}, {"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "2"}}},
	{"ConditionCheck": {"TableName": "public.tw", "Key": {"pk": "e", "sk": "1"}, "ConditionExpression": "attribute_exists(pk)"}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw_n", "Item": {"n": 1000}}}, {"Delete": {"TableName": "tw_n", "Key": {"n": 1e3}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}}}, {"Put": {"TableName": "tw_nowhere", "Item": {"pk": "e", "sk": "1"}}},
	{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "2"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}}}, {"Put": {"TableName": "pg_class", "Item": {"pk": "e", "sk": "1"}}}]')$$);

-- Shapes that are none, and what is wrong inside.
SELECT tw_try($$kv.transact_write_items(NULL)$$);
SELECT tw_try($$kv.transact_write_items('[]')$$);
SELECT tw_try($$kv.transact_write_items('{}')$$);
SELECT tw_try($$kv.transact_write_items('1')$$);
SELECT tw_try($$kv.transact_write_items('{"TransactItems": {}}')$$);
SELECT tw_try($$kv.transact_write_items('{"TransactItems": [], "ReturnValues": "NONE"}')$$);
SELECT tw_try($$kv.transact_write_items('{"TransactItems": [1], "ReturnItemCollectionMetrics": "SIZE"}')$$);
SELECT tw_try($$kv.transact_write_items('[7]')$$);
SELECT tw_try($$kv.transact_write_items('[[]]')$$);
SELECT tw_try($$kv.transact_write_items('[{}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}}}, {"put": {}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}}, "Delete": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": "x"}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"Item": {"pk": "e", "sk": "1"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": 5, "Item": {"pk": "e", "sk": "1"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Delete": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}, "UpdateExpression": "REMOVE a"}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Update": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}, "ReturnValuesOnConditionCheckFailure": "ALL_NEW"}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}}}, {"Put": {"TableName": "tw", "Item": {"pk": "e"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Update": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}, "UpdateExpression": "SET pk = :x", "ExpressionAttributeValues": {":x": 1}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Update": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}, "UpdateExpression": "SET a = "}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "e", "sk": "1"}, "ConditionExpression": "a = :b"}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "e", "sk": "1"}, "ExpressionAttributeValues": {":b": 1}}}]')$$);
SELECT tw_all();

-- Inside the caller's transaction: own writes are seen, a savepoint takes all of it back, what was checked is not in the way of oneself.
BEGIN;
SELECT kv.put_item('tw', '{"pk": "t", "sk": "1", "v": 1}');
SELECT kv.transact_write_items('[{"Update": {"TableName": "tw", "Key": {"pk": "t", "sk": "1"}, "UpdateExpression": "ADD v :one", "ConditionExpression": "v = :one", "ExpressionAttributeValues": {":one": 1}}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "t", "sk": "2"}, "ConditionExpression": "attribute_not_exists(pk)"}}]');
SELECT kv.get('tw', 't', '2') IS NULL;
SAVEPOINT s;
SELECT kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "t", "sk": "2"}, "ConditionExpression": "attribute_not_exists(pk)"}}, {"Delete": {"TableName": "tw", "Key": {"pk": "t", "sk": "1"}}}]');
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "t", "sk": "3"}}}, {"Put": {"TableName": "tw", "Item": {"pk": "t", "sk": "2"}, "ConditionExpression": "attribute_not_exists(pk)"}}]')$$);
SELECT sk, item FROM tw WHERE pk = 't' ORDER BY sk;
ROLLBACK TO s;
SELECT sk, item FROM tw WHERE pk = 't' ORDER BY sk;
SELECT kv.put_item('tw', '{"pk": "t", "sk": "2", "v": 2}');
COMMIT;
SELECT sk, item FROM tw WHERE pk = 't' ORDER BY sk;
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
BEGIN READ ONLY;
SELECT tw_try($$kv.transact_write_items('[{"Delete": {"TableName": "tw", "Key": {"pk": "t", "sk": "2"}}}]')$$);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT kv.transact_write_items('[{"Delete": {"TableName": "tw", "Key": {"pk": "t", "sk": "2"}}}, {"Put": {"TableName": "tw", "Item": {"pk": "t", "sk": "4"}}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "t", "sk": "5"}, "ConditionExpression": "attribute_not_exists(pk)"}}]');
COMMIT;
SELECT sk, item FROM tw WHERE pk = 't' ORDER BY sk;

-- A transaction of many calls does not fill the lock table.
BEGIN;
SELECT count(kv.transact_write_items((SELECT jsonb_agg(jsonb_build_object('Put', jsonb_build_object('TableName', 'tw', 'Item', jsonb_build_object('pk', 'call' || c, 'sk', n::text))))
	FROM generate_series(1, 100) n))) FROM generate_series(1, 150) c;
SELECT count(*) <= 100 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
ROLLBACK;

-- A key that fits no index entry is absent for good.
SELECT tw_try($$kv.transact_write_items(jsonb_build_array(jsonb_build_object('ConditionCheck', jsonb_build_object('TableName', 'tw', 'ConditionExpression', 'attribute_not_exists(pk)', 'Key',
	jsonb_build_object('pk', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 64) i), 'sk', (SELECT string_agg(md5(i::text), '') FROM generate_series(65, 96) i))))))$$);

-- Checks and locks on absent keys leave nothing: no row, no trigger, no constraint, no other unique index is in the way.
ALTER TABLE tw ADD email text GENERATED ALWAYS AS (item ->> 'email') STORED, ADD CONSTRAINT has_email CHECK (email IS NOT NULL) NOT VALID;
CREATE UNIQUE INDEX tw_email ON tw (pk, email) NULLS NOT DISTINCT WHERE pk = 'u';
SELECT kv.put_item('tw', '{"pk": "u", "sk": "1", "email": "a@b"}');
SELECT kv.transact_write_items('[{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "u", "sk": "2"}, "ConditionExpression": "attribute_not_exists(pk)"}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "u", "sk": "3"}, "ConditionExpression": "attribute_not_exists(pk)"}},
	{"Delete": {"TableName": "tw", "Key": {"pk": "u", "sk": "4"}}}]');
SELECT sk, item FROM tw WHERE pk = 'u' ORDER BY sk;
-- Constraints hold for what is written, and then nothing is.
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "u", "sk": "5", "email": "c@d"}}}, {"Put": {"TableName": "tw", "Item": {"pk": "u", "sk": "6", "email": "a@b"}}}]')$$);
SELECT sk, item FROM tw WHERE pk = 'u' ORDER BY sk;
ALTER TABLE tw DROP email;

-- Actions are done in the order of the request: a trigger sees it.
CREATE FUNCTION tw_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE '% %', TG_OP, coalesce(NEW.sk, OLD.sk);
	RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER log BEFORE INSERT OR UPDATE OR DELETE ON tw FOR EACH ROW EXECUTE FUNCTION tw_log();
SELECT kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "w", "sk": "3"}}}, {"Put": {"TableName": "tw", "Item": {"pk": "x", "sk": "1"}}},
	{"Put": {"TableName": "tw", "Item": {"pk": "w", "sk": "2"}}}, {"Delete": {"TableName": "tw", "Key": {"pk": "w", "sk": "0"}}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "x", "sk": "9"}, "ConditionExpression": "attribute_not_exists(pk)"}}]');
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "w", "sk": "7"}}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "w", "sk": "3"}, "ConditionExpression": "attribute_not_exists(pk)"}}]')$$);
DROP TRIGGER log ON tw;
-- A trigger of one action changes the row of a later one: that is judged again.
CREATE FUNCTION tw_meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE tw SET item = item || '{"meddled": true}' WHERE pk = 'w' AND sk = '3';
	RETURN NULL;
END $$;
CREATE TRIGGER meddle AFTER INSERT ON tw FOR EACH ROW EXECUTE FUNCTION tw_meddle();
SELECT kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "y", "sk": "1"}}},
	{"Update": {"TableName": "tw", "Key": {"pk": "w", "sk": "3"}, "UpdateExpression": "SET seen = if_not_exists(meddled, :no)", "ExpressionAttributeValues": {":no": "no"}}}]');
SELECT item FROM tw WHERE pk = 'w' AND sk = '3';
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "y", "sk": "2"}}},
	{"Update": {"TableName": "tw", "Key": {"pk": "w", "sk": "3"}, "UpdateExpression": "REMOVE seen", "ConditionExpression": "meddled = :no", "ExpressionAttributeValues": {":no": "no"}}}]')$$);
UPDATE tw SET item = '{}' WHERE pk = 'w' AND sk = '3';
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw", "Item": {"pk": "y", "sk": "2"}}},
	{"Update": {"TableName": "tw", "Key": {"pk": "w", "sk": "3"}, "UpdateExpression": "SET a = :a", "ConditionExpression": "attribute_not_exists(meddled)", "ExpressionAttributeValues": {":a": 1}, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]')$$);
SELECT kv.get('tw', 'y', '2');
DROP TRIGGER meddle ON tw;

-- Rights: those of the verb on each table; a check needs those of SELECT .. FOR SHARE.
CREATE ROLE tw_ann;
GRANT SELECT ON tw TO tw_ann;
GRANT INSERT, UPDATE ON tw_n TO tw_ann;
SET ROLE tw_ann;
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw_n", "Item": {"n": 20}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw_n", "Item": {"n": 20}, "ConditionExpression": "attribute_exists(n)"}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Update": {"TableName": "tw_n", "Key": {"n": 20}, "UpdateExpression": "REMOVE a"}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw_n", "Item": {"n": 21}}}, {"ConditionCheck": {"TableName": "tw", "Key": {"pk": "y", "sk": "1"}, "ConditionExpression": "attribute_exists(pk)"}}]')$$);
RESET ROLE;
GRANT UPDATE (item) ON tw TO tw_ann;
SET ROLE tw_ann;
SELECT tw_try($$kv.transact_write_items('[{"Put": {"TableName": "tw_n", "Item": {"n": 21}}}, {"ConditionCheck": {"TableName": "tw", "Key": {"pk": "y", "sk": "1"}, "ConditionExpression": "attribute_exists(pk)"}}]')$$);
RESET ROLE;
SELECT i FROM kv.scan('tw_n') i WHERE (i ->> 'n')::int >= 20 ORDER BY i ->> 'n';

-- Row security: what one may not see is absent; what one may see and not change cannot be checked.
GRANT SELECT, INSERT, UPDATE, DELETE ON tw TO tw_ann;
CREATE POLICY see ON tw FOR SELECT USING (item ->> 'owner' IN (current_user, 'all'));
CREATE POLICY add ON tw FOR INSERT WITH CHECK (item ->> 'owner' = current_user);
CREATE POLICY change ON tw FOR UPDATE USING (item ->> 'owner' = current_user);
CREATE POLICY remove ON tw FOR DELETE USING (item ->> 'owner' = current_user);
SELECT kv.put_item('tw', '{"pk": "z", "sk": "hers", "owner": "tw_ann"}');
SELECT kv.put_item('tw', '{"pk": "z", "sk": "his", "owner": "bob"}');
SELECT kv.put_item('tw', '{"pk": "z", "sk": "ours", "owner": "all"}');
ALTER TABLE tw ENABLE ROW LEVEL SECURITY;
SET ROLE tw_ann;
SELECT tw_try($$kv.transact_write_items('[{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "z", "sk": "hers"}, "ConditionExpression": "attribute_exists(pk)"}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "z", "sk": "his"}, "ConditionExpression": "attribute_not_exists(pk)"}},
	{"Put": {"TableName": "tw", "Item": {"pk": "z", "sk": "new", "owner": "tw_ann"}, "ConditionExpression": "attribute_not_exists(pk)"}},
	{"Delete": {"TableName": "tw", "Key": {"pk": "z", "sk": "nothing"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Update": {"TableName": "tw", "Key": {"pk": "z", "sk": "hers"}, "UpdateExpression": "SET v = :v", "ConditionExpression": "attribute_not_exists(v)", "ExpressionAttributeValues": {":v": 1}}},
	{"Delete": {"TableName": "tw", "Key": {"pk": "z", "sk": "new"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Delete": {"TableName": "tw", "Key": {"pk": "z", "sk": "hers"}}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "z", "sk": "ours"}, "ConditionExpression": "attribute_exists(pk)"}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Delete": {"TableName": "tw", "Key": {"pk": "z", "sk": "hers"}}}, {"Put": {"TableName": "tw", "Item": {"pk": "z", "sk": "other", "owner": "bob"}}}]')$$);
SELECT tw_try($$kv.transact_write_items('[{"Delete": {"TableName": "tw", "Key": {"pk": "z", "sk": "hers"}}},
	{"ConditionCheck": {"TableName": "tw", "Key": {"pk": "z", "sk": "his"}, "ConditionExpression": "attribute_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]')$$);
RESET ROLE;
SELECT sk, item FROM tw WHERE pk = 'z' ORDER BY sk;
\t off

-- An error that is the reason for another one has its callers in the context once.
SELECT kv.create_table('tw_l', 'pk', 'sk');
SELECT kv.create_local_index('tw_l', 'tw_by_time', 'at', 'N');
CREATE FUNCTION tw_context() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	context text;
BEGIN
	PERFORM kv.transact_write_items('[{"Put": {"TableName": "tw_l", "Item": {"pk": "a", "sk": "b", "at": "noon"}}}]');
EXCEPTION WHEN SQLSTATE 'KV002' THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN context;
END $$;
SELECT tw_context();

DROP TABLE tw, tw_n, tw_l;
DROP FUNCTION tw_context, tw_try, tw_all, tw_puts, tw_log, tw_meddle;
DROP ROLE tw_ann;
