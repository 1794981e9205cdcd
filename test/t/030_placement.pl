# placement: writers at once, with maintenance among them, keep collections together and the heap small; a crash leaves all sound.

use strict;
use warnings;

use IPC::Run qw(start finish);
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my ($writers, $rows, $collections) = (8, 1500, 240);
my $node = new_node('placement', <<'END');
shared_preload_libraries = 'key_value'
autovacuum = off
restart_after_crash = on
END
my $files = PostgreSQL::Test::Utils::tempdir();
my $columns = 'pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk)';

$node->safe_psql('postgres', 'CREATE EXTENSION amcheck');
foreach my $table (qw(plain placed))
{
	my $method = $table eq 'plain' ? 'heap' : 'key_value';
	$node->safe_psql('postgres', "CREATE TABLE $table ($columns) USING $method");
	write_all($table, $table eq 'plain' ? undef : \&maintain);
}

my %pages = map { $_ => $node->safe_psql('postgres', "SELECT pg_relation_size('$_') / 8192") } qw(plain placed);
cmp_ok($pages{placed}, '<=', 1.45 * $pages{plain}, 'the heap is not much larger than a plain one');
is(rows('placed'), rows('plain'), 'every row is there, once');
my ($mean, $most) = split /\|/, $node->safe_psql('postgres', scan_sql(<<'END'));
SELECT avg(pages), max(pages) FROM (SELECT count(DISTINCT (ctid::text::point)[0]) AS pages FROM placed GROUP BY pk) c
END
my ($plain) = $node->safe_psql('postgres', 'SELECT avg(pages) FROM (SELECT count(DISTINCT (ctid::text::point)[0]) AS pages FROM plain GROUP BY pk) c');
cmp_ok($mean, '<=', 9, 'a collection of 50 lies on few pages');
cmp_ok($plain, '>=', 35, 'which it does not in a plain heap');
sound('after concurrent writes');

# A crash of all in the middle of writing, twice.
foreach my $round (1, 2)
{
	write_all('placed', sub {
		usleep(700_000);
		my $pid = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE query LIKE 'INSERT%' LIMIT 1));
		kill 'KILL', $pid if $pid;
	}, 1 + $round);
	await_connections($node);
	sound("after crash $round");
	$node->safe_psql('postgres', 'VACUUM placed');
	sound("after crash $round and VACUUM");
}

# What a session remembers of blocks does not outlive a truncation by another.
my $session = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres') ],
	'<', \my $in, '>', \my $out, '2>', \my $err, IPC::Run::timeout(180));
ask("INSERT INTO placed SELECT 'new' || n, 'a', '{}' FROM generate_series(1, 1000) n; INSERT INTO placed SELECT 'c1', 'z' || n, '{}' FROM generate_series(1, 1000) n;");
$node->safe_psql('postgres', scan_sql('DELETE FROM placed'));
$node->safe_psql('postgres', 'VACUUM placed');
is($node->safe_psql('postgres', q(SELECT pg_relation_size('placed'))), '0', 'the table is truncated');
ask("INSERT INTO placed VALUES ('new1001', 'a', '{}'); INSERT INTO placed VALUES ('c1', 'zz', '{}');");
is($err, '', 'the session goes on inserting');
is(rows('placed'), '2|2', 'and its rows are there');
$in .= "\\q\n";
$session->finish;
$node->stop;
done_testing();

# Lets all writers insert into a table at once, each row of a collection drawn in turn; meanwhile runs what is given.
sub write_all
{
	my ($table, $meanwhile, $round) = @_;
	my @running;

	$round //= 1;
	foreach my $writer (1 .. $writers)
	{
		open my $script, '>', "$files/$writer.sql" or die $!;
		foreach my $n (1 .. $rows)
		{
			my $collection = ($n * $writers + $writer) % $collections;
			printf $script q(INSERT INTO %s VALUES ('c%d', '%d-%06d-%d', jsonb_build_object('body', repeat('x', 220)));%s),
				$table, $collection, $round, $n, $writer, "\n";
			printf $script q(UPDATE %s SET item = item || '{"seen": true}' WHERE pk = 'c%d' AND sk = '%d-%06d-%d';%s),
				$table, $collection, $round, $n, $writer, "\n" if $n % 50 == 0;
			printf $script "BEGIN; INSERT INTO %s VALUES ('c%d', 'lost%d-%d', '{}'); ROLLBACK;\n", $table, $collection, $n, $writer if $n % 100 == 0;
		}
		close $script;
		push @running, start([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-f', "$files/$writer.sql" ],
			'<', \undef, '>', "$files/$writer.out", '2>', "$files/$writer.err");
	}
	$meanwhile->() if $meanwhile;
	foreach my $process (@running) { finish($process) }
	return;
}

# Maintains the table while others write to it.
sub maintain
{
	foreach (1 .. 3)
	{
		$node->safe_psql('postgres', 'VACUUM (ANALYZE) placed');
		$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY by_sk ON placed (sk)');
		$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY placed_pkey');
		$node->safe_psql('postgres', 'DROP INDEX CONCURRENTLY by_sk');
	}
	return;
}

# Has the open session run SQL to its end.
sub ask
{
	my ($sql) = @_;

	$out = '';
	$in .= "$sql\n\\echo done\n";
	$session->pump until $out =~ /done/ or $err;
	return;
}

# Returns the number of rows and of keys.
sub rows
{
	my ($table) = @_;
	return $node->safe_psql('postgres', scan_sql("SELECT count(*), count(DISTINCT (pk, sk)) FROM $table"));
}

# Checks the btree against the heap.
sub sound
{
	my ($when) = @_;

	is($node->safe_psql('postgres', q(SELECT bt_index_parent_check('placed_pkey', true, true))), '', "the btree is sound $when");
	is($node->safe_psql('postgres', scan_sql(<<'END')), 't', "heap and index agree $when");
SET enable_indexscan = off; SET enable_bitmapscan = off;
SELECT count(*) = count(DISTINCT (pk, sk)) FROM placed
END
	return;
}
