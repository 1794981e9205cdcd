-- kv.batch_write_item: shapes, limits, what is refused, and that nothing is written then.
SELECT kv.create_table('bw', 'pk', 'sk', partitions => 4);
SELECT kv.create_table('bw_n', 'n', partition_key_type => 'N', partitions => 2);
CREATE FUNCTION bw_try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb;
	detail text;
	context text;
BEGIN
	EXECUTE 'SELECT ' || call INTO answer;
	RETURN coalesce(answer::text, 'NULL');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(E'\n' || nullif(detail, ''), '') ||
		coalesce(E'\nin ' || substring(context FROM '^(write \d.*?)\n'), '');
END $$;
-- So many puts of items with the keys first, first + 1, ..
CREATE FUNCTION bw_puts(first int, number int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_agg(jsonb_build_object('PutRequest', jsonb_build_object('Item', jsonb_build_object('pk', 'p' || n % 3, 'sk', lpad(n::text, 4, '0'), 'n', n))) ORDER BY n)
	FROM generate_series(first, first + number - 1) n $$;
CREATE FUNCTION bw_count() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM kv.scan('bw')) + (SELECT count(*) FROM kv.scan('bw_n')) $$;
\t on

-- Both shapes, several tables, puts and deletes.
SELECT kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "a", "sk": "1", "v": 1}}},
	{"PutRequest": {"Item": {"pk": "b", "sk": "1", "tags": {"$SS": ["y", "x"]}}}},
	{"PutRequest": {"Item": {"pk": "a", "sk": "2"}}},
	{"DeleteRequest": {"Key": {"pk": "never", "sk": "there"}}}],
	"bw_n": [{"PutRequest": {"Item": {"n": 1.50, "v": 1}}}]}');
SELECT kv.scan('bw') AS item ORDER BY 1;
SELECT kv.scan('bw_n');
SELECT kv.batch_write_item('{"RequestItems": {"public.bw": [{"DeleteRequest": {"Key": {"sk": "2", "pk": "a"}}},
	{"PutRequest": {"Item": {"pk": "a", "sk": "1", "w": 2}}}], "bw_n": [{"DeleteRequest": {"Key": {"n": 1.5}}}]},
	"ReturnConsumedCapacity": "NONE", "ReturnItemCollectionMetrics": null}');
SELECT kv.scan('bw') AS item ORDER BY 1;
SELECT count(*) FROM kv.scan('bw_n');

-- 25 are a batch, 26 are not, across tables too.
SELECT kv.batch_write_item(jsonb_build_object('bw', bw_puts(1, 25)));
SELECT bw_count();
SELECT bw_try($$kv.batch_write_item(jsonb_build_object('bw', bw_puts(101, 26)))$$);
SELECT bw_try($$kv.batch_write_item(jsonb_build_object('bw', bw_puts(101, 25), 'bw_n', '[{"PutRequest": {"Item": {"n": 1}}}]'::jsonb))$$);
SELECT bw_try($$kv.batch_write_item('{}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": []}')$$);
SELECT bw_count();

-- No two writes to one item, whatever the table is called and the number looks like.
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "d", "sk": "1"}}}, {"PutRequest": {"Item": {"pk": "d", "sk": "2"}}}, {"DeleteRequest": {"Key": {"pk": "d", "sk": "1"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "d", "sk": "1"}}}], "public.bw": [{"PutRequest": {"Item": {"pk": "d", "sk": "1"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw_n": [{"PutRequest": {"Item": {"n": 10}}}, {"PutRequest": {"Item": {"n": 10.0}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "d", "sk": "1"}}}], "bw_n": [{"PutRequest": {"Item": {"n": 1}}}]}')$$);
SELECT kv.batch_write_item('{"bw": [{"DeleteRequest": {"Key": {"pk": "d", "sk": "1"}}}], "bw_n": [{"DeleteRequest": {"Key": {"n": 1}}}]}');

-- One bad write, and none is made: tables, keys, items.
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}], "bw_z": [{"PutRequest": {"Item": {"n": 1}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}], "pg_class": [{"PutRequest": {"Item": {"n": 1}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}], "bw_p0": [{"PutRequest": {"Item": {"n": 1}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}, {"PutRequest": {"Item": {"pk": "e"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}, {"PutRequest": {"Item": {"pk": "e", "sk": 2}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}, {"DeleteRequest": {"Key": {"pk": "e", "sk": "2", "v": 1}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}, {"PutRequest": {"Item": {"pk": "e", "sk": "2", "s": {"$SS": []}}}}]}')$$);
SELECT bw_try($$kv.batch_write_item(jsonb_build_object('bw', bw_puts(201, 2) || jsonb_build_array(jsonb_build_object('PutRequest', jsonb_build_object('Item', jsonb_build_object('pk', 'e', 'sk', '2', 'v', repeat('x', 410000)))))))$$);

-- Shapes that are none.
SELECT bw_try($$kv.batch_write_item(NULL)$$);
SELECT bw_try($$kv.batch_write_item('[]')$$);
SELECT bw_try($$kv.batch_write_item('"bw"')$$);
SELECT bw_try($$kv.batch_write_item('null')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": {"PutRequest": {"Item": {"pk": "e", "sk": "1"}}}}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": null}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [1]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": null}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}}, "DeleteRequest": {"Key": {"pk": "e", "sk": "1"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"putRequest": {"Item": {"pk": "e", "sk": "1"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "e", "sk": "1"}, "ConditionExpression": "attribute_exists(pk)"}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": [1]}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"DeleteRequest": {"Key": "e"}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"RequestItems": [1]}')$$);
SELECT bw_try($$kv.batch_write_item('{"RequestItems": {"bw": []}, "ReturnConsumedCapacity": "TOTAL"}')$$);
SELECT bw_try($$kv.batch_write_item('{"RequestItems": {"bw": []}, "Else": 1}')$$);
SELECT bw_count();

-- Table names are read as regclass reads them.
SELECT kv.create_table('"Mixed Bw"', 'pk', partitions => 1);
SELECT kv.batch_write_item('{"\"Mixed Bw\"": [{"PutRequest": {"Item": {"pk": "m"}}}]}');
SELECT bw_try($$kv.batch_write_item('{"Mixed Bw": [{"PutRequest": {"Item": {"pk": "m"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"": [{"PutRequest": {"Item": {"pk": "m"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"-": [{"PutRequest": {"Item": {"pk": "m"}}}]}')$$);
SELECT item FROM "Mixed Bw" WHERE pk = 'm';

-- Part of the caller's transaction.
BEGIN;
SELECT kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "t", "sk": "1"}}}]}');
SAVEPOINT s;
SELECT kv.batch_write_item('{"bw": [{"DeleteRequest": {"Key": {"pk": "t", "sk": "1"}}}, {"PutRequest": {"Item": {"pk": "t", "sk": "2"}}}]}');
SELECT sk FROM bw WHERE pk = 't';
ROLLBACK TO s;
SELECT sk FROM bw WHERE pk = 't';
ROLLBACK;
SELECT count(*) FROM bw WHERE pk = 't';
BEGIN READ ONLY;
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "t", "sk": "1"}}}]}')$$);
ROLLBACK;

-- Rights of each table and verb; a policy.
CREATE ROLE bw_ann;
GRANT INSERT, UPDATE ON bw TO bw_ann;
GRANT SELECT, DELETE ON bw_n TO bw_ann;
SET ROLE bw_ann;
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "r", "sk": "1"}}}], "bw_n": [{"DeleteRequest": {"Key": {"n": 1}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"DeleteRequest": {"Key": {"pk": "r", "sk": "1"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "r", "sk": "2"}}}], "bw_n": [{"PutRequest": {"Item": {"n": 1}}}]}')$$);
RESET ROLE;
SELECT sk FROM bw WHERE pk = 'r';
GRANT SELECT, DELETE ON bw TO bw_ann;
CREATE POLICY own ON bw USING (item ->> 'owner' = current_user);
ALTER TABLE bw ENABLE ROW LEVEL SECURITY;
SET ROLE bw_ann;
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "r", "sk": "3", "owner": "bw_ann"}}}, {"PutRequest": {"Item": {"pk": "r", "sk": "4", "owner": "bw_ann"}}},
	{"DeleteRequest": {"Key": {"pk": "r", "sk": "1"}}}]}')$$);
SELECT bw_try($$kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "r", "sk": "5", "owner": "bw_ann"}}}, {"PutRequest": {"Item": {"pk": "r", "sk": "6", "owner": "bob"}}}]}')$$);
RESET ROLE;
SELECT sk, item ->> 'owner' FROM bw WHERE pk = 'r' ORDER BY sk;
ALTER TABLE bw DISABLE ROW LEVEL SECURITY;

-- Triggers fire for each item.
CREATE FUNCTION bw_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE '% %', TG_OP, coalesce(NEW.sk, OLD.sk);
	RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER log BEFORE INSERT OR UPDATE OR DELETE ON bw FOR EACH ROW EXECUTE FUNCTION bw_log();
SELECT kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "w", "sk": "2"}}}, {"PutRequest": {"Item": {"pk": "w", "sk": "1"}}}]}');
SELECT kv.batch_write_item('{"bw": [{"PutRequest": {"Item": {"pk": "w", "sk": "1", "v": 1}}}, {"DeleteRequest": {"Key": {"pk": "w", "sk": "2"}}}]}');
\t off

DROP TABLE bw, bw_n, "Mixed Bw";
DROP FUNCTION bw_try, bw_puts, bw_count, bw_log;
DROP ROLE bw_ann;
