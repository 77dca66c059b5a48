// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two functions that call a third one, which sleeps for 2 ms: put() three times as often as
 * drop(). A thread waits for a byte in a pipe that is written after each sleep. With --levels N
 * functions call each other N deep before put(), by another way each time.
 */
#include "workload.h"

#define ALONE __attribute__((noinline, noipa))

static long sleep_us = 2000, levels;
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

/* The lowest bits of @way say where it goes. */
ALONE static int descend(uint64_t way, long left)
{
	if (!left)
		return put();
	if (way & 1)
		return descend(way >> 1, left - 1) + 1;
	return descend(way >> 1, left - 1) + 2;
}

static void *change(void *argument)
{
	for (uint64_t i = 0;; i++) {
		int done = levels ? descend(i, levels) : i % 4 ? put() : drop(); /* CHANGE */

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
	const struct work_option options[] = {{"sleep-us", &sleep_us}, {"levels", &levels}, {NULL}};

	work_init(argc, argv, 2, options);
	if (pipe(ends))
		work_fail("pipe");
	work_thread(change, NULL);
	work_thread(follow, NULL);
	work_wait();
}
