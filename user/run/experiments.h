/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiments of a session on the kernel side: reads it, and does what the machine of
 * core/experiment answers. */
#ifndef COZBPF_EXPERIMENTS_H
#define COZBPF_EXPERIMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment/experiment.h"
#include "core/places/linemap.h"

struct points;
struct recorder;
struct run_peers;
struct session;

struct experiments {
	/* what is marked so in experiment.h is to be read */
	struct experiment machine;
	/* borrowed */
	struct session *session;
	const struct points *points;
	struct line_map *lines;
	struct recorder *recorder;
	/* other nodes, with which experiments open and close; NULL: there are none */
	struct run_peers *peers;
	/* private: another node is elected, or some are awaited */
	bool is_led;
};

/* A run begins, is profiled, ends. */
void experiments_begin(struct experiments *x, uint64_t now);
/* Does what is due; *@ret_due is when to call it again. True: the target has cooled off, and no
 * thread is in a pause until the next call, which is due at once. */
bool experiments_step(struct experiments *x, uint64_t now, uint64_t *ret_due);
void experiments_end(struct experiments *x, bool target_ended);

/* No experiments for a while; see experiment_pause(). */
void experiments_pause(struct experiments *x);
void experiments_resume(struct experiments *x, uint64_t now);

#endif
