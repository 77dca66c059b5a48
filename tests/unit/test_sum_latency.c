// SPDX-License-Identifier: BSD-3-Clause
/* Sums of runs whose baselines serve many lines: what becomes of latencies by rounding. The rest is
 * in test_sums.c. */
#include "check.h"

#include "core/estimate/sums.h"

/* A baseline of ten requests, one of them slow in every second one, that serves twenty lines. */
static void write_shared(FILE *out, int i)
{
	fputs("experiment\tselected=a.c:1\tspeedup=0.00\tduration=1000000\tobserved=1000000", out);
	for (int line = 1; line <= 20; line++)
		fprintf(out, "%s%d:1:10", line > 1 ? "," : "\tlines=", line);
	fprintf(out,
	    "\nlatency-point\tname=req\tarrivals=10\tdepartures=10\tdifference=1\tintegral="
	    "1000000\t"
	    "least=0\tpairs=10\tpairs-sum=%d\thistogram=%s\n",
	    i % 2 ? 10000 : 19000, i % 2 ? "300:10" : "300:9,900:1");
}

/* Of a line's share of a baseline no cell is whole, and no request of the tail gets lost. */
TEST(latencies_of_baselines_keep_their_tail)
{
	uint64_t pairs = 0, slow = 0;
	int64_t pairs_ns = 0;
	struct profile p;
	struct error e;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs("startup\ttime=1\tbuild-id=ab\n", out);
	for (int i = 0; i < 320; i++)
		write_shared(out, i);
	for (int line = 1; line <= 20; line++)
		fprintf(out,
		    "experiment\tselected=a.c:%d\tspeedup=0.50\tduration=1000000\n"
		    "latency-point\tname=req\tarrivals=10\tdepartures=10\tdifference=1\t"
		    "integral=1000000\tleast=0\tpairs=10\tpairs-sum=10000\thistogram=300:10\n"
		    "samples\tlocation=a.c:%d\tcount=3200\tfree=3200\tid=%d\n",
		    line, line, line);
	fclose(out);
	profile_init(&p);
	out = fmemopen(text, size, "r");
	CHECK_EQ(profile_read(&p, out, "test", &e), 0);
	fclose(out);
	free(text);
	CHECK_EQ(profile_sum(&p), 0);
	for (size_t i = 0; i < p.n_experiments; i++) {
		const struct point_record *r = p.experiments[i].points;

		if (p.experiments[i].speedup > 0 || !r->is_latency)
			continue;
		pairs += r->pairs;
		pairs_ns += r->pairs_ns;
		for (size_t j = 0; j < r->n_cells; j++)
			slow += r->cells[j].index == 900 ? r->cells[j].count : 0;
	}
	/* Each of twenty lines may be off by one request, by rounding. */
	CHECK_NEAR((double)pairs, 3200, 20);
	CHECK_NEAR((double)slow, 160, 20);
	CHECK_NEAR((double)pairs_ns, 1450.0 * (double)pairs, 1450.0 * 20);
	profile_deinit(&p);
}
