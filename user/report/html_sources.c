// SPDX-License-Identifier: BSD-3-Clause
/* The source around each line of the page, with the samples of every line shown. The texts come from the caller: nothing is opened here. */
#include "report/html_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/paths.h"

/* How often a line of a file was sampled, over all runs. */
struct heat {
	const char *location;
	uint32_t run;
	size_t index;
	uint64_t count;
};

struct heats {
	struct heat *items; /* by location */
	size_t n;
};

static int compare_heat(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;
	int by_name = strcmp(x->location, y->location);

	if (by_name)
		return by_name;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Counts are cumulative over a run: its last record counts, and runs add up. */
static int heats_init(struct heats *h, const struct profile *p)
{
	size_t n = 0;

	h->items = calloc(p->n_samples + 1, sizeof(*h->items));
	if (!h->items)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_samples; i++)
		h->items[i] = (struct heat){p->samples[i].location, p->samples[i].run, i, p->samples[i].count};
	qsort(h->items, p->n_samples, sizeof(*h->items), compare_heat);
	for (size_t i = 0; i < p->n_samples; i++) {
		const struct heat *next = &h->items[i + 1], now = h->items[i];

		if (i + 1 < p->n_samples && next->run == now.run && !strcmp(next->location, now.location))
			continue;
		if (n && !strcmp(h->items[n - 1].location, now.location))
			h->items[n - 1].count += now.count;
		else
			h->items[n++] = now;
	}
	h->n = n;
	return 0;
}

static int compare_location(const void *key, const void *item)
{
	return strcmp(key, ((const struct heat *)item)->location);
}

static uint64_t heats_find(const struct heats *h, const char *file, size_t line)
{
	const struct heat *found;
	char location[4096 + 24];

	if (snprintf(location, sizeof(location), "%s:%zu", file, line) >= (int)sizeof(location))
		return 0;
	found = bsearch(location, h->items, h->n, sizeof(*h->items), compare_location);
	return found ? found->count : 0;
}

static int compare_numbers(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The numbers of @lines that lie in @file, ascending. */
static size_t find_numbers(const struct name_set *lines, const char *file, size_t *ret)
{
	size_t n = 0, length = strlen(file), number;

	for (size_t i = 0; i < lines->n; i++) {
		const char *name = lines->items[i].name;

		if (path_of_line(name, &number) == length && !memcmp(name, file, length))
			ret[n++] = number;
	}
	qsort(ret, n, sizeof(*ret), compare_numbers);
	return n;
}

/* [number, samples, text] for each line of the text that is near one of @numbers. */
static void write_lines(
    struct json *j, const struct html_source *s, const size_t *numbers, size_t n, const struct heats *heats, size_t *left)
{
	const char *at = s->text, *end = s->text + s->size;
	size_t next = 0;

	for (size_t line = 1; at < end && next < n; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		size_t shown = length < HTML_MAX_COLUMNS ? length : HTML_MAX_COLUMNS;

		while (next < n && numbers[next] + HTML_CONTEXT < line)
			next++;
		if (next < n && line + HTML_CONTEXT >= numbers[next]) {
			if (shown > *left)
				return;
			*left -= shown;
			if (shown && at[shown - 1] == '\r')
				shown--;
			json_open(j, '[');
			json_count(j, line);
			json_count(j, heats_find(heats, s->file, line));
			json_string_n(j, at, shown);
			json_close(j, ']');
		}
		at += length + 1;
	}
}

int html_sources(struct json *j, const struct profile *p, const struct name_set *lines, const struct html_options *o)
{
	size_t *numbers = calloc(lines->n + 1, sizeof(*numbers)), left = HTML_MAX_SOURCE;
	struct heats heats = {0};
	int ret = numbers ? heats_init(&heats, p) : -ENOMEM;

	json_key(j, "sources");
	json_open(j, '[');
	for (size_t i = 0; !ret && i < o->n_sources; i++) {
		const struct html_source *s = &o->sources[i];

		json_open(j, '{');
		json_key(j, "file");
		json_string(j, s->file);
		json_key(j, "changed");
		json_bool(j, s->changed);
		json_key(j, "lines");
		json_open(j, '[');
		write_lines(j, s, numbers, find_numbers(lines, s->file, numbers), &heats, &left);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
	free(heats.items);
	free(numbers);
	return ret;
}
