// SPDX-License-Identifier: BSD-3-Clause
/* An analysis of blocks for people: a row for each block, and below it where it is, its values, its
 * slow runs and what differed in them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/paths.h"
#include "core/text/printable.h"
#include "report/blocks.h"
#include "report/words.h"

#define WIDTH 100
#define COLUMNS 81 /* before the place */
#define MIN_PLACE 16
#define INDENT 10
#define MOST_VALUES 5
#define MOST_RUNS 8
#define MOST_INPUTS 3
#define MOST_FAILED 5

struct printer {
	FILE *out;
	const struct block_analysis *a;
	int width;
};

/* A sentence from column @indent on; what does not fit goes on in the next line, at blanks. */
static void print_wrapped(const struct printer *p, int indent, const char *text)
{
	int at = indent;

	fprintf(p->out, "%*s", indent, "");
	for (const char *word = text; *word;) {
		int n = (int)strcspn(word, " ");

		if (at > indent && at + 1 + n > p->width) {
			fprintf(p->out, "\n%*s", indent + 2, "");
			at = indent + 2;
		} else if (word > text) {
			putc(' ', p->out);
			at++;
		}
		fprintf(p->out, "%.*s", n, word);
		at += n;
		word += n;
		word += *word == ' ';
	}
	putc('\n', p->out);
}

/* Below a block. */
static void print_below(const struct printer *p, const char *text)
{
	print_wrapped(p, INDENT, text);
}

static void print_place(const struct printer *p, const char *place)
{
	int room = p->width - COLUMNS, n = (int)strlen(place);

	room = room < MIN_PLACE ? MIN_PLACE : room;
	if (n <= room)
		fprintf(p->out, "  %s\n", place);
	else
		fprintf(p->out, "  ...%s\n", place + n - (room - 3));
}

static void print_row(const struct printer *p, const struct block_result *r)
{
	const double times[] = {r->min_ns, r->typical_ns, r->avg_ns, r->max_ns};
	char words[256], runs[32];

	block_share_words(r->significance_ns / p->a->cpu_ns, words, sizeof(words));
	fprintf(p->out, "%8s", r->timed ? words : "-");
	block_count_words(r->frequency, words, sizeof(words));
	fprintf(p->out, " %9s", r->is_known ? words : "?");
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		time_words(times[i], words, sizeof(words));
		fprintf(p->out, " %8s",
		    !r->is_known && r->timed ? "?"
		    : isnan(times[i])        ? "-"
					     : words);
	}
	block_share_words(r->range_ns / p->a->cpu_ns, words, sizeof(words));
	fprintf(p->out, " %8s", r->timed ? words : "-");
	block_share_words(r->cost_ns / p->a->cpu_ns, words, sizeof(words));
	fprintf(p->out, " %7s", isnan(r->cost_ns) ? "-" : words);
	snprintf(runs, sizeof(runs), "%u/%zu", (unsigned)r->n_in, p->a->n_runs);
	fprintf(p->out, " %7s", runs);
	block_place_words(r->place, words, sizeof(words));
	print_place(p, words);
}

static void append(char *buf, size_t size, const char *text)
{
	size_t used = strlen(buf);

	snprintf(buf + used, size - used, "%s", text);
}

static void interval_words(
    const struct printer *p, const struct block_interval *i, char *buf, size_t size)
{
	char lo[32], hi[32];

	*buf = 0;
	if (isnan(i->lo))
		return;
	block_share_words(i->lo / p->a->cpu_ns, lo, sizeof(lo));
	block_share_words(i->hi / p->a->cpu_ns, hi, sizeof(hi));
	snprintf(buf, size, " (%s to %s)", lo, hi);
}

/* Where the block is, and the intervals of what it takes and of its range. */
static void print_where(const struct printer *p, const struct block_result *r)
{
	char text[1024], words[512], share[32];

	block_function_words(r->place, text, sizeof(text));
	print_below(p, text);
	if (r->is_sampled)
		print_below(p, "short beside its probes: its average comes from samples");
	if (isnan(r->significance.lo))
		return;
	block_share_words(r->significance_ns / p->a->cpu_ns, share, sizeof(share));
	interval_words(p, &r->significance, words, sizeof(words));
	snprintf(text, sizeof(text), "takes %s%s", share, words);
	block_share_words(r->range_ns / p->a->cpu_ns, share, sizeof(share));
	interval_words(p, &r->range, words, sizeof(words));
	append(text, sizeof(text), ", varies by ");
	append(text, sizeof(text), share);
	append(text, sizeof(text), words);
	print_below(p, text);
}

static int compare_runs(const void *a, const void *b)
{
	const struct block_value *x = a, *y = b;

	if (x->runs != y->runs)
		return x->runs > y->runs ? -1 : 1;
	return x->value > y->value ? -1 : x->value < y->value;
}

/* A figure's values with how many runs had them, where there are few. */
static void print_values(const struct printer *p, const struct block_result *r,
    enum block_figure figure, struct block_value *values)
{
	static const char *const names[] = {"times", "least", "average", "longest"};
	size_t n = block_values(r, figure, values);
	char text[512], value[32], with[64];

	if (n < 2 || n > MOST_VALUES)
		return;
	qsort(values, n, sizeof(*values), compare_runs);
	snprintf(text, sizeof(text), "%s in runs:", names[figure]);
	for (size_t i = 0; i < n; i++) {
		if (figure == FIGURE_FREQUENCY)
			block_count_words(values[i].value, value, sizeof(value));
		else
			time_words(values[i].value, value, sizeof(value));
		snprintf(with, sizeof(with), "%s %s in %u", i ? "," : "", value, values[i].runs);
		append(text, sizeof(text), with);
	}
	print_below(p, text);
}

static double usual_time(const struct block_analysis *a, const struct block_result *r)
{
	double sum = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < a->n_runs; i++) {
		bool is_slow = false;
		double time = block_time_in(r, i);

		for (size_t j = 0; j < r->slow.n; j++)
			is_slow |= r->slow.runs[j] == i;
		if (is_slow || isnan(time))
			continue;
		sum += time;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static void print_slow_runs(const struct printer *p, const struct block_result *r)
{
	const struct block_slow *s = &r->slow;
	bool is_all = r->n_in == s->n;
	double usual = usual_time(p->a, r);
	char text[1024], words[300], time[32];

	snprintf(text, sizeof(text), is_all ? "executed only in" : "slow in");
	for (size_t i = 0; i < s->n && i < MOST_RUNS; i++) {
		char run[256];

		block_run_words(p->a, p->a->runs[s->runs[i]], run, sizeof(run));
		time_words(block_time_in(r, s->runs[i]), time, sizeof(time));
		snprintf(words, sizeof(words), "%s %s (%s)", i ? "," : "", run, time);
		append(text, sizeof(text), words);
	}
	if (s->n > MOST_RUNS) {
		snprintf(words, sizeof(words), ", and %zu more", s->n - MOST_RUNS);
		append(text, sizeof(text), words);
	}
	time_words(usual, time, sizeof(time));
	snprintf(words, sizeof(words), "; in the others %s on average", time);
	if (!is_all)
		append(text, sizeof(text), words);
	print_below(p, text);
}

static void print_inputs(const struct printer *p, const struct block_slow *s)
{
	char text[1024];

	for (size_t i = 0; i < s->n_inputs && i < MOST_INPUTS; i++) {
		snprintf(text, sizeof(text), "  these are %u of %u run%s of: %s", s->inputs[i].slow,
		    s->inputs[i].runs, s->inputs[i].runs == 1 ? "" : "s", s->inputs[i].command);
		print_below(p, text);
	}
	if (s->n_inputs > MOST_INPUTS) {
		snprintf(text, sizeof(text), "  and with %zu more command lines",
		    s->n_inputs - MOST_INPUTS);
		print_below(p, text);
	}
}

static void print_slow(const struct printer *p, const struct block_result *r)
{
	const struct block_slow *s = &r->slow;
	char text[1024], words[512];

	if (!s->n)
		return;
	print_slow_runs(p, r);
	print_inputs(p, s);
	for (size_t i = 0; i < s->n_differences; i++) {
		block_difference_words(&s->differences[i], words, sizeof(words));
		snprintf(text, sizeof(text), "  there %s", words);
		print_below(p, text);
	}
	if (s->n_differences)
		return;
	print_below(
	    p, s->too_few ? "  too few runs to tell what else differed there: one slow run takes 20"
			  : "  nothing else that was measured differed there beyond chance");
}

static int print_block(const struct printer *p, const struct block_result *r)
{
	struct block_value *values = calloc(r->n_in + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	print_row(p, r);
	if (r->is_reported) {
		print_where(p, r);
		for (int i = 0; r->is_known && i < N_FIGURES; i++)
			print_values(p, r, (enum block_figure)i, values);
		print_slow(p, r);
	}
	free(values);
	return 0;
}

static void print_failed(const struct printer *p)
{
	const struct block_analysis *a = p->a;

	for (size_t i = 0; i < a->n_failed && i < MOST_FAILED; i++) {
		const struct block_run *r = &a->failed[i]->run;
		char run[256], wall[32], how[64], text[1024];

		block_run_words(a, a->failed[i], run, sizeof(run));
		time_words((double)r->wall_ns, wall, sizeof(wall));
		if (r->ended && r->status < 0)
			snprintf(how, sizeof(how), "ended by signal %d", -r->status);
		else if (r->ended)
			snprintf(how, sizeof(how), "exit status %d", r->status);
		else
			snprintf(how, sizeof(how), "cut off");
		snprintf(text, sizeof(text), "%s does not count, %s after %s: %.500s", run, how,
		    wall, r->command);
		print_wrapped(p, 0, text);
	}
	if (a->n_failed > MOST_FAILED)
		fprintf(p->out, "and %zu more runs that do not count (--failed counts them)\n",
		    a->n_failed - MOST_FAILED);
}

static int print_table(const struct printer *p, const struct blocks_report *r)
{
	const struct block_analysis *a = p->a;
	size_t n = blocks_shown(r);

	if (!n)
		return 0;
	fputs("\n    share     times      min  typical  average      max   varies   costs    runs"
	      "  where\n",
	    p->out);
	for (size_t i = 0; i < n; i++)
		if (print_block(p, &a->results[i]))
			return -ENOMEM;
	fprintf(p->out,
	    "\nshare: greatest frequency x greatest average; varies: %s; costs: frequency x\n"
	    "(average - typical), in the mean run; all in %% of a run's CPU time (2 x: twice "
	    "that)\n",
	    a->options.range == BLOCK_RANGE_RUN ? "frequency x (max - min)"
						: "max - min of one execution");
	return 0;
}

static int print_report(const struct printer *p, const struct blocks_report *r)
{
	const struct block_analysis *a = p->a;
	size_t shown = blocks_shown(r);
	char words[1024], text[1040];

	blocks_summary_words(a, words, sizeof(words));
	fprintf(p->out, "%s\n", words);
	print_failed(p);
	for (unsigned i = 0;; i++) {
		blocks_warning(a, i, words, sizeof(words));
		if (!*words)
			break;
		snprintf(text, sizeof(text), "note: %s", words);
		print_wrapped(p, 0, text);
	}
	blocks_nearest_words(a, words, sizeof(words));
	if (*words)
		print_wrapped(p, 0, words);
	if (print_table(p, r))
		return -ENOMEM;
	if (shown < a->n_reported)
		fprintf(p->out, "%zu more blocks reach %g %% (--top 0 shows them)\n",
		    a->n_reported - shown, a->options.threshold_pct);
	return 0;
}

int blocks_text(FILE *to, const struct blocks_report *r, const struct text_options *o)
{
	struct printer p = {printable_open(to), r->analysis, o->width > 0 ? o->width : WIDTH};
	int ret = print_report(&p, r);

	printable_close(p.out, to);
	return ret ? ret : ferror(to) ? -1 : 0;
}
