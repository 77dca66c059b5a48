/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that processes of the target make while they run, as language runtimes do: functions as
 * units, by the perf map that the runtime writes (core/places/perfmap.h). Without such a map, and
 * between its functions, the code is one unit, PERF_MAP_MODULE. Where lines are selected the code
 * belongs to none, and its samples are counted.
 */
#ifndef COZBPF_RUN_JIT_H
#define COZBPF_RUN_JIT_H

#include <stdbool.h>
#include <stddef.h>

#include <cozbpf/abi.h>
#include "target/maps.h"

struct files;

/* The mappings of such code of a process, at most @room, in @ret; returns how many. @files: its
 * mappings of files. Reads the perf map again when that has grown and a second has passed. */
size_t jit_mappings(struct files *f, int pid, const struct map_entry *files, size_t n_files,
    struct cozbpf_mapping *ret, size_t room);
/* Before the kernel side is there: whether the process has written a map, and the names, which a
 * user may have given. */
bool jit_has_map(struct files *f, int pid);
void jit_read_names(struct files *f, int pid);
/* The process has ended, or executes another program. */
void jit_forget(struct files *f, int pid);

/* The process that has most of such code without a perf map. */
struct jit_unnamed {
	int pid; /* 0: there was none */
	uint64_t bytes;
	char comm[32], path[64]; /* of the map that it could have, as it sees it */
	uint64_t samples;        /* in code without a name, of all processes */
};
void jit_unnamed(const struct files *f, struct jit_unnamed *ret);

void jit_deinit(struct files *f);

#endif
