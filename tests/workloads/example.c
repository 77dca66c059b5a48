// SPDX-License-Identifier: BSD-3-Clause
/*
 * The paper's figure 1: two threads side by side, a takes 67 ms and b 64 ms, and a round ends when
 * both are done. Making a faster gains at most 3 / 67 = 4.5 %; making b (LINE_B) faster gains
 * nothing. Threads meet at a barrier; with --join 1 they are created and joined in each round.
 */
#include "workload.h"

static long a_us = 67000, b_us = 64000, use_join;
static uint64_t a_iters, b_iters;
static pthread_barrier_t barrier;

static void *a(void *argument)
{
	SPIN_LINE(a_iters); /* LINE_A */
	return NULL;
}

static void *b(void *argument)
{
	SPIN(b_iters); /* LINE_B */
	return NULL;
}

static void *loop_a(void *argument)
{
	for (;;) {
		a(NULL);
		pthread_barrier_wait(&barrier);
		progress();
	}
	return NULL;
}

static void *loop_b(void *argument)
{
	for (;;) {
		b(NULL);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *join_rounds(void *argument)
{
	for (;;) {
		pthread_t first = work_thread(a, NULL), second = work_thread(b, NULL);

		pthread_join(first, NULL);
		pthread_join(second, NULL);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"join", &use_join}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	pthread_barrier_init(&barrier, NULL, 2);
	if (use_join) {
		work_thread(join_rounds, NULL);
	} else {
		work_thread(loop_a, NULL);
		work_thread(loop_b, NULL);
	}
	work_wait();
}
