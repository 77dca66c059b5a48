/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One cozbpf at a time profiles a process. The claim is a socket in the abstract namespace, named
 * after the process: it leaves no file and goes with us, however we go, and who holds it can be
 * asked. Known within one network namespace.
 */
#ifndef COZBPF_OWNER_H
#define COZBPF_OWNER_H

#include "core/text/errors.h"

/* A descriptor to be kept open as long as @pid is profiled; -1 with @e (EXIT_FORBIDDEN, naming the
 * owner) when another has it. */
int owner_claim(int pid, struct error *e);

#endif
