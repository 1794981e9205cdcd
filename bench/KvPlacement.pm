# KvPlacement: how well collections lie together, and at what size, for tables that are filled in many ways.
#
# A shape is loaded twice from one source, into hash partitions that are plain
# heaps and into a key-value table.  The fewest possible pages are those of the same items in a heap without gaps, in key order.
# Fields of a shape:
#	order    how items arrive: rr (round robin, as time brings it), shuffled, key (collection after collection), random (sort keys in
#	         random order too), window (collections live for a while), zipf, mixed (sizes 1, 8, 200), cities (the GeoNames file)
#	size     items of a collection; zipf: on average
#	bytes    size of an item, 240 unless told
#	way      insert (unless told), copy, grow (every item, in random order, is updated to three times its size), churn (as many
#	         items as there are are deleted and inserted again, a tenth at a time, vacuumed in between)
#	writers  sessions that insert at once, 1 unless told

package KvPlacement;

use strict;
use warnings;

use Time::HiRes qw(time);

use KvServer;

# Makes the runner; home is the folder of the measurements.
sub new
{
	my ($class, $server, $mode, $home) = @_;
	my ($cities) = grep { -f } map { "$_/cities.jsonl.gz" } $ENV{KV_DATA} // (), "$home/../../shared/data";

	return bless { server => $server, mode => $mode, home => $home, cities => $cities, done => {} }, $class;
}

# Measures the rows of an area; rows of one shape share its tables.
sub measure
{
	my ($self, $area, @rows) = @_;
	my @samples;

	foreach my $row (@rows)
	{
		my $shape = $row->{shape};
		my $name = join ' ', map { "$_=$shape->{$_}" } sort keys %$shape;
		$self->{done}{$name} //= $self->shape({ bytes => 240, way => 'insert', writers => 1, size => 0, %$shape });
		push @samples, $self->{done}{$name}{ $row->{ours} };
	}
	return @samples;
}

# Loads a shape and returns the samples of its rows: pages, size and compacted.
sub shape
{
	my ($self, $shape) = @_;
	my $server = $self->{server};
	my (%time, %found);

	my $count = $self->source($shape);
	foreach my $table (qw(plain placed))
	{
		$self->make($table);
		my $begin = time;
		$self->load($table, $shape);
		$time{$table} = time - $begin;
	}
	$server->sql('CREATE UNLOGGED TABLE fewest AS SELECT pk, sk, item FROM plain ORDER BY pk, sk');
	my $per_page = $count / $server->sql("SELECT pg_relation_size('fewest') / 8192");
	foreach my $table (qw(plain placed)) { $found{$table} = measured($server, $table, $per_page) }

	my $note = sprintf 'at most %d pages; whole collections %.2f; time to load %.2f', @{ $found{placed} }{qw(most whole)}, $time{placed} / $time{plain};
	$note .= '; the shipped sample of the cities' if $shape->{order} eq 'cities' and !$self->{cities};
	my %samples = (
		pages => [ [ $found{placed}{pages}, $found{plain}{pages}, $note ] ],
		size  => [ [ map { $found{$_}{heap} / 1024 / 1024 } qw(placed plain) ] ]);
	$samples{compacted} = compacted($server, $per_page, $found{plain});
	$server->sql('DROP TABLE plain, placed, source, fewest');
	return \%samples;
}

# Returns the sample of a table after its compaction, or why there is none.
sub compacted
{
	my ($server, $per_page, $plain) = @_;
	my $there = $server->sql(q(SELECT count(*) FROM pg_proc WHERE proname = 'compact' AND pronamespace = 'kv'::regnamespace));

	return 'kv.compact is not there' unless $there;
	$server->sql("CALL kv.compact('placed')");
	$server->sql('VACUUM placed');
	my $found = measured($server, 'placed', $per_page);
	return [ [ $found->{whole}, $plain->{whole}, sprintf 'the last 50 items %.2f, at most %d pages; heap / plain %.2f', @$found{qw(pages most)},
		$found->{heap} / $plain->{heap} ] ];
}

# Fills the table source with (n, pk, sk, item) in the order of arrival; returns the number of items.
sub source
{
	my ($self, $shape) = @_;
	my $count = { smoke => 300, quick => 50_000, full => 200_000 }->{ $self->{mode}{name} };
	my $bytes = $shape->{bytes} - 16;

	return $self->cities if $shape->{order} eq 'cities';
	$count /= 20 if $bytes > 2000;
	my $size = $shape->{size} || 10;
	my $groups = int(($count + $size - 1) / $size);
	my $series = "generate_series(0, $count - 1) i";
	my $arrival = {
		rr       => "SELECT i AS t, i % $groups AS c FROM $series",
		shuffled => "SELECT random() AS t, i % $groups AS c FROM $series",
		random   => "SELECT random() AS t, i % $groups AS c FROM $series",
		key      => "SELECT i AS t, i / $size AS c FROM $series",
		window   => "SELECT i % $groups + random() * $groups * 0.2 AS t, i % $groups AS c FROM $series",
		zipf     => "SELECT i AS t, floor(exp(random() * ln($groups)))::int AS c FROM $series",
		mixed    => "SELECT random() AS t, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN -1 - i / 24 ELSE -1000000 - i / 600 END AS c FROM $series",
	}->{ $shape->{order} } // die "there is no order $shape->{order}";
	my $sort_key = $shape->{order} eq 'random' ? 'md5(n::text)' : q(to_char(n, 'FM0000000000'));

	$self->{server}->sql(<<"END");
SELECT setseed(0.5) \\gset
CREATE TABLE source AS
	SELECT n, 'c#' || md5(c::text) AS pk, $sort_key AS sk,
		   jsonb_build_object('body', (SELECT substr(string_agg(md5(n::text || j), ''), 1, $bytes) FROM generate_series(1, $bytes / 32 + 1) j)) AS item
	FROM (SELECT c, row_number() OVER (ORDER BY t) AS n FROM ($arrival) a) o
	ORDER BY n;
ANALYZE source;
END
	return $count;
}

# Fills the table source with the cities, each under three keys; returns the number of items.
sub cities
{
	my ($self) = @_;
	my $file = "$self->{server}{folder}/cities.jsonl";

	if ($self->{cities}) { system("gzip -dc '$self->{cities}' >'$file'") == 0 or die 'gzip failed' }
	else { KvServer::spew($file, KvServer::slurp("$self->{home}/../demo/cities.jsonl")) }
	my $limit = $self->{mode}{name} eq 'smoke' ? 100 : 1_000_000_000;
	return $self->{server}->sql(<<"END");
CREATE TEMP TABLE raw_city (n int GENERATED ALWAYS AS IDENTITY, city jsonb NOT NULL);
\\copy raw_city (city) FROM '$file' WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')
CREATE TABLE source AS
	SELECT row_number() OVER (ORDER BY n, pk) AS n, pk, sk, city AS item
	FROM raw_city, LATERAL (VALUES ('CITY#' || (city->>'city_id'), 'CITY'),
		('COUNTRY#' || (city->>'country'), 'POPULATION#' || lpad(city->>'population', 10, '0') || '#' || (city->>'city_id')),
		('REGION#' || (city->>'country') || '#' || (city->>'admin'), 'NAME#' || (city->>'name') || '#' || (city->>'city_id'))) AS key(pk, sk)
	WHERE n <= $limit;
ANALYZE source;
SELECT count(*) FROM source;
END
}

# Makes one of the two tables.
sub make
{
	my ($self, $table) = @_;
	my $partitions = { smoke => 1, quick => 4, full => 16 }->{ $self->{mode}{name} };

	return $self->{server}->sql("SELECT kv.create_table('placed', 'pk', 'sk', partitions => $partitions)") if $table eq 'placed';
	return $self->{server}->sql(<<"END");
CREATE TABLE plain (pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk)) PARTITION BY HASH (pk);
SELECT format('CREATE TABLE plain_%s PARTITION OF plain FOR VALUES WITH (MODULUS $partitions, REMAINDER %1\$s)', n) FROM generate_series(0, $partitions - 1) n \\gexec
END
}

# Brings the source to a table in the way of the shape.
sub load
{
	my ($self, $table, $shape) = @_;
	my $server = $self->{server};
	my ($way, $writers) = @$shape{qw(way writers)};

	if ($way eq 'copy')
	{
		my $file = "$server->{folder}/copy";
		$server->sql("\\copy (SELECT pk, sk, item FROM source ORDER BY n) TO '$file'") if $table eq 'plain';
		return $server->sql("\\copy $table (pk, sk, item) FROM '$file'");
	}
	my @inserts = map { "INSERT INTO $table (pk, sk, item) SELECT pk, sk, item FROM source WHERE n % $writers = $_ ORDER BY n" } 0 .. $writers - 1;
	@inserts > 1 ? $server->sql_at_once(map { [$_] } @inserts) : $server->sql(@inserts);
	return if $way eq 'insert';

	my $more = 2 * $shape->{bytes};
	my $one = $way eq 'churn' ? "DELETE FROM $table" : "UPDATE $table SET item = item || jsonb_build_object('more', repeat('x', $more))";
	foreach my $tenth (0 .. 9)
	{
		my $chosen = "source WHERE abs(hashint8(n)) % 10 = $tenth ORDER BY hashint8extended(n, 1)";

		$server->sql("DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT pk, sk FROM $chosen LOOP $one WHERE pk = r.pk AND sk = r.sk; END LOOP; END \$\$");
		$server->sql("VACUUM $table");
		$server->sql("INSERT INTO $table (pk, sk, item) SELECT pk, sk, item FROM $chosen") if $way eq 'churn';
	}
	return;
}

# Returns, over the fewest possible, the pages of the last 50 items of a collection and of all of it; the most that the last 50 lie on; the heap's bytes.
sub measured
{
	my ($server, $table, $per_page) = @_;
	my ($row) = $server->rows(<<"END");
WITH item AS (
	SELECT pk, tableoid::text || (ctid::text::point)[0] AS page, row_number() OVER (PARTITION BY pk ORDER BY sk DESC) AS place FROM $table),
collection AS (
	SELECT count(DISTINCT page) FILTER (WHERE place <= 50) AS last, ceil(least(count(*), 50) / ($per_page)::float8) AS last_fewest,
		   count(DISTINCT page) AS whole, ceil(count(*) / ($per_page)::float8) AS whole_fewest
	FROM item GROUP BY pk)
SELECT sum(last) / sum(last_fewest), sum(whole) / sum(whole_fewest), max(last) FROM collection
END
	return { pages => $row->[0], whole => $row->[1], most => $row->[2], heap => 8192 * $server->sql("SELECT sum(pg_relation_size(relid)) / 8192 FROM pg_partition_tree('$table') WHERE isleaf") };
}

1;
