-- Conditions on writes: judged before anything is written, raised or returned.
SELECT kv.create_table('cond', 'pk', 'sk');

-- An item that does not exist is an empty one.
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 1}', 'attribute_exists(pk)');
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 1}', 'v = :v', '{":v": 1}', return_values_on_failure => 'ALL_OLD');
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 1}', 'attribute_not_exists(v) AND attribute_not_exists(pk)');

-- Only if absent.
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 2}', 'attribute_not_exists(pk)');
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 2}', 'attribute_not_exists(pk)', return_values_on_failure => 'ALL_OLD');
SELECT kv.put_item('cond', '{"pk": "a", "sk": "2", "v": 2}', 'attribute_not_exists(pk)', return_values => 'ALL_OLD');

-- A version check.
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 2}', 'v = :old', '{":old": 1}', return_values => 'ALL_OLD');
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 2}', 'v = :old', '{":old": 1}', return_values => 'ALL_OLD');
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 3}', '#v = :old AND pk = :pk', '{":old": 2, ":pk": "a"}', '{"#v": "v"}', 'ALL_OLD');
SELECT kv.get('cond', 'a', '1');

-- The code, and DETAIL as JSON.
DO $$
DECLARE
	detail text;
	message text;
BEGIN
	PERFORM kv.put_item('cond', '{"pk": "a", "sk": "1", "v": 4}', 'attribute_not_exists(pk)', return_values_on_failure => 'ALL_OLD');
EXCEPTION WHEN SQLSTATE 'KV001' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, message = MESSAGE_TEXT;
	RAISE NOTICE '% / %', message, (detail::jsonb ->> 'v')::int + 1;
END $$;

-- As a value: always an object, with what was asked for.
SELECT kv.put_item('cond', '{"pk": "b", "sk": "1", "v": 1}', 'attribute_not_exists(pk)', on_condition_failure => 'return');
SELECT kv.put_item('cond', '{"pk": "b", "sk": "1", "v": 2}', 'attribute_not_exists(pk)', on_condition_failure => 'return');
SELECT kv.put_item('cond', '{"pk": "b", "sk": "1", "v": 2}', 'attribute_not_exists(pk)', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.put_item('cond', '{"pk": "b", "sk": "1", "v": 3}', 'v = :v', '{":v": 1}', return_values => 'ALL_OLD', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.put_item('cond', '{"pk": "b", "sk": "2", "v": 3}', 'v = :v', '{":v": 1}', return_values => 'ALL_OLD', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.put_item('cond', '{"pk": "b", "sk": "2", "v": 3}', return_values => 'ALL_OLD', on_condition_failure => 'return');
SELECT (kv.put_item('cond', '{"pk": "b", "sk": "2", "v": 4}', 'attribute_not_exists(pk)', on_condition_failure => 'return') -> 'applied')::bool;
SELECT item FROM cond WHERE pk = 'b' ORDER BY sk;

-- An attribute called like a member of the answer is no problem.
SELECT kv.put_item('cond', '{"pk": "c", "sk": "1", "applied": false, "item": 1}', on_condition_failure => 'return');
SELECT kv.put_item('cond', '{"pk": "c", "sk": "1", "applied": 0}', return_values => 'ALL_OLD', on_condition_failure => 'return');

-- A claim and what depends on it in one transaction, without a savepoint.
CREATE TABLE cond_log (who text, got bool);
CREATE FUNCTION cond_claim(email text, who text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb := kv.put_item('cond', jsonb_build_object('pk', 'EMAIL#' || email, 'sk', 'CLAIM', 'who', who),
								'attribute_not_exists(pk)', on_condition_failure => 'return');
BEGIN
	INSERT INTO cond_log VALUES (who, (answer -> 'applied')::bool);
	RETURN (answer -> 'applied')::bool;
END $$;
BEGIN;
SELECT cond_claim('ana@example.com', 'ana');
SELECT cond_claim('ana@example.com', 'bob');
SELECT cond_claim('bob@example.com', 'bob');
COMMIT;
SELECT * FROM cond_log ORDER BY who, got;

-- A row that nobody is changing is judged as it stands; a failed condition locks it.
BEGIN;
SELECT kv.put_item('cond', '{"pk": "a", "sk": "1"}', 'attribute_not_exists(pk)', on_condition_failure => 'return');
SELECT xmax::text = pg_current_xact_id()::text AS locked_by_us FROM cond WHERE pk = 'a' AND sk = '1';
ROLLBACK;

-- In a statement that writes many.
SELECT n, kv.put_item('cond', jsonb_build_object('pk', 'seq', 'sk', 's', 'n', n), 'attribute_not_exists(pk) OR n = :before',
	jsonb_build_object(':before', n - 1), on_condition_failure => 'return') FROM generate_series(1, 4) n ORDER BY n;
SELECT kv.get('cond', 'seq', 's');

DROP FUNCTION cond_claim;
DROP TABLE cond, cond_log;
