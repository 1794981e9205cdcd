-- kv.delete_item
SELECT kv.create_table('del_both', 'pk', 'sk');
SELECT count(kv.put_item('del_both', jsonb_build_object('pk', 'a', 'sk', n::text, 'n', n))) FROM generate_series(1, 5) n;

-- What is there goes, what is not there is no error.
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "1"}');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "1"}');
SELECT kv.delete_item('del_both', '{"sk": "2", "pk": "a"}', return_values => 'ALL_OLD');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "2"}', return_values => 'ALL_OLD');
SELECT sk FROM del_both WHERE pk = 'a' ORDER BY sk;

-- And it can come back.
SELECT kv.put_item('del_both', '{"pk": "a", "sk": "1", "again": true}', return_values => 'ALL_OLD');
SELECT kv.get('del_both', 'a', '1');

-- On condition.
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "3"}', 'n = :n', '{":n": 4}');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "3"}', 'n = :n', '{":n": 4}', return_values_on_failure => 'ALL_OLD');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "3"}', '#n = :n', '{":n": 3}', '{"#n": "n"}', 'ALL_OLD');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "3"}', 'attribute_exists(pk)');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "3"}', 'attribute_not_exists(pk)', return_values => 'ALL_OLD');

-- A failed condition as a value.
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "4"}', 'n = :n', '{":n": 1}', on_condition_failure => 'return');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "4"}', 'n = :n', '{":n": 1}', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "4"}', 'n = :n', '{":n": 4}', return_values => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "4"}', return_values => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.delete_item('del_both', '{"pk": "a", "sk": "4"}', 'attribute_exists(pk)', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');

SELECT item FROM del_both WHERE pk = 'a' ORDER BY sk;

-- Number and binary keys.
SELECT kv.create_table('del_number', 'id', partition_key_type => 'N');
SELECT kv.put_item('del_number', '{"id": 10, "v": 1}');
SELECT kv.delete_item('del_number', '{"id": 1e1}', return_values => 'ALL_OLD');
SELECT kv.create_table('del_binary', 'id', partition_key_type => 'B');
SELECT kv.put_item('del_binary', '{"id": {"$B": "AA=="}, "v": 1}');
SELECT kv.delete_item('del_binary', '{"id": {"$B": "AA=="}}', return_values => 'ALL_OLD');

DROP TABLE del_both, del_number, del_binary;
