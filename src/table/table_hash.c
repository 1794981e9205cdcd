/*
 * table_hash.c
 *	  XXH3 hash support functions of the operator classes that partition
 *	  key-value tables.
 *
 * FUNCTION 2 of an operator class is the 64-bit hash that chooses a
 * partition, so it must never change: rows are where it once put them.  It
 * hashes bytes that are the same on every platform: a text's own bytes, a
 * bytea's own bytes, and the shortest decimal spelling of a numeric, which
 * equal numerics share whatever their scale.  FUNCTION 1 is the low half of
 * FUNCTION 2 with seed 0, as core asks of a hash operator class.
 */
#include "postgres.h"

#include <xxhash.h>

#include "catalog/partition.h"
#include "catalog/pg_collation_d.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "table/table_internal.h"

PG_FUNCTION_INFO_V1(kv_table_xxh3_text);
PG_FUNCTION_INFO_V1(kv_table_xxh3_text_extended);
PG_FUNCTION_INFO_V1(kv_table_xxh3_numeric);
PG_FUNCTION_INFO_V1(kv_table_xxh3_numeric_extended);
PG_FUNCTION_INFO_V1(kv_table_xxh3_bytea);
PG_FUNCTION_INFO_V1(kv_table_xxh3_bytea_extended);

/* Hashes the bytes of a text or bytea. */
static uint64
hash_bytes_of(Datum value, uint64 seed)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
	uint64		hash = XXH3_64bits_withSeed(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), seed);

	if ((Pointer) bytes != DatumGetPointer(value))
		pfree(bytes);
	return hash;
}

/* Hashes a numeric by its value: 1, 1.0 and 1.00 spell the same. */
static uint64
hash_numeric_value(Datum value, uint64 seed)
{
	Numeric		number = DatumGetNumeric(value);
	char	   *spelling = numeric_normalize(number);
	uint64		hash = XXH3_64bits_withSeed(spelling, strlen(spelling), seed);

	pfree(spelling);
	if ((Pointer) number != DatumGetPointer(value))
		pfree(number);
	return hash;
}

/*
 * Refuses a collation under which unequal bytes may be equal text.
 *
 * The two collations that every key has in practice are let through first.
 */
static void
check_text_collation(Oid collation)
{
	if (collation == C_COLLATION_OID || collation == DEFAULT_COLLATION_OID)
		return;
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for string hashing"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
	if (!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collation \"%s\" is not supported by the xxh3 operator classes",
						get_collation_name(collation)),
				 errhint("Use COLLATE \"C\".")));
}

/* Returns the 32-bit XXH3 hash of a text. */
Datum
kv_table_xxh3_text(PG_FUNCTION_ARGS)
{
	check_text_collation(PG_GET_COLLATION());
	PG_RETURN_UINT32((uint32) hash_bytes_of(PG_GETARG_DATUM(0), 0));
}

/* Returns the seeded 64-bit XXH3 hash of a text. */
Datum
kv_table_xxh3_text_extended(PG_FUNCTION_ARGS)
{
	check_text_collation(PG_GET_COLLATION());
	PG_RETURN_UINT64(hash_bytes_of(PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(1)));
}

/* Returns the 32-bit XXH3 hash of a numeric. */
Datum
kv_table_xxh3_numeric(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT32((uint32) hash_numeric_value(PG_GETARG_DATUM(0), 0));
}

/* Returns the seeded 64-bit XXH3 hash of a numeric. */
Datum
kv_table_xxh3_numeric_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT64(hash_numeric_value(PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(1)));
}

/* Returns the 32-bit XXH3 hash of a bytea. */
Datum
kv_table_xxh3_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT32((uint32) hash_bytes_of(PG_GETARG_DATUM(0), 0));
}

/* Returns the seeded 64-bit XXH3 hash of a bytea. */
Datum
kv_table_xxh3_bytea_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT64(hash_bytes_of(PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(1)));
}

/*
 * Tells whether a function is FUNCTION 2 of one of our operator classes.
 *
 * Asking for the address rather than for names in the catalog costs nothing
 * where the relation cache has the partition key already.
 */
bool
kv_table_is_our_hash(const FmgrInfo *function)
{
	return function->fn_addr == kv_table_xxh3_text_extended ||
		function->fn_addr == kv_table_xxh3_numeric_extended ||
		function->fn_addr == kv_table_xxh3_bytea_extended;
}

/*
 * Returns the hash by which core routes a row: what
 * compute_partition_hash_value() gives for a partition key of this one column.
 */
uint64
kv_table_hash(KvKeyType type, Datum partition_key)
{
	uint64		hash;

	if (type == KV_KEY_NUMBER)
		hash = hash_numeric_value(partition_key, HASH_PARTITION_SEED);
	else
		hash = hash_bytes_of(partition_key, HASH_PARTITION_SEED);
	return hash_combine64(0, hash);
}
