/* SPDX-License-Identifier: BSD-3-Clause */
/* Source files that a profile's lines name, for the page of `cozbpf plot`. */
#ifndef COZBPF_SOURCES_H
#define COZBPF_SOURCES_H

#include <stddef.h>

#include "core/estimate/estimate.h"
#include "core/profile/profile.h"
#include "report/html.h"

struct sources {
	struct html_source *items; /* the struct owns `file` and `text` */
	size_t n;
};

/*
 * Reads the files of the first HTML_MAX_SERIES lines of @e, with the caller's own rights. A
 * relative name is looked for in the working directory, then beside @profile. A profile may come
 * from anybody, and the page may go to anybody. So only what looks like source is read: a regular
 * file with the suffix of a programming language, of at most SOURCE_MAX bytes, without a NUL byte.
 * Unreadable files are left out. Returns 0 or -ENOMEM.
 */
int sources_read(
    struct sources *s, const struct estimate *e, const struct profile *p, const char *profile);
void sources_deinit(struct sources *s);

#endif
