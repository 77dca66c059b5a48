// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rates of two profiles and their rankings, side by side; see compare.h. What was predicted is
 * in compare_predict.c.
 *
 * A rate is the ratio of sums of all baselines, as for the cells of a line, whatever lines they
 * began at. Its variance comes from the residuals of experiments, as in bootstrap.c, and where runs
 * were added up from those of pieces. Experiments of one run share its machine, its layout in
 * memory and its input. With three runs or more, the sums of residuals of whole runs tell their
 * scatter. Of runs that were added up what is left of their machines tells it. The widest interval
 * is taken. With fewer runs that part is not known.
 */
#include "core/estimate/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/estimate/private.h"
#include "core/estimate/shares.h"
#include "core/estimate/stats.h"

#define MIN_RUNS 3

const char *compare_move_name(enum compare_move m)
{
	static const char *const names[] = {
	    "none", "rose", "fell", "appeared", "vanished", "unknown"};

	return names[m];
}

/* Rates */

/* Leaves only the baselines, by point, in the order of time. */
static void keep_baselines(struct observations *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		if (!o->items[i].permille)
			o->items[n++] = o->items[i];
	}
	o->n = n;
	if (n)
		qsort(o->items, n, sizeof(*o->items), observations_by_point);
}

static double residual(const struct observation *o, double period)
{
	return o->time - period * o->count;
}

/* Relative to the sum of times: the variance of the period's logarithm, to first order. */
static double variance(double squares, double time, double n)
{
	return squares / (time * time) * n / (n - 1);
}

static double half_width(double v, double df)
{
	return student_975(df) * sqrt(v);
}

/* The wider interval counts. */
static void widen(struct compare_rate *r, double v, double df)
{
	if (half_width(v, df) > half_width(r->variance, r->df)) {
		r->variance = v;
		r->df = df;
	}
}

static void scatter_of_runs(
    struct compare_rate *r, const struct observation *obs, size_t n, double time)
{
	double squares = 0;
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		double sum = 0;

		for (end = i; end < n && obs[end].run == obs[i].run; end++)
			sum += residual(&obs[end], r->period);
		squares += sum * sum;
		r->runs++;
	}
	if (r->runs >= MIN_RUNS)
		widen(r, variance(squares, time, (double)r->runs), (double)r->runs - 1);
}

static bool is_speed_of(const struct node_record *node, const struct compare_point *point)
{
	return !node->line && node->speed.time_ns && node->is_latency == point->is_latency &&
	       !strcmp(node->point, point->progress);
}

/* Runs are levelled before they are added up. What their machines and they differed by is kept
 * beside. */
static void scatter_of_nodes(
    struct compare_rate *r, const struct profile *p, const struct compare_point *point)
{
	double time = 0, count = 0, squares = 0, runs = 0, df = 0, n = 0;

	for (size_t i = 0; i < p->n_nodes; i++) {
		if (!is_speed_of(&p->nodes[i], point))
			continue;
		time += (double)p->nodes[i].speed.time_ns;
		count += (double)p->nodes[i].speed.count;
	}
	if (!(time > 0 && count > 0) || isnan(r->variance))
		return;
	for (size_t i = 0; i < p->n_nodes; i++) {
		const struct node_speed *s = &p->nodes[i].speed;
		double off = (double)s->time_ns - time / count * (double)s->count;

		if (!is_speed_of(&p->nodes[i], point))
			continue;
		squares += off * off;
		runs += (double)s->run_error_ns * (double)s->run_error_ns;
		df += (double)s->run_df;
		n++;
	}
	if (n >= MIN_RUNS)
		widen(r, variance(squares, time, n), n - 1);
	if (df >= MIN_RUNS - 1)
		widen(r, runs / (time * time), df);
}

static struct compare_rate rate_of(struct observation *obs, size_t n, bool end_to_end)
{
	struct compare_rate r = {.period = NAN, .variance = NAN, .df = NAN};
	double time = 0, count = 0, visits = 0, squares = 0, experiments = 0, pieces = 0;
	size_t end;

	observations_choose_period(obs, n, PERIOD_AUTO);
	for (size_t i = 0; i < n; i++) {
		time += obs[i].time;
		count += obs[i].count;
		visits += obs[i].visits;
		experiments += obs[i].own;
	}
	r.experiments = (uint64_t)experiments;
	r.visits = (uint64_t)visits;
	if (!(time > 0 && count > 0) || visits < (end_to_end ? MIN_RUNS_OF_RATE : MIN_VISITS))
		return r;
	r.period = time / count;
	for (size_t i = 0; i < n; i = end, pieces++) {
		double sum = 0;

		for (end = i; end < n && obs[end].piece == obs[i].piece; end++)
			sum += residual(&obs[end], r.period);
		squares += sum * sum;
	}
	if (pieces < 2)
		return r;
	r.variance = variance(squares, time, pieces);
	r.df = pieces - 1;
	scatter_of_runs(&r, obs, n, time);
	return r;
}

static struct compare_figure speedup_of(
    const struct compare_rate *before, const struct compare_rate *after)
{
	double v = before->variance + after->variance, ratio = after->period / before->period, half,
	       df = INFINITY;

	/* Welch's degrees of freedom. */
	if (v > 0)
		df = v * v /
		     (before->variance * before->variance / before->df +
			 after->variance * after->variance / after->df);
	half = v > 0 ? half_width(v, df) : v; /* 0, or unknown */
	return (struct compare_figure){1 - ratio, 1 - ratio * exp(half), 1 - ratio * exp(-half)};
}

static size_t end_of_point(const struct observations *o, size_t first)
{
	size_t end = first;

	while (end < o->n && o->items[end].point == o->items[first].point)
		end++;
	return end;
}

/* Where the observations of the same point begin; the end when there are none. */
static size_t find_point(const struct observations *o, const char *name, bool is_latency)
{
	uint32_t id = names_find(&o->points, name), point = 2 * id + is_latency;
	size_t first = 0, end = id == UINT32_MAX ? 0 : o->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (o->items[middle].point < point)
			first = middle + 1;
		else
			end = middle;
	}
	return id != UINT32_MAX && first < o->n && o->items[first].point == point ? first : o->n;
}

int compare_point_names(const void *a, const void *b)
{
	const struct compare_point *x = a, *y = b;
	int ret = strcmp(x->progress, y->progress);

	return ret ? ret : x->is_latency - y->is_latency;
}

/* Returns 0 or -ENOMEM. */
static int number_pieces(struct observations *o)
{
	size_t end;
	int err = 0;

	for (size_t i = 0; !err && i < o->n; i = end) {
		end = end_of_point(o, i);
		err = observations_number_pieces(&o->items[i], end - i, o->lines.n);
	}
	return err;
}

static int fill_points(struct comparison *c, struct observations *before,
    struct observations *after, const struct profile *const *profiles)
{
	size_t end;

	c->points = calloc(2 * before->points.n + 1, sizeof(*c->points));
	if (!c->points || number_pieces(before) || number_pieces(after))
		return -ENOMEM;
	for (size_t i = 0; i < before->n; i = end) {
		struct compare_point *p = &c->points[c->n_points];
		size_t other;
		bool end_to_end;

		p->progress = before->points.items[before->items[i].point / 2];
		p->is_latency = is_latency_point(before->items[i].point);
		end_to_end = !strcmp(p->progress, END_TO_END) && !p->is_latency;
		end = end_of_point(before, i);
		other = find_point(after, p->progress, p->is_latency);
		if (other == after->n)
			continue;
		p->before = rate_of(&before->items[i], end - i, end_to_end);
		p->after =
		    rate_of(&after->items[other], end_of_point(after, other) - other, end_to_end);
		scatter_of_nodes(&p->before, profiles[0], p);
		scatter_of_nodes(&p->after, profiles[1], p);
		p->speedup = speedup_of(&p->before, &p->after);
		c->n_points++;
	}
	if (c->n_points)
		qsort(c->points, c->n_points, sizeof(*c->points), compare_point_names);
	return 0;
}

/* Rankings */

static bool is_ranked(const struct estimate_line *l)
{
	return l && l->verdict != VERDICT_NOT_ENOUGH_DATA;
}

static int compare_names(const void *a, const void *b)
{
	const struct compare_line *x = a, *y = b;
	const struct estimate_line *l = x->before ? x->before : x->after,
				   *m = y->before ? y->before : y->after;
	int ret = strcmp(l->progress, m->progress);

	if (!ret)
		ret = l->is_latency - m->is_latency;
	return ret ? ret : strcmp(l->line, m->line);
}

static size_t rank(size_t r)
{
	return r ? r : SIZE_MAX;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct compare_line *x = a, *y = b;
	const struct estimate_line *l = x->before ? x->before : x->after,
				   *m = y->before ? y->before : y->after;
	int ret = strcmp(l->progress, m->progress);

	if (!ret)
		ret = l->is_latency - m->is_latency;
	if (ret)
		return ret;
	if (rank(x->rank_after) != rank(y->rank_after))
		return rank(x->rank_after) < rank(y->rank_after) ? -1 : 1;
	if (rank(x->rank_before) != rank(y->rank_before))
		return rank(x->rank_before) < rank(y->rank_before) ? -1 : 1;
	return strcmp(l->line, m->line);
}

/* The square of half an interval, as if the scatter were known exactly. */
static double side_variance(double half, double df)
{
	return half * half / (student_975(df) * student_975(df));
}

/* The difference, and the chance that scatter alone brings one as large without a true one. */
static void measure(struct compare_line *l)
{
	const struct estimate_line *b = l->before, *a = l->after;
	double down, up, v_b, v_a, v, df;

	l->slope = (struct compare_figure){NAN, NAN, NAN};
	l->chance = NAN;
	if (!b || !a)
		return;
	l->slope.value = a->slope - b->slope;
	/* The two intervals are independent, so their sides add up as squares. The side of a loss
	 * is the other one's side of a gain. */
	down = hypot(a->slope - a->slope_lo, b->slope_hi - b->slope);
	up = hypot(a->slope_hi - a->slope, b->slope - b->slope_lo);
	l->slope.lo = l->slope.value - down;
	l->slope.hi = l->slope.value + up;
	/* Of the sides towards 0. */
	v_a = side_variance(
	    l->slope.value > 0 ? a->slope - a->slope_lo : a->slope_hi - a->slope, a->df);
	v_b = side_variance(
	    l->slope.value > 0 ? b->slope_hi - b->slope : b->slope - b->slope_lo, b->df);
	v = v_a + v_b;
	df = v * v / (v_a * v_a / a->df + v_b * v_b / b->df); /* Welch */
	if (v > 0)
		l->chance = student_chance(l->slope.value / sqrt(v), df);
	else if (v == 0)
		l->chance = l->slope.value == 0;
}

static uint64_t samples_of(const struct compare_line *l)
{
	return l->before->samples + l->after->samples;
}

static enum compare_move move_of(const struct compare_line *l, const struct shares *shares)
{
	bool is_sure;

	if (!l->before || !l->after)
		return l->after ? MOVE_APPEARED : MOVE_VANISHED;
	is_sure = !isnan(l->chance) &&
		  l->chance <= shares_chance(shares, l->before->progress, samples_of(l));
	if (is_sure && l->slope.lo > 0)
		return MOVE_ROSE;
	if (is_sure && l->slope.hi < 0)
		return MOVE_FELL;
	return is_ranked(l->after) && is_ranked(l->before) ? MOVE_NONE : MOVE_UNKNOWN;
}

/* Pairs that share a line and a point become one, with their difference. */
static void join(struct comparison *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_lines; i++) {
		struct compare_line l = c->lines[i];

		if (i + 1 < c->n_lines && !compare_names(&l, &c->lines[i + 1])) {
			const struct compare_line *m = &c->lines[++i];

			l.before = l.before ? l.before : m->before;
			l.after = l.after ? l.after : m->after;
			l.rank_before += m->rank_before;
			l.rank_after += m->rank_after;
		}
		measure(&l);
		c->lines[n++] = l;
	}
	c->n_lines = n;
}

/* Moves have to hold together, as verdicts do. Lines that are ranked nowhere are left out only
 * afterwards: a line that has moved by chance may be ranked for that very reason. */
static int judge(struct comparison *c)
{
	struct shares shares = {0};
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < c->n_lines; i++) {
		const struct compare_line *l = &c->lines[i];

		if (!isnan(l->chance)) /* a line of both */
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
			ret = shares_add(&shares, l->before->progress, samples_of(l));
	}
	for (size_t i = 0; !ret && i < c->n_lines; i++) {
		struct compare_line l = c->lines[i];

		if (!l.rank_before && !l.rank_after)
			continue;
		l.move = move_of(&l, &shares);
		c->lines[n++] = l;
	}
	c->n_lines = n;
	shares_deinit(&shares);
	return ret;
}

/* Appends the lines of one side, with their ranks. */
static int add_side(struct comparison *c, const struct estimate *e, bool is_after)
{
	struct names points = {0};
	/* by twice the point's id, plus 1 for a latency */
	size_t *ranked = calloc(2 * e->n_lines + 1, sizeof(*ranked));
	int ret = ranked ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < e->n_lines; i++) {
		const struct estimate_line *l = &e->lines[i];
		size_t rank_here = 0;
		uint32_t id;

		ret = names_id(&points, l->progress, &id);
		if (!ret && is_ranked(l))
			rank_here = ++ranked[2 * id + l->is_latency]; /* ranked lines stand first */
		c->lines[c->n_lines++] =
		    is_after ? (struct compare_line){.after = l, .rank_after = rank_here}
			     : (struct compare_line){.before = l, .rank_before = rank_here};
	}
	names_deinit(&points);
	free(ranked);
	return ret;
}

static int fill_lines(
    struct comparison *c, const struct estimate *before, const struct estimate *after)
{
	c->lines = calloc(before->n_lines + after->n_lines + 1, sizeof(*c->lines));
	if (!c->lines || add_side(c, before, false) || add_side(c, after, true))
		return -ENOMEM;
	if (c->n_lines)
		qsort(c->lines, c->n_lines, sizeof(*c->lines), compare_names);
	join(c);
	if (judge(c))
		return -ENOMEM;
	if (c->n_lines)
		qsort(c->lines, c->n_lines, sizeof(*c->lines), compare_ranks);
	return 0;
}

int compare_profiles(
    const struct compare_side *before, const struct compare_side *after, struct comparison *ret)
{
	const struct profile *const profiles[] = {before->profile, after->profile};
	struct observations o[2];
	int err;

	memset(ret, 0, sizeof(*ret));
	if (observations_init(&o[0], before->profile))
		return -ENOMEM;
	if (observations_init(&o[1], after->profile)) {
		observations_deinit(&o[0]);
		return -ENOMEM;
	}
	keep_baselines(&o[0]);
	keep_baselines(&o[1]);
	err = fill_points(ret, &o[0], &o[1], profiles);
	if (!err)
		err = fill_lines(ret, before->estimate, after->estimate);
	observations_deinit(&o[0]);
	observations_deinit(&o[1]);
	if (err)
		comparison_deinit(ret);
	return err;
}

void comparison_deinit(struct comparison *c)
{
	free(c->points);
	free(c->lines);
	free(c->predictions);
	memset(c, 0, sizeof(*c));
}
