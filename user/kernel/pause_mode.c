// SPDX-License-Identifier: BSD-3-Clause
/* Which mode of pausing is taken; see pause_mode.h. No version of a kernel is asked for: what loads
 * and attaches works. */
#include "kernel/pause_mode.h"

#include <errno.h>
#include <string.h>

#include <cozbpf/abi.h>

/* A signal costs some 3 us, so a shorter quantum costs accuracy by that; a longer one leaves more
 * debt unpaid. */
#define QUANTUM_NS 200000

const struct pause_mode pause_modes[] = {
    {"value", "whose signal carries the end", PAUSE_DELIVER, COZBPF_BY_VALUE, 0, true},
    {"write", "whose end is written where the handler reads it", PAUSE_SETUP, COZBPF_BY_WRITE, 0,
	false},
    {"write", "whose end is written where the handler reads it, by a kprobe", PAUSE_SETUP_PROBE,
	COZBPF_BY_WRITE, 0, false},
    {"quanta", "of 200 us a signal", PAUSE_QUANTUM, COZBPF_BY_QUANTA, QUANTUM_NS, false},
};
const size_t n_pause_modes = sizeof(pause_modes) / sizeof(pause_modes[0]);

const struct pause_mode *pause_mode_find(const char *name)
{
	for (size_t i = 0; i < n_pause_modes; i++)
		if (!strcmp(pause_modes[i].name, name))
			return &pause_modes[i];
	return NULL;
}

const struct pause_mode *pause_mode_choose(
    const char *wanted, pause_try_fn try, void *arg, int *ret_err)
{
	*ret_err = -ENOENT;
	for (size_t i = 0; i < n_pause_modes; i++) {
		if (wanted && strcmp(pause_modes[i].name, wanted))
			continue;
		*ret_err = try(&pause_modes[i], arg);
		if (!*ret_err)
			return &pause_modes[i];
	}
	return NULL;
}
