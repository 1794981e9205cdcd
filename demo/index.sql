-- Or a global index answers it: all items that have an author, under the author, kept by a background worker.
SELECT kv.create_global_index('chat', 'chat_by_author', 'author', 'sk');

-- A message is in the index a few milliseconds after its commit; whoever must see it waits for that.
SELECT kv.put_item('chat', '{"pk": "THREAD#9", "sk": "MESSAGE#2026-03-02T08:00:00Z", "author": "ana", "body": "Who has the keys?"}');
SELECT kv.wait_for_index('chat', 'chat_by_author', '10 s');

-- What has ana written, most recent first?
SELECT kv.query('chat', 'author = :who', '{":who": "ana"}', index => 'chat_by_author',
                projection => 'pk, body', scan_forward => false, max_items => 3);

SELECT pk, item->>'body' AS body FROM chat_by_author WHERE author = 'ana' ORDER BY sk DESC LIMIT 3;

EXPLAIN (COSTS OFF)
SELECT pk, item->>'body' AS body FROM chat_by_author WHERE author = 'ana' ORDER BY sk DESC LIMIT 3;

-- The worker is there, and has nothing left to do.
SELECT backend_type FROM pg_stat_activity WHERE datname = current_database() AND backend_type LIKE 'key_value%';
SELECT index_name, state, pending, last_error FROM kv.indexes;
