// SPDX-License-Identifier: BSD-3-Clause
/* libFuzzer: any bytes, at any place in memory, as an event of the kernel side's ring. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "limit.h"
#include "kernel/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cozbpf_counter_event e;

	limit_begin();
	if (!event_read(data, size, &e))
		return 0;
	if (e.event.kind < COZBPF_EVENT_FORK || e.event.kind > COZBPF_EVENT_COUNTER ||
	    !e.event.tgid || e.event.tgid > INT_MAX ||
	    strnlen(e.name, sizeof(e.name)) == sizeof(e.name))
		abort();
	if (e.event.kind != COZBPF_EVENT_COUNTER && (e.address || *e.name))
		abort();
	return 0;
}
