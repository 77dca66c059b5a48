/* SPDX-License-Identifier: BSD-3-Clause */
/* How much experiments are wanted, line by line: what the estimate tells the experiments. */
#ifndef COZBPF_WANTED_H
#define COZBPF_WANTED_H

#include <stdint.h>

struct wanted {
	uint32_t line; /* id in the line map */
	double share;  /* chance that the line is taken when a sample picks it */
};

#endif
