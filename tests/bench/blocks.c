// SPDX-License-Identifier: BSD-3-Clause
/* How long a log of 100 runs of 10,000 blocks takes to be read and analysed, on one CPU: median of
 * 5 times. Fails above a second (issue: below 1 s). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/blocks/analyse.h"
#include "core/experiment/rng.h"
#include "../unit/blocks_fixture.h"

#define RUNS 100
#define BLOCKS 10000
#define TIMES 5
#define CELLS 10

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct block_figures make_figures(unsigned block, struct rng *rng)
{
	struct block_figures f = {.block = block,
	    .frequency = 1e4 * (1 + (double)rng_below(rng, 1000) / 1e3) + 1.0 / 3,
	    .frequency_se = 123.4567,
	    .share = (double)rng_below(rng, 1000) / 1e6};
	double ns = 100 + (double)rng_below(rng, 900) + 4e5 * (block < 20);

	for (unsigned i = 0; i < CELLS; i++)
		made_time(
		    &f, ns * (1 + 0.3 * i) + 0.1, 1 + (uint32_t)rng_below(rng, 400) / (i + 1));
	return f;
}

static void make(struct made_log *m)
{
	struct block_place *places = calloc(BLOCKS, sizeof(*places));
	struct block_figures *figures = calloc(BLOCKS, sizeof(*figures));
	char *names = calloc(BLOCKS, 32);
	struct rng rng = {1};

	made_begin(m);
	for (unsigned i = 0; i < BLOCKS; i++) {
		places[i] = made_place(i);
		places[i].function = names + 32 * i;
		snprintf(places[i].function, 32, "function_%u", i / 7);
	}
	for (unsigned run = 0; run < RUNS; run++) {
		struct block_run r = made_plain_run(run);

		r.cpu_ns = 100000000000;
		r.blocked_ns += rng_below(&rng, 1000000);
		for (unsigned i = 0; i < BLOCKS; i++)
			figures[i] = make_figures(i, &rng);
		made_run(m, &r, places, BLOCKS, figures, BLOCKS);
	}
	free(places);
	free(figures);
	free(names);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(void)
{
	double read[TIMES], total[TIMES];
	size_t reported = 0;
	struct made_log m;
	struct error e;

	make(&m);
	for (int i = 0; i < TIMES; i++) {
		struct block_analysis_options o = {.threshold_pct = 5, .seed = 1};
		struct block_analysis a;
		struct block_logs l;
		double begin = now();

		block_logs_init(&l);
		if (block_logs_read(&l, m.text, m.n, "log", &e) || l.n_entries != RUNS * BLOCKS)
			return fprintf(stderr, "the log is not read: %s\n", e.cause), 1;
		read[i] = now() - begin;
		if (block_analyse(&l, &o, &a))
			return 1;
		total[i] = now() - begin;
		reported = a.n_reported;
		block_analysis_deinit(&a);
		block_logs_deinit(&l);
	}
	qsort(read, TIMES, sizeof(*read), compare);
	qsort(total, TIMES, sizeof(*total), compare);
	printf("log of %.0f MB: read in %.2f s, read and analysed in %.2f s (%.2f to %.2f), "
	       "%zu blocks reported\n",
	    (double)m.n / 1e6, read[TIMES / 2], total[TIMES / 2], total[0], total[TIMES - 1],
	    reported);
	made_free(&m);
	return total[TIMES / 2] >= 1;
}
