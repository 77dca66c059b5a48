// SPDX-License-Identifier: BSD-3-Clause
/* See program.h. */
#include "target/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "core/text/paths.h"
#include "target/maps.h"
#include "target/procfs.h"

static bool leads_to(int pid, const char *name, const char *path)
{
	char seen[PATH_MAX];

	return !maps_resolve(pid, name, seen, sizeof(seen)) && !strcmp(seen, path);
}

/* Where it was at that time no relative path tells: it may be beside its file. */
static bool is_link(int pid, const char *started, const char *path)
{
	char beside[2 * PATH_MAX];

	if (*started == '/')
		return leads_to(pid, started, path);
	snprintf(beside, sizeof(beside), "%.*s%s", (int)(path_base(path) - path), path,
	    path_base(started));
	return leads_to(pid, beside, path);
}

void program_name(int pid, const char *path, char ret[NAME_MAX + 1])
{
	char started[PATH_MAX];

	if (!procfs_read_text(pid, procfs_auxv(pid, AT_EXECFN), started, sizeof(started)) ||
	    !is_link(pid, started, path))
		snprintf(started, sizeof(started), "%s", path);
	snprintf(ret, NAME_MAX + 1, "%s", path_base(started));
}
