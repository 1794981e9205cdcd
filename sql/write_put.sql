-- kv.put_item: what is written and what comes back.
SELECT kv.create_table('put_both', 'pk', 'sk');
SELECT kv.create_table('put_single', 'id');

-- A new item; keys go to their columns, all else to item.
SELECT kv.put_item('put_both', '{"pk": "a", "sk": "b", "n": 1, "list": [1, {"x": null}], "flag": true}');
SELECT * FROM put_both WHERE pk = 'a';
SELECT kv.get('put_both', 'a', 'b');

-- The whole item is replaced: nothing of the old one stays.
SELECT kv.put_item('put_both', '{"sk": "b", "pk": "a", "m": 2}');
SELECT kv.get('put_both', 'a', 'b');
SELECT kv.put_item('put_both', '{"pk": "a", "sk": "b"}');
SELECT * FROM put_both WHERE pk = 'a';

-- Without a sort key.
SELECT kv.put_item('put_single', '{"id": "x", "v": [1]}');
SELECT kv.put_item('put_single', '{"id": "x", "v": [2]}', return_values => 'ALL_OLD');
SELECT kv.get('put_single', 'x');

-- ALL_OLD: the item replaced, nothing if there was none.
SELECT kv.put_item('put_both', '{"pk": "a", "sk": "c", "v": 1}', return_values => 'ALL_OLD');
SELECT kv.put_item('put_both', '{"pk": "a", "sk": "c", "v": 2}', return_values => 'ALL_OLD');
SELECT kv.put_item('put_both', '{"pk": "a", "sk": "c", "v": 3}', return_values => 'NONE');
SELECT kv.put_item('put_both', '{"pk": "a", "sk": "c", "v": 4}', return_values => NULL);
SELECT kv.get('put_both', 'a', 'c');

-- Values are stored in normal form.
SELECT kv.put_item('put_both', '{"pk": "n", "sk": "1", "zero": -0, "trailing": 1.500, "set": {"$NS": [3, 1.0, 2]}, "bytes": {"$B": "AQI="}}');
SELECT item FROM put_both WHERE pk = 'n';

-- Number and binary keys; equal numbers are one key.
SELECT kv.create_table('put_number', 'id', 'n', 'N', 'N', 4);
SELECT kv.put_item('put_number', '{"id": 1000, "n": 1.50, "v": "first"}');
SELECT kv.put_item('put_number', '{"id": 1e3, "n": 1.5, "v": "second"}', return_values => 'ALL_OLD');
SELECT * FROM put_number WHERE id = 1000;
SELECT kv.create_table('put_binary', 'id', 'b', 'B', 'B', 4);
SELECT kv.put_item('put_binary', '{"id": {"$B": "/w=="}, "b": {"$B": "AAE="}, "v": 1}');
SELECT kv.put_item('put_binary', '{"id": {"$B": "/w=="}, "b": {"$B": "AAE="}, "v": 2}', return_values => 'ALL_OLD');
SELECT * FROM put_binary WHERE id = '\xff';

-- Every partition takes items, and SQL finds them where its own routing looks.
SELECT count(kv.put_item('put_single', jsonb_build_object('id', 'k' || n, 'n', n))) FROM generate_series(1, 200) n;
SELECT count(*) FROM generate_series(1, 200) n JOIN put_single p ON p.id = 'k' || n AND p.item = jsonb_build_object('n', n);
SELECT count(DISTINCT p.tableoid) FROM generate_series(1, 200) n JOIN put_single p ON p.id = 'k' || n;

-- A large item is toasted and comes back.
SELECT kv.put_item('put_single', jsonb_build_object('id', 'large', 'body', string_agg(md5(n::text), ''))) FROM generate_series(1, 9000) n;
SELECT length(kv.get('put_single', 'large') ->> 'body'), md5(kv.get('put_single', 'large') ->> 'body') =
	(SELECT md5(string_agg(md5(n::text), '')) FROM generate_series(1, 9000) n) AS same;
SELECT length(kv.put_item('put_single', '{"id": "large", "body": "small"}', return_values => 'ALL_OLD') ->> 'body');

-- A table of one partition made by hand, with columns of its own: they get
-- their defaults with a new item and keep their values when it is replaced.
CREATE TABLE put_by_hand (
	serial bigint GENERATED ALWAYS AS IDENTITY,
	item jsonb NOT NULL,
	note text DEFAULT 'none' || 1,
	pk text COLLATE "C" NOT NULL,
	plain int,
	sk text COLLATE "C" NOT NULL,
	n numeric GENERATED ALWAYS AS ((item -> 'n')::numeric) STORED,
	PRIMARY KEY (pk, sk)
) USING key_value;
SELECT kv.put_item('put_by_hand', '{"pk": "a", "sk": "b", "n": 1}');
SELECT kv.put_item('put_by_hand', '{"pk": "a", "sk": "c", "n": 2}');
UPDATE put_by_hand SET note = 'mine', plain = 7 WHERE pk = 'a' AND sk = 'b';
SELECT kv.put_item('put_by_hand', '{"pk": "a", "sk": "b", "n": 10}', return_values => 'ALL_OLD');
SELECT * FROM put_by_hand WHERE pk = 'a' ORDER BY sk;

-- A leaf whose columns stand elsewhere than the table's.
SELECT kv.create_table('put_mixed', 'pk', 'sk', partitions => 1);
ALTER TABLE put_mixed ADD note text DEFAULT 'n/a';
ALTER TABLE put_mixed DETACH PARTITION put_mixed_p0;
DROP TABLE put_mixed_p0;
CREATE TABLE put_mixed_p0 (gone int, note text DEFAULT 'of the leaf', item jsonb NOT NULL, sk text COLLATE "C" NOT NULL, pk text COLLATE "C" NOT NULL, PRIMARY KEY (pk, sk)) USING key_value;
ALTER TABLE put_mixed_p0 DROP gone;
SELECT conname FROM pg_constraint WHERE conrelid = 'put_mixed'::regclass AND contype = 'c' \gset
ALTER TABLE put_mixed_p0 ADD CONSTRAINT :"conname" CHECK (kv.check_item(tableoid, item, pk, sk));
ALTER TABLE put_mixed ATTACH PARTITION put_mixed_p0 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
SELECT kv.put_item('put_mixed', '{"pk": "a", "sk": "b", "v": 1}');
SELECT kv.put_item('put_mixed', '{"pk": "a", "sk": "b", "v": 2}', return_values => 'ALL_OLD');
SELECT * FROM put_mixed WHERE pk = 'a';
SELECT kv.delete_item('put_mixed', '{"pk": "a", "sk": "b"}', return_values => 'ALL_OLD');

-- Quoted names and other schemas.
CREATE SCHEMA "Put Schema";
SELECT kv.create_table('"Put Schema"."My Table"', 'The "Key"', 'sort');
SELECT kv.put_item('"Put Schema"."My Table"', '{"The \"Key\"": "a", "sort": "b", "v": 1}');
SELECT kv.put_item('"Put Schema"."My Table"', '{"The \"Key\"": "a", "sort": "b", "v": 2}', return_values => 'ALL_OLD');

-- By position, by name, as a set.
SELECT kv.put_item('put_both', '{"pk": "p", "sk": "1"}', 'attribute_not_exists(pk)', NULL, NULL, 'ALL_OLD', 'NONE', 'raise');
SELECT n, kv.put_item(item => jsonb_build_object('pk', 'p', 'sk', n::text), table_name => 'put_both') FROM generate_series(1, 2) n ORDER BY n;

-- Heap tables below a table of ours work as well.
CREATE TABLE put_heap (pk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk)) PARTITION BY HASH (pk kv.xxh3_text_ops);
CREATE TABLE put_heap_0 PARTITION OF put_heap FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE put_heap_1 PARTITION OF put_heap FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT count(kv.put_item('put_heap', jsonb_build_object('pk', n::text, 'n', n))) FROM generate_series(1, 20) n;
SELECT count(kv.put_item('put_heap', jsonb_build_object('pk', n::text, 'n', -n), return_values => 'ALL_OLD')) FROM generate_series(1, 20) n;
SELECT count(*) FROM generate_series(1, 20) n JOIN put_heap p ON p.pk = n::text AND p.item = jsonb_build_object('n', -n);

-- Temporary and unlogged tables; temporary ones also in a read-only transaction, as SQL has it.
CREATE TEMP TABLE put_temp (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) USING key_value;
BEGIN READ ONLY;
SELECT kv.put_item('put_temp', '{"pk": "a"}');
SELECT kv.get('put_temp', 'a');
ROLLBACK;
CREATE UNLOGGED TABLE put_unlogged (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL) USING key_value;
SELECT kv.put_item('put_unlogged', '{"pk": "a"}', return_values => 'ALL_OLD');
SELECT kv.put_item('put_unlogged', '{"pk": "a"}', return_values => 'ALL_OLD');

DROP SCHEMA "Put Schema" CASCADE;
DROP TABLE put_both, put_single, put_number, put_binary, put_by_hand, put_mixed, put_heap, put_temp, put_unlogged;
