/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modes in which a thread learns when its pause ends. A signal may carry a value, as from Linux
 * 6.13 on. Or the value is written into the siginfo that the handler gets. Or there is none, and
 * each signal is worth one quantum. docs/design.md, Pausing a thread, has the modes; what the
 * kernel side does in each is in bpf/sample.bpf.c and bpf/pause.bpf.c.
 */
#ifndef COZBPF_PAUSE_MODE_H
#define COZBPF_PAUSE_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/errors.h"

/* The program that sees a pause begin. */
enum pause_program {
	PAUSE_DELIVER,     /* on_deliver */
	PAUSE_SETUP,       /* on_setup, by fentry */
	PAUSE_SETUP_PROBE, /* on_setup_probe, by a kprobe */
	PAUSE_QUANTUM,     /* on_quantum */
};

struct pause_mode {
	const char *name;  /* of --pause, in profiles and messages */
	const char *words; /* after "pauses: NAME, " */
	enum pause_program program;
	uint32_t by;         /* COZBPF_BY_* */
	uint32_t quantum_ns; /* for which a signal without a value holds the CPU; 0: not at all */
	bool is_queued;      /* the signal is lost where none may be pending */
};

/* The best first. One name may have several, which differ in their program. */
extern const struct pause_mode pause_modes[];
extern const size_t n_pause_modes;

/* NULL: there is none of that name. */
const struct pause_mode *pause_mode_find(const char *name);

/* 0, or -errno: the kernel does not take the mode's program. */
typedef int (*pause_try_fn)(const struct pause_mode *m, void *arg);

/* The best mode that works, or the best of those that are called @wanted. NULL with *@ret_err, the
 * last answer of @try. */
const struct pause_mode *pause_mode_choose(
    const char *wanted, pause_try_fn try, void *arg, int *ret_err);

#endif
