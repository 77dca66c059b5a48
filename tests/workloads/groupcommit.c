// SPDX-License-Identifier: BSD-3-Clause
/*
 * Group commit: four threads work for 2 ms, of which the line has 1.5, and add a record to a log.
 * The first one that finds nobody writing writes what all have added, and calls fdatasync(); the
 * others wait for that. How long it takes is up to the disk, so only measuring tells the truth.
 */
#include "workload.h"

#include <fcntl.h>

#define RECORD 512
#define LOG_BYTES (1 << 22)

static long a_us = 1500, b_us = 500;
static const char *folder = "/var/tmp";
static uint64_t a_iters, b_iters;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t written = PTHREAD_COND_INITIALIZER;
static uint64_t added, durable; /* records */
static int is_writing, file;
static char records[16 * RECORD];

/* Called with the lock held, which is given back meanwhile. */
static void write_all(void)
{
	static off_t end;
	uint64_t upto = added;
	size_t bytes = (upto - durable) * RECORD;

	is_writing = 1;
	pthread_mutex_unlock(&lock);
	if (pwrite(file, records, bytes, end) != (ssize_t)bytes || fdatasync(file))
		work_fail("fdatasync");
	end = (end + (off_t)bytes) % (LOG_BYTES / 2);
	pthread_mutex_lock(&lock);
	is_writing = 0;
	durable = upto;
	pthread_cond_broadcast(&written);
}

static void commit(void)
{
	uint64_t mine;

	pthread_mutex_lock(&lock);
	mine = ++added;
	while (durable < mine) {
		if (is_writing)
			pthread_cond_wait(&written, &lock);
		else
			write_all();
	}
	pthread_mutex_unlock(&lock);
}

static void *run(void *argument)
{
	for (;;) {
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);      /* LINE_B */
		commit();
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"folder", NULL, &folder}, {NULL}};

	work_init(argc, argv, 4, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	file = open(folder, O_TMPFILE | O_RDWR, 0600); /* without a name: nothing stays behind */
	if (file < 0 || fallocate(file, 0, 0, LOG_BYTES) || fsync(file))
		work_fail(folder);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
