// SPDX-License-Identifier: BSD-3-Clause
/*
 * One thread sleeps 3 ms, then works 1.2 ms in the line under test and 1.8 ms elsewhere. A hot
 * bystander beside it makes no progress. Making the line faster by s gains a little less than s x
 * 1.2 / 6, since sleeps last longer than asked.
 */
#include "workload.h"

static long sleep_us = 3000, a_us = 1200, b_us = 1800, bystanders = 1;
static uint64_t a_iters, b_iters;

static void *run(void *argument)
{
	for (;;) {
		struct timespec t = {
		    .tv_sec = sleep_us / 1000000, .tv_nsec = sleep_us % 1000000 * 1000};

		while (nanosleep(&t, &t) && errno == EINTR)
			;
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);      /* LINE_B */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"sleep-us", &sleep_us}, {"a-us", &a_us},
	    {"b-us", &b_us}, {"bystanders", &bystanders}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	work_thread(run, NULL);
	work_bystanders(bystanders);
	work_wait();
}
