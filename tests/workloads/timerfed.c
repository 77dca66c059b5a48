// SPDX-License-Identifier: BSD-3-Clause
/*
 * A periodic timer feeds a consumer that cannot keep up: 2.4 ms an item and 5 ms of work for each,
 * of which the line is 4 ms. What the timer cannot hand over at once waits, one item at most. A
 * faster consumer meets the timer's pace: min(0.8 s, 1 - 2.4 / 5) is gained, 20/40/52/52 %.
 */
#include "workload.h"

#include <sys/eventfd.h>

static long interval_us = 2400, a_us = 4000, b_us = 1000;
static uint64_t a_iters, b_iters;
static int items;

static void *run_timer(void *argument)
{
	uint64_t next_ns = work_now_ns(), one = 1;

	for (;;) {
		next_ns += interval_us * 1000;
		struct timespec t = {
		    .tv_sec = next_ns / 1000000000, .tv_nsec = next_ns % 1000000000};

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
		if (write(items, &one, sizeof(one)) != sizeof(one))
			work_fail("write");
	}
	return NULL;
}

static void *consume(void *argument)
{
	uint64_t n;

	for (;;) {
		if (read(items, &n, sizeof(n)) != sizeof(n))
			work_fail("read");
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);      /* LINE_B */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"interval-us", &interval_us}, {"a-us", &a_us}, {"b-us", &b_us}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	items = eventfd(0, 0);
	if (items < 0)
		work_fail("eventfd");
	work_thread(run_timer, NULL);
	work_thread(consume, NULL);
	work_wait();
}
