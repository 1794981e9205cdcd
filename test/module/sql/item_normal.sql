-- kv_item_normalize gives back its argument where nothing has to change, and
-- kv_item_check_rest accepts exactly what needs no change (numbers aside).
LOAD 'key_value';
CREATE FUNCTION rest_outcome(rest jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text; hint text;
BEGIN
	PERFORM kv_test.check_rest('{pk,sk}', 'SS', rest);
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on

-- In normal form.
SELECT kv_test.normalize_is_free(v::jsonb), rest_outcome(v::jsonb), v FROM unnest(ARRAY[
	'{}', '{"a": 1, "b": -1.5, "c": 0.001, "d": "", "e": null, "f": [true, [], {}]}',
	'{"b": {"$B": "AQI="}, "m": {"$$B": 1}, "l": [{"$SS": ["a", "b"]}, {"$NS": [1, 2]}, {"$BS": ["AA==", "/w=="]}]}',
	'{"n": 12345678901234567890123456789012345678}', '{"n": 100000000000000000000000000000000000000000000000000}'
]) WITH ORDINALITY AS t(v, i) ORDER BY i;

-- Not in normal form.
SELECT kv_test.normalize_is_free(v::jsonb), kv_test.normalize(v::jsonb), rest_outcome(v::jsonb) FROM unnest(ARRAY[
	'{"a": 1.0}', '{"a": [{"b": 0.00}]}', '{"a": {"$NS": [1.0, 2.50]}}',
	'{"a": {"$NS": [2, 1]}}', '{"a": {"b": [{"$SS": ["b", "a"]}]}}', '{"a": {"$BS": ["/w==", "AA=="]}}', '{"a": {"$B": "QR=="}}', '{"a": {"$BS": ["AA==", "QR=="]}}', '{"a": {"$B": "AQ I="}}'
]) WITH ORDINALITY AS t(v, i) ORDER BY i;

-- Lone values, as they may come in a placeholder.
SELECT kv_test.normalize(v::jsonb), kv_test.normalize_is_free(v::jsonb)
FROM unnest(ARRAY['1.0', '1', '"a"', 'null', '[1.0, {"$SS": ["b", "a"]}]', '[]']) WITH ORDINALITY AS t(v, i) ORDER BY i;
SELECT kv_test.normalize('1e200');
SELECT kv_test.normalize('[1e200]');

-- What plain SQL must not store.
SELECT rest_outcome(v::jsonb) FROM unnest(ARRAY[
	'[]', '1', '"a"', 'null', '{"pk": 1}', '{"a": 1, "sk": null}', '{"a": {"pk": 1, "sk": 1}}', '{"a": {"$B": 5}}', '{"a": {"$SS": []}}', '{"a": {"$NS": [1, 1.0]}}', '{"a": {"$NS": [2, 1, 2]}}',
	'{"a": {"$SS": ["a", 1]}}', '{"a": 1e126}', '{"a": 1.23456789012345678901234567890123456789}', '{"": 1}'
]) WITH ORDINALITY AS t(v, i) ORDER BY i;

-- Whatever is normalised is normal: random sets in random order.
SELECT setseed(0.75);
SELECT count(*), count(*) FILTER (WHERE NOT kv_test.normalize_is_free(normal)) AS unstable,
	   count(*) FILTER (WHERE rest_outcome(normal) <> 'ok') AS refused,
	   count(*) FILTER (WHERE NOT kv_test.jsonb_identical(normal, slow)) AS wrong
FROM (SELECT kv_test.normalize(jsonb_build_object('a', jsonb_build_array(1.50, jsonb_build_object('$NS', numbers)),
												  'b', jsonb_build_object('$BS', binaries), 'c', jsonb_build_object('$SS', strings))) AS normal,
			 jsonb_build_object('a', jsonb_build_array(1.5, jsonb_build_object('$NS', (SELECT jsonb_agg(trim_scale(v::numeric) ORDER BY v::numeric) FROM jsonb_array_elements(numbers) AS v))),
								'b', jsonb_build_object('$BS', (SELECT jsonb_agg(v ORDER BY decode(v, 'base64')) FROM jsonb_array_elements_text(binaries) AS v)),
								'c', jsonb_build_object('$SS', (SELECT jsonb_agg(v ORDER BY v COLLATE "C") FROM jsonb_array_elements_text(strings) AS v))) AS slow
	  FROM (SELECT jsonb_agg(DISTINCT round(random()::numeric * 1000 - 500, 1)) AS numbers,
				   jsonb_agg(DISTINCT encode(decode(repeat(lpad(to_hex(floor(random() * 256)::int), 2, '0'), floor(random() * 4)::int), 'hex'), 'base64')) AS binaries,
				   jsonb_agg(DISTINCT substr('zaéx😀', floor(random() * 5)::int, floor(random() * 4)::int) || floor(random() * 30)::int) AS strings
			FROM generate_series(1, 20000) AS n GROUP BY n % 2000) AS sets) AS t;

DROP FUNCTION rest_outcome(jsonb);
