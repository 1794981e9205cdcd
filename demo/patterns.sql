-- A user's conversations, most recent first.
SELECT kv.query('chat', 'pk = :user AND begins_with(sk, :kind)',
                '{":user": "USER#ana", ":kind": "CONVERSATION#"}', scan_forward => false);

SELECT sk, item->>'title' AS title
FROM chat WHERE pk = 'USER#ana' AND sk LIKE 'CONVERSATION#%' ORDER BY sk DESC;

EXPLAIN (COSTS OFF)
SELECT sk, item->>'title' AS title
FROM chat WHERE pk = 'USER#ana' AND sk LIKE 'CONVERSATION#%' ORDER BY sk DESC;

-- The last 50 messages of a thread.
SELECT kv.query('chat', 'pk = :thread AND begins_with(sk, :kind)',
                '{":thread": "THREAD#7", ":kind": "MESSAGE#"}',
                projection => 'author, body', scan_forward => false, max_items => 50);

SELECT item->>'author' AS author, item->>'body' AS body
FROM chat WHERE pk = 'THREAD#7' AND sk LIKE 'MESSAGE#%' ORDER BY sk DESC LIMIT 50;

EXPLAIN (COSTS OFF)
SELECT item->>'author' AS author, item->>'body' AS body
FROM chat WHERE pk = 'THREAD#7' AND sk LIKE 'MESSAGE#%' ORDER BY sk DESC LIMIT 50;

-- The members of a thread.
SELECT kv.query('chat', 'pk = :thread AND begins_with(sk, :kind)',
                '{":thread": "THREAD#7", ":kind": "MEMBER#"}', projection => 'sk');

SELECT sk FROM chat WHERE pk = 'THREAD#7' AND sk LIKE 'MEMBER#%' ORDER BY sk;

EXPLAIN (COSTS OFF)
SELECT sk FROM chat WHERE pk = 'THREAD#7' AND sk LIKE 'MEMBER#%' ORDER BY sk;

-- One message.
SELECT kv.get('chat', 'THREAD#7', 'MESSAGE#2026-03-01T10:00:00Z');

SELECT item FROM chat WHERE pk = 'THREAD#7' AND sk = 'MESSAGE#2026-03-01T10:00:00Z';

EXPLAIN (COSTS OFF)
SELECT item FROM chat WHERE pk = 'THREAD#7' AND sk = 'MESSAGE#2026-03-01T10:00:00Z';
