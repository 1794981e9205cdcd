-- statements: what pgbench runs, in sections.
--
-- A line "-- [name]" begins a section, which is one pgbench script.  bench/measures.pl names sections as name:role or name:role@set.
-- Replaced before pgbench sees it: {table} by the table that plays the role (ours, plain, native) in the set, {c} by an expression that draws
-- a collection (uniform or Zipf), [[25: text %]] by 25 times the text with % counting from 1, separated by commas.
-- Given by -D: collections and per, the number of collections and of items in each; n, where this slice's new keys begin; warm, how many of
-- the first transactions of a cold slice only open the partitions and are not counted, and i, 0.
-- pgbench takes a colon and a letter for a variable, even within quotes: hence \072 in expressions.
-- Keys and items arrive as text, on every side, as they do from a client.

-- [floor]
\set c {c}
\set k 1000000 + random(0, :per - 1)
SELECT 'THREAD#' || :c, 'MSG#' || :k;

-- [get]
\set c {c}
\set k 1000000 + random(0, :per - 1)
SELECT kv.get('{table}', 'THREAD#' || :c, 'MSG#' || :k);

-- [get_item]
\set c {c}
\set k 1000000 + random(0, :per - 1)
SELECT kv.get_item('{table}', ('{"pk": "THREAD#' || :c || '", "sk": "MSG#' || :k || '"}')::jsonb);

-- [select]
\set c {c}
\set k 1000000 + random(0, :per - 1)
SELECT item FROM {table} WHERE pk = 'THREAD#' || :c AND sk = 'MSG#' || :k;

-- [query]
\set c {c}
SELECT sk, item FROM {table} WHERE pk = 'THREAD#' || :c ORDER BY sk DESC LIMIT 50;

-- [kv_query]
\set c {c}
SELECT kv.query('{table}', E'pk = \072p', (E'{"\072p": "THREAD#' || :c || '"}')::jsonb, scan_forward => false, max_items => 50);

-- [cold_query]
\set i :i + 1
\if :i <= :warm
SELECT sk, item FROM {table} WHERE pk = 'THREAD#' || :i ORDER BY sk DESC LIMIT 1;
\else
\set c {c}
SELECT sk, item FROM {table} WHERE pk = 'THREAD#' || :c ORDER BY sk DESC LIMIT 50;
\endif

-- [cold_kv_query]
\set i :i + 1
\if :i <= :warm
SELECT kv.query('{table}', E'pk = \072p', (E'{"\072p": "THREAD#' || :i || '"}')::jsonb, scan_forward => false, max_items => 1);
\else
\set c {c}
SELECT kv.query('{table}', E'pk = \072p', (E'{"\072p": "THREAD#' || :c || '"}')::jsonb, scan_forward => false, max_items => 50);
\endif

-- [put_new]
\set c {c}
\set n :n + 1
SELECT kv.put_item('{table}', ('{"pk": "THREAD#' || :c || '", "sk": "MSG#' || :n || '#' || :client_id || '", "hits": ' || :n || ', "body": "{body}"}')::jsonb);

-- [insert_new]
\set c {c}
\set n :n + 1
INSERT INTO {table} VALUES ('THREAD#' || :c, 'MSG#' || :n || '#' || :client_id, ('{"hits": ' || :n || ', "body": "{body}"}')::jsonb)
	ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item;

-- [put]
\set c {c}
\set k 1000000 + random(0, :per - 1)
SELECT kv.put_item('{table}', ('{"pk": "THREAD#' || :c || '", "sk": "MSG#' || :k || '", "hits": ' || :k || ', "body": "{body}"}')::jsonb);

-- [insert]
\set c {c}
\set k 1000000 + random(0, :per - 1)
INSERT INTO {table} VALUES ('THREAD#' || :c, 'MSG#' || :k, ('{"hits": ' || :k || ', "body": "{body}"}')::jsonb)
	ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item;

-- [update_item]
\set c {c}
\set k 1000000 + random(0, :per - 1)
SELECT kv.update_item('{table}', ('{"pk": "THREAD#' || :c || '", "sk": "MSG#' || :k || '"}')::jsonb, E'ADD hits \072one', attribute_values => E'{"\072one": 1}');

-- [update]
\set c {c}
\set k 1000000 + random(0, :per - 1)
UPDATE {table} SET item = jsonb_set(item, '{hits}', to_jsonb((item->>'hits')::numeric + 1)) WHERE pk = 'THREAD#' || :c AND sk = 'MSG#' || :k;

-- [hot_update_item]
SELECT kv.update_item('{table}', '{"pk": "THREAD#0", "sk": "MSG#1000000"}', E'ADD hits \072one', attribute_values => E'{"\072one": 1}');

-- [hot_update]
UPDATE {table} SET item = jsonb_set(item, '{hits}', to_jsonb((item->>'hits')::numeric + 1)) WHERE pk = 'THREAD#0' AND sk = 'MSG#1000000';

-- [batch]
\set c {c}
\set n :n + 1
SELECT kv.batch_write_item(replace('{"{table}": [[[25: {"PutRequest": {"Item": {"pk": "THREAD#%#@", "sk": "MSG#1", "hits": 0, "body": "{body}"}}}]]]}', '@', :c || '#' || :n)::jsonb);

-- [single]
\set c {c}
\set n :n + 1
SELECT kv.put_item('{table}', replace('{"pk": "THREAD#1#@", "sk": "MSG#1", "hits": 0, "body": "{body}"}', '@', :c || '#' || :n)::jsonb);

-- [transact]
\set c {c}
\set n :n + 1
SELECT kv.transact_write_items(replace('[[[4: {"Put": {"TableName": "{table}", "Item": {"pk": "THREAD#%#@", "sk": "MSG#%", "hits": 0, "body": "{body}"}}}]]]', '@', :c || '#' || :n)::jsonb);

-- [four_upserts]
\set c {c}
\set n :n + 1
BEGIN;
INSERT INTO {table} VALUES ('THREAD#1#' || :c || '#' || :n, 'MSG#1', ('{"hits": ' || :n || ', "body": "{body}"}')::jsonb) ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item;
INSERT INTO {table} VALUES ('THREAD#2#' || :c || '#' || :n, 'MSG#2', ('{"hits": ' || :n || ', "body": "{body}"}')::jsonb) ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item;
INSERT INTO {table} VALUES ('THREAD#3#' || :c || '#' || :n, 'MSG#3', ('{"hits": ' || :n || ', "body": "{body}"}')::jsonb) ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item;
INSERT INTO {table} VALUES ('THREAD#4#' || :c || '#' || :n, 'MSG#4', ('{"hits": ' || :n || ', "body": "{body}"}')::jsonb) ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item;
COMMIT;

-- [move_one]
\set c {c}
\set k 1000000 + random(0, :per - 1)
\set v random(0, 999)
SELECT kv.update_item('{table}', ('{"pk": "THREAD#' || :c || '", "sk": "MSG#' || :k || '"}')::jsonb, E'SET #s = \072s', attribute_names => '{"#s": "status"}',
	attribute_values => (E'{"\072s": "S' || :v || '"}')::jsonb);

-- [update_one]
\set c {c}
\set k 1000000 + random(0, :per - 1)
\set v random(0, 999)
UPDATE {table} SET item = jsonb_set(item, '{status}', to_jsonb('S' || :v)) WHERE pk = 'THREAD#' || :c AND sk = 'MSG#' || :k;

-- [move_three]
\set c {c}
\set k 1000000 + random(0, :per - 1)
\set v random(0, 999)
SELECT kv.update_item('{table}', ('{"pk": "THREAD#' || :c || '", "sk": "MSG#' || :k || '"}')::jsonb, E'SET #s = \072v, #o = \072v, place = \072v', attribute_names => '{"#s": "status", "#o": "owner"}',
	attribute_values => (E'{"\072v": "S' || :v || '"}')::jsonb);

-- [update_three]
\set c {c}
\set k 1000000 + random(0, :per - 1)
\set v random(0, 999)
UPDATE {table} SET item = item || ('{"status": "S' || :v || '", "owner": "S' || :v || '", "place": "S' || :v || '"}')::jsonb WHERE pk = 'THREAD#' || :c AND sk = 'MSG#' || :k;
