// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a log of blocks: reading, analysing and reporting fail only by refusing, and what
 * was read reads the same once it is written again. Built by `make fuzz`. */
#include "limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/blocks/analyse.h"
#include "core/blocks/blockformat.h"
#include "report/blocks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

static void check_sound(const struct block_logs *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_runs; i++) {
		require(l->runs[i].first == n, "runs follow each other");
		n += l->runs[i].n;
	}
	require(n == l->n_entries, "each entry is of a run");
	for (size_t i = 0; i < l->n_entries; i++) {
		const struct block_entry *e = &l->entries[i];

		require(e->place < l->n_places, "places are there");
		require(e->first_cell + e->n_cells <= l->n_cells, "cells are there");
		require(isfinite(e->frequency * e->avg_ns), "figures are finite");
		for (size_t j = 0; j < e->n_cells; j++)
			require(l->cells[e->first_cell + j].index < BLOCK_CELLS, "cells are known");
	}
}

static struct block_figures figures_of(const struct block_logs *l, const struct block_entry *e)
{
	struct block_figures f = {e->place, e->frequency, e->frequency_se, e->share, e->timed,
	    e->min_ns, e->max_ns, e->avg_ns, e->wall_avg_ns, {0}};

	for (size_t i = 0; i < e->n_cells; i++) {
		const struct block_cell *c = &l->cells[e->first_cell + i];

		f.cells[c->index] += c->count;
	}
	return f;
}

static void write_all(FILE *out, const struct block_logs *l)
{
	size_t written = 0;

	block_format_version(out);
	for (size_t i = 0; i < l->n_runs; i++) {
		const struct block_read_run *r = &l->runs[i];
		struct block_figures *f = calloc(r->n + 1, sizeof(*f));

		for (size_t j = 0; j < r->n; j++)
			f[j] = figures_of(l, &l->entries[r->first + j]);
		require(!block_format_run(
			    out, 1, &r->session, &r->run, l->places, written, l->n_places, f, r->n),
		    "memory suffices");
		written = l->n_places;
		free(f);
	}
}

static void check_round_trip(const struct block_logs *l)
{
	struct block_logs again;
	struct error e;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	write_all(out, l);
	fclose(out);
	block_logs_init(&again);
	require(!block_logs_read(&again, text, n, "b", &e), "what was written is a log");
	require(!again.n_damaged && !again.n_nameless, "what was written is whole");
	require(again.n_runs + again.n_twins == l->n_runs, "no run is lost");
	check_sound(&again);
	block_logs_deinit(&again);
	free(text);
}

static void check_reports(const struct block_logs *l, uint64_t seed)
{
	struct block_analysis_options o = {.threshold_pct = 1,
	    .range = seed % 2 ? BLOCK_RANGE_ONCE : BLOCK_RANGE_RUN,
	    .failed = seed % 3 == 0,
	    .seed = seed};
	struct text_options text = {.width = 80};
	struct block_analysis a;
	struct blocks_report r = {.analysis = &a, .all = true};
	FILE *out = fopen("/dev/null", "w");
	struct error e;

	require(!block_analyse(l, &o, &a), "memory suffices");
	require(a.n_runs + a.n_failed == l->n_runs, "each run is on one side");
	for (size_t i = 0; i < a.n_reported; i++) {
		const struct block_result *x = &a.results[i];

		require(x->significance_ns >= a.threshold_ns && x->range_ns >= a.threshold_ns,
		    "what is reported reaches the threshold");
		require(isnan(x->significance.lo) || x->significance.lo <= x->significance.hi,
		    "intervals are ordered");
	}
	block_analysis_reason(&a, &e);
	blocks_text(out, &r, &text);
	blocks_json(out, &r);
	blocks_html(out, &r);
	fclose(out);
	block_analysis_deinit(&a);
}

/* A line of a place, with the sum that it should have. */
static void mend_place(FILE *out, const char *line, size_t n)
{
	const char *sum = memmem(line, n, "\tsum=", 5);

	n = sum ? (size_t)(sum - line) : n;
	fprintf(out, "%.*s\tsum=%016llx\n", (int)n, line,
	    (unsigned long long)block_format_sum(line, n));
}

static const char *line_end(const char *p, const char *end)
{
	const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

	return newline ? newline : end;
}

/* A run's line without its number of bytes, which follows. */
static void mend_head(FILE *out, const char *line, const char *end, size_t bytes)
{
	const char *old = memmem(line, (size_t)(end - line), "\tbytes=", 7), *tab;

	if (old) {
		tab = memchr(old + 1, '\t', (size_t)(end - old - 1));
		fwrite(line, 1, (size_t)(old - line), out);
		line = tab ? tab : end;
	}
	fprintf(out, "%.*s\tbytes=%zu\n", (int)(end - line), line, bytes);
}

/* The run at @p, up to its end line, with the sums that it should have. Returns what follows. */
static const char *mend_run(FILE *out, const char *p, const char *end)
{
	const char *head_end = line_end(p, end), *at = head_end < end ? head_end + 1 : end, *next;
	char *body = NULL, *whole = NULL;
	size_t n_body, n_whole;
	FILE *stream = open_memstream(&body, &n_body);

	for (; at < end && strncmp(at, "end\t", end - at < 4 ? (size_t)(end - at) : 4); at = next) {
		const char *newline = line_end(at, end);

		next = newline < end ? newline + 1 : end;
		if (*at == 'p')
			mend_place(stream, at, (size_t)(newline - at));
		else
			fprintf(stream, "%.*s\n", (int)(newline - at), at);
	}
	fclose(stream);
	stream = open_memstream(&whole, &n_whole);
	mend_head(stream, p, head_end, n_body);
	fwrite(body, 1, n_body, stream);
	fclose(stream);
	fwrite(whole, 1, n_whole, out);
	fprintf(out, "end\tsum=%016llx\n", (unsigned long long)block_format_sum(whole, n_whole));
	free(body);
	free(whole);
	return at < end ? line_end(at, end) : end;
}

/* Sums keep out whatever was mutated, so here they are made right. */
static char *mended(const uint8_t *data, size_t size, size_t *ret)
{
	const char *p = (const char *)data, *end = p + size, *newline;
	char *text = NULL;
	FILE *out = open_memstream(&text, ret);

	while (p < end) {
		newline = line_end(p, end);
		if (newline - p > 4 && !memcmp(p, "run\t", 4))
			newline = mend_run(out, p, end);
		else if (newline - p > 6 && !memcmp(p, "place\t", 6))
			mend_place(out, p, (size_t)(newline - p));
		else
			fprintf(out, "%.*s\n", (int)(newline - p), p);
		p = newline < end ? newline + 1 : end;
	}
	fclose(out);
	return text;
}

static void check(const char *text, size_t size)
{
	struct block_logs l;
	struct error e;

	block_logs_init(&l);
	l.mix_builds = size % 2;
	if (!block_logs_read(&l, text, size, "a", &e)) {
		const struct block_place *place, *other;
		size_t a, b;

		check_sound(&l);
		block_logs_other_build(&l, &a, &b, &place, &other);
		check_round_trip(&l);
		check_reports(&l, size);
	}
	block_logs_deinit(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n;
	char *text;

	limit_begin();
	check((const char *)data, size);
	text = mended(data, size, &n);
	check(text, n);
	free(text);
	return 0;
}
