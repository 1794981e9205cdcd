/*
 * api_arguments.h
 *	  Arguments of SQL functions that are not strict, since optional ones are
 *	  NULL: private to the room.
 */
#ifndef KV_API_API_ARGUMENTS_H
#define KV_API_API_ARGUMENTS_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "base/errors.h"

/* Raises an error if a required argument is NULL. */
static inline void
require_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
	if (unlikely(PG_ARGISNULL(number)))
		ereport(ERROR,
				(errcode(ERRCODE_KV_VALIDATION),
				 errmsg("%s must not be null", name)));
}

/* Returns the table_name argument of type regclass. */
static inline Oid
table_argument(FunctionCallInfo fcinfo, int number)
{
	require_argument(fcinfo, number, "table_name");
	return PG_GETARG_OID(number);
}

/* Returns a text argument, or NULL. */
static inline text *
text_argument(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL : PG_GETARG_TEXT_PP(number);
}

/* Returns a jsonb argument, or NULL. */
static inline Jsonb *
jsonb_argument(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL : PG_GETARG_JSONB_P(number);
}

/* Returns a boolean argument, or its default where it is NULL. */
static inline bool
bool_argument(FunctionCallInfo fcinfo, int number, bool otherwise)
{
	return PG_ARGISNULL(number) ? otherwise : PG_GETARG_BOOL(number);
}

/* Stores an integer argument and returns where, or NULL. */
static inline int32 *
int_argument(FunctionCallInfo fcinfo, int number, int32 *storage)
{
	if (PG_ARGISNULL(number))
		return NULL;
	*storage = PG_GETARG_INT32(number);
	return storage;
}

#endif							/* KV_API_API_ARGUMENTS_H */
