-- Generated key queries: each gives the same on a key-value table and on a plain table with the same rows.
-- Prints only what differs, and counts that prove that the queries ran.
SET client_min_messages = warning;
CREATE SCHEMA scan_generated;
SET search_path = scan_generated;

SELECT kv.create_table('k', 'pk', 'sk', partitions => 5);
SELECT kv.create_table('kn', 'pk', 'sk', 'N', 'N', partitions => 3);
SELECT kv.create_table('kb', 'pk', NULL, 'B', partitions => 3);
CREATE TABLE kh (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk)) USING key_value;
CREATE TABLE p (pk text COLLATE "C", sk text COLLATE "C", item jsonb, PRIMARY KEY (pk, sk));
CREATE TABLE pn (pk numeric, sk numeric, item jsonb, PRIMARY KEY (pk, sk));
CREATE TABLE pb (pk bytea, item jsonb, PRIMARY KEY (pk));
CREATE TABLE ph (LIKE p INCLUDING ALL);

-- A partition whose columns lie in another order than its parent's.
CREATE TABLE k_other (filler int, item jsonb NOT NULL DEFAULT '{}', sk text COLLATE "C" NOT NULL, gone text, pk text COLLATE "C" NOT NULL);
ALTER TABLE k_other DROP COLUMN filler, DROP COLUMN gone;
DO $$
DECLARE
	first_leaf regclass := (SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'k'::regclass ORDER BY inhrelid LIMIT 1);
	bound text := (SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE oid = first_leaf);
BEGIN
	EXECUTE (SELECT string_agg(format('ALTER TABLE k_other ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)), ';') FROM pg_constraint WHERE conrelid = 'k'::regclass AND contype = 'c');
	EXECUTE format('ALTER TABLE k DETACH PARTITION %s', first_leaf);
	EXECUTE format('DROP TABLE %s', first_leaf);
	EXECUTE format('ALTER TABLE k ATTACH PARTITION k_other %s', bound);
END $$;

INSERT INTO p
	SELECT chr(97 + i % 12), s || lpad((i / 12)::text, 2, '0'), jsonb_build_object('n', i, 'tag', 't' || i % 4, 'next', chr(97 + i * 7 % 14))
	FROM generate_series(0, 239) i, unnest(ARRAY['', 'M#', 'ü', '%_\']) s;
INSERT INTO k SELECT pk, sk, item FROM p ORDER BY random();
INSERT INTO ph SELECT * FROM p;
INSERT INTO kh SELECT * FROM p ORDER BY random();
INSERT INTO pn SELECT i % 9 - 3, (i / 9) * 1.5, jsonb_build_object('n', i) FROM generate_series(0, 399) i;
INSERT INTO kn SELECT * FROM pn;
INSERT INTO pb SELECT decode(lpad(to_hex(i), 4, '0'), 'hex'), jsonb_build_object('n', i) FROM generate_series(0, 99) i;
INSERT INTO kb SELECT * FROM pb;
CREATE TABLE o (id int, thread text, sub text, num numeric, bin bytea);
INSERT INTO o
	SELECT i, CASE WHEN i % 10 = 9 THEN NULL ELSE chr(97 + i * 5 % 15) END, CASE WHEN i % 7 = 6 THEN NULL ELSE 'M#' || lpad((i % 20)::text, 2, '0') END,
		i % 6, decode(lpad(to_hex(i * 3), 4, '0'), 'hex')
	FROM generate_series(1, 30) i;
ANALYZE p, pn, pb, ph, o;

CREATE TABLE differences (query text, key_value text, plain text);
CREATE TABLE counts (form text PRIMARY KEY, queries int NOT NULL, with_rows int NOT NULL);

CREATE FUNCTION pick(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE
	AS $$ SELECT choices[1 + floor(random() * array_length(choices, 1))::int] $$;

-- A value for a partition key, sometimes absent from the table, sometimes NULL.
CREATE FUNCTION a_key() RETURNS text LANGUAGE sql VOLATILE
	AS $$ SELECT CASE WHEN random() < 0.06 THEN 'NULL' ELSE quote_literal(chr(97 + floor(random() * 14)::int)) END $$;
CREATE FUNCTION a_sort_key() RETURNS text LANGUAGE sql VOLATILE
	AS $$ SELECT CASE WHEN random() < 0.05 THEN 'NULL' ELSE quote_literal(pick('', 'M#', 'M#', 'ü', '%_\', 'M') || lpad(floor(random() * 20)::int::text, 2, '0')) END $$;

-- A condition that fixes the partition key of table alias t.
CREATE FUNCTION a_partition_condition() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE floor(random() * 12)::int
		WHEN 0 THEN format('t.pk IN (%s, %s, %s)', a_key(), a_key(), a_key())
		WHEN 1 THEN format('t.pk = ANY (ARRAY[%s, %s, %s]::text[])', a_key(), a_key(), a_key())
		WHEN 2 THEN format('%s = t.pk', a_key())
		WHEN 3 THEN format('t.pk = lower(upper(%s))', a_key())
		WHEN 4 THEN format('t.pk = (SELECT %s)', a_key())
		WHEN 5 THEN format('t.pk = %s AND t.pk = ANY (ARRAY[%s, %s]::text[])', a_key(), a_key(), a_key())
		WHEN 6 THEN format('(t.pk, t.sk) IN ((%s, %s), (%s, %s), (%s, %s))', a_key(), a_sort_key(), a_key(), a_sort_key(), a_key(), a_sort_key())
		WHEN 7 THEN format('(t.pk = %s OR (%s = t.pk AND t.sk > %s) OR (t.sk = %s AND t.pk = %s AND t.item->>''tag'' <> ''t1''))', a_key(), a_key(), a_sort_key(), a_sort_key(), a_key())
		ELSE format('t.pk = %s', a_key()) END $$;

-- Conditions on the sort key.
CREATE FUNCTION a_sort_condition() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE floor(random() * 18)::int
		WHEN 0 THEN format(' AND t.sk = %s', a_sort_key())
		WHEN 1 THEN format(' AND t.sk %s %s', pick('<', '<=', '>', '>='), a_sort_key())
		WHEN 2 THEN format(' AND t.sk BETWEEN %s AND %s', a_sort_key(), a_sort_key())
		WHEN 3 THEN format(' AND t.sk LIKE %L', pick('M#%', 'M#1%', 'M#0_', '%1', 'ü%', '\%\_%', 'M#05', '%'))
		WHEN 4 THEN format(' AND starts_with(t.sk, %L)', pick('M', 'M#1', '', 'ü0', '%'))
		WHEN 5 THEN format(' AND t.sk ^@ %L', pick('M', 'M#1', 'ü0'))
		WHEN 6 THEN format(' AND t.sk IN (%s, %s, %s)', a_sort_key(), a_sort_key(), a_sort_key())
		WHEN 7 THEN format(' AND (t.pk, t.sk) %s (%s, %s)', pick('<', '<=', '>', '>='), a_key(), a_sort_key())
		WHEN 8 THEN format(' AND ROW(t.sk) %s ROW(%s)', pick('<', '>='), a_sort_key())
		WHEN 9 THEN format(' AND t.sk > %s AND t.sk < %s AND t.sk <= %s', a_sort_key(), a_sort_key(), a_sort_key())
		WHEN 10 THEN format(' AND NOT t.sk %s %s', pick('<', '>=', '='), a_sort_key())
		WHEN 11 THEN format(' AND %s <= t.sk', a_sort_key())
		WHEN 12 THEN ' AND t.sk IS NOT NULL'
		WHEN 13 THEN format(' AND t.sk %1$s %3$s AND t.sk %2$s %3$s', pick('>', '<', '>=', '<='), pick('>', '<', '>=', '<=', '='), a_sort_key())
		WHEN 14 THEN (SELECT format(' AND t.sk IN (%s, %s, %s, %s) AND t.sk %s %s', a, a_sort_key(), b, a_sort_key(), pick('>', '<', '>=', '<='), pick(a, b)) FROM a_sort_key() a, a_sort_key() b)
		ELSE '' END $$;

-- A filter on the item.
CREATE FUNCTION a_filter() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE floor(random() * 8)::int
		WHEN 0 THEN ' AND t.item->>''tag'' = ''t1'''
		WHEN 1 THEN ' AND (t.item->>''n'')::int % 3 = 0'
		WHEN 2 THEN ' AND t.item @> ''{"tag": "t2"}'''
		WHEN 3 THEN ' AND (t.sk < ''M'' OR t.item->>''tag'' = ''t3'')'
		ELSE '' END $$;

CREATE FUNCTION a_where() RETURNS text LANGUAGE sql VOLATILE
	AS $$ SELECT a_partition_condition() || a_sort_condition() || CASE WHEN random() < 0.3 THEN a_sort_condition() ELSE '' END || a_filter() $$;

-- Runs a query and returns its rows as one text, sorted unless the query orders them itself.
CREATE FUNCTION run(query text, ordered bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(r::text, chr(10) %s) FROM (%s) r', CASE WHEN ordered THEN '' ELSE 'ORDER BY r::text COLLATE "C"' END, query) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- Runs a prepared statement's generic plan with one set of values after the other.
CREATE FUNCTION run_prepared(query text, parameters text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := '';
	one text;
	parameter text;
BEGIN
	SET LOCAL plan_cache_mode = force_generic_plan;
	EXECUTE format('PREPARE s(text, text, text[]) AS SELECT string_agg(r::text, chr(10) ORDER BY r::text COLLATE "C") FROM (%s) r', query);
	FOREACH parameter IN ARRAY parameters LOOP
		EXECUTE format('EXECUTE s(%s)', parameter) INTO one;
		result := concat(result, one, E'\n--\n');
	END LOOP;
	DEALLOCATE s;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = 's') THEN
		DEALLOCATE s;
	END IF;
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- Fetches from a scroll cursor back and forth.
CREATE FUNCTION run_cursor(query text, moves text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := '';
	one record;
	move text;
	c refcursor := 'scan_generated_cursor';
BEGIN
	EXECUTE 'DECLARE scan_generated_cursor SCROLL CURSOR FOR ' || query;
	FOREACH move IN ARRAY moves LOOP
		EXECUTE format('FETCH %s FROM scan_generated_cursor', move) INTO one;
		result := concat(result, one::text, E'\n');
	END LOOP;
	CLOSE c;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- Notes the answers to a query; {t} stands for the table.
CREATE PROCEDURE note(form text, query text, key_value text, plain text) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO counts VALUES (form, 1, coalesce(plain ~ '[[:alnum:]]', false)::int)
		ON CONFLICT ON CONSTRAINT counts_pkey DO UPDATE SET queries = counts.queries + 1, with_rows = counts.with_rows + EXCLUDED.with_rows;
	IF key_value IS DISTINCT FROM plain OR plain ~ '^[0-9A-Z]{5}: ' THEN
		INSERT INTO differences VALUES (query, key_value, plain);
	END IF;
END $$;

CREATE PROCEDURE compare(form text, query text, ordered bool DEFAULT false) LANGUAGE plpgsql AS $$
DECLARE
	stem text := pick('k', 'k', 'k', 'h');
	key_value text := CASE stem WHEN 'k' THEN 'k' ELSE 'kh' END;
	plain text := CASE stem WHEN 'k' THEN 'p' ELSE 'ph' END;
BEGIN
	CALL note(form, query, run(replace(query, '{t}', key_value), ordered), run(replace(query, '{t}', plain), ordered));
END $$;
CREATE PROCEDURE compare_typed(form text, query text, stem text, ordered bool DEFAULT false) LANGUAGE plpgsql AS $$
BEGIN
	CALL note(form, query, run(replace(query, '{t}', 'k' || stem), ordered), run(replace(query, '{t}', 'p' || stem), ordered));
END $$;

SELECT setseed(0.42);

-- One table: conditions, order, limit, aggregates.
DO $$
DECLARE
	direction text;
BEGIN
	FOR i IN 1..120 LOOP
		CALL compare('select', format('SELECT t.pk, t.sk, t.item FROM {t} t WHERE %s', a_where()));
	END LOOP;
	FOR i IN 1..80 LOOP
		direction := pick('ASC', 'DESC');
		CALL compare('order', format('SELECT t.pk, t.sk, t.item->>''n'' AS n FROM {t} t WHERE %s ORDER BY t.pk %s, t.sk %s LIMIT %s OFFSET %s',
			a_where(), direction, pick(direction, direction, 'ASC'), pick('1', '5', '40', 'NULL'), pick('0', '0', '3')), true);
	END LOOP;
	FOR i IN 1..40 LOOP
		CALL compare('order by sort key', format('SELECT t.sk, t.item FROM {t} t WHERE t.pk = %s%s%s ORDER BY t.sk %s LIMIT 7',
			a_key(), a_sort_condition(), a_filter(), pick('ASC', 'DESC')), true);
	END LOOP;
	FOR i IN 1..40 LOOP
		CALL compare('aggregate', format('SELECT %s FROM {t} t WHERE %s', pick('count(*)', 'min(t.sk), max(t.sk)', 'max(t.sk)', 'count(DISTINCT t.item->>''tag'')', 'sum((t.item->>''n'')::int)'), a_where()));
		CALL compare('group', format('SELECT t.pk, count(*), min(t.sk) FROM {t} t WHERE %s GROUP BY t.pk', a_where()));
	END LOOP;
END $$;

-- Numbers and bytes.
DO $$
BEGIN
	FOR i IN 1..40 LOOP
		CALL compare_typed('numeric', format('SELECT t.* FROM {t} t WHERE t.pk = %s AND t.sk %s %s ORDER BY t.sk %s', pick('1', '2.0', '-3', '0', '4::numeric', '3::int', '77'),
			pick('=', '<', '<=', '>', '>='), pick('0', '15', '1.5::numeric', '31.50', '1e1'), pick('ASC', 'DESC')), 'n', true);
		CALL compare_typed('numeric list', format('SELECT t.* FROM {t} t WHERE t.pk IN (%s, %s, 2.00) AND t.sk BETWEEN %s AND 40', pick('1', '2', '5.0'), pick('3', '-1', 'NULL'), pick('0', '6.0', '20')), 'n');
		CALL compare_typed('bytea', format('SELECT t.* FROM {t} t WHERE t.pk %s', pick('= ''\x0001''', 'IN (''\x0002'', ''\x0002'', ''\x0050'')', '= ''\x''', '= ANY (SELECT bin FROM o WHERE num = 2)')), 'b');
	END LOOP;
END $$;

-- Joins, subqueries, LATERAL, CTEs, set operations.
DO $$
DECLARE
	kind text;
BEGIN
	FOR i IN 1..40 LOOP
		kind := pick('JOIN', 'LEFT JOIN');
		CALL compare('join', format('SELECT o.id, t.sk, t.item FROM o %s {t} t ON t.pk = o.thread%s WHERE o.id < %s', kind,
			pick('', ' AND t.sk = o.sub', ' AND t.sk > o.sub', ' AND t.sk LIKE ''M#%''', ' AND t.sk BETWEEN o.sub AND ''ü'''), pick('5', '12', '40')));
		CALL compare('self join', format('SELECT t.pk, t.sk, u.sk AS other FROM {t} t JOIN {t} u ON u.pk = t.item->>''next'' AND u.sk = t.sk WHERE %s', a_where()));
		CALL compare('semi join', format('SELECT o.id FROM o WHERE %s (SELECT FROM {t} t WHERE t.pk = o.thread%s)', pick('EXISTS', 'NOT EXISTS'), a_sort_condition()));
		CALL compare('in subquery', format('SELECT t.pk, t.sk FROM {t} t WHERE t.pk IN (SELECT thread FROM o WHERE id %s 9)%s', pick('<', '=', '>'), a_sort_condition()));
		CALL compare('lateral', format('SELECT o.id, l.* FROM o %s LATERAL (SELECT t.sk, t.item->>''n'' AS n FROM {t} t WHERE t.pk = o.thread%s ORDER BY t.sk %s LIMIT %s) l ON o.id < 15',
			pick('JOIN', 'LEFT JOIN'), a_sort_condition(), pick('ASC', 'DESC'), pick('1', '3')));
		CALL compare('correlated', format('SELECT o.id, (SELECT count(*) FROM {t} t WHERE t.pk = o.thread%s) AS n, ARRAY(SELECT t.sk FROM {t} t WHERE t.pk = o.thread ORDER BY t.sk DESC LIMIT 2) AS last FROM o', a_sort_condition()));
		CALL compare('cte', format('WITH %s AS %s (SELECT t.pk, t.sk, t.item FROM {t} t WHERE %s) SELECT q.pk, q.sk, u.item FROM q JOIN {t} u ON u.pk = q.pk AND u.sk = q.sk', 'q', pick('', 'MATERIALIZED', 'NOT MATERIALIZED'), a_where()));
		CALL compare('set operation', format('SELECT t.pk, t.sk FROM {t} t WHERE %s %s SELECT t.pk, t.sk FROM {t} t WHERE %s', a_where(), pick('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'), a_where()));
		CALL compare('union all view', format('SELECT t.* FROM (SELECT pk, sk, item FROM {t} UNION ALL SELECT pk, sk, ''{}'' FROM {t}) t WHERE %s', a_where()));
		CALL compare('or exists', format('SELECT o.id FROM o WHERE o.id %% 3 = 0 OR EXISTS (SELECT FROM {t} t WHERE t.pk = o.thread%s)', a_sort_condition()));
		CALL compare('window', format('SELECT t.sk, row_number() OVER (PARTITION BY t.pk ORDER BY t.sk DESC) FROM {t} t WHERE %s', a_where()));
		CALL compare('recursive', format('WITH RECURSIVE r AS (SELECT t.pk, t.sk, t.item, 1 AS level FROM {t} t WHERE t.pk = %s AND t.sk = %s UNION ALL SELECT u.pk, u.sk, u.item, level + 1 FROM r JOIN {t} u ON u.pk = r.item->>''next'' AND u.sk = r.sk WHERE level < 5) SELECT pk, sk, level FROM r', a_key(), a_sort_key()));
	END LOOP;
END $$;

-- The rows' own columns: whole rows, and what says which row it is.
DO $$
BEGIN
	FOR i IN 1..25 LOOP
		CALL compare('whole row', format('SELECT t, t.sk FROM {t} t WHERE %s', a_where()));
		CALL compare('row to json', format('SELECT to_jsonb(t) FROM {t} t WHERE %s', a_where()));
		CALL compare('system columns', format('SELECT t.pk, t.sk, t.xmin IS NOT NULL AS made, t.cmin = t.cmax AS same, t.ctid IS NOT NULL AS placed FROM {t} t WHERE %s', a_where()));
		CALL compare('row locks', format('SELECT t.pk, t.sk FROM {t} t WHERE %s ORDER BY t.pk, t.sk FOR %s', a_where(), pick('UPDATE', 'SHARE', 'KEY SHARE')), true);
	END LOOP;
END $$;

-- Generic plans, with NULLs among the values.
DO $$
DECLARE
	query text;
	parameters text[];
BEGIN
	FOR i IN 1..50 LOOP
		query := format('SELECT t.pk, t.sk, t.item FROM {t} t WHERE %s%s%s',
			pick('t.pk = $1', 't.pk = ANY ($3)', 't.pk = lower($1)', 't.pk = $1 AND t.pk = ANY ($3)', 't.pk IN ($1, $2)', '(t.pk = $1 OR (t.pk = $3[1] AND t.sk = $2))'),
			pick('', ' AND t.sk = $2', ' AND t.sk > $2', ' AND t.sk LIKE $2', ' AND starts_with(t.sk, $2)', ' AND t.sk BETWEEN $2 AND ''ü''', ' AND (t.pk, t.sk) >= ($1, $2)', ' AND t.sk ^@ $2', ' AND t.sk = ANY ($3)', ' AND t.sk IN ($2, ''M#03'')'),
			a_filter());
		SELECT array_agg(concat_ws(', ', a_key(), pick('''M#1%''', '''M#''', a_sort_key(), '''M#0_''', '''M\#1%''', '''\%\_%''', '''%'''), format('ARRAY[%s, %s, %s]::text[]', a_key(), a_key(), a_sort_key()))) INTO parameters FROM generate_series(1, 6);
		parameters := parameters || 'NULL, NULL, NULL'::text || '''b'', ''M#'', ''{}'''::text;
		CALL note('generic plan', query || ' with ' || parameters::text, run_prepared(replace(query, '{t}', 'k'), parameters), run_prepared(replace(query, '{t}', 'p'), parameters));
	END LOOP;
END $$;

-- Scroll cursors.
DO $$
DECLARE
	query text;
	moves text[];
	direction text;
BEGIN
	FOR i IN 1..40 LOOP
		direction := pick('ASC', 'DESC');
		query := format('SELECT t.pk, t.sk, t.item FROM {t} t WHERE %s ORDER BY t.pk %s, t.sk %s', a_where(), direction, direction);
		SELECT array_agg(pick('NEXT', 'NEXT', 'NEXT', 'PRIOR', 'PRIOR', 'FIRST', 'LAST', 'ABSOLUTE 5', 'RELATIVE 3', 'RELATIVE -2', 'ABSOLUTE -1', 'RELATIVE 0')) INTO moves FROM generate_series(1, 25);
		CALL note('cursor', query || ' with ' || moves::text, run_cursor(replace(query, '{t}', 'k'), moves), run_cursor(replace(query, '{t}', 'p'), moves));
	END LOOP;
END $$;

SELECT form, queries, with_rows > queries / 8 AS enough_with_rows FROM counts ORDER BY form COLLATE "C";
SELECT * FROM differences;

DROP SCHEMA scan_generated CASCADE;
