/*
 * dynamodb_check.c
 *	  DynamoDB's order of validation: expressions before the table.
 *
 * Expressions are bound to the table that they are for, so a table that is not
 * there would be told first.  Before it is, they are bound to no table, which
 * finds all that is wrong with them but what the keys have to say.
 */
#include "postgres.h"

#include "base/compat.h"
#include "dynamodb/dynamodb.h"
#include "expression/expression.h"

/* Raises the error of an expression that is wrong whatever the table. */
static void
check_expressions(const KvDynamoExpressions *expressions)
{
	static const KvKeySchema no_key;
	KvPlaceholders *placeholders = kv_placeholders_create(expressions->names, expressions->values);

	if (expressions->update)
		(void) kv_update_bind(expressions->update, placeholders, &no_key);
	if (expressions->condition)
		(void) kv_condition_bind(expressions->condition_kind, expressions->condition, placeholders, &no_key);
	if (expressions->projection)
		(void) kv_projection_bind(expressions->projection, placeholders, &no_key);
	/* a key condition is nothing without keys; it may use placeholders */
	if (!expressions->has_key_condition)
		kv_placeholders_check_used(placeholders);
}

/* Returns the table of a TableName or ARN; errors of expressions come before that it is not there. */
Oid
kv_dynamodb_table_of(text *name, const KvDynamoExpressions *expressions)
{
	Oid			relid = kv_dynamodb_find_table(name);

	if (OidIsValid(relid))
		return relid;
	check_expressions(expressions);
	return kv_dynamodb_table(name);
}
