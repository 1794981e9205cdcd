/*
 * operation_transact.h
 *	  Transactions over many items, private to the room.
 */
#ifndef KV_OPERATION_OPERATION_TRANSACT_H
#define KV_OPERATION_OPERATION_TRANSACT_H

#include "operation/operation_request.h"
#include "operation/operation_write.h"

#define KV_TRANSACT_TIMES	2	/* what reading or writing an item costs is paid as often, to prepare and to commit */

/* One action of kv.transact_write_items. */
typedef struct KvAction
{
	KvWrite		write;			/* outcome: what has been judged so far */
	const char *name;			/* of the verb, as the request calls it */
	int			leaf;

	/* what the action was judged on */
	bool		present;
	ItemPointerData place;		/* of the row, which is locked; invalid: absent, or reached through SQL */
	char	   *error;			/* the row cannot be changed as asked: why; NULL: it can */
	bool		has_item;		/* put, update: there is something to write */
	KvItemView	item;			/* .. namely this */
	KvCapacity *capacity;		/* what it consumes; NULL: not wanted */
} KvAction;

/* A transaction. */
typedef struct KvTransaction
{
	int			count;
	KvAction   *action;			/* in the order of the request */
	KvRequestKey *key;			/* their keys, in the order in which rows are locked */
	JsonbContainer *content;	/* what a token stands for */
	text	   *token;			/* NULL: none */
	KvRequestTables tables;
	int			current;		/* number of the action that is being worked on, from 0; -1: none */
} KvTransaction;

/* --- operation_transact_write.c --- */

/* Raises an error if the items of a transaction are too large together. */
extern void kv_transact_check_size(int64 bytes);

/* --- operation_transact_request.c --- */

/*
 * Reads and checks the whole request of kv.transact_write_items; token is the
 * function's argument.  The transaction is all zero but for its caller.
 */
extern void kv_transact_read(KvTransaction *transaction, JsonbContainer *request, text *token);

/* Returns the array of a request: the request itself, or its first member where it is wrapped as in the API. */
extern JsonbContainer *kv_transact_unwrap(JsonbContainer *request, const KvMember *members, int count, KvMemberValue *values);

/* --- operation_token.c --- */

#define KV_MAX_TOKEN_LENGTH		36	/* characters */

/* Raises an error unless a token has 1 to 36 characters. */
extern void kv_token_check(text *token);

/*
 * Notes the token of a transaction.  False: a transaction with this token and
 * content has been committed in the last ten minutes; with other content it
 * is KV004.  Waits for one that is under way.
 */
extern bool kv_token_claim(text *token, JsonbContainer *content);

#endif							/* KV_OPERATION_OPERATION_TRANSACT_H */
