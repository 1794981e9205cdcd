-- Numbers: 38 significant digits, magnitude 1E-130 to 9.99..E+125 or zero,
-- normal form, never rounded.  Source: DynamoDB Developer Guide, "Number".

CREATE FUNCTION plain(number text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	RETURN kv.from_dynamodb_json(kv.to_dynamodb_json(('{"n": ' || number || '}')::jsonb)) ->> 'n';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || SQLERRM, nullif(detail, ''));
END $$;
CREATE FUNCTION typed(number text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	RETURN kv.from_dynamodb_json(jsonb_build_object('n', jsonb_build_object('N', number))) ->> 'n';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(E'\n  ', SQLSTATE || ': ' || SQLERRM, nullif(detail, ''));
END $$;
\pset format unaligned
\pset tuples_only on

-- Both ways in give the same normal form.
SELECT n, plain(n), typed(n) FROM unnest(ARRAY[
	'0', '-0', '0.000', '0e500', '1', '1.0', '-1.50', '1e3', '1E+3', '1000', '1e-3', '0.0010', '123456789012', '10000', '100000000', '9999.9999',
	'0.5', '120.0340', '-99999999999999999999999999999999999999', '0.00000000000000000000000000000000000001'
]) WITH ORDINALITY AS t(n, i) WHERE plain(n) = typed(n) ORDER BY i;

-- 38 digits are kept, 39 refused; zeros at the ends do not count.
SELECT plain(n) = trim_scale(n::numeric)::text, typed(n) = trim_scale(n::numeric)::text FROM unnest(ARRAY[
	'12345678901234567890123456789012345678', '1.2345678901234567890123456789012345678', '0.00012345678901234567890123456789012345678000',
	'12345678901234567890123456789012345678000000', '10000000000000000000000000000000000001', '-1234567890123456789.0123456789012345678'
]) AS n;
SELECT plain(n), typed(n) FROM unnest(ARRAY[
	'123456789012345678901234567890123456789', '1.23456789012345678901234567890123456789', '100000000000000000000000000000000000001',
	'0.100000000000000000000000000000000000001', '-1234567890123456789.01234567890123456789'
]) WITH ORDINALITY AS t(n, i) ORDER BY i;

-- The range: both ends, and one step beyond.
SELECT plain(n) = trim_scale(n::numeric)::text, typed(n) = trim_scale(n::numeric)::text FROM unnest(ARRAY[
	'1e-130', '-1e-130', '1.0000000000000000000000000000000000001e-130', '9.9999999999999999999999999999999999999e125', '-9.9999999999999999999999999999999999999e125', '1e125'
]) AS n;
SELECT plain(n), typed(n) FROM unnest(ARRAY[
	'1e126', '-1e126', '9.9e-131', '-1e-131', '1e-300', '1e9000'
]) WITH ORDINALITY AS t(n, i) ORDER BY i;
-- Text can say what numeric cannot hold.
SELECT typed(n) FROM unnest(ARRAY['1e1000000', '-1e-1000000', '1e99999999999999999999', '0e99999999999999999999', '0.0001e129', '1000e-133', '1000e-134']) WITH ORDINALITY AS t(n, i) ORDER BY i;
SELECT typed('1' || repeat('0', 2000) || 'e-2000'), typed('0.' || repeat('0', 2000) || '15e2001');
SELECT typed(repeat('1', 200));

-- What is no number.
SELECT typed(n) FROM unnest(ARRAY['', ' ', '-', '+', '.', 'e5', '1e', '1e+', '1.2.3', '--1', '1 ', ' 1', '1_000', '0x10', 'NaN', 'Infinity', '-inf', '1,5', '١', E'1\n']) WITH ORDINALITY AS t(n, i) ORDER BY i;
SELECT typed(n) FROM unnest(ARRAY['+5', '.5', '5.', '-.5e1', '00012', '-0012.500']) WITH ORDINALITY AS t(n, i) ORDER BY i;

-- A message names the place.
SELECT kv.item_size('{"a": {"b": [0, 1e200]}}');
SELECT kv.item_size('{"a": {"$NS": [1, 1e200]}}');
SELECT kv.from_dynamodb_json('{"a": {"L": [{"NS": ["1", "x"]}]}}');

-- Thousands of numbers, each in many spellings: the value is kept and the spelling does not matter.
SELECT setseed(0.25);
SELECT count(*), count(*) FILTER (WHERE trim_scale(value) IS DISTINCT FROM got::numeric OR trim_scale(value)::text <> got)
FROM (SELECT value, kv.from_dynamodb_json(jsonb_build_object('n', jsonb_build_object('N', value::text))) ->> 'n' AS got
	  FROM (SELECT (mantissa || repeat('0', floor(random() * 9)::int) || 'e' || floor(random() * 200 - 115)::int)::numeric AS value
			FROM (SELECT CASE WHEN random() < 0.5 THEN '-' ELSE '' END || floor(random() * 9999 + 1)::text
						 || CASE WHEN random() < 0.5 THEN '.' || repeat('0', floor(random() * 9)::int) || floor(random() * 1e9)::text ELSE '' END AS mantissa
				  FROM generate_series(1, 5000)) AS m) AS v) AS g;
SELECT count(*), count(*) FILTER (WHERE got <> trim_scale(value)::text)
FROM (SELECT value, kv.from_dynamodb_json(kv.to_dynamodb_json(jsonb_build_object('n', value))) ->> 'n' AS got
	  FROM (SELECT round((random() * 10 ^ floor(random() * 30 - 12))::numeric, floor(random() * 24)::int) AS value
			FROM generate_series(1, 5000)) AS v) AS g;

DROP FUNCTION plain(text), typed(text);
