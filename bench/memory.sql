-- memory: what a session keeps, in sections; each prints one number of bytes.
--
-- A line "-- [name]" begins a section.  {role} is ours, plain or native; {table} plays it in the set of the area; {n} is the number that the
-- list of measures adds to the name.  pg_backend_memory_contexts tells of its own session: "\connect -" begins a new one, that has nothing yet.

-- [per_table]
CREATE FUNCTION pg_temp.make(role text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. {n} LOOP
		IF role = 'ours' THEN
			PERFORM kv.create_table('memory_' || n, 'pk', 'sk', partitions => 4);
		ELSE
			EXECUTE format('CREATE TABLE memory_%s (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk))', n)
				|| CASE role WHEN 'native' THEN ' PARTITION BY HASH (pk)' ELSE '' END;
			FOR p IN 0 .. CASE role WHEN 'native' THEN 3 ELSE -1 END LOOP
				EXECUTE format('CREATE TABLE memory_%s_%s PARTITION OF memory_%1$s FOR VALUES WITH (MODULUS 4, REMAINDER %2$s)', n, p);
			END LOOP;
		END IF;
	END LOOP;
END
$$;
SELECT pg_temp.make('{role}') \gset
\connect -
CREATE FUNCTION pg_temp.touch(role text, a int, b int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	item jsonb;
BEGIN
	FOR n IN a .. b LOOP
		IF role = 'ours' THEN
			EXECUTE format('SELECT kv.get(%L, %L, %L)', 'memory_' || n, 'a', 'b') INTO item;
		ELSE
			EXECUTE format('SELECT item FROM memory_%s WHERE pk = %L AND sk = %L', n, 'a', 'b') INTO item;
		END IF;
	END LOOP;
END
$$;
SELECT pg_temp.touch('{role}', 1, {n} / 4) \gset
SELECT sum(used_bytes) AS before FROM pg_backend_memory_contexts \gset
SELECT pg_temp.touch('{role}', {n} / 4 + 1, {n}) \gset
SELECT (sum(used_bytes) - :before) / ({n} - {n} / 4) FROM pg_backend_memory_contexts;
SELECT format('DROP TABLE memory_%s', n) FROM generate_series(1, {n}) n \gexec

-- [expressions]
CREATE FUNCTION pg_temp.ask(a int, b int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN a .. b LOOP
		PERFORM kv.query('{table}', 'pk = :p AND begins_with(sk, :s)', '{":p": "P", ":s": "S", ":v": 1}', filter => format('hits > :v AND attribute_exists(a%s)', n));
	END LOOP;
END
$$;
SELECT pg_temp.ask(1, 10) \gset
SELECT sum(used_bytes) AS before FROM pg_backend_memory_contexts \gset
SELECT pg_temp.ask(11, 10 + {n}) \gset
SELECT sum(used_bytes) - :before FROM pg_backend_memory_contexts;

-- [plans]
CREATE FUNCTION pg_temp.plan(a int, b int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	item jsonb;
BEGIN
	FOR n IN a .. b LOOP
		EXECUTE format('PREPARE plan_%s (text, text) AS SELECT item FROM {table} WHERE pk = $1 AND sk = $2', n);
		FOR again IN 1 .. 7 LOOP
			EXECUTE format('EXECUTE plan_%s (%L, %L)', n, 'THREAD#' || again, 'MSG#1000000') INTO item;
		END LOOP;
	END LOOP;
END
$$;
SELECT pg_temp.plan(1, 10) \gset
SELECT sum(used_bytes) AS before FROM pg_backend_memory_contexts \gset
SELECT pg_temp.plan(11, 10 + {n}) \gset
SELECT (sum(used_bytes) - :before) / {n} FROM pg_backend_memory_contexts;

-- [gets]
SELECT count(kv.get('{table}', 'THREAD#' || n % 10, 'MSG#1000000')) AS done FROM generate_series(1, 1000) n \gset
SELECT sum(used_bytes) AS before FROM pg_backend_memory_contexts \gset
SELECT count(kv.get('{table}', 'THREAD#' || n % 10, 'MSG#1000000')) AS done FROM generate_series(1, {n}) n \gset
SELECT sum(used_bytes) FROM pg_backend_memory_contexts;
