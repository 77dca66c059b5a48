// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two readers and one writer share a read-write lock, half a millisecond inside for each. Readers
 * count. The line under test is what a reader does inside; with --line writer it is what the writer
 * does inside, who sleeps in between. Only measuring tells the truth.
 */
#include "workload.h"

static long read_us = 500, write_us = 500, between_us = 300, sleep_us = 500;
static const char *line = "reader";
static uint64_t read_iters, write_iters, between_iters;
static int is_writer;
static pthread_rwlock_t rwlock;

static void read_a(void)
{
	SPIN_LINE(read_iters); /* LINE_A */
}

static void write_a(void)
{
	SPIN_LINE(write_iters); /* LINE_W */
}

static void *run_reader(void *argument)
{
	for (;;) {
		pthread_rwlock_rdlock(&rwlock);
		if (is_writer)
			SPIN(read_iters); /* LINE_C */
		else
			read_a();
		pthread_rwlock_unlock(&rwlock);
		SPIN(between_iters); /* LINE_B */
		progress();
	}
	return NULL;
}

static void *run_writer(void *argument)
{
	for (;;) {
		pthread_rwlock_wrlock(&rwlock);
		if (is_writer)
			write_a();
		else
			SPIN(write_iters); /* LINE_D */
		pthread_rwlock_unlock(&rwlock);
		usleep((useconds_t)sleep_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"read-us", &read_us}, {"write-us", &write_us},
	    {"between-us", &between_us}, {"sleep-us", &sleep_us}, {"line", NULL, &line}, {NULL}};
	pthread_rwlockattr_t kind;

	work_init(argc, argv, 2, options);
	is_writer = !strcmp(line, "writer");
	read_iters = work_iters(read_us);
	write_iters = work_iters(write_us);
	between_iters = work_iters(between_us);
	pthread_rwlockattr_init(&kind);
	pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&rwlock, &kind);
	for (long i = 0; i < work.threads; i++)
		work_thread(run_reader, NULL);
	work_thread(run_writer, NULL);
	work_wait();
}
