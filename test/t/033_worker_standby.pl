# workers and recovery: none on a standby, one after promotion, none in binary upgrade mode; pg_upgrade works.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $primary = new_node('primary', q(shared_preload_libraries = 'key_value'), allows_streaming => 1);
my $standby = PostgreSQL::Test::Cluster->new('standby');
my $all = q(SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'key_value%');
my $wait = q(SELECT kv.wait_for_index('tasks', 'tasks_by_state', '60 s'));

$primary->backup('base');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->safe_psql('postgres', <<'END');
SELECT kv.create_table('tasks', 'pk', 'sk');
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
SELECT count(kv.put_item('tasks', jsonb_build_object('pk', 'P' || n % 50, 'sk', n::text, 'state', 'S' || n % 7, 'due', n::text)))
FROM generate_series(1, 1000) n;
END
is($primary->safe_psql('postgres', $wait), 't', 'the primary has applied');
$primary->safe_psql('postgres', 'CREATE TABLE flushed ()');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $all), '0', 'a standby has neither launcher nor worker');
is($standby->safe_psql('postgres', task_differences()), '', 'its index is right');

# The primary ends with changes that are not applied; the standby applies them.
$primary->safe_psql('postgres', 'ALTER SYSTEM SET key_value.workers = 0');
$primary->reload;
ok($primary->poll_query_until('postgres', q(SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'key_value worker')), 'the worker of the primary is off');
$primary->safe_psql('postgres', <<'END');
SELECT count(kv.put_item('tasks', jsonb_build_object('pk', 'P' || n % 50, 'sk', n::text, 'state', 'T' || n % 5, 'due', n::text)))
FROM generate_series(1, 1000, 2) n;
END
$primary->wait_for_catchup($standby);
isnt($standby->safe_psql('postgres', task_differences()), '', 'changes are left to apply');
$primary->stop('immediate');
$standby->promote;
ok(worker_pid($standby, 'postgres'), 'promoted, it has a worker');
is($standby->safe_psql('postgres', $wait), 't', 'which applies what the primary had not');
is($standby->safe_psql('postgres', task_differences()), '', 'and the index is right');
$standby->stop;

# Binary upgrade mode.
$primary->start;
$primary->safe_psql('postgres', 'ALTER SYSTEM RESET key_value.workers');
$primary->reload;
is($primary->safe_psql('postgres', $wait), 't', 'the primary goes on as well');
$primary->stop;
command_ok([ 'pg_ctl', '-D', $primary->data_dir, '-l', $primary->logfile, '-o', '-b', '-w', 'start' ], 'a server in binary upgrade mode starts');
usleep(500_000);
is($primary->safe_psql('postgres', $all), '0', 'and has neither launcher nor worker');
command_ok([ 'pg_ctl', '-D', $primary->data_dir, '-w', '-m', 'fast', 'stop' ], 'it stops');

# pg_upgrade to a new cluster of the same version.
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [ '-E', 'UTF8', '--locale=C.UTF-8' ]);
$new->append_conf('postgresql.conf', q(shared_preload_libraries = 'key_value'));
chomp(my $bindir = `$ENV{PG_CONFIG} --bindir`);
chdir $PostgreSQL::Test::Utils::tmp_check;
my @upgrade = ('pg_upgrade', '-d', $primary->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir,
	'-s', $new->host, '-p', $primary->port, '-P', $new->port);
command_ok([ @upgrade, '--check' ], 'pg_upgrade --check finds nothing');
command_ok(\@upgrade, 'pg_upgrade works');
$new->start;
ok(worker_pid($new, 'postgres'), 'the new cluster has a worker');
ok($new->poll_query_until('postgres', q(SELECT state = 'ACTIVE' FROM kv.indexes)), 'its index is active');
$new->safe_psql('postgres', q(SELECT kv.put_item('tasks', '{"pk": "new", "sk": "1", "state": "NEW", "due": "1"}')));
is($new->safe_psql('postgres', $wait), 't', 'changes are applied');
is($new->safe_psql('postgres', task_differences()), '', 'the index is right');
$new->stop;
done_testing();
