/*
 * table_extension.c
 *	  Finds the extension's own tables, which are in schema kv.
 *
 * OIDs are kept for the session and looked up again after an invalidation
 * that concerns them: DROP EXTENSION and CREATE EXTENSION make new ones.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "table/table_internal.h"

#define MAX_RELATIONS 32

/* One relation of the extension. */
typedef struct ExtensionRelation
{
	char		name[NAMEDATALEN];
	Oid			relid;			/* InvalidOid: to be looked up */
} ExtensionRelation;

static ExtensionRelation relations[MAX_RELATIONS];
static int	relation_count = 0;

/* Relcache callback: forgets the OID of a relation that changed. */
static void
invalidate_extension_relation(Datum argument, Oid relid)
{
	for (int i = 0; i < relation_count; i++)
		if (!OidIsValid(relid) || relations[i].relid == relid)
			relations[i].relid = InvalidOid;
}

/* Returns the OID of a table of schema kv, or InvalidOid. */
Oid
kv_table_extension_relation(const char *name)
{
	static bool registered = false;
	ExtensionRelation *relation = NULL;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(invalidate_extension_relation, (Datum) 0);
		registered = true;
	}
	for (int i = 0; i < relation_count && relation == NULL; i++)
		if (strcmp(relations[i].name, name) == 0)
			relation = &relations[i];
	if (relation == NULL)
	{
		if (relation_count == MAX_RELATIONS)
			elog(ERROR, "too many relations of the extension");
		relation = &relations[relation_count];
		strlcpy(relation->name, name, NAMEDATALEN);
		relation->relid = InvalidOid;
		relation_count++;
	}
	if (!OidIsValid(relation->relid))
	{
		Oid			schema = get_namespace_oid("kv", true);

		if (OidIsValid(schema))
			relation->relid = get_relname_relid(name, schema);
	}
	return relation->relid;
}
