# index_waits: who waits for an index waits for no other, and is in nobody's way.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $node = new_node('waits', <<'END');
shared_preload_libraries = 'key_value'
max_prepared_transactions = 5
END

$node->safe_psql('postgres', <<'END');
CREATE EXTENSION kv_test;
SELECT kv.create_table('notes', 'pk', 'sk', partitions => 2);
SELECT kv.create_global_index('notes', 'by_a', 'a');
SELECT kv.create_global_index('notes', 'by_b', 'b');
SELECT kv.create_table('other', 'pk', partitions => 1);
SELECT kv.create_global_index('other', 'other_by_a', 'a');
END
write_both(1);
is_there('notes', $_, 't', "at first: $_") foreach qw(by_a by_b);

# An index that is being dropped, in a transaction that stays open.
my $session = begin(q(SELECT kv.drop_index('notes', 'by_b')));
write_both(2);
is_there('other', 'other_by_a', 't', 'beside a drop that is not committed: the index of another table');
is_there('notes', 'by_a', 't', 'and another index of the table');
finish($session, 'ROLLBACK');
is_there('notes', 'by_b', 't', 'after it was rolled back: the index');

# Where a prepared transaction has put the index in doubt, who waits is not in the way of its being filled anew.
my $applying = begin('SELECT kv.apply_changes()');
write_both(4);
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'key_value worker' AND query ~ '^waiting for .* kv.apply_changes'));
is($node->safe_psql('postgres', q(SELECT count(*) FROM kv.indexes i JOIN pg_stat_activity a ON i.last_error = 'process ' || a.pid || ' called kv.apply_changes() in a transaction that has not ended' WHERE a.state = 'idle in transaction')),
	'3', 'kv.indexes names who keeps the worker from applying');
$node->safe_psql('postgres', q(BEGIN; TRUNCATE notes_p0; PREPARE TRANSACTION 'truncated'));
finish($applying, 'COMMIT');
is_there('other', 'other_by_a', 't', 'beside a prepared TRUNCATE of a partition: the index of another table');
$node->safe_psql('postgres', q(COMMIT PREPARED 'truncated'));
is_there('notes', 'by_a', 't', 'after that: the index, waited for while it is in doubt');

# Nor is he in the way of TRUNCATE, whose table he waits for.
$node->safe_psql('postgres', q(CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
	CREATE TRIGGER fails BEFORE INSERT OR UPDATE OR DELETE ON by_b FOR EACH ROW EXECUTE FUNCTION fails();));
write_both(5);
is_there('notes', 'by_b', 'f', 'an index that cannot be written to', '1 s');
is_there('notes', 'by_a', 't', 'another index of its table');
my $in = '';
my $out = '';
my $waiting = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', q(SELECT kv.wait_for_index('notes', 'by_b')) ], '<', \$in, '>', \$out);
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ '^SELECT kv.wait' AND state = 'active'));
is($node->psql('postgres', q(SET lock_timeout = '20s'; TRUNCATE notes)), 0, 'TRUNCATE does not wait for who waits for an index');
$node->safe_psql('postgres', 'DROP TRIGGER fails ON by_b');
$waiting->finish;
is($out, "t\n", 'who is told then');

# Nobody fills an index before it is committed, so who made it is not to wait for it.
write_both(6);
my ($status, $answer, $error) = $node->psql('postgres', q(BEGIN;
SELECT kv.create_global_index('notes', 'by_c', 'a');
SELECT kv.wait_for_index('notes', 'by_c');));
like($error, qr/ERROR:  index "by_c" was created in this transaction/, 'who made the index in the same transaction is told that he would wait for ever');

# Creating an index waits for writers as lock_timeout says.
$session = begin(q(SELECT kv.put_item('notes', '{"pk": "q", "sk": "s"}')));
($status, $answer, $error) = $node->psql('postgres', q(SET lock_timeout = '300ms'; SELECT kv.create_global_index('notes', 'by_c', 'a')));
like($error, qr/ERROR:  canceling statement due to lock timeout/, 'a global index obeys lock_timeout');
($status, $answer, $error) = $node->psql('postgres', q(SET lock_timeout = '300ms'; SELECT kv.create_local_index('notes', 'by_d', 'a')));
like($error, qr/ERROR:  canceling statement due to lock timeout/, 'so does a local one');
finish($session, 'COMMIT');

is($node->safe_psql('postgres', "SELECT * FROM kv_test.check_index('$_->[0]', '$_->[1]')"), '', "$_->[1] is exact")
  foreach [ 'notes', 'by_a' ], [ 'notes', 'by_b' ], [ 'other', 'other_by_a' ];
$node->stop;
done_testing();

# Writes items of a generation to both tables.
sub write_both
{
	my ($n) = @_;

	$node->safe_psql('postgres', qq(SELECT count(kv.put_item('notes', jsonb_build_object('pk', 'p' || n, 'sk', 's', 'a', 'a$n', 'b', 'b$n')))
		FROM generate_series(1, 10) n;
		SELECT kv.put_item('other', '{"pk": "p", "a": "a$n"}')));
	return;
}

# Checks what waiting for an index answers.
sub is_there
{
	my ($table, $index, $answer, $name, $timeout) = @_;
	$timeout //= '15 s';
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is($node->safe_psql('postgres', "SELECT kv.wait_for_index('$table', '$index', '$timeout')"), $answer, $name);
}

# Begins a transaction with a statement in a session of its own.
sub begin
{
	my ($sql) = @_;
	my ($in, $out) = ('', '');
	my $session = { in => \$in, out => \$out };
	$session->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out);
	$in = "BEGIN; $sql;\n\\echo begun\n";
	$session->{run}->pump until $out =~ /begun/;
	return $session;
}

# Ends it.
sub finish
{
	my ($session, $sql) = @_;
	${ $session->{in} } .= "$sql;\n\\q\n";
	$session->{run}->finish;
	return;
}
