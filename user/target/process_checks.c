// SPDX-License-Identifier: BSD-3-Clause
/* Checks privilege, limits, clock and shim; see process_checks.h. Nothing here changes anything. */
#include "target/process_checks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/text/errors.h"
#include "target/launch.h"
#include "target/procfs.h"

/* A profile with samples every millisecond needs a much finer clock. */
#define COARSE_CLOCK_NS 1000

/* The first line of a file. Returns 0 when unreadable. */
static size_t read_line(const char *path, char *ret, size_t size)
{
	FILE *in = fopen(path, "re");
	size_t n = in ? fread(ret, 1, size - 1, in) : 0;

	ret[n] = 0;
	ret[strcspn(ret, "\n")] = 0;
	if (in)
		fclose(in);
	return n;
}

uint64_t process_caps(void)
{
	char *status = procfs_read_status("/proc/self/status");
	uint64_t caps = 0;

	procfs_number(status, "CapEff", 16, &caps);
	free(status);
	return caps;
}

static void check_privilege(bool is_queued, struct finding *f)
{
	uint64_t have = process_caps(), wanted = CAP_BIT_BPF | CAP_BIT_PERFMON;
	char names[128];

	if (have & CAP_BIT_SYS_ADMIN)
		have |= wanted; /* which includes them (5.8, 124ea650d307) */
	if (!missing_caps(have, wanted, names, sizeof(names))) {
		finding_set(f, FINDING_OK, geteuid() ? "CAP_BPF and CAP_PERFMON" : "root");
		return;
	}
	finding_set(f, FINDING_MISSING, "this process lacks %s", names);
	finding_hint(f, "%s", ADVICE_PRIVILEGE);
}

static void check_other_users(bool is_queued, struct finding *f)
{
	uint64_t wanted = CAP_BIT_SYS_PTRACE;
	char names[128];

	if (!geteuid())
		wanted |= CAP_BIT_SETUID |
			  CAP_BIT_SETGID; /* under sudo the command runs as the invoking user */
	if (missing_caps(process_caps(), wanted, names, sizeof(names)))
		finding_set(f, FINDING_WARNING,
		    "no %s: commands that change their user may not be followed", names);
	else
		finding_set(f, FINDING_OK, "processes of other users can be read");
}

static void check_signals(bool is_queued, struct finding *f)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_SIGPENDING, &limit))
		finding_set(f, FINDING_WARNING, "the limit of pending signals cannot be read");
	else if (limit.rlim_cur == 0 && is_queued) {
		finding_set(
		    f, FINDING_MISSING, "RLIMIT_SIGPENDING is 0: no pause can be asked for");
		finding_hint(f, "ulimit -i 10000");
	} else if (limit.rlim_cur == RLIM_INFINITY)
		finding_set(f, FINDING_OK, "no limit");
	else
		finding_set(
		    f, FINDING_OK, "%llu may be pending", (unsigned long long)limit.rlim_cur);
}

int process_clock(struct error *e)
{
	long long s = 0, ns = 0;
	FILE *in = fopen("/proc/self/timens_offsets", "re");
	bool is_known = in && fscanf(in, "monotonic %lld %lld", &s, &ns) == 2;

	if (in)
		fclose(in);
	if (!is_known || (!s && !ns))
		return 0;
	error_set(
	    e, EXIT_FORBIDDEN, "cozbpf is in a time namespace whose clock is not the kernel's");
	return error_hint(e, "run it outside: nsenter --time -t 1 cozbpf ...");
}

static void check_clock(bool is_queued, struct finding *f)
{
	char source[64];
	struct timespec res;
	struct error e;

	if (process_clock(&e)) {
		finding_set(f, FINDING_MISSING, "%.200s", e.cause);
		finding_hint(f, "%.300s", e.hint);
		return;
	}
	if (!read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		sizeof(source)))
		snprintf(source, sizeof(source), "unknown");
	if (clock_getres(CLOCK_MONOTONIC, &res) || res.tv_sec || res.tv_nsec > COARSE_CLOCK_NS)
		finding_set(f, FINDING_WARNING,
		    "coarse: it moves in steps of %ld ns ('%s'), and pauses with it", res.tv_nsec,
		    source);
	else if (!strcmp(source, "hpet") || !strcmp(source, "acpi_pm") ||
		 !strcmp(source, "jiffies"))
		finding_set(f, FINDING_WARNING,
		    "'%s' is slow to read: pauses and samples cost more", source);
	else {
		finding_set(f, FINDING_OK, "'%s', steps of %ld ns", source, res.tv_nsec);
		return;
	}
	finding_hint(f, "see /sys/devices/system/clocksource/clocksource0/available_clocksource; "
			"tsc and kvm-clock are good");
}

static void check_shim(bool is_queued, struct finding *f)
{
	char path[PATH_MAX];
	struct error e;

	if (launch_find_shim(path, sizeof(path), &e)) {
		finding_set(f, FINDING_MISSING, "%.200s", e.cause);
		finding_hint(f, "%.500s", e.hint);
	} else
		finding_set(f, FINDING_OK, "%.200s", path);
}

size_t process_checks(bool is_queued, struct finding *ret, size_t max)
{
	static const struct {
		const char *name;
		void (*run)(bool is_queued, struct finding *f);
	} checks[] = {
	    {"privilege", check_privilege},
	    {"other users", check_other_users},
	    {"pending signals", check_signals},
	    {"clock", check_clock},
	    {"shim library", check_shim},
	};
	size_t n = 0;

	for (; n < max && n < sizeof(checks) / sizeof(checks[0]); n++) {
		ret[n].name = checks[n].name;
		checks[n].run(is_queued, &ret[n]);
	}
	return n;
}
