/* SPDX-License-Identifier: BSD-3-Clause */
/* `cozbpf blocks --then-experiment`: from the leading blocks of a log to causal experiments. */
#ifndef COZBPF_BLOCKS_EXPERIMENT_H
#define COZBPF_BLOCKS_EXPERIMENT_H

#include <stdint.h>

#include "run/options.h"

/* How long a log is by now; 0: it is not there yet. */
uint64_t blocks_log_length(const char *log);

/* Experiments on the leading blocks of the runs that were appended to the log of @blocks since it
 * was @before bytes long. @progress: what counts; none: whole runs. Returns the tool's exit status.
 */
int blocks_experiment(
    const struct run_options *blocks, const struct string_list *progress, uint64_t before);

#endif
