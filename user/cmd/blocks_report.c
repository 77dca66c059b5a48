// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf blocks report`: logs in, a report out. user/core/blocks/ reads and analyses,
 * user/report/blocks* print. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/input_files.h"
#include "cmd/inputs.h"
#include "cmd/options.h"
#include "cmd/outfile.h"
#include "core/blocks/analyse.h"
#include "core/text/printable.h"
#include "report/blocks.h"
#include "report/say.h"
#include "symbols/elf/privileges.h"

#define DEFAULT_LOG "blocks.log"

struct blocks_report_options {
	const char *threshold, *range, *html;
	uint64_t top, seed;
	bool json, all, failed, mix_builds;
};

static const struct option_entry entries[] = {
    {0, "threshold", OPTION_STRING, offsetof(struct blocks_report_options, threshold), "PCT",
	"report blocks that take at least so much of a run's CPU time, and vary by as much "
	"(default: 5)"},
    {0, "range", OPTION_STRING, offsetof(struct blocks_report_options, range), "KIND",
	"what has to reach the threshold besides: run (default), longest less shortest execution "
	"times the number of executions, or once, of one execution"},
    {0, "json", OPTION_FLAG, offsetof(struct blocks_report_options, json), NULL,
	"print one JSON object, schema cozbpf-blocks/1"},
    {0, "html", OPTION_STRING, offsetof(struct blocks_report_options, html), "FILE",
	"write a page for the browser in place of the text: box plots, and a heat map of blocks by "
	"runs; - is standard output"},
    {0, "top", OPTION_UINT, offsetof(struct blocks_report_options, top), "N",
	"show the first N blocks; 0: all of them (default: 10; in JSON and on the page all)"},
    {0, "all", OPTION_FLAG, offsetof(struct blocks_report_options, all), NULL,
	"show blocks below the threshold as well"},
    {0, "failed", OPTION_FLAG, offsetof(struct blocks_report_options, failed), NULL,
	"count runs that failed or were cut off; default: list them apart"},
    {0, "mix-builds", OPTION_FLAG, offsetof(struct blocks_report_options, mix_builds), NULL,
	"take blocks of different builds for one where function and offset are the same; default: "
	"refuse"},
    {0, "seed", OPTION_UINT, offsetof(struct blocks_report_options, seed), "N",
	"of what is drawn at random for intervals and chances (default: 1)"},
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "blocks report",
    .usage = "cozbpf blocks report [--threshold PCT] [--json|--html FILE] [LOG...]",
    .summary = "Says which basic blocks take much of the CPU time and vary, in which runs they "
	       "were slow, and what else differed in these. Several logs count as one and have to "
	       "be of one build; without one, " DEFAULT_LOG " is read, and - is standard input.",
    .entries = entries,
    .epilogue = "examples:\n"
		"  cozbpf blocks report\n"
		"  cozbpf blocks report --threshold 1 --top 20 monday.log tuesday.log\n"
		"  cozbpf blocks report --html blocks.html\n"
		"  cozbpf blocks report --json | jq '.blocks[0].lines'\n",
};

/* The whole of a stream; NULL with errno. The caller frees it. */
static char *read_stream(FILE *in, size_t *ret_n)
{
	size_t room = 1 << 16, n = 0;
	struct stat st;
	char *text = NULL, *larger;

	if (!fstat(fileno(in), &st) && S_ISREG(st.st_mode))
		room = (size_t)st.st_size + 1;
	for (;;) {
		larger = realloc(text, room);
		if (!larger)
			break;
		text = larger;
		n += fread(text + n, 1, room - n, in);
		if (n < room) {
			*ret_n = n;
			if (!ferror(in))
				return text;
			break;
		}
		room *= 2;
	}
	free(text);
	return NULL;
}

/* The log's text has to outlive nothing: what is kept of it is copied. */
static int read_log(struct block_logs *l, const char *name, struct error *e)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "re") : stdin;
	char *text = NULL;
	size_t n;
	int ret;

	if (in && input_check(in, name, e)) {
		fclose(in);
		return -1;
	}
	errno = in ? 0 : errno;
	if (in)
		text = read_stream(in, &n);
	if (!text) {
		error_set(e, EXIT_OTHER, "cannot read '%s': %s", name, strerror(errno));
		ret = error_hint(
		    e, "'cozbpf blocks -o LOG -- cmd' writes a log, " DEFAULT_LOG " by default");
	} else {
		privileges_lower();
		ret = block_logs_read(l, text, n, name, e);
		privileges_raise();
	}
	if (in && in != stdin)
		fclose(in);
	free(text);
	return ret;
}

static int refuse_builds(const struct block_logs *l, size_t a, size_t b,
    const struct block_place *place, const struct block_place *other, struct error *e)
{
	const struct block_read_run *x = &l->runs[a], *y = &l->runs[b];

	if (place)
		error_set(e, EXIT_USAGE, "runs used different builds of '%s': %.12s and %.12s",
		    place->object, place->build_id, other->build_id);
	else if (strcmp(x->session.build_id, y->session.build_id) != 0)
		error_set(e, EXIT_USAGE,
		    "'%s' and '%s' hold runs of different builds: %.12s and %.12s", l->logs[x->log],
		    l->logs[y->log], x->session.build_id, y->session.build_id);
	else
		error_set(e, EXIT_USAGE,
		    "'%s' and '%s' hold runs of different programs: '%s' and '%s'", l->logs[x->log],
		    l->logs[y->log], x->session.program, y->session.program);
	return error_hint(e, "a block of one build need not be the same in another: report logs of "
			     "one build, or add them all the same with --mix-builds");
}

static int read_logs(struct block_logs *l, char **names, int n, struct error *e)
{
	const struct block_place *place, *other;
	size_t a, b;

	for (int i = 0; i < n; i++)
		if (read_log(l, names[i], e))
			return -1;
	if (!l->mix_builds && block_logs_other_build(l, &a, &b, &place, &other))
		return refuse_builds(l, a, b, place, other, e);
	return 0;
}

static int write_page(const struct blocks_report *r, const char *name, struct error *e)
{
	struct outfile f;
	int ret;

	if (outfile_check(name, "page", e) || outfile_open(&f, name, e))
		return -1;
	errno = 0;
	ret = blocks_html(f.out, r);
	if (ret)
		error_set(e, EXIT_OTHER, "cannot write '%s': %s", name,
		    ret == -ENOMEM ? "out of memory" : strerror(errno));
	ret = outfile_close(&f, ret ? -1 : 0, e);
	if (!ret && strcmp(name, "-") != 0)
		say("the page is '%s'", name);
	return ret;
}

static int print(
    const struct blocks_report *r, const struct blocks_report_options *o, struct error *e)
{
	struct text_options text = terminal_options();
	FILE *out;
	int ret;

	if (o->html)
		return write_page(r, o->html, e);
	out = say_stdout();
	ret = o->json ? blocks_json(out, r) : blocks_text(stdout, r, &text);
	printable_close(out, stdout);
	if (ret == -ENOMEM)
		return error_set(e, EXIT_OTHER, "out of memory");
	return ret || fflush(stdout)
		   ? error_set(e, EXIT_OTHER, "cannot write the report: %s", strerror(errno))
		   : 0;
}

static int report(const struct block_logs *l, const struct blocks_report_options *o,
    const struct block_analysis_options *how, struct error *e)
{
	struct block_analysis a;
	struct blocks_report r = {&a, o->top, o->all};
	struct error reason = {0};
	int ret;

	if (block_analyse(l, how, &a))
		return error_set(e, EXIT_OTHER, "out of memory");
	ret = print(&r, o, e);
	if (!ret && block_analysis_reason(&a, &reason)) {
		*e = reason;
		ret = -1;
	}
	block_analysis_deinit(&a);
	return ret;
}

static int check_options(
    struct blocks_report_options *o, struct block_analysis_options *ret, struct error *e)
{
	double threshold;

	if (o->json && o->html)
		return error_set(e, EXIT_USAGE, "--json and --html exclude each other");
	if (parse_percent(o->threshold, &threshold)) {
		error_set(e, EXIT_USAGE, "'%s' is not a threshold", o->threshold);
		return error_hint(e, "write a part of a run's CPU time in percent, above 0 and up "
				     "to 100, as in --threshold 1");
	}
	if (strcmp(o->range, "run") != 0 && strcmp(o->range, "once") != 0)
		return error_set(e, EXIT_USAGE, "--range takes run or once, not '%s'", o->range);
	if (o->top == UINT64_MAX)
		o->top = o->json || o->html ? 0 : 10;
	*ret = (struct block_analysis_options){.threshold_pct = 100 * threshold,
	    .range = o->range[0] == 'o' ? BLOCK_RANGE_ONCE : BLOCK_RANGE_RUN,
	    .failed = o->failed,
	    .seed = o->seed};
	return 0;
}

int cmd_blocks_report(int argc, char **argv)
{
	static char default_log[] = DEFAULT_LOG, *default_names[] = {default_log, NULL};
	struct blocks_report_options o = {
	    .threshold = "5", .range = "run", .top = UINT64_MAX, .seed = 1};
	struct block_analysis_options how;
	struct block_logs l;
	struct error e = {0};
	int first = options_parse(&table, argc, argv, &o, &e), ret;

	if (!first)
		return EXIT_OK;
	block_logs_init(&l);
	ret = first < 0 || check_options(&o, &how, &e) ? -1 : 0;
	if (!ret) {
		l.mix_builds = o.mix_builds;
		ret = first < argc ? read_logs(&l, argv + first, argc - first, &e)
				   : read_logs(&l, default_names, 1, &e);
	}
	if (!ret)
		ret = report(&l, &o, &how, &e);
	block_logs_deinit(&l);
	return ret ? say_error(&e) : EXIT_OK;
}
