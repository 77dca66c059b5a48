/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated programs whose prediction is held against the truth: by test_delay_sim.c, with
 * tolerances, and by tests/bench/rules.c, with rules turned off. To add one: a line in SIM_TRIALS.
 */
#ifndef COZBPF_TESTS_SIM_CASES_H
#define COZBPF_TESTS_SIM_CASES_H

#include "refsim.h"

#define US 1000ULL
#define MS 1000000ULL
#define A SIM_SELECTED
#define B 2
#define C 3

/* A program, how it is profiled where that is not as usual, and what its prediction may err by. */
struct sim_trial {
	struct sim_case c;
	double known;   /* points, with f known and the start not counted; 0: not tried */
	double sampled; /* points, as the product does it; 0: shown, since no rule serves it */
	/* 0: as in sim_rules_default() */
	uint64_t sample_ns, entry_ns;
	uint32_t min_debt_ns;
	bool told, accounted, uprobe, sleep, cold;
};

static const struct sim_op a60_b40[] = {RUN(A, 6 * MS), RUN(B, 4 * MS), VISIT, LOOP};
#define A60_B40_4 a60_b40, a60_b40, a60_b40, a60_b40

static const struct sim_op seldom[] = {SLEEP(20 * MS), RUN(B, 2 * MS), LOOP},
			   often[] = {SLEEP(5 * MS), RUN(B, 1 * MS), LOOP};

static const struct sim_op barrier_5[] = {RUN(A, 5 * MS), BARRIER(0, 2), VISIT, LOOP},
			   barrier_3[] = {RUN(B, 3 * MS), BARRIER(0, 2), LOOP},
			   barrier_05[] = {RUN(A, 500 * US), BARRIER(0, 2), VISIT, LOOP},
			   barrier_03[] = {RUN(B, 300 * US), BARRIER(0, 2), LOOP},
			   spin_5[] = {RUN(A, 5 * MS), SPIN_BARRIER(0, 2), VISIT, LOOP},
			   spin_3[] = {RUN(B, 3 * MS), SPIN_BARRIER(0, 2), LOOP},
			   spin_27[] = {RUN(B, 2700 * US), SPIN_BARRIER(0, 2), VISIT, LOOP},
			   spin_16[] = {RUN(B, 1600 * US), SPIN_BARRIER(0, 2), LOOP},
			   spin_005[] = {RUN(A, 50 * US), SPIN_BARRIER(0, 2), VISIT, LOOP},
			   spin_003[] = {RUN(B, 30 * US), SPIN_BARRIER(0, 2), LOOP},
			   ticket_2_4[] = {RUN(B, 2 * MS), TICKET(0), RUN(A, 4 * MS), GIVE(0),
			       VISIT, LOOP},
			   ticket_fine[] = {RUN(B, 100 * US), TICKET(0), RUN(A, 200 * US), GIVE(0),
			       VISIT, LOOP},
			   parts_2_2[] = {RUN(A, 2 * MS), BARRIER(0, 2), RUN(B, 2 * MS),
			       BARRIER(0, 2), VISIT, LOOP},
			   parts_12_25[] = {RUN(B, 1200 * US), BARRIER(0, 2), RUN(B, 2500 * US),
			       BARRIER(0, 2), LOOP};

static const struct sim_op ping[] = {RUN(A, 100 * US), PUSH(0, 1), POP(1), VISIT, LOOP},
			   pong[] = {POP(0), RUN(B, 60 * US), PUSH(1, 1), LOOP};

static const struct sim_op pipe_4[] = {RUN(A, 4 * MS), PUSH(0, 4), LOOP},
			   pipe_24[] = {POP(0), RUN(B, 2400 * US), VISIT, LOOP},
			   middle_02[] = {POP(0), RUN(B, 200 * US), PUSH(1, 4), LOOP},
			   last_1[] = {POP(1), RUN(B, 1 * MS), VISIT, LOOP},
			   middle_1[] = {POP(0), RUN(B, 1 * MS), PUSH(1, 4), LOOP},
			   last_24[] = {POP(1), RUN(B, 2400 * US), VISIT, LOOP},
			   stage_1[] = {RUN(B, 1200 * US), PUSH(0, 3), LOOP},
			   stage_2[] = {POP(0), RUN(A, 1500 * US), RUN(B, 500 * US), PUSH(1, 3),
			       LOOP},
			   stage_3[] = {POP(1), RUN(B, 900 * US), VISIT, LOOP};

static const struct sim_op producer[] = {RUN(B, 500 * US), PUSH(0, 4), LOOP},
			   worker[] = {POP(0), RUN(A, 1 * MS), RUN(B, 1 * MS), VISIT, LOOP};

static const struct sim_op lock_2_3[] = {RUN(B, 2 * MS), LOCK(0), RUN(A, 3 * MS), UNLOCK(0), VISIT,
    LOOP},
			   lock_2_4[] = {RUN(B, 2 * MS), LOCK(0), RUN(A, 4 * MS), UNLOCK(0), VISIT,
			       LOOP},
			   lock_1_05[] = {RUN(B, 1 * MS), LOCK(0), RUN(A, 500 * US), UNLOCK(0),
			       VISIT, LOOP},
			   two_locks_op[] = {LOCK(0), RUN(A, 1 * MS), UNLOCK(0), LOCK(1),
			       RUN(B, 1 * MS), UNLOCK(1), RUN(B, 300 * US), VISIT, LOOP};

static const struct sim_op meets_a[] = {RUN(A, 4 * MS), RUN(B, 1 * MS), BARRIER(0, 2), VISIT, LOOP},
			   meets_c[] = {RUN(C, 4 * MS), RUN(B, 1 * MS), BARRIER(0, 2), LOOP},
			   feeds_c[] = {RUN(B, 500 * US), RUN(C, 3500 * US), PUSH(0, 4), LOOP},
			   fed_a[] = {POP(0), RUN(A, 2500 * US), RUN(B, 500 * US), VISIT, LOOP},
			   lock_a_c[] = {RUN(C, 2 * MS), RUN(B, 1 * MS), LOCK(0), RUN(A, 2 * MS),
			       UNLOCK(0), VISIT, LOOP},
			   beside_a[] = {RUN(A, 4 * MS), RUN(B, 2 * MS), LOOP},
			   beside_c[] = {RUN(C, 3 * MS), RUN(B, 2 * MS), VISIT, LOOP};

/* What is faster is the sleep. */
static const struct sim_op wait_3[] = {SLEEP_A(3 * MS), RUN(B, 2 * MS), VISIT, LOOP},
			   by_1[] = {RUN(B, 1 * MS), LOOP},
			   wait_1[] = {SLEEP(3 * MS), SLEEP_A(1 * MS), RUN(B, 1 * MS), VISIT, LOOP},
			   wait_barrier[] = {SLEEP_A(5 * MS), BARRIER(0, 2), VISIT, LOOP},
			   wait_push[] = {SLEEP_A(4 * MS), PUSH(0, 4), LOOP},
			   wait_lock[] = {
			       SLEEP_A(2 * MS), LOCK(0), RUN(B, 1500 * US), UNLOCK(0), VISIT, LOOP};

static const struct sim_op sleeps_3[] = {SLEEP(3 * MS), RUN(B, 2 * MS), RUN(A, 1 * MS), VISIT,
    LOOP},
			   sleeps_half[] = {SLEEP(3 * MS), RUN(A, 1500 * US), RUN(B, 1500 * US),
			       VISIT, LOOP},
			   bystander_1[] = {RUN(B, 1 * MS), LOOP};

static const struct sim_op fork_3_1[] = {RUN(B, 2 * MS), SPAWN(1), SPAWN(1), JOIN, VISIT, LOOP},
			   child_3_1[] = {RUN(A, 3 * MS), RUN(B, 1 * MS), EXIT},
			   fork_short[] = {RUN(B, 200 * US), SPAWN(1), SPAWN(1), JOIN, VISIT, LOOP},
			   child_short[] = {RUN(A, 300 * US), EXIT},
			   fork_kinds[] = {RUN(B, 1 * MS), SPAWN(1), SPAWN(2), JOIN, VISIT, LOOP},
			   child_line[] = {RUN(A, 5 * MS), EXIT},
			   child_other[] = {RUN(B, 3 * MS), EXIT},
			   fork_briefly[] = {SPAWN(1), SPAWN(2), JOIN, VISIT, LOOP},
			   child_line_06[] = {RUN(A, 600 * US), EXIT},
			   child_other_04[] = {RUN(B, 400 * US), EXIT},
			   fork_beside[] = {RUN(B, 200 * US), SPAWN(2), SPAWN(2), JOIN, VISIT,
			       LOOP},
			   child_beside[] = {RUN(B, 300 * US), EXIT};

static const struct sim_op herd_leader[] = {RUN(A, 3 * MS), BARRIER(0, 7), BARRIER(1, 7), VISIT,
    LOOP},
			   herd_waiter[] = {BARRIER(0, 7), RUN(B, 500 * US), BARRIER(1, 7), LOOP},
			   herd_leader_b[] = {RUN(B, 3 * MS), BARRIER(0, 7), BARRIER(1, 7), VISIT,
			       LOOP},
			   herd_waiter_a[] = {BARRIER(0, 7), RUN(A, 500 * US), BARRIER(1, 7), LOOP},
			   first_of_4[] = {RUN(A, 2400 * US), BARRIER(0, 4), VISIT, LOOP},
			   line_of_4[] = {RUN(A, 2400 * US), BARRIER(0, 4), LOOP},
			   other_of_4[] = {RUN(B, 1600 * US), BARRIER(0, 4), LOOP},
			   spin_03[] = {RUN(A, 300 * US), SPIN_BARRIER(0, 2), VISIT, LOOP},
			   spin_018[] = {RUN(B, 180 * US), SPIN_BARRIER(0, 2), LOOP};

/* A quicksort of 25 pieces: divided twice in 3 to 2, half a part to a new thread. */
static const struct sim_op sort_25[] = {RUN(A, 1250 * US), SPAWN(1), RUN(A, 500 * US), SPAWN(3),
    RUN(B, 600 * US), JOIN, VISIT, LOOP},
			   sort_15[] = {RUN(A, 750 * US), SPAWN(2), RUN(B, 900 * US), JOIN, EXIT},
			   sort_9[] = {RUN(B, 1350 * US), EXIT},
			   sort_6[] = {RUN(B, 900 * US), EXIT};

static const struct sim_op line_09[] = {RUN(A, 900 * US), RUN(B, 100 * US), LOOP},
			   beside_line[] = {RUN(B, MS), VISIT, LOOP};

static const struct sim_op ticks[] = {TICK(10 * MS), RUN(B, 1 * MS), VISIT, LOOP},
			   ticks_late[] = {TICK(10 * MS), RUN(B, 8 * MS), VISIT, LOOP},
			   ticks_feed[] = {TICK(10 * MS), RUN(B, 300 * US), PUSH(0, 4), LOOP},
			   fed[] = {POP(0), RUN(B, 1 * MS), VISIT, LOOP},
			   ticks_offer[] = {TICK(2400 * US), RUN(B, 5 * US), OFFER(0, 1), LOOP},
			   fed_slow[] = {POP(0), RUN(A, 4 * MS), RUN(B, 1 * MS), VISIT, LOOP},
			   a_fifth[] = {RUN(A, 70 * US), RUN(B, 280 * US), LOOP};

#define SIM_CASE(id, n, on, jitter, ...) \
	.c = {.name = (id), .n_threads = (n), .cpus = (on), .jitter_pct = (jitter), __VA_ARGS__}
#define OF(...) .programs = {__VA_ARGS__}, .wake_ns = 5000
/* Outsiders: as the bench's noise `busy`, and as on a machine that is never quite idle. They
 * compete with the program's threads, each in its turn. Tolerances beside BURSTS are the means over
 * ten seeds and three deviations. */
#define BURSTS .outsiders = 1, .outsider_ns = 5 * MS, .outsider_every_ns = 20 * MS
#define OUTSIDERS .outsiders = 2, .outsider_ns = MS, .outsider_every_ns = 9700 * US

/* X(NAME, FIELDS...) */
#define SIM_TRIALS(X)                                                                              \
	X(independent, SIM_CASE("2 threads, 2 CPUs, A 6 B 4 ms", 2, 2, 10, OF(a60_b40, a60_b40)),  \
	    .known = 1, .sampled = 1.5)                                                            \
	X(beside_outsiders,                                                                        \
	    SIM_CASE(                                                                              \
		"2 threads, 2 CPUs, outsiders 10 %", 2, 2, 10, OF(a60_b40, a60_b40), OUTSIDERS),   \
	    .known = 1.5, .sampled = 1.5)                                                          \
	X(eight_beside_outsiders,                                                                  \
	    SIM_CASE("8 threads, 2 CPUs, outsiders 10 %", 8, 2, 10, OF(A60_B40_4, A60_B40_4),      \
		OUTSIDERS),                                                                        \
	    .known = 1.5, .sampled = 1.5)                                                          \
	X(four_beside_bursts,                                                                      \
	    SIM_CASE("4 threads, 2 CPUs, bursts of 5 ms", 4, 2, 10, OF(A60_B40_4), BURSTS),        \
	    .known = 2.3, .sampled = 2.2)                                                          \
	X(barrier_beside_bursts,                                                                   \
	    SIM_CASE("barrier, 5 and 3 ms, bursts of 5 ms", 2, 2, 20, OF(barrier_5, barrier_3),    \
		BURSTS),                                                                           \
	    .known = 2, .sampled = 2)                                                              \
	X(pipeline_beside_bursts,                                                                  \
	    SIM_CASE(                                                                              \
		"pipeline, 4 and 2.4 ms, bursts of 5 ms", 2, 2, 20, OF(pipe_4, pipe_24), BURSTS),  \
	    .known = 2.2, .sampled = 2)                                                            \
	X(four_on_one, SIM_CASE("4 threads, 1 CPU", 4, 1, 10, OF(A60_B40_4)), .known = 1,          \
	    .sampled = 1.5)                                                                        \
	X(eight_on_two, SIM_CASE("8 threads, 2 CPUs", 8, 2, 10, OF(A60_B40_4, A60_B40_4)),         \
	    .known = 1, .sampled = 1.5)                                                            \
	/* Threads that mostly sleep, on the CPUs of others: they owe what accrued meanwhile. */   \
	X(one_sleeps_seldom,                                                                       \
	    SIM_CASE("2 threads, one that sleeps 20, runs 2 ms", 3, 2, 5,                          \
		OF(a60_b40, a60_b40, seldom), .wake_preempts = true),                              \
	    .known = 1, .sampled = 1.5)                                                            \
	X(one_sleeps_often,                                                                        \
	    SIM_CASE("2 threads, one that sleeps 5, runs 1 ms", 3, 2, 5,                           \
		OF(a60_b40, a60_b40, often), .wake_preempts = true),                               \
	    .known = 1, .sampled = 1.5)                                                            \
	X(barrier, SIM_CASE("barrier, 5 and 3 ms", 2, 2, 5, OF(barrier_5, barrier_3)), .known = 1, \
	    .sampled = 1.5)                                                                        \
	X(fine_barrier,                                                                            \
	    SIM_CASE("barrier, 0.5 and 0.3 ms", 2, 2, 5, .programs = {barrier_05, barrier_03},     \
		.wake_ns = 20000),                                                                 \
	    .known = 1, .sampled = 1.5)                                                            \
	X(pingpong,                                                                                \
	    SIM_CASE("ping-pong, 0.1 and 0.06 ms", 2, 2, 5, .programs = {ping, pong},              \
		.wake_ns = 20000),                                                                 \
	    .known = 1.2, .sampled = 1.2)                                                          \
	X(pipeline, SIM_CASE("pipeline, 4 and 2.4 ms", 2, 2, 5, OF(pipe_4, pipe_24)), .known = 1,  \
	    .sampled = 2.3)                                                                        \
	X(mutex,                                                                                   \
	    SIM_CASE("lock: 2 ms outside, 3 inside, 2 threads", 2, 2, 10, OF(lock_2_3, lock_2_3)), \
	    .known = 1, .sampled = 1.5)                                                            \
	/* Near 100 % the lock is free and the CPUs are the bottleneck (FIT_CPUS). */              \
	X(lock_and_two_cpus,                                                                       \
	    SIM_CASE("lock: 2 ms outside, 4 in, 4 on 2 CPUs", 4, 2, 5,                             \
		OF(lock_2_4, lock_2_4, lock_2_4, lock_2_4)),                                       \
	    .known = 3, .sampled = 3.5)                                                            \
	X(sleeper,                                                                                 \
	    SIM_CASE(                                                                              \
		"sleep 3, B 2, A 1 ms beside a bystander", 2, 2, 5, OF(sleeps_3, bystander_1)),    \
	    .known = 1, .sampled = 1.5)                                                            \
	/* Work that is paced from outside gains nothing from any line. */                         \
	X(paced_from_outside,                                                                      \
	    SIM_CASE("10 ms timer beside a bystander, A a fifth", 2, 2, 30, OF(ticks, a_fifth)),   \
	    .sampled = 0.2)                                                                        \
	X(spin_barrier, SIM_CASE("spin barrier, 5 and 3 ms", 2, 2, 5, OF(spin_5, spin_3)),         \
	    .known = 1, .sampled = 1.5)                                                            \
	X(fork_join,                                                                               \
	    SIM_CASE("fork 2, A 3 B 1 ms each, join, B 2 ms", 1, 2, 5, OF(fork_3_1, child_3_1)),   \
	    .known = 1, .sampled = 2.5)                                                            \
	X(short_threads,                                                                           \
	    SIM_CASE(                                                                              \
		"fork 2, A 0.3 ms each, join, B 0.2 ms", 1, 2, 5, OF(fork_short, child_short)),    \
	    .known = 1, .sampled = 1.5)                                                            \
	X(convoy,                                                                                  \
	    SIM_CASE("lock convoy: 1 ms outside, 0.5 in, 4 on 4", 4, 4, 20,                        \
		OF(lock_1_05, lock_1_05, lock_1_05, lock_1_05)),                                   \
	    .known = 1.8, .sampled = 10.5)                                                         \
	X(two_locks,                                                                               \
	    SIM_CASE("two locks: A 1 ms in one, B 1 in the other", 3, 4, 20,                       \
		OF(two_locks_op, two_locks_op, two_locks_op)),                                     \
	    .known = 1.5, .sampled = 2.5)                                                          \
	/* A pipeline of three: the middle one is woken on the last one's CPU, while the first */  \
	/* holds the other one with the line. Virtually that one is free. */                       \
	X(light_stages,                                                                            \
	    SIM_CASE("three stages, 4, 0.2 and 1 ms on 2 CPUs", 3, 2, 5,                           \
		OF(pipe_4, middle_02, last_1), .wake_here = true),                                 \
	    .known = 4, .sampled = 4)                                                              \
	X(heavy_stages,                                                                            \
	    SIM_CASE("three stages, 4, 1 and 2.4 ms on 2 CPUs", 3, 2, 5,                           \
		OF(pipe_4, middle_1, last_24), .wake_here = true),                                 \
	    .known = 5, .sampled = 6)                                                              \
	X(three_on_two, SIM_CASE("3 threads, 2 CPUs", 3, 2, 10, OF(a60_b40, a60_b40, a60_b40)),    \
	    .known = 1, .sampled = 1.5)                                                            \
	X(pool,                                                                                    \
	    SIM_CASE("pool: 0.5 ms each to 3 workers, A 1 B 1 ms", 4, 4, 20,                       \
		OF(producer, worker, worker, worker)),                                             \
	    .known = 1, .sampled = 1.5)                                                            \
	X(three_stages,                                                                            \
	    SIM_CASE("three stages, the middle A 1.5 B 0.5 ms", 3, 4, 20,                          \
		OF(stage_1, stage_2, stage_3)),                                                    \
	    .known = 1, .sampled = 1.4)                                                            \
	X(ten_on_two,                                                                              \
	    SIM_CASE("10 threads, 2 CPUs", 10, 2, 10, OF(A60_B40_4, A60_B40_4, a60_b40, a60_b40)), \
	    .known = 1, .sampled = 1.5)                                                            \
	X(barrier_two_parts,                                                                       \
	    SIM_CASE(                                                                              \
		"two barriers: A 2 | 1.2, B 2 | 2.5 ms", 2, 2, 10, OF(parts_2_2, parts_12_25)),    \
	    .known = 1, .sampled = 1.5)                                                            \
	X(herd,                                                                                    \
	    SIM_CASE("A 3 ms, then 6 threads of 0.5 ms, 2 CPUs", 7, 2, 5,                          \
		OF(herd_leader, herd_waiter, herd_waiter, herd_waiter, herd_waiter, herd_waiter,   \
		    herd_waiter)),                                                                 \
	    .known = 1, .sampled = 1.5)                                                            \
	X(herd_line,                                                                               \
	    SIM_CASE("B 3 ms, then 6 threads of A 0.5 ms, 2 CPUs", 7, 2, 5,                        \
		OF(herd_leader_b, herd_waiter_a, herd_waiter_a, herd_waiter_a, herd_waiter_a,      \
		    herd_waiter_a, herd_waiter_a)),                                                \
	    .known = 1, .sampled = 1.5)                                                            \
	X(four_meet_on_two,                                                                        \
	    SIM_CASE("barrier of 4 on 2 CPUs, A 2.4 twice, B 1.6 ms", 4, 2, 5,                     \
		OF(first_of_4, line_of_4, other_of_4, other_of_4)),                                \
	    .known = 0)                                                                            \
	X(short_spin_barrier,                                                                      \
	    SIM_CASE("spin barrier, 0.3 and 0.18 ms", 2, 2, 5, OF(spin_03, spin_018)), .known = 1, \
	    .sampled = 1.5)                                                                        \
	X(divide,                                                                                  \
	    SIM_CASE("quicksort, A divides, new threads", 1, 2, 5,                                 \
		OF(sort_25, sort_15, sort_9, sort_6)),                                             \
	    .known = 1, .sampled = 6.5)                                                            \
	SIM_TRIALS_OF_RULES(X)

/* Situations that single rules are for. */
#define SIM_TRIALS_OF_RULES(X)                                                                    \
	X(cold_start,                                                                             \
	    SIM_CASE("2 threads just started, A 6 B 4 ms", 2, 2, 10, OF(a60_b40, a60_b40)),       \
	    .cold = true, .sampled = 2)                                                           \
	X(sleeping_pauses,                                                                        \
	    SIM_CASE("2 threads, pauses that sleep", 2, 2, 10, OF(a60_b40, a60_b40)),             \
	    .sleep = true, .sampled = 1.5)                                                        \
	/* At 50 % the longer child is another one, virtually. */                                 \
	X(two_kinds_of_children,                                                                  \
	    SIM_CASE("fork A 5 and B 3 ms, join, B 1 ms", 1, 2, 5,                                \
		OF(fork_kinds, child_line, child_other)),                                         \
	    .known = 1, .sampled = 1.5)                                                           \
	X(two_kinds_of_short_threads,                                                             \
	    SIM_CASE("fork A 0.6 and B 0.4 ms, join", 1, 2, 5,                                    \
		OF(fork_briefly, child_line_06, child_other_04)),                                 \
	    .known = 1, .sampled = 1.5)                                                           \
	X(forks_beside_the_line,                                                                  \
	    SIM_CASE("fork 2 of 0.3 ms, join, beside the line", 2, 4, 5,                          \
		OF(fork_beside, line_09, child_beside)),                                          \
	    .sampled = 3)                                                                         \
	/* Spinners meet no edge that the kernel sees (JOIN_SPIN and its like). */                \
	X(spin_lock,                                                                              \
	    SIM_CASE("spin lock: 2 ms outside, 4 in", 2, 2, 5, OF(ticket_2_4, ticket_2_4)),       \
	    .sampled = 1.5)                                                                       \
	X(spin_lock_of_three,                                                                     \
	    SIM_CASE("spin lock: 2 ms outside, 4 in, 3 threads", 3, 4, 5,                         \
		OF(ticket_2_4, ticket_2_4, ticket_2_4)),                                          \
	    .sampled = 5)                                                                         \
	X(fine_spin_lock,                                                                         \
	    SIM_CASE("spin lock: 0.1 ms outside, 0.2 in", 2, 2, 5, OF(ticket_fine, ticket_fine)), \
	    .sampled = 4.5)                                                                       \
	X(fine_spin_barrier,                                                                      \
	    SIM_CASE("spin barrier, 0.05 and 0.03 ms", 2, 2, 5, OF(spin_005, spin_003)),          \
	    .known = 1, .sampled = 1.5)                                                           \
	X(spin_barrier_beside,                                                                    \
	    SIM_CASE("spin barrier, 2.7 and 1.6 ms, beside the line", 3, 4, 5,                    \
		OF(spin_27, spin_16, line_09)),                                                   \
	    .sampled = 1.5)                                                                       \
	X(paced_by_another,                                                                       \
	    SIM_CASE("10 ms timer feeds one, beside a bystander", 3, 2, 30,                       \
		OF(ticks_feed, fed, a_fifth)),                                                    \
	    .sampled = 0.5)                                                                       \
	/* Whose items differ much: at times the next one is not there yet. */                    \
	X(outpaced,                                                                               \
	    SIM_CASE("2.4 ms timer feeds one of 5 ms", 2, 2, 80, OF(ticks_offer, fed_slow)),      \
	    .sampled = 2)                                                                         \
	/* The next one is always there: it waits for the first one alone. */                     \
	X(outpaced_always,                                                                        \
	    SIM_CASE("2.4 ms timer, ahead of one of 5 ms", 2, 2, 5, OF(ticks_offer, fed_slow)),   \
	    .sampled = 2)                                                                         \
	X(late_ticks,                                                                             \
	    SIM_CASE("10 ms timer, some missed, beside one", 2, 2, 50, OF(ticks_late, a_fifth)),  \
	    .sampled = 1.5)                                                                       \
	X(samples_beside_the_line,                                                                \
	    SIM_CASE("beside the line, samples of 20 us", 2, 2, 5, OF(line_09, beside_line)),     \
	    .min_debt_ns = 50 * US, .sample_ns = 20 * US, .entry_ns = 10 * US, .told = true,      \
	    .sampled = 1)                                                                         \
	X(samples_accounted,                                                                      \
	    SIM_CASE("sleep 3, A 1.5 B 1.5 ms, samples of 40 us", 2, 2, 5,                        \
		OF(sleeps_half, bystander_1)),                                                    \
	    .sample_ns = 40 * US, .told = true, .accounted = true, .sampled = 1.5)                \
	/* Two lines at once. */                                                                  \
	X(one_of_a_couple,                                                                        \
	    SIM_CASE("barrier, A 4 B 1 | C 4 B 1 ms, A alone", 2, 2, 5, OF(meets_a, meets_c)),    \
	    .known = 1, .sampled = 1.5)                                                           \
	X(couple_at_a_barrier,                                                                    \
	    SIM_CASE("barrier, A 4 B 1 | C 4 B 1 ms, A and C", 2, 2, 5, OF(meets_a, meets_c),     \
		.other = C),                                                                      \
	    .known = 1, .sampled = 2)                                                             \
	X(couple_in_a_pipeline,                                                                   \
	    SIM_CASE("pipeline, C 3.5 B 0.5 | A 2.5 B 0.5, A and C", 2, 2, 5, OF(feeds_c, fed_a), \
		.other = C),                                                                      \
	    .known = 1, .sampled = 1.5)                                                           \
	X(couple_around_a_lock,                                                                   \
	    SIM_CASE("lock, C 2 B 1, A 2 inside, A and C", 2, 2, 10, OF(lock_a_c, lock_a_c),      \
		.other = C),                                                                      \
	    .sampled = 1.5)                                                                       \
	X(couple_side_by_side,                                                                    \
	    SIM_CASE("C 3 B 2 ms beside A 4 B 2 ms, A and C", 2, 2, 5, OF(beside_a, beside_c),    \
		.other = C),                                                                      \
	    .known = 1, .sampled = 1.5)                                                           \
	X(shorter_sleep,                                                                          \
	    SIM_CASE("sleep 3, run 2 ms, beside one: the sleep", 2, 2, 5, OF(wait_3, by_1),       \
		.selects = SIM_SLEEPS),                                                           \
	    .sampled = 1)                                                                         \
	X(one_of_two_sleeps,                                                                      \
	    SIM_CASE("sleep 3, sleep 1, run 1 ms: the second sleep", 2, 2, 5, OF(wait_1, by_1),   \
		.selects = SIM_SLEEPS),                                                           \
	    .sampled = 1)                                                                         \
	X(sleep_before_a_barrier,                                                                 \
	    SIM_CASE("sleep 5, barrier, run 3 ms: the sleep", 2, 2, 5,                            \
		OF(wait_barrier, barrier_3), .selects = SIM_SLEEPS),                              \
	    .sampled = 1.5)                                                                       \
	X(sleep_feeds_a_queue,                                                                    \
	    SIM_CASE("sleep 4, queue, run 2.4 ms: the sleep", 2, 2, 5, OF(wait_push, pipe_24),    \
		.selects = SIM_SLEEPS),                                                           \
	    .sampled = 2.8)                                                                       \
	X(sleep_before_a_lock,                                                                    \
	    SIM_CASE("sleep 2, lock of 1.5 ms: the sleep", 2, 2, 5, OF(wait_lock, wait_lock),     \
		.selects = SIM_SLEEPS),                                                           \
	    .sampled = 5)                                                                         \
	X(calls_pingpong,                                                                         \
	    SIM_CASE("ping-pong, by calls", 2, 2, 5, .programs = {ping, pong}, .wake_ns = 20000), \
	    .uprobe = true, .sampled = 1.2)                                                       \
	X(calls_barrier,                                                                          \
	    SIM_CASE("barrier, 5 and 3 ms, by calls", 2, 2, 5, OF(barrier_5, barrier_3)),         \
	    .uprobe = true, .sampled = 1.5)                                                       \
	X(calls_pipeline,                                                                         \
	    SIM_CASE("pipeline, 4 and 2.4 ms, by calls", 2, 2, 5, OF(pipe_4, pipe_24)),           \
	    .uprobe = true, .sampled = 2.3)                                                       \
	X(calls_mutex,                                                                            \
	    SIM_CASE("lock: 2 ms outside, 3 inside, by calls", 2, 2, 10, OF(lock_2_3, lock_2_3)), \
	    .uprobe = true, .sampled = 6)

#define SIM_DEFINE_TRIAL(id, ...) static const struct sim_trial trial_##id = {__VA_ARGS__};
SIM_TRIALS(SIM_DEFINE_TRIAL)
#undef SIM_DEFINE_TRIAL

/* @r as the trial asks for it; @known: f known at every moment, the start not counted. */
static struct sim_rules sim_trial_rules(
    const struct sim_trial *trial, struct sim_rules r, bool known)
{
	if (trial->sample_ns)
		r.sample_ns = trial->sample_ns;
	if (trial->entry_ns)
		r.entry_ns = trial->entry_ns;
	if (trial->min_debt_ns)
		r.min_debt_ns = trial->min_debt_ns;
	r.told |= trial->told;
	r.accounted |= trial->accounted;
	r.uprobe |= trial->uprobe;
	r.sleep |= trial->sleep;
	r.cold |= trial->cold;
	if (known) {
		r.oracle = true;
		r.settle_ns = 50 * MS;
	}
	return r;
}

#endif
