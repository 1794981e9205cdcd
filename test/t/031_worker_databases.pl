# worker in databases that come and go: it stands in nobody's way.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = new_node('databases', <<'END');
shared_preload_libraries = 'key_value'
key_value.naptime = '1h'
log_line_prefix = '%m [%p] %b '
END
my $tablespace = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', "CREATE TABLESPACE other LOCATION '$tablespace'");
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE stranger LOGIN CREATEDB');

# Each command, with a worker that is idle, then with one that is busy.
foreach my $busy (0, 1)
{
	my $how = $busy ? 'busy' : 'idle';

	make_database('shop');
	keep_busy('shop') if $busy;
	quickly("$how: CREATE DATABASE .. TEMPLATE", 'CREATE DATABASE copied TEMPLATE shop');
	ok(worker_pid($node, 'shop'), "$how: the worker of the original is back");
	ok(worker_pid($node, 'copied'), "$how: the copy has one of its own");
	check('copied', "$how: the copy's index");

	keep_busy('shop') if $busy;
	quickly("$how: ALTER DATABASE .. RENAME TO", 'ALTER DATABASE shop RENAME TO store');
	ok(worker_pid($node, 'store'), "$how: it has a worker under its new name");
	keep_busy('store') if $busy;
	quickly("$how: ALTER DATABASE .. SET TABLESPACE", 'ALTER DATABASE store SET TABLESPACE other');
	ok(worker_pid($node, 'store'), "$how: and in its new place");
	check('store', "$how: the index");
	if ($busy)
	{
		keep_busy('store');
		keep_busy('copied');
	}
	quickly("$how: DROP DATABASE", 'DROP DATABASE store');
	$node->safe_psql('postgres', 'ALTER DATABASE copied OWNER TO owner');
	quickly("$how: DROP DATABASE WITH (FORCE) by its owner", 'DROP DATABASE copied WITH (FORCE)', 'postgres', 'owner');
}

# A template has no worker; a plain database again, it has.
make_database('mold');
$node->safe_psql('postgres', 'ALTER DATABASE mold IS_TEMPLATE true');
ok(becomes_free('mold'), 'the worker leaves a database that becomes a template');
quickly('a template is copied', 'CREATE DATABASE made TEMPLATE mold');
ok(worker_pid($node, 'made'), 'a database made from a template with the extension gets a worker');
$node->safe_psql('postgres', 'ALTER DATABASE mold IS_TEMPLATE false');
ok(worker_pid($node, 'mold'), 'it comes back when it is none any more');
$node->safe_psql('postgres', 'ALTER DATABASE mold ALLOW_CONNECTIONS false');
ok(becomes_free('mold'), 'and leaves one that allows no connections');
quickly("DROP DATABASE $_", "DROP DATABASE $_") foreach qw(mold made);

# Who may not do it does not drive the worker away.
make_database('shop');
my $pid = worker_pid($node, 'shop');
foreach my $sql ('DROP DATABASE shop', 'CREATE DATABASE stolen TEMPLATE shop', 'ALTER DATABASE shop RENAME TO mine', 'ALTER DATABASE shop SET TABLESPACE other')
{
	my (undef, undef, $err) = $node->psql('postgres', $sql, extra_params => [ '-U', 'stranger' ]);
	like($err, qr/ERROR:  (must be owner|permission denied)/, "a stranger is refused: $sql");
}
is(worker_pid($node, 'shop'), $pid, 'and the worker is not disturbed');

# A command that fails lets it come back.
like(($node->psql('postgres', "BEGIN;\nDROP DATABASE shop;\nROLLBACK"))[2], qr/cannot run inside a transaction block/, 'DROP DATABASE in a transaction fails as ever');
ok(worker_pid($node, 'shop'), 'the worker is back after it');
my $session = $node->background_psql('shop');
like(($node->psql('postgres', 'DROP DATABASE shop'))[2], qr/is being accessed by other users/, 'a session in the database is in the way as ever');
$session->quit;
ok(worker_pid($node, 'shop'), 'the worker is back after that');
check('shop', 'the index after it');

# DROP EXTENSION: at once, whatever the worker does; it leaves.
foreach my $round (1 .. 5)
{
	keep_busy('shop') if $round > 1;
	quickly("DROP EXTENSION, round $round", 'DROP EXTENSION key_value CASCADE', 'shop');
	ok(becomes_free('shop'), 'the worker leaves');
	$node->safe_psql('shop', tables());
	ok(worker_pid($node, 'shop'), 'created again, it is back');
	check('shop', 'the index');
}
unlike(slurp_file($node->logfile), qr/key_value \w+ (ERROR|FATAL)/, 'no worker failed in all this');

# Settings of a database do not disturb its worker.
$node->safe_psql('postgres', <<'END');
CREATE ROLE nobody;
ALTER DATABASE shop SET default_transaction_read_only = on;
ALTER DATABASE shop SET default_transaction_isolation = 'serializable';
ALTER DATABASE shop SET statement_timeout = '1ms';
ALTER DATABASE shop SET lock_timeout = '1ms';
ALTER DATABASE shop SET idle_in_transaction_session_timeout = '1ms';
ALTER DATABASE shop SET role = nobody;
ALTER DATABASE shop SET search_path = 'nowhere';
ALTER DATABASE shop SET session_replication_role = replica;
ALTER DATABASE shop SET row_security = off;
END
$pid = worker_pid($node, 'shop');
kill 'TERM', $pid;
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = 'shop' AND pid <> $pid"), 'a new worker comes to a database with odd settings');
$node->safe_psql('postgres', 'ALTER DATABASE shop RESET ALL');
keep_busy('shop');
check('shop', 'its index');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|key_value \w+ ERROR/, 'the log has nothing odd');
$node->stop;
done_testing();

# Returns SQL that makes the extension, a table with items and an index.
sub tables
{
	return <<'END';
CREATE EXTENSION key_value;
SELECT kv.create_table('tasks', 'pk', 'sk', partitions => 4);
SELECT count(kv.put_item('tasks', jsonb_build_object('pk', 'P' || n % 10, 'sk', n::text, 'state', 'S' || n % 3, 'due', n::text)))
FROM generate_series(1, 300) n;
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
END
}

# Creates a database that has a worker.
sub make_database
{
	my ($database) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER owner");
	$node->safe_psql($database, tables());
	ok(worker_pid($node, $database), "$database has a worker");
	return;
}

# Gives the worker of a database much to do.
sub keep_busy
{
	my ($database) = @_;
	$node->safe_psql($database, <<'END');
SELECT count(kv.put_item('tasks', jsonb_build_object('pk', 'P' || n % 10, 'sk', n::text, 'state', 'S' || (random() * 9)::int, 'due', n::text)))
FROM generate_series(1, 3000) n;
END
	return;
}

# Tells whether a database becomes free of processes.
sub becomes_free
{
	my ($database) = @_;
	return $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = '$database'");
}

# Runs a command that would fail after five seconds if a worker stayed.
sub quickly
{
	my ($name, $sql, $database, $role) = @_;
	my $start = time;
	my ($status, undef, $err) = $node->psql($database // 'postgres', "SET client_min_messages = warning;\n$sql",
		extra_params => [ $role ? ('-U', $role) : () ]);

	is($err, '', $name) or diag(sprintf 'it took %.1f s', time - $start);
	note(sprintf '%.2f s: %s', time - $start, $sql);
	return;
}

# Checks that the index of a database comes to agree with its table.
sub check
{
	my ($database, $name) = @_;

	$node->safe_psql($database, q(SELECT kv.wait_for_index('tasks', 'tasks_by_state', '60 s')));
	is($node->safe_psql($database, task_differences()), '', "$name is right");
	return;
}
