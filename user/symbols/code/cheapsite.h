/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in a function a uprobe costs least. Instructions are decoded only here and in coz/. */
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

#endif
