// SPDX-License-Identifier: BSD-3-Clause
/*
 * One thread works 1 ms, writes 4 KiB and calls fsync(), which the outsider's disk serves in 2 ms;
 * a visit is a commit. A hot bystander computes beside. Making fsync() shorter by s gains a little
 * less than s x 2 / 3, since writing takes time too. Run as: outsider disk -- fsyncloop, or
 * cached-disk, where fsync() waits for pages as on a real disk: without being interruptible.
 */
#include "outsider.h"

#define RECORD 4096
#define LOG_BYTES (1 << 24)

static long work_us = 1000, bystanders = 1;
static uint64_t work_iters_each;
static int disk;

static void commit(off_t at)
{
	static char record[RECORD];
	uint64_t begin;

	if (pwrite(disk, record, RECORD, at) != RECORD)
		work_fail("pwrite");
	begin = work_off_cpu_ns();
	while (fsync(disk)) /* WAIT */
		if (errno != EINTR)
			work_fail("fsync");
	work_waited(work_off_cpu_ns() - begin);
}

static void *run(void *argument)
{
	for (off_t at = 0;; at = (at + RECORD) % LOG_BYTES) {
		SPIN(work_iters_each);
		commit(at);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"work-us", &work_us}, {"bystanders", &bystanders}, {NULL}};

	work_init(argc, argv, 1, options);
	work_iters_each = work_iters(work_us);
	disk = outsider_disk(0);
	work_thread(run, NULL);
	work_bystanders(bystanders);
	work_wait();
}
