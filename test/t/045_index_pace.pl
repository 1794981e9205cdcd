# index_pace: writers that do nothing but write do not leave the indexes behind; an index that takes long to write holds up no other.

use strict;
use warnings;

use IPC::Run qw(start finish);
use KvTest;
use List::Util qw(max);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = new_node('pace', <<'END');
shared_preload_libraries = 'key_value'
key_value.index_write_timeout = '500ms'
END
my $script = PostgreSQL::Test::Utils::tempdir() . '/moves.sql';
my $oldest = q(SELECT coalesce(extract(epoch FROM max(oldest_pending)) * 1000, 0) FROM kv.indexes);

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
SELECT kv.create_table('orders', 'pk', 'sk', partitions => 4);
SELECT kv.create_global_index('orders', 'by_status', 'status', 'at');
SELECT kv.create_global_index('orders', 'by_owner', 'owner', 'at');
SELECT kv.create_global_index('orders', 'by_kind', 'kind', 'at', projection => 'KEYS_ONLY');
INSERT INTO orders SELECT 'P' || n % 100, 'S' || n / 100,
	jsonb_build_object('status', 's' || n % 20, 'owner', 'o' || n % 50, 'kind', 'k' || n % 7, 'at', 'T' || n) FROM generate_series(0, 9999) n;
END
is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('orders', 'by_kind', '60 s'))), 't', 'the indexes are filled');
append_to_file($script, <<'END');
\set a random(0, 99)
\set b random(0, 99)
\set c random(0, 49)
UPDATE orders SET item = item || jsonb_build_object('status', 's' || (:b % 20)::text, 'owner', 'o' || (:c)::text, 'kind', 'k' || (:c % 7)::text)
	WHERE pk = 'P' || (:a)::text AND sk = 'S' || (:b)::text;
END

# Four sessions that write as fast as they can, for ten seconds.
my @lags = lags_beside(4, 10);
my @halves = (middle(@lags[ 0 .. $#lags / 2 ]), middle(@lags[ $#lags / 2 .. $#lags ]));
note(sprintf 'lag in ms: median %.1f, of the second half %.1f, at most %.1f', middle(@lags), $halves[1], max(@lags));
cmp_ok(middle(@lags), '<', 500, 'the indexes are behind by less than half a second at the median');
cmp_ok($halves[1], '<', $halves[0] * 5 + 250, 'and the lag does not grow');
exact('orders', qw(by_status by_owner by_kind));

# Without pauses the same writers run too, and nothing is lost either.
$node->append_conf('postgresql.conf', 'key_value.index_lag_target = 0');
$node->reload;
lags_beside(4, 2);
exact('orders', qw(by_status by_owner by_kind));
$node->append_conf('postgresql.conf', 'key_value.index_lag_target = 10');
$node->reload;

# A trigger that sleeps: the index says why it is behind, others go on.
$node->safe_psql('postgres', <<'END');
SELECT kv.create_table('other', 'pk');
SELECT kv.create_global_index('other', 'other_a', 'a');
SELECT kv.create_table('slow', 'pk');
SELECT kv.create_global_index('slow', 'slow_a', 'a');
SELECT kv.create_global_index('slow', 'slow_b', 'b');
SELECT kv.wait_for_index('other', 'other_a', '60 s'), kv.wait_for_index('slow', 'slow_a', '60 s'), kv.wait_for_index('slow', 'slow_b', '60 s');
CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.pg_sleep(60); RETURN NEW; END $$;
CREATE TRIGGER sleep BEFORE INSERT ON slow_a FOR EACH ROW EXECUTE FUNCTION sleep();
END
my $start = time;
$node->safe_psql('postgres', q(SELECT kv.put_item('slow', '{"pk": "1", "a": "x", "b": "y"}'); SELECT kv.put_item('other', '{"pk": "1", "a": "x"}')));
is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('other', 'other_a', '40 s'))), 't', 'a trigger that sleeps stops no index of another table');
ok($node->poll_query_until('postgres', q(SELECT EXISTS (SELECT FROM slow_b WHERE b = 'y'))), 'nor another index of its table');
cmp_ok(time - $start, '<', 50, 'nor does anybody wait for its end');
ok($node->poll_query_until('postgres', q(SELECT last_error LIKE '%index_write_timeout%' FROM kv.indexes WHERE index_name = 'slow_a')),
	'the index says that it takes too long');

# One that is only slow gets there, a few entries at a time.
$node->safe_psql('postgres', <<'END');
CREATE OR REPLACE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.pg_sleep(0.02); RETURN NEW; END $$;
INSERT INTO slow SELECT n::text, jsonb_build_object('a', 'a' || n % 9, 'b', 'b') FROM generate_series(1, 60) n ON CONFLICT (pk) DO UPDATE SET item = excluded.item;
END
ok($node->poll_query_until('postgres', q(SELECT pending = 0 FROM kv.indexes WHERE index_name = 'slow_a')), 'one that is only slow gets there');
exact('slow', qw(slow_a slow_b));
exact('other', 'other_a');
$node->stop;
done_testing();

# Runs so many writers for so many seconds; returns the age of the oldest change that was not applied, in ms, every 50 ms.
sub lags_beside
{
	my ($clients, $seconds) = @_;
	my $writers = start([ 'pgbench', '-n', '-M', 'prepared', '-c', $clients, '-j', 2, '-T', $seconds, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ],
		'>', \my $out, '2>', \my $err);
	my @lags;
	my $end = time + $seconds - 1;

	usleep(500_000);
	while (time < $end)
	{
		push @lags, $node->safe_psql('postgres', $oldest);
		usleep(50_000);
	}
	ok(finish($writers), "$clients writers: " . ($out =~ /tps = \S+/g)[-1]) or diag($err);
	return @lags;
}

# Returns the middle of numbers.
sub middle
{
	my @sorted = sort { $a <=> $b } @_;
	return $sorted[ @sorted / 2 ];
}

# Tests that indexes of a table hold what they should.
sub exact
{
	my ($table, @names) = @_;

	foreach my $name (@names)
	{
		is($node->safe_psql('postgres', "SELECT kv.wait_for_index('$table', '$name', '60 s')"), 't', "changes come to $name");
		is($node->safe_psql('postgres', "SELECT * FROM kv_test.check_index('$table', '$name') LIMIT 3"), '', "$name is exact");
	}
	return;
}
