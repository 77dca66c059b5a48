/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process's program is called. */
#ifndef COZBPF_PROGRAM_H
#define COZBPF_PROGRAM_H

#include <limits.h>

/*
 * Its file is at @path, as the process sees it. The name is that by which the program was started,
 * where that leads to the file: Debian's redis-server is a link to redis-check-rdb. Else it is that
 * of the file. What the process may have written over what it was started by counts for nothing
 * unless such a link is there.
 */
void program_name(int pid, const char *path, char ret[NAME_MAX + 1]);

#endif
