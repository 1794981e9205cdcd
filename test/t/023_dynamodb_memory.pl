# dynamodb memory: a page of many small items, and a batch of large ones, take a few times their size through kv.dynamodb.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no /proc/self/status' unless -r '/proc/self/status';

my $node = new_node('dynamodb_memory');

$node->safe_psql('postgres', <<'END');
SELECT kv.create_table('small', 'pk', 'sk', 'S', 'N');
INSERT INTO small SELECT 'p', i FROM generate_series(1, 150000) i;
SELECT kv.create_table('large', 'pk');
SELECT kv.put_item('large', jsonb_build_object('pk', k, 'list', (SELECT jsonb_agg(jsonb_build_array(i, repeat('x', 80))) FROM generate_series(1, 3000) i))) FROM generate_series(1, 25) n, CAST('k' || n AS text) k;
CREATE TABLE request AS SELECT ('{"RequestItems": {"large": [' || string_agg('{"PutRequest": {"Item": ' || kv.to_dynamodb_json(kv.get('large', 'k' || n))::text || '}}', ',') || ']}}')::jsonb AS body
	FROM generate_series(1, 25) n;
END

# Returns by how many kB a statement raises what the session's process has had in memory; the first one fills shared memory and caches.
sub growth
{
	my ($statement) = @_;
	my $peak = q(SELECT (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)'))[1];);
	my ($before, $after) = split /\n/, $node->safe_psql('postgres', <<"END");
SELECT kv.scan_page('small', page_size => 100000) IS NULL \\g /dev/null
SELECT count(kv.get('large', 'k' || i)) FROM generate_series(1, 25) i \\g /dev/null
$peak
$statement \\g /dev/null
$peak
END
	return $after - $before;
}

my $keys = q((SELECT jsonb_agg(jsonb_build_object('pk', jsonb_build_object('S', 'k' || i))) FROM generate_series(1, 25) i));
my %statement = (
	'a page of 1 MB of small items'  => q(SELECT kv.dynamodb('Scan', '{"TableName": "small"}')),
	'a batch of 25 large items read' => qq(SELECT kv.dynamodb('BatchGetItem', jsonb_build_object('RequestItems', jsonb_build_object('large', jsonb_build_object('Keys', $keys))))),
	'a batch of 25 large items written' => q(SELECT kv.dynamodb('BatchWriteItem', body) FROM request),
);
foreach my $what (sort keys %statement)
{
	my $grown = growth($statement{$what});
	cmp_ok($grown, '<', 200 * 1024, $what);
	note "$what: $grown kB";
}

done_testing();
