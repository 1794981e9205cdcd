# preload: the extension with and without preloading, and the first statement of a session.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use Test::More;

foreach my $preload ('', q(shared_preload_libraries = 'key_value'), q(session_preload_libraries = 'key_value'))
{
	my ($how) = $preload =~ /^(\w+)/ ? $1 : 'no preload';
	my $node = new_node("node_" . ($how =~ s/\W/_/gr), $preload);

	$node->safe_psql('postgres', <<'END');
SELECT kv.create_table('messages', 'pk', 'sk');
SELECT kv.put_item('messages', '{"pk": "a", "sk": "1", "body": "hello"}');
CREATE VIEW all_messages AS SELECT * FROM messages;
CREATE TABLE plain (pk text);
CREATE ROLE app LOGIN;
GRANT SELECT ON messages TO app;
END

	# Each of these is the first statement of its session.
	my $plan = $node->safe_psql('postgres', q(EXPLAIN (COSTS OFF) SELECT item FROM messages WHERE pk = 'a' AND sk = '1'));
	like($plan, qr/KeyValue Query/, "$how: a session's first SELECT by key is a key query");
	is($node->safe_psql('postgres', q(SELECT item->>'body' FROM messages WHERE pk = 'a')),
		'hello', "$how: and gives its item");
	is($node->safe_psql('postgres', q(SELECT kv.get('messages', 'a', '1')->>'body')), 'hello', "$how: kv.get first");
	foreach my $scan (
		'SELECT * FROM messages',
		'SELECT count(*) FROM messages',
		'SELECT * FROM all_messages',
		'SELECT * FROM plain JOIN messages ON true',
		'DELETE FROM messages',
		"UPDATE messages SET item = '{}'",
		'WITH m AS (SELECT * FROM messages) SELECT * FROM m',
		'PREPARE s AS SELECT * FROM messages; EXECUTE s',
		'DO $$ BEGIN PERFORM * FROM messages; END $$',
		'CREATE TABLE copied AS SELECT * FROM messages',
		'INSERT INTO plain SELECT pk FROM messages',
		'EXPLAIN SELECT * FROM messages',
		'DECLARE c CURSOR WITH HOLD FOR SELECT * FROM messages')
	{
		sqlstate_is($node, $scan, 'KV010', "$how: refused as the first statement: $scan");
	}

	# The setting can be given before the library is there; that does not make it anyone's.
	my ($status, $out, $err) = $node->psql('postgres',
		"SET key_value.allow_scan = on;\nSELECT count(*) FROM messages;", extra_params => [ '-U', 'app' ]);
	like($err, qr/ERROR:.*(permission denied|not a key query|key quer)/, "$how: an ordinary user cannot allow itself to scan");
	unlike($out, qr/^1$/m, "$how: and gets no answer");
	is($node->safe_psql('postgres', scan_sql('SELECT count(*) FROM messages')), '1', "$how: a superuser can");

	# The extension goes and comes back.
	sqlstate_is($node, 'DROP EXTENSION key_value', '2BP01', "$how: the extension stays while tables need it");
	$node->safe_psql('postgres', <<'END');
SELECT kv.drop_table('messages') WHERE false;
DROP VIEW all_messages;
SELECT kv.drop_table('messages');
DROP EXTENSION key_value;
CREATE EXTENSION key_value;
SELECT kv.create_table('messages', 'pk');
SELECT kv.put_item('messages', '{"pk": "again"}');
END
	is($node->safe_psql('postgres', q(SELECT kv.get('messages', 'again'))), '{"pk": "again"}',
		"$how: dropped and created again in one session");
	$node->safe_psql('postgres', 'DROP EXTENSION key_value CASCADE');
	is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_class WHERE relname LIKE 'messages%')),
		'0', "$how: CASCADE takes the tables along");
	$node->stop;
}

done_testing();
