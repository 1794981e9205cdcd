/*
 * kv_test_table.c
 *	  SQL faces of the room "table".
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "table/table.h"

PG_FUNCTION_INFO_V1(kv_test_route);
PG_FUNCTION_INFO_V1(kv_test_lookup);
PG_FUNCTION_INFO_V1(kv_test_leaf);
PG_FUNCTION_INFO_V1(kv_test_hold);
PG_FUNCTION_INFO_V1(kv_test_hold_leaf);
PG_FUNCTION_INFO_V1(kv_test_check_rights);
PG_FUNCTION_INFO_V1(kv_test_has_row_security);

/* Returns the partition that our routing chooses for a partition key value. */
Datum
kv_test_route(PG_FUNCTION_ARGS)
{
	KvTable    *table = kv_table_open(PG_GETARG_OID(0), AccessShareLock);
	int			leaf;

	if (get_fn_expr_argtype(fcinfo->flinfo, 1) != kv_key_sql_type(table->key.attribute[0].type))
		elog(ERROR, "the key is not of the table's type");
	leaf = kv_table_route(table, PG_GETARG_DATUM(1));
	PG_RETURN_OID(table->leaf_relid[leaf]);
}

/* Writes a descriptor out, one line. */
static text *
describe(const KvTable *table)
{
	StringInfoData line;
	int			i;

	initStringInfo(&line);
	if (table == NULL)
		return cstring_to_text("not ours");
	for (i = 0; i < table->key.count; i++)
		appendStringInfo(&line, "%s %c, ", table->key.attribute[i].name,
						 table->key.attribute[i].type ? table->key.attribute[i].type : '?');
	appendStringInfo(&line, "%d %s", table->leaf_count, table->leaf_count == 1 ? "leaf" : "leaves");
	if (table->partitioned)
		appendStringInfoString(&line, ", partitioned");
	if (table->is_leaf)
		appendStringInfoString(&line, ", is a leaf");
	if (!table->usable)
		appendStringInfo(&line, ", unusable: %s", table->unusable_reason);
	return cstring_to_text(line.data);
}

/* Returns what kv_table_lookup() says of any relation. */
Datum
kv_test_lookup(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(describe(kv_table_lookup(PG_GETARG_OID(0))));
}

/* Returns what kv_table_leaf() says of one leaf: relation and index, column numbers, whether only our constraints are on it. */
Datum
kv_test_leaf(PG_FUNCTION_ARGS)
{
	KvTable    *table = kv_table_open(PG_GETARG_OID(0), AccessShareLock);
	const KvLeaf *leaf;

	if (PG_GETARG_INT32(1) < 0 || PG_GETARG_INT32(1) >= table->leaf_count)
		elog(ERROR, "there is no such leaf");
	leaf = kv_table_leaf(table, PG_GETARG_INT32(1));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s %s %d,%d,%d%s",
											  DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(leaf->relid))),
											  DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(leaf->primary_index))),
											  leaf->key_attno[0], leaf->key_attno[1], leaf->item_attno,
											  leaf->only_own_constraints ? " own constraints" : "")));
}

/* Holds a descriptor while a command runs, then writes it and the new truth out. */
Datum
kv_test_hold(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	KvTable    *held = kv_table_open(relid, AccessShareLock);
	text	   *before = describe(held);

	SPI_connect();
	SPI_execute(text_to_cstring(PG_GETARG_TEXT_PP(1)), false, 0);
	SPI_finish();

	if (strcmp(text_to_cstring(before), text_to_cstring(describe(held))) != 0)
		elog(ERROR, "the held descriptor changed");
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("held: %s; now: %s",
											  text_to_cstring(before),
											  text_to_cstring(describe(kv_table_lookup(relid))))));
}

/* Holds a leaf while a command runs; returns whether the held one is readable and whether it was replaced. */
Datum
kv_test_hold_leaf(PG_FUNCTION_ARGS)
{
	KvTable    *table = kv_table_open(PG_GETARG_OID(0), AccessShareLock);
	const KvLeaf *held = kv_table_leaf(table, PG_GETARG_INT32(1));
	KvLeaf		before = *held;
	const KvLeaf *now;

	SPI_connect();
	SPI_execute(text_to_cstring(PG_GETARG_TEXT_PP(2)), false, 0);
	SPI_finish();

	if (memcmp(&before, held, sizeof(KvLeaf)) != 0)
		elog(ERROR, "the held leaf changed");
	table = kv_table_open(PG_GETARG_OID(0), AccessShareLock);
	now = kv_table_leaf(table, PG_GETARG_INT32(1));
	PG_RETURN_TEXT_P(cstring_to_text(now == held ? "kept" :
									 now->primary_index == before.primary_index ? "replaced by an equal one" : "replaced"));
}

/* Checks rights as the item functions do. */
Datum
kv_test_check_rights(PG_FUNCTION_ARGS)
{
	AclMode		mode = 0;
	char	   *letter;

	for (letter = text_to_cstring(PG_GETARG_TEXT_PP(1)); *letter != '\0'; letter++)
	{
		switch (*letter)
		{
			case ACL_SELECT_CHR:
				mode |= ACL_SELECT;
				break;
			case ACL_INSERT_CHR:
				mode |= ACL_INSERT;
				break;
			case ACL_UPDATE_CHR:
				mode |= ACL_UPDATE;
				break;
			case ACL_DELETE_CHR:
				mode |= ACL_DELETE;
				break;
		}
	}
	kv_table_check_rights(kv_table_open(PG_GETARG_OID(0), AccessShareLock), mode);
	PG_RETURN_VOID();
}

/* Tells whether a policy applies to the current user. */
Datum
kv_test_has_row_security(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(kv_table_has_row_security(kv_table_open(PG_GETARG_OID(0), AccessShareLock)));
}
