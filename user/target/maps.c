// SPDX-License-Identifier: BSD-3-Clause
/* See maps.h. */
#include "target/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/text/paths.h"
#include "target/procfs.h"

#define AREAS_MAX 4096
#define MAPS_MAX 65536 /* the kernel's default vm.max_map_count is 65530 */

/* An executable mapping of any kind: whether the line is that of one. The path may be "". */
static bool parse(const char *line, struct map_entry *ret)
{
	unsigned major, minor;
	char perms[5];
	int path = 0;
	size_t n;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		&ret->start, &ret->end, perms, &ret->offset, &major, &minor, &ret->ino,
		&path) < 7 ||
	    !path || strlen(perms) != 4)
		return false;
	if (perms[2] != 'x' || ret->end <= ret->start)
		return false;
	ret->dev = makedev(major, minor);
	n = strcspn(line + path, "\n");
	if (n >= sizeof(ret->path))
		return false;
	memcpy(ret->path, line + path, n);
	ret->path[n] = 0;
	memcpy(ret->file, ret->path, n + 1);
	return true;
}

int map_parse(const char *line, struct map_entry *ret)
{
	return parse(line, ret) && *ret->path == '/';
}

bool maps_is_shim(const char *path)
{
	return !strcmp(path_base(path), MAPS_SHIM);
}

bool maps_is_memory(const char *path)
{
	/* .NET maps its code twice, from a memfd; shared memory without a file is of /dev/zero. */
	return !strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/zero", 9);
}

/* The kernel's own, such as [vdso], belong to no runtime. */
static bool is_area(const struct map_entry *m)
{
	return !*m->path || maps_is_memory(m->path) || !strncmp(m->path, "[anon", 5) ||
	       !strcmp(m->path, "[heap]") || !strcmp(m->path, "[stack]");
}

int maps_parse_areas(FILE *f, struct map_area **ret, size_t *n)
{
	struct map_area *all = calloc(AREAS_MAX, sizeof(*all));
	struct map_entry m;
	char *line = NULL;
	size_t size = 0;

	*ret = all;
	*n = 0;
	while (all && *n < AREAS_MAX && getline(&line, &size, f) > 0) {
		if (!parse(line, &m) || !is_area(&m))
			continue;
		if (*n && all[*n - 1].end == m.start)
			all[*n - 1].end = m.end;
		else if (!*n || all[*n - 1].end < m.start)
			all[(*n)++] = (struct map_area){m.start, m.end};
	}
	free(line);
	return all ? 0 : -ENOMEM;
}

void maps_root(int pid, char *ret, size_t size)
{
	struct stat ours, theirs;
	char name[64];

	*ret = 0;
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "/proc/%d/%s", pid, i ? "ns/mnt" : "root");
		if (!stat(i ? "/proc/self/ns/mnt" : "/", &ours) && !stat(name, &theirs) &&
		    (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino))
			snprintf(ret, size, "/proc/%d/root", pid);
	}
}

int maps_resolve(int pid, const char *path, char *ret, size_t size)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	char name[64];
	int root, fd;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/root", pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(name, ret, size - 1);
	if (n >= 0)
		ret[n] = 0;
	if (fd >= 0)
		close(fd);
	if (root >= 0)
		close(root);
	return n < 0 ? -1 : 0;
}

/*
 * For files that are not where the path says: in another namespace, or replaced since.
 * /proc/PID/map_files leads to the mapped file, whatever became of the path. It needs
 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
 */
static void find_file(int tid, const char *root, struct map_entry *m)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(m->path), cut = sizeof(deleted) - 1;
	bool gone = n > cut && !strcmp(m->path + n - cut, deleted);

	if (!gone && !*root)
		return;
	snprintf(m->file, sizeof(m->file), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, tid, m->start,
	    m->end);
	if (faccessat(AT_FDCWD, m->file, R_OK,
		AT_EACCESS)) /* access() would ignore capabilities that a user has */
		snprintf(m->file, sizeof(m->file), "%s%s", root, m->path);
	else if (gone)
		m->path[n - cut] = 0;
}

int maps_parse(FILE *f, struct map_entry **ret, size_t *n)
{
	struct map_entry entry, *all = NULL;
	char *line = NULL;
	size_t size = 0, room = 0;

	*ret = NULL;
	*n = 0;
	while (*n < MAPS_MAX && getline(&line, &size, f) > 0) {
		if (!map_parse(line, &entry))
			continue;
		if (*n == room) {
			struct map_entry *bigger =
			    realloc(all, (room = room ? 2 * room : 16) * sizeof(*all));

			if (!bigger) {
				free(line);
				free(all);
				*n = 0;
				return -ENOMEM;
			}
			all = bigger;
		}
		all[(*n)++] = entry;
	}
	free(line);
	*ret = all;
	return 0;
}

/* -errno in @err when there is none. @tid: a main thread that ended before the others has no
 * mappings any more. */
static FILE *open_maps(int pid, int *tid, int *err)
{
	char name[64];
	FILE *f;

	*tid = procfs_live_thread(pid);
	*err = -ESRCH;
	if (!*tid)
		return NULL;
	snprintf(name, sizeof(name), "/proc/%d/maps", *tid);
	f = fopen(name, "re");
	if (!f)
		*err = errno == ENOENT ? -ESRCH : -errno;
	return f;
}

int maps_read_areas(int pid, struct map_area **ret, size_t *n)
{
	int tid, err;
	FILE *f = open_maps(pid, &tid, &err);

	if (!f)
		return err;
	err = maps_parse_areas(f, ret, n);
	fclose(f);
	return err;
}

int maps_read(int pid, struct map_entry **ret, size_t *n)
{
	int tid, err;
	FILE *f = open_maps(pid, &tid, &err);
	char root[64];

	if (!f)
		return err;
	err = maps_parse(f, ret, n);
	fclose(f);
	maps_root(tid, root, sizeof(root));
	for (size_t i = 0; !err && i < *n; i++)
		find_file(tid, root, &(*ret)[i]);
	return err;
}
