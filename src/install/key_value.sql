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

