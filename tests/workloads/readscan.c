// SPDX-License-Identifier: BSD-3-Clause
/*
 * A scan: read a block of 64 KiB from the outsider's disk, which serves a read in 2 ms, then work
 * on it for 1 ms. A visit is a block. --ahead 0: one thread does both; s gains a little less than s
 * x 2 / 3. --ahead 2: another thread reads up to two blocks ahead; the gain ends at 1 - 1 / 2.
 * --via cache reads through the page cache, which never has the block. Run as: outsider disk --
 * readscan.
 */
#include "outsider.h"

#include <semaphore.h>

#define BLOCKS (OUTSIDER_DISK_BYTES / OUTSIDER_BLOCK)
#define AHEAD_MAX 16

static long work_us = 1000, ahead;
static const char *via = "direct";
static uint64_t scan_iters;
static int disk, is_cached;
static char *buffers[AHEAD_MAX];
static sem_t unread, unscanned; /* buffers */

static void read_block(long nth, char *buffer)
{
	off_t at = nth % BLOCKS * OUTSIDER_BLOCK;
	uint64_t begin = work_off_cpu_ns();
	ssize_t n;

	while ((n = pread(disk, buffer, OUTSIDER_BLOCK, at)) < 0 && errno == EINTR) /* WAIT */
		;
	work_waited(work_off_cpu_ns() - begin);
	if (n != OUTSIDER_BLOCK)
		work_fail("pread");
	if (is_cached)
		posix_fadvise(disk, at, OUTSIDER_BLOCK, POSIX_FADV_DONTNEED);
}

static void scan_block(const char *buffer)
{
	uint64_t sum = 0;

	for (long i = 0; i < OUTSIDER_BLOCK; i += 64)
		sum += buffer[i];
	SPIN(scan_iters + sum); /* the disk reads as zeroes */
	progress();
}

static void *run(void *argument)
{
	for (long nth = 0;; nth++) {
		read_block(nth, buffers[0]);
		scan_block(buffers[0]);
	}
	return NULL;
}

static void take(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

static void *read_ahead(void *argument)
{
	for (long nth = 0;; nth++) {
		take(&unread);
		read_block(nth, buffers[nth % ahead]);
		sem_post(&unscanned);
	}
	return NULL;
}

static void *scan_all(void *argument)
{
	for (long nth = 0;; nth++) {
		take(&unscanned);
		scan_block(buffers[nth % ahead]);
		sem_post(&unread);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"work-us", &work_us}, {"ahead", &ahead}, {"via", NULL, &via}, {NULL}};

	work_init(argc, argv, 1, options);
	scan_iters = work_iters(work_us);
	is_cached = !strcmp(via, "cache");
	disk = outsider_disk(is_cached ? 0 : O_DIRECT);
	/* No more than what is asked for is read at once. */
	if (is_cached && (errno = posix_fadvise(disk, 0, 0, POSIX_FADV_RANDOM)))
		work_fail("posix_fadvise");
	errno = EINVAL;
	if (ahead < 0 || ahead > AHEAD_MAX)
		work_fail("--ahead");
	for (long i = 0; i < (ahead ? ahead : 1); i++)
		if (!(buffers[i] = (char *)aligned_alloc(4096, OUTSIDER_BLOCK)))
			work_fail("aligned_alloc");
	if (!ahead) {
		work_thread(run, NULL);
		work_wait();
	}
	sem_init(&unread, 0, (unsigned)ahead);
	sem_init(&unscanned, 0, 0);
	work_thread(read_ahead, NULL);
	work_thread(scan_all, NULL);
	work_wait();
}
