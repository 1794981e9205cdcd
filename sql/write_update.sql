-- kv.update_item: what is written and what comes back. The update language itself is tested with expressions.
SELECT kv.create_table('upd', 'pk', 'sk');

-- Creates what is not there.
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'SET v = :v, tags = :l', attribute_values => '{":v": 1, ":l": [1, 2]}');
SELECT * FROM upd WHERE pk = 'a';
-- Changes what is there, and only that.
SELECT kv.update_item('upd', '{"sk": "1", "pk": "a"}', 'SET v = v + :one REMOVE tags[0]', attribute_values => '{":one": 1}');
SELECT * FROM upd WHERE pk = 'a';

-- Without an update expression the item is created, or stays as it is.
SELECT kv.update_item('upd', '{"pk": "a", "sk": "2"}', return_values => 'ALL_NEW');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', return_values => 'ALL_NEW');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', return_values => 'ALL_OLD');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', return_values => 'UPDATED_NEW');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', condition => 'v = :v', attribute_values => '{":v": 7}');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', condition => 'v = :v', attribute_values => '{":v": 2}', on_condition_failure => 'return');

-- The five return values, on an item that is there ...
SELECT kv.put_item('upd', '{"pk": "r", "sk": "1", "n": 1, "m": {"x": 1, "y": 1}, "spare": true}');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "1"}', 'SET n = n + :o, m.x = :o, fresh = :o', attribute_values => '{":o": 5}', return_values => 'NONE');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "1"}', 'SET n = n + :o, m.x = m.x + :o REMOVE fresh', attribute_values => '{":o": 1}', return_values => 'ALL_OLD');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "1"}', 'SET n = n + :o, m.x = m.x + :o, fresh = :o', attribute_values => '{":o": 1}', return_values => 'UPDATED_OLD');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "1"}', 'SET n = n + :o, m.x = m.x + :o', attribute_values => '{":o": 1}', return_values => 'ALL_NEW');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "1"}', 'SET n = n + :o, m.x = m.x + :o REMOVE fresh', attribute_values => '{":o": 1}', return_values => 'UPDATED_NEW');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "1"}', 'REMOVE spare', return_values => 'UPDATED_NEW');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "1"}', 'REMOVE spare', return_values => 'UPDATED_OLD');
-- ... and on one that is not.
SELECT kv.update_item('upd', '{"pk": "r", "sk": "2"}', 'SET n = :o', attribute_values => '{":o": 1}', return_values => 'ALL_OLD');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "3"}', 'SET n = :o', attribute_values => '{":o": 1}', return_values => 'UPDATED_OLD');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "4"}', 'SET n = :o', attribute_values => '{":o": 1}', return_values => 'ALL_NEW');
SELECT kv.update_item('upd', '{"pk": "r", "sk": "5"}', 'SET n = :o', attribute_values => '{":o": 1}', return_values => 'UPDATED_NEW');

-- Conditions, raised and returned.
SELECT kv.update_item('upd', '{"pk": "c", "sk": "1"}', 'SET v = :n', 'attribute_not_exists(pk)', '{":n": 1}');
SELECT kv.update_item('upd', '{"pk": "c", "sk": "1"}', 'SET v = :n', 'v = :o', '{":n": 2, ":o": 1}', return_values => 'UPDATED_NEW');
SELECT kv.update_item('upd', '{"pk": "c", "sk": "1"}', 'SET v = :n', 'v = :o', '{":n": 2, ":o": 1}', return_values_on_failure => 'ALL_OLD');
SELECT kv.update_item('upd', '{"pk": "c", "sk": "1"}', 'SET v = :n', 'v = :o', '{":n": 2, ":o": 1}', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.update_item('upd', '{"pk": "c", "sk": "1"}', 'SET v = :n', 'v = :o', '{":n": 3, ":o": 2}', return_values => 'UPDATED_OLD', on_condition_failure => 'return');
SELECT kv.update_item('upd', '{"pk": "c", "sk": "9"}', 'SET v = :n', 'attribute_exists(pk)', '{":n": 3}', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.get('upd', 'c', '9');

-- An update creates the item, even one that only takes away; of what is not there only a parent is missed.
SELECT kv.update_item('upd', '{"pk": "t", "sk": "1"}', 'REMOVE b.c');
SELECT kv.get('upd', 't', '1');
SELECT kv.update_item('upd', '{"pk": "t", "sk": "1"}', 'REMOVE a DELETE s :s', attribute_values => '{":s": {"$SS": ["x"]}}', return_values => 'ALL_NEW');
SELECT kv.get('upd', 't', '1');
SELECT kv.delete_item('upd', '{"pk": "t", "sk": "1"}');
SELECT kv.update_item('upd', '{"pk": "t", "sk": "1"}', 'REMOVE a SET b = :b', attribute_values => '{":b": 1}', return_values => 'ALL_NEW');
SELECT kv.delete_item('upd', '{"pk": "t", "sk": "1"}');

-- Keys cannot be updated, under a name of their own or another's.
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'SET sk = :v', attribute_values => '{":v": "2"}');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'REMOVE #p', attribute_names => '{"#p": "pk"}');

-- Errors of the update leave the item as it is.
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'SET v = tags + :v', attribute_values => '{":v": 1}');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'SET v = absent', attribute_values => NULL);
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'SET v = :v', attribute_values => '{":w": 1}');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', '');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'v = :v', attribute_values => '{":v": 1}');
SELECT kv.update_item('upd', '{"pk": "a", "sk": "1"}', 'SET absent.v = :v', attribute_values => '{":v": 1}');
SELECT kv.get('upd', 'a', '1');

-- The size limit holds for the result.
SELECT kv.put_item('upd', jsonb_build_object('pk', 's', 'sk', '1', 'v', repeat('x', 400 * 1024 - 17)));
SELECT kv.item_size(kv.get('upd', 's', '1'));
SELECT kv.update_item('upd', '{"pk": "s", "sk": "1"}', 'SET w = :w', attribute_values => '{":w": "12345678"}');
SELECT kv.item_size(kv.get('upd', 's', '1'));
SELECT kv.update_item('upd', '{"pk": "s", "sk": "1"}', 'SET w = :w', attribute_values => '{":w": "12345678901"}');
SELECT kv.get('upd', 's', '1') -> 'w';

-- Each on top of the one before, in one statement and in one transaction.
SELECT kv.update_item('upd', '{"pk": "count", "sk": "1"}', 'ADD hits :one', attribute_values => '{":one": 1}', return_values => 'UPDATED_NEW') FROM generate_series(1, 3);
BEGIN;
SELECT kv.update_item('upd', '{"pk": "count", "sk": "1"}', 'ADD hits :one', attribute_values => '{":one": 10}', return_values => 'UPDATED_NEW');
SAVEPOINT s;
SELECT kv.update_item('upd', '{"pk": "count", "sk": "1"}', 'ADD hits :one', attribute_values => '{":one": 100}', return_values => 'UPDATED_NEW');
ROLLBACK TO s;
SELECT kv.update_item('upd', '{"pk": "count", "sk": "1"}', 'ADD hits :one', attribute_values => '{":one": 1000}', return_values => 'UPDATED_NEW');
COMMIT;
SELECT kv.get('upd', 'count', '1');

-- Other attributes come through an update byte for byte, whatever they are.
SELECT kv.put_item('upd', '{"pk": "t", "sk": "1", "uni": "ä\u0001€😀\"\\", "deep": [[[{"a": [null, true, 1.5e-130, {}]}]]], "b": {"$B": "AAECAwQ="},
	"ss": {"$SS": ["b", "a", ""]}, "ns": {"$NS": [2, 1, -1]}, "own": {"$$B": "mine"}, "empty": "", "list": [], "map": {}}');
CREATE TEMP TABLE upd_before AS SELECT item FROM upd WHERE pk = 't' AND sk = '1';
SELECT kv.update_item('upd', '{"pk": "t", "sk": "1"}', 'SET x = :x', attribute_values => '{":x": 1}');
SELECT u.item - 'x' = b.item AS equal, (u.item - 'x')::text = b.item::text AS same FROM upd_before b, upd u WHERE u.pk = 't' AND u.sk = '1';

-- Triggers see UPDATE or INSERT, and what they make of the row is what ALL_NEW returns.
CREATE FUNCTION upd_stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.item := NEW.item || jsonb_build_object('by', TG_OP);
	RETURN NEW;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON upd FOR EACH ROW EXECUTE FUNCTION upd_stamp();
SELECT kv.update_item('upd', '{"pk": "g", "sk": "1"}', 'SET v = :v', attribute_values => '{":v": 1}', return_values => 'ALL_NEW');
SELECT kv.update_item('upd', '{"pk": "g", "sk": "1"}', 'SET v = :v', attribute_values => '{":v": 2}', return_values => 'ALL_NEW');
SELECT kv.update_item('upd', '{"pk": "g", "sk": "1"}', return_values => 'ALL_NEW');
SELECT kv.update_item('upd', '{"pk": "g", "sk": "2"}', return_values => 'ALL_NEW');

DROP TABLE upd;
DROP FUNCTION upd_stamp;
