/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel side's ring hands over, as bytes. */
#ifndef COZBPF_KERNEL_EVENTS_H
#define COZBPF_KERNEL_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cozbpf/abi.h>

/* Fills *@ret with the event of @size bytes at @data; what its kind does not have is 0, and its
 * name ends. False: it is no event of ours. */
bool event_read(const void *data, size_t size, struct cozbpf_counter_event *ret);

#endif
