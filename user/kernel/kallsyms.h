/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's functions as units of a line map, for -b KERNEL. */
#ifndef COZBPF_KALLSYMS_H
#define COZBPF_KALLSYMS_H

#include <stddef.h>
#include <stdio.h>

#include "core/places/linemap.h"
#include "core/text/errors.h"

/*
 * Adds the functions of /proc/kallsyms as one object, whose offsets are addresses: "[k]:NAME", or
 * "[MODULE]:NAME" of a module. @ret_n: how many. Returns 0, or -1 with @e: the kernel keeps its
 * addresses from us, or memory is short.
 */
int kallsyms_add(struct line_map *m, size_t *ret_n, struct error *e);

/* The same of a text of that form, @in. */
int kallsyms_read(FILE *in, struct line_map *m, size_t *ret_n, struct error *e);

#endif
