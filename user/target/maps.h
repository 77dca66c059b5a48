/* SPDX-License-Identifier: BSD-3-Clause */
/* Executable mappings of a process, from /proc/PID/maps. What a process maps is untrusted text, so
 * lines without sense are skipped. */
#ifndef COZBPF_MAPS_H
#define COZBPF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct map_entry {
	uint64_t start, end, offset, dev, ino;
	char path[512]; /* as the process sees it, also after it was deleted or replaced there */
	char file[600]; /* where we find the mapped file itself */
};

/* Parses one line. Returns 1 for an executable mapping of a file, else 0. */
int map_parse(const char *line, struct map_entry *ret);

/* The same for the text of a whole file. *@ret is the caller's to free. 0 or -ENOMEM. */
int maps_parse(FILE *f, struct map_entry **ret, size_t *n);

/* The prefix of the process's paths for us: "" where it sees the same files, else
 * "/proc/PID/root". */
void maps_root(int pid, char *ret, size_t size);

/* The path that @path leads to for the process: links are followed below its root. Returns 0, or -1
 * with errno. */
int maps_resolve(int pid, const char *path, char *ret, size_t size);

/* Executable memory that no file has: where runtimes put the code that they make. */
struct map_area {
	uint64_t start, end;
};

/* Those of the text of a whole file: by address, one for those without a gap between them. *@ret is
 * the caller's to free. 0 or -ENOMEM. */
int maps_parse_areas(FILE *f, struct map_area **ret, size_t *n);

/* Our own handler, where it is preloaded: a library of that name. */
#define MAPS_SHIM "libcozbpf-shim.so"
bool maps_is_shim(const char *path);

/* Whether a path of maps is that of memory, not of a file that a file system has. */
bool maps_is_memory(const char *path);

/* Reads those of a process. Returns as maps_read(). */
int maps_read_areas(int pid, struct map_area **ret, size_t *n);

/* Reads all mappings into *@ret, which the caller frees. Returns 0 or -errno (-ESRCH: the process
 * has gone). */
int maps_read(int pid, struct map_entry **ret, size_t *n);

#endif
