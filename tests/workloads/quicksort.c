// SPDX-License-Identifier: BSD-3-Clause
/*
 * Recursion with threads, as a parallel quicksort: a part of n pieces is divided (the line, 50 us a
 * piece) into 3/5 and 2/5. One goes to a new thread, which is joined then. From the second division
 * on, parts are sorted without dividing (150 us a piece). On two CPUs four threads sort at last, so
 * only measuring tells the truth.
 */
#include "workload.h"

static long divide_us = 50, sort_us = 150, pieces = 25, depth = 2;
static uint64_t divide_iters, sort_iters;

struct part {
	uint64_t pieces;
	long depth;
};

static void *sort_part(void *argument)
{
	const struct part *part = argument;
	struct part large = {part->pieces * 3 / 5, part->depth - 1};
	struct part small = {part->pieces - large.pieces, part->depth - 1};
	pthread_t helper;

	if (!part->depth) {
		SPIN(part->pieces * sort_iters); /* LINE_B */
		return NULL;
	}
	SPIN_LINE(part->pieces * divide_iters); /* LINE_A */
	helper = work_thread(sort_part, &large);
	sort_part(&small);
	pthread_join(helper, NULL);
	return NULL;
}

static void *run(void *argument)
{
	struct part whole = {(uint64_t)pieces, depth};

	for (;;) {
		sort_part(&whole);
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"divide-us", &divide_us}, {"sort-us", &sort_us},
	    {"pieces", &pieces}, {"depth", &depth}, {NULL}};

	work_init(argc, argv, 1, options);
	divide_iters = work_iters(divide_us);
	sort_iters = work_iters(sort_us);
	work_thread(run, NULL);
	work_wait();
}
