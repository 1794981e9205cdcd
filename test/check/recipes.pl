# recipes: what the README shows as recipes is what the regression test runs.

use strict;
use warnings;

use Test::More;

my ($recipes) = slurp('README.md') =~ /<!-- recipes begin -->(.*)<!-- recipes end -->/s;
my $test = slurp('sql/recipes.sql');

my @blocks = ($recipes // '') =~ /```sql\n(.*?)```/sg;
cmp_ok(scalar @blocks, '>=', 8, 'the README has its recipes');
my $number = 0;
foreach my $block (@blocks)
{
	my @missing = grep { index($test, $_) < 0 } split /(?<=;)\n/, $block =~ s/\n\z//r;
	is_deeply(\@missing, [], 'recipe ' . ++$number . ': its statements are tested');
}

done_testing();

# Returns a file's content.
sub slurp
{
	my ($file) = @_;
	open my $in, '<', $file or return '';
	local $/;
	return <$in>;
}
