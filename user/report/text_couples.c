// SPDX-License-Identifier: BSD-3-Clause
/* Two units at once in the report for people: what each gains, what both do, and in words whether
 * they depend on each other. See core/estimate/interaction.h. */
#include "report/text_private.h"

#include <math.h>
#include <string.h>

#include "core/estimate/interaction.h"
#include "core/places/linemap.h"
#include "report/suggestions.h"
#include "report/words.h"

#define MIN_LABEL 11            /* columns of "interaction" */
#define OFFERED_SPEEDUPS "0,50" /* one speedup: all experiments tell of it */

static void print_gain(FILE *out, int columns, const char *label, const struct gain *g)
{
	fprintf(out, "  %-*s  %+7.1f %%  %+6.1f .. %+6.1f\n", columns, label, 100 * g->value,
	    100 * g->lo, 100 * g->hi);
}

/* Whether they depend on each other, as far as is known. */
static void print_words(
    FILE *out, const struct interaction_point *p, const char *first, const char *second)
{
	const struct gain *w = &p->worth;

	if (p->dependence == DEPENDENCE_UNKNOWN)
		fprintf(out, "they do not depend on each other as far as measured\n");
	else if (!isfinite(w->value))
		fprintf(out, "after %s, %s gains %.1f %%, and alone nothing that is known\n", first,
		    second, 100 * (p->both.value - p->first.value));
	else if (w->value > 0)
		fprintf(out, "after %s, %s is worth %.2g times as much (%.2g to %.2g)\n", first,
		    second, w->value, w->lo, w->hi);
	else
		fprintf(out, "after %s, %s is worth nothing\n", first, second);
}

static void print_couple(FILE *out, const struct interaction *x, size_t prefix)
{
	const struct interaction_point *p = &x->points[x->n_points - 1];
	char rooms[2][UNIT_ROOM];
	const char *first = unit_label(x->first->line, prefix, rooms[0]),
		   *second = unit_label(x->second->line, prefix, rooms[1]);
	int columns = MIN_LABEL;

	columns = (int)strlen(first) > columns ? (int)strlen(first) : columns;
	columns = (int)strlen(second) > columns ? (int)strlen(second) : columns;
	fprintf(out, "\ntwo at once, %.0f %% faster, by %s; interaction: both less the two alone\n",
	    100 * p->line_speedup, x->both->progress);
	fprintf(out, "  %-*s  %9s  95 %% interval\n", columns, "", "gain");
	print_gain(out, columns, first, &p->first);
	print_gain(out, columns, second, &p->second);
	print_gain(out, columns, "both", &p->both);
	print_gain(out, columns, "interaction", &p->interaction);
	print_words(out, p, first, second);
}

/* A unit as --fixed-line takes it. */
static void print_option(FILE *out, const char *unit)
{
	char name[UNIT_ROOM];

	snprintf(name, sizeof(name), "%s", unit);
	if (source_line_is_inclusive(name))
		name[strlen(name) - strlen(INCLUSIVE_SUFFIX)] = 0;
	fputs(" --fixed-line ", out);
	shell_word(out, name);
}

static void print_offer(FILE *out, const struct estimate *e)
{
	const struct estimate_line *two[2];

	if (!interaction_offer(e, two))
		return;
	fprintf(out, "\nwhether the leading two depend on each other tells the same command line "
		     "with");
	print_option(out, two[0]->line);
	print_option(out, two[1]->line);
	fprintf(out, " --fixed-speedup " OFFERED_SPEEDUPS "\n");
}

int text_couples(FILE *out, const struct estimate *e, size_t prefix)
{
	struct interactions x;
	int err = interactions_init(&x, e);

	if (err)
		return err;
	for (size_t i = 0; i < x.n; i++)
		print_couple(out, &x.items[i], prefix);
	interactions_deinit(&x);
	print_offer(out, e);
	return 0;
}
