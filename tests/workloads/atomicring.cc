// SPDX-License-Identifier: BSD-3-Clause
/*
 * Three stages in a ring hand tokens on by std::atomic's wait and notify, which spins and then
 * sleeps. Two tokens are under way, so two stages work at a time: 2 ms (the line), 1.5 and 1.2 ms.
 * Only measuring tells the truth.
 */
#include <atomic>
extern "C" {
#include "workload.h"
}

#define STAGES 3

static long a_us = 2000, b_us = 1500, c_us = 1200;
static uint64_t a_iters, b_iters, c_iters;
static std::atomic<int> tokens[STAGES]; /* before each stage */

static void take(int stage)
{
	for (;;) {
		int n = tokens[stage].load();

		if (n && tokens[stage].compare_exchange_weak(n, n - 1))
			return;
		if (!n)
			tokens[stage].wait(0);
	}
}

static void hand_on(int stage)
{
	int to = (stage + 1) % STAGES;

	tokens[to].fetch_add(1);
	tokens[to].notify_one();
}

static void *run(void *argument)
{
	const int stage = (int)(long)argument;

	for (;;) {
		take(stage);
		switch (stage) {
		case 0:
			SPIN_LINE(a_iters); /* LINE_A */
			break;
		case 1:
			SPIN(b_iters); /* LINE_B */
			break;
		default:
			SPIN(c_iters); /* LINE_C */
			progress();
		}
		hand_on(stage);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"c-us", &c_us}, {NULL}};

	work_init(argc, argv, STAGES, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	c_iters = work_iters(c_us);
	tokens[0] = 2;
	for (long i = 0; i < STAGES; i++)
		work_thread(run, (void *)i);
	work_wait();
}
