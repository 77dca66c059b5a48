// SPDX-License-Identifier: BSD-3-Clause
/*
 * A solver in the manner of MPI programs: processes in a ring. Each step each process works 1.2 ms
 * (the line under test) and 0.8 ms, exchanges its edges with both neighbours, and all add up a sum;
 * a visit is a step. Without --pin the CPUs are the bottleneck, so the line gains s x 1.2 / 2. With
 * --pin 1 a line speedup of 100 % is a second CPU instead, which gains 1 / 2.
 */
#include "workload.h"

#define EDGE_BYTES 2048
#define CPUS 2

static long a_us = 1200, b_us = 800, procs = 4, pin, cpus[CPUS];
static int edges[WORK_CHILDREN_MAX][2][2]; /* pipes to a process, from the left and the right */
static int sums[2], answers[WORK_CHILDREN_MAX][2];
static uint64_t a_iters, b_iters;

static void make_pipe(int ends[2])
{
	if (pipe(ends))
		work_fail("pipe");
}

static void send_on(int end, const void *from, size_t bytes)
{
	if (write(end, from, bytes) != (ssize_t)bytes)
		work_fail("write");
}

static void receive(int end, void *to, size_t bytes)
{
	for (size_t n = 0; n < bytes;) {
		ssize_t got = read(end, (char *)to + n, bytes - n);

		if (got <= 0)
			work_fail("read");
		n += (size_t)got;
	}
}

static void exchange_edges(long rank)
{
	static char edge[EDGE_BYTES];

	send_on(edges[(rank + procs - 1) % procs][1][1], edge, sizeof(edge));
	send_on(edges[(rank + 1) % procs][0][1], edge, sizeof(edge));
	for (int side = 0; side < 2; side++)
		receive(edges[rank][side][0], edge, sizeof(edge));
}

/* The first process adds up what the others send, and tells them. */
static double add_up(long rank, double residual)
{
	double sum = residual;

	if (rank) {
		send_on(sums[1], &residual, sizeof(residual));
		receive(answers[rank][0], &sum, sizeof(sum));
		return sum;
	}
	for (long i = 1; i < procs; i++) {
		receive(sums[0], &residual, sizeof(residual));
		sum += residual;
	}
	for (long i = 1; i < procs; i++)
		send_on(answers[i][1], &sum, sizeof(sum));
	return sum;
}

/* How long the process has waited for CPUs counts since the last step. */
static void *solve(void *argument)
{
	int file = work_open_schedstat(), wide = -1;
	uint64_t before = work_delayed_ns(file), now;
	long rank = (long)argument;

	for (;;) {
		if (pin && wide != !work_share()) {
			wide = !work_share();
			work_pin(cpus[wide ? rank % CPUS : 0]);
		}
		if (pin)
			SPIN(a_iters);
		else
			SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);
		exchange_edges(rank);
		add_up(rank, 1);
		if (!rank)
			progress();
		now = work_delayed_ns(file);
		if (pin && file >= 0)
			work_waited(now - before);
		before = now;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"procs", &procs}, {"pin", &pin}, {NULL}};

	work_init(argc, argv, 1, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	work_two_cpus(cpus);
	errno = EINVAL;
	if (procs < 2 || procs > WORK_CHILDREN_MAX)
		work_fail("processes are too few or too many");
	make_pipe(sums);
	for (long i = 0; i < procs; i++) {
		make_pipe(edges[i][0]);
		make_pipe(edges[i][1]);
		make_pipe(answers[i]);
	}
	for (long rank = 1; rank < procs; rank++)
		if (work_fork())
			solve((void *)rank);
	work_thread(solve, NULL);
	work_wait();
}
