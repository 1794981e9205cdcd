# papers: one version everywhere, and the README's lists are those of the code.

use strict;
use warnings;

use JSON::PP;
use Test::More;

my $readme  = slurp('README.md');
my $control = slurp('key_value.control');
my ($version) = $control =~ /^default_version\s*=\s*'([^']+)'/m;
ok(defined $version, 'the control file carries a version');

my $meta = decode_json(slurp('META.json'));
is($meta->{version}, $version, 'META.json carries it');
is($meta->{provides}{key_value}{version}, $version, 'and for what it provides');
ok(-f $meta->{provides}{key_value}{file}, 'whose file is there');
my ($newest) = slurp('CHANGELOG.md') =~ /^## (\d\S*)/m;
is($newest, $version, 'CHANGELOG.md has it on top');
like(slurp('LICENSE'), qr/^PostgreSQL License/, 'the licence is the PostgreSQL License');

# Error codes: the README's table and base/errors.h say the same.
my %code = map { $_ => 1 } map { sprintf 'KV%03d', $_ } slurp('src/base/errors.h') =~ /\bKV_SQLSTATE\((\d+)\)/g;
my %documented = map { $_ => 1 } $readme =~ /^\| `(KV\d{3})`/mg;
is(join(' ', sort keys %documented), join(' ', sort keys %code), 'the README lists the error codes');

# Settings: the README's table and the code say the same.
my %setting = map { $_ => 1 } slurp('src/base/guc.c') =~ /"(key_value\.\w+)"/g;
my %listed  = map { $_ => 1 } $readme =~ /^\| `(key_value\.\w+)`/mg;
is(join(' ', sort keys %listed), join(' ', sort keys %setting), 'the README lists the settings');

# Functions: every one of the install script is in the README, and the other way round.
my $install = slurp('src/install/key_value.sql');
my %function = map { $_ => 1 } $install =~ /^CREATE (?:FUNCTION|PROCEDURE) kv\.(\w+)/mg;
my %shown = map { $_ => 1 } $readme =~ /^\| `kv\.(\w+)\(/mg;
is(join(' ', sort keys %shown), join(' ', sort keys %function), 'the README lists the functions');

my @uncommented = grep { $install !~ /COMMENT ON (?:FUNCTION|PROCEDURE) kv\.\Q$_\E\b/ } sort keys %function;
is_deeply(\@uncommented, [], 'every function has a comment');
my @bare = grep { $install !~ /COMMENT ON VIEW kv\.\Q$_\E\b/ } $install =~ /^CREATE VIEW kv\.(\w+)/mg;
is_deeply(\@bare, [], 'every view has a comment');
unlike($install, qr/CREATE OR REPLACE/, 'nothing is replaced at installation');

# The SQL about batches and transactions is what the test runs.
my ($transactions) = $readme =~ /<!-- transactions begin -->(.*)<!-- transactions end -->/s;
my $compose = slurp('sql/transact_compose.sql');
my @blocks = ($transactions // '') =~ /^```sql\n(.*?)^```$/msg;
cmp_ok(scalar @blocks, '>', 3, 'the README shows transactions');
is_deeply([ grep { index($compose, $_) < 0 } @blocks ], [], 'as sql/transact_compose.sql runs them');

done_testing();

# Returns a file's content.
sub slurp
{
	my ($file) = @_;
	open my $in, '<', $file or return '';
	local $/;
	return <$in>;
}
