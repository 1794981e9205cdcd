# index_build: an index on a full table is made while sessions write; none of them waits for it for long, and it ends exact.

use strict;
use warnings;

use IPC::Run qw(start finish);
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_node('build', <<'END');
shared_preload_libraries = 'key_value'
key_value.index_batch_size = 200
END
my $folder = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
SELECT kv.create_table('items', 'pk', 'sk', partitions => 8);
INSERT INTO items SELECT 'P' || n % 1000, 'S' || n, jsonb_build_object('status', 'st' || n % 20, 'n', n) FROM generate_series(1, 40000) n;
END

# The status moves in some writes, and some items come and go; half of the writes are single statements, half transactions of some length.
append_to_file("$folder/short.sql", <<'END');
\set n random(1, 40000)
\set m random(1, 20)
SELECT kv.update_item('items', jsonb_build_object('pk', 'P' || :n % 1000, 'sk', 'S' || :n), 'SET #s = :v', attribute_values => jsonb_build_object(':v', 'st' || :m), attribute_names => '{"#s": "status"}');
END
append_to_file("$folder/long.sql", <<'END');
\set n random(1, 40000)
BEGIN;
DELETE FROM items WHERE pk = 'P' || :n % 1000 AND sk = 'S' || :n;
SELECT pg_sleep(0.005);
SELECT kv.put_item('items', jsonb_build_object('pk', 'P' || :n % 1000, 'sk', 'new' || :n, 'status', 'new', 'n', :n));
COMMIT;
END
my $writers = start([ 'pgbench', '-n', '-c', '4', '-j', '1', '-T', '10', '-l', "--log-prefix=$folder/log", '-f', "$folder/short.sql\@10", '-f', "$folder/long.sql\@1",
		'-h', $node->host, '-p', $node->port, 'postgres' ], '<', \undef, '>', \my $out, '2>', \my $err);

usleep(1_500_000);
# autovacuum and a transaction that has written before are there as well
my $open = start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
		q(BEGIN; INSERT INTO items VALUES ('open', '1', '{"status": "open", "n": 1}'); SELECT pg_sleep(3); COMMIT) ], '<', \undef, '>', \my $nothing);
usleep(200_000);
$node->safe_psql('postgres', q(SELECT kv.create_global_index('items', 'by_status', 'status', 'n', sort_key_type => 'N')));
ok($node->poll_query_until('postgres', q(SELECT state = 'ACTIVE' FROM kv.indexes)), 'the index is filled beside writers');
$open->finish;
ok(finish($writers), 'they have met no error') or diag($err);

# A busy machine pauses as well; who waits behind the making of the index waits for the open transaction, for twice as long.
my ($longest, $writes) = (0, 0);
foreach my $log (glob "$folder/log.*")
{
	foreach my $line (split /\n/, slurp_file($log))
	{
		my $latency = (split / /, $line)[2] / 1000;
		$longest = $latency if $latency > $longest;
		$writes++;
	}
}
note "$writes writes, the longest took $longest ms";
cmp_ok($writes, '>', 100, 'they have written');
cmp_ok($longest, '<', 1400, 'none has waited for long');

is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('items', 'by_status', '60 s'))), 't', 'the index has everything');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('items', 'by_status') LIMIT 3)), '', 'and is exact');
is($node->safe_psql('postgres', q(SELECT count(*) FROM by_status WHERE status = 'open')), '1', 'with what a transaction wrote that had begun before');
$node->stop;
done_testing();
