/* SPDX-License-Identifier: BSD-3-Clause */
/* A couple: two units that are made faster at once. Its name is theirs, "a.c:1 + b.c:2". */
#ifndef COZBPF_COUPLE_H
#define COZBPF_COUPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/places/linemap.h"

/* The caller's to free; NULL: out of memory. */
char *couple_name(const char *first, const char *second);

/*
 * Where @unit may be a couple's name: returns the name of the second unit within it, and in
 * *@ret_length how long the first one's is. NULL: it cannot be one. @after: NULL, or what was
 * returned before: names of files and functions may hold the same sign, so units tell, not signs.
 */
const char *couple_split(const char *unit, const char *after, size_t *ret_length);

/* Whether two units of a map have something in common: they are the same one, or one holds the
 * other. They are no couple then. */
bool couple_overlaps(const struct line_map *m, uint32_t first, uint32_t second);

#endif
