// SPDX-License-Identifier: BSD-3-Clause
/* Throttled time, from the files of both versions of control groups; see quota.h. */
#include "target/quota.h"

#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct quota_group {
	char *folder; /* of the group, with its cpu.stat */
	dev_t dev;
	ino_t ino;
	/* held back since the group was made: at the begin of the watch, and as last read */
	uint64_t first_ns, last_ns;
};

uint64_t quota_parse_stat(const char *text)
{
	static const struct {
		const char *key;
		uint64_t ns;
	} keys[] = {{"throttled_usec ", 1000}, {"throttled_time ", 1}}; /* version 2, version 1 */

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *at = strstr(text, keys[i].key);

		if (at && (at == text || at[-1] == '\n'))
			return strtoull(at + strlen(keys[i].key), NULL, 10) * keys[i].ns;
	}
	return 0;
}

/* The time for which the group was ever held back. False: it has gone, or has no such file. */
static bool read_stat(const char *folder, uint64_t *ret)
{
	char path[PATH_MAX], text[4096];
	FILE *in;
	size_t n;

	if (snprintf(path, sizeof(path), "%s/cpu.stat", folder) >= (int)sizeof(path))
		return false;
	in = fopen(path, "re");
	if (!in)
		return false;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[n] = 0;
	*ret = quota_parse_stat(text);
	return n;
}

/* A hierarchy may be mounted more than once, so inodes tell its folders apart. */
static void add_group(struct quota *q, const char *folder)
{
	struct quota_group g = {0}, *bigger;
	struct stat st;

	if (stat(folder, &st) || !read_stat(folder, &g.first_ns))
		return;
	for (size_t i = 0; i < q->n; i++)
		if (q->groups[i].dev == st.st_dev && q->groups[i].ino == st.st_ino)
			return;
	bigger = realloc(q->groups, (q->n + 1) * sizeof(*bigger));
	if (!bigger)
		return;
	q->groups = bigger;
	g.dev = st.st_dev;
	g.ino = st.st_ino;
	g.last_ns = g.first_ns;
	g.folder = strdup(folder);
	if (g.folder)
		bigger[q->n++] = g;
}

static void add_upwards(struct quota *q, const char *mount, const char *group)
{
	char folder[PATH_MAX];
	size_t root = strlen(mount);

	if (snprintf(folder, sizeof(folder), "%s%s", mount, strcmp(group, "/") ? group : "") >=
	    (int)sizeof(folder))
		return;
	while (1) {
		char *slash = strrchr(folder, '/');

		add_group(q, folder);
		if (strlen(folder) <= root || !slash)
			return;
		*slash = 0;
	}
}

bool quota_parse_group(FILE *in, bool v2, char *ret, size_t size)
{
	char line[PATH_MAX + 256];
	bool found = false;

	while (!found && fgets(line, sizeof(line), in)) {
		char *controllers = strchr(line, ':'),
		     *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = 0;
		group[strcspn(group, "\n")] = 0;
		controllers++;
		for (char *c = strtok(controllers, ","); c && !v2; c = strtok(NULL, ","))
			found |= !strcmp(c, "cpu");
		found |= v2 && !*controllers;
		if (found)
			found = snprintf(ret, size, "%s", group) < (int)size;
	}
	return found;
}

static bool find_group(int pid, bool v2, char *ret, size_t size)
{
	char path[64];
	bool found;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	in = fopen(path, "re");
	if (!in)
		return false;
	found = quota_parse_group(in, v2, ret, size);
	fclose(in);
	return found;
}

void quota_watch(struct quota *q, int pid)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	while (mounts && (m = getmntent(mounts))) {
		bool v2 = !strcmp(m->mnt_type, "cgroup2");
		char group[PATH_MAX];

		if ((v2 || (!strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "cpu"))) &&
		    find_group(pid, v2, group, sizeof(group)))
			add_upwards(q, m->mnt_dir, group);
	}
	if (mounts)
		endmntent(mounts);
}

void quota_update(struct quota *q)
{
	uint64_t ns;

	for (size_t i = 0; i < q->n; i++)
		if (read_stat(q->groups[i].folder, &ns) &&
		    ns > q->groups[i].last_ns) /* less: now another group has the name */
			q->groups[i].last_ns = ns;
}

uint64_t quota_throttled_ns(const struct quota *q)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < q->n; i++)
		sum += q->groups[i].last_ns - q->groups[i].first_ns;
	return sum;
}

void quota_deinit(struct quota *q)
{
	for (size_t i = 0; i < q->n; i++)
		free(q->groups[i].folder);
	free(q->groups);
	*q = (struct quota){0};
}
