# compaction: with writers beside it, from several sessions at once, broken off by kill -9 and gone on with; heap and indexes stay sound and nothing is lost.

use strict;
use warnings;

use IPC::Run qw(start finish);
use POSIX ();
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my ($writers, $rounds, $collections, $size) = (4, 400, 200, 40);
my $node = new_node('compact', <<'END');
shared_preload_libraries = 'key_value'
autovacuum = off
restart_after_crash = on
END
my $files = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', 'CREATE EXTENSION amcheck');
$node->safe_psql('postgres', q(SELECT kv.create_table('items', 'pk', 'sk', partitions => 4)));
$node->safe_psql('postgres', q(SELECT kv.create_local_index('items', 'by_n', 'n', 'N')));
fill();
cmp_ok(pages(), '>=', 2 * fewest(), 'collections lie scattered');

# Writers count in items of their own, insert and delete some; two sessions compact meanwhile, over and over.
my @running = map { write_beside($_) } 1 .. $writers;
my @movers = map { compact_beside() } 1, 2;
finish($_) foreach @running;
finish($_) foreach @movers;
is(slurp_file("$files/$_.err"), '', "writer $_ met no error") foreach 1 .. $writers;
check_counts();
sound('after writers and compaction');
$node->safe_psql('postgres', q(CALL kv.compact('items')));
cmp_ok(pages(), '<=', 1.2 * fewest(), 'collections lie on few pages');
sound('after another');

# Killed in the middle, three times; the rest is done by the next call.
fill();
foreach my $round (1 .. 3)
{
	my $mover = compact_beside();
	usleep(60_000 * $round);
	my $pid = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL kv.compact%' AND state = 'active' LIMIT 1));
	kill 'KILL', $pid if $pid;
	eval { finish($mover) };
	await_connections($node);
	sound("after crash $round");
	is($node->safe_psql('postgres', scan_sql('SELECT count(*), count(DISTINCT (pk, sk)) FROM items')), join('|', ($collections * $size) x 2), "all items are there after crash $round");
}
$node->safe_psql('postgres', q(CALL kv.compact('items')));
cmp_ok(pages(), '<=', 1.2 * fewest(), 'the next call does the rest');
sound('after the rest');

# An old snapshot keeps room from being used again: it says so, the heap does not double, and later it is done.
fill();
my $before = $node->safe_psql('postgres', q(SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree('items')));
my $session = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres') ],
	'<', \my $in, '>', \my $out, '2>', \my $err, IPC::Run::timeout(180));
$in = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class;\n\\echo done\n";
$session->pump until $out =~ /done/;
my ($stdout, $stderr);
$node->psql('postgres', q(CALL kv.compact('items')), stdout => \$stdout, stderr => \$stderr);
like($stderr, qr/NOTICE:  table "items" was not compacted as far as it could be/, 'what an old snapshot keeps is said');
$node->safe_psql('postgres', <<"END");
SELECT kv.create_table('half', 'pk', 'sk', partitions => 2);
INSERT INTO half SELECT 'c' || i % $collections, to_char(i / $collections, 'FM000000'),
	jsonb_build_object('body', left(repeat(md5(i::text), 7), 220)) FROM generate_series(0, $collections * $size - 1) i;
TRUNCATE half_p1;
END
my $half;
$node->psql('postgres', q(CALL kv.compact('half')), stdout => \$stdout, stderr => \$half);
like($half, qr/NOTICE:  table "half" was not compacted as far as it could be/, 'though in the last partition there was nothing to be done');
my $after = $node->safe_psql('postgres', q(SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree('items')));
cmp_ok($after, '<=', 1.5 * $before, 'the heap grows by little');
$in .= "COMMIT;\n\\q\n";
$session->finish;
$node->psql('postgres', q(CALL kv.compact('items')), stdout => \$stdout, stderr => \$stderr);
is($stderr, '', 'without it there is nothing to say');
cmp_ok(pages(), '<=', 1.2 * fewest(), 'and the rest is done');
sound('after all');
$node->stop;
done_testing();

# Fills the table anew, a collection's items in turn with the others'.
sub fill
{
	$node->safe_psql('postgres', <<"END");
TRUNCATE items;
INSERT INTO items SELECT 'c' || i % $collections, to_char(i / $collections, 'FM000000'),
	jsonb_build_object('n', i, 'count', 0, 'body', left(repeat(md5(i::text), 7), 220)) FROM generate_series(0, $collections * $size - 1) i;
END
	return;
}

# Starts a writer: it adds 1 to items of its own collections, and inserts and deletes a few.
sub write_beside
{
	my ($writer) = @_;
	my $rows = 0;

	open my $script, '>', "$files/$writer.sql" or die $!;
	foreach my $n (1 .. $rounds)
	{
		my $collection = ($n * $writers + $writer) % $collections;
		my $sort = sprintf '%06d', $n * 7 % $size;

		print $script <<"END";
SELECT kv.update_item('items', '{"pk": "c$collection", "sk": "$sort"}', 'SET #c = #c + :one', attribute_names => '{"#c": "count"}', attribute_values => '{":one": 1}');
SELECT kv.put_item('items', '{"pk": "c$collection", "sk": "new$writer-$n", "n": $n, "count": 0}');
SELECT kv.delete_item('items', '{"pk": "c$collection", "sk": "new$writer-$n"}');
END
		# all writers count in one item, which a session may be moving
		print $script qq(UPDATE items SET item = jsonb_set(item, '{count}', to_jsonb((item->>'count')::int + 1)) WHERE pk = 'c0' AND sk = '000000';\n);
	}
	close $script;
	return start([ 'psql', '-X', '-q', '-o', '/dev/null', '-d', $node->connstr('postgres'), '-f', "$files/$writer.sql" ],
		'<', \undef, '2>', "$files/$writer.err");
}

# Starts a session that compacts again and again.
sub compact_beside
{
	return start([ 'psql', '-X', '-q', '-o', '/dev/null', '-d', $node->connstr('postgres'), map { ('-c', q(CALL kv.compact('items'))) } 1 .. 4 ],
		'<', \undef, '2>', '/dev/null');
}

# Checks that every count is there.
sub check_counts
{
	my %expected;

	foreach my $writer (1 .. $writers)
	{
		foreach my $n (1 .. $rounds)
		{
			$expected{'c' . ($n * $writers + $writer) % $collections . sprintf ' %06d', $n * 7 % $size}++;
			$expected{'c0 000000'}++;
		}
	}
	my $wanted = join "\n", map { "$_ $expected{$_}" } sort keys %expected;
	is($node->safe_psql('postgres', scan_sql(<<'END')), $wanted, 'no change is lost');
SELECT pk || ' ' || sk || ' ' || (item->>'count') FROM items WHERE item->>'count' <> '0' ORDER BY (pk || ' ' || sk) COLLATE "C"
END
	is($node->safe_psql('postgres', scan_sql('SELECT count(*), count(DISTINCT (pk, sk)) FROM items')), join('|', ($collections * $size) x 2), 'every item is there, once');
	return;
}

# Returns the pages that collections lie on, added up, and the fewest that they need.
sub pages { return $node->safe_psql('postgres', scan_sql('SELECT sum(p) FROM (SELECT count(DISTINCT (ctid::text::point)[0]) AS p FROM items GROUP BY pk) x')) }
sub fewest { return $collections * POSIX::ceil($size / 23) }

# Checks heap and btrees against each other, and that the local index finds all that it should.
sub sound
{
	my ($when) = @_;

	# verify_heapam takes what is called a heap only
	is($node->safe_psql('postgres', <<'END'), '', "the heap is sound $when");
BEGIN;
UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = 'heap') WHERE oid IN (SELECT relid FROM pg_partition_tree('items') WHERE isleaf);
SELECT t.relid::regclass, v.blkno, v.offnum, v.msg FROM pg_partition_tree('items') t, verify_heapam(t.relid) v WHERE t.isleaf;
ROLLBACK;
END
	is($node->safe_psql('postgres', <<'END'), '', "the btrees are sound $when");
WITH btree AS MATERIALIZED (SELECT i.indexrelid FROM pg_partition_tree('items') t JOIN pg_index i ON i.indrelid = t.relid WHERE t.isleaf)
SELECT indexrelid::regclass FROM btree WHERE bt_index_parent_check(indexrelid, true, true)::text <> ''
END
	is($node->safe_psql('postgres', <<"END"), $collections * $size, "the local index finds all $when");
SELECT count(*) FROM generate_series(0, $collections - 1) c, kv.query('items', 'pk = :p', jsonb_build_object(':p', 'c' || c), index => 'by_n')
END
	return;
}
