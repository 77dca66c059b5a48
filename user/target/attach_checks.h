/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor's checks of a process to attach to. They do nothing to it but hold threads still for a
 * moment. */
#ifndef COZBPF_ATTACH_CHECKS_H
#define COZBPF_ATTACH_CHECKS_H

#include <stddef.h>

#include "core/text/finding.h"

/* Fills up to @max findings and returns their number. */
size_t attach_checks(int pid, struct finding *ret, size_t max);

#endif
