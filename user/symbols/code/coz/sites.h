/* SPDX-License-Identifier: BSD-3-Clause */
/* The door to code/coz/: places of Coz's own coz.h in programs that were built with it. */
#ifndef COZBPF_COZ_SITES_H
#define COZBPF_COZ_SITES_H

#include "symbols/symbols.h"

/*
 * The same for programs built with Coz's own coz.h, found in their code: for processes that run
 * already. Such a place asks once for its counter and keeps NULL when there is no profiler; the
 * sites are the branches that skip the counting then, executed once a visit. A place that has not
 * been executed before may lose its first visit. A place whose branch the compiler has taken out of
 * a loop, or uses for several visits, cannot be counted: n_lost. 0 with *@n = 0 for programs
 * without such places, for other architectures than x86-64, and for those that have neither symbols
 * nor .eh_frame_hdr. -1 with @e and no markers when there is no memory, or when the code would take
 * too long to look through (EXIT_NO_RESULT).
 */
int object_find_coz_sites(struct object *o, struct marker **ret, size_t *n, struct error *e);
/* The same, but gives up after @work instructions. */
int find_coz_sites(
    struct object *o, uint64_t work, struct marker **ret, size_t *n, struct error *e);

#endif
