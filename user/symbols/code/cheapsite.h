/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in a function a uprobe costs least. Instructions are decoded here and in cozsites.c only.
 */
#ifndef COZBPF_CHEAPSITE_H
#define COZBPF_CHEAPSITE_H

#include "symbols/symbols.h"

/*
 * Given the file offset of an instruction, commonly a function's first, finds one that is executed
 * exactly once each time that one is, and that the kernel emulates when it is probed: it steps all
 * others singly, which takes a microsecond, and 17 in a virtual machine. *@ret is @offset itself
 * where that is emulated already, where nothing better is certain, and on other architectures than
 * x86-64. 0, or -1 when @offset is not code.
 *
 * At the other place arguments need no longer be in their registers, and the return address no
 * longer on top of the stack: points that read an argument and probes of returns have to stay where
 * they are.
 */
int object_cheap_site(struct object *o, uint64_t offset, uint64_t *ret);

/* Whether the kernel emulates what is at a file offset, so that a probe there costs least. False on
 * other architectures. */
bool object_site_is_cheap(struct object *o, uint64_t offset);

#endif
