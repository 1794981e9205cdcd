/* key_value: objects of the extension, all in schema kv.  Sections follow the rooms of src/. */

\echo Use "CREATE EXTENSION key_value" to load this file. \quit

GRANT USAGE ON SCHEMA kv TO PUBLIC;

/* ---- table: hash operator classes ---- */

/* ---- am: the table access method ---- */

/* ---- item: values and conversions ---- */

/* ---- table: definition ---- */

/* ---- operation: items ---- */

