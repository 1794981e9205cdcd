# code: sizes, headers, error codes and exported symbols keep the rules of the house.

use strict;
use warnings;

use Test::More;

my @files = (glob('src/*.[ch]'), glob('src/*/*.[ch]'), glob('test/module/*.[ch]'));

foreach my $file (@files)
{
	open my $in, '<', $file or die "$file: $!";
	my @lines = <$in>;
	my $text  = join '', @lines;

	cmp_ok(scalar @lines, '<=', 1000, "$file: at most 1000 lines");
	like($text, qr{^/\*\n \* \S+\n \*\t  \S}, "$file: begins with its name and a sentence");
	is_deeply([ long_functions(@lines) ], [], "$file: no function over 100 lines");
	is_deeply([ uncommented_functions(@lines) ], [], "$file: every function has a sentence");
	is_deeply([ codeless_errors($text) ], [], "$file: every error has a code");
}

SKIP:
{
	skip 'key_value.so is not built', 1 unless -f 'key_value.so';
	my @foreign = grep { !/^(kv_|_PG_init$|Pg_magic_func$|pg_finfo_|_init$|_fini$)/ }
	  map { /^\S+ [TDBRVW] (\S+)/ ? $1 : () } split /\n/, `nm -D --defined-only key_value.so`;
	is_deeply(\@foreign, [], 'exported symbols begin with kv_');
}

# Every regression test has its answers.
my @orphans;
foreach my $sql (glob('sql/*.sql'), glob('test/module/sql/*.sql'))
{
	my $out = $sql =~ s{sql/([^/]+)\.sql$}{expected/$1.out}r;
	push @orphans, $sql unless -f $out;
}
foreach my $spec (glob('test/specs/*.spec'))
{
	my $out = $spec =~ s{specs/([^/]+)\.spec$}{expected/$1.out}r;
	push @orphans, $spec unless -f $out;
}
is_deeply(\@orphans, [], 'every regression and isolation test has expected output');

done_testing();

# Returns "name (lines)" of the functions whose body is too long; routine tables have none of their own.
sub long_functions
{
	my ($start, $name, @long);
	my $number = 0;

	foreach my $line (@_)
	{
		$number++;
		$name = $1 if $line =~ /^(\w+)\(/;
		$start = $number if $line =~ /^\{/;
		push @long, "$name (" . ($number - $start) . ' lines)'
		  if $line =~ /^\}\s*$/ and defined $start and $number - $start > 100;
		undef $start if $line =~ /^\}/;
	}
	return @long;
}

# Returns the names of the functions that no comment stands over.
sub uncommented_functions
{
	my (@bare, $comment_end);
	my $number = 0;
	my $blank  = 0;

	foreach my $line (@_)
	{
		$number++;
		if    ($line =~ /^\s*$/) { $blank = $number }
		elsif ($line =~ m{\*/\s*$} and $line !~ /^\t/) { $comment_end = $number }
		elsif ($line =~ /^(\w+)\(.*[^;]$/ and $_[ $number - 2 ] =~ /^(static |extern |const |inline |pg_noinline )*\w[\w ]*\**\s*$/)
		{
			push @bare, $1 unless defined $comment_end and $comment_end > $blank;
		}
	}
	return @bare;
}

# Returns the first lines of the ereports that raise an error without errcode().
sub codeless_errors
{
	my ($text) = @_;
	my @codeless;

	while ($text =~ /\b(ereport\s*\(\s*(?:ERROR|FATAL|PANIC)\s*,.*?\)\s*;)/sg)
	{
		my $call = $1;
		push @codeless, (split /\n/, $call)[0] unless $call =~ /errcode/;
	}
	return @codeless;
}
