/*
 * expression_check.c
 *	  Expressions of a request whose table is not there.
 *
 * They are bound to no key, which finds all that is wrong with them but what
 * the keys have to say.
 */
#include "postgres.h"

#include "expression/expression.h"

/* Raises the error of expressions that are wrong whatever the table. */
void
kv_expressions_check(const KvExpressions *expressions)
{
	static const KvKeySchema no_key;
	KvPlaceholders *placeholders = kv_placeholders_create(expressions->names, expressions->values);

	if (expressions->key_condition)
		kv_key_condition_check(expressions->key_condition, placeholders);
	if (expressions->update)
		(void) kv_update_bind(expressions->update, placeholders, &no_key);
	if (expressions->condition)
		(void) kv_condition_bind(expressions->condition_kind, expressions->condition, placeholders, &no_key);
	if (expressions->projection)
		(void) kv_projection_bind(expressions->projection, placeholders, &no_key);
	kv_placeholders_check_used(placeholders);
}
