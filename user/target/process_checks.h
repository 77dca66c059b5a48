/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor's checks of this process and of its needs in the target: privilege, limits, clock,
 * shim. */
#ifndef COZBPF_PROCESS_CHECKS_H
#define COZBPF_PROCESS_CHECKS_H

#include <stddef.h>
#include <stdint.h>

#include "core/text/finding.h"

/* The effective capabilities of this process; 0 when unreadable. */
uint64_t process_caps(void);

/* Fills up to @max findings and returns their number. */
size_t process_checks(struct finding *ret, size_t max);

#endif
