// SPDX-License-Identifier: BSD-3-Clause
/* Throttled time, from the files of both versions of control groups; see quota.h. */
#include "target/quota.h"

#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the text of a cpu.stat file. */
static uint64_t parse_stat(const char *text)
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

static uint64_t read_stat(const char *folder)
{
	char path[PATH_MAX], text[4096];
	FILE *in;
	size_t n;

	if (snprintf(path, sizeof(path), "%s/cpu.stat", folder) >= (int)sizeof(path))
		return 0;
	in = fopen(path, "re");
	if (!in)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[n] = 0;
	return parse_stat(text);
}

/* A group and all above it: the quota of any of them holds the process back. */
static uint64_t sum_upwards(const char *mount, const char *group)
{
	char folder[PATH_MAX];
	size_t root = strlen(mount);
	uint64_t sum = 0;

	if (snprintf(folder, sizeof(folder), "%s%s", mount, strcmp(group, "/") ? group : "") >= (int)sizeof(folder))
		return 0;
	while (1) {
		char *slash = strrchr(folder, '/');

		sum += read_stat(folder);
		if (strlen(folder) <= root || !slash)
			return sum;
		*slash = 0;
	}
}

/* The process's group in the hierarchy of version 2 ("0::PATH"), or in that of version 1 which has the cpu controller ("N:cpu,cpuacct:PATH"). */
static bool find_group(int pid, bool v2, char *ret, size_t size)
{
	char path[64], line[PATH_MAX + 256];
	bool found = false;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	in = fopen(path, "re");
	while (in && !found && fgets(line, sizeof(line), in)) {
		char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

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
	if (in)
		fclose(in);
	return found;
}

uint64_t quota_throttled_ns(int pid)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	uint64_t sum = 0;

	while (mounts && (m = getmntent(mounts))) {
		bool v2 = !strcmp(m->mnt_type, "cgroup2");
		char group[PATH_MAX];

		if ((v2 || (!strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "cpu"))) && find_group(pid, v2, group, sizeof(group)))
			sum += sum_upwards(m->mnt_dir, group);
	}
	if (mounts)
		endmntent(mounts);
	return sum;
}
