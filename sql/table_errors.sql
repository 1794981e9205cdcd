-- What bad input to the table functions gets: an own code, a message with the
-- value, a hint where the user can act, and nothing made.

-- Runs a command and shows its error whole.
CREATE FUNCTION error_of(command text, OUT code text, OUT message text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RAISE WARNING 'no error: %', command;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
END $$;
\pset format unaligned
\pset expanded on
\pset tuples_only on

-- NULL arguments.
SELECT * FROM error_of($$ SELECT kv.create_table(NULL, 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', NULL) $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', NULL, NULL) $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', NULL, 'S', NULL) $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', partitions => NULL) $$);
SELECT * FROM error_of($$ SELECT kv.drop_table(NULL) $$);
SELECT * FROM error_of($$ SELECT kv.describe_table(NULL) $$);

-- Numbers of partitions.
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', partitions => 0) $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', partitions => -1) $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', partitions => 1025) $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', partitions => 100000) $$);

-- Key types.
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', NULL, 's') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', NULL, '') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', NULL, 'BOOL') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', 'sk', 'S', 'SS') $$);

-- Names of keys.
SELECT * FROM error_of($$ SELECT kv.create_table('t', '') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', '') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', repeat('k', 256)) $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk', repeat('é', 128)) $$);
-- Case matters: these are names like any others.
SELECT kv.create_table('t', 'Item', 'CTID', partitions => 1);
SELECT kv.drop_table('t');
SELECT kv.create_table('t', 'pk', 'PK', partitions => 1);
SELECT kv.drop_table('t');

-- Names of tables.
SELECT * FROM error_of($$ SELECT kv.create_table('', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('  ', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('""', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('public.', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('.t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('"".t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('"t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('"a"b', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('a b', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('a.b.c.d', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('123', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('-', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table(repeat('t', 64), 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('public."' || repeat('é', 32) || '"', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table(repeat('s', 64) || '.t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('no_such_schema.t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('another_database.public.t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('pg_catalog.t', 'pk') $$);

-- Names that are taken.
SELECT kv.create_table('t', 'pk', partitions => 1);
SELECT * FROM error_of($$ SELECT kv.create_table('t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('public."t"', 'other') $$);
CREATE VIEW v AS SELECT 1 AS one;
SELECT * FROM error_of($$ SELECT kv.create_table('v', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.create_table('t_p0', 'pk') $$);

-- Not a key-value table.
CREATE TABLE plain (pk text COLLATE "C" PRIMARY KEY, item jsonb NOT NULL);
SELECT f, r, e.* FROM unnest(ARRAY['drop_table', 'describe_table', 'scan']) f, unnest(ARRAY['plain', 'v', 't_p0', 't_pkey', 'pg_class']) r,
	error_of(format('SELECT kv.%s(%L)', f, r)) e;
SELECT * FROM error_of($$ SELECT kv.drop_table('no_such_table') $$);
SELECT * FROM error_of($$ SELECT kv.drop_table(4294967295::oid) $$);
SELECT * FROM error_of($$ SELECT kv.describe_table(4294967295::oid) $$);
SELECT * FROM error_of($$ SELECT kv.get(0::regclass, 'a') $$);
DROP TABLE plain;
DROP VIEW v;

-- Ours, but without the shape: what is missing is said.
CREATE TABLE shapeless (pk text COLLATE "C", item jsonb NOT NULL) USING key_value;
SELECT * FROM error_of($$ SELECT kv.describe_table('shapeless') $$);
ALTER TABLE shapeless ALTER pk TYPE int USING 1, ADD PRIMARY KEY (pk);
SELECT * FROM error_of($$ SELECT kv.get('shapeless', 'a') $$);
SELECT table_name FROM kv.tables;
SELECT kv.drop_table('shapeless');

-- Rights: SQL's own errors.
CREATE ROLE kv_table_user;
CREATE SCHEMA closed;
SET ROLE kv_table_user;
SELECT * FROM error_of($$ SELECT kv.create_table('closed.t', 'pk') $$);
SELECT * FROM error_of($$ SELECT kv.drop_table('t') $$);
SELECT * FROM error_of($$ SELECT kv.drop_table('pg_class') $$);
SELECT * FROM error_of($$ SELECT kv.get('t', 'a') $$);
-- The view shows what one has a right on.
SELECT count(*) FROM kv.tables;
SELECT count(*) FROM kv.partitions;
RESET ROLE;
GRANT SELECT (pk) ON t TO kv_table_user;
SET ROLE kv_table_user;
SELECT table_name FROM kv.tables;
SELECT * FROM error_of($$ SELECT kv.get('t', 'a') $$);
RESET ROLE;
GRANT SELECT (item) ON t TO kv_table_user;
SET ROLE kv_table_user;
SELECT kv.get('t', 'a') IS NULL;
RESET ROLE;
-- A table belongs to whom it was created by.
GRANT ALL ON SCHEMA closed TO kv_table_user;
SET ROLE kv_table_user;
SELECT kv.create_table('closed.mine', 'pk', partitions => 1);
SELECT owner FROM kv.tables WHERE table_name::text LIKE '%mine';
RESET ROLE;
SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relname = 'mine_p0';
SET ROLE kv_table_user;
SELECT kv.drop_table((SELECT oid FROM pg_class WHERE relname = 'mine'));
RESET ROLE;
DROP SCHEMA closed;
DROP OWNED BY kv_table_user;
DROP ROLE kv_table_user;

-- A table that others depend on stays.
CREATE VIEW dependent AS SELECT pk FROM t;
SELECT * FROM error_of($$ SELECT kv.drop_table('t') $$);
DROP VIEW dependent;
SELECT kv.drop_table('t');

-- Rows written by plain SQL are checked.
SELECT kv.create_table('t', 'pk', 'sk', partitions => 2);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', 'b', '[1]') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', 'b', '1') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', 'b', '{"pk": "a"}') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', 'b', '{"x": 1, "sk": null}') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('', 'b') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', '') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', NULL) $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', 'b', NULL) $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES (repeat('a', 2049), 'b') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', repeat('a', 1025)) $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', 'b', jsonb_build_object('x', repeat('x', 409600))) $$);
-- An item of 409,600 bytes, names and keys included: 1 + 1 + 2 + 2 for the
-- keys, 1 for the name of x, the rest for its value.
INSERT INTO t VALUES ('a', 'b', jsonb_build_object('x', repeat('x', 409600 - 7)));
SELECT * FROM error_of($$ UPDATE t SET item = jsonb_build_object('x', repeat('x', 409600 - 6)) WHERE pk = 'a' AND sk = 'b' $$);
SELECT * FROM error_of($$ UPDATE t SET item = '{"pk": 1}' WHERE pk = 'a' AND sk = 'b' $$);
SELECT * FROM error_of($$ SELECT kv.check_item(0, '{}', 'a'::text) $$);
SELECT * FROM error_of($$ SELECT kv.check_item('t'::regclass, '{}', VARIADIC ARRAY['a', 'b']) $$);
SELECT * FROM error_of($$ SELECT kv.check_item(tableoid, item, 1) FROM t WHERE pk = 'a' $$);
SELECT kv.drop_table('t');

-- The check follows a rename of a column, and the names that it looks for are
-- the table's own.
SELECT kv.create_table('t', 'pk', 'sk', partitions => 2);
INSERT INTO t VALUES ('a', 'b', '{"thread": 1}');
ALTER TABLE t RENAME pk TO thread;
SELECT * FROM error_of($$ INSERT INTO t VALUES ('a', 'c', '{"thread": 1}') $$);
INSERT INTO t VALUES ('a', 'c', '{"pk": 1}');
SELECT kv.get('t', 'a', 'c');
SELECT kv.drop_table('t');
SELECT kv.create_table('t', 'id', partition_key_type => 'N', partitions => 2);
SELECT * FROM error_of($$ INSERT INTO t VALUES (1, '{"id": 1}') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('NaN') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES ('Infinity') $$);
SELECT * FROM error_of($$ INSERT INTO t VALUES (1e126) $$);
INSERT INTO t VALUES (1, '{"pk": 1}');
SELECT kv.drop_table('t');

-- Nothing was left behind.
DROP FUNCTION error_of(text);
SELECT count(*) FROM kv.tables;
