// SPDX-License-Identifier: BSD-3-Clause
/* Where the waiting goes, in words; see words.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/places/waits.h"
#include "core/text/paths.h"
#include "report/words.h"

#define MAX_WAKERS 3 /* of a unit, by name */

const char *any_label(const struct estimate *e, const char *unit, size_t prefix)
{
	size_t number;

	for (size_t i = 0; prefix && i < e->n_lines; i++) {
		const char *line = e->lines[i].line;

		if (path_of_line(line, &number))
			return strncmp(line, unit, prefix) ? unit : unit + prefix;
	}
	return unit;
}

__attribute__((format(printf, 3, 4))) static void append(
    char *buf, size_t size, const char *format, ...)
{
	size_t n = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + n, size - n, format, args);
	va_end(args);
}

/* "lock 90 %, io 8 %", the largest one first, without what is rounded to 0. */
static void append_classes(
    const uint64_t *classes, uint64_t all, int digits, char *buf, size_t size)
{
	double least = digits ? 0.0005 : 0.005;
	bool shown[COZBPF_WAIT_CLASSES] = {false};

	for (int n = 0; n < COZBPF_WAIT_CLASSES; n++) {
		int most = -1;

		for (int i = 0; i < COZBPF_WAIT_CLASSES; i++)
			if (!shown[i] && (most < 0 || classes[i] > classes[most]))
				most = i;
		shown[most] = true;
		if (waiting_share(classes[most], all) >= least)
			append(buf, size, "%s%s %.*f %%", n ? ", " : "", wait_name((unsigned)most),
			    digits, 100 * waiting_share(classes[most], all));
	}
}

void waiting_words(const struct waiting *w, char *buf, size_t size)
{
	double off = (double)w->off / ((double)w->on + (double)w->off);

	snprintf(buf, size, "%.0f %% on CPU, %.0f %% off CPU: ", 100 * (1 - off), 100 * off);
	append_classes(w->classes, w->on + w->off, 0, buf, size);
}

void line_waits_words(const struct waiting *w, const struct waiting_line *l, char *buf, size_t size)
{
	buf[0] = 0;
	append_classes(l->classes, w->off, 1, buf, size);
}

/* A name of waker_name(), in a sentence. */
static const char *waker_words(uint32_t waker)
{
	switch (waker) {
	case COZBPF_WAKER_TIMER:
		return "a timer";
	case COZBPF_WAKER_KERNEL:
		return "the kernel";
	case COZBPF_WAKER_PROCESS:
		return "another process";
	case COZBPF_WAKER_END:
		return "the end of a thread";
	default:
		return "code out of scope";
	}
}

void wakers_words(
    const struct estimate *e, const struct waiting_unit *u, size_t prefix, char *buf, size_t size)
{
	size_t n = u->n > MAX_WAKERS + 1 ? MAX_WAKERS : u->n;
	uint64_t rest = u->woken;

	buf[0] = 0;
	for (size_t i = 0; i < n; i++) {
		const struct waiting_waker *w = &u->wakers[i];

		append(buf, size, "%s%s (%.0f %%)", i ? ", " : "",
		    w->line ? any_label(e, w->line, prefix) : waker_words(w->waker),
		    100 * waiting_share(w->count, u->woken));
		rest -= w->count < rest ? w->count : rest;
	}
	if (n < u->n)
		append(buf, size, ", %zu others (%.0f %%)", u->n - n,
		    100 * waiting_share(rest, u->woken));
}
