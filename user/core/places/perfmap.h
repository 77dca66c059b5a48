/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perf maps: where the runtime of a language (node, Java, .NET, Python) says which functions it has
 * made while the program ran: lines "START SIZE NAME", both numbers in hex. The runtime appends to
 * the file, and code comes where other code was. Any text may come.
 */
#ifndef COZBPF_PERFMAP_H
#define COZBPF_PERFMAP_H

#include <stddef.h>

#include "core/places/linemap.h"

/* The module of such functions. */
#define PERF_MAP_MODULE "[jit]"
/* Of more lines the last ones count. */
#define PERF_MAP_LINES 50000

/*
 * Adds one object to @map, whose ranges are addresses in the process. Where several lines have an
 * address, the last one counts. A unit is "[jit]:NAME": versions of one function, which a runtime
 * makes as it optimises, are one unit. Lines without sense and the last line without an end are
 * left out. 0 or -ENOMEM.
 */
int perf_map_parse(const char *text, size_t n, struct line_map *map);

#endif
