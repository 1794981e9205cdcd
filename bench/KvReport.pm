# KvReport: the table of results, printed as they come and kept as a file of tab-separated values, as one in Markdown and as a chart.

package KvReport;

use strict;
use warnings;

use IO::Handle;
use Time::HiRes qw(time);

use KvChart;
use KvServer;

my @columns = qw(area measure unit ours theirs ratio least most rounds goal met note);
my $line = "%-70s %10s %10s  %8s %8s %8s  %-9s %s\n";

# Makes a report that is written to a folder.  A part of the areas has a file of its own: it does not take the place of what is published.
sub new
{
	my ($class, $server, $mode, $folder, $part) = @_;
	my $self = bless { mode => $mode, rows => [], area => '', machine => [ machine($server) ],
		file => "$folder/" . ($part ? 'part' : $mode->{name} eq 'full' ? 'results' : $mode->{name}) }, $class;

	print map { "$_->[0]: $_->[1]\n" } @{ $self->{machine} };
	return $self;
}

# Puts the rows of areas that were measured anew into the results of the last full run; "labels" are those of the chart by area and measure.
sub merge
{
	my ($self, $folder, %labels) = @_;
	my $anew = $self->{rows};
	my %at = map { $_->{area} => 1 } @$anew;
	my (@machine, @rows);

	foreach my $line (split /\n/, KvServer::slurp("$folder/results.tsv"))
	{
		if ($line =~ /^# (\w+): (.*)/)
		{
			my ($name, $value) = ($1, $2);
			if ($name eq 'anew')
			{
				my ($when, $areas) = $value =~ /^(.*): ([^:]*)$/;
				my @kept = grep { !$at{$_} } split /; /, $areas or next;
				$value = "$when: " . join '; ', @kept;
			}
			push @machine, [ $name, $value ];
			next;
		}
		my %cell;
		@cell{@columns} = split /\t/, $line, -1;
		next if $cell{area} eq 'area';
		$cell{$_} = undef foreach grep { $cell{$_} eq '' } qw(ours theirs ratio least most);
		$cell{label} = $labels{"$cell{area}\t$cell{measure}"};
		push @rows, \%cell and next unless $at{ $cell{area} };
		push @rows, grep { $_->{area} eq $cell{area} } @$anew if $at{ $cell{area} }++ == 1;
	}
	my %machine = map { @$_ } @{ $self->{machine} };
	push @machine, [ anew => "$machine{date}, load $machine{load}: " . join '; ', grep { $at{$_} > 1 } sort keys %at ];
	@$self{qw(rows machine file)} = (\@rows, \@machine, "$folder/results");
	$self->{mode} = { %{ $self->{mode} }, name => 'full' };
	$self->write;
	return;
}

# Adds a row with its samples, pairs of ours and theirs; or a text that says why there are none.
sub add
{
	my ($self, $area, $row, $samples) = @_;
	my %cell = (area => $area->{area}, measure => $row->{name}, label => exists $area->{chart} ? $area->{chart} : $row->{chart}, unit => $row->{unit} // $area->{unit} // '1/s', goal => $row->{goal}, met => '-', note => '');
	my $judge = $row->{judge} // $area->{judge} // 'ratio';

	if (!ref $samples)
	{
		@cell{qw(note met rounds)} = ("skipped: $samples", 'skipped', 0);
	}
	else
	{
		my @ratio = sort { $a <=> $b } map { defined $_->[1] && $_->[1] > 0 ? $_->[0] / $_->[1] : () } @$samples;
		$cell{ours}   = median(map { $_->[0] } @$samples);
		$cell{theirs} = median(map { $_->[1] // () } @$samples);
		$cell{rounds} = @$samples;
		@cell{qw(ratio least most)} = (median(@ratio), @ratio[ 0, -1 ]) if @ratio;
		$cell{note} = join '; ', grep { defined } map { $_->[2] } @$samples;
		my $value = $judge eq 'ours' ? $cell{ours} : $cell{ratio};
		my ($relation, $bound) = $row->{goal} =~ /^(>=|<=) ([\d.]+)$/ or $row->{goal} eq '' or die "not a goal: $row->{goal}";
		$cell{met} = ($relation eq '>=' ? $value >= $bound : $value <= $bound) ? 'yes' : 'no' if $row->{goal} ne '' and defined $value;
	}
	$cell{goal} .= ' of ours' if $cell{goal} ne '' and $judge eq 'ours';
	push @{ $self->{rows} }, \%cell;
	$self->show(\%cell);
	$self->write;
	return;
}

# Prints a row, below the heading of its area if it is the first.
sub show
{
	my ($self, $cell) = @_;

	printf "\n$line", "$cell->{area}, $cell->{unit}", qw(ours theirs ratio least most goal met) if $self->{area} ne $cell->{area};
	$self->{area} = $cell->{area};
	printf $line, "  $cell->{measure}", map({ number($cell->{$_}) } qw(ours theirs ratio least most)), $cell->{goal} =~ s/ of ours//r, $cell->{met};
	print "    $cell->{note}\n" if $cell->{note} ne '';
	return;
}

# Prints a line that is no row.
sub say
{
	my ($self, $text) = @_;
	print "  ($text)\n";
	return;
}

# Writes all rows that there are so far to the three files.
sub write
{
	my ($self) = @_;
	my $text = join '', map { "# $_->[0]: $_->[1]\n" } @{ $self->{machine} };

	$text .= join("\t", @columns) . "\n";
	foreach my $cell (@{ $self->{rows} })
	{
		$text .= join("\t", map { /^(ours|theirs|ratio|least|most)$/ ? number($cell->{$_}) : $cell->{$_} // '' } @columns) . "\n";
	}
	KvServer::spew("$self->{file}.tsv", $text);
	KvServer::spew("$self->{file}.md", $self->markdown);
	KvServer::spew("$self->{file}.svg", $self->chart);
	return;
}

# Prints what it all comes to.
sub finish
{
	my ($self, $seconds) = @_;
	my %count;

	push @{ $self->{machine} }, [ run => sprintf '%s, %d rounds of %s, %d min %d s', $self->{mode}{name}, $self->{mode}{rounds},
		$self->{mode}{seconds} ? "$self->{mode}{seconds} s" : "$self->{mode}{transactions} transactions", $seconds / 60, $seconds % 60 ];
	$self->write;
	$count{ $_->{met} }++ foreach @{ $self->{rows} };
	printf "\n%d goals met, %d not, %d rows skipped, %d without a goal; %d min %d s\n",
		(map { $count{$_} // 0 } qw(yes no skipped -)), $seconds / 60, $seconds % 60;
	print map { "not met: $_->{area}: $_->{measure}: " . number($_->{goal} =~ / of ours/ ? $_->{ours} : $_->{ratio}) . ", goal $_->{goal}\n" }
		grep { $_->{met} eq 'no' } @{ $self->{rows} };
	return;
}

# Returns the table in Markdown, below what it depends on.
sub markdown
{
	my ($self) = @_;
	my $text = join '', map { "- $_->[0]: $_->[1]\n" } @{ $self->{machine} };
	my $area = '';

	foreach my $cell (@{ $self->{rows} })
	{
		$text .= "\n**$cell->{area}** ($cell->{unit})\n\n| measure | ours | theirs | ratio | least | most | goal | met |\n|---|--:|--:|--:|--:|--:|---|---|\n"
			if $area ne $cell->{area};
		$area = $cell->{area};
		$text .= '| ' . join(' | ', $cell->{measure}, map({ number($cell->{$_}) } qw(ours theirs ratio least most)), $cell->{goal}, $cell->{met}) . " |\n";
	}
	my @notes = map { "- $_->{area}, $_->{measure}: $_->{note}\n" } grep { $_->{note} ne '' } @{ $self->{rows} };
	return $text . (@notes ? "\nNotes:\n\n" . join('', @notes) : '');
}

# Returns the chart of the rows that have a short label.
sub chart
{
	my ($self) = @_;
	my %machine = map { @$_ } @{ $self->{machine} };

	return KvChart::svg('key_value beside plain PostgreSQL', "$self->{mode}{name} run, $machine{date}, $machine{machine}" . ($machine{load} =~ /busy/ ? ', busy machine: provisional' : ''),
		'throughput, times that of the plain table (median; line: least to most; triangle: goal; blue: met)',
		map { [ @$_{qw(label ratio least most)}, $_->{goal} =~ /^>= ([\d.]+)$/ ] } grep { $_->{label} and defined $_->{ratio} } @{ $self->{rows} });
}

# Returns what the results depend on, as pairs of name and value.
sub machine
{
	my ($server) = @_;
	my ($model) = KvServer::slurp('/proc/cpuinfo') =~ /^model name\s*:\s*(.*)$/m;
	my ($memory) = KvServer::slurp('/proc/meminfo') =~ /^MemTotal:\s*(\d+)/m;
	my ($cores) = scalar(() = KvServer::slurp('/proc/cpuinfo') =~ /^processor\s*:/mg);
	my ($system) = -r '/etc/os-release' ? KvServer::slurp('/etc/os-release') =~ /^PRETTY_NAME="?([^"\n]*)/m : ();
	my ($version) = $server->sql('SHOW server_version');
	my $fsync = syncs("$server->{folder}/fsync");
	my @time = gmtime int time;

	my ($load) = KvServer::slurp('/proc/loadavg') =~ /^([\d.]+)/;
	return (
		[ date    => sprintf '%d-%02d-%02d', $time[5] + 1900, $time[4] + 1, $time[3] ],
		[ machine => sprintf '%d x %s, %.0f GB, %s', $cores, $model // '?', $memory / 1024 / 1024, $system // '?' ],
		[ server  => "PostgreSQL $version, shared_buffers " . $server->sql('SHOW shared_buffers') . ", fsync on, the disk does $fsync of 8 kB a second" ],
		[ load    => $load < 1 ? "$load before the run" : "$load before the run: the machine was busy, the figures are worth little" ]);
}

# Returns how many writes of a page the disk makes durable in a second.
sub syncs
{
	my ($file) = @_;
	my $count = 0;

	open my $out, '>', $file or die "$file: $!";
	my $start = time;
	while (time - $start < 0.5)
	{
		sysseek $out, 0, 0;
		syswrite $out, 'x' x 8192;
		$out->sync or die "sync: $!";
		$count++;
	}
	close $out;
	unlink $file;
	return int($count / (time - $start));
}

# Returns a share of the machine's memory as a setting: 1/4 is what PostgreSQL's manual recommends for shared_buffers.
sub memory_share
{
	my ($share) = @_;
	my ($memory) = KvServer::slurp('/proc/meminfo') =~ /^MemTotal:\s*(\d+)/m;
	return int($memory / 1024 / $share) . 'MB';
}

# Returns the median of numbers.
sub median
{
	my @sorted = sort { $a <=> $b } @_;
	return @sorted ? ($sorted[ $#sorted / 2 ] + $sorted[ @sorted / 2 ]) / 2 : undef;
}

# Returns a number as people read it.
sub number
{
	my ($number) = @_;
	return '' unless defined $number;
	return sprintf $number >= 100 ? '%.0f' : $number >= 10 ? '%.1f' : '%.2f', $number;
}

1;
