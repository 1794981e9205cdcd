# index_random: indexes are exact after long random work of every kind, under DDL and kills at random moments.
#
# Sessions write without pause (KvRandomWrites) while this process makes and
# drops indexes, changes tables, lets indexes fail and kills worker and server.
# From time to time all stops and every index is compared with its table.
#
# KV_TEST_SECONDS sets for how long (15 if not set), KV_TEST_SEED the random
# numbers, KV_TEST_SESSIONS the number of sessions.  The moments at which
# things meet are the machine's, so a seed gives the same writes, not the same run.

use strict;
use warnings;

use KvRandomWrites qw(%tables random_burst any);
use KvTest;
use POSIX qw(:sys_wait_h _exit);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds  = $ENV{KV_TEST_SECONDS} || 15;
my $seed     = $ENV{KV_TEST_SEED} || int(rand 2**31);
my $sessions = $ENV{KV_TEST_SESSIONS} || 5;
my $writes_at_a_time = 20;
my $epoch    = $seconds < 60 ? 5 : 15;

# What writers may meet: lost races, refusals, DDL beside them, a cancelled command, a server that is gone; 42601 and 25P01 where a COPY failed, whose rows psql takes for SQL.
# 42804 is core's: it renames no column of a partition that is half detached, and then cannot check its bound.
my %expected = map { $_ => 1 } qw(22012 22023 22P04 25P01 3B001 42601 42703 42804 23505 23514 23502 25P02 40001 40P01 57014 42704 42710 42P01 42P17 55000 55006 55P03 57P01 57P02 57P03 0A000 2BP01 42809 3F000
  KV002 KV003 KV005 KV006 KV007 KV008 KV009);

note "seed $seed";
srand($seed);

my $node = new_node('random', <<'END');
shared_preload_libraries = 'key_value'
restart_after_crash = on
max_prepared_transactions = 50
max_connections = 40
fsync = off
log_statement = ddl
autovacuum_naptime = 1
key_value.index_batch_size = 40
END
my $folder = PostgreSQL::Test::Utils::tempdir();
my $stop   = "$folder/stop";
my $driver = $$;
my %made;         # indexes by name: [ table, kind ]
my $number = 0;
my %count;        # what was done
my @writers;

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
CREATE EXTENSION amcheck;
CREATE SCHEMA elsewhere;
SELECT kv.create_table('notes', 'pk', 'sk', partitions => 4);
SELECT kv.create_table('readings', 'pk', 'sk', 'N', 'N', partitions => 3);
SELECT kv.create_table('blobs', 'pk', partition_key_type => 'B', partitions => 2);
CREATE TABLE by_hand (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (pk, sk)) USING key_value;
-- like a disk that is full now and then
CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF random() < 0.05 THEN
		RAISE 'disk full';
	END IF;
	RETURN coalesce(new, old);
END $$;
END

make_index() foreach 1 .. 6;
my $end = time + $seconds;
my $round = 0;
while (time < $end)
{
	$round++;
	start_writers();
	for (my $until = time + $epoch; time < $until;)
	{
		sleep(rand 0.8);
		disturb();
	}
	stop_writers();
	compare("round $round");
	last if !Test::More->builder->is_passing;
}
look_at_log();
note join ', ', map { "$_: $count{$_}" } sort keys %count;
$node->stop;
done_testing();

# --- writers ---

# Starts the sessions, each a process that feeds psql until the stop file is there.
sub start_writers
{
	unlink $stop, "$stop.all";
	foreach my $writer (0 .. $sessions)
	{
		my $number = int rand 2**31;
		my $pid = fork();
		die "fork failed: $!" unless defined $pid;
		if ($pid == 0)
		{
			srand($number);
			feed("$folder/errors.$writer", $writer ? ($stop, \&random_writes) : ("$stop.all", \&end_prepared));
			_exit(0);
		}
		push @writers, $pid;
	}
	return;
}

# Feeds psql with what a function returns until a file is there; notes how often that was, and what errors there were.
sub feed
{
	my ($errors, $until, $source) = @_;
	local $SIG{PIPE} = 'IGNORE';
	local $ENV{PGDATABASE} = 'postgres';
	local $ENV{PGOPTIONS} = '-c deadlock_timeout=50ms -c client_min_messages=error -c statement_timeout=60s';

	# also if the driver has bailed out
	while (!-e $until && getppid() == $driver)
	{
		my $text = $source->();
		open my $psql, '|-', "psql -XAtq -v VERBOSITY=sqlstate -f - -h '" . $node->host . "' -p " . $node->port . " >/dev/null 2>>$errors" or _exit(1);
		print $psql $text;
		close $psql or sleep(0.1);
		append_to_file($errors, "fed\n");
	}
	return;
}

# Returns what one connection of a writer writes.
sub random_writes
{
	return random_burst($writes_at_a_time);
}

# Returns what ends the prepared transactions that are there, after a while.
sub end_prepared
{
	sleep(rand 0.5);
	return "SELECT format('%s PREPARED %L', CASE WHEN random() < 0.6 THEN 'COMMIT' ELSE 'ROLLBACK' END, gid) "
	  . "FROM pg_prepared_xacts WHERE prepared < now() - random() * interval '2 s' ORDER BY random() \\gexec\n";
}

# Ends the sessions and looks at what errors they met.
sub stop_writers
{
	# who ends prepared transactions, which others wait for, ends last
	my $last = shift @writers;
	append_to_file($stop, '');
	waitpid $_, 0 foreach @writers;
	append_to_file("$stop.all", '');
	waitpid $last, 0;
	@writers = ();
	await_server();
	my %odd;
	foreach my $errors (glob "$folder/errors.*")
	{
		open my $in, '<', $errors or next;
		while (my $line = <$in>)
		{
			$count{writes} += $writes_at_a_time if $line eq "fed\n" && $errors !~ /\.0$/;
			next unless $line =~ /(?:ERROR|FATAL|PANIC):  (\w{5})\s*$/;
			$count{"error $1"}++;
			$odd{$1}++ unless $expected{$1};
		}
		unlink $errors;
	}
	is(join(' ', sort keys %odd), '', "round $round: writers met no errors but what was to be expected");
	return;
}

# --- disturbances ---

# Does something to the tables, the indexes, the worker or the server.
sub disturb
{
	my @ways = (
		[ 6, \&make_index ], [ 4, \&drop_index ], [ 3, \&fail_index ], [ 3, \&unfail_index ],
		[ 3, \&truncate_leaf ], [ 1, \&truncate_table ], [ 2, \&move_leaf ], [ 2, \&rename_table ], [ 2, \&move_table ], [ 2, \&add_column ],
		[ 2, \&rewrite_table ], [ 2, \&touch_index_leaf ], [ 2, \&switch_trigger ], [ 2, \&hold_lock ], [ 2, \&half_truncate ],
		[ 1, \&rename_index ], [ 2, \&rename_key ], [ 2, \&vacuum ], [ 1, \&kill_worker ], [ 1, \&kill_server ],
		[ 2, \&move_index_leaf ], [ 1, \&unlog ], [ 4, \&cancel ], [ 2, \&apply_by_hand ]);
	my $total = 0;
	$total += $_->[0] foreach @ways;
	my $at = rand $total;
	foreach my $way (@ways)
	{
		next if ($at -= $way->[0]) >= 0;
		return $way->[1]->();
	}
	return;
}

# Runs SQL that may fail for reasons of its own; returns its output, and undef if it failed.
sub try_sql
{
	my ($kind, $sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "SET client_min_messages = error;\nSET deadlock_timeout = '50ms';\nSET lock_timeout = '1s';\n"
		  . "\\set VERBOSITY verbose\n\\set ON_ERROR_STOP 1\n$sql", timed => 0);

	$count{ $kind . ($status ? ' failed' : '') }++;
	return $out if $status == 0;
	note "$kind: $err" unless ($err // '') =~ /ERROR:  (?:40P01|55P03|42P01|57P0[123]|KV00[567])|server closed|could not connect|connection to server/;
	fail("$kind: $err") if ($err // '') =~ /ERROR:  XX/;
	return;
}

# Makes an index of random shape, now and then in a transaction that rolls back or writes itself.
sub make_index
{
	my $table = any(keys %tables);
	my $name = 'index_' . ++$number;
	return if (grep { $made{$_}[0] eq $table } keys %made) >= 6;

	if (length($tables{$table}{types}) == 2 && rand() < 0.25)
	{
		$made{$name} = [ $table, 'LOCAL' ]
		  if defined try_sql('create local index', "SELECT kv.create_local_index('$table', '$name', " . any("'status'", "'n', 'N'", "'bytes', 'B'") . ')');
		return;
	}
	my @key = @{ any([ 'status', 'S' ], [ 'status', 'S', 'n', 'N' ], [ 'owner', 'S', 'status', 'S' ], [ 'owner', 'S' ], [ 'n', 'N' ], [ 'n', 'N', 'owner', 'S' ],
			[ 'bytes', 'B', 'n', 'N' ], [ 'bytes', 'B' ], [ 'status', 'S', 'pk', undef ], [ 'sk', undef, 'pk', undef ], [ 'sk', undef ], [ 'status', 'S', 'sk', undef ], [ 'pk', undef, 'n', 'N' ]) };
	return if grep { defined && $_ eq 'sk' } @key and length($tables{$table}{types}) == 1;
	my $call = "SELECT kv.create_global_index('$table', '$name', '$key[0]'" . ($key[2] ? ", '$key[2]'" : '')
	  . ($key[1] ? ", partition_key_type => '$key[1]'" : '') . ($key[3] ? ", sort_key_type => '$key[3]'" : '')
	  . any('', '', ", projection => 'KEYS_ONLY'", ", projection => 'INCLUDE', include => '{x,body}'") . ')';
	my $way = rand;
	if ($way < 0.1) { try_sql('create index, rolled back', "BEGIN; $call; SELECT pg_sleep(0.05); ROLLBACK"); return; }
	$call = 'BEGIN; ' . random_burst_simple($table) . "; $call; " . random_burst_simple($table) . '; COMMIT' if $way < 0.3;
	$made{$name} = [ $table, 'GLOBAL' ] if defined try_sql('create global index', $call);
	return;
}

# Returns a write that stands in a transaction of make_index.
sub random_burst_simple
{
	my ($table) = @_;
	return KvRandomWrites::put($table) =~ s/;\n$//r;
}

sub any_index
{
	my ($kind) = @_;
	my @names = grep { !$kind || $made{$_}[1] eq $kind } sort keys %made;
	return @names ? any(@names) : undef;
}

sub drop_index
{
	my $name = any_index() // return;
	delete $made{$name} if defined try_sql('drop index', any('', 'BEGIN; SELECT pg_sleep(0.05); ') . "SELECT kv.drop_index('$made{$name}[0]', '$name')" . '; COMMIT');
	return;
}

sub fail_index
{
	my $name = any_index('GLOBAL') // return;
	try_sql('index fails', "CREATE TRIGGER is_full BEFORE INSERT OR UPDATE OR DELETE ON $name FOR EACH ROW EXECUTE FUNCTION is_full()");
	return;
}

sub unfail_index
{
	my $name = any_index('GLOBAL') // return;
	try_sql('index fails no more', "DROP TRIGGER IF EXISTS is_full ON $name");
	return;
}

# Returns a random partition of a random table, and its table.
sub any_leaf
{
	my $table = any('notes', 'readings', 'blobs');
	my $leaf = int rand $tables{$table}{leaves};
	return ("${table}_p$leaf", $table, $leaf);
}

sub truncate_leaf
{
	my ($leaf) = any_leaf();
	try_sql('truncate leaf', any("TRUNCATE $leaf", "BEGIN; TRUNCATE $leaf; SELECT pg_sleep(0.1); COMMIT", "BEGIN; TRUNCATE $leaf; ROLLBACK"));
	return;
}

sub truncate_table
{
	my $table = any(keys %tables);
	try_sql('truncate table', any("TRUNCATE $table", "BEGIN; " . random_burst_simple($table) . "; TRUNCATE $table; " . random_burst_simple($table) . '; COMMIT'));
	return;
}

# A truncation that was rolled back beside one that was not.
sub half_truncate
{
	my ($leaf, $table) = any_leaf();
	try_sql('truncate with savepoint', any("BEGIN; SAVEPOINT a; TRUNCATE $table; ROLLBACK TO a; TRUNCATE $leaf; COMMIT",
			"BEGIN; SAVEPOINT a; TRUNCATE $leaf; ROLLBACK TO a; " . random_burst_simple($table) . '; COMMIT'));
	return;
}

# Detaches a partition, writes to it, attaches it again.
sub move_leaf
{
	my ($leaf, $table, $remainder) = any_leaf();
	my $attach = "ALTER TABLE $table ATTACH PARTITION $leaf FOR VALUES WITH (MODULUS $tables{$table}{leaves}, REMAINDER $remainder)";
	my $detach = "ALTER TABLE $table DETACH PARTITION $leaf";
	my $change = "SET key_value.allow_scan = on; DELETE FROM $leaf WHERE item ? 'x'; UPDATE $leaf SET item = item || '{\"status\": \"detached\"}' WHERE item ? 'n'";

	if (rand() < 0.5)
	{
		try_sql('detach and attach', "BEGIN; $detach; $change; $attach; COMMIT");
		return;
	}
	return unless defined try_sql('detach', any($detach, "$detach CONCURRENTLY"));
	try_sql('change detached', $change);
	sleep(rand 0.3);
	# who writes to a partition by its name could write any key meanwhile
	my $clean = "SET LOCAL key_value.allow_scan = on; "
	  . "DELETE FROM $leaf WHERE NOT satisfies_hash_partition('$table'::regclass, $tables{$table}{leaves}, $remainder, pk)";
	finally('attach', "BEGIN; LOCK TABLE $leaf; $clean; $attach; COMMIT", "SELECT count(*) FROM pg_inherits WHERE inhrelid = '$leaf'::regclass");
	return;
}

# Runs what has to succeed; done is SQL that gives 1 when it has.
sub finally
{
	my ($kind, $sql, $done) = @_;
	foreach (1 .. 100)
	{
		await_server();
		my $answer = $node->psql('postgres', $done, timed => 0, stdout => \my $out);
		return if defined $out && $out eq '1';
		try_sql($kind, $sql);
	}
	BAIL_OUT("$kind does not succeed");
	return;
}

# Detaches a partition of an index and attaches it again, with other rows.
sub move_index_leaf
{
	my $name = any_index('GLOBAL') // return;
	my ($leaf, $bound) = split /\|/, (split /\n/, try_sql('find leaf', "SELECT c.oid::regclass, pg_get_expr(relpartbound, c.oid) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid "
			  . "WHERE inhparent = '$name'::regclass ORDER BY random() LIMIT 1") // '')[0] // '';
	return unless $bound;
	my $attach = "ALTER TABLE $name ATTACH PARTITION $leaf $bound";
	my $detach = "ALTER TABLE $name DETACH PARTITION $leaf";
	if (rand() < 0.5)
	{
		try_sql('detach and attach index leaf', "BEGIN; $detach; " . any("TRUNCATE $leaf; ", '') . "$attach; " . any('COMMIT', 'ROLLBACK'));
		return;
	}
	try_sql('detach index leaf', any($detach, "$detach CONCURRENTLY"));
	sleep(rand 0.3);
	# a detaching that was broken off, which leaves the index without the leaf as well, is ended first
	my $state = "FROM pg_inherits WHERE inhrelid = '$leaf'::regclass AND";
	finally('attach index leaf', "SELECT '$detach FINALIZE' $state inhdetachpending \\gexec\n$attach", "SELECT count(*) $state NOT inhdetachpending");
	return;
}

# Makes a partition of a table or an index unlogged for a while; the server may crash meanwhile.
sub unlog
{
	my ($leaf) = any_leaf();
	my $name = any_index('GLOBAL');
	$leaf = (split /\n/, try_sql('find leaf', "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = '$name'::regclass LIMIT 1") // '')[0] // $leaf if $name && rand() < 0.5;
	return unless defined try_sql('set unlogged', "ALTER TABLE $leaf SET UNLOGGED");
	kill_server() if rand() < 0.3;
	sleep(rand 0.3);
	finally('set logged', "ALTER TABLE $leaf SET LOGGED", "SELECT count(*) FROM pg_class WHERE oid = '$leaf'::regclass AND relpersistence = 'p'");
	return;
}

# Cancels or ends sessions, the worker among them, a few in a row.
sub cancel
{
	foreach (1 .. 1 + rand 8)
	{
		my $function = any('pg_cancel_backend', 'pg_cancel_backend', 'pg_terminate_backend');
		try_sql('cancel', "SELECT $function(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres' AND backend_type IN ('client backend', 'key_value worker', 'autovacuum worker') "
			  . 'ORDER BY random() LIMIT 1');
		sleep(rand 0.05);
	}
	return;
}

# Applies by hand, also where it is undone, in part or in the end.
sub apply_by_hand
{
	my $apply = 'SELECT kv.apply_changes()';
	try_sql('apply by hand', any($apply, "BEGIN; $apply; SELECT pg_sleep(0.2); ROLLBACK", "BEGIN; $apply; " . random_burst_simple(any(keys %tables)) . "; $apply; COMMIT",
			"BEGIN; SAVEPOINT a; $apply; ROLLBACK TO a; " . random_burst_simple(any(keys %tables)) . "; SAVEPOINT b; $apply; RELEASE b; " . any('COMMIT', 'ROLLBACK'),
			"BEGIN; $apply; PREPARE TRANSACTION 'apply " . ++$number . "'"));
	return;
}

sub rename_table
{
	my $table = any(keys %tables);
	return unless defined try_sql('rename table', "ALTER TABLE $table RENAME TO renamed");
	sleep(rand 0.3);
	finally('rename back', "ALTER TABLE renamed RENAME TO $table", "SELECT count(*) FROM pg_class WHERE relname = '$table' AND relnamespace = 'public'::regnamespace");
	return;
}

sub move_table
{
	my $table = any(keys %tables);
	return unless defined try_sql('set schema', "ALTER TABLE $table SET SCHEMA elsewhere");
	sleep(rand 0.3);
	finally('schema back', "ALTER TABLE elsewhere.$table SET SCHEMA public", "SELECT count(*) FROM pg_class WHERE relname = '$table' AND relnamespace = 'public'::regnamespace");
	return;
}

# Renames a key, which is an attribute of all items.
sub rename_key
{
	my $table = any('notes', 'readings', 'by_hand');
	my $column = any('pk', 'sk');
	return unless defined try_sql('rename key', "ALTER TABLE $table RENAME $column TO other");
	sleep(rand 0.3);
	finally('key back', "ALTER TABLE $table RENAME other TO $column", "SELECT count(*) FROM pg_attribute WHERE attrelid = '$table'::regclass AND attname = '$column'");
	return;
}

sub rename_index
{
	my $name = any_index() // return;
	my $kind = $made{$name}[1] eq 'LOCAL' ? 'INDEX' : 'TABLE';
	return unless defined try_sql('rename index', "ALTER $kind $name RENAME TO ${name}_");
	$made{"${name}_"} = delete $made{$name};
	return;
}

sub add_column
{
	my $table = any(keys %tables);
	try_sql('add and drop column', any("ALTER TABLE $table ADD COLUMN extra int DEFAULT 1; ALTER TABLE $table DROP COLUMN extra",
			"BEGIN; ALTER TABLE $table ADD COLUMN extra float DEFAULT random(); ROLLBACK", "ALTER TABLE $table ADD COLUMN extra float DEFAULT random(); ALTER TABLE $table DROP COLUMN extra"));
	return;
}

# Changes all items behind the triggers' back.
sub rewrite_table
{
	my $table = any(keys %tables);
	try_sql('rewrite table', qq(ALTER TABLE $table ALTER COLUMN item TYPE jsonb USING item || '{"status": "rewritten"}'));
	return;
}

sub touch_index_leaf
{
	my $name = any_index('GLOBAL') // return;
	my ($leaf) = split /\n/, try_sql('find leaf', "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = '$name'::regclass ORDER BY random() LIMIT 1") // '';
	try_sql('touch index', any("TRUNCATE $leaf", "TRUNCATE $name", "VACUUM FULL $leaf", "REINDEX TABLE $leaf")) if $leaf;
	return;
}

# Writes while nothing is captured.
sub switch_trigger
{
	my $name = any_index('GLOBAL') // return;
	my $table = $made{$name}[0];
	my $put = random_burst_simple($table);
	try_sql('trigger off and on', "ALTER TABLE $table DISABLE TRIGGER kv_capture; $put; ALTER TABLE $table ENABLE ALWAYS TRIGGER kv_capture");
	finally('trigger on', "ALTER TABLE $table ENABLE ALWAYS TRIGGER kv_capture",
		"SELECT count(*) FROM (SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = '$table'::regclass AND tgname = 'kv_capture' AND tgenabled <> 'A')) x");
	return;
}

# Locks what apply needs.
sub hold_lock
{
	my $name = any_index('GLOBAL') // return;
	try_sql('hold lock', "BEGIN; LOCK TABLE " . any($name, $made{$name}[0]) . ' IN ' . any('ACCESS EXCLUSIVE', 'SHARE') . ' MODE; SELECT pg_sleep(' . any(0.1, 0.8) . '); COMMIT');
	return;
}

sub vacuum
{
	try_sql('vacuum', any('VACUUM', 'VACUUM FULL', 'VACUUM ANALYZE', 'REINDEX TABLE') . ' ' . any(keys %tables, map { "kv.change_log_$_" } 0 .. 3)) if rand() < 0.9;
	return;
}

sub kill_worker
{
	my ($pid) = split /\n/, try_sql('find worker', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'key_value worker' AND datname = 'postgres'") // '';
	return unless $pid;
	kill any('KILL', 'KILL', 'TERM', 'INT'), $pid;
	$count{'kill worker'}++;
	sleep(0.3);
	await_server();
	return;
}

sub kill_server
{
	if (rand() < 0.5)
	{
		my $mode = any('fast', 'immediate');
		$node->stop($mode);
		$node->start;
		$count{"stop server $mode"}++;
		return;
	}
	$node->kill9;
	$count{'kill server'}++;
	# its processes end by themselves, and until then there is no other server
	foreach (1 .. 300)
	{
		last if system('pg_ctl -s -D ' . $node->data_dir . ' -l ' . $node->logfile . ' -w start >/dev/null 2>&1') == 0;
		sleep(0.2);
	}
	$node->_update_pid(1);
	return;
}

# Waits until the server takes connections.
sub await_server
{
	await_connections($node);
	return;
}

# --- comparison ---

# Waits until the indexes have everything, and compares them with the items.
sub compare
{
	my ($name) = @_;
	my @global = grep { $made{$_}[1] eq 'GLOBAL' } sort keys %made;

	$node->safe_psql('postgres', any('COMMIT', 'ROLLBACK') . " PREPARED '$_'") foreach split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
	$node->safe_psql('postgres', join '', map { "SET client_min_messages = error; DROP TRIGGER IF EXISTS is_full ON $_;\n" } @global);
	$node->poll_query_until('postgres', q(SELECT coalesce(bool_and(state = 'ACTIVE' AND last_error IS NULL), true) FROM kv.indexes))
	  or diag($node->safe_psql('postgres', 'SELECT * FROM kv.indexes'));
	foreach my $index (sort keys %made)
	{
		my ($table, $kind) = @{ $made{$index} };
		is($node->safe_psql('postgres', "SELECT kv.wait_for_index('$table', '$index', '60 s')"), 't', "$name: $index has everything");
		$count{compared}++;
		next if $kind eq 'LOCAL';
		is($node->safe_psql('postgres', "SELECT * FROM kv_test.check_index('$table', '$index') LIMIT 3"), '', "$name: $index is exact")
		  or diag($node->safe_psql('postgres', "SELECT * FROM kv.indexes WHERE index_name = '$index'"));
	}
	is($node->safe_psql('postgres', 'SELECT coalesce(sum(pending), 0) FROM kv.indexes'), '0', "$name: nothing is pending");
	check_btrees($node, $name);
	my $log = slurp_file($node->logfile);
	unlike($log, qr/TRAP:|PANIC:|ERROR:  XX|terminated by signal (?!9\b|3\b|6: Aborted \(core dumped\)$)/, "$name: nothing broke");
	return;
}

# The log keeps nothing that is applied: once full it is truncated.
sub look_at_log
{
	$node->safe_psql('postgres', q(INSERT INTO notes SELECT 'log', n::text, jsonb_build_object('owner', repeat('o', 1000) || n, 'status', 's', 'n', n, 'bytes', '{"$B": "AAAA"}'::jsonb)
		FROM generate_series(1, 1000) n; UPDATE notes SET item = item || '{"owner": "o", "status": "t"}' WHERE pk = 'log'));
	compare('at last');
	cmp_ok($node->safe_psql('postgres', q(SELECT max(pg_relation_size(oid)) FROM pg_class WHERE relname ~ '^change_log_\d$')), '<', 17_000_000, 'no table of the log is kept when it is full');
	return;
}
