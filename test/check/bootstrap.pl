# bootstrap: may be edited while it runs, as a pull does, without what runs noticing.

use strict;
use warnings;

use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(sleep);

my $tree   = tempdir(CLEANUP => 1);
my $script = "$tree/bootstrap";
copy('bootstrap', $script) or die $!;

# A folder as the demo leaves it, with a process in the server's place that lives on until the script has been edited.
my $folder = "$tree/folder";
mkdir $folder;
local $SIG{QUIT} = sub { write_file("$tree/asked", '') };
my $server = fork // die $!;
if (!$server)
{
	sleep 0.05 until -e "$tree/edited";
	exit 0;
}
write_file("$folder/postmaster.pid", "$server\n");
write_file("$tree/.demo", "$folder\n");

my $stop = fork // die $!;
exec 'sh', $script, 'stop' if !$stop;
for (my $tries = 0; !-e "$tree/asked" and $tries < 600; $tries++) { sleep 0.05 }
ok(-e "$tree/asked", 'the demo\'s server is asked to stop');

open my $out, '>>', $script or die $!;
print $out "exit 9\n";
close $out;
write_file("$tree/edited", '');
waitpid $server, 0;
waitpid $stop, 0;
is($?, 0, 'a script that is edited while it runs ends as it was');
ok(!-e $folder, 'the demo\'s folder is removed');

done_testing();

# Writes a file.
sub write_file
{
	my ($file, $text) = @_;
	open my $to, '>', $file or die "$file: $!";
	print $to $text;
	return close $to;
}
