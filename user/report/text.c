// SPDX-License-Identifier: BSD-3-Clause
/* The report for people: a summary, a ranked table per progress point, and sentences. words.c makes
 * the sentences. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

#include "core/text/names.h"
#include "core/text/printable.h"

#define DEFAULT_WIDTH 100
#define MIN_LABEL 12     /* columns of the line's name, however narrow the screen */
#define CURVE_WIDE 20    /* columns of a curve: one for each of Coz's speedups */
#define CURVE_NARROW 8   /* on screens of fewer columns than DEFAULT_WIDTH */
#define MIN_SCALE 0.05   /* of the highest block, so that noise does not look like mountains */
#define MAX_SENTENCES 3  /* per kind and progress point */
#define MAX_SHORTAGES 10 /* named lines without enough data, per progress point */

/* The lines of a progress point, in rank order, and its latency: NULL, where it has none. */
struct point {
	const struct estimate_line **lines;
	size_t n;
	const struct estimate_latency *latency;
};

/* The points in the order of their best lines. Profiles may have as many points as lines, so no
 * point looks at the lines of another. */
struct points {
	struct point *items;
	size_t n;
	const struct estimate_line **lines;
};

struct layout {
	FILE *out;
	const struct estimate *e;
	const struct text_options *o;
	size_t prefix;    /* directories that all lines share: not printed */
	int label, curve; /* columns */
	double scale;     /* program speedup of the highest block, per progress point */
};

static const char *label_of(const struct layout *l, const struct estimate_line *line)
{
	return line->line + l->prefix;
}

/* The label, cut from the left to its columns: the file's own name and the line number are at the
 * right. */
static void print_label(const struct layout *l, const struct estimate_line *line)
{
	const char *label = label_of(l, line);
	int length = (int)strlen(label);

	if (length <= l->label)
		fprintf(l->out, "%-*s", l->label, label);
	else
		fprintf(l->out, "...%s", label + length - (l->label - 3));
}

/* One block per point, or per column when there are more points than columns. Losses have a mark of
 * their own. */
static void print_curve(const struct layout *l, const struct estimate_line *line)
{
	size_t n = line->n_points, columns = n < (size_t)l->curve ? n : (size_t)l->curve;

	for (size_t i = 0; i < columns; i++) {
		const struct estimate_point *p = &line->points[(i + 1) * n / columns - 1];
		fputs(curve_mark(p->program_speedup / l->scale, l->o->unicode), l->out);
	}
	fprintf(l->out, "%*s", l->curve - (int)columns, "");
}

static void print_row(const struct layout *l, size_t rank, const struct estimate_line *line)
{
	fprintf(l->out, "%3zu  ", rank);
	print_label(l, line);
	fprintf(l->out, "  %+6.2f  %+6.2f .. %+6.2f  %6.1f %%  ", line->slope, line->slope_lo,
	    line->slope_hi, line->max_speedup * 100);
	print_curve(l, line);
	fprintf(l->out, "  %s\n", verdict_words(line->verdict));
}

static bool is_ranked(const struct estimate_line *line)
{
	return line->verdict != VERDICT_NOT_ENOUGH_DATA;
}

/* The index of a line's point in @p. @index: by name and kind, 1 + the index, or 0. */
static size_t point_of(
    const struct estimate_line *line, const struct names *names, uint32_t *index, struct points *p)
{
	uint32_t *at = &index[2 * names_find(names, line->progress) + line->is_latency];

	if (!*at)
		*at = (uint32_t)++p->n;
	return *at - 1;
}

static void sort_lines(
    const struct estimate *e, const struct names *names, uint32_t *index, struct points *ret)
{
	size_t begin = 0;

	for (size_t i = 0; i < e->n_lines; i++)
		ret->items[point_of(&e->lines[i], names, index, ret)].n++;
	for (size_t i = 0; i < ret->n; i++) {
		ret->items[i].lines = ret->lines + begin;
		begin += ret->items[i].n;
		ret->items[i].n = 0;
	}
	for (size_t i = 0; i < e->n_lines; i++) {
		struct point *point = &ret->items[point_of(&e->lines[i], names, index, ret)];

		/* Set above. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		point->lines[point->n++] = &e->lines[i];
	}
	for (size_t i = 0; i < e->n_latencies; i++) {
		uint32_t name = names_find(names, e->latencies[i].name);

		if (name != UINT32_MAX && index[2 * name + 1])
			ret->items[index[2 * name + 1] - 1].latency = &e->latencies[i];
	}
}

static void points_deinit(struct points *p)
{
	free(p->items);
	free(p->lines);
}

/* Returns 0 or -ENOMEM. */
static int points_init(struct points *p, const struct estimate *e)
{
	struct names names = {0};
	uint32_t *index = NULL, id;
	int err = 0;

	p->n = 0;
	p->items = calloc(e->n_lines + 1, sizeof(*p->items));
	p->lines = calloc(e->n_lines + 1, sizeof(*p->lines));
	for (size_t i = 0; !err && i < e->n_lines; i++)
		err = names_id(&names, e->lines[i].progress, &id);
	index = calloc(2 * names.n + 1, sizeof(*index));
	if (!p->items || !p->lines || !index)
		err = -ENOMEM;
	if (!err)
		sort_lines(e, &names, index, p);
	free(index);
	names_deinit(&names);
	return err;
}

/* The table of one progress point. Returns how many rows there are in all. */
static size_t print_table(const struct layout *l, const struct point *point)
{
	size_t rank = 0;

	for (size_t i = 0; i < point->n; i++) {
		const struct estimate_line *line = point->lines[i];

		if (!is_ranked(line))
			continue;
		if (!rank++)
			fprintf(l->out, "  #  %-*s  %6s  %-16s  %8s  %-*s  verdict\n", l->label,
			    "line", "slope", "95 % interval", "max gain", l->curve, "curve");
		if (!l->o->max_lines || rank <= l->o->max_lines)
			print_row(l, rank, line);
	}
	if (l->o->max_lines && rank > l->o->max_lines)
		fprintf(l->out, "     and %zu more\n", rank - l->o->max_lines);
	return rank;
}

/* What the leading lines promise, best first; then what the worst lines would do. */
static void print_sentences(const struct layout *l, const struct point *point)
{
	char words[1024];
	size_t shown[2] = {0};

	for (int contention = 0; contention < 2; contention++) {
		for (size_t i = 0; i < point->n && shown[contention] < MAX_SENTENCES; i++) {
			/* Losses stand at the end of the ranking, the worst one last. */
			const struct estimate_line *line =
			    point->lines[contention ? point->n - 1 - i : i];

			if (line->verdict != (contention ? VERDICT_CONTENTION : VERDICT_OPTIMIZE))
				continue;
			effect_words(line, label_of(l, line), words, sizeof(words));
			fprintf(l->out, "%s%s\n", !shown[0] && !shown[1] ? "\n" : "", words);
			shown[contention]++;
		}
	}
}

static void print_shortages(const struct layout *l, const struct point *point)
{
	char words[1024];
	size_t n = 0;

	for (size_t i = 0; i < point->n; i++) {
		const struct estimate_line *line = point->lines[i];

		if (is_ranked(line))
			continue;
		if (!n++)
			fprintf(l->out, "\nnot enough data yet:\n");
		if (n > MAX_SHORTAGES)
			continue;
		shortage_words(l->e, line, words, sizeof(words));
		fprintf(l->out, "  %s: %s\n", label_of(l, line), words);
	}
	if (n > MAX_SHORTAGES)
		fprintf(l->out, "  and %zu more lines\n", n - MAX_SHORTAGES);
}

/* The present latency, and what makes it doubtful. */
static void print_latency(const struct layout *l, const struct estimate_latency *latency)
{
	char words[1024];

	latency_words(&latency->now, words, sizeof(words));
	fprintf(l->out, "now %s; %.3g in flight\n", words, latency->in_flight);
	for (unsigned n = 0;; n++) {
		latency_warning(latency, n, words, sizeof(words));
		if (!words[0])
			break;
		fprintf(l->out, "warning: %s\n", words);
	}
}

static void print_point(struct layout *l, const struct point *point)
{
	const struct estimate_line *first = point->lines[0];

	l->scale = MIN_SCALE;
	for (size_t i = 0; i < point->n; i++) {
		const struct estimate_line *line = point->lines[i];

		for (size_t j = 0; is_ranked(line) && j < line->n_points; j++)
			l->scale = fmax(l->scale, line->points[j].program_speedup);
	}
	fprintf(
	    l->out, "\n%s %s\n", first->is_latency ? "latency" : "progress point", first->progress);
	if (point->latency)
		print_latency(l, point->latency);
	if (print_table(l, point))
		print_sentences(l, point);
	else
		fprintf(l->out, "no line has enough data to be ranked\n");
	print_shortages(l, point);
}

static void print_loss(const struct layout *l, const struct counter *c)
{
	uint64_t n = counter_value(c, &l->e->totals);

	if (c->shown == COUNTER_LOSS && (n || c->always))
		fprintf(l->out, ", %" PRIu64 " %s", n, c->many);
}

static void print_summary(const struct layout *l)
{
	const struct estimate *e = l->e;
	char words[512];

	fprintf(l->out, "%" PRIu64 " experiments, %" PRIu64 " samples", e->experiments, e->samples);
	if (e->runtime_s > 0)
		fprintf(l->out, ", %.1f s", e->runtime_s);
	if (e->runs > 1)
		fprintf(l->out, ", %zu runs", e->runs);
	for (size_t i = 0; i < n_run_counters; i++)
		print_loss(l, &run_counters[i]);
	if (e->n_dropped)
		fprintf(l->out, ", %zu line%s left out for lack of data", e->n_dropped,
		    e->n_dropped == 1 ? "" : "s");
	putc('\n', l->out);
	if (e->builds > 1)
		fprintf(l->out,
		    "warning: these are runs of %zu builds: a line of one need not be the same in "
		    "another\n",
		    e->builds);
	for (size_t i = 0; i < n_run_counters; i++) {
		counter_warning(&run_counters[i], &e->totals, words, sizeof(words));
		if (words[0])
			fprintf(l->out, "warning: %s\n", words);
	}
	if (e->n_lines && e->lines[0].wider >= NOISE_MANY)
		fprintf(l->out,
		    "warning: periods at one line speedup differ by %.0f %%: intervals are %.1f "
		    "times "
		    "as wide as those of a steady program on a quiet machine\n",
		    100 * e->lines[0].scatter, e->lines[0].wider);
}

static void print_legend(const struct layout *l)
{
	fprintf(l->out, "\nslope: program speedup per line speedup, by regression through 0; "
			"program speedup: share of the time per visit saved\n");
	if (l->e->n_latencies)
		fprintf(l->out, "latency: its speedup is the share of the mean saved; times are "
				"those of the program without the delays\n");
}

int report_text(FILE *to, const struct estimate *e, const struct text_options *o)
{
	struct layout l = {.e = e, .o = o, .prefix = common_directories(e)};
	struct points points;
	FILE *out;
	int width = o->width > 0 ? o->width : DEFAULT_WIDTH, longest = MIN_LABEL;
	bool ranked = false;

	if (points_init(&points, e)) {
		points_deinit(&points);
		return -ENOMEM;
	}
	l.out = out = printable_open(to);
	l.curve = width < DEFAULT_WIDTH ? CURVE_NARROW : CURVE_WIDE;
	for (size_t i = 0; i < e->n_lines; i++) {
		int length = (int)strlen(label_of(&l, &e->lines[i]));

		ranked |= is_ranked(&e->lines[i]);
		if (length > longest)
			longest = length;
	}
	/* Beside the label: rank, slope, interval, gain, curve, the longest verdict, and the blanks
	 * between them. */
	l.label = width - (5 + 8 + 18 + 10 + 2 + l.curve + 2 + 10);
	l.label = l.label > longest ? longest : l.label < MIN_LABEL ? MIN_LABEL : l.label;
	print_summary(&l);
	for (size_t i = 0; i < points.n; i++)
		print_point(&l, &points.items[i]);
	if (ranked)
		print_legend(&l);
	printable_close(out, to);
	points_deinit(&points);
	return ferror(to) ? -1 : 0;
}
