/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether seccomp lets the threads of a process make the calls that the pause handler makes. */
#ifndef COZBPF_FILTERS_H
#define COZBPF_FILTERS_H

#include <stdbool.h>

#include "core/text/errors.h"

bool filters_any(int pid); /* whether a thread has one, or may have */

/*
 * Each thread that has a filter is held still for a moment to read its filters. Returns 0 when a
 * pause harms none of the threads. Else -1 with @e, which names the call: EXIT_FORBIDDEN, or
 * EXIT_OTHER when a thread cannot be held.
 */
int filters_check(int pid, struct error *e);

#endif
