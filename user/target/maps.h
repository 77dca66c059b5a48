/* SPDX-License-Identifier: BSD-3-Clause */
/* Executable file mappings of a process, from /proc/PID/maps. What a process maps is untrusted
 * text; lines that make no sense are skipped. */
#ifndef COZBPF_MAPS_H
#define COZBPF_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t start, end, offset, dev, ino;
	char path[512]; /* as the process sees it, also after it has been deleted or replaced there
			 */
	char file[600]; /* where we find the very file that is mapped */
};

/* Parses one line; 1 when it is an executable mapping of a file, else 0. */
int map_parse(const char *line, struct map_entry *ret);

/* What is before a path of the process for us: "" where it sees the same files, else
 * "/proc/PID/root". */
void maps_root(int pid, char *ret, size_t size);

/* The path that @path leads to for the process, its links followed below its root. 0, or -1 with
 * errno. */
int maps_resolve(int pid, const char *path, char *ret, size_t size);

/* Reads them all; *@ret is the caller's to free. 0 or -errno (-ESRCH: the process has gone). */
int maps_read(int pid, struct map_entry **ret, size_t *n);

#endif
