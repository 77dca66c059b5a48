// SPDX-License-Identifier: BSD-3-Clause
/* The source around each line of the page, with the samples of every line shown. The caller gives
 * the texts; nothing is opened here. */
#include "report/html_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/line_counts.h"
#include "core/text/paths.h"

static uint64_t samples_at(const struct line_counts *counts, const char *file, size_t line)
{
	char location[4096 + 24];

	if (snprintf(location, sizeof(location), "%s:%zu", file, line) >= (int)sizeof(location))
		return 0;
	return line_counts_find(counts, location);
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
static void write_lines(struct json *j, const struct html_source *s, const size_t *numbers,
    size_t n, const struct line_counts *counts, size_t *left)
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
			json_count(j, samples_at(counts, s->file, line));
			json_string_n(j, at, shown);
			json_close(j, ']');
		}
		at += length + 1;
	}
}

int html_sources(struct json *j, const struct profile *p, const struct name_set *lines,
    const struct html_options *o)
{
	size_t *numbers = calloc(lines->n + 1, sizeof(*numbers)), left = HTML_MAX_SOURCE;
	struct line_counts counts = {0};
	int ret = numbers ? line_counts_init(&counts, p) : -ENOMEM;

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
		write_lines(j, s, numbers, find_numbers(lines, s->file, numbers), &counts, &left);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
	line_counts_deinit(&counts);
	free(numbers);
	return ret;
}
