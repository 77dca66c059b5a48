/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a command that may run many times at once: as a job of a cluster. */
#ifndef COZBPF_JOB_OUTPUT_H
#define COZBPF_JOB_OUTPUT_H

#include "core/text/errors.h"
#include "run/options.h"

/* Puts the values of the job that we run in into the name of the output (core/text/job_name.h), and
 * sets `node`. Messages tell that name from then on. Returns -1 with @e when a value is not there.
 */
int job_output(struct run_options *o, struct error *e);

#endif
