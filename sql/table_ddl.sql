-- A key-value table is a table: DDL and maintenance work on it, and the item
-- functions see the result.
SELECT kv.create_table('messages', 'pk', 'sk', partitions => 4);
INSERT INTO messages SELECT 'thread' || i % 10, lpad(i::text, 3, '0'), jsonb_build_object('n', i) FROM generate_series(1, 100) i;

-- What the item functions say of thread 7, and whether all items are found by
-- their keys.
CREATE FUNCTION thread7() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(q ->> 'n', ' ') FROM kv.query('messages', 'pk = :p', '{":p": "thread7"}') q $$;
CREATE FUNCTION all_found() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found int := 0;
BEGIN
	FOR i IN 1 .. 100 LOOP
		IF kv.get('messages', 'thread' || i % 10, lpad(i::text, 3, '0')) ->> 'n' = i::text THEN
			found := found + 1;
		END IF;
	END LOOP;
	RETURN found || ' found, ' || (SELECT count(*) FROM kv.scan('messages')) || ' scanned';
END $$;
SELECT thread7(), all_found();

-- Maintenance.
VACUUM messages;
VACUUM FULL messages;
SELECT thread7(), all_found();
CLUSTER messages_p0 USING messages_p0_pkey;
ALTER TABLE messages_p1 CLUSTER ON messages_p1_pkey;
CLUSTER messages_p1;
SELECT thread7(), all_found();
REINDEX TABLE messages;
REINDEX TABLE CONCURRENTLY messages;
REINDEX INDEX CONCURRENTLY messages_p2_pkey;
SELECT thread7(), all_found();
ANALYZE messages;
VACUUM (FREEZE, ANALYZE) messages;
SELECT thread7(), all_found();
SELECT sum(item_count) AS counted FROM kv.partitions;

-- Columns.
ALTER TABLE messages ADD COLUMN note text DEFAULT 'none';
ALTER TABLE messages ADD COLUMN n int GENERATED ALWAYS AS ((item ->> 'n')::int) STORED;
SELECT thread7(), all_found();
SELECT note, n FROM messages WHERE pk = 'thread7' AND sk = '007';
INSERT INTO messages (pk, sk, item) VALUES ('thread7', 'x', '{"n": 1000}');
SELECT note, n, kv.get('messages', pk, sk) FROM messages WHERE pk = 'thread7' AND sk = 'x';
DELETE FROM messages WHERE pk = 'thread7' AND sk = 'x';
ALTER TABLE messages DROP COLUMN note, DROP COLUMN n;
SELECT thread7(), all_found();

-- The shape broken and mended.
ALTER TABLE messages ALTER item DROP NOT NULL;
SELECT all_found();
ALTER TABLE messages ALTER item SET NOT NULL;
ALTER TABLE messages DROP CONSTRAINT messages_pkey;
SELECT all_found();
ALTER TABLE messages ADD PRIMARY KEY (pk, sk);
SELECT thread7(), all_found();
ALTER TABLE messages RENAME item TO body;
SELECT all_found();
ALTER TABLE messages RENAME body TO item;
SELECT thread7(), all_found();

-- Indexes and constraints of the user's own.
CREATE INDEX messages_n ON messages ((item -> 'n'));
CREATE UNIQUE INDEX messages_unique ON messages (pk, (item -> 'n'));
ALTER TABLE messages ADD CONSTRAINT positive CHECK ((item ->> 'n')::int > 0);
SELECT thread7(), all_found();
INSERT INTO messages VALUES ('thread7', 'x', '{"n": 0}');
INSERT INTO messages VALUES ('thread7', 'x', '{"n": 7}');
ALTER TABLE messages DROP CONSTRAINT positive;
DROP INDEX messages_n, messages_unique;

-- Renamed and moved.
ALTER TABLE messages RENAME pk TO thread;
SELECT kv.get('messages', 'thread7', '007');
SELECT count(*) FROM kv.query('messages', 'thread = :p', '{":p": "thread7"}');
SELECT kv.query('messages', 'pk = :p', '{":p": "thread7"}');
ALTER TABLE messages RENAME thread TO pk;
ALTER TABLE messages RENAME TO "Posts";
SELECT kv.get('"Posts"', 'thread7', '007');
SELECT kv.get('messages', 'thread7', '007');
CREATE SCHEMA "Other Place";
ALTER TABLE "Posts" SET SCHEMA "Other Place";
SELECT kv.get('"Other Place"."Posts"', 'thread7', '007');
ALTER SCHEMA "Other Place" RENAME TO "New Place";
SELECT kv.get('"New Place"."Posts"', 'thread7', '007');
SET search_path = "New Place";
SELECT kv.get('"Posts"', 'thread7', '007');
RESET search_path;
ALTER TABLE "New Place"."Posts" SET SCHEMA public;
ALTER TABLE "Posts" RENAME TO messages;
DROP SCHEMA "New Place";
ALTER TABLE messages_p0 RENAME TO first_leaf;
SELECT thread7(), all_found();

-- Partitions detached, written to, and attached again.
ALTER TABLE messages DETACH PARTITION first_leaf;
SELECT count(*) < 100 AS fewer FROM kv.scan('messages');
SELECT count(*) > 0 AS some FROM kv.scan('first_leaf');
SELECT table_name, partitions FROM kv.tables ORDER BY 1;
ALTER TABLE messages ATTACH PARTITION first_leaf FOR VALUES WITH (MODULUS 4, REMAINDER 0);
SELECT thread7(), all_found();
SELECT kv.scan('first_leaf');
ALTER TABLE messages DETACH PARTITION messages_p1 CONCURRENTLY;
ALTER TABLE messages ATTACH PARTITION messages_p1 FOR VALUES WITH (MODULUS 4, REMAINDER 1);
SELECT thread7(), all_found();

-- One partition split in two, by hand.
BEGIN;
ALTER TABLE messages DETACH PARTITION messages_p2;
CREATE TABLE messages_p2a PARTITION OF messages FOR VALUES WITH (MODULUS 8, REMAINDER 2) USING key_value;
CREATE TABLE messages_p2b PARTITION OF messages FOR VALUES WITH (MODULUS 8, REMAINDER 6) USING key_value;
SET LOCAL key_value.allow_scan = on;
INSERT INTO messages SELECT * FROM messages_p2;
DROP TABLE messages_p2;
COMMIT;
SELECT thread7(), all_found();
SELECT partition_name, modulus, remainder FROM kv.partitions ORDER BY modulus, remainder;

-- A partition that is an ordinary heap table is guarded and found like any.
ALTER TABLE messages DETACH PARTITION messages_p3;
ALTER TABLE messages_p3 SET ACCESS METHOD heap;
ALTER TABLE messages ATTACH PARTITION messages_p3 FOR VALUES WITH (MODULUS 4, REMAINDER 3);
SELECT thread7(), all_found();
ALTER TABLE messages_p3 SET ACCESS METHOD key_value;
SELECT thread7(), all_found();

-- Storage: tablespace, fillfactor, TOAST, logged or not.
ALTER TABLE messages_p3 SET (fillfactor = 70);
ALTER TABLE messages_p3 SET TABLESPACE pg_default;
ALTER TABLE messages ALTER item SET STORAGE EXTERNAL;
ALTER TABLE messages_p3 SET UNLOGGED;
ALTER TABLE messages_p3 SET LOGGED;
SELECT thread7(), all_found();
INSERT INTO messages VALUES ('big', '1', jsonb_build_object('x', repeat('x', 100000)));
SELECT length(kv.get('messages', 'big', '1') ->> 'x');
VACUUM FULL messages;
SELECT length(kv.get('messages', 'big', '1') ->> 'x');
DELETE FROM messages WHERE pk = 'big' AND sk = '1';

-- A foreign key to it, triggers on it.
CREATE TABLE reference (pk text COLLATE "C", sk text COLLATE "C", FOREIGN KEY (pk, sk) REFERENCES messages);
INSERT INTO reference VALUES ('thread7', '007');
INSERT INTO reference VALUES ('thread7', '008');
DROP TABLE reference;
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.item := NEW.item || '{"stamped": true}';
	RETURN NEW;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION stamp();
INSERT INTO messages VALUES ('thread7', 'x', '{"n": 0}');
SELECT kv.get('messages', 'thread7', 'x');
DROP TRIGGER stamp ON messages;
DROP FUNCTION stamp();
DELETE FROM messages WHERE pk = 'thread7' AND sk = 'x';

-- COPY both ways, of the table and of a query.
\copy (SELECT pk, sk, item FROM messages WHERE pk = 'thread7' AND sk < '030') TO stdout
COPY messages (pk, sk, item) FROM stdin;
copied	1	{"n": 1}
copied	2	{"n": 2}
\.
COPY messages (pk, sk, item) FROM stdin;
copied	3	{"n": 3}
copied	4	{"pk": 4}
\.
SELECT kv.query('messages', 'pk = :p', '{":p": "copied"}');
DELETE FROM messages WHERE pk = 'copied';

-- LIKE, inheritance and what else copies a definition.
CREATE TABLE alike (LIKE messages INCLUDING ALL) USING key_value;
INSERT INTO alike VALUES ('a', 'b', '{"n": 1}');
SELECT kv.get('alike', 'a', 'b');
INSERT INTO alike VALUES ('a', 'c', '{"sk": 1}');
DROP TABLE alike;

-- A partition that the session knows as itself too (FOR UPDATE reads it by name) is not forgotten as a partition.
SELECT kv.create_table('twofold', 'pk', 'sk', partitions => 1);
SELECT kv.put_item('twofold', '{"pk": "a", "sk": "b", "n": 1}');
SELECT item FROM twofold WHERE pk = 'a' FOR UPDATE;
ALTER TABLE twofold_p0 ADD CONSTRAINT small CHECK ((item->>'n')::int < 10);
SELECT kv.put_item('twofold', '{"pk": "a", "sk": "b", "n": 99}');
ALTER TABLE twofold_p0 DROP CONSTRAINT small;
SELECT kv.put_item('twofold', '{"pk": "a", "sk": "b", "n": 99}');
SELECT item FROM twofold WHERE pk = 'a' FOR UPDATE;
REINDEX INDEX CONCURRENTLY twofold_p0_pkey;
SELECT kv.get('twofold', 'a', 'b');
SELECT kv.put_item('twofold', '{"pk": "a", "sk": "c"}');
SELECT sk FROM twofold WHERE pk = 'a' ORDER BY sk DESC;
DROP TABLE twofold;

-- TRUNCATE and DROP.
TRUNCATE first_leaf;
SELECT count(*) < 100 AS fewer FROM kv.scan('messages');
TRUNCATE messages;
SELECT count(*) FROM kv.scan('messages');
INSERT INTO messages VALUES ('a', 'b', '{"n": 1}');
SELECT kv.get('messages', 'a', 'b');
DROP TABLE messages_p3;
SELECT partitions FROM kv.tables;
DROP FUNCTION thread7(), all_found();
DROP TABLE messages;
SELECT kv.get('messages', 'a', 'b');
SELECT count(*) FROM kv.tables;
