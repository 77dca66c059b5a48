/* SPDX-License-Identifier: BSD-3-Clause */
/* How much experiments are wanted, unit by unit: what the estimate tells the experiments. */
#ifndef COZBPF_WANTED_H
#define COZBPF_WANTED_H

#include <stdbool.h>
#include <stdint.h>

struct wanted {
	uint32_t line; /* id in the line map */
	double share;  /* chance that the unit is taken when a sample picks it */
	/* it matters: its curve is of interest, and so are a function's lines */
	bool refine;
};

#endif
