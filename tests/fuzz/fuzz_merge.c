// SPDX-License-Identifier: BSD-3-Clause
/*
 * libFuzzer: profiles of size, made by a few bytes, put together and reported. Each three bytes ask
 * for up to 4096 records of a kind, with names that are the same, differ, or repeat. All that is
 * done takes time in proportion to the text.
 */
#include "limit.h"
#include "profiles.h"

#include <time.h>

#include "core/estimate/sums.h"
#include "core/profile/runs.h"
#include "report/html.h"
#include "report/report.h"

#define MAX_TEXT (256 << 10)
/* CPU time with sanitizers: some twenty times what the slowest profiles of the corpus take, and a
 * small part of what one of the former squares took. */
#define BASE_S 2.0
#define PER_BYTE_S 40e-6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes @n records of one kind. @names: 0: one name; 1: all differ; else as many names. */
static void write_records(FILE *out, unsigned kind, unsigned n, unsigned names, unsigned long start)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned name = names == 0 ? 0 : names == 1 ? i : i % names;

		switch (kind % 8) {
		case 0:
			fprintf(out,
			    "startup\ttime=%lu\tbuild-id=%04x\tperiod=%u\tsample-cost=%u\n",
			    start + name, name % 3, 500000 + name % 2, name % 5 * 9000);
			break;
		case 1:
			fprintf(out,
			    "experiment\tselected=/s%u/a.c:%u\tspeedup=0.%02u"
			    "\tduration=%u\tselected-samples=9\n",
			    name % 7, name, i % 20 * 5, 1000 + i % 5);
			break;
		case 2:
			fprintf(out, "throughput-point\tname=p%u\tdelta=%u\n", name, 90 + i % 9);
			break;
		case 3:
			fprintf(out,
			    "latency-point\tname=l%u\tarrivals=99\tdepartures=98"
			    "\tdifference=1\n",
			    name);
			break;
		case 4:
			fprintf(
			    out, "samples\tlocation=/s%u/a.c:%u\tcount=%u\n", name % 7, name, i);
			break;
		case 5:
			fprintf(out, "runtime\ttime=%u\tsamples=%u\n", 9000 + i, i);
			break;
		case 6:
			fprintf(out,
			    "experiment\tselected=a.c:1\tspeedup=0.%02u\tduration=900\n"
			    "throughput-point\tname=p%u\tdelta=99\n",
			    i % 20 * 5, name);
			break;
		default:
			fprintf(out,
			    "startup\ttime=%lu\nexperiment\tselected=b.c:%u\tspeedup=0\t"
			    "duration=9%03u\nthroughput-point\tname=p\tdelta=9\n",
			    start + i / (names + 1), name, i % 1000);
		}
	}
}

static char *make_text(const uint8_t *data, size_t size, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	fprintf(out, "startup\ttime=1\n");
	for (size_t i = 0; i + 2 < size && ftell(out) < MAX_TEXT; i += 3)
		write_records(out, data[i], 1U << data[i + 1] % 13, data[i + 2], 2 + i * 5000);
	fclose(out);
	return text;
}

/* As `cozbpf merge` does it. */
static void put_together(struct profile *p)
{
	uint32_t *twins = calloc(p->n_runs + 1, sizeof(*twins));
	bool *drop = calloc(p->n_runs + 1, sizeof(*drop));
	const char *a, *b;
	size_t run, other;

	runs_other_build(p, &run, &other);
	runs_count_builds(p);
	require(!runs_find_twins(p, twins), "memory suffices");
	for (size_t i = 0; i < p->n_runs; i++)
		drop[i] = twins[i] != i;
	runs_drop(p, drop);
	require(runs_move_sources(p, 0, "/s1", "/s2") >= 0, "memory suffices");
	require(runs_find_moved(p, &run, &a, &b) >= 0, "memory suffices");
	free(twins);
	free(drop);
}

/* As it is done with more than memory is for: nothing may be lost, and what is done is done. */
static void add_up(struct profile *p)
{
	uint64_t runs = profile_runs(p), experiments = profile_experiments(p);
	size_t n;

	require(!profile_sum(p), "memory suffices");
	require(profile_runs(p) == runs, "runs are kept");
	require(profile_experiments(p) == experiments, "experiments are kept");
	n = p->n_experiments;
	require(!profile_sum(p), "memory suffices");
	require(p->n_experiments == n, "sums are final");
	if (p->n_runs)
		check_round_trip(p);
}

static void report(const struct profile *p)
{
	struct estimate_options options = {.seed = 1, .replicates = 10, .waiting = true};
	struct text_options text = {.width = 80};
	struct html_options html = {0};
	struct line_counts counts;
	struct unit_stacks stacks;
	struct estimate e;
	FILE *out = fopen("/dev/null", "w");

	require(!estimate_profile(p, &options, &e), "memory suffices");
	report_text(out, &e, &text);
	report_json(out, &e);
	report_html(out, p, &e, &html);
	require(!line_counts_init(&counts, p), "memory suffices");
	require(!unit_stacks_init(&stacks, p, false), "memory suffices");
	report_pprof(out, p, &counts, &stacks, &e, "0");
	unit_stacks_deinit(&stacks);
	line_counts_deinit(&counts);
	estimate_deinit(&e);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	clock_t begin = clock();
	struct profile p;
	size_t text_size;
	char *text = make_text(data, size, &text_size);

	limit_begin();
	if (!read_bytes(&p, text, text_size)) {
		put_together(&p);
		report(&p);
		add_up(&p);
		report(&p);
	}
	profile_deinit(&p);
	free(text);
	require(
	    (double)(clock() - begin) / CLOCKS_PER_SEC < BASE_S + PER_BYTE_S * (double)text_size,
	    "time is in proportion to the text");
	return 0;
}
