-- The hash that chooses a partition: rows stay where it once put them, so it
-- must never change.
SET key_value.allow_scan = on;

-- XXH3's published values: of no bytes, of no bytes with a seed (xxHash's own
-- sanity test), of "a" and "abc".
SELECT to_hex(kv.xxh3_text('', 0)) = '2d06800538d394c2' AS empty,
	to_hex(kv.xxh3_text('', ('x' || '9e3779b185ebca8d')::bit(64)::bigint)) = 'a8a6b918b2f0364a' AS empty_seeded,
	to_hex(kv.xxh3_text('a', 0)) = 'e6c632b61e964e1f' AS a,
	to_hex(kv.xxh3_text('abc', 0)) = '78af5f94892f3950' AS abc;

-- A bytea is hashed as its bytes, a numeric as its shortest spelling.
SELECT kv.xxh3_bytea('\x616263', 7) = kv.xxh3_text('abc', 7) AS bytea,
	kv.xxh3_numeric(1.50, 7) = kv.xxh3_text('1.5', 7) AS fraction,
	kv.xxh3_numeric(-1500, 7) = kv.xxh3_text('-1500', 7) AS whole,
	kv.xxh3_numeric(0.00, 7) = kv.xxh3_text('0', 7) AS zero;

-- Numerics that are equal hash equal, whatever their scale.
SELECT n, count(DISTINCT kv.xxh3_numeric(v, 42)) AS hashes, count(DISTINCT kv.xxh3_numeric(v)) AS hashes_32
FROM (VALUES (1, 1::numeric), (1, 1.0), (1, 1.000000000000000000000000), (1, '1e0'),
	(2, 1000), (2, '1e3'), (2, 1000.0), (3, 0), (3, 0.000), (3, '-0'),
	(4, '-0.1'), (4, '-0.100'), (5, '1e-130'), (5, '10e-131'), (6, '1e125'), (6, '0.1e126')) AS x (n, v)
GROUP BY n ORDER BY n;

-- FUNCTION 1 is the low half of FUNCTION 2 with seed 0, as core asks.
SELECT bool_and(kv.xxh3_text(i::text) = (kv.xxh3_text(i::text, 0) & 4294967295)::bit(32)::int) AS text,
	bool_and(kv.xxh3_numeric(i) = (kv.xxh3_numeric(i, 0) & 4294967295)::bit(32)::int) AS "numeric",
	bool_and(kv.xxh3_bytea(int8send(i)) = (kv.xxh3_bytea(int8send(i), 0) & 4294967295)::bit(32)::int) AS bytea
FROM generate_series(1, 1000) i;

-- What is stored compressed or out of line hashes as what is not.
CREATE TABLE toasted (t text, b bytea);
ALTER TABLE toasted ALTER t SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT repeat('x', 100000), decode(repeat('00', 100000), 'hex');
SELECT kv.xxh3_text(t, 1) = kv.xxh3_text(repeat('x', 100000), 1) AS text,
	kv.xxh3_bytea(b, 1) = kv.xxh3_bytea(decode(repeat('00', 100000), 'hex'), 1) AS bytea,
	pg_column_size(b) < 10000 AS compressed
FROM toasted;
DROP TABLE toasted;

-- The operator classes are sound, and no type's default.
SELECT opcname, amvalidate(oid), opcdefault FROM pg_opclass
WHERE opcnamespace = 'kv'::regnamespace ORDER BY opcname;

-- A plain hash index and a hash join may use them.
CREATE TABLE plain (t text, n numeric);
INSERT INTO plain SELECT i, i FROM generate_series(1, 1000) i;
CREATE INDEX plain_t ON plain USING hash (t kv.xxh3_text_ops);
CREATE INDEX plain_n ON plain USING hash (n kv.xxh3_numeric_ops);
SET enable_seqscan = off;
SELECT t FROM plain WHERE t = '77';
SELECT n FROM plain WHERE n = 77.000;
RESET enable_seqscan;
SELECT count(*) FROM plain a JOIN plain b ON a.t = b.t;
DROP TABLE plain;

-- Rows are spread evenly: with 4,000 keys in 16 partitions, 250 each, none
-- has less than half or more than twice.
SELECT kv.create_table('spread', 'pk');
INSERT INTO spread SELECT 'user-' || i FROM generate_series(1, 4000) i;
SELECT count(*), min(n) > 125 AS none_small, max(n) < 500 AS none_large
FROM (SELECT count(*) AS n FROM spread GROUP BY tableoid) x;
SELECT kv.drop_table('spread');

-- Keys equal by value are one key.
SELECT kv.create_table('numbers', 'n', partition_key_type => 'N');
INSERT INTO numbers VALUES (1000);
INSERT INTO numbers VALUES (1e3);
INSERT INTO numbers VALUES (1000.00);
SELECT kv.drop_table('numbers');

-- Where partitions are missing, the error says so.
SELECT kv.create_table('partial', 'pk', partitions => 2);
ALTER TABLE partial DETACH PARTITION partial_p0;
ALTER TABLE partial DETACH PARTITION partial_p1;
\set VERBOSITY sqlstate
SELECT kv.get('partial', 'a');
\set VERBOSITY default
SELECT kv.get('partial', 'a');
DROP TABLE partial, partial_p0, partial_p1;
