// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two functions that call a third one, which sleeps for 2 ms: put() three times as often as
 * drop(). A thread waits for a byte in a pipe that is written after each sleep.
 */
#include "workload.h"

#define ALONE __attribute__((noinline, noipa))

static long sleep_us = 2000;
static int ends[2];

ALONE static int commit(void)
{
	const struct timespec t = {.tv_nsec = sleep_us * 1000};

	return nanosleep(&t, NULL); /* WAIT */
}

/* What follows the call keeps it from being a jump, which leaves no caller. */
ALONE static int put(void)
{
	return commit() + 1; /* PUT */
}

ALONE static int drop(void)
{
	return commit() + 2; /* DROP */
}

static void *change(void *argument)
{
	for (uint64_t i = 0;; i++) {
		int done = i % 4 ? put() : drop(); /* CHANGE */

		if (write(ends[1], &done, 1) != 1) /* WAKE */
			work_fail("write");
		progress();
	}
	return NULL;
}

static void *follow(void *argument)
{
	char done;

	for (;;)
		if (read(ends[0], &done, 1) != 1) /* READ */
			work_fail("read");
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"sleep-us", &sleep_us}, {NULL}};

	work_init(argc, argv, 2, options);
	if (pipe(ends))
		work_fail("pipe");
	work_thread(change, NULL);
	work_thread(follow, NULL);
	work_wait();
}
