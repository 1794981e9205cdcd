# measures: what is measured, in one list, with the goal of each.
#
# An area is a group of rows that are measured together, in turn.  A row is
#	[ name, ours, theirs, goal, more ]
# where ours and theirs are statements, "section of statements.sql:role" with "@set" if it is not the area's, or lists of them with weights.  The goal is
# for the median of ours / theirs; '' for none.  "more" and the area's own fields:
#	full      measured by the full run only
#	set       the set of tables (KvTables.pm)
#	clients   sessions at once, 1 unless told
#	keys      how collections are drawn: uniform unless told, or zipf
#	times     what ours is multiplied by: items in one transaction
#	writes    the tables are vacuumed before each round
#	settings  settings of the sessions
#	judge     ours: the goal is for ours itself, not for the ratio

use strict;
use warnings;

# Sizes are those of the quick run, of the full one and of the test that only sees that all runs.
our %sets = (
	messages => { items => { quick => 100_000, full => 1_000_000, smoke => 500 }, per => 50 },
	writes   => { items => { quick => 100_000, full => 1_000_000, smoke => 500 }, per => 50 });

our @areas = (
	{   area => 'point read',
		set  => 'messages',
		rows => [
			[ 'kv.get / plain SELECT',                'get:ours',      'select:plain',  '>= 1.4' ],
			[ 'kv.get / native partitions',           'get:ours',      'select:native', '' ],
			[ 'kv.get / protocol floor',              'get:ours',      'floor:ours',    '>= 0.80' ],
			[ 'kv.get_item / plain SELECT',           'get_item:ours', 'select:plain',  '>= 1.2' ],
			[ 'kv.get_item / native partitions',      'get_item:ours', 'select:native', '' ],
			[ 'kv.get_item / protocol floor',         'get_item:ours', 'floor:ours',    '>= 0.80' ],
			[ 'SELECT by key / plain',                'select:ours',   'select:plain',  '>= 1.0' ],
			[ 'SELECT by key / native partitions',    'select:ours',   'select:native', '>= 3' ] ] },
	{   area => 'query in memory',
		set  => 'messages',
		rows => [
			[ 'last 50 by SELECT / plain',              'query:ours',    'query:plain',  '>= 2' ],
			[ 'last 50 by SELECT / native partitions',  'query:ours',    'query:native', '' ],
			[ 'last 50 by kv.query / plain',            'kv_query:ours', 'query:plain',  '' ],
			[ 'last 50 by kv.query / native partitions', 'kv_query:ours', 'query:native', '' ] ] },
	write_area('write, durable'),
	write_area('write, without waiting for the disk', settings => { synchronous_commit => 'off' }));

# Returns the area of single writes, batches and transactions.
sub write_area
{
	my ($name, %more) = @_;
	return {
		area   => $name,
		set    => 'writes',
		writes => 1,
		rows   => [
			[ 'put_item new / INSERT ON CONFLICT',                    'put_new:ours',     'insert_new:plain',  '>= 1.0' ],
			[ 'put_item new / native partitions',                     'put_new:ours',     'insert_new:native', '' ],
			[ 'put_item over an item / INSERT ON CONFLICT',           'put:ours',         'insert:plain',      '>= 1.0' ],
			[ 'put_item over an item / native partitions',            'put:ours',         'insert:native',     '' ],
			[ 'update_item counter / UPDATE jsonb_set',               'update_item:ours', 'update:plain',      '>= 1.0' ],
			[ 'update_item counter / native partitions',              'update_item:ours', 'update:native',     '' ],
			[ 'batch_write_item of 25, items / single put_item',      'batch:ours',       'single:ours',       '>= 5', times => 25 ],
			[ 'transact_write_items of 4 / BEGIN, 4 upserts, COMMIT', 'transact:ours',    'four_upserts:plain', '>= 1.5' ],
			[ 'transact_write_items of 4 / native partitions',        'transact:ours',    'four_upserts:native', '' ] ],
		%more };
}

1;
