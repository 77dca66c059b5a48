// SPDX-License-Identifier: BSD-3-Clause
/* Reads events; see events.h. Needs neither libbpf nor a kernel. */
#include "kernel/events.h"

#include <limits.h>
#include <string.h>

bool event_read(const void *data, size_t size, struct cozbpf_counter_event *ret)
{
	size_t whole;

	*ret = (struct cozbpf_counter_event){0};
	if (size < sizeof(ret->event))
		return false;
	memcpy(&ret->event, data, sizeof(ret->event));
	whole = ret->event.kind == COZBPF_EVENT_COUNTER ? sizeof(*ret) : sizeof(ret->event);
	if (ret->event.kind < COZBPF_EVENT_FORK || ret->event.kind > COZBPF_EVENT_COUNTER ||
	    size < whole || !ret->event.tgid || ret->event.tgid > INT_MAX)
		return false;
	memcpy(ret, data, whole);
	ret->name[sizeof(ret->name) - 1] = 0;
	return true;
}
