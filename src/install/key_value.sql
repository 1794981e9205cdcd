/* key_value: objects of the extension, all in schema kv.  Sections follow the rooms of src/. */

\echo Use "CREATE EXTENSION key_value" to load this file. \quit

GRANT USAGE ON SCHEMA kv TO PUBLIC;

/* ---- table: hash operator classes ---- */

CREATE FUNCTION kv.xxh3_text(text) RETURNS integer
	AS 'MODULE_PATHNAME', 'kv_table_xxh3_text'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.xxh3_text(text) IS 'XXH3 hash, 32 bits: FUNCTION 1 of kv.xxh3_text_ops';

CREATE FUNCTION kv.xxh3_text(text, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'kv_table_xxh3_text_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.xxh3_text(text, bigint) IS 'XXH3 hash, 64 bits, with a seed: FUNCTION 2 of kv.xxh3_text_ops';

CREATE OPERATOR CLASS kv.xxh3_text_ops FOR TYPE text USING hash AS
	OPERATOR 1 pg_catalog.= (text, text),
	FUNCTION 1 kv.xxh3_text(text),
	FUNCTION 2 kv.xxh3_text(text, bigint);
COMMENT ON OPERATOR CLASS kv.xxh3_text_ops USING hash IS 'chooses the partition of a key-value table by a text partition key';

CREATE FUNCTION kv.xxh3_numeric(numeric) RETURNS integer
	AS 'MODULE_PATHNAME', 'kv_table_xxh3_numeric'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.xxh3_numeric(numeric) IS 'XXH3 hash, 32 bits: FUNCTION 1 of kv.xxh3_numeric_ops';

CREATE FUNCTION kv.xxh3_numeric(numeric, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'kv_table_xxh3_numeric_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.xxh3_numeric(numeric, bigint) IS 'XXH3 hash, 64 bits, with a seed: FUNCTION 2 of kv.xxh3_numeric_ops';

CREATE OPERATOR CLASS kv.xxh3_numeric_ops FOR TYPE numeric USING hash AS
	OPERATOR 1 pg_catalog.= (numeric, numeric),
	FUNCTION 1 kv.xxh3_numeric(numeric),
	FUNCTION 2 kv.xxh3_numeric(numeric, bigint);
COMMENT ON OPERATOR CLASS kv.xxh3_numeric_ops USING hash IS 'chooses the partition of a key-value table by a numeric partition key';

CREATE FUNCTION kv.xxh3_bytea(bytea) RETURNS integer
	AS 'MODULE_PATHNAME', 'kv_table_xxh3_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.xxh3_bytea(bytea) IS 'XXH3 hash, 32 bits: FUNCTION 1 of kv.xxh3_bytea_ops';

CREATE FUNCTION kv.xxh3_bytea(bytea, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'kv_table_xxh3_bytea_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.xxh3_bytea(bytea, bigint) IS 'XXH3 hash, 64 bits, with a seed: FUNCTION 2 of kv.xxh3_bytea_ops';

CREATE OPERATOR CLASS kv.xxh3_bytea_ops FOR TYPE bytea USING hash AS
	OPERATOR 1 pg_catalog.= (bytea, bytea),
	FUNCTION 1 kv.xxh3_bytea(bytea),
	FUNCTION 2 kv.xxh3_bytea(bytea, bigint);
COMMENT ON OPERATOR CLASS kv.xxh3_bytea_ops USING hash IS 'chooses the partition of a key-value table by a bytea partition key';

/* ---- am: the table access method ---- */

CREATE FUNCTION kv.key_value_am_handler(internal) RETURNS table_am_handler
	AS 'MODULE_PATHNAME', 'kv_am_handler_sql' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.key_value_am_handler(internal) IS 'handler of the table access method key_value';
REVOKE ALL ON FUNCTION kv.key_value_am_handler(internal) FROM PUBLIC;

CREATE ACCESS METHOD key_value TYPE TABLE HANDLER kv.key_value_am_handler;
COMMENT ON ACCESS METHOD key_value IS 'heap that keeps the items of a collection together';

/* ---- item: values and conversions ---- */

CREATE FUNCTION kv.item_size(item jsonb) RETURNS bigint
	AS 'MODULE_PATHNAME', 'kv_item_size_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.item_size(jsonb) IS 'size of an item in bytes, by DynamoDB''s rule';

CREATE FUNCTION kv.from_dynamodb_json(typed_item jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_from_dynamodb_json_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.from_dynamodb_json(jsonb) IS 'item from DynamoDB''s typed JSON, {"name": {"S": "text"}}';

CREATE FUNCTION kv.to_dynamodb_json(item jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_to_dynamodb_json_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.to_dynamodb_json(jsonb) IS 'item as DynamoDB''s typed JSON, {"name": {"S": "text"}}';

/* ---- table: definition ---- */

CREATE FUNCTION kv.check_item(tableoid oid, item jsonb, VARIADIC key "any") RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_check_item_sql'
	LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION kv.check_item(oid, jsonb, "any")
	IS 'the CHECK of a key-value table: true, or an error that says what is wrong with the row';

CREATE FUNCTION kv.create_table(
	table_name text,
	partition_key text,
	sort_key text DEFAULT NULL,
	partition_key_type text DEFAULT 'S',
	sort_key_type text DEFAULT 'S',
	partitions integer DEFAULT 16
) RETURNS regclass
	AS 'MODULE_PATHNAME', 'kv_create_table_sql'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.create_table(text, text, text, text, text, integer)
	IS 'creates a key-value table; key types are S (string), N (number) and B (binary)';

CREATE FUNCTION kv.drop_table(table_name regclass) RETURNS void
	AS 'MODULE_PATHNAME', 'kv_drop_table_sql'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.drop_table(regclass) IS 'drops a key-value table with all its items';

CREATE FUNCTION kv.describe_table(table_name regclass) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_describe_table_sql'
	LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION kv.describe_table(regclass)
	IS 'a key-value table in the shape of DynamoDB''s TableDescription; ItemCount is an estimate';

CREATE PROCEDURE kv.compact(
	table_name regclass,
	max_pages integer DEFAULT NULL,
	INOUT collections bigint DEFAULT NULL,
	INOUT moved_collections bigint DEFAULT NULL,
	INOUT moved_items bigint DEFAULT NULL,
	INOUT pages_before bigint DEFAULT NULL,
	INOUT pages_after bigint DEFAULT NULL
)
	AS 'MODULE_PATHNAME', 'kv_compact_sql' LANGUAGE C;
COMMENT ON PROCEDURE kv.compact(regclass, integer, bigint, bigint, bigint, bigint, bigint)
	IS 'moves the items of scattered collections together, beside readers and writers; commits many times; max_pages bounds the pages full of items that are moved';

/* What makes a table a key-value table is said in src/table/table.h; the two views say the same in SQL. */
CREATE VIEW kv.tables AS
SELECT c.oid::pg_catalog.regclass AS table_name,
	CASE WHEN pk.attname ~ '~[0-9a-f]{16}$'
		THEN COALESCE(pg_catalog.substring(pg_catalog.col_description(c.oid, pk.attnum), '^DynamoDB attribute (.+)$'),
			pk.attname::pg_catalog.text)
		ELSE pk.attname::pg_catalog.text END AS partition_key,
	CASE pk.atttypid WHEN 'pg_catalog.text'::pg_catalog.regtype THEN 'S'
		WHEN 'pg_catalog.numeric'::pg_catalog.regtype THEN 'N' ELSE 'B' END AS partition_key_type,
	CASE WHEN sk.attname ~ '~[0-9a-f]{16}$'
		THEN COALESCE(pg_catalog.substring(pg_catalog.col_description(c.oid, sk.attnum), '^DynamoDB attribute (.+)$'),
			sk.attname::pg_catalog.text)
		ELSE sk.attname::pg_catalog.text END AS sort_key,
	CASE sk.atttypid WHEN 'pg_catalog.text'::pg_catalog.regtype THEN 'S'
		WHEN 'pg_catalog.numeric'::pg_catalog.regtype THEN 'N'
		WHEN 'pg_catalog.bytea'::pg_catalog.regtype THEN 'B' END AS sort_key_type,
	CASE c.relkind WHEN 'r' THEN 1
		ELSE (SELECT pg_catalog.count(*)::pg_catalog.int4 FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid)
		END AS partitions,
	pg_catalog.pg_get_userbyid(c.relowner) AS owner,
	CASE WHEN c.relname ~ '~[0-9a-f]{16}$'
		THEN COALESCE(pg_catalog.substring(pg_catalog.obj_description(c.oid, 'pg_class'), '^DynamoDB table ([a-zA-Z0-9_.-]+)'),
			c.relname::pg_catalog.text)
		ELSE c.relname::pg_catalog.text END AS dynamodb_name,
	pk.attname AS partition_key_column,
	sk.attname AS sort_key_column
FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary AND i.indisvalid AND i.indnkeyatts <= 2
	JOIN pg_catalog.pg_attribute pk ON pk.attrelid = c.oid AND pk.attnum = i.indkey[0]
	JOIN pg_catalog.pg_attribute b ON b.attrelid = c.oid AND b.attname = 'item'
		AND b.atttypid = 'pg_catalog.jsonb'::pg_catalog.regtype AND b.attnotnull
	LEFT JOIN pg_catalog.pg_attribute sk ON sk.attrelid = c.oid AND sk.attnum = i.indkey[1] AND i.indnkeyatts = 2
	LEFT JOIN pg_catalog.pg_am m ON m.oid = c.relam
	LEFT JOIN pg_catalog.pg_partitioned_table p ON p.partrelid = c.oid AND p.partstrat = 'h' AND p.partnatts = 1
	LEFT JOIN pg_catalog.pg_opclass o ON o.oid = p.partclass[0]
WHERE (c.relkind = 'r' AND m.amname = 'key_value'
		OR c.relkind = 'p' AND o.opcnamespace = 'kv'::pg_catalog.regnamespace
			AND o.opcname IN ('xxh3_text_ops', 'xxh3_numeric_ops', 'xxh3_bytea_ops'))
	AND NOT c.relispartition
	AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
		WHERE t.tgrelid = c.oid AND t.tgconstrrelid <> 0 AND f.proname = 'global_index'
			AND f.pronamespace = 'kv'::pg_catalog.regnamespace)
	AND pk.atttypid IN ('pg_catalog.text'::pg_catalog.regtype, 'pg_catalog.numeric'::pg_catalog.regtype, 'pg_catalog.bytea'::pg_catalog.regtype)
	AND (i.indnkeyatts = 1 OR sk.atttypid IN ('pg_catalog.text'::pg_catalog.regtype, 'pg_catalog.numeric'::pg_catalog.regtype, 'pg_catalog.bytea'::pg_catalog.regtype))
	AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace)
	AND (pg_catalog.pg_has_role(c.relowner, 'USAGE')
		OR pg_catalog.has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));
COMMENT ON VIEW kv.tables IS 'the key-value tables on which the current user holds some right';
COMMENT ON COLUMN kv.tables.table_name IS 'the table, as every function of kv takes it';
COMMENT ON COLUMN kv.tables.partition_key IS 'name of the partition key attribute';
COMMENT ON COLUMN kv.tables.partition_key_type IS 'S (string), N (number) or B (binary)';
COMMENT ON COLUMN kv.tables.sort_key IS 'name of the sort key attribute; NULL if the table has none';
COMMENT ON COLUMN kv.tables.sort_key_type IS 'S (string), N (number) or B (binary); NULL if there is no sort key';
COMMENT ON COLUMN kv.tables.partitions IS 'number of partitions';
COMMENT ON COLUMN kv.tables.owner IS 'role that owns the table';
COMMENT ON COLUMN kv.tables.dynamodb_name IS 'name that kv.dynamodb() knows the table by; the relation''s, unless that is too short for it';
COMMENT ON COLUMN kv.tables.partition_key_column IS 'column of the partition key; has the attribute''s name, unless no column can have it';
COMMENT ON COLUMN kv.tables.sort_key_column IS 'column of the sort key, or NULL';
GRANT SELECT ON kv.tables TO PUBLIC;

CREATE VIEW kv.partitions AS
SELECT t.table_name,
	l.oid::pg_catalog.regclass AS partition_name,
	pg_catalog.substring(pg_catalog.pg_get_expr(l.relpartbound, l.oid), 'modulus (\d+)')::pg_catalog.int4 AS modulus,
	pg_catalog.substring(pg_catalog.pg_get_expr(l.relpartbound, l.oid), 'remainder (\d+)')::pg_catalog.int4 AS remainder,
	CASE WHEN l.reltuples >= 0 THEN l.reltuples::pg_catalog.int8 END AS item_count,
	pg_catalog.pg_table_size(l.oid) AS table_bytes,
	pg_catalog.pg_indexes_size(l.oid) AS index_bytes
FROM kv.tables t
	LEFT JOIN pg_catalog.pg_inherits h ON h.inhparent = t.table_name
	JOIN pg_catalog.pg_class c ON c.oid = t.table_name
	JOIN pg_catalog.pg_class l ON l.oid = CASE c.relkind WHEN 'p' THEN h.inhrelid ELSE c.oid END;
COMMENT ON VIEW kv.partitions IS 'the partitions of the tables in kv.tables';
COMMENT ON COLUMN kv.partitions.table_name IS 'the table';
COMMENT ON COLUMN kv.partitions.partition_name IS 'the partition; the table itself if it is not partitioned';
COMMENT ON COLUMN kv.partitions.modulus IS 'the partition takes the keys whose hash divided by this ..; NULL if the table is not partitioned';
COMMENT ON COLUMN kv.partitions.remainder IS '.. leaves this remainder';
COMMENT ON COLUMN kv.partitions.item_count IS 'number of items as VACUUM or ANALYZE last counted; NULL if neither has';
COMMENT ON COLUMN kv.partitions.table_bytes IS 'size on disk in bytes, with large values, without indexes';
COMMENT ON COLUMN kv.partitions.index_bytes IS 'size on disk of all indexes, in bytes';
GRANT SELECT ON kv.partitions TO PUBLIC;

/* ---- index: secondary indexes ---- */

/*
 * The tables that the C code keeps are materialized views for the catalogs: so
 * SQL cannot write to them, a publication FOR ALL TABLES leaves them out, and no
 * dump takes them along.  src/index/ says what is in them; nobody but it may
 * look, since the change log has keys of items.  REFRESH would empty them, so it
 * is refused: some refresh all materialized views at night.
 */
CREATE FUNCTION kv.refuse_refresh() RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_refuse_refresh_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.refuse_refresh() IS 'condition of the extension''s own materialized views: keeps REFRESH from emptying them';
REVOKE ALL ON FUNCTION kv.refuse_refresh() FROM PUBLIC;

CREATE MATERIALIZED VIEW kv.change_log_0 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_0_xid_number ON kv.change_log_0 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_0 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_log_1 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_1_xid_number ON kv.change_log_1 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_1 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_log_2 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_2_xid_number ON kv.change_log_2 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_2 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_log_3 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_3_xid_number ON kv.change_log_3 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_3 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_log_4 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_4_xid_number ON kv.change_log_4 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_4 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_log_5 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_5_xid_number ON kv.change_log_5 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_5 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_log_6 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_6_xid_number ON kv.change_log_6 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_6 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_log_7 USING heap WITH (autovacuum_enabled = false) AS
	SELECT '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number, '0'::pg_catalog.oid AS base,
	'epoch'::pg_catalog.timestamptz AS at, ''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_log_7_xid_number ON kv.change_log_7 (xid, number);
COMMENT ON MATERIALIZED VIEW kv.change_log_7 IS 'changes of tables that their global indexes have yet to follow; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.apply_progress_0 USING heap WITH (autovacuum_enabled = false) AS
	SELECT 0::pg_catalog.int8 AS round, pg_catalog.pg_current_snapshot() AS before, pg_catalog.pg_current_snapshot() AS after,
	0::pg_catalog.int4 AS log, '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number WHERE kv.refuse_refresh();
CREATE UNIQUE INDEX apply_progress_0_round ON kv.apply_progress_0 (round);
COMMENT ON MATERIALIZED VIEW kv.apply_progress_0 IS 'how far changes are applied to global indexes; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.apply_progress_1 USING heap WITH (autovacuum_enabled = false) AS
	SELECT 0::pg_catalog.int8 AS round, pg_catalog.pg_current_snapshot() AS before, pg_catalog.pg_current_snapshot() AS after,
	0::pg_catalog.int4 AS log, '0'::pg_catalog.xid8 AS xid, 0::pg_catalog.int4 AS number WHERE kv.refuse_refresh();
CREATE UNIQUE INDEX apply_progress_1_round ON kv.apply_progress_1 (round);
COMMENT ON MATERIALIZED VIEW kv.apply_progress_1 IS 'how far changes are applied to global indexes; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.change_retry USING heap AS
	SELECT '0'::pg_catalog.oid AS index, '0'::pg_catalog.oid AS base, 'epoch'::pg_catalog.timestamptz AS at,
	''::pg_catalog.bytea AS change WHERE kv.refuse_refresh();
CREATE INDEX change_retry_index_base ON kv.change_retry (index, base);
COMMENT ON MATERIALIZED VIEW kv.change_retry IS 'changes that could not be written to a global index yet; kept by the extension alone';
CREATE MATERIALIZED VIEW kv.index_state USING heap AS
	SELECT '0'::pg_catalog.oid AS index, '0'::pg_catalog.oid AS base, ''::pg_catalog.text AS state, 0::pg_catalog.int8 AS fingerprint,
	'0'::pg_catalog.oid AS leaf, ''::pg_catalog.bytea AS position, ''::pg_catalog.text AS error,
	'epoch'::pg_catalog.timestamptz AS error_at, 'epoch'::pg_catalog.timestamptz AS retry_at,
	'0'::pg_catalog.xid8 AS filled WHERE kv.refuse_refresh();
CREATE UNIQUE INDEX index_state_pkey ON kv.index_state (index);
COMMENT ON MATERIALIZED VIEW kv.index_state IS 'how far each global index is filled; kept by the extension alone';

CREATE FUNCTION kv.global_index() RETURNS trigger
	AS 'MODULE_PATHNAME', 'kv_table_index_trigger' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.global_index() IS 'trigger of a global index''s table: defines the index and guards it against writes';

CREATE FUNCTION kv.capture_change() RETURNS trigger
	AS 'MODULE_PATHNAME', 'kv_capture_change_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.capture_change() IS 'trigger of a table with global indexes: notes changes that they have to follow';

CREATE FUNCTION kv.on_table_rewrite() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'kv_on_table_rewrite_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.on_table_rewrite() IS 'event trigger: has global indexes filled anew whose table ALTER TABLE rewrites';

CREATE EVENT TRIGGER key_value_table_rewrite ON table_rewrite EXECUTE FUNCTION kv.on_table_rewrite();
COMMENT ON EVENT TRIGGER key_value_table_rewrite IS 'has global indexes filled anew whose table ALTER TABLE rewrites';

CREATE FUNCTION kv.on_refresh() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'kv_on_refresh_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.on_refresh() IS 'event trigger: refuses REFRESH WITH NO DATA of the extension''s own materialized views';

CREATE EVENT TRIGGER key_value_refresh ON ddl_command_start WHEN TAG IN ('REFRESH MATERIALIZED VIEW') EXECUTE FUNCTION kv.on_refresh();
COMMENT ON EVENT TRIGGER key_value_refresh IS 'refuses REFRESH WITH NO DATA of the extension''s own materialized views';

CREATE FUNCTION kv.attr_s(item jsonb, name text) RETURNS text
	AS 'MODULE_PATHNAME', 'kv_attr_s_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.attr_s(jsonb, text) IS 'attribute of an item as a key of type S; an error if it cannot be one';

CREATE FUNCTION kv.attr_n(item jsonb, name text) RETURNS numeric
	AS 'MODULE_PATHNAME', 'kv_attr_n_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.attr_n(jsonb, text) IS 'attribute of an item as a key of type N; an error if it cannot be one';

CREATE FUNCTION kv.attr_b(item jsonb, name text) RETURNS bytea
	AS 'MODULE_PATHNAME', 'kv_attr_b_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.attr_b(jsonb, text) IS 'attribute of an item as a key of type B; an error if it cannot be one';

CREATE FUNCTION kv.in_local_index(item jsonb, name text, projection text, include text[]) RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_in_local_index_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kv.in_local_index(jsonb, text, text, text[])
	IS 'predicate of a local index: whether the item has the attribute; carries the index''s projection';

CREATE FUNCTION kv.create_global_index(
	table_name regclass,
	index_name text,
	partition_key text,
	sort_key text DEFAULT NULL,
	partition_key_type text DEFAULT NULL,
	sort_key_type text DEFAULT NULL,
	projection text DEFAULT 'ALL',
	include text[] DEFAULT NULL
) RETURNS regclass
	AS 'MODULE_PATHNAME', 'kv_create_global_index_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.create_global_index(regclass, text, text, text, text, text, text, text[])
	IS 'creates a global index; types are S, N or B, by default that of the table''s key, else S';

CREATE FUNCTION kv.create_local_index(
	table_name regclass,
	index_name text,
	sort_key text,
	sort_key_type text DEFAULT NULL,
	projection text DEFAULT 'ALL',
	include text[] DEFAULT NULL
) RETURNS regclass
	AS 'MODULE_PATHNAME', 'kv_create_local_index_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.create_local_index(regclass, text, text, text, text, text[])
	IS 'creates a local index, which orders the items of a collection by another attribute';

CREATE FUNCTION kv.drop_index(table_name regclass, index_name text) RETURNS void
	AS 'MODULE_PATHNAME', 'kv_drop_index_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.drop_index(regclass, text) IS 'drops an index of a table';

CREATE FUNCTION kv.wait_for_index(table_name regclass, index_name text, timeout interval DEFAULT NULL) RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_wait_for_index_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.wait_for_index(regclass, text, interval)
	IS 'waits until all that was committed before is in the index; false if that takes longer than timeout';

CREATE FUNCTION kv.apply_changes() RETURNS bigint
	AS 'MODULE_PATHNAME', 'kv_apply_changes_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.apply_changes() IS 'brings all changes to the global indexes, as a worker does; returns how many there were';
REVOKE ALL ON FUNCTION kv.apply_changes() FROM PUBLIC;

CREATE FUNCTION kv.list_indexes(
	OUT table_oid oid, OUT index_oid oid, OUT kind text, OUT partition_key text, OUT partition_key_type text,
	OUT sort_key text, OUT sort_key_type text, OUT projection text, OUT include text[], OUT state text, OUT detail text,
	OUT pending bigint, OUT oldest timestamptz, OUT last_error text, OUT last_error_at timestamptz
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'kv_list_indexes_sql' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION kv.list_indexes() IS 'what kv.indexes is made from';

CREATE VIEW kv.indexes AS
SELECT i.table_oid::pg_catalog.regclass AS table_name,
	c.relname AS index_name,
	i.kind, i.partition_key, i.partition_key_type, i.sort_key, i.sort_key_type, i.projection, i.include, i.state, i.detail,
	(SELECT pg_catalog.sum(l.reltuples)::pg_catalog.int8
		FROM pg_catalog.pg_partition_tree(i.index_oid) p JOIN pg_catalog.pg_class l ON l.oid = p.relid
		WHERE p.isleaf AND l.reltuples >= 0) AS entries,
	i.pending,
	pg_catalog.clock_timestamp() - i.oldest AS oldest_pending,
	i.last_error, i.last_error_at,
	COALESCE(pg_catalog.substring(pg_catalog.obj_description(i.index_oid, 'pg_class'), '^DynamoDB index ([a-zA-Z0-9_.-]+)$'),
		c.relname::pg_catalog.text) AS dynamodb_name
FROM kv.list_indexes() i JOIN pg_catalog.pg_class c ON c.oid = i.index_oid;
COMMENT ON VIEW kv.indexes IS 'the indexes of the tables on which the current user holds some right';
COMMENT ON COLUMN kv.indexes.table_name IS 'the table';
COMMENT ON COLUMN kv.indexes.index_name IS 'name of the index, as kv.query takes it';
COMMENT ON COLUMN kv.indexes.kind IS 'GLOBAL or LOCAL';
COMMENT ON COLUMN kv.indexes.partition_key IS 'name of the index''s partition key attribute';
COMMENT ON COLUMN kv.indexes.partition_key_type IS 'S (string), N (number) or B (binary)';
COMMENT ON COLUMN kv.indexes.sort_key IS 'name of the index''s sort key attribute; NULL if it has none';
COMMENT ON COLUMN kv.indexes.sort_key_type IS 'S (string), N (number) or B (binary); NULL if there is no sort key';
COMMENT ON COLUMN kv.indexes.projection IS 'ALL, KEYS_ONLY or INCLUDE';
COMMENT ON COLUMN kv.indexes.include IS 'attributes that are projected beside the keys, with INCLUDE';
COMMENT ON COLUMN kv.indexes.state IS 'CREATING, BACKFILLING or ACTIVE';
COMMENT ON COLUMN kv.indexes.detail IS 'why the index cannot be read; NULL if it can';
COMMENT ON COLUMN kv.indexes.entries IS 'number of entries as VACUUM or ANALYZE last counted; NULL if neither has';
COMMENT ON COLUMN kv.indexes.pending IS 'number of changes of the table that are not in its global indexes yet';
COMMENT ON COLUMN kv.indexes.oldest_pending IS 'how long ago the oldest of them was made';
COMMENT ON COLUMN kv.indexes.last_error IS 'why changes could not be written to the index, while that is so; for the table''s owner and members of pg_read_all_stats';
COMMENT ON COLUMN kv.indexes.last_error_at IS 'when that was tried last';
COMMENT ON COLUMN kv.indexes.dynamodb_name IS 'name that kv.dynamodb() knows the index by';
GRANT SELECT ON kv.indexes TO PUBLIC;

/* ---- operation: items ---- */

CREATE FUNCTION kv.get(table_name regclass, partition_key text, sort_key text = NULL) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_get_sql' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION kv.get(regclass, text, text) IS 'the item with that key, or NULL; keys as text';

CREATE FUNCTION kv.get_item(table_name regclass, key jsonb, projection text = NULL,
							attribute_names jsonb = NULL, consistent_read bool = true) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_get_item_sql' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION kv.get_item(regclass, jsonb, text, jsonb, bool) IS 'the item with that key, or the projected part of it; NULL if there is none';

CREATE FUNCTION kv.query(table_name regclass, key_condition text, attribute_values jsonb = NULL,
						 attribute_names jsonb = NULL, index text = NULL, filter text = NULL,
						 projection text = NULL, scan_forward bool = true, max_items int = NULL,
						 exclusive_start_key jsonb = NULL, consistent_read bool = false) RETURNS SETOF jsonb
	AS 'MODULE_PATHNAME', 'kv_query_sql' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 50;
COMMENT ON FUNCTION kv.query(regclass, text, jsonb, jsonb, text, text, text, bool, int, jsonb, bool) IS 'the items of one collection that a key condition names, in sort key order';

CREATE FUNCTION kv.query_page(table_name regclass, key_condition text, attribute_values jsonb = NULL,
							  attribute_names jsonb = NULL, index text = NULL, filter text = NULL,
							  projection text = NULL, scan_forward bool = true, max_items int = NULL,
							  exclusive_start_key jsonb = NULL, consistent_read bool = false,
							  page_size int = NULL, count_only bool = false,
							  OUT items jsonb, OUT count int, OUT scanned_count int,
							  OUT last_evaluated_key jsonb, OUT consumed_capacity numeric) RETURNS record
	AS 'MODULE_PATHNAME', 'kv_query_page_sql' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION kv.query_page(regclass, text, jsonb, jsonb, text, text, text, bool, int, jsonb, bool, int, bool) IS 'one page of a query, and the key to continue behind';

CREATE FUNCTION kv.scan(table_name regclass, filter text = NULL, attribute_values jsonb = NULL,
						attribute_names jsonb = NULL, index text = NULL, projection text = NULL,
						max_items int = NULL, exclusive_start_key jsonb = NULL, consistent_read bool = false,
						segment int = NULL, total_segments int = NULL) RETURNS SETOF jsonb
	AS 'MODULE_PATHNAME', 'kv_scan_sql' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 1000;
COMMENT ON FUNCTION kv.scan(regclass, text, jsonb, jsonb, text, text, int, jsonb, bool, int, int) IS 'all items of a table, or of one segment of it, partition by partition';

CREATE FUNCTION kv.scan_page(table_name regclass, filter text = NULL, attribute_values jsonb = NULL,
							 attribute_names jsonb = NULL, index text = NULL, projection text = NULL,
							 max_items int = NULL, exclusive_start_key jsonb = NULL, consistent_read bool = false,
							 segment int = NULL, total_segments int = NULL, page_size int = NULL,
							 count_only bool = false,
							 OUT items jsonb, OUT count int, OUT scanned_count int,
							 OUT last_evaluated_key jsonb, OUT consumed_capacity numeric) RETURNS record
	AS 'MODULE_PATHNAME', 'kv_scan_page_sql' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION kv.scan_page(regclass, text, jsonb, jsonb, text, text, int, jsonb, bool, int, int, int, bool) IS 'one page of a scan, and the key to continue behind';


CREATE FUNCTION kv.put_item(table_name regclass, item jsonb, condition text = NULL,
							attribute_values jsonb = NULL, attribute_names jsonb = NULL,
							return_values text = 'NONE', return_values_on_failure text = 'NONE',
							on_condition_failure text = 'raise') RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_put_item_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.put_item(regclass, jsonb, text, jsonb, jsonb, text, text, text) IS 'puts an item in the place of the one with its key, if there is one';

CREATE FUNCTION kv.update_item(table_name regclass, key jsonb, update text = NULL, condition text = NULL,
							   attribute_values jsonb = NULL, attribute_names jsonb = NULL,
							   return_values text = 'NONE', return_values_on_failure text = 'NONE',
							   on_condition_failure text = 'raise') RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_update_item_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.update_item(regclass, jsonb, text, text, jsonb, jsonb, text, text, text) IS 'changes attributes of an item, which is created if it is not there';

CREATE FUNCTION kv.delete_item(table_name regclass, key jsonb, condition text = NULL,
							   attribute_values jsonb = NULL, attribute_names jsonb = NULL,
							   return_values text = 'NONE', return_values_on_failure text = 'NONE',
							   on_condition_failure text = 'raise') RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_delete_item_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.delete_item(regclass, jsonb, text, jsonb, jsonb, text, text, text) IS 'deletes an item; one that is not there is no error';

/* ---- operation: batches and transactions ---- */

CREATE FUNCTION kv.batch_write_item(request jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_batch_write_item_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.batch_write_item(jsonb) IS 'puts and deletes up to 25 items: {"table": [{"PutRequest": {"Item": ..}}, {"DeleteRequest": {"Key": ..}}]}';

CREATE FUNCTION kv.batch_get_item(request jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_batch_get_item_sql' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION kv.batch_get_item(jsonb) IS 'up to 100 items by their keys: {"table": {"Keys": [..]}}';

CREATE FUNCTION kv.transact_write_items(request jsonb, client_request_token text = NULL) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_transact_write_items_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.transact_write_items(jsonb, text) IS 'up to 100 actions, all or none: [{"Put": {"TableName": "t", "Item": {..}}}, {"Update": ..}, {"Delete": ..}, {"ConditionCheck": ..}]';

CREATE FUNCTION kv.transact_get_items(request jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_transact_get_items_sql' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION kv.transact_get_items(jsonb) IS 'up to 100 items as they are at one moment: [{"Get": {"TableName": "t", "Key": {..}}}]';

/* Written by kv.transact_write_items alone, with nobody's rights (src/operation/operation_token.c). */
CREATE TABLE kv.request_tokens (
	role oid NOT NULL,
	token text COLLATE "C" NOT NULL,
	request_hash bytea NOT NULL,
	created_at timestamptz NOT NULL,
	CONSTRAINT request_tokens_pkey PRIMARY KEY (role, token)
);
CREATE INDEX request_tokens_created_at ON kv.request_tokens (created_at);
REVOKE ALL ON kv.request_tokens FROM PUBLIC;
COMMENT ON TABLE kv.request_tokens IS 'client request tokens of the last ten minutes, and older ones that no call has removed yet';
COMMENT ON COLUMN kv.request_tokens.role IS 'role that used the token';
COMMENT ON COLUMN kv.request_tokens.token IS 'client_request_token of kv.transact_write_items';
COMMENT ON COLUMN kv.request_tokens.request_hash IS 'XXH3 hash of the request, 128 bits';
COMMENT ON COLUMN kv.request_tokens.created_at IS 'when the token was used';

/* ---- dynamodb: DynamoDB's own requests ---- */

CREATE FUNCTION kv.dynamodb(operation text, request jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_dynamodb_sql' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION kv.dynamodb(text, jsonb) IS 'an operation of DynamoDB''s API, with the JSON bodies of request and response';
