// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two readers and a writer share a std::shared_mutex: a reader is 1.5 ms inside (the line), the
 * writer 1 ms, and each 1 ms outside. Readers count. Only measuring tells the truth.
 */
#include <mutex>
#include <shared_mutex>
extern "C" {
#include "workload.h"
}

static long read_us = 1500, write_us = 1000, outside_us = 1000;
static uint64_t read_iters, write_iters, outside_iters;
static std::shared_mutex guard;

static void *run_reader(void *argument)
{
	for (;;) {
		{
			std::shared_lock held(guard);

			SPIN_LINE(read_iters); /* LINE_A */
		}
		SPIN(outside_iters); /* LINE_B */
		progress();
	}
	return NULL;
}

static void *run_writer(void *argument)
{
	for (;;) {
		{
			std::unique_lock held(guard);

			SPIN(write_iters); /* LINE_C */
		}
		SPIN(outside_iters); /* LINE_D */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"read-us", &read_us}, {"write-us", &write_us},
	    {"outside-us", &outside_us}, {NULL}};

	work_init(argc, argv, 2, options);
	read_iters = work_iters(read_us);
	write_iters = work_iters(write_us);
	outside_iters = work_iters(outside_us);
	for (long i = 0; i < work.threads; i++)
		work_thread(run_reader, NULL);
	work_thread(run_writer, NULL);
	work_wait();
}
