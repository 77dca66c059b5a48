// SPDX-License-Identifier: BSD-3-Clause
/* See maps.h. */
#include "target/maps.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define MAPS_MAX 65536 /* the kernel's default vm.max_map_count is 65530 */

int map_parse(const char *line, struct map_entry *ret)
{
	unsigned major, minor;
	char perms[5];
	int path = 0;
	size_t n;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &ret->start, &ret->end, perms, &ret->offset,
		&major, &minor, &ret->ino, &path) < 7 ||
	    !path || strlen(perms) != 4)
		return 0;
	if (perms[2] != 'x' || line[path] != '/' || ret->end <= ret->start)
		return 0;
	ret->dev = makedev(major, minor);
	n = strcspn(line + path, "\n");
	if (n >= sizeof(ret->path))
		return 0;
	memcpy(ret->path, line + path, n);
	ret->path[n] = 0;
	return 1;
}

/* Entries of one maps file; the number of its lines in @ret_lines. */
static int read_file(const char *name, struct map_entry **ret, size_t *n, size_t *ret_lines)
{
	struct map_entry entry, *all = NULL;
	char *line = NULL;
	size_t size = 0, room = 0;
	FILE *f = fopen(name, "re");

	*ret = NULL;
	*n = 0;
	*ret_lines = 0;
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (*n < MAPS_MAX && getline(&line, &size, f) > 0) {
		++*ret_lines;
		if (!map_parse(line, &entry))
			continue;
		if (*n == room) {
			struct map_entry *bigger = realloc(all, (room = room ? 2 * room : 16) * sizeof(*all));

			if (!bigger)
				break;
			all = bigger;
		}
		all[(*n)++] = entry;
	}
	free(line);
	fclose(f);
	*ret = all;
	return 0;
}

/* A main thread that has ended before the others has no mappings any more; theirs are the process's. */
static int read_any_thread(int pid, struct map_entry **ret, size_t *n, size_t *ret_lines)
{
	struct dirent *d;
	char name[320];
	int err = -ESRCH;
	DIR *tasks;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	tasks = opendir(name);
	if (!tasks)
		return -ESRCH;
	while (!*ret_lines && (d = readdir(tasks))) {
		if (d->d_name[0] == '.' || atoi(d->d_name) == pid)
			continue;
		snprintf(name, sizeof(name), "/proc/%d/task/%s/maps", pid, d->d_name);
		err = read_file(name, ret, n, ret_lines);
	}
	closedir(tasks);
	return *ret_lines ? 0 : err;
}

int maps_read(int pid, struct map_entry **ret, size_t *n)
{
	size_t lines;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	err = read_file(name, ret, n, &lines);
	return err || lines ? err : read_any_thread(pid, ret, n, &lines);
}
