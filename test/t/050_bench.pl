# bench: the measurements run, and every row of their list is in the table; no figure is looked at.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;

my $out = PostgreSQL::Test::Utils::tempdir();
my ($said, $complained) = run_command([ $^X, 'bench/run', '--smoke', '--out', $out ]);
is($complained, '', 'nothing is complained of');
like($said, qr/^\d+ goals met, \d+ not, \d+ rows skipped, \d+ without a goal/m, 'the measurements run to their end');

our (%sets, @areas);
require './bench/measures.pl';
my @listed = map { my $area = $_->{area}; map { "$area: $_->[0]" } @{ $_->{rows} } } @areas;
my ($head, @rows) = map { [ split /\t/, $_, -1 ] } grep { !/^#/ } split /\n/, slurp_file("$out/smoke.tsv");
my %column = map { $head->[$_] => $_ } 0 .. $#$head;

cmp_ok(scalar @listed, '>', 100, 'the list has rows');
is_deeply([ map { "$_->[ $column{area} ]: $_->[ $column{measure} ]" } @rows ], \@listed, 'every row of the list is in the table, in its order');
my %seen;
is_deeply([ grep { $seen{$_}++ } @listed ], [], 'no two of one name');
is_deeply([ map { $_->[ $column{measure} ] } grep { $_->[ $column{ours} ] eq '' && $_->[ $column{met} ] ne 'skipped' } @rows ], [],
	'every row has a figure or says why not');
is_deeply([ map { $_->[ $column{measure} ] } grep { $_->[ $column{met} ] eq 'skipped' && $_->[ $column{note} ] !~ /^skipped: \S/ } @rows ], [], 'and none is skipped in silence');
is_deeply([ map { $_->[ $column{measure} ] } grep { ($_->[ $column{goal} ] ne '') != ($_->[ $column{met} ] ne '-') } @rows ], [], 'a goal is met, or not, or skipped');

# Every goal of the design has its row.
my %goals = ('point read' => 6, 'query of the last 50, in memory' => 2, 'write, durable' => 5, 'three global indexes / three btrees' => 2, 'growth, reads' => 4);
foreach my $area (sort keys %goals)
{
	is(scalar(grep { $_->[ $column{area} ] eq $area && $_->[ $column{goal} ] ne '' } @rows), $goals{$area}, "$area: goals");
}

my $chart = slurp_file("$out/smoke.svg");
like($chart, qr{\A<svg [^>]*>\n<title>.*</svg>\n\z}s, 'there is a chart');
my @bars = $chart =~ /<rect /g;
my @charted = map { my $area = $_; grep { my (undef, undef, undef, undef, %more) = @$_; $more{chart} and !exists $area->{chart} } @{ $area->{rows} } } @areas;
is(scalar @bars, scalar @charted, 'with a bar for each row that is to be there');

# What a full run leaves is put into the README, once however often; part of the areas is not a full run.
my $copy = PostgreSQL::Test::Utils::tempdir();
system('cp', '-R', 'bench', $copy) == 0 or die 'cp';
my $table = "- run: full\n\n| kv.get \\\\1 \$1 |\n";
append_to_file("$copy/results.md", $table);
system('cp', "$copy/results.md", "$copy/bench/results.md") == 0 or die 'cp';
foreach my $time (1 .. 2)
{
	is(system($^X, "$copy/bench/run", '--publish'), 0, "publishing, time $time");
	my ($between) = slurp_file("$copy/bench/README.md") =~ /<!-- results begin -->\n(.*)<!-- results end -->/s;
	is($between, $table, 'the results stand between the marks');
}
run_command([ $^X, 'bench/run', '--smoke', '--only', 'memory', '--out', $copy ]);
ok(-s "$copy/part.md" && !-e "$copy/smoke.md", 'part of the areas has files of its own');
done_testing();
