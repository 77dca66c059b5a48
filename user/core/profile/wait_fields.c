// SPDX-License-Identifier: BSD-3-Clause
/* See wait_fields.h. */
#include "core/profile/wait_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/places/syscalls.h"
#include "core/profile/private.h"
#include "core/profile/wait_calls.h"

#define DIGITS 10 /* of an id, and the character behind it */
/* A field of all stacks fits into a record: longer ones are damage (core/profile/read.c). */
_Static_assert(COZBPF_WAIT_STACKS *(COZBPF_WAIT_CALLERS *(DIGITS + 1) + 21) < 1 << 20,
    "stacks of waits in a record");
_Static_assert(COZBPF_WAKERS *(DIGITS + 1 + 21) < 1 << 20, "wakers in a record");

static const struct {
	uint32_t waker;
	const char *name;
} names[] = {{COZBPF_WAKER_TIMER, "timer"}, {COZBPF_WAKER_KERNEL, "kernel"},
    {COZBPF_WAKER_PROCESS, "process"}, {COZBPF_WAKER_END, "end"}};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

const char *waker_name(uint32_t waker)
{
	for (size_t i = 0; i < N_NAMES; i++)
		if (names[i].waker == waker)
			return names[i].name;
	return NULL;
}

/* By unit, then those with most samples first; the rest makes the order the same each time. */

static int compare_stacks(const void *a, const void *b)
{
	const struct stack_count *x = a, *y = b;

	if (x->stack.unit != y->stack.unit)
		return x->stack.unit < y->stack.unit ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return memcmp(&x->stack, &y->stack, sizeof(x->stack));
}

static int compare_wakers(const void *a, const void *b)
{
	const struct waker_count *x = a, *y = b;

	if (x->waker.unit != y->waker.unit)
		return x->waker.unit < y->waker.unit ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->waker.line < y->waker.line ? -1 : x->waker.line > y->waker.line;
}

/* A record has room for the first calls only. */
static int compare_calls(const void *a, const void *b)
{
	const struct call_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->call.call < y->call.call ? -1 : x->call.call > y->call.call;
}

void wait_counts_sort(struct wait_counts *c)
{
	if (c->n_stacks)
		qsort(c->stacks, c->n_stacks, sizeof(*c->stacks), compare_stacks);
	if (c->n_wakers)
		qsort(c->wakers, c->n_wakers, sizeof(*c->wakers), compare_wakers);
	if (c->n_calls)
		qsort(c->calls, c->n_calls, sizeof(*c->calls), compare_calls);
}

void wait_counts_deinit(struct wait_counts *c)
{
	free(c->stacks);
	free(c->wakers);
	free(c->calls);
	*c = (struct wait_counts){0};
}

/* To text */

static void put_stack(FILE *out, const struct stack_count *s)
{
	fprintf(out, "%" PRIu64, s->count);
	for (size_t i = 0; i < COZBPF_WAIT_CALLERS && s->stack.callers[i]; i++)
		fprintf(out, "%c%" PRIu32, i ? '/' : ':', s->stack.callers[i]);
}

static void put_waker(FILE *out, const struct waker_count *w)
{
	const char *name = waker_name(w->waker.line);

	if (name)
		fprintf(out, "%" PRIu64 ":%s", w->count, name);
	else
		fprintf(out, "%" PRIu64 ":%" PRIu32, w->count, w->waker.line);
}

/* Ends a stream in memory. NULL: nothing was written, or memory is short. */
static char *end_text(FILE *out, char **text)
{
	bool failed = fflush(out) || ferror(out);

	fclose(out);
	if (!failed && **text)
		return *text;
	free(*text);
	return NULL;
}

char *wait_stacks_text(const struct wait_counts *c, uint32_t unit)
{
	char *text = NULL;
	size_t size = 0, n = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < c->n_stacks; i++) {
		if (c->stacks[i].stack.unit != unit)
			continue;
		if (n++)
			putc(',', out);
		put_stack(out, &c->stacks[i]);
	}
	return out ? end_text(out, &text) : NULL;
}

char *wait_wakers_text(const struct wait_counts *c, uint32_t unit)
{
	char *text = NULL;
	size_t size = 0, n = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; out && i < c->n_wakers; i++) {
		if (c->wakers[i].waker.unit != unit)
			continue;
		if (n++)
			putc(',', out);
		put_waker(out, &c->wakers[i]);
	}
	return out ? end_text(out, &text) : NULL;
}

char *wait_calls_field(const struct wait_counts *c, uint32_t unit)
{
	char text[WAIT_CALLS_TEXT], label[SYSCALL_LABEL];
	struct wait_calls calls = {0};

	for (size_t i = 0; i < c->n_calls; i++) {
		if (c->calls[i].call.unit != unit)
			continue;
		syscall_label(c->calls[i].call.call, label);
		wait_calls_add(&calls, label, strlen(label), c->calls[i].count);
	}
	wait_calls_text(&calls, text);
	return text[0] ? strdup(text) : NULL;
}

/* From text */

static bool take_count(const char **text, uint64_t *ret)
{
	return **text && take_u64(text, ':', MAX_COUNT, ret) && *ret;
}

/* Behind an item: the end, or a comma with another item. */
static bool take_comma(const char **text)
{
	if (!**text)
		return true;
	if (**text != ',' || !(*text)[1])
		return false;
	(*text)++;
	return true;
}

bool wait_stack_next(const char **text, struct stack_count *ret)
{
	const char *at = *text;
	uint64_t id;
	size_t n = 0;

	*ret = (struct stack_count){0};
	if (!take_count(&at, &ret->count))
		return false;
	for (;; at++) {
		if (n == COZBPF_WAIT_CALLERS || !take_u64(&at, 0, UINT32_MAX, &id) || !id)
			return false;
		ret->stack.callers[n++] = (uint32_t)id;
		if (*at != '/')
			break;
	}
	if (!take_comma(&at))
		return false;
	*text = at;
	return true;
}

static bool take_waker(const char **at, uint32_t *ret)
{
	uint64_t line;

	for (size_t i = 0; i < N_NAMES; i++) {
		size_t length = strlen(names[i].name);

		if (strncmp(*at, names[i].name, length) != 0)
			continue;
		*at += length;
		*ret = names[i].waker;
		return true;
	}
	if (!take_u64(at, 0, COZBPF_WAKER_END - 1, &line))
		return false;
	*ret = (uint32_t)line;
	return true;
}

bool wait_waker_next(const char **text, struct waker_count *ret)
{
	const char *at = *text;

	*ret = (struct waker_count){0};
	if (!take_count(&at, &ret->count) || !take_waker(&at, &ret->waker.line) || !take_comma(&at))
		return false;
	*text = at;
	return true;
}

bool wait_stacks_sound(const char *text)
{
	struct stack_count s;

	while (wait_stack_next(&text, &s))
		;
	return !*text;
}

bool wait_wakers_sound(const char *text)
{
	struct waker_count w;

	while (wait_waker_next(&text, &w))
		;
	return !*text;
}
