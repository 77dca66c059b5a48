// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf blocks`: its options, and what makes no sense together. What is done is in user/run/; its
 * report is in blocks_report.c. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/blocks_experiment.h"
#include "cmd/blocks_inputs.h"
#include "cmd/cmd.h"
#include "cmd/job_output.h"
#include "cmd/options.h"
#include "core/places/pair.h"
#include "report/say.h"
#include "run/clock.h"
#include "run/options.h"

struct fields {
	struct run_options run;
	struct blocks_options blocks;
	struct blocks_inputs inputs;
	struct string_list progress; /* of experiments */
	const char *file, *command, *perturb, *cost, *share;
	bool then_experiment;
};

#define FIELD(name) offsetof(struct fields, name)
#define RUNS_NOT_GIVEN UINT64_MAX

static const struct option_entry entries[] = {
    {'n', "runs", OPTION_UINT, FIELD(run.runs), "N",
	"run the command N times (default: 1; with inputs once for each line)"},
    {0, "inputs", OPTION_STRING, FIELD(file), "FILE",
	"each line holds the words of one run, which follow those of the command; - is standard "
	"input, !CMD what CMD prints"},
    {0, "inputs-from", OPTION_STRING, FIELD(command), "CMD",
	"a shell's command that prints such lines"},
    {0, "perturb", OPTION_STRING, FIELD(perturb), "PCT",
	"delay threads at so many of their samples for 10us to 1ms, to bring about rare schedules "
	"(default: 0)"},
    {0, "seed", OPTION_UINT, FIELD(run.seed), "N",
	"seed of windows and delays (default: from the clock)"},
    {'d', "duration", OPTION_TIME, FIELD(run.duration_ns), "TIME",
	"end a run that lasts longer; a process that is attached to goes on (default: to its end)"},
    {'p', "pid", OPTION_LIST, FIELD(run.pids), "PID",
	"watch this running process instead of launching a command; repeatable"},
    {'o', "output", OPTION_STRING, FIELD(run.output), "LOG",
	"log, appended to; %N and the like as for run (default: blocks.log)"},
    {'s', "source-scope", OPTION_LIST, FIELD(run.sources), "PATTERN",
	"source files whose blocks may be watched, % is the wildcard (default: all but system "
	"headers)"},
    {'b', "binary-scope", OPTION_LIST, FIELD(run.binaries), "PATTERN",
	"binaries whose blocks may be watched, MAIN is the main executable (default: MAIN)"},
    {0, "cost", OPTION_STRING, FIELD(cost), "PCT",
	"most of the CPU time that probes may take (default: 20)"},
    {0, "share", OPTION_STRING, FIELD(share), "PCT",
	"least part of the samples that makes a block worth watching, with what it calls "
	"(default: 1)"},
    {0, "then-experiment", OPTION_FLAG, FIELD(then_experiment), NULL,
	"experiment on the blocks that the report would list first, each as if its slow executions "
	"took its median; into profile.coz"},
    {'P', "progress", OPTION_LIST, FIELD(progress), "[NAME=]SPEC",
	"progress point of these experiments; repeatable (default: whole runs)"},
    {0, "user", OPTION_STRING, FIELD(run.user), "USER",
	"run the command as USER (default: under sudo the invoking user)"},
    {0, "no-follow-children", OPTION_FLAG, FIELD(run.no_follow), NULL,
	"only the command's own process is watched"},
    {'q', "quiet", OPTION_FLAG, FIELD(run.quiet), NULL, "only errors on standard error"},
    {'v', "verbose", OPTION_FLAG, FIELD(run.verbose), NULL, "say what is done"},
    {0},
};

static const struct option_table table = {
    .command = "blocks",
    .usage = "cozbpf blocks [options] -- cmd [args...]\n       cozbpf blocks [options] -p PID [-p "
	     "PID ...]\n       cozbpf blocks report [options] LOG...",
    .summary =
	"Runs the command again and again, and times its basic blocks: how often each is executed, "
	"and how long it takes at least, at most and on average, with what it calls. Blocks that "
	"samples find are watched in random windows, those that run seldom all the time. The log "
	"tells which blocks matter and vary: what is slow in some runs only, and in which.",
    .entries = entries,
    .takes_command = true,
    .epilogue =
	"Lines of inputs are words as a shell reads them; there is no shell, so | and > are "
	"words, too.\n"
	"examples:\n"
	"  sudo cozbpf blocks -n 50 -- ./server --once\n"
	"  sudo cozbpf blocks --inputs files.txt --perturb 2 -- ./convert\n"
	"  cozbpf blocks report blocks.log\n",
};

static int parse_pct(
    const char *name, const char *text, double least, double most, double *ret, struct error *e)
{
	double share = 0;

	if (!text)
		return 0;
	if ((!parse_percent(text, &share) || !strcmp(text, "0")) && 100 * share >= least &&
	    100 * share <= most) {
		*ret = share;
		return 0;
	}
	error_set(e, EXIT_USAGE, "'--%s %s' is no percentage for that", name, text);
	return error_hint(e, "give a number from %g to %g", least, most);
}

static int parse_numbers(struct fields *f, struct error *e)
{
	return parse_pct("perturb", f->perturb, 0, 100, &f->blocks.perturb, e) ||
		       parse_pct("cost", f->cost, 0.1, 90, &f->blocks.cost, e) ||
		       parse_pct("share", f->share, 0.01, 100, &f->blocks.share, e)
		   ? -1
		   : 0;
}

static int check_attach(const struct fields *f, struct error *e)
{
	const char *what = f->run.command[0]               ? "a command"
			   : f->run.runs != RUNS_NOT_GIVEN ? "'--runs'"
			   : f->file || f->command         ? "inputs"
			   : f->run.user                   ? "'--user'"
							   : NULL;

	if (!f->run.pids.n || !what)
		return 0;
	error_set(e, EXIT_USAGE, "'--pid' and %s exclude each other", what);
	return error_hint(e, "a running process is watched as it is, for --duration");
}

static int check_options(struct fields *f, struct error *e)
{
	bool has_inputs = f->file || f->command;

	if (!f->run.command[0] && !f->run.pids.n && !has_inputs) {
		error_set(e, EXIT_USAGE, "no command given");
		return error_hint(e, "cozbpf blocks -n 20 -- cmd args..., or -p PID for a running "
				     "process");
	}
	if (f->file && f->command) {
		error_set(e, EXIT_USAGE, "'--inputs' and '--inputs-from' exclude each other");
		return error_hint(e, "leave one out");
	}
	if (f->run.runs != RUNS_NOT_GIVEN && (!f->run.runs || f->run.runs > 100000)) {
		error_set(e, EXIT_USAGE, "the command cannot be run %llu times",
		    (unsigned long long)f->run.runs);
		return error_hint(e, "give --runs between 1 and 100000");
	}
	if (!f->then_experiment ? f->progress.n : f->run.pids.n && !f->progress.n) {
		error_set(e, EXIT_USAGE, "'--%s' needs '--%s'%s",
		    f->progress.n ? "progress" : "then-experiment",
		    f->progress.n ? "then-experiment" : "progress",
		    f->progress.n ? "" : " where a process runs already");
		return error_hint(e, "blocks are timed without a progress point");
	}
	if (f->then_experiment && has_inputs) {
		error_set(e, EXIT_USAGE, "'--then-experiment' and inputs exclude each other");
		return error_hint(e, "an input that is slow is one for: cozbpf run --granularity "
				     "block --fixed-line BLOCK -- cmd args");
	}
	if (f->then_experiment && f->run.pids.n && !f->run.duration_ns) {
		error_set(e, EXIT_USAGE,
		    "'--then-experiment' needs '--duration' where a process runs already");
		return error_hint(e, "blocks are timed for so long, and then experimented on");
	}
	return check_attach(f, e) || specs_check(&f->progress, NULL, e) || parse_numbers(f, e) ? -1
											       : 0;
}

/* The command line of each run. */
static int list_commands(struct fields *f, struct run_command *own, struct error *e)
{
	*own = (struct run_command){.argv = f->run.command};
	f->blocks.commands = own;
	f->blocks.n_commands = f->run.command[0] ? 1 : 0;
	if (f->file && f->file[0] == '!') {
		f->command = f->file + 1;
		f->file = NULL;
	}
	if (f->file || f->command) {
		if (blocks_inputs_read(
			&f->inputs, f->file, f->command, f->run.user, f->run.command, e))
			return -1;
		f->blocks.commands = f->inputs.commands;
		f->blocks.n_commands = f->inputs.n;
	}
	if (f->run.runs == RUNS_NOT_GIVEN)
		f->run.runs = f->inputs.n ? f->inputs.n : 1;
	return 0;
}

static int run(const struct fields *f)
{
	uint64_t before = blocks_log_length(f->run.output);
	bool is_whole;
	int status = run_blocks(&f->run, &is_whole), then;

	/* without a run there is nothing to experiment on */
	if (!f->then_experiment || !is_whole || blocks_log_length(f->run.output) <= before)
		return status;
	then = blocks_experiment(&f->run, &f->progress, before);
	return then ? then : status;
}

int cmd_blocks(int argc, char **argv)
{
	struct fields f = {.run = {.output = "blocks.log",
			       .runs = RUNS_NOT_GIVEN,
			       .seed = monotonic_ns(),
			       .granularity = GRANULARITY_BLOCK,
			       .inclusive = true,
			       .no_spin = true,
			       .no_goroutines = true,
			       .no_tui = true},
	    .blocks = {.cost = 0.2, .share = 0.01}};
	struct run_command own;
	struct error e = {0};
	int first, status = EXIT_OK;

	if (argc > 1 && !strcmp(argv[1], "report"))
		return cmd_blocks_report(argc - 1, argv + 1);
	first = options_parse(&table, argc, argv, &f, &e);
	f.run.command = argv + (first > 0 ? first : argc);
	f.run.blocks = &f.blocks;
	if (first)
		status = first < 0 || check_options(&f, &e) || list_commands(&f, &own, &e) ||
				 job_output(&f.run, &e)
			     ? say_error(&e)
			     : run(&f);
	blocks_inputs_deinit(&f.inputs);
	string_list_deinit(&f.progress);
	run_options_deinit(&f.run);
	return status;
}
