/* SPDX-License-Identifier: BSD-3-Clause */
/* The door to code/coz/: places of Coz's own coz.h in programs that were built with it. Without it,
 * a user who attaches to such a program would have to name each place by -P. */
#ifndef COZBPF_COZ_SITES_H
#define COZBPF_COZ_SITES_H

#include "symbols/symbols.h"

/*
 * As object_find_markers(), for programs built with Coz's own coz.h, in processes that run already
 * and in static programs. A place of that header asks once for its counter, and keeps NULL when
 * there is no profiler. Its site is the branch that then skips the counting, executed once a visit.
 *
 * A place that has not been executed before may lose its first visit. When the compiler has taken
 * the branch out of a loop, or uses it for several visits, the place cannot be counted (n_lost).
 * There are no markers in programs without such places, in programs for other machines than x86-64,
 * and in those with neither symbols nor .eh_frame_hdr. -1 with @e when memory is short, or when the
 * code would take too long to look through (EXIT_NO_RESULT).
 */
int object_find_coz_sites(struct object *o, struct marker **ret, size_t *n, struct error *e);
/* The same, but gives up after @work instructions. */
int find_coz_sites(
    struct object *o, uint64_t work, struct marker **ret, size_t *n, struct error *e);

#endif
