// SPDX-License-Identifier: BSD-3-Clause
/*
 * A pipeline of two processes over a pipe of four slots: a forked child makes messages in 4 ms (the
 * line under test), the parent uses them in 2.4 ms. Making the line faster by s gains min(s, 1
 * - 2.4 / 4). --procs 3 puts a process of --c-us between them.
 */
#include "workload.h"
#include <fcntl.h>

#define MESSAGE_BYTES 4096

static long a_us = 4000, b_us = 2400, c_us = 1000, procs = 2, slots = 4;
static char message[MESSAGE_BYTES];

static void receive(int end)
{
	if (read(end, message, sizeof(message)) != sizeof(message))
		work_fail("read");
}

static void send_on(int end)
{
	if (write(end, message, sizeof(message)) != sizeof(message))
		work_fail("write");
}

static void run_first(int to)
{
	uint64_t a_iters = work_iters(a_us);

	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		send_on(to);
	}
}

static void run_middle(int from, int to)
{
	uint64_t c_iters = work_iters(c_us);

	for (;;) {
		receive(from);
		SPIN(c_iters); /* LINE_C */
		send_on(to);
	}
}

static void *run_last(void *argument)
{
	uint64_t b_iters = work_iters(b_us);
	int from = (int)(long)argument;

	for (;;) {
		receive(from);
		SPIN(b_iters); /* LINE_B */
		progress();
	}
	return NULL;
}

static void make_pipe(int ends[2])
{
	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, (int)slots * MESSAGE_BYTES) < 0)
		work_fail("pipe");
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"a-us", &a_us}, {"b-us", &b_us}, {"c-us", &c_us},
	    {"procs", &procs}, {"slots", &slots}, {NULL}};
	int first[2], second[2];

	work_init(argc, argv, 1, options);
	make_pipe(first);
	if (work_fork())
		run_first(first[1]);
	if (procs > 2) {
		make_pipe(second);
		if (work_fork())
			run_middle(first[0], second[1]);
		first[0] = second[0];
	}
	work_thread(run_last, (void *)(long)first[0]);
	work_wait();
}
