# worker: it comes with the extension, applies what is committed, and comes back whatever ends it.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_node('worker', <<'END');
shared_preload_libraries = 'key_value'
restart_after_crash = on
max_prepared_transactions = 5
key_value.naptime = '1h'
END
my $gone = q(SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'key_value worker');

ok(worker_pid($node, 'postgres'), 'CREATE EXTENSION brings a worker');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'key_value launcher' AND datname IS NULL)),
	'1', 'the launcher is in no database');
$node->safe_psql('postgres', <<'END');
SELECT kv.create_table('tasks', 'pk', 'sk');
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
END

put('a', 'NEW');
ok(arrives('a', 'NEW'), 'what is committed is in the index without kv.apply_changes()');
ok($node->poll_query_until('postgres', <<'END'), 'an idle worker has neither transaction nor snapshot');
SELECT bool_and(state = 'idle' AND backend_xmin IS NULL AND backend_xid IS NULL AND xact_start IS NULL)
FROM pg_stat_activity WHERE backend_type = 'key_value worker'
END
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE backend_type = 'key_value worker')),
	'0', 'and no lock');
is($node->safe_psql('postgres', q(SELECT application_name FROM pg_stat_activity WHERE backend_type = 'key_value worker')),
	'key_value worker', 'it is known by its name');
show_lag();

# It ends and comes back.
my @ends = (
	[ 'SIGTERM', sub { kill 'TERM', shift } ],
	[ 'pg_terminate_backend', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend($_[0])") } ],
	[ 'SIGTERM of the launcher', sub { kill 'TERM', launcher_pid() } ],
	[ 'SIGKILL', sub { kill 'KILL', shift; await_restart() } ],
	[ 'SIGKILL of the launcher', sub { kill 'KILL', launcher_pid(); await_restart() } ]);
foreach my $n (0 .. $#ends)
{
	my ($name, $do) = @{ $ends[$n] };
	my $old = worker_pid($node, 'postgres');

	$do->($old);
	put("after $name", "BACK$n");
	ok(arrives("after $name", "BACK$n"), "$name: a write after it is in the index");
	isnt(worker_pid($node, 'postgres'), $old, "$name: by another worker");
}

# A cancel finds nothing to cancel.
my $pid = worker_pid($node, 'postgres');
usleep(200_000);
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
put('cancelled', 'CANCELLED');
ok(arrives('cancelled', 'CANCELLED'), 'a write after a cancel is in the index');
is(worker_pid($node, 'postgres'), $pid, 'by the same worker');

# Killed in the middle of much: the index is right in the end.
$node->safe_psql('postgres', <<'END');
SELECT count(kv.put_item('tasks', jsonb_build_object('pk', 'P' || n % 100, 'sk', n::text, 'state', 'S' || n % 7, 'due', n::text)))
FROM generate_series(1, 5000) n;
END
kill 'KILL', worker_pid($node, 'postgres');
await_restart();
$node->safe_psql('postgres', q(SELECT count(kv.delete_item('tasks', jsonb_build_object('pk', 'P' || n % 100, 'sk', n::text))) FROM generate_series(1, 5000, 3) n));
is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('tasks', 'tasks_by_state', '60 s'))), 't', 'the rest is applied after a crash');
is($node->safe_psql('postgres', task_differences()), '', 'and the index is that of its table');

# A prepared transaction of long ago.
$node->safe_psql('postgres', q(BEGIN; SELECT kv.put_item('tasks', '{"pk": "two", "sk": "1", "state": "TWO", "due": "1"}'); PREPARE TRANSACTION 'two'));
put('one', 'ONE');
ok(arrives('one', 'ONE'), 'a prepared transaction holds nobody up');
$node->safe_psql('postgres', q(COMMIT PREPARED 'two'));
ok(arrives('two', 'TWO'), 'COMMIT PREPARED wakes the worker');

# Settings are read again.
set('key_value.workers = 0');
ok($node->poll_query_until('postgres', $gone), 'key_value.workers = 0 ends the worker');
put('off', 'OFF');
like(($node->psql('postgres', q(SELECT kv.wait_for_index('tasks', 'tasks_by_state', '5 s'))))[2], qr/ERROR:  no worker/, 'waiting for one is refused then');
set('key_value.workers = 4');
ok(arrives('off', 'OFF'), 'set back, it applies what was missed');

# Who is idle for long ends, and is called back by a commit.
set("key_value.naptime = '100ms'", "key_value.worker_idle_timeout = '200ms'");
put('call', 'CALL1');
ok(arrives('call', 'CALL1'), 'with a short idle time it applies');
set("key_value.naptime = '1h'", "key_value.worker_idle_timeout = '1h'");
set("key_value.worker_idle_timeout = '1ms'");
ok($node->poll_query_until('postgres', $gone), 'and ends');
put('call', 'CALL2');
ok(arrives('call', 'CALL2'), 'a commit calls it back');
my ($status, undef, $err) = $node->psql('postgres', <<'END');
CREATE PROCEDURE call_often() LANGUAGE plpgsql AS $$
DECLARE
	there bool;
	start timestamptz;
BEGIN
	FOR i IN 1..60 LOOP
		PERFORM kv.put_item('tasks', jsonb_build_object('pk', 'often', 'sk', i::text, 'state', 'OFTEN' || i, 'due', '1'));
		COMMIT;
		start := clock_timestamp();
		LOOP
			SELECT count(*) > 0 INTO there FROM tasks_by_state WHERE state = 'OFTEN' || i;
			COMMIT;
			EXIT WHEN there;
			IF clock_timestamp() - start > interval '60 s' THEN
				RAISE EXCEPTION 'change % was missed', i;
			END IF;
			PERFORM pg_sleep(0.001);
		END LOOP;
		PERFORM pg_sleep(random() * 0.02);
	END LOOP;
END $$;
CALL call_often();
END
is($err, '', 'one that is called while it is about to end misses nothing');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP:/, 'the log has nothing odd');
$node->stop('fast');

# No preload: no worker, and a word about it.
my $bare = new_node('bare', '');
my (undef, undef, $notice) = $bare->psql('postgres', <<'END');
SELECT kv.create_table('tasks', 'pk', 'sk');
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
SELECT kv.put_item('tasks', '{"pk": "a", "sk": "1", "state": "NEW", "due": "1"}');
END
like($notice, qr/NOTICE:.*shared_preload_libraries/s, 'no preload: creating an index says so');
is($bare->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'key_value%')), '0', 'no preload: there is no worker');
is($bare->safe_psql('postgres', q(SELECT kv.apply_changes() > 0; SELECT count(*) FROM tasks_by_state WHERE state = 'NEW')), "t\n1", 'no preload: kv.apply_changes() does it');
$bare->stop;

done_testing();

# Puts an item in a state.
sub put
{
	my ($pk, $state) = @_;
	$node->safe_psql('postgres', qq(SELECT kv.put_item('tasks', '{"pk": "$pk", "sk": "1", "state": "$state", "due": "1"}')));
	return;
}

# Waits until the index has an item under a state.
sub arrives
{
	my ($pk, $state) = @_;
	return $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM tasks_by_state WHERE state = '$state' AND due = '1' AND pk = '$pk'");
}

# Changes settings of the running server.
sub set
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET $_") foreach @_;
	$node->reload;
	return;
}

# Returns the process id of the launcher.
sub launcher_pid
{
	return $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'key_value launcher'));
}

# Waits until the server takes connections after a crash.
sub await_restart
{
	usleep(300_000);
	await_connections($node);
	return;
}

# Shows how long a write of an idle system takes to be in the index.
sub show_lag
{
	my ($median, $worst) = split /\|/, $node->safe_psql('postgres', <<'END');
CREATE TABLE lag (ms float8);
CREATE PROCEDURE measure_lag() LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	there bool;
BEGIN
	FOR i IN 1..100 LOOP
		PERFORM kv.put_item('tasks', jsonb_build_object('pk', 'lag', 'sk', i::text, 'state', 'LAG' || i, 'due', '1'));
		COMMIT;
		start := clock_timestamp();
		LOOP
			SELECT count(*) > 0 INTO there FROM tasks_by_state WHERE state = 'LAG' || i;
			COMMIT;
			EXIT WHEN there OR clock_timestamp() - start > interval '60 s';
			PERFORM pg_sleep(0.0005);
		END LOOP;
		INSERT INTO lag VALUES (extract(epoch FROM clock_timestamp() - start) * 1000);
		COMMIT;
		PERFORM pg_sleep(0.02);
	END LOOP;
END $$;
CALL measure_lag();
SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 1), round(max(ms)::numeric, 1) FROM lag;
END
	note("lag of an idle system: median $median ms, worst $worst ms");
	cmp_ok($median, '<', 2000, "a write is in the index soon: median $median ms, worst $worst ms");
	return;
}
