-- The cities of the world in one table, each under the key of every question that is asked about it.
SELECT kv.create_table('cities', 'pk', 'sk');

-- The raw file: one JSON object a line.
CREATE TABLE raw_city (city jsonb NOT NULL);
\copy raw_city FROM 'demo/cities.jsonl' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')

INSERT INTO cities
SELECT key.pk, key.sk, city
FROM raw_city,
  LATERAL (VALUES
    -- one city by id
    ('CITY#' || (city->>'city_id'), 'CITY'),
    -- the largest cities of a country
    ('COUNTRY#' || (city->>'country'), 'POPULATION#' || lpad(city->>'population', 10, '0') || '#' || (city->>'city_id')),
    -- the cities of a region by name
    ('REGION#' || (city->>'country') || '#' || (city->>'admin'), 'NAME#' || (city->>'name') || '#' || (city->>'city_id'))
  ) AS key(pk, sk);
-- The largest cities of a country.
SELECT item->>'name' AS name, item->>'population' AS population
FROM kv.query('cities', 'pk = :country', '{":country": "COUNTRY#FR"}', scan_forward => false, max_items => 5) AS item;

-- The same in SQL.
SELECT item->>'name' AS name, item->>'population' AS population
FROM cities WHERE pk = 'COUNTRY#FR' ORDER BY sk DESC LIMIT 5;

-- The cities of a region by name: those of Île-de-France that begin with "Saint".
SELECT item->>'name' AS name
FROM kv.query('cities', 'pk = :region AND begins_with(sk, :name)', '{":region": "REGION#FR#11", ":name": "NAME#Saint"}', max_items => 5) AS item;

SELECT item->>'name' AS name
FROM cities WHERE pk = 'REGION#FR#11' AND sk LIKE 'NAME#Saint%' ORDER BY sk LIMIT 5;

-- One city by id.
SELECT kv.get('cities', 'CITY#2988507', 'CITY');

SELECT item FROM cities WHERE pk = 'CITY#2988507' AND sk = 'CITY';
