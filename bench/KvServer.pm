# KvServer: a private PostgreSQL server in a folder of its own, and SQL on it.
#
# The settings are those of production: fsync, full_page_writes and
# synchronous_commit stay on.  Maintenance that comes by itself is off, so that
# it does not fall into one side's slice; the measurements call for it between slices.

package KvServer;

use strict;
use warnings;

use File::Temp qw(tempdir);
use IPC::Open2;

# Makes and starts a server; "bin" is PostgreSQL's folder of programs.
sub new
{
	my ($class, $bin, %settings) = @_;
	my $folder = tempdir('kv_bench.XXXXXX', TMPDIR => 1, CLEANUP => 1);
	my $self = bless { bin => $bin, folder => $folder, data => "$folder/data", settings => \%settings, owner => $$ }, $class;

	command("$bin/initdb", '-D', $self->{data}, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8');
	$self->start;
	$ENV{PGHOST} = $folder;
	$ENV{PGUSER} = $ENV{PGDATABASE} = 'postgres';
	$self->sql('CREATE EXTENSION key_value');
	return $self;
}

# Writes the settings, those given on top of the usual ones, and starts.
sub start
{
	my ($self, %more) = @_;
	my %settings = (
		listen_addresses         => '',
		unix_socket_directories  => $self->{folder},
		shared_preload_libraries => 'key_value',
		autovacuum               => 'off',
		checkpoint_timeout       => '1h',
		max_wal_size             => '8GB',
		max_connections          => 100,
		max_locks_per_transaction => 256,
		%{ $self->{settings} }, %more);

	open my $conf, '>', "$self->{data}/postgresql.auto.conf" or die $!;
	print $conf map { "$_ = '$settings{$_}'\n" } sort keys %settings;
	close $conf;
	command("$self->{bin}/pg_ctl", '-D', $self->{data}, '-l', "$self->{folder}/log", '-w', '-t', 300, 'start');
	$self->{running} = 1;
	return;
}

# Stops the server, if it runs.
sub stop
{
	my ($self, $mode) = @_;

	return unless $self->{running};
	$self->close_session;
	$self->{running} = 0;
	command("$self->{bin}/pg_ctl", '-D', $self->{data}, '-m', $mode // 'fast', '-w', '-t', 300, 'stop');
	return;
}

# Stops and starts, with the settings given on top of the usual ones.
sub restart
{
	my ($self, %more) = @_;
	$self->stop;
	$self->start(%more);
	return;
}

# Runs SQL in a session that stays open and returns what it prints, fields parted by tabs; "variables" are psql's.
sub sql
{
	my ($self, $sql, %variables) = @_;
	my $end = 'end of ' . ++$self->{texts};
	my $out = '';

	if (!$self->{session})
	{
		my $child = open2(my $from, my $to, 'sh', '-c', 'exec "$@" 2>&1', 'sh', $self->psql('-'));
		$self->{session} = { child => $child, from => $from, to => $to };
	}
	my ($from, $to) = @{ $self->{session} }{qw(from to)};
	print $to join '', map({ "\\set $_ '$variables{$_}'\n" } sort keys %variables), "$sql\n;\n\\echo $end\n";
	$to->flush;
	while (my $line = <$from>)
	{
		if ($line eq "$end\n") { chomp $out; return $out }
		$out .= $line;
	}
	$self->close_session;
	die "$out$sql\n";
}

# Runs SQL in a session of its own.
sub sql_alone
{
	my ($self, @sql) = @_;
	my $out = command($self->psql(@sql));
	chomp $out;
	return $out;
}

# Ends the session that stays open, if there is one.
sub close_session
{
	my ($self) = @_;
	my $session = delete $self->{session} or return;

	close $session->{to};
	waitpid $session->{child}, 0;
	return;
}

# Starts several SQL texts at once, each in a session of its own, and waits for them all.
sub sql_at_once
{
	my ($self, @jobs) = @_;
	my @children = map { $self->spawn("$self->{folder}/job.$_.out", $self->psql(@{ $jobs[$_] })) } 0 .. $#jobs;
	my @failed = grep { waitpid($children[$_], 0); $? } 0 .. $#jobs;

	die join('', map { slurp("$self->{folder}/job.$_.out") } @failed) if @failed;
	return map { slurp("$self->{folder}/job.$_.out") } 0 .. $#jobs;
}

# Starts a command whose output goes to a file; returns its process.
sub spawn
{
	my ($self, $file, @command) = @_;
	my $child = fork // die "fork: $!";

	return $child if $child;
	open STDOUT, '>', $file or die "$file: $!";
	open STDERR, '>&', \*STDOUT;
	exec @command or die "$command[0]: $!";
}

# Returns the command that runs SQL in psql, or what psql reads if it is "-".
sub psql
{
	my ($self, $sql, %variables) = @_;
	my @set = map { ('-v', "$_=$variables{$_}") } sort keys %variables;
	my $file = $sql eq '-' ? '-' : "$self->{folder}/" . ++$self->{files} . '.sql';

	spew($file, $sql) unless $file eq '-';
	return ('env', 'PGOPTIONS=-c key_value.allow_scan=on -c client_min_messages=warning', "$self->{bin}/psql", '-X', '-q', '-A', '-t', '-F', "\t", '-v', 'ON_ERROR_STOP=1', @set, '-f', $file);
}

# Returns the rows of a query as references to lists.
sub rows
{
	my ($self, @sql) = @_;
	return map { [ split /\t/, $_, -1 ] } split /\n/, $self->sql(@sql);
}

# Stops the server as it is destroyed; children that were forked leave that to their parent.
sub DESTROY
{
	my ($self) = @_;
	local ($?, $@);

	eval { $self->stop('immediate') } if $$ == $self->{owner};
	return;
}

# Returns the files of tables, their partitions and indexes.
sub files
{
	my ($self, @tables) = @_;
	my $names = join ', ', map { "'$_'" } @tables;

	return map { my $file = "$self->{data}/$_"; grep { -f } $file, glob "$file.* ${file}_*" } split /\n/, $self->sql(<<"END");
WITH named AS (SELECT unnest(ARRAY[$names])::regclass AS relid),
leaf AS (SELECT relid FROM named UNION SELECT t.relid FROM named, pg_partition_tree(named.relid) t),
relation AS (
	SELECT relid AS oid FROM leaf UNION SELECT indexrelid FROM pg_index JOIN leaf ON indrelid = relid
	UNION SELECT reltoastrelid FROM pg_class JOIN leaf ON oid = relid WHERE reltoastrelid <> 0)
SELECT pg_relation_filepath(oid) FROM relation WHERE pg_relation_filepath(oid) IS NOT NULL
END
}

# Lets the system's cache forget files, by posix_fadvise, which needs no rights beyond theirs; returns how many bytes it kept nevertheless.
sub forget
{
	my (@files) = @_;
	my $left = 0;

	die "no files to forget\n" unless @files;
	system('dd', "if=$_", 'iflag=nocache', 'count=0', 'status=none') foreach @files;
	$left += $_ foreach command('fincore', '-b', '-n', '-r', '-o', 'RES', @files) =~ /(\d+)/g;
	return $left;
}

# Runs a command and returns its output; dies with it if the command fails.
sub command
{
	my (@command) = @_;
	my $pid = open my $out, '-|';

	die "fork: $!" unless defined $pid;
	if ($pid == 0)
	{
		open STDERR, '>&', \*STDOUT;
		exec @command or die "$command[0]: $!";
	}
	my $text = do { local $/; <$out> } // '';
	close $out or die join(' ', @command) . " failed\n$text";
	return $text;
}

# Returns a file's content.
sub slurp
{
	my ($file) = @_;
	open my $in, '<', $file or die "$file: $!";
	local $/;
	return <$in> // '';
}

# Writes a file.
sub spew
{
	my ($file, $text) = @_;
	open my $out, '>', $file or die "$file: $!";
	print $out $text;
	close $out or die "$file: $!";
	return;
}

1;
