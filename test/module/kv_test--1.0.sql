/* kv_test: SQL faces of key_value's C functions, for tests only. */

\echo Use "CREATE EXTENSION kv_test" to load this file. \quit

/* kv_test's symbols come from here. */
LOAD 'key_value';

/* ---- kv_test_item.c: keys as names, types and texts (binary: base64) ---- */

CREATE FUNCTION kv_test.jsonb_identical(a jsonb, b jsonb) RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_test_jsonb_identical' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.normalize(item jsonb) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_test_normalize' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.normalize_is_free(item jsonb) RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_test_normalize_is_free' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.check_rest(names text[], types text, rest jsonb) RETURNS void
	AS 'MODULE_PATHNAME', 'kv_test_check_rest' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.join(names text[], types text, key text[], rest jsonb, repeat int = 1) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_test_join' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.split(names text[], types text, whole jsonb, repeat int = 1, OUT key text[], OUT rest jsonb)
	AS 'MODULE_PATHNAME', 'kv_test_split' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.check_size(names text[], types text, key text[], rest jsonb) RETURNS bigint
	AS 'MODULE_PATHNAME', 'kv_test_check_size' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.key_from_json(names text[], types text, key jsonb) RETURNS text[]
	AS 'MODULE_PATHNAME', 'kv_test_key_from_json' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.key_to_json(names text[], types text, key text[]) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_test_key_to_json' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.key_to_value(type text, key text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_test_key_to_value' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.key_compare(type text, a text, b text) RETURNS int
	AS 'MODULE_PATHNAME', 'kv_test_key_compare' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.check_number_key(key numeric) RETURNS void
	AS 'MODULE_PATHNAME', 'kv_test_check_number_key' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.check_text_key("position" int, key text) RETURNS void
	AS 'MODULE_PATHNAME', 'kv_test_check_text_key' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.prefix_range_text(prefix text, OUT low text, OUT high text)
	AS 'MODULE_PATHNAME', 'kv_test_prefix_range' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.prefix_range_bytea(prefix bytea, OUT low bytea, OUT high bytea)
	AS 'MODULE_PATHNAME', 'kv_test_prefix_range' LANGUAGE C STRICT;

/* ---- kv_test_expression.c: an item is its rest (NULL: no item) and its key as texts ---- */

CREATE FUNCTION kv_test.condition(expression text, rest jsonb, attribute_values jsonb = NULL, attribute_names jsonb = NULL,
		key text[] = '{p,s}', key_names text[] = '{pk,sk}', types text = 'SS', kind text = 'condition', repeat int = 1) RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_test_condition' LANGUAGE C;
CREATE FUNCTION kv_test.condition_around(expression text, rest jsonb, attribute_values jsonb, command text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_test_condition_around' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.key_condition(expression text, rest jsonb = NULL, attribute_values jsonb = NULL, attribute_names jsonb = NULL,
		key text[] = '{p,s}', key_names text[] = '{pk,sk}', types text = 'SS') RETURNS text
	AS 'MODULE_PATHNAME', 'kv_test_key_condition' LANGUAGE C;
CREATE FUNCTION kv_test.projection(expression text, rest jsonb, attribute_values jsonb = NULL, attribute_names jsonb = NULL,
		key text[] = '{p,s}', key_names text[] = '{pk,sk}', types text = 'SS') RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_test_projection' LANGUAGE C;
CREATE FUNCTION kv_test.update(expression text, rest jsonb, attribute_values jsonb = NULL, attribute_names jsonb = NULL,
		key text[] = '{p,s}', key_names text[] = '{pk,sk}', types text = 'SS', repeat int = 1) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_test_update' LANGUAGE C;
CREATE FUNCTION kv_test.update_touched(expression text, rest jsonb, attribute_values jsonb = NULL, attribute_names jsonb = NULL,
		key text[] = '{p,s}', key_names text[] = '{pk,sk}', types text = 'SS', after boolean = true) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'kv_test_update_touched' LANGUAGE C;
CREATE FUNCTION kv_test.update_only_removes(expression text, rest jsonb = NULL, attribute_values jsonb = NULL, attribute_names jsonb = NULL,
		key text[] = '{p,s}', key_names text[] = '{pk,sk}', types text = 'SS') RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_test_update_only_removes' LANGUAGE C;

/* ---- kv_test_fuzz.c: as many rounds, or for as many seconds where rounds is 0 ---- */

CREATE FUNCTION kv_test.fuzz(seed bigint, rounds bigint, seconds int = 0, OUT accepted bigint, OUT refused bigint, OUT applied bigint, OUT failed bigint)
	AS 'MODULE_PATHNAME', 'kv_test_fuzz' LANGUAGE C STRICT;

/* ---- kv_test_table.c ---- */

GRANT USAGE ON SCHEMA kv_test TO PUBLIC;

CREATE FUNCTION kv_test.route(table_name regclass, key text) RETURNS regclass
	AS 'MODULE_PATHNAME', 'kv_test_route' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.route(table_name regclass, key numeric) RETURNS regclass
	AS 'MODULE_PATHNAME', 'kv_test_route' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.route(table_name regclass, key bytea) RETURNS regclass
	AS 'MODULE_PATHNAME', 'kv_test_route' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.lookup(relation regclass) RETURNS text
	AS 'MODULE_PATHNAME', 'kv_test_lookup' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.leaf(table_name regclass, leaf int) RETURNS text
	AS 'MODULE_PATHNAME', 'kv_test_leaf' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.hold(table_name regclass, command text) RETURNS text
	AS 'MODULE_PATHNAME', 'kv_test_hold' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.hold_leaf(table_name regclass, leaf int, command text) RETURNS text
	AS 'MODULE_PATHNAME', 'kv_test_hold_leaf' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.check_rights(table_name regclass, letters text) RETURNS void
	AS 'MODULE_PATHNAME', 'kv_test_check_rights' LANGUAGE C STRICT;
CREATE FUNCTION kv_test.has_row_security(table_name regclass) RETURNS boolean
	AS 'MODULE_PATHNAME', 'kv_test_has_row_security' LANGUAGE C STRICT;
