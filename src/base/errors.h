/*
 * errors.h
 *	  Every error code that key_value raises: SQLSTATE class "KV".
 *
 * The README carries the same list.  The names follow the exceptions of
 * DynamoDB's API reference where it has one.
 */
#ifndef KV_BASE_ERRORS_H
#define KV_BASE_ERRORS_H

#include "utils/elog.h"

#define KV_SQLSTATE(n) MAKE_SQLSTATE('K', 'V', '0', '0' + (n) / 10, '0' + (n) % 10)

#define ERRCODE_KV_CONDITION_FAILED		KV_SQLSTATE(1)	/* conditional check failed */
#define ERRCODE_KV_TRANSACTION_CANCELED KV_SQLSTATE(2)	/* DETAIL: JSON array of reasons */
#define ERRCODE_KV_TRANSACTION_CONFLICT KV_SQLSTATE(3)
#define ERRCODE_KV_IDEMPOTENT_MISMATCH	KV_SQLSTATE(4)	/* idempotent parameter mismatch */
#define ERRCODE_KV_NOT_A_TABLE			KV_SQLSTATE(5)	/* not a key-value table or index */
#define ERRCODE_KV_RESOURCE_IN_USE		KV_SQLSTATE(6)
#define ERRCODE_KV_VALIDATION			KV_SQLSTATE(7)
#define ERRCODE_KV_THROUGHPUT_EXCEEDED	KV_SQLSTATE(8)
#define ERRCODE_KV_LIMIT_EXCEEDED		KV_SQLSTATE(9)
#define ERRCODE_KV_NOT_A_KEY_QUERY		KV_SQLSTATE(10)
#define ERRCODE_KV_COLLECTION_TOO_LARGE KV_SQLSTATE(11)
#define ERRCODE_KV_INDEX_NOT_READY		KV_SQLSTATE(12)

#endif							/* KV_BASE_ERRORS_H */
