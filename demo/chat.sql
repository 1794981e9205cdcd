-- One table for the whole chat application.
SELECT kv.create_table('chat', 'pk', 'sk');

-- Two messages, the members of the thread and their conversations.
SELECT kv.put_item('chat', '{"pk": "THREAD#7", "sk": "MESSAGE#2026-03-01T10:00:00Z", "author": "ana", "body": "Lunch?"}');
SELECT kv.put_item('chat', '{"pk": "THREAD#7", "sk": "MESSAGE#2026-03-01T10:00:41Z", "author": "ben", "body": "Yes! Where?"}');
SELECT kv.put_item('chat', '{"pk": "THREAD#7", "sk": "MEMBER#ana", "since": "2026-02-11"}');
SELECT kv.put_item('chat', '{"pk": "THREAD#7", "sk": "MEMBER#ben", "since": "2026-02-11"}');
SELECT kv.put_item('chat', '{"pk": "USER#ana", "sk": "CONVERSATION#2026-02-27T08:12:00Z#3", "title": "Rent"}');
SELECT kv.put_item('chat', '{"pk": "USER#ana", "sk": "CONVERSATION#2026-03-01T10:00:41Z#7", "title": "Lunch club"}');

-- It is an ordinary table: SQL inserts into it as well.
INSERT INTO chat VALUES ('USER#ben', 'CONVERSATION#2026-03-01T10:00:41Z#7', '{"title": "Lunch club"}');

-- A new message moves the conversation to the top of each member's list: all of it, or nothing.
BEGIN;
SELECT kv.put_item('chat', '{"pk": "THREAD#7", "sk": "MESSAGE#2026-03-01T10:05:00Z", "author": "ana", "body": "The usual place."}');
SELECT kv.delete_item('chat', '{"pk": "USER#ana", "sk": "CONVERSATION#2026-03-01T10:00:41Z#7"}');
SELECT kv.put_item('chat', '{"pk": "USER#ana", "sk": "CONVERSATION#2026-03-01T10:05:00Z#7", "title": "Lunch club"}');
SELECT kv.delete_item('chat', '{"pk": "USER#ben", "sk": "CONVERSATION#2026-03-01T10:00:41Z#7"}');
SELECT kv.put_item('chat', '{"pk": "USER#ben", "sk": "CONVERSATION#2026-03-01T10:05:00Z#7", "title": "Lunch club"}');
COMMIT;
