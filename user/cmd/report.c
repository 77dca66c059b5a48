// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf report`: profiles in, a report out. user/core/ estimates, user/report/ prints. */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/inputs.h"
#include "cmd/options.h"
#include "core/estimate/estimate.h"
#include "core/places/linemap.h"
#include "core/profile/line_counts.h"
#include "core/profile/wait_stacks.h"
#include "core/text/printable.h"
#include "report/report.h"
#include "report/say.h"

struct report_options {
	bool text, overview, json, csv, folded, pprof;
	const char *sort;
	struct input_options inputs;
};

static const struct option_entry entries[] = {
    {0, "text", OPTION_FLAG, offsetof(struct report_options, text), NULL,
	"print tables and sentences (default)"},
    {0, "overview", OPTION_FLAG, offsetof(struct report_options, overview), NULL,
	"draw each line's share of the samples against its gain, with 95 % intervals: what a usual "
	"profiler overlooks, and what is hot and does not matter"},
    {0, "json", OPTION_FLAG, offsetof(struct report_options, json), NULL,
	"print one JSON object, schema cozbpf-report/1"},
    {0, "csv", OPTION_FLAG, offsetof(struct report_options, csv), NULL,
	"print a row for each line, progress point and line speedup: the curves with their "
	"intervals"},
    {0, "folded", OPTION_FLAG, offsetof(struct report_options, folded), NULL,
	"print the plain samples per file and line for flamegraph.pl and speedscope: where time "
	"goes, not what a line would gain; with call stacks of waits, for a profile holds no "
	"others"},
    {0, "pprof", OPTION_FLAG, offsetof(struct report_options, pprof), NULL,
	"write samples, CPU time and gains for pprof, speedscope and Pyroscope: a compressed "
	"profile.proto; call stacks of waits only"},
    {0, "sort", OPTION_STRING, offsetof(struct report_options, sort), "KEY",
	"rank by slope (default), max (largest gain), payback (gain from small speedups) or impact "
	"(from large ones); always by the lower "
	"end of "
	"the 95 % interval"},
    INPUT_ENTRIES(report_options, inputs),
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "report",
    .usage = "cozbpf report [--text|--overview|--json|--csv|--folded|--pprof] "
	     "[--sort KEY] [FILE...]",
    .summary = "Says which lines are worth optimizing, from profiles that cozbpf or Coz wrote. "
	       "Several files count as runs of one "
	       "profile and have to be of one build. A directory stands for the profiles in it; "
	       "without a file, profile.coz is read, and - is standard input.",
    .entries = entries,
    .epilogue = "examples:\n"
		"  cozbpf report\n"
		"  cozbpf report --sort payback before.coz\n"
		"  cozbpf report --overview before.coz\n"
		"  cozbpf report --csv replica-*.coz >curves.csv\n"
		"  cozbpf report --folded | flamegraph.pl >lines.svg\n"
		"  cozbpf report --pprof >profile.pb.gz && go tool pprof -top profile.pb.gz\n"
		"  cozbpf report --json | jq '.lines[0].line'\n",
};

static int written(int failed, struct error *e)
{
	return failed || fflush(stdout)
		   ? error_set(e, EXIT_OTHER, "cannot write the report: %s", strerror(errno))
		   : 0;
}

static int no_samples(const struct profile *p, struct error *e)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < p->n_runs; i++)
		add_capped(&samples, p->runs[i].samples);
	if (samples) {
		error_set(e, EXIT_NO_RESULT,
		    "none of the %" PRIu64 " samples of the profile fell in code in scope",
		    samples);
		return error_hint(e, "profile with -b PATTERN, which names the file that works");
	}
	error_set(e, EXIT_NO_RESULT, "the profile holds no samples of lines");
	return error_hint(e, "they are written when a run ends; was it killed?");
}

/* Readers of --folded and --pprof add samples up. */
static int check_sums(const struct profile *p, struct error *e)
{
	for (size_t i = 0; i < p->n_samples; i++) {
		if (!source_line_is_inclusive(p->samples[i].location))
			continue;
		error_set(e, EXIT_USAGE,
		    "functions of the profile count with what they call, so samples count several "
		    "times");
		return error_hint(e, "profile without --inclusive for --folded and --pprof");
	}
	return 0;
}

static int print_folded(const struct profile *p, struct error *e)
{
	struct line_counts counts = {0};
	struct unit_stacks stacks;
	FILE *out;
	int ret;

	if (unit_stacks_init(&stacks, p, true) || line_counts_init(&counts, p)) {
		unit_stacks_deinit(&stacks);
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	out = say_stdout();
	ret = report_folded(out, &counts, &stacks);
	printable_close(out, stdout);
	ret = written(ret, e);
	if (!ret && !counts.n)
		ret = no_samples(p, e);
	line_counts_deinit(&counts);
	unit_stacks_deinit(&stacks);
	return ret;
}

/* Writes nothing where there is nothing to be seen. Samples without gains are of use. */
static int write_pprof(const struct profile *p, const struct line_counts *counts,
    const struct unit_stacks *stacks, const struct estimate *estimate, struct error *e)
{
	/* in rank order */
	bool has_verdict =
	    estimate->n_lines && estimate->lines[0].verdict != VERDICT_NOT_ENOUGH_DATA;
	int ret;

	if (!has_verdict && !counts->n)
		return no_samples(p, e);
	if (!has_verdict)
		say("warning: causal_gain_25 is 0 everywhere, for no %s has a verdict yet",
		    estimate_unit(estimate));
	ret = report_pprof(stdout, p, counts, stacks, estimate, COZBPF_VERSION);
	return ret == -ENOMEM ? error_set(e, EXIT_OTHER, "out of memory") : written(ret, e);
}

static int print_pprof(const struct profile *p, enum sort_key sort, struct error *e)
{
	struct estimate_options options = {.seed = ESTIMATE_SEED, .sort = sort};
	struct line_counts counts = {0};
	struct unit_stacks stacks;
	struct estimate estimate;
	int ret = -1;

	if (unit_stacks_init(&stacks, p, false) || line_counts_init(&counts, p) ||
	    estimate_profile(p, &options, &estimate)) {
		error_set(e, EXIT_OTHER, "out of memory");
	} else {
		ret = write_pprof(p, &counts, &stacks, &estimate, e);
		estimate_deinit(&estimate);
	}
	line_counts_deinit(&counts);
	unit_stacks_deinit(&stacks);
	return ret;
}

/* Prints the report of @p. Returns -1 with @e when there is nothing to report; the report says so
 * as well. */
static int print_report(
    const struct profile *p, const struct report_options *o, enum sort_key sort, struct error *e)
{
	struct estimate_options options = {
	    .seed = ESTIMATE_SEED, .sort = sort, .waiting = true, .machines = true};
	struct text_options text = terminal_options();
	struct estimate estimate;
	FILE *out;
	int ret;

	if (estimate_profile(p, &options, &estimate))
		return error_set(e, EXIT_OTHER, "out of memory");
	out = say_stdout();
	ret = o->json       ? report_json(out, &estimate)
	      : o->csv      ? report_csv(out, &estimate)
	      : o->overview ? report_overview(stdout, &estimate, &text)
			    : report_text(stdout, &estimate, &text);
	printable_close(out, stdout);
	ret = written(ret, e);
	if (!ret)
		ret = estimate_reason(p, &estimate, e);
	estimate_deinit(&estimate);
	return ret;
}

/* Whether the options make sense together. */
static int check_options(const struct report_options *o, enum sort_key *ret_sort, struct error *e)
{
	if (o->text + o->overview + o->json + o->csv + o->folded + o->pprof > 1)
		return error_set(e, EXIT_USAGE,
		    "--text, --overview, --json, --csv, --folded and --pprof exclude each other");
	if (o->pprof && isatty(STDOUT_FILENO)) {
		error_set(e, EXIT_USAGE, "--pprof is no text for a terminal");
		return error_hint(e, "write it into a file: --pprof >profile.pb.gz");
	}
	return parse_sort(o->sort, ret_sort, e);
}

int cmd_report(int argc, char **argv)
{
	struct report_options o = {.sort = "slope"};
	enum sort_key sort = SORT_SLOPE;
	struct error e = {0};
	struct profile p;
	int first = options_parse(&table, argc, argv, &o, &e), ret = first < 0 ? -1 : 0;

	if (first > 0)
		ret = check_options(&o, &sort, &e);
	if (first > 0 && !ret) {
		profile_init(&p);
		ret = inputs_read(&p, argv + first, argc - first, &o.inputs, NULL, &e);
		if (!ret && (o.folded || o.pprof))
			ret = check_sums(&p, &e);
		if (!ret)
			ret = o.folded  ? print_folded(&p, &e)
			      : o.pprof ? print_pprof(&p, sort, &e)
					: print_report(&p, &o, sort, &e);
		profile_deinit(&p);
	}
	string_list_deinit(&o.inputs.sources);
	return ret ? say_error(&e) : EXIT_OK;
}
