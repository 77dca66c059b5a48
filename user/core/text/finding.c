// SPDX-License-Identifier: BSD-3-Clause
/* Findings, and parsing of the kernel's own words; see finding.h. */
#include "core/text/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *finding_state_name(enum finding_state s)
{
	static const char *const names[] = {
	    [FINDING_OK] = "ok", [FINDING_WARNING] = "warning", [FINDING_MISSING] = "missing"};

	return names[s];
}

void finding_set(struct finding *f, enum finding_state s, const char *text, ...)
{
	va_list args;

	f->state = s;
	f->hint[0] = 0;
	va_start(args, text);
	vsnprintf(f->text, sizeof(f->text), text, args);
	va_end(args);
}

void finding_hint(struct finding *f, const char *hint, ...)
{
	va_list args;

	va_start(args, hint);
	vsnprintf(f->hint, sizeof(f->hint), hint, args);
	va_end(args);
}

int parse_kernel_release(const char *release, unsigned *major, unsigned *minor)
{
	return sscanf(release, "%u.%u", major, minor) == 2 ? 0 : -1;
}

unsigned missing_caps(uint64_t have, uint64_t wanted, char *ret, size_t size)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} caps[] = {
	    {CAP_BIT_BPF, "CAP_BPF"},
	    {CAP_BIT_PERFMON, "CAP_PERFMON"},
	    {CAP_BIT_SYS_PTRACE, "CAP_SYS_PTRACE"},
	    {CAP_BIT_SYS_ADMIN, "CAP_SYS_ADMIN"},
	    {CAP_BIT_SETUID, "CAP_SETUID"},
	    {CAP_BIT_SETGID, "CAP_SETGID"},
	};
	size_t used = 0;
	unsigned n = 0;

	if (size)
		ret[0] = 0;
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		if (!(wanted & caps[i].bit) || (have & caps[i].bit))
			continue;
		if (used < size)
			used += (size_t)snprintf(
			    ret + used, size - used, "%s%s", n ? ", " : "", caps[i].name);
		n++;
	}
	return n;
}

void parse_lockdown(const char *text, char *ret, size_t size)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		open = close = text;
	else
		open++;
	snprintf(ret, size, "%.*s", (int)(close - open), open);
}
