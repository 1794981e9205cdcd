-- functions: signatures, volatility, strictness, parallel safety and rights of what the extension offers.
BEGIN;
SELECT plan(10);

CREATE TEMP VIEW function AS
	SELECT p.oid, p.proname::text AS name, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result,
		CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END AS volatility,
		p.proisstrict AS strict, CASE p.proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END AS parallel
	FROM pg_proc p WHERE p.pronamespace = 'kv'::regnamespace;

-- The documented functions; defaults as the documentation gives them.
SELECT set_eq(
	$$SELECT name, arguments, result FROM function
	  WHERE name NOT IN ('check_item', 'key_value_am_handler', 'global_index', 'capture_change', 'in_local_index', 'list_indexes',
		'on_table_rewrite', 'on_refresh', 'refuse_refresh') AND name NOT LIKE 'xxh3%'$$,
	$$VALUES
	('create_table', 'table_name text, partition_key text, sort_key text DEFAULT NULL::text, partition_key_type text DEFAULT ''S''::text, '
		'sort_key_type text DEFAULT ''S''::text, partitions integer DEFAULT 16', 'regclass'),
	('drop_table', 'table_name regclass', 'void'),
	('describe_table', 'table_name regclass', 'jsonb'),
	('compact', 'IN table_name regclass, IN max_pages integer DEFAULT NULL::integer, INOUT collections bigint DEFAULT NULL::bigint, '
		'INOUT moved_collections bigint DEFAULT NULL::bigint, INOUT moved_items bigint DEFAULT NULL::bigint, '
		'INOUT pages_before bigint DEFAULT NULL::bigint, INOUT pages_after bigint DEFAULT NULL::bigint', NULL),
	('put_item', 'table_name regclass, item jsonb, condition text DEFAULT NULL::text, attribute_values jsonb DEFAULT NULL::jsonb, '
		'attribute_names jsonb DEFAULT NULL::jsonb, return_values text DEFAULT ''NONE''::text, '
		'return_values_on_failure text DEFAULT ''NONE''::text, on_condition_failure text DEFAULT ''raise''::text', 'jsonb'),
	('get_item', 'table_name regclass, key jsonb, projection text DEFAULT NULL::text, attribute_names jsonb DEFAULT NULL::jsonb, '
		'consistent_read boolean DEFAULT true', 'jsonb'),
	('get', 'table_name regclass, partition_key text, sort_key text DEFAULT NULL::text', 'jsonb'),
	('update_item', 'table_name regclass, key jsonb, update text DEFAULT NULL::text, condition text DEFAULT NULL::text, '
		'attribute_values jsonb DEFAULT NULL::jsonb, attribute_names jsonb DEFAULT NULL::jsonb, return_values text DEFAULT ''NONE''::text, '
		'return_values_on_failure text DEFAULT ''NONE''::text, on_condition_failure text DEFAULT ''raise''::text', 'jsonb'),
	('delete_item', 'table_name regclass, key jsonb, condition text DEFAULT NULL::text, attribute_values jsonb DEFAULT NULL::jsonb, '
		'attribute_names jsonb DEFAULT NULL::jsonb, return_values text DEFAULT ''NONE''::text, '
		'return_values_on_failure text DEFAULT ''NONE''::text, on_condition_failure text DEFAULT ''raise''::text', 'jsonb'),
	('query', 'table_name regclass, key_condition text, attribute_values jsonb DEFAULT NULL::jsonb, attribute_names jsonb DEFAULT NULL::jsonb, '
		'index text DEFAULT NULL::text, filter text DEFAULT NULL::text, projection text DEFAULT NULL::text, scan_forward boolean DEFAULT true, '
		'max_items integer DEFAULT NULL::integer, exclusive_start_key jsonb DEFAULT NULL::jsonb, consistent_read boolean DEFAULT false',
		'SETOF jsonb'),
	('query_page', 'table_name regclass, key_condition text, attribute_values jsonb DEFAULT NULL::jsonb, attribute_names jsonb DEFAULT NULL::jsonb, '
		'index text DEFAULT NULL::text, filter text DEFAULT NULL::text, projection text DEFAULT NULL::text, scan_forward boolean DEFAULT true, '
		'max_items integer DEFAULT NULL::integer, exclusive_start_key jsonb DEFAULT NULL::jsonb, consistent_read boolean DEFAULT false, '
		'page_size integer DEFAULT NULL::integer, count_only boolean DEFAULT false, OUT items jsonb, OUT count integer, OUT scanned_count integer, '
		'OUT last_evaluated_key jsonb, OUT consumed_capacity numeric', 'record'),
	('scan', 'table_name regclass, filter text DEFAULT NULL::text, attribute_values jsonb DEFAULT NULL::jsonb, attribute_names jsonb DEFAULT NULL::jsonb, '
		'index text DEFAULT NULL::text, projection text DEFAULT NULL::text, max_items integer DEFAULT NULL::integer, '
		'exclusive_start_key jsonb DEFAULT NULL::jsonb, consistent_read boolean DEFAULT false, segment integer DEFAULT NULL::integer, '
		'total_segments integer DEFAULT NULL::integer', 'SETOF jsonb'),
	('scan_page', 'table_name regclass, filter text DEFAULT NULL::text, attribute_values jsonb DEFAULT NULL::jsonb, attribute_names jsonb DEFAULT NULL::jsonb, '
		'index text DEFAULT NULL::text, projection text DEFAULT NULL::text, max_items integer DEFAULT NULL::integer, '
		'exclusive_start_key jsonb DEFAULT NULL::jsonb, consistent_read boolean DEFAULT false, segment integer DEFAULT NULL::integer, '
		'total_segments integer DEFAULT NULL::integer, page_size integer DEFAULT NULL::integer, count_only boolean DEFAULT false, OUT items jsonb, OUT count integer, '
		'OUT scanned_count integer, OUT last_evaluated_key jsonb, OUT consumed_capacity numeric', 'record'),
	('create_global_index', 'table_name regclass, index_name text, partition_key text, sort_key text DEFAULT NULL::text, '
		'partition_key_type text DEFAULT NULL::text, sort_key_type text DEFAULT NULL::text, projection text DEFAULT ''ALL''::text, '
		'include text[] DEFAULT NULL::text[]', 'regclass'),
	('create_local_index', 'table_name regclass, index_name text, sort_key text, sort_key_type text DEFAULT NULL::text, '
		'projection text DEFAULT ''ALL''::text, include text[] DEFAULT NULL::text[]', 'regclass'),
	('drop_index', 'table_name regclass, index_name text', 'void'),
	('wait_for_index', 'table_name regclass, index_name text, timeout interval DEFAULT NULL::interval', 'boolean'),
	('apply_changes', '', 'bigint'),
	('attr_s', 'item jsonb, name text', 'text'),
	('attr_n', 'item jsonb, name text', 'numeric'),
	('attr_b', 'item jsonb, name text', 'bytea'),
	('batch_write_item', 'request jsonb', 'jsonb'),
	('batch_get_item', 'request jsonb', 'jsonb'),
	('transact_write_items', 'request jsonb, client_request_token text DEFAULT NULL::text', 'jsonb'),
	('transact_get_items', 'request jsonb', 'jsonb'),
	('dynamodb', 'operation text, request jsonb', 'jsonb'),
	('item_size', 'item jsonb', 'bigint'),
	('from_dynamodb_json', 'typed_item jsonb', 'jsonb'),
	('to_dynamodb_json', 'item jsonb', 'jsonb')$$,
	'the functions have the signatures of the documentation');

-- What writes is volatile, what reads a table stable, what only computes immutable.
SELECT set_eq(
	$$SELECT name FROM function WHERE volatility = 'volatile'$$,
	ARRAY['create_table', 'drop_table', 'put_item', 'update_item', 'delete_item', 'batch_write_item', 'create_global_index',
		'create_local_index', 'drop_index', 'wait_for_index', 'apply_changes', 'global_index', 'capture_change', 'on_table_rewrite',
		'on_refresh', 'refuse_refresh', 'transact_write_items', 'dynamodb', 'compact', 'key_value_am_handler'], 'what writes is volatile');
SELECT set_eq(
	$$SELECT name FROM function WHERE volatility = 'immutable'$$,
	ARRAY['item_size', 'from_dynamodb_json', 'to_dynamodb_json', 'xxh3_text', 'xxh3_numeric', 'xxh3_bytea',
		'attr_s', 'attr_n', 'attr_b', 'in_local_index'], 'what only computes is immutable');
SELECT is_empty(
	$$SELECT name FROM function WHERE volatility = 'volatile' AND parallel = 'safe' AND name <> 'key_value_am_handler'$$,
	'what writes is not parallel safe');
SELECT is_empty(
	$$SELECT name FROM function WHERE volatility = 'immutable' AND NOT (strict AND parallel = 'safe')$$,
	'what only computes is strict and parallel safe');

SELECT set_eq(
	$$SELECT name FROM function WHERE parallel = 'restricted'$$,
	ARRAY['get', 'get_item', 'query', 'query_page', 'scan', 'scan_page', 'batch_get_item', 'transact_get_items', 'list_indexes'],
	'what reads items stays with the leader, since the table may be a temporary one');

-- Rights: everyone may call, and the rights on the table decide; only the handler is the system's own, and apply_changes for administrators.
SELECT set_eq(
	$$SELECT name FROM function WHERE NOT has_function_privilege('public', oid, 'EXECUTE')$$,
	ARRAY['key_value_am_handler', 'apply_changes', 'refuse_refresh'], 'everyone may call the functions');
SELECT is_empty($$SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'kv'::regnamespace AND prosecdef$$,
	'no function runs with the rights of its owner');
SELECT is_empty($$SELECT name FROM function WHERE obj_description(oid, 'pg_proc') IS NULL$$, 'every function has a comment');
SELECT is_empty(
	$$SELECT oid::regclass FROM pg_class c WHERE relnamespace = 'kv'::regnamespace AND relkind IN ('v', 'm', 'r')
	  AND obj_description(oid, 'pg_class') IS NULL$$, 'every view has a comment');

SELECT finish();
ROLLBACK;
