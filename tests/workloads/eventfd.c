// SPDX-License-Identifier: BSD-3-Clause
/*
 * A pipeline of two stages, tied by eventfds that count full and free slots: 4 ms in the first
 * stage (the line under test), 2.4 ms in the second. Making the line faster by s gains min(s, 1 -
 * 2.4 / 4): 25/40/40/40 %.
 */
#include "workload.h"
#include <sys/eventfd.h>

static long a_us = 4000, b_us = 2400, slots = 4;
static uint64_t a_iters, b_iters;
static int full, vacant;

static void take(int event)
{
	eventfd_t value;

	while (eventfd_read(event, &value) && errno == EINTR)
		;
}

static void *run_first(void *argument)
{
	for (;;) {
		take(vacant);
		SPIN_LINE(a_iters); /* LINE_A */
		eventfd_write(full, 1);
	}
	return NULL;
}

static void *run_second(void *argument)
{
	for (;;) {
		take(full);
		SPIN(b_iters); /* LINE_B */
		eventfd_write(vacant, 1);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"slots", &slots}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	full = eventfd(0, EFD_SEMAPHORE);
	vacant = eventfd(slots, EFD_SEMAPHORE);
	if (full < 0 || vacant < 0)
		work_fail("eventfd");
	work_thread(run_first, NULL);
	work_thread(run_second, NULL);
	work_wait();
}
