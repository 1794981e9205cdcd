# concurrent writes: fifty sessions on one key lose nothing, whether the item is there at the start or not.

use strict;
use warnings;

use IPC::Run;
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $sessions = 50;
my $calls    = 200;
my $node     = new_node('concurrent', <<'END');
shared_preload_libraries = 'key_value'
max_connections = 100
END

$node->safe_psql('postgres', q(SELECT kv.create_table('items', 'pk', 'sk')));

# Counts up: every call on top of the one before, also the first.
run('count', <<'END');
SELECT kv.update_item('items', '{"pk": "count", "sk": "1"}', 'ADD hits :one', attribute_values => '{":one": 1}');
END
is(value(q(kv.get('items', 'count', '1') ->> 'hits')), $sessions * $calls, 'every count is there');

# The same when the item goes now and then: what was deleted and what is left add up.
$node->safe_psql('postgres', 'CREATE TABLE taken (hits int)');
run('count and take', <<'END');
\set take random(1, 20)
SELECT kv.update_item('items', '{"pk": "count", "sk": "2"}', 'ADD hits :one', attribute_values => '{":one": 1}');
\if :take = 1
INSERT INTO taken SELECT (old ->> 'hits')::int FROM kv.delete_item('items', '{"pk": "count", "sk": "2"}', return_values => 'ALL_OLD') old;
\endif
END
is(value(q((SELECT coalesce(sum(hits), 0) FROM taken) + coalesce((kv.get('items', 'count', '2') ->> 'hits')::int, 0))),
	$sessions * $calls, 'what was taken and what is left add up');

# Puts of a missing key: all succeed, one item is there, and the old items form one chain.
$node->safe_psql('postgres', 'CREATE SEQUENCE n; CREATE TABLE chain (new int, old int)');
run('put', <<'END');
WITH put AS MATERIALIZED (SELECT nextval('n') AS n)
INSERT INTO chain SELECT n, (kv.put_item('items', jsonb_build_object('pk', 'put', 'sk', '1', 'n', n), return_values => 'ALL_OLD') ->> 'n')::int FROM put;
END
is(value(q((SELECT count(*) FROM items WHERE pk = 'put'))), 1, 'one item');
is(value(q((SELECT count(*) FROM chain WHERE old IS NULL))), 1, 'one put found nothing');
is(value(q((SELECT count(DISTINCT old) FROM chain))), $sessions * $calls - 1, 'every item but the last was replaced once');
is(value(q((SELECT count(*) FROM chain a LEFT JOIN chain b ON b.old = a.new WHERE b.new IS NULL))), 1, 'the last was not');

# Claims: of all sessions that put a key only if it is absent exactly one wins, key by key.
$node->safe_psql('postgres', 'CREATE SEQUENCE claims; CREATE TABLE won (k int)');
run('claim', <<"END");
WITH claim AS MATERIALIZED (SELECT nextval('claims') / $sessions AS k)
INSERT INTO won SELECT k FROM claim WHERE (kv.put_item('items', jsonb_build_object('pk', 'claim', 'sk', k::text), 'attribute_not_exists(pk)',
	on_condition_failure => 'return') -> 'applied')::bool;
END
is(value(q((SELECT count(*) FROM won))), $calls + 1, 'every key was won');
is(value(q((SELECT count(DISTINCT k) FROM won))), $calls + 1, 'and won once');

# Optimistic versions: read, compute, write if the version is still the one that was read.
$node->safe_psql('postgres', <<'END');
SELECT kv.put_item('items', '{"pk": "version", "sk": "1", "version": 0}');
CREATE PROCEDURE next_version() LANGUAGE plpgsql AS $$
DECLARE
	seen numeric;
BEGIN
	LOOP
		seen := (kv.get('items', 'version', '1') ->> 'version')::numeric;
		EXIT WHEN (kv.update_item('items', '{"pk": "version", "sk": "1"}', 'SET version = :new', 'version = :seen',
			jsonb_build_object(':new', seen + 1, ':seen', seen), on_condition_failure => 'return') -> 'applied')::bool;
		COMMIT;
	END LOOP;
END $$;
END
run('version', "CALL next_version();\n", 20);
is(value(q(kv.get('items', 'version', '1') ->> 'version')), $sessions * 20, 'no update was lost');

# At REPEATABLE READ a lost race is a serialization failure that pgbench tries again.
run('repeatable read', <<'END', 20, '--max-tries=100000');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT kv.update_item('items', '{"pk": "count", "sk": "3"}', 'ADD hits :one', attribute_values => '{":one": 1}');
COMMIT;
END
is(value(q(kv.get('items', 'count', '3') ->> 'hits')), $sessions * 20, 'every count is there');

# A policy applies: the same through SQL.
$node->safe_psql('postgres', <<'END');
CREATE ROLE clerk LOGIN;
GRANT SELECT, INSERT, UPDATE, DELETE ON items TO clerk;
CREATE POLICY all_items ON items USING (true);
ALTER TABLE items ENABLE ROW LEVEL SECURITY;
END
run('policy', <<'END', 20, '-U clerk');
SELECT kv.update_item('items', '{"pk": "count", "sk": "4"}', 'ADD hits :one', attribute_values => '{":one": 1}');
END
is(value(q(kv.get('items', 'count', '4') ->> 'hits')), $sessions * 20, 'every count is there under a policy');

# While REINDEX CONCURRENTLY works a key has two unique indexes, and either may be the one that finds it taken.
$node->safe_psql('postgres', q(SELECT kv.create_table('rebuilt', 'pk', partitions => 1)));
my $log     = '';
my $rebuild = IPC::Run::start([ 'psql', '-Xq', '-d', $node->connstr('postgres') ],
	'<', \("REINDEX TABLE CONCURRENTLY rebuilt;\n" x 20), '&>', \$log);
run('rebuild', <<'END');
\set k random(1, 3)
SELECT kv.put_item('rebuilt', jsonb_build_object('pk', 'k' || :k));
SELECT kv.delete_item('rebuilt', jsonb_build_object('pk', 'k' || :k));
END
$rebuild->finish;
is($log, '', 'the index was rebuilt');

check_btrees($node, 'after all this');
done_testing();

# Runs a script of pgbench in all sessions at once; no call may fail.
sub run
{
	my ($name, $script, $times, $options) = @_;

	$times   //= $calls;
	$options //= '';
	$node->pgbench("-n -c $sessions -j 2 -t $times $options", 0,
		[qr{number of transactions actually processed: @{[ $sessions * $times ]}/@{[ $sessions * $times ]}}],
		[], $name, { $name =~ s/ /_/gr => $script });
	return;
}

# Returns the value of an SQL expression.
sub value
{
	my ($expression) = @_;
	return $node->safe_psql('postgres', "SELECT $expression");
}
