/* SPDX-License-Identifier: BSD-3-Clause */
/* What a shell's command prints, run as the user whom the target runs as. */
#ifndef COZBPF_LISTING_H
#define COZBPF_LISTING_H

#include <stdbool.h>
#include <stdio.h>

#include "core/text/errors.h"
#include "target/identity.h"

struct listing {
	FILE *out;
	int pid;
};

/* -1 with @e. */
int listing_open(
    struct listing *l, const char *command, const struct identity *id, struct error *e);
/* Waits for its end, and ends it where what it prints is not wanted any more. -1 with @e: it has
 * failed. */
int listing_close(struct listing *l, const char *command, bool is_wanted, struct error *e);

#endif
