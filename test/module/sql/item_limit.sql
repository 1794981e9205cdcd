-- The size limit of an item: 400 KB, which is 409,600 bytes, names and values, keys included.
LOAD 'key_value';

-- pk: 2 + 1; sk: 2 + 3, a number of 4 digits; body: 4 + the string.
SELECT kv_test.check_size('{pk,sk}', 'SN', '{k,100.5}', jsonb_build_object('body', repeat('x', 409600 - 3 - 5 - 4)));
SELECT kv_test.check_size('{pk,sk}', 'SN', '{k,100.5}', jsonb_build_object('body', repeat('x', 409600 - 3 - 5 - 4 + 1)));
-- The longest keys count as well.
SELECT kv_test.check_size('{pk,sk}', 'SS', ARRAY[repeat('k', 2048), repeat('k', 1024)], jsonb_build_object('body', repeat('x', 409600 - 2050 - 1026 - 4)));
SELECT kv_test.check_size('{pk,sk}', 'SS', ARRAY[repeat('k', 2048), repeat('k', 1024)], jsonb_build_object('body', repeat('x', 409600 - 2050 - 1026 - 3)));
-- Base64 and jsonb's own bytes do not count: a binary, and 50,000 list members of 2 bytes and one each.
SELECT kv_test.check_size('{pk}', 'S', '{k}', jsonb_build_object('b', jsonb_build_object('$B', translate(encode(decode(repeat('00', 400000), 'hex'), 'base64'), E'\n', ''))));
SELECT kv_test.check_size('{pk}', 'S', '{k}', jsonb_build_object('l', (SELECT jsonb_agg(1) FROM generate_series(1, 50000))));
SELECT kv_test.check_size('{pk}', 'S', '{k}', jsonb_build_object('l', (SELECT jsonb_agg(1) FROM generate_series(1, 136531))));
SELECT kv_test.check_size('{pk}', 'S', '{k}', jsonb_build_object('l', (SELECT jsonb_agg(1) FROM generate_series(1, 136532))));
