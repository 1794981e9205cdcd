# KvTables: the sets of tables that are measured, each with the same items in each role.
#
# A set has up to three tables: ours (kv.create_table), plain (one heap table
# with the same primary key) and native (the heap table hash-partitioned by PostgreSQL's own).  A set is
# made when it is first needed.

package KvTables;

use strict;
use warnings;

use KvServer;

# Makes the maker; sets are definitions by name, "mode" names the column of their sizes.
sub new
{
	my ($class, $server, $mode, $file, %sets) = @_;
	return bless { server => $server, mode => $mode, sql => KvServer::slurp($file), sets => \%sets, made => {} }, $class;
}

# Returns the definition of a set, with items, collections and per of this run.
sub definition
{
	my ($self, $name) = @_;
	my $set = $self->{sets}{$name} // die "there is no set $name";
	my $items = ref $set->{items} ? $set->{items}{ $self->{mode} } : $set->{items};
	my $collections = int($items / $set->{per}) || 1;

	my $partitions = $set->{partitions} // 16;
	$partitions = 2 if $self->{mode} eq 'smoke' and $partitions > 2;
	return { bytes => 200, roles => [qw(ours plain native)], %$set, partitions => $partitions, items => $collections * $set->{per}, collections => $collections };
}

# Returns the name of the table that plays a role in a set.
sub name
{
	my ($self, $set, $role) = @_;
	return "${set}_$role";
}

# Makes sure that a set is there.
sub need
{
	my ($self, $name) = @_;

	return if $self->{made}{$name}++;
	my $set = $self->definition($name);
	$self->{server}->sql_at_once(map {
		[ $self->{sql}, role => $_, table => $self->name($name, $_), map { $_ => $set->{$_} } qw(partitions items collections bytes) ]
	} @{ $set->{roles} });
	foreach my $statement (@{ $set->{after} // [] })
	{
		my ($role, $sql) = @$statement;
		my $table = $self->name($name, $role);
		$self->{server}->sql($sql =~ s/\{table\}/$table/gr);
	}
	$self->settle(0, $name);
	return;
}

# Waits until the global indexes of a set have all changes.
sub drain
{
	my ($self, $set) = @_;
	my $table = $self->name($set, 'ours');

	$self->{server}->sql("SELECT kv.wait_for_index('$table', index_name, '10 min') FROM kv.indexes WHERE table_name = '$table'::regclass");
	return;
}

# Drops a set.
sub drop
{
	my ($self, $name) = @_;

	return unless delete $self->{made}{$name};
	delete $self->{analyzed}{$name};
	$self->{server}->sql('DROP TABLE ' . join ', ', map { $self->name($name, $_) } @{ $self->definition($name)->{roles} });
	return;
}

# Leaves nothing of what was written for a slice to do: vacuums all tables of the sets, the first time analyzes them, and checkpoints; or, if what
# lies between two checkpoints is to be measured, does not and has by freezing an image of each page written.
sub settle
{
	my ($self, $between, @sets) = @_;
	my %seen;

	foreach my $set (grep { defined && !$seen{$_}++ } @sets)
	{
		my $names = join ', ', map { $self->name($set, $_) } @{ $self->definition($set)->{roles} };
		my $how = $self->{analyzed}{$set}++ ? '' : '(ANALYZE)';
		$how = '(FREEZE, DISABLE_PAGE_SKIPPING)' if $between;
		$self->{server}->sql("VACUUM $how $names");
	}
	$self->{server}->sql('CHECKPOINT') unless $between;
	return;
}

1;
