# dump_restore: pg_dump, pg_restore and pg_upgrade give back tables, settings and data.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('old');
my $files = PostgreSQL::Test::Utils::tempdir();

fill_tables($node);
$node->safe_psql('postgres', <<'END');
CREATE ROLE app;
GRANT SELECT, INSERT ON messages TO app;
ALTER TABLE messages ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON messages USING (pk = current_user);
CREATE SCHEMA elsewhere;
ALTER TABLE numbers SET SCHEMA elsewhere;
ALTER TABLE elsewhere.numbers SET SCHEMA public;
CREATE FUNCTION noop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER noop BEFORE INSERT ON numbers FOR EACH ROW EXECUTE FUNCTION noop();
CREATE INDEX ON messages ((item->>'n'), pk);
ALTER DATABASE postgres SET key_value.allow_scan = off;
END
my $contents = contents($node);
my $described = describe($node, 'postgres');
my $dump = dump_of($node, 'postgres');
like($contents, qr/THREAD#19/, 'there is something to dump');

# Plain SQL, and the same with what pg_dump can be asked for.
foreach my $options ([], ['--inserts'], ['--load-via-partition-root'], ['--no-owner', '--quote-all-identifiers'])
{
	my $name = "pg_dump @$options";
	# --inserts makes pg_dump read by SELECT instead of COPY, which is a scan.
	local $ENV{PGOPTIONS} = '-c key_value.allow_scan=on' if "@$options" =~ /--inserts/;
	$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', "$files/plain.sql", @$options ], $name);
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$files/plain.sql" ],
		"$name: restored");
	compare('restored', $name);
}

command_fails_like([ 'pg_dump', '--inserts', '-d', $node->connstr('postgres') ], qr/is not a key query/,
	'pg_dump --inserts needs the permission to scan');

# Archives, restored in parallel too.
foreach my $restore ([], [ '-j', '2' ], ['--clean', '--if-exists'])
{
	my $name = "pg_restore @$restore";
	$node->command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', "$files/archive" ], "$name: dumped");
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->command_ok([ 'pg_restore', '--exit-on-error', @$restore, '-d', $node->connstr('restored'), "$files/archive" ],
		"$name: restored");
	compare('restored', $name);
}

# Definition and data apart.
$node->command_ok([ 'pg_dump', '--schema-only', '-d', $node->connstr('postgres'), '-f', "$files/schema.sql" ], 'pg_dump --schema-only');
$node->command_ok([ 'pg_dump', '--data-only', '-d', $node->connstr('postgres'), '-f', "$files/data.sql" ], 'pg_dump --data-only');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$files/schema.sql" ],
	'the definition alone restored');
is($node->safe_psql('restored', scan_sql('SELECT count(*) FROM messages')), '0', 'it brings no items');
is(describe($node, 'restored'), $described, 'but the tables as they were');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$files/data.sql" ],
	'the data restored into it');
compare('restored', 'definition and data apart');

# One table by an ordinary owner, who may not scan.
$node->safe_psql('postgres', <<'END');
CREATE ROLE owner LOGIN;
GRANT CREATE ON SCHEMA public TO owner;
SET ROLE owner;
SELECT kv.create_table('owned', 'pk');
SELECT kv.put_item('owned', '{"pk": "x", "value": 1}');
END
$node->command_like([ 'pg_dump', '-U', 'owner', '-d', $node->connstr('postgres'), '-t', 'owned*' ],
	qr/^x\t\{"value": 1\}$/m, 'a table is dumped by its owner');

# pg_upgrade, which moves files and keeps OIDs: the hash partitions must still be found.
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [ '-E', 'UTF8', '--locale=C.UTF-8' ]);
$new->append_conf('postgresql.conf', q(shared_preload_libraries = 'key_value'));
my $bin = $node->config_data('--bindir');
$contents = contents($node);
$node->stop;
chdir $files;
command_ok([ 'pg_upgrade', '--no-sync', '-b', $bin, '-B', $bin, '-d', $node->data_dir, '-D', $new->data_dir,
	'-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
same_lines(contents($new), $contents, 'pg_upgrade: every row is there');
is($new->safe_psql('postgres', q(SELECT kv.get('messages', 'THREAD#7', 'MSG#000007')->>'n')), '7',
	'pg_upgrade: items are found by key');
check_btrees($new, 'pg_upgrade');
$new->stop;

done_testing();

# Compares a restored database with the original, then drops it.
sub compare
{
	my ($database, $name) = @_;

	same_lines(contents($node, $database), $contents, "$name: every row is there");
	is(describe($node, $database), $described, "$name: tables and partitions are as they were");
	same_lines(dump_of($node, $database), $dump, "$name: its definition dumps the same");
	is($node->safe_psql($database, q(SELECT kv.get('messages', 'THREAD#7', 'MSG#000007')->>'n')), '7',
		"$name: items are found by key");
	$node->safe_psql('postgres', "DROP DATABASE $database");
	return;
}

# Returns what the extension says about the database's tables.
sub describe
{
	my ($server, $database) = @_;
	return $server->safe_psql($database, <<'END');
SELECT t.oid::regclass, kv.describe_table(t.oid) - 'TableSizeBytes' - 'ItemCount' FROM pg_class t
WHERE relname IN ('messages', 'Mixed Case', 'numbers', 'binaries', 'by_hand') ORDER BY relname;
END
}

# Returns the dump of the database's definition without what differs from one to the next.
sub dump_of
{
	my ($server, $database) = @_;
	my ($out) = run_command([ 'pg_dump', '--schema-only', '-d', $server->connstr($database) ]);
	return join "\n", grep { !/^(--|\\(un)?restrict)/ } split /\n/, $out;
}
