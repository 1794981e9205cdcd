-- The recipes of the README, statement by statement.

-- The README's table.
SELECT kv.create_table('app', 'pk', 'sk');

-- A unique e-mail address.
BEGIN;
SELECT kv.put_item('app', '{"pk": "EMAIL#ana@example.com", "sk": "CLAIM", "user_id": 7}', 'attribute_not_exists(pk)');
SELECT kv.put_item('app', '{"pk": "USER#7", "sk": "PROFILE", "email": "ana@example.com"}');
COMMIT;
-- Somebody else fails, and leaves nothing.
BEGIN;
SELECT kv.put_item('app', '{"pk": "USER#8", "sk": "PROFILE", "email": "ana@example.com"}');
SELECT kv.put_item('app', '{"pk": "EMAIL#ana@example.com", "sk": "CLAIM", "user_id": 8}', 'attribute_not_exists(pk)');
COMMIT;
SELECT kv.get('app', 'USER#8', 'PROFILE'), kv.get('app', 'EMAIL#ana@example.com', 'CLAIM');
-- Within a larger transaction: a value, no error.
SELECT kv.put_item('app', '{"pk": "EMAIL#ana@example.com", "sk": "CLAIM", "user_id": 9}', 'attribute_not_exists(pk)',
                   return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');

-- Optimistic locking.
SELECT kv.put_item('app', '{"pk": "DOC#1", "sk": "BODY", "body": "first", "version": 1}');
SELECT kv.update_item('app', '{"pk": "DOC#1", "sk": "BODY"}', 'SET body = :body, version = version + :one', 'version = :seen',
                      '{":body": "second", ":one": 1, ":seen": 1}', return_values => 'UPDATED_NEW');
-- Who still holds version 1 is told so, and sees what it is now.
SELECT kv.update_item('app', '{"pk": "DOC#1", "sk": "BODY"}', 'SET body = :body, version = version + :one', 'version = :seen',
                      '{":body": "late", ":one": 1, ":seen": 1}', return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');

-- A state transition.
SELECT kv.put_item('app', '{"pk": "JOB#1", "sk": "STATE", "state": "PENDING"}');
SELECT kv.update_item('app', '{"pk": "JOB#1", "sk": "STATE"}', 'SET #state = :running, worker = :worker', '#state = :pending',
                      '{":pending": "PENDING", ":running": "RUNNING", ":worker": "w1"}', '{"#state": "state"}',
                      return_values => 'ALL_NEW', on_condition_failure => 'return');
-- The second worker does not get it.
SELECT kv.update_item('app', '{"pk": "JOB#1", "sk": "STATE"}', 'SET #state = :running, worker = :worker', '#state = :pending',
                      '{":pending": "PENDING", ":running": "RUNNING", ":worker": "w2"}', '{"#state": "state"}',
                      return_values => 'ALL_NEW', on_condition_failure => 'return');

-- A work queue.
SET client_min_messages = warning;
SELECT kv.create_global_index('app', 'app_by_queue', 'queue', 'due');
RESET client_min_messages;
SELECT kv.put_item('app', '{"pk": "JOB#2", "sk": "STATE", "queue": "mail", "due": "2026-03-01T10:00:00Z"}');
\o /dev/null
SELECT kv.apply_changes();
\o
SELECT pk, sk, due FROM app_by_queue WHERE queue = 'mail' AND due <= '2026-03-01T10:05:00Z' ORDER BY due LIMIT 1;
SELECT kv.update_item('app', '{"pk": "JOB#2", "sk": "STATE"}', 'SET due = :again, worker = :worker', 'queue = :queue AND due = :seen',
                      '{":again": "2026-03-01T10:15:00Z", ":worker": "w1", ":queue": "mail", ":seen": "2026-03-01T10:00:00Z"}',
                      return_values => 'ALL_NEW', on_condition_failure => 'return');
SELECT kv.update_item('app', '{"pk": "JOB#2", "sk": "STATE"}', 'REMOVE queue', 'worker = :worker', '{":worker": "w1"}',
                      on_condition_failure => 'return');
-- Another worker that saw it is too late, and so is the first once its time is over and another has taken the job.
SELECT kv.put_item('app', '{"pk": "JOB#3", "sk": "STATE", "queue": "mail", "due": "2026-03-01T10:15:00Z", "worker": "w1"}');
SELECT kv.update_item('app', '{"pk": "JOB#3", "sk": "STATE"}', 'SET due = :again, worker = :worker', 'queue = :queue AND due = :seen',
                      jsonb_build_object(':again', '2026-03-01T10:30:00Z', ':worker', worker, ':queue', 'mail', ':seen', '2026-03-01T10:15:00Z'),
                      on_condition_failure => 'return') FROM unnest(ARRAY['w2', 'w3']) worker;
SELECT kv.update_item('app', '{"pk": "JOB#3", "sk": "STATE"}', 'REMOVE queue', 'worker = :worker', '{":worker": "w1"}',
                      on_condition_failure => 'return');
SELECT count(kv.apply_changes());
SELECT queue, due, pk, item FROM app_by_queue WHERE queue = 'mail' ORDER BY due;

-- A sharded counter.
SELECT kv.update_item('app', jsonb_build_object('pk', 'COUNTER#home', 'sk', 'SHARD#' || floor(random() * 10)), 'ADD hits :one',
                      attribute_values => '{":one": 1}');
SELECT sum((item ->> 'hits')::numeric) AS hits FROM app WHERE pk = 'COUNTER#home';
-- Ninety-nine more.
SELECT count(kv.update_item('app', jsonb_build_object('pk', 'COUNTER#home', 'sk', 'SHARD#' || floor(random() * 10)), 'ADD hits :one',
                      attribute_values => '{":one": 1}')) FROM generate_series(1, 99);
SELECT sum((item ->> 'hits')::numeric) AS hits, count(*) <= 10 AS few_shards FROM app WHERE pk = 'COUNTER#home';

-- A sharded key.
SELECT kv.put_item('app', jsonb_build_object('pk', 'ORDER#1', 'sk', 'ORDER', 'queue', 'open#' || floor(random() * 10), 'due', '2026-03-01'));
\o /dev/null
SELECT kv.apply_changes();
\o
SELECT o.pk, o.due
FROM generate_series(0, 9) AS shard,
  LATERAL (SELECT pk, due FROM app_by_queue WHERE queue = 'open#' || shard ORDER BY due LIMIT 3) AS o
ORDER BY o.due, o.pk LIMIT 3;
-- Ninety-nine more, of which the first come from several of the ten.
SELECT count(*) FROM (SELECT kv.put_item('app', jsonb_build_object('pk', 'ORDER#' || n, 'sk', 'ORDER', 'queue', 'open#' || n % 10,
	'due', to_char(date '2026-03-01' + n, 'YYYY-MM-DD'))) FROM generate_series(2, 100) n) put;
SELECT count(kv.apply_changes());
SELECT o.pk, o.due
FROM generate_series(0, 9) AS shard,
  LATERAL (SELECT pk, due FROM app_by_queue WHERE queue = 'open#' || shard ORDER BY due LIMIT 3) AS o
ORDER BY o.due, o.pk LIMIT 3;

-- A list with a bound.
SELECT kv.update_item('app', '{"pk": "USER#7", "sk": "RECENT"}', 'SET seen = list_append(if_not_exists(seen, :none), :new)',
                      'attribute_not_exists(seen) OR size(seen) < :limit', '{":none": [], ":new": ["page 1"], ":limit": 2}',
                      return_values => 'UPDATED_NEW', on_condition_failure => 'return');
-- Until it is full.
SELECT kv.update_item('app', '{"pk": "USER#7", "sk": "RECENT"}', 'SET seen = list_append(if_not_exists(seen, :none), :new)',
                      'attribute_not_exists(seen) OR size(seen) < :limit', jsonb_build_object(':none', '[]'::jsonb, ':new', ARRAY['page ' || n], ':limit', 2),
                      return_values => 'UPDATED_NEW', on_condition_failure => 'return') FROM generate_series(2, 3) n;
-- When it is full, the oldest goes.
SELECT kv.update_item('app', '{"pk": "USER#7", "sk": "RECENT"}', 'REMOVE seen[0]', 'size(seen) >= :limit', '{":limit": 2}');
SELECT kv.get('app', 'USER#7', 'RECENT');

-- Membership of a set.
SELECT kv.update_item('app', '{"pk": "THREAD#1", "sk": "MEMBERS"}', 'ADD who :who', 'NOT contains(who, :ana)',
                      '{":who": {"$SS": ["ana"]}, ":ana": "ana"}', on_condition_failure => 'return');
SELECT kv.update_item('app', '{"pk": "THREAD#1", "sk": "MEMBERS"}', 'DELETE who :who', 'contains(who, :ana)',
                      '{":who": {"$SS": ["ana"]}, ":ana": "ana"}', on_condition_failure => 'return');
-- Once in, once out.
SELECT kv.update_item('app', '{"pk": "THREAD#1", "sk": "MEMBERS"}', 'DELETE who :who', 'contains(who, :ana)',
                      '{":who": {"$SS": ["ana"]}, ":ana": "ana"}', on_condition_failure => 'return');
SELECT kv.update_item('app', '{"pk": "THREAD#1", "sk": "MEMBERS"}', 'ADD who :who', 'NOT contains(who, :ana)',
                      '{":who": {"$SS": ["ana"]}, ":ana": "ana"}', on_condition_failure => 'return');
SELECT kv.update_item('app', '{"pk": "THREAD#1", "sk": "MEMBERS"}', 'ADD who :who', 'NOT contains(who, :ana)',
                      '{":who": {"$SS": ["ana"]}, ":ana": "ana"}', on_condition_failure => 'return');

-- An idempotency record.
SELECT kv.put_item('app', '{"pk": "REQUEST#42", "sk": "ONCE", "answer": "order 1001", "expires": 1700086400}',
                   'attribute_not_exists(pk) OR expires < :now', '{":now": 1700000000}',
                   return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
-- The same request again is told the answer of the first; a day later it is new.
SELECT kv.put_item('app', '{"pk": "REQUEST#42", "sk": "ONCE", "answer": "order 1002", "expires": 1700086401}',
                   'attribute_not_exists(pk) OR expires < :now', '{":now": 1700000001}',
                   return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
SELECT kv.put_item('app', '{"pk": "REQUEST#42", "sk": "ONCE", "answer": "order 1003", "expires": 1700172801}',
                   'attribute_not_exists(pk) OR expires < :now', '{":now": 1700086401}',
                   return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');

-- A tombstone.
SELECT kv.put_item('app', '{"pk": "THREAD#1", "sk": "MESSAGE#1", "body": "Hello"}');
SELECT kv.put_item('app', '{"pk": "THREAD#1", "sk": "MESSAGE#2", "body": "Hello you"}');
SELECT kv.update_item('app', '{"pk": "THREAD#1", "sk": "MESSAGE#1"}', 'SET deleted_at = :now REMOVE body',
                      'attribute_exists(pk) AND attribute_not_exists(deleted_at)', '{":now": 1700000000}', return_values => 'ALL_NEW');
SELECT kv.query('app', 'pk = :thread AND begins_with(sk, :m)', '{":thread": "THREAD#1", ":m": "MESSAGE#"}',
                filter => 'attribute_not_exists(deleted_at)');
-- It stays deleted, and nothing comes back under its key.
SELECT kv.update_item('app', '{"pk": "THREAD#1", "sk": "MESSAGE#1"}', 'SET deleted_at = :now REMOVE body',
                      'attribute_exists(pk) AND attribute_not_exists(deleted_at)', '{":now": 1700000001}', on_condition_failure => 'return');
SELECT kv.put_item('app', '{"pk": "THREAD#1", "sk": "MESSAGE#1", "body": "again"}', 'attribute_not_exists(pk)', on_condition_failure => 'return');

-- Page by page.
SELECT items, last_evaluated_key
FROM kv.query_page('app', 'pk = :thread AND begins_with(sk, :m)', '{":thread": "THREAD#1", ":m": "MESSAGE#"}', page_size => 1);
SELECT items, last_evaluated_key
FROM kv.query_page('app', 'pk = :thread AND begins_with(sk, :m)', '{":thread": "THREAD#1", ":m": "MESSAGE#"}', page_size => 1,
                   exclusive_start_key => '{"pk": "THREAD#1", "sk": "MESSAGE#1"}');
-- The last page says so.
SELECT items, last_evaluated_key
FROM kv.query_page('app', 'pk = :thread AND begins_with(sk, :m)', '{":thread": "THREAD#1", ":m": "MESSAGE#"}', page_size => 1,
                   exclusive_start_key => '{"pk": "THREAD#1", "sk": "MESSAGE#2"}');
DO $$
DECLARE
	page record;
	start_key jsonb;
BEGIN
	LOOP
		SELECT * INTO page FROM kv.query_page('app', 'pk = :thread', '{":thread": "THREAD#1"}',
											  exclusive_start_key => start_key, page_size => 2);
		RAISE NOTICE 'items in this page: %', page.count;
		start_key := page.last_evaluated_key;
		EXIT WHEN start_key IS NULL;
	END LOOP;
END
$$;

SELECT kv.drop_table('app');
