-- Placement: a collection's rows lie on few pages, and the heap stays near a plain heap's size, whatever the order of arrival.
SET key_value.allow_scan = on;
SET client_min_messages = warning;
CREATE SCHEMA am_placement;
SET search_path = am_placement;

CREATE TABLE plain (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk, sk));
CREATE TABLE placed (LIKE plain INCLUDING ALL) USING key_value;

-- An item of about 240 bytes.
CREATE FUNCTION item(n int) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
	SELECT jsonb_build_object('body', left(repeat(md5(n::text), 7), 220)) $$;

-- Heap pages of a table.
CREATE FUNCTION heap_pages(relation regclass) RETURNS numeric LANGUAGE sql AS $$
	SELECT pg_relation_size(relation) / current_setting('block_size')::numeric $$;

-- Compares the two tables: "ok" if the size ratio, the mean and the most pages of the last 50 items of a collection are within bounds.
CREATE FUNCTION judge(size_bound numeric, mean_bound numeric, most_bound int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	size numeric := heap_pages('placed') / heap_pages('plain');
	mean numeric;
	most int;
BEGIN
	IF (SELECT count(*) FROM plain) <> (SELECT count(*) FROM placed) THEN
		RETURN 'row counts differ';
	END IF;
	SELECT avg(pages), max(pages) INTO mean, most FROM
		(SELECT count(DISTINCT (ctid::text::point)[0]) AS pages FROM
			(SELECT pk, ctid, row_number() OVER (PARTITION BY pk ORDER BY sk DESC) AS place FROM placed) i
		 WHERE place <= 50 GROUP BY pk) c;
	IF size <= size_bound AND mean <= mean_bound AND most <= most_bound THEN
		RETURN 'ok';
	END IF;
	RETURN format('size %s pages %s most %s', round(size, 2), round(mean, 2), most);
END $$;

-- Empties both tables and fills them with 10,000 items; order is an expression over i, collection one that names the collection.
CREATE FUNCTION load(arrival text, collection text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	target regclass;
BEGIN
	TRUNCATE plain, placed;
	FOREACH target IN ARRAY ARRAY['plain', 'placed']::regclass[] LOOP
		PERFORM setseed(0.5);
		EXECUTE format('INSERT INTO %s SELECT ''c'' || md5((%s)::text), to_char(n, ''FM000000''), item(n)
			FROM (SELECT i, row_number() OVER (ORDER BY %s)::int AS n FROM generate_series(0, 9999) i) o ORDER BY n', target, collection, arrival);
	END LOOP;
END $$;

-- Collections of one item take no more room than in a plain heap.
SELECT load('i', 'i');
SELECT judge(1.02, 1, 1);

-- Round robin: each collection gets an item in turn.
SELECT load('i', 'i % 3333');
SELECT judge(1.25, 2.5, 3);
SELECT load('i', 'i % 1000');
SELECT judge(1.5, 5, 8);
SELECT load('i', 'i % 200');
SELECT judge(1.45, 7.5, 10);
SELECT load('i', 'i % 20');
SELECT judge(1.15, 4, 6);
SELECT load('i', 'i % 2');
SELECT judge(1.05, 4, 6);

-- In random order.
SELECT load('random()', 'i % 3333');
SELECT judge(1.3, 2.5, 3);
SELECT load('random()', 'i % 200');
SELECT judge(1.3, 7, 14);

-- Sizes of all kinds: the largest collection has some thousand items, most have a few.
SELECT load('random()', 'floor(1000 / (i % 1000 + 1)) * 10000 + i % 7 * (i % 1000) / 100');
SELECT judge(1.35, 4, 14);

-- One collection after another, as a dump is restored.
SELECT load('i', 'i / 3');
SELECT judge(1.1, 1.2, 2);
SELECT load('i', 'i / 50');
SELECT judge(1.15, 3.1, 4);

-- Through COPY: round robin, and one collection after another.
TRUNCATE plain, placed;
\copy plain FROM PROGRAM 'awk "BEGIN { for (i = 0; i < 10000; i++) printf \"c%d\\t%06d\\t{\\\"body\\\": \\\"%0220d\\\"}\\n\", i % 200, i, i }"'
\copy placed FROM PROGRAM 'awk "BEGIN { for (i = 0; i < 10000; i++) printf \"c%d\\t%06d\\t{\\\"body\\\": \\\"%0220d\\\"}\\n\", i % 200, i, i }"'
SELECT judge(1.45, 7.5, 10);
TRUNCATE plain, placed;
\copy plain FROM PROGRAM 'awk "BEGIN { for (i = 0; i < 10000; i++) printf \"c%d\\t%06d\\t{\\\"body\\\": \\\"%0220d\\\"}\\n\", i / 50, i, i }"'
\copy placed FROM PROGRAM 'awk "BEGIN { for (i = 0; i < 10000; i++) printf \"c%d\\t%06d\\t{\\\"body\\\": \\\"%0220d\\\"}\\n\", i / 50, i, i }"'
SELECT judge(1.15, 3.1, 4);

-- Through ON CONFLICT.
TRUNCATE plain, placed;
INSERT INTO plain SELECT 'c' || i % 200, to_char(i, 'FM000000'), item(i) FROM generate_series(0, 9999) i;
INSERT INTO placed SELECT 'c' || i % 200, to_char(i, 'FM000000'), item(i) FROM generate_series(0, 9999) i ON CONFLICT DO NOTHING;
SELECT judge(1.45, 7.5, 10);

-- Items that grow out of their pages stay in the collection: at most a few pages more than a plain heap, far fewer for each query.
UPDATE plain SET item = item || jsonb_build_object('more', repeat('x', 300)) WHERE sk LIKE '%5';
UPDATE placed SET item = item || jsonb_build_object('more', repeat('x', 300)) WHERE sk LIKE '%5';
VACUUM plain, placed;
UPDATE plain SET item = item || jsonb_build_object('most', repeat('x', 300)) WHERE sk LIKE '%7';
UPDATE placed SET item = item || jsonb_build_object('most', repeat('x', 300)) WHERE sk LIKE '%7';
SELECT judge(1.35, 9, 14);

-- Deleting and inserting again, over and over, does not scatter.
SELECT load('i', 'i % 200');
CREATE TABLE kept AS SELECT ctid AS old, * FROM placed;
DELETE FROM placed WHERE sk LIKE '%3' OR sk LIKE '%8';
VACUUM placed;
INSERT INTO placed SELECT pk, sk, item FROM kept WHERE sk LIKE '%3' OR sk LIKE '%8';
DELETE FROM placed WHERE sk LIKE '%4' OR sk LIKE '%9';
VACUUM placed;
INSERT INTO placed SELECT pk, sk, item FROM kept WHERE sk LIKE '%4' OR sk LIKE '%9' ORDER BY pk DESC, sk;
SELECT judge(1.45, 8, 14);

-- Fillfactor leaves its share free.
CREATE TABLE loose (LIKE placed INCLUDING ALL) USING key_value WITH (fillfactor = 50);
INSERT INTO loose SELECT 'c' || i % 200, to_char(i, 'FM000000'), item(i) FROM generate_series(0, 9999) i;
SELECT round(heap_pages('loose') / heap_pages('plain'), 1) BETWEEN 1.9 AND 2.7 AS half_full;

-- Without a sort key rows go where heap puts them.
CREATE TABLE single_plain (pk text COLLATE "C" PRIMARY KEY, item jsonb);
CREATE TABLE single_placed (LIKE single_plain INCLUDING ALL) USING key_value;
INSERT INTO single_plain SELECT i::text, item(i) FROM generate_series(1, 2000) i;
INSERT INTO single_placed SELECT i::text, item(i) FROM generate_series(1, 2000) i;
SELECT count(*) FROM single_plain a JOIN single_placed b USING (pk) WHERE a.ctid <> b.ctid;

-- Large items are stored out of line, and what is left of them is placed like small ones.
TRUNCATE plain, placed;
INSERT INTO plain SELECT 'c' || i % 40, to_char(i, 'FM0000'), jsonb_build_object('body', (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 200) j)) FROM generate_series(1, 2000) i;
INSERT INTO placed SELECT 'c' || i % 40, to_char(i, 'FM0000'), jsonb_build_object('body', (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 200) j)) FROM generate_series(1, 2000) i;
SELECT judge(1.6, 5, 8);
SELECT count(*) FROM plain a JOIN placed b USING (pk, sk) WHERE a.item <> b.item;

-- Deleted pages are used again, and a table that was truncated by VACUUM takes rows.
DELETE FROM placed WHERE sk > '0100';
VACUUM placed;
INSERT INTO placed SELECT 'c' || i % 40, to_char(i, 'FM0000'), item(i) FROM generate_series(1000, 1999) i;
SELECT count(*) FROM placed;

RESET search_path;
SET client_min_messages = error;
DROP SCHEMA am_placement CASCADE;
