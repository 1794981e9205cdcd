# KvRandomWrites: random writes of every kind to the tables of index_random, as text for psql.
#
# A table is described by its name, the types of its keys, and its leaves.  All
# numbers come from Perl's rand, so a seed gives the same text.

package KvRandomWrites;

use strict;
use warnings;

use Exporter 'import';
use MIME::Base64 qw(encode_base64);

our @EXPORT_OK = qw(%tables random_burst any put);

our %tables = (
	notes    => { types => 'SS', leaves => 4 },
	readings => { types => 'NN', leaves => 3 },
	blobs    => { types => 'B',  leaves => 2 },
	by_hand  => { types => 'SS', leaves => 0 });

# Key columns and how many values each takes: few, so that sessions meet.
my @columns = ('pk', 'sk');
my @spread  = (6, 30);

my @kinds = (
	[ 10, \&put ], [ 10, \&update ], [ 4, \&remove ], [ 3, \&delete_item ], [ 3, \&batch ], [ 4, \&transact ],
	[ 4, \&sql_update ], [ 2, \&sql_update_key ], [ 2, \&sql_update_many ], [ 3, \&sql_delete ], [ 1, \&sql_delete_many ],
	[ 4, \&sql_upsert ], [ 2, \&sql_merge ], [ 2, \&sql_insert_many ], [ 2, \&sql_move ], [ 2, \&copy ], [ 2, \&leaf_write ],
	[ 2, \&aborted ], [ 4, \&savepoints ], [ 2, \&block ], [ 3, \&prepared ], [ 3, \&late ], [ 3, \&isolated ], [ 3, \&several ], [ 1, \&bad_key ]);

# Writes that may stand beside others in one transaction.
my @simple = (\&put, \&put, \&update, \&update, \&remove, \&delete_item, \&sql_update, \&sql_delete, \&sql_upsert, \&transact);

my $gid = 0;

# Returns one of several values.
sub any
{
	return $_[ rand @_ ];
}

# Returns a random table.
sub any_table
{
	return any('notes', 'notes', 'readings', 'blobs', 'by_hand');
}

# Returns a value of a type as JSON and as SQL.
sub value
{
	my ($type, $n) = @_;
	return (qq("k$n"), "'k$n'") if $type eq 'S';
	return ($n / 4 . '', $n / 4 . '') if $type eq 'N';
	return ('{"$B": "' . encode_base64("b$n", '') . '"}', "'b$n'::bytea");
}

# Returns a random key of a table: its attributes as JSON members, and SQL's values.
sub any_key
{
	my ($table) = @_;
	my (@json, @sql);

	foreach my $i (0 .. length($tables{$table}{types}) - 1)
	{
		my ($json, $sql) = value(substr($tables{$table}{types}, $i, 1), int rand($i == 0 && length($tables{$table}{types}) == 1 ? 100 : $spread[$i]));
		push @json, qq("$columns[$i]": $json);
		push @sql, $sql;
	}
	return (join(', ', @json), @sql);
}

# Returns SQL's condition for a key.
sub where
{
	my (@sql) = @_;
	return join ' AND ', map { "$columns[$_] = $sql[$_]" } 0 .. $#sql;
}

# Returns random attributes as JSON members; any of them may be missing.
sub attributes
{
	my @members;

	push @members, '"status": "st' . int(rand 4) . '"' if rand() < 0.7;
	push @members, '"owner": "o' . int(rand 8) . '"' if rand() < 0.6;
	push @members, '"n": ' . any(int(rand 50), -int(rand 50), rand(10) < 5 ? '1e20' : '0.5', '1.50') if rand() < 0.7;
	push @members, '"bytes": {"$B": "' . encode_base64('v' . int(rand 5), '') . '"}' if rand() < 0.4;
	push @members, '"x": ' . int(rand 3) if rand() < 0.5;
	push @members, '"body": "' . 'x' x int(rand 60) . '"' if rand() < 0.3;
	push @members, '"body": "' . join('', map { int rand 1e9 } 1 .. 400) . '"' if rand() < 0.03;
	return @members;
}

# Returns a random item as JSON.
sub item
{
	my ($table) = @_;
	my ($key) = any_key($table);
	return '{' . join(', ', $key, attributes()) . '}';
}

# Returns random attributes as a JSON object.
sub rest
{
	return '{' . join(', ', attributes()) . '}';
}

# The functions below return one write each.

sub put
{
	my ($table) = @_;
	return "SELECT kv.put_item('$table', '" . item($table) . "');\n";
}

sub update
{
	my ($table) = @_;
	my ($key) = any_key($table);
	my ($update, $names, $values) = @{ any(
			[ 'SET #a = :v', '{"#a": "status"}', '{":v": "st' . int(rand 4) . '"}' ],
			[ 'SET #a = :v, x = :x', '{"#a": "owner"}', '{":v": "o' . int(rand 8) . '", ":x": ' . int(rand 3) . '}' ],
			[ 'ADD n :v', undef, '{":v": 1}' ],
			[ 'SET body = :v', undef, '{":v": "changed"}' ],
			[ 'SET bytes = :v', undef, '{":v": {"$B": "' . encode_base64('v' . int(rand 5), '') . '"}}' ]) };
	return "SELECT kv.update_item('$table', '{$key}', '$update'" . ($values ? ", attribute_values => '$values'" : '')
	  . ($names ? ", attribute_names => '$names'" : '') . ");\n";
}

sub remove
{
	my ($table) = @_;
	my ($key) = any_key($table);
	my $update = any('REMOVE #a', 'REMOVE #a, n', 'REMOVE #a, bytes');
	return "SELECT kv.update_item('$table', '{$key}', '$update', attribute_names => '{\"#a\": \"" . any('status', 'owner') . "\"}');\n";
}

sub delete_item
{
	my ($table) = @_;
	my ($key) = any_key($table);
	return "SELECT kv.delete_item('$table', '{$key}');\n";
}

sub batch
{
	my %requests;

	foreach (1 .. 1 + rand 10)
	{
		my $table = any_table();
		my ($key) = any_key($table);
		push @{ $requests{$table} }, rand() < 0.7 ? '{"PutRequest": {"Item": ' . item($table) . '}}' : "{\"DeleteRequest\": {\"Key\": {$key}}}";
	}
	return "SELECT kv.batch_write_item('{" . join(', ', map { qq("$_": [) . join(', ', @{ $requests{$_} }) . ']' } sort keys %requests) . "}');\n";
}

sub transact
{
	my @actions;

	foreach (1 .. 1 + rand 5)
	{
		my $table = any_table();
		my ($key) = any_key($table);
		my $start = qq("TableName": "$table");
		push @actions, any(qq({"Put": {$start, "Item": ) . item($table) . '}}', qq({"Delete": {$start, "Key": {$key}}}),
			qq({"Update": {$start, "Key": {$key}, "UpdateExpression": "SET #s = :s", "ExpressionAttributeNames": {"#s": "status"}, )
			  . '"ExpressionAttributeValues": {":s": "st' . int(rand 4) . '"}}}');
	}
	return "SELECT kv.transact_write_items('[" . join(', ', @actions) . "]');\n";
}

sub sql_update
{
	my ($table) = @_;
	my (undef, @key) = any_key($table);
	my $change = any("item || '" . rest() . "'", "item - 'status'", "item - '{owner,n}'::text[]", "'" . rest() . "'");
	return "UPDATE $table SET item = $change WHERE " . where(@key) . ";\n";
}

# Moves an item to another key, in the same leaf or another; a unique violation may come of it.
sub sql_update_key
{
	my ($table) = @_;
	my (undef, @old) = any_key($table);
	my (undef, @new) = any_key($table);
	my $column = int rand @new;
	return "UPDATE $table SET $columns[$column] = $new[$column]" . (rand() < 0.5 ? ", item = item || '" . rest() . "'" : '') . ' WHERE ' . where(@old) . ";\n";
}

sub sql_update_many
{
	my ($table) = @_;
	my (undef, @key) = any_key($table);
	my $where = rand() < 0.3 ? "item->>'status' = 'st1'" : "pk = $key[0]";
	return "SET key_value.allow_scan = on;\nUPDATE $table SET item = item || '" . rest() . "' WHERE $where;\nRESET key_value.allow_scan;\n";
}

sub sql_delete
{
	my ($table) = @_;
	my (undef, @key) = any_key($table);
	return "DELETE FROM $table WHERE " . where(@key) . ";\n";
}

sub sql_delete_many
{
	my ($table) = @_;
	my (undef, @key) = any_key($table);
	my $where = rand() < 0.2 ? "item->>'owner' = 'o3'" : "pk = $key[0] AND item ? 'x'";
	return "SET key_value.allow_scan = on;\nDELETE FROM $table WHERE $where;\nRESET key_value.allow_scan;\n";
}

sub sql_upsert
{
	my ($table) = @_;
	my (undef, @key) = any_key($table);
	my $target = join ', ', @columns[ 0 .. $#key ];
	return "INSERT INTO $table VALUES (" . join(', ', @key, "'" . rest() . "'") . ") ON CONFLICT ($target) DO "
	  . any('NOTHING', 'UPDATE SET item = excluded.item', "UPDATE SET item = $table.item || excluded.item",
		"UPDATE SET item = excluded.item WHERE $table.item ? 'x'") . ";\n";
}

sub sql_merge
{
	my ($table) = @_;
	my (undef, @key) = any_key($table);
	my $values = join ', ', @key, "'" . rest() . "'::jsonb";
	my $names = join ', ', @columns[ 0 .. $#key ], 'item';
	return "MERGE INTO $table t USING (VALUES ($values)) s($names) ON " . join(' AND ', map { "t.$columns[$_] = $key[$_]" } 0 .. $#key)
	  . " WHEN MATCHED AND t.item ? 'x' THEN DELETE WHEN MATCHED THEN UPDATE SET item = s.item WHEN NOT MATCHED THEN INSERT VALUES ("
	  . join(', ', map { "s.$columns[$_]" } 0 .. $#key) . ", s.item);\n";
}

# Inserts items that no other write makes, removed by sql_move later or not at all.
sub sql_insert_many
{
	my $from = 1000 + int rand 1e6;
	my $count = 1 + int rand 40;
	return "INSERT INTO notes SELECT 'many' || n % 7, 'm' || n, jsonb_build_object('status', 'st' || n % 4, 'owner', 'many', 'n', n) "
	  . "FROM generate_series($from, $from + $count) n ON CONFLICT DO NOTHING;\n";
}

sub sql_move
{
	my $pk = 'many' . int rand 7;
	return any("WITH gone AS (DELETE FROM notes WHERE pk = '$pk' RETURNING *) INSERT INTO notes SELECT pk || '.', sk, item FROM gone "
		  . "WHERE sk < 'm5' ON CONFLICT DO NOTHING;\n",
		"DELETE FROM notes WHERE pk = '$pk.';\n", "UPDATE notes SET item = item - 'owner' WHERE pk = '$pk' AND sk < 'm5';\n");
}

sub copy
{
	my $from = 1000 + int rand 1e6;
	my @rows = map { "many" . $_ % 7 . "\tm$_\t" . rest() } $from .. $from + int rand 20;

	# where COPY fails, psql may take the rows for the beginning of the next statement: let that be one of no use
	return "COPY notes FROM STDIN;\n" . join("\n", @rows) . "\n\\.\nSELECT;\n";
}

# Writes to a leaf by its own name: most keys do not belong there.
sub leaf_write
{
	my $table = any('notes', 'readings', 'blobs');
	my $leaf = $table . '_p' . int rand $tables{$table}{leaves};
	my $write = any(\&sql_update, \&sql_delete, \&sql_upsert)->($table);
	$write =~ s/\b$table\b/$leaf/g;
	return any($write, "BEGIN;\n$write" . pause() . $write . "COMMIT;\n");
}

sub aborted
{
	my ($table) = @_;
	return "BEGIN;\n" . several_writes($table) . any('ROLLBACK', "SELECT 1 / 0;\nCOMMIT") . ";\n";
}

# Savepoints, nested, rolled back and released.
sub savepoints
{
	my ($table) = @_;
	my $text = "BEGIN;\n";
	my $depth = 0;

	foreach (1 .. 3 + rand 8)
	{
		my $step = rand;
		if ($step < 0.35) { $text .= 'SAVEPOINT s' . ++$depth . ";\n"; }
		elsif ($step < 0.5 && $depth > 0) { $text .= 'ROLLBACK TO s' . ($depth - int rand $depth) . ";\n"; }
		elsif ($step < 0.6 && $depth > 0) { $text .= "RELEASE s$depth;\n"; $depth--; }
		else { $text .= any(@simple)->($table); }
	}
	return $text . any('COMMIT', 'COMMIT', 'COMMIT', 'ROLLBACK') . ";\n";
}

# A block that swallows errors of its subtransactions.
sub block
{
	my ($table) = @_;
	my $text = "DO \$do\$ BEGIN\n";

	foreach (1 .. 1 + rand 4)
	{
		my $write = any(\&sql_update, \&sql_delete, \&sql_upsert)->($table);
		$text .= 'BEGIN ' . $write . any('', "RAISE 'no';") . " EXCEPTION WHEN OTHERS THEN NULL; END;\n";
	}
	return $text . "END \$do\$;\n";
}

# Who ends prepared transactions is the test's driver.
sub prepared
{
	my ($table) = @_;
	my $name = "'random $$ " . ++$gid . "'";
	return "BEGIN;\n" . several_writes($table) . "PREPARE TRANSACTION $name;\n" . any('', "COMMIT PREPARED $name;\n", "ROLLBACK PREPARED $name;\n");
}

sub pause
{
	return 'SELECT pg_sleep(' . rand(0.3) . ");\n";
}

# A transaction that commits late.
sub late
{
	my ($table) = @_;
	return "BEGIN;\n" . several_writes($table) . pause() . any(@simple)->($table) . pause() . "COMMIT;\n";
}

sub isolated
{
	my ($table) = @_;
	return 'BEGIN ISOLATION LEVEL ' . any('REPEATABLE READ', 'SERIALIZABLE') . ";\n" . several_writes($table) . any('', pause())
	  . any(@simple)->($table) . "COMMIT;\n";
}

sub several
{
	my ($table) = @_;
	return "BEGIN;\n" . several_writes($table) . any('', several_writes(any_table())) . "COMMIT;\n";
}

# An attribute that cannot be a key of an index is refused, or leaves the item out where there is no such index.
sub bad_key
{
	my ($table) = @_;
	my ($key) = any_key($table);
	return "SELECT kv.put_item('$table', '{$key, \"n\": \"not a number\"}');\n";
}

sub several_writes
{
	my ($table) = @_;
	return join '', map { any(@simple)->($table) } 1 .. 1 + rand 4;
}

# Returns so many random writes.
sub random_burst
{
	my ($count) = @_;
	my $total = 0;
	my $text = '';

	$total += $_->[0] foreach @kinds;
	foreach (1 .. $count)
	{
		my $at = rand $total;
		foreach my $kind (@kinds)
		{
			$at -= $kind->[0];
			next if $at >= 0;
			$text .= $kind->[1]->(any_table());
			last;
		}
	}
	return $text;
}

1;
