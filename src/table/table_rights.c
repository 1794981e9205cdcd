/*
 * table_rights.c
 *	  Who may do what: table and column rights as SQL has them, row security.
 *
 * What a role was found to hold is kept in the descriptor.  A GRANT, REVOKE
 * or change of owner on the table or its columns invalidates the descriptor;
 * changes of roles and memberships start a new generation of answers.  A
 * refusal is never kept.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "base/errors.h"
#include "table/table_internal.h"

/* Starts at 1, so that a new descriptor's zero is an old generation. */
static uint64 rights_generation = 1;

/* Syscache callback: roles, memberships or the database's owner changed. */
static void
invalidate_rights(Datum argument, int cacheid, uint32 hashvalue)
{
	rights_generation++;
}

/* Returns the owner of a relation. */
Oid
kv_table_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* Registers for changes of roles, once a session: the same caches that acl.c watches. */
static void
watch_roles(void)
{
	static bool watching = false;

	if (watching)
		return;
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, invalidate_rights, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, invalidate_rights, (Datum) 0);
	CacheRegisterSyscacheCallback(DATABASEOID, invalidate_rights, (Datum) 0);
	watching = true;
}

/* Returns the entry for a role, emptied if it told of another role or an older generation. */
static KvKnownRights *
known_rights_of(KvTablePrivate *private_data, Oid role)
{
	KvKnownRights *known;
	int			i;

	if (private_data->rights_generation != rights_generation)
	{
		memset(private_data->rights, 0, sizeof(private_data->rights));
		private_data->rights_generation = rights_generation;
	}
	for (i = 0; i < KV_KNOWN_ROLES; i++)
	{
		if (private_data->rights[i].role == role)
			return &private_data->rights[i];
	}

	known = &private_data->rights[private_data->next_rights];
	private_data->next_rights = (private_data->next_rights + 1) % KV_KNOWN_ROLES;
	known->role = role;
	known->granted = 0;
	return known;
}

/*
 * Tells whether the role holds one right on every column that it is about: the
 * key columns and the item column, but an item's key is never updated.
 */
static bool
holds_on_columns(const KvTable *table, Oid role, AclMode right)
{
	int			i;

	for (i = 0; i < table->key.count && right != ACL_UPDATE; i++)
	{
		if (pg_attribute_aclcheck(table->relid, table->key_attno[i], role, right) != ACLCHECK_OK)
			return false;
	}
	return pg_attribute_aclcheck(table->relid, table->item_attno, role, right) == ACLCHECK_OK;
}

/* Tells whether the role holds all of mode: on the table, or what SQL lets columns give on the columns. */
static bool
holds(const KvTable *table, Oid role, AclMode mode)
{
	static const AclMode by_column[] = {ACL_SELECT, ACL_INSERT, ACL_UPDATE};
	AclMode		missing;
	int			i;

	missing = mode & ~pg_class_aclmask(table->relid, role, mode, ACLMASK_ALL);
	for (i = 0; i < lengthof(by_column); i++)
	{
		if ((missing & by_column[i]) && holds_on_columns(table, role, by_column[i]))
			missing &= ~by_column[i];
	}
	return missing == 0;
}

/* Raises SQL's own permission error unless the current user holds all of mode. */
void
kv_table_check_rights(const KvTable *table, AclMode mode)
{
	Oid			role = GetUserId();
	KvKnownRights *known;
	uint64		generation;

	watch_roles();
	known = known_rights_of(table->private_data, role);
	if (likely((known->granted & mode) == mode))
		return;

	generation = rights_generation;
	if (!holds(table, role, mode))
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(table->private_data->relkind),
					   get_rel_name(table->relid));
	if (generation == rights_generation)
		known->granted |= mode;
}

/*
 * Tells whether a row security policy applies to the current user.
 *
 * Where row_security is off and a policy would apply, this is SQL's error.
 */
bool
kv_table_has_row_security(const KvTable *table)
{
	if (likely(!table->private_data->row_security))
		return false;
	return check_enable_rls(table->relid, InvalidOid, false) == RLS_ENABLED;
}

/*
 * Raises an error unless the role may read items of the base table, so those
 * of its index.
 *
 * Policies of the base table cannot be asked about an index's rows, which may
 * be older than the items.  Where one applies to the role, the index has to
 * have row security of its own.
 */
void
kv_table_check_base_rights(const KvTable *index, Oid role)
{
	Oid			base_relid = index->index->base_relid;
	const KvTable *base = kv_table_lookup(base_relid);

	if (base == NULL)
		kv_table_refuse(base_relid, base);
	if (role == GetUserId())
		kv_table_check_rights(base, ACL_SELECT);
	else if (!holds(base, role, ACL_SELECT))
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(base->private_data->relkind),
					   get_rel_name(base_relid));

	if (likely(!base->private_data->row_security) || index->private_data->row_security)
		return;
	if (check_enable_rls(base_relid, role, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("index \"%s\" cannot be read under row security", get_rel_name(index->index->relid)),
				 errdetail("The policies of table \"%s\" do not extend to its indexes.", get_rel_name(base_relid)),
				 errhint("Enable row security on the index and give it policies of its own.")));
}
