// SPDX-License-Identifier: BSD-3-Clause
/* A comparison for people: for each progress point what happened to it, how a prediction held, and
 * both rankings side by side. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/profile/runs.h"
#include "report/compare.h"
#include "report/words.h"

#include "core/text/printable.h"

#define WIDTH 100
#define MIN_LABEL 12
#define COLUMNS 66 /* of a ranking, beside the line's name */

static void print_percent(FILE *out, const struct compare_figure *f)
{
	if (isnan(f->value))
		fputs("unknown", out);
	else if (isnan(f->lo))
		fprintf(out, "%.1f %%, interval unknown", 100 * f->value);
	else
		fprintf(out, "%.1f %% (%.1f to %.1f)", 100 * f->value, 100 * f->lo, 100 * f->hi);
}

static void print_side(FILE *out, const char *what, const char *name, const struct compare_side *s)
{
	const struct estimate *e = s->estimate;
	const char *build = runs_only_build(s->profile);

	fprintf(out, "%-6s  %s: %" PRIu64 " experiments, %zu run%s", what, name, e->experiments,
	    e->runs, e->runs == 1 ? "" : "s");
	if (build)
		fprintf(out, ", build %.12s", build);
	else if (e->builds)
		fprintf(out, ", %zu builds", e->builds);
	putc('\n', out);
}

/* The period, or the mean latency, before and after; positive is shorter. */
static void print_rate(FILE *out, const struct compare_point *p)
{
	char before[32], after[32];
	struct compare_figure change = p->speedup;
	bool longer = change.value < 0;

	time_words(p->before.period, before, sizeof(before));
	time_words(p->after.period, after, sizeof(after));
	fprintf(
	    out, "%s %s before, %s after", p->is_latency ? "mean" : "a visit every", before, after);
	if (isnan(change.value)) {
		fputs(": too few visits in baselines to compare\n", out);
		return;
	}
	if (longer)
		change = (struct compare_figure){-change.value, -change.hi, -change.lo};
	fputs(": ", out);
	print_percent(out, &change);
	fprintf(out, " %s", longer ? "longer" : "shorter");
	if (isnan(change.lo))
		fputs(", too few experiments to say more\n", out);
	else
		fputs(
		    change.lo <= 0 && change.hi >= 0 ? ", no difference for certain\n" : "\n", out);
}

static const char *source_words(enum compare_source s)
{
	static const char *const words[] = {"unknown", "its curve",
	    "its curve, between two speedups measured", "its regression, beyond its curve"};

	return words[s];
}

/* Measured less predicted. */
static void print_agreement(FILE *out, const struct compare_prediction *p)
{
	struct compare_figure d = p->difference;

	switch (p->agreement) {
	case AGREE_YES:
		fputs("they agree: the difference, ", out);
		break;
	case AGREE_MORE:
		fputs("it gained more than predicted, by ", out);
		break;
	case AGREE_LESS:
		fputs("it gained less than predicted, by ", out);
		d = (struct compare_figure){-d.value, -d.hi, -d.lo};
		break;
	case AGREE_UNKNOWN:
		fputs("whether they agree cannot be told: the difference, ", out);
		break;
	}
	print_percent(out, &d);
	fputs(p->agreement == AGREE_YES ? ", may be 0\n" : "\n", out);
}

static void print_prediction(FILE *out, const struct compare_prediction *p)
{
	fprintf(out, "\n%s", p->line->line);
	if (isnan(p->at.value)) {
		fputs(": its samples do not tell how much faster it became; --by says it\n", out);
		return;
	}
	fprintf(out, " %.0f %% faster", 100 * p->at.value);
	if (!isnan(p->at.lo))
		fprintf(out, " by its samples per visit (%.0f to %.0f)", 100 * p->at.lo,
		    100 * p->at.hi);
	if (p->source == CURVE_UNKNOWN) {
		fputs(p->at.value > 0 ? ": its curve is not known\n"
				      : ": it is not faster, so nothing was predicted\n",
		    out);
		return;
	}
	fprintf(out, "\n  predicted  ");
	print_percent(out, &p->predicted);
	fprintf(out, " by %s", source_words(p->source));
	if (p->source != CURVE_SLOPE) {
		fputs("; by its regression ", out);
		print_percent(out, &p->by_slope);
	}
	fprintf(out, "\n  measured   ");
	if (!p->point) {
		fputs("nothing: the progress point is not in both profiles\n", out);
		return;
	}
	print_percent(out, &p->point->speedup);
	fputs("\n  ", out);
	print_agreement(out, p);
}

static void print_rank(FILE *out, size_t rank)
{
	if (rank)
		fprintf(out, "%6zu", rank);
	else
		fprintf(out, "%6s", "-");
}

static void print_slope(FILE *out, const struct estimate_line *l)
{
	if (l && isfinite(l->slope))
		fprintf(out, "  %+6.2f", l->slope);
	else
		fprintf(out, "  %6s", "-");
}

static const char *move_words(const struct compare_line *l)
{
	switch (l->move) {
	case MOVE_NONE:
		return "as before";
	case MOVE_ROSE:
		return "rose";
	case MOVE_FELL:
		return "fell";
	case MOVE_APPEARED:
		return "appeared";
	case MOVE_VANISHED:
		return "vanished";
	case MOVE_UNKNOWN:
		break;
	}
	return l->rank_after ? "not enough data before" : "not enough data now";
}

/* A couple's two names would leave no room for the second one. */
static const char *label_of(
    const struct compare_report *r, const struct compare_line *l, char room[UNIT_ROOM])
{
	const struct compare_side *side = l->before ? r->before : r->after;
	const struct estimate_line *line = l->before ? l->before : l->after;

	if (!line->is_couple)
		return line->line;
	return unit_label(line->line, common_directories(side->estimate), room);
}

static void print_label(FILE *out, const char *line, int width)
{
	int length = (int)strlen(line);

	if (length <= width)
		fprintf(out, "%-*s", width, line);
	else
		fprintf(out, "...%s", line + length - (width - 3));
}

static bool is_at(const struct compare_line *l, const char *progress, bool is_latency)
{
	const struct estimate_line *e = l->before ? l->before : l->after;

	return e->is_latency == is_latency && !strcmp(e->progress, progress);
}

/* What is compared; both sides may be profiles of different units. */
static const char *word_of(const struct compare_report *r)
{
	const char *before = estimate_unit(r->before->estimate),
		   *after = estimate_unit(r->after->estimate);

	return strcmp(before, after) ? "unit" : before;
}

static void print_ranking(
    FILE *out, const struct compare_report *r, const char *progress, bool is_latency, int width)
{
	const struct comparison *c = r->comparison;
	int longest = MIN_LABEL;
	bool first = true;

	for (size_t i = 0; i < c->n_lines; i++) {
		const struct compare_line *l = &c->lines[i];
		char room[UNIT_ROOM];
		int length = (int)strlen(label_of(r, l, room));

		longest = is_at(l, progress, is_latency) && length > longest ? length : longest;
	}
	width = longest < width - COLUMNS ? longest : width - COLUMNS;
	width = width < MIN_LABEL ? MIN_LABEL : width;
	for (size_t i = 0; i < c->n_lines; i++) {
		const struct compare_line *l = &c->lines[i];
		char room[UNIT_ROOM];

		if (!is_at(l, progress, is_latency))
			continue;
		if (first)
			fprintf(out, "\n# then   # now  %-*s    then     now  change\n", width,
			    word_of(r));
		first = false;
		print_rank(out, l->rank_before);
		fputs("  ", out);
		print_rank(out, l->rank_after);
		fputs("  ", out);
		print_label(out, label_of(r, l, room), width);
		print_slope(out, l->before);
		print_slope(out, l->after);
		if (isfinite(l->slope.lo))
			fprintf(out, "  %+.2f (%+.2f to %+.2f)", l->slope.value, l->slope.lo,
			    l->slope.hi);
		fprintf(out, "  %s\n", move_words(l));
	}
	if (first)
		fprintf(out, "\nno %s has enough data to be ranked\n", word_of(r));
}

int compare_text(FILE *to, const struct compare_report *r, const struct text_options *o)
{
	FILE *out = printable_open(to);
	const struct comparison *c = r->comparison;

	print_side(out, "before", r->before_name, r->before);
	print_side(out, "after", r->after_name, r->after);
	if (r->before->estimate->runs < 3 || r->after->estimate->runs < 3)
		fputs("intervals are of the scatter of experiments; how far whole runs scatter "
		      "takes three of each to know\n",
		    out);
	for (size_t i = 0; i < c->n_points; i++) {
		const struct compare_point *p = &c->points[i];

		fprintf(
		    out, "\n%s %s\n", p->is_latency ? "latency" : "progress point", p->progress);
		print_rate(out, p);
		for (size_t j = 0; j < c->n_predictions; j++) {
			if (c->predictions[j].point == p)
				print_prediction(out, &c->predictions[j]);
		}
		print_ranking(out, r, p->progress, p->is_latency, o->width > 0 ? o->width : WIDTH);
	}
	printable_close(out, to);
	return ferror(to) ? -1 : 0;
}
