# index_dump: indexes after pg_dump and pg_restore of every kind, and after pg_upgrade.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('old', "shared_preload_libraries = 'key_value'\nmax_prepared_transactions = 5");
my $files = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
CREATE SCHEMA "Odd schema";
SELECT kv.create_table('tasks', 'pk', 'sk', partitions => 3);
SELECT kv.create_global_index('tasks', 'tasks_by_state', 'state', 'due');
SELECT kv.create_global_index('tasks', 'Odd "index"', 'it''s', projection => 'INCLUDE', include => ARRAY['a''b', 'c\d', 'e"f']);
SELECT kv.create_global_index('tasks', 'inverted', 'sk', 'pk', projection => 'KEYS_ONLY');
SELECT kv.create_local_index('tasks', 'tasks_by_due', 'due', projection => 'INCLUDE', include => ARRAY['a''b', 'c\d']);
SELECT count(kv.put_item('tasks', jsonb_build_object('pk', 'P' || n % 7, 'sk', 'S' || n, 'state', 's' || n % 4, 'due', 'd' || n % 9, 'it''s', 'x' || n % 3, 'a''b', n)))
	FROM generate_series(1, 200) n;
SELECT kv.wait_for_index('tasks', 'tasks_by_state');
ALTER TABLE tasks_by_state SET SCHEMA "Odd schema";
ALTER TABLE "Odd schema".tasks_by_state RENAME TO "By state";
END
# What is not applied when the dump is made is not in the index that is dumped.
$node->safe_psql('postgres', <<'END');
BEGIN;
SELECT kv.put_item('tasks', '{"pk": "late", "sk": "S", "state": "s9", "due": "d", "it''s": "x9"}');
PREPARE TRANSACTION 'late';
END
my $definitions = definitions('postgres');
like($definitions, qr/By state/, 'there are indexes');

foreach my $options ([], ['--inserts'], ['--load-via-partition-root'], ['--no-owner', '--quote-all-identifiers'])
{
	my $name = "pg_dump @$options";
	# --inserts makes pg_dump read by SELECT instead of COPY, which is a scan.
	local $ENV{PGOPTIONS} = '-c key_value.allow_scan=on' if "@$options" =~ /--inserts/;
	$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', "$files/plain.sql", @$options ], $name);
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$files/plain.sql" ], "$name: restored");
	compare($name);
}
foreach my $restore ([], [ '-j', '3' ], [ '--clean', '--if-exists' ])
{
	my $name = "pg_restore @$restore";
	$node->command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', "$files/archive" ], "$name: dumped");
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->command_ok([ 'pg_restore', '--exit-on-error', @$restore, '-d', $node->connstr('restored'), "$files/archive" ], "$name: restored");
	compare($name);
}

# Definition and data apart: the copied index rows give way to those of the items.
$node->command_ok([ 'pg_dump', '--schema-only', '-d', $node->connstr('postgres'), '-f', "$files/schema.sql" ], 'pg_dump --schema-only');
$node->command_ok([ 'pg_dump', '--data-only', '-d', $node->connstr('postgres'), '-f', "$files/data.sql" ], 'pg_dump --data-only');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
foreach my $file ('schema', 'data')
{
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$files/$file.sql" ], "$file restored");
	$node->safe_psql('restored', 'SELECT kv.apply_changes()');
}
compare('definition and data apart');

# A template brings its indexes along.
$node->safe_psql('postgres', 'CREATE DATABASE model');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('model'), "$files/archive" ], 'a model restored');
wait_active('model');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE model');
compare('CREATE DATABASE .. TEMPLATE');
$node->safe_psql('postgres', 'DROP DATABASE model');

# pg_upgrade keeps the state too: nothing is filled anew.
$node->safe_psql('postgres', q(ROLLBACK PREPARED 'late'));
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [ '-E', 'UTF8', '--locale=C.UTF-8' ]);
$new->append_conf('postgresql.conf', q(shared_preload_libraries = 'key_value'));
my $bin = $node->config_data('--bindir');
$node->stop;
chdir $files;
command_ok([ 'pg_upgrade', '--no-sync', '-b', $bin, '-B', $bin, '-d', $node->data_dir, '-D', $new->data_dir,
	'-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
is($new->safe_psql('postgres', q(SELECT kv.put_item('tasks', '{"pk": "new", "sk": "S", "state": "s1", "due": "d", "it''s": "x1"}') IS NULL)), 't', 'pg_upgrade: it can be written to');
$node = $new;
compare('pg_upgrade', 'postgres');
$new->safe_psql('postgres', 'DROP TABLE tasks');
is($new->safe_psql('postgres', q(SELECT count(*) FROM pg_class WHERE relname ~ '^(By state|Odd "index"|inverted)')), '0', 'pg_upgrade: indexes go with their table');
$new->stop;
done_testing();

# Waits until all indexes of a database can be read.
sub wait_active
{
	my ($database) = @_;
	return $node->poll_query_until($database, q(SELECT count(*) = 4 AND bool_and(state = 'ACTIVE' AND detail IS NULL) FROM kv.indexes));
}

# Checks the indexes of a restored database, then drops it.
sub compare
{
	my ($name, $database) = @_;
	$database //= 'restored';

	ok(wait_active($database), "$name: the indexes are filled");
	is(definitions($database), $definitions, "$name: definitions are as they were");
	foreach my $index ('By state', 'Odd "index"', 'inverted')
	{
		is($node->safe_psql($database, "SELECT kv.wait_for_index('tasks', '$index', '60 s')"), 't', "$name: $index has everything");
		is($node->safe_psql($database, "SELECT * FROM kv_test.check_index('tasks', '$index') LIMIT 3"), '', "$name: $index is exact");
	}
	is($node->safe_psql($database, q(SELECT count(*) FROM kv.query('tasks', 'pk = :p AND due > :d', '{":p": "P1", ":d": "d5"}', index => 'tasks_by_due'))),
		$node->safe_psql($database, q(SELECT count(*) FROM tasks WHERE pk = 'P1' AND item->>'due' > 'd5')), "$name: the local index serves");
	# The index goes with its table, and follows it.
	return if $database eq 'postgres';
	$node->safe_psql($database, q(SELECT kv.delete_item('tasks', '{"pk": "P1", "sk": "S1"}')));
	is($node->safe_psql($database, q(SELECT kv.wait_for_index('tasks', 'By state', '60 s'))), 't', "$name: it follows the table");
	is($node->safe_psql($database, "SELECT * FROM kv_test.check_index('tasks', 'By state') LIMIT 3"), '', "$name: and is exact still");
	$node->safe_psql($database, 'DROP TABLE tasks');
	is($node->safe_psql($database, q(SELECT count(*) FROM pg_class WHERE relname ~ '^(By state|Odd "index"|inverted)')), '0', "$name: indexes go with their table");
	$node->safe_psql('postgres', "DROP DATABASE $database");
	return;
}

# Returns the definitions of all indexes.
sub definitions
{
	my ($database) = @_;
	return $node->safe_psql($database,
		'SELECT table_name, index_name, kind, partition_key, partition_key_type, sort_key, sort_key_type, projection, include FROM kv.indexes ORDER BY index_name');
}
