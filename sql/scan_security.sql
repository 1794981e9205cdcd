-- Rights, row security and security barriers: no condition of the caller's runs before a policy, unless it cannot tell.
SET client_min_messages = warning;
SELECT kv.create_table('scan_security', 'pk', 'sk', partitions => 4);
SELECT kv.create_table('scan_security_n', 'pk', 'sk', 'N', 'N', partitions => 4);
INSERT INTO scan_security SELECT 't' || i % 3, 'm' || i, jsonb_build_object('owner', CASE WHEN i % 2 = 0 THEN 'alice' ELSE 'bob' END) FROM generate_series(1, 12) i;
INSERT INTO scan_security_n SELECT i % 3, i, jsonb_build_object('owner', CASE WHEN i % 2 = 0 THEN 'alice' ELSE 'bob' END) FROM generate_series(1, 12) i;
CREATE ROLE regress_kv_alice;
CREATE ROLE regress_kv_bob;
CREATE ROLE regress_kv_carol;
INSERT INTO scan_security_n VALUES (7, 7, '{"owner": "carol"}');

-- rights are the parent's
SET ROLE regress_kv_alice;
SELECT * FROM scan_security WHERE pk = 't1';
RESET ROLE;
GRANT SELECT (pk, sk), UPDATE (item) ON scan_security TO regress_kv_alice;
SET ROLE regress_kv_alice;
SELECT pk, sk FROM scan_security WHERE pk = 't1' AND sk < 'm2';
SELECT item FROM scan_security WHERE pk = 't1';
SELECT pk FROM scan_security_p0 WHERE pk = 't1';
SELECT count(*) FROM scan_security WHERE sk = 'm1';
UPDATE scan_security SET item = '{}' WHERE pk = 't1' AND sk = 'm0';
DELETE FROM scan_security WHERE pk = 't1' AND sk = 'm0';
RESET ROLE;

-- a policy
GRANT SELECT ON scan_security, scan_security_n TO regress_kv_alice, regress_kv_bob, regress_kv_carol;
ALTER TABLE scan_security ENABLE ROW LEVEL SECURITY;
ALTER TABLE scan_security_n ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON scan_security USING ('regress_kv_' || (item->>'owner') = current_user);
CREATE POLICY own ON scan_security_n USING ('regress_kv_' || (item->>'owner') = current_user);

-- tells what it is called with, as a leaky function of a curious user would
CREATE FUNCTION scan_security_leak(value text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'saw %', value; RETURN true; END $$;
SET client_min_messages = notice;
SET ROLE regress_kv_alice;
SELECT sk, item FROM scan_security WHERE pk = 't1' AND scan_security_leak(sk);
EXPLAIN (COSTS OFF) SELECT sk FROM scan_security WHERE pk = 't1' AND sk > 'm1' AND scan_security_leak(sk);
SELECT sk FROM scan_security_n WHERE pk = 1 AND sk > 4 AND scan_security_leak(sk::text);
EXPLAIN (COSTS OFF) SELECT sk FROM scan_security_n WHERE pk = 1 AND sk > 4 AND scan_security_leak(sk::text);

-- a pattern might tell, so it waits; the key still limits what is read
EXPLAIN (COSTS OFF) SELECT sk FROM scan_security WHERE pk = 't1' AND sk LIKE 'm1%';
SELECT sk FROM scan_security WHERE pk = 't1' AND sk LIKE 'm1%';
SET plan_cache_mode = force_generic_plan;
PREPARE q(text, text) AS SELECT sk FROM scan_security WHERE pk = $1 AND sk LIKE $2;
EXPLAIN (COSTS OFF) EXECUTE q('t1', 'm1%');
EXECUTE q('t1', 'm1%');
PREPARE q2(text, text) AS SELECT sk FROM scan_security WHERE (pk, sk) IN (($1, $2), ('t2', 'm2'));
EXECUTE q2('t1', 'm1');
EXECUTE q2('t1', 'm10');
RESET plan_cache_mode;
DEALLOCATE ALL;

-- the policy's own condition is no key; scans are refused as ever
SELECT count(*) FROM scan_security;
SELECT count(*) FROM scan_security WHERE sk = 'm2';
COPY (SELECT pk, sk FROM scan_security WHERE pk = 't1') TO STDOUT;
RESET ROLE;
SET ROLE regress_kv_carol;
COPY scan_security_n TO STDOUT;
RESET ROLE;
SET ROLE regress_kv_bob;
SELECT sk FROM scan_security WHERE pk = 't1';
RESET ROLE;

-- a plan is made anew for another role
PREPARE mine AS SELECT sk FROM scan_security WHERE pk = 't1';
EXECUTE mine;
SET ROLE regress_kv_bob;
EXECUTE mine;
RESET ROLE;
DEALLOCATE mine;

-- a policy that is a key condition itself
DROP POLICY own ON scan_security;
CREATE POLICY own ON scan_security USING (pk = substr(current_user, 12) || '1');
CREATE ROLE regress_kv_t;
GRANT SELECT ON scan_security TO regress_kv_t;
SET ROLE regress_kv_t;
SELECT pk, count(*) FROM scan_security GROUP BY pk;
EXPLAIN (COSTS OFF) SELECT * FROM scan_security WHERE scan_security_leak(sk);
SELECT sk FROM scan_security WHERE sk < 'm2';
RESET ROLE;

-- a policy that asks a key-value table
DROP POLICY own ON scan_security;
CREATE POLICY own ON scan_security USING (EXISTS (SELECT FROM scan_security_n n WHERE n.pk = 1 AND n.sk = substr(scan_security.sk, 2)::numeric));
SET ROLE regress_kv_alice;
SELECT sk FROM scan_security WHERE pk = 't1' ORDER BY sk;
RESET ROLE;
DROP POLICY own ON scan_security;
ALTER TABLE scan_security DISABLE ROW LEVEL SECURITY;

-- views: one that anybody's conditions run inside of, and one that is a barrier
CREATE VIEW scan_security_view AS SELECT pk, sk FROM scan_security WHERE item->>'owner' = 'alice';
CREATE VIEW scan_security_barrier WITH (security_barrier) AS SELECT pk, sk FROM scan_security WHERE item->>'owner' = 'alice';
GRANT SELECT ON scan_security_view, scan_security_barrier TO regress_kv_bob;
REVOKE ALL ON scan_security FROM regress_kv_bob;
SET ROLE regress_kv_bob;
SELECT * FROM scan_security_view WHERE pk = 't1';
SELECT * FROM scan_security_barrier WHERE pk = 't1' AND scan_security_leak(sk);
EXPLAIN (COSTS OFF) SELECT * FROM scan_security_barrier WHERE pk = 't1' AND scan_security_leak(sk);
SELECT * FROM scan_security_barrier WHERE scan_security_leak(sk);
RESET ROLE;

-- who may set key_value.allow_scan
SET ROLE regress_kv_bob;
SET key_value.allow_scan = on;
RESET ROLE;
GRANT SET ON PARAMETER key_value.allow_scan TO regress_kv_bob;
SET ROLE regress_kv_bob;
SET key_value.allow_scan = on;
SELECT count(*) FROM scan_security_view;
SELECT count(*) FROM scan_security;
RESET key_value.allow_scan;
RESET ROLE;
REVOKE SET ON PARAMETER key_value.allow_scan FROM regress_kv_bob;

DROP VIEW scan_security_view, scan_security_barrier;
DROP TABLE scan_security, scan_security_n;
DROP FUNCTION scan_security_leak;
DROP ROLE regress_kv_alice, regress_kv_bob, regress_kv_carol, regress_kv_t;
