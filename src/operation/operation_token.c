/*
 * operation_token.c
 *	  Client request tokens: a transaction that is sent twice has one effect.
 *
 * A token is a row of kv.request_tokens, with a hash of what it stands for,
 * written in the transaction itself: it is there if and only if the effect
 * is.  Nobody but this file writes the table, and nobody needs rights on it.  A
 * token belongs to the role that used it.
 *
 * A lock on the token keeps others from looking while one looks and writes;
 * the row itself is what they wait for then, to the end of its transaction
 * and without the lock, since that transaction may use the token again.  Rows are looked up as they are now, committed or under way, whatever the
 * isolation level.  A token older than ten minutes counts as unused; each
 * call removes a few of those from the old end.
 *
 * Source of the rules: DynamoDB API reference, TransactWriteItems,
 * ClientRequestToken.
 */
#include "postgres.h"

#include <xxhash.h>

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/errors.h"
#include "operation/operation_transact.h"

/* How long a token lives. */
#define TOKEN_LIFE	(INT64CONST(10) * SECS_PER_MINUTE * USECS_PER_SEC)

/* How many old rows a call looks at, and removes. */
#define MAX_LOOKED_AT	40
#define MAX_REMOVED		10

/* Columns of kv.request_tokens. */
enum
{
	TOKEN_ROLE = 1,
	TOKEN_TOKEN,
	TOKEN_HASH,
	TOKEN_CREATED_AT,
	TOKEN_COLUMNS = TOKEN_CREATED_AT
};

/* What is looked for. */
typedef struct Claim
{
	Relation	tokens;
	Oid			primary;		/* the index over role and token */
	Oid			by_age;			/* the index over created_at */
	text	   *token;
	bytea	   *hash;
	TimestampTz now;
} Claim;

/* Raises an error unless a token has 1 to 36 characters. */
void
kv_token_check(text *token)
{
	int			length = pg_mbstrlen_with_len(VARDATA_ANY(token), VARSIZE_ANY_EXHDR(token));

	if (length < 1 || length > KV_MAX_TOKEN_LENGTH)
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("client request token has %d characters", length),
				 errdetail("It must have at least 1 and at most %d.", KV_MAX_TOKEN_LENGTH)));
}

/* Adds a value to what is hashed, so that no other value adds the same. */
static void
add_value(StringInfo bytes, JsonbIteratorToken token, const JsonbValue *value)
{
	char	   *number;

	appendStringInfoChar(bytes, (char) token);
	if (token != WJB_KEY && token != WJB_VALUE && token != WJB_ELEM)
		return;
	appendStringInfoChar(bytes, (char) value->type);
	switch (value->type)
	{
		case jbvString:
			appendBinaryStringInfo(bytes, (const char *) &value->val.string.len, sizeof(int));
			appendBinaryStringInfo(bytes, value->val.string.val, value->val.string.len);
			break;
		case jbvNumeric:
			number = numeric_normalize(value->val.numeric);
			appendBinaryStringInfo(bytes, number, strlen(number) + 1);
			break;
		case jbvBool:
			appendStringInfoChar(bytes, value->val.boolean ? 't' : 'f');
			break;
		default:
			break;
	}
}

/* Returns the hash of a request: members of objects are in jsonb's order, and 1.0 is 1. */
static bytea *
hash_content(JsonbContainer *content)
{
	bytea	   *result = palloc(VARHDRSZ + sizeof(XXH128_canonical_t));
	JsonbIterator *iterator = JsonbIteratorInit(content);
	JsonbIteratorToken token;
	JsonbValue	value;
	StringInfoData bytes;

	initStringInfo(&bytes);
	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
		add_value(&bytes, token, &value);
	SET_VARSIZE(result, VARHDRSZ + sizeof(XXH128_canonical_t));
	XXH128_canonicalFromHash((XXH128_canonical_t *) VARDATA(result), XXH3_128bits(bytes.data, bytes.len));
	pfree(bytes.data);
	return result;
}

/* Opens the table of tokens. */
static void
open_tokens(Claim *claim)
{
	Oid			namespace = get_namespace_oid("kv", false);

	claim->tokens = table_open(get_relname_relid("request_tokens", namespace), RowExclusiveLock);
	claim->primary = kv_compat_primary_key_index(claim->tokens);
	claim->by_age = get_relname_relid("request_tokens_created_at", namespace);
	if (!OidIsValid(claim->primary) || !OidIsValid(claim->by_age))
		elog(ERROR, "kv.request_tokens has lost an index");
}

/* Fills the tag of the lock on a token. */
static void
set_tag(LOCKTAG *tag, const text *token)
{
	uint64		hash = DatumGetUInt64(hash_any_extended((const unsigned char *) VARDATA_ANY(token),
														VARSIZE_ANY_EXHDR(token), GetUserId()));

	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, (uint32) (hash >> 32), (uint32) hash, KV_LOCK_TOKEN);
}

/*
 * Finds the row of the token as it is now, committed or of this transaction;
 * NULL if there is none.  *wait is the transaction that is about to decide,
 * if there is one.
 */
static HeapTuple
find_row(Claim *claim, TransactionId *wait)
{
	SnapshotData dirty;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	row;

	InitDirtySnapshot(dirty);
	ScanKeyInit(&key[0], TOKEN_ROLE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(GetUserId()));
	ScanKeyInit(&key[1], TOKEN_TOKEN, BTEqualStrategyNumber, F_TEXTEQ, PointerGetDatum(claim->token));
	scan = systable_beginscan(claim->tokens, claim->primary, true, &dirty, 2, key);
	row = systable_getnext(scan);
	*wait = InvalidTransactionId;
	if (HeapTupleIsValid(row))
	{
		*wait = TransactionIdIsValid(dirty.xmin) ? dirty.xmin : dirty.xmax;
		row = heap_copytuple(row);
	}
	systable_endscan(scan);
	return row;
}

/* Removes a row unless somebody else is about to, and tells whether it did. */
static bool
remove_row(Claim *claim, ItemPointer row)
{
	TM_FailureData failure;

	return table_tuple_delete(claim->tokens, row, GetCurrentCommandId(true), GetActiveSnapshot(),
							  InvalidSnapshot, false, &failure, false) == TM_Ok;
}

/* Tells whether a row has outlived its life. */
static bool
has_expired(Claim *claim, HeapTuple row)
{
	bool		isnull;
	Datum		created_at = heap_getattr(row, TOKEN_CREATED_AT, RelationGetDescr(claim->tokens), &isnull);

	return DatumGetTimestampTz(created_at) <= claim->now - TOKEN_LIFE;
}

/* Raises KV004 unless a row stands for the content that is claimed. */
static void
check_same_content(Claim *claim, HeapTuple row)
{
	bool		isnull;
	Datum		hash = heap_getattr(row, TOKEN_HASH, RelationGetDescr(claim->tokens), &isnull);
	bytea	   *known = DatumGetByteaPP(hash);

	if (VARSIZE_ANY_EXHDR(known) != VARSIZE_ANY_EXHDR(claim->hash) ||
		memcmp(VARDATA_ANY(known), VARDATA_ANY(claim->hash), VARSIZE_ANY_EXHDR(known)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_KV_IDEMPOTENT_MISMATCH),
				 errmsg("client request token \"%s\" was used with another request",
						text_to_cstring(claim->token)),
				 errdetail("A token stands for one request for ten minutes."),
				 errhint("Send the same request again, or take a new token.")));
}

/* Inserts the row of the token. */
static void
insert_row(Claim *claim)
{
	Datum		values[TOKEN_COLUMNS];
	bool		isnull[TOKEN_COLUMNS] = {false};
	HeapTuple	row;

	values[TOKEN_ROLE - 1] = ObjectIdGetDatum(GetUserId());
	values[TOKEN_TOKEN - 1] = PointerGetDatum(claim->token);
	values[TOKEN_HASH - 1] = PointerGetDatum(claim->hash);
	values[TOKEN_CREATED_AT - 1] = TimestampTzGetDatum(claim->now);
	row = heap_form_tuple(RelationGetDescr(claim->tokens), values, isnull);
	CatalogTupleInsert(claim->tokens, row);
	heap_freetuple(row);
}

/* Removes a few rows that have outlived their life, the oldest first. */
static void
trim_rows(Claim *claim)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;
	int			looked_at = 0;
	int			removed = 0;

	ScanKeyInit(&key, TOKEN_CREATED_AT, BTLessEqualStrategyNumber, F_TIMESTAMPTZ_LE,
				TimestampTzGetDatum(claim->now - TOKEN_LIFE));
	scan = systable_beginscan(claim->tokens, claim->by_age, true, SnapshotSelf, 1, &key);
	while (looked_at++ < MAX_LOOKED_AT && removed < MAX_REMOVED &&
		   HeapTupleIsValid(row = systable_getnext(scan)))
		removed += remove_row(claim, &row->t_self);
	systable_endscan(scan);
}

/*
 * Notes the token under its lock; false if it has been used, or if another
 * transaction (*wait) is about to decide about the row at *place.
 */
static bool
claim_locked(Claim *claim, TransactionId *wait, ItemPointer place)
{
	for (;;)
	{
		HeapTuple	row;

		CHECK_FOR_INTERRUPTS();
		row = find_row(claim, wait);
		if (TransactionIdIsValid(*wait))
		{
			*place = row->t_self;
			return false;
		}
		claim->now = GetCurrentTimestamp();
		if (HeapTupleIsValid(row) && !has_expired(claim, row))
		{
			check_same_content(claim, row);
			return false;
		}
		if (!HeapTupleIsValid(row) || remove_row(claim, &row->t_self))
			break;
	}
	insert_row(claim);
	trim_rows(claim);
	return true;
}

/* Notes the token of a transaction. */
bool
kv_token_claim(text *token, JsonbContainer *content)
{
	Claim		claim = {NULL};
	LOCKTAG		tag;
	TransactionId wait;
	ItemPointerData place;
	bool		fresh;

	claim.token = token;
	claim.hash = hash_content(content);
	open_tokens(&claim);
	set_tag(&tag, token);
	for (;;)
	{
		(void) LockAcquire(&tag, ExclusiveLock, false, false);
		fresh = claim_locked(&claim, &wait, &place);
		(void) LockRelease(&tag, ExclusiveLock, false);
		if (!TransactionIdIsValid(wait))
			break;
		/* not with the lock, which the other may want once more */
		XactLockTableWait(wait, claim.tokens, &place, XLTW_InsertIndex);
	}
	table_close(claim.tokens, NoLock);
	CommandCounterIncrement();
	return fresh;
}
