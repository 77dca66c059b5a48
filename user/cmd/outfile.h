/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that a command writes. It is written beside its place and moved there when it is whole: it
 * may be one of the inputs, and is never half of what it should be. A signal that ends us leaves
 * nothing. A pipe, a device, what a link leads to that is to come, a file that is mounted by itself
 * or whose directory is not ours is written directly; "-" is standard output.
 * A link is followed only if it is the user's own or root's: others plant some where root will
 * write.
 */
#ifndef COZBPF_OUTFILE_H
#define COZBPF_OUTFILE_H

#include <stdio.h>

#include "core/text/errors.h"

struct outfile {
	FILE *out;
	/* private */
	const char *name;
	char *path; /* without links; NULL: standard output */
	char *part; /* what is written; NULL: the place itself */
};

/* @name is borrowed. -1 with @e; then there is nothing to close. */
int outfile_open(struct outfile *f, const char *name, struct error *e);
/* -1 with @e: what is at @name is a profile or a log of blocks, and @what ("page") is not to take
 * its place. */
int outfile_check(const char *name, const char *what, struct error *e);
/* @err: what was written is of no use, and nothing is left of it. -1 with @e when @err, or when not
 * all could be written; @e is filled by then if @err. */
int outfile_close(struct outfile *f, int err, struct error *e);

#endif
