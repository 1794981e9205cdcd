-- DynamoDB's typed JSON both ways (API reference, "AttributeValue").

CREATE FUNCTION from_typed(typed jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text; hint text;
BEGIN
	RETURN kv.from_dynamodb_json(typed);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || message, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
\pset tuples_only on

-- The example of the developer guide's Music table, and every type.
SELECT from_typed('{"Artist": {"S": "Acme Band"}, "SongTitle": {"S": "Happy Day"}, "Awards": {"N": "10"}}');
SELECT from_typed('{"s": {"S": "x"}, "n": {"N": "-1.50"}, "b": {"B": "AQI="}, "ss": {"SS": ["b", "a"]}, "ns": {"NS": ["10", "9"]},
	"bs": {"BS": ["/w==", "AA=="]}, "m": {"M": {"k": {"L": [{"S": "v"}, {"NULL": true}]}}}, "l": {"L": []}, "t": {"BOOL": true}, "f": {"BOOL": false}}');
SELECT from_typed('{}');

-- There and back gives the same typed JSON.
SELECT kv.to_dynamodb_json(kv.from_dynamodb_json(typed)) = typed FROM (SELECT
	'{"s": {"S": ""}, "n": {"N": "0"}, "big": {"N": "99999999999999999999999999999999999999"}, "b": {"B": ""}, "ss": {"SS": ["", "a"]},
	  "m": {"M": {"$B": {"S": "x"}}}, "mm": {"M": {"$$NS": {"M": {"$SS": {"NULL": true}}}}}, "two": {"M": {"$B": {"N": "1"}, "x": {"BOOL": true}}},
	  "one": {"M": {"S": {"S": "S"}}}, "l": {"L": [{"M": {"$BS": {"L": []}}}]}, "$SS": {"N": "1"}}'::jsonb AS typed) AS t;

-- A map that would be taken for a marker gains a "$" in the plain form.
SELECT from_typed('{"a": {"M": {"$B": {"N": "1"}}}, "b": {"M": {"$$SS": {"N": "1"}}}, "c": {"M": {"$B": {"N": "1"}, "d": {"N": "2"}}}, "$NS": {"N": "3"}}');
SELECT from_typed('{"$B": {"S": "not base64"}}');
SELECT from_typed('{"l": {"L": [{"M": {"$BS": {"S": "x"}}}]}}');

-- Not typed.
SELECT from_typed(v::jsonb) FROM unnest(ARRAY[
	'[]', '"a"', '{"a": "x"}', '{"a": 1}', '{"a": null}', '{"a": []}', '{"a": {}}', '{"a": {"S": "x", "N": "1"}}', '{"a": {"X": "x"}}', '{"a": {"s": "x"}}',
	'{"a": {"L": [{"S": "x"}, "y"]}}', '{"a": {"M": {"b": {"c": {"S": "x"}}}}}'
]) WITH ORDINALITY AS t(v, i) ORDER BY i;

-- Typed, with the wrong content.
SELECT from_typed(v::jsonb) FROM unnest(ARRAY[
	'{"a": {"S": 1}}', '{"a": {"S": null}}', '{"a": {"N": 1}}', '{"a": {"N": "one"}}', '{"a": {"N": "1e126"}}', '{"a": {"B": 1}}', '{"a": {"B": "Q"}}',
	'{"a": {"SS": "x"}}', '{"a": {"SS": [1]}}', '{"a": {"SS": []}}', '{"a": {"SS": ["x", "x"]}}', '{"a": {"NS": [1]}}', '{"a": {"NS": ["1", "1.0"]}}', '{"a": {"NS": ["x"]}}',
	'{"a": {"BS": ["Q"]}}', '{"a": {"BS": [["QQ=="]]}}', '{"a": {"BS": ["QQ==", "QQ=="]}}', '{"a": {"M": []}}', '{"a": {"L": {}}}', '{"a": {"L": "x"}}', '{"a": {"NULL": false}}', '{"a": {"NULL": null}}',
	'{"a": {"BOOL": "true"}}', '{"": {"S": "x"}}', '{"a": {"M": {"": {"S": "x"}}}}'
]) WITH ORDINALITY AS t(v, i) ORDER BY i;

-- Depth counts maps and lists, not their typed wrapping.
SELECT from_typed(('{"a": ' || repeat('{"L": [', 32) || '{"S": "x"}' || repeat(']}', 32) || '}')::jsonb);
SELECT regexp_replace(from_typed(('{"a": ' || repeat('{"L": [', 33) || '{"S": "x"}' || repeat(']}', 33) || '}')::jsonb), '(\[0\])+', '[0]..');
SELECT regexp_replace(from_typed(('{"a": ' || repeat('{"L": [', 1500) || '{"S": "x"}' || repeat(']}', 1500) || '}')::jsonb), '(\[0\])+', '[0]..');

SELECT kv.from_dynamodb_json(NULL) IS NULL, kv.to_dynamodb_json(NULL) IS NULL;
SELECT kv.to_dynamodb_json('[]');

DROP FUNCTION from_typed(jsonb);
