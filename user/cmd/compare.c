// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf compare`: two profiles, before and after a change. user/core/estimate/compare.h compares,
 * user/report/compare.h prints. */
#include "cmd/cmd.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/options.h"
#include "core/profile/runs.h"
#include "report/compare.h"
#include "report/say.h"

struct compare_options {
	bool text, json;
	const char *line, *by;
	struct input_options inputs;
};

static const struct option_entry entries[] = {
    {0, "line", OPTION_STRING, offsetof(struct compare_options, line), "FILE:LINE",
	"the line that was optimized, by its name in BEFORE: says what its curve had predicted "
	"beside what came of it"},
    {0, "by", OPTION_STRING, offsetof(struct compare_options, by), "PCT",
	"how much faster that line became, in percent (100: it is gone); default: by its samples "
	"per visit, where both profiles have it"},
    {0, "text", OPTION_FLAG, offsetof(struct compare_options, text), NULL,
	"print tables and sentences (default)"},
    {0, "json", OPTION_FLAG, offsetof(struct compare_options, json), NULL,
	"print one JSON object, schema cozbpf-compare/1"},
    INPUT_MIX_ENTRIES(compare_options, inputs),
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "compare",
    .usage = "cozbpf compare [--line FILE:LINE [--by PCT]] [--text|--json] BEFORE AFTER",
    .summary =
	"Holds two profiles of a program against each other, from before and after a change: the "
	"time of a visit to each progress "
	"point, the rankings, and for a line that was optimized what its curve had predicted.",
    .entries = entries,
    .epilogue = "examples:\n"
		"  cozbpf compare before.coz after.coz\n"
		"  cozbpf compare --line hashtable.c:217 --by 25 before.coz after.coz\n",
};

/* One of the two profiles. */
struct input {
	struct profile profile;
	struct estimate estimate;
	struct compare_side side;
};

static int input_init(struct input *i, char *name, const struct input_options *o, struct error *e)
{
	static const struct estimate_options options = {.seed = ESTIMATE_SEED};

	memset(i, 0, sizeof(*i));
	profile_init(&i->profile);
	if (inputs_read(&i->profile, &name, 1, o, NULL, e)) {
		profile_deinit(&i->profile);
		return -1;
	}
	if (estimate_profile(&i->profile, &options, &i->estimate)) {
		profile_deinit(&i->profile);
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	i->side = (struct compare_side){&i->profile, &i->estimate};
	return 0;
}

static void input_deinit(struct input *i)
{
	estimate_deinit(&i->estimate);
	profile_deinit(&i->profile);
}

static int parse_speedup(const char *text, double *ret, struct error *e)
{
	if (!parse_percent(text, ret))
		return 0;
	error_set(e, EXIT_USAGE, "'%s' is not a speedup", text);
	return error_hint(e, "write how many percent less time the line takes, above 0 and up to "
			     "100, as in --by 25");
}

static int predict(struct comparison *c, const struct input *before, const struct input *after,
    const char *line, double by, struct error *e)
{
	switch (compare_predict(c, &before->side, &after->side, line, by)) {
	case 0:
		break;
	case -ENOENT:
		error_set(e, EXIT_USAGE, "no experiment in BEFORE was done on '%s'", line);
		return error_hint(e, "'cozbpf report BEFORE' names the lines; an optimized line is "
				     "named as it was called before");
	case -EEXIST:
		error_set(e, EXIT_USAGE, "several lines of BEFORE are called '%s'", line);
		return error_hint(e, "name it with its directory, as 'cozbpf report' shows it");
	default:
		return error_set(e, EXIT_OTHER, "out of memory");
	}
	for (size_t i = 0; i < c->n_predictions; i++) {
		if (!isnan(c->predictions[i].at.value))
			return 0;
	}
	error_set(e, EXIT_USAGE,
	    "how much faster '%s' became cannot be told: not both profiles have its samples in "
	    "time without delays",
	    line);
	return error_hint(e, "say it with --by, in percent; a line that has moved or is gone has "
			     "no samples under its old name");
}

static bool tells_anything(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_points; i++)
		if (!isnan(c->points[i].speedup.value))
			return true;
	for (size_t i = 0; i < c->n_lines; i++)
		if (!isnan(c->lines[i].slope.value))
			return true;
	return false;
}

static int report(const struct compare_report *r, bool json, struct error *e)
{
	struct text_options text = terminal_options();

	if ((json ? compare_json(stdout, r) : compare_text(stdout, r, &text)) || fflush(stdout))
		return error_set(e, EXIT_OTHER, "cannot write the report: %s", strerror(errno));
	if (tells_anything(r->comparison))
		return 0;
	if (r->comparison->n_points) {
		error_set(e, EXIT_NO_RESULT, "there is too little in both profiles to compare");
		return error_hint(e, "profile for longer, or several runs");
	}
	error_set(e, EXIT_NO_RESULT, "no progress point has baselines in both profiles");
	return error_hint(e, "profile both with the same -P NAME=SPEC");
}

static int compare(const struct compare_options *o, char **names, double by,
    const struct input *before, const struct input *after, struct error *e)
{
	struct compare_report r = {names[0], names[1], &before->side, &after->side, NULL};
	const char *a = runs_only_build(&before->profile), *b = runs_only_build(&after->profile);
	struct comparison c;
	int ret;

	if (a && b && !strcmp(a, b))
		say("warning: both profiles are of one build, %.12s: what differs is the "
		    "machine, its load or the input",
		    a);
	if (compare_profiles(&before->side, &after->side, &c))
		return error_set(e, EXIT_OTHER, "out of memory");
	ret = o->line && c.n_points ? predict(&c, before, after, o->line, by, e) : 0;
	r.comparison = &c;
	if (!ret)
		ret = report(&r, o->json, e);
	comparison_deinit(&c);
	return ret;
}

static int run(const struct compare_options *o, char **names, double by, struct error *e)
{
	struct input before, after;
	int ret;

	if (input_init(&before, names[0], &o->inputs, e))
		return -1;
	if (input_init(&after, names[1], &o->inputs, e)) {
		input_deinit(&before);
		return -1;
	}
	ret = compare(o, names, by, &before, &after, e);
	input_deinit(&before);
	input_deinit(&after);
	return ret;
}

static int check_options(
    const struct compare_options *o, int n_names, double *ret_by, struct error *e)
{
	*ret_by = NAN;
	if (o->text && o->json)
		return error_set(e, EXIT_USAGE, "--text and --json exclude each other");
	if (o->by && !o->line) {
		error_set(e, EXIT_USAGE,
		    "--by says how much faster a line became, but --line does not name it");
		return error_hint(e, "add --line FILE:LINE");
	}
	if (n_names != 2) {
		error_set(e, EXIT_USAGE, "compare takes two profiles, not %d", n_names);
		return error_hint(
		    e, "write cozbpf compare BEFORE AFTER; 'cozbpf merge' makes one of several");
	}
	return o->by ? parse_speedup(o->by, ret_by, e) : 0;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_options o = {0};
	struct error e = {0};
	int first = options_parse(&table, argc, argv, &o, &e), ret = first < 0 ? -1 : 0;
	double by;

	if (first > 0)
		ret = check_options(&o, argc - first, &by, &e) || run(&o, argv + first, by, &e) ? -1
												: 0;
	string_list_deinit(&o.inputs.sources);
	return ret ? say_error(&e) : EXIT_OK;
}
