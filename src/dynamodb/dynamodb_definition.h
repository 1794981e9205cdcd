/*
 * dynamodb_definition.h
 *	  What definitions of tables say of attributes, keys and indexes: private to the room.
 */
#ifndef KV_DYNAMODB_DYNAMODB_DEFINITION_H
#define KV_DYNAMODB_DYNAMODB_DEFINITION_H

#include "dynamodb/dynamodb.h"
#include "index/index.h"

/* One of AttributeDefinitions. */
typedef struct KvDynamoDefinition
{
	text	   *name;
	text	   *type;
	bool		used;			/* by a key */
} KvDynamoDefinition;

typedef struct KvDynamoDefinitions
{
	int			count;
	KvDynamoDefinition *one;	/* ordered by name */
} KvDynamoDefinitions;

/* KeySchema: partition key, and sort key or NULL. */
typedef struct KvDynamoKeys
{
	text	   *name[KV_MAX_TABLE_KEYS];
	text	   *type[KV_MAX_TABLE_KEYS];
	KvKeySchema schema;
} KvDynamoKeys;

/* What is needed of one index before its table is made. */
typedef struct KvDynamoIndex
{
	text	   *name;
	bool		global;
	KvCreateIndex create;
} KvDynamoIndex;

/* Reads AttributeDefinitions. */
extern void kv_dynamodb_read_definitions(const KvDynamoValue *value, KvDynamoDefinitions *definitions);

/* Reads KeySchema, and notes that the attributes are used. */
extern void kv_dynamodb_read_keys(JsonbContainer *schema, const char *path, KvDynamoDefinitions *definitions, KvDynamoKeys *keys);

/* Raises an error if an attribute is defined that is no key. */
extern void kv_dynamodb_check_used(const KvDynamoDefinitions *definitions);

/* Reads one index; table_keys NULL: those of a table that there is already. */
extern void kv_dynamodb_read_index(JsonbContainer *request, const char *path, KvDynamoDefinitions *definitions, bool global,
								   const KvDynamoKeys *table_keys, KvDynamoIndex *index);

/* Reads an array of indexes and adds them to a list. */
extern List *kv_dynamodb_read_indexes(const KvDynamoValue *value, bool global, KvDynamoDefinitions *definitions,
									  const KvDynamoKeys *table_keys, List *indexes);

#endif							/* KV_DYNAMODB_DYNAMODB_DEFINITION_H */
