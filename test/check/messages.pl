# messages: each message that kv.dynamodb can raise of its own, and each that it
# words as DynamoDB does, is in the expected output of a test.

use strict;
use warnings;

use Test::More;

# Returns a file as it is.
sub slurp
{
	my ($file) = @_;

	open my $in, '<', $file or die "$file: $!";
	local $/;
	return scalar <$in>;
}

# Returns the text of adjacent string literals.
sub text
{
	my ($literals) = @_;
	my $text = join '', $literals =~ /"((?:\\.|[^"\\])*)"/g;

	$text =~ s/\\(.)/$1/g;
	return $text;
}

# Returns a pattern for a message in which some places may hold anything.
sub pattern
{
	my ($text, $place) = @_;

	return join '.*?', map { quotemeta } split /$place/, $text, -1;
}

# a quote in a DETAIL is written with a backslash
my $expected = join '', map { slurp($_) } glob 'expected/dynamodb*.out test/expected/dynamodb*.out';
$expected =~ s/\\"/"/g;

# The wordings: operation, what is said here, what DynamoDB says.
my $source = slurp('src/dynamodb/dynamodb_message.c');
my %macro = $source =~ /^#define (PARAMETERS|ONE_ERROR|MISMATCH|LEGACY_TOKEN) (.*)$/mg;
my $macro = join '|', sort keys %macro;
my ($table) = $source =~ /wordings\[\] = \{(.*?)^\};/ms;
my $part = qr/(?:"(?:\\.|[^"\\])*"|$macro|\s)+/;
my $count = 0;

while ($table =~ /\{(NULL|"\w+"),($part),($part)\}/g)
{
	my $theirs = $3;

	$count++;
	1 while $theirs =~ s/\b($macro)\b/$macro{$1}/;
	$theirs = text($theirs);
	my $pattern = pattern($theirs, qr/\$\d%?/);
	ok($expected =~ /$pattern/, "expected: $theirs");
}
cmp_ok($count, '>', 100, 'the wordings are found');

# The messages of the room.
foreach my $file (glob 'src/dynamodb/*.c')
{
	my $code = slurp($file);

	while ($code =~ /\b(?:errmsg|refuse|refuse_select)\((?:psprintf\()?\s*((?:"(?:\\.|[^"\\])*"\s*)+)/g)
	{
		my $message = text($1);
		my $pattern = pattern($message, qr/%(?:\.\*)?[a-z]/);
		ok($expected =~ /$pattern/, "$file: expected: $message");
	}
}

done_testing();
