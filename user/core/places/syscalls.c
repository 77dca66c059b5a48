// SPDX-License-Identifier: BSD-3-Clause
/* See syscalls.h. */
#include "core/places/syscalls.h"

#include <stdio.h>
#include <string.h>

#include <cozbpf/abi.h>
#include "core/text/suggest.h"

static const char *const names[COZBPF_SYSCALLS] = {
#include "syscall_names.h"
};

void syscall_label(uint32_t at, char ret[SYSCALL_LABEL])
{
	const char *name = at && at <= COZBPF_SYSCALLS ? names[at - 1] : NULL;

	if (!at)
		snprintf(ret, SYSCALL_LABEL, "fault");
	else if (name)
		snprintf(ret, SYSCALL_LABEL, "%s", name);
	else
		snprintf(ret, SYSCALL_LABEL, "call_%u", at - 1);
}

uint32_t syscall_find(const struct line_map *m, uint32_t first, const char *unit, struct error *e)
{
	struct suggest near;
	char nearest[512];

	suggest_init(&near, unit);
	for (uint32_t id = first; id < first + COZBPF_SYSCALL_UNITS; id++) {
		if (!strcmp(m->lines[id].file, unit))
			return id;
		suggest_add(&near, m->lines[id].file);
	}
	error_set(e, EXIT_USAGE, "there is no system call '%s'", unit + strlen(SYSCALL_PREFIX));
	suggest_list(&near, nearest, sizeof(nearest));
	if (nearest[0])
		error_hint(e, "did you mean %s?", nearest);
	else
		error_hint(e, "names are the kernel's, as strace shows them: sys:newfstatat, "
			      "sys:pread64; sys:all is all of them");
	return 0;
}
