# standby: a physical standby answers reads, refuses writes and can take over.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use Test::More;

foreach my $preload ('', q(shared_preload_libraries = 'key_value'))
{
	my $how = $preload ? 'preload' : 'plain';
	my $primary = new_node("primary_$how", $preload, allows_streaming => 1);
	fill_tables($primary);
	$primary->backup('base');

	my $standby = PostgreSQL::Test::Cluster->new("standby_$how");
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	$standby->start;

	# What came after the backup arrives by WAL, a new table too.
	$primary->safe_psql('postgres', <<'END');
SELECT kv.put_item('messages', '{"pk": "THREAD#new", "sk": "1", "body": "hello"}');
SELECT kv.put_item('messages', '{"pk": "THREAD#1", "sk": "MSG#000001", "body": "again"}');
SELECT kv.delete_item('messages', '{"pk": "THREAD#2", "sk": "MSG#000002"}');
SELECT kv.create_table('later', 'id', partition_key_type => 'N');
SELECT kv.put_item('later', '{"id": 7}');
END
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

	is($standby->safe_psql('postgres', q(SELECT kv.get('messages', 'THREAD#new', '1')->>'body')), 'hello', "$how: kv.get");
	is($standby->safe_psql('postgres', q(SELECT kv.get_item('messages', '{"pk": "THREAD#1", "sk": "MSG#000001"}')->>'body')),
		'again', "$how: kv.get_item");
	is($standby->safe_psql('postgres', q(SELECT kv.get('messages', 'THREAD#2', 'MSG#000002') IS NULL)), 't', "$how: a deleted item");
	is($standby->safe_psql('postgres', q(SELECT kv.get('later', '7'))), '{"id": 7}', "$how: a table made later");
	is($standby->safe_psql('postgres', q(SELECT count(*) FROM kv.query('messages', 'pk = :t', '{":t": "THREAD#3"}'))),
		'50', "$how: kv.query");
	is($standby->safe_psql('postgres', q(SELECT item->>'n' FROM messages WHERE pk = 'THREAD#3' ORDER BY sk DESC LIMIT 2)),
		"983\n963", "$how: SELECT by key");
	like($standby->safe_psql('postgres', q(EXPLAIN (COSTS OFF) SELECT item FROM messages WHERE pk = 'THREAD#3')),
		qr/KeyValue Query/, "$how: as a key query");
	sqlstate_is($standby, 'SELECT * FROM messages', 'KV010', "$how: a scan is refused");
	same_lines(contents($standby), contents($primary), "$how: every row is the same");
	check_btrees($primary, $how);

	foreach my $write (
		q(SELECT kv.put_item('messages', '{"pk": "x", "sk": "y"}')),
		q(SELECT kv.delete_item('messages', '{"pk": "THREAD#1", "sk": "MSG#000001"}')),
		q(SELECT kv.create_table('other', 'pk')),
		q(SELECT kv.drop_table('later')),
		q(INSERT INTO messages VALUES ('x', 'y')))
	{
		sqlstate_is($standby, $write, '25006', "$how: refused on the standby: $write");
	}

	$primary->stop;
	$standby->promote;
	$standby->safe_psql('postgres', q(SELECT kv.put_item('messages', '{"pk": "THREAD#new", "sk": "2", "body": "promoted"}')));
	is($standby->safe_psql('postgres', q(SELECT item->>'body' FROM messages WHERE pk = 'THREAD#new' ORDER BY sk)),
		"hello\npromoted", "$how: it takes writes once promoted");
	check_btrees($standby, "$how: promoted");
	$standby->stop;
}

done_testing();
