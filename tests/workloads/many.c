// SPDX-License-Identifier: BSD-3-Clause
/*
 * Twenty lines of known, different weight: line LINE_n holds n / 210 of each thread's time, in a
 * mixed order. Making line 20 faster by s gains s x 20 / 210. --more M makes that line M units
 * longer.
 */
#include "workload.h"

#define LINES 20

static long unit_us = 50, more;
static uint64_t iters[LINES + 1];

static void *run(void *argument)
{
	for (;;) {
		SPIN(iters[4]);       /* LINE_04 */
		SPIN(iters[11]);      /* LINE_11 */
		SPIN(iters[18]);      /* LINE_18 */
		SPIN(iters[5]);       /* LINE_05 */
		SPIN(iters[12]);      /* LINE_12 */
		SPIN(iters[19]);      /* LINE_19 */
		SPIN(iters[6]);       /* LINE_06 */
		SPIN(iters[13]);      /* LINE_13 */
		SPIN_LINE(iters[20]); /* LINE_20 (LINE_A) */
		SPIN(iters[7]);       /* LINE_07 */
		SPIN(iters[14]);      /* LINE_14 */
		SPIN(iters[1]);       /* LINE_01 */
		SPIN(iters[8]);       /* LINE_08 */
		SPIN(iters[15]);      /* LINE_15 */
		SPIN(iters[2]);       /* LINE_02 */
		SPIN(iters[9]);       /* LINE_09 */
		SPIN(iters[16]);      /* LINE_16 */
		SPIN(iters[3]);       /* LINE_03 */
		SPIN(iters[10]);      /* LINE_10 */
		SPIN(iters[17]);      /* LINE_17 */
		progress();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"unit-us", &unit_us}, {"more", &more}, {NULL}};

	work_init(argc, argv, 2, options);
	for (int i = 1; i <= LINES; i++)
		iters[i] = work_iters((i == LINES ? i + more : i) * unit_us);
	for (long i = 0; i < work.threads; i++)
		work_thread(run, NULL);
	work_wait();
}
