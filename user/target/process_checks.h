/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor's checks of this process and of its needs in the target: privilege, limits, clock,
 * shim. */
#ifndef COZBPF_PROCESS_CHECKS_H
#define COZBPF_PROCESS_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"
#include "core/text/finding.h"

/* The effective capabilities of this process; 0 when unreadable. */
uint64_t process_caps(void);

/* Whether our clock is that of the kernel side. -1 with @e: we are in a time namespace with another
 * one. */
int process_clock(struct error *e);

/* Fills up to @max findings and returns their number. @is_queued: a pause's signal is lost where
 * none may be pending. */
size_t process_checks(bool is_queued, struct finding *ret, size_t max);

#endif
