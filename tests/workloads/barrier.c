// SPDX-License-Identifier: BSD-3-Clause
/* Two threads meet at a barrier in each round: one does A, the other B. Making A faster by s gains
 * min(s, 1 - B / A): 25/40/40/40 % by default. --a-us 500 --b-us 300 is the fine-grained case. */
#include "workload.h"

static long a_us = 5000, b_us = 3000;
static uint64_t a_iters, b_iters;
static pthread_barrier_t barrier;

static void *run_a(void *argument)
{
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		pthread_barrier_wait(&barrier);
		progress();
	}
	return NULL;
}

static void *run_b(void *argument)
{
	for (;;) {
		SPIN(b_iters); /* LINE_B */
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	pthread_barrier_init(&barrier, NULL, 2);
	work_thread(run_a, NULL);
	work_thread(run_b, NULL);
	work_wait();
}
