-- What has ana written?  No key says so: the query would have to read every message of everyone.
SELECT sk, item->>'body' AS body FROM chat WHERE item->>'author' = 'ana';
\echo SQLSTATE :LAST_ERROR_SQLSTATE

-- Instead the question gets a key of its own: each message is written under its author too.
BEGIN;
SELECT kv.put_item('chat', '{"pk": "THREAD#7", "sk": "MESSAGE#2026-03-01T10:09:00Z", "author": "ana", "body": "At noon."}');
SELECT kv.put_item('chat', '{"pk": "AUTHOR#ana", "sk": "2026-03-01T10:09:00Z#7", "body": "At noon."}');
COMMIT;
SELECT sk, item->>'body' AS body FROM chat WHERE pk = 'AUTHOR#ana' ORDER BY sk DESC;
