--
-- Any item within the limits comes back byte for byte, in its normal form,
-- after put, an update of another attribute, and get.
--
SET client_min_messages = warning;
SELECT kv.create_table('round_trip', 'pk', 'sk', partitions => 2);

-- A random string: ASCII, quotes and backslashes, accents, CJK, beyond the basic plane, combining marks, controls.
CREATE FUNCTION round_trip_string(length int) RETURNS text LANGUAGE sql VOLATILE AS $function$
	SELECT coalesce(string_agg((ARRAY['a', 'Z', '0', ' ', '"', '\', '/', '$', '#', ':', '.', U&'\00e9', U&'\00df', U&'\0301',
			U&'\4e2d', U&'\3042', U&'\+01f600', U&'\+010348', U&'\202e', U&'\feff', U&'\ffff', E'\t', E'\n', E'\x01', E'\x7f'])
			[1 + floor(random() * 25)::int], ''), '')
	FROM generate_series(1, length)
$function$;

-- A random value in normal form, of every type, down to the given depth.
CREATE FUNCTION round_trip_value(depth int) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $function$
DECLARE
	kind int := floor(random() * CASE WHEN depth > 0 THEN 10 ELSE 8 END);
	members int := floor(random() * 4);
BEGIN
	RETURN CASE kind
		WHEN 0 THEN to_jsonb(round_trip_string(floor(random() * 20)::int))
		WHEN 1 THEN to_jsonb(floor(random() * 1e6)::bigint - 500000)
		WHEN 2 THEN to_jsonb(trim_scale(round((random() * 1e9)::numeric, 7) * ('1e' || (floor(random() * 60) - 30)::int)::numeric))
		WHEN 3 THEN (ARRAY['null', 'true', 'false', '99999999999999999999999999999999999999', '1e125', '-1e-130', '""', '[]', '{}']::jsonb[])
			[1 + floor(random() * 9)::int]
		WHEN 4 THEN jsonb_build_object('$B', encode(sha224(random()::text::bytea), 'base64'))
		WHEN 5 THEN jsonb_build_object('$SS', (SELECT jsonb_agg(s ORDER BY s COLLATE "C")
			FROM (SELECT DISTINCT round_trip_string(3) s FROM generate_series(0, members)) x))
		WHEN 6 THEN jsonb_build_object('$NS', (SELECT jsonb_agg(n ORDER BY n)
			FROM (SELECT DISTINCT floor(random() * 1000)::int n FROM generate_series(0, members)) x))
		WHEN 7 THEN jsonb_build_object((ARRAY['$$B', '$$SS', '$$$NS', '$', '$x'])[1 + floor(random() * 5)::int], round_trip_string(5))
		WHEN 8 THEN coalesce((SELECT jsonb_agg(round_trip_value(depth - 1)) FROM generate_series(1, members)), '[]')
		ELSE coalesce((SELECT jsonb_object_agg('k' || round_trip_string(4), round_trip_value(depth - 1)) FROM generate_series(1, members)), '{}')
	END;
END;
$function$;

DO $$
DECLARE
	item jsonb;
	expected jsonb;
	checked int := 0;
BEGIN
	PERFORM setseed(0.25);
	FOR i IN 1 .. 1000 LOOP
		SELECT coalesce(jsonb_object_agg('a' || n || round_trip_string(3), round_trip_value(5)), '{}') INTO item
		FROM generate_series(1, floor(random() * 12)::int) n;
		item := item || jsonb_build_object('pk', 'p' || round_trip_string(6), 'sk', 's' || round_trip_string(6));
		PERFORM kv.put_item('round_trip', item);
		IF kv.get('round_trip', item ->> 'pk', item ->> 'sk')::text IS DISTINCT FROM item::text THEN
			RAISE WARNING 'put: %', item;
		END IF;

		expected := item || '{"zz other": 1}';
		PERFORM kv.update_item('round_trip', jsonb_build_object('pk', item -> 'pk', 'sk', item -> 'sk'), 'SET #o = :v',
			attribute_names => '{"#o": "zz other"}', attribute_values => '{":v": 1.0}');
		IF kv.get('round_trip', item ->> 'pk', item ->> 'sk')::text IS DISTINCT FROM expected::text THEN
			RAISE WARNING 'update: %', item;
		END IF;
		IF kv.from_dynamodb_json(kv.to_dynamodb_json(item))::text IS DISTINCT FROM item::text THEN
			RAISE WARNING 'typed: %', item;
		END IF;
		checked := checked + 1;
	END LOOP;
	RAISE WARNING '% items', checked;
END;
$$;

-- The deepest item, and one at the size limit.
SELECT kv.put_item('round_trip', jsonb_build_object('pk', 'deep', 'sk', '1', 'v', (repeat('[', 32) || repeat(']', 32))::jsonb));
SELECT kv.get('round_trip', 'deep', '1') ->> 'v' = repeat('[', 32) || repeat(']', 32) AS deep;
SELECT kv.put_item('round_trip', jsonb_build_object('pk', 'large', 'sk', '1', 'v', repeat(U&'\4e2d', 136000)));
SELECT kv.update_item('round_trip', '{"pk": "large", "sk": "1"}', 'SET w = :w', attribute_values => '{":w": "x"}') IS NULL AS updated;
SELECT kv.get('round_trip', 'large', '1') ->> 'v' = repeat(U&'\4e2d', 136000) AS large;

DROP FUNCTION round_trip_value, round_trip_string;
SELECT kv.drop_table('round_trip');
