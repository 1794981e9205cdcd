# transact memory: a session that runs 100,000 batches and transactions does not grow, in one transaction or in many.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $calls = 12_500;
my $node = new_node('transact_memory');

$node->safe_psql('postgres', <<'END');
SELECT kv.create_table('items', 'pk', 'sk', partitions => 4);

-- Does one call of a kind: batches, transactions with and without token, those that are cancelled, on keys that come again and on new ones.
CREATE FUNCTION call(kind text, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	a jsonb := jsonb_build_object('pk', 'p' || n % 10, 'sk', (n % 100)::text, 'body', repeat('x', n % 1000));
	b jsonb := jsonb_build_object('pk', 'q' || n % 10, 'sk', n::text);
BEGIN
	CASE kind
	WHEN 'batch_write' THEN
		PERFORM kv.batch_write_item(jsonb_build_object('items', jsonb_build_array(jsonb_build_object('PutRequest', jsonb_build_object('Item', a)),
			jsonb_build_object('DeleteRequest', jsonb_build_object('Key', b)))));
	WHEN 'batch_get' THEN
		PERFORM kv.batch_get_item(jsonb_build_object('items', jsonb_build_object('Keys', jsonb_build_array(a - 'body', b), 'ProjectionExpression', 'pk, body')));
	WHEN 'transact_write' THEN
		PERFORM kv.transact_write_items(jsonb_build_array(
			jsonb_build_object('Put', jsonb_build_object('TableName', 'items', 'Item', a)),
			jsonb_build_object('ConditionCheck', jsonb_build_object('TableName', 'items', 'Key', b, 'ConditionExpression', 'attribute_not_exists(pk)'))),
			CASE WHEN n % 10 = 0 THEN 'token-' || n END);
	WHEN 'transact_get' THEN
		PERFORM kv.transact_get_items(jsonb_build_array(jsonb_build_object('Get', jsonb_build_object('TableName', 'items', 'Key', a - 'body')),
			jsonb_build_object('Get', jsonb_build_object('TableName', 'items', 'Key', b))));
	END CASE;
END $$;

-- What the session has taken for its contexts.  Left out is what plain SQL makes grow as well: plpgsql's own at each COMMIT,
-- and core's notes on rows that one transaction writes twice, of which a part is in TopTransactionContext (see run).
CREATE FUNCTION taken() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts WHERE name NOT IN ('SPI Proc', 'Combo CIDs') $$;

-- Runs many calls and tells how much was taken between the first thousand and the last.
CREATE PROCEDURE run(kind text, calls int, at_once bool) LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	FOR n IN 1 .. calls LOOP
		PERFORM call(kind, n);
		IF NOT at_once THEN
			COMMIT;
		END IF;
		IF n = 1000 THEN
			before := taken();
		END IF;
	END LOOP;
	RAISE NOTICE '% % %', kind, CASE WHEN at_once THEN 'one' ELSE 'many' END, taken() - before;
END $$;
END

# All in one session.
my @kinds = qw(batch_write batch_get transact_write transact_get);
my ($status, $out, $err) = $node->psql('postgres', join '', map { "CALL run('$_', $calls, false); CALL run('$_', $calls, true);\n" } @kinds);
is($status, 0, 'the calls run') or diag($err);
my %grown = map { /NOTICE:  (\w+ \w+) (-?\d+)$/ ? ($1 => $2) : () } split /\n/, $err;

foreach my $kind (@kinds)
{
	# A few pages of some caches come and go.
	cmp_ok($grown{"$kind many"}, '<', 100_000, "$kind: no growth over $calls transactions");
	cmp_ok($grown{"$kind one"}, '<', 100_000 + 40 * $calls, "$kind: nor within one, beside core's notes");
}
is(scalar keys %grown, 2 * @kinds, 'all were measured');

is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')), 0, 'no lock is left');

$node->stop;
done_testing();
