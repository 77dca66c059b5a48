// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two client threads work 0.5 ms and call the outsider's server over loopback, which serves a call
 * in 2 ms; a visit is a call. Making the wait for the answer shorter by s gains a little less than
 * s x 2 / 2.5 where the server sleeps. Where the server works, CPUs are short. Run as: outsider
 * sleep -- rpc.
 */
#include "outsider.h"

static long work_us = 500;
static uint64_t client_iters;

static void call(int server)
{
	char message[OUTSIDER_MESSAGE] = "";
	uint64_t begin;
	ssize_t n;

	if (send(server, message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
		work_fail("send");
	begin = work_off_cpu_ns();
	while ((n = recv(server, message, sizeof(message), 0)) < 0 && errno == EINTR) /* WAIT */
		;
	work_waited(work_off_cpu_ns() - begin);
	if (n != sizeof(message))
		work_fail("recv");
}

static void *run(void *argument)
{
	int server = outsider_connect();

	for (;;) {
		SPIN(client_iters);
		call(server);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"work-us", &work_us}, {NULL}};

	work_init(argc, argv, 2, options);
	client_iters = work_iters(work_us);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
