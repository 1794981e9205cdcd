# transact stress: many sessions at once; transactions are strictly serializable among themselves and with single-item functions.
#
# Three things run: transfers between accounts with readers who see the sum, write skew on absent keys, and a game on
# registers whose recorded history is searched for a cycle.  No transaction may ever meet a deadlock.

use strict;
use warnings;

use JSON::PP;
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $sessions = 10;
my $node     = new_node('transact_stress', <<'END');
shared_preload_libraries = 'key_value'
max_connections = 40
deadlock_timeout = 100ms
END

$node->safe_psql('postgres', <<'END');
SELECT kv.create_table('accounts', 'pk', partitions => 4);
SELECT kv.create_table('pairs', 'pk', 'sk', partitions => 4);
SELECT kv.create_table('registers', 'k', partition_key_type => 'N', partitions => 4);
SELECT kv.create_table('more_registers', 'k', partition_key_type => 'N', partitions => 2);
SELECT count(kv.put_item('accounts', jsonb_build_object('pk', 'ACCOUNT#' || n, 'balance', 1000))) FROM generate_series(1, 50) n;
CREATE TABLE wrong_sum (sum numeric);

-- Runs a transaction and tells whether it was cancelled.
CREATE FUNCTION transact(actions jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM kv.transact_write_items(actions);
	RETURN 'done';
EXCEPTION WHEN SQLSTATE 'KV002' THEN
	RETURN 'cancelled';
END $$;

CREATE FUNCTION take(account int, amount int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('Update', jsonb_build_object('TableName', 'accounts', 'Key', jsonb_build_object('pk', 'ACCOUNT#' || account),
		'UpdateExpression', 'SET balance = balance - :a', 'ConditionExpression', 'balance >= :a',
		'ExpressionAttributeValues', jsonb_build_object(':a', amount))) $$;
CREATE FUNCTION give(account int, amount int) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('Update', jsonb_build_object('TableName', 'accounts', 'Key', jsonb_build_object('pk', 'ACCOUNT#' || account),
		'UpdateExpression', 'ADD balance :a', 'ExpressionAttributeValues', jsonb_build_object(':a', amount))) $$;

-- The sum of all accounts by one transaction; notes a sum that cannot be.
CREATE FUNCTION look() RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	sum numeric;
BEGIN
	SELECT sum((r -> 'Item' ->> 'balance')::numeric) INTO sum
	FROM jsonb_array_elements(kv.transact_get_items((SELECT jsonb_agg(jsonb_build_object('Get',
		jsonb_build_object('TableName', 'accounts', 'Key', jsonb_build_object('pk', 'ACCOUNT#' || n)))) FROM generate_series(1, 50) n)) -> 'Responses') r;
	IF sum <> 50000 THEN
		INSERT INTO wrong_sum VALUES (sum);
	END IF;
	RETURN sum;
END $$;

-- Takes one side of a pair, unless either side is taken.
CREATE SEQUENCE turns;
CREATE FUNCTION skew() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	turn bigint := nextval('turns');
	side text := CASE WHEN random() < 0.5 THEN 'left' ELSE 'right' END;
	other text := CASE side WHEN 'left' THEN 'right' ELSE 'left' END;
BEGIN
	RETURN transact((SELECT jsonb_agg(action ORDER BY random()) FROM (VALUES
		(jsonb_build_object('Put', jsonb_build_object('TableName', 'pairs', 'Item', jsonb_build_object('pk', 'PAIR#' || turn / 6, 'sk', side),
			'ConditionExpression', 'attribute_not_exists(pk)'))),
		(jsonb_build_object('ConditionCheck', jsonb_build_object('TableName', 'pairs', 'Key', jsonb_build_object('pk', 'PAIR#' || turn / 6, 'sk', other),
			'ConditionExpression', 'attribute_not_exists(pk)')))) a(action)));
END $$;
END

# --- accounts and pairs, side by side ---

my %script = (
	transfer => <<'END',
\set a random(1, 50)
\set b random(1, 49)
\if :b >= :a
\set b :b + 1
\endif
\set n random(1, 400)
\set turned random(0, 1)
SELECT transact(CASE WHEN :turned = 1 THEN jsonb_build_array(take(:a, :n), give(:b, :n)) ELSE jsonb_build_array(give(:b, :n), take(:a, :n)) END);
END
	transfer_of_four => <<'END',
\set a random(1, 12)
\set b random(13, 25)
\set c random(26, 37)
\set d random(38, 50)
SELECT transact((SELECT jsonb_agg(action ORDER BY random()) FROM (VALUES (take(:a, 3)), (take(:c, 5)), (give(:b, 6)), (give(:d, 2))) x(action)));
END
	look => "SELECT look();\n",
	skew => "SELECT skew();\n",
);
pgbench('', 'transfers, readers and pairs', 200, map { [ $_, $script{$_} ] } sort keys %script);

is(value(q((SELECT count(*) FROM wrong_sum))), 0, 'every reader saw the whole sum');
is(value('look()'), 50000, 'the sum is what it was');
is(value(q((SELECT count(*) FROM kv.scan('accounts') a WHERE (a ->> 'balance')::numeric < 0))), 0, 'no account is below zero');
cmp_ok(value(q((SELECT count(DISTINCT p ->> 'pk') FROM kv.scan('pairs') p))), '>', 10, 'pairs were taken');
is(value(q((SELECT count(*) FROM (SELECT 1 FROM kv.scan('pairs') p GROUP BY p ->> 'pk' HAVING count(*) > 1) x))), 0, 'none of them on both sides');

# The same for a caller to whom a policy applies, whose rows come through SQL.
$node->safe_psql('postgres', <<'END');
TRUNCATE pairs;
CREATE ROLE clerk LOGIN;
GRANT SELECT, INSERT, UPDATE, DELETE ON pairs TO clerk;
GRANT USAGE ON SEQUENCE turns TO clerk;
CREATE POLICY all_pairs ON pairs USING (true);
ALTER TABLE pairs ENABLE ROW LEVEL SECURITY;
END
pgbench('-U clerk', 'pairs under a policy', 30, [ 'policy_skew', $script{skew} ]);
cmp_ok(value(q((SELECT count(DISTINCT p ->> 'pk') FROM kv.scan('pairs') p))), '>', 10, 'pairs were taken under a policy');
is(value(q((SELECT count(*) FROM (SELECT 1 FROM kv.scan('pairs') p GROUP BY p ->> 'pk' HAVING count(*) > 1) x))), 0, 'none of them on both sides');

# --- registers ---

# A register holds a version, unique among all, or is absent at first.  Every write is a compare-and-set on the version
# read before, so the order of a register's versions is known.
$node->safe_psql('postgres', <<'END');
CREATE SEQUENCE versions;
CREATE TABLE history (id bigserial PRIMARY KEY, phase text, session int, kind text, started timestamptz, ended timestamptz, reads jsonb, writes jsonb);

CREATE FUNCTION register_table(k bigint) RETURNS text LANGUAGE sql AS
	$$ SELECT CASE WHEN k % 3 = 0 THEN 'more_registers' ELSE 'registers' END $$;
CREATE FUNCTION register_key(k bigint) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('k', k) $$;

-- The condition that a register holds what was seen: its expression and the values for it.
CREATE FUNCTION as_seen(seen jsonb, OUT condition text, OUT expected jsonb) LANGUAGE sql AS $$
	SELECT CASE WHEN seen = 'null' THEN 'attribute_not_exists(k)' ELSE 'v = :seen' END,
		CASE WHEN seen = 'null' THEN '{}' ELSE jsonb_build_object(':seen', seen) END $$;

-- One action: a check, a put or an update on condition that the register is as it was seen.
CREATE FUNCTION register_action(k bigint, seen jsonb, new jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	c record := as_seen(seen);
	body jsonb := jsonb_build_object('TableName', register_table(k), 'ConditionExpression', c.condition, 'ReturnValuesOnConditionCheckFailure', 'ALL_OLD');
	new_value jsonb := c.expected || jsonb_build_object(':new', new);
BEGIN
	IF new IS NOT NULL AND random() < 0.5 THEN
		RETURN jsonb_build_object('Update', body || jsonb_build_object('Key', register_key(k), 'UpdateExpression', 'SET v = :new', 'ExpressionAttributeValues', new_value));
	END IF;
	IF c.expected <> '{}' THEN
		body := body || jsonb_build_object('ExpressionAttributeValues', c.expected);
	END IF;
	IF new IS NULL THEN
		RETURN jsonb_build_object('ConditionCheck', body || jsonb_build_object('Key', register_key(k)));
	END IF;
	RETURN jsonb_build_object('Put', body || jsonb_build_object('Item', register_key(k) || jsonb_build_object('v', new)));
END $$;

-- What some registers hold, as {"k": version or null}, by one transaction or one batch.
CREATE FUNCTION read_registers(ks bigint[], batch bool) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	answer jsonb;
	held jsonb;
BEGIN
	IF batch THEN
		answer := kv.batch_get_item((SELECT jsonb_object_agg(t, jsonb_build_object('Keys', keys)) FROM
			(SELECT register_table(k) AS t, jsonb_agg(register_key(k)) AS keys FROM unnest(ks) k GROUP BY 1) x));
		SELECT jsonb_object_agg(k::text, coalesce((SELECT i -> 'v' FROM jsonb_array_elements(answer -> 'Responses' -> register_table(k)) i
			WHERE (i ->> 'k')::bigint = k), 'null')) INTO held FROM unnest(ks) k;
	ELSE
		answer := kv.transact_get_items((SELECT jsonb_agg(jsonb_build_object('Get', jsonb_build_object('TableName', register_table(k), 'Key', register_key(k))) ORDER BY n)
			FROM unnest(ks) WITH ORDINALITY x(k, n)));
		SELECT jsonb_object_agg(k::text, coalesce(answer -> 'Responses' -> (n - 1)::int -> 'Item' -> 'v', 'null')) INTO held
			FROM unnest(ks) WITH ORDINALITY x(k, n);
	END IF;
	RETURN held;
END $$;

-- Writes some registers and checks others; gives what was read by that, and what was written (NULL: cancelled).
CREATE PROCEDURE write_registers(ks bigint[], seen jsonb, whole bool, INOUT reads jsonb, INOUT writes jsonb) LANGUAGE plpgsql AS $$
DECLARE
	new jsonb := '{}';
	actions jsonb := '[]';
	reasons jsonb;
	k bigint;
BEGIN
	FOREACH k IN ARRAY ks LOOP
		IF k = ks[1] OR random() < 0.5 THEN
			new := new || jsonb_build_object(k::text, nextval('versions'));
		END IF;
		actions := actions || register_action(k, seen -> k::text, new -> k::text);
	END LOOP;
	BEGIN
		PERFORM kv.transact_write_items(actions);
		reads := seen;
		writes := new;
	EXCEPTION WHEN SQLSTATE 'KV002' THEN
		-- Among transactions all that a cancelled one judged was so at one moment; beside single writes, each for itself.
		GET STACKED DIAGNOSTICS reasons = PG_EXCEPTION_DETAIL;
		SELECT jsonb_object_agg(x.k::text, CASE r ->> 'Code' WHEN 'None' THEN seen -> x.k::text ELSE coalesce(r -> 'Item' -> 'v', 'null') END)
			FILTER (WHERE whole OR r ->> 'Code' <> 'None') INTO reads
			FROM unnest(ks) WITH ORDINALITY x(k, n), LATERAL (SELECT reasons -> (n - 1)::int) y(r);
		writes := NULL;
	END;
END $$;

-- A compare-and-set of one register by a single-item function.
CREATE PROCEDURE write_register(k bigint, seen jsonb, INOUT reads jsonb, INOUT writes jsonb) LANGUAGE plpgsql AS $$
DECLARE
	c record := as_seen(seen);
	new jsonb := to_jsonb(nextval('versions'));
	answer jsonb;
BEGIN
	IF random() < 0.5 THEN
		answer := kv.update_item(register_table(k)::regclass, register_key(k), 'SET v = :new', c.condition, c.expected || jsonb_build_object(':new', new),
			return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
	ELSE
		answer := kv.put_item(register_table(k)::regclass, register_key(k) || jsonb_build_object('v', new), c.condition, nullif(c.expected, '{}'),
			return_values_on_failure => 'ALL_OLD', on_condition_failure => 'return');
	END IF;
	IF (answer -> 'applied')::bool THEN
		reads := jsonb_build_object(k::text, seen);
		writes := jsonb_build_object(k::text, new);
	ELSE
		reads := jsonb_build_object(k::text, coalesce(answer -> 'item' -> 'v', 'null'));
		writes := NULL;
	END IF;
END $$;

-- Plays some turns: each reads, or writes on top of what was read last, in a transaction of its own.
CREATE PROCEDURE play(phase text, session int, turns int) LANGUAGE plpgsql AS $$
DECLARE
	ks bigint[];
	kind text;
	seen jsonb;
	reads jsonb;
	writes jsonb;
	started timestamptz;
	ended timestamptz;
BEGIN
	FOR turn IN 1 .. turns LOOP
		SELECT array_agg(k ORDER BY random()) INTO ks FROM (
			SELECT k FROM generate_series((SELECT last_value / 60 FROM versions), (SELECT last_value / 60 + 7 FROM versions)) k
			ORDER BY random() LIMIT 2 + floor(random() * 3)) x;
		-- read and recorded first, then often written
		FOR step IN 1 .. 2 LOOP
			kind := CASE step WHEN 1 THEN CASE WHEN random() < 0.5 THEN 'transact_get' ELSE 'batch_get' END
				ELSE CASE WHEN random() < 0.15 THEN 'none' WHEN phase = 'mixed' AND random() < 0.5 THEN 'single' ELSE 'transact' END END;
			CONTINUE WHEN kind = 'none';
			started := clock_timestamp();
			reads := NULL;
			writes := NULL;
			IF step = 1 THEN
				reads := read_registers(ks, kind = 'batch_get');
				seen := reads;
			ELSIF kind = 'single' THEN
				CALL write_register(ks[1], seen -> ks[1]::text, reads, writes);
			ELSE
				CALL write_registers(ks, seen, phase = 'transactions', reads, writes);
			END IF;
			COMMIT;
			ended := clock_timestamp();
			IF phase = 'mixed' AND kind = 'transact' AND writes IS NULL THEN
				INSERT INTO history (phase, session, kind, started, ended, reads)
				SELECT phase, session, 'cancelled', started, ended, jsonb_build_object(key, value) FROM jsonb_each(reads);
			ELSE
				INSERT INTO history (phase, session, kind, started, ended, reads, writes) VALUES (phase, session, kind, started, ended, reads, writes);
			END IF;
			COMMIT;
		END LOOP;
	END LOOP;
END $$;
END

foreach my $phase ('transactions', 'mixed')
{
	$node->safe_psql('postgres', "SELECT setval('versions', nextval('versions') + 600)");
	pgbench('', "registers: $phase", 1, [ "registers_$phase", "CALL play('$phase', :client_id, 60);\n" ]);
	check_history($phase);
}

is(value(q((SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'))), 0, 'there was no deadlock');
is(value(q((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'))), 0, 'no lock is left');
check_btrees($node, 'after all this');
done_testing();

# Runs scripts of pgbench in all sessions at once; no call may fail.
sub pgbench
{
	my ($options, $name, $times, @scripts) = @_;
	my $all = $sessions * $times;

	$node->pgbench("$options -n -c $sessions -j 2 -t $times", 0, [qr{number of transactions actually processed: $all/$all}],
		[], $name, { map { @$_ } @scripts });
	return;
}

# Returns the value of an SQL expression.
sub value
{
	my ($expression) = @_;
	return $node->safe_psql('postgres', "SELECT $expression");
}

# Reads the history of a phase and checks it.
sub check_history
{
	my ($phase) = @_;
	my @operations = map { decode_json($_) } split /\n/, $node->safe_psql('postgres', <<"END");
SELECT jsonb_build_object('id', id, 'kind', kind, 'session', session, 'started', extract(epoch FROM started) * 1000000,
	'ended', extract(epoch FROM ended) * 1000000, 'reads', coalesce(reads, '{}'), 'writes', coalesce(writes, '{}'))
FROM history WHERE phase = '$phase' ORDER BY ended, id
END
	my %kinds;
	$kinds{ $_->{kind} . (%{ $_->{writes} } ? ' that wrote' : '') }++ foreach @operations;
	note(join ', ', map { "$kinds{$_} $_" } sort keys %kinds);

	cmp_ok($kinds{'transact that wrote'}, '>', 20, "$phase: transactions wrote");
	cmp_ok($kinds{'transact'} || $kinds{'cancelled'}, '>', 20, "$phase: and others were cancelled");

	my ($edges, @wrong) = edges_of(@operations);
	is_deeply(\@wrong, [], "$phase: every version was read where it was written, and replaced once");
	my @cycle = find_cycle(scalar @operations, $edges);
	is_deeply([ map { encode_json($_) } map { $operations[$_] // () } @cycle ], [], "$phase: the history has no cycle");
	return;
}

# Returns what must come before what: a list of successors for each operation, in order of their ends, and for points of time
# between them, which are numbered behind them; and what can never be.
sub edges_of
{
	my @operations = @_;
	my $count      = @operations;
	my (%writer, %successor, @edges, @wrong);

	foreach my $i (0 .. $#operations)
	{
		my ($reads, $writes) = @{ $operations[$i] }{qw(reads writes)};
		foreach my $k (keys %$writes)
		{
			my $seen = $reads->{$k} // 'absent';

			push @wrong, "register $k: version $seen was replaced twice" if exists $successor{$k}{$seen};
			$successor{$k}{$seen} = $i;
			$writer{$k}{ $writes->{$k} } = $i;
		}
	}
	foreach my $i (0 .. $#operations)
	{
		my $reads = $operations[$i]{reads};
		foreach my $k (keys %$reads)
		{
			my $seen = $reads->{$k} // 'absent';
			my $from = $writer{$k}{$seen};
			my $to   = $successor{$k}{$seen};

			push @wrong, "register $k: version $seen was never written" if $seen ne 'absent' and not defined $from;
			push @{ $edges[$from] }, $i if defined $from;
			push @{ $edges[$i] }, $to if defined $to and $to != $i;
		}
	}

	# What had ended before another began comes before it: by way of the points of time.
	my @ends = map { $_->{ended} } @operations;
	foreach my $i (0 .. $#operations)
	{
		push @{ $edges[$i] }, $count + $i;
		push @{ $edges[ $count + $i ] }, $count + $i + 1 if $i < $#operations;
		my ($low, $high) = (0, $i);
		while ($low < $high)
		{
			my $middle = int(($low + $high) / 2);
			if ($ends[$middle] < $operations[$i]{started}) { $low = $middle + 1 }
			else { $high = $middle }
		}
		push @{ $edges[ $count + $low - 1 ] }, $i if $low > 0;
	}
	return (\@edges, @wrong);
}

# Returns the nodes of a cycle, or nothing.
sub find_cycle
{
	my ($count, $edges) = @_;
	my @in = (0) x (2 * $count);

	foreach my $from (0 .. 2 * $count - 1)
	{
		$in[$_]++ foreach @{ $edges->[$from] // [] };
	}
	my @ready = grep { $in[$_] == 0 } 0 .. 2 * $count - 1;
	my $left  = 2 * $count;
	while (defined(my $node = pop @ready))
	{
		$left--;
		foreach (@{ $edges->[$node] // [] })
		{
			push @ready, $_ if --$in[$_] == 0;
		}
	}
	return unless $left;

	# Every node left can be reached from another one that is left: walk back until one comes twice.
	my @before;
	foreach my $from (grep { $in[$_] > 0 } 0 .. 2 * $count - 1)
	{
		$before[$_] = $from foreach grep { $in[$_] > 0 } @{ $edges->[$from] // [] };
	}
	my ($node) = grep { $in[$_] > 0 } 0 .. 2 * $count - 1;
	my (%seen, @path);
	until ($seen{$node})
	{
		$seen{$node} = @path + 1;
		push @path, $node;
		$node = $before[$node];
	}
	return reverse @path[ $seen{$node} - 1 .. $#path ];
}
