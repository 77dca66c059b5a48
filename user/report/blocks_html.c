// SPDX-License-Identifier: BSD-3-Clause
/* Fills the page of `cozbpf blocks report --html` with an analysis' figures. html/blocks* has the
 * looks, blocks_words.c the sentences. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "blocks_page.h"
#include "core/text/paths.h"
#include "report/blocks.h"
#include "report/jsonout.h"

/* Limits of the page; it says what it leaves out. */
#define MOST_BLOCKS 300
#define MOST_RUNS 1000
#define MOST_VALUES 50

static void open_list(struct json *j, const char *key)
{
	json_key(j, key);
	json_open(j, '[');
}

/* [name, command, CPU time] */
static void write_runs(struct json *j, const struct block_analysis *a)
{
	char name[256];

	open_list(j, "runs");
	for (size_t i = 0; i < a->n_runs && i < MOST_RUNS; i++) {
		block_run_words(a, a->runs[i], name, sizeof(name));
		json_open(j, '[');
		json_string(j, name);
		json_string(j, a->runs[i]->run.command);
		json_number(j, (double)a->runs[i]->run.cpu_ns);
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* [name, exit status, whether it ended by itself, command] */
static void write_failed(struct json *j, const struct block_analysis *a)
{
	char name[256];

	open_list(j, "failed");
	for (size_t i = 0; i < a->n_failed && i < MOST_RUNS; i++) {
		const struct block_run *r = &a->failed[i]->run;

		block_run_words(a, a->failed[i], name, sizeof(name));
		json_open(j, '[');
		json_string(j, name);
		json_number(j, r->status);
		json_bool(j, r->ended);
		json_string(j, r->command);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void write_notes(struct json *j, const struct block_analysis *a)
{
	char words[1024];

	open_list(j, "notes");
	for (unsigned n = 0;; n++) {
		blocks_warning(a, n, words, sizeof(words));
		if (!*words)
			break;
		json_string(j, words);
	}
	blocks_nearest_words(a, words, sizeof(words));
	if (*words)
		json_string(j, words);
	json_close(j, ']');
}

/* [run, frequency, min, average, max, time in the run] */
static void write_in_runs(struct json *j, const struct block_result *r)
{
	open_list(j, "in");
	for (uint32_t i = 0; i < r->n_in && r->in[i].run < MOST_RUNS; i++) {
		const struct block_in_run *in = &r->in[i];

		json_open(j, '[');
		json_count(j, in->run);
		json_number(j, in->frequency);
		json_number(j, in->min_ns);
		json_number(j, in->avg_ns);
		json_number(j, in->max_ns);
		json_number(j, in->time_ns);
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* For each figure [[value, runs], ...] */
static int write_values(struct json *j, const struct block_result *r)
{
	struct block_value *v = calloc(r->n_in + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	open_list(j, "values");
	for (int i = 0; i < N_FIGURES; i++) {
		size_t n = block_values(r, (enum block_figure)i, v);

		json_open(j, '[');
		for (size_t k = 0; k < n && k < MOST_VALUES; k++) {
			json_open(j, '[');
			json_number(j, v[k].value);
			json_count(j, v[k].runs);
			json_close(j, ']');
		}
		json_close(j, ']');
	}
	json_close(j, ']');
	free(v);
	return 0;
}

static void write_slow(struct json *j, const struct block_slow *s)
{
	char words[1024];

	open_list(j, "slow");
	for (size_t i = 0; i < s->n; i++)
		json_count(j, s->runs[i]);
	json_close(j, ']');
	open_list(j, "differences");
	for (size_t i = 0; i < s->n_differences; i++) {
		block_difference_words(&s->differences[i], words, sizeof(words));
		json_string(j, words);
	}
	json_close(j, ']');
	open_list(j, "inputs");
	for (size_t i = 0; i < s->n_inputs; i++) {
		json_open(j, '[');
		json_string(j, s->inputs[i].command);
		json_count(j, s->inputs[i].slow);
		json_count(j, s->inputs[i].runs);
		json_close(j, ']');
	}
	json_close(j, ']');
	json_key(j, "few");
	json_bool(j, s->too_few);
}

static int write_block(struct json *j, const struct block_result *r)
{
	char words[512];
	int ret;

	json_open(j, '{');
	block_place_words(r->place, words, sizeof(words));
	json_key_string(j, "where", words);
	block_function_words(r->place, words, sizeof(words));
	json_key_string(j, "of", words);
	json_key(j, "reported");
	json_bool(j, r->is_reported);
	json_key_count(j, "n", r->n_in);
	json_key_number(j, "frequency", r->is_known ? r->frequency : NAN);
	json_key_number(j, "average", r->avg_ns);
	/* of an execution: least, 5, 25, 50, 75, 95 %, longest */
	json_key(j, "times");
	json_open(j, '[');
	json_number(j, r->min_ns);
	for (unsigned i = 0; i < BLOCK_QUANTILES; i++)
		json_number(j, r->quantiles[i]);
	json_number(j, r->max_ns);
	json_close(j, ']');
	json_key_number(j, "mean", r->mean_ns);
	json_key(j, "significance");
	json_numbers(
	    j, (const double[]){r->significance_ns, r->significance.lo, r->significance.hi}, 3);
	json_key(j, "range");
	json_numbers(j, (const double[]){r->range_ns, r->range.lo, r->range.hi}, 3);
	json_key_number(j, "cost", r->cost_ns);
	json_key_number(j, "samples", r->share);
	write_in_runs(j, r);
	write_slow(j, &r->slow);
	ret = write_values(j, r);
	json_close(j, '}');
	return ret;
}

static int write_data(struct json *j, const struct blocks_report *r)
{
	const struct block_analysis *a = r->analysis;
	size_t n = blocks_shown(r);
	char words[512];
	int ret = 0;

	n = n < MOST_BLOCKS ? n : MOST_BLOCKS;
	json_open(j, '{');
	open_list(j, "logs");
	for (size_t i = 0; i < a->logs->n_logs; i++)
		json_string(j, a->logs->logs[i]);
	json_close(j, ']');
	blocks_summary_words(a, words, sizeof(words));
	json_key_string(j, "summary", words);
	json_key_number(j, "cpu", a->cpu_ns);
	json_key_number(j, "threshold", a->options.threshold_pct);
	json_key(j, "once");
	json_bool(j, a->options.range == BLOCK_RANGE_ONCE);
	json_key_count(j, "reported", a->n_reported);
	json_key_count(j, "watched", a->n_results);
	json_key_count(j, "runs_total", a->n_runs);
	write_notes(j, a);
	write_runs(j, a);
	write_failed(j, a);
	open_list(j, "blocks");
	for (size_t i = 0; i < n && !ret; i++)
		ret = write_block(j, &a->results[i]);
	json_close(j, ']');
	json_close(j, '}');
	return ret;
}

int blocks_html(FILE *out, const struct blocks_report *r)
{
	struct json j = {.out = out};
	int ret;

	fwrite(blocks_head, 1, sizeof(blocks_head), out);
	ret = write_data(&j, r);
	fwrite(blocks_tail, 1, sizeof(blocks_tail), out);
	return ret ? ret : ferror(out) ? -1 : 0;
}
