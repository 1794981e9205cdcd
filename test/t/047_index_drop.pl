# index_drop: sessions that see a table for the first time write to it while its index is made and dropped again and again.

use strict;
use warnings;

use IPC::Run qw(start);
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seconds = 8;
my $node = new_node('drop');
my $script = "$node->{_basedir}/write.sql";

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
SELECT kv.create_table('items', 'pk', 'sk', partitions => 2);
END
append_to_file($script, <<'END');
\set n random(1, 1000)
SELECT kv.put_item('items', jsonb_build_object('pk', 'P' || :n, 'sk', '1', 'owner', 'o' || :n));
END

# A new connection for each write reads the index's definition, which may be dropped at any moment.
my $writers = start([ 'pgbench', '-n', '-C', '-c', 4, '-T', $seconds, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ],
	'>', \my $out, '2>', \my $err);
my $end = time + $seconds;
my $made = 0;
while (time < $end)
{
	$node->safe_psql('postgres', q(SELECT kv.create_global_index('items', 'by_owner', 'owner')));
	$node->safe_psql('postgres', q(SELECT kv.drop_index('items', 'by_owner')));
	$made++;
}
$writers->finish;
unlike($err, qr/ERROR/, 'no writer meets an error');
cmp_ok($made, '>', 5, 'the index was made and dropped several times');

$node->safe_psql('postgres', q(SELECT kv.create_global_index('items', 'by_owner', 'owner')));
$node->safe_psql('postgres', q(SELECT kv.apply_changes()));
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('items', 'by_owner') LIMIT 3)), '', 'made at last, the index is exact');
$node->stop;
done_testing();
