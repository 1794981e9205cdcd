-- tables: makes one set of tables and fills it, the same items in the same order of arrival for each role.
--
-- psql variables: role (ours, plain, native), table, partitions, items, collections, bytes.  Item n belongs to collection n % collections and is
-- the next of its collection: items arrive interleaved, as time brings them.  All values follow from n, so every run has the same data.
\set ON_ERROR_STOP on
SELECT :'role' = 'ours' AS ours, :'role' = 'native' AS native \gset
\if :ours
	SELECT kv.create_table(:'table', 'pk', 'sk', partitions => :partitions) \gset
\elif :native
	CREATE TABLE :"table" (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk)) PARTITION BY HASH (pk);
	SELECT format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)', :'table' || '_p' || n, :'table', :partitions, n)
	FROM generate_series(0, :partitions - 1) n \gexec
\else
	CREATE TABLE :"table" (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk));
\endif
INSERT INTO :"table" (pk, sk, item)
SELECT 'THREAD#' || n % :collections, 'MSG#' || (1000000 + n / :collections),
	jsonb_build_object('hits', 0, 'status', 'S' || n % 997, 'owner', 'S' || n % 991, 'place', 'S' || n % 983,
					   'body', left(repeat(md5(n::text), :bytes / 32 + 1), :bytes))
FROM generate_series(0, :items - 1) n;
