# demo: the README's demo is word for word what ./bootstrap demo runs and shows.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('demo');
$node->safe_psql('postgres', 'CREATE DATABASE demo');
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'demo');
my ($out, $err) = run_command([ 'sh', 'demo/run' ]);
is($err, '', 'the demo runs');

# The parts of the README between the marks, fenced blocks only; what stands between them is prose.
my ($section) = slurp_file('README.md') =~ /<!-- demo begins -->\n(.*)<!-- demo ends -->/s;
ok(defined $section, 'the README marks the demo');
my @blocks = $section =~ /^```\w*\n(.*?)^```$/msg;
cmp_ok(scalar @blocks, '>', 10, 'and shows it');
is(squeeze(join "\n", @blocks), squeeze($out), 'the README shows what the demo shows');

# Refused once, on purpose.
my @errors = $out =~ /^ERROR: .*/mg;
is(scalar @errors, 1, 'one query is refused') or diag(join "\n", @errors);
like($out, qr/KV010/, 'with KV010');

$node->stop;
done_testing();

# Returns the lines that say something: not the blank ones, nor those of white space at their end.
sub squeeze
{
	my ($text) = @_;
	return join "\n", grep { length } map { s/\s+$//r } split /\n/, $text;
}
