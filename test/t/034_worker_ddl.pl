# workers and DDL: commands on tables and indexes that are being applied succeed, and the indexes are right in the end.

use strict;
use warnings;

use IPC::Run qw(start finish);
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('ddl', <<'END');
shared_preload_libraries = 'key_value'
log_line_prefix = '%m [%p] %b '
END

$node->safe_psql('postgres', <<'END');
CREATE ROLE other;
SELECT kv.create_table('tasks', 'pk', 'sk', partitions => 4);
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
SELECT kv.create_global_index('tasks', 'tasks_by_owner', 'owner');
CREATE PROCEDURE write_on(seconds float8) LANGUAGE plpgsql AS $$
DECLARE
	stop timestamptz := clock_timestamp() + make_interval(secs => seconds);
BEGIN
	WHILE clock_timestamp() < stop LOOP
		FOR i IN 1..(1 + random() * 20)::int LOOP
			PERFORM kv.put_item('tasks', jsonb_build_object('pk', 'P' || (random() * 20)::int, 'sk', (random() * 50)::int::text,
				'state', 'S' || (random() * 5)::int, 'due', (random() * 100)::int::text, 'owner', 'O' || (random() * 9)::int));
		END LOOP;
		COMMIT;
		PERFORM kv.delete_item('tasks', jsonb_build_object('pk', 'P' || (random() * 20)::int, 'sk', (random() * 50)::int::text));
		COMMIT;
	END LOOP;
END $$;
END

my ($leaf) = split /\n/, $node->safe_psql('postgres', q(SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'tasks_by_state'::regclass ORDER BY 1));
my $err = '';
my $writer = start([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-c', 'CALL write_on(25)' ], '<', \undef, '>', '/dev/null', '2>', \$err);
my @commands = (
	'TRUNCATE tasks',
	q(SELECT kv.drop_index('tasks', 'tasks_by_owner')),
	q(SELECT kv.create_global_index('tasks', 'tasks_by_owner', 'owner')),
	'ALTER TABLE tasks ADD COLUMN note text',
	'ALTER TABLE tasks DROP COLUMN note',
	'ALTER TABLE tasks_by_state OWNER TO other; ALTER TABLE tasks_by_state OWNER TO CURRENT_USER',
	"REINDEX TABLE $leaf",
	"VACUUM FULL $leaf",
	'LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE',
	'BEGIN; LOCK TABLE tasks_by_state IN ACCESS EXCLUSIVE MODE; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE; COMMIT',
	'BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(0.1); LOCK TABLE tasks_by_state IN ACCESS EXCLUSIVE MODE; COMMIT',
	'ANALYZE tasks',
	'BEGIN; ALTER TABLE tasks RENAME TO jobs; ALTER TABLE jobs RENAME TO tasks; COMMIT',
	'BEGIN; ALTER TABLE tasks_by_state RENAME TO jobs; ALTER TABLE jobs RENAME TO tasks_by_state; COMMIT');
my @failed;
my $rounds = 0;
my $stop = time + 20;
while (time < $stop)
{
	foreach my $sql (@commands)
	{
		my (undef, undef, $told) = $node->psql('postgres', "SET client_min_messages = error;\n" . ($sql =~ /^LOCK/ ? "BEGIN;\n$sql;\nCOMMIT" : $sql));
		push @failed, "$sql: $told" if $told ne '';
	}
	$rounds++;
}
finish($writer);
is_deeply(\@failed, [], "commands succeed while the worker applies ($rounds rounds)");
is($err, '', 'and so do the writers');
is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('tasks', 'tasks_by_state', '60 s') AND kv.wait_for_index('tasks', 'tasks_by_owner', '60 s'))), 't', 'all is applied');
is($node->safe_psql('postgres', task_differences()), '', 'the first index is right');
is($node->safe_psql('postgres', scan_sql(<<'END')), '', 'the second index is right');
(SELECT item->>'owner', pk, sk FROM tasks EXCEPT SELECT owner, pk, sk FROM tasks_by_owner)
UNION ALL
(SELECT owner, pk, sk FROM tasks_by_owner EXCEPT SELECT item->>'owner', pk, sk FROM tasks)
END
my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC|TRAP:/, 'no crash');
my @errors = $log =~ /^.* key_value \w+ (?:ERROR|FATAL): .*$/mg;
is_deeply(\@errors, [], 'no worker failed');
$node->stop;
done_testing();
