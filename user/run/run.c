// SPDX-License-Identifier: BSD-3-Clause
/* The order of things, from set-up to report; see options.h. */
#include "run/runner.h"

#include <limits.h>
#include <stdlib.h>

#include "report/say.h"
#include "run/ending.h"
#include "run/loop.h"
#include "run/setup.h"
#include "target/descriptors.h"
#include "target/launch.h"

void run_options_deinit(struct run_options *o)
{
	free(o->speedups);
	free(o->again);
	free(o->job_output);
	free(o->node);
	string_list_deinit(&o->progress);
	string_list_deinit(&o->latency);
	string_list_deinit(&o->sources);
	string_list_deinit(&o->binaries);
	string_list_deinit(&o->pids);
	string_list_deinit(&o->spins);
	string_list_deinit(&o->fixed_lines);
}

static int open_console(struct runner *r, struct error *e)
{
	const struct console_options o = {.quiet = r->o.quiet,
	    .tui = r->o.tui,
	    .no_tui = r->o.no_tui,
	    .has_command = r->o.command[0] != NULL};

	return console_init(&r->console, &o, e);
}

/* A closed pipe, or a limit on the size of files, is an error of write(). It must not end us while
 * the target has our handler, or while the answer is still to be written. */
static void block_signals_of_writes(sigset_t *ret_before)
{
	/* `blocks` is followed by experiments, whose command gets it, too. */
	static sigset_t before;
	static bool are_blocked;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	if (!are_blocked)
		are_blocked = !sigprocmask(SIG_BLOCK, &set, &before);
	*ret_before = before;
}

int run_profile(const struct run_options *o)
{
	struct runner r = {.o = *o, .answer = {.seed = o->seed, .until_width = o->until_width}};
	struct error e = {0};
	int err, status;

	block_signals_of_writes(&r.mask);
	descriptors_raise();
	err = open_console(&r, &e) || run_setup(&r, &e) || loop_run(&r, &e);
	console_close(&r.console);
	console_clear_progress(&r.console);
	status = err ? say_error(&e) : run_finish(&r);
	console_deinit(&r.console);
	run_teardown(&r);
	return status;
}

static int fail_suggest(const struct runner *r, struct error *e)
{
	error_set(e, EXIT_NO_RESULT, "'%s' did nothing in this time that could be a progress point",
	    r->target.path);
	return error_hint(e,
	    r->target.ops->restarts
		? "watch for longer (-d), give it more work, or profile whole runs: cozbpf "
		  "--end-to-end -n 40 -- COMMAND"
		: "is there load? watch for longer (-d), or name a function or line that is passed "
		  "once per unit of work");
}

int run_suggest(const struct run_options *o)
{
	struct runner r = {.o = *o};
	struct error e = {0};
	int found, status;

	block_signals_of_writes(&r.mask);
	descriptors_raise();
	found = open_console(&r, &e) || run_setup(&r, &e) ? -1 : loop_suggest(&r, &e);
	if (!found)
		fail_suggest(&r, &e);
	status = found > 0 ? r.target.exit_status : say_error(&e);
	console_deinit(&r.console);
	run_teardown(&r);
	return status;
}

/* What is read before the first run is the program of a command that can be found. */
static int choose_first(struct runner *r, struct error *e)
{
	const struct blocks_options *b = r->o.blocks;
	char path[PATH_MAX];
	struct error why;

	if (!b->n_commands)
		return 0;
	for (size_t i = 0; i < b->n_commands; i++) {
		r->o.command = b->commands[i].argv;
		if (!launch_find(r->o.command[0], path, sizeof(path), i ? &why : e))
			return 0;
	}
	return b->n_commands > 1
		   ? error_set(e, EXIT_USAGE, "none of the %zu commands can be run: %s",
			 b->n_commands, why.cause)
		   : -1;
}

int run_blocks(const struct run_options *o, bool *ret_whole)
{
	struct runner r = {.o = *o};
	struct error e = {0};
	int err, status, finished;

	*ret_whole = false;
	block_signals_of_writes(&r.mask);
	descriptors_raise();
	err = open_console(&r, &e) || choose_first(&r, &e) || run_setup(&r, &e) ||
	      loop_blocks(&r, ret_whole, &e);
	status = err ? say_error(&e) : r.target.exit_status;
	finished = err ? EXIT_OK : blocks_finish(r.blocks);
	if (finished)
		status = finished;
	*ret_whole = *ret_whole && finished != EXIT_NO_RESULT;
	console_deinit(&r.console);
	run_teardown(&r);
	return status;
}
