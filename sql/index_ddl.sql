-- Indexes follow what DDL does to their tables.
SET client_min_messages = warning;
-- all entries of an index, and whether it can be read
CREATE FUNCTION idd(table_name regclass, index text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT coalesce(string_agg(concat_ws('/', i ->> 'a', coalesce(i ->> 'pk', i ->> 'id'), i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C"), 'nothing')
		FROM kv.scan(table_name, index => index) i);
EXCEPTION WHEN SQLSTATE 'KV012' THEN RETURN SQLERRM;
END $$;
CREATE SCHEMA index_ddl_other;
SELECT kv.create_table('index_ddl', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('index_ddl', 'id_a', 'a');
SELECT kv.create_local_index('index_ddl', 'id_l', 'a');
SELECT count(kv.put_item('index_ddl', jsonb_build_object('pk', 'P' || n, 'sk', 'S', 'a', 'a' || n % 2))) FROM generate_series(1, 4) n;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_a');

-- renames of everything, and other schemas
ALTER TABLE index_ddl RENAME TO index_ddl_new;
ALTER TABLE id_a RENAME TO id_b;
ALTER INDEX id_l RENAME TO id_m;
ALTER TABLE id_b SET SCHEMA index_ddl_other;
SELECT kv.put_item('index_ddl_new', '{"pk": "P5", "sk": "S", "a": "a5"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl_new', 'id_b');
SELECT idd('index_ddl_new', 'id_m');
ALTER TABLE index_ddl_new SET SCHEMA index_ddl_other;
ALTER TABLE index_ddl_other.id_b SET SCHEMA public;
ALTER TABLE index_ddl_other.index_ddl_new SET SCHEMA public;
ALTER TABLE index_ddl_new RENAME TO index_ddl;
-- a key of the table that gets another name: items have it then, and the index is filled anew
BEGIN;
ALTER TABLE index_ddl RENAME COLUMN pk TO id;
SELECT idd('index_ddl', 'id_b');
COMMIT;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
SELECT kv.query('index_ddl', 'a = :a', '{":a": "a5"}', index => 'id_b');
SELECT kv.query('index_ddl', 'id = :a', '{":a": "P5"}', index => 'id_m');
ALTER TABLE index_ddl RENAME COLUMN id TO pk;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "a5"}', index => 'id_b');

-- TRUNCATE: of the table in the same transaction, of one partition by filling anew
BEGIN;
TRUNCATE index_ddl;
SELECT idd('index_ddl', 'id_b');
ROLLBACK;
SELECT idd('index_ddl', 'id_b');
BEGIN;
TRUNCATE index_ddl;
INSERT INTO index_ddl VALUES ('P1', 'S', '{"a": "after"}');
COMMIT;
SELECT state FROM kv.indexes WHERE index_name = 'id_b';
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
SELECT count(kv.put_item('index_ddl', jsonb_build_object('pk', 'P' || n, 'sk', 'S', 'a', 'a' || n % 2))) FROM generate_series(1, 9) n;
SELECT kv.apply_changes() IS NOT NULL AS applied;
BEGIN;
TRUNCATE index_ddl_p1;
SAVEPOINT s;
TRUNCATE index_ddl_p0;
ROLLBACK TO s;
COMMIT;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right,
	(SELECT count(*) BETWEEN 1 AND 8 FROM kv.scan('index_ddl')) AS some;
-- a truncation as a whole that was rolled back does not excuse that of a partition, nor does one that came before
SELECT count(kv.put_item('index_ddl', jsonb_build_object('pk', 'P' || n, 'sk', 'S', 'a', 'a' || n % 2))) FROM generate_series(1, 9) n;
SELECT kv.apply_changes() IS NOT NULL AS applied;
BEGIN;
SAVEPOINT s;
TRUNCATE index_ddl;
ROLLBACK TO s;
TRUNCATE index_ddl_p0;
COMMIT;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right,
	(SELECT count(*) BETWEEN 1 AND 8 FROM kv.scan('index_ddl')) AS some;
BEGIN;
TRUNCATE index_ddl;
INSERT INTO index_ddl SELECT 'P' || n, 'S', '{"a": "a1"}' FROM generate_series(1, 9) n;
SELECT kv.apply_changes() IS NOT NULL AS applied;
TRUNCATE index_ddl_p0;
COMMIT;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right,
	(SELECT count(*) BETWEEN 1 AND 8 FROM kv.scan('index_ddl')) AS some;
-- of the index by its owner: filled anew
TRUNCATE id_b;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right;
-- partitions with heap's own access method, as CREATE TABLE .. PARTITION OF makes them
ALTER TABLE index_ddl_p0 SET ACCESS METHOD heap;
ALTER TABLE id_a_p0 SET ACCESS METHOD heap;
ALTER TABLE id_a_p1 SET ACCESS METHOD heap;
SELECT count(kv.put_item('index_ddl', jsonb_build_object('pk', 'P' || n, 'sk', 'S', 'a', 'a' || n % 2))) FROM generate_series(1, 9) n;
SELECT kv.apply_changes() IS NOT NULL AS applied;
TRUNCATE index_ddl_p0;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right;
TRUNCATE id_a_p0, id_a_p1;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right;
ALTER TABLE index_ddl_p0 SET ACCESS METHOD key_value;
ALTER TABLE id_a_p0 SET ACCESS METHOD key_value;
ALTER TABLE id_a_p1 SET ACCESS METHOD key_value;

-- a partition of the index that is dropped and made again
SET client_min_messages = error;
DROP TABLE id_a_p1;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SET client_min_messages = warning;
CREATE TABLE id_a_p1 PARTITION OF id_b FOR VALUES WITH (MODULUS 2, REMAINDER 1) USING key_value;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT state, detail, last_error FROM kv.indexes WHERE index_name = 'id_b';
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right;

-- partitions that come and go
SELECT count(kv.put_item('index_ddl', jsonb_build_object('pk', 'P' || n, 'sk', 'S', 'a', 'a'))) FROM generate_series(1, 9) n;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_ddl', index => 'id_b') ->> 'pk' AS pk ORDER BY 1;
BEGIN;
ALTER TABLE index_ddl DETACH PARTITION index_ddl_p1;
SELECT idd('index_ddl', 'id_b');
COMMIT;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b') = (SELECT string_agg(concat_ws('/', i ->> 'a', i ->> 'pk', i ->> 'sk'), ' ' ORDER BY i::text COLLATE "C") FROM kv.scan('index_ddl') i) AS right;
ALTER TABLE index_ddl ATTACH PARTITION index_ddl_p1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT kv.put_item('index_ddl', jsonb_build_object('pk', 'P1', 'sk', 'S', 'a', 'changed'));
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'index_ddl_p1'::regclass;

-- the same partition, but with other rows
BEGIN;
ALTER TABLE index_ddl DETACH PARTITION index_ddl_p0;
UPDATE index_ddl_p0 SET item = '{"a": "moved"}' WHERE pk = 'P1';
ALTER TABLE index_ddl ATTACH PARTITION index_ddl_p0 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
COMMIT;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "moved"}', index => 'id_b');
SELECT kv.query('index_ddl', 'a = :a', '{":a": "changed"}', index => 'id_b');

-- rewriting and maintenance
ALTER TABLE index_ddl ALTER COLUMN item TYPE jsonb USING item || '{"a": "rewritten"}';
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
ALTER TABLE index_ddl ADD COLUMN more int DEFAULT 5;
VACUUM FULL index_ddl_p0;
CLUSTER id_a_p0 USING id_a_p0_pkey;
SELECT state FROM kv.indexes WHERE index_name = 'id_b';
SELECT kv.put_item('index_ddl', '{"pk": "P1", "sk": "S", "a": "once more"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "once more"}', index => 'id_b');

-- capture switched off: the index is not to be read, and is filled anew when it is on again
ALTER TABLE index_ddl DISABLE TRIGGER kv_capture;
SELECT kv.delete_item('index_ddl', '{"pk": "P1", "sk": "S"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
SELECT detail FROM kv.indexes WHERE index_name = 'id_b';
ALTER TABLE index_ddl ENABLE ALWAYS TRIGGER kv_capture;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "once more"}', index => 'id_b');
-- dropped, and made again with another index
DROP TRIGGER kv_capture ON index_ddl;
SELECT kv.put_item('index_ddl', '{"pk": "P1", "sk": "S", "a": "not captured"}');
SELECT kv.create_global_index('index_ddl', 'id_more', 'more');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "not captured"}', index => 'id_b');
SELECT kv.drop_index('index_ddl', 'id_more');
DELETE FROM index_ddl WHERE pk = 'P1' AND sk = 'S';

-- .. of one partition, or for some of the writers
ALTER TABLE index_ddl_p0 DISABLE TRIGGER kv_capture;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
SELECT detail FROM kv.indexes WHERE index_name = 'id_b';
SELECT kv.wait_for_index('index_ddl', 'id_b');
ALTER TABLE index_ddl_p0 ENABLE REPLICA TRIGGER kv_capture;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
ALTER TABLE index_ddl_p0 ENABLE ALWAYS TRIGGER kv_capture;
ALTER TABLE index_ddl ENABLE TRIGGER kv_capture;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT idd('index_ddl', 'id_b');
ALTER TABLE index_ddl ENABLE ALWAYS TRIGGER kv_capture;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "once more"}', index => 'id_b');

-- a key of another type, or another key: the index cannot be used, and is right once that is undone
BEGIN;
ALTER TABLE index_ddl ALTER COLUMN sk TYPE bytea USING convert_to(sk, 'UTF8');
SELECT state, detail FROM kv.indexes WHERE index_name = 'id_b';
SELECT kv.query('index_ddl', 'a = :a', '{":a": "a1"}', index => 'id_b');
ROLLBACK;
ALTER TABLE index_ddl DROP CONSTRAINT index_ddl_pkey;
SELECT kv.apply_changes() IS NOT NULL AS applied;
INSERT INTO index_ddl VALUES ('P1', 'S', '{"a": "while away"}');
ALTER TABLE index_ddl ADD PRIMARY KEY (pk, sk);
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "while away"}', index => 'id_b');
ALTER TABLE id_b RENAME COLUMN a TO b;
SELECT kv.put_item('index_ddl', '{"pk": "P1", "sk": "S", "a": "x", "b": "now by b"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_ddl', index => 'id_b');
ALTER TABLE id_b RENAME COLUMN b TO a;

-- another owner
CREATE ROLE regress_index_ddl;
GRANT CREATE ON SCHEMA public TO regress_index_ddl;
ALTER TABLE index_ddl OWNER TO regress_index_ddl;
SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^id_[ab](_p\d)?$' OR relname = 'index_ddl' ORDER BY relname COLLATE "C";
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "x"}', index => 'id_b', projection => 'pk, a');
ALTER TABLE id_b OWNER TO CURRENT_USER;
SELECT kv.query('index_ddl', 'a = :a', '{":a": "x"}', index => 'id_b', projection => 'pk, a');
SELECT kv.put_item('index_ddl', '{"pk": "P1", "sk": "S", "a": "y"}');
SET client_min_messages = error;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SET client_min_messages = warning;
SELECT last_error FROM kv.indexes WHERE index_name = 'id_b';
ALTER TABLE id_b OWNER TO regress_index_ddl;
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT last_error FROM kv.indexes WHERE index_name = 'id_b';
SELECT kv.query('index_ddl', 'a = :a', '{":a": "y"}', index => 'id_b', projection => 'pk, a');

-- records from before a key got another form are left out
SELECT kv.create_table('index_ddl_form', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('index_ddl_form', 'id_f', 'a', 's');
SELECT count(kv.put_item('index_ddl_form', jsonb_build_object('pk', 'P' || n, 'sk', repeat(chr(127), 200) || n, 'a', 'x', 's', n::text))) FROM generate_series(1, 9) n;
ALTER TABLE id_f ALTER COLUMN s TYPE numeric USING s::numeric;
ALTER TABLE index_ddl_form DROP CONSTRAINT index_ddl_form_pkey;
ALTER TABLE index_ddl_form ADD PRIMARY KEY (pk);
SELECT kv.create_global_index('index_ddl_form', 'id_g', 'a');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT index_name, state, detail FROM kv.indexes WHERE table_name = 'index_ddl_form'::regclass ORDER BY 1;
SELECT count(*), sum(length(pk)) FROM id_g WHERE a = 'x';
SELECT count(kv.update_item('index_ddl_form', jsonb_build_object('pk', 'P' || n), 'SET a = :a', NULL, '{":a": "y"}')) FROM generate_series(1, 9) n;
ALTER TABLE index_ddl_form DROP CONSTRAINT index_ddl_form_pkey;
ALTER TABLE index_ddl_form ADD PRIMARY KEY (pk, sk);
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT index_name, state, detail FROM kv.indexes WHERE table_name = 'index_ddl_form'::regclass ORDER BY 1;
DROP TABLE index_ddl_form;

-- a partition of an index is detached and attached again, in one transaction, in two and concurrently, and the index is filled anew
SELECT kv.create_table('index_ddl_leaf', 'pk', partitions => 1);
SELECT kv.create_global_index('index_ddl_leaf', 'id_l', 'a');
SELECT kv.put_item('index_ddl_leaf', '{"pk": "P1", "a": "x"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
ALTER TABLE id_l DETACH PARTITION id_l_p0;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'id_l_p0'::regclass;
ALTER TABLE id_l ATTACH PARTITION id_l_p0 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
ALTER TABLE id_l DETACH PARTITION id_l_p0 CONCURRENTLY;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'id_l_p0'::regclass;
INSERT INTO id_l_p0 VALUES ('planted', 'P1');
BEGIN;
ALTER TABLE id_l ATTACH PARTITION id_l_p0 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
ALTER TABLE id_l DETACH PARTITION id_l_p0;
ALTER TABLE id_l ATTACH PARTITION id_l_p0 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
COMMIT;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'id_l_p0'::regclass ORDER BY 1;
SELECT kv.put_item('index_ddl_leaf', '{"pk": "P2", "a": "y"}');
SELECT kv.apply_changes() IS NOT NULL AS applied;
SELECT kv.scan('index_ddl_leaf', index => 'id_l');
DROP TABLE index_ddl_leaf;

-- indexes go with the table
DROP TABLE index_ddl;
SELECT relname FROM pg_class WHERE relname LIKE 'id\_b%';
SELECT kv.apply_changes() IS NOT NULL AS applied;
DROP FUNCTION idd;
DROP SCHEMA index_ddl_other;
REVOKE CREATE ON SCHEMA public FROM regress_index_ddl;
DROP ROLE regress_index_ddl;
