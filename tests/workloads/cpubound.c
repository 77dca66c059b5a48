// SPDX-License-Identifier: BSD-3-Clause
/* For overhead: threads that only compute and never meet, one per core by default, with a visit
 * every --unit-us each. */
#include "workload.h"

static long unit_us = 10000;
static uint64_t unit_iters;

static void *run(void *argument)
{
	for (;;) {
		SPIN_LINE(unit_iters); /* LINE_A */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"unit-us", &unit_us}, {NULL}};

	work_init(argc, argv, sysconf(_SC_NPROCESSORS_ONLN), options);
	unit_iters = work_iters(unit_us);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
