/* SPDX-License-Identifier: BSD-3-Clause */
/* --sync=uprobe: probes on the calls that synchronise, in every process of the target. */
#ifndef COZBPF_RUN_CALLS_H
#define COZBPF_RUN_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "target/maps.h"

struct files;

/* Probes the calls of a process once its libraries are mapped: true when that is done. */
bool calls_probe(struct files *f, int pid, const struct map_entry *maps, size_t n);
void calls_deinit(struct files *f);

#endif
