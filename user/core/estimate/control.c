// SPDX-License-Identifier: BSD-3-Clause
/*
 * Removes the scatter between experiments that comes from how much the line ran in them (a control
 * variate).
 *
 * Experiments on a line that the user named fall anywhere in the program. In a program of phases
 * some meet the line and some do not, and with few experiments chance decides which speedup has
 * more of it. x is the time that the line runs per visit, measured in each experiment. A virtual
 * speedup does not change x where the line does a fixed amount of work. So its mean X over all of
 * the group's experiments is better known than the mean over one cell's.
 *
 * Each cell's period is brought to X by regression. For each experiment, time - period x count is
 * regressed on (line - x count), with the cell's own period and x. Both are linear in what is added
 * up. The slope is b0 + b1 s for all cells: the faster the line virtually is, the less its running
 * longer costs. So cells of one experiment are served as well. Phases of 2 s, 10 experiments of 0.5
 * s a speedup: 5.8/17.4/29.6/21.4 of 7.5/15/22.5/30 become 7.8/15.2/22.1/27.9.
 *
 * All cells are brought to X, or none is. None is where there is nothing to remove: in a steady
 * program x scatters only by how samples fall, and the slopes might be 0. None is where x follows s
 * by more than chance, as in a loop that waits by spinning: speedups change x there, so there is no
 * common mean. The error of X moves all cells together. It is estimated from batches of
 * neighbouring experiments, since phases outlast experiments, and enters the intervals (struct
 * control).
 */
#include "core/estimate/private.h"

#include <math.h>

#include "core/estimate/stats.h"

#define MIN_DF 3        /* needed to estimate a slope */
#define MAX_CHANCE 0.01 /* that slopes as steep come without a true one */
/* chance that x follows s as much without a true trend; undetected trends may cost much */
#define MAX_TREND 0.002
#define MAX_BATCHES 32

/* Sums over a cell. An experiment without a visit has its part in them; one of unknown time has
 * none. */
struct sums {
	double n, time, line, count, speedup;
};

static bool takes_part(const struct observation *o)
{
	return o->time > 0 && o->duration > 0;
}

/* Time of the line in the part of the experiment that the period is made of. */
static double line_of(const struct observation *o)
{
	return o->line_time * (o->time / o->duration);
}

static void sums_add(struct sums *s, const struct observation *o)
{
	if (!takes_part(o))
		return;
	s->n++;
	s->time += o->time;
	s->line += line_of(o);
	s->count += o->count;
	s->speedup += o->count * o->permille / 1000;
}

static struct sums sums_of(const struct observation *obs, size_t n)
{
	struct sums s = {0};

	for (size_t i = 0; i < n; i++)
		sums_add(&s, &obs[i]);
	return s;
}

static size_t cell_end(const struct observation *obs, size_t n, size_t first)
{
	size_t end = first;

	while (end < n && obs[end].permille == obs[first].permille)
		end++;
	return end;
}

/* Sums within cells of residuals: e of time and u of the line. The variance of each is in
 * proportion to the experiment's time. */
struct fit {
	double df;            /* experiments less cells */
	double ee, eu, seu;   /* sums of e^2, e u and s e u, over time */
	double uu, suu, ssuu; /* of u^2, s u^2 and s^2 u^2 */
	double x_squares;     /* of u^2 over count */
	/* sums over cells: count x (x - X) x (s - mean s), and count x (s - mean s)^2 */
	double trend, trend_squares;
};

static void fit_cell(
    struct fit *f, const struct observation *obs, size_t n, const struct sums *all, double x)
{
	struct sums c = sums_of(obs, n);
	double s = obs[0].permille / 1000.0, off = s - all->speedup / all->count;

	if (!(c.count > 0))
		return;
	f->df += c.n - 1;
	f->trend += (c.line - x * c.count) * off;
	f->trend_squares += c.count * off * off;
	for (size_t i = 0; i < n; i++) {
		double t = obs[i].time, u = line_of(&obs[i]) - c.line / c.count * obs[i].count,
		       e = t - c.time / c.count * obs[i].count;

		if (!takes_part(&obs[i]))
			continue;
		f->ee += e * e / t;
		f->eu += e * u / t;
		f->seu += s * e * u / t;
		f->uu += u * u / t;
		f->suu += s * u * u / t;
		f->ssuu += s * s * u * u / t;
		f->x_squares += obs[i].count > 0 ? u * u / obs[i].count : 0;
	}
}

/* Whether x follows s: virtual speedups change how long the line runs. */
static bool has_trend(const struct fit *f)
{
	double error = sqrt(f->x_squares / f->df * f->trend_squares);

	return f->trend != 0 && student_chance(f->trend / error, f->df) < MAX_TREND;
}

/* The slopes of least squares. False where there are none to be seen, or they cannot be told
 * apart. */
static bool solve(const struct fit *f, struct control *ret)
{
	double det = f->uu * f->ssuu - f->suu * f->suu, left, df = f->df - 2;

	if (df < MIN_DF || !(det > 1e-9 * f->uu * f->ssuu))
		return false;
	ret->b0 = (f->eu * f->ssuu - f->seu * f->suu) / det;
	ret->b1 = (f->seu * f->uu - f->eu * f->suu) / det;
	left = f->ee - ret->b0 * f->eu - ret->b1 * f->seu;
	/* The tail of Fisher's distribution with 2 and df degrees of freedom. */
	return pow(fmax(left, 0) / f->ee, df / 2) < MAX_CHANCE;
}

double control_slope(const struct control *c, double speedup)
{
	return c->b0 + c->b1 * speedup;
}

/* The standard error of X, from how far the means of batches of neighbouring experiments lie from
 * X. */
static double error_of_x(const struct observation *obs, size_t n, const struct sums *all, double x)
{
	size_t batches = (size_t)fmin(fmax(sqrt(all->n), 2), MAX_BATCHES);
	double off[MAX_BATCHES] = {0}, squares = 0;
	uint32_t first = UINT32_MAX, last = 0;

	for (size_t i = 0; i < n; i++) {
		first = obs[i].index < first ? obs[i].index : first;
		last = obs[i].index > last ? obs[i].index : last;
	}
	for (size_t i = 0; i < n; i++)
		if (takes_part(&obs[i]))
			off[(uint64_t)(obs[i].index - first) * batches /
			    ((uint64_t)last - first + 1)] += line_of(&obs[i]) - x * obs[i].count;
	for (size_t i = 0; i < batches; i++)
		squares += off[i] * off[i];
	return student_975((double)batches - 1) / NORMAL_975 *
	       sqrt(squares * (double)batches / ((double)batches - 1)) / all->count;
}

/* Two slopes were fitted. Their errors count the more, the farther the cell's x lies off. */
static double widening(const struct fit *f, const struct sums *c, double s, double x)
{
	double det = f->uu * f->ssuu - f->suu * f->suu, off = c->line - x * c->count;

	return sqrt(f->df / (f->df - 2) *
		    (1 + (f->ssuu - 2 * s * f->suu + s * s * f->uu) / det * off * off / c->time));
}

static void apply(const struct control *k, const struct fit *f, struct observation *obs, size_t n)
{
	for (size_t first = 0, end; first < n; first = end) {
		struct sums c;
		double s = obs[first].permille / 1000.0, widen;

		end = cell_end(obs, n, first);
		c = sums_of(&obs[first], end - first);
		widen = c.time > 0 ? widening(f, &c, s, k->x) : 1;
		for (size_t i = first; i < end; i++) {
			double line = line_of(&obs[i]);

			if (!takes_part(&obs[i]))
				continue;
			obs[i].time -= control_slope(k, s) * (line - k->x * obs[i].count);
			obs[i].exposure = obs[i].time;
			obs[i].widen = widen;
		}
	}
}

/* Whether no time becomes negative; otherwise the relation is no straight line. */
static bool is_straight(const struct control *k, const struct observation *obs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (takes_part(&obs[i]) &&
		    obs[i].time <= control_slope(k, obs[i].permille / 1000.0) *
				       (line_of(&obs[i]) - k->x * obs[i].count))
			return false;
	return true;
}

void observations_control(struct observation *obs, size_t n, struct control *ret)
{
	struct sums all = sums_of(obs, n);
	struct control k = {0};
	struct fit f = {0};

	*ret = (struct control){0};
	for (size_t i = 0; i < n; i++)
		if (obs[i].line_time < 0)
			return; /* unknown for some */
	if (!(all.count > 0 && all.line > 0))
		return;
	k.x = all.line / all.count;
	for (size_t first = 0, end; first < n; first = end) {
		end = cell_end(obs, n, first);
		fit_cell(&f, &obs[first], end - first, &all, k.x);
	}
	if (f.df < MIN_DF || has_trend(&f) || !solve(&f, &k) || !is_straight(&k, obs, n))
		return;
	k.x_error = error_of_x(obs, n, &all, k.x);
	apply(&k, &f, obs, n);
	*ret = k;
}
