/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls by name, as the kernel spells them ("newfstatat", "pread64"): units of what is made
 * faster, "sys:write", and where waits are. Pure: the numbers are those of the processor that this
 * was compiled for.
 */
#ifndef COZBPF_SYSCALLS_H
#define COZBPF_SYSCALLS_H

#include <stdint.h>

#include "core/places/linemap.h"
#include "core/places/scope.h"
#include "core/text/errors.h"

#define SYSCALL_LABEL 48 /* bytes, the zero at the end included; of a unit, too */

/* @at: 1 + a number: "write", or "call_470" where it has no name; 0: "fault", what the kernel does
 * in no system call: page faults above all. */
void syscall_label(uint32_t at, char ret[SYSCALL_LABEL]);

/* Which of the units from @first on (line_map_add_syscalls()) the user has named, as an id. 0 with
 * @e, which offers the nearest names. */
uint32_t syscall_find(const struct line_map *m, uint32_t first, const char *unit, struct error *e);

#endif
