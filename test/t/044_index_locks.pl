# index_locks: a transaction that stays open and has a table, a partition or an index locked stops no other index, and its own is right afterwards.

use strict;
use warnings;

use IPC::Run;
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('locks', <<'END');
shared_preload_libraries = 'key_value'
max_prepared_transactions = 5
key_value.naptime = '10 min'
END

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
SELECT kv.create_table(name, 'pk', 'sk', partitions => 2) FROM unnest(ARRAY['held', 'free']) name;
SELECT kv.create_global_index('held', 'held_a', 'a');
SELECT kv.create_global_index('held', 'held_b', 'b');
SELECT kv.create_global_index('free', 'free_a', 'a');
END

my $number = 0;
my %in_the_way = (
	'an index that is being dropped' => [ q(SELECT kv.drop_index('held', 'held_b')), 'ROLLBACK' ],
	'a partition that is locked' => [ 'LOCK TABLE held_p0 IN ACCESS EXCLUSIVE MODE', 'COMMIT' ],
	'a primary key that is locked' => [ 'REINDEX INDEX held_p0_pkey', 'COMMIT' ],
	'an index that is locked' => [ 'LOCK TABLE held_b IN ACCESS EXCLUSIVE MODE', 'COMMIT' ],
	'a table that is locked' => [ 'LOCK TABLE held IN ACCESS EXCLUSIVE MODE', 'COMMIT' ]);
foreach my $what (sort keys %in_the_way)
{
	my ($begin, $end) = @{ $in_the_way{$what} };
	my $apply = session(q(BEGIN; SELECT kv.apply_changes() IS NULL));
	# while a session applies the worker does not, so this is applied behind the lock
	$node->safe_psql('postgres', put('held'));
	my $open = session("BEGIN; $begin");
	finish_session($apply, 'COMMIT');
	my $only_index = $begin =~ /held_b/;
	$node->safe_psql('postgres', put('held')) if $only_index;
	my $value = "a$number";
	$node->safe_psql('postgres', put('free'));
	is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('free', 'free_a', '30 s'))), 't', "$what stops no index of another table");
	if ($only_index)
	{
		ok($node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM held_a WHERE a = '$value')"), "$what stops no other index of its table");
	}
	finish_session($open, $end);
	right($what);
}

# a prepared transaction keeps its locks for as long as it likes
$node->safe_psql('postgres', q(BEGIN; TRUNCATE held_p1; PREPARE TRANSACTION 'truncation'));
$node->safe_psql('postgres', put('free'));
is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('free', 'free_a', '30 s'))), 't', 'a prepared transaction stops no index of another table');
$node->safe_psql('postgres', q(COMMIT PREPARED 'truncation'));
right('a prepared transaction');

# what is put aside for a table that is locked for long is not written again with each try
my $apply = session(q(BEGIN; SELECT kv.apply_changes() IS NULL));
$node->safe_psql('postgres', put('held', 4000));
my $open = session('BEGIN; LOCK TABLE held IN ACCESS EXCLUSIVE MODE');
finish_session($apply, 'COMMIT');
my $inserted = q(SELECT n_tup_ins FROM pg_stat_user_tables WHERE relid = 'kv.change_retry'::regclass);
my $before = $node->safe_psql('postgres', $inserted);
ok($node->poll_query_until('postgres', q(SELECT count(*) = 4000 FROM kv.change_retry)), 'what is behind a lock is put aside');
sleep 5;
cmp_ok($node->safe_psql('postgres', $inserted) - $before, '<=', 4000, 'and that once');
finish_session($open, 'COMMIT');
right('a table that was locked for long');

# what is put aside for a table that was locked comes when it is not any more, though that for another, which is tried first, cannot
$apply = session(q(BEGIN; SELECT kv.apply_changes() IS NULL));
$node->safe_psql('postgres', put($_)) foreach 'held', 'free';
my %open = map { $_ => session("BEGIN; LOCK TABLE $_ IN ACCESS EXCLUSIVE MODE") } 'held', 'free';
finish_session($apply, 'COMMIT');
ok($node->poll_query_until('postgres', q(SELECT count(DISTINCT base) = 2 FROM kv.change_retry)), 'what is behind two locks is put aside');
finish_session($open{free}, 'COMMIT');
is($node->safe_psql('postgres', q(SELECT kv.wait_for_index('free', 'free_a', '30 s'))), 't', 'a table that is locked still does not keep one that is not from being tried again');
finish_session($open{held}, 'COMMIT');
right('one of two tables that were locked');

# what is put aside for one index is tried now and then, too, while its table is locked
$node->safe_psql('postgres', <<'END');
CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not yet'; END $$;
CREATE TRIGGER fail_once BEFORE INSERT ON held_a FOR EACH ROW EXECUTE FUNCTION fail_once();
END
$node->safe_psql('postgres', put('held'));
ok($node->poll_query_until('postgres', q(SELECT count(*) = 8 FROM kv.change_retry)), 'what one index refuses is put aside');
$open = session('BEGIN; LOCK TABLE held IN ACCESS EXCLUSIVE MODE');
$node->safe_psql('postgres', 'DROP FUNCTION fail_once CASCADE');
my $offset = -s $node->logfile;
sleep 5;
my $tries = () = slurp_file($node->logfile, $offset) =~ /could not apply changes of table "held"/g;
cmp_ok($tries, '<=', 6, 'and not tried all the time');
finish_session($open, 'COMMIT');
right('a table that was locked while an index was behind');

# by hand, an index that cannot be written to keeps none of the others waiting, nor from what was put aside for them
$node->append_conf('postgresql.conf', 'key_value.workers = 0');
$node->restart;
$node->safe_psql('postgres', <<'END');
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no more'; END $$;
CREATE TRIGGER fail BEFORE INSERT ON held_a FOR EACH ROW EXECUTE FUNCTION fail();
CREATE TRIGGER fail BEFORE INSERT ON held_b FOR EACH ROW EXECUTE FUNCTION fail();
END
$node->safe_psql('postgres', put('held'));
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT count(*) FROM kv.change_retry)), '16', 'what two indexes do not take is put aside');
$node->safe_psql('postgres', 'DROP TRIGGER fail ON held_b');
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('held', 'held_b') LIMIT 3)), '', 'the second index has it when it can be written to');
is($node->safe_psql('postgres', q(SELECT count(*) FROM kv.change_retry)), '8', 'the first has it put aside still');
$node->safe_psql('postgres', 'DROP TRIGGER fail ON held_a');
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('held', 'held_a') LIMIT 3)), '', 'until it can be written to');

# what takes long until it says that somebody has a lock is tried as seldom as other errors
$node->safe_psql('postgres', <<'END');
CREATE FUNCTION tarry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.1); RAISE lock_not_available; END $$;
CREATE TRIGGER tarry BEFORE INSERT ON held_a FOR EACH ROW EXECUTE FUNCTION tarry();
END
$node->safe_psql('postgres', put('held'));
$node->safe_psql('postgres', 'SELECT kv.apply_changes()') foreach 1 .. 4;
is($node->safe_psql('postgres', q(SELECT retry_at - error_at > '5 s' FROM kv.index_state WHERE index = 'held_a'::regclass)), 't', 'a slow trigger does not pass for a lock');
$node->safe_psql('postgres', 'DROP TRIGGER tarry ON held_a');
$node->safe_psql('postgres', 'SELECT kv.apply_changes()');
is($node->safe_psql('postgres', q(SELECT * FROM kv_test.check_index('held', 'held_a') LIMIT 3)), '', 'and ends some day');
$node->stop;
done_testing();

# Starts a session that runs SQL and stays.
sub session
{
	my ($sql) = @_;
	my %session = (in => "$sql;\nSELECT 'begun';\n", answer => '');

	$session{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$session{in}, '>', \$session{answer});
	$session{run}->pump until $session{answer} =~ /begun/;
	return \%session;
}

# Lets a session run SQL and end.
sub finish_session
{
	my ($session, $sql) = @_;

	$session->{in} = "$sql;\n\\q\n";
	$session->{run}->finish;
	return;
}

# Returns SQL that changes items in all partitions of a table.
sub put
{
	my ($table, $count) = @_;

	$count //= 8;
	$number++;
	return "SELECT count(kv.put_item('$table', jsonb_build_object('pk', 'P' || n, 'sk', 's', 'a', 'a$number', 'b', 'b$number'))) FROM generate_series(1, $count) n";
}

# Checks that the indexes of the table are right.
sub right
{
	my ($what) = @_;

	ok($node->poll_query_until('postgres', q(SELECT sum(pending) = 0 FROM kv.indexes)), "nobody has to call the worker after $what");
	foreach my $index ('held_a', 'held_b')
	{
		ok($node->poll_query_until('postgres', "SELECT kv.wait_for_index('held', '$index', '60 s')"), "index $index is there after $what");
		is($node->safe_psql('postgres', "SELECT * FROM kv_test.check_index('held', '$index') LIMIT 3"), '', 'and right');
	}
	return;
}
