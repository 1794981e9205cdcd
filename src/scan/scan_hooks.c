/*
 * scan_hooks.c
 *	  Installation of the planner hooks.
 */
#include "postgres.h"

#include "scan/scan.h"

/* Installs the hooks. */
void
kv_scan_install_hooks(void)
{
}
