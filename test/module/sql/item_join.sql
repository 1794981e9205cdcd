-- kv_item_join and kv_item_split edit jsonb in its binary form: what they
-- give must be, byte for byte, what core's own functions give.
LOAD 'key_value';

-- A random name; short ones meet often, long ones shift what lies behind them.
CREATE FUNCTION random_name() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT translate(substr(md5(random()::text), 1, 1 + floor(random() ^ 2 * 9)::int), '0123456789', 'abcdefabcd')
		   || CASE WHEN random() < 0.1 THEN 'é' ELSE '' END $$;

-- A random value of any type, nested to a small depth.
CREATE FUNCTION random_value(depth int) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	kind int := floor(random() * CASE WHEN depth > 2 THEN 7 ELSE 10 END);
	result jsonb;
BEGIN
	CASE kind
		WHEN 0 THEN RETURN 'null';
		WHEN 1 THEN RETURN to_jsonb(random() < 0.5);
		WHEN 2 THEN RETURN to_jsonb(floor(random() * 1000)::int);
		WHEN 3 THEN RETURN to_jsonb((random() * 10 ^ floor(random() * 30 - 15))::numeric);
		WHEN 4 THEN RETURN to_jsonb(''::text);
		WHEN 5, 6 THEN RETURN to_jsonb(repeat('x', floor(random() * 20)::int));
		WHEN 7 THEN
			SELECT coalesce(jsonb_agg(random_value(depth + 1)), '[]') INTO result
			FROM generate_series(1, floor(random() * 5)::int);
			RETURN result;
		ELSE RETURN random_item(floor(random() * 5)::int, depth + 1);
	END CASE;
END $$;

-- A random object.
CREATE FUNCTION random_item(members int, depth int) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
	SELECT coalesce(jsonb_object_agg(name, random_value(depth)), '{}')
	FROM (SELECT DISTINCT random_name() AS name FROM generate_series(1, members)) AS names $$;

-- A key value as core puts it into an object.
CREATE FUNCTION slow_value(type text, value text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE type WHEN 'S' THEN to_jsonb(value) WHEN 'N' THEN to_jsonb(value::numeric)
		ELSE jsonb_build_object('$B', value) END $$;

CREATE FUNCTION random_key(type text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE type WHEN 'S' THEN repeat('k', 1 + floor(random() * 9)::int)
		WHEN 'N' THEN floor(random() * 10 ^ floor(random() * 12))::numeric::text
		ELSE translate(encode(decode(repeat('a7', 1 + floor(random() * 60)::int), 'hex'), 'base64'), E'\n', '') END $$;

SELECT setseed(0.5);

CREATE TEMP TABLE cases AS
	SELECT n, names, types, key, whole, whole - names AS rest
	FROM (SELECT n, names, types, key,
				 random_item(members, 0)
				 || jsonb_build_object(names[1], slow_value(substr(types, 1, 1), key[1]))
				 || CASE WHEN length(types) = 2
						 THEN jsonb_build_object(names[2], slow_value(substr(types, 2, 1), key[2]))
						 ELSE '{}' END AS whole
		  FROM (SELECT n, types, members,
					   CASE WHEN length(types) = 2 THEN ARRAY[first, second] ELSE ARRAY[first] END AS names,
					   CASE WHEN length(types) = 2
							THEN ARRAY[random_key(substr(types, 1, 1)), random_key(substr(types, 2, 1))]
							ELSE ARRAY[random_key(types)] END AS key
				FROM (SELECT n, random_name() AS first, random_name() || 'z' AS second,
							 (ARRAY['S','N','B','SS','SN','SB','NS','NN','NB','BS','BN','BB'])[1 + n % 12] AS types,
							 CASE WHEN n % 7 = 0 THEN 0 WHEN n % 7 = 1 THEN floor(random() * 150)::int
								  ELSE floor(random() * 12)::int END AS members
					  FROM generate_series(1, 2000) AS n OFFSET 0) AS a OFFSET 0) AS b OFFSET 0) AS c;

-- The cases are as varied as they are meant to be.
SELECT count(*) AS cases, count(DISTINCT types) AS key_types,
	   bool_or(rest = '{}') AS empty, bool_or((SELECT count(*) FROM jsonb_object_keys(rest)) > 64) AS large
FROM cases;

SELECT count(*) AS joined_wrong FROM cases
WHERE NOT kv_test.jsonb_identical(kv_test.join(names, types, key, rest), whole);

SELECT count(*) AS split_wrong FROM cases, kv_test.split(names, types, whole) AS s
WHERE NOT kv_test.jsonb_identical(s.rest, cases.rest);

SELECT count(*) AS keys_wrong FROM cases, kv_test.split(names, types, whole) AS s
WHERE NOT kv_test.jsonb_identical(whole, (SELECT cases.rest || jsonb_object_agg(names[i],
		slow_value(substr(types, i, 1), CASE substr(types, i, 1)
			WHEN 'B' THEN translate(encode(s.key[i]::bytea, 'base64'), E'\n', '') ELSE s.key[i] END))
	FROM generate_subscripts(names, 1) AS i));

-- kv_key_to_json is the join with nothing.
SELECT count(*) AS key_json_wrong FROM cases
WHERE NOT kv_test.jsonb_identical(kv_test.key_to_json(names, types, key), kv_test.join(names, types, key, '{}'));

-- An item's jsonb is never smaller than its size by the rule: kv_item_check_size relies on it.
SELECT count(*) AS smaller FROM cases WHERE pg_column_size(whole::text::jsonb) < kv.item_size(whole);

-- What is compared above also reads back.
SELECT kv_test.join('{pk,sk}', 'SN', '{a,10.50}', '{"n": 1, "body": "x", "l": [1, {}]}');
SELECT kv_test.join('{pk,sk}', 'BB', '{AA==,/w==}', '{}');
SELECT * FROM kv_test.split('{pk,sk}', 'SB', '{"n": 1, "pk": "a", "sk": {"$B": "/wA="}, "body": "x"}');
SELECT * FROM kv_test.split('{pk}', 'N', '{"pk": 7}');

-- An attribute of the key's name in the stored item gives way to the key.
SELECT kv_test.join('{pk,sk}', 'SS', '{a,b}', '{"a": 1, "pk": 5, "sk": [1, 2], "z": 3}');

-- Not an object; no key.
SELECT kv_test.join('{pk}', 'S', '{a}', '[1]');
SELECT kv_test.join('{pk}', 'S', '{a}', '1');
SELECT kv_test.split('{pk}', 'S', '[1]');
SELECT kv_test.split('{pk}', 'S', '"pk"');
SELECT kv_test.split('{pk,sk}', 'SS', '{"pk": "a", "skk": "b"}');
SELECT kv_test.split('{pk,sk}', 'SS', '{}');

DROP TABLE cases;
DROP FUNCTION random_name(), random_value(int), random_item(int, int), random_key(text), slow_value(text, text);
