// SPDX-License-Identifier: BSD-3-Clause
/* The report as pictures: for each progress point the overview, and a table of its units. */
#include "report/text_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/printable.h"
#include "report/overview.h"
#include "report/words.h"

#define DEFAULT_WIDTH 100
#define PICTURE_ROWS 24
#define MIN_LABEL 12   /* columns of a unit's name, however narrow the screen */
#define MAX_UNKNOWN 10 /* rows of units without a verdict */
#define FIGURES 63     /* columns of a row beside the name */

struct table {
	FILE *out;
	const struct estimate *e;
	const struct text_options *o;
	size_t prefix; /* directories that all units share: not printed */
	int label;     /* columns */
};

static const char *label_of(
    const struct table *t, const struct estimate_line *l, char room[UNIT_ROOM])
{
	return unit_label(l->line, t->prefix, room);
}

static void print_label(const struct table *t, const struct estimate_line *l)
{
	char room[UNIT_ROOM];
	const char *label = label_of(t, l, room);
	int length = (int)strlen(label);

	if (length <= t->label)
		fprintf(t->out, "%-*s", t->label, label);
	else
		fprintf(t->out, "...%s", label + length - (t->label - 3));
}

static void print_row(const struct table *t, const struct overview_dot *d)
{
	const struct estimate_line *l = d->line;
	char share[32] = "unknown";

	if (d->is_ranked && d->rank)
		fprintf(t->out, "%3zu  ", d->rank);
	else if (d->is_ranked)
		fprintf(t->out, "     ");
	else
		fprintf(t->out, "  %s  ", overview_hollow(t->o->unicode));
	print_label(t, l);
	if (t->e->samples)
		snprintf(share, sizeof(share), "%.1f %%", 100 * d->share);
	fprintf(t->out, "  %7s  %+6.1f %%  %+6.1f .. %+6.1f %%  %s", share, 100 * l->slope,
	    100 * l->slope_lo, 100 * l->slope_hi, verdict_words(l->verdict));
	if (d->behind && d->is_ranked)
		fprintf(t->out, ", behind %zu", d->behind);
	putc('\n', t->out);
}

/* Ranked ones, or those whose interval is too wide for a verdict. */
static void print_rows(const struct table *t, const struct overview *o, bool is_ranked, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct overview_dot *d = &o->dots[i];

		if (!d->is_placed || d->is_ranked != is_ranked)
			continue;
		if (!most || n < most)
			print_row(t, d);
		n++;
	}
	if (most && n > most)
		fprintf(t->out, "     and %zu more%s\n", n - most,
		    is_ranked ? "" : " without a verdict");
}

static void print_table(const struct table *t, const struct overview *o)
{
	size_t unplaced = o->n - o->n_placed;

	if (o->n_placed)
		fprintf(t->out, "\n  #  %-*s  %7s  %8s  %-18s  verdict\n", t->label,
		    estimate_unit(t->e), "share", "gain", "95 % interval");
	print_rows(t, o, true, t->o->max_lines);
	print_rows(t, o, false, MAX_UNKNOWN);
	if (unplaced)
		fprintf(t->out, "     not yet: %zu %s%s without a gain\n", unplaced,
		    estimate_unit(t->e), unplaced == 1 ? "" : "s");
}

/* Returns 0 or -ENOMEM. */
static int print_picture(const struct table *t, struct overview *o, int width)
{
	struct overview_box box = {.width = width, .height = PICTURE_ROWS, .selected = SIZE_MAX};
	struct terminal_screen s = {0};
	int ret = terminal_screen_init(&s, width, PICTURE_ROWS, t->o->unicode);

	if (!ret)
		ret = overview_draw(o, &s, &box);
	if (!ret)
		terminal_print(t->out, &s);
	terminal_screen_deinit(&s);
	return ret;
}

/* Returns 0 or -ENOMEM. */
static int print_point(const struct table *t, const struct text_point *point, int width)
{
	const struct estimate_line *first = point->lines[0];
	struct overview o;
	int ret = overview_init(&o, t->e->samples, point->n);
	size_t rank = 0;

	for (size_t i = 0; !ret && i < point->n; i++) {
		bool is_below = estimate_is_below(point->lines[i]);

		rank += !is_below;
		overview_add(&o, point->lines[i], is_below ? 0 : rank);
	}
	fprintf(
	    t->out, "\n%s %s\n", first->is_latency ? "latency" : "progress point", first->progress);
	if (!ret && !o.samples)
		fprintf(t->out, "the profile holds no samples, and so no shares\n");
	else if (!ret && width < OVERVIEW_WIDTH)
		fprintf(t->out, "a picture needs %d columns\n", OVERVIEW_WIDTH);
	else if (!ret)
		ret = print_picture(t, &o, width);
	if (!ret)
		print_table(t, &o);
	overview_deinit(&o);
	return ret;
}

static void print_legend(FILE *out, const struct estimate *e)
{
	fprintf(out,
	    "\nshare: of the samples; gain: the slope in percent, which is the program "
	    "speedup at a %s speedup of 100 %%, by regression\n"
	    "a program that does one thing at a time has gain = share; far above it are "
	    "units that a usual profiler overlooks, far below it hot ones that do not "
	    "matter\n",
	    estimate_unit(e));
	if (e->n_latencies)
		fprintf(out, "latency: its gain is the share of the mean saved\n");
}

int report_overview(FILE *to, const struct estimate *e, const struct text_options *o)
{
	int width = o->width > 0 ? o->width : DEFAULT_WIDTH, longest = MIN_LABEL, ret;
	struct table t = {.e = e, .o = o, .prefix = common_directories(e)};
	struct text_points points;

	ret = text_points_init(&points, e);
	t.out = printable_open(to);
	for (size_t i = 0; i < e->n_lines; i++) {
		char room[UNIT_ROOM];
		int length = (int)strlen(label_of(&t, &e->lines[i], room));

		longest = length > longest ? length : longest;
	}
	t.label = width - FIGURES;
	t.label = t.label > longest ? longest : t.label < MIN_LABEL ? MIN_LABEL : t.label;
	text_summary(t.out, e);
	for (size_t i = 0; !ret && i < points.n; i++)
		ret = print_point(&t, &points.items[i], width);
	if (!ret && points.n)
		print_legend(t.out, e);
	printable_close(t.out, to);
	text_points_deinit(&points);
	return ret ? ret : ferror(to) ? -1 : 0;
}
