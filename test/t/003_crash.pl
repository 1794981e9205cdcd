# crash: the server is killed in the middle of concurrent writes; what was acknowledged is there, once.

use strict;
use warnings;

use IPC::Run qw(start finish);
use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $writers = 6;
my $node = new_node('crash', <<'END');
shared_preload_libraries = 'key_value'
fsync = on
max_wal_size = '64MB'
checkpoint_timeout = '30s'
restart_after_crash = on
END
my $files = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q(SELECT kv.create_table('messages', 'pk', 'sk')));

# Each writer puts new items into shared collections, and overwrites and deletes items of its own.
foreach my $writer (1 .. $writers)
{
	open my $script, '>', "$files/$writer.sql" or die $!;
	foreach my $n (1 .. 100_000)
	{
		my $key = sprintf '"pk": "T%d", "sk": "%d-%06d"', $n % 50, $writer, $n;
		print $script qq(SELECT kv.put_item('messages', '{$key, "n": $n, "body": "@{[ 'x' x ($n % 300) ]}"}');\n\\echo put $n\n);
		if ($n % 10 == 0)
		{
			print $script qq(SELECT kv.put_item('messages', '{$key, "n": -$n}');\n\\echo overwritten $n\n);
		}
		if ($n % 10 == 5)
		{
			print $script qq(SELECT kv.delete_item('messages', '{$key}');\n\\echo deleted $n\n);
		}
	}
	close $script;
}

crash('the whole server', sub {
	my @pids = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
	$node->kill9;
	kill 'KILL', @pids;
	# What is left of it still holds its shared memory for a moment.
	foreach (1 .. 100)
	{
		last if $node->start(fail_ok => 1);
		usleep(100_000);
		$node->stop('fast', fail_ok => 1);
	}
});
crash('one backend', sub {
	my $pid = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE query LIKE '%put_item%' AND pid <> pg_backend_pid() LIMIT 1));
	kill 'KILL', $pid;
	usleep(200_000);
	foreach (1 .. 100)
	{
		last if system("pg_isready -q -h " . $node->host . ' -p ' . $node->port) == 0;
		usleep(100_000);
	}
});
$node->stop;
done_testing();

# Runs the writers, lets crash happen in the middle and compares what is there with what was acknowledged.
sub crash
{
	my ($name, $crash) = @_;
	my @running;

	$node->safe_psql('postgres', 'TRUNCATE messages');
	foreach my $writer (1 .. $writers)
	{
		push @running, start([ 'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', "$files/$writer.sql" ],
			'<', \undef, '>', "$files/$writer.out", '2>', "$files/$writer.err");
	}
	foreach (1 .. 600)
	{
		last if $node->safe_psql('postgres', q(SELECT sum(pg_relation_size(relid)) > 3000000 FROM pg_partition_tree('messages') WHERE isleaf)) eq 't';
		usleep(100_000);
	}
	$node->safe_psql('postgres', 'CHECKPOINT');
	usleep(1_000_000);
	$crash->();
	foreach my $process (@running) { finish($process) }

	my (%expected, %open);
	foreach my $writer (1 .. $writers)
	{
		my ($last, $what) = (0, '');
		my %item;

		foreach my $line (split /\n/, slurp_file("$files/$writer.out"))
		{
			next unless $line =~ /^(put|overwritten|deleted) (\d+)$/;
			($what, $last) = ($1, $2);
			$what eq 'put' ? $item{$last} = $last : $what eq 'overwritten' ? $item{$last} = -$last : delete $item{$last};
		}
		cmp_ok($last, '<', 100_000, "$name: writer $writer was in the middle");
		cmp_ok($last, '>', 10, "$name: and had written");
		# The one statement after the last acknowledged may or may not have been committed.
		my $next = $what eq 'put' && $last % 5 == 0 ? $last : $last + 1;
		$open{"$writer-$next"} = 1;
		$expected{"$writer-$_"} = $item{$_} foreach grep { $_ != $next } keys %item;
	}

	# Once through the heap, once through the btrees.
	foreach my $way ('enable_seqscan', 'enable_indexscan')
	{
		my (%there, @twice);
		foreach my $line (split /\n/, $node->safe_psql('postgres', <<"END"))
SET key_value.allow_scan = on; SET enable_bitmapscan = off; SET $way = off;
SELECT pk, sk, item->>'n' FROM messages ORDER BY pk, sk;
END
		{
			my ($pk, $writer, $n, $value) = $line =~ /^(\w+)\|(\d+)-0*(\d+)\|(-?\d+)$/ or die $line;
			push @twice, $line if exists $there{"$writer-$n"};
			$there{"$writer-$n"} = $value;
		}
		is_deeply(\@twice, [], "$name: nothing is there twice ($way off)");
		delete @there{ keys %open };
		is_deeply([ grep { ($there{$_} // '') ne $expected{$_} } sort keys %expected ], [], "$name: every acknowledged item is there as it was last put");
		is_deeply([ grep { !exists $expected{$_} } sort keys %there ], [], "$name: and nothing else is");
	}
	check_btrees($node, $name);
	is($node->safe_psql('postgres', q(SELECT kv.put_item('messages', '{"pk": "after", "sk": "1"}') IS NULL)), 't', "$name: it goes on");
	return;
}
