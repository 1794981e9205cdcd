# dynamodb_dump: what kv.dynamodb made is the same after dump and restore: derived names of tables, indexes and key attributes, tags, and items.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('old', '');
my $files = PostgreSQL::Test::Utils::tempdir();
my %request = (
	table => "repeat('long.name-', 25)",
	hash  => "repeat('h', 255)",
	range => "'item'",
	other => "repeat('g', 100)");

$node->safe_psql('postgres', <<"END");
CREATE EXTENSION kv_test;
SET client_min_messages = warning;
SELECT kv.dynamodb('CreateTable', jsonb_build_object('TableName', $request{table}, 'Tags', '[{"Key": "Owner", "Value": "it''s mine"}]'::jsonb,
	'AttributeDefinitions', (SELECT jsonb_agg(jsonb_build_object('AttributeName', a, 'AttributeType', 'S')) FROM unnest(ARRAY[$request{hash}, $request{range}, $request{other}]) a),
	'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', $request{hash}, 'KeyType', 'HASH'), jsonb_build_object('AttributeName', $request{range}, 'KeyType', 'RANGE')),
	'LocalSecondaryIndexes', jsonb_build_array(jsonb_build_object('IndexName', repeat('local-', 30), 'Projection', '{"ProjectionType": "KEYS_ONLY"}'::jsonb,
		'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', $request{hash}, 'KeyType', 'HASH'), jsonb_build_object('AttributeName', $request{other}, 'KeyType', 'RANGE')))),
	'GlobalSecondaryIndexes', jsonb_build_array(jsonb_build_object('IndexName', repeat('global-', 30), 'Projection', '{"ProjectionType": "ALL"}'::jsonb,
		'KeySchema', jsonb_build_array(jsonb_build_object('AttributeName', $request{other}, 'KeyType', 'HASH'))))));
SELECT kv.dynamodb('PutItem', jsonb_build_object('TableName', $request{table}, 'Item', jsonb_build_object(
	$request{hash}, '{"S": "h"}'::jsonb, $request{range}, jsonb_build_object('S', i::text), $request{other}, '{"S": "g"}'::jsonb)))
FROM generate_series(1, 20) i;
SELECT kv.apply_changes();
END

my $before = all_of('postgres');
like($before, qr/long\.name-long/, 'the table is there');
like($before, qr/it's mine/, 'so are its tags');
like($before, qr/\b20\|20\|20\b/, 'so are its items, in both indexes');
unlike($before, qr/~[0-9a-f]{16}.*Table(Name|Arn)/, 'nobody sees a derived name through the door');

foreach my $options ([], ['--clean', '--if-exists'], ['-j', '2'])
{
	$node->command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', "$files/archive" ], 'pg_dump');
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->command_ok([ 'pg_restore', '--exit-on-error', @$options, '-d', $node->connstr('restored'), "$files/archive" ], "pg_restore @$options");
	$node->safe_psql('restored', 'SELECT kv.apply_changes()');
	is(all_of('restored'), $before, "pg_restore @$options: the same");
	$node->safe_psql('postgres', 'DROP DATABASE restored');
}

# In one session, which has seen the table before its comments came.
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', "$files/plain.sql" ], 'pg_dump, plain');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
open my $plain, '<', "$files/plain.sql" or die $!;
my $script = do { local $/; <$plain> };
close $plain;
$script =~ s/^(COMMENT ON TABLE)/SELECT count(*) FROM kv.tables t, LATERAL kv.describe_table(t.table_name);\n$1/m;
is($node->safe_psql('restored', "$script\nSELECT kv.apply_changes() >= 0;\n" . query()) =~ s/.*\bt\n(?=\{)//sr, $before, 'the same in the session that restored it');

# Without comments the names are the relations' own, and the items are there.
$node->safe_psql('postgres', 'CREATE DATABASE silent');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--no-comments', '-d', $node->connstr('silent'), "$files/archive" ], 'pg_restore --no-comments');
is($node->safe_psql('silent', q(SELECT count(*) FROM kv.tables t, kv.scan(t.table_name) WHERE dynamodb_name = table_name::text OR table_name::text LIKE '"%')), '20', 'without comments the items are there');
done_testing();

# Returns the query that shows all that there is.
sub query
{
	return <<"END";
SELECT kv.dynamodb('DescribeTable', jsonb_build_object('TableName', $request{table})) #- '{Table,TableSizeBytes}' #- '{Table,ItemCount}'
	#- '{Table,GlobalSecondaryIndexes,0,IndexSizeBytes}' #- '{Table,GlobalSecondaryIndexes,0,ItemCount}';
SELECT kv.dynamodb('ListTagsOfResource', jsonb_build_object('ResourceArn', $request{table}));
SELECT kv.dynamodb('Scan', jsonb_build_object('TableName', $request{table})) -> 'Count',
	kv.dynamodb('Query', jsonb_build_object('TableName', $request{table}, 'IndexName', repeat('local-', 30), 'KeyConditionExpression', '#h = :h AND #g = :g',
		'ExpressionAttributeNames', jsonb_build_object('#h', $request{hash}, '#g', $request{other}),
		'ExpressionAttributeValues', '{":h": {"S": "h"}, ":g": {"S": "g"}}'::jsonb)) -> 'Count',
	kv.dynamodb('Query', jsonb_build_object('TableName', $request{table}, 'IndexName', repeat('global-', 30), 'KeyConditionExpression', '#g = :g',
		'ExpressionAttributeNames', jsonb_build_object('#g', $request{other}), 'ExpressionAttributeValues', '{":g": {"S": "g"}}'::jsonb)) -> 'Count';
END
}

# Returns what it shows of a database.
sub all_of
{
	return $node->safe_psql($_[0], query());
}
