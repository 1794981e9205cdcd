-- check_index: tells what an index lacks and has too much, also where its columns have other names than the attributes.
LOAD 'key_value';
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SELECT kv.create_table('checked', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('checked', 'checked_long', repeat('state', 20), 'Due', sort_key_type => 'N');
SELECT count(kv.put_item('checked', jsonb_build_object('pk', 'P' || n, 'sk', 's', repeat('state', 20), 'S' || n % 3, 'Due', n, 'note', n))) FROM generate_series(1, 9) n;
SELECT kv.apply_changes() IS NOT NULL;
SELECT * FROM kv_test.check_index('checked', 'checked_long');
-- what is changed and not applied yet
BEGIN;
SELECT kv.update_item('checked', '{"pk": "P1", "sk": "s"}', 'SET Due = :d', attribute_values => '{":d": 100}') IS NULL;
SELECT * FROM kv_test.check_index('checked', 'checked_long');
ROLLBACK;
DROP TABLE checked CASCADE;
