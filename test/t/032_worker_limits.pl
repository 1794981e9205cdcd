# workers that are fewer than the databases, and max_worker_processes used up.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('limits');
$node->init(extra => [ '-E', 'UTF8', '--locale=C.UTF-8' ]);
$node->append_conf('postgresql.conf', <<'END');
shared_preload_libraries = 'key_value'
max_logical_replication_workers = 0
key_value.workers = 2
key_value.naptime = '1h'
END
$node->start;

# More databases than workers: they take turns.
my @databases = map { "db$_" } 1 .. 6;
$node->safe_psql('template1', <<'END');
CREATE EXTENSION key_value;
SELECT kv.create_table('tasks', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
SELECT kv.apply_changes();
END
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach @databases;
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE datname = 'template1')), '0', 'a template has no worker');
foreach my $round (1 .. 3)
{
	put($_, "ROUND$round") foreach @databases;
	is_deeply([ grep { !arrives($_, "ROUND$round") } @databases ], [], "round $round: two workers serve all databases");
	cmp_ok(workers(), '<=', 2, "round $round: and no more than two");
}

# Those that are always busy do not keep the others away.
$node->safe_psql($_, <<'END') foreach @databases[ 0, 1 ];
CREATE PROCEDURE write_on() LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..1000000 LOOP
		PERFORM kv.put_item('tasks', jsonb_build_object('pk', 'busy' || i % 100, 'sk', '1', 'state', 'S' || i, 'due', '1'));
		COMMIT;
	END LOOP;
END $$;
END
my @writers = map { IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr($_), '-c', 'CALL write_on()' ], '<', \undef, '>', '/dev/null', '2>', '/dev/null') } @databases[ 0, 1 ];
put($_, 'MEANWHILE') foreach @databases[ 2 .. 5 ];
is_deeply([ grep { !arrives($_, 'MEANWHILE') } @databases[ 2 .. 5 ] ], [], 'the others get their turn beside busy ones');
$_->kill_kill foreach @writers;
$node->safe_psql('postgres', q(SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL%'));

# Processes for the launcher and one worker only.
$node->append_conf('postgresql.conf', "max_worker_processes = 2\nkey_value.workers = 4");
$node->restart;
put($_, 'FULL') foreach @databases;
is_deeply([ grep { !arrives($_, 'FULL') } @databases ], [], 'one process that is left serves all databases');
cmp_ok(workers(), '<=', 1, 'there cannot be more');

# None for a worker: said once, tried again without spinning.
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->restart;
my $start = -s $node->logfile;
put('db1', 'NONE');
usleep(11_000_000);
my $log = substr slurp_file($node->logfile), $start;
my @told = slurp_file($node->logfile) =~ /LOG:  could not start a background worker of key_value.*/g;
cmp_ok(scalar @told, '>=', 1, 'it is said that all are in use');
@told = $log =~ /LOG:  could not start a background worker of key_value/g;
cmp_ok(scalar @told, '<=', 1, 'once, though it is tried again');
is(workers(), '0', 'there is none');
is($node->safe_psql('db1', q(SELECT kv.apply_changes() > 0; SELECT count(*) FROM tasks_by_state WHERE state = 'NONE')), "t\n1", 'kv.apply_changes() does it');
my $launcher = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'key_value launcher'));
SKIP:
{
	skip 'no /proc', 1 unless -r "/proc/$launcher/stat";
	my @stat = split / /, slurp_file("/proc/$launcher/stat") =~ s/^.*\) //sr;
	cmp_ok($stat[11] + $stat[12], '<', 100, 'the launcher used less than a second of processor time');
}
$node->stop;
done_testing();

# Puts an item in a state.
sub put
{
	my ($database, $state) = @_;
	$node->safe_psql($database, qq(SELECT kv.put_item('tasks', '{"pk": "$state", "sk": "1", "state": "$state", "due": "1"}')));
	return;
}

# Waits until the index of a database has a state.
sub arrives
{
	my ($database, $state) = @_;
	return $node->poll_query_until($database, "SELECT count(*) = 1 FROM tasks_by_state WHERE state = '$state'");
}

# Returns the number of workers.
sub workers
{
	return $node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'key_value worker'));
}
