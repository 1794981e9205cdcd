# KvLag: how long a change takes to reach a global index, while a load runs, and whether that grows.
#
# A prober writes items of its own and looks for each in the index until it is there.

package KvLag;

use strict;
use warnings;

use Time::HiRes qw(time);

use KvServer;

# Makes the runner, which lets KvPgbench make the load.
sub new
{
	my ($class, $server, $tables, $bench, $mode, $file) = @_;
	return bless { server => $server, tables => $tables, bench => $bench, mode => $mode, sql => KvServer::slurp($file) }, $class;
}

# Measures the rows of an area; those with one load share its run.
sub measure
{
	my ($self, $area, @rows) = @_;
	my (%run, @samples);

	foreach my $row (@rows)
	{
		my $load = $row->{load} // '';
		my $first = !$run{$load};
		my $found = $run{$load} //= $self->run({ %$area, %$row });
		push @samples, [ [ $found->{ $row->{ours} }, undef, $first ? $found->{note} : undef ] ];
	}
	return @samples;
}

# Probes while the load runs; returns what was found, by name.
sub run
{
	my ($self, $row) = @_;
	my ($server, $set) = ($self->{server}, $row->{set});
	my $seconds = { smoke => 0.3, quick => 4, full => $row->{load} ? 60 : 10 }->{ $self->{mode}{name} };
	my ($rate, $state);

	$self->{tables}->settle(0, $set);
	my $prober = $server->spawn("$server->{folder}/lag", $server->psql($self->{sql}, seconds => $seconds,
		table => $self->{tables}->name($set, 'ours'), index => $row->{index}));
	my $begin = time;
	if ($row->{load})
	{
		($rate) = $self->{bench}->slice({ %$row, what => $row->{load}, seconds => $seconds }, 1);
		($state) = $server->rows('SELECT coalesce(max(pending), 0) FROM kv.indexes');
	}
	my $took = time - $begin;
	waitpid $prober, 0;
	die KvServer::slurp("$server->{folder}/lag") if $?;
	$self->{tables}->drain($set);
	my $drained = time - $begin;

	my @lags = map { (split /\t/)[1] } split /\n/, KvServer::slurp("$server->{folder}/lag");
	my @sorted = sort { $a <=> $b } @lags;
	my $third = int(@lags / 3) || 1;
	my $note = sprintf '%d probes in %.1f s', scalar @lags, $seconds;
	$note .= sprintf '; load %.0f/s; at its end %d changes pending, all in the index after %.1f s', $rate, $state->[0], $drained if $row->{load};
	return { p50 => $sorted[ $#sorted * 0.5 ], p99 => $sorted[ $#sorted * 0.99 ], note => $note,
		growth => middle(@lags[ -$third .. -1 ]) / middle(@lags[ 0 .. $third - 1 ]),
		kept => $row->{load} ? $took / $drained : 1 };
}

# Returns the middle of numbers.
sub middle
{
	my @sorted = sort { $a <=> $b } @_;
	return $sorted[ @sorted / 2 ];
}

1;
