-- Constraints hold as for SQL's own commands: checks, generated columns, further indexes, foreign keys both ways.
SELECT kv.create_table('cons', 'pk', 'sk', partitions => 1);

-- A check of one's own.
ALTER TABLE cons ADD CONSTRAINT positive CHECK ((item -> 'n')::numeric > 0);
SELECT kv.put_item('cons', '{"pk": "a", "sk": "1", "n": 1}');
SELECT kv.put_item('cons', '{"pk": "a", "sk": "1", "n": 0}');
SELECT kv.put_item('cons', '{"pk": "a", "sk": "2", "n": -1}');
SELECT kv.put_item('cons', '{"pk": "a", "sk": "2"}');
SELECT item FROM cons WHERE pk = 'a' ORDER BY sk;
ALTER TABLE cons DROP CONSTRAINT positive;
SELECT kv.put_item('cons', '{"pk": "a", "sk": "1", "n": 0}');

-- A check that calls a function, which is replaced afterwards: the next write calls the new one.
CREATE FUNCTION cons_ok(item jsonb) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$;
ALTER TABLE cons ADD CONSTRAINT ok CHECK (cons_ok(item));
SELECT kv.put_item('cons', '{"pk": "a", "sk": "1", "n": 1}');
CREATE OR REPLACE FUNCTION cons_ok(item jsonb) RETURNS bool LANGUAGE sql IMMUTABLE AS $$ SELECT false $$;
SELECT kv.put_item('cons', '{"pk": "a", "sk": "1", "n": 2}');
ALTER TABLE cons DROP CONSTRAINT ok;
DROP FUNCTION cons_ok;

-- A check that writes to the same leaf: calls nest.
CREATE FUNCTION cons_nest(pk text, item jsonb) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	IF item ? 'nest' THEN
		PERFORM kv.put_item('cons', jsonb_build_object('pk', pk, 'sk', 'nested'));
	END IF;
	RETURN true;
END $$;
ALTER TABLE cons ADD CONSTRAINT nest CHECK (cons_nest(pk, item));
SELECT kv.put_item('cons', '{"pk": "n", "sk": "1", "nest": true}');
SELECT kv.put_item('cons', '{"pk": "n", "sk": "1", "nest": 2}');
SELECT sk, item FROM cons WHERE pk = 'n' ORDER BY sk;
ALTER TABLE cons DROP CONSTRAINT nest;
DROP FUNCTION cons_nest;

-- NOT NULL without a default, and with one.
ALTER TABLE cons ADD extra int;
ALTER TABLE cons ALTER extra SET NOT NULL;
UPDATE cons SET extra = 0 WHERE pk IN ('a', 'n');
ALTER TABLE cons ALTER extra SET NOT NULL;
SELECT kv.put_item('cons', '{"pk": "b", "sk": "1"}');
ALTER TABLE cons ALTER extra SET DEFAULT 5;
SELECT kv.put_item('cons', '{"pk": "b", "sk": "1"}');
SELECT * FROM cons WHERE pk = 'b';
ALTER TABLE cons DROP extra;

-- A generated column, a unique index over it with the partition key, and an index on an expression.
ALTER TABLE cons ADD email text GENERATED ALWAYS AS (item ->> 'email') STORED;
CREATE UNIQUE INDEX cons_email ON cons (pk, email);
CREATE INDEX cons_created ON cons (pk, (item ->> 'created')) WHERE item ? 'created';
SELECT kv.put_item('cons', '{"pk": "c", "sk": "1", "email": "a@x", "created": "2024"}');
SELECT kv.put_item('cons', '{"pk": "c", "sk": "2", "email": "b@x"}');
SELECT kv.put_item('cons', '{"pk": "c", "sk": "3", "email": "a@x"}');
SELECT kv.put_item('cons', '{"pk": "c", "sk": "2", "email": "a@x"}');
SELECT kv.put_item('cons', '{"pk": "c", "sk": "1", "email": "c@x", "created": "2025"}');
SELECT kv.put_item('cons', '{"pk": "c", "sk": "2", "email": "a@x", "created": "2023"}');
SELECT sk, email, item ->> 'created' AS created FROM cons WHERE pk = 'c' ORDER BY sk;
SET enable_seqscan = off;
SELECT sk FROM cons WHERE pk = 'c' AND item ->> 'created' = '2025' AND item ? 'created';
SELECT sk FROM cons WHERE pk = 'c' AND item ->> 'created' = '2024' AND item ? 'created';
RESET enable_seqscan;
SELECT kv.delete_item('cons', '{"pk": "c", "sk": "1"}', return_values => 'ALL_OLD');
SELECT kv.put_item('cons', '{"pk": "c", "sk": "4", "email": "c@x"}');
DROP INDEX cons_email;
ALTER TABLE cons DROP email;

-- A GIN index on the item, made after the first writes of the session and dropped again.
CREATE INDEX cons_gin ON cons USING gin (item);
SELECT kv.put_item('cons', '{"pk": "d", "sk": "1", "tag": "x"}');
SELECT kv.put_item('cons', '{"pk": "d", "sk": "1", "tag": "y"}');
SELECT kv.put_item('cons', '{"pk": "d", "sk": "2", "tag": "y"}');
SELECT sk FROM cons WHERE pk = 'd' AND item @> '{"tag": "y"}' ORDER BY sk;
SELECT sk FROM cons WHERE pk = 'd' AND item @> '{"tag": "x"}' ORDER BY sk;
DROP INDEX cons_gin;

-- A deferred unique constraint is judged at its time.
CREATE TABLE cons_deferred (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL,
	n numeric GENERATED ALWAYS AS ((item -> 'n')::numeric) STORED UNIQUE DEFERRABLE INITIALLY DEFERRED) USING key_value;
SELECT kv.put_item('cons_deferred', '{"pk": "a", "n": 1}');
SELECT kv.put_item('cons_deferred', '{"pk": "b", "n": 2}');
BEGIN;
SELECT kv.put_item('cons_deferred', '{"pk": "a", "n": 2}');
SELECT kv.put_item('cons_deferred', '{"pk": "b", "n": 1}');
COMMIT;
BEGIN;
SELECT kv.put_item('cons_deferred', '{"pk": "c", "n": 2}');
COMMIT;
SELECT pk, n FROM cons_deferred WHERE pk IN ('a', 'b', 'c') ORDER BY pk;

-- An exclusion constraint.
ALTER TABLE cons_deferred ADD during int4range GENERATED ALWAYS AS (
	CASE WHEN item ? 'from' THEN int4range((item -> 'from')::int, (item -> 'to')::int) END) STORED;
ALTER TABLE cons_deferred ADD CONSTRAINT no_overlap EXCLUDE USING gist (during WITH &&);
SELECT kv.put_item('cons_deferred', '{"pk": "x", "n": 10, "from": 1, "to": 5}');
SELECT kv.put_item('cons_deferred', '{"pk": "y", "n": 11, "from": 4, "to": 6}');
SELECT kv.put_item('cons_deferred', '{"pk": "y", "n": 11, "from": 5, "to": 6}');
SELECT kv.put_item('cons_deferred', '{"pk": "y", "n": 11, "from": 2, "to": 6}');
DROP TABLE cons_deferred;

-- Another table refers to the items.
CREATE TABLE cons_child (pk text COLLATE "C", sk text COLLATE "C", FOREIGN KEY (pk, sk) REFERENCES cons);
SELECT kv.put_item('cons', '{"pk": "f", "sk": "1"}');
INSERT INTO cons_child VALUES ('f', '1');
INSERT INTO cons_child VALUES ('f', '2');
SELECT kv.put_item('cons', '{"pk": "f", "sk": "1", "changed": true}');
-- (the constraint has another name from 18 on)
DO $$
DECLARE
	detail text;
BEGIN
	PERFORM kv.delete_item('cons', '{"pk": "f", "sk": "1"}');
EXCEPTION WHEN foreign_key_violation THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RAISE WARNING '%: %', replace(SQLERRM, 'fkey_1', 'fkey1'), detail;
END $$;
DELETE FROM cons_child;
SELECT kv.delete_item('cons', '{"pk": "f", "sk": "1"}', return_values => 'ALL_OLD');
DROP TABLE cons_child;
CREATE TABLE cons_child (pk text COLLATE "C", sk text COLLATE "C", FOREIGN KEY (pk, sk) REFERENCES cons ON DELETE CASCADE DEFERRABLE);
SELECT kv.put_item('cons', '{"pk": "f", "sk": "1"}');
INSERT INTO cons_child VALUES ('f', '1'), ('f', '1');
SELECT kv.delete_item('cons', '{"pk": "f", "sk": "1"}');
SELECT count(*) FROM cons_child;
DROP TABLE cons_child;

-- The items refer to another table.
CREATE TABLE cons_parent (id text COLLATE "C" PRIMARY KEY);
INSERT INTO cons_parent VALUES ('known');
ALTER TABLE cons ADD owner text COLLATE "C" GENERATED ALWAYS AS (item ->> 'owner') STORED REFERENCES cons_parent;
SELECT kv.put_item('cons', '{"pk": "g", "sk": "1", "owner": "known"}');
SELECT kv.put_item('cons', '{"pk": "g", "sk": "2", "owner": "unknown"}');
SELECT kv.put_item('cons', '{"pk": "g", "sk": "1", "owner": "unknown"}');
SELECT kv.put_item('cons', '{"pk": "g", "sk": "3"}');
DELETE FROM cons_parent;
SELECT kv.delete_item('cons', '{"pk": "g", "sk": "1"}');
DELETE FROM cons_parent;
SELECT sk, owner FROM cons WHERE pk = 'g' ORDER BY sk;

-- An index of another kind than btree, which may hold on to something from one row to the next.
CREATE INDEX cons_brin ON cons USING brin (pk);
SELECT kv.put_item('cons', '{"pk": "i", "sk": "1"}');
DROP INDEX cons_brin;

-- A publication that cannot publish the change stands in the way, as for SQL.
SET client_min_messages = error;
CREATE PUBLICATION cons_publication FOR TABLE cons WHERE (item ? 'x') WITH (publish_via_partition_root = true);
RESET client_min_messages;
SELECT kv.put_item('cons', '{"pk": "h", "sk": "1"}');
SELECT kv.put_item('cons', '{"pk": "h", "sk": "1"}');
SELECT kv.delete_item('cons', '{"pk": "h", "sk": "1"}');
DROP PUBLICATION cons_publication;
SELECT kv.delete_item('cons', '{"pk": "h", "sk": "1"}', return_values => 'ALL_OLD');

DROP TABLE cons, cons_parent;
