/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor's checks of the kernel: BTF, BPF, perf events, uprobes, tracepoints. */
#ifndef COZBPF_CHECKS_H
#define COZBPF_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text/finding.h"

/* Fills up to @max findings and returns their number. Without @privileged, what cannot be tried
 * becomes a warning that says so. */
size_t kernel_checks(bool privileged, struct finding *ret, size_t max);

#endif
