// SPDX-License-Identifier: BSD-3-Clause
/* The table of a run's counters: each of them reaches the profile and comes back, runs add up, and
 * the reports show what the table says. */
#include "check.h"

#include "core/profile/counters.h"
#include "report/report.h"
#include "report/words.h"

/* A different number for each. */
static void fill(struct run_record *r, uint64_t first)
{
#define COUNTER(name, ...) r->name = first++;
#include "core/profile/counters.def"
}

static void check_each(const struct run_record *r, uint64_t first, uint64_t by)
{
	for (size_t i = 0; i < n_run_counters; i++)
		CHECK_EQ(counter_value(&run_counters[i], r), by * (first + i));
}

TEST(each_counter_is_written_and_read)
{
	struct run_record r = {.runtime_ns = 5};
	struct profile p;
	struct error e;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fill(&r, 100);
	CHECK_EQ(profile_write_runtime(file, &r), 0);
	fclose(file);
	file = fmemopen(text, size, "r");
	profile_init(&p);
	CHECK_EQ(profile_read(&p, file, "test", &e), 0);
	CHECK_EQ(p.n_runs, 1);
	CHECK_EQ(p.runs[0].runtime_ns, 5);
	check_each(&p.runs[0], 100, 1);
	fclose(file);
	free(text);
	profile_deinit(&p);
}

TEST(runs_add_up)
{
	struct run_record runs[2] = {{.runtime_ns = 5, .fixed_speedups = 3, .build_id = "ab"},
	    {.runtime_ns = 7, .fixed_speedups = 2}};
	struct profile p = {.runs = runs, .n_runs = 2};
	struct run_record total;

	fill(&runs[0], 10);
	fill(&runs[1], 10);
	runs_total(&p, &total);
	check_each(&total, 10, 2);
	CHECK_EQ(total.runtime_ns, 12);
	CHECK_EQ(total.fixed_speedups, 3);
	CHECK_EQ(total.startup_time_ns, 0);
	CHECK_STR(total.build_id, "");
}

/* A fleet may have executed for longer than a run can: what is written of it can be read. */
TEST(a_sum_can_be_read)
{
	struct run_record r = {.runtime_ns = 2000000000000000000}, sum = {0};
	struct profile p;
	struct error e;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	r.executed_ns = r.runtime_ns;
	r.samples = 1ULL << 53;
	run_add(&sum, &r);
	run_add(&sum, &r);
	CHECK_EQ(profile_write_runtime(file, &sum), 0);
	fclose(file);
	file = fmemopen(text, size, "r");
	profile_init(&p);
	CHECK_EQ(profile_read(&p, file, "test", &e), 0);
	CHECK_EQ(p.n_skipped, 0);
	CHECK_EQ(p.runs[0].samples, 1ULL << 53);
	CHECK(p.runs[0].executed_ns > r.executed_ns);
	fclose(file);
	free(text);
	profile_deinit(&p);
}

/* What does not come from the session stays. */
TEST(a_run_is_what_came_since)
{
	struct run_record before = {0}, now = {.runtime_ns = 1}, run = {.runtime_ns = 9};

	fill(&before, 10);
	fill(&now, 10 + 32);
	counters_since(&now, &before, &run);
	for (size_t i = 0; i < n_run_counters; i++)
		CHECK_EQ(counter_value(&run_counters[i], &run), 32);
	CHECK_EQ(run.runtime_ns, 9);

	/* Processes that have made room for others are not in it any more. */
	fill(&before, 10 + 33);
	counters_since(&now, &before, &run);
	for (size_t i = 0; i < n_run_counters; i++)
		CHECK_EQ(counter_value(&run_counters[i], &run), 0);
}

static char *report_of(const struct estimate *e)
{
	struct text_options o = {.width = 100};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_EQ(report_text(out, e, &o), 0);
	fclose(out);
	return text;
}

/* Summary and warning, to the byte; a tenth is too much, less is not. */
TEST(reports_show_losses_and_doubts)
{
	struct estimate e = {.totals = {.executed_ns = 900, .outsiders_ns = 100}};
	char *text = report_of(&e);

	CHECK_STR(text, "0 experiments, 0 samples, 0 lost\n"
			"warning: other programs had 10 % of the CPU time that the program wanted: "
			"profile on a "
			"quieter machine to trust small gains\n");
	free(text);
	e.totals =
	    (struct run_record){.executed_ns = 901, .outsiders_ns = 100, .lost = 2, .dropped = 1};
	text = report_of(&e);
	CHECK_STR(text, "0 experiments, 0 samples, 2 lost, 1 spoilt experiments dropped\n");
	free(text);
	e.totals = (struct run_record){.executed_ns = 970, .misplaced_ns = 30};
	text = report_of(&e);
	CHECK_STR(text,
	    "0 experiments, 0 samples, 0 lost\n"
	    "warning: for 3 % of the CPU time that the program wanted threads waited beside an "
	    "idle CPU: where the kernel puts them moves predictions\n");
	free(text);
}

TEST(a_share_of_nothing_is_none)
{
	struct run_record r = {0};
	char words[200];

	for (size_t i = 0; i < n_run_counters; i++) {
		if (run_counters[i].shown == COUNTER_SHARE)
			CHECK_NEAR(counter_share(&run_counters[i], &r), 0, 0);
		counter_warning(&run_counters[i], &r, words, sizeof(words));
		CHECK_STR(words, "");
	}
}
