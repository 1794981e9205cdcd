-- lag: writes items and waits for each to be in a global index; prints when each was committed (s) and how long it took (ms).
--
-- psql variables: seconds, table, and index, whose partition key is the attribute status.
SELECT set_config('kv_bench.seconds', :'seconds', false), set_config('kv_bench.table', :'table', false), set_config('kv_bench.index', :'index', false) \gset
CREATE TEMP TABLE lag (at float8, ms float8);
CREATE PROCEDURE pg_temp.probe(began timestamptz, seconds float8) LANGUAGE plpgsql AS $$
DECLARE
	base	  regclass := current_setting('kv_bench.table');
	look	  text := format('SELECT 1 FROM %I WHERE status = $1', current_setting('kv_bench.index'));
	marker	  text;
	committed timestamptz;
	found_it  int;
BEGIN
	FOR n IN 1 .. 1000000 LOOP
		EXIT WHEN clock_timestamp() > began + make_interval(secs => seconds);
		marker := format('PROBE#%s#%s', began, n);
		PERFORM kv.put_item(base, jsonb_build_object('pk', marker, 'sk', marker, 'status', marker));
		COMMIT;
		committed := clock_timestamp();
		LOOP
			EXECUTE look INTO found_it USING marker;
			EXIT WHEN found_it IS NOT NULL OR clock_timestamp() > committed + interval '2 min';
			PERFORM pg_sleep(0.001);
		END LOOP;
		INSERT INTO lag VALUES (extract(epoch FROM committed - began), extract(epoch FROM clock_timestamp() - committed) * 1000);
		COMMIT;
		PERFORM pg_sleep(0.005);
	END LOOP;
END
$$;
CALL pg_temp.probe(clock_timestamp(), current_setting('kv_bench.seconds')::float8);
SELECT at, ms FROM lag ORDER BY at;
