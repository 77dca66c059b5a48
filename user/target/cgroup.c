// SPDX-License-Identifier: BSD-3-Clause
/* See cgroup.h. */
#include "target/cgroup.h"

#include <dirent.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 16

static bool is_group(const char *directory)
{
	char file[PATH_MAX];

	return (size_t)snprintf(file, sizeof(file), "%s/cgroup.procs", directory) < sizeof(file) &&
	       !access(file, R_OK);
}

int cgroup_find(const char *name, char *ret, size_t size, struct error *e)
{
	const struct mntent *m;
	FILE *mounts;

	snprintf(ret, size, "%s", name);
	if (*name && is_group(ret))
		return 0;
	mounts = setmntent("/proc/self/mounts", "re");
	while (mounts && (m = getmntent(mounts))) {
		if (strcmp(m->mnt_type, "cgroup") && strcmp(m->mnt_type, "cgroup2"))
			continue;
		snprintf(ret, size, "%s/%s", m->mnt_dir, name + (*name == '/'));
		if (*name && is_group(ret)) {
			endmntent(mounts);
			return 0;
		}
	}
	if (mounts)
		endmntent(mounts);
	error_set(e, EXIT_USAGE, "there is no control group '%s'", name);
	return error_hint(
	    e, "give its directory below /sys/fs/cgroup, or its path as /proc/PID/cgroup shows it");
}

size_t cgroup_parse(FILE *procs, int *ret, size_t max)
{
	size_t n = 0;
	long pid;

	while (n < max && fscanf(procs, "%ld", &pid) == 1)
		if (pid > 0 && pid <= INT_MAX) /* 0: in another PID namespace, out of our reach */
			ret[n++] = (int)pid;
	return n;
}

static size_t add_processes(const char *directory, int *ret, size_t max, size_t n, int depth)
{
	char path[PATH_MAX];
	struct dirent *d;
	FILE *procs;
	DIR *groups;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	procs = fopen(path, "re");
	if (procs) {
		n += cgroup_parse(procs, ret + n, max - n);
		fclose(procs);
	}
	groups = depth < MAX_DEPTH ? opendir(directory) : NULL;
	while (groups && (d = readdir(groups)))
		if (d->d_type == DT_DIR && d->d_name[0] != '.' &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, d->d_name) <
			sizeof(path))
			n = add_processes(path, ret, max, n, depth + 1);
	if (groups)
		closedir(groups);
	return n;
}

size_t cgroup_processes(const char *directory, int *ret, size_t max)
{
	return add_processes(directory, ret, max, 0, 0);
}
