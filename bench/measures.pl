# measures: what is measured, in one list, with the goal of each.
#
# An area is a group of rows that are measured together, in turn.  A row is
#	[ name, ours, theirs, goal, more ]
# and what ours and theirs are depends on the kind of the area:
#	tps        "section of statements.sql:role" with "@set" if it is not the area's, or a list of them with weights (KvPgbench.pm)
#	placement  ours is pages, size or compacted (KvPlacement.pm), "more" has the shape
#	lag        ours is p50, p99, growth or kept (KvLag.pm)
#	memory     "section of memory.sql:role" or "section_number:role" (KvMemory.pm)
# The goal is for the median of ours / theirs, '' for none.  "more" and the area's own fields:
#	full       measured by the full run only
#	set        the set of tables (KvTables.pm)
#	rounds, seconds   if not those of the run
#	clients    sessions at once, 1 unless told
#	keys       how collections are drawn: uniform unless told, or zipf
#	times      what ours is multiplied by: items in one transaction
#	writes     the tables are vacuumed before each round
#	mixed      rows with the same statement of ours are one run of one session, which draws the statement of each transaction
#	drain      the global indexes are brought up to date before each slice
#	cold       how many queries a slice has; before each the server is started anew with shared_buffers a quarter of the data, which the
#	           system's cache forgets; each query reads a collection that was not read before
#	settings   settings of the sessions
#	chart      the row's label in the chart; without one it is not there
#	judge      ours: the goal is for ours itself, not for the ratio

use strict;
use warnings;

# Sizes are those of the quick run, of the full one and of the test that only sees that all runs.
our %sets = (
	messages => { items => { quick => 100_000, full => 1_000_000, smoke => 500 }, per => 50 },
	cold     => { items => { quick => 150_000, full => 2_000_000, smoke => 500 }, per => 50 },
	writes   => { items => { quick => 100_000, full => 1_000_000, smoke => 500 }, per => 50 },
	batches  => { items => { quick => 100_000, full => 1_000_000, smoke => 500 }, per => 50, roles => [qw(ours)] },
	concurrent => { items => { quick => 100_000, full => 500_000, smoke => 500 }, per => 50, roles => [qw(ours plain)] },
	orders   => {
		items => { quick => 50_000, full => 500_000, smoke => 500 },
		per   => 10,
		roles => [qw(ours plain)],
		after => [
			map({ [ ours => "SELECT kv.create_global_index('{table}', 'orders_by_$_', '$_')" ] } qw(status owner place)),
			map({ [ plain => "CREATE INDEX ON {table} ((item->>'$_'))" ] } qw(status owner place)) ] },
	map({
		my ($name, $items) = @$_;
		("items_$name" => { items => { quick => $items, full => $items, smoke => 500 }, per => 50, bytes => 100, roles => [qw(ours plain)] })
	} [ '100k', 100_000 ], [ '1m', 1_000_000 ], [ '10m', 10_000_000 ]),
	map({ ("partitions_$_" => { items => { full => 200_000, smoke => 500 }, per => 50, partitions => $_, roles => [qw(ours native)] }) } 1, 16, 64, 256));

our @areas = (
	{   area => 'point read',
		set  => 'messages',
		rows => [
			[ 'kv.get / plain SELECT',             'get:ours',      'select:plain',  '>= 1.4', chart => 'kv.get' ],
			[ 'kv.get / native partitions',        'get:ours',      'select:native', '' ],
			[ 'kv.get / protocol floor',           'get:ours',      'floor:ours',    '>= 0.80' ],
			[ 'kv.get_item / plain SELECT',        'get_item:ours', 'select:plain',  '>= 1.2', chart => 'kv.get_item' ],
			[ 'kv.get_item / native partitions',   'get_item:ours', 'select:native', '' ],
			[ 'kv.get_item / protocol floor',      'get_item:ours', 'floor:ours',    '>= 0.80' ],
			[ 'SELECT by key / plain',             'select:ours',   'select:plain',  '>= 1.0', chart => 'SELECT by key' ],
			[ 'SELECT by key / native partitions', 'select:ours',   'select:native', '>= 3', chart => 'SELECT by key / native partitions' ] ] },
	{   area => 'query of the last 50, in memory',
		set  => 'messages',
		rows => [
			[ 'SELECT / plain',               'query:ours',    'query:plain',  '>= 2', chart => 'last 50 items, in memory' ],
			[ 'SELECT / native partitions',   'query:ours',    'query:native', '' ],
			[ 'kv.query / plain',             'kv_query:ours', 'query:plain',  '>= 2' ],
			[ 'kv.query / native partitions', 'kv_query:ours', 'query:native', '' ] ] },
	{   area => 'query of the last 50, data 4 times shared_buffers, cold system cache',
		set  => 'cold',
		cold => { quick => 30, full => 150, smoke => 2 },
		rows => [
			[ 'SELECT / plain',             'cold_query:ours',    'cold_query:plain',  '>= 6', chart => 'last 50 items, cold cache' ],
			[ 'SELECT / native partitions', 'cold_query:ours',    'cold_query:native', '' ],
			[ 'kv.query / plain',           'cold_kv_query:ours', 'cold_query:plain',  '>= 6' ] ] },
	write_area('write, durable'),
	write_area('write, not waiting for the disk', chart => undef, settings => { synchronous_commit => 'off' }),
	{   area    => 'three global indexes / three btrees',
		set     => 'orders',
		writes  => 1,
		drain   => 1,
		clients => 4,
		rows    => [
			[ 'update that moves one key',           'move_one:ours',    'update_one:plain',   '>= 1.0', chart => 'update, 3 global indexes / 3 btrees' ],
			[ 'update that moves three keys',        'move_three:ours',  'update_three:plain', '>= 1.0' ],
			[ 'update that moves none',              'update_item:ours', 'update:plain',       '' ],
			[ 'update that moves one key, 1 session', 'move_one:ours',   'update_one:plain',   '', clients => 1 ] ] },
	{   area    => 'lag of a global index',
		kind    => 'lag',
		set     => 'orders',
		index   => 'orders_by_status',
		unit    => 'ms',
		clients => 4,
		judge   => 'ours',
		rows    => [
			[ 'p50, idle',                                             'p50',    undef, '<= 20' ],
			[ 'p99, idle',                                             'p99',    undef, '' ],
			map({
				my ($load, $what) = @$_;
				([ "p50 while $what",                                  'p50',    undef, '<= 20',  load => $load ],
				 [ "p99 while $what",                                  'p99',    undef, '<= 500', load => $load ],
				 [ "growth while $what, last third / first third",     'growth', undef, '<= 2',   load => $load, unit => 'ratio' ],
				 [ "share of the load's rate at which $what is lasting", 'kept', undef, '',       load => $load, unit => 'ratio' ])
			} [ 'move_one:ours', '4 sessions move one key' ], [ 'move_three:ours', '4 sessions move three keys' ]) ] },
	{   area => 'collections, pages of the last 50 items / fewest possible',
		kind => 'placement',
		unit => 'ratio',
		judge => 'ours',
		rows => [ map { [ $_->[0], 'pages', undef, '<= 2.5', @$_[ 1 .. $#$_ ] ] } shapes() ] },
	{   area => 'collections, all their pages after kv.compact / fewest possible',
		kind => 'placement',
		unit => 'ratio',
		judge => 'ours',
		rows => [ map { [ $_->[0], 'compacted', undef, '<= 1.2', @$_[ 1 .. $#$_ ] ] } grep { @$_ == 3 } shapes() ] },
	{   area => 'collections, size of the heap / plain heap',
		kind => 'placement',
		unit => 'MB',
		rows => [ map { [ $_->[0], 'size', undef, '<= 1.25', @$_[ 1 .. $#$_ ] ] } shapes() ] },
	growth_area('growth, reads', [ get => 'get', 'select' ], [ query => 'query', 'query' ]),
	{ %{ growth_area('growth, writes', [ put => 'put', 'insert' ]) }, full => 1, writes => 1 },
	concurrent_area(),
	{   area    => 'partitions',
		full    => 1,
		writes  => 1,
		rounds  => 3,
		seconds => 2,
		rows    => [
			map {
				my ($op, $ours, $native) = @$_;
				map({ my $set = "partitions_$_"; [ "$op, $_ partitions / native", "$ours:ours\@$set", "$native:native\@$set", '' ] } 1, 16, 64, 256),
				map({ [ "$op, $_ partitions / 1 partition", "$ours:ours\@partitions_$_", "$ours:ours\@partitions_1", '' ] } 16, 64, 256)
			} [ 'kv.get', 'get', 'select' ], [ 'SELECT by key', 'select', 'select' ], [ 'query', 'query', 'query' ], [ 'put', 'put', 'insert' ] ] },
	{   area => 'memory of a session',
		kind => 'memory',
		set  => 'messages',
		unit => 'bytes',
		rows => [
			[ 'a table that was read / plain',                          'per_table_40:ours',     'per_table_40:plain',    '' ],
			[ 'a table that was read / native partitions',              'per_table_40:ours',     'per_table_40:native',   '' ],
			[ 'a prepared SELECT by key / plain',                       'plans_100:ours',        'plans_100:plain',       '' ],
			[ 'a prepared SELECT by key / native partitions',           'plans_100:ours',        'plans_100:native',      '' ],
			[ '100 different expressions',                              'expressions_100:ours',  undef,                   '' ],
			[ '4,000 different expressions / 2,000',                    'expressions_4000:ours', 'expressions_2000:ours', '<= 1.05' ],
			[ '100,000 reads / 1,000',                                  'gets_100000:ours',      'gets_1000:ours',        '<= 1.01' ] ] });

# Returns the area of single writes, batches and transactions.
sub write_area
{
	my ($name, %more) = @_;
	return {
		area   => $name,
		set    => 'writes',
		writes => 1,
		mixed  => 1,
		rows   => [
			[ 'put_item new / INSERT ON CONFLICT',                    'put_new:ours',     'insert_new:plain',    '>= 1.0', chart => 'put_item, new' ],
			[ 'put_item new / native partitions',                     'put_new:ours',     'insert_new:native',   '' ],
			[ 'put_item over an item / INSERT ON CONFLICT',           'put:ours',         'insert:plain',        '>= 1.0', chart => 'put_item over an item' ],
			[ 'put_item over an item / native partitions',            'put:ours',         'insert:native',       '' ],
			[ 'update_item counter / UPDATE jsonb_set',               'update_item:ours', 'update:plain',        '>= 1.0', chart => 'update_item' ],
			[ 'update_item counter / native partitions',              'update_item:ours', 'update:native',       '' ],
			# in a table of its own, lest ours grows beyond the others by what only it is given
			[ 'batch_write_item of 25, items / single put_item',      'batch:ours@batches', 'single:ours@batches', '>= 5', times => 25, chart => '25 items in a batch / one by one' ],
			[ 'transact_write_items of 4 / BEGIN, 4 upserts, COMMIT', 'transact:ours',    'four_upserts:plain',  '>= 1.5', chart => 'transaction of 4 items' ],
			[ 'transact_write_items of 4 / native partitions',        'transact:ours',    'four_upserts:native', '' ] ],
		%more };
}

# Returns the area of tables that grow: of operations, each a name and the statements of ours and plain.
sub growth_area
{
	my ($name, @operations) = @_;
	my @rows;

	foreach my $operation (@operations)
	{
		my ($what, $ours, $plain) = @$operation;
		my $goal = $name =~ /reads/ ? '>= 0.85' : '';
		push @rows,
			[ "$what, 1 M items / 100 k",          "$ours:ours\@items_1m",    "$ours:ours\@items_100k",   $goal ],
			[ "$what, 10 M items / 100 k",         "$ours:ours\@items_10m",   "$ours:ours\@items_100k",   $goal, full => 1 ],
			[ "plain $what, 1 M items / 100 k",    "$plain:plain\@items_1m",  "$plain:plain\@items_100k", '' ],
			[ "plain $what, 10 M items / 100 k",   "$plain:plain\@items_10m", "$plain:plain\@items_100k", '', full => 1 ],
			[ "$what / plain $what, 100 k items",  "$ours:ours\@items_100k",  "$plain:plain\@items_100k", '' ],
			[ "$what / plain $what, 1 M items",    "$ours:ours\@items_1m",    "$plain:plain\@items_1m",   '' ],
			[ "$what / plain $what, 10 M items",   "$ours:ours\@items_10m",   "$plain:plain\@items_10m",  '', full => 1 ];
	}
	return { area => $name, rounds => 3, rows => \@rows };
}

# Returns the area of sessions at once.
sub concurrent_area
{
	my @work = (
		[ 'get',               'get:ours',                            'select:plain' ],
		[ 'put',               'put:ours',                            'insert:plain' ],
		[ '95 get, 5 put',     [ 'get:ours', 95, 'put:ours', 5 ],     [ 'select:plain', 95, 'insert:plain', 5 ] ],
		[ '50 get, 50 put',    [ 'get:ours', 50, 'put:ours', 50 ],    [ 'select:plain', 50, 'insert:plain', 50 ] ]);
	my %quick = map { $_ => 1 } 'get uniform', 'put uniform', '50 get, 50 put zipf';
	my @rows;

	foreach my $keys (qw(uniform zipf))
	{
		foreach my $work (@work)
		{
			my ($what, $ours, $plain) = @$work;
			push @rows, map {
				[ "$what, $keys, $_ sessions / plain", $ours, $plain, '>= 1.0', keys => $keys, clients => $_, full => $_ < 16 || !$quick{"$what $keys"}, waits => $_ == 16 ]
			} 1, 2, 4, 8, 16;
			push @rows, [ "$what, $keys, 16 sessions / 2", $ours, $ours, '>= 0.85', keys => $keys, clients => 16, clients_theirs => 2, full => 1 ];
		}
	}
	my @hot = ('hot_update_item:ours', 'hot_update:plain');
	push @rows, map({ [ "one hot counter, $_ sessions / plain", @hot, '>= 1.0', clients => $_, full => $_ < 16, waits => $_ == 16 ] } 1, 2, 4, 8, 16),
		[ 'one hot counter, 16 sessions / 2', $hot[0], $hot[0], '>= 0.85', clients => 16, clients_theirs => 2, full => 1 ];
	return { area => 'concurrency', set => 'concurrent', writes => 1, rounds => 3, seconds => { quick => 1, full => 2 }, rows => \@rows };
}

# Returns the shapes in which collections are filled, as name and fields.
sub shapes
{
	my @quick = (
		[ 'single items', { order => 'rr', size => 1 } ],
		map({ [ "$_ items, interleaved", { order => 'rr', size => $_ } ] } 3, 10, 50, 500),
		[ 'Zipf, interleaved', { order => 'zipf', size => 10 } ],
		[ 'cities of GeoNames', { order => 'cities' } ]);
	my @full = (
		[ '5,000 items, interleaved', { order => 'rr', size => 5000 } ],
		map({ [ "$_ items, shuffled", { order => 'shuffled', size => $_ } ] } 3, 10, 50, 500),
		map({ [ "$_ items, sort keys in random order", { order => 'random', size => $_ } ] } 50, 500, 5000),
		map({ [ "$_ items, in key order", { order => 'key', size => $_ } ] } 1, 3, 50, 5000),
		map({ [ "$_ items, alive for a fifth of the time", { order => 'window', size => $_ } ] } 3, 10, 50),
		[ '1, 8 and 200 items, shuffled', { order => 'mixed' } ],
		map({ my $bytes = $_; map({ [ "$_ items of $bytes bytes, interleaved", { order => 'rr', size => $_, bytes => $bytes } ] } 3, 50) } 100, 1000),
		[ '10 items of 20 KB (TOAST), interleaved', { order => 'rr', size => 10, bytes => 20_000 } ],
		map({ [ "$_ items, COPY, interleaved", { order => 'rr', size => $_, way => 'copy' } ] } 3, 50),
		[ '50 items, COPY, shuffled', { order => 'shuffled', size => 50, way => 'copy' } ],
		[ '50 items, COPY, in key order', { order => 'key', size => 50, way => 'copy' } ],
		map({ [ "$_ items, each updated to three times its size", { order => 'rr', size => $_, way => 'grow' } ] } 3, 10, 50),
		map({ [ "$_ items, all deleted and inserted again", { order => 'rr', size => $_, way => 'churn' } ] } 3, 10, 50),
		map({ [ "50 items, $_ writers, interleaved", { order => 'rr', size => 50, writers => $_ } ] } 2, 4, 8, 16));

	return map({ [ $_->[0], shape => $_->[1] ] } @quick), map({ [ $_->[0], shape => $_->[1], full => 1 ] } @full);
}

1;
