/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of series and rests (--duty), for run/runner.h. */
#ifndef COZBPF_SERIES_STATE_H
#define COZBPF_SERIES_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment/duty.h"
#include "run/guard.h"
#include "run/segments.h"

struct series {
	/* to be read: a series is under way */
	bool is_working;
	/* to be read: when the target began to be watched; since the epoch, too */
	uint64_t started_ns, started_real_ns;
	struct duty duty;
	struct guard guard;
	struct segments segments;
	/* private */
	bool is_asked;   /* the guard, for the series that is due */
	uint64_t ask_ns; /* when to ask it again in a series */
	/* a message has told of what cannot be put in again, or written */
	bool wake_failed, metrics_failed, pprof_failed, said_lost;
};

#endif
