// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two threads read 64 KiB each from a file, past the page cache, and work on them for 0.5 ms, of
 * which the line has 0.4. How long a read takes is up to the disk, so only measuring tells the
 * truth.
 */
#include "workload.h"

#include <fcntl.h>

#define BLOCK 65536
#define BLOCKS 64

static long a_us = 400, b_us = 100;
static const char *folder = "/var/tmp";
static uint64_t a_iters, b_iters;
static int file;

static void *run(void *argument)
{
	void *block = aligned_alloc(4096, BLOCK);

	if (!block)
		work_fail("aligned_alloc");
	for (long nth = (long)argument;; nth += 2) {
		if (pread(file, block, BLOCK, nth % BLOCKS * BLOCK) != BLOCK)
			work_fail("pread");
		SPIN_LINE(a_iters); /* LINE_A */
		SPIN(b_iters);      /* LINE_B */
		progress();
	}
	return NULL;
}

/* Without a name, so nothing stays behind. */
static int make_file(void)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_DIRECT, 0600);
	void *block = aligned_alloc(4096, BLOCK);

	if (fd < 0 || !block)
		work_fail(folder);
	memset(block, 1, BLOCK);
	for (long i = 0; i < BLOCKS; i++)
		if (pwrite(fd, block, BLOCK, i * BLOCK) != BLOCK)
			work_fail("pwrite");
	free(block);
	return fd;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {
	    {"a-us", &a_us}, {"b-us", &b_us}, {"folder", NULL, &folder}, {NULL}};

	work_init(argc, argv, 2, options);
	a_iters = work_iters(a_us);
	b_iters = work_iters(b_us);
	file = make_file();
	for (long i = 0; i < work.threads; i++)
		work_thread(run, (void *)i);
	work_wait();
}
