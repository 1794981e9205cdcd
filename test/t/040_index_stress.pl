# index_stress: global indexes are exact after random writes of all kinds, errors of their own, and crashes of worker and server.

use strict;
use warnings;

use IPC::Run qw(start finish);
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my @indexes = qw(by_status by_owner inverted by_bytes);
my $node = new_node('stress', <<'END');
shared_preload_libraries = 'key_value'
restart_after_crash = on
max_prepared_transactions = 20
fsync = on
key_value.index_batch_size = 50
END
my $script = PostgreSQL::Test::Utils::tempdir() . '/writes.sql';

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
SELECT kv.create_table('notes', 'pk', 'sk', partitions => 4);
SELECT kv.create_global_index('notes', 'by_status', 'status', 'n', sort_key_type => 'N');
SELECT kv.create_global_index('notes', 'by_owner', 'owner', projection => 'KEYS_ONLY');
SELECT kv.create_global_index('notes', 'inverted', 'sk', 'pk', projection => 'INCLUDE', include => '{body,x}');
SELECT kv.create_global_index('notes', 'by_bytes', 'bytes', 'sk', partition_key_type => 'B');
-- a statement that may lose a race
CREATE FUNCTION try(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
EXCEPTION WHEN unique_violation OR deadlock_detected THEN NULL;
END $$;
END
write_script();

# Writers of all kinds while the workers apply.
run_writers(6);
is_exact('random writes');

# Long transactions that commit late and out of order, prepared ones among them.
$node->safe_psql('postgres', "BEGIN; " . put("late $_", "LATE$_") . "; PREPARE TRANSACTION 'late$_'") foreach 1 .. 4;
run_writers(2);
foreach my $n (3, 1, 4, 2)
{
	$node->safe_psql('postgres', "COMMIT PREPARED 'late$n'");
	$node->safe_psql('postgres', put("after $n", "AFTER$n"));
}
is_exact('transactions that commit late and out of order');
is($node->safe_psql('postgres', q(SELECT count(*) FROM by_status WHERE status IN ('LATE1', 'LATE2', 'LATE3', 'LATE4'))), '4', 'the late ones are there');

# An index that cannot be written to stops no other, loses nothing, and says so.
$node->safe_psql('postgres', <<'END');
CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'disk full'; END $$;
CREATE TRIGGER is_full BEFORE INSERT OR UPDATE OR DELETE ON by_owner FOR EACH ROW EXECUTE FUNCTION is_full();
END
run_writers(3);
ok($node->poll_query_until('postgres', q(SELECT last_error LIKE 'disk full%' FROM kv.indexes WHERE index_name = 'by_owner')),
	'an error of an index is shown');
is($node->safe_psql('postgres', q(SELECT last_error IS NULL FROM kv.indexes WHERE index_name = 'by_status')), 't', 'it is not the others\'');
$node->safe_psql('postgres', 'DROP TRIGGER is_full ON by_owner');
ok($node->poll_query_until('postgres', q(SELECT bool_and(last_error IS NULL) FROM kv.indexes)), 'the error goes when it can be written to again');
is_exact('an index that could not be written to');

# Workers and the server are killed at random moments.
foreach my $round (1 .. 4)
{
	my $writers = start_writers(8);

	usleep(500_000 + int(rand(1_500_000)));
	my ($status, $pid) = $node->psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'key_value worker' AND datname = 'postgres'));
	if ($round % 2 && $pid)
	{
		kill 'KILL', $pid;
		eval { finish($writers) };
		await_restart();
	}
	else
	{
		$node->stop('immediate');
		eval { finish($writers) };
		$node->start;
	}
	$node->safe_psql('postgres', "ROLLBACK PREPARED '$_'")
	  foreach split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
	is_exact($round % 2 ? "worker killed ($round)" : "server killed ($round)");
}

# Indexes made and dropped while writers are at it, and DDL in between.
my $writers = start_writers(8);
foreach my $round (1 .. 3)
{
	$node->safe_psql('postgres', qq(SELECT kv.create_global_index('notes', 'late_$round', 'owner', 'n', sort_key_type => 'N')));
	$node->safe_psql('postgres', $round == 1 ? 'ALTER TABLE late_1 RENAME TO renamed' : $round == 2 ? 'TRUNCATE notes_p1' : 'VACUUM FULL notes_p2');
	$node->safe_psql('postgres', q(SELECT kv.drop_index('notes', 'late_2'))) if $round == 3;
	usleep(700_000);
}
finish($writers);
push @indexes, 'renamed', 'late_3';
is_exact('indexes made and dropped under load');

# The log does not grow without end.
$node->safe_psql('postgres', 'BEGIN; ' . put('idle', 'IDLE') . "; PREPARE TRANSACTION 'idle'");
run_writers(4);
is_exact('beside a transaction that stays open');
cmp_ok($node->safe_psql('postgres', q(SELECT sum(pg_table_size(oid)) FROM pg_class WHERE relname ~ '^change_log_\d$')), '<', 100_000_000,
	'the change log stays small');
$node->safe_psql('postgres', "COMMIT PREPARED 'idle'");
is_exact('after it committed');
check_btrees($node, 'at last');
$node->stop;
done_testing();

# Returns the call that puts an item.
sub put
{
	my ($key, $status) = @_;
	return qq(SELECT kv.put_item('notes', '{"pk": "$key", "sk": "1", "status": "$status", "n": 1, "owner": "$key"}'));
}

# Waits until the indexes have everything, and compares them with the items.
sub is_exact
{
	my ($name) = @_;

	$node->poll_query_until('postgres', q(SELECT bool_and(state = 'ACTIVE') FROM kv.indexes)) or BAIL_OUT('indexes are not filled');
	foreach my $index (@indexes)
	{
		is($node->safe_psql('postgres', "SELECT kv.wait_for_index('notes', '$index', '60 s')"), 't', "$name: $index has everything");
		is($node->safe_psql('postgres', "SELECT * FROM kv_test.check_index('notes', '$index') LIMIT 3"), '', "$name: $index is exact");
	}
	return;
}

# Waits until the server takes connections again.
sub await_restart
{
	usleep(300_000);
	await_connections($node);
	return;
}

# Starts eight writers for so many seconds.
sub start_writers
{
	my ($seconds) = @_;
	return start([ 'pgbench', '-n', '-c', '8', '-j', '2', '-T', $seconds, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ],
		'<', \undef, '>', \my $out, '2>', \my $err);
}

# Runs the writers to their end.
sub run_writers
{
	my ($seconds) = @_;
	ok(finish(start_writers($seconds)), 'the writers ran');
	return;
}

# Writes pgbench's script: one write of a random kind.
sub write_script
{
	open my $out, '>', $script or die $!;
	print $out <<'END';
\set p random(1, 5)
\set s random(1, 60)
\set st random(1, 4)
\set n random(1, 1000)
\set kind random(1, 14)
\if :kind <= 3
SELECT kv.put_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s, 'status', 'st' || :st, 'n', :n, 'owner', 'o' || (:n % 7), 'body', repeat('x', :n % 50), 'bytes', jsonb_build_object('$B', encode(('b' || :st)::bytea, 'base64'))));
\elif :kind <= 5
SELECT kv.update_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s), 'SET #s = #v', attribute_names => '{"#s": "status", "#v": "owner"}', condition => 'attribute_exists(#v)', on_condition_failure => 'return');
\elif :kind = 6
SELECT kv.update_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s), 'REMOVE #s, bytes', attribute_names => '{"#s": "status"}');
\elif :kind = 7
SELECT kv.delete_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s));
\elif :kind = 8
UPDATE notes SET item = item || jsonb_build_object('n', :n, 'owner', 'o' || (:n % 7)) WHERE pk = 'P' || :p AND sk = 'S' || :s;
\elif :kind = 9
BEGIN;
SELECT kv.put_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s, 'status', 'st' || :st, 'n', :n));
SAVEPOINT a;
SELECT kv.put_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s, 'status', 'gone'));
ROLLBACK TO a;
SELECT kv.put_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s, 'status', 'st' || :st, 'n', :n, 'x', :n));
COMMIT;
\elif :kind = 10
BEGIN;
SELECT kv.put_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s, 'status', 'aborted', 'n', :n));
ROLLBACK;
\elif :kind = 11
SELECT try(format('UPDATE notes SET sk = %L WHERE pk = %L AND sk = %L', 'S' || (1000 + :n), 'P' || :p, 'S' || :s));
\elif :kind = 12
BEGIN;
SELECT kv.put_item('notes', jsonb_build_object('pk', 'P' || :p, 'sk', 'S' || :s, 'status', 'st' || :st, 'n', :n, 'owner', 'late'));
SELECT pg_sleep(0.05 * :st);
COMMIT;
\elif :kind = 13
SELECT try(format('UPDATE notes SET pk = %L WHERE pk = %L AND sk = %L', 'P' || (:p % 5 + 1), 'P' || :p, 'S' || :s));
\else
DELETE FROM notes WHERE pk = 'P' || :p AND sk = 'S' || :s;
\endif
END
	close $out;
	return;
}
