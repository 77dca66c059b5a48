// SPDX-License-Identifier: BSD-3-Clause
/* Ranges of the kernel's line table that are written again: of code that a program makes while it
 * runs. They are at the table's end, those of files at its beginning (session.c). */
#include "kernel/session_private.h"

#include <errno.h>

int session_reserve_ranges(struct session *s, size_t n, uint32_t *first)
{
	if (n > s->ranges_room - s->ranges_used)
		return -ENOSPC;
	s->ranges_room -= n;
	*first = (uint32_t)s->ranges_room;
	return 0;
}

void session_set_ranges(
    struct session *s, uint32_t first, const struct line_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->ranges[first + i] = (struct cozbpf_range){.lo = ranges[i].lo,
		    .len = (uint32_t)(ranges[i].hi - ranges[i].lo),
		    .line = ranges[i].line};
}

size_t session_lines(const struct session *s, const struct line_map *lines)
{
	return lines->n_lines < s->lines_room ? lines->n_lines : s->lines_room;
}

size_t session_spare_lines(const struct session *s, const struct line_map *lines)
{
	return lines->n_lines < s->lines_room ? s->lines_room - lines->n_lines : 0;
}
