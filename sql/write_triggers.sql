-- Triggers fire as for SQL's own commands.
SELECT kv.create_table('trig', 'pk', 'sk', partitions => 4);
CREATE FUNCTION trig_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_LEVEL = 'STATEMENT' THEN
		RAISE NOTICE '% % % on %', TG_WHEN, TG_LEVEL, TG_OP, TG_RELID::regclass;
		RETURN NULL;
	END IF;
	RAISE NOTICE '% % %: % -> %', TG_WHEN, TG_LEVEL, TG_OP,
		CASE WHEN TG_OP <> 'INSERT' THEN OLD.pk || '/' || OLD.sk || ' ' || OLD.item END,
		CASE WHEN TG_OP <> 'DELETE' THEN NEW.pk || '/' || NEW.sk || ' ' || NEW.item END;
	RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER before_row BEFORE INSERT OR UPDATE OR DELETE ON trig FOR EACH ROW EXECUTE FUNCTION trig_tell();
CREATE TRIGGER after_row AFTER INSERT OR UPDATE OR DELETE ON trig FOR EACH ROW EXECUTE FUNCTION trig_tell();
CREATE TRIGGER before_statement BEFORE INSERT OR UPDATE OR DELETE ON trig EXECUTE FUNCTION trig_tell();
CREATE TRIGGER after_statement AFTER INSERT OR UPDATE OR DELETE ON trig EXECUTE FUNCTION trig_tell();

SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 1}');
SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 2}', return_values => 'ALL_OLD');
SELECT kv.delete_item('trig', '{"pk": "a", "sk": "b"}', return_values => 'ALL_OLD');

-- Nothing fires where nothing is written.
SELECT kv.delete_item('trig', '{"pk": "a", "sk": "b"}');
SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 1}', 'attribute_exists(pk)', on_condition_failure => 'return');

-- An item that is equal to the old one is written all the same.
SET client_min_messages = warning;
SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 1}');
RESET client_min_messages;
SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 1}');

-- UPDATE OF fires for item and not for the keys.
DROP TRIGGER before_row ON trig;
DROP TRIGGER after_row ON trig;
DROP TRIGGER before_statement ON trig;
DROP TRIGGER after_statement ON trig;
CREATE TRIGGER of_item BEFORE UPDATE OF item ON trig FOR EACH ROW EXECUTE FUNCTION trig_tell();
CREATE TRIGGER of_key AFTER UPDATE OF sk ON trig FOR EACH ROW EXECUTE FUNCTION trig_tell();
SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 2}');
DROP TRIGGER of_item ON trig;
DROP TRIGGER of_key ON trig;

-- WHEN conditions.
CREATE TRIGGER only_changes AFTER UPDATE ON trig FOR EACH ROW WHEN (OLD.item IS DISTINCT FROM NEW.item) EXECUTE FUNCTION trig_tell();
SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 2}');
SELECT kv.put_item('trig', '{"pk": "a", "sk": "b", "v": 3}');
DROP TRIGGER only_changes ON trig;

-- A BEFORE trigger changes the item: that is what is stored, and what AFTER triggers see.
CREATE FUNCTION trig_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.item := NEW.item || jsonb_build_object('by', TG_OP);
	RETURN NEW;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON trig FOR EACH ROW EXECUTE FUNCTION trig_stamp();
CREATE TRIGGER tell AFTER INSERT OR UPDATE ON trig FOR EACH ROW EXECUTE FUNCTION trig_tell();
SELECT kv.put_item('trig', '{"pk": "c", "sk": "b", "v": 1}');
SELECT kv.get('trig', 'c', 'b');
SELECT kv.put_item('trig', '{"pk": "c", "sk": "b", "v": 2}', return_values => 'ALL_OLD');
SELECT kv.get('trig', 'c', 'b');

-- What it makes of the item must be an item still.
CREATE OR REPLACE FUNCTION trig_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.item := '[1]';
	RETURN NEW;
END $$;
SELECT kv.put_item('trig', '{"pk": "d", "sk": "b", "v": 1}');
SELECT kv.put_item('trig', '{"pk": "c", "sk": "b", "v": 1}');
DROP TRIGGER tell ON trig;

-- A BEFORE trigger that suppresses: nothing is written, no error.
CREATE OR REPLACE FUNCTION trig_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RETURN NULL;
END $$;
CREATE TRIGGER stamp_delete BEFORE DELETE ON trig FOR EACH ROW EXECUTE FUNCTION trig_stamp();
SELECT kv.put_item('trig', '{"pk": "d", "sk": "b", "v": 1}', return_values => 'ALL_OLD');
SELECT kv.put_item('trig', '{"pk": "c", "sk": "b", "v": 3}', return_values => 'ALL_OLD');
SELECT kv.delete_item('trig', '{"pk": "c", "sk": "b"}', return_values => 'ALL_OLD');
SELECT kv.put_item('trig', '{"pk": "d", "sk": "b", "v": 1}', on_condition_failure => 'return');
SELECT kv.put_item('trig', '{"pk": "c", "sk": "b", "v": 3}', on_condition_failure => 'return');
SELECT kv.delete_item('trig', '{"pk": "c", "sk": "b"}', on_condition_failure => 'return');
SELECT kv.get('trig', 'c', 'b'), kv.get('trig', 'd', 'b');
DROP TRIGGER stamp_delete ON trig;

-- A BEFORE trigger that changes the key: a row of its own, within the partition only.
CREATE OR REPLACE FUNCTION trig_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.sk := 'other';
	RETURN NEW;
END $$;
SELECT kv.put_item('trig', '{"pk": "e", "sk": "b", "v": 1}');
SELECT kv.put_item('trig', '{"pk": "e", "sk": "b", "v": 2}');
SELECT * FROM trig WHERE pk = 'e';
CREATE OR REPLACE FUNCTION trig_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.pk := NEW.pk || 'x';
	RETURN NEW;
END $$;
DO $$
BEGIN
	FOR n IN 1 .. 20 LOOP
		PERFORM kv.put_item('trig', jsonb_build_object('pk', 'f' || n, 'sk', 'b'));
	END LOOP;
EXCEPTION WHEN feature_not_supported THEN
	RAISE NOTICE '%', SQLERRM;
END $$;
DROP TRIGGER stamp ON trig;

-- On UPDATE the item functions do not move the row to another partition either; SQL does.
CREATE TRIGGER stamp BEFORE UPDATE ON trig FOR EACH ROW EXECUTE FUNCTION trig_stamp();
SELECT count(kv.put_item('trig', jsonb_build_object('pk', 'm' || n, 'sk', 'b'))) FROM generate_series(1, 20) AS n;
DO $$
DECLARE
	detail text;
BEGIN
	FOR n IN 1 .. 20 LOOP
		PERFORM kv.put_item('trig', jsonb_build_object('pk', 'm' || n, 'sk', 'b'));
	END LOOP;
EXCEPTION WHEN SQLSTATE 'KV007' THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RAISE NOTICE '%: %', SQLERRM, detail;
END $$;
DROP TRIGGER stamp ON trig;

-- An AFTER trigger that writes another item through an item function.
CREATE FUNCTION trig_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF coalesce(NEW.sk, OLD.sk) = 'COUNT' THEN
		RETURN NULL;
	END IF;
	PERFORM kv.put_item('trig', jsonb_build_object('pk', coalesce(NEW.pk, OLD.pk), 'sk', 'COUNT', 'n',
		coalesce((kv.get('trig', coalesce(NEW.pk, OLD.pk), 'COUNT') ->> 'n')::int, 0) +
		CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'DELETE' THEN -1 ELSE 0 END));
	RETURN NULL;
END $$;
CREATE TRIGGER count AFTER INSERT OR UPDATE OR DELETE ON trig FOR EACH ROW EXECUTE FUNCTION trig_count();
SELECT kv.put_item('trig', '{"pk": "g", "sk": "1"}');
SELECT kv.put_item('trig', '{"pk": "g", "sk": "2"}');
SELECT kv.put_item('trig', '{"pk": "g", "sk": "2", "again": true}');
SELECT kv.put_item('trig', '{"pk": "g", "sk": "3"}');
SELECT kv.delete_item('trig', '{"pk": "g", "sk": "1"}');
SELECT * FROM trig WHERE pk = 'g' ORDER BY sk;
DROP TRIGGER count ON trig;

-- A BEFORE trigger that writes the very item: as in SQL, an error on UPDATE and DELETE; on INSERT the put lands on top.
CREATE FUNCTION trig_self() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() = 1 THEN
		PERFORM kv.put_item('trig', jsonb_build_object('pk', 'h', 'sk', '1', 'inner', true));
	END IF;
	RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER self BEFORE INSERT ON trig FOR EACH ROW EXECUTE FUNCTION trig_self();
SELECT kv.put_item('trig', '{"pk": "h", "sk": "1", "outer": true}');
SELECT * FROM trig WHERE pk = 'h';
DROP TRIGGER self ON trig;
CREATE TRIGGER self BEFORE UPDATE OR DELETE ON trig FOR EACH ROW EXECUTE FUNCTION trig_self();
SELECT kv.put_item('trig', '{"pk": "h", "sk": "1", "outer": true}');
SELECT kv.delete_item('trig', '{"pk": "h", "sk": "1"}');
SELECT * FROM trig WHERE pk = 'h';
DROP TRIGGER self ON trig;

-- Transition tables.
CREATE FUNCTION trig_old_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		RAISE NOTICE 'inserted %', (SELECT jsonb_agg(n) FROM new_rows n);
	ELSIF TG_OP = 'UPDATE' THEN
		RAISE NOTICE 'updated % to %', (SELECT jsonb_agg(o) FROM old_rows o), (SELECT jsonb_agg(n) FROM new_rows n);
	ELSE
		RAISE NOTICE 'deleted %', (SELECT jsonb_agg(o) FROM old_rows o);
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER inserted AFTER INSERT ON trig REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION trig_old_new();
CREATE TRIGGER updated AFTER UPDATE ON trig REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows EXECUTE FUNCTION trig_old_new();
CREATE TRIGGER deleted AFTER DELETE ON trig REFERENCING OLD TABLE AS old_rows EXECUTE FUNCTION trig_old_new();
SELECT kv.put_item('trig', '{"pk": "i", "sk": "1", "v": 1}');
SELECT kv.put_item('trig', '{"pk": "i", "sk": "1", "v": 2}');
SELECT kv.delete_item('trig', '{"pk": "i", "sk": "1"}');
DROP TABLE trig;

-- A table of one partition, with row and statement triggers and transition tables on it.
CREATE TABLE trig (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) USING key_value;
CREATE TRIGGER inserted AFTER INSERT ON trig REFERENCING NEW TABLE AS new_rows FOR EACH ROW EXECUTE FUNCTION trig_old_new();
CREATE TRIGGER updated AFTER UPDATE ON trig REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows EXECUTE FUNCTION trig_old_new();
SELECT kv.put_item('trig', '{"pk": "i", "v": 1}');
SELECT kv.put_item('trig', '{"pk": "i", "v": 2}');
SELECT kv.delete_item('trig', '{"pk": "i"}');

-- Replica and disabled triggers.
CREATE FUNCTION trig_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE 'trigger % fires', TG_NAME;
	RETURN NEW;
END $$;
CREATE TRIGGER never BEFORE INSERT ON trig FOR EACH ROW EXECUTE FUNCTION trig_name();
CREATE TRIGGER replica BEFORE INSERT ON trig FOR EACH ROW EXECUTE FUNCTION trig_name();
ALTER TABLE trig DISABLE TRIGGER never;
ALTER TABLE trig ENABLE REPLICA TRIGGER replica;
SELECT kv.put_item('trig', '{"pk": "j"}');
SET session_replication_role = replica;
SELECT kv.put_item('trig', '{"pk": "k"}');
RESET session_replication_role;

-- A trigger that drops a table which the same request writes to later.
CREATE FUNCTION trig_drop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DROP TABLE trig_last; RETURN new; END $$;
SELECT kv.create_table('trig_first', 'pk', partitions => 2), kv.create_table('trig_last', 'pk', partitions => 2);
CREATE TRIGGER d BEFORE INSERT ON trig_first FOR EACH ROW EXECUTE FUNCTION trig_drop();
CREATE FUNCTION trig_code(command text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE command; RETURN 'no error'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
SELECT trig_code($$SELECT kv.batch_write_item('{"trig_first": [{"PutRequest": {"Item": {"pk": "1"}}}], "trig_last": [{"PutRequest": {"Item": {"pk": "1"}}}]}')$$);
SELECT trig_code($$SELECT kv.transact_write_items('[{"Put": {"TableName": "trig_first", "Item": {"pk": "1"}}}, {"Put": {"TableName": "trig_last", "Item": {"pk": "1"}}}]')$$);

DROP TABLE trig, trig_first, trig_last;
DROP FUNCTION trig_drop, trig_code, trig_tell, trig_stamp, trig_count, trig_self, trig_old_new, trig_name;
