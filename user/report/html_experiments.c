// SPDX-License-Identifier: BSD-3-Clause
/* The profile's experiments as the page shows them behind its folds: by line, in the order of the
 * profile, as many as the page has room for. */
#include "report/html_private.h"

#include <errno.h>
#include <stdlib.h>

/* The experiments of line i are order[start[i]] up to order[start[i + 1]]. */
struct by_line {
	size_t *start, *order;
};

static int by_line_init(struct by_line *b, const struct profile *p, const struct name_set *lines)
{
	uint32_t *line = calloc(p->n_experiments + 1, sizeof(*line));
	int ret = -ENOMEM;

	b->start = calloc(lines->n + 2, sizeof(*b->start));
	b->order = calloc(p->n_experiments + 1, sizeof(*b->order));
	if (!line || !b->start || !b->order)
		goto out;
	/* Counted two places further on, so that filling leaves each start where it belongs. */
	for (size_t i = 0; i < p->n_experiments; i++) {
		line[i] = name_set_find(lines, p->experiments[i].selected);
		if (line[i] != NAME_NONE)
			b->start[line[i] + 2]++;
	}
	for (size_t i = 2; i <= lines->n + 1; i++)
		b->start[i] += b->start[i - 1];
	for (size_t i = 0; i < p->n_experiments; i++) {
		if (line[i] != NAME_NONE)
			b->order[b->start[line[i] + 1]++] = i;
	}
	ret = 0;
out:
	free(line);
	return ret;
}

/* [name, visits], and for a latency [name, visits, begins, ends, mean in flight]. */
static size_t write_points(
    struct json *j, const struct experiment_record *x, const struct name_set *points)
{
	size_t written = 0;

	json_open(j, '[');
	for (size_t i = 0; i < x->n_points; i++) {
		const struct point_record *p = &x->points[i];
		uint32_t name = name_set_find(points, p->name);

		if (name == NAME_NONE)
			continue;
		json_open(j, '[');
		json_count(j, name);
		json_count(j, p->delta);
		if (p->is_latency) {
			json_count(j, p->arrivals);
			json_count(j, p->departures);
			json_number(j, p->has_integral && x->duration_ns
					   ? (double)p->integral_ns / (double)x->duration_ns
					   : (double)p->difference);
		}
		json_close(j, ']');
		written++;
	}
	json_close(j, ']');
	return written;
}

/* [speedup, duration in ms, samples of the line, run, start in s, points]. Returns its part of
 * HTML_MAX_RECORDS. */
static size_t write_experiment(
    struct json *j, const struct experiment_record *x, const struct name_set *points)
{
	size_t ret;

	json_open(j, '[');
	json_number(j, x->speedup);
	json_number(j, (double)x->duration_ns / 1e6);
	json_count(j, x->selected_samples);
	json_count(j, x->run);
	json_number(j, (double)x->start_ns / 1e9);
	ret = 1 + write_points(j, x, points);
	json_close(j, ']');
	return ret;
}

/* Evenly spaced ones where there is no room for all: the first ones would show only the first
 * minutes. */
static void write_line(struct json *j, const struct profile *p, const size_t *order, size_t n,
    size_t room, size_t *left, const struct name_set *points)
{
	size_t shown = n < room ? n : room;

	json_open(j, '{');
	json_key(j, "total");
	json_count(j, n);
	json_key(j, "rows");
	json_open(j, '[');
	for (size_t i = 0; i < shown && *left; i++) {
		size_t used = write_experiment(j, &p->experiments[order[i * n / shown]], points);

		*left -= used < *left ? used : *left;
	}
	json_close(j, ']');
	json_close(j, '}');
}

int html_experiments(struct json *j, const struct profile *p, const struct name_set *lines,
    const struct name_set *points)
{
	struct by_line b = {0};
	size_t left = HTML_MAX_RECORDS, room = HTML_MAX_RECORDS / (1 + points->n);
	int ret = by_line_init(&b, p, lines);

	/* Leading lines may have all of theirs, but one line gets at most a quarter of the room. */
	room = room / 4 ? room / 4 : 1;
	json_key(j, "experiments");
	json_open(j, '[');
	for (size_t i = 0; !ret && i < lines->n; i++)
		write_line(
		    j, p, b.order + b.start[i], b.start[i + 1] - b.start[i], room, &left, points);
	json_close(j, ']');
	free(b.start);
	free(b.order);
	return ret;
}
