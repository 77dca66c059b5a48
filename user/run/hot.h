/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files processes that run already execute most, for when there is not room for all. */
#ifndef COZBPF_RUN_HOT_H
#define COZBPF_RUN_HOT_H

#include <stdbool.h>

struct files;

/* Whether hot_look() would look. */
bool hot_may_look(const struct files *f);

/*
 * Samples, once in a run, what the processes of files.running execute, and counts that in the
 * records of the files. It takes a tenth of a second. Their mappings are to be told to the kernel
 * side again.
 */
void hot_look(struct files *f);

#endif
