// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handler of the pause signal (docs/design.md, Pausing a thread). The same code is linked into the
 * preloaded library and injected, as a flat blob (blob.lds), into processes that were launched
 * without it. It uses no libc, no thread-local storage and no vector registers, and is
 * position-independent.
 */
#include <linux/signal.h>
#include <linux/time.h>
#include <stdint.h>

#include <cozbpf/abi.h>
#include "shim/syscall.h"
#include "shim/entry.h"

/* a sleep ends this much before the pause, and the handler spins the rest; covers usual wake-up
 * latency */
#define SPIN_NS 150000ULL

/* The end of the blob; the injector writes them. */
__attribute__((visibility("hidden"),
    section(".shim_data"))) volatile struct cozbpf_handler_words shim_words = {0};

static uint64_t now_ns(void)
{
	int (*clock_gettime)(int, struct timespec *) =
	    (int (*)(int, struct timespec *))shim_words.clock_gettime;
	struct timespec t = {0, 0};

	if (clock_gettime)
		clock_gettime(1 /* CLOCK_MONOTONIC */, &t);
	else
		shim_syscall(SHIM_SYS_clock_gettime, 1, (long)&t, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/*
 * Pauses until the absolute monotonic time in the signal's si_value, by the process's own clock;
 * its lowest bit asks to hold the CPU. Without a value the CPU is held for a quantum from now on.
 * When sent, the end is at most COZBPF_PAUSE_MAX_NS away. A later time did not come from cozbpf and
 * is cut. The kernel saves the state (errno, registers, masks): no libc call is made here.
 */
void shim_pause(int sig, siginfo_t *info, void *context);
__attribute__((used, visibility("hidden"))) void shim_pause(int sig, siginfo_t *info, void *context)
{
	uint64_t value, end, now = now_ns();

	(void)sig;
	(void)context;
	/* si_value: see compat_siginfo_value() */
	__builtin_memcpy(&value, (const char *)info + 24, sizeof(value));
	end = value & ~(uint64_t)COZBPF_HOLD;
	if (!value) {
		end = now + shim_words.quantum_ns;
		value = COZBPF_HOLD;
	}
	if (end <= now)
		return;
	if (end - now > COZBPF_PAUSE_MAX_NS)
		end = now + COZBPF_PAUSE_MAX_NS;
	if (!(value & COZBPF_HOLD) && end - now > SPIN_NS) {
		uint64_t wake = end - SPIN_NS;
		struct timespec t = {(long)(wake / 1000000000ULL), (long)(wake % 1000000000ULL)};

		/* Absolute: an interrupted sleep is resumed. */
		while (shim_syscall(SHIM_SYS_clock_nanosleep, 1, 1 /* TIMER_ABSTIME */, (long)&t,
			   0) == -4 /* EINTR */)
			;
	}
	while (now_ns() < end)
		shim_relax();
}
