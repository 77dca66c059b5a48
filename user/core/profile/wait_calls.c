// SPDX-License-Identifier: BSD-3-Clause
/* See wait_calls.h. */
#include "core/profile/wait_calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/profile/private.h"
#include "core/profile/wait_stacks.h"

static bool is_called(const struct wait_call *c, const char *name, size_t length)
{
	return strlen(c->name) == length && !memcmp(c->name, name, length);
}

void wait_calls_add(struct wait_calls *w, const char *name, size_t length, uint64_t samples)
{
	struct wait_call c = {.samples = samples};
	size_t i = 0;

	if (!length || length >= sizeof(c.name) || !samples || samples > MAX_COUNT)
		return;
	while (i < w->n && !is_called(&w->v[i], name, length))
		i++;
	if (i < w->n)
		add_capped(&c.samples, w->v[i].samples);
	else if (w->n < WAIT_CALLS)
		w->n++;
	else if (w->v[--i].samples >= samples)
		return;
	memcpy(c.name, name, length);
	for (; i && w->v[i - 1].samples < c.samples; i--)
		w->v[i] = w->v[i - 1];
	w->v[i] = c;
}

void wait_calls_parse(struct wait_calls *w, const char *text, uint64_t samples)
{
	add_capped(&w->samples, samples);
	while (*text) {
		const char *name = text;
		size_t length = strcspn(text, ":,");
		uint64_t n;

		text += length;
		if (*text++ != ':' || !take_u64(&text, 0, MAX_COUNT, &n))
			return;
		wait_calls_add(w, name, length, n);
		if (*text && *text++ != ',')
			return;
	}
}

void wait_calls_text(const struct wait_calls *w, char ret[WAIT_CALLS_TEXT])
{
	size_t used = 0;

	ret[0] = 0;
	for (size_t i = 0; i < w->n; i++)
		used += (size_t)snprintf(ret + used, WAIT_CALLS_TEXT - used, "%s%s:%" PRIu64,
		    i ? "," : "", w->v[i].name, w->v[i].samples);
}

double wait_calls_share(const struct wait_calls *w, size_t i)
{
	return w->samples ? fmin((double)w->v[i].samples / (double)w->samples, 1) : 0;
}
