// SPDX-License-Identifier: BSD-3-Clause
/* Picks the subcommand, and looks whether what it has printed arrived; the rest is in user/cmd/. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "core/text/errors.h"
#include "core/text/printable.h"
#include "core/text/suggest.h"
#include "report/say.h"
#include "symbols/elf/privileges.h"
#include "target/identity.h"
#include "target/launch.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
	bool only_files; /* which it reads and writes: it needs no capability */
} commands[] = {
    {"run", cmd_run,
	"launch a command, or attach to a running process, and profile it (the default)", false},
    {"attach", cmd_run, NULL, false}, /* another name of run, for users who expect one */
    {"report", cmd_report, "show what was measured", true},
    {"plot", cmd_plot, "draw what was measured: a page for the browser", true},
    {"merge", cmd_merge, "put profiles of several machines or replicas together", true},
    {"compare", cmd_compare,
	"hold two profiles against each other: what a change did, and whether it was predicted",
	true},
    {"blocks", cmd_blocks, "which basic blocks are slow now and then, over many runs", false},
    {"suggest", cmd_suggest, "what could be a progress point of a program that runs", false},
    {"lines", cmd_lines, "what could be selected in a binary", false},
    {"doctor", cmd_doctor, "what this machine allows", false},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int help(FILE *out)
{
	fputs("cozbpf: causal profiler: what would the program gain if a line were faster?\n\n"
	      "usage: cozbpf [run] [options] -- cmd [args...]\n"
	      "       cozbpf [attach] [options] -p PID [-p PID ...]\n",
	    out);
	for (size_t i = 2; i < N_COMMANDS; i++)
		fprintf(out, "       cozbpf %s [options]\n", commands[i].name);
	fputs("\n", out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (commands[i].help)
			fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n`cozbpf COMMAND --help` lists a command's options; `cozbpf run --help` those for "
	      "profiling.\n",
	    out);
	return EXIT_OK;
}

/* `cozbpf blocks` runs programs, and reports of what it has found. */
static bool only_reads(size_t command, int argc, char **argv)
{
	return commands[command].only_files ||
	       (commands[command].run == cmd_blocks && argc > 2 && !strcmp(argv[2], "report"));
}

static int begin_files(void)
{
	struct error e;

	if (identity_become_caller(&e))
		return say_error(&e);
	privileges_drop();
	/* A file that may not grow is an error to be told, like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	return 0;
}

/* Whether @word is no program, but nearly a subcommand. True with @e. */
static bool is_mistyped(const char *word, struct error *e)
{
	char path[PATH_MAX];
	struct suggest near;

	if (*word == '-' || strchr(word, '/') || !launch_find(word, path, sizeof(path), e))
		return false;
	suggest_init(&near, word);
	for (size_t i = 0; i < N_COMMANDS; i++)
		suggest_add(&near, commands[i].name);
	if (near.n)
		error_hint(e, "did you mean 'cozbpf %s'?", near.best[0].name);
	return near.n;
}

/* @argv[1] says which command; without one it is `run`. */
static int run_command(int argc, char **argv)
{
	struct error e = {0};

	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(stdout);
	if (!strcmp(argv[1], "--version")) {
		printf("cozbpf %s (%s)\n", COZBPF_VERSION, COZBPF_BUILD);
		return EXIT_OK;
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name)) {
			if (only_reads(i, argc, argv) && begin_files())
				return EXIT_OTHER;
			return commands[i].run(argc - 1, argv + 1);
		}
	return is_mistyped(argv[1], &e) ? say_error(&e) : cmd_run(argc, argv);
}

int main(int argc, char **argv)
{
	struct error e = {0};
	int status, err;

	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	launch_keep_statuses();
	status = run_command(argc, argv);
	/* A text that did not get to where it should is no success. */
	err = fflush(stdout) ? errno : ferror(stdout) ? EIO : 0;
	if (status == EXIT_OK && err) {
		error_set(&e, EXIT_OTHER, "cannot write standard output: %s", strerror(err));
		status = say_error(&e);
	}
	return status;
}
