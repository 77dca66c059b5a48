// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs as experiments; see run_choice.h.
 *
 * The first run is none: it shows where the time goes, and fills the machine's caches. The others
 * are drawn from an urn, which has as many of each sort as the plan says. So the order is random,
 * and the numbers are not: a draw by samples would give a line no run at all now and then.
 *
 * Baselines serve all lines: with k lines they are as many as a line's runs times the root of k
 * (Dunnett's design). How many lines share the runs follows from what a line needs to be told.
 * With speedups of 50 and 90 % a slope by n runs and m baselines that differ by RUN_SPREAD has the
 * variance RUN_SPREAD^2 x (1.89 / n + 1.75 / m). A line is told when three standard errors are
 * half of the most that it can gain: another thread may soon be the slowest.
 */
#include "core/experiment/run_choice.h"

#include <math.h>
#include <string.h>

/* standard deviation of runs of one sort, relative to their mean: measured with other programs on
 * the machine (docs/answers.md) */
#define RUN_SPREAD 0.04
/* of a line, two for each speedup: that tells how far they differ */
#define RUNS_MIN 4
/* of the hottest line's samples: a line with less is not what to look at first */
#define SHARE_MIN 0.1
/* Of an advice: no fewer runs, and no more lines, which have at least half of the hottest line's
 * samples. */
#define ADVICE_RUNS_MIN 20
#define ADVICE_LINES 4
#define ADVICE_SHARE 0.5
/* nobody waits longer for a first answer; of commands that take no time */
#define ADVICE_NS 300000000000ULL
#define ADVICE_RUNS_MAX 1000
/* whole numbers of it are advised */
#define ADVICE_STEP 5
/* mean of the speedups: a run with delays lasts longer by as much of the line's time */
#define MEAN_SPEEDUP 0.7

static void insert(struct run_line *lines, size_t *n, const struct run_line *line)
{
	size_t at = *n < RUN_LINES ? (*n)++ : RUN_LINES;

	while (at && lines[at - 1].samples < line->samples) {
		if (at < RUN_LINES)
			lines[at] = lines[at - 1];
		at--;
	}
	if (at < RUN_LINES)
		lines[at] = *line;
}

size_t run_choice_rank(const struct run_samples *s, struct run_line ret[RUN_LINES])
{
	size_t n = 0;

	for (size_t i = 1; i < s->n_lines; i++) {
		struct run_line line = {(uint32_t)i, s->lines[i].all,
		    (double)s->lines[i].all * (double)s->period_ns / (double)s->ran_ns};

		line.most = line.most < 1 ? line.most : 1;
		if (line.samples)
			insert(ret, &n, &line);
	}
	while (n && (double)ret[n - 1].samples < SHARE_MIN * (double)ret[0].samples)
		n--;
	return n;
}

/* Runs with speedups that a line needs which shares baselines with others, @n in all. */
static double needed(double most, size_t n)
{
	double errors = 3 * 2 * RUN_SPREAD / most;

	return fmax(ceil(errors * errors * (1.89 + 1.75 / sqrt((double)n))), RUNS_MIN);
}

/* Runs in all, for each that a line gets: @n lines, and baselines. */
static double per_line(size_t n)
{
	return (double)n + sqrt((double)n);
}

/* How many of the ranked lines get what they need of the plan, at least one. */
static size_t affordable(const struct run_line *lines, size_t n, uint64_t planned)
{
	while (n > 1 && (double)planned < 1 + needed(lines[n - 1].most, n) * per_line(n))
		n--;
	return n;
}

static struct run_done *done(struct run_choice *r, uint32_t line)
{
	size_t i = 0;

	while (i < r->n_lines && r->lines[i].line != line)
		i++;
	if (i == RUN_LINES) /* the line that was hot at first is not now */
		i--;
	if (i == r->n_lines)
		r->n_lines++;
	if (r->lines[i].line != line)
		r->lines[i] = (struct run_done){.line = line};
	return &r->lines[i];
}

/* The line whose name fewest baselines have. */
static uint32_t least_baselines(struct run_choice *r, const struct run_line *lines, size_t n)
{
	uint64_t least = UINT64_MAX;
	uint32_t ret = 0;

	for (size_t i = 0; i < n; i++) {
		const struct run_done *d = done(r, lines[i].line);

		if (d->baselines < least) {
			least = d->baselines;
			ret = d->line;
		}
	}
	return ret;
}

/* What is left of a plan; a little where nothing is, since runs may be spoilt. */
static double left(double target, uint64_t n)
{
	return fmax(target - (double)n, 1e-3);
}

static uint32_t draw(struct run_choice *r, struct schedule *schedule, const struct run_line *lines,
    size_t n, unsigned *ret_pct)
{
	double each = ((double)r->planned - 1) / per_line(n), all, at;

	all = left(each * sqrt((double)n), r->baselines);
	for (size_t i = 0; i < n; i++)
		all += left(each, done(r, lines[i].line)->speedups);
	at = all * (double)rng_below(&schedule->rng, 1 << 20) / (1 << 20);
	for (size_t i = 0; schedule->n_speedups && i < n; i++) {
		at -= left(each, done(r, lines[i].line)->speedups);
		if (at >= 0)
			continue;
		*ret_pct = schedule_speedup(schedule, lines[i].line);
		return lines[i].line;
	}
	*ret_pct = 0;
	return least_baselines(r, lines, n);
}

uint32_t run_choice_next(struct run_choice *r, struct schedule *schedule,
    const struct run_samples *samples, const uint32_t *fixed, size_t n_fixed, unsigned *ret_pct)
{
	struct run_line lines[RUN_LINES] = {0};
	size_t n = n_fixed ? n_fixed : run_choice_rank(samples, lines);

	*ret_pct = 0;
	if (!n)
		return 0;
	for (size_t i = 0; i < n_fixed; i++)
		lines[i].line = fixed[i];
	return draw(
	    r, schedule, lines, n_fixed ? n_fixed : affordable(lines, n, r->planned), ret_pct);
}

void run_choice_count(struct run_choice *r, uint32_t line, unsigned pct)
{
	struct run_done *d = done(r, line);

	if (pct) {
		d->speedups++;
		return;
	}
	d->baselines++;
	r->baselines++;
}

struct run_advice run_choice_advise(const struct run_samples *samples, size_t n_runs)
{
	struct run_line lines[RUN_LINES];
	size_t n = run_choice_rank(samples, lines), main_lines = 0;
	double run = (double)samples->ran_ns / fmax((double)n_runs, 1), runs = ADVICE_RUNS_MIN,
	       longer = 1, affordable_runs;

	while (main_lines < n && main_lines < ADVICE_LINES &&
	       (double)lines[main_lines].samples >= ADVICE_SHARE * (double)lines[0].samples)
		main_lines++;
	if (main_lines) {
		runs = fmax(runs,
		    1 + needed(lines[main_lines - 1].most, main_lines) * per_line(main_lines));
		longer += MEAN_SPEEDUP * lines[0].most * (double)main_lines / per_line(main_lines);
	}
	run = fmax(run * longer, 1);
	affordable_runs = fmin(floor(ADVICE_NS / run / ADVICE_STEP) * ADVICE_STEP, ADVICE_RUNS_MAX);
	runs = fmin(ceil(runs / ADVICE_STEP) * ADVICE_STEP, fmax(affordable_runs, ADVICE_RUNS_MIN));
	return (struct run_advice){(uint64_t)runs, (uint64_t)(runs * run)};
}
