// SPDX-License-Identifier: BSD-3-Clause
/* The order of things, from set-up to report; see options.h. */
#include "run/run.h"

#include <stdarg.h>
#include <stdlib.h>

#include "report/say.h"
#include "run/loop.h"

void run_say(const struct runner *r, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	if (r->o.quiet)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text && !run_view_keeps(r, text)) {
		run_progress_clear(r);
		say("%s", text);
	}
	free(text);
}

void run_options_deinit(struct run_options *o)
{
	free(o->speedups);
	string_list_deinit(&o->progress);
	string_list_deinit(&o->latency);
	string_list_deinit(&o->sources);
	string_list_deinit(&o->binaries);
	string_list_deinit(&o->pids);
}

int run_profile(const struct run_options *o)
{
	struct runner r = {.o = *o, .target.launch = {.pidfd = -1, .go_fd = -1, .result_fd = -1}};
	struct error e = {0};
	int err, status;

	err = run_view_plan(&r, &e) || run_setup(&r, &e) || loop_run(&r, &e);
	run_progress_clear(&r);
	status = err ? say_error(&e) : run_finish(&r);
	run_view_deinit(&r);
	run_teardown(&r);
	return status;
}
