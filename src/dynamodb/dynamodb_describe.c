/*
 * dynamodb_describe.c
 *	  TableDescription: that of kv.describe_table() in DynamoDB's names, with
 *	  what the service says of every table.
 *
 * What the service knows and PostgreSQL does not is constant (region, account,
 * capacity) or left out (times).
 *
 * Source of the names: DynamoDB API reference, TableDescription.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "dynamodb/dynamodb.h"

#define GIGABYTE INT64CONST(1000000000)

/* A description that is being rewritten. */
typedef struct Rewriter
{
	JsonbParseState *state;
	Oid			table;
	const char *status;
} Rewriter;

/* Tells whether a member has this name. */
static bool
is_called(const JsonbValue *name, const char *word)
{
	return name->val.string.len == strlen(word) && memcmp(name->val.string.val, word, strlen(word)) == 0;
}

/* Adds the throughput of a table or index: none is provisioned. */
static void
add_throughput(JsonbParseState **state)
{
	kv_json_add_name(state, "ProvisionedThroughput");
	kv_json_open(state);
	kv_json_add_integer(state, "NumberOfDecreasesToday", 0);
	kv_json_add_integer(state, "ReadCapacityUnits", 0);
	kv_json_add_integer(state, "WriteCapacityUnits", 0);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

/* Returns the ARN of a table. */
static char *
table_arn(Oid table)
{
	return psprintf("arn:aws:dynamodb:local:000000000000:table/%s", kv_dynamodb_table_name(table));
}

/* Adds one member of an index. */
static void
add_index_member(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	Rewriter   *rewriter = argument;
	char	   *index;

	if (!is_called(name, "IndexName"))
	{
		kv_json_add_member(&rewriter->state, name, value);
		return;
	}
	index = kv_dynamodb_index_name(get_relname_relid(kv_dynamodb_string(value), get_rel_namespace(rewriter->table)));
	kv_json_add_text(&rewriter->state, "IndexName", index);
	kv_json_add_text(&rewriter->state, "IndexArn", psprintf("%s/index/%s", table_arn(rewriter->table), index));
}

/* Adds indexes. */
static void
add_indexes(Rewriter *rewriter, const JsonbValue *name, const JsonbValue *indexes)
{
	bool		global = is_called(name, "GlobalSecondaryIndexes");
	int			count;
	JsonbValue *index = kv_dynamodb_objects(indexes->val.binary.data, "indexes", &count);

	kv_json_add_name(&rewriter->state, kv_dynamodb_string(name));
	pushJsonbValue(&rewriter->state, WJB_BEGIN_ARRAY, NULL);
	for (int i = 0; i < count; i++)
	{
		kv_json_open(&rewriter->state);
		kv_dynamodb_each(index[i].val.binary.data, add_index_member, rewriter);
		if (global)
			add_throughput(&rewriter->state);
		pushJsonbValue(&rewriter->state, WJB_END_OBJECT, NULL);
	}
	pushJsonbValue(&rewriter->state, WJB_END_ARRAY, NULL);
}

/* Adds one member of a table. */
static void
add_table_member(void *argument, const JsonbValue *name, const JsonbValue *value)
{
	Rewriter   *rewriter = argument;
	JsonbParseState **state = &rewriter->state;

	if (is_called(name, "TableName"))
	{
		kv_json_add_text(state, "TableName", kv_dynamodb_table_name(rewriter->table));
		kv_json_add_text(state, "TableArn", table_arn(rewriter->table));
	}
	else if (is_called(name, "TableStatus"))
		kv_json_add_text(state, "TableStatus", rewriter->status);
	else if (is_called(name, "LocalSecondaryIndexes") || is_called(name, "GlobalSecondaryIndexes"))
		add_indexes(rewriter, name, value);
	else if (!is_called(name, "Partitions"))
		kv_json_add_member(state, name, value);
}

/* Returns the description of a table. */
Jsonb *
kv_dynamodb_description(Oid relid, const char *status)
{
	Rewriter	rewriter = {NULL, relid, status};
	JsonbParseState **state = &rewriter.state;

	kv_json_open(state);
	kv_dynamodb_each(&kv_table_describe(relid)->root, add_table_member, &rewriter);
	kv_json_add_name(state, "BillingModeSummary");
	kv_json_open(state);
	kv_json_add_text(state, "BillingMode", "PAY_PER_REQUEST");
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
	add_throughput(state);
	kv_json_add_boolean(state, "DeletionProtectionEnabled", false);
	return kv_json_close(state);
}

/* Returns the size of a table in started GB. */
int64
kv_dynamodb_gigabytes(Oid relid)
{
	static const char member[] = "TableSizeBytes";
	JsonbValue	size;
	int64		bytes;

	(void) getKeyJsonValueFromContainer(&kv_table_describe(relid)->root, member, strlen(member), &size);
	bytes = DatumGetInt64(DirectFunctionCall1(numeric_int8, NumericGetDatum(size.val.numeric)));
	return Max((bytes + GIGABYTE - 1) / GIGABYTE, 1);
}
