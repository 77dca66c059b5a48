/* SPDX-License-Identifier: BSD-3-Clause */
/* Doctor's checks of the kernel: BTF, BPF, perf events, uprobes, tracepoints. */
#ifndef COZBPF_CHECKS_H
#define COZBPF_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text/finding.h"
#include "kernel/pause_mode.h"

/* The best mode of pausing that the kernel takes; NULL: none. To be asked with privilege. */
const struct pause_mode *kernel_pause_mode(void);

/* Fills up to @max findings and returns their number. Without @privileged, what cannot be tried
 * becomes a warning that says so. @mode is kernel_pause_mode()'s. */
size_t kernel_checks(
    bool privileged, const struct pause_mode *mode, struct finding *ret, size_t max);

#endif
