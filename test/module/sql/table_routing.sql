-- Our routing and core's must agree: rows are put by core and found by us.
LOAD 'key_value';
SET key_value.allow_scan = on;

CREATE FUNCTION texts() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT i::text FROM generate_series(1, 2000) i
	UNION SELECT md5(i::text) FROM generate_series(1, 2000) i
	UNION SELECT repeat('é' || i, 1 + i % 100) FROM generate_series(1, 500) i
	UNION SELECT repeat(chr(65 + i % 26), i * 4) FROM generate_series(1, 500) i $$;
CREATE FUNCTION numbers() RETURNS SETOF numeric LANGUAGE sql AS $$
	SELECT i::numeric FROM generate_series(-2000, 2000) i
	UNION SELECT i / 1000.0 FROM generate_series(-2000, 2000, 3) i
	UNION SELECT (i % 10 || 'e' || i)::numeric FROM generate_series(-130, 125) i WHERE i % 10 <> 0
	UNION SELECT (i || '.' || repeat('7', i))::numeric FROM generate_series(1, 30) i $$;
CREATE FUNCTION binaries() RETURNS SETOF bytea LANGUAGE sql AS $$
	SELECT decode(md5(i::text), 'hex') FROM generate_series(1, 2000) i
	UNION SELECT int8send(i) FROM generate_series(1, 2000) i
	UNION SELECT decode(repeat('00', i), 'hex') FROM generate_series(1, 500) i $$;

-- Partitions as kv.create_table makes them: a power of two, an odd number, one.
SELECT kv.create_table('t16', 'pk'), kv.create_table('t7', 'pk', 'sk', partitions => 7),
	kv.create_table('t1', 'pk', partitions => 1);
INSERT INTO t16 SELECT texts();
INSERT INTO t7 SELECT texts(), 'x';
INSERT INTO t1 SELECT texts();
SELECT count(*) > 4000 AS many, count(DISTINCT tableoid) AS partitions,
	count(*) FILTER (WHERE kv_test.route('t16', pk) <> tableoid) AS astray FROM t16;
SELECT count(*) > 4000 AS many, count(DISTINCT tableoid) AS partitions,
	count(*) FILTER (WHERE kv_test.route('t7', pk) <> tableoid) AS astray FROM t7;
SELECT count(*) > 4000 AS many, count(DISTINCT tableoid) AS partitions,
	count(*) FILTER (WHERE kv_test.route('t1', pk) <> tableoid) AS astray FROM t1;

-- Numbers, also with another scale than the stored one.
SELECT kv.create_table('n16', 'pk', partition_key_type => 'N');
INSERT INTO n16 SELECT numbers();
SELECT count(*) > 4000 AS many, count(DISTINCT tableoid) AS partitions,
	count(*) FILTER (WHERE kv_test.route('n16', pk) <> tableoid) AS astray,
	count(*) FILTER (WHERE kv_test.route('n16', pk + 0.000000) <> tableoid) AS rescaled_astray,
	count(*) FILTER (WHERE kv_test.route('n16', trim_scale(pk)) <> tableoid) AS trimmed_astray FROM n16;

SELECT kv.create_table('b16', 'pk', partition_key_type => 'B');
INSERT INTO b16 SELECT binaries();
SELECT count(*) > 4000 AS many, count(DISTINCT tableoid) AS partitions,
	count(*) FILTER (WHERE kv_test.route('b16', pk) <> tableoid) AS astray FROM b16;

-- The same by the function that core itself makes partition constraints of.
SELECT count(*) FILTER (WHERE NOT satisfies_hash_partition('t16'::regclass, p.modulus, p.remainder, t.pk)) AS astray,
	count(*) > 4000 AS many
FROM texts() t (pk) JOIN kv.partitions p ON p.table_name = 't16'::regclass
	AND p.partition_name = kv_test.route('t16', t.pk);

-- Partitions of different size: one was split in two, and one of these again.
CREATE TABLE mixed (pk text COLLATE "C", item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk)) PARTITION BY HASH (pk kv.xxh3_text_ops);
CREATE TABLE mixed_half PARTITION OF mixed FOR VALUES WITH (MODULUS 2, REMAINDER 0) USING key_value;
CREATE TABLE mixed_quarter PARTITION OF mixed FOR VALUES WITH (MODULUS 4, REMAINDER 1) USING key_value;
CREATE TABLE mixed_eighth PARTITION OF mixed FOR VALUES WITH (MODULUS 8, REMAINDER 3) USING key_value;
CREATE TABLE mixed_last PARTITION OF mixed FOR VALUES WITH (MODULUS 8, REMAINDER 7) USING key_value;
INSERT INTO mixed SELECT texts();
SELECT tableoid::regclass, round(8.0 * count(*) / (SELECT count(*) FROM mixed)) AS eighths,
	count(*) FILTER (WHERE kv_test.route('mixed', pk) <> tableoid) AS astray
FROM mixed GROUP BY 1 ORDER BY 1;

-- A third next to a sixth.
CREATE TABLE thirds (pk numeric, item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk)) PARTITION BY HASH (pk kv.xxh3_numeric_ops);
CREATE TABLE thirds_0 PARTITION OF thirds FOR VALUES WITH (MODULUS 3, REMAINDER 0) USING key_value;
CREATE TABLE thirds_1 PARTITION OF thirds FOR VALUES WITH (MODULUS 3, REMAINDER 1) USING key_value;
CREATE TABLE thirds_2 PARTITION OF thirds FOR VALUES WITH (MODULUS 6, REMAINDER 2) USING key_value;
CREATE TABLE thirds_5 PARTITION OF thirds FOR VALUES WITH (MODULUS 6, REMAINDER 5) USING key_value;
INSERT INTO thirds SELECT numbers();
SELECT tableoid::regclass, round(6.0 * count(*) / (SELECT count(*) FROM thirds)) AS sixths,
	count(*) FILTER (WHERE kv_test.route('thirds', pk) <> tableoid) AS astray
FROM thirds GROUP BY 1 ORDER BY 1;

-- A partition that is missing: keys of the others are still found, and core
-- refuses exactly the keys that we refuse.
DROP TABLE mixed_eighth;
CREATE FUNCTION routes(key text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM kv_test.route('mixed', key);
	RETURN true;
EXCEPTION WHEN SQLSTATE 'KV007' THEN
	RETURN false;
END $$;
CREATE FUNCTION takes(key text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO mixed VALUES (key);
	RETURN true;
EXCEPTION WHEN check_violation THEN
	RETURN false;
END $$;
SELECT count(*) FILTER (WHERE routes(k) <> takes(k)) AS disagree, bool_or(routes(k)) AS some, bool_and(routes(k)) AS all
FROM (SELECT 'new' || i AS k FROM generate_series(1, 300) i) x;

-- A table that is not partitioned is its own leaf.
CREATE TABLE alone (pk bytea PRIMARY KEY, item jsonb NOT NULL) USING key_value;
SELECT kv_test.route('alone', '\x01'::bytea);

DROP FUNCTION texts(), numbers(), binaries(), routes(text), takes(text);
DROP TABLE t16, t7, t1, n16, b16, mixed, thirds, alone;
