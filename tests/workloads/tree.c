// SPDX-License-Identifier: BSD-3-Clause
/*
 * Recursion: each thread walks a binary tree, A in each of its 31 inner nodes on the way down, B in
 * each of its 32 leaves. A walk is a visit. All inner nodes together take --a-us, all leaves
 * --b-us: making A faster by s gains s x A / (A + B).
 */
#include "workload.h"

#define DEPTH 5

static long a_us = 6000, b_us = 4000;
static uint64_t a_iters, b_iters;

static void walk(int depth) /* NOLINT(misc-no-recursion): recursion is under test */
{
	if (!depth) {
		SPIN(b_iters); /* LINE_B */
		return;
	}
	SPIN_LINE(a_iters); /* LINE_A */
	walk(depth - 1);
	walk(depth - 1);
}

static void *run(void *argument)
{
	/* threads start at different points of their cycle */
	SPIN(work_iters((a_us + b_us) * (double)(long)argument / work.threads));
	for (;;) {
		walk(DEPTH);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters((double)a_us / ((1 << DEPTH) - 1));
	b_iters = work_iters((double)b_us / (1 << DEPTH));
	for (long i = 0; i < work.threads; i++)
		work_thread(run, (void *)i);
	work_wait();
}
