-- Transactions together with plain SQL: the recipes of the README, and what happens when a part of them fails.
CREATE TABLE orders (id int PRIMARY KEY, customer text NOT NULL, total numeric NOT NULL);
SELECT kv.create_table('shop', 'pk', 'sk');
SELECT kv.batch_write_item('{"shop": [{"PutRequest": {"Item": {"pk": "PRODUCT#7", "sk": "STOCK", "units": 2}}}]}');
\t on

-- An order: its row, its item, what is left in stock, the event for others, and the request that must not count twice.
BEGIN;
INSERT INTO orders VALUES (1, 'ana', 99.50);
SELECT kv.transact_write_items('[
  {"Put": {"TableName": "shop", "Item": {"pk": "CUSTOMER#ana", "sk": "ORDER#1", "price": 99.5}}},
  {"Update": {"TableName": "shop", "Key": {"pk": "PRODUCT#7", "sk": "STOCK"}, "UpdateExpression": "SET units = units - :n",
              "ConditionExpression": "units >= :n", "ExpressionAttributeValues": {":n": 1}}},
  {"Put": {"TableName": "shop", "Item": {"pk": "OUTBOX#orders", "sk": "2026-03-01T10:00:00Z#1", "event": "placed", "order": 1}}},
  {"Put": {"TableName": "shop", "Item": {"pk": "REQUEST#5f0c", "sk": "REQUEST", "order": 1},
           "ConditionExpression": "attribute_not_exists(pk)"}}]');
SAVEPOINT coupon;
SELECT kv.transact_write_items('[
  {"Update": {"TableName": "shop", "Key": {"pk": "CUSTOMER#ana", "sk": "ORDER#1"}, "UpdateExpression": "SET price = price - :c",
              "ExpressionAttributeValues": {":c": 10}}},
  {"Delete": {"TableName": "shop", "Key": {"pk": "COUPON#SPRING", "sk": "COUPON"}, "ConditionExpression": "attribute_exists(pk)"}}]');
ROLLBACK TO coupon;        -- refused: KV002, there is no such coupon; the order goes on without
COMMIT;

SELECT * FROM orders;
SELECT * FROM kv.scan('shop') i ORDER BY i ->> 'pk', i ->> 'sk';

-- The same request again: its record is there, so nothing of it remains.
BEGIN;
INSERT INTO orders VALUES (2, 'ana', 99.50);
SELECT kv.transact_write_items('[
  {"Put": {"TableName": "shop", "Item": {"pk": "CUSTOMER#ana", "sk": "ORDER#2", "price": 99.5}}},
  {"Update": {"TableName": "shop", "Key": {"pk": "PRODUCT#7", "sk": "STOCK"}, "UpdateExpression": "SET units = units - :n",
              "ConditionExpression": "units >= :n", "ExpressionAttributeValues": {":n": 1}}},
  {"Put": {"TableName": "shop", "Item": {"pk": "REQUEST#5f0c", "sk": "REQUEST", "order": 2},
           "ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}]');
COMMIT;
SELECT * FROM orders;
SELECT * FROM kv.scan('shop') i ORDER BY i ->> 'pk', i ->> 'sk';

-- What fails in SQL takes the items with it.
BEGIN;
SELECT kv.transact_write_items('[{"Delete": {"TableName": "shop", "Key": {"pk": "CUSTOMER#ana", "sk": "ORDER#1"}}},
	{"Put": {"TableName": "shop", "Item": {"pk": "CUSTOMER#ana", "sk": "ORDER#3"}}}]', 'order-3');
INSERT INTO orders VALUES (1, 'ana', 1);
COMMIT;
SELECT i ->> 'sk' FROM kv.query('shop', 'pk = :c', '{":c": "CUSTOMER#ana"}') i;
SELECT count(*) FROM kv.request_tokens WHERE token = 'order-3';

-- In a function, a cancelled transaction is an exception like any other; what the block did is taken back.
CREATE FUNCTION place_order(id int, units int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	reasons text;
BEGIN
	INSERT INTO orders VALUES (id, 'ben', 5);
	PERFORM kv.transact_write_items(jsonb_build_array(
		jsonb_build_object('Put', jsonb_build_object('TableName', 'shop', 'Item', jsonb_build_object('pk', 'CUSTOMER#ben', 'sk', 'ORDER#' || id))),
		jsonb_build_object('Update', jsonb_build_object('TableName', 'shop', 'Key', '{"pk": "PRODUCT#7", "sk": "STOCK"}'::jsonb, 'UpdateExpression', 'SET units = units - :n',
			'ConditionExpression', 'units >= :n', 'ExpressionAttributeValues', jsonb_build_object(':n', units), 'ReturnValuesOnConditionCheckFailure', 'ALL_OLD'))));
	RETURN 'placed';
EXCEPTION WHEN SQLSTATE 'KV002' THEN
	GET STACKED DIAGNOSTICS reasons = PG_EXCEPTION_DETAIL;
	RETURN 'only ' || (reasons::jsonb -> 1 -> 'Item' ->> 'units') || ' left';
END $$;
SELECT place_order(4, 5);
SELECT place_order(5, 1);
SELECT id FROM orders ORDER BY id;
SELECT i ->> 'sk' FROM kv.query('shop', 'pk = :c', '{":c": "CUSTOMER#ben"}') i;
SELECT kv.get('shop', 'PRODUCT#7', 'STOCK');

-- A unique attribute: the claim and what it is claimed for, both or neither.
SELECT kv.transact_write_items('[
  {"Put": {"TableName": "shop", "Item": {"pk": "EMAIL#ana@example.com", "sk": "CLAIM", "user": 7}, "ConditionExpression": "attribute_not_exists(pk)"}},
  {"Put": {"TableName": "shop", "Item": {"pk": "USER#7", "sk": "USER", "email": "ana@example.com"}, "ConditionExpression": "attribute_not_exists(pk)"}}]');
-- Somebody else wants it.
SELECT kv.transact_write_items('[
  {"Put": {"TableName": "shop", "Item": {"pk": "EMAIL#ana@example.com", "sk": "CLAIM", "user": 8}, "ConditionExpression": "attribute_not_exists(pk)"}},
  {"Put": {"TableName": "shop", "Item": {"pk": "USER#8", "sk": "USER", "email": "ana@example.com"}, "ConditionExpression": "attribute_not_exists(pk)"}}]');
SELECT kv.get('shop', 'USER#8', 'USER') IS NULL AS nothing_written;
-- It moves: the old claim goes with the new one.
SELECT kv.transact_write_items('[
  {"Delete": {"TableName": "shop", "Key": {"pk": "EMAIL#ana@example.com", "sk": "CLAIM"}, "ConditionExpression": "#u = :u",
              "ExpressionAttributeNames": {"#u": "user"}, "ExpressionAttributeValues": {":u": 7}}},
  {"Put": {"TableName": "shop", "Item": {"pk": "EMAIL#ana@example.org", "sk": "CLAIM", "user": 7}, "ConditionExpression": "attribute_not_exists(pk)"}},
  {"Update": {"TableName": "shop", "Key": {"pk": "USER#7", "sk": "USER"}, "UpdateExpression": "SET email = :new",
              "ExpressionAttributeValues": {":new": "ana@example.org"}}}]');
SELECT * FROM kv.scan('shop') i WHERE i ->> 'pk' LIKE 'EMAIL#%' OR i ->> 'pk' LIKE 'USER#%' ORDER BY i ->> 'pk';

-- A job, created once however often the request comes, and the event that tells the workers.
SELECT kv.transact_write_items('[
  {"Put": {"TableName": "shop", "Item": {"pk": "JOB#42", "sk": "JOB", "state": "queued"}, "ConditionExpression": "attribute_not_exists(pk)"}},
  {"Put": {"TableName": "shop", "Item": {"pk": "QUEUE#mail", "sk": "2026-03-01T10:00:00Z#42"}}}]', client_request_token => 'create-job-42');
SELECT kv.transact_write_items('[
  {"Put": {"TableName": "shop", "Item": {"pk": "JOB#42", "sk": "JOB", "state": "queued"}, "ConditionExpression": "attribute_not_exists(pk)"}},
  {"Put": {"TableName": "shop", "Item": {"pk": "QUEUE#mail", "sk": "2026-03-01T10:00:00Z#42"}}}]', client_request_token => 'create-job-42');
-- A worker takes it: off the queue and under way, or another one was faster.
SELECT kv.transact_write_items('[
  {"Delete": {"TableName": "shop", "Key": {"pk": "QUEUE#mail", "sk": "2026-03-01T10:00:00Z#42"}, "ConditionExpression": "attribute_exists(pk)"}},
  {"Update": {"TableName": "shop", "Key": {"pk": "JOB#42", "sk": "JOB"}, "UpdateExpression": "SET #s = :running", "ConditionExpression": "#s = :queued",
              "ExpressionAttributeNames": {"#s": "state"}, "ExpressionAttributeValues": {":queued": "queued", ":running": "running"}}}]');
SELECT kv.get('shop', 'JOB#42', 'JOB');
SELECT count(*) FROM shop WHERE pk = 'QUEUE#mail';

-- Many to many: each link is two items, one under either side, and both ends exist.
SELECT kv.transact_write_items('[
  {"ConditionCheck": {"TableName": "shop", "Key": {"pk": "USER#7", "sk": "USER"}, "ConditionExpression": "attribute_exists(pk)"}},
  {"ConditionCheck": {"TableName": "shop", "Key": {"pk": "PRODUCT#7", "sk": "STOCK"}, "ConditionExpression": "attribute_exists(pk)"}},
  {"Put": {"TableName": "shop", "Item": {"pk": "USER#7", "sk": "LIKES#PRODUCT#7"}}},
  {"Put": {"TableName": "shop", "Item": {"pk": "PRODUCT#7", "sk": "LIKED BY#USER#7"}}}]');
SELECT sk FROM shop WHERE pk = 'USER#7' AND sk LIKE 'LIKES#%';
SELECT sk FROM shop WHERE pk = 'PRODUCT#7' AND sk LIKE 'LIKED BY#%';
SELECT kv.transact_write_items('[
  {"ConditionCheck": {"TableName": "shop", "Key": {"pk": "USER#9", "sk": "USER"}, "ConditionExpression": "attribute_exists(pk)"}},
  {"Put": {"TableName": "shop", "Item": {"pk": "USER#9", "sk": "LIKES#PRODUCT#7"}}},
  {"Put": {"TableName": "shop", "Item": {"pk": "PRODUCT#7", "sk": "LIKED BY#USER#9"}}}]');
SELECT sk FROM shop WHERE pk = 'PRODUCT#7' AND sk LIKE 'LIKED BY#%';

-- A foreign key between a table and a key-value table holds at the action, whose order is that of the request.
SELECT kv.create_table('parent', 'pk', partitions => 1);
SELECT kv.create_table('child', 'pk', partitions => 1);
ALTER TABLE child ADD parent text COLLATE "C" DEFAULT 'p' REFERENCES parent;
SELECT kv.transact_write_items('[{"Put": {"TableName": "child", "Item": {"pk": "c"}}}, {"Put": {"TableName": "parent", "Item": {"pk": "p"}}}]');
SELECT kv.transact_write_items('[{"Put": {"TableName": "parent", "Item": {"pk": "p"}}}, {"Put": {"TableName": "child", "Item": {"pk": "c"}}}]');
SELECT pk, parent FROM child WHERE pk = 'c';
\t off

DELETE FROM kv.request_tokens;
DROP TABLE orders, shop, parent, child;
DROP FUNCTION place_order;
