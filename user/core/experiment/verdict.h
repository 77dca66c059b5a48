/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether an experiment counts, and why it does not; whether what it executed fits the CPUs. */
#ifndef COZBPF_VERDICT_H
#define COZBPF_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/experiment/readings.h"

enum spoilt {
	SPOILT_NOT,
	SPOILT_STOP,    /* the target, the tool or the machine was stopped meanwhile */
	SPOILT_DEBT,    /* threads could not be made to pay */
	SPOILT_BUSY,    /* other programs had the CPUs */
	SPOILT_NO_TIME, /* the speedup has taken all of the time that was to be counted */
	SPOILT_PEERS,   /* of nodes that share their delays one was missing, or did not hear */
	SPOILT_CUT,     /* a whole run was none: the command failed, or was told to end */
	N_SPOILT,
};

/* What verdicts are based on beside the experiment, and how many there were. */
struct verdicts {
	/* shares of the CPU time wanted that outsiders had, over busy_n experiments */
	double busy_sum;
	unsigned busy_n;
	/* experiments that were stretched to fit the CPUs */
	unsigned stretched;
	/* experiments of all runs, by reason */
	uint64_t spoilt_by[N_SPOILT];
};

/* The experiment to be judged. */
struct judged {
	const struct snapshot *snap;
	/* 0: a baseline */
	unsigned speedup_pct;
	/* its length without the time to settle */
	uint64_t planned_ns;
	/* what is known before the close; it stays */
	enum spoilt spoilt;
};

/* Of an experiment within a run. Learns from each how busy the machine usually is. */
enum spoilt verdict_window(struct verdicts *v, const struct judged *x);
/* Of an experiment that is a whole run; @exits: ends of the command that were counted, one where
 * all is well. */
enum spoilt verdict_run(const struct judged *x, uint64_t exits);

/* By how much virtual time has to be stretched; 1: it fits the CPUs. */
double verdict_stretch(struct verdicts *v, const struct snapshot *snap);

/* Mean share of the CPU time wanted that outsiders had; NAN before the first experiment. */
double verdict_noise(const struct verdicts *v);

#endif
