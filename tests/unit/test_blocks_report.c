// SPDX-License-Identifier: BSD-3-Clause
/* Reports of blocks: whole texts and JSON of a log with a slow run, failed ones and hostile names,
 * and sentences for logs that tell little. */
#include "check.h"
#include "golden.h"

#include <cjson/cJSON.h>

#include "blocks_fixture.h"
#include "core/experiment/rng.h"
#include "core/text/utf8.h"
#include "report/blocks.h"

#define BLOCKS 6

struct fixture {
	struct made_log log;
	struct block_place places[BLOCKS];
	struct block_logs logs;
	struct block_analysis a;
};

static void fixture_init(struct fixture *f)
{
	made_begin(&f->log);
	block_logs_init(&f->logs);
	for (unsigned i = 0; i < BLOCKS; i++)
		f->places[i] = made_place(i);
	f->places[1].lines = (char *)"";
	f->places[2].lines = (char *)"a/very/long/path/of/a/source/file/compress.c:21-26";
	f->places[4].function = (char *)"</script><b>\033[31m";
	f->places[4].lines = (char *)"<img src=x onerror=alert(1)>.c:1";
}

/* Block 0 takes 20 % and is twice as long in a slow run, 1 is steady, 2 has a long tail, 3 is rare
 * and short, 4 is executed in every third run, 5 is never timed. */
static void add_run(struct fixture *f, unsigned i, bool is_slow, struct rng *rng)
{
	struct block_run run = made_plain_run(i);
	struct block_figures x[BLOCKS];
	unsigned n = 0;

	run.command = (char *)(is_slow ? "./pbzip2 -k 'odd input'" : "./pbzip2 -k input");
	run.blocked_ns = 100000000 + rng_below(rng, 9000000) + (is_slow ? 400000000 : 0);
	run.minor_faults = 700 + rng_below(rng, 50);
	for (unsigned j = 0; j < BLOCKS; j++) {
		x[n] = (struct block_figures){.block = j, .share = 0.2, .frequency = 1000 + j};
		if (j == 4 && i % 3)
			continue;
		if (j < 3) {
			x[n].frequency += (double)rng_below(rng, 40);
			x[n].frequency_se = 10;
		}
		if (j < 5)
			made_time(&x[n],
			    2e5 * (j == 0 && is_slow ? 2 : 1) / (j == 3 ? 1000 : 1) +
				(double)rng_below(rng, 5000),
			    900);
		if (j == 0 || j == 2)
			made_time(&x[n], j ? 2e6 : 3e5, 50);
		n++;
	}
	CHECK_EQ(made_run(&f->log, &run, f->places, BLOCKS, x, n), 0);
}

static void add_failed(struct fixture *f, unsigned i, int status, bool ended)
{
	struct block_run run = made_plain_run(i);

	run.status = status;
	run.ended = ended;
	CHECK_EQ(made_run(&f->log, &run, f->places, BLOCKS, NULL, 0), 0);
}

static void analyse_with(struct fixture *f, const char *name, struct block_analysis_options o)
{
	struct error e;

	CHECK_EQ(block_logs_read(&f->logs, f->log.text, f->log.n, name, &e), 0);
	CHECK_EQ(block_analyse(&f->logs, &o, &f->a), 0);
}

static void analyse(struct fixture *f, const char *name, double threshold_pct)
{
	analyse_with(
	    f, name, (struct block_analysis_options){.threshold_pct = threshold_pct, .seed = 1});
}

static void fixture_deinit(struct fixture *f)
{
	block_analysis_deinit(&f->a);
	block_logs_deinit(&f->logs);
	made_free(&f->log);
}

static void make_known(struct fixture *f)
{
	struct rng rng = {3};

	fixture_init(f);
	for (unsigned i = 0; i < 24; i++)
		add_run(f, i, i == 11, &rng);
	add_failed(f, 24, 3, true);
	add_failed(f, 25, -15, false);
	analyse(f, "known.log", 5);
}

static char *text_of(const struct fixture *f, struct blocks_report r)
{
	struct text_options o = {.width = 100};
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	r.analysis = &f->a;
	CHECK_EQ(blocks_text(out, &r, &o), 0);
	fclose(out);
	return text;
}

static char *json_of(const struct fixture *f, struct blocks_report r)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	r.analysis = &f->a;
	CHECK_EQ(blocks_json(out, &r), 0);
	fclose(out);
	return text;
}

/* Columns of the longest line; everything is ASCII. */
static size_t widest(const char *text)
{
	size_t ret = 0;

	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		ret = n > ret ? n : ret;
	}
	return ret;
}

TEST(text)
{
	struct fixture f;
	char *text;

	make_known(&f);
	text = text_of(&f, (struct blocks_report){.top = 10});
	check_golden(text, "blocks.txt");
	CHECK(widest(text) <= 100);
	CHECK(!strchr(text, '\033'));
	free(text);
	text = text_of(&f, (struct blocks_report){.all = true});
	check_golden(text, "blocks-all.txt");
	CHECK(widest(text) <= 100);
	free(text);
	text = text_of(&f, (struct blocks_report){.top = 1});
	CHECK(strstr(text, "more blocks reach 5 % (--top 0 shows them)"));
	free(text);
	fixture_deinit(&f);
}

TEST(json)
{
	const struct cJSON *block, *slow;
	struct fixture f;
	char *text;
	cJSON *json;

	make_known(&f);
	text = json_of(&f, (struct blocks_report){.top = 1});
	check_golden(text, "blocks.json");
	free(text);
	text = json_of(&f, (struct blocks_report){.all = true});
	json = cJSON_Parse(text);
	CHECK(json);
	CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(json, "runs")), 24);
	CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(json, "failed")), 2);
	CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(json, "blocks")), BLOCKS);
	cJSON_ArrayForEach(block, cJSON_GetObjectItem(json, "blocks"))
	{
		if (strcmp(cJSON_GetObjectItem(block, "function")->valuestring, "compress_0") ||
		    cJSON_GetObjectItem(block, "offset")->valueint)
			continue;
		slow = cJSON_GetObjectItem(block, "slow");
		CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(slow, "runs")), 1);
		CHECK_EQ(cJSON_GetArrayItem(cJSON_GetObjectItem(slow, "runs"), 0)->valueint, 11);
	}
	cJSON_Delete(json);
	free(text);
	fixture_deinit(&f);
}

static void expect_reason(const struct fixture *f, const char *want)
{
	struct error e = {0};

	CHECK_EQ(block_analysis_reason(&f->a, &e), -1);
	CHECK_EQ(e.status, EXIT_NO_RESULT);
	CHECK_STR(e.cause, want);
}

static void expect_text(const struct fixture *f, const char *want)
{
	char *text = text_of(f, (struct blocks_report){0});

	if (!strstr(text, want)) {
		fprintf(stderr, "'%s' is not in:\n%s", want, text);
		CHECK(!"the words are there");
	}
	free(text);
}

TEST(little_to_tell)
{
	struct rng rng = {4};
	struct fixture f;
	struct error e;

	fixture_init(&f);
	analyse(&f, "a.log", 5);
	expect_reason(&f, "the log 'a.log' holds no whole run");
	expect_text(&f, "0 runs of nothing");
	fixture_deinit(&f);

	fixture_init(&f);
	add_failed(&f, 1, -11, true);
	analyse(&f, "a.log", 5);
	expect_reason(&f, "the only run failed: ended by signal 11");
	expect_text(&f, "run 1 does not count, ended by signal 11 after 1.10 s: ./pbzip2");
	fixture_deinit(&f);

	fixture_init(&f);
	add_failed(&f, 1, 0, true);
	analyse(&f, "a.log", 5);
	expect_reason(&f, "no block was watched in any run");
	fixture_deinit(&f);

	fixture_init(&f);
	add_failed(&f, 1, 2, true);
	add_failed(&f, 2, 4, true);
	analyse(&f, "a.log", 5);
	expect_reason(&f, "all 2 runs failed, the last one: exit status 4");
	fixture_deinit(&f);

	fixture_init(&f);
	add_run(&f, 0, false, &rng);
	analyse(&f, "a.log", 5);
	CHECK_EQ(block_analysis_reason(&f.a, &e), 0);
	expect_text(&f, "one run does not tell what varies from run to run");
	fixture_deinit(&f);

	fixture_init(&f);
	add_run(&f, 0, false, &rng);
	add_run(&f, 1, false, &rng);
	analyse(&f, "a.log", 50);
	CHECK_EQ(block_analysis_reason(&f.a, &e), 0);
	expect_text(
	    &f, "no block takes 50 % of the CPU time and varies by as much; the nearest one,");
	expect_text(&f, "two runs have no intervals");
	fixture_deinit(&f);
}

/* In a log without a run that succeeded. */
TEST(runs_that_were_cut_off)
{
	static const char note[] = "note: no run succeeded, so runs that were cut off count";

	for (unsigned all = 0; all < 2; all++) {
		struct fixture f;
		char *text;

		fixture_init(&f);
		add_failed(&f, 1, 1, true);
		add_failed(&f, 2, -15, false);
		analyse_with(&f, "a.log", (struct block_analysis_options){.failed = all});
		text = text_of(&f, (struct blocks_report){0});
		CHECK((strstr(text, note) == NULL) == all);
		CHECK(!strstr(text, "by itself"));
		free(text);
		fixture_deinit(&f);
	}
}

/* The data stands in an element of its own, which nothing in the data ends. */
TEST(the_page_holds_its_data)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	struct fixture f;
	struct blocks_report r = {.analysis = &f.a, .all = true};
	char *text = NULL, *data, *end;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	cJSON *json;

	make_known(&f);
	CHECK_EQ(blocks_html(out, &r), 0);
	fclose(out);
	data = strstr(text, begin);
	CHECK(data && !strncmp(text, "<!doctype html>", 15));
	data += sizeof(begin) - 1;
	end = strchr(data, '<');
	CHECK(end && !strncmp(end, "</script>", 9));
	json = cJSON_ParseWithLength(data, (size_t)(end - data));
	CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(json, "blocks")), BLOCKS);
	CHECK_EQ(cJSON_GetArraySize(cJSON_GetObjectItem(json, "runs")), 24);
	CHECK(!strstr(text, "onerror=alert(1)>"));
	cJSON_Delete(json);
	free(text);
	fixture_deinit(&f);
}

TEST(a_damaged_log_says_so)
{
	struct rng rng = {4};
	struct fixture f;

	fixture_init(&f);
	add_run(&f, 0, false, &rng);
	add_run(&f, 1, false, &rng);
	f.log.text[200] ^= 1;
	analyse(&f, "a.log", 5);
	expect_text(&f, "note: 1 damaged part of the log was left out, the first one at line 3 of "
			"'a.log'");
	fixture_deinit(&f);
}

TEST(short_blocks_are_doubted)
{
	struct block_figures x = {.block = 0, .frequency = 1e7, .share = 0.5};
	struct block_run run = made_plain_run(0);
	struct fixture f;

	fixture_init(&f);
	made_time(&x, 20, 1000);
	made_time(&x, 400, 10);
	CHECK_EQ(made_run(&f.log, &run, f.places, BLOCKS, &x, 1), 0);
	analyse(&f, "a.log", 5);
	CHECK_EQ(f.a.n_reported, 1);
	expect_text(&f, "short beside its probes: its average comes from samples");
	fixture_deinit(&f);
}

/* Three runs are slow in a block that two more executed untimed. */
TEST(executed_only_in_slow_runs_or_not)
{
	for (unsigned untimed = 0; untimed < 3; untimed += 2) {
		struct fixture f;
		char *text;

		fixture_init(&f);
		for (unsigned i = 0; i < 20; i++) {
			struct block_run run = made_plain_run(i);
			struct block_figures x = {.block = 0, .frequency = 100, .share = 0.5};

			if (i < 3) {
				made_time(&x, 1e6, 90);
				made_time(&x, 2e6, 10);
			}
			CHECK_EQ(made_run(&f.log, &run, f.places, BLOCKS, &x, i < 3 + untimed), 0);
		}
		analyse(&f, "a.log", 5);
		text = text_of(&f, (struct blocks_report){0});
		CHECK(!strstr(text, "executed only in run ") == (untimed > 0));
		CHECK(!strstr(text, "slow in run ") == !untimed);
		free(text);
		fixture_deinit(&f);
	}
}

TEST(several_logs_name_their_runs)
{
	struct rng rng = {5};
	struct fixture f;
	struct error e;

	fixture_init(&f);
	for (unsigned i = 0; i < 24; i++)
		add_run(&f, i, i == 11, &rng);
	CHECK_EQ(block_logs_read(&f.logs, f.log.text, f.log.n, "dir/b.log", &e), 0);
	analyse(&f, "a.log", 5);
	expect_text(&f, "slow in b.log:12 (");
	expect_text(&f, "note: 24 runs are there twice and counted once");
	fixture_deinit(&f);
}
