-- The value model: markers, sets, depth, names.  kv.to_dynamodb_json and back
-- shows what an item is taken for, and its normal form.

CREATE FUNCTION normal(item jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text; hint text;
BEGIN
	RETURN kv.from_dynamodb_json(kv.to_dynamodb_json(item));
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on

-- Every type, as DynamoDB names it.
SELECT jsonb_pretty(kv.to_dynamodb_json('{"s": "x", "n": 1, "b": {"$B": "AQI="}, "ss": {"$SS": ["a"]},
	"ns": {"$NS": [1]}, "bs": {"$BS": ["AQI="]}, "m": {"k": "v"}, "l": [1], "z": null, "t": true, "f": false}'));

-- Empty string, binary, map, list are values.
SELECT normal('{"s": "", "b": {"$B": ""}, "m": {}, "l": [], "ss": {"$SS": [""]}, "bs": {"$BS": [""]}}');
SELECT normal('{}');

-- Binaries: standard alphabet, padded; white space of encode() goes, unused bits too.
SELECT normal(jsonb_build_object('b', jsonb_build_object('$B', v))) FROM unnest(ARRAY[
	'QQ==', 'QUI=', 'QUJD', '+/+/', E'QU\nJD', 'QR==', 'QUJ=', 'QQ', 'QQ=', 'QQ===', '=', '====', 'Q===', 'QQ==QQ==', '-_-_', 'Q Q = =', 'QÄ=='
]) WITH ORDINALITY AS t(v, n) ORDER BY n;
SELECT normal(jsonb_build_object('b', jsonb_build_object('$B', encode(decode(repeat('00ff', 50), 'hex'), 'base64'))))::jsonb
	= jsonb_build_object('b', jsonb_build_object('$B', replace(encode(decode(repeat('00ff', 50), 'hex'), 'base64'), E'\n', '')));

-- Markers that hold something else.
SELECT normal(v::jsonb) FROM unnest(ARRAY[
	'{"b": {"$B": 5}}', '{"b": {"$B": null}}', '{"b": {"$B": ["QQ=="]}}', '{"b": {"$B": {"$B": "QQ=="}}}',
	'{"a": [{"x": {"$SS": "a"}}]}', '{"a": {"$SS": {"a": 1}}}', '{"a": {"$SS": ["a", 1]}}', '{"a": {"$SS": [["a"]]}}',
	'{"a": {"$NS": ["1"]}}', '{"a": {"$NS": [1, null]}}', '{"a": {"$BS": ["QQ==", "Q"]}}', '{"a": {"$BS": [1]}}', '{"a": {"$SS": [null]}}'
]) WITH ORDINALITY AS t(v, n) ORDER BY n;

-- Sets: sorted, without duplicates, not empty.  Strings by UTF-8 bytes, numbers by value, binaries by their bytes.
SELECT normal('{"s": {"$SS": ["b", "a", "é", "z", "ab", "B"]}}');
SELECT normal('{"s": {"$SS": ["😀", "ﬁ"]}}');
SELECT normal('{"s": {"$NS": [10, 9, -1, 1.5, 1e2, -20, 0]}}');
-- "/w==" is FF, "AP8=" is 00FF, "AA==" is 00, "gA==" is 80, "+A==" is F8: not the order of the letters.
SELECT normal('{"s": {"$BS": ["/w==", "AP8=", "AA==", "gA==", "+A==", "eA=="]}}');
SELECT normal(v::jsonb) FROM unnest(ARRAY[
	'{"s": {"$SS": []}}', '{"s": {"$NS": []}}', '{"s": {"$BS": []}}', '{"a": [0, {"b": {"$SS": []}}]}',
	'{"s": {"$SS": ["a", "a"]}}', '{"s": {"$SS": ["b", "a", "b"]}}', '{"s": {"$NS": [1, 1.0]}}', '{"s": {"$NS": [2, 1e0, 1]}}',
	'{"s": {"$NS": [0, -0.0]}}', '{"s": {"$BS": ["QQ==", "QR=="]}}', '{"s": {"$BS": ["QQ==", "AA==", "QQ=="]}}'
]) WITH ORDINALITY AS t(v, n) ORDER BY n;
SELECT kv.to_dynamodb_json('{"s": {"$SS": ["b", "a"]}}') = kv.to_dynamodb_json('{"s": {"$SS": ["a", "b"]}}');

-- A map that only looks like a marker carries one more "$"; with a second key it is a map anyway.
SELECT kv.to_dynamodb_json('{"a": {"$$B": 1}, "b": {"$$$SS": 1}, "c": {"$B": 1, "x": 2}, "d": {"$X": 1}, "e": {"B": 1}, "f": {"$b": 1}, "g": {"$$X": 1}, "h": {"$": 1}}');
SELECT normal('{"a": {"$$B": 1}, "b": {"$$$SS": 1}, "c": {"$B": 1, "x": 2}, "d": {"$X": 1}}');
-- The item itself is a map of attributes and no marker.
SELECT kv.to_dynamodb_json('{"$B": "not base64"}'), kv.to_dynamodb_json('{"$$SS": 1}');
SELECT normal('{"$B": {"$B": "QQ=="}}');

-- Depth: 32 maps and lists in each other are the most, sets and binaries are no level.
CREATE FUNCTION nested(levels int, inside text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT ('{"a": ' || repeat('[', levels) || inside || repeat(']', levels) || '}')::jsonb $$;
CREATE FUNCTION nested_maps(levels int, inside text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT ('{"a": ' || repeat('{"k": ', levels) || inside || repeat('}', levels) || '}')::jsonb $$;
SELECT normal(nested(32, '1'))::jsonb = nested(32, '1'), normal(nested(31, '{}'))::jsonb = nested(31, '{}');
SELECT normal(nested(32, '{"$SS": ["a"]}'))::jsonb = nested(32, '{"$SS": ["a"]}'), normal(nested(32, '{"$B": ""}'))::jsonb = nested(32, '{"$B": ""}');
SELECT normal(nested_maps(32, 'null'))::jsonb = nested_maps(32, 'null');
SELECT regexp_replace(normal(nested(33, '1')), '(\[0\])+', '[0]..');
SELECT regexp_replace(normal(nested(32, '{}')), '(\[0\])+', '[0]..');
SELECT regexp_replace(normal(nested_maps(33, '1')), '(\.k)+', '.k..');
SELECT regexp_replace(normal(nested(1500, '1')), '(\[0\])+', '[0]..');

-- Names: 1 to 65,535 bytes.
SELECT normal('{"": 1}');
SELECT normal('{"a": [{"": 1}]}');
SELECT length(normal(jsonb_build_object(repeat('n', 65535), 1)));
SELECT normal(jsonb_build_object(repeat('n', 65536), 1));
-- A long name is cut in a message, between characters.
SELECT normal(jsonb_build_object(repeat('é', 33), jsonb_build_object('$B', 5)));

-- Not an item.
SELECT normal('[1]');
SELECT normal('"a"');
SELECT normal('null');

-- U+0000 is refused by jsonb itself.
SELECT normal('{"a": "x\u0000y"}'::jsonb);
SELECT normal('{"x\u0000y": 1}'::jsonb);

DROP FUNCTION normal(jsonb), nested(int, text), nested_maps(int, text);
