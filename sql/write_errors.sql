-- What bad input to the writes gets: an error with a code, and nothing written.
\set VERBOSITY sqlstate
SELECT kv.create_table('werr', 'pk', 'sk');
SELECT kv.create_table('werr_number', 'id', partition_key_type => 'N');
SELECT kv.create_table('werr_binary', 'id', partition_key_type => 'B');
CREATE TABLE werr_plain (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL);
CREATE VIEW werr_view AS SELECT * FROM werr WHERE pk = 'a';
SELECT relid::regclass AS leaf FROM pg_partition_tree('werr') WHERE isleaf ORDER BY 1 LIMIT 1 \gset

-- Message, DETAIL and HINT of each kind once.
\set VERBOSITY default

-- tables
SELECT kv.put_item('werr_nowhere', '{"pk": "a", "sk": "b"}');
SELECT kv.put_item('werr_plain', '{"pk": "a"}');
SELECT kv.put_item('werr_view', '{"pk": "a", "sk": "b"}');
SELECT kv.put_item('werr_plain_pkey', '{"pk": "a", "sk": "b"}');
SELECT kv.delete_item('werr_plain', '{"pk": "a"}');
SELECT kv.update_item('werr_plain', '{"pk": "a"}');
SELECT kv.put_item(NULL, '{"pk": "a", "sk": "b"}');
SELECT kv.delete_item(NULL, '{"pk": "a", "sk": "b"}');
SELECT kv.update_item(NULL, '{"pk": "a", "sk": "b"}');

-- keys
SELECT kv.put_item('werr', NULL);
SELECT kv.put_item('werr', '{}');
SELECT kv.put_item('werr', '{"pk": "a"}');
SELECT kv.put_item('werr', '{"sk": "a"}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": null}');
SELECT kv.put_item('werr', '{"pk": "", "sk": "b"}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": ""}');
SELECT kv.put_item('werr', '{"pk": 1, "sk": "b"}');
SELECT kv.put_item('werr', '{"pk": {"S": "a"}, "sk": {"S": "b"}}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": ["b"]}');
SELECT kv.put_item('werr', '{"pk": {"$B": "AA=="}, "sk": "b"}');
SELECT kv.put_item('werr_number', '{"id": "1"}');
SELECT kv.put_item('werr_number', '{"id": {"$NS": [1]}}');
SELECT kv.put_item('werr_binary', '{"id": "AA=="}');
SELECT kv.put_item('werr_binary', '{"id": {"$B": ""}}');
SELECT kv.put_item('werr', jsonb_build_object('pk', repeat('x', 2049), 'sk', 'b'));
SELECT kv.put_item('werr', jsonb_build_object('pk', 'a', 'sk', repeat('x', 1025)));
SELECT kv.delete_item('werr', NULL);
SELECT kv.delete_item('werr', '{"pk": "a"}');
SELECT kv.delete_item('werr', '{"pk": "a", "sk": "b", "x": 1}');
SELECT kv.delete_item('werr', '{"pk": "a", "sk": 1}');
SELECT kv.delete_item('werr', '["a", "b"]');
SELECT kv.delete_item('werr', '"a"');
SELECT kv.update_item('werr', NULL);
SELECT kv.update_item('werr', '{"pk": "a", "sk": ""}');

-- A key within the limits that no index entry can hold; one that compresses fits.
SELECT kv.put_item('werr', jsonb_build_object('pk', (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 64) n), 'sk', (SELECT string_agg(md5(n::text), '') FROM generate_series(65, 96) n)));

SELECT kv.put_item('werr', jsonb_build_object('pk', repeat('x', 2048), 'sk', repeat('y', 1024)));
SELECT kv.delete_item('werr', jsonb_build_object('pk', repeat('x', 2048), 'sk', repeat('y', 1024)), return_values => 'ALL_OLD') IS NOT NULL AS was_there;

-- items
SELECT kv.put_item('werr', '[]');
SELECT kv.put_item('werr', '"text"');
SELECT kv.put_item('werr', '1');
SELECT kv.put_item('werr', 'null');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": {"$B": "a*b="}}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": {"$SS": []}}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": {"$SS": ["x", "x"]}}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": {"$NS": [1, "x"]}}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": 1e126}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": 1e-131}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": 123456789012345678901234567890123456789}');
SELECT kv.put_item('werr', ('{"pk": "a", "sk": "b", "v": ' || repeat('[', 33) || repeat(']', 33) || '}')::jsonb);
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b", "v": "\u0000"}');

-- Size: 400 KB with names; one byte more is too much.
SELECT kv.put_item('werr', jsonb_build_object('pk', 'a', 'sk', 'b', 'v', repeat('x', 400 * 1024 - 7)));
SELECT kv.put_item('werr', jsonb_build_object('pk', 'a', 'sk', 'b', 'v', repeat('x', 400 * 1024 - 6)));
SELECT kv.delete_item('werr', '{"pk": "a", "sk": "b"}');

-- expressions and placeholders
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', '');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'attribute_not_exists(pk');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'v = :v');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', '#v = :v', '{":v": 1}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'attribute_not_exists(pk)', '{":v": 1}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'attribute_not_exists(pk)', NULL, '{"#v": "v"}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', attribute_values => '{":v": 1}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', attribute_names => '{"#v": "v"}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'v = :v', '{"v": 1}');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'v = :v', '[1]');
SELECT kv.delete_item('werr', '{"pk": "a", "sk": "b"}', 'v == :v', '{":v": 1}');

-- words
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', return_values => 'ALL_NEW');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', return_values => 'all_old');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', return_values => '');
SELECT kv.delete_item('werr', '{"pk": "a", "sk": "b"}', return_values => 'UPDATED_OLD');
SELECT kv.update_item('werr', '{"pk": "a", "sk": "b"}', return_values => 'SOME');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', return_values_on_failure => 'ALL_NEW');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', on_condition_failure => 'ignore');

-- Every one of these has the code of validation, KV007, or of a table that is not ours, KV005.
\set VERBOSITY sqlstate
SELECT kv.put_item('werr_plain', '{"pk": "a"}');
SELECT kv.put_item('werr', '{"pk": "a"}');
SELECT kv.put_item('werr', '[]');
SELECT kv.put_item('werr', jsonb_build_object('pk', 'a', 'sk', 'b', 'v', repeat('x', 400 * 1024)));
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'v = :v');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', return_values => 'ALL_NEW');
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}', 'attribute_exists(pk)');
SELECT kv.put_item('werr', NULL);
\set VERBOSITY default

-- read-only transactions
BEGIN READ ONLY;
SELECT kv.put_item('werr', '{"pk": "a", "sk": "b"}');
ROLLBACK;
BEGIN READ ONLY;
SELECT kv.delete_item('werr', '{"pk": "a", "sk": "b"}');
ROLLBACK;
BEGIN READ ONLY;
SELECT kv.update_item('werr', '{"pk": "a", "sk": "b"}');
ROLLBACK;

-- A leaf is written through its table.
SELECT kv.put_item(:'leaf', '{"pk": "a", "sk": "b"}');

-- Nothing was written.
SET key_value.allow_scan = on;
SELECT (SELECT count(*) FROM werr) + (SELECT count(*) FROM werr_number) + (SELECT count(*) FROM werr_binary) AS items;
RESET key_value.allow_scan;

DROP VIEW werr_view;
DROP TABLE werr, werr_number, werr_binary, werr_plain;
