// SPDX-License-Identifier: BSD-3-Clause
/*
 * OpenMP's parallel for over 16 pieces, then a visit. --schedule static: the first thread's half
 * runs the line (0.6 ms a piece), the second one's something else (0.4 ms); gains are
 * min(s, 1 / 3). --schedule dynamic: pieces of both kinds in turn go to whoever is free. With more
 * threads than two the static line is the first half's still. --wait active spins, passive sleeps.
 */
#include "workload.h"

#include <omp.h>

#define PIECES 16

static long a_us = 600, b_us = 400;
static const char *schedule = "static", *waits = "passive";
static uint64_t a_iters, b_iters;

/* libgomp reads this before main(). */
static void set_wait_policy(char **argv)
{
	if (getenv("OMP_WAIT_POLICY"))
		return;
	setenv("OMP_WAIT_POLICY", waits, 1);
	execv("/proc/self/exe", argv);
	work_fail("execv");
}

static void work_on(int is_line)
{
	if (is_line)
		SPIN_LINE(a_iters); /* LINE_A */
	else
		SPIN(b_iters); /* LINE_B */
}

static void *run_static(void *argument)
{
	for (;;) {
#pragma omp parallel for schedule(static) num_threads((int)work.threads)
		for (int i = 0; i < PIECES; i++)
			work_on(i < PIECES / 2);
		progress();
	}
	return NULL;
}

static void *run_dynamic(void *argument)
{
	for (;;) {
#pragma omp parallel for schedule(dynamic) num_threads((int)work.threads)
		for (int i = 0; i < PIECES; i++)
			work_on(i % 2 == 0);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us},
	    {"schedule", NULL, &schedule}, {"wait", NULL, &waits}, {NULL}};

	work_init(argc, argv, 2, options);
	set_wait_policy(argv);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	work_thread(strcmp(schedule, "dynamic") ? run_static : run_dynamic, NULL);
	work_wait();
}
