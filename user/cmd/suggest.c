// SPDX-License-Identifier: BSD-3-Clause
/* `cozbpf suggest`: its options. What is watched is in user/run/. */
#include "cmd/cmd.h"

#include <stddef.h>

#include "cmd/options.h"
#include "core/places/candidates.h"
#include "report/say.h"
#include "run/options.h"

#define FIELD(name) offsetof(struct run_options, name)
#define DEFAULT_NS 5000000000ULL
/* with less there are no functions, and no steadiness */
#define LEAST_NS 1000000000ULL

static const struct option_entry entries[] = {
    {'p', "pid", OPTION_LIST, FIELD(pids), "PID",
	"watch this running process instead of launching a command; repeatable"},
    {0, "cgroup", OPTION_STRING, FIELD(cgroup), "PATH",
	"watch all processes of this control group: a container"},
    {'d', "duration", OPTION_TIME, FIELD(duration_ns), "TIME",
	"watch for TIME, a command goes on unwatched (default: 5s)"},
    {0, "json", OPTION_FLAG, FIELD(json), NULL, "one JSON object instead of a table"},
    {0, "user", OPTION_STRING, FIELD(user), "USER",
	"run the command as USER (default: under sudo the invoking user)"},
    {0, "no-follow-children", OPTION_FLAG, FIELD(no_follow), NULL,
	"only the command's own process is watched"},
    {'v', "verbose", OPTION_FLAG, FIELD(verbose), NULL, "say what is done"},
    {0},
};

static const struct option_table table = {
    .command = "suggest",
    .usage =
	"cozbpf suggest [options] -- cmd [args...]\n       cozbpf suggest [options] -p PID [-p "
	"PID ...] | --cgroup PATH",
    .summary = "Watches a program without delaying it, and ranks what could be a progress point: "
	       "markers of coz.h, static probes, system calls, functions.",
    .entries = entries,
    .takes_command = true,
    .epilogue = "The list goes to standard output; with a command, whose that is, to standard "
		"error.\n",
};

static int check_options(const struct run_options *o, struct error *e)
{
	bool is_attached = o->pids.n || o->cgroup;

	if (!o->command[0] && !is_attached) {
		error_set(e, EXIT_USAGE, "no command given");
		return error_hint(
		    e, "cozbpf suggest -- cmd args..., or -p PID for a running process");
	}
	if (is_attached && (o->command[0] || o->user)) {
		error_set(e, EXIT_USAGE, "'--%s' and %s exclude each other",
		    o->pids.n ? "pid" : "cgroup", o->user ? "'--user'" : "a command");
		return error_hint(e, "a running process is watched as it is");
	}
	if (o->duration_ns < LEAST_NS ||
	    o->duration_ns > CANDIDATE_SLICES_MAX * CANDIDATE_SLICE_NS) {
		error_set(e, EXIT_USAGE, "a program cannot be watched for %.3g s",
		    (double)o->duration_ns / 1e9);
		return error_hint(e, "give --duration between 1s and 60s");
	}
	return 0;
}

int cmd_suggest(int argc, char **argv)
{
	/* No line is to be made faster: none is read. */
	static const char *no_binary[] = {""};
	struct run_options o = {
	    .duration_ns = DEFAULT_NS, .runs = 1, .suggests = true, .no_tui = true};
	struct error e = {0};
	int first = options_parse(&table, argc, argv, &o, &e), status = EXIT_OK;

	o.command = argv + (first > 0 ? first : argc);
	o.binaries = (struct string_list){no_binary, 1};
	if (first)
		status = first < 0 || check_options(&o, &e) ? say_error(&e) : run_suggest(&o);
	o.binaries = (struct string_list){0};
	run_options_deinit(&o);
	return status;
}
