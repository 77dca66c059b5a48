/* SPDX-License-Identifier: BSD-3-Clause */
/* Executable file mappings of a process, from /proc/PID/maps. What a process maps is untrusted text; lines that make no sense are skipped. */
#ifndef COZBPF_MAPS_H
#define COZBPF_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t start, end, offset, dev, ino;
	char path[512]; /* as the process sees it */
};

/* Parses one line; 1 when it is an executable mapping of a file, else 0. */
int map_parse(const char *line, struct map_entry *ret);

/* Reads them all; *@ret is the caller's to free. 0 or -errno (-ESRCH: the process has gone). */
int maps_read(int pid, struct map_entry **ret, size_t *n);

#endif
