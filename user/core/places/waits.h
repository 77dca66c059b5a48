/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of waits by name: "io", and units of them, "FILE:LINE [io]" and "[io]". */
#ifndef COZBPF_WAITS_H
#define COZBPF_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"

/* Of COZBPF_WAIT_*. */
const char *wait_name(unsigned class);

/* "io,lock" or "all": a bit for each class. -1 with @e. */
int waits_parse(const char *text, uint32_t *ret, struct error *e);

/*
 * Whether @unit ends with "[CLASS]", with or without a space before it: the class, and in
 * *@ret_length how much of @unit is before that. -1: it does not.
 */
int wait_of_unit(const char *unit, size_t *ret_length);

#endif
