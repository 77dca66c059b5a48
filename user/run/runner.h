/* SPDX-License-Identifier: BSD-3-Clause */
/* All rooms of a run, for the files that join them: run.c, setup.c, loop.c, tell.c, ending.c. No
 * room includes this header. */
#ifndef COZBPF_RUN_RUNNER_H
#define COZBPF_RUN_RUNNER_H

#include <signal.h>

#include <cozbpf/abi.h>
#include "core/estimate/answer.h"
#include "kernel/session.h"
#include "run/blocks.h"
#include "run/console.h"
#include "run/debuginfod.h"
#include "run/experiments.h"
#include "run/files.h"
#include "run/fixed.h"
#include "run/options.h"
#include "run/peers.h"
#include "run/points.h"
#include "run/recorder.h"
#include "run/series_state.h"
#include "run/target.h"

struct runner {
	struct run_options o;
	sigset_t mask; /* with which we were started; the command gets this mask */
	struct session *session;
	struct target target;
	struct files files;
	struct fixed fixed;
	struct points points;
	struct experiments experiments;
	struct recorder recorder;
	struct series series; /* with --duty */
	struct answer answer;
	struct console console;
	struct debuginfod debuginfod;
	struct run_peers *peers; /* NULL: there are none */
	char *output;            /* the profile's name, where it is not the user's */
	struct blocks *blocks;   /* NULL: it is not about blocks */
	bool has_ended;          /* the target, before profiling did */
	bool is_interrupted;     /* by a signal */
};

#endif
