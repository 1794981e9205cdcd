# index_backlog: the change log of a bulk load is applied in pieces and truncated; a backlog that is too large refuses writers.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $node = new_node('backlog', "key_value.max_index_backlog = '10MB'");
my $log_size = q(SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname ~ '^change_log_\d$');

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
SELECT kv.create_table('items', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('items', 'by_owner', 'owner');
END

# One transaction of much: nobody can apply what is not committed, so it is refused for no backlog.
$node->safe_psql('postgres', load(1, 200_000));
cmp_ok($node->safe_psql('postgres', $log_size), '>', 10_000_000, 'a bulk load fills the log');
is($node->safe_psql('postgres', 'SELECT pending FROM kv.indexes'), '200000', 'kv.indexes counts what is pending');

# Behind by more than the setting, writers are refused; those that change no index are not.
my ($status, $out, $err);
foreach my $n (1 .. 50)
{
	($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n" . load(200_000 + $n * 200, 200_199 + $n * 200));
	last if $status;
}
like($err, qr/ERROR:  KV008: global indexes are too far behind/, 'a write that adds to a backlog that is too large is refused');
is($node->safe_psql('postgres', q(SELECT kv.put_item('items', '{"pk": "P", "sk": "no owner"}') IS NULL)), 't', 'one that changes no index is not');
$node->safe_psql('postgres', 'SET key_value.max_index_backlog = 0; ' . load(1_000_001, 1_000_010));

# Applied, everything is there, the log is empty again and writers are welcome.
is( $node->safe_psql('postgres', q(BEGIN; SELECT kv.apply_changes() > 0;
		SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND relation::regclass::text ~ 'change_log_\d$'; COMMIT)),
	"t\n0", 'applying in a transaction that stays open keeps no table of the log from writers');
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('items', 'by_owner') LIMIT 3)), '', 'the index is exact');
is($node->safe_psql('postgres', 'SELECT pending FROM kv.indexes'), '0', 'nothing is pending');
cmp_ok($node->safe_psql('postgres', $log_size), '<', 10_000_000, 'the log is truncated');
$node->safe_psql('postgres', load(2_000_001, 2_000_100));
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('items', 'by_owner') LIMIT 3)), '', 'and it goes on');

# Nor is one of much in many statements, beside another's changes that are not applied; who comes after it is.
$node->safe_psql('postgres', load(1, 1));
$node->safe_psql('postgres', join ";\n", 'BEGIN', (map { <<"END" } 0 .. 4), 'COMMIT');
INSERT INTO items SELECT 'wide', n::text, jsonb_build_object('owner', repeat('o', 1000) || (n + $_) % 50) FROM generate_series(1, 4000) n
	ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item
END
($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n" . load(1, 1000, 8));
like($err, qr/ERROR:  KV008: global indexes are too far behind/, 'after one transaction of many statements it is the others who are refused');
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('items', 'by_owner') LIMIT 3)), '', 'and the index is exact again');

# A transaction that stays open keeps one table of the log, not the others.
my $open = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \my $in, '>', \my $answer);
$in = "BEGIN; SELECT kv.put_item('items', '{\"pk\": \"open\", \"sk\": \"1\", \"owner\": \"o\"}'); SELECT 'begun';\n";
$open->pump until $answer =~ /begun/;
foreach my $round (1 .. 6)
{
	$node->safe_psql('postgres', load(1, 60_000, $round));
	$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
}
cmp_ok($node->safe_psql('postgres', $log_size), '<', 25_000_000, 'beside an open transaction the log does not grow');
$in = "COMMIT;\n\\q\n";
$open->finish;
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT count(*) FROM by_owner WHERE owner = 'o' AND pk = 'open')), '1', 'what it wrote is there once it committed');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('items', 'by_owner') LIMIT 3)), '', 'and the index is exact');

# What an index that cannot be written to leaves aside counts as well, for its own table's writers alone.
$node->safe_psql('postgres', <<'END');
SELECT kv.create_table('others', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('others', 'others_by_owner', 'owner');
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'disk full'; END $$;
CREATE TRIGGER fail BEFORE INSERT ON by_owner FOR EACH ROW EXECUTE FUNCTION fail();
END
my $last = 3_000_000;
foreach my $n (1 .. 40)
{
	($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n" . load($last + 1, $last + 10_000));
	last if $status;
	$last += 10_000;
	$node->psql('postgres', 'SELECT kv.apply_changes()');
}
like($err, qr/ERROR:  KV008: global indexes of table "items" are too far behind/, 'too much put aside for an index refuses writers of its table');
is( $node->safe_psql('postgres', q(SELECT kv.put_item('others', '{"pk": "P", "sk": "1", "owner": "o"}') IS NULL)),
	't', 'and of no other table');
$node->safe_psql('postgres', 'DROP TRIGGER fail ON by_owner');
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
$node->safe_psql('postgres', load($last + 1, $last + 10_000));
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('items', 'by_owner') LIMIT 3)), '', 'mended, the index is exact again');
$node->stop;
done_testing();

# Returns SQL that writes items with numbers from one to another.
sub load
{
	my ($from, $to, $round) = @_;
	$round //= 0;
	return "INSERT INTO items SELECT 'P' || n % 1000, n::text, jsonb_build_object('owner', 'o' || (n + $round) % 50, 'n', n) FROM generate_series($from, $to) n"
	  . " ON CONFLICT (pk, sk) DO UPDATE SET item = excluded.item";
}
