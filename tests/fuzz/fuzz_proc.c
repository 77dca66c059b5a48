// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any text as the files of /proc and of control groups: maps, cgroup, cgroup.procs,
 * cpu.stat. What comes out keeps the promises of the headers. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "target/cgroup.h"
#include "target/maps.h"
#include "target/quota.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int cond)
{
	if (!cond)
		abort();
}

static void check_maps(FILE *in)
{
	struct map_entry *all;
	size_t n;

	if (maps_parse(in, &all, &n))
		return;
	for (size_t i = 0; i < n; i++)
		require(all[i].start < all[i].end && *all[i].path == '/' &&
			!strchr(all[i].path, '\n') && !strcmp(all[i].path, all[i].file));
	free(all);
}

static void check_processes(FILE *in)
{
	int pids[16];
	size_t n = cgroup_parse(in, pids, 16);

	require(n <= 16);
	for (size_t i = 0; i < n; i++)
		require(pids[i] > 0);
}

static void check_group(FILE *in, bool v2)
{
	char group[64];

	if (quota_parse_group(in, v2, group, sizeof(group)))
		require(strlen(group) < sizeof(group) && !strchr(group, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	limit_begin();
	memcpy(text, data, size);
	text[size] = 0;
	for (int reader = 0; size && reader < 4; reader++) {
		FILE *in = fmemopen(text, size, "r");

		if (reader == 0)
			check_maps(in);
		else if (reader == 1)
			check_processes(in);
		else
			check_group(in, reader == 2);
		fclose(in);
	}
	quota_parse_stat(text);
	free(text);
	return 0;
}
