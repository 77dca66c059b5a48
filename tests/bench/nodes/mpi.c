// SPDX-License-Identifier: BSD-3-Clause
/*
 * A job of MPI: each rank works a us in the line under test and b us beside it, each round. Ranks
 * have figures of their own, "1000,0" for two of them; the last one holds for the rest.
 *
 *   halo      edges go to both neighbours of a ring, and come from them
 *   reduce    a sum of all ranks, which all have
 *   pipeline  rank r works on what rank r - 1 has sent, some rounds behind it
 */
#include "workload.h"

#include <mpi.h>

#define EDGE 256

static long loops = 1000;
static const char *a_list = "1000", *b_list = "0", *pattern = "halo";
static int rank_, ranks;
static double edge[2][EDGE], sum;

/* MPICH 4.0 on UCX was seen to wait in MPI_Finalize() without an end. */
#define FINALIZE_S 2

static void leave(int sig)
{
	_exit(sig == SIGALRM ? 0 : 1);
}

/* The rank's own figure of a list. */
static double own(const char *list)
{
	const char *comma;

	for (int i = 0; i < rank_ && (comma = strchr(list, ',')); i++)
		list = comma + 1;
	return atof(list);
}

static void halo(void)
{
	int left = (rank_ + ranks - 1) % ranks, right = (rank_ + 1) % ranks;

	MPI_Sendrecv(edge[0], EDGE, MPI_DOUBLE, left, 0, edge[1], EDGE, MPI_DOUBLE, right, 0,
	    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(edge[0], EDGE, MPI_DOUBLE, right, 1, edge[1], EDGE, MPI_DOUBLE, left, 1,
	    MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void)
{
	double part = rank_;

	MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void receive(void)
{
	if (rank_)
		MPI_Recv(
		    edge[1], EDGE, MPI_DOUBLE, rank_ - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A send that waits until it is received: the stages keep pace with each other. */
static void hand_on(void)
{
	if (rank_ + 1 < ranks)
		MPI_Ssend(edge[0], EDGE, MPI_DOUBLE, rank_ + 1, 2, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"loops", &loops}, {"a", NULL, &a_list},
	    {"b", NULL, &b_list}, {"pattern", NULL, &pattern}, {NULL}};
	uint64_t a_iters, b_iters, from;

	work_init(argc, argv, 1, options);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	a_iters = work_iters(own(a_list));
	b_iters = work_iters(own(b_list));
	MPI_Barrier(MPI_COMM_WORLD);
	from = work_now_ns();
	for (long i = 0; i < loops; i++) {
		if (*pattern == 'p')
			receive();
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);
		if (*pattern == 'h')
			halo();
		else if (*pattern == 'r')
			reduce();
		else
			hand_on();
		progress();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank_)
		dprintf(
		    1, "period_us %.4f\n", (double)(work_now_ns() - from) / 1e3 / (double)loops);
	signal(SIGALRM, leave);
	alarm(FINALIZE_S);
	MPI_Finalize();
	return 0;
}
