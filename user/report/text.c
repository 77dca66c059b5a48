// SPDX-License-Identifier: BSD-3-Clause
/* The report for people: a summary, a ranked table per progress point, and sentences. words.c makes
 * the sentences, text_summary.c the summary. */
#include "report/text_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

#include "core/text/printable.h"

#define DEFAULT_WIDTH 100
#define MIN_LABEL 12     /* columns of the line's name, however narrow the screen */
#define BELOW 2          /* columns by which a line stands below its function */
#define SUM 17           /* columns of "99 lines together" */
#define CURVE_WIDE 20    /* columns of a curve: one for each of Coz's speedups */
#define CURVE_NARROW 8   /* on screens of fewer columns than DEFAULT_WIDTH */
#define MIN_SCALE 0.05   /* of the highest block, so that noise does not look like mountains */
#define MAX_SENTENCES 3  /* per kind and progress point */
#define MAX_SHORTAGES 10 /* named lines without enough data, per progress point */

struct layout {
	FILE *out;
	const struct estimate *e;
	const struct text_options *o;
	const char *unit; /* what the lines are */
	size_t prefix;    /* directories that all lines share: not printed */
	int label, curve; /* columns */
	double scale;     /* program speedup of the highest block, per progress point */
};

static const char *label_of(
    const struct layout *l, const struct estimate_line *line, char room[UNIT_ROOM])
{
	return unit_label(line->line, l->prefix, room);
}

static bool is_ranked(const struct estimate_line *line)
{
	return line->verdict != VERDICT_NOT_ENOUGH_DATA;
}

static bool is_below(const struct estimate_line *line)
{
	return is_ranked(line) && estimate_is_below(line);
}

/* The label, cut from the left to its columns: the file's own name and the line number are at the
 * right. */
static void print_label(const struct layout *l, const struct estimate_line *line, int columns)
{
	char room[UNIT_ROOM];
	const char *label = label_of(l, line, room);
	int length = (int)strlen(label);

	if (length <= columns)
		fprintf(l->out, "%-*s", columns, label);
	else
		fprintf(l->out, "...%s", label + length - (columns - 3));
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

/* For a line below its function there is no rank. */
static void print_row(const struct layout *l, size_t rank, const struct estimate_line *line)
{
	if (is_below(line))
		fprintf(l->out, "       ");
	else
		fprintf(l->out, "%3zu  ", rank);
	print_label(l, line, l->label - (is_below(line) ? BELOW : 0));
	fprintf(l->out, "  %+6.2f  %+6.2f .. %+6.2f  %6.1f %%  ", line->slope, line->slope_lo,
	    line->slope_hi, line->max_speedup * 100);
	print_curve(l, line);
	fprintf(l->out, "  %s\n", verdict_words(line->verdict));
}

/* What the lines below a function that follow it gain together, beside what the function gains. */
static void print_sum(const struct layout *l, const struct estimate_line *const *lines, size_t n)
{
	const struct estimate_line *function = lines[0]->holder;
	uint64_t samples = 0;
	double slope = 0;
	char words[64];

	for (size_t i = 0; i < n; i++) {
		slope += lines[i]->slope;
		samples += lines[i]->samples;
	}
	snprintf(words, sizeof(words), "%zu lines together", n);
	if (n > 1 && function->samples)
		fprintf(l->out, "       %-*s  %+6.2f  with %.0f %% of its samples\n",
		    l->label - BELOW, words, slope,
		    100 * (double)samples / (double)function->samples);
}

/* The lines below the function at @at, and their sum. */
static void print_below(const struct layout *l, const struct text_point *point, size_t at)
{
	size_t n = 0;

	while (at + 1 + n < point->n && is_ranked(point->lines[at + 1 + n]) &&
	       is_below(point->lines[at + 1 + n]))
		print_row(l, 0, point->lines[at + 1 + n++]);
	if (n)
		print_sum(l, point->lines + at + 1, n);
}

/* The table of one progress point. Returns how many rows there are in all, those below others not
 * counted. */
static size_t print_table(const struct layout *l, const struct text_point *point)
{
	size_t rank = 0;

	for (size_t i = 0; i < point->n; i++) {
		const struct estimate_line *line = point->lines[i];

		if (!is_ranked(line) || is_below(line))
			continue;
		if (!rank++)
			fprintf(l->out, "  #  %-*s  %6s  %-16s  %8s  %-*s  verdict\n", l->label,
			    l->unit, "slope", "95 % interval", "max gain", l->curve, "curve");
		if (l->o->max_lines && rank > l->o->max_lines)
			continue;
		print_row(l, rank, line);
		print_below(l, point, i);
	}
	if (l->o->max_lines && rank > l->o->max_lines)
		fprintf(l->out, "     and %zu more\n", rank - l->o->max_lines);
	return rank;
}

/* What the leading lines promise, best first; then what the worst lines would do. */
static void print_sentences(const struct layout *l, const struct text_point *point)
{
	char words[2048], room[UNIT_ROOM];
	size_t shown[2] = {0};

	for (int contention = 0; contention < 2; contention++) {
		for (size_t i = 0; i < point->n && shown[contention] < MAX_SENTENCES; i++) {
			/* Losses stand at the end of the ranking, the worst one last. */
			const struct estimate_line *line =
			    point->lines[contention ? point->n - 1 - i : i];

			if (line->verdict != (contention ? VERDICT_CONTENTION : VERDICT_OPTIMIZE))
				continue;
			effect_words(line, label_of(l, line, room), words, sizeof(words));
			fprintf(l->out, "%s%s\n", !shown[0] && !shown[1] ? "\n" : "", words);
			shown[contention]++;
		}
	}
}

/* Where the leading waits are. */
static void print_calls(const struct layout *l, const struct text_point *point)
{
	char words[1024], room[UNIT_ROOM];
	size_t shown = 0;

	for (size_t i = 0; i < point->n && shown < MAX_SENTENCES; i++) {
		const struct estimate_line *line = point->lines[i];

		calls_words(line, label_of(l, line, room), words, sizeof(words));
		if (!is_ranked(line) || !words[0])
			continue;
		fprintf(l->out, "%s%s\n", shown++ ? "" : "\n", words);
	}
}

static void print_shortages(const struct layout *l, const struct text_point *point)
{
	char words[1024], room[UNIT_ROOM];
	size_t n = 0;

	for (size_t i = 0; i < point->n; i++) {
		const struct estimate_line *line = point->lines[i];

		if (is_ranked(line) || estimate_is_done_with(line))
			continue;
		if (!n++)
			fprintf(l->out, "\nnot enough data yet:\n");
		if (n > MAX_SHORTAGES)
			continue;
		shortage_words(l->e, line, words, sizeof(words));
		fprintf(l->out, "  %s: %s\n", label_of(l, line, room), words);
	}
	if (n > MAX_SHORTAGES)
		fprintf(l->out, "  and %zu more %ss\n", n - MAX_SHORTAGES, l->unit);
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

static void print_decided(const struct layout *l, const struct text_point *point)
{
	uint64_t decided = 0;
	double share;

	for (size_t i = 0; i < point->n; i++)
		decided += estimate_decided_samples(point->lines[i]);
	share = l->e->samples ? fmin((double)decided / (double)l->e->samples, 1) : 0;

	/* Files of others may have no samples. */
	if (share > 0)
		fprintf(l->out, "%.0f %% of the samples are in code with a verdict\n", 100 * share);
}

static void print_point(struct layout *l, const struct text_point *point)
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
	if (print_table(l, point)) {
		print_decided(l, point);
		print_sentences(l, point);
		print_calls(l, point);
	} else
		fprintf(l->out, "no %s has enough data to be ranked\n", l->unit);
	print_shortages(l, point);
}

/* Two rankings of which one misleads. */
static int print_contradiction(const struct layout *l)
{
	struct contradiction c;
	char words[1024], room[UNIT_ROOM];
	int err = estimate_contradiction(l->e, &c);

	if (err || !c.worth)
		return err;
	contradiction_words(&c, label_of(l, c.worth, room), words, sizeof(words));
	fprintf(l->out, "\nwarning: %s\n", words);
	return 0;
}

static void print_legend(const struct layout *l)
{
	fprintf(l->out,
	    "\nslope: program speedup per %s speedup, by regression through 0; "
	    "program speedup: share of the time per visit saved\n",
	    l->unit);
	if (l->e->n_latencies)
		fprintf(l->out, "latency: its speedup is the share of the mean saved; times are "
				"those of the program without the delays\n");
}

int report_text(FILE *to, const struct estimate *e, const struct text_options *o)
{
	struct layout l = {
	    .e = e, .o = o, .unit = estimate_unit(e), .prefix = common_directories(e)};
	struct text_points points;
	FILE *out;
	int width = o->width > 0 ? o->width : DEFAULT_WIDTH, longest = MIN_LABEL;
	bool ranked = false;
	int err;

	if (text_points_init(&points, e)) {
		text_points_deinit(&points);
		return -ENOMEM;
	}
	l.out = out = printable_open(to);
	l.curve = width < DEFAULT_WIDTH ? CURVE_NARROW : CURVE_WIDE;
	for (size_t i = 0; i < e->n_lines; i++) {
		char room[UNIT_ROOM];
		int length = (int)strlen(label_of(&l, &e->lines[i], room));

		if (is_below(&e->lines[i]))
			length = BELOW + (length > SUM ? length : SUM);
		ranked |= is_ranked(&e->lines[i]);
		if (length > longest)
			longest = length;
	}
	/* Beside the label: rank, slope, interval, gain, curve, the longest verdict, and the blanks
	 * between them. */
	l.label = width - (5 + 8 + 18 + 10 + 2 + l.curve + 2 + 10);
	l.label = l.label > longest ? longest : l.label < MIN_LABEL ? MIN_LABEL : l.label;
	text_summary(out, e);
	machines_words(out, &e->machines, l.prefix);
	for (size_t i = 0; i < points.n; i++)
		print_point(&l, &points.items[i]);
	err = print_contradiction(&l);
	text_waiting(out, e, l.prefix);
	if (!err)
		err = text_couples(out, e, l.prefix);
	if (ranked)
		print_legend(&l);
	printable_close(out, to);
	text_points_deinit(&points);
	return err ? err : ferror(to) ? -1 : 0;
}
