-- A table made by hand has no check, so its items can hold malformed markers:
-- an error or "no", never a crash.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on

CREATE TABLE by_hand (pk text COLLATE "C" NOT NULL PRIMARY KEY, item jsonb NOT NULL) USING key_value;
INSERT INTO by_hand SELECT 'k' || n, jsonb_build_object('a', value) FROM unnest(ARRAY[
	'{"$B": 5}', '{"$B": "?"}', '{"$B": null}', '{"$B": {"x": 1}}', '{"$B": [1]}', '{"$B": ""}', '{"$SS": 5}', '{"$SS": "x"}', '{"$SS": {"x": 1}}', '{"$SS": []}', '{"$SS": [1]}',
	'{"$SS": [["x"]]}', '{"$SS": ["b", "a"]}', '{"$SS": ["a", null]}', '{"$NS": ["a"]}', '{"$NS": [1, "a", 2]}', '{"$NS": [null]}', '{"$NS": [2, 1, 1]}', '{"$BS": [1]}', '{"$BS": ["?"]}', '{"$BS": ["AQ"]}',
	'1e200', '1.50', '{"": 1}']::jsonb[]) WITH ORDINALITY AS t(value, n);

-- Asks all items, each alone, and counts the kinds of answers.
CREATE FUNCTION ask(filter text, attribute_values jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	yes int := 0; no int := 0; errors int := 0;
BEGIN
	FOR n IN 1 .. 24 LOOP
		BEGIN
			IF EXISTS (SELECT FROM kv.query('by_hand', 'pk = :pk', attribute_values || jsonb_build_object(':pk', 'k' || n), filter => filter)) THEN
				yes := yes + 1;
			ELSE
				no := no + 1;
			END IF;
		EXCEPTION WHEN SQLSTATE 'KV007' THEN
			errors := errors + 1;
		END;
	END LOOP;
	RETURN format('%s: %s yes, %s no, %s errors', filter, yes, no, errors);
END $$;
SELECT ask(filter, attribute_values) FROM (VALUES
	(1, 'contains(a, :v)', '{":v": "a"}'::jsonb), (2, 'contains(a, :v)', '{":v": 1}'), (3, 'contains(a, :v)', '{":v": {"$B": "AQ=="}}'), (4, 'size(a) > :v', '{":v": -1}'),
	(5, 'a = :v', '{":v": {"$B": "AQ=="}}'), (6, 'a < :v', '{":v": {"$B": "AQ=="}}'), (7, 'a = :v', '{":v": {"$SS": ["a", "b"]}}'), (8, 'a <> :v', '{":v": {"$NS": [1]}}'),
	(9, 'begins_with(a, :v)', '{":v": {"$B": "AQ=="}}'), (10, 'a > :v', '{":v": 1}'), (11, 'attribute_type(a, :v)', '{":v": "NS"}'), (12, 'attribute_exists(a.b)', '{}')
) AS t(n, filter, attribute_values) ORDER BY n;

-- Updates of them: the result is an error or a valid item.
CREATE FUNCTION change(update text, attribute_values jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	done int := 0; errors int := 0;
BEGIN
	FOR n IN 1 .. 24 LOOP
		BEGIN
			PERFORM kv.update_item('by_hand', jsonb_build_object('pk', 'k' || n), update, attribute_values => attribute_values);
			done := done + 1;
			RAISE EXCEPTION 'undo';
		EXCEPTION WHEN SQLSTATE 'KV007' THEN
			errors := errors + 1;
		WHEN raise_exception THEN
			NULL;
		END;
	END LOOP;
	RETURN format('%s: %s done, %s errors', update, done, errors);
END $$;
SELECT change(update, attribute_values) FROM (VALUES
	(1, 'ADD a :v', '{":v": {"$SS": ["c"]}}'::jsonb), (2, 'ADD a :v', '{":v": {"$NS": [3]}}'), (3, 'DELETE a :v', '{":v": {"$NS": [1]}}'), (4, 'DELETE a :v', '{":v": {"$BS": ["AQ=="]}}'),
	(5, 'SET b = a', NULL), (6, 'SET b = a + :v', '{":v": 1}'), (7, 'SET a.x = :v', '{":v": 1}'), (8, 'REMOVE a.b', NULL), (9, 'SET b = :v', '{":v": 1}')
) AS t(n, update, attribute_values) ORDER BY n;

DROP TABLE by_hand;
DROP FUNCTION ask, change;
