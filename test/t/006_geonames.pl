# geonames: all cities of GeoNames in one table with three access patterns, checked against plain SQL over the raw file.
#
# Needs cities.jsonl.gz in the folder that KV_DATA names, else the shipped sample takes its place.

use strict;
use warnings;

use KvTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $all  = ($ENV{KV_DATA} // '../shared/data') . '/cities.jsonl.gz';
my $file = PostgreSQL::Test::Utils::tempdir() . '/cities.jsonl';
if (-f $all)
{
	system("gzip -dc $all >$file") == 0 or die "gzip: $?";
}
else
{
	diag("$all is not there: the shipped sample is used");
	$file = 'demo/cities.jsonl';
}
chomp(my $lines = `wc -l <$file`);

my $node = new_node('geonames');
my $load = slurp_file('demo/cities.sql');
$load =~ s{demo/cities\.jsonl}{$file};
my ($status, $out, $err) = $node->psql('postgres', $load, on_error_stop => 1);
is($err, '', 'the demo loads the cities');
is($node->safe_psql('postgres', 'SELECT count(*) FROM raw_city'), $lines, 'each line of the file was read');
is($node->safe_psql('postgres', scan_sql('SELECT count(*) FROM cities')), 3 * $lines, 'each city is there under three keys');

# Plain SQL over the raw file: the reference.
$node->safe_psql('postgres', <<'END');
CREATE TABLE plain AS SELECT (city->>'city_id')::int AS id, city->>'name' AS name, city->>'country' AS country, city->>'admin' AS admin,
	(city->>'population')::bigint AS population, city FROM raw_city;
CREATE INDEX ON plain (country, population);
CREATE INDEX ON plain (country, admin, name COLLATE "C");
CREATE UNIQUE INDEX ON plain (id);
ANALYZE plain;
END

# Every country's ten largest cities; equal populations order by the text of the id, as the keys do.
my $largest = <<'END';
SELECT country, array_agg(id ORDER BY n) FROM (
	SELECT country, id, row_number() OVER (PARTITION BY country ORDER BY population DESC, id::text COLLATE "C" DESC) AS n FROM plain) p
WHERE n <= 10 GROUP BY country
END
same('largest cities of a country: kv.query', $largest, <<'END');
SELECT country, array_agg((i->>'city_id')::int) FROM (SELECT DISTINCT country FROM plain) c,
	LATERAL (SELECT i FROM kv.query('cities', 'pk = :c', jsonb_build_object(':c', 'COUNTRY#' || country),
		scan_forward => false, max_items => 10) i) q
GROUP BY country
END
same('largest cities of a country: SQL', $largest, <<'END');
SELECT country, array_agg((item->>'city_id')::int) FROM (SELECT DISTINCT country FROM plain) c,
	LATERAL (SELECT item FROM cities WHERE pk = 'COUNTRY#' || country ORDER BY sk DESC LIMIT 10) q
GROUP BY country
END

# Every region's cities in the order of their names.
my $by_name = <<'END';
SELECT country || '#' || admin AS region, array_agg(id ORDER BY (name || '#' || id) COLLATE "C") FROM plain GROUP BY region
END
same('the cities of a region by name: kv.query', $by_name, <<'END');
SELECT region, array_agg((i->>'city_id')::int) FROM (SELECT DISTINCT country || '#' || admin AS region FROM plain) r,
	kv.query('cities', 'pk = :r AND begins_with(sk, :n)', jsonb_build_object(':r', 'REGION#' || region, ':n', 'NAME#')) i
GROUP BY region
END
same('the cities of a region by name: SQL', $by_name, <<'END');
SELECT region, array_agg((item->>'city_id')::int) FROM (SELECT DISTINCT country || '#' || admin AS region FROM plain) r,
	LATERAL (SELECT item FROM cities WHERE pk = 'REGION#' || region ORDER BY sk) q
GROUP BY region
END

# A prefix of the name in every region.
same('names that begin with "San": SQL', <<'END', <<'END');
SELECT country || '#' || admin AS region, count(*) FROM plain WHERE name LIKE 'San%' GROUP BY region
END
SELECT region, count(*) FROM (SELECT DISTINCT country || '#' || admin AS region FROM plain) r
	JOIN cities ON pk = 'REGION#' || region AND sk LIKE 'NAME#San%' GROUP BY region
END

# Every city by its id.
same('one city by id: kv.get', 'SELECT id, city FROM plain', <<'END');
SELECT id, kv.get('cities', 'CITY#' || id, 'CITY') - 'pk' - 'sk' FROM plain
END
same('one city by id: kv.get_item', 'SELECT id, city FROM plain', <<'END');
SELECT id, kv.get_item('cities', jsonb_build_object('pk', 'CITY#' || id, 'sk', 'CITY')) - 'pk' - 'sk' FROM plain
END
same('one city by id: a join', 'SELECT id, city FROM plain', <<'END');
SELECT id, item FROM plain JOIN cities ON pk = 'CITY#' || id AND sk = 'CITY'
END

# The biggest collection, page by page, forward and backward.
foreach my $forward ('true', 'false')
{
	my $order = $forward eq 'true' ? 'ASC' : 'DESC';
	same("a walk through a country's cities in pages, scan_forward => $forward",
		<<"END", <<"END");
SELECT id FROM plain WHERE country = (SELECT country FROM plain GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)
	ORDER BY population $order, id::text COLLATE "C" $order
END
WITH RECURSIVE walk AS (
	SELECT p.items, p.last_evaluated_key AS last, 1 AS page, country FROM
		(SELECT country FROM plain GROUP BY 1 ORDER BY count(*) DESC LIMIT 1) c,
		kv.query_page('cities', 'pk = :c', jsonb_build_object(':c', 'COUNTRY#' || country), scan_forward => $forward, page_size => 997) p
	UNION ALL
	SELECT p.items, p.last_evaluated_key, page + 1, country FROM walk,
		kv.query_page('cities', 'pk = :c', jsonb_build_object(':c', 'COUNTRY#' || country), scan_forward => $forward, page_size => 997,
			exclusive_start_key => last) p
	WHERE last IS NOT NULL)
SELECT (i->>'city_id')::int FROM walk, jsonb_array_elements(items) WITH ORDINALITY e(i, n) ORDER BY page, n
END
}

# A scan in segments gives each item once.
same('a scan in 7 segments', 'SELECT id, 3 FROM plain', <<'END');
SELECT (i->>'city_id')::int, count(DISTINCT i->>'sk') FROM generate_series(0, 6) s, kv.scan('cities', segment => s, total_segments => 7) i
GROUP BY 1 HAVING count(*) = 3
END
check_btrees($node, 'the cities');
$node->stop;
done_testing();

# Checks that two queries answer the same, in any order of rows unless they have one.
sub same
{
	my ($name, $reference, $query) = @_;
	my @rows = map { [ split /\n/, $node->safe_psql('postgres', $_) ] } $reference, $query;

	@rows = map { [ sort @$_ ] } @rows unless $reference =~ /^\s+ORDER BY/m;
	cmp_ok(scalar @{ $rows[0] }, '>', 0, "$name: there is an answer");
	same_lines(join("\n", @{ $rows[1] }), join("\n", @{ $rows[0] }), "$name: it is the same");
	return;
}
