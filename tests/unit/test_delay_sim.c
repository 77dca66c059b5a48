/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The delay rules against the truth, on simulated programs (sim_cases.h). Each case is predicted
 * twice: with a known share, where f is known at every moment and the first 50 ms of an experiment
 * are not counted, which tries the joins alone; and as sampled, as the product does it. The test
 * prints the table, in points of program speedup. `make bench-rules` prints what each rule does.
 *
 * Tolerances, in points, come from the spread to be expected. 30 experiments of 50 or more visits
 * each err by 0.5 / 50 / sqrt(30) = 0.2 % at their ends. 15000 samples of a thread put R at +- 1 %
 * of itself at most. Two such figures make a prediction, so 1 point is three deviations with a
 * known share, 1.5 as sampled. Other tolerances are what the case does today, and three deviations
 * of what it does with other seeds. Their causes:
 *
 * - Queues: what a speedup leaves in a queue is drained in the next experiment. Not counting the
 *   first 20 ms mends it.
 * - Locks: one that is taken without waiting is no edge that is seen, so the kinds of stretches on
 *   its two sides are not told apart.
 * - Three stages on two CPUs: the scheduler decides.
 * - 4 threads, 2 CPUs and a lock: FIT_CPUS says how long it took, not in which order.
 * - Spin locks: which of several threads let a spinner go on is a guess, and R holds what the
 *   forecast of a share gave too much.
 * - Children of two kinds: a thread that ends in debt is no edge for a parent that another one
 *   wakes later.
 * - A barrier of four threads on two CPUs is shown only: with a faster line one more thread would
 *   move to the CPU that becomes free, and no rule knows that.
 * - Light stages, at 100 %: the CPU of the line is virtually free, and no rule knows that. Errors
 *   were -3.3 with the share known, and -3.2 to -3.5 as sampled. Over six real programs
 *   predictions erred less without the rule that knew (docs/rules.md, *A rule that left*).
 * - A couple at a barrier, at 100 %: a round ends with the later one of two threads, so the errors
 *   of both their shares make rounds longer. Five seeds had -1.2 to -1.6.
 * - Quicksort: threads of a millisecond and of four kinds, which are told apart by few samples.
 */
#include "check.h"
#include "sim_cases.h"

static const unsigned speedups[] = {25, 50, 75, 100};

static void row(const char *name, const char *what, const double *v)
{
	printf("   %-44s %-12s %6.1f %6.1f %6.1f %6.1f\n", name, what, v[0], v[1], v[2], v[3]);
}

static void predict(
    const struct sim_trial *trial, bool known, const double *actual, double tolerance)
{
	struct sim_rules r = sim_trial_rules(trial, sim_rules_read(), known);
	double predicted[4];

	sim_predict(&trial->c, &r, speedups, 4, predicted);
	row("", known ? "known share" : "as sampled", predicted);
	for (int i = 0; i < 4 && tolerance > 0; i++)
		CHECK_NEAR(predicted[i], actual[i], tolerance);
}

static void hold_against_truth(const struct sim_trial *trial)
{
	double actual[4];

	sim_truth(&trial->c, speedups, 4, 20000 * MS, sim_rules_read().seed, actual);
	row(trial->c.name, "true", actual);
	if (trial->known > 0)
		predict(trial, true, actual, trial->known);
	predict(trial, false, actual, trial->sampled);
}

#define HOLD(id, ...)                            \
	TEST(id)                                 \
	{                                        \
		hold_against_truth(&trial_##id); \
	}
SIM_TRIALS(HOLD)

/* Time per visit of the program as it is, in us of virtual time. */
static double period_now(const struct sim_case *c, const struct sim_rules *r)
{
	static struct sim s;
	uint64_t duration = 0, visits = 0;

	sim_init(&s, c, r, r->seed);
	sim_run(&s, s.now + 100 * MS);
	for (unsigned i = 0; i < r->rounds; i++)
		sim_experiment(&s, 0, &duration, &visits);
	return (double)duration / (double)visits / 1e3;
}

/* Where samples are dear, 40 us, who executes half of the time takes 2 % longer for it. Accounted
 * for, it takes as long as without a profiler. */
TEST(dear_samples)
{
	static const struct sim_op sleeper[] = {SLEEP(3 * MS), RUN(B, 3 * MS), VISIT, LOOP};
	struct sim_case c = {.programs = {sleeper, bystander_1},
	    .n_threads = 2,
	    .cpus = 2,
	    .jitter_pct = 5,
	    .wake_ns = 5000};
	struct sim_rules r = sim_rules_read();
	double plain, accounted;

	r.sample_ns = 0;
	plain = period_now(&c, &r);
	r.sample_ns = 40 * US;
	CHECK_NEAR(period_now(&c, &r) / plain, 1.02, 0.004);
	r.told = r.accounted = true;
	accounted = period_now(&c, &r);
	printf("   period %.0f us, with dear samples that are accounted for %.0f us\n", plain,
	    accounted);
	CHECK_NEAR(accounted / plain, 1, 0.004); /* 2400 visits that vary by 2.4 %, twice: 0.07 % */
}

/* The case @t by the rules @r, which are not the usual ones but @what. */
static void hold_by(
    const struct sim_trial *t, const struct sim_rules *r, const char *what, double tolerance)
{
	double actual[4], predicted[4];

	sim_truth(&t->c, speedups, 4, 20000 * MS, r->seed, actual);
	row(t->c.name, "true", actual);
	sim_predict(&t->c, r, speedups, 4, predicted);
	row("", what, predicted);
	for (int k = 0; k < 4; k++)
		CHECK_NEAR(predicted[k], actual[k], tolerance);
}

/* Samples by the default period: threads of 4 ms are sampled a dozen times in a life, so the
 * samples of those before them have to tell of the whole life. Threads of 0.3 ms are sampled once.
 * Tolerances are those of the same cases at 1 ms. */
TEST(new_threads_sampled_often)
{
	struct sim_rules r = sim_rules_read();

	r.period_ns = 331 * US;
	hold_by(&trial_fork_join, &r, "each 331 us", trial_fork_join.sampled);
	hold_by(&trial_short_threads, &r, "each 331 us", trial_short_threads.sampled);
}

/* Mode `quanta`: debts below a quantum wait, and pauses are whole ones. Two points come from the
 * spread, as above, and the half quantum that a debt may be off by at an edge. Threads that mostly
 * sleep are off by six: a pause that holds the CPU takes it from others (SLEEP_OFF). */
TEST(pauses_of_quanta)
{
	static const struct sim_trial *const trials[] = {&trial_independent, &trial_eight_on_two,
	    &trial_barrier, &trial_pipeline, &trial_pingpong, &trial_short_threads,
	    &trial_ten_on_two};
	struct sim_rules r = sim_rules_read();

	r.quantum_ns = r.min_debt_ns = 200 * US;
	for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++)
		hold_by(trials[i], &r, "by quanta", 2);
}

/*
 * Two threads and one that sleeps share a lock, half a millisecond each. A thread in debt passes
 * through the lock before it is sampled and pays, so others wait for it that virtually come first.
 * Where debts are paid each 0.1 ms that is mended, at 75 and 100 % (docs/rules.md).
 */
TEST(debts_paid_late)
{
	static const struct sim_op works[] = {
	    LOCK(0), RUN(A, 500 * US), UNLOCK(0), RUN(B, 300 * US), VISIT, LOOP};
	static const struct sim_op sleeps[] = {
	    LOCK(0), RUN(B, 500 * US), UNLOCK(0), SLEEP(560 * US), LOOP};
	struct sim_case c = {.programs = {works, works, sleeps},
	    .n_threads = 3,
	    .cpus = 2,
	    .jitter_pct = 5,
	    .wake_ns = 5000};
	struct sim_rules r = sim_rules_read();
	double actual[4], predicted[4];

	sim_truth(&c, speedups, 4, 20000 * MS, r.seed, actual);
	row("lock of 0.5 ms, one sleeps between", "true", actual);
	sim_predict(&c, &r, speedups, 4, predicted);
	row("", "each ms", predicted);
	r.period_ns = 97 * US;
	r.min_debt_ns = 5 * US;
	sim_predict(&c, &r, speedups, 4, predicted);
	row("", "each 0.1 ms", predicted);
	CHECK_NEAR(predicted[2], actual[2], 8);
	CHECK_NEAR(predicted[3], actual[3], 2);
}

/*
 * A lock beside two outsiders that want an eighth of a CPU each, in bursts; a sample each 0.33 ms
 * as in the product. The tolerances are the mean of ten seeds and three deviations.
 */
TEST(lock_beside_outsiders)
{
	static const struct {
		uint64_t burst_us;
		double tolerance;
	} bursts[] = {{100, 3}, {1000, 1.5}, {5000, 2.8}, {20000, 2.8}};

	for (size_t i = 0; i < sizeof(bursts) / sizeof(*bursts); i++) {
		struct sim_case c = {.programs = {lock_2_4, lock_2_4},
		    .n_threads = 2,
		    .cpus = 2,
		    .jitter_pct = 10,
		    .wake_ns = 5000,
		    .outsiders = 2,
		    .outsider_ns = bursts[i].burst_us * US,
		    .outsider_every_ns = 8 * bursts[i].burst_us * US};
		struct sim_rules r = sim_rules_read();
		double actual[4], predicted[4];
		char name[64];

		r.period_ns = 331 * US;
		sim_truth(&c, speedups, 4, 20000 * MS, r.seed, actual);
		snprintf(name, sizeof(name), "lock, 2 threads, outsiders of %.1f ms",
		    (double)bursts[i].burst_us / 1e3);
		row(name, "true", actual);
		sim_predict(&c, &r, speedups, 4, predicted);
		row("", "as sampled", predicted);
		for (int k = 0; k < 4; k++)
			CHECK_NEAR(predicted[k], actual[k], bursts[i].tolerance);
	}
}

/*
 * Samples that are dear, 20 us and half of them before their program looks at the clock, keep a
 * thread that pauses from executing more than a baseline: one that has nothing to do with the line
 * seems to lose by it. Not where the rules know what they cost; but for that, each pause begins
 * with a sample that none accounts for.
 */
TEST(dear_samples_beside_the_line)
{
	struct sim_case c = {.programs = {line_09, beside_line},
	    .n_threads = 2,
	    .cpus = 2,
	    .jitter_pct = 5,
	    .wake_ns = 5000};
	static const unsigned faster[] = {25, 50, 75, 90};
	struct sim_rules r = sim_rules_read();
	double predicted[4];

	r.min_debt_ns = 50 * US;
	r.sample_ns = 20 * US;
	r.entry_ns = 10 * US;
	sim_predict(&c, &r, faster, 4, predicted);
	row("beside the line, samples of 20 us", "not known", predicted);
	CHECK(predicted[2] < -1 && predicted[3] < -3);
	r.told = true;
	sim_predict(&c, &r, faster, 4, predicted);
	row("", "known", predicted);
	for (int i = 0; i < 4; i++)
		CHECK_NEAR(predicted[i], 0, 1);
	r.period_ns = 331 * US;
	r.sample_ns = 45 * US;
	r.entry_ns = 34 * US;
	sim_predict(&c, &r, faster, 4, predicted);
	row("of 45 us, each 331", "known", predicted);
	for (int i = 0; i < 4; i++)
		CHECK_NEAR(predicted[i], 0, 1);
}
