/* key_value: objects of the extension, all in schema kv.  Sections follow the rooms of src/. */

\echo Use "CREATE EXTENSION key_value" to load this file. \quit

GRANT USAGE ON SCHEMA kv TO PUBLIC;

/* ---- table: hash operator classes ---- */

/* ---- am: the table access method ---- */

CREATE FUNCTION kv.key_value_am_handler(internal) RETURNS table_am_handler
	AS 'MODULE_PATHNAME', 'kv_am_handler_sql' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.key_value_am_handler(internal) IS 'handler of the table access method key_value';
REVOKE ALL ON FUNCTION kv.key_value_am_handler(internal) FROM PUBLIC;

CREATE ACCESS METHOD key_value TYPE TABLE HANDLER kv.key_value_am_handler;
COMMENT ON ACCESS METHOD key_value IS 'heap that keeps the items of a collection together';

/* ---- item: values and conversions ---- */

/* ---- table: definition ---- */

/* ---- operation: items ---- */

CREATE FUNCTION kv.get(table_name regclass, partition_key text, sort_key text = NULL) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_get_sql' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION kv.get(regclass, text, text) IS 'the item with that key, or NULL; keys as text';

CREATE FUNCTION kv.get_item(table_name regclass, key jsonb, projection text = NULL,
							attribute_names jsonb = NULL, consistent_read bool = true) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_get_item_sql' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION kv.get_item(regclass, jsonb, text, jsonb, bool) IS 'the item with that key, or the projected part of it; NULL if there is none';

CREATE FUNCTION kv.query(table_name regclass, key_condition text, attribute_values jsonb = NULL,
						 attribute_names jsonb = NULL, index text = NULL, filter text = NULL,
						 projection text = NULL, scan_forward bool = true, max_items int = NULL,
						 exclusive_start_key jsonb = NULL, consistent_read bool = false) RETURNS SETOF jsonb
	AS 'MODULE_PATHNAME', 'kv_query_sql' LANGUAGE C STABLE PARALLEL SAFE ROWS 50;
COMMENT ON FUNCTION kv.query(regclass, text, jsonb, jsonb, text, text, text, bool, int, jsonb, bool) IS 'the items of one collection that a key condition names, in sort key order';

CREATE FUNCTION kv.query_page(table_name regclass, key_condition text, attribute_values jsonb = NULL,
							  attribute_names jsonb = NULL, index text = NULL, filter text = NULL,
							  projection text = NULL, scan_forward bool = true, max_items int = NULL,
							  exclusive_start_key jsonb = NULL, consistent_read bool = false,
							  page_size int = NULL,
							  OUT items jsonb, OUT count int, OUT scanned_count int,
							  OUT last_evaluated_key jsonb, OUT consumed_capacity numeric) RETURNS record
	AS 'MODULE_PATHNAME', 'kv_query_page_sql' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION kv.query_page(regclass, text, jsonb, jsonb, text, text, text, bool, int, jsonb, bool, int) IS 'one page of a query, and the key to continue behind';

CREATE FUNCTION kv.scan(table_name regclass, filter text = NULL, attribute_values jsonb = NULL,
						attribute_names jsonb = NULL, index text = NULL, projection text = NULL,
						max_items int = NULL, exclusive_start_key jsonb = NULL, consistent_read bool = false,
						segment int = NULL, total_segments int = NULL) RETURNS SETOF jsonb
	AS 'MODULE_PATHNAME', 'kv_scan_sql' LANGUAGE C STABLE PARALLEL SAFE ROWS 1000;
COMMENT ON FUNCTION kv.scan(regclass, text, jsonb, jsonb, text, text, int, jsonb, bool, int, int) IS 'all items of a table, or of one segment of it, partition by partition';

CREATE FUNCTION kv.scan_page(table_name regclass, filter text = NULL, attribute_values jsonb = NULL,
							 attribute_names jsonb = NULL, index text = NULL, projection text = NULL,
							 max_items int = NULL, exclusive_start_key jsonb = NULL, consistent_read bool = false,
							 segment int = NULL, total_segments int = NULL, page_size int = NULL,
							 OUT items jsonb, OUT count int, OUT scanned_count int,
							 OUT last_evaluated_key jsonb, OUT consumed_capacity numeric) RETURNS record
	AS 'MODULE_PATHNAME', 'kv_scan_page_sql' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION kv.scan_page(regclass, text, jsonb, jsonb, text, text, int, jsonb, bool, int, int, int) IS 'one page of a scan, and the key to continue behind';

