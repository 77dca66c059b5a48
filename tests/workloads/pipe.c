// SPDX-License-Identifier: BSD-3-Clause
/*
 * Producer and consumer over a pipe that holds four messages: 2.4 ms to make one, 4 ms to use one.
 * Making the consumer's line faster by s gains min(s, 1 - 2.4 / 4): 25/40/40/40 %. A message fills
 * a page, since a partly read page keeps its slot in the pipe.
 */
#include "workload.h"
#include <fcntl.h>

#define MESSAGE_BYTES 4096

static long a_us = 4000, b_us = 2400, slots = 4;
static uint64_t a_iters, b_iters;
static int ends[2];

static void *produce(void *argument)
{
	static char message[MESSAGE_BYTES];

	for (;;) {
		SPIN(b_iters); /* LINE_B */
		if (write(ends[1], message, sizeof(message)) != sizeof(message))
			work_fail("write");
	}
	return NULL;
}

static void *consume(void *argument)
{
	static char message[MESSAGE_BYTES];

	for (;;) {
		if (read(ends[0], message, sizeof(message)) != sizeof(message))
			work_fail("read");
		SPIN_LINE(a_iters); /* LINE_A */
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
	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, (int)slots * MESSAGE_BYTES) < 0)
		work_fail("pipe");
	work_thread(produce, NULL);
	work_thread(consume, NULL);
	work_wait();
}
