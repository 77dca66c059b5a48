// SPDX-License-Identifier: BSD-3-Clause
/*
 * Removes the scatter between experiments that comes from what was measured beside them (control
 * variates): how much the line ran in them, how fast the CPUs were, how much outsiders took, and
 * how slow the experiments beside were.
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
 * The machine is the same, with time in the place of count: x is the mean time of a fixed loop, or
 * the share of the time that outsiders took. A slow machine makes all periods longer in the same
 * proportion, so one slope serves all speedups.
 *
 * So it is with x as the mean slowness of the BESIDE experiments on either side, for a line that
 * the user named. Each one's slowness is by its own cell's period, so the speedup is not in it. It
 * stands for what lasts longer than an experiment and nothing else measures.
 *
 * All cells are brought to X, or none is. None is where there is nothing to remove: in a steady
 * program x scatters only by how samples fall, and the slopes might be 0. None is where x follows s
 * by more than chance, as in a loop that waits by spinning: speedups change x there, so there is no
 * common mean. The error of the line's X moves all cells together. It is estimated from batches of
 * neighbouring experiments, since phases outlast experiments, and enters the intervals (struct
 * control). That of the machine's X moves all periods in the same proportion, which no speedup
 * shows.
 */
#include "core/estimate/private.h"

#include <math.h>
#include <stdlib.h>

#include "core/estimate/stats.h"

#define MIN_DF 3 /* needed to estimate a slope */
/* chance that x follows s as much without a true trend; undetected trends may cost much */
#define MAX_TREND 0.002
#define MAX_BATCHES 32
#define MAX_SLOPES 5
#define BESIDE 2 /* experiments on either side that are compared with */

/* Time of the line in the part of the experiment that the period is made of. */
static double line_of(const struct observation *o)
{
	return o->line_time * (o->time / o->duration);
}

static double loop_of(const struct observation *o)
{
	return o->loop * o->time;
}

static double outsiders_of(const struct observation *o)
{
	return o->outsiders * o->time;
}

static double beside_of(const struct observation *o)
{
	return o->beside * o->time;
}

static double count_of(const struct observation *o)
{
	return o->count;
}

static double time_of(const struct observation *o)
{
	return o->time;
}

/* What was measured beside the period: x is the sum of @amount by the sum of @per. Below 0: not
 * known. */
static const struct covariate {
	double (*amount)(const struct observation *o);
	double (*per)(const struct observation *o);
	size_t slopes; /* 2: the second is that of s; 1: a slower machine makes periods longer */
	double chance; /* allowed, that slopes as steep come without a true one */
} covariates[] = {{line_of, count_of, 2, 0.01}, {loop_of, time_of, 1, 0.001},
    {outsiders_of, time_of, 1, 0.001}, {beside_of, time_of, 1, 0.001}};
#define N_COVARIATES (sizeof(covariates) / sizeof(covariates[0]))

/* A covariate that is used, and its X. */
struct used {
	const struct covariate *covariate;
	double x;
};

static bool takes_part(const struct observation *o)
{
	return o->time > 0 && o->duration > 0;
}

/* The factor by which a cell's weights count observations; see weight_scale() of cells.c. */
static double scale_of(const struct observation *obs, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		if (takes_part(&obs[i])) {
			sum += obs[i].weight;
			squares += obs[i].weight * obs[i].weight;
		}
	}
	return squares > 0 ? sum / squares : 0;
}

static size_t cell_end(const struct observation *obs, size_t n, size_t first)
{
	size_t end = first;

	while (end < n && obs[end].permille == obs[first].permille)
		end++;
	return end;
}

static int by_index(const void *a, const void *b)
{
	const struct observation *x = *(struct observation *const *)a,
				 *y = *(struct observation *const *)b;

	return x->index < y->index ? -1 : x->index > y->index;
}

/* Fills `beside` of a named line's experiments: the mean of how slow those next to it were, of
 * whatever speedup, each by its cell. Left unknown where memory is short. */
static void compare_beside(struct observation *obs, size_t n)
{
	struct observation **in_time = calloc(n + 1, sizeof(struct observation *));
	double *slower = calloc(n + 1, sizeof(*slower));
	size_t known = 0;

	for (size_t first = 0, end; in_time && slower && first < n; first = end) {
		double time = 0, count = 0;

		end = cell_end(obs, n, first);
		for (size_t i = first; i < end; i++) {
			time += takes_part(&obs[i]) ? obs[i].time : 0;
			count += takes_part(&obs[i]) ? obs[i].count : 0;
		}
		for (size_t i = first; i < end; i++)
			if (takes_part(&obs[i]) && obs[i].count > 0 && obs[i].fixed) {
				obs[i].beside = obs[i].time / obs[i].count / (time / count);
				in_time[known++] = &obs[i];
			}
	}
	if (known == n && n > BESIDE) {
		qsort(in_time, n, sizeof(struct observation *), by_index);
		for (size_t i = 0; i < n; i++)
			slower[i] = in_time[i]->beside;
		for (size_t i = 0; i < n; i++) {
			double sum = 0, all = 0;

			for (size_t j = i > BESIDE ? i - BESIDE : 0; j <= i + BESIDE && j < n;
			     j++) {
				sum += j != i ? slower[j] : 0;
				all += j != i;
			}
			in_time[i]->beside = sum / all;
		}
	} else {
		for (size_t i = 0; i < n; i++)
			obs[i].beside = -1;
	}
	free(in_time);
	free(slower);
}

/* Sums over a cell or over all. An experiment without a visit has its part in them; one of unknown
 * time has none. */
struct sums {
	double n, time, count, amount, per, speedup; /* speedup: that of `per` */
};

static void sums_add(
    struct sums *s, const struct covariate *c, const struct observation *obs, size_t n)
{
	double scale = scale_of(obs, n);

	for (size_t i = 0; i < n; i++) {
		const struct observation *o = &obs[i];
		double w = scale * o->weight;

		if (!takes_part(o))
			continue;
		s->n += w;
		s->time += w * o->time;
		s->count += w * o->count;
		s->amount += w * c->amount(o);
		s->per += w * c->per(o);
		s->speedup += w * c->per(o) * o->permille / 1000;
	}
}

static struct sums sums_of(const struct covariate *c, const struct observation *obs, size_t n)
{
	struct sums s = {0};

	for (size_t first = 0, end; first < n; first = end) {
		end = cell_end(obs, n, first);
		sums_add(&s, c, &obs[first], end - first);
	}
	return s;
}

/* Sums within cells of residuals: e of time and u of each slope's covariate. The variance of each
 * is in proportion to the experiment's time. */
struct fit {
	size_t slopes;
	double df;                                             /* experiments less cells */
	double ee, eu[MAX_SLOPES], uu[MAX_SLOPES][MAX_SLOPES]; /* over time */
};

/* What one observation has more of than the cell's mean, times s for a second slope. */
static size_t fill_residuals(const struct used *used, size_t n_used, const struct sums *cell,
    const struct observation *o, double *u)
{
	size_t n = 0;

	for (size_t k = 0; k < n_used; k++) {
		const struct covariate *c = used[k].covariate;

		u[n++] = c->amount(o) - cell[k].amount / cell[k].per * c->per(o);
		if (c->slopes > 1) {
			u[n] = o->permille / 1000.0 * u[n - 1];
			n++;
		}
	}
	return n;
}

static void fit_cell(
    struct fit *f, const struct used *used, size_t n_used, const struct observation *obs, size_t n)
{
	double scale = scale_of(obs, n), u[MAX_SLOPES];
	struct sums cell[N_COVARIATES] = {{0}};

	for (size_t k = 0; k < n_used; k++)
		cell[k] = sums_of(used[k].covariate, obs, n);
	if (!(cell[0].count > 0))
		return;
	f->df += cell[0].n - 1;
	for (size_t i = 0; i < n; i++) {
		double t = obs[i].time, w = scale * obs[i].weight,
		       e = t - cell[0].time / cell[0].count * obs[i].count;

		if (!takes_part(&obs[i]))
			continue;
		f->slopes = fill_residuals(used, n_used, cell, &obs[i], u);
		f->ee += w * e * e / t;
		for (size_t a = 0; a < f->slopes; a++) {
			f->eu[a] += w * e * u[a] / t;
			for (size_t b = 0; b < f->slopes; b++)
				f->uu[a][b] += w * u[a] * u[b] / t;
		}
	}
}

static void fit_all(
    struct fit *f, const struct used *used, size_t n_used, const struct observation *obs, size_t n)
{
	*f = (struct fit){0};
	for (size_t first = 0, end; first < n; first = end) {
		end = cell_end(obs, n, first);
		fit_cell(f, used, n_used, &obs[first], end - first);
	}
}

/* Whether x follows s: virtual speedups change how long the line runs, or what others take. */
static bool has_trend(const struct used *used, const struct observation *obs, size_t n)
{
	const struct covariate *c = used->covariate;
	struct sums all = sums_of(c, obs, n);
	double df = 0, trend = 0, trend_squares = 0, squares = 0, error;

	for (size_t first = 0, end; first < n; first = end) {
		struct sums cell;
		double scale, off;

		end = cell_end(obs, n, first);
		scale = scale_of(&obs[first], end - first);
		cell = sums_of(c, &obs[first], end - first);
		if (!(cell.count > 0))
			continue;
		off = obs[first].permille / 1000.0 - all.speedup / all.per;
		df += cell.n - 1;
		trend += (cell.amount - used->x * cell.per) * off;
		trend_squares += cell.per * off * off;
		for (size_t i = first; i < end; i++) {
			double u = c->amount(&obs[i]) - cell.amount / cell.per * c->per(&obs[i]);

			if (takes_part(&obs[i]) && c->per(&obs[i]) > 0)
				squares += scale * obs[i].weight * u * u / c->per(&obs[i]);
		}
	}
	if (df < MIN_DF)
		return true;
	error = sqrt(squares / df * trend_squares);
	return trend != 0 && student_chance(trend / error, df) < MAX_TREND;
}

/* Solves M x = @b by elimination; M = @f's sums of squares, which is left as it is. False where the
 * slopes cannot be told apart. */
static bool solve(const struct fit *f, const double *b, double *x)
{
	double m[MAX_SLOPES][MAX_SLOPES + 1];
	size_t n = f->slopes;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++)
			m[i][j] = f->uu[i][j];
		m[i][n] = b[i];
	}
	/* M has no negative eigenvalue, so the diagonal serves as pivot. */
	for (size_t i = 0; i < n; i++) {
		if (!(m[i][i] > 1e-9 * f->uu[i][i]))
			return false;
		for (size_t k = i + 1; k < n; k++) {
			double by = m[k][i] / m[i][i];

			for (size_t j = i; j <= n; j++)
				m[k][j] -= by * m[i][j];
		}
	}
	for (size_t i = n; i-- > 0;) {
		x[i] = m[i][n];
		for (size_t j = i + 1; j < n; j++)
			x[i] -= m[i][j] * x[j];
		x[i] /= m[i][i];
	}
	return true;
}

static double squares_left(const struct fit *f, const double *slopes)
{
	double left = f->ee;

	for (size_t i = 0; i < f->slopes; i++)
		left -= slopes[i] * f->eu[i];
	return fmax(left, 0);
}

/* The chance that @added slopes take as much away from the sum of squares without a true one. */
static double chance_of(double before, double left, double df, size_t added)
{
	/* The tail of Fisher's distribution with 2 and df degrees of freedom. */
	if (added == 2)
		return pow(left / before, df / 2);
	return left > 0 ? student_chance(sqrt((before / left - 1) * df), df) : 0;
}

double control_slope(const struct control *c, double speedup)
{
	return c->b0 + c->b1 * speedup;
}

/* The standard error of X, from how far the means of batches of neighbouring experiments lie from
 * X. */
static double error_of_x(
    const struct covariate *c, const struct observation *obs, size_t n, double x)
{
	struct sums all = sums_of(c, obs, n);
	size_t batches = (size_t)fmin(fmax(sqrt(all.n), 2), MAX_BATCHES);
	double off[MAX_BATCHES] = {0}, squares = 0;
	uint32_t first = UINT32_MAX, last = 0;

	for (size_t i = 0; i < n; i++) {
		first = obs[i].index < first ? obs[i].index : first;
		last = obs[i].index > last ? obs[i].index : last;
	}
	for (size_t i = 0; i < n; i++)
		if (takes_part(&obs[i]))
			off[(uint64_t)(obs[i].index - first) * batches /
			    ((uint64_t)last - first + 1)] +=
			    c->amount(&obs[i]) - x * c->per(&obs[i]);
	for (size_t i = 0; i < batches; i++)
		squares += off[i] * off[i];
	return student_975((double)batches - 1) / NORMAL_975 *
	       sqrt(squares * (double)batches / ((double)batches - 1)) / all.per;
}

/* Slopes were fitted. Their errors count the more, the farther the cell's x lie off. */
static double widening(const struct fit *f, const struct used *used, size_t n_used,
    const struct observation *obs, size_t n)
{
	double off[MAX_SLOPES], x[MAX_SLOPES], squares = 0, time = 0;
	size_t k = 0;

	for (size_t i = 0; i < n_used; i++) {
		struct sums c = sums_of(used[i].covariate, obs, n);

		time = c.time;
		off[k++] = c.amount - used[i].x * c.per;
		if (used[i].covariate->slopes > 1) {
			off[k] = obs->permille / 1000.0 * off[k - 1];
			k++;
		}
	}
	if (!(time > 0) || !solve(f, off, x))
		return 1;
	for (size_t i = 0; i < f->slopes; i++)
		squares += off[i] * x[i];
	return sqrt(f->df / (f->df - (double)f->slopes) * (1 + squares / time));
}

/* What an observation's time has too much because its x are not X. */
static double surplus(
    const struct used *used, size_t n_used, const double *slopes, const struct observation *o)
{
	double ret = 0;

	for (size_t k = 0; k < n_used; k++) {
		double off = used[k].covariate->amount(o) - used[k].x * used[k].covariate->per(o);

		ret += *slopes++ * off;
		if (used[k].covariate->slopes > 1)
			ret += *slopes++ * o->permille / 1000 * off;
	}
	return ret;
}

/* Whether no time becomes negative; otherwise the relation is no straight line. */
static bool is_straight(const struct used *used, size_t n_used, const double *slopes,
    const struct observation *obs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (takes_part(&obs[i]) && obs[i].time <= surplus(used, n_used, slopes, &obs[i]))
			return false;
	return true;
}

static void apply(const struct fit *f, const struct used *used, size_t n_used, const double *slopes,
    struct observation *obs, size_t n)
{
	for (size_t first = 0, end; first < n; first = end) {
		double widen;

		end = cell_end(obs, n, first);
		widen = widening(f, used, n_used, &obs[first], end - first);
		for (size_t i = first; i < end; i++) {
			if (!takes_part(&obs[i]))
				continue;
			obs[i].widen = widen;
			obs[i].time -= surplus(used, n_used, slopes, &obs[i]);
			obs[i].exposure = obs[i].time;
		}
	}
}

/* Fills X. Whether @c is known of all experiments, is there, and does not follow s. */
static bool may_use(
    const struct covariate *c, const struct observation *obs, size_t n, struct used *ret)
{
	struct sums all = sums_of(c, obs, n);

	for (size_t i = 0; i < n; i++)
		if (c->amount(&obs[i]) < 0)
			return false;
	if (!(all.per > 0 && all.amount > 0))
		return false;
	*ret = (struct used){c, all.amount / all.per};
	return !has_trend(ret, obs, n);
}

void observations_control(struct observation *obs, size_t n, struct control *ret)
{
	struct used used[N_COVARIATES];
	double slopes[MAX_SLOPES] = {0}, tried[MAX_SLOPES], left = -1;
	struct fit f, best = {0};
	size_t n_used = 0;

	*ret = (struct control){0};
	compare_beside(obs, n);
	for (size_t k = 0; k < N_COVARIATES; k++) {
		double df, now;

		if (!may_use(&covariates[k], obs, n, &used[n_used]))
			continue;
		fit_all(&f, used, n_used + 1, obs, n);
		df = f.df - (double)f.slopes;
		if (df < MIN_DF || !(f.ee > 0) || !solve(&f, f.eu, tried))
			continue;
		now = squares_left(&f, tried);
		if (chance_of(left < 0 ? f.ee : left, now, df, covariates[k].slopes) >=
			covariates[k].chance ||
		    (covariates[k].slopes == 1 && tried[f.slopes - 1] < 0) ||
		    !is_straight(used, n_used + 1, tried, obs, n))
			continue;
		n_used++;
		left = now;
		best = f;
		for (size_t i = 0; i < f.slopes; i++)
			slopes[i] = tried[i];
	}
	if (!n_used)
		return;
	if (used[0].covariate == &covariates[0]) {
		ret->x = used[0].x;
		ret->b0 = slopes[0];
		ret->b1 = slopes[1];
		ret->x_error = error_of_x(used[0].covariate, obs, n, used[0].x);
	}
	apply(&best, used, n_used, slopes, obs, n);
}
