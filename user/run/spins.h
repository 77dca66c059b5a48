/* SPDX-License-Identifier: BSD-3-Clause */
/* Busy waiting: once samples find threads in loops that wait by trying again, probes go there. A
 * thread that spins waits for another one (docs/design.md, Busy waiting). */
#ifndef COZBPF_RUN_SPINS_H
#define COZBPF_RUN_SPINS_H

#include <stdbool.h>
#include <stddef.h>

#include "target/maps.h"

struct files;

/* Once the session is there. */
void spins_init(struct files *f);
/* True when there are other places to be probed than before: the processes are to be read again. */
bool spins_begin(struct files *f);
/* Probes the loops of the files that a process maps, unless it is done; nothing before
 * spins_begin(). */
void spins_probe(struct files *f, int pid, const struct map_entry *maps, size_t n);
/* A function of --spin that no file has; NULL: there is none. */
const char *spins_missing(const struct files *f);
void spins_deinit(struct files *f);

#endif
