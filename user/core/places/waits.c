// SPDX-License-Identifier: BSD-3-Clause
/* See waits.h. */
#include "core/places/waits.h"

#include <string.h>

#include <cozbpf/abi.h>

static const char *const names[COZBPF_WAIT_CLASSES] = {[COZBPF_WAIT_IO] = "io",
    [COZBPF_WAIT_LOCK] = "lock",
    [COZBPF_WAIT_NET] = "net",
    [COZBPF_WAIT_SLEEP] = "sleep",
    [COZBPF_WAIT_SCHED] = "sched",
    [COZBPF_WAIT_OTHER] = "other"};

const char *wait_name(unsigned class)
{
	return names[class];
}

static int find_name(const char *text, size_t length)
{
	for (int i = 0; i < COZBPF_WAIT_CLASSES; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], text, length))
			return i;
	return -1;
}

int waits_parse(const char *text, uint32_t *ret, struct error *e)
{
	*ret = 0;
	if (!strcmp(text, "all")) {
		*ret = (1U << COZBPF_WAIT_CLASSES) - 1;
		return 0;
	}
	for (const char *c = text;; c++) {
		size_t length = strcspn(c, ",");
		int class = find_name(c, length);

		if (class < 0) {
			error_set(e, EXIT_USAGE, "'%.*s' is no class of waits", (int)length, c);
			return error_hint(e, "classes are io, lock, net, sleep, sched and other, "
					     "such as --off-cpu=io,lock");
		}
		*ret |= 1U << class;
		c += length;
		if (!*c)
			return 0;
	}
}

int wait_of_unit(const char *unit, size_t *ret_length)
{
	size_t length = strlen(unit);
	const char *open = strrchr(unit, '[');
	int class;

	if (!open || unit[length - 1] != ']')
		return -1;
	class = find_name(open + 1, (size_t)(unit + length - open) - 2);
	*ret_length = (size_t)(open - unit);
	if (*ret_length && unit[*ret_length - 1] == ' ')
		(*ret_length)--;
	return class;
}
