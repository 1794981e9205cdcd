# rooms: the arrows between the rooms of src/ point one way.
#
# base <- item <- expression <- table <- am <- store <- {operation, index} <- {api, dynamodb, scan, worker} <- module.c
# A room may include its own headers and those of every room that stands to
# the left of it; rooms in braces do not see each other.  Of another room only
# the public header, named as the room, is there to be included.

use strict;
use warnings;

use Test::More;

my %level = (
	base      => 0,
	item      => 1,
	expression => 2,
	table     => 3,
	am        => 4,
	store     => 5,
	operation => 6,
	index     => 6,
	api       => 7,
	dynamodb  => 7,
	scan      => 7,
	worker    => 7);

# am stands on table and base alone.
my %only = (am => { map { $_ => 1 } qw(am table base item) });

# What a room never touches: headers of PostgreSQL and words.
my $relation = qr{^(access/(table|heapam|genam|relation)|executor/|utils/rel(cache)?\.h|catalog/(?!\w+_d\.h)|commands/)};
my %never_include = (
	item       => $relation,
	expression => $relation,
	store      => qr{^executor/spi\.h});
my %never_say = (
	item       => qr/\bSPI_\w+/,
	expression => qr/\bSPI_\w+/,
	store      => qr/\bSPI_\w+/,
	operation  => qr/\bPG_(FUNCTION_INFO_V1|GETARG_\w+)/,
	expression => qr/\bPG_(FUNCTION_INFO_V1|GETARG_\w+)/);

my @files = glob 'src/*/*.[ch]';
ok(@files > 0, 'there are source files');

foreach my $file (@files)
{
	my ($room, $name) = $file =~ m{^src/(\w+)/(.+)$};
	next if $room eq 'install';
	my @wrong;

	ok(exists $level{$room}, "$file: $room is a room");
	like($name, qr/^(\Q$room\E(_\w+)?|errors|guc|compat)\.[ch]$/, "$file: the name carries the room");
	open my $in, '<', $file or die "$file: $!";
	while (my $line = <$in>)
	{
		if ($line =~ /^\s*#\s*include\s+"([^"]+)"/)
		{
			my $header = $1;

			push @wrong, "line $.: includes $header"
			  if -e "src/$header" && !allowed($room, $header)
			  or $never_include{$room} && $header =~ $never_include{$room};
		}
		push @wrong, "line $.: says $&" if $never_say{$room} && $line =~ $never_say{$room};
	}
	is_deeply(\@wrong, [], "$file: every arrow points the right way");
}

# compat.h is the only one that looks at the server's version.
my @versioned = grep { $_ ne 'src/base/compat.h' and slurp($_) =~ /PG_VERSION_NUM/ } @files, glob 'src/*.c';
is_deeply(\@versioned, [], 'PG_VERSION_NUM is in base/compat.h alone');

done_testing();

# Tells whether a room may include a header of src/.
sub allowed
{
	my ($room, $header) = @_;
	my ($other) = $header =~ m{^(\w+)/};

	return 1 if $room eq $other;
	return 0 unless $other eq 'base' or $header eq "$other/$other.h";
	return 0 unless defined $level{$room} and defined $level{$other};
	return $only{$room}{$other} if $only{$room};
	return $level{$other} < $level{$room};
}

# Returns a file's content.
sub slurp
{
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!";
	local $/;
	return <$in>;
}
