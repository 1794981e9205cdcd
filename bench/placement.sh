#!/bin/bash
# placement.sh [SHAPE ...]: how well the key_value access method keeps collections together.
#
# Each shape is loaded twice from one source, into hash partitions that are plain
# heaps and into hash partitions USING key_value.  Printed per shape: heap size over the plain
# heap's, pages that "the last 50 items of a collection" touch over the fewest
# possible (mean; and the most pages of any), the same for the plain heap, and
# the time to insert over the plain heap's.
#
# A shape is ORDER:SIZE[:BYTES[:WAY]].  ORDER: rr (round robin, as time brings
# it), shuffled, key (collection after collection), random (sort keys in random
# order too), window (collections live for a while), zipf, mixed (sizes 1, 8, 200).
# WAY: insert (the default), copy, grow (every item updated to three times its
# size), churn (ten rounds of deleting and inserting a tenth, vacuumed); behind
# either of the latter two or insert, +compact: kv.compact follows, pages are
# those of whole collections, and the time is that of kv.compact alone, in ms
# per 1000 items; then WAL bytes per byte of plain heap, and items moved per item.
#
# ITEMS (200000), PARTITIONS (16) and the libpq variables are read from the environment.
# The extension must be installed; the database is left as it was.
set -eu

items=${ITEMS:-200000}
partitions=${PARTITIONS:-16}
shapes=${*:-rr:1 rr:3 rr:10 rr:50 rr:500 rr:5000 shuffled:3 shuffled:10 shuffled:50 shuffled:500
	random:50 random:500 random:5000 window:3 window:10 window:50 zipf:10 mixed:0 key:1 key:3 key:50
	rr:3:100 rr:50:100 rr:3:1000 rr:50:1000 rr:10:20000 rr:3:240:copy rr:50:240:copy shuffled:50:240:copy key:50:240:copy
	rr:10:240:grow rr:50:240:grow rr:50:240:churn
	rr:3:240:insert+compact rr:10:240:insert+compact rr:50:240:insert+compact rr:500:240:insert+compact
	shuffled:3:240:insert+compact shuffled:10:240:insert+compact shuffled:50:240:insert+compact
	zipf:10:240:insert+compact mixed:0:240:insert+compact random:50:240:insert+compact rr:50:240:churn+compact}

# Loading updates and deletes by scan.
run() { PGOPTIONS="-c key_value.allow_scan=on" psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }

# Fills kv_bench.source with (pk, sk, item) in the order of arrival.
make_source()
{
	local order=$1 size=$2 bytes=$3 count=$4
	local groups=$(( size > 0 ? (count + size - 1) / size : 1 ))
	local arrival
	case $order in
		rr) arrival="SELECT i AS t, i % $groups AS c FROM generate_series(0, $count - 1) i" ;;
		shuffled | random) arrival="SELECT random() AS t, i % $groups AS c FROM generate_series(0, $count - 1) i" ;;
		key) arrival="SELECT i AS t, i / $size AS c FROM generate_series(0, $count - 1) i" ;;
		window) arrival="SELECT i % $groups + random() * $groups * 0.2 AS t, i % $groups AS c FROM generate_series(0, $count - 1) i" ;;
		zipf) arrival="SELECT i AS t, floor(exp(random() * ln($groups)))::int AS c FROM generate_series(0, $count - 1) i" ;;
		mixed) arrival="SELECT random() AS t, CASE i % 3 WHEN 0 THEN i WHEN 1 THEN -1 - i / 24 ELSE -1000000 - i / 600 END AS c FROM generate_series(0, $count - 1) i" ;;
		*) echo "unknown order: $order" >&2; exit 2 ;;
	esac
	local sort_key="to_char(n, 'FM0000000000')"
	[ "$order" = random ] && sort_key="md5(n::text)"
	run <<SQL
SELECT setseed(0.5) \gset
SET client_min_messages = warning;
DROP TABLE IF EXISTS kv_bench.source;
CREATE TABLE kv_bench.source AS
	SELECT 'c#' || md5(c::text) AS pk, $sort_key AS sk,
		   jsonb_build_object('body', (SELECT substr(string_agg(md5(n::text || j), ''), 1, $bytes - 16)
									   FROM generate_series(1, $bytes / 32 + 1) j)) AS item
	FROM (SELECT c, row_number() OVER (ORDER BY t) AS n FROM ($arrival) a) o
	ORDER BY n;
SQL
}

# Makes the table named by $1, plain or key_value.
make_table()
{
	local columns='pk text COLLATE "C" NOT NULL, sk text COLLATE "C" NOT NULL, item jsonb NOT NULL, PRIMARY KEY (pk, sk)'
	local method=heap operators=
	[ "$1" = placed ] && method=key_value operators=kv.xxh3_text_ops
	{
		echo "CREATE TABLE kv_bench.$1 ($columns) PARTITION BY HASH (pk $operators);"
		for ((p = 0; p < partitions; p++)); do
			echo "CREATE TABLE kv_bench.$1_$p PARTITION OF kv_bench.$1 FOR VALUES WITH (MODULUS $partitions, REMAINDER $p) USING $method;"
		done
	} | run
}

# Loads the table named by $1 in the way $2; prints the milliseconds.
load()
{
	local sql="INSERT INTO kv_bench.$1 SELECT pk, sk, item FROM kv_bench.source"
	local begin end file
	if [ "$2" = copy ]; then
		file=$(mktemp)
		run -c "COPY kv_bench.source TO STDOUT" >"$file"
		begin=$(date +%s%N)
		run -c "COPY kv_bench.$1 FROM STDIN" <"$file"
		end=$(date +%s%N)
		rm "$file"
	else
		run -c CHECKPOINT
		begin=$(date +%s%N)
		run -c "$sql"
		case $2 in
			grow) run -c "UPDATE kv_bench.$1 SET item = item || jsonb_build_object('more', repeat('x', 200)) WHERE right(sk, 1) IN ('0', '5')" \
				-c "VACUUM kv_bench.$1" \
				-c "UPDATE kv_bench.$1 SET item = item || jsonb_build_object('most', repeat('y', 300)) WHERE right(sk, 1) NOT IN ('0', '5')" ;;
			churn) for ((round = 0; round < 10; round++)); do
					run -c "DELETE FROM kv_bench.$1 WHERE right(sk, 1) = '$round'" -c "VACUUM kv_bench.$1" \
						-c "INSERT INTO kv_bench.$1 SELECT pk, sk, item FROM kv_bench.source WHERE right(sk, 1) = '$round'"
				done ;;
		esac
		end=$(date +%s%N)
	fi
	echo $(((end - begin) / 1000000))
}

# Prints heap pages, mean and most pages of the last 50 items, and their mean over the fewest possible.
measure()
{
	local relation=$1 per_page=$2 last=$3
	run -F ' ' <<SQL
WITH item AS (
	SELECT pk, tableoid::text || (ctid::text::point)[0] AS page, row_number() OVER (PARTITION BY pk ORDER BY sk DESC) AS place
	FROM kv_bench.$relation),
collection AS (
	SELECT count(DISTINCT page) AS pages, ceil(count(*) / ($per_page)::float8) AS fewest
	FROM item WHERE place <= $last GROUP BY pk)
SELECT (SELECT sum(pg_relation_size(oid)) / 8192 FROM pg_class WHERE relkind = 'r' AND relname LIKE '$relation%' AND relnamespace = 'kv_bench'::regnamespace),
	round(avg(pages), 2), max(pages), round((sum(pages) / sum(fewest))::numeric, 2) FROM collection;
SQL
}

run -c "CREATE EXTENSION IF NOT EXISTS key_value" -c "DROP SCHEMA IF EXISTS kv_bench CASCADE" -c "CREATE SCHEMA kv_bench" 2>/dev/null
trap 'run -c "DROP SCHEMA kv_bench CASCADE" 2>/dev/null' EXIT
printf '%-26s %6s %8s %6s %8s %9s\n' shape size pages most plain time

for shape in $shapes; do
	IFS=: read -r order size bytes way <<<"$shape:::"
	bytes=${bytes:-240} way=${way%%:*}
	count=$items
	[ "$bytes" -gt 2000 ] && count=$((items / 20))
	make_source "$order" "$size" "$bytes" "$count"
	make_table plain
	make_table placed
	last=50 extra=
	plain_ms=$(load plain "${way%+compact}")
	placed_ms=$(load placed "${way%+compact}")
	if [[ $way == *+compact ]]; then
		last=2000000000
		wal=$(run -c "SELECT pg_current_wal_insert_lsn()")
		begin=$(date +%s%N)
		moved=$(run -F ' ' -c "CALL kv.compact('kv_bench.placed')" | awk '{ print $3 }')
		placed_ms=$((($(date +%s%N) - begin) / 1000))
		plain_ms=$count
		extra=$(run -c "SELECT format('%s %s', round(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$wal') / sum(pg_relation_size(oid)), 2), round($moved / $count.0, 2))
			FROM pg_class WHERE relkind = 'r' AND relname LIKE 'plain%' AND relnamespace = 'kv_bench'::regnamespace")
	fi
	per_page=$(run -c "SELECT $count / (sum(pg_relation_size(oid)) / 8192.0) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'plain%' AND relnamespace = 'kv_bench'::regnamespace")
	read -r plain_size _ _ plain_ratio <<<"$(measure plain "$per_page" "$last")"
	read -r placed_size _ most placed_ratio <<<"$(measure placed "$per_page" "$last")"
	awk -v s="$shape" -v a="$placed_size" -v b="$plain_size" -v r="$placed_ratio" -v m="$most" -v p="$plain_ratio" -v x="$placed_ms" -v y="$plain_ms" -v e="$extra" \
		'BEGIN { printf "%-26s %6.2f %8.2f %6d %8.2f %9.2f %s\n", s, a / b, r, m, p, x / y, e }'
	run -c "DROP TABLE kv_bench.plain, kv_bench.placed"
done
