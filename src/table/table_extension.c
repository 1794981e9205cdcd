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
struct KvExtensionRelation
{
	char		name[NAMEDATALEN];
	Oid			relid;			/* InvalidOid: to be looked up */
};

static KvExtensionRelation relations[MAX_RELATIONS];
static int	relation_count = 0;

/* Relcache callback: forgets the OID of a relation that changed. */
static void
invalidate_extension_relation(Datum argument, Oid relid)
{
	for (int i = 0; i < relation_count; i++)
		if (!OidIsValid(relid) || relations[i].relid == relid)
			relations[i].relid = InvalidOid;
}

/* Returns what is known of a relation. */
static KvExtensionRelation *
find_relation(const char *name)
{
	static bool registered = false;
	KvExtensionRelation *relation;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(invalidate_extension_relation, (Datum) 0);
		registered = true;
	}
	for (int i = 0; i < relation_count; i++)
		if (strcmp(relations[i].name, name) == 0)
			return &relations[i];
	if (relation_count == MAX_RELATIONS)
		elog(ERROR, "too many relations of the extension");
	relation = &relations[relation_count++];
	strlcpy(relation->name, name, NAMEDATALEN);
	relation->relid = InvalidOid;
	return relation;
}

/* Returns the OID of a table of schema kv, or InvalidOid. */
Oid
kv_table_extension_relation(const char *name)
{
	KvExtensionRelation *known = NULL;

	return kv_table_extension_relation_again(name, &known);
}

/* The same; *known, NULL at first, is for the next time that the name is asked for. */
Oid
kv_table_extension_relation_again(const char *name, KvExtensionRelation **known)
{
	KvExtensionRelation *relation = *known;

	if (relation == NULL)
		relation = *known = find_relation(name);
	if (!OidIsValid(relation->relid))
	{
		Oid			schema = get_namespace_oid("kv", true);

		if (OidIsValid(schema))
			relation->relid = get_relname_relid(name, schema);
	}
	return relation->relid;
}
