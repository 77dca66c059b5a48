/* SPDX-License-Identifier: BSD-3-Clause */
/* The delay rules against the truth on simulated programs (refsim.h). */
#include "check.h"
#include "refsim.h"

#define US 1000ULL
#define MS 1000000ULL
#define A SIM_SELECTED
#define B 2

static const unsigned speedups[] = {25, 50, 75, 100};

static void hold_against_truth(const struct sim_case *c, const double *tolerance)
{
	struct sim_rules r = sim_rules_read();
	double predicted[4], actual[4];

	sim_truth(c, speedups, 4, 20000 * MS, actual);
	sim_predict(c, &r, speedups, 4, predicted);
	printf("   %-44s true %5.1f %5.1f %5.1f %5.1f  predicted %5.1f %5.1f %5.1f %5.1f\n", c->name, actual[0], actual[1], actual[2],
	    actual[3], predicted[0], predicted[1], predicted[2], predicted[3]);
	for (int i = 0; i < 4; i++)
		CHECK_NEAR(predicted[i], actual[i], tolerance[i]);
}
#define TOLERANCE(...) ((const double[4]){__VA_ARGS__})

static const struct sim_op a60_b40[] = {RUN(A, 6 * MS), RUN(B, 4 * MS), VISIT, LOOP};

TEST(independent)
{
	struct sim_case c = {.name = "2 threads, 2 CPUs, A 6 B 4 ms",
	    .programs = {a60_b40, a60_b40},
	    .n_threads = 2,
	    .cpus = 2,
	    .jitter_pct = 10,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(four_on_one)
{
	struct sim_case c = {.name = "4 threads, 1 CPU",
	    .programs = {a60_b40, a60_b40, a60_b40, a60_b40},
	    .n_threads = 4,
	    .cpus = 1,
	    .jitter_pct = 10,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(eight_on_two)
{
	struct sim_case c = {.name = "8 threads, 2 CPUs",
	    .programs = {a60_b40, a60_b40, a60_b40, a60_b40, a60_b40, a60_b40, a60_b40, a60_b40},
	    .n_threads = 8,
	    .cpus = 2,
	    .jitter_pct = 10,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(barrier)
{
	static const struct sim_op longer[] = {RUN(A, 5 * MS), BARRIER(0, 2), VISIT, LOOP};
	static const struct sim_op shorter[] = {RUN(B, 3 * MS), BARRIER(0, 2), LOOP};
	struct sim_case c = {
	    .name = "barrier, 5 and 3 ms", .programs = {longer, shorter}, .n_threads = 2, .cpus = 2, .jitter_pct = 5, .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(fine_barrier)
{
	static const struct sim_op longer[] = {RUN(A, 500 * US), BARRIER(0, 2), VISIT, LOOP};
	static const struct sim_op shorter[] = {RUN(B, 300 * US), BARRIER(0, 2), LOOP};
	struct sim_case c = {
	    .name = "barrier, 0.5 and 0.3 ms", .programs = {longer, shorter}, .n_threads = 2, .cpus = 2, .jitter_pct = 5, .wake_ns = 20000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(pingpong)
{
	static const struct sim_op ping[] = {RUN(A, 100 * US), PUSH(0, 1), POP(1), VISIT, LOOP};
	static const struct sim_op pong[] = {POP(0), RUN(B, 60 * US), PUSH(1, 1), LOOP};
	struct sim_case c = {
	    .name = "ping-pong, 0.1 and 0.06 ms", .programs = {ping, pong}, .n_threads = 2, .cpus = 2, .jitter_pct = 5, .wake_ns = 20000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(pipeline)
{
	static const struct sim_op first[] = {RUN(A, 4 * MS), PUSH(0, 4), LOOP};
	static const struct sim_op second[] = {POP(0), RUN(B, 2400 * US), VISIT, LOOP};
	struct sim_case c = {
	    .name = "pipeline, 4 and 2.4 ms", .programs = {first, second}, .n_threads = 2, .cpus = 2, .jitter_pct = 5, .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(mutex)
{
	static const struct sim_op locker[] = {RUN(B, 2 * MS), LOCK(0), RUN(A, 3 * MS), UNLOCK(0), VISIT, LOOP};
	struct sim_case c = {.name = "lock: 2 ms outside, 3 inside, 2 threads",
	    .programs = {locker, locker},
	    .n_threads = 2,
	    .cpus = 2,
	    .jitter_pct = 10,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(sleeper)
{
	static const struct sim_op sleeper[] = {SLEEP(3 * MS), RUN(B, 2 * MS), RUN(A, 1 * MS), VISIT, LOOP};
	static const struct sim_op bystander[] = {RUN(B, 1 * MS), LOOP};
	struct sim_case c = {.name = "sleep 3, B 2, A 1 ms beside a bystander",
	    .programs = {sleeper, bystander},
	    .n_threads = 2,
	    .cpus = 2,
	    .jitter_pct = 5,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(periodic)
{
	static const struct sim_op periodic[] = {TICK(10 * MS), RUN(B, 1 * MS), VISIT, LOOP};
	static const struct sim_op bystander[] = {RUN(A, 900 * US), RUN(B, 100 * US), LOOP};
	struct sim_case c = {.name = "10 ms timer beside a hot bystander",
	    .programs = {periodic, bystander},
	    .n_threads = 2,
	    .cpus = 2,
	    .jitter_pct = 5,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(spin_barrier)
{
	static const struct sim_op longer[] = {RUN(A, 5 * MS), SPIN_BARRIER(0, 2), VISIT, LOOP};
	static const struct sim_op shorter[] = {RUN(B, 3 * MS), SPIN_BARRIER(0, 2), LOOP};
	struct sim_case c = {
	    .name = "spin barrier, 5 and 3 ms", .programs = {longer, shorter}, .n_threads = 2, .cpus = 2, .jitter_pct = 5, .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(fork_join)
{
	static const struct sim_op parent[] = {RUN(B, 2 * MS), SPAWN(1), SPAWN(1), JOIN, VISIT, LOOP};
	static const struct sim_op child[] = {RUN(A, 3 * MS), RUN(B, 1 * MS), EXIT};
	struct sim_case c = {.name = "fork 2, A 3 B 1 ms each, join, B 2 ms",
	    .programs = {parent, child},
	    .n_threads = 1,
	    .cpus = 2,
	    .jitter_pct = 5,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}

TEST(short_threads)
{
	static const struct sim_op parent[] = {RUN(B, 200 * US), SPAWN(1), SPAWN(1), JOIN, VISIT, LOOP};
	static const struct sim_op child[] = {RUN(A, 300 * US), EXIT};
	struct sim_case c = {.name = "fork 2, A 0.3 ms each, join, B 0.2 ms",
	    .programs = {parent, child},
	    .n_threads = 1,
	    .cpus = 2,
	    .jitter_pct = 5,
	    .wake_ns = 5000};

	hold_against_truth(&c, TOLERANCE(3, 3, 3, 3));
}
