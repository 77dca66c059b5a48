/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency estimated from simulated queues of known truth: values, how often intervals hold it,
 * warnings, and Coz's records.
 *
 * The queue: requests arrive at random, and one server takes a random (exponential) time for each.
 * So a latency is exponential with the mean 1 / (1 / service - 1 / gap). The queue runs on through
 * the experiments. Each has another service time, a settling time of five mean latencies, and a
 * window of 500 ms.
 *
 * Measured coverage, in per cent, of intervals that claim 95, from scatter alone. There are 1000
 * profiles each, with a standard error of 0.7, and n experiments for each speedup. points:
 * reductions of the mean at three speedups. mean, p50, p99: of baseline and speedups.
 *
 *    load of the baseline    n    points  mean  p50   p99
 *    0.5                     5    94.1    94.0  95.0  87.2
 *    0.5                     8    93.9    94.3  95.0  92.1
 *    0.5                     12   93.6    93.7  94.8  92.6
 *    0.5                     30   94.5    94.3  94.9  93.4
 *    0.7                     5    91.5    93.4  94.8  80.1
 *    0.7                     8    91.8    92.8  94.7  85.8
 *    0.7                     12   91.6    93.0  94.8  89.0
 *    0.7                     30   92.4    93.6  95.0  91.4
 *
 * p99 of a queue that is often long depends on a few long stretches, of which a handful of
 * experiments may have seen none.
 */
#include "check.h"

#include <math.h>

#include "core/estimate/estimate.h"
#include "core/experiment/latency.h"
#include "core/experiment/rng.h"

#define MS 1000000.0
#define WINDOW (500 * MS)
#define IN_QUEUE 4096

struct queue {
	struct rng rng;
	double gap, service; /* means, ns */
	double now, next_arrival, next_departure;
	double begun[IN_QUEUE]; /* ring */
	uint64_t arrived, departed;
};

static double uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

static double exponential(struct queue *q, double mean)
{
	return -mean * log(uniform(&q->rng));
}

static double truth(const struct queue *q)
{
	return 1 / (1 / q->service - 1 / q->gap);
}

/* Runs up to @end, and records what happens where @ret is not NULL. */
static void run_queue(struct queue *q, double end, struct point_record *ret, uint64_t *cells)
{
	double integral = 0;

	while (1) {
		bool busy = q->arrived > q->departed;
		double next = busy ? fmin(q->next_arrival, q->next_departure) : q->next_arrival,
		       until = fmin(next, end);

		integral += (double)(q->arrived - q->departed) * (until - q->now);
		q->now = until;
		if (next > end)
			break;
		if (busy && q->next_departure <= q->next_arrival) {
			double took = q->now - q->begun[q->departed++ % IN_QUEUE];

			q->next_departure = q->now + exponential(q, q->service);
			if (ret) {
				ret->departures++;
				ret->pairs++;
				ret->pairs_ns += (int64_t)took;
				cells[latency_index((uint64_t)took)]++;
			}
			continue;
		}
		q->begun[q->arrived++ % IN_QUEUE] = q->now;
		q->next_arrival = q->now + exponential(q, q->gap);
		if (!busy)
			q->next_departure = q->now + exponential(q, q->service);
		if (ret)
			ret->arrivals++;
	}
	if (ret) {
		ret->has_integral = true;
		ret->integral_ns = (int64_t)integral;
		ret->difference = (int64_t)lround(integral / WINDOW);
		ret->delta = ret->departures;
	}
}

static void add_record(struct profile *p, double speedup, const struct point_record *v)
{
	struct experiment_record x = {.speedup = speedup,
	    .duration_ns = (uint64_t)WINDOW,
	    .selected_samples = 100,
	    .fixed = true};

	x.selected = strdup("a.c:1");
	x.points = malloc(sizeof(*v));
	x.points[0] = *v;
	x.points[0].name = strdup("request");
	x.n_points = 1;
	if (!(p->n_experiments & (p->n_experiments - 1)))
		p->experiments = realloc(
		    p->experiments, (p->n_experiments ? p->n_experiments * 2 : 1) * sizeof(x));
	p->experiments[p->n_experiments++] = x;
	if (!p->n_runs) {
		p->runs = calloc(1, sizeof(*p->runs));
		p->n_runs = 1;
	}
}

static void experiment(struct queue *q, struct profile *p, double speedup, double service)
{
	static uint64_t cells[COZBPF_LATENCY_CELLS];
	struct point_record v = {.is_latency = true};
	double before = truth(q);

	q->service = service * (1 - speedup);
	memset(cells, 0, sizeof(cells));
	run_queue(q, q->now + 5 * fmax(before, truth(q)), NULL, NULL);
	run_queue(q, q->now + WINDOW, &v, cells);
	v.cells = calloc(COZBPF_LATENCY_CELLS, sizeof(*v.cells));
	for (uint32_t i = 0; i < COZBPF_LATENCY_CELLS; i++)
		if (cells[i])
			v.cells[v.n_cells++] = (struct latency_cell){i, cells[i]};
	add_record(p, speedup, &v);
}

/* @n experiments of each of four speedups in random order. */
static void fill(struct profile *p, uint64_t seed, double load, int n)
{
	static const double speedups[] = {0, 0.25, 0.5, 0.75};
	const double service = 2 * MS;
	struct queue q = {.rng = {seed}, .gap = service / load, .service = service};
	int left[4] = {n, n, n, n};

	profile_init(p);
	run_queue(&q, 100 * truth(&q), NULL, NULL);
	for (int i = 4 * n; i > 0; i--) {
		int pick = (int)rng_below(&q.rng, (uint64_t)i), cell = 0;

		while (pick >= left[cell])
			pick -= left[cell++];
		left[cell]--;
		experiment(&q, p, speedups[cell], service);
	}
}

static const struct estimate_line *latency_line(const struct estimate *e)
{
	for (size_t i = 0; i < e->n_lines; i++)
		if (e->lines[i].is_latency)
			return &e->lines[i];
	return NULL;
}

struct held {
	int points, means, p50, p99, n_points, n;
};

static void count_held(const struct estimate_line *l, double load, struct held *h)
{
	double w0 = 1 / ((1 / (2 * MS)) * (1 - load));

	for (size_t i = 0; i <= l->n_points; i++) {
		double s = i ? l->points[i - 1].line_speedup : 0,
		       w = 1 / (1 / (2 * MS * (1 - s)) - load / (2 * MS));
		const struct latency_figures *f = &l->latencies[i];

		h->n++;
		h->means += f->mean.lo <= w && w <= f->mean.hi;
		h->p50 += f->p50.lo <= w * log(2) && w * log(2) <= f->p50.hi;
		h->p99 += f->p99.lo <= w * log(100) && w * log(100) <= f->p99.hi;
		if (!i)
			continue;
		h->n_points++;
		h->points +=
		    l->points[i - 1].ci_lo <= 1 - w / w0 && 1 - w / w0 <= l->points[i - 1].ci_hi;
	}
}

static struct held coverage(double load, int n, int rounds)
{
	struct estimate_options o = {.replicates = 400, .scatter_only = true};
	struct held ret = {0};

	for (int i = 0; i < rounds; i++) {
		struct profile p;
		struct estimate e;

		o.seed = (uint64_t)i;
		fill(&p, (uint64_t)i * 77 + 5, load, n);
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		count_held(latency_line(&e), load, &ret);
		estimate_deinit(&e);
		profile_deinit(&p);
	}
	return ret;
}

/* 150 rounds: the standard deviation of a coverage of 94 % is 1.1 for 450 points, so 89 is more
 * than four below. */
TEST(intervals_cover)
{
	static const double loads[] = {0.5, 0.7};
	const char *long_run = getenv("COZBPF_LONG");

	for (size_t i = 0; i < 2; i++) {
		struct held h = coverage(loads[i], 12, 150);

		CHECK(h.points >= 0.89 * h.n_points);
		CHECK(h.means >= 0.89 * h.n);
		CHECK(h.p50 >= 0.89 * h.n);
		CHECK(h.p99 >= 0.83 * h.n);
	}
	for (size_t i = 0; long_run && i < 8; i++) {
		int n = (int[]){5, 8, 12, 30}[i % 4];
		struct held h = coverage(loads[i / 4], n, 1000);

		printf("%g %d: %.1f %.1f %.1f %.1f\n", loads[i / 4], n,
		    100.0 * h.points / h.n_points, 100.0 * h.means / h.n, 100.0 * h.p50 / h.n,
		    100.0 * h.p99 / h.n);
	}
}

/* 200 experiments of each speedup, some 25,000 requests: the means are known to 2 %, p99 to 4 %. */
TEST(values)
{
	struct estimate_options o = {.seed = 1};
	const struct estimate_line *l;
	struct profile p;
	struct estimate e;

	fill(&p, 4, 0.5, 200);
	CHECK_EQ(estimate_profile(&p, &o, &e), 0);
	CHECK_EQ(e.n_lines, 2);
	l = latency_line(&e);
	CHECK(l && l->latencies && l->n_points == 3);
	CHECK_EQ(l->verdict, VERDICT_OPTIMIZE);
	CHECK_EQ(l->shortage, SHORT_NONE);
	for (size_t i = 0; i <= 3; i++) {
		double s = 0.25 * (double)i, w = 1 / (1 / (2 * MS * (1 - s)) - 1 / (4 * MS));

		CHECK_NEAR(l->latencies[i].mean.value / w, 1, 0.04);
		CHECK_NEAR(l->latencies[i].pairs_mean / w, 1, 0.04);
		CHECK_NEAR(l->latencies[i].p50.value / (w * log(2)), 1, 0.05);
		CHECK_NEAR(l->latencies[i].p90.value / (w * log(10)), 1, 0.05);
		CHECK_NEAR(l->latencies[i].p99.value / (w * log(100)), 1, 0.1);
		if (i)
			CHECK_NEAR(l->points[i - 1].program_speedup, 1 - w / (4 * MS), 0.03);
	}
	/* The pair's throughput: the load comes from outside, so no line raises it. */
	for (size_t i = 0; i < e.n_lines; i++)
		if (!e.lines[i].is_latency)
			CHECK_NEAR(e.lines[i].slope, 0, 0.03);
	CHECK_EQ(e.n_latencies, 1);
	CHECK_STR(e.latencies[0].name, "request");
	CHECK_EQ(e.latencies[0].experiments, 800);
	CHECK(e.latencies[0].growth == 0);
	CHECK_EQ(e.latencies[0].missing, 0);
	CHECK_NEAR(e.latencies[0].now.mean.value, l->latencies[0].mean.value, 1);
	CHECK(e.latencies[0].now.mean.lo < 4 * MS && e.latencies[0].now.mean.hi > 4 * MS);
	estimate_deinit(&e);
	profile_deinit(&p);
}

static void add_plain(struct profile *p, double speedup, uint64_t arrivals, uint64_t departures,
    int64_t integral, int64_t least)
{
	struct point_record v = {.is_latency = true,
	    .arrivals = arrivals,
	    .departures = departures,
	    .delta = departures,
	    .difference = 3,
	    .has_integral = integral != 0,
	    .integral_ns = integral,
	    .least = least};

	add_record(p, speedup, &v);
}

/* Coz records the number in flight at the close, and no other figure: difference x duration /
 * arrivals. */
TEST(records_of_coz)
{
	struct estimate_options o = {.seed = 1, .min_speedups = 1};
	struct profile p;
	struct estimate e;
	const struct estimate_line *l;

	profile_init(&p);
	for (int i = 0; i < 6; i++) {
		add_plain(&p, 0, 100, 100, 0, 0);
		add_plain(&p, 0.5, 150, 150, 0, 0);
	}
	CHECK_EQ(estimate_profile(&p, &o, &e), 0);
	l = latency_line(&e);
	CHECK_NEAR(l->latencies[0].mean.value, 15 * MS, 1);
	CHECK_NEAR(l->latencies[1].mean.value, 10 * MS, 1);
	CHECK_NEAR(l->points[0].program_speedup, 1.0 / 3, 1e-9);
	CHECK(isnan(l->latencies[0].p99.value) && isnan(l->latencies[0].pairs_mean));
	CHECK_EQ(e.n_lines, 2);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* Two requests were in flight before anybody looked: the number went down to -2. In experiments
 * with a speedup that happens by itself. */
TEST(in_flight_before)
{
	struct estimate_options o = {.seed = 1, .min_speedups = 1};
	struct profile p;
	struct estimate e;
	const struct estimate_line *l;

	profile_init(&p);
	for (int i = 0; i < 6; i++) {
		add_plain(&p, 0, 100, 100, (int64_t)(2 * WINDOW), i == 3 ? -2 : 0);
		add_plain(&p, 0.5, 100, 100, (int64_t)WINDOW, -5);
	}
	CHECK_EQ(estimate_profile(&p, &o, &e), 0);
	l = latency_line(&e);
	CHECK_NEAR(l->latencies[0].mean.value, 4 * WINDOW / 100, 1);
	CHECK_NEAR(l->latencies[1].mean.value, 3 * WINDOW / 100, 1);
	CHECK_EQ(e.latencies[0].missing, 2);
	/* the present figure: without experiments with a speedup */
	CHECK_NEAR(e.latencies[0].in_flight, 4, 1e-9);
	estimate_deinit(&e);
	profile_deinit(&p);
}

/* In steady growth, arrivals outrun departures by a twentieth in each experiment. By chance they do
 * so now and then. */
TEST(growth_is_told)
{
	struct estimate_options o = {.seed = 1, .min_speedups = 1};

	for (int grows = 0; grows < 2; grows++) {
		struct profile p;
		struct estimate e;

		profile_init(&p);
		for (int i = 0; i < 12; i++)
			add_plain(&p, i % 2 ? 0.5 : 0, 100, grows ? 95 : 100 + (i % 4 < 2 ? 5 : -6),
			    (int64_t)WINDOW, 0);
		CHECK_EQ(estimate_profile(&p, &o, &e), 0);
		if (grows)
			CHECK_NEAR(e.latencies[0].growth, 100.0 / 95 - 1, 1e-9);
		else
			CHECK(e.latencies[0].growth == 0);
		estimate_deinit(&e);
		profile_deinit(&p);
	}
}
