# KvTest: what the TAP tests of key_value share.

package KvTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(new_node await_connections fill_tables contents same_lines check_btrees scan_sql sqlstate_is worker_pid task_differences);

# Returns a started node that has the extension; settings are lines of postgresql.conf, init goes to the node's init.
sub new_node
{
	my ($name, $settings, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '-E', 'UTF8', '--locale=C.UTF-8' ], %init);
	$node->append_conf('postgresql.conf', $settings // q(shared_preload_libraries = 'key_value'));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION key_value');
	return $node;
}

# Waits until a server that crashed takes connections again.
sub await_connections
{
	my ($node) = @_;

	foreach (1 .. 600)
	{
		# without input: psql that is refused reads none, and writing it would break the pipe
		return if IPC::Run::run([ 'psql', '-XAtq', '-c', 'SELECT 1', '-d', $node->connstr('postgres') ], '<', \undef, '>', \my $out, '2>', \my $err);
		usleep(100_000);
	}
	die 'the server does not come back';
}

# Makes tables of every kind of key and fills them: messages (S, S), "Mixed Case" (S), numbers (N, N), binaries (B, B) and one made by hand.
sub fill_tables
{
	my ($node, $database) = @_;

	$node->safe_psql($database // 'postgres', <<'END');
SELECT kv.create_table('messages', 'pk', 'sk');
SELECT count(kv.put_item('messages', jsonb_build_object('pk', 'THREAD#' || n % 20, 'sk', 'MSG#' || lpad(n::text, 6, '0'),
	'body', repeat('x', n % 100), 'n', n, 'tags', '{"$SS": ["a", "b"]}'::jsonb)))
	FROM generate_series(1, 1000) n;
SELECT kv.create_table('"Mixed Case"', 'The Id', partitions => 3);
SELECT count(kv.put_item('"Mixed Case"', jsonb_build_object('The Id', 'é"''\' || n, 'value', n)))
	FROM generate_series(1, 100) n;
SELECT kv.create_table('numbers', 'pk', 'sk', 'N', 'N', partitions => 5);
SELECT count(kv.put_item('numbers', jsonb_build_object('pk', n % 7, 'sk', n / 4.0, 'value', n)))
	FROM generate_series(1, 100) n;
SELECT kv.create_table('binaries', 'pk', 'sk', 'B', 'B', partitions => 1);
SELECT count(kv.put_item('binaries', jsonb_build_object(
	'pk', jsonb_build_object('$B', encode(decode(lpad(to_hex(n % 5), 2, '0'), 'hex'), 'base64')),
	'sk', jsonb_build_object('$B', encode(decode(lpad(to_hex(n), 4, '0'), 'hex'), 'base64')), 'value', n)))
	FROM generate_series(1, 100) n;
CREATE TABLE by_hand (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL DEFAULT '{}',
	PRIMARY KEY (pk, sk)) USING key_value;
INSERT INTO by_hand SELECT 'a' || n % 3, 'b' || n, jsonb_build_object('n', n) FROM generate_series(1, 30) n;
END
	return;
}

# Prefixes SQL with the permission to scan.
sub scan_sql
{
	my ($sql) = @_;
	return "SET key_value.allow_scan = on; $sql";
}

# Returns all rows of the tables that fill_tables makes, in key order.
sub contents
{
	my ($node, $database) = @_;
	return join "\n", map {
		"$_:\n" . $node->safe_psql($database // 'postgres', scan_sql("SELECT * FROM $_ ORDER BY 1, 2"))
	} ('messages', '"Mixed Case"', 'numbers', 'binaries', 'by_hand');
}

# Checks that two texts are the same and shows only the first line where they part.
sub same_lines
{
	my ($got, $expected, $name) = @_;
	my @got = split /\n/, $got;
	my @expected = split /\n/, $expected;
	my ($first) = grep { ($got[$_] // '') ne ($expected[$_] // '') } 0 .. ($#got > $#expected ? $#got : $#expected);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(defined $first ? $got[$first] : '', defined $first ? $expected[$first] : '', $name);
}

# Waits for the background worker of a database and returns its process id.
sub worker_pid
{
	my ($node, $database) = @_;
	my $where = "FROM pg_stat_activity WHERE backend_type = 'key_value worker' AND datname = '$database'";

	$node->poll_query_until('postgres', "SELECT count(*) = 1 $where");
	return $node->safe_psql('postgres', "SELECT pid $where");
}

# Returns SQL that lists where the table tasks and its global index tasks_by_state (state, due) differ.
sub task_differences
{
	return scan_sql(<<'END');
(SELECT item->>'state', item->>'due', pk, sk FROM tasks WHERE item ?& '{state,due}' EXCEPT SELECT state, due, pk, sk FROM tasks_by_state)
UNION ALL
(SELECT state, due, pk, sk FROM tasks_by_state EXCEPT SELECT item->>'state', item->>'due', pk, sk FROM tasks)
END
}

# Checks every key-value table's btrees against their heaps.
sub check_btrees
{
	my ($node, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', <<'END');
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS amcheck;
SELECT count(bt_index_parent_check(i.indexrelid, heapallindexed => true, rootdescend => true))
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_am a ON a.oid = c.relam
WHERE a.amname = 'key_value' AND c.relkind = 'r';
END
	is($err, '', "$name: amcheck finds the btrees sound");
	cmp_ok($out, '>', 0, "$name: and there were some");
	return;
}

# Checks that SQL fails with a SQLSTATE.
sub sqlstate_is
{
	my ($node, $sql, $state, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$sql");
	like($err, qr/ERROR:  \Q$state\E$/m, $name) or diag(substr($out, 0, 300));
	return;
}

1;
