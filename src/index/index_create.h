/*
 * index_create.h
 *	  What the definitions of local and global indexes have in common: private
 *	  to the room.
 */
#ifndef KV_INDEX_INDEX_CREATE_H
#define KV_INDEX_INDEX_CREATE_H

#include "index/index_internal.h"

/* Attributes that an index may include: DynamoDB's limit, of all indexes of a table. */
#define KV_MAX_INCLUDE 100

/* What the DDL of an index is made from, checked. */
typedef struct KvNewIndex
{
	KvTable    *base;
	char	   *name;
	Oid			schema;			/* that of the table */
	char	   *qualified_name; /* quoted, for use in SQL */
	char	   *base_name;		/* quoted, for use in SQL */
	KvKeySchema key;			/* global: the index key; local: the sort key alone */
	int			base_key[KV_MAX_TABLE_KEYS];	/* which base key each is, or KV_NOT_BASE_KEY */
	KvProjectionType projection;
	int			include_count;
	char	  **include;
} KvNewIndex;

/* Begins a definition: opens the table and checks who asks, and the name. */
extern void kv_create_begin(KvNewIndex *new, const KvCreateIndex *request, const char *function);

/* Locks the table until the transaction ends, and looks at it again. */
extern void kv_create_lock(KvNewIndex *new, LOCKMODE lockmode);

/* Reads the sort key and projection of a local index. */
extern void kv_create_read_local_key(KvNewIndex *new, const KvCreateIndex *request);

/* Runs one DDL command through SPI. */
extern void kv_create_run(const char *command);

#endif							/* KV_INDEX_INDEX_CREATE_H */
