# KvMemory: what a session keeps in memory, told by sections of memory.sql.

package KvMemory;

use strict;
use warnings;

use KvServer;

# Makes the runner.
sub new
{
	my ($class, $server, $tables, $mode, $file) = @_;
	my %section = KvServer::slurp($file) =~ /^-- \[(\w+)\]\n(.*?)(?=^-- \[|\z)/msg;

	return bless { server => $server, tables => $tables, mode => $mode, section => \%section, done => {} }, $class;
}

# Measures the rows of an area.
sub measure
{
	my ($self, $area, @rows) = @_;
	return map {
		my $row = $_;
		[ [ map { defined $row->{$_} ? $self->bytes($area->{set}, $row->{$_}) : undef } qw(ours theirs) ] ]
	} @rows;
}

# Returns what the section of a reference "name:role" or "name_number:role" prints.
sub bytes
{
	my ($self, $set, $reference) = @_;
	my ($name, $number, $role) = $reference =~ /^([a-z_]+?)(?:_(\d+))?:(\w+)$/ or die "not a section: $reference";
	my $text = $self->{section}{$name} // die "there is no section $name";

	$number = int($number / 20 + 4) if $self->{mode}{name} eq 'smoke';
	$text =~ s/\{role\}/$role/g;
	$text =~ s/\{n\}/$number/g;
	$text =~ s/\{table\}/$self->{tables}->name($set, $role)/ge;
	return $self->{done}{$reference} //= $self->{server}->sql_alone($text);
}

1;
