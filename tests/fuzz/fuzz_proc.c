// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any text as the files of /proc and of control groups: maps, cgroup, cgroup.procs,
 * cpu.stat; and as a perf map. What comes out keeps the promises of the headers. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/places/perfmap.h"
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

static void check_areas(FILE *in)
{
	struct map_area *all;
	size_t n;

	require(!maps_parse_areas(in, &all, &n));
	for (size_t i = 0; i < n; i++)
		require(all[i].start < all[i].end && (!i || all[i - 1].end < all[i].start));
	free(all);
}

static void check_perf_map(const char *text, size_t n)
{
	struct line_map map;

	require(!line_map_init(&map) && !perf_map_parse(text, n, &map));
	require(map.n_objects == 1);
	for (size_t i = 0; i < map.n_ranges; i++)
		require(map.ranges[i].lo < map.ranges[i].hi && map.ranges[i].line < map.n_lines &&
			(!i || map.ranges[i - 1].hi <= map.ranges[i].lo));
	for (size_t i = 1; i < map.n_lines; i++)
		require(!strncmp(map.lines[i].file, PERF_MAP_MODULE ":", 6) &&
			!strpbrk(map.lines[i].file, "\t\n"));
	line_map_deinit(&map);
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
	for (int reader = 0; size && reader < 5; reader++) {
		FILE *in = fmemopen(text, size, "r");

		if (reader == 0)
			check_maps(in);
		else if (reader == 1)
			check_processes(in);
		else if (reader == 4)
			check_areas(in);
		else
			check_group(in, reader == 2);
		fclose(in);
	}
	quota_parse_stat(text);
	check_perf_map(text, size);
	free(text);
	return 0;
}
