// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two threads meet at a std::barrier, which spins and then sleeps. The last one to arrive runs a
 * completion step of 0.3 ms. One thread does A (2.7 ms), the other one B (1.6 ms): making A faster
 * by s gains min(2.7 s, 1.1) / 3, 22/37/37/37 %.
 */
#include <barrier>
extern "C" {
#include "workload.h"
}

static long a_us = 2700, b_us = 1600, step_us = 300;
static uint64_t a_iters, b_iters, step_iters;

static void complete() noexcept
{
	SPIN(step_iters); /* LINE_C */
	progress();
}

static std::barrier<void (*)() noexcept> meeting(2, complete);

static void *run_a(void *argument)
{
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		meeting.arrive_and_wait();
	}
	return NULL;
}

static void *run_b(void *argument)
{
	for (;;) {
		SPIN(b_iters); /* LINE_B */
		meeting.arrive_and_wait();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"step-us", &step_us}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	step_iters = work_iters(step_us);
	work_thread(run_a, NULL);
	work_thread(run_b, NULL);
	work_wait();
}
