-- Keys out of JSON and text: every error names the attribute.
LOAD 'key_value';
CREATE FUNCTION json_outcome(types text, key jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text;
BEGIN
	RETURN kv_test.key_from_json(CASE length(types) WHEN 1 THEN '{pk}' ELSE '{pk,sk}' END::text[], types, key);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || message, nullif(detail, ''));
END $$;
CREATE FUNCTION text_outcome(type text, key text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text;
BEGIN
	RETURN kv_test.key_to_json('{pk}', type, ARRAY[key]);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || message, nullif(detail, ''));
END $$;
\pset format unaligned
\pset tuples_only on

SELECT types, key, json_outcome(types, key::jsonb) FROM (VALUES
	(1, 'S', '{"pk": "a"}'), (2, 'N', '{"pk": 1.50}'), (3, 'B', '{"pk": {"$B": "AP8="}}'), (4, 'SN', '{"sk": -0, "pk": "é"}'), (5, 'NB', '{"pk": 1e3, "sk": {"$B": "QR=="}}'),
	-- missing, extra
	(10, 'S', '{}'), (11, 'SS', '{"pk": "a"}'), (12, 'SS', '{"sk": "a"}'), (13, 'S', '{"pk": "a", "sk": "b"}'), (14, 'SS', '{"pk": "a", "sk": "b", "x": 1}'), (15, 'SS', '{"pk": "a", "x": 1}'), (16, 'S', '{"PK": "a"}'),
	-- not an object
	(20, 'S', '"a"'), (21, 'S', '["pk"]'), (22, 'S', 'null'),
	-- empty, null
	(30, 'S', '{"pk": ""}'), (31, 'SS', '{"pk": "a", "sk": ""}'), (32, 'B', '{"pk": {"$B": ""}}'), (33, 'S', '{"pk": null}'), (34, 'SN', '{"pk": "a", "sk": null}'),
	-- wrong type
	(40, 'S', '{"pk": 1}'), (41, 'N', '{"pk": "1"}'), (42, 'B', '{"pk": "QQ=="}'), (43, 'S', '{"pk": {"$B": "QQ=="}}'), (44, 'S', '{"pk": {"$SS": ["a"]}}'), (45, 'N', '{"pk": {"$NS": [1]}}'),
	(46, 'S', '{"pk": [1]}'), (47, 'S', '{"pk": {"a": 1}}'), (48, 'S', '{"pk": true}'), (49, 'B', '{"pk": {"$$B": "QQ=="}}'), (50, 'B', '{"pk": {"$BS": ["QQ=="]}}'),
	-- malformed
	(60, 'B', '{"pk": {"$B": 5}}'), (61, 'B', '{"pk": {"$B": "Q"}}'), (62, 'N', '{"pk": 1e126}'), (63, 'N', '{"pk": 1.23456789012345678901234567890123456789}')
) AS t(i, types, key) ORDER BY i;

-- Lengths: 2048 and 1024 bytes.
SELECT length(json_outcome('SS', jsonb_build_object('pk', repeat('é', 1024), 'sk', repeat('x', 1024))));
SELECT json_outcome('SS', jsonb_build_object('pk', repeat('é', 1024) || 'x', 'sk', 'x'));
SELECT json_outcome('SS', jsonb_build_object('pk', 'x', 'sk', repeat('x', 1025)));
SELECT length(json_outcome('BB', jsonb_build_object('pk', jsonb_build_object('$B', encode(decode(repeat('00', 2048), 'hex'), 'base64')), 'sk', '{"$B": "AA=="}'::jsonb)));
SELECT json_outcome('BB', jsonb_build_object('pk', jsonb_build_object('$B', encode(decode(repeat('00', 2049), 'hex'), 'base64')), 'sk', '{"$B": "AA=="}'::jsonb));
SELECT json_outcome('BB', jsonb_build_object('sk', jsonb_build_object('$B', encode(decode(repeat('00', 1025), 'hex'), 'base64')), 'pk', '{"$B": "AA=="}'::jsonb));

-- Keys as text.
SELECT type, key, text_outcome(type, key) FROM (VALUES
	(1, 'S', 'a'), (2, 'S', ' 1.0 '), (3, 'N', '1.50'), (4, 'N', '1e3'), (5, 'N', '-0'), (6, 'B', 'AP8='), (7, 'B', 'QR=='),
	(10, 'S', ''), (11, 'N', ''), (12, 'N', 'a'), (13, 'N', 'NaN'), (14, 'N', ' 1'), (15, 'N', '1e126'), (16, 'B', ''), (17, 'B', 'Q'), (18, 'B', '\x00')
) AS t(i, type, key) ORDER BY i;
SELECT text_outcome('S', repeat('x', 2049));

-- Key values as item values.
SELECT kv_test.key_to_value('S', 'a'), kv_test.key_to_value('N', '1.0'), kv_test.key_to_value('B', 'AP8=');

-- Values from columns: special numerics, packed and toasted.
CREATE TABLE keys (n numeric, s text);
ALTER TABLE keys ALTER s SET STORAGE EXTERNAL;
INSERT INTO keys VALUES (1.50, 'a'), ('NaN', ''), ('Infinity', repeat('x', 2048)), ('-Infinity', repeat('x', 2049)), (1e126, repeat('x', 10000)), (0, repeat('x', 1000000));
DO $$
DECLARE
	k keys;
BEGIN
	FOR k IN SELECT * FROM keys ORDER BY length(s) LOOP
		BEGIN
			PERFORM kv_test.check_number_key(n) FROM keys WHERE s = k.s;
			RAISE NOTICE 'number % ok', k.n;
		EXCEPTION WHEN SQLSTATE 'KV007' THEN RAISE NOTICE '%', SQLERRM;
		END;
		BEGIN
			PERFORM kv_test.check_text_key(0, s) FROM keys WHERE s = k.s;
			RAISE NOTICE 'text of % bytes ok', length(k.s);
		EXCEPTION WHEN SQLSTATE 'KV007' THEN RAISE NOTICE '%', SQLERRM;
		END;
	END LOOP;
END $$;
SELECT kv_test.check_text_key(1, repeat('x', 1025));
DROP TABLE keys;

-- Order: strings and binaries by bytes, numbers by value.
SELECT type, a, b, kv_test.key_compare(type, a, b), kv_test.key_compare(type, b, a) FROM (VALUES
	(1, 'S', 'a', 'b'), (2, 'S', 'B', 'a'), (3, 'S', 'a', 'ab'), (4, 'S', 'z', 'é'), (5, 'S', 'ﬁ', '😀'), (6, 'S', 'a', 'a'),
	(7, 'N', '9', '10'), (8, 'N', '-10', '-9'), (9, 'N', '1.0', '1'), (10, 'B', 'AA==', 'AAA='), (11, 'B', 'fw==', 'gA=='), (12, 'B', '+A==', '/w==')
) AS t(i, type, a, b) ORDER BY i;

-- A prefix as a range: everything that begins with it and nothing else.
SELECT prefix, low, high FROM unnest(ARRAY['a', 'MSG#', 'az', '', U&'\007F', U&'\07FF', U&'\D7FF', U&'\FFFF', U&'a\+10FFFF', U&'\+10FFFF']) WITH ORDINALITY AS t(prefix, i), kv_test.prefix_range_text(prefix)
WHERE prefix !~ U&'[\007F-\+10FFFF]' ORDER BY i;
SELECT convert_to(prefix, 'UTF8'), convert_to(high, 'UTF8') FROM unnest(ARRAY[U&'\007F', U&'\07FF', U&'\D7FF', U&'\FFFF', U&'a\+10FFFF', U&'\+10FFFF']) WITH ORDINALITY AS t(prefix, i), kv_test.prefix_range_text(prefix) ORDER BY i;
SELECT prefix, low, high FROM unnest(ARRAY['\x', '\x00', '\x61ff', '\x61ffff', '\xff', '\xffff', '\xfffe']::bytea[]) WITH ORDINALITY AS t(prefix, i), kv_test.prefix_range_bytea(prefix) ORDER BY i;

SELECT setseed(0.125);
CREATE TEMP TABLE words AS SELECT decode(string_agg(lpad(to_hex((ARRAY[0, 1, 97, 127, 128, 254, 255])[1 + floor(random() * 7)::int]), 2, '0'), ''), 'hex') AS word
FROM generate_series(1, 3000) AS n GROUP BY n % 900;
SELECT count(*) > 0 AS tried, count(*) FILTER (WHERE (substr(w.word, 1, length(p.word)) = p.word) IS DISTINCT FROM
	((low IS NULL OR w.word >= low) AND (high IS NULL OR w.word < high))) AS wrong
FROM words AS w, (SELECT substr(word, 1, 3) AS word FROM words LIMIT 200) AS p, kv_test.prefix_range_bytea(p.word);
CREATE TEMP TABLE texts AS SELECT string_agg((ARRAY[U&'\0001', 'a', U&'\007F', U&'\0080', U&'\07FF', U&'\0800', U&'\D7FF', U&'\E000', U&'\FFFF', U&'\+010000', U&'\+10FFFF'])[1 + floor(random() * 11)::int], '') AS word
FROM generate_series(1, 3000) AS n GROUP BY n % 900;
SELECT count(*) > 0 AS tried, count(*) FILTER (WHERE starts_with(w.word, p.word) IS DISTINCT FROM
	((low IS NULL OR w.word COLLATE "C" >= low) AND (high IS NULL OR w.word COLLATE "C" < high))) AS wrong
FROM texts AS w, (SELECT substr(word, 1, 2) AS word FROM texts LIMIT 200) AS p, kv_test.prefix_range_text(p.word);

DROP FUNCTION json_outcome(text, jsonb), text_outcome(text, text);
