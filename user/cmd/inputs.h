/* SPDX-License-Identifier: BSD-3-Clause */
/* What the subcommands that read profiles share: the files named on the command line, and the orders of --sort. */
#ifndef COZBPF_INPUTS_H
#define COZBPF_INPUTS_H

#include "core/errors.h"
#include "core/estimate.h"
#include "core/profile.h"

#define DEFAULT_PROFILE "profile.coz"

/* Reads the @n profiles named, or DEFAULT_PROFILE where none is, into @p (initialised by the caller, who deinitialises it in any case), and
 * warns of records that were skipped. 0, or -1 with @e. */
int inputs_read(struct profile *p, char **names, int n, struct error *e);

/* --sort KEY. 0, or -1 with @e (EXIT_USAGE). */
int parse_sort(const char *name, enum sort_key *ret, struct error *e);

#endif
