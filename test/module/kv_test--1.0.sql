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

-- What is wrong with a global index: entries that are not as the items have it, each a line; none if it is exact.
CREATE FUNCTION kv_test.check_index(base regclass, index_name text) RETURNS SETOF text LANGUAGE plpgsql
	SET key_value.allow_scan = on SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	definition record;
	columns text;
	values text := '';
	conditions text := 'true';
	rest text := 'b.item';
	attribute record;
BEGIN
	SELECT i.*, c.oid AS index_oid INTO STRICT definition
		FROM kv.indexes i JOIN pg_class c ON c.relname = i.index_name AND c.relkind = 'p'
		WHERE i.table_name = base AND i.index_name = check_index.index_name;

	SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.n) INTO columns
		FROM pg_index x, unnest(x.indkey::int2[]) WITH ORDINALITY k(attnum, n) JOIN pg_attribute a ON a.attnum = k.attnum
		WHERE x.indrelid = definition.index_oid AND x.indisprimary AND a.attrelid = x.indrelid;
	FOR attribute IN
		SELECT a.attname AS name, CASE k.n WHEN 1 THEN definition.partition_key ELSE definition.sort_key END AS attribute, a.atttypid AS type, EXISTS (SELECT FROM pg_attribute o
				WHERE o.attrelid = base AND o.attname = a.attname AND NOT o.attisdropped) AS is_key
			FROM pg_index x, unnest(x.indkey::int2[]) WITH ORDINALITY k(attnum, n) JOIN pg_attribute a ON a.attnum = k.attnum
			WHERE x.indrelid = definition.index_oid AND x.indisprimary AND a.attrelid = x.indrelid ORDER BY k.n
	LOOP
		IF attribute.is_key THEN
			values := values || format('b.%I, ', attribute.name);
			CONTINUE;
		END IF;
		rest := format('(%s - %L::text)', rest, attribute.attribute);
		IF attribute.type = 'text'::regtype THEN
			values := values || format('b.item->>%L COLLATE "C", ', attribute.attribute);
			conditions := conditions || format(' AND jsonb_typeof(b.item->%L) = ''string'' AND b.item->>%1$L <> ''''', attribute.attribute);
		ELSIF attribute.type = 'numeric'::regtype THEN
			values := values || format('(b.item->>%L)::numeric, ', attribute.attribute);
			conditions := conditions || format(' AND jsonb_typeof(b.item->%L) = ''number''', attribute.attribute);
		ELSE
			values := values || format('decode(b.item->%L->>''$B'', ''base64''), ', attribute.attribute);
			conditions := conditions || format(' AND b.item->%L->>''$B'' <> ''''', attribute.attribute);
		END IF;
	END LOOP;
	IF definition.projection = 'KEYS_ONLY' THEN
		rest := '''{}''::jsonb';
	ELSIF definition.projection = 'INCLUDE' THEN
		rest := format('(SELECT coalesce(jsonb_object_agg(e.key, e.value), ''{}'') FROM jsonb_each(%s) e WHERE e.key = ANY (%L::text[]))',
			rest, definition.include);
	END IF;

	RETURN QUERY EXECUTE format(
		'WITH wanted AS MATERIALIZED (SELECT %s %s FROM %s b WHERE %s), there AS MATERIALIZED (SELECT %s, item FROM %s) '
		'SELECT ''missing: '' || w::text FROM (TABLE wanted EXCEPT ALL TABLE there) w '
		'UNION ALL SELECT ''left over: '' || t::text FROM (TABLE there EXCEPT ALL TABLE wanted) t',
		values, rest, base, conditions, columns, definition.index_oid::regclass);
END $$;
