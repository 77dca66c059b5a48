/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines grouped by the functions that hold them, so that an experiment may be on a function first
 * and on its lines then. */
#ifndef COZBPF_LINEGROUPS_H
#define COZBPF_LINEGROUPS_H

#include "core/places/linemap.h"

/*
 * Fills @ret, an empty map, with the lines of @lines and those of @functions that hold them; each
 * has one object, the same one. Lines without a function come first. Then comes each function,
 * followed by its lines (line_map_join()). A line inlined into several functions is in the one that
 * has most of its code. Returns 0 or -errno.
 */
int line_map_group(
    const struct line_map *lines, const struct line_map *functions, struct line_map *ret);

/*
 * The unit @unit of a map was added after @function, 0: none, and is one of its lines. Units that
 * were in the map before stay where they are: a function's lines are the ids that follow its own.
 */
void line_map_join(struct line_map *m, uint32_t function, uint32_t unit);

#endif
