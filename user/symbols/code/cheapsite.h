/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in a function a uprobe may be, and where it costs least. Instructions are decoded only here
 * and in coz/. */
#ifndef COZBPF_CHEAPSITE_H
#define COZBPF_CHEAPSITE_H

#include "symbols/symbols.h"

/*
 * Looks for a cheaper place for a probe of the instruction at file offset @offset, usually the
 * first of a function. *@ret is an instruction that is executed exactly as often and that the
 * kernel emulates. The kernel executes all others singly, which takes a microsecond, in a virtual
 * machine 17. *@ret is
 * @offset itself when that instruction is emulated, when nothing better is certain, and on other
 * machines than x86-64. 0, or -1 when @offset is not code.
 *
 * At the other place arguments may no longer be in their registers, nor the return address on top
 * of the stack. So points that read an argument, and probes of returns, have to stay.
 */
int object_cheap_site(struct object *o, uint64_t offset, uint64_t *ret);

/* Whether the kernel emulates the instruction at a file offset. False on other machines. */
bool object_site_is_cheap(struct object *o, uint64_t offset);

/*
 * -1 with @e (EXIT_USAGE) when no instruction begins at file offset @offset: a probe replaces the
 * first byte of one. Code is decoded from the start of the function, which the file itself has to
 * tell; a debug file is not believed. @strict: -1 also where that cannot be told, such as on other
 * machines than x86-64 and arm64. (boundary.c)
 */
int object_check_site(struct object *o, uint64_t offset, bool strict, struct error *e);

#endif
