/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What outsider.c and slowdir.c share: a service whose time the command's line speedup shortens,
 * and the command that runs beside. What is served is theirs.
 */
#ifndef COZBPF_SERVICE_H
#define COZBPF_SERVICE_H

#include "outsider.h"

static double service_us = 2000;
static int is_spinning; /* the service is work, not sleep */
static int is_steady;   /* a line speedup changes other things only */

static void serve_time(void)
{
	double us = is_steady ? service_us : service_us * work_share();
	struct timespec t = work_span(us);

	if (is_spinning)
		SPIN(work_iters(us));
	else
		nanosleep(&t, NULL);
}

/* The command inherits @fd, so users without rights over this process may open the file again. */
static void tell_descriptor(const char *name, int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv(name, path, 1);
}

/* Reads "--service-us N" (or "--steady-us N") and the like from argv[@i] on; returns the index of
 * what follows. */
static int take_service_options(int argc, char **argv, int i)
{
	for (; i + 1 < argc && strcmp(argv[i], "--"); i += 2) {
		is_steady |= !strcmp(argv[i], "--steady-us");
		if (!strcmp(argv[i], "--service-us") || !strcmp(argv[i], "--steady-us"))
			service_us = atof(argv[i + 1]);
		else if (!strcmp(argv[i], "--iters-per-ms"))
			work.iters_per_ms = atof(argv[i + 1]);
		else
			break;
	}
	return i;
}

static void make_counters(void)
{
	int fd = memfd_create("counters", 0);

	if (fd < 0 || ftruncate(fd, sizeof(*work.counters)))
		work_fail("memfd_create");
	tell_descriptor("WORK_COUNTERS", fd);
	work.counters = work_map_counters();
	work_set_line(0);
}

/* Comes before the first request. */
static void begin_service(void)
{
	if (!work.iters_per_ms)
		work.iters_per_ms = work_calibrate();
	prctl(PR_SET_TIMERSLACK, 1);
	make_counters();
}

/* Runs @command and returns its exit status. */
static int run(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		work_fail("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execvp(command[0], command);
		work_fail(command[0]);
	}
	if (waitpid(pid, &status, 0) != pid)
		work_fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
