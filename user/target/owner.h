/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only one cozbpf at a time profiles a process. The claim is a socket in the abstract namespace,
 * named after the process. It leaves no file, ends with us however we end, and tells who holds it.
 * It is known within one network namespace.
 */
#ifndef COZBPF_OWNER_H
#define COZBPF_OWNER_H

#include "core/text/errors.h"

/* Returns a descriptor, kept open as long as @pid is profiled. -1 with @e (EXIT_FORBIDDEN, naming
 * the owner) when another cozbpf has the process. */
int owner_claim(int pid, struct error *e);

/* To be called now and then with such a descriptor: whoever is refused stays in its queue, and a
 * full one no longer tells who holds the claim. */
void owner_answer(int fd);

#endif
