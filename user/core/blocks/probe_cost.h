/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What probes take in the program itself, beside what was measured on code of our own before. They
 * take more beside a busy sibling of the CPU, which comes and goes. Samples within the kernel tell:
 * where probes are, these are more by what probes take. Pure. Times are ns.
 */
#ifndef COZBPF_BLOCK_PROBE_COST_H
#define COZBPF_BLOCK_PROBE_COST_H

#include <stdint.h>

/* A part of the time: that in windows, or all the other. */
struct probe_time {
	double executed; /* with what probes took */
	double probed;   /* what probes took, as measured before */
	double samples, in_kernel;
};

/* What probes take, by what was measured before. */
struct probe_cost {
	double factor;
	double error; /* standard error of the factor */
};

/* Standard deviation of what probes take on one machine, as a part of it. */
#define PROBE_COST_ERROR 0.3

/* All zero: PROBE_COST_ERROR is all that is known. */
struct probe_cost probe_cost_estimate(
    const struct probe_time *windows, const struct probe_time *elsewhere);

#endif
