-- Item size by DynamoDB's rule (Developer Guide, "DynamoDB item sizes and
-- formats"); each expected value is worked out beside its case.

SELECT what, expected, kv.item_size(item::jsonb) AS size
FROM (VALUES
	('nothing', 0, '{}'),
	('name and string', 1 + 3, '{"a": "xyz"}'),
	('empty string', 1 + 0, '{"a": ""}'),
	('UTF-8 bytes of name and string', 2 + 4, '{"é": "😀"}'),
	('null and booleans', 3 * (1 + 1), '{"a": null, "b": true, "c": false}'),
	('number: one byte for two digits, and one', 1 + 1 + 1, '{"a": 7}'),
	('two digits', 1 + 1 + 1, '{"a": 42}'),
	('three digits', 1 + 2 + 1, '{"a": 423}'),
	('zeros at the ends do not count', 1 + 1 + 1, '{"a": 1200000}'),
	('nor behind the point', 1 + 1 + 1, '{"a": 0.00012000}'),
	('zeros inside do', 1 + 2 + 1, '{"a": 1.002}'),
	('the sign does not', 1 + 2 + 1, '{"a": -1.002}'),
	('zero has no digit', 1 + 1, '{"a": 0.0}'),
	('38 digits', 1 + 19 + 1, '{"a": 1.2345678901234567890123456789012345678}'),
	('binary: raw bytes', 1 + 5, '{"a": {"$B": "AAECAwQ="}}'),
	('empty binary', 1 + 0, '{"a": {"$B": ""}}'),
	('empty list', 1 + 3, '{"a": []}'),
	('empty map', 1 + 3, '{"a": {}}'),
	('list: 3, contents, 1 a member', 1 + 3 + (3 + 1) + (2 + 1), '{"a": ["xyz", 5]}'),
	('map: 3, names, contents, 1 a member', 1 + 3 + (1 + 3 + 1) + (2 + 2 + 1), '{"a": {"b": "xyz", "cd": 5}}'),
	('nested', 1 + 3 + (3 + (3 + (1 + 1) + 1) + 1) + 1, '{"a": [[{"b": null}]]}'),
	('string set', 1 + 1 + 2, '{"a": {"$SS": ["x", "yz"]}}'),
	('number set', 1 + 2 + 3, '{"a": {"$NS": [12, 3456]}}'),
	('binary set', 1 + 1 + 3, '{"a": {"$BS": ["AA==", "AAAA"]}}'),
	('the escaping dollar does not count', 1 + 3 + (2 + 1 + 1), '{"a": {"$$B": "x"}}'),
	('another dollar does', 1 + 3 + (3 + 1 + 1), '{"a": {"$$X": "x"}}'),
	('so does the root''s', 3 + 1, '{"$$B": "x"}')
) AS cases (what, expected, item);

SELECT kv.item_size('[1]');
SELECT kv.item_size(NULL) IS NULL AS null_for_null;
SELECT kv.item_size('{"a": {"$SS": []}}');

-- Spelling does not change the size.
SELECT kv.item_size('{"a": 1e2, "s": {"$SS": ["b", "a"]}}') = kv.item_size('{"a": 100.00, "s": {"$SS": ["a", "b"]}}') AS same;
