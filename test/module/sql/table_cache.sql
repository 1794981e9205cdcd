-- The descriptor follows the catalogs, whatever changes them; one that is held
-- stays readable.
LOAD 'key_value';

-- What is ours and what is not.
SELECT kv.create_table('messages', 'pk', 'sk', partitions => 4);
CREATE TABLE heap_table (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL);
CREATE TABLE range_table (pk int, item jsonb) PARTITION BY RANGE (pk);
CREATE TABLE range_leaf PARTITION OF range_table DEFAULT;
CREATE TABLE hash_table (pk text COLLATE "C") PARTITION BY HASH (pk);
CREATE TABLE hash_leaf PARTITION OF hash_table FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE VIEW some_view AS SELECT 1 AS one;
SELECT r, kv_test.lookup(r::regclass)
FROM unnest(ARRAY['messages', 'messages_p0', 'messages_pkey', 'heap_table', 'range_table', 'range_leaf',
	'hash_table', 'hash_leaf', 'some_view', 'pg_class']) r;
SELECT kv_test.lookup(0), kv_test.lookup(4294967295);
DROP TABLE heap_table, range_table, hash_table;
DROP VIEW some_view;

-- Ours, but not of the shape.
CREATE TABLE shape (pk text COLLATE "C", sk numeric, item jsonb NOT NULL) USING key_value;
SELECT kv_test.lookup('shape');
ALTER TABLE shape ADD PRIMARY KEY (pk) DEFERRABLE;
SELECT kv_test.lookup('shape');
ALTER TABLE shape DROP CONSTRAINT shape_pkey, ADD PRIMARY KEY (pk, sk);
SELECT kv_test.lookup('shape');
ALTER TABLE shape ALTER item DROP NOT NULL;
SELECT kv_test.lookup('shape');
ALTER TABLE shape ALTER item SET NOT NULL;
SELECT kv_test.lookup('shape');
ALTER TABLE shape ALTER pk TYPE text COLLATE "POSIX";
SELECT kv_test.lookup('shape');
ALTER TABLE shape ALTER pk TYPE varchar(10);
SELECT kv_test.lookup('shape');
ALTER TABLE shape ALTER pk TYPE text COLLATE "C", ALTER sk TYPE numeric(10, 2);
SELECT kv_test.lookup('shape');
ALTER TABLE shape ALTER sk TYPE numeric, ALTER item TYPE json;
SELECT kv_test.lookup('shape');
ALTER TABLE shape RENAME item TO stuff;
SELECT kv_test.lookup('shape');
ALTER TABLE shape RENAME stuff TO item;
ALTER TABLE shape ALTER item TYPE jsonb, ADD COLUMN more text, DROP CONSTRAINT shape_pkey, ADD PRIMARY KEY (pk, sk, more);
SELECT kv_test.lookup('shape');
ALTER TABLE shape SET ACCESS METHOD heap;
SELECT kv_test.lookup('shape');
ALTER TABLE shape DROP CONSTRAINT shape_pkey, SET ACCESS METHOD key_value, ADD PRIMARY KEY (sk) INCLUDE (more);
SELECT kv_test.lookup('shape');
DROP TABLE shape;

CREATE TABLE shape (a text COLLATE "C", b text COLLATE "C", item jsonb NOT NULL, PRIMARY KEY (a, b))
	PARTITION BY HASH (a kv.xxh3_text_ops, b kv.xxh3_text_ops);
SELECT kv_test.lookup('shape');
DROP TABLE shape;
CREATE TABLE shape (a text COLLATE "C", b text COLLATE "C", item jsonb NOT NULL, PRIMARY KEY (a, b))
	PARTITION BY HASH (b kv.xxh3_text_ops);
SELECT kv_test.lookup('shape');
DROP TABLE shape;
CREATE TABLE shape (a text COLLATE "C", item jsonb NOT NULL) PARTITION BY HASH (lower(a) kv.xxh3_text_ops);
SELECT kv_test.lookup('shape');
DROP TABLE shape;
CREATE TABLE shape (a text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) PARTITION BY HASH (a kv.xxh3_text_ops);
SELECT kv_test.lookup('shape');
CREATE TABLE shape_0 PARTITION OF shape FOR VALUES WITH (MODULUS 2, REMAINDER 0);
SELECT kv_test.lookup('shape'), kv_test.lookup('shape_0');
CREATE TABLE shape_1 PARTITION OF shape FOR VALUES WITH (MODULUS 2, REMAINDER 1) PARTITION BY HASH (a kv.xxh3_text_ops);
SELECT kv_test.lookup('shape'), kv_test.lookup('shape_1');
DROP TABLE shape;

-- Renaming, moving, adding columns.
ALTER TABLE messages RENAME pk TO thread;
SELECT kv_test.lookup('messages'), kv_test.lookup('messages_p0');
ALTER TABLE messages RENAME TO posts;
SELECT kv_test.lookup('posts');
CREATE SCHEMA cache_schema;
ALTER TABLE posts SET SCHEMA cache_schema;
SELECT kv_test.lookup('cache_schema.posts');
ALTER TABLE cache_schema.posts SET SCHEMA public;
DROP SCHEMA cache_schema;
ALTER TABLE posts RENAME TO messages;
ALTER TABLE messages ADD COLUMN extra int;
SELECT kv_test.lookup('messages');

-- Partitions that come and go.
SELECT kv_test.leaf('messages', 3);
ALTER TABLE messages DETACH PARTITION messages_p3;
SELECT kv_test.lookup('messages'), kv_test.lookup('messages_p3');
SELECT kv_test.leaf('messages', 3);
ALTER TABLE messages ATTACH PARTITION messages_p3 FOR VALUES WITH (MODULUS 4, REMAINDER 3);
SELECT kv_test.lookup('messages'), kv_test.lookup('messages_p3');
SELECT kv_test.leaf('messages', 3);
DROP TABLE messages_p3;
SELECT kv_test.lookup('messages');

-- A heap table with another order of columns, one of them dropped, as partition.
CREATE TABLE odd_leaf (item jsonb NOT NULL DEFAULT '{}', gone int, extra int, sk text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL,
	CONSTRAINT messages_item_check CHECK (kv.check_item(tableoid, item, thread, sk)));
ALTER TABLE odd_leaf DROP COLUMN gone;
SELECT kv_test.lookup('odd_leaf');
ALTER TABLE messages ATTACH PARTITION odd_leaf FOR VALUES WITH (MODULUS 4, REMAINDER 3);
SELECT kv_test.lookup('messages'), kv_test.lookup('odd_leaf');
SELECT kv_test.leaf('messages', 0), kv_test.leaf('messages', 3);

-- REINDEX CONCURRENTLY gives the leaf's index another OID.
CREATE TABLE before AS SELECT 'odd_leaf_pkey'::regclass::oid AS index;
REINDEX INDEX CONCURRENTLY odd_leaf_pkey;
SELECT kv_test.leaf('messages', 3), index <> 'odd_leaf_pkey'::regclass AS another FROM before;
DROP TABLE before;

-- Constraints beside our own, which a writer must not skip.
ALTER TABLE messages ADD CONSTRAINT more CHECK (extra > 0);
SELECT kv_test.leaf('messages', 0);
ALTER TABLE messages DROP CONSTRAINT more;
SELECT kv_test.leaf('messages', 0);
ALTER TABLE messages ALTER extra SET NOT NULL;
SELECT kv_test.leaf('messages', 0);
ALTER TABLE messages ALTER extra DROP NOT NULL, ADD COLUMN g int GENERATED ALWAYS AS (1) STORED;
SELECT kv_test.leaf('messages', 0);
ALTER TABLE messages DROP COLUMN g, DROP CONSTRAINT messages_item_check;
SELECT kv_test.leaf('messages', 0);
ALTER TABLE messages ADD CONSTRAINT messages_item_check CHECK (kv.check_item(tableoid, item, sk, thread));
SELECT kv_test.leaf('messages', 0);
ALTER TABLE messages DROP CONSTRAINT messages_item_check,
	ADD CONSTRAINT messages_item_check CHECK (kv.check_item(tableoid, item, thread, sk));
SELECT kv_test.leaf('messages', 0), kv_test.leaf('messages', 3);

-- Held over a change in the same transaction.
SELECT kv_test.hold('messages', 'ALTER TABLE messages ADD COLUMN more int');
SELECT kv_test.hold('messages', 'ALTER TABLE messages ALTER item DROP NOT NULL');
ALTER TABLE messages ALTER item SET NOT NULL;
SELECT kv_test.hold_leaf('messages', 1, 'SELECT 1');
SELECT kv_test.hold_leaf('messages', 1, 'REINDEX TABLE messages_p1');
SELECT kv_test.hold_leaf('messages', 1, 'ANALYZE messages_p1');
SELECT kv_test.hold_leaf('messages', 1, 'ALTER TABLE messages ADD COLUMN even_more int');

-- Held over the fall of everything, over and over.
DO $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		PERFORM kv_test.hold('messages', 'ALTER TABLE messages ALTER item DROP NOT NULL');
		ALTER TABLE messages ALTER item SET NOT NULL;
		PERFORM kv_test.hold_leaf('messages', i % 4, 'REINDEX TABLE messages_p1');
	END LOOP;
END $$;

-- A change that is taken back.
BEGIN;
SELECT kv_test.lookup('messages');
SAVEPOINT s;
ALTER TABLE messages RENAME sk TO created;
SELECT kv_test.lookup('messages');
ROLLBACK TO s;
SELECT kv_test.lookup('messages');
ALTER TABLE messages RENAME sk TO created;
ROLLBACK;
SELECT kv_test.lookup('messages');

-- Prepared statements and PL/pgSQL functions see the truth after a drop and
-- re-creation under the same name.
SELECT kv.create_table('notes', 'pk', partitions => 2);
INSERT INTO notes VALUES ('a', '{"first": true}');
PREPARE by_name (text, text) AS SELECT kv.get($1::regclass, $2);
CREATE FUNCTION read_note(key text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	RETURN kv.get('notes', key);
END $$;
EXECUTE by_name('notes', 'a');
SELECT read_note('a');
ALTER TABLE notes RENAME pk TO id;
EXECUTE by_name('notes', 'a');
SELECT read_note('a');
SELECT kv.drop_table('notes');
EXECUTE by_name('notes', 'a');
SELECT kv.create_table('notes', 'number', partition_key_type => 'N', partitions => 3);
INSERT INTO notes VALUES (5, '{"second": true}');
EXECUTE by_name('notes', '5.0');
SELECT read_note('5');
ALTER TABLE notes DETACH PARTITION notes_p0;
ALTER TABLE notes DETACH PARTITION notes_p1;
ALTER TABLE notes DETACH PARTITION notes_p2;
EXECUTE by_name('notes', '5');
ALTER TABLE notes ATTACH PARTITION notes_p0 FOR VALUES WITH (MODULUS 3, REMAINDER 0);
ALTER TABLE notes ATTACH PARTITION notes_p1 FOR VALUES WITH (MODULUS 3, REMAINDER 1);
ALTER TABLE notes ATTACH PARTITION notes_p2 FOR VALUES WITH (MODULUS 3, REMAINDER 2);
EXECUTE by_name('notes', '5');
SELECT read_note('5');
DEALLOCATE ALL;
DROP FUNCTION read_note(text);
DROP TABLE messages, notes;

-- A relation that is gone: our error, not "could not open relation".
SELECT kv_test.route(4294967295::oid::regclass, 'a');
SELECT kv.get(4294967295::oid::regclass, 'a');
