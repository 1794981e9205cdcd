# KvPgbench: measures by pgbench, two or more statements in turn.
#
# All statements of one group run once a round, each for a slice of a few
# seconds, in one order and in the next round in the other; a first round warms up and
# is not counted.  Past the time that the whole run has, one round must do.  Rows that
# share a statement share its slices.  A ratio is always that of
# two slices of the same round.  In an area that is mixed the statements of rows
# with the same one of ours have a run in common, which draws one of them for each transaction, and a rate comes
# from latencies: what comes over the machine, as a write to disk of what was dirtied before, falls on all alike.

package KvPgbench;

use strict;
use warnings;

use KvServer;

# How many transactions of a cold slice open the partitions, some more than there are, before it is timed.
my $warm = 64;

# Makes the runner; "mode" has rounds and seconds, or transactions where a slice is a number of them.
sub new
{
	my ($class, $server, $tables, $mode, $file) = @_;
	my %section = KvServer::slurp($file) =~ /^-- \[(\w+)\]\n(.*?)(?=^-- \[|\z)/msg;

	return bless { waits => KvServer::slurp($file =~ s/statements/waits/r), server => $server, tables => $tables, mode => $mode, section => \%section, slice => 0 }, $class;
}

# Measures the rows of an area; returns for each, in order, a list of pairs: ours and theirs of each round.
sub measure
{
	my ($self, $area, @rows) = @_;
	my (%slice, %rate, %note, @order, @groups);

	foreach my $row (@rows)
	{
		foreach my $side (qw(ours theirs))
		{
			my %one = (%$area, %$row, what => $row->{$side});
			$one{clients} = $row->{clients_theirs} if $side eq 'theirs' and $row->{clients_theirs};
			$one{clients} = 2 if $self->{mode}{name} eq 'smoke' and ($one{clients} // 1) > 2;
			my $name = $row->{"slice_$side"} = join ' ', map { $_ // '' } ref $one{what} ? "@{ $one{what} }" : $one{what}, @one{qw(clients keys set)};
			next if $slice{$name};
			push @order, $name;
			push @groups, [] if $side eq 'ours';
			push @{ $groups[-1] }, $name;
			$slice{$name} = \%one;
		}
	}
	my $first = $self->{mode}{transactions} || $area->{cold} ? 1 : 0;
	foreach my $round ($first .. $area->{rounds} // $self->{mode}{rounds})
	{
		last if $round > 1 and time > $self->{mode}{until};
		$self->{tables}->settle($area->{mixed}, map { $_->{set} } values %slice) if $area->{writes} or !$round;
		if ($area->{mixed})
		{
			foreach my $group (@groups)
			{
				my %mixed = $self->mixed($area, $round, map { [ $_ => $slice{$_} ] } @$group);
				push @{ $rate{$_} }, $mixed{$_} foreach $round > 0 ? @$group : ();
			}
			next;
		}
		foreach my $name ($round % 2 ? @order : reverse @order)
		{
			my ($rate, $note) = $self->slice($slice{$name}, $round);
			push @{ $rate{$name} }, $rate if $round > 0;
			$note{$name} = $note;
		}
	}
	$self->{server}->restart if $area->{cold};
	return map {
		my ($ours, $theirs, $row) = (@rate{ @$_{qw(slice_ours slice_theirs)} }, $_);
		my $note = join '; ', map { $note{ $row->{"slice_$_"} } ? "$_: " . $note{ $row->{"slice_$_"} } : () } qw(ours theirs);
		[ map { [ $ours->[$_] * ($row->{times} // 1), $theirs->[$_], $_ || $note eq '' ? undef : $note ] } 0 .. $#$ours ]
	} @rows;
}

# Runs slices, each with its name, mixed with each other; returns transactions a second of each by name.
sub mixed
{
	my ($self, $area, $round, @slices) = @_;
	my ($mode, $server) = @$self{qw(mode server)};
	my ($log, $transactions) = ("$server->{folder}/latency", $mode->{transactions} // ($round ? undef : 200));
	my (@files, $variables, @count, @sum);

	foreach my $slice (map { $_->[1] } @slices)
	{
		(my $file, $variables) = $self->script($slice->{what}, $slice);
		push @files, '-f', $file;
	}
	my $out = $self->pgbench($area, $round, $variables, '-c', 1, '-l', "--log-prefix=$log",
		$transactions ? ('-t', $transactions * @slices * 5) : ('-T', $mode->{seconds} * @slices), @files);
	my ($written) = glob "$log.*";
	foreach my $line (split /\n/, KvServer::slurp($written))
	{
		my (undef, undef, $latency, $script) = split / /, $line;
		$count[$script]++;
		$sum[$script] += $latency;
	}
	unlink $written;
	die "pgbench: $out" if grep { !$count[$_] } 0 .. $#slices;
	return map { ($slices[$_][0] => $count[$_] * 1e6 / $sum[$_]) } 0 .. $#slices;
}

# Runs one slice and returns transactions a second, and a note if there is one.
sub slice
{
	my ($self, $slice, $round) = @_;
	my ($mode, $server) = @$self{qw(mode server)};
	my $clients = $slice->{clients} // 1;
	my @what = ref $slice->{what} ? @{ $slice->{what} } : ($slice->{what}, 1);
	my ($cold, $log) = ($slice->{cold} && $slice->{cold}{ $mode->{name} }, "$server->{folder}/latency");
	my (@files, $variables, $note);

	while (my ($reference, $weight) = splice @what, 0, 2)
	{
		(my $file, $variables) = $self->script($reference, $slice);
		push @files, '-f', "$file\@$weight";
	}
	my $transactions = $cold ? $cold + $warm : $mode->{transactions} // ($round ? undef : 200);
	my $seconds = ref $slice->{seconds} ? $slice->{seconds}{ $mode->{name} } : $slice->{seconds};
	my @options = $transactions ? ('-t', $transactions) : ('-T', $seconds // $mode->{seconds});
	push @options, '-l', "--log-prefix=$log" if $cold;

	$self->{tables}->drain($slice->{set}) if $slice->{drain};
	$note = $self->cool($slice->{set}, $files[1] =~ /\.(\w+)\.\w+\.sql/) if $cold;
	my $sampler = $slice->{waits} ? $server->spawn("$server->{folder}/waits", $server->psql($self->{waits})) : undef;
	my $out = $self->pgbench($slice, $round, $variables, '-c', $clients, '-j', $clients > 1 ? 2 : 1, @options, @files);
	my ($rate) = $out =~ /^tps = ([\d.]+) /m or die "pgbench: $out";
	$rate = logged_rate($log, $cold) if $cold;
	if ($sampler)
	{
		waitpid $sampler, 0;
		$note = KvServer::slurp("$server->{folder}/waits") =~ s/\n\z//r =~ s/\n/, /gr;
	}
	return ($rate, $note);
}

# Runs pgbench with the settings of a slice or an area, and returns what it prints; dies if a transaction failed.
sub pgbench
{
	my ($self, $what, $round, $variables, @options) = @_;

	# The same keys for both sides of a round; new keys begin above all former ones.
	my %set = (%$variables, n => ++$self->{slice} . '00000000', i => 0, warm => $warm);
	push @options, '--random-seed=' . (1000 + $round), map { ('-D', "$_=$set{$_}") } sort keys %set;
	local $ENV{PGOPTIONS} = join ' ', map { "-c $_=$what->{settings}{$_}" } sort keys %{ $what->{settings} // {} };
	my $out = KvServer::command("$self->{server}{bin}/pgbench", '-n', '-M', 'prepared', @options);
	die "pgbench: $out" if $out =~ /^number of failed transactions: [1-9]/m or $out =~ /ERROR/;
	return $out;
}

# Returns transactions a second of the last ones in pgbench's log, and removes it.
sub logged_rate
{
	my ($prefix, $count) = @_;
	my ($file) = glob "$prefix.*";
	my @latency = map { (split / /)[2] } split /\n/, KvServer::slurp($file);
	my $sum = 0;

	unlink $file;
	$sum += $_ foreach @latency[ -$count .. -1 ];
	return $count * 1e6 / $sum;
}

# Starts the server anew with shared_buffers a quarter of the set's plain table, and lets the system forget the files of a role's; says how.
sub cool
{
	my ($self, $set, $role) = @_;
	my ($server, $tables) = @$self{qw(server tables)};
	my $data = $server->sql("SELECT pg_total_relation_size('" . $tables->name($set, 'plain') . "') / 1024");
	my @files = $server->files($tables->name($set, $role));

	$server->restart(shared_buffers => int($data / 4 + 128) . 'kB');
	my $left = KvServer::forget(@files);
	return sprintf '%.0f MB of shared_buffers, %.1f MB in the system\'s cache', $data / 4 / 1024, $left / 1024 / 1024;
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
