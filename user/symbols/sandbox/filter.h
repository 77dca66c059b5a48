/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to user/symbols/sandbox/: the system calls of a reader. */
#ifndef COZBPF_FILTER_H
#define COZBPF_FILTER_H

#include <stdbool.h>

/* From now on any other system call ends the process (SIGSYS). 0, or -errno: the kernel, or a
 * container's own filter, does not take the filter. */
int filter_system_calls(void);

/* Whether the kernel has such filters, and lets us ask. */
bool can_filter(void);

#endif
