// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf report`: profiles in, a report out. What is estimated and how it looks is user/core/ and user/report/. */
#include "cmd/cmd.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/inputs.h"
#include "cmd/options.h"
#include "core/estimate.h"
#include "report/report.h"

struct report_options {
	bool text, json;
	const char *sort;
};

static const struct option_entry entries[] = {
    {0, "text", OPTION_FLAG, offsetof(struct report_options, text), NULL, "print tables and sentences (default)"},
    {0, "json", OPTION_FLAG, offsetof(struct report_options, json), NULL, "print one JSON object, schema cozbpf-report/1"},
    {0, "sort", OPTION_STRING, offsetof(struct report_options, sort), "KEY",
	"rank by slope (default), max (largest gain), payback (gain from small speedups) or impact (from large ones); always by the lower "
	"end of "
	"the 95 % interval"},
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "report",
    .usage = "cozbpf report [--text|--json] [--sort KEY] [FILE...]",
    .summary = "Says which lines are worth optimizing, from profiles that cozbpf or Coz wrote. Several files count as runs of one "
	       "profile; without one, profile.coz is read.",
    .entries = entries,
    .epilogue = "examples:\n"
		"  cozbpf report\n"
		"  cozbpf report --sort payback before.coz\n"
		"  cozbpf report --json | jq '.lines[0].line'\n",
};

static struct text_options terminal_options(void)
{
	struct text_options ret = {0};
	struct winsize size;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		ret.width = size.ws_col;
	/* Only this: numbers are printed as in the C locale. */
	setlocale(LC_CTYPE, "");
	ret.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
	return ret;
}

/* Prints the report of @p; -1 with @e when there is nothing to report, after the report has said so. */
static int print_report(const struct profile *p, const struct report_options *o, enum sort_key sort, struct error *e)
{
	struct estimate_options options = {.seed = 1, .sort = sort};
	struct text_options text = terminal_options();
	struct estimate estimate;
	int ret;

	if (estimate_profile(p, &options, &estimate))
		return error_set(e, EXIT_OTHER, "out of memory");
	ret = o->json ? report_json(stdout, &estimate) : report_text(stdout, &estimate, &text);
	if (ret || fflush(stdout))
		ret = error_set(e, EXIT_OTHER, "cannot write the report: %s", strerror(errno));
	else
		ret = estimate_reason(p, &estimate, e);
	estimate_deinit(&estimate);
	return ret;
}

int cmd_report(int argc, char **argv)
{
	struct report_options o = {.sort = "slope"};
	enum sort_key sort = SORT_SLOPE;
	struct error e = {0};
	struct profile p;
	int first = options_parse(&table, argc, argv, &o, &e), ret;

	if (first <= 0)
		return first ? cmd_fail(&e) : EXIT_OK;
	if (o.text && o.json) {
		error_set(&e, EXIT_USAGE, "--text and --json exclude each other");
		return cmd_fail(&e);
	}
	if (parse_sort(o.sort, &sort, &e))
		return cmd_fail(&e);
	profile_init(&p);
	ret = inputs_read(&p, argv + first, argc - first, &e);
	if (!ret)
		ret = print_report(&p, &o, sort, &e);
	profile_deinit(&p);
	return ret ? cmd_fail(&e) : EXIT_OK;
}
