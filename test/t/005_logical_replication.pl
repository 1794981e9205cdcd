# logical_replication: a key-value table is published and subscribed to as any table, its first copy included.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my @tables = ('messages', '"Mixed Case"', 'numbers', 'binaries', 'by_hand');

# Leaf by leaf, and through the root to a table that is partitioned otherwise; the copier is a superuser or not.
foreach my $via_root ('false', 'true')
{
	my $how = "publish_via_partition_root = $via_root";
	my $publisher = new_node("publisher_$via_root", '', allows_streaming => 'logical');
	my $subscriber = new_node("subscriber_$via_root", $via_root eq 'true' ? '' : undef);

	fill_tables($publisher);
	fill_tables($subscriber);
	$subscriber->safe_psql('postgres', "TRUNCATE $_") foreach @tables;
	if ($via_root eq 'true')
	{
		$subscriber->safe_psql('postgres', <<'END');
SELECT kv.drop_table('messages');
SELECT kv.create_table('messages', 'pk', 'sk', partitions => 3);
END
	}

	$publisher->safe_psql('postgres', <<"END");
CREATE ROLE copier LOGIN REPLICATION;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO copier;
CREATE PUBLICATION everything FOR TABLE @{[ join ', ', @tables ]} WITH (publish_via_partition_root = $via_root);
END
	my $connection = $publisher->connstr . ' dbname=postgres user=copier';
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION everything CONNECTION '$connection' PUBLICATION everything");
	$subscriber->wait_for_subscription_sync($publisher, 'everything');
	same_lines(contents($subscriber), contents($publisher), "$how: the first copy brings every row");

	# By item functions, by SQL and by COPY; a moved key is a delete and an insert.
	$publisher->safe_psql('postgres', <<'END');
SELECT kv.put_item('messages', '{"pk": "THREAD#new", "sk": "1", "body": "hello"}');
SELECT kv.put_item('messages', '{"pk": "THREAD#1", "sk": "MSG#000001", "body": "again"}');
SELECT kv.delete_item('messages', '{"pk": "THREAD#2", "sk": "MSG#000002"}');
UPDATE messages SET item = item || '{"seen": true}' WHERE pk = 'THREAD#3';
UPDATE messages SET pk = 'THREAD#moved' WHERE pk = 'THREAD#4';
DELETE FROM messages WHERE pk = 'THREAD#5';
DELETE FROM numbers WHERE pk = 3 AND sk > 10;
SELECT kv.put_item('binaries', '{"pk": {"$B": "/w=="}, "sk": {"$B": "AA=="}}');
SELECT kv.put_item('"Mixed Case"', '{"The Id": "new"}');
COPY by_hand FROM STDIN;
copied	1	{}
copied	2	{"a": 1}
\.
BEGIN;
SELECT kv.put_item('messages', '{"pk": "never", "sk": "1"}');
ROLLBACK;
-- Absent keys that are checked, kept absent, deleted, and written after all.
BEGIN;
SELECT kv.transact_write_items('[{"ConditionCheck": {"TableName": "messages", "Key": {"pk": "absent", "sk": "1"}, "ConditionExpression": "attribute_not_exists(pk)"}},
	{"Delete": {"TableName": "messages", "Key": {"pk": "absent", "sk": "2"}}}, {"Put": {"TableName": "messages", "Item": {"pk": "absent", "sk": "3"}}}]');
SELECT kv.put_item('messages', '{"pk": "absent", "sk": "1"}');
COMMIT;
SELECT kv.transact_write_items('[{"ConditionCheck": {"TableName": "messages", "Key": {"pk": "absent", "sk": "2"}, "ConditionExpression": "attribute_not_exists(pk)"}}]');
END
	$publisher->wait_for_catchup('everything');
	same_lines(contents($subscriber), contents($publisher), "$how: changes follow");
	is($subscriber->safe_psql('postgres', q(SELECT kv.get('messages', 'THREAD#new', '1')->>'body')),
		'hello', "$how: and are found by key");
	is($subscriber->safe_psql('postgres', q(SELECT count(*) FROM messages WHERE pk = 'THREAD#moved')), '50', "$how: by SQL too");
	check_btrees($subscriber, $how);

	# TRUNCATE follows as well.
	$publisher->safe_psql('postgres', 'TRUNCATE numbers');
	$publisher->wait_for_catchup('everything');
	is($subscriber->safe_psql('postgres', scan_sql('SELECT count(*) FROM numbers')), '0', "$how: TRUNCATE follows");

	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION everything');
	$subscriber->stop;
	$publisher->stop;
}

done_testing();
