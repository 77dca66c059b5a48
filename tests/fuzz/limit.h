/* SPDX-License-Identifier: BSD-3-Clause */
/* No input takes more than some seconds of CPU time. libFuzzer's own limit is of real time, and
 * machines that tests share stand still for longer. */
#ifndef COZBPF_FUZZ_LIMIT_H
#define COZBPF_FUZZ_LIMIT_H

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define LIMIT_S 10

static inline void limit_reached(int signal)
{
	static const char words[] = "an input takes more CPU time than any may\n";

	(void)signal;
	if (write(STDERR_FILENO, words, sizeof(words) - 1) > 0)
		abort();
	abort();
}

/* To be called for each input. */
static inline void limit_begin(void)
{
	static const struct itimerval limit = {.it_value.tv_sec = LIMIT_S};

	signal(SIGPROF, limit_reached);
	setitimer(ITIMER_PROF, &limit, NULL);
}

#endif
