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

# The other SQL of the README runs too, section by section, and only that is refused of which it is said.
my $others = 0;
foreach my $part (split /^## /m, slurp_file('README.md') =~ s/<!-- demo begins -->.*<!-- demo ends -->//sr)
{
	my ($title) = $part =~ /^(.*)$/m;
	my $sql = join '', $part =~ /^```sql\n(.*?)^```$/msg or next;
	my @refused = $sql =~ /-- refused: (KV\d{3})/g;

	$node->safe_psql('postgres', 'CREATE DATABASE other');
	$node->safe_psql('other', 'CREATE EXTENSION key_value') unless $sql =~ /CREATE EXTENSION/;
	my ($status, $answer, $errors) = $node->psql('other', "\\set VERBOSITY sqlstate\n$sql", on_error_stop => 0);
	is(join(' ', $errors =~ /ERROR:  (\w+)/g), "@refused", "the SQL under \"$title\" runs");
	$node->safe_psql('postgres', 'DROP DATABASE other');
	$others++;
}
cmp_ok($others, '>', 1, 'there was some');

$node->stop;
done_testing();

# Returns the lines that say something: not the blank ones, nor those of white space at their end.
sub squeeze
{
	my ($text) = @_;
	return join "\n", grep { length } map { s/\s+$//r } split /\n/, $text;
}
