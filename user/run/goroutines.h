/* SPDX-License-Identifier: BSD-3-Clause */
/* Go programs: accounts follow their goroutines, which the runtime's scheduler tells of by probes.
 * Where it cannot be told, accounts are those of threads (docs/design.md, Goroutines). */
#ifndef COZBPF_RUN_GOROUTINES_H
#define COZBPF_RUN_GOROUTINES_H

#include <stddef.h>

#include "target/maps.h"

struct files;
struct session_config;

/* Once the main program is known: whether its goroutines can have accounts, and by what. */
void goroutines_decide(struct files *f, struct session_config *ret);
/* Probes the program of a process that is Go's, unless it is done. */
void goroutines_probe(struct files *f, int pid, const struct map_entry *maps, size_t n);
/* In each tick: says so where the runtime is not what its file says. */
void goroutines_check(struct files *f);
void goroutines_deinit(struct files *f);

#endif
