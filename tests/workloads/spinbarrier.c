// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two threads meet at a barrier of atomic increments, which waiters repeat all the time. The
 * partner's work draws numbers from a counter in the same cache line. The sooner the first thread
 * arrives, the longer it slows the partner down. So making its line faster loses: negative slope,
 * some -30 % for each quarter.
 */
#include "workload.h"

static long a_us = 3000, b_us = 3000, gap_ns = 60;
static uint64_t a_iters, b_draws, gap_iters;
static struct {
	uint64_t drawn, tries, arrived, round;
} shared __attribute__((aligned(64)));

/* Waits by trying again and again; each try takes the cache line away from the drawing thread. */
static void spin_barrier(uint64_t threads)
{
	uint64_t round = __atomic_load_n(&shared.round, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&shared.arrived, 1, __ATOMIC_ACQ_REL) == threads) {
		__atomic_store_n(&shared.arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&shared.round, round + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&shared.round, __ATOMIC_ACQUIRE) == round) {
		__atomic_add_fetch(&shared.tries, 1, __ATOMIC_RELAXED); /* LINE_C */
		SPIN(gap_iters);
	}
}

static void *run_a(void *argument)
{
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		spin_barrier(2);
		progress();
	}
	return NULL;
}

static void draw(uint64_t draws)
{
	for (uint64_t i = 0; i < draws; i++)
		__atomic_add_fetch(&shared.drawn, 1, __ATOMIC_RELAXED); /* LINE_B */
}

/* The draws that take @us while nobody else wants the line: machines differ by a factor of two. */
static uint64_t draws_in(double us)
{
	const uint64_t draws = 50000;
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t t0 = work_now_ns(), took;

		draw(draws);
		took = work_now_ns() - t0;
		best = took < best ? took : best;
	}
	return draws * us * 1000 / best;
}

static void *run_b(void *argument)
{
	for (;;) {
		draw(b_draws);
		spin_barrier(2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"gap-ns", &gap_ns}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_draws = draws_in(b_us);
	gap_iters = work_iters(gap_ns / 1000.0);
	work_thread(run_a, NULL);
	work_thread(run_b, NULL);
	work_wait();
}
