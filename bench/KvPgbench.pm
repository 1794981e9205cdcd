# KvPgbench: measures by pgbench, two or more statements in turn.
#
# All statements of one group run once a round, each for a slice of a few
# seconds, in one order and in the next round in the other; a first round warms up and
# is not counted.  Rows that share a statement share its slices.  A ratio is always that of
# two slices of the same round.

package KvPgbench;

use strict;
use warnings;

use KvServer;

# Makes the runner; "mode" has rounds and seconds, or transactions where a slice is a number of them.
sub new
{
	my ($class, $server, $tables, $mode, $file) = @_;
	my %section = KvServer::slurp($file) =~ /^-- \[(\w+)\]\n(.*?)(?=^-- \[|\z)/msg;

	return bless { server => $server, tables => $tables, mode => $mode, section => \%section, slice => 0 }, $class;
}

# Measures the rows of an area; returns for each, in order, a list of pairs: ours and theirs of each round.
sub measure
{
	my ($self, $area, @rows) = @_;
	my (%slice, %rate, @order);

	foreach my $row (@rows)
	{
		foreach my $side (qw(ours theirs))
		{
			my %one = (%$area, %$row, what => $row->{$side});
			my $name = $row->{"slice_$side"} = join ' ', map { $_ // '' } @one{qw(what clients keys set)};
			push @order, $name unless $slice{$name};
			$slice{$name} //= \%one;
		}
	}
	foreach my $round (0 .. ($area->{rounds} // $self->{mode}{rounds}))
	{
		$self->{tables}->settle(map { $_->{set} } values %slice) if $area->{writes} or $round == 0;
		foreach my $name ($round % 2 ? @order : reverse @order)
		{
			my $rate = $self->slice($slice{$name}, $round);
			push @{ $rate{$name} }, $rate if $round > 0;
		}
	}
	return map {
		my ($ours, $theirs, $row) = (@rate{ @$_{qw(slice_ours slice_theirs)} }, $_);
		[ map { [ $ours->[$_] * ($row->{times} // 1), $theirs->[$_] ] } 0 .. $#$ours ]
	} @rows;
}

# Runs one slice and returns transactions a second.
sub slice
{
	my ($self, $slice, $round) = @_;
	my $mode = $self->{mode};
	my $clients = $slice->{clients} // 1;
	my @what = ref $slice->{what} ? @{ $slice->{what} } : ($slice->{what}, 1);
	my (@files, $variables);

	while (my ($reference, $weight) = splice @what, 0, 2)
	{
		(my $file, $variables) = $self->script($reference, $slice);
		push @files, '-f', "$file\@$weight";
	}
	my $transactions = $slice->{transactions} // $mode->{transactions};
	my @length = $transactions ? ('-t', $transactions) : ('-T', $round ? $slice->{seconds} // $mode->{seconds} : 1);
	my @set = map { ('-D', "$_=$variables->{$_}") } sort keys %$variables;

	# The same keys for both sides of a round; new keys begin above all former ones.
	push @set, '-D', 'n=' . ++$self->{slice} . '00000000';
	$slice->{before}->($self->{server}, $self->{tables}) if $slice->{before};
	local $ENV{PGOPTIONS} = join ' ', map { "-c $_=$slice->{settings}{$_}" } sort keys %{ $slice->{settings} // {} };
	my $out = KvServer::command("$self->{server}{bin}/pgbench", '-n', '-M', 'prepared', '-c', $clients, '-j', $clients > 1 ? 2 : 1,
		@length, '--random-seed=' . (1000 + $round), @set, @files);
	my ($rate) = $out =~ /^tps = ([\d.]+) /m or die "pgbench: $out";
	die "pgbench: $out" if $out =~ /^number of failed transactions: [1-9]/m or $out =~ /ERROR/;
	return $rate;
}

# Writes the script that a reference "name:role" or "name:role@set" means; returns the file and the variables of the set.
sub script
{
	my ($self, $reference, $slice) = @_;
	my ($name, $role, $set) = $reference =~ /^(\w+):(\w+)(?:@(\w+))?$/ or die "not a statement: $reference";
	my $definition = $self->{tables}->definition($set // $slice->{set});
	my $text = $self->{section}{$name} // die "there is no statement $name";
	my $draw = ($slice->{keys} // 'uniform') eq 'zipf' ? 'random_zipfian(1, :collections, 1.2) - 1' : 'random(0, :collections - 1)';
	my $file = "$self->{server}{folder}/" . join('.', $name, $role, $set // $slice->{set}) . '.sql';

	$text =~ s/\[\[(\d+): (.*?)\]\]/repeated($1, $2)/ge;
	$text =~ s/\{c\}/$draw/g;
	$text =~ s/\{table\}/$self->{tables}->name($set \/\/ $slice->{set}, $role)/ge;
	$text =~ s/\{body\}/'x' x $definition->{bytes}/ge;
	KvServer::spew($file, $text);
	return ($file, { map { $_ => $definition->{$_} } qw(collections per) });
}

# Returns a text so many times, with % replaced by a number, separated by commas.
sub repeated
{
	my ($times, $text) = @_;
	return join ', ', map { $text =~ s/%/$_/gr } 1 .. $times;
}

1;
