# index_replication: indexes of a replicated table are kept by the subscriber's own worker, whatever the publication has; a standby serves them, and keeps them once promoted.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $definition = <<'END';
SELECT kv.create_table('tasks', 'pk', 'sk', partitions => 3);
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
SELECT kv.create_global_index('tasks', 'inverted', 'sk', 'pk', projection => 'KEYS_ONLY');
END

# The publication of everything has the index tables too; that of the table does not.
foreach my $what ('ALL TABLES', 'TABLE tasks')
{
	my $name = lc $what =~ s/ /_/gr;
	my $publisher = new_node("publisher_$name", undef, allows_streaming => 'logical');
	my $subscriber = new_node("subscriber_$name");

	$publisher->safe_psql('postgres', $definition);
	$publisher->safe_psql('postgres', writes(1, 200));
	$publisher->safe_psql('postgres', q(SELECT kv.wait_for_index('tasks', 'inverted', '60 s')));
	$subscriber->safe_psql('postgres', "CREATE EXTENSION kv_test; $definition");
	$publisher->safe_psql('postgres', "CREATE PUBLICATION everything FOR $what");
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION everything CONNECTION '@{[ $publisher->connstr ]} dbname=postgres' PUBLICATION everything");
	$subscriber->wait_for_subscription_sync($publisher, 'everything');
	exact($subscriber, "$what: the first copy", 200);

	$publisher->safe_psql('postgres', writes(101, 300));
	$publisher->safe_psql('postgres', <<'END');
UPDATE tasks SET item = item || '{"state": "moved"}' WHERE pk = 'P1';
DELETE FROM tasks WHERE pk = 'P2';
UPDATE tasks SET pk = 'P9' WHERE pk = 'P3' AND sk = 'S3';
BEGIN;
SELECT kv.put_item('tasks', '{"pk": "never", "sk": "S", "state": "never", "due": "d"}');
ROLLBACK;
END
	$publisher->wait_for_catchup('everything');
	exact($subscriber, "$what: changes", $publisher->safe_psql('postgres', scan_sql('SELECT count(*) FROM tasks')));
	is($subscriber->safe_psql('postgres', q(SELECT count(*) > 10 FROM tasks_by_state WHERE state = 'moved')), 't', "$what: the index serves");

	# The subscriber's own writes are captured as well.
	$subscriber->safe_psql('postgres', q(SELECT kv.put_item('tasks', '{"pk": "own", "sk": "S", "state": "own", "due": "d"}')));
	exact($subscriber, "$what: its own write", undef);
	$publisher->safe_psql('postgres', 'TRUNCATE tasks');
	$publisher->safe_psql('postgres', writes(1, 5));
	$publisher->wait_for_catchup('everything');
	exact($subscriber, "$what: TRUNCATE", $what eq 'ALL TABLES' ? undef : 5);
	is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_subscription_stats WHERE apply_error_count > 0'), '0', "$what: replication met no error");
	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION everything');
	$subscriber->stop;
	$publisher->stop;
}

# A standby.
my $primary = new_node('primary', undef, allows_streaming => 1);
$primary->safe_psql('postgres', "CREATE EXTENSION kv_test; $definition");
$primary->safe_psql('postgres', writes(1, 100));
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
$primary->safe_psql('postgres', writes(50, 200));
$primary->safe_psql('postgres', q(SELECT kv.wait_for_index('tasks', 'tasks_by_state', '60 s')));
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q(SELECT count(*) FROM kv.query('tasks', '#s = :s', '{":s": "s1"}', '{"#s": "state"}', index => 'tasks_by_state'))),
	'50', 'a standby serves kv.query');
is($standby->safe_psql('postgres', q(SELECT count(*) FROM tasks_by_state WHERE state = 's1')), '50', 'and SQL');
is($standby->safe_psql('postgres', q(SELECT string_agg(state, ',') FROM kv.indexes)), 'ACTIVE,ACTIVE', 'and kv.indexes');
sqlstate_is($standby, 'SELECT kv.apply_changes()', '25006', 'but applies nothing');
# What is not applied yet comes over with the log.
$primary->safe_psql('postgres', 'CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE \'stopped\'; END $$; CREATE TRIGGER stop BEFORE INSERT ON tasks_by_state FOR EACH ROW EXECUTE FUNCTION stop()');
$primary->safe_psql('postgres', writes(201, 260));
$primary->poll_query_until('postgres', q(SELECT pending > 0 FROM kv.indexes WHERE index_name = 'tasks_by_state'));
$primary->wait_for_catchup($standby);
$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', 'DROP TRIGGER stop ON tasks_by_state');
$standby->safe_psql('postgres', writes(250, 300));
exact($standby, 'promoted', 300);
$standby->stop;
done_testing();

# Returns SQL that puts items with numbers from one to another.
sub writes
{
	my ($from, $to) = @_;
	return "SELECT count(kv.put_item('tasks', jsonb_build_object('pk', 'P' || n % 7, 'sk', 'S' || n, 'state', 's' || n % 4, 'due', 'd' || n % 9))) FROM generate_series($from, $to) n";
}

# Checks that both indexes are exact, and how many items there are.
sub exact
{
	my ($node, $name, $items) = @_;

	ok($node->poll_query_until('postgres', q(SELECT bool_and(state = 'ACTIVE' AND detail IS NULL) FROM kv.indexes)), "$name: the indexes can be read");
	foreach my $index ('tasks_by_state', 'inverted')
	{
		is($node->safe_psql('postgres', "SELECT kv.wait_for_index('tasks', '$index', '60 s')"), 't', "$name: $index has everything");
		is($node->safe_psql('postgres', "SELECT * FROM kv_test.check_index('tasks', '$index') LIMIT 3"), '', "$name: $index is exact");
	}
	is($node->safe_psql('postgres', scan_sql('SELECT count(*) FROM tasks')), $items, "$name: all items are there") if defined $items;
	return;
}
