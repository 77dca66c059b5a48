/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of files with a job's own numbers in them, as Slurm's `srun -o` has them. srun expands such
 * patterns in its own options only, so we do it in ours. */
#ifndef COZBPF_JOB_NAME_H
#define COZBPF_JOB_NAME_H

#include "core/text/errors.h"

/* Where the values are from; both are borrowed. */
struct job_values {
	char *(*variable)(const char *name); /* getenv() */
	const char *host;                    /* without a domain; %N where there is no job */
};

/*
 * @pattern with %N (node), %t (task), %j (job), %s (step), %A (array), %a (task of the array), %n
 * (number of the node) replaced, and %% by %. Any other sign after a % stays, unless it is a letter
 * or digit of ASCII. *@ret is from malloc(). Returns -1 with @e (EXIT_USAGE) for such a letter, for
 * a value that is not there, and for one that is no part of a file's name.
 */
int job_name_expand(
    const char *pattern, const struct job_values *values, char **ret, struct error *e);

/* What %N stands for, borrowed from @values; NULL: it has no value. */
const char *job_node(const struct job_values *values);

#endif
