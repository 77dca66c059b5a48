// SPDX-License-Identifier: BSD-3-Clause
/* cozbpf doctor: what this machine allows, one line for each check, and the command that repairs
 * what is missing. The checks live elsewhere. */
#include "cmd/cmd.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "cmd/options.h"
#include "run/debuginfod.h"
#include "run/target_file.h"
#include "symbols/symbols.h"
#include "core/text/finding.h"
#include "core/text/printable.h"
#include "kernel/checks.h"
#include "kernel/session.h"
#include "target/attach_checks.h"
#include "target/process_checks.h"
#include "report/say.h"

#define MAX_FINDINGS 32

struct doctor_options {
	const char *pid;
};

static const struct option_entry entries[] = {
    {'p', "pid", OPTION_STRING, offsetof(struct doctor_options, pid), "PID",
	"also whether this running process can be attached to"},
    {0, NULL, 0, 0, NULL, NULL},
};

static const struct option_table table = {
    .command = "doctor",
    .usage = "cozbpf doctor [-p PID]",
    .summary = "Says what this machine allows: a line for each check, with the command that mends "
	       "what is missing.",
    .entries = entries,
    .epilogue = "Exit status: 0 when cozbpf can profile here, else 3.\n",
};

/* Returns the number of missing things, without which nothing can be profiled. */
static unsigned print_findings(FILE *out, const struct finding *findings, size_t n)
{
	unsigned missing = 0;

	for (size_t i = 0; i < n; i++) {
		const struct finding *f = &findings[i];

		fprintf(out, "%-8s %-20s %s\n", finding_state_name(f->state), f->name, f->text);
		if (f->hint[0])
			fprintf(out, "%-8s %-20s -> %s\n", "", "", f->hint);
		missing += f->state == FINDING_MISSING;
	}
	return missing;
}

/* Whether the scheduler of a Go program is known well enough; makes 1 finding at most. */
static size_t check_go(struct object *o, struct finding *ret, size_t max)
{
	struct go_runtime runtime;
	struct error e = {0};
	int answer = max ? object_go_runtime(o, &runtime, &e) : 1;

	if (answer > 0)
		return 0;
	ret->name = "goroutines";
	if (!answer && !session_takes_goroutines(&e)) {
		finding_set(ret, FINDING_OK, "'%.150s' is of %s: delay is accounted per goroutine",
		    object_path(o), runtime.version);
		return 1;
	}
	finding_set(ret, FINDING_WARNING, "delay is accounted per thread: %.200s", e.cause);
	if (*e.hint)
		finding_hint(ret, "%s", e.hint);
	return 1;
}

/* Whether the process's program has lines, and what it is made of; makes 2 findings at most. */
static size_t check_program(int pid, struct finding *ret, size_t max)
{
	struct object *o = NULL;
	char path[PATH_MAX];
	struct error e;
	size_t n = 1;

	if (!max)
		return 0;
	ret->name = "debug information";
	if (target_program(pid, path, sizeof(path), &e) || target_object(pid, path, &o, &e))
		finding_set(ret, FINDING_MISSING, "%.200s",
		    e.status ? e.cause : "the program is not mapped");
	else if (!object_has_debug_info(o)) {
		finding_set(ret, FINDING_WARNING,
		    "'%.200s' has none: functions are made faster, not lines", path);
		finding_hint(ret,
		    "for lines build it with -g, or install its debug file: it is found by build "
		    "id below /usr/lib/debug, here or in the container, or by DEBUGINFOD_URLS");
	} else
		finding_set(ret, FINDING_OK, "'%.200s' has it", path);
	if (o)
		n += check_go(o, ret + 1, max - 1);
	object_close(o);
	return n;
}

int cmd_doctor(int argc, char **argv)
{
	FILE *out;
	const uint64_t tracing = CAP_BIT_BPF | CAP_BIT_PERFMON;
	struct finding findings[MAX_FINDINGS];
	struct doctor_options o = {0};
	struct error e;
	uint64_t caps = process_caps();
	const struct pause_mode *mode;
	unsigned missing;
	bool privileged;
	size_t n;
	int operand = options_parse(&table, argc, argv, &o, &e), pid = 0;

	if (operand < 0)
		return say_error(&e);
	if (operand == 0)
		return EXIT_OK;
	if (operand < argc) {
		error_set(&e, EXIT_USAGE, "doctor takes no argument, not '%s'", argv[operand]);
		return say_error(&e);
	}
	if (o.pid && target_pid(o.pid, &pid, &e))
		return say_error(&e);
	privileged = (caps & CAP_BIT_SYS_ADMIN) || (caps & tracing) == tracing;
	mode = privileged ? kernel_pause_mode() : NULL;
	n = process_checks(!mode || mode->is_queued, findings, MAX_FINDINGS);
	n += kernel_checks(privileged, mode, findings + n, MAX_FINDINGS - n);
	if (n < MAX_FINDINGS)
		debuginfod_check(&findings[n++]);
	if (pid) {
		n += attach_checks(pid, findings + n, MAX_FINDINGS - n);
		n += check_program(pid, findings + n, MAX_FINDINGS - n);
	}
	out = printable_open(stdout);
	missing = print_findings(out, findings, n);
	printable_close(out, stdout);
	if (missing)
		printf("cozbpf cannot profile here: %u of %zu checks failed\n", missing, n);
	else
		printf("cozbpf can profile here\n");
	return missing ? EXIT_FORBIDDEN : EXIT_OK;
}
