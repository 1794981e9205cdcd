-- kv.compact: collections that lie scattered are moved together; nothing is lost, and nobody may do it who may not.
SET key_value.allow_scan = on;
SET client_min_messages = warning;
CREATE SCHEMA compact;
SET search_path = compact;
CREATE EXTENSION amcheck;

-- An item of about 240 bytes.
CREATE FUNCTION item(n int) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$
	SELECT jsonb_build_object('body', left(repeat(md5(n::text), 7), 220), 'n', n, 'even', n % 2 = 0) $$;

-- Heap pages of a table.
CREATE FUNCTION heap_pages(relation regclass) RETURNS numeric LANGUAGE sql AS $$
	SELECT sum(pg_relation_size(relid)) / current_setting('block_size')::numeric FROM (SELECT relation AS relid UNION SELECT relid FROM pg_partition_tree(relation)) r $$;

-- Compares a table with the plain heap of the same items: the fewest pages are those of as many plain pages.
CREATE FUNCTION judge(target regclass, size_bound numeric, pages_bound numeric) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	size numeric := heap_pages(target) / heap_pages('plain');
	per_page numeric := (SELECT count(*) FROM plain) / heap_pages('plain');
	pages numeric;
	wrong bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT * FROM plain EXCEPT SELECT pk, sk, item FROM %s) x', target) INTO wrong;
	IF wrong > 0 OR (SELECT count(*) FROM plain) <> (SELECT n FROM count_of(target) n) THEN
		RETURN 'items differ';
	END IF;
	EXECUTE format('SELECT sum(pages) / sum(fewest) FROM (SELECT count(DISTINCT (tableoid, (ctid::text::point)[0])) AS pages, ceil(count(*) / %s) AS fewest
		FROM %s GROUP BY pk) c', per_page, target) INTO pages;
	IF size <= size_bound AND pages <= pages_bound THEN
		RETURN 'ok';
	END IF;
	RETURN format('size %s pages %s', round(size, 2), round(pages, 2));
END $$;

CREATE FUNCTION count_of(target regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM %s', target) INTO result;
	RETURN result;
END $$;

-- Checks every btree of the leaves against the heap.
CREATE FUNCTION check_btrees(target regclass) RETURNS void LANGUAGE sql AS $$
	SELECT bt_index_check(i.indexrelid, true) FROM (SELECT target AS relid UNION SELECT relid FROM pg_partition_tree(target)) t
		JOIN pg_index i ON i.indrelid = t.relid JOIN pg_class c ON c.oid = i.indexrelid AND c.relkind = 'i' $$;

CREATE TABLE result (collections bigint, moved_collections bigint, moved_items bigint, pages_before bigint, pages_after bigint);

-- Calls kv.compact and forgets what it says: where items lie before is not the same in each run.
CREATE PROCEDURE run(target regclass) LANGUAGE plpgsql AS $$
DECLARE
	r compact.result;
BEGIN
	CALL kv.compact(target, NULL, r.collections, r.moved_collections, r.moved_items, r.pages_before, r.pages_after);
END $$;

CREATE TABLE plain (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk));
SELECT kv.create_table('items', 'pk', 'sk', partitions => 2);
-- Autovacuum's ANALYZE has a snapshot, and kv.compact leaves rows where that needs them.
ALTER TABLE plain SET (autovacuum_enabled = off);
ALTER TABLE items_p0 SET (autovacuum_enabled = off);
ALTER TABLE items_p1 SET (autovacuum_enabled = off);
SELECT kv.create_local_index('items', 'by_n', 'n', 'N');

-- Fills both with 6,000 items, a collection's coming in turn with the others'.
CREATE FUNCTION load(collections int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE plain, items;
	INSERT INTO plain SELECT 'c' || md5((i % collections)::text), to_char(i, 'FM000000'), item(i) FROM generate_series(0, 5999) i;
	INSERT INTO items SELECT pk, sk, item FROM plain ORDER BY sk;
END $$;

-- Shapes: the bounds are the design's goals.
SELECT load(2000);
SELECT judge('items', 1.25, 1.2) <> 'ok' AS scattered;
CALL run('items');
SELECT judge('items', 1.25, 1.2);
SELECT check_btrees('items');
SELECT load(600);
SELECT judge('items', 1.25, 1.2) <> 'ok' AS scattered;
CALL run('items');
SELECT judge('items', 1.25, 1.2);
SELECT check_btrees('items');

-- Once is enough: a second call moves next to nothing.
DO $$
DECLARE
	r compact.result;
BEGIN
	CALL kv.compact('items', NULL, r.collections, r.moved_collections, r.moved_items, r.pages_before, r.pages_after);
	RAISE WARNING 'all looked at: %, few moved: %, pages as before: %', r.collections = 600, r.moved_items < 100, r.pages_before = r.pages_after;
END $$;

SELECT load(120);
SELECT judge('items', 1.25, 1.2) <> 'ok' AS scattered;
DO $$
DECLARE
	r compact.result;
BEGIN
	CALL kv.compact('items', NULL, r.collections, r.moved_collections, r.moved_items, r.pages_before, r.pages_after);
	RAISE WARNING 'all looked at: %, most moved: %, items as well: %, pages fell: %, as the catalog says: %', r.collections = 120,
		r.moved_collections BETWEEN 60 AND r.collections, r.moved_items BETWEEN 1500 AND 4000, r.pages_after < r.pages_before,
		r.pages_after = compact.heap_pages('compact.items');
END $$;
SELECT judge('items', 1.25, 1.2);
SELECT check_btrees('items');
-- Of items that fill a page without a gap, 50 lie on two pages: a page with anything else on it is none of them.
TRUNCATE plain, items;
INSERT INTO plain SELECT 'c' || md5((i % 120)::text), to_char(i, 'FM000000'), jsonb_build_object('body', left(repeat(md5(i::text), 8), 232))
	FROM generate_series(0, 5999) i;
SELECT round(6000 / heap_pages('plain')) AS rows_of_a_page;
INSERT INTO items SELECT pk, sk, item FROM plain ORDER BY sk;
DO $$
DECLARE
	r compact.result;
BEGIN
	CALL kv.compact('items', NULL, r.collections, r.moved_collections, r.moved_items, r.pages_before, r.pages_after);
	RAISE WARNING 'many stayed where they were: %', r.moved_items < 4500;
END $$;
SELECT judge('items', 1.25, 1.02);
SELECT check_btrees('items');

-- Nor is there one for 23 with much else on it.  They come on five pages each, so pages become empty late, and all at once.
TRUNCATE plain, items;
INSERT INTO plain SELECT 'c' || md5((i % 869)::text), to_char(i, 'FM000000'), jsonb_build_object('body', left(repeat(md5(i::text), 8), 232))
	FROM generate_series(0, 19999) i;
INSERT INTO items SELECT pk, sk, item FROM plain ORDER BY sk;
CALL run('items');
SELECT judge('items', 1.25, 1.1);
DO $$
DECLARE
	r compact.result;
BEGIN
	CALL kv.compact('items', NULL, r.collections, r.moved_collections, r.moved_items, r.pages_before, r.pages_after);
	RAISE WARNING 'collections: %, few moved: %', r.collections, r.moved_items < 500;
END $$;

SELECT load(12);
CALL run('items');
SELECT judge('items', 1.25, 1.2);

-- Keys and local indexes find every item where it is now.
SELECT count(*) FROM plain p WHERE kv.get('items', p.pk, p.sk) IS DISTINCT FROM p.item || jsonb_build_object('pk', p.pk, 'sk', p.sk);
SELECT count(*), sum((q.item->>'n')::int) FROM (SELECT DISTINCT pk FROM plain) p,
	kv.query('items', 'pk = :p', jsonb_build_object(':p', p.pk), index => 'by_n') q(item);
SELECT count(*), sum(n) FROM (SELECT (item->>'n')::int AS n FROM plain) p;

-- Only so much at a time.
SELECT load(120);
DO $$
DECLARE
	r compact.result;
BEGIN
	CALL kv.compact('items', 20, r.collections, r.moved_collections, r.moved_items, r.pages_before, r.pages_after);
	RAISE WARNING 'some moved: %, not all: %', r.moved_items > 300, r.moved_items < 3000;
END $$;
SELECT judge('items', 1.5, 9);

-- Large items are not rewritten: what is out of line stays where it is.
TRUNCATE plain, items;
INSERT INTO plain SELECT 'c' || i % 40, to_char(i, 'FM0000'), jsonb_build_object('body', (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 200) j))
	FROM generate_series(1, 2000) i;
INSERT INTO items SELECT pk, sk, item FROM plain ORDER BY sk;
CREATE FUNCTION toast_content() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	leaf regclass;
	part text;
	result text := '';
BEGIN
	FOR leaf IN SELECT relid FROM pg_partition_tree('items') WHERE isleaf ORDER BY 1 LOOP
		EXECUTE format('SELECT count(*) || md5(string_agg(ctid::text || chunk_id, '','' ORDER BY chunk_id, chunk_seq)) FROM %s',
			(SELECT reltoastrelid::regclass FROM pg_class WHERE oid = leaf)) INTO part;
		result := result || part;
	END LOOP;
	RETURN result;
END $$;
CREATE TABLE toast_before AS SELECT toast_content() AS content;
CREATE TABLE places AS SELECT tableoid AS leaf, ctid AS place, pk, sk FROM items;
CALL run('items');
SELECT content = toast_content() AS toast_unchanged FROM toast_before;
SELECT count(*) > 200 AS moved FROM items i JOIN places p USING (pk, sk) WHERE i.ctid <> p.place;
SELECT judge('items', 1.25, 1.2);
TRUNCATE plain, items;

-- Triggers do not fire, columns of other kinds and those added later keep their values, generated ones too.
CREATE TABLE wide (pk text COLLATE "C" NOT NULL, sk numeric NOT NULL, item jsonb NOT NULL, note text,
	length int GENERATED ALWAYS AS (length(note)) STORED, PRIMARY KEY (pk, sk)) USING key_value;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a trigger fired'; END $$;
CREATE UNIQUE INDEX by_note ON wide (note);
CREATE INDEX by_part ON wide ((item->>'n')) WHERE (item->>'even')::boolean;
INSERT INTO wide (pk, sk, item, note) SELECT 'c' || i % 100, i, item(i), CASE WHEN i % 3 > 0 THEN 'note ' || i END FROM generate_series(1, 3000) i;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON wide FOR EACH ROW EXECUTE FUNCTION refuse();
ALTER TABLE wide ADD COLUMN later int DEFAULT 7;
CREATE TABLE wide_before AS SELECT * FROM wide;
CREATE TABLE wide_places AS SELECT pk, sk, ctid AS place FROM wide;
CALL run('wide');
SELECT count(*) > 1000 AS moved FROM wide w JOIN wide_places p USING (pk, sk) WHERE w.ctid <> p.place;
(TABLE wide EXCEPT TABLE wide_before) UNION ALL (TABLE wide_before EXCEPT TABLE wide);
SELECT check_btrees('wide');
SET enable_seqscan = off;
SELECT count(*) FROM wide WHERE item->>'n' = '1998' AND (item->>'even')::boolean;
SELECT count(*) FROM wide WHERE note = 'note 1999';
RESET enable_seqscan;
DROP TABLE wide, wide_before, wide_places;

-- The table of a global index is compacted by its name, and its definition holds.
SELECT kv.create_global_index('items', 'by_even', 'group', 'n', 'S', 'N');
INSERT INTO items SELECT 'p' || i, 's', item(i) || jsonb_build_object('group', 'g' || i % 50) FROM generate_series(1, 2000) i;
SELECT kv.apply_changes() IS NOT NULL AS applied;
CALL run('by_even');
SELECT count(*), sum((q.item->>'n')::int) FROM generate_series(0, 49) g,
	kv.query('items', '#g = :g', jsonb_build_object(':g', 'g' || g), '{"#g": "group"}', index => 'by_even') q(item);
SELECT check_btrees('by_even');

-- What has no sort key has nothing to compact; an empty table neither.
CREATE TABLE single (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) USING key_value;
INSERT INTO single SELECT i::text, item(i) FROM generate_series(1, 100) i;
CALL kv.compact('single');
CREATE TABLE empty (LIKE plain INCLUDING ALL) USING key_value;
CALL kv.compact('empty');

-- Deleted items leave room that is given back.
SELECT load(120);
DELETE FROM items WHERE sk >= '001000';
DELETE FROM plain WHERE sk >= '001000';
CREATE TABLE kept AS TABLE plain;
TRUNCATE plain;
INSERT INTO plain SELECT * FROM kept;
CALL run('items');
SELECT judge('items', 1.4, 1.2);

-- Of a collection that is worked off in parts none is passed over.
TRUNCATE plain, items;
INSERT INTO items SELECT 'c' || md5('0'), md5(i::text), jsonb_build_object('body', left(repeat(md5(i::text), 25), 720))
	FROM generate_series(1, 12000) i ORDER BY md5(md5(i::text));
DELETE FROM items WHERE md5(sk) >= '55';
INSERT INTO plain SELECT pk, sk, item FROM items;
CALL run('items');
SELECT judge('items', 1.25, 1.2);

-- Fillfactor leaves its share free.
CREATE TABLE loose (LIKE plain INCLUDING ALL) USING key_value WITH (fillfactor = 50);
SELECT load(120);
INSERT INTO loose SELECT pk, sk, item FROM plain ORDER BY sk;
CALL run('loose');
SELECT judge('loose', 2.5, 2.2);

-- So it does where a row takes more than that: then it has a page to itself.
CREATE TABLE narrow (LIKE plain INCLUDING ALL) USING key_value WITH (fillfactor = 10);
INSERT INTO narrow SELECT 'c' || i % 3, to_char(i, 'FM00'), jsonb_build_object('body', (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 40) j))
	FROM generate_series(1, 60) i;
DELETE FROM narrow WHERE sk <= '40';
CALL run('narrow');
SELECT count(*), heap_pages('narrow') <= 25 AS few_pages FROM narrow;

-- Rights, and where it cannot run.
CREATE ROLE compact_reader;
GRANT USAGE ON SCHEMA compact TO compact_reader;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON items TO compact_reader;
SET ROLE compact_reader;
CALL kv.compact('items');
RESET ROLE;
ALTER TABLE loose OWNER TO compact_reader;
SET ROLE compact_reader;
DO $$
DECLARE
	n bigint;
BEGIN
	CALL kv.compact('compact.loose', 1, n, n, n, n, n);
	RAISE WARNING 'the owner may: %', n > 0;
END $$;
RESET ROLE;
-- From 17 on there is a right to it.
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 170000 THEN
		GRANT MAINTAIN ON items TO compact_reader;
	ELSE
		ALTER TABLE items OWNER TO compact_reader;
	END IF;
END $$;
SET ROLE compact_reader;
DO $$
DECLARE
	n bigint;
BEGIN
	CALL kv.compact('compact.items', 1, n, n, n, n, n);
	RAISE WARNING 'who may maintain it may: %', n > 0;
END $$;
RESET ROLE;
BEGIN;
CALL kv.compact('items');
ROLLBACK;
CREATE PROCEDURE atomic() LANGUAGE plpgsql SET work_mem = '1MB' AS $$ DECLARE r compact.result; BEGIN
	CALL kv.compact('items', NULL, r.collections, r.moved_collections, r.moved_items, r.pages_before, r.pages_after); END $$;
CALL atomic();
CALL kv.compact('plain');
CALL kv.compact('items_p0');
CALL kv.compact(NULL);
CALL kv.compact('items', 0);
SET default_transaction_read_only = on;
CALL kv.compact('items');
RESET default_transaction_read_only;

RESET search_path;
SET client_min_messages = error;
DROP SCHEMA compact CASCADE;
DROP ROLE compact_reader;
